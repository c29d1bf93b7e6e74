"""Captures of a real Debezium: their scripts run here, and our messages beside theirs, topic by topic."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from simulator import sources
from simulator.formats.debezium.schema import Schema
from simulator.run.job import Job, Partitions
from simulator.run.plan import Limits
from simulator.sql.script import fitted, script_of
from simulator.text.java.numbers import double_string

FOLDER: Final = Path(__file__).parent / "captures" / "debezium"
HEARTBEATS: Final = "__debezium-heartbeat"
# Values of MySQL's clock.
_CLOCK: Final = re.compile(rb'"(?:nn_dt":\d+|nn_cts":"[^"]*"|nn_ct6":"[^"]*"|f":"[^"]*")(?=,)')
# What differs from run to run: times, positions in the log, ids of transactions, the session, the start of the engine.
_RUN: Final = re.compile(
    rb'"ts_(?:ms|us|ns)":\d+|"(?:pos|thread)":\d+|"file":"[^"]*"|"gtid":"[^"]*"'
    rb'|"id":"(?:[0-9a-f-]{36}:\d+|\d+-\d+-\d+|file=[^"]*|\d+:\d+)"'
    rb'|"data_collection":"[^"]*LogicalDecodingMessageId@[0-9a-f]+"'
    rb'|"(?:lsn|txId)":\d+|"sequence":"\[[^]]*\]"'
)
# Statements that MariaDB makes of events that MySQL does not know.
_DUMMY: Final = b'"ddl":"# Dum'
_RUN_ID: Final = "__debezium.context.runId"


@dataclass(frozen=True)
class Capture:
    """A recorded run, and the format and source that make the same bytes."""

    name: str
    format: str
    source: str


@dataclass(frozen=True)
class Record:
    """A message: `headers` as the simple converter writes them."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    def masked(self) -> Record:
        """Without what differs from run to run."""
        headers = tuple((name, b"" if name == _RUN_ID else value) for name, value in self.headers)
        return replace(self, key=_masked(self.key), value=_masked(self.value), headers=headers)

    def settled(self) -> Record:
        """Without values of MySQL's clock."""
        return replace(self, value=self.value and _CLOCK.sub(b"", self.value))


def _masked(text: bytes | None) -> bytes | None:
    return None if text is None else _RUN.sub(lambda match: match[0].split(b":", 1)[0] + b":0", text)


def unpacked(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes()).decode()


_OLD: Final = ",connector.class=io.debezium.connector.mysql.MySqlConnector"  # of a server that is MariaDB's
_MARKED: Final = ",provide.transaction.metadata=true"
# The captures of MySQL and MariaDB, and how many messages each holds beside heartbeats.
CAPTURES: Final = {
    Capture("my80-operations", f"debezium-json,server_id=1,gtid=on{_MARKED}", "mysql-8.0"): 466,
    Capture("my80-types", "debezium-json,server_id=1", "mysql-8.0"): 415,
    Capture("my57-types", "debezium-json,server_id=1", "mysql-5.7"): 415,
    Capture("mysql-operations", f"debezium-json{_OLD}{_MARKED},include.schema.comments=true", "mariadb-10.11"): 48,
    Capture("mysql-types", f"debezium-json{_OLD}", "mariadb-10.11"): 14,
}


@cache
def theirs(name: str) -> tuple[Record, ...]:
    records = []
    for line in unpacked(f"{name}.jsonl").rstrip("\n").split("\n"):
        each = json.loads(line)
        key, value = (None if each[part] is None else each[part].encode() for part in ("key", "value"))
        if value is not None and _DUMMY in value:
            continue
        headers = tuple((header[0], header[1].encode()) for header in each["headers"] or ())
        records.append(Record(each["dest"], each["part"], key, value, headers))
    return tuple(records)


