"""debezium-avro: ids of schemas from a registry, from a file, or their own; names; what is refused."""

from __future__ import annotations

import json
import pickle
import socket
from pathlib import Path
from typing import Final

import pytest
from schema_registry import Registry, schema_registry

import simulator
from simulator.errors import NotOffered, UsageError
from simulator.model import Message
from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.subjects import ids, registered

SOME: Final = Limits(changes=20)


def job_of(*options: str, scenario: str = "tour") -> Job:
    return open_job(scenario, ",".join(["debezium-avro", *options]), source="mysql-8.0")


def messages(job: Job) -> list[Message]:
    return list(job.messages(SOME))


def bytes_of(found: list[Message]) -> list[tuple[bytes | None, bytes | None]]:
    return [(message.key, message.value) for message in found]


def test_a_registry_numbers_all_schemas_before_the_first_message() -> None:
    """Tables as the stream finds them, the topic of schema changes, later versions; another process does not ask."""
    with schema_registry() as registry:
        job = job_of(f"schema.registry.url={registry.url}/")
        iterator = job.messages(SOME)
        next(iterator)
        assert list(registry.subjects)[:8] == [
            *(
                f"dbserver1.shop.{table}-{part}"
                for table in ("customers", "orders", "limits")
                for part in ("key", "value")
            ),
            "dbserver1-key",
            "dbserver1-value",
        ]
        assert {subject: len(texts) for subject, texts in registry.subjects.items() if len(texts) > 1} == {
            "dbserver1.shop.orders-value": 4
        }
        asked = len(registry.asked)
        first = messages(job)
        assert first[0].key is not None
        assert first[0].value is not None
        assert (first[0].key[:5], first[0].value[:5]) == (b"\0\0\0\0\x01", b"\0\0\0\0\x02")
        assert bytes_of(messages(pickle.loads(pickle.dumps(job)))) == bytes_of(first)
        assert len(registry.asked) == asked
        # a second run registers nothing new, and one that must not register finds all
        again = job_of(f"schema.registry.url={registry.url}", "auto.register.schemas=false")
        assert bytes_of(messages(again)) == bytes_of(first)
        assert len(registry.schemas) == len({text for texts in registry.subjects.values() for text in texts})


def test_a_file_of_schemas_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "schemas.json"
    with schema_registry() as registry:
        online = messages(job_of(f"schema.registry.url={registry.url}"))
        file.write_text(json.dumps(registry.listed()))
        with_registry = f"debezium-avro,schema.registry.url={registry.url}"
        monkeypatch.setattr(ids, "_KNOWN", {})  # a process that has written none of them
        (read,) = simulator.decode(with_registry, online[0].value or b"")
        with pytest.raises(UsageError, match="no schema is known for the id 2; name its registry"):
            simulator.decode("debezium-avro", online[0].value or b"")
    offline = messages(job_of(f"schema.ids={file}"))
    assert bytes_of(offline) == bytes_of(online)
    monkeypatch.setattr(ids, "_KNOWN", {})
    assert simulator.decode(f"debezium-avro,schema.ids={file}", online[0].value or b"") == [read]
    assert offline[0].decoded["op"] == "c"


def test_ids_of_their_own() -> None:
    """Each is the checksum of its schema's text, so a shorter or later run has the same."""
    job = job_of()
    whole = messages(job)
    assert bytes_of(whole[-3:]) == bytes_of([*messages(job_of())][-3:])
    for message in whole:
        for part in (message.key, message.value):
            if part is not None:
                id = ids.id_of(part)
                assert ids.own_id(ids.known(id) or "") == id


@pytest.mark.parametrize(
    ("strategy", "key", "value"),
    [
        ("TopicNameStrategy", "dbserver1.shop.orders-key", "dbserver1.shop.orders-value"),
        ("RecordNameStrategy", "dbserver1.shop.orders.Key", "dbserver1.shop.orders.Envelope"),
        (
            "TopicRecordNameStrategy",
            "dbserver1.shop.orders-dbserver1.shop.orders.Key",
            "dbserver1.shop.orders-dbserver1.shop.orders.Envelope",
        ),
    ],
)
def test_subjects(strategy: str, key: str, value: str) -> None:
    with schema_registry() as registry:
        options = [f"{part}.subject.name.strategy={strategy}" for part in ("key", "value")]
        messages(job_of(f"schema.registry.url={registry.url}", *options))
        assert {key, value} <= set(registry.subjects)


