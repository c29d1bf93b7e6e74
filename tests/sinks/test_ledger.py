"""The account of messages: what counts as acknowledged, where a run goes on, what is said of failures."""

from __future__ import annotations

import pytest
from sinks_contract import batch

from simulator.errors import DeliveryFailed
from simulator.model import OrderKey
from simulator.sinks.ledger import Ledger


def turn(number: int) -> OrderKey:
    return OrderKey(1, number, 0)


def test_acknowledgements_of_one_partition_do_not_speak_for_another() -> None:
    ledger = Ledger()
    ledger.enter(batch("t", [b"x"] * 6, None, [0, 1, 0, 1, 0, 1]))
    ledger.enter(batch("t", [b"x"] * 2, None, [0, 1], first_turn=6))
    assert (ledger.open, ledger.position().next, ledger.position().acknowledged) == (8, turn(0), {})
    ledger.acknowledge("t", 0, 4)
    assert (ledger.delivered, ledger.open) == (4, 4)
    assert ledger.position().next == turn(1)
    assert ledger.position().acknowledged == {("t", 0): turn(6)}
    ledger.acknowledge("t", 1, 2)
    assert ledger.position().next == turn(5)
    assert ledger.position().acknowledged == {("t", 0): turn(6), ("t", 1): turn(3)}
    ledger.acknowledge_all()
    assert (ledger.delivered, ledger.open) == (8, 0)
    assert ledger.position().next == OrderKey(1, 7, 1)
    ledger.acknowledge("t", 1, 1)  # late news
    assert ledger.delivered == 8


def test_a_change_and_its_tombstone_are_acknowledged_together() -> None:
    ledger = Ledger()
    ledger.enter(batch("t", [b"x", b"delete", None, b"y"], None, [0] * 4, turns=[1, 2, 2, 3]))
    for count, acknowledged in ((1, turn(1)), (2, turn(1)), (3, turn(2)), (4, turn(3))):
        ledger.acknowledge("t", 0, count)
        assert ledger.position().acknowledged == {("t", 0): acknowledged}


def test_nothing_behind_a_failure_counts_as_complete() -> None:
    ledger = Ledger()
    (parcel,) = ledger.enter(batch("t", [b"x"] * 5, None, [3] * 5, changes=[1, 2, 4, 8, 16]))
    ledger.fail(parcel, 2, "too large")
    ledger.fail(parcel, 2, "too large")
    ledger.acknowledge("t", 3, 5)
    assert (ledger.delivered, ledger.delivered_changes, ledger.failed) == (4, 27, 1)
    assert ledger.position().next == turn(2)
    assert ledger.position().acknowledged == {("t", 3): turn(1)}
    ledger.fail(parcel, 0, "late news")
    assert (ledger.delivered, ledger.delivered_changes, ledger.failed) == (3, 26, 2)
    assert (ledger.position().next, ledger.position().acknowledged) == (turn(0), {})


def test_the_cause_is_reported_before_what_was_dropped_for_it() -> None:
    ledger = Ledger()
    ledger.check()
    parcels = ledger.enter(batch("t", [b"abc", b"abc", b"abc"], [b"k", None, None], [0, 1, 0]))
    ledger.acknowledge("t", 1, 0)
    ledger.fail(parcels[0], 1, "the broker is full")
    ledger.fail_open()
    with pytest.raises(DeliveryFailed) as caught:
        ledger.check()
    assert str(caught.value) == (
        "3 of 3 messages were not delivered; the first was turn 2.0 for topic 't' partition 0 (3 bytes):"
        " the broker is full."
    )
    progress = ledger.progress()
    assert [(p.partition, p.sent, p.delivered, p.failed) for p in progress] == [(0, 2, 0, 2), (1, 1, 0, 1)]


def test_messages_of_several_topics_in_one_batch() -> None:
    ledger = Ledger()
    parcels = ledger.enter(batch(["b", "a", "b", "a"], [b"x"] * 4, None, [1, 0, 1, 2]))
    assert [(p.topic, p.partition, p.rows.tolist()) for p in parcels] == [
        ("b", 1, [0, 2]),
        ("a", 0, [1]),
        ("a", 2, [3]),
    ]
