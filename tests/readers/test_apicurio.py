"""debezium-avro with a schema registry that we did not write: Apicurio's, by Confluent's API.

Confluent's Avro converter and Flink's reader take the schemas of messages from it, with Confluent's own client. Each
test has topics of its own.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from apicurio import Apicurio
from command import Command
from debezium_engine import Jars
from jvm import Reader
from schema_registry import schema_registry

import simulator
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.subjects import ids

pytestmark = pytest.mark.jvm

META: Final = "provide.transaction.metadata=true,skipped.operations=none,heartbeat.interval.ms=1000"
# The version of the outermost schema. The converter gives one that has none the version of its subject.
VERSION: Final = re.compile(rb',"version":\d+(?=\},"payload":)')
START: Final = (
    "create database shop;\nuse shop;\ncreate table t (id int primary key, a int);\ninsert into t values (1, 1);\n"
)


@pytest.fixture(scope="module")
def apicurio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apicurio]:
    with Apicurio(tmp_path_factory.mktemp("apicurio"), with_parent=True) as registry:
        yield registry


@pytest.fixture(scope="module")
def converter(apicurio: Apicurio) -> Iterator[Reader]:
    """Confluent's Avro converter on a consumer's side (`readers/AvroRead.java`)."""
    with Reader("AvroRead.java", Jars(), "-Dfile.encoding=UTF-8", arguments=(apicurio.url,)) as reader:
        yield reader


def bytes_of(part: Any) -> bytes:
    """The key or value of an envelope: text, or bytes that are none."""
    return part.encode() if isinstance(part, str) else base64.b64decode(part["base64"])


@pytest.mark.parametrize("source", ["mysql-8.0", "postgresql", "oracle"])
def test_the_converter_reads_what_the_json_converter_writes(apicurio: Apicurio, converter: Reader, source: str) -> None:
    """Keys and values of every kind of event: Connect's schemas and payloads, byte for byte."""
    options, asked, wanted = f"{META},topic.prefix=read_{source[:5]}", list[bytes](), list[bytes]()
    in_avro, in_json = (
        open_job("tour", f"debezium-{name},{options}", source=source).messages(Limits(changes=200))
        for name in (f"avro,schema.registry.url={apicurio.url}", "json")
    )
    for avro, text in zip(in_avro, in_json, strict=True):
        for part in ("key", "value"):
            if (data := getattr(avro, part)) is not None:
                asked.append(f"{part} {avro.topic} {data.hex()}".encode())
                wanted.append(getattr(text, part))
    for question, answer, text in zip(asked, converter.ask(asked), wanted, strict=True):
        assert [VERSION.sub(b"", line) for line in answer] == [VERSION.sub(b"", text)], question
    assert len(wanted) > 100


@pytest.mark.parametrize("source", ["mysql", "postgresql", "sqlserver"])
def test_flink_reads_tables(flink: Reader, apicurio: Apicurio, source: str) -> None:
    """Tables with keys over restarts; a Flink table of texts has no days since 1970 and no unscaled bytes."""
    types = {"id": "BIGINT", "name": "STRING", "city": "STRING", "balance": "STRING", "revision": "INT"}
    declared = ", ".join(f"`{name}` {type}" for name, type in (types | {"updated_at": "STRING"}).items())
    options = "decimal.handling.mode=string,time.precision.mode=isostring"
    run = simulator.simulate(
        "at-least-once",
        f"debezium-avro,schema.registry.url={apicurio.url},topic.prefix=flink_{source},{options}",
        source=source,
        settings={"tables.users.rows": 100},
        turns=1_000,
        snapshot=True,
    )
    values = [message.value for message in run.messages if message.topic.endswith(".users") and message.value]
    answers = flink.ask([f"avro {apicurio.url} ROW<{declared}>".encode(), *(value.hex().encode() for value in values)])
    rows: dict[str, dict[str, Any]] = {}
    for told in (json.loads(line) for answer in answers for line in answer):
        assert "error" not in told
        if told["kind"] in ("+I", "+U"):
            rows[told["row"]["id"]] = told["row"]
        else:
            rows.pop(told["row"]["id"], None)
    for row in rows.values():
        if row["updated_at"]:
            row["updated_at"] = row["updated_at"].removesuffix("Z").replace("T", " ")
    (verdict,) = run.verify({"users": list(rows.values())})
    assert verdict.ok, str(verdict)
    assert verdict.found > 50


