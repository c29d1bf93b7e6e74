"""Random scripts on real servers, read by Debezium's engine and sent by us: equal, enveloped and unwrapped, as Kafka
Connect's JSON converter writes them and as Confluent's Avro converter does, with its schemas' texts.

The engine follows a server while a script runs there. Of MySQL's servers we read the same log; PostgreSQL runs the
script twice, since ours needs a database of its own. What differs from run to run is masked
(`captured_debezium.Record.masked`); `EMPTY` is what else is left out. CDCSIM_DEBEZIUM=200 compares 200 scripts per
server instead of a few.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

import pytest
import random_postgresql
import random_sql
from captured_debezium import Record, records
from debezium_engine import MARKS, MYSQL, POSTGRESQL, PREFIX, Engine, Line, read_avro

from simulator import sources
from simulator.run.job import Job, Opened
from simulator.sql.script import Script, fitted, script_of
from simulator.subjects.ids import known

SCRIPTS: Final = int(os.environ.get("CDCSIM_DEBEZIUM", "10"))
# Properties of the engine whose effect is compared, too; our lists have semicolons.
COLUMNS: Final = {
    "column.propagate.source.type": r".*\.c[02]",
    "column.exclude.list": r".*\.c3",
    "message.key.columns": r"d1\.t.:c1,id",
}
FORMAT: Final = ",".join(
    (
        "debezium-json,provide.transaction.metadata=true,skipped.operations=none",
        *(f"{name}={text.replace(',', ';')}" for name, text in COLUMNS.items()),
    )
)
# Settings of ExtractNewRecordState, by the server that it runs on.
UNWRAP: Final = {
    "mysql": {"delete.tombstone.handling.mode": "rewrite-with-tombstone", "add.fields": "op,source.row,db:database"},
    "postgresql": {"add.fields": "table,snapshot,total_order", "add.headers": "op,source.schema:owner"},
}
ENGINE: Final = {**COLUMNS, "skipped.operations": "none"}
# Defaults of the server's clock, which PostgreSQL's two runs read at two times; literals end with 2024.
NOW: Final = re.compile(rb'"20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT[\d:]{8}\.\d{6}Z"')
# A transaction without rows: CREATE TABLE … SELECT of none. The history has no such transaction.
EMPTY: Final = b'"event_count":0,"data_collections":[]'

Lanes = dict[str, list[Record]]


def settled(records: Iterable[Record]) -> Lanes:
    """Records by topic, masked, without transactions that are empty or the marks'."""
    lanes: Lanes = {}
    for record in records:
        masked = record.masked()
        value = masked.value and NOW.sub(b'"now"', masked.value)
        lane = lanes.setdefault(record.topic, [])
        ended = value is not None and (EMPTY in value or f'"{MARKS}"'.encode() in value)
        if ended and record.topic == f"{PREFIX}.transaction":
            lane.pop()  # its beginning
        elif record.topic != f"{PREFIX}.{MARKS}":
            lane.append(replace(masked, value=value))
    return {topic: lane for topic, lane in lanes.items() if lane}


def streamed(lines: Iterable[Line]) -> Iterator[Line]:
    """Without the snapshot before the script, and the statements that make the marks."""
    for line in lines:
        value = line.record.value or b""
        is_mark = b'"payload":{"databaseName":"cdcsim"}' in (line.record.key or b"")
        if not is_mark and (b'"snapshot":"false"' in value or b'"snapshot"' not in value):
            yield line


def unwrapping(server: str) -> dict[str, str]:
    """The engine's properties for the transform."""
    return {f"unwrap.{name}": text for name, text in UNWRAP[server].items()}


def compare(job: Job, lines: list[Line], server: str) -> int:
    """Compares the messages of a job in JSON and in Avro, and the unwrapped ones; returns the number of messages."""
    theirs = list(streamed(lines))
    options = [f",transforms.unwrap.{name}={text.replace(',', ';')}" for name, text in UNWRAP[server].items()]
    for transforms, sent in (
        ("", theirs),
        ("".join([",transforms=unwrap", *options]), [line.unwrapped for line in theirs if line.unwrapped]),
    ):
        in_json, in_avro = (
            records(replace(job, format=f"{format}{transforms}", opened=Opened(job.stream)))
            for format in (job.format, job.format.replace("-json", "-avro", 1))
        )
        check(settled(in_json), settled(line.record for line in sent))
        check(settled(read_avro(record, known) for record in in_avro), settled(line.avro for line in sent))
    return len(theirs)


