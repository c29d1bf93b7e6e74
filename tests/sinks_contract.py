"""The tests that every sink passes. A test module derives a class from `SinkContract` and says how to read back."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from simulator.batch import HEADERS, MessageBatch
from simulator.errors import DeliveryFailed, OptionError
from simulator.model import OrderKey
from simulator.sinks import open_sink
from simulator.sinks.sink import Sink

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Received:
    """A message as an independent reader of the destination finds it; what the destination cannot hold is None."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] | None = None
    timestamp_ms: int | None = None


def sent_while_it_starts(broker: Any, sink: Sink, messages: MessageBatch) -> None:
    """Send to a broker that is away, start it meanwhile, and wait until it has the messages."""
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(sink.send, messages)
        broker.start()
        sent.result()
    sink.flush()


def batch(
    topic: str | Sequence[str],
    values: Sequence[bytes | None],
    keys: Sequence[bytes | None] | None = None,
    partitions: Sequence[int | None] | None = None,
    *,
    first_turn: int = 0,
    turns: Sequence[int] | None = None,
    changes: Sequence[int] | None = None,
    headers: Sequence[Headers | None] | None = None,
    timestamps_ms: Sequence[int | None] | None = None,
    tags: Sequence[str | None] | None = None,
) -> MessageBatch:
    """Messages of one turn each: value n has the order key (1, first_turn + n, 0)."""
    count = len(values)
    numbers = range(first_turn, first_turn + count) if turns is None else turns
    columns = {
        "phase": pa.array([1] * count, pa.int8()),
        "turn": pa.array(numbers, pa.int64()),
        "ordinal": pa.array([0] * count, pa.int64()),
        "kind": pa.array([1] * count, pa.int8()),
        "changes": pa.array(changes or [1] * count, pa.int32()),
        "topic": pa.array([topic] * count if isinstance(topic, str) else topic, pa.string()).dictionary_encode(),
        "value": pa.array(values, pa.binary()),
    }
    if keys is not None:
        columns["key"] = pa.array(keys, pa.binary())
    if partitions is not None:
        columns["partition"] = pa.array(partitions, pa.int32())
    if headers is not None:
        pairs = [row and [{"name": name, "value": value} for name, value in row] for row in headers]
        columns["headers"] = pa.array(pairs, HEADERS)
    if timestamps_ms is not None:
        columns["timestamp_ms"] = pa.array(timestamps_ms, pa.int64())
    if tags is not None:
        columns["tag"] = pa.array(tags, pa.string())
    return MessageBatch.of(count, **columns)


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert text[-1] in ".?"
    return text


