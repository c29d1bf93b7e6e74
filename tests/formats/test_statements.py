"""DDL in all its parts: what each product sends of a statement, under which name, where; and what it does not send."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.run.session import Session, local_run
from simulator.run.summary import Summary
from simulator.sinks.memory import MemorySink

SETUP: Final = """CREATE DATABASE shop; USE shop; CREATE DATABASE other;
CREATE TABLE a (id int PRIMARY KEY, v int); CREATE TABLE c (id int PRIMARY KEY, v int, KEY k (v));
CREATE TABLE e (v int);
"""
SETUP_STATEMENTS: Final = 5
# A statement about a table, and what Canal calls it: by its first item ("": it sends no message).
ALTERS: Final = {
    "ALTER TABLE a ADD INDEX i (v), ADD COLUMN w int": "CINDEX",
    "ALTER TABLE a DROP PRIMARY KEY": "ALTER",
    "ALTER TABLE a CONVERT TO CHARACTER SET utf8mb4": "ALTER",
    "ALTER TABLE a COMMENT='x'": "ALTER",
    "ALTER TABLE a ENGINE=InnoDB": "ALTER",
    "ALTER TABLE a AUTO_INCREMENT=7": "ALTER",
    "ALTER TABLE a ALTER COLUMN v SET DEFAULT 3": "ALTER",
    "ALTER TABLE a PARTITION BY HASH(id) PARTITIONS 2": "ALTER",
    "ALTER TABLE a ADD UNIQUE KEY u (v)": "CINDEX",
    "ALTER TABLE a ADD UNIQUE KEY u (v), DROP KEY u": "CINDEX",
    "ALTER TABLE c DROP KEY k": "DINDEX",
    "ALTER TABLE e ADD PRIMARY KEY (v)": "CINDEX",
    "ALTER TABLE e ADD CONSTRAINT f FOREIGN KEY (v) REFERENCES a (id)": "",
    "ALTER TABLE e ADD CONSTRAINT f FOREIGN KEY (v) REFERENCES a (id), ADD COLUMN w int": "ALTER",
}
OF_DATABASES: Final = (
    "ALTER DATABASE shop CHARACTER SET latin1",
    "CREATE VIEW w AS SELECT 1",
    "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.v = 1",
)
ADMINISTRATION: Final = ("CREATE USER u@localhost", "GRANT SELECT ON *.* TO u@localhost", "ANALYZE TABLE a")
SEVERAL: Final = """RENAME TABLE a TO b, c TO d; RENAME TABLE b TO other.b, d TO other.d;
DROP TABLE IF EXISTS gone, other.b, e, other.d;
"""


def job_of(folder: Path, script: str, format: str, route: str | None = None, partitions: int = 1) -> tuple[Job, Any]:
    """A script's run, and its messages with its summary."""
    file = folder / "script.sql"
    file.write_text(SETUP + script)
    job = open_job(str(file), format)
    sink = MemorySink(partitions=partitions)
    summary = local_run(job.addressed(route=route), sink, limits=Limits())()
    return job, (summary, list(sink.messages()))


def sent(folder: Path, script: str, format: str) -> tuple[Summary, list[Any]]:
    """The summary and the values of the messages after those of the set-up."""
    _, (summary, messages) = job_of(folder, script, format)
    values = [json.loads(message.value) for message in messages if message.order.turn >= SETUP_STATEMENTS]
    return summary, values


@pytest.mark.parametrize("alter", ALTERS)
def test_an_alter_table_is_one_whatever_its_items_are(tmp_path: Path, alter: str) -> None:
    words = {
        "oms-default,version=4": lambda value: value["allMetaData"]["ddlType"],
        "oms-canal-json,version=4": lambda value: value["type"],
        "cloudcanal-json": lambda value: value["action"],
        "dts-canal-json": lambda value: value["type"],
    }
    found = {format: {read(value) for value in sent(tmp_path, alter, format)[1]} for format, read in words.items()}
    assert list(found.values()) == [{"ALTER TABLE"}, {"ALTER"}, {"ALTER"}, {"DDL"}]
    (value,) = sent(tmp_path, alter, "oms-default")[1]
    assert value["allMetaData"]["table_name"] == alter.split()[2], "the text names it, whatever the item is"
    summary, values = sent(tmp_path, alter, "canal-json")
    canal = ALTERS[alter]
    assert [value["type"] for value in values] == ([canal] if canal else [])
    assert summary.ddl_not_sent == (0 if canal else 1)


