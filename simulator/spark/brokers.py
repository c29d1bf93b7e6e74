"""What tasks do for a broker: they render, Spark brings each broker partition's messages to one task, which sends them.

A task renders its share and hands on, for each block and each topic and partition, the messages as one Arrow buffer.
Spark brings buffers to the sender of their partition and sorts them by task and block, which is stream order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from zlib import crc32

import pyarrow as pa

from simulator.batch import MESSAGE_SCHEMA, MessageBatch
from simulator.errors import SimulatorError
from simulator.run.pipeline import Run, Summary
from simulator.sinks import open_sink
from simulator.sinks.ledger import Ints, Parcel, Progress
from simulator.sinks.sink import Sink
from simulator.spark.work import Work

# The sender, and the place in its order: task, block, and number in the block.
Key: TypeAlias = tuple[int, tuple[int, int, int]]
# In front of all messages: what a task has rendered.
SUMMARY: Final = -1


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the messages go: a URL, and the properties that the product gives them."""

    url: str
    properties: Mapping[str, Any] | None = None

    def open(self) -> Sink:
        return open_sink(self.url, properties=self.properties)


class Outbox(Sink):
    """Messages as buffers, for each block and partition. Partitions are chosen as the broker's sink does."""

    def __init__(self, broker: Sink, task: int, senders: int) -> None:
        super().__init__()
        self.topic_pattern = broker.topic_pattern
        self.buffers: list[tuple[Key, bytes]] = []
        self._broker, self._task, self._senders = broker, task, senders
        self._block = 0

    def partitions(self, topic: str) -> int:
        return self._broker.partitions(topic)

    def choose(self, keys: pa.Array, turns: Ints, count: int) -> Ints:
        return self._broker.choose(keys, turns, count)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for number, parcel in enumerate(parcels):
            key = sender(parcel.topic, parcel.partition, self._senders), (self._task, self._block, number)
            self.buffers.append((key, packed(batch.columns.take(pa.array(parcel.rows)))))
            self.ledger.acknowledge_parcel(parcel)
        self._block += 1


def sender(topic: str, partition: int, senders: int) -> int:
    """Who sends what goes to a partition: neighbouring partitions have neighbouring senders."""
    return (crc32(topic.encode()) + partition) % senders


def packed(rows: pa.RecordBatch) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, MESSAGE_SCHEMA, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(rows)
    return bytes(out.getvalue())


def unpacked(buffer: bytes) -> Iterator[MessageBatch]:
    with pa.ipc.open_stream(buffer) as stream:
        yield from map(MessageBatch, stream)


def render(broker: Broker, work: Work, senders: int, task: int) -> list[tuple[Key, Any]]:
    """A task's share as buffers, behind a summary of it."""
    with broker.open() as sink:
        outbox = Outbox(sink, task, senders)
        summary = Run(work.share(task), work.open().renderer(sink.partitions), outbox)()
    return [((task % senders, (SUMMARY, task, 0)), summary), *outbox.buffers]


@dataclass(frozen=True, slots=True)
class Sent:
    """What a sender did. `repeated` were sent by an attempt that was not the first."""

    rendered: list[Summary]
    progress: list[Progress] = field(default_factory=list)
    repeated: int = 0
    failure: str | None = None


def send(broker: Broker, buffers: Iterable[tuple[Key, Any]]) -> Iterator[Sent]:
    """Send the buffers in their order.

    What the broker refuses is part of the account, and is not tried again. A task that dies is: Spark gives another one
    all of its buffers, so that what the first one sent is there twice.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    again = context.attemptNumber() > 0
    rendered: list[Summary] = []
    sink: Sink | None = None
    failure: str | None = None
    try:
        for (_, (kind, _, _)), content in buffers:
            if kind == SUMMARY:
                rendered.append(content)
                continue
            sink = sink or broker.open()
            for batch in unpacked(content):
                sink.send(batch)
        if sink is not None:
            sink.flush()
    except SimulatorError as error:
        failure = str(error)
    finally:
        if sink is not None:
            sink.close()
    progress = [] if sink is None else sink.ledger.progress()
    yield Sent(rendered, progress, sum(each.sent for each in progress) if again else 0, failure)
