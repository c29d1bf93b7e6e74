"""Messages of a partition as columns, read back from the broker in this process."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from confluent_kafka import KafkaError
from confluent_kafka import Producer as ClientProducer
from sinks_contract import Headers

from simulator.native import calls
from simulator.sinks.kafka.consumer import Consumer, Taken
from simulator.sinks.kafka.mock import MockCluster

SENT: list[tuple[bytes | None, bytes | None, Headers]] = [
    (b"first", b"key", []),
    (None, b"tombstone", []),
    (b"", None, []),
    ("größer\0".encode() * 300, b"", [("größe", b"22"), ("a", None), ("a", b"")]),
    (b"last", None, []),
]


@pytest.fixture(scope="module")
def cluster() -> MockCluster:
    cluster = MockCluster()
    cluster.create("taken")
    producer = ClientProducer({"bootstrap.servers": cluster.servers, "log_level": 0})
    for value, key, headers in SENT:
        producer.produce("taken", value, key, partition=2, headers=headers)
    producer.flush()
    return cluster


def taken(consumer: Consumer, partition: int, most: int) -> Iterator[Taken]:
    """All that the consumer gives, up to an error."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        yield (some := consumer.take("taken", partition, most, 1.0))
        if some.error is not None:
            return


@pytest.mark.parametrize("compiled", [True, False])
def test_columns_of_a_partition(compiled: bool, cluster: MockCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without the compiled core: null, empty, and headers; the end comes behind the messages."""
    if not compiled:
        monkeypatch.setattr(calls, "LIBRARY", None)
    consumer = Consumer({"bootstrap.servers": cluster.servers, "enable.partition.eof": "true"})
    try:
        consumer.start("taken", 2, 0)
        parts = list(taken(consumer, 2, 2))
        rows = [row for part in parts for row in part.records.to_pylist()]
        assert [
            (row["value"], row["key"], [(header["name"], header["value"]) for header in row["headers"]]) for row in rows
        ] == SENT
        assert all(part.records.num_rows <= 2 for part in parts)
        assert np.concatenate([part.offsets for part in parts]).tolist() == [*range(len(SENT))]
        assert parts[-1].error is not None
        assert parts[-1].error[0] == KafkaError._PARTITION_EOF
    finally:
        consumer.close()


def test_an_offset_that_is_not_there_is_an_error(cluster: MockCluster) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.servers, "auto.offset.reset": "error"})
    try:
        consumer.start("taken", 2, 100)
        error = list(taken(consumer, 2, 10))[-1].error
        assert error is not None
        assert error[0] == KafkaError._AUTO_OFFSET_RESET
        assert "out of range" in error[1]
        assert consumer.take("taken", 99, 10, 0.0).error == (KafkaError._UNKNOWN_PARTITION, "Local: Unknown partition")
    finally:
        consumer.close()


def test_a_consumer_is_closed_while_another_thread_waits(cluster: MockCluster) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.servers})
    consumer.start("taken", 1, 0)
    with ThreadPoolExecutor(1) as thread:
        waits = thread.submit(lambda: [consumer.take("taken", 1, 10, 0.2) for _ in range(1000)])
        while not consumer._use.locked():
            time.sleep(0.001)
        consumer.close()
        with pytest.raises(RuntimeError, match="the consumer is closed"):
            waits.result()


def test_names_of_headers_that_are_not_utf_8() -> None:
    """Clients of C write them; they are made here with librdkafka's functions."""
    consumer = Consumer({})
    library = consumer._lib
    create, add, destroy = (library[f"rd_kafka_{name}"] for name in ("headers_new", "header_add", "headers_destroy"))
    create.restype, size = ctypes.c_void_p, ctypes.c_ssize_t
    headers = ctypes.c_void_p(create(ctypes.c_size_t(1)))
    try:
        add(headers, b"\xff", size(1), b"\xfe", size(1))
        assert headers.value is not None
        assert consumer._pairs(headers.value) == [{"name": "\ufffd", "value": b"\xfe"}]
    finally:
        destroy(headers)
        consumer.close()