@pytest.mark.parametrize(
    ("format", "created", "others"),
    [
        ("dts-canal-json", 0, 3),  # accounts and administration
        ("canal-json", 0, 6),
        ("drs-json", 0, 6),
        ("oms-default", 2, 6),  # no CREATE DATABASE
        ("cloudcanal-json", 2, 6),
        ("cloudcanal-json,ddl_statements=all", 0, 5),
        ("cloudcanal-json,ddl_statements=alter+database", 3, 5),
    ],
)
def test_what_a_product_does_not_send_is_counted(tmp_path: Path, format: str, created: int, others: int) -> None:
    summary, values = sent(tmp_path, ";".join((*OF_DATABASES, *ADMINISTRATION)), format)
    assert (summary.ddl, summary.ddl_not_sent) == (SETUP_STATEMENTS + 6, created + others)
    assert len(values) == 6 - others


def test_the_summary_is_in_the_units_of_statements(tmp_path: Path) -> None:
    from simulator.cli.progress import summary as text

    job, (summary, _) = job_of(tmp_path, "ANALYZE TABLE a", "dts-canal-json")
    session = cast(Session, SimpleNamespace(job=job, is_on_broker=False, where="-"))
    assert "5 DDL statements; " in text(summary, session)
    assert text(summary, session).endswith("\n1 DDL statement is not sent by dts-canal-json.")


def test_a_statement_about_several_tables_names_each_where_its_topic_is(tmp_path: Path) -> None:
    _, (_, messages) = job_of(tmp_path, SEVERAL, "cloudcanal-json,ddl_statements=all")
    found = [
        (value["action"], value["db"], value["table"], message.topic.partition(".")[2])
        for message, value in ((message, json.loads(message.value)) for message in messages)
        if message.order.turn >= SETUP_STATEMENTS
    ]
    assert found == [
        ("RENAME", "shop", "a", "shop.a"),
        ("RENAME", "shop", "c", "shop.c"),
        ("RENAME", "other", "b", "shop.b"),
        ("RENAME", "other", "d", "shop.d"),
        ("DROP", "other", "b", "other.b"),
        ("DROP", "shop", "e", "shop.e"),
        ("DROP", "other", "d", "other.d"),
    ]


def test_a_statement_about_several_tables_reaches_the_partitions_of_all(tmp_path: Path) -> None:
    def reached(format: str, read: Any) -> dict[int, list[Any]]:
        _, (_, messages) = job_of(tmp_path, SEVERAL, format, route="table", partitions=97)
        turns: dict[int, list[Any]] = {}
        for message in messages:
            if message.order.turn >= SETUP_STATEMENTS:
                turns.setdefault(message.order.turn, []).append((message.partition, read(json.loads(message.value))))
        return turns

    dts = reached("dts-canal-json", lambda value: (value["database"], value["table"]))
    assert [[name for _, name in copies] for copies in dts.values()] == [
        [("shop", "a"), ("shop", "a"), ("shop", "c"), ("shop", "c")],
        [("shop", "b"), ("shop", "b"), ("shop", "d"), ("shop", "d")],
        [("other", "b"), ("shop", "e"), ("other", "d")],
    ]
    assert all(len(Counter(partition for partition, _ in copies)) == len(copies) for copies in dts.values())
    # OMS reaches old and new names, with the same bytes of each table's record
    oms = reached("oms-default", lambda value: json.dumps(value))
    assert [len(copies) for copies in oms.values()] == [4, 4, 1, 1, 1]
    assert [len({text for _, text in copies}) for copies in oms.values()] == [2, 2, 1, 1, 1]
