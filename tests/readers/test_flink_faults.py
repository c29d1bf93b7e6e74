"""Flink's canal-json and debezium-json, released, into tables with keys: right after all that happens to messages."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from jvm import Reader
from released_consumers import flink_debezium_table, flink_table, upserting

import simulator
from simulator.library import Simulation
from simulator.model import Message

pytestmark = pytest.mark.jvm

# A Flink table of texts has no days since 1970 and no unscaled bytes.
TEXTS = "decimal.handling.mode=string,time.precision.mode=isostring"
PLAIN = f"debezium-json,value.converter.schemas.enable=false,key.converter.schemas.enable=false,{TEXTS}"
USERS = {"tables.users.rows": 100}


def by_partition(messages: Sequence[Message]) -> list[Message]:
    """In the order of arrival from three partitions, one after the other; Debezium leaves them to Kafka's hash."""

    def partition(message: Message) -> int:
        return zlib.crc32(message.key or b"") % 3 if message.partition is None else message.partition

    return sorted(messages, key=lambda message: (message.order.phase, partition(message)))


def check(run: Simulation, tables: dict[str, list[dict[str, Any]]]) -> None:
    """The tables are as expected; times of Debezium's are ISO's."""
    for row in (row for rows in tables.values() for row in rows):
        for name in ("created_at", "updated_at"):
            if row.get(name):
                row[name] = row[name].removesuffix("Z").replace("T", " ")
    (verdict,) = run.verify(tables)
    assert verdict.ok, str(verdict)
    assert verdict.found > 50


@pytest.mark.parametrize("scenario", ["crud", "at-least-once", "failover"])
@pytest.mark.parametrize("format", ["canal-json", PLAIN])
def test_flink_upserts(flink: Reader, format: str, scenario: str) -> None:
    """A clean stream, one in which each crash sends a part again, and one with late partitions and jumping clocks."""
    run = simulator.simulate(scenario, format, settings=USERS, turns=1_500, snapshot=True, route=None, partitions=3)
    tables = upserting(flink, flink_table if format == "canal-json" else flink_debezium_table)(
        by_partition(run.messages)
    )
    check(run, tables)
