"""Released consumers of canal-json as functions that a hunt calls: messages → rows by table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from jars import Jars
from jvm import Reader

from simulator.model import Message

Row: TypeAlias = dict[str, Any]
Consumer: TypeAlias = Callable[[Sequence[Message]], dict[str, list[Row]]]
# Makes the line that declares a table to a reader, from the names and MySQL's types of its columns.
Declare: TypeAlias = Callable[[dict[str, str]], bytes]

PAIMON: Final = Jars(
    "paimon-1.2.0",
    (
        "org.apache.paimon:paimon-flink-1.20:1.2.0",
        *(f"org.apache.flink:flink-{part}:2.3.0" for part in ("core", "core-api")),
        "org.slf4j:slf4j-api:1.7.36",
    ),
)
SEATUNNEL: Final = Jars(
    "seatunnel-2.3.8",
    (
        *(f"org.apache.seatunnel:seatunnel-{part}:2.3.8" for part in ("format-json", "api", "common")),
        *(f"org.apache.seatunnel:seatunnel-{part}:2.3.8:optional" for part in ("jackson", "guava")),
        "com.google.guava:guava:27.0-jre",
        "org.apache.commons:commons-lang3:3.5",
        "org.apache.commons:commons-collections4:4.4",
        "org.slf4j:slf4j-api:1.7.25",
    ),
)
# SeaTunnel's types by MySQL's names, as its own connector has them but for tinyint(1); decimals have their digits.
SEATUNNEL_TYPES: Final = {
    "bigint": "BIGINT", "bigint unsigned": "DECIMAL(20, 0)", "int": "INT", "int unsigned": "BIGINT", "smallint": "INT",
    "tinyint": "TINYINT", "binary": "BYTES", "varbinary": "BYTES", "date": "DATE", "double": "DOUBLE",
    "timestamp": "TIMESTAMP", "datetime": "TIMESTAMP",
}  # fmt: skip


def flink_table(types: dict[str, str], reader: str = "") -> bytes:
    """All columns as texts."""
    return f"{reader} ROW<{', '.join(f'`{name}` STRING' for name in types)}>".strip().encode()


def flink_debezium_table(types: dict[str, str]) -> bytes:
    return flink_table(types, "debezium")


def seatunnel_table(types: dict[str, str]) -> bytes:
    return "\t".join(("ROW", *(word for name, type in types.items() for word in (name, _seatunnel(type))))).encode()


def _seatunnel(type: str) -> str:
    """`DECIMAL(12,2)` for `decimal(12,2)`, `TIMESTAMP` for `timestamp(3)`, `STRING` for `json`."""
    name, _, rest = type.partition("(")
    if name == "decimal":
        return f"DECIMAL({rest}"
    return SEATUNNEL_TYPES.get(name + rest.partition(")")[2], "STRING")


def _facts(message: Message) -> tuple[str, dict[str, str], tuple[str, ...]] | None:
    """Table, types by column, and key of a message about rows; None of DDL, which a user leaves out whose tables do not
    change, and of tombstones."""
    document = json.loads(message.value or b"{}")
    if "mysqlType" in document:
        return None if document["isDdl"] else (document["table"], document["mysqlType"], tuple(document["pkNames"]))
    if "op" not in document:
        return None
    row = document["after"] or document["before"]
    return document["source"]["table"], dict.fromkeys(row, ""), tuple(json.loads(message.key or b"{}"))


def _read(
    reader: Reader, messages: Sequence[Message], declare: Declare | None
) -> Iterator[tuple[str, tuple[str, ...], list[Row]]]:
    """Table, key and changelog of each message about rows. Raises ValueError where a job would end."""
    lines: list[bytes] = []
    tables: list[tuple[str, tuple[str, ...]] | None] = []
    declared = None
    for message in messages:
        if (facts := _facts(message)) is None:
            continue
        if declare is not None and facts != declared:
            declared = facts
            lines.append(declare(facts[1]))
            tables.append(None)
        assert message.value is not None
        lines.append(message.value)
        tables.append((facts[0], facts[2]))
    for table, answer in zip(tables, reader.ask(lines), strict=True):
        rows = [json.loads(line) for line in answer]
        if errors := [row["error"] for row in rows if "error" in row]:
            raise ValueError(errors[0])
        if table is not None:
            yield *table, rows


def upserting(reader: Reader, declare: Declare | None = None) -> Consumer:
    """Tables with keys: +I and +U set a row, -U and -D take it away."""

    def consume(messages: Sequence[Message]) -> dict[str, list[Row]]:
        tables: dict[str, dict[tuple[Any, ...], Row]] = {}
        for name, names, rows in _read(reader, messages, declare):
            table = tables.setdefault(name, {})
            for told in rows:
                key = tuple(told["row"][name] for name in names)
                if told["kind"] in ("+I", "+U"):
                    table[key] = told["row"]
                else:
                    table.pop(key, None)
        return {name: list(table.values()) for name, table in tables.items()}

    return consume


def retracting(reader: Reader, declare: Declare | None = None) -> Consumer:
    """Tables without keys, as aggregates and sinks that retract have them: -U and -D take away the row they hold."""

    def consume(messages: Sequence[Message]) -> dict[str, list[Row]]:
        tables: dict[str, list[Row]] = {}
        for name, _, rows in _read(reader, messages, declare):
            table = tables.setdefault(name, [])
            for told in rows:
                if told["kind"] in ("+I", "+U"):
                    table.append(told["row"])
                elif told["row"] in table:
                    table.remove(told["row"])
        return tables

    return consume
