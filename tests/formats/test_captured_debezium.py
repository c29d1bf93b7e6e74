"""The SQL scripts of the captures, run here: every message as a real Debezium sent it, topic by topic, byte for byte.

What differs from run to run is taken from the capture: times, positions, ids of transactions, connections, the id of
the start, values of the server's clock. What else differs stands in `EXCEPTIONS` with its reason; servers run the same
scripts in `sql/test_debezium_rows.py`. See `captures/debezium/README.md`.
"""

from __future__ import annotations

from typing import Final

import pytest
from captured_debezium import CAPTURES, HEARTBEATS, Capture, differences, ours, theirs

EXPRESSIONS: Final = "SHOW CREATE TABLE prints expressions as they were typed"
ENGINE: Final = "the embedded engine does not run the statement, or not with this setting of its session"
# Numbers in the capture, which differ from ours or are missing here, by reason.
EXCEPTIONS: Final = {
    "my80-operations": {
        "the client of the capture keeps comments as they are": {344},
        ENGINE: {432, 434, 439, 441, 467, 468},
        "the embedded engine refuses statements about several rows of a partitioned table": {464, 465, 466, 470},
    },
    "my80-types": {EXPRESSIONS: {22}},
    "my57-types": {EXPRESSIONS: {22}},
    "mysql-operations": {ENGINE: {38, 42, 43}},
    "mysql-types": {"SHOW CREATE TABLE of MariaDB has CHECK (json_valid())": {5}},
}
# Messages that only we have: the rows of updates that PARTIAL_JSON loses.
MORE: Final = {"my80-operations": 2}


def test_counts() -> None:
    for capture, count in CAPTURES.items():
        assert sum(not record.topic.startswith(HEARTBEATS) for record in theirs(capture.name)) == count
    assert sum(CAPTURES.values()) == 1358
    excepted = sum(len(numbers) for reasons in EXCEPTIONS.values() for numbers in reasons.values())
    assert excepted == 17


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_capture(capture: Capture) -> None:
    different, more = differences(ours(capture), theirs(capture.name))
    excepted = set().union(*EXCEPTIONS[capture.name].values())
    assert set(different) == excepted, "\n".join(text for n, text in different.items() if n not in excepted)[:20_000]
    assert more == MORE.get(capture.name, 0)


def test_heartbeats() -> None:
    """A heartbeat has the time alone, in a topic of its own, without headers."""
    (beat, *_) = [record for record in theirs("my80-operations") if record.topic.startswith(HEARTBEATS)]
    assert (beat.topic, beat.partition, beat.headers) == ("__debezium-heartbeat.dbserver1", 0, ())
