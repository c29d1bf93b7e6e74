"""A batch's messages as librdkafka takes them: structures that point into the batch's memory."""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.sinks.framing import offsets_of
from simulator.sinks.kafka import library
from simulator.sinks.ledger import Ints

Array: TypeAlias = npt.NDArray[Any]

# Upper bound for the frame of a message on the wire, in bytes.
FRAME_BYTES: Final = 200
# Value of `error` until librdkafka accepts a message.
NOT_SENT: Final = 1


class Outgoing:
    """The messages of a batch.

    `each`: they must be sent one by one. They have headers or timestamps, or one may be larger than `most_bytes`: the
    call that takes many would skip a message that it refuses, and queue those behind it.
    """

    def __init__(self, batch: MessageBatch, most_bytes: int) -> None:
        self._values, self._keys = _Spans(batch["value"]), _Spans(batch["key"])
        stamps, headers = batch["timestamp_ms"], batch["headers"]
        self._stamps_ms = None if stamps.null_count == len(batch) else np.asarray(stamps.fill_null(0))  # 0: now
        self._headers = None if headers.null_count == len(batch) else headers
        self._kept: _Headers | None = None
        largest = int((self._values.sizes + self._keys.sizes).max(initial=0))
        self.one_by_one = largest > most_bytes - FRAME_BYTES or not (self._stamps_ms is None and self._headers is None)

    def messages(self, rows: Ints, ticket: int) -> Array:
        """These rows as structures `library.MESSAGE`; their tickets count from `ticket` on."""
        messages = np.zeros(len(rows), library.MESSAGE)
        messages["error"] = NOT_SENT
        messages["value"], messages["value_size"] = self._values.addresses[rows], self._values.sizes[rows]
        messages["key"], messages["key_size"] = self._keys.addresses[rows], self._keys.sizes[rows]
        messages["ticket"] = np.arange(ticket, ticket + len(rows))
        return messages

    def arguments(self, rows: Ints, messages: Array, topic: int, partition: int) -> tuple[Array, Ints]:
        """The same messages as structures `library.ARGUMENT`, message after message; and how many each message has."""
        fixed: list[tuple[int, Any, Any]] = [
            (library.TOPIC, topic, 0),
            (library.PARTITION, partition, 0),
            (library.VALUE, messages["value"], messages["value_size"]),
            (library.KEY, messages["key"], messages["key_size"]),
            (library.TICKET, messages["ticket"], 0),
            (library.TIMESTAMP, 0 if self._stamps_ms is None else self._stamps_ms[rows], 0),
        ]
        # librdkafka reads their memory until the next call
        self._kept = headers = None if self._headers is None else _Headers(self._headers.take(pa.array(rows)))
        counts = np.full(len(rows), len(fixed), np.int64) + (0 if headers is None else headers.counts)
        starts = np.cumsum(counts) - counts
        arguments = np.zeros(int(counts.sum()), library.ARGUMENT)
        for number, (kind, a, b) in enumerate(fixed):
            positions = starts + number
            arguments["kind"][positions], arguments["a"][positions], arguments["b"][positions] = kind, a, b
        if headers is not None:
            before = np.cumsum(headers.counts) - headers.counts
            positions = np.repeat(starts + len(fixed) - before, headers.counts) + np.arange(len(headers.names))
            arguments["kind"][positions], arguments["a"][positions] = library.HEADER, headers.names
            arguments["b"][positions], arguments["c"][positions] = headers.values.addresses, headers.values.sizes
        return arguments, counts


class _Spans:
    """Memory addresses (0 for null) and sizes of texts or bytes."""

    def __init__(self, array: pa.Array) -> None:
        ends = offsets_of(array).astype(np.int64)
        data = array.buffers()[2]
        # an empty text has an address, too
        self.addresses = ends[:-1] + (1 if data is None or not data.address else data.address)
        if array.null_count:
            self.addresses[np.asarray(array.is_null())] = 0
        self.sizes = np.diff(ends)


class _Headers:
    """All headers of some messages, and the number of headers of each."""

    def __init__(self, column: pa.Array) -> None:
        self.counts = np.asarray(pc.list_value_length(column).fill_null(0)).astype(np.int64)
        self._flat = flat = column.flatten()
        self.values = _Spans(flat.field("value"))
        names = flat.field("name").dictionary_encode()
        self._texts = [ctypes.create_string_buffer(name.encode()) for name in names.dictionary.to_pylist()]
        self.names = np.array([ctypes.addressof(text) for text in self._texts], np.uint64)[np.asarray(names.indices)]
