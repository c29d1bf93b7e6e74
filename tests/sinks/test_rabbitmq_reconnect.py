"""Messages to RabbitMQ over a connection that breaks: what may be stored already is counted, then sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sinks_contract import batch

from simulator.errors import DeliveryFailed, UsageError
from simulator.sinks.rabbitmq import sink as rabbitmq
from simulator.sinks.rabbitmq.broker import Broker
from simulator.sinks.rabbitmq.frames import Confirms
from simulator.sinks.rabbitmq.sink import RabbitmqSink
from simulator.sinks.rabbitmq.url import parse_url


class Connection:
    """A connection that breaks at its second publication; those after the first one confirm everything."""

    made: list[Connection]
    channel_number, most_body, is_blocked, blocking = 1, 131_064, False, None

    def __init__(self, broker: Broker) -> None:
        self.confirms, self.returned = Confirms(), list[Any]()
        self.is_open = True
        self.published: list[int] = []
        self.made.append(self)

    def publish(self, data: bytes, count: int) -> None:
        if self is self.made[0] and self.published:
            raise ConnectionResetError("the broker is gone")
        self.published.append(count)
        self.confirms.next += count

    def wait(self, ready: Callable[[], bool], seconds: float | None = None) -> None:
        if self is not self.made[0]:
            self.confirms.low = self.confirms.next
        ready()

    def close(self, *, abort: bool = False) -> None:
        self.is_open = False


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Connection]:
    monkeypatch.setattr(Connection, "made", [], raising=False)
    monkeypatch.setattr(rabbitmq, "Connection", Connection)
    for name in ("declare_exchange", "declare_queue"):
        monkeypatch.setattr(Broker, name, lambda *arguments: None)
    return Connection.made


def test_what_may_be_stored_already_is_counted_before_it_is_sent_again(connections: list[Connection]) -> None:
    """Three messages are written and not confirmed, and perhaps the two at which the connection breaks."""
    counts: list[tuple[int, int]] = []
    with RabbitmqSink(parse_url("amqp://h/?queue=q"), {}) as sink:
        sink.ledger.keep_repeated = lambda: counts.append(
            (sum(connections[-1].published), sink.ledger.repeated["t", 0])
        )
        sink.send(batch("t", [b"1", b"2", b"3"]))
        sink.send(batch("t", [b"4", b"5"], first_turn=3))
        sink.flush()
        assert (sink.delivered, [each.published for each in connections]) == (5, [[3], [5]])
    assert counts == [(0, 5)]


def test_nothing_is_sent_again_whose_count_cannot_be_kept(connections: list[Connection]) -> None:
    def full() -> None:
        raise UsageError("--resume position: it cannot be written: No space left on device.")

    with RabbitmqSink(parse_url("amqp://h/?queue=q"), {}) as sink:
        sink.ledger.keep_repeated = full
        sink.send(batch("t", [b"1"]))
        with pytest.raises(DeliveryFailed, match="No space left on device"):
            sink.send(batch("t", [b"2"], first_turn=1))
        assert [each.published for each in connections] == [[1], []]
