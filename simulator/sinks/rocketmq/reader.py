"""Topics of RocketMQ read back over the remoting protocol, each queue up to where it ended when reading began.

Messages are pulled by their offsets, and no offset of a consumer group is stored: other consumers notice nothing.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from simulator.errors import SinkError, UsageError
from simulator.sinks.reading import HEADERS, PartitionReader, Place
from simulator.sinks.rocketmq.brokers import PATIENCE_SECS, WAIT_SECS, Brokers
from simulator.sinks.rocketmq.cluster import Cluster, Queue
from simulator.sinks.rocketmq.message import NAME_END, VALUE_END
from simulator.sinks.rocketmq.remoting import NO_MESSAGE, PULL, PULL_AGAIN, Refusal
from simulator.sinks.rocketmq.url import RocketmqUrl

SCHEMA: Final = pa.schema([("value", pa.binary()), ("key", pa.binary()), ("tag", pa.string()), ("headers", HEADERS)])
# Messages of a pull; a broker gives fewer (`maxTransferCountOnMessageInMemory`: 32).
AT_ONCE: Final = 2_000
# Properties of clients and brokers (MessageConst.java); the others are the message's headers.
SYSTEM: Final = frozenset(
    b"KEYS TAGS WAIT DELAY RETRY_TOPIC REAL_TOPIC REAL_QID TRAN_MSG PGROUP MIN_OFFSET MAX_OFFSET BUYER_ID CLUSTER"
    b" ORIGIN_MESSAGE_ID TRANSFER_FLAG CORRECTION_FLAG MQ2_FLAG RECONSUME_TIME MSG_REGION TRACE_ON UNIQ_KEY"
    b" EXTEND_UNIQ_INFO MAX_RECONSUME_TIMES CONSUME_START_TIME INNER_NUM INNER_BASE DUP_INFO __BORNHOST __SHARDINGKEY"
    b" INNER_MULTI_DISPATCH INNER_MULTI_QUEUE_OFFSET TRANSACTION_CHECK_TIMES".split()
)
# Message.java: bits of `sysFlag`.
COMPRESSED: Final = 1
COMPRESSION: Final = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}  # bits 8 to 10
BORN_ON_V6: Final = 1 << 4
STORED_ON_V6: Final = 1 << 5
SHORT_TOPIC: Final = -626843481  # magic of a message whose topic has one byte for its length


@dataclass(slots=True)
class Progress:
    """A queue, the offset of the next message to pull, its end, and messages that wait."""

    queue: Queue
    next: int
    end: int
    waiting: deque[tuple[bytes, Mapping[bytes, bytes]]] = field(default_factory=deque)


class RocketmqReader(PartitionReader):
    """The messages of topics. Raises SinkError where the cluster cannot be used, UsageError for topics of which
    messages are gone."""

    prefix_bytes, at_once = 0, AT_ONCE

    def __init__(self, url: RocketmqUrl) -> None:
        self.name, self.topic_pattern = str(url), url.topic
        # A tag in the URL is that of messages without one.
        self.columns: Sequence[str] = [name for name in SCHEMA.names if name != "tag" or url.tag is None]
        self._url = url
        self._cluster = Cluster(replace(url, partitions=None))
        self._cluster.connect()
        self._brokers = Brokers(url)
        self._queues: dict[Place, Progress] = {}
        self._counts: dict[str, int] = {}

    def partitions(self, topic: str) -> int:
        """The topic's queue count; their ends are those of now. Raises SinkError, UsageError."""
        if topic not in self._counts:
            if not (queues := self._cluster.existing(topic)):
                raise SinkError(f"{self.name} has no topic {topic!r}.")
            for queue, (first, end) in zip(queues, self._brokers.offsets(queues), strict=True):
                if first > 0:
                    raise UsageError(
                        f"{self.name}: {topic}-{queue.index} begins at offset {first:,}: the broker has deleted what"
                        " came before (retention), so nobody can tell whether it was right."
                    )
                self._queues[topic, queue.index] = Progress(queue, first, end)
            self._counts[topic] = len(queues)
        return self._counts[topic]

    def take(self, place: Place, count: int) -> pa.RecordBatch | None:
        """Some of the next messages of a queue; None: there are no more. Raises SinkError."""
        self.partitions(place[0])
        if (progress := self._queues.get(place)) is None:
            return None
        deadline = time.monotonic() + PATIENCE_SECS
        while not progress.waiting and progress.next < progress.end:
            self._pull(progress)
            if not progress.waiting:
                if time.monotonic() > deadline:
                    raise SinkError(f"{self.name} sent nothing of {place[0]}-{place[1]} for {PATIENCE_SECS:g} s.")
                time.sleep(WAIT_SECS)
        if not progress.waiting:
            return None
        taken = [progress.waiting.popleft() for _ in range(min(count, len(progress.waiting)))]
        return _records(taken).select(self.columns)

    def read(self) -> Sequence[Place]:
        return list(self._queues)

    def close(self) -> None:
        self._brokers.close()

    def _pull(self, progress: Progress) -> None:
        queue = progress.queue
        fields = {
            "consumerGroup": self._url.group,
            "topic": queue.topic,
            "queueId": str(queue.number),
            "queueOffset": str(progress.next),
            "maxMsgNums": str(min(AT_ONCE, progress.end - progress.next)),
            "sysFlag": "4",  # with a subscription, and without storing an offset
            "commitOffset": "0",
            "suspendTimeoutMillis": "0",
            "subscription": "*",
            "subVersion": "0",
            "expressionType": "TAG",
        }
        try:
            _, body = self._brokers.ask(queue.address, PULL, fields)
        except Refusal as refusal:
            if refusal.code not in (NO_MESSAGE, PULL_AGAIN):
                raise SinkError(f"{self.name} refused to read {queue.topic!r}: {refusal}.") from None
            return
        for offset, message, properties in stored_messages(body, self.name):
            if progress.next <= offset < progress.end:
                progress.waiting.append((message, properties))
                progress.next = offset + 1


