"""A consumer of librdkafka that gives the messages of one partition as Arrow columns, without Python per message."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.native.calls import Addresses, each, joined, results
from simulator.sinks.kafka import library
from simulator.sinks.kafka.client import Client
from simulator.sinks.kafka.messages import Array
from simulator.sinks.reading import HEADERS

SCHEMA: Final = pa.schema([("value", pa.binary()), ("key", pa.binary()), ("headers", HEADERS)])
NOTHING: Final = (pa.RecordBatch.from_pylist([], SCHEMA), np.zeros(0, np.int64))


class Taken(NamedTuple):
    """Messages of a partition, their offsets, and the error behind them: its code and text."""

    records: pa.RecordBatch
    offsets: npt.NDArray[np.int64]
    error: tuple[int, str] | None


class Consumer(Client):
    """A handle of librdkafka that reads partitions outside of any group. It may be closed while another thread waits
    for messages. Raises MissingPackage, and ValueError with librdkafka's words for a setting."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(library.CONSUMER, settings)
        self._use, self._closed = threading.Lock(), False
        self._started = set[tuple[str, int]]()

    def start(self, topic: str, partition: int, offset: int) -> None:
        """Begins to fetch a partition's messages."""
        self._lib.rd_kafka_consume_start(self.topic(topic), partition, offset)
        self._started.add((topic, partition))

    def stop(self, topic: str, partition: int) -> None:
        """Ends fetching, and drops what was fetched."""
        if (topic, partition) in self._started:
            self._started.remove((topic, partition))
            self._lib.rd_kafka_consume_stop(self.topic(topic), partition)

    def take(self, topic: str, partition: int, most: int, seconds: float) -> Taken:
        """The partition's next messages, up to `most` of those that are there; waits for the first. No messages and no
        error: none came. Raises RuntimeError once the consumer is closed."""
        with self._use:
            if self._closed:
                raise RuntimeError("the consumer is closed")
            return self._take(topic, partition, most, seconds)

    def _take(self, topic: str, partition: int, most: int, seconds: float) -> Taken:
        lib = self._lib
        lib.rd_kafka_poll(self._handle, 0)  # errors of connections, which librdkafka mends
        messages = np.zeros(most, np.uint64)
        # a wait for more than one message lasts until all of them are there
        for count, wait_ms in ((most, 0), (1, int(seconds * 1000))):
            taken = lib.rd_kafka_consume_batch(self.topic(topic), partition, wait_ms, messages.ctypes.data, count)
            if taken < 0:
                code = lib.rd_kafka_last_error()
                return Taken(*NOTHING, (code, lib.rd_kafka_err2str(code).decode()))
            if taken:
                break
        else:
            return Taken(*NOTHING, None)
        messages = messages[:taken]
        try:
            return self._copied(messages)
        finally:
            each(lib.rd_kafka_message_destroy, messages)

    def _copied(self, messages: Addresses) -> Taken:
        size = library.MESSAGE.itemsize
        structures = np.frombuffer(joined(messages, np.full(len(messages), size)), library.MESSAGE)
        error = None
        if len(wrong := np.flatnonzero(structures["error"])):
            first = structures[wrong[0]]
            text = ctypes.string_at(int(first["value"]), int(first["value_size"])) if first["value"] else b""
            error = int(first["error"]), text.decode(errors="replace")
            messages, structures = messages[: wrong[0]], structures[: wrong[0]]
        columns = [_binary(structures, "value"), _binary(structures, "key"), self._headers(messages)]
        records = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        return Taken(records, structures["offset"].copy(), error)

    def _headers(self, messages: Addresses) -> pa.Array:
        lists = results(self._lib.rd_kafka_message_headers, messages)
        if not lists.any():
            ends = np.zeros(len(messages) + 1, np.int32)
            return pa.ListArray.from_arrays(ends, pa.array([], HEADERS.value_type))
        return pa.array([self._pairs(address) if address else [] for address in lists.tolist()], HEADERS)

    def _pairs(self, headers: int) -> list[dict[str, Any]]:
        """The headers of a message."""
        pairs = list[dict[str, Any]]()
        name, value, size = ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_size_t()
        pointers = ctypes.byref(name), ctypes.byref(value), ctypes.byref(size)
        while not self._lib.rd_kafka_header_get_all(headers, len(pairs), *pointers):
            content = ctypes.string_at(value.value, size.value) if value.value else None
            pairs.append({"name": (name.value or b"").decode(errors="replace"), "value": content})
        return pairs

    def close(self) -> None:
        self._closed = True
        with self._use:
            for topic, partition in [*self._started]:
                self.stop(topic, partition)
            super().close()


def _binary(structures: Array, name: str) -> pa.Array:
    """A member of messages as a column; a missing one is null."""
    starts, sizes = structures[name].copy(), structures[f"{name}_size"].astype(np.int64)
    ends = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    missing = starts == 0
    validity = pa.array(~missing).buffers()[1] if missing.any() else None
    buffers = [validity, pa.py_buffer(ends.astype(np.int32)), joined(starts, sizes)]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)