def test_subjects_versions_and_ids(apicurio: Apicurio, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the small registry that other tests have; a second run adds nothing, and may be forbidden to."""

    def sent(url: str, *more: str) -> list[tuple[bytes, ...]]:
        """The bytes of the messages, as `run` sends them."""
        format = ",".join(("debezium-avro", f"schema.registry.url={url}", "topic.prefix=own", *more))
        lines = command("run", "tour", "-f", format, "--source", "mysql-8.0", "--limit", "20", "--envelope").out
        parts = ([line["key"], line["value"]] for line in map(json.loads, lines.splitlines()))
        return [tuple(bytes_of(part) for part in pair if part is not None) for pair in parts]

    first = sent(apicurio.url)
    with schema_registry() as small:
        sent(small.url)
    subjects: dict[str, list[str]] = {}
    registered: dict[int, str] = {}
    for subject in small.subjects:
        for version in apicurio.ask("GET", f"/subjects/{subject}/versions"):
            schema = apicurio.ask("GET", f"/subjects/{subject}/versions/{version}")
            assert (schema["subject"], schema["version"]) == (subject, version)
            subjects.setdefault(subject, []).append(schema["schema"])
            registered[schema["id"]] = schema["schema"]
    assert subjects == small.subjects
    # the topic of schema changes has schemas that runs with other prefixes share
    assert [text for _, text in sorted(registered.items()) if '"own.' in text] == [
        text for text in small.schemas if '"own.' in text
    ]
    used = {ids.id_of(part) for parts in first for part in parts}
    assert used <= registered.keys()
    assert sent(apicurio.url) == sent(apicurio.url, "auto.register.schemas=false") == first
    assert all(
        apicurio.ask("GET", f"/subjects/{subject}/versions") == [*range(1, len(texts) + 1)]
        for subject, texts in subjects.items()
    )
    value = first[0][1]
    with_registry, decoded = (
        f"debezium-avro,schema.registry.url={apicurio.url}",
        simulator.decode("debezium-avro", value),
    )
    monkeypatch.setattr(ids, "_KNOWN", {})  # a process that has written none of them
    assert simulator.decode(with_registry, value) == decoded


def test_what_compatibility_refuses(apicurio: Apicurio, command: Command, tmp_path: Path) -> None:
    """A column that readers of the old schema can do without, and one that they cannot, until it is allowed."""
    script, subject = tmp_path / "t.sql", "evolving.shop.t-value"
    format = f"debezium-avro,schema.registry.url={apicurio.url},topic.prefix=evolving"

    def run(text: str, status: int = 0) -> tuple[str, str]:
        script.write_text(START + text)
        done = command("run", script, "-f", format, "--source", "mysql-8.0", "--envelope", status=status)
        return done.out, done.err

    def versions() -> Any:
        return apicurio.ask("GET", f"/subjects/{subject}/versions")

    assert run("")[0]
    apicurio.ask("PUT", f"/config/{subject}", {"compatibility": "BACKWARD"})
    optional, required = "alter table t add b int;\n", "alter table t add c int not null;\n"
    assert run(optional)[0]
    assert versions() == [1, 2]
    out, sentence = run(optional + required, status=2)
    assert out == ""
    assert re.fullmatch(
        rf"cdcsim: schema\.registry\.url={re.escape(apicurio.url)}: the registry refuses a schema of {subject} as"
        r" incompatible with an earlier one \([^\n]*ncompatib[^\n]*\); set the subject's compatibility to NONE,"
        r" or allow the change\.\n",
        sentence,
    )
    assert versions() == [1, 2]
    apicurio.ask("PUT", f"/config/{subject}", {"compatibility": "NONE"})
    assert run(optional + required)[0]
    assert versions() == [1, 2, 3]
