"""The SQL scripts of the captures, run here: every message as a real Canal sent it, in order, byte for byte.

Of a captured message `id` and `ts` are taken, and its `es` is the clock of the script. What else differs from run to
run, or is not made here, stands in `EXCEPTIONS` with its reason. See `captures/canal/README.md`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest
from captured import Capture, Ours, pairs, places, theirs

PARTITION: Final = (
    r",partition_hash=inventory.products:id;inventory.orders:$pk$;inventory.two:a^b;inventory.tablehash;.*\..*_rx:id;"
    r"inventory.nopk:$pk$;INVENTORY.MIXED:id;other_db\..*:$pk$"
    r",dynamic_topic=inventory.products;custom_orders:inventory.orders;inventory\..*_rx;inventory.MIXED;"
    r"topic.dot:inventory.two;other_db,topic_partitions=custom_orders:3"
)
UUID: Final = "ed078bca-e586-11f1-908f-02fc00000001"
# Each capture, and how many messages it holds.
CAPTURES: Final = {
    Capture("1.1.5-mysql5.7.22-operations", "canal-json,version=1.1.5", "mysql-5.7", user="root@%"): 176,
    Capture("1.1.5-mysql5.7.22-types", "canal-json,version=1.1.5", "mysql-5.7"): 79,
    Capture("1.1.6-mysql5.7.22-types", "canal-json,version=1.1.6", "mysql-5.7"): 79,
    Capture("1.1.8-mariadb10.11.19-operations", "canal-json", "mariadb-10.11", user="root@127.0.0.1"): 239,
    Capture("1.1.8-mysql5.7.22-aliases", "canal-json", "mysql-5.7"): 226,
    Capture("1.1.8-mysql5.7.22-operations", "canal-json", "mysql-5.7", user="root@%"): 176,
    Capture("1.1.8-mysql5.7.22-statement", "canal-json", "mysql-5.7"): 29,
    Capture("1.1.8-mysql5.7.22-types", "canal-json", "mysql-5.7"): 79,
    Capture("1.1.8-mysql8.0.15-gtid", f"canal-json,master_gtid={UUID}:1-2", "mysql-8.0"): 14,
    # RabbitMQ has no partitions, so its producer has no rules for them.
    Capture("1.1.8-mysql8.0.15-rabbitmq", r"canal-json,dynamic_topic=shop\..*", "mysql-8.0"): 11,
    Capture(
        "1.1.8-mysql8.0.15-rocketmq",
        r"canal-json,partition_hash=.*\..*:$pk$,dynamic_topic=shop\..*",
        "mysql-8.0",
        partitions=3,
    ): 13,
    Capture("1.1.8-mysql8.0.31-operations", "canal-json", "mysql-8.0", user="root@%"): 180,
    Capture("1.1.8-mysql8.0.31-partition", "canal-json" + PARTITION, "mysql-8.0", partitions=6): 118,
    Capture(
        "1.1.8-mysql8.0.31-partition-regex",
        r"canal-json,partition_hash=.*\..*:$pk$,dynamic_topic=.*\..*",
        "mysql-8.0",
        partitions=3,
    ): 103,
    Capture("1.1.8-mysql8.0.31-types", "canal-json", "mysql-8.0"): 79,
}
# (capture, number of the message): what is taken from it beside id and ts, and why.
EXCEPTIONS: Final = {
    ("1.1.8-mysql5.7.22-aliases", 215): (rb'"c":"[0-9: .-]*"', "the server's clock, in milliseconds; es has seconds"),
    ("1.1.8-mysql5.7.22-statement", 8): (rb"rand_seed1 = \d+ , rand_seed2 = \d+", "the seeds of the server's RAND()"),
}
_RUN_FACTS: Final = (rb'"id":\d+,"isDdl"', rb'"ts":\d+,"type":"[A-Z]+"\}$')


@cache
def beside(capture: Capture) -> list[tuple[int, Ours | None, bytes | None]]:
    return pairs(capture)


def test_counts() -> None:
    for capture, count in CAPTURES.items():
        assert len(theirs(capture.name)) == len(places(capture.name)) == count
    assert sum(CAPTURES.values()) == 1601


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_capture(capture: Capture) -> None:
    wrong = []
    for number, ours, message in beside(capture):
        if ours is None or message is None:
            wrong.append(f"{number}: ours {ours and ours.value[:300]!r}, theirs {message and message[:300]!r}")
            continue
        taken = [*_RUN_FACTS]
        if (capture.name, number) in EXCEPTIONS:
            taken.append(EXCEPTIONS[capture.name, number][0])
        value = ours.value
        for pattern in taken:
            found = re.search(pattern, message)
            assert found, f"{capture.name} {number}: {pattern!r} is not in the capture"
            value, count = re.subn(pattern, lambda match, text=found[0]: text, value)
            assert count == 1, f"{capture.name} {number}: {pattern!r} is not in ours: {value[-300:]!r}"
        if value != message:
            wrong.append(f"{number}:\n  ours   {value.decode()}\n  theirs {message.decode()}")
    assert not wrong, f"{len(wrong)} of {len(theirs(capture.name))}, such as\n" + "\n".join(wrong[:5])


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_ids_never_fall(capture: Capture) -> None:
    """Along the stream, as in the capture; where topics go out side by side, within each of them."""
    last: dict[tuple[str, int | None], int] = {}
    for _, ours, _ in beside(capture):
        assert ours is not None
        lane = (ours.topic, ours.partition)
        found = re.search(rb'"id":(\d+),"isDdl"', ours.value)
        assert found
        assert int(found[1]) >= last.get(lane, 0)
        last[lane] = int(found[1])


def test_topics_and_partitions() -> None:
    """Messages are compared within their topic and partition; so each of these has as many as in the capture."""
    for capture in CAPTURES:
        routed = any(partition is not None for _, partition in places(capture.name))
        mine = sorted(
            (ours.topic, ours.partition if routed else -1) for _, ours, _ in beside(capture) if ours is not None
        )
        assert mine == sorted((topic, -1 if p is None else p) for topic, p in places(capture.name))


def test_exceptions_are_used() -> None:
    for (name, number), (pattern, reason) in EXCEPTIONS.items():
        assert re.search(pattern, theirs(name)[number]), reason
