"""Bugs of released consumers, found by a hunt that is told nothing of them; the readers are asked without a cluster."""

from __future__ import annotations

from typing import Any

import pytest
from jvm import Reader
from released_consumers import Consumer, flink_table, retracting, seatunnel_table, upserting

import simulator
from simulator.hunting.consumer import PythonConsumer
from simulator.hunting.hunt import Found, replay_case

pytestmark = pytest.mark.jvm


def changes(found: Found) -> int:
    """Row changes of the smallest case, of the sentence `After 4 changes of …`."""
    return int(found.sentence.split()[1])


def hunted(consumer: Consumer, **options: Any) -> Found:
    """The first failure in the tour, made smaller."""
    return simulator.hunt("tour", "canal-json", consumer, rounds=20, minutes=5, **options)


def test_flink_retracts_another_row(flink: Reader) -> None:
    """Two rows of a statement, of which one changed two columns and one a third: a column that is in the `old` of any
    row is taken for null in the others' (CanalJsonDeserializationSchema, 2.3.0), and a sink keeps the old row.
    Bytes are Latin-1 texts to it, as documented."""
    found = hunted(retracting(flink, flink_table), faults=(), tolerate=["limits.raw=ignore"])
    assert "it is there 2 times" in found.sentence
    assert changes(found) <= 4
    assert found.case is not None
    by_key = PythonConsumer(upserting(flink, flink_table))
    assert replay_case(found.case, by_key, ["limits.raw=ignore"]).ok  # rows that are known by their keys are right


def test_paimon_reads_bytes_as_utf8(paimon: Reader) -> None:
    """Canal's text of VARBINARY is Latin-1; Paimon 1.2.0 takes its bytes in UTF-8, which are too long."""
    found = hunted(upserting(paimon))
    assert "Length of type VARBINARY(16) is 16, but casting result has a length of 32" in found.sentence
    assert changes(found) == 1


def test_seatunnel_reads_bytes_as_base64(seatunnel: Reader) -> None:
    """SeaTunnel 2.3.8 takes it for Base64."""
    found = hunted(upserting(seatunnel, seatunnel_table))
    assert "broken Base64 encoding" in found.sentence
    assert changes(found) == 1