def check(ours: Lanes, theirs: Lanes) -> None:
    for topic in ours.keys() | theirs.keys():
        for number, (mine, other) in enumerate(zip_longest(ours.get(topic, []), theirs.get(topic, []))):
            assert mine == other, f"{topic} {number}:\n  ours   {mine}\n  theirs {other}"


def job_of(text: str, source: str, engine: str, options: str) -> Job:
    found = sources.find(source)
    script: Script = fitted(replace(script_of(text, "random.sql"), engine=engine), found)
    return Job(script, found, FORMAT + options, force=True)


# --------------------------------------------------------------------------------------------------------------- MySQL


def check_mysql(source: str, url: str, seeds: range, options: str = "") -> int:
    import pymysql

    host, _, port = url.rpartition("@")[2].partition(":")
    text = "".join(random_sql.script(seed, database=f"d{seed}") for seed in seeds)
    server = {"database.port": port, "database.user": "root", "database.password": ""}
    with Engine({**MYSQL, **ENGINE, **unwrapping("mysql"), **server}) as engine:
        engine.begun()
        job = job_of(text, source, url, f",server_id=1{options}")
        assert job.stream.failure is None
        with closing(pymysql.connect(host=host, port=int(port), user="root", autocommit=True)) as client:
            for statement in (
                "create database cdcsim",
                f"create table {MARKS}(id int primary key)",
                f"insert into {MARKS} values (0)",
                "drop database cdcsim",
            ):
                client.query(statement)
        return compare(job, engine.wait(), "mysql")


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("source", ["mysql-8.0", *(["mysql-5.7"] if SCRIPTS > 10 else [])])
def test_mysql(source: str, servers: Callable[[str], str]) -> None:
    assert check_mysql(source, servers(source), range(SCRIPTS)) > 10 * SCRIPTS


# ---------------------------------------------------------------------------------------------------------- PostgreSQL


def run_postgresql(client: Any, text: str, engine: Engine) -> None:
    """Runs a script line by line. Before tables change, the engine has read all rows: it reads the catalogue late."""
    import psycopg

    alters = 0
    for line in text.splitlines():
        if line.startswith("alter"):
            alters += 1
            client.execute(f"insert into {MARKS} values ({alters})")
            engine.passed(1 + alters)
        try:
            client.execute(line.encode())
        except psycopg.Error:
            continue  # ours continues, too
    client.execute(f"insert into {MARKS} values (0)")


@pytest.mark.broker("postgresql")
def test_postgresql(postgresql: str) -> None:
    import psycopg

    database = "debezium_random"
    parts = (random_postgresql.script(seed, f"s{seed}") for seed in range(SCRIPTS))
    text = random_postgresql.PRELUDE + "".join(parts)
    job = job_of(text, "postgresql-14", f"{postgresql}/{database}", "")
    assert job.stream.failure is None
    host, _, port = postgresql.rpartition("@")[2].partition(":")
    login: dict[str, Any] = {"host": host, "port": int(port), "user": "postgres", "autocommit": True}
    with psycopg.connect(dbname="postgres", **login) as admin:
        admin.execute(f"create database {database}")
        try:
            with psycopg.connect(dbname=database, **login) as client:
                client.execute(
                    f"create schema cdcsim; create table {MARKS}(id int primary key); insert into {MARKS} values (-1)"
                )
                names = {"database.port": port, "database.dbname": database, "slot.name": database}
                with Engine({**POSTGRESQL, **ENGINE, **unwrapping("postgresql"), **names}) as engine:
                    engine.begun()
                    run_postgresql(client, text, engine)
                    lines = engine.wait()
        finally:
            admin.execute(f"drop database {database} with (force)")
    assert compare(job, lines, "postgresql") > 10 * SCRIPTS
    assert any(json.loads(line.record.value or "{}").get("payload", {}).get("op") == "t" for line in lines)
