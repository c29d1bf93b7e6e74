"""Scripts of Debezium's captures, run on a server of the same version: the captured messages, byte for byte.

What differs from run to run is taken from the capture, as `captured_debezium.py` says, and values of the server's
clock; the capture of PostgreSQL's operations has no headers. What else differs stands in `EXCEPTIONS`, `LEFT`. Each
format that reads PostgreSQL then has the rows of the history, as `decoded_comparison.py` compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from building import messages_of
from captured_debezium import CAPTURES as MYSQL
from captured_debezium import (
    HEARTBEATS,
    Capture,
    Edits,
    Record,
    compared,
    differences,
    ours,
    records,
    theirs,
    unpacked,
)
from cases import refused
from decoded_comparison import problems_of

from simulator import formats, registry, sources
from simulator.batch import ChangeBatch
from simulator.run.job import Job, Opened
from simulator.sql.script import fitted, script_of
from simulator.stream.literal.history import HistoryStream

SOURCE: Final = sources.find("postgresql-14")  # the newest known that is not newer than the capture's server
EXTENSIONS: Final = "create extension hstore; create extension citext; create extension ltree;\n"
# How the capture was made, and what the history cannot hold: a number with a scale that is none (Debezium has null).
EDITS: Final = {
    "operations": [("-- while it streams:", "-- @snapshot"), (r"(?<=\n)(insert.*\n.*\n)\Z", r"begin; \1 commit;")],
    "types": [
        ("-- while it streams:", "-- @snapshot"),
        ("create schema", EXTENSIONS + "create schema"),
        (r"(values\(\d+,'NaN','infinity','infinity','-infinity','Infinity','-Infinity',)'NaN'", r"\1null"),
    ],
}
FORMAT: Final = "debezium-json,topic.prefix=fulfillment"
# Each capture, how many messages it holds beside heartbeats, and numbers of those that differ, by reason.
CAPTURES: Final = {
    "operations": (f"{FORMAT},provide.transaction.metadata=true,extended.headers.enabled=false", 50),
    "types": (FORMAT, 10),
}
EXCEPTIONS: Final[dict[str, dict[str, set[int]]]] = {
    "operations": {},
    "types": {},
}
# The same of MySQL and MariaDB; servers that have partial updates in their log are refused.
LEFT: Final[dict[str, dict[str, set[int]]]] = {
    "my80-operations": {
        "the client of the capture keeps comments as they are": {344},
        "two transactions without a row, whose updates PARTIAL_JSON loses": {432, 433, 434, 436},
    },
}
_WHOLE: Final = ((r"set session binlog_row_value_options=PARTIAL_JSON;", ""), (r"(?:update pj .*\n){2}", ""))
# An event that the server runs at once would commit before or after the statement behind it.
_IDLE: Final = ((r"create event ev1 ", "set global event_scheduler=off; create event ev1 "),)
MYSQL_EDITS: Final[dict[str, Edits]] = {"my80-operations": (*_WHOLE, *_IDLE)}
CLOCK: Final = re.compile(rb'"nn_now":"[^"]*"')


def test_counts() -> None:
    """At least 99.5 % of all captured messages are ours, byte for byte; `PROOF.md` has the counts."""
    counts = captured()
    assert counts == (1413, 1418)
    assert counts[0] >= 0.995 * counts[1]


def captured() -> tuple[int, int]:
    """Captured messages that ours equal, and all."""
    excepted = sum(
        len(numbers) for runs in (EXCEPTIONS, LEFT) for reasons in runs.values() for numbers in reasons.values()
    )
    total = sum(MYSQL.values()) + sum(count for _, count in CAPTURES.values())
    return total - excepted, total


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("capture", MYSQL, ids=lambda capture: capture.name)
def test_mysql(capture: Capture, servers: Callable[[str], str]) -> None:
    made = ours(capture, servers(capture.source), MYSQL_EDITS.get(capture.name, ()))
    different, more = differences(made, theirs(capture.name))
    excepted = set().union(*LEFT.get(capture.name, {}).values())
    assert set(different) == excepted, "\n".join(text for n, text in different.items() if n not in excepted)[:20_000]
    assert not more


def job_of(run: str, url: str) -> Job:
    text = unpacked(f"postgres-{run}.sql")
    for old, new in EDITS[run]:
        text, count = re.subn(old, new, text)
        assert count
    script = fitted(replace(script_of(text, f"{run}.sql"), engine=f"{url}/inv"), SOURCE)
    return Job(script, SOURCE, CAPTURES[run][0], force=True)


def settled(record: Record) -> Record:
    """Without values of the clock; `operations` was captured without headers."""
    return replace(record, headers=record.headers[-4:], value=record.value and CLOCK.sub(b'"nn_now":""', record.value))


@pytest.mark.broker("postgresql")
@pytest.mark.parametrize("run", CAPTURES)
def test_postgresql(run: str, postgresql: str) -> None:
    capture = Capture(f"postgres-{run}", *CAPTURES[run][:1], str(SOURCE))
    assert sum(not record.topic.startswith(HEARTBEATS) for record in theirs(capture.name)) == CAPTURES[run][1]
    job = job_of(run, postgresql)
    ours = [without_headers(record) if run == "operations" else record for record in records(job)]
    different = {}
    for number, mine, other in compared(ours, theirs(capture.name)):
        assert number is not None, mine
        if mine is None or other is None or settled(mine) != settled(other):
            different[number] = f"{number}:\n  ours   {mine}\n  theirs {other}"
    excepted = set().union(*EXCEPTIONS[run].values())
    assert set(different) == excepted, "\n".join(text for n, text in different.items() if n not in excepted)[:20_000]
    stream = job.stream
    assert isinstance(stream, HistoryStream)
    assert stream.failure is None
    for format in registry.names("format", formats.FORMATS):
        if "postgresql" in formats.find(format).sources:
            check_messages(format, stream)


def without_headers(record: Record) -> Record:
    return replace(record, headers=())


def check_messages(format: str, stream: HistoryStream) -> None:
    """The messages of a format have the rows of the stream, turn by turn; `test_partial_images.py` has partial ones."""
    for turn in range(stream.turns):
        block = stream.read(turn, turn + 1)
        batches = tuple(written(format, batch) for batch in block.batches if batch.logged is None)
        rows = replace(block, batches=batches, events=())
        assert not list(problems_of(format, str(SOURCE), rows, messages_of(format, str(SOURCE), rows)))


def written(format: str, batch: ChangeBatch) -> ChangeBatch:
    """A batch without the columns whose types the format refuses."""
    columns = batch.table.columns
    lost = refused(format, str(SOURCE), columns)
    kept = [i for i, column in enumerate(columns) if column not in lost]
    images = (None if image is None else tuple(image[i] for i in kept) for image in (batch.after, batch.before))
    after, before = images
    return replace(
        batch, table=replace(batch.table, columns=tuple(columns[i] for i in kept)), after=after, before=before
    )


MESSAGES: Final = """
create table t(id int primary key);
-- @snapshot
begin;
select pg_logical_emit_message(true, 'p0', 'first');
insert into t values (1);
select pg_logical_emit_message(true, 'p"x', 'tx');
insert into t values (2);
select pg_logical_emit_message(true, 'p2', '');
commit;
select pg_logical_emit_message(true, 'p3', '\\x00ff'::bytea);
select pg_logical_emit_message(false, 'p4', 'q');
insert into t values (3);
"""
# What Debezium's engine 3.6.3 sent of it: the key of a message or row, or the mark of a transaction; the content, the
# places in the transaction, or the numbers of changes by collection.
SENT: Final[list[tuple[Any, Any]]] = [
    ("BEGIN", None),
    ("p0", ("Zmlyc3Q=", 1, 1)),
    (1, (None, 2, 1)),
    ('p"x', ("dHg=", 3, 1)),
    (2, (None, 4, 2)),
    ("p2", ("", 5, 1)),
    ("END", [2, 1, 1, 1]),
    ("BEGIN", None),
    ("p3", ("AP8=", 1, 1)),
    ("END", [1]),
    ("p4", ("cQ==", None, None)),
    ("BEGIN", None),
    (3, (None, 1, 1)),
    ("END", [1]),
]


@pytest.mark.broker("postgresql")
def test_messages_in_the_log(postgresql: str) -> None:
    """Messages count as changes; those outside of transactions come at once."""
    script = fitted(replace(script_of(MESSAGES, "messages.sql"), engine=f"{postgresql}/messages"), SOURCE)
    common = "provide.transaction.metadata=true"
    schemas = "key.converter.schemas.enable=false,value.converter.schemas.enable=false"
    job = Job(script, SOURCE, f"debezium-json,{common},{schemas}", force=True)
    assert [facts_of(record) for record in records(job)] == SENT
    avro = replace(job, format=f"debezium-avro,{common}", opened=Opened(job.stream))
    assert [record.topic for record in records(avro)] == [record.topic for record in records(job)]


def facts_of(record: Record) -> tuple[Any, Any]:
    key, value = json.loads(record.key or b""), json.loads(record.value or b"")
    if "status" in value:
        collections = value["data_collections"]
        return value["status"], collections and [each["event_count"] for each in collections]
    block = value["transaction"] or {}
    content = value.get("message", {}).get("content")
    places = block.get("total_order"), block.get("data_collection_order")
    return next(iter(key.values())), (content, *places)


# Large values are out of line, and an update does not change them.
LARGE: Final = """
create schema s;
create table s.t(id int primary key, a lseg, b box not null, c circle, l line, q tsquery,
  m money[], pn pg_lsn, tx txid_snapshot, big text, nb bytea, ints int[], f4 real[]);
