"""SQL scripts as applications have them, run here and compared with the messages that a real Canal 1.1.8 sent of them.

`DIFFERENT` says of each capture how many messages are not equal, and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

import pytest
from captured import APPS, Capture, aligned, theirs, without_run

SERVERS: Final = {"mysql8.0.31": "mysql-8.0", "mysql5.7.22": "mysql-5.7", "mariadb10.11.19": "mariadb-10.11"}
CAPTURES: Final = sorted(
    path.name.removesuffix(".jsonl.gz") for path in APPS.glob("*.jsonl.gz") if ".meta." not in path.name
)
# Fractions of the clock's seconds, which a message's `es` does not have.
_FRACTION: Final = re.compile(rb"(2026-11-2\d \d\d:\d\d:\d\d)\.\d+")
Pair = tuple[bytes | None, bytes | None]
DIFFERENT: Final = {
    "1.1.8-mariadb10.11.19-shop": 2,  # the order in which a join reads its tables
    "1.1.8-mysql8.0.31-expressions": 2,  # COLLATION(), which is refused
    "1.1.8-mysql8.0.31-misc": 2,  # an INSERT into two partitions, which is refused
    "1.1.8-mysql8.0.31-routines": 1,  # a CALL moves the clock by a second with each of its transactions
    "1.1.8-mysql8.0.31-row-order": 1,  # an index that statistics make look longer than it is
}


def test_counts() -> None:
    assert len(CAPTURES) == 20
    assert sum(len(theirs(name, APPS)) for name in CAPTURES) == 804


@pytest.mark.parametrize("name", CAPTURES)
def test_capture(name: str) -> None:
    different = _different(Capture(name, "canal-json", _source(name)))
    assert len(different) == DIFFERENT.get(name, 0), _printed(different)


@pytest.mark.broker("mysql")
@pytest.mark.parametrize("name", CAPTURES)
def test_capture_by_a_server(name: str, servers: Callable[[str], str]) -> None:
    """A server of the same version runs the script: all messages are equal."""
    source = _source(name)
    different = _different(Capture(name, "canal-json", source, engine=servers(source)))
    if name.endswith("row-order"):
        # The order of the rows of one UPDATE hangs on how far the server has purged deleted rows from an index.
        different = [pair for pair in different if len({_unordered(message) for message in pair}) > 1]
    assert not different, _printed(different)


def _source(name: str) -> str:
    return SERVERS[name.split("-")[1]]


def _different(capture: Capture) -> list[Pair]:
    return [pair for pair in aligned(capture) if None in pair or len(set(map(_comparable, pair))) > 1]


def _printed(pairs: list[Pair]) -> str:
    return "\n".join(f"ours   {a!r}\ntheirs {b!r}" for a, b in pairs)


def _comparable(message: bytes | None) -> bytes:
    return _FRACTION.sub(rb"\1", without_run(message or b""))


def _unordered(message: bytes | None) -> str:
    facts = json.loads(_comparable(message) or b"{}")
    rows = zip(facts.pop("data"), facts.pop("old") or [], strict=False)
    return repr((sorted(map(repr, rows)), facts))