class SinkContract:
    """What sinks promise. A subclass gives `url` (of a destination where topics have 5 partitions, or `count`) and
    `read`; the flags say what the destination can hold."""

    count = 5
    total = 12_000  # messages whose order is looked at
    keys = headers = timestamps = tombstones = True

    @pytest.fixture
    def topic(self) -> str:
        return f"test_{uuid.uuid4().hex}"

    def url(self, topic: str) -> str:
        """A destination that takes messages for this topic."""
        raise NotImplementedError

    def read(self, topic: str) -> dict[int, list[Received]]:
        """Every message of a topic by partition, in order, empty partitions included or not."""
        raise NotImplementedError

    def values(self, topic: str) -> dict[int, list[bytes | None]]:
        return {n: [message.value for message in found] for n, found in self.read(topic).items() if found}

    def test_order_holds_in_each_partition_and_every_message_is_acknowledged(self, topic: str) -> None:
        total, step = self.total, self.total * 7 // 24 + 1
        routes = [(n * n) % 7 % self.count for n in range(total)]
        with open_sink(self.url(topic)) as sink:
            assert sink.partitions(topic) == self.count
            for start in range(0, total, step):
                numbers = range(start, min(start + step, total))
                messages = batch(
                    topic,
                    [b'{"n":%d}' % n for n in numbers],
                    None,
                    routes[start : start + step],
                    first_turn=start,
                    changes=[n % 3 for n in numbers],
                )
                sink.send(messages)
            sink.flush()
            assert (sink.delivered, sink.delivered_changes, sink.failed) == (total, total, 0)
            position, progress = sink.ledger.position(), sink.ledger.progress()
        expected = defaultdict(list)
        for n in range(total):
            expected[routes[n]].append(n)
        for number, values in self.values(topic).items():
            written = [b'{"n":%d}' % n for n in expected[number]]
            wrong = [(at, *pair) for at, pair in enumerate(zip(values, written, strict=False)) if len(set(pair)) > 1]
            assert (len(values), wrong[:3]) == (len(written), []), f"partition {number}: {len(wrong)} are others"
        assert position.next == OrderKey(1, total - 1, 1)
        for entry in progress:
            sent = expected.pop(entry.partition)
            assert (entry.topic, entry.sent, entry.delivered, entry.failed) == (topic, len(sent), len(sent), 0)
            assert (entry.first, entry.last) == (OrderKey(1, sent[0], 0), OrderKey(1, sent[-1], 0))
            assert entry.acknowledged == entry.last == position.acknowledged[topic, entry.partition]
        assert not expected

    def test_every_part_of_a_message_arrives(self, topic: str) -> None:
        values = [b'"one"', b"{}", None if self.tombstones else b"null", '{"größe":"订单"}'.encode(), b"5"]
        keys = [b"k", b"k 2", None, "schlüssel".encode(), b"k"]
        headers: list[Headers | None] = [[("a", b"1"), ("b", b"2")], None, [], [("größe", "订单".encode())], None]
        stamps = [1_700_000_000_000, 1_600_000_001_000, None, 1_600_000_000_123, None]
        partitions = [self.count - 1, 0, 0, self.count - 1, 0]
        with open_sink(self.url(topic)) as sink:
            sink.send(batch(topic, values, keys, partitions, headers=headers, timestamps_ms=stamps))
            sink.flush()
        found = self.read(topic)
        arrived = found[self.count - 1][:1] + found[0][:2] + found[self.count - 1][1:] + found[0][2:]
        if self.count == 1:
            arrived = found[0]
        assert [message.value for message in arrived] == values
        if self.keys:
            assert [message.key for message in arrived] == keys
        if self.headers:
            assert [message.headers or () for message in arrived] == [tuple(row or ()) for row in headers]
        if self.timestamps:
            for message, stamp in zip(arrived, stamps, strict=True):
                assert stamp is None or message.timestamp_ms == stamp

    def test_messages_without_a_partition_go_by_their_key(self, topic: str) -> None:
        keys = [b"%d" % (n % 50) for n in range(400)]
        with open_sink(self.url(topic)) as sink:
            sink.send(batch(topic, [b"%d" % n for n in range(400)], keys))
            sink.send(batch(topic, [b"%d" % n for n in range(400, 800)], keys, first_turn=400))
            sink.flush()
        found = self.values(topic)
        assert len(found) == self.count
        place = {keys[int(value or b"") % 50]: n for n, values in found.items() for value in values}
        assert found == {n: [b"%d" % i for i in range(800) if place[keys[i % 50]] == n] for n in found}

    def test_messages_without_partition_and_key_are_spread(self, topic: str) -> None:
        with open_sink(self.url(topic)) as sink:
            sink.send(batch(topic, [b"%d" % n for n in range(2000)]))
            sink.flush()
        found = self.values(topic)
        assert len(found) == self.count
        assert sorted(int(value or b"") for values in found.values() for value in values) == list(range(2000))

    def test_a_slice_an_empty_batch_and_an_early_close(self, topic: str) -> None:
        with open_sink(self.url(topic)) as sink:
            whole = batch(topic, [b"%d" % n for n in range(10)], None, [0] * 10)
            sink.send(whole.slice(4, 3))
            sink.send(whole.slice(0, 0))
        sink.close()
        assert (sink.delivered, sink.failed) == (3, 0)
        assert self.values(topic) == {0: [b"4", b"5", b"6"]}

    def test_latencies_count_from_when_messages_were_due(self, topic: str) -> None:
        seconds: list[float] = []
        with open_sink(self.url(topic)) as sink:
            sink.ledger.latencies = lambda array: seconds.extend(array.tolist())
            due = time.monotonic() - np.array([100.0, 50.0, 0.0])
            sink.send(batch(topic, [b"1", b"2", b"3"], None, [0, 0, 0]), due=due)
            sink.flush()
        assert len(seconds) == 3
        assert 100 <= seconds[0] < 160
        assert 50 <= seconds[1] < 110
        assert 0 <= seconds[2] < 60

    def test_an_unknown_option_is_refused(self, topic: str) -> None:
        url = self.url(topic)
        with pytest.raises(OptionError) as caught:
            open_sink(url + ("&" if "?" in url else "?") + "partitons=4")
        assert one_sentence(caught.value).endswith("has no option 'partitons'. Did you mean 'partitions'?")


class RefusingSinkContract(SinkContract):
    """The contract of sinks whose destination refuses some messages."""

    too_large: int  # bytes of a value that the destination of `small_url` refuses
    repeats = False  # whether messages on their way together with a refused one are sent again

    def small_url(self, topic: str) -> str:
        """As `url`, refusing values of `too_large` bytes."""
        raise NotImplementedError

    def test_a_message_that_is_refused_ends_the_run(self, topic: str) -> None:
        values = [b"1", b"2", b"x" * self.too_large, b"4"]
        with open_sink(self.small_url(topic)) as sink:

            def send() -> None:
                sink.send(batch(topic, values, None, [0] * 4, first_turn=40))
                sink.flush()

            with pytest.raises(DeliveryFailed) as caught:
                send()
            sentence = one_sentence(caught.value)
            assert sentence.startswith(
                f"{sink.failed} of 4 messages were not delivered; the first was turn 42.0 for topic '{topic}'"
                f" partition 0 ({self.too_large} bytes): "
            )
            assert sink.delivered == sink.delivered_changes == 4 - sink.failed
            for again in (sink.flush, lambda: sink.send(batch(topic, [b"5"]))):
                with pytest.raises(DeliveryFailed):
                    again()
            position = sink.ledger.position()
            assert position.next == OrderKey(1, 42, 0)
            assert position.acknowledged == {(topic, 0): OrderKey(1, 41, 0)}
        # the last message may have been on its way when the failure was reported
        (found,) = self.values(topic).values()
        assert (list(dict.fromkeys(found)) if self.repeats else found) == [b"1", b"2", b"4"][: sink.delivered]