alter table s.t alter big set storage external, alter nb set storage external, alter ints set storage external,
  alter f4 set storage external;
-- @snapshot
insert into s.t values (3, '((1,2),(3,4))', '((1,2),(3,4))', '<(1,2),3>', '{1,2,3}', 'a & b',
  '{1.5}', '16/B374D848', '10:20:10,14,15', repeat('a', 9000),
  decode(repeat('ab', 9000), 'hex'), (select array_agg(i) from generate_series(1, 9000) i),
  (select array_agg(i) from generate_series(1, 9000) i));
update s.t set a = '((1,2),(3,5))';
"""
# The row after the update, as Debezium's engine 3.6.3 wrote it with these options.
LARGE_ROWS: Final = {
    "include.unknown.datatypes=true,unavailable.value.placeholder=hex:00ff41": (
        '"id":3,"a":"WygxLjAsMi4wKSwoMy4wLDUuMCld","b":"KDMuMCw0LjApLCgxLjAsMi4wKQ==","c":"PCgxLjAsMi4wKSwzLjA+",'
        '"l":"ezEuMCwyLjAsMy4wfQ==","q":"J2EnICYgJ2In",'
        '"pn":"MTYvQjM3NEQ4NDg=","tx":"MTA6MjA6MTAsMTQsMTU=","big":"\\u0000\ufffdA",'
        '"nb":"AP9B","ints":[0,-1,65],"f4":null'
    ),
    "include.unknown.datatypes=true,unavailable.value.placeholder=hex:00ff41,binary.handling.mode=hex": (
        '"id":3,"a":"5b28312e302c322e30292c28332e302c352e30295d","b":"28332e302c342e30292c28312e302c322e3029",'
        '"c":"3c28312e302c322e30292c332e303e","l":"7b312e302c322e302c332e307d",'
        '"q":"276127202620276227",'
        '"pn":"31362f4233373444383438","tx":"31303a32303a31302c31342c3135",'
        '"big":"\\u0000\ufffdA","nb":"\\u0000\ufffdA","ints":[0,-1,65],"f4":null'
    ),
}


@pytest.mark.broker("postgresql")
def test_unknown_types_and_placeholders(postgresql: str) -> None:
    script = fitted(replace(script_of(LARGE, "large.sql"), engine=f"{postgresql}/large"), SOURCE)
    job = Job(script, SOURCE, "debezium-json", force=True)
    assert job.stream.failure is None
    for options, row in LARGE_ROWS.items():
        written = replace(job, format=f"debezium-json,{options}", opened=Opened(job.stream))
        update = records(written)[-1].value or b""
        assert f'"after":{{{row}}}' in update.decode()
