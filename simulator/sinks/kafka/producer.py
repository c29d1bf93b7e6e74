"""A producer of librdkafka that takes arrays of messages and reports them in batches, without Python per message."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from itertools import repeat
from operator import length_hint
from typing import Any, Final

import numpy as np

from simulator.native.library import LIBRARY
from simulator.sinks.kafka import library
from simulator.sinks.kafka.client import ERROR_BYTES, Client
from simulator.sinks.kafka.messages import Array
from simulator.sinks.ledger import Ints

_TICKET_AT: Final = library.MESSAGE.fields["ticket"][1]  # type: ignore[index]

# (first ticket, end, error code) of messages that are reported; code 0: they are stored.
Delivery = tuple[int, int, int]


class Producer(Client):
    """A handle of librdkafka. Another thread than the one that produces reads the reports.

    librdkafka reads values from the caller's memory until their report is destroyed; it copies keys and headers.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises MissingPackage, and ValueError with librdkafka's words for a setting."""
        super().__init__(library.PRODUCER, settings, library.DELIVERIES | library.ERROR)
        self._group: int | None = None
        self._queue = self._lib.rd_kafka_queue_get_main(self._handle)

    def __len__(self) -> int:
        """Messages that are not reported, and reports that are not read."""
        return int(self._lib.rd_kafka_outq_len(self._handle)) if self._handle else 0

    # Sending

    def produce(self, topic: int, partition: int, messages: Array) -> None:
        """Queue messages of one partition in order, up to the first that is refused; `error` is 0 in those queued."""
        self._lib.rd_kafka_produce_batch(topic, partition, 0, messages.ctypes.data, len(messages))

    def produce_each(self, messages: Array, arguments: Array, counts: Ints) -> None:
        """Queues messages one by one, for timestamps, headers and large messages: message i has `counts[i]` of the
        arguments."""
        function = self._lib.rd_kafka_produceva
        if LIBRARY is None:
            refused = self._call_each(function, messages, arguments, counts)
        else:
            refused = LIBRARY.cdcsim_calls(
                ctypes.cast(function, ctypes.c_void_p), self._handle, arguments.ctypes.data, library.ARGUMENT.itemsize,
                counts.ctypes.data, len(messages), messages.ctypes.data, messages.strides[0],
            )  # fmt: skip
        if refused:
            messages["error"][np.count_nonzero(messages["error"] == 0)] = self._lib.rd_kafka_error_code(refused)
            self._lib.rd_kafka_error_destroy(refused)

    def _call_each(self, function: Any, messages: Array, arguments: Array, counts: Ints) -> int | None:
        """Python equivalent of `cdcsim_calls`: calls the function for each message."""
        starts = arguments.ctypes.data + library.ARGUMENT.itemsize * (np.cumsum(counts) - counts)
        addresses = iter(starts.tolist())
        refused = None
        try:
            # the loop in C: a signal is seen before or after it
            refused = next(filter(None, map(function, repeat(self._handle), addresses, counts.tolist())), None)
        finally:
            messages["error"][: len(messages) - length_hint(addresses) - (refused is not None)] = 0
        return refused

    def flush(self, seconds: float) -> None:
        """Sends without lingering; returns when all messages are reported, or after `seconds`."""
        self._lib.rd_kafka_flush(self._handle, int(seconds * 1000))

    def purge(self, *, in_flight: bool) -> None:
        """Drops queued messages, and with `in_flight` those in flight, too; all of them are reported as errors."""
        kinds = library.QUEUED | library.AT_ONCE | (library.IN_FLIGHT if in_flight else 0)
        self._lib.rd_kafka_purge(self._handle, kinds)

    # Reports

    def reports(self, seconds: float) -> Iterator[list[Delivery] | Any]:
        """Deliveries, one batch at a time, and KafkaErrors: waits for the first and takes all that are there."""
        lib, wait_ms = self._lib, int(seconds * 1000)
        while event := lib.rd_kafka_queue_poll(self._queue, wait_ms):
            wait_ms = 0
            try:
                kind = lib.rd_kafka_event_type(event)
                if kind == library.DELIVERIES:
                    yield self._deliveries(event)
                elif kind == library.ERROR:
                    yield self._event_error(event)
            finally:
                lib.rd_kafka_event_destroy(event)

    def wake(self) -> None:
        """Ends the waiting of `reports` in another thread."""
        self._lib.rd_kafka_queue_yield(self._queue)

    def _deliveries(self, event: int) -> list[Delivery]:
        """The messages of an event: those of one batch of a partition, in order if they were stored."""
        count = self._lib.rd_kafka_event_message_count(event)
        messages = (ctypes.c_void_p * count)()
        self._lib.rd_kafka_event_message_array(event, messages, count)
        if not self._lib.rd_kafka_event_error(event):
            first, last = _ticket(messages[0]), _ticket(messages[-1])
            if last - first == count - 1:
                return [(first, last + 1, 0)]
        tickets = map(_ticket, messages)
        return [(t, t + 1, ctypes.c_int32.from_address(m).value) for t, m in zip(tickets, messages, strict=True)]

    def _event_error(self, event: int) -> Any:
        from confluent_kafka import KafkaError

        lib, code = self._lib, self._lib.rd_kafka_event_error(event)
        words = lib.rd_kafka_event_error_string(event)
        if code == KafkaError._FATAL:
            buffer = ctypes.create_string_buffer(ERROR_BYTES)
            code = lib.rd_kafka_fatal_error(self._handle, buffer, ERROR_BYTES) or code
            return KafkaError(code, buffer.value.decode(), True)
        return KafkaError(code, words.decode() if words else None, bool(lib.rd_kafka_event_error_is_fatal(event)))

    # Transactions; all raise KafkaException

    def init_transactions(self, seconds: float) -> None:
        self._call(self._lib.rd_kafka_init_transactions, int(seconds * 1000))

    def begin_transaction(self) -> None:
        self._call(self._lib.rd_kafka_begin_transaction)

    def send_position(self, group: str, topic: str, position: str, seconds: float) -> None:
        """Commit a text with the transaction: as the metadata of the group's offset of the topic's first partition."""
        lib = self._lib
        if self._group is None:
            self._group = lib.rd_kafka_consumer_group_metadata_new(group.encode())
        offsets = lib.rd_kafka_topic_partition_list_new(1)
        entry = library.TopicPartition.from_address(lib.rd_kafka_topic_partition_list_add(offsets, topic.encode(), 0))
        entry.offset, entry.metadata, entry.metadata_size = 0, position.encode(), len(position) + 1
        try:
            self._call(lib.rd_kafka_send_offsets_to_transaction, offsets, self._group, int(seconds * 1000))
        finally:
            entry.metadata, entry.metadata_size = None, 0  # it is not the library's to free
            lib.rd_kafka_topic_partition_list_destroy(offsets)

    def commit_transaction(self, seconds: float) -> None:
        self._call(self._lib.rd_kafka_commit_transaction, int(seconds * 1000))

    def abort_transaction(self, seconds: float) -> None:
        self._call(self._lib.rd_kafka_abort_transaction, int(seconds * 1000))

    def _call(self, function: Any, *arguments: Any) -> None:
        from confluent_kafka import KafkaError, KafkaException

        lib = self._lib
        if error := function(self._handle, *arguments):
            failure = KafkaError(
                lib.rd_kafka_error_code(error),
                lib.rd_kafka_error_string(error).decode(),
                bool(lib.rd_kafka_error_is_fatal(error)),
                bool(lib.rd_kafka_error_is_retriable(error)),
                bool(lib.rd_kafka_error_txn_requires_abort(error)),
            )
            lib.rd_kafka_error_destroy(error)
            raise KafkaException(failure)

    def close(self) -> None:
        """Ends the client; no thread may be in `reports` any more. Messages without a report are dropped."""
        if self._handle:
            if self._group:
                self._lib.rd_kafka_consumer_group_metadata_destroy(self._group)
            self._lib.rd_kafka_queue_destroy(self._queue)
        super().close()


def _ticket(message: int) -> int:
    return ctypes.c_uint64.from_address(message + _TICKET_AT).value