def refusing(registry: Registry, status: int, message: str) -> Registry:
    registry.refuses = (status, message)
    return registry


def test_what_a_registry_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence each, before the first message."""
    cases = (
        ((), 409, "READER_FIELD_MISSING", r"refuses a schema of dbserver1\.shop\.customers-key as incompatible .*NONE"),
        ((), 422, "Invalid schema", r"status 422: Invalid schema\.$"),
        (("auto.register.schemas=false",), None, "", r"no such schema of .*auto\.register\.schemas=true"),
    )
    for options, status, text, sentence in cases:
        with schema_registry() as registry:
            registry.refuses = None if status is None else (status, text)
            with pytest.raises(UsageError, match=sentence):
                messages(job_of(f"schema.registry.url={registry.url}", *options))
    with schema_registry() as registry:
        registry.credentials = "Basic dXNlcjpzZWNyZXQ="
        monkeypatch.setenv(registered.USER_INFO, "user:hidden")
        job = job_of(f"schema.registry.url={registry.url}")
        with pytest.raises(UsageError, match=rf"refuses access \(Unauthorized\); set {registered.USER_INFO}") as wrong:
            messages(job)
        assert "hidden" not in str(wrong.value)
        monkeypatch.setenv(registered.USER_INFO, "user:secret")
        assert messages(job_of(f"schema.registry.url={registry.url}"))
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # the port is taken, and nobody listens
        job = job_of(f"schema.registry.url=http://127.0.0.1:{nobody.getsockname()[1]}")
        with pytest.raises(UsageError, match="the registry does not answer as one"):
            messages(job)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("schema.registry.url=localhost:8081", "it is a URL such as http://localhost:8081"),
        ("schema.registry.url=http://u:p@host", "write it without credentials"),
        ("schema.ids=/nowhere.json", "it is the path of a file"),
        ("auto.register.schemas=false", r"it needs schema\.registry\.url"),
        ("value.subject.name.strategy=Topic", "it is one of TopicNameStrategy"),
    ],
)
def test_wrong_options(option: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as wrong:
        job_of(option)
    assert "u:p" not in str(wrong.value)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for content, sentence in (
        ("{", "no list of schemas"),
        ("[]", r"no schema for the subject dbserver1\.shop\.customers-key"),
    ):
        file = tmp_path / f"{len(content)}.json"
        file.write_text(content)
        with pytest.raises(UsageError, match=sentence):
            messages(job_of(f"schema.ids={file}"))


NAMES: Final = (
    "create table `two words` (`1st` int primary key, `größe` int);\ninsert into `two words` values (1, 2);\n"
)


@pytest.mark.parametrize(
    ("options", "name", "fields"),
    [
        (("scrub.invalid.names=true",), "dbserver1.shop.two_words", ["x1st", "gr_C3_B6_C3_9Fe"]),
        (("field.name.adjustment.mode=avro",), "dbserver1.shop.two_words", ["_1st", "gr__e"]),
    ],
)
def test_names(tmp_path: Path, options: tuple[str, ...], name: str, fields: list[str]) -> None:
    """The topic has _ for a blank already; the converter encodes what is left, the connector replaces it."""
    script = tmp_path / "names.sql"
    script.write_text(f"create database shop;\nuse shop;\n{NAMES}")
    with pytest.raises(NotOffered, match="the name '1st', which Avro does not allow; set field"):
        messages(job_of(scenario=str(script)))
    (*_, row) = messages(job_of(*options, scenario=str(script)))
    assert list(row.decoded["after"]) == fields
    schema = json.loads(ids.known(ids.id_of(row.value or b"")) or "")
    assert schema["namespace"] == name
