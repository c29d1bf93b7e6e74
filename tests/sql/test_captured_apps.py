"""SQL scripts as applications have them, run here and compared with the messages that a real Canal 1.1.8 sent of them.

`DIFFERENT` says of each capture how many messages are not equal, and why.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
from captured import APPS, Capture, aligned, theirs, without_run

SERVERS: Final = {"mysql8.0.31": "mysql-8.0", "mysql5.7.22": "mysql-5.7", "mariadb10.11.19": "mariadb-10.11"}
CAPTURES: Final = sorted(
    path.name.removesuffix(".jsonl.gz") for path in APPS.glob("*.jsonl.gz") if ".meta." not in path.name
)
# Fractions of the clock's seconds, which a message's `es` does not have.
_FRACTION: Final = re.compile(rb"(2026-11-2\d \d\d:\d\d:\d\d)\.\d+")
DIFFERENT: Final = {
    "1.1.8-mariadb10.11.19-shop": 2,  # the order in which rows are read
    "1.1.8-mysql5.7.22-alter-view": 3,  # which views Canal reads goes by the definer
    "1.1.8-mysql5.7.22-modify-key": 3,  # Canal forgets an inline key
    "1.1.8-mysql5.7.22-row-order": 1,  # the order in which rows are read
    "1.1.8-mysql8.0.31-dump_hex": 5,  # DDL in comments
    "1.1.8-mysql8.0.31-expressions": 2,  # COLLATION()
    "1.1.8-mysql8.0.31-misc": 14,  # offsets of datetimes, emoji, MyISAM, partitions
    "1.1.8-mysql8.0.31-modify-key": 3,
    "1.1.8-mysql8.0.31-replace-triggers": 3,  # views, keys, emoji
    "1.1.8-mysql8.0.31-routines": 6,  # views with a CHECK OPTION; bodies
    "1.1.8-mysql8.0.31-row-order": 2,
    "1.1.8-mysql8.0.31-sakila": 3,  # a geometry column with an SRID
}


def test_counts() -> None:
    assert len(CAPTURES) == 20
    assert sum(len(theirs(name, APPS)) for name in CAPTURES) == 804


@pytest.mark.parametrize("name", CAPTURES)
def test_capture(name: str) -> None:
    capture = Capture(name, "canal-json", SERVERS[name.split("-")[1]])
    pairs, _ = aligned(capture)
    different = [pair for pair in pairs if None in pair or len(set(map(_comparable, pair))) > 1]
    assert len(different) == DIFFERENT.get(name, 0), "\n".join(f"ours   {a!r}\ntheirs {b!r}" for a, b in different)


def _comparable(message: bytes | None) -> bytes:
    return _FRACTION.sub(rb"\1", without_run(message or b""))
