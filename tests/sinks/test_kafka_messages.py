"""What librdkafka gets and reports, without a broker: structures in memory, and answers out of order."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from sinks_contract import Headers, batch

from simulator.sinks.kafka import library
from simulator.sinks.kafka.messages import NOT_SENT, Outgoing
from simulator.sinks.kafka.partition import Partition
from simulator.sinks.kafka.producer import Producer
from simulator.sinks.ledger import Ledger


def text(address: int, size: int) -> bytes | None:
    return ctypes.string_at(int(address), int(size)) if address else None


def test_messages_point_into_the_memory_of_a_slice() -> None:
    whole = batch("t", [b"0", None, b"", b"three", b"4"], [b"k0", b"k1", None, b"", b"k4"])
    sliced = whole.slice(1)
    found = Outgoing(sliced, 1000).messages(np.array([0, 1, 2]), 70)
    assert [text(*pair) for pair in zip(found["value"], found["value_size"], strict=True)] == [None, b"", b"three"]
    assert [text(*pair) for pair in zip(found["key"], found["key_size"], strict=True)] == [b"k1", None, b""]
    assert found["ticket"].tolist() == [70, 71, 72]
    assert found["error"].all(), "none of them is sent"


def test_messages_with_headers_timestamps_or_a_large_one_go_one_by_one() -> None:
    assert not Outgoing(batch("t", [b"x" * 700]), 1000).one_by_one
    assert Outgoing(batch("t", [b"x" * 990]), 1000).one_by_one
    assert Outgoing(batch("t", [b"x"], timestamps_ms=[5]), 1000).one_by_one
    assert Outgoing(batch("t", [b"x"], headers=[[("a", b"1")]]), 1000).one_by_one


def test_arguments_of_chosen_rows() -> None:
    headers: list[Headers | None] = [[("a", b"1")], None, [("größe", b"22"), ("a", None)], []]
    sent = batch("t", [b"0", b"1", b"2", b"3"], headers=headers, timestamps_ms=[None, 10, 20, 30])
    outgoing, rows = Outgoing(sent.slice(1), 1000), np.array([0, 1, 2])
    messages = outgoing.messages(rows, 0)
    arguments, counts = outgoing.arguments(rows, messages, 99, 7)
    assert counts.tolist() == [6, 8, 6]
    of: list[dict[int, list[Any]]] = []
    for entry in np.split(arguments, np.cumsum(counts)[:-1]):
        of.append({})
        for kind, a, b, c in entry.tolist():
            header = kind == library.HEADER
            of[-1].setdefault(kind, []).append((ctypes.string_at(a).decode(), text(b, c)) if header else (a, b))
    assert [each[library.TIMESTAMP][0][0] for each in of] == [10, 20, 30]
    assert [text(*each[library.VALUE][0]) for each in of] == [b"1", b"2", b"3"]
    assert [(each[library.TOPIC][0][0], each[library.PARTITION][0][0]) for each in of] == [(99, 7)] * 3
    assert [each.get(library.HEADER) for each in of] == [None, [("größe", b"22"), ("a", None)], None]


@pytest.mark.parametrize("compiled", [True, False])
def test_the_first_message_that_is_refused_is_the_last_that_is_tried(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr("simulator.sinks.kafka.producer.LIBRARY", None)
    sent = batch("t", [b"0", b"1", b"x" * 2000, b"3"], headers=[[("a", b"1")], None, None, None])
    producer = Producer({"test.mock.num.brokers": "1", "message.max.bytes": "1000", "log_level": "0"})
    outgoing, rows = Outgoing(sent, 1000), np.arange(4)
    messages = outgoing.messages(rows, 0)
    producer.produce_each(messages, *outgoing.arguments(rows, messages, producer.topic("t"), 0))
    assert messages["error"].tolist() == [0, 0, 10, NOT_SENT]  # MSG_SIZE_TOO_LARGE
    producer.purge(in_flight=True)
    producer.close()


def test_answers_count_in_order_and_free_memory() -> None:
    ledger, partition = Ledger(), Partition("t", 0, 3)
    batches = [batch("t", [b"x"] * 3, None, [0] * 3, first_turn=turn) for turn in (0, 3)]
    for each in batches:
        (parcel,) = ledger.enter(each)
        partition.hold(parcel, each)
    for first, end, answered, held in ((4, 6, 0, 2), (0, 2, 2, 2), (2, 3, 3, 1), (3, 4, 6, 0)):
        assert partition.parcel(first).first == first // 3 * 3
        partition.answer(first, end)
        assert (partition.answered, len(partition._held)) == (answered, held)