def stored_messages(data: bytes, name: str) -> Iterator[tuple[int, bytes, dict[bytes, bytes]]]:
    """Offset in the queue, body and properties of messages as a broker stores them (MessageDecoder.java).

    Raises SinkError for a compression other than zlib.
    """
    start = 0
    while start < len(data):
        (size, magic) = struct.unpack_from(">ii", data, start)
        offset, _, flags = struct.unpack_from(">qqi", data, start + 20)
        cursor = start + 48  # behind the time of birth
        cursor += (20 if flags & BORN_ON_V6 else 8) + 8
        cursor += (20 if flags & STORED_ON_V6 else 8) + 12
        (length,) = struct.unpack_from(">i", data, cursor)
        body = data[cursor + 4 : cursor + 4 + length]
        cursor += 4 + length
        cursor += 1 + data[cursor] if magic == SHORT_TOPIC else 2 + int.from_bytes(data[cursor : cursor + 2])
        (length,) = struct.unpack_from(">h", data, cursor)
        pairs = data[cursor + 2 : cursor + 2 + length].split(VALUE_END)
        if flags & COMPRESSED:
            if (kind := COMPRESSION.get(flags >> 8 & 7)) != "zlib":
                raise SinkError(f"{name}: a body is compressed with {kind}; messages of cdcsim are with zlib.")
            body = zlib.decompress(body)
        properties = {}
        for pair in pairs:
            key, _, value = pair.partition(NAME_END)
            if key:
                properties[key] = value
        yield offset, body, properties
        start += size


def _records(messages: Sequence[tuple[bytes, Mapping[bytes, bytes]]]) -> pa.RecordBatch:
    headers = [
        [
            {"name": name.decode(errors="replace"), "value": value}
            for name, value in properties.items()
            if name not in SYSTEM
        ]
        for _, properties in messages
    ]
    tags = [properties.get(b"TAGS") for _, properties in messages]
    return pa.record_batch(
        [
            pa.array([body for body, _ in messages], pa.binary()),
            pa.array([properties.get(b"KEYS") for _, properties in messages], pa.binary()),
            pa.array([tag and tag.decode(errors="replace") for tag in tags], pa.string()),
            pa.array(headers, HEADERS),
        ],
        SCHEMA,
    )
