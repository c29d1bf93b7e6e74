"""Asking Flink's readers: tables are declared, messages come back as rows of a changelog."""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa
from jvm import Reader

from simulator import messages
from simulator.batch import decoded
from simulator.carriers import storage_type

Row = dict[str, Any]

# Columns of `tour`'s orders.
ORDERS: Final = {"id": "BIGINT", "status": "STRING", "total": "DECIMAL(10, 2)"}
# How a failed job begins to tell of it.
CORRUPT: Final = "Corrupt Canal JSON message"


def read(flink: Reader, columns: dict[str, str], lines: list[bytes], *, reader: str = "") -> list[list[Row]]:
    """The changelog of each message, of a table with these columns; a failure is a row {"error": …}.

    `reader` is "" for canal-json, `debezium` or `debezium-schema` for debezium-json.
    """
    declared = ", ".join(f"`{name}` {type}" for name, type in columns.items())
    table, *answers = flink.ask([f"{reader} ROW<{declared}>".strip().encode(), *lines])
    assert table == []
    return [[json.loads(line) for line in answer] for answer in answers]


def flink_type(column: pa.Array) -> str:
    """The SQL type that a user declares for a column."""
    type = storage_type(decoded(column).type)
    if pa.types.is_decimal(type):
        return f"DECIMAL({type.precision}, {type.scale})"
    return {pa.int64(): "BIGINT", pa.string(): "STRING", pa.timestamp("us"): "TIMESTAMP(6)", pa.date32(): "DATE"}[type]


def by_type(format: str) -> dict[str, list[bytes]]:
    """The messages of the tour by their `type`."""
    found: dict[str, list[bytes]] = {}
    for message in messages("tour", format, limit=None, snapshot=True):
        assert message.value is not None
        found.setdefault(json.loads(message.value)["type"], []).append(message.value)
    return found
