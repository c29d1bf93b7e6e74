"""Message values as the bytes of files and streams: JSON lines, whole messages as JSON lines, Avro object containers.

A framing yields buffers of a megabyte: Linux takes five times as long to make room in its page cache for four at once.
A tombstone (a message without value) is the line `null`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.errors import SinkError
from simulator.wire.avro import Container, Strings, join, long, present, string

SLICE_BYTES: Final = 1 << 20
NEWLINE: Final = pa.scalar(b"\n", pa.binary())


class Framing(Protocol):
    """Framing of messages in a file: its suffix, its first bytes, and the bytes of a batch."""

    suffix: str

    def header(self) -> bytes: ...
    def frame(self, batch: MessageBatch) -> Iterator[bytes | memoryview]: ...


def framing(*, envelope: bool = False, container: Container | None = None) -> Framing:
    """The framing of values (`container` for binary ones), or of whole messages with `envelope`."""
    return Envelopes() if envelope else Lines() if container is None else ObjectContainer(container)


class Lines:
    """One value a line."""

    suffix = "jsonl"

    def header(self) -> bytes:
        return b""

    def frame(self, batch: MessageBatch) -> Iterator[bytes | memoryview]:
        values = batch["value"]
        if values.null_count:
            values = values.fill_null(b"null")
        count = max(1, SLICE_BYTES * len(values) // max(values.nbytes, 1))
        for start in range(0, len(values), count):
            part = values.slice(start, count)
            # One list of all values: Arrow joins it with one copy for each, half of what a join by element takes.
            joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(part)], pa.int32()), part), NEWLINE)
            yield memoryview(joined.buffers()[2] or b"")
            yield b"\n"


class Envelopes:
    """One JSON object per line: topic, partition, key, headers, timestamp, value, RocketMQ's tag; bytes that are not
    text as base64."""

    suffix = "jsonl"

    def header(self) -> bytes:
        return b""

    def frame(self, batch: MessageBatch) -> Iterator[bytes | memoryview]:
        for message in batch.messages():
            envelope: dict[str, Any] = {
                "topic": message.topic,
                "partition": message.partition,
                "key": _text(message.key),
                "headers": [[name, _text(value)] for name, value in message.headers],
                "timestamp": message.timestamp_ms,
                "value": _text(message.value),
            }
            if message.tag is not None:
                envelope["tag"] = message.tag
            yield orjson.dumps(envelope, option=orjson.OPT_APPEND_NEWLINE)


class ObjectContainer:
    """An Avro object container file, one block a batch.

    Source: Apache Avro specification, "Object Container Files". The sync marker is the schema's MD5, so that the same
    messages make the same file.
    """

    suffix = "avro"

    def __init__(self, container: Container) -> None:
        self._container = container
        self._sync = hashlib.md5(container.schema.encode(), usedforsecurity=False).digest()

    def header(self) -> bytes:
        pairs = string("avro.schema") + string(self._container.schema) + string("avro.codec") + string("null")
        return b"Obj\x01" + long(2) + pairs + long(0) + self._sync

    def frame(self, batch: MessageBatch) -> Iterator[bytes | memoryview]:
        values = batch["value"]
        if self._container.whole:
            data = packed(present(join([b"\x02", Strings(values)], len(values))))
        elif values.null_count:
            raise SinkError("an Avro file cannot hold tombstones: write with --envelope, or to a broker.")
        else:
            data = packed(without_prefix(values, self._container.framing))
        yield long(len(values)) + long(len(data))
        yield data
        yield self._sync


def packed(values: pa.Array) -> memoryview:
    """The bytes of all values, joined without separators: a view of their memory."""
    if not len(values):
        return memoryview(b"")
    offsets = offsets_of(values)
    return memoryview(values.buffers()[2] or b"")[int(offsets[0]) : int(offsets[-1])]


def without_prefix(values: pa.Array, size: int) -> pa.Array:
    """The values without their first bytes. Each is seen as two, prefix and rest: `pc.binary_slice` of Arrow 26 fails.

    >>> without_prefix(pa.array([b"x:one", b"x:", b"x:two"]), 2).to_pylist()
    [b'one', b'', b'two']
    """
    if not size or not len(values):
        return values
    offsets = offsets_of(values)
    halves = np.empty(2 * len(values) + 1, dtype=np.int32)
    halves[::2], halves[1::2] = offsets, offsets[:-1] + size
    parts = pa.Array.from_buffers(pa.binary(), 2 * len(values), [None, pa.py_buffer(halves), values.buffers()[2]])
    return parts.take(pa.array(np.arange(1, len(parts), 2)))


def offsets_of(values: pa.Array) -> npt.NDArray[np.int32]:
    """Offsets of the values in the data buffer, and the end of the last one."""
    return np.frombuffer(values.buffers()[1], dtype=np.int32, count=len(values) + 1 + values.offset)[values.offset :]


def _text(data: bytes | None) -> str | dict[str, str] | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
