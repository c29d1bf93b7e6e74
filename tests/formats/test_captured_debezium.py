"""The SQL scripts of the captures, run here: every message as a real Debezium sent it, topic by topic, byte for byte.

What differs from run to run is taken from the capture: times, positions, ids of transactions, connections, the id of
the start, values of the server's clock. What else differs stands in `EXCEPTIONS` with its reason. See
`captures/debezium/README.md`.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
from captured_debezium import HEARTBEATS, Capture, Record, beside, theirs

OLD: Final = ",connector.class=io.debezium.connector.mysql.MySqlConnector"  # of a server that is MariaDB's
MARKED: Final = ",provide.transaction.metadata=true"
# Each capture, and how many messages it holds beside heartbeats.
CAPTURES: Final = {
    Capture("my80-operations", f"debezium-json,server_id=1,gtid=on{MARKED}", "mysql-8.0"): 466,
    Capture("my80-types", "debezium-json,server_id=1", "mysql-8.0"): 415,
    Capture("my57-types", "debezium-json,server_id=1", "mysql-5.7"): 415,
    Capture("mysql-operations", f"debezium-json{OLD}{MARKED},include.schema.comments=true", "mariadb-10.11"): 48,
    Capture("mysql-types", f"debezium-json{OLD}", "mariadb-10.11"): 14,
}
# Values of the server's clock, and the number that the last row had before a statement.
CLOCK: Final = re.compile(
    rb'"(?:nn_dt":\d+|nn_cts":"[^"]*"|nn_ct6":"[^"]*"|f":"[^"]*")(?=,)|(?<="pos":0,)"row":\d+(?=,"thread":(?:null|0),"query":null\},"ts_ms":0,"databaseName")'
)
EXPRESSIONS: Final = "SHOW CREATE TABLE prints expressions as they were typed"
XA: Final = "XA PREPARE sends rows outside of any transaction; here they are one of XA COMMIT's"
ENGINE: Final = "the embedded engine does not run the statement, or not with this setting of its session"
# Numbers in the capture, which differ from ours or are missing here, by reason.
EXCEPTIONS: Final = {
    "my80-operations": {
        "the unique key that stood in for a primary key does not come back with DROP PRIMARY KEY": {299},
        "the client of the capture keeps comments as they are": {344},
        XA: {407, 408, 409},
        ENGINE: {432, 434, 439, 441, 467, 468},
        "the embedded engine refuses statements about several rows of a partitioned table": {464, 465, 466, 470},
    },
    "my80-types": {EXPRESSIONS: {22}},
    "my57-types": {EXPRESSIONS: {22}},
    "mysql-operations": {ENGINE: {38, 42, 43}},
    "mysql-types": {"SHOW CREATE TABLE of MariaDB has CHECK (json_valid())": {5}},
}
# Messages that only we have: XA, and updates that PARTIAL_JSON loses.
MORE: Final = {"my80-operations": 8}


def settled(record: Record | None) -> Record | None:
    """Without values of the clock."""
    if record is None or record.value is None:
        return record
    value = CLOCK.sub(b"", record.value)
    return Record(record.topic, record.partition, record.key, value, record.headers)


def test_counts() -> None:
    for capture, count in CAPTURES.items():
        assert sum(not record.topic.startswith(HEARTBEATS) for record in theirs(capture.name)) == count
    assert sum(CAPTURES.values()) == 1358
    excepted = sum(len(numbers) for reasons in EXCEPTIONS.values() for numbers in reasons.values())
    assert excepted + sum(MORE.values()) <= 0.022 * sum(CAPTURES.values())


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_capture(capture: Capture) -> None:
    different, more = dict[int, str](), 0
    for number, ours, message in beside(capture):
        if number is None or message is None:
            more += 1
        elif settled(ours) != settled(message):
            different[number] = f"{number}:\n  ours   {settled(ours)}\n  theirs {settled(message)}"
    excepted = set().union(*EXCEPTIONS[capture.name].values())
    assert set(different) == excepted, "\n".join(text for n, text in different.items() if n not in excepted)[:20_000]
    assert more == MORE.get(capture.name, 0)


def test_heartbeats() -> None:
    """A heartbeat has the time alone, in a topic of its own, without headers."""
    (beat, *_) = [record for record in theirs("my80-operations") if record.topic.startswith(HEARTBEATS)]
    assert (beat.topic, beat.partition, beat.headers) == ("__debezium-heartbeat.dbserver1", 0, ())
