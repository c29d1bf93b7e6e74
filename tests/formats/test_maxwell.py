"""maxwell-json beside messages of a real Maxwell, and what its options change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from captured import Capture, made, numbered, unpacked

import simulator
from simulator.delivery.hashes import murmur3, string_hash
from simulator.model import Message
from simulator.sql.script import script_of

FOLDER: Final = Path(__file__).parents[1] / "captures" / "maxwell"
OPTIONS: Final = (
    "output_ddl=on,output_binlog_position=on,output_primary_keys=on,output_primary_key_columns=on,output_xoffset=on,"
    "output_server_id=on,output_thread_id=on"
)
CAPTURE: Final = Capture("1.44.0-mysql8.0.31-types", f"maxwell-json,{OPTIONS}", "mysql-8.0")
# When the capture was taken.
CAPTURED_AT: Final = 1_795_252_370
# What differs from run to run.
RUN_FACTS: Final = re.compile(rb'"xid":\d+|"position":"[^"]+"|"thread_id":\d+')


def test_capture() -> None:
    """Every message in its order and bytes, but for transaction ids, positions and threads."""
    theirs = unpacked(f"{CAPTURE.name}.jsonl", FOLDER).splitlines()
    script = script_of(unpacked("types.sql", FOLDER), "types.sql")
    ours = [message.value for message in made(CAPTURE, dict.fromkeys(numbered(script), CAPTURED_AT), FOLDER)]
    assert len(theirs) == 94
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        facts = iter(RUN_FACTS.findall(wanted))
        assert RUN_FACTS.sub(lambda match, facts=facts: next(facts, match[0]), mine) == wanted


QUERIES: Final = """
create database shop; use shop;
create table t(id int primary key, v varchar(9));
insert into t values (0, 'untold');
set session binlog_rows_query_log_events=1;
begin; insert into t values (1, 'a"b'), (2, '😀'); delete from t where id = 0; commit;
"""
INSERTED: Final = "insert into t values (1, 'a\"b'), (2, '😀')"


@pytest.mark.parametrize(
    ("options", "queries"),
    [
        ("", [None] * 4),
        (",output_row_query=on", [None, INSERTED, INSERTED, "delete from t where id = 0"]),
        # The emoji is two of Java's characters; Jackson writes no half of one.
        (
            ",output_row_query=on,row_query_max_length=39",
            [None, INSERTED[:38], INSERTED[:38], "delete from t where id = 0"],
        ),
    ],
)
def test_statements_of_rows(options: str, queries: list[str | None], tmp_path: Path) -> None:
    """Statements stand behind the table, in rows whose log has them."""
    (tmp_path / "queries.sql").write_text(QUERIES, "utf-8")
    messages = [said(message) for message in sent(str(tmp_path / "queries.sql"), options, source="mysql-8.0")]
    assert [message.get("query") for message in messages] == queries
    assert all(list(message)[2] == "query" for message in messages if "query" in message)


def sent(scenario: str, options: str = "", **run: Any) -> list[Message]:
    return list(simulator.messages(scenario, f"maxwell-json{options}", **run))


def said(message: Message) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(message.value or b"")
    return members


def test_a_bootstrap_is_framed_by_table() -> None:
    """A start before the first row of a table, and an end behind its last, which have no row and no transaction."""
    sent_messages = list(sent("tour", limit=3, snapshot=True, start_at=9))
    messages = [said(message) for message in sent_messages]
    rows = [(message["table"], message["type"]) for message in messages if message["type"].startswith("bootstrap")]
    tables = list(dict.fromkeys(table for table, _ in rows))
    assert len(tables) > 1
    for table in tables:
        words = [word for name, word in rows if name == table]
        assert words[0] == "bootstrap-start"
        assert words[-1] == "bootstrap-complete"
        assert set(words[1:-1]) == {"bootstrap-insert"}
    assert all(
        message["data"] == {} for message in messages if message["type"] in ("bootstrap-start", "bootstrap-complete")
    )
    ends = [json.loads(m.key or b"") for m in sent_messages if b'"bootstrap-complete"' in (m.value or b"")]
    assert [list(key) for key in ends] == [["database", "table", "_uuid"]] * len(tables)  # an end has no key's columns
    assert all("xid" not in message for message in messages if message["type"].startswith("bootstrap"))
    assert "xid" in messages[-1]


def test_each_transaction_ends_once() -> None:
    """`commit` on the last row, `xoffset` from 0 on all others."""
    transactions: dict[int, list[dict[str, Any]]] = {}
    for message in map(said, sent("orders", ",output_xoffset=on", limit=300)):
        transactions.setdefault(message["xid"], []).append(message)
    assert max(map(len, transactions.values())) > 2
    for rows in transactions.values():
        assert [row.get("xoffset") for row in rows] == [*range(len(rows) - 1), None]
        assert [row.get("commit") for row in rows] == [None] * (len(rows) - 1) + [True]


@pytest.mark.parametrize(
    ("route", "text"),
    [
        ("database", lambda row: row["database"]),
        ("table", lambda row: row["table"]),
        ("key", lambda row: str(row["data"]["id"])),
        ("primary_key", lambda row: str(row["data"]["id"])),
        ("columns:customer_id", lambda row: str(row["data"].get("customer_id", row["database"]))),
        ("transaction_id", lambda row: str(row["xid"])),
        ("thread_id", lambda row: str(row["thread_id"])),
    ],
)
@pytest.mark.parametrize("hash", ["default", "murmur3"])
def test_partitions(route: str, hash: str, text: Callable[[dict[str, Any]], str]) -> None:
    """|hash mod n| of the text that producer_partition_by names; `columns` fall back to the database."""
    options = f",output_thread_id=on,kafka_partition_hash={hash}"
    of = {"default": string_hash, "murmur3": lambda texts: murmur3(texts, 25342)}[hash]
    for message in sent("tour", options, limit=30, route=route, partitions=7):
        number = int(of(pa.array([text(said(message))]))[0])
        assert message.partition == abs(number) % 7


def test_ddl_goes_to_its_own_topic_by_database() -> None:
    messages = sent("tour", ",output_ddl=on,ddl_kafka_topic=ddl", limit=None, partitions=5)
    statements = [message for message in messages if said(message)["type"].startswith(("table-", "database-"))]
    assert {message.topic for message in statements} == {"ddl"}
    assert {message.topic for message in messages} == {"ddl", "maxwell"}
    for message in statements:
        assert message.partition == abs(int(string_hash(pa.array([said(message)["database"]]))[0])) % 5
        assert re.fullmatch(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", message.key or b"")


def test_rabbitmq_has_routing_keys() -> None:
    messages = sent("tour", ",rabbitmq_routing_key_template=%db%.%table%.x", limit=3, broker="rabbitmq")
    assert {message.tag for message in messages} == {"shop.customers.x"}
    assert {message.key for message in messages} == {None}