# Patterns and what stands instead.
Edits = Sequence[tuple[str, str]]
# Scripts tell in words what their runner did.
_MYSQL: Final = "create database inventory character set utf8mb4;\nuse inventory;\n"
_EDITS: Final[dict[str, Edits]] = {
    "mysql-operations": (
        (r"-- before the connector starts.*", _MYSQL),
        (r"(insert into customers[^;]*3001.*\n.*;)", r"begin;\n\1\ncommit;"),
    ),
    # the server ran the event once
    "my80-operations": ((r"(drop event ev1;)", r"\1 delete from shop.comp;"),),
    "mysql-types": ((r"create database inventory.*", "set sql_mode='';\n" + _MYSQL),),
}


def script_text(name: str) -> str:
    """The script, with the snapshot where the connector starts."""
    text = re.sub(r"^-- (?:@stream|while it streams).*$", "-- @snapshot", unpacked(f"{name}.sql"), flags=re.M)
    return edited(text, _EDITS.get(name, ()))


def edited(text: str, edits: Edits) -> str:
    """A script with each pattern, which it has once, replaced."""
    for pattern, instead in edits:
        text, count = re.subn(pattern, instead, text)
        assert count == 1, pattern
    return text


def ours(capture: Capture, engine: str = "", edits: Edits = ()) -> tuple[Record, ...]:
    """The messages of a capture's script, run here or by the server at a URL."""
    script = script_of(edited(script_text(capture.name), edits), f"{capture.name}.sql")
    source = sources.find(capture.source)
    return records(Job(fitted(replace(script, engine=engine), source), source, capture.format, force=True))


def records(job: Job) -> tuple[Record, ...]:
    """The messages of a job."""
    messages = job.addressed(partitions=Partitions(3)).messages(Limits())
    return tuple(Record(m.topic, m.partition, m.key, m.value, m.headers) for m in messages)


def differences(made: Iterable[Record], wanted: Sequence[Record]) -> tuple[dict[int, str], int]:
    """Texts of the messages of MySQL's captures that differ from ours or have none, by number, and the number of ours
    that are not among them."""
    different, more = dict[int, str](), 0
    for number, mine, message in compared(made, wanted):
        if number is None or message is None:
            more += 1
        elif mine is None or mine.settled() != message.settled():
            different[number] = f"{number}:\n  ours   {mine and mine.settled()}\n  theirs {message.settled()}"
    return different, more


def compared(
    made: Iterable[Record], wanted: Sequence[Record]
) -> Iterator[tuple[int | None, Record | None, Record | None]]:
    """(number in the capture, ours, theirs), masked: in order within each topic."""
    lanes: dict[str, tuple[list[Record], list[int]]] = {}
    for record in made:
        lanes.setdefault(record.topic, ([], []))[0].append(record)
    for number, record in enumerate(wanted):
        lanes.setdefault(record.topic, ([], []))[1].append(number)
    for topic, (mine, numbers) in lanes.items():
        if topic.startswith(HEARTBEATS):
            continue
        left, right = [record.masked() for record in mine], [wanted[number].masked() for number in numbers]
        for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            for record, number in zip_longest(left[a:b], numbers[c:d]):
                if tag != "equal" or record is None or number is None:
                    yield number, record, None if number is None else wanted[number].masked()
                else:
                    yield number, record, record


def schema_of(schema: dict[str, Any]) -> Schema:
    """A schema of Connect from its JSON."""
    return Schema(
        schema["type"],
        schema.get("name", ""),
        schema.get("version"),
        tuple((schema.get("parameters") or {}).items()),
        tuple((field["field"], schema_of(field)) for field in schema.get("fields", ())),
        schema_of(schema["items"]) if "items" in schema else None,
        schema_of(schema["values"]) if "values" in schema else None,
        schema.get("doc", ""),
        schema["optional"],
        default_of(schema["default"]) if "default" in schema else "",
    )


def default_of(value: Any) -> str:
    """A default's JSON, of which Python has read the spelling of a number away."""
    return double_string(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
