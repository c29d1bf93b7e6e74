"""debezium-avro beside Confluent's converter: what it makes of captured messages, and the schemas that it registers.

See `captures/debezium-avro/README.md`. A message here is made of the same JSON, value by value; that columns give the
same bytes as their JSON is held for all cases of all sources.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from building import block_of, messages_of
from captured_debezium import schema_of, theirs
from cases import cases_of
from schema_registry import schema_registry

from simulator import sources
from simulator.errors import NotOffered
from simulator.formats.debezium.confluent.schema import AvroSchemas
from simulator.formats.debezium.confluent.values import datum
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.sql.script import script_of
from simulator.subjects.ids import known

FOLDER: Final = Path(__file__).parents[1] / "captures" / "debezium-avro"
# Messages of each capture, and those that the converter refuses for a name.
CAPTURES: Final = {
    "my80-operations": (482, 1),
    "my80-types": (415, 7),
    "mysql-operations": (50, 0),
    "mysql-types": (14, 0),
    "postgres-operations": (57, 0),
    "postgres-types": (10, 0),
}


@cache
def rows_of(name: str) -> list[dict[str, Any]]:
    lines = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode().rstrip("\n").split("\n")
    return [json.loads(line) for line in lines]


def as_read(value: Any) -> Any:
    """The JSON converter reads texts of floats, NaN and infinity, as 0, and so -0.0."""
    if isinstance(value, dict):
        return {name: as_read(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_read(item) for item in value]
    return 0.0 if value in ("NaN", "Infinity", "-Infinity") or repr(value) == "-0.0" else value


@pytest.mark.parametrize("name", CAPTURES)
def test_messages_of_the_converter(name: str) -> None:
    """Schema texts and datums, byte for byte."""
    rows, captured = rows_of(name), theirs(name)
    converted, registered = rows[: len(captured)], {row["id"]: row["schema"] for row in rows[len(captured) :]}
    assert (len(converted), sum("error" in row for row in converted)) == CAPTURES[name]
    schemas, compared = AvroSchemas(), 0
    for number, (row, record) in enumerate(zip(converted, captured, strict=True)):
        messages = {"key": record.key, "value": record.value}
        if "error" in row:
            with pytest.raises(NotOffered, match="which Avro does not allow"):
                [schemas.text(schema_of(json.loads(text)["schema"])) for text in messages.values() if text]
            continue
        for part, text in messages.items():
            if text is None:
                assert row[part] is None
                continue
            message, made = json.loads(text), bytes.fromhex(row[part])
            schema = schema_of(message["schema"])
            assert schemas.text(schema) == registered[int.from_bytes(made[1:5])], (number, part)
            assert datum(schema, as_read(message["payload"])) == made[5:], (number, part)
            compared += 1
    assert compared >= len(captured) - CAPTURES[name][1]


UNWRAP: Final = ",transforms=unwrap,transforms.unwrap.add.fields=op;source.ts_ms;table:tbl"


META: Final = ",provide.transaction.metadata=true,skipped.operations=none,heartbeat.interval.ms=1000"


def both(options: str, source: str) -> Iterator[tuple[str, Any, Any]]:
    """Each case, its message in Avro, and in JSON with its schemas."""
    common = options + META
    for case in cases_of(source, "debezium-avro"):
        avro, text = (
            messages_of(f"{name}{common}", source, block_of(case)) for name in ("debezium-avro", "debezium-json")
        )
        for ours, theirs_ in zip(avro, text, strict=True):
            yield case.name, ours, theirs_


@pytest.mark.parametrize(
    ("source", "options"),
    [("mysql", ""), ("mysql", UNWRAP), ("oracle", ""), ("postgresql", ""), ("sqlserver", ""), ("mongodb", "")],
)
def test_columns_give_what_their_json_gives(source: str, options: str) -> None:
    """Keys, values and headers of every case; MariaDB has MySQL's columns."""
    check(both(options, str(sources.find(source))))


def test_empty_values_of_required_columns() -> None:
    """MySQL 5.7 stores them where null is ignored: a geometry is null then, and a document has no byte."""
    script = script_of(
        "create database shop;\nuse shop;\ncreate table t (id int primary key, g geometry not null, d json not null);\n"
        "insert ignore into t values (1, point(1, 2), '[]'), (2, null, null);\n",
        "empty.sql",
    )
    avro, text = (
        list(Job(script, sources.find("mysql-5.7"), f"debezium-{name}{META}").messages(Limits()))
        for name in ("avro", "json")
    )
    check(("empty.sql", *pair) for pair in zip(avro, text, strict=True))
    row = [message for message in avro if message.topic.endswith(".shop.t")][-1].decoded["after"]
    assert (row["id"], row["g"], row["d"]) == (2, None, "{}")


def check(compared: Iterable[tuple[str, Any, Any]]) -> None:
    """Names, messages in Avro, and in JSON with their schemas: the first are what the others give."""
    schemas = AvroSchemas()
    for name, ours, theirs_ in compared:
        assert (ours.topic, ours.partition, ours.headers) == (theirs_.topic, theirs_.partition, theirs_.headers)
        for part in ("key", "value"):
            avro, text = getattr(ours, part), getattr(theirs_, part)
            if text is None:
                assert avro is None
                continue
            message = json.loads(text)
            if message["payload"] is None:  # the converter writes no bytes
                assert avro is None
                continue
            schema = schema_of(message["schema"])
            assert avro[5:] == datum(schema, message["payload"]), (name, part, text)
            assert known(int.from_bytes(avro[1:5])) == schemas.text(schema), (name, part)


def test_schemas_of_fifty_sequences_of_alter_table() -> None:
    """Subjects, versions, ids and texts are those of the converter, in its order."""
    script = script_of((FOLDER / "alters.sql").read_text("utf-8"), "alters.sql")
    with schema_registry() as registry:
        job = Job(script, sources.find("mysql-8.0"), f"debezium-avro,schema.registry.url={registry.url}")
        messages = list(job.messages(Limits()))
        ours = sorted(registry.listed(), key=lambda row: row["id"])
    converted = rows_of("alters")
    assert len(converted) == 238
    assert [(r["subject"], r["version"], r["id"], r["schema"]) for r in ours] == [
        (r["subject"], r["version"], r["id"], r["schema"]) for r in converted
    ]
    used = {int.from_bytes(part[1:5]) for m in messages for part in (m.key, m.value) if part}
    assert used == {row["id"] for row in converted}
