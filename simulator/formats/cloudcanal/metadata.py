"""Keys, headers and tags of CloudCanal's messages.

By default records have neither key nor headers. RocketMQ's keys hold the values of the row's key, its tags the
database, schema, table and action (release 1.0.3); their text is a decision. RabbitMQ's queue and routing key are the
topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import HEADERS, PackedBatch
from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.statements import ROW_ACTIONS, action, subject
from simulator.formats.format import Settings
from simulator.formats.writing import Values
from simulator.model import Event, SchemaChange, Table
from simulator.text.json_style import FASTJSON2, escape, quote
from simulator.text.template import Piece, join, repeat

# Limits of RocketMQ's keys of a message: number of rows, and bytes (all properties share 32 KiB).
KEYS_ROWS: Final = 100
KEYS_BYTES: Final = 8192


@dataclass(frozen=True)
class Metadata:
    """Key, headers and tag of a message; `key` is `none`, `pk` or `table`."""

    values: Values
    settings: Settings[CommonOptions]
    broker: str
    key: str
    headers: tuple[tuple[str, str], ...]

    @cached_property
    def _headers(self) -> list[dict[str, Any]]:
        return [{"name": name, "value": value.encode()} for name, value in self.headers]

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        """Columns of the metadata, one entry per message."""
        count, table, kind = len(packed), packed.changes.table, packed.changes.kind
        columns: dict[str, pa.Array] = {}
        if self.headers:
            columns["headers"] = pa.array([self._headers], HEADERS).take(pa.array(np.zeros(count, dtype=np.int64)))
        if kind not in ROW_ACTIONS:
            return columns
        key = None
        if self.broker == "rocketmq":
            columns["tag"] = repeat(tag(table.id.database, table, ROW_ACTIONS[kind]), count)
            key = self._rocketmq_keys(packed) if table.primary_key else None
        elif self.key != "none":
            key = self._primary_key(packed) if self.key == "pk" else repeat(str(table.id), count)
        return columns if key is None else {**columns, "key": key.cast(pa.binary())}

    def event(self, event: Event) -> Mapping[str, Any]:
        """Metadata of a DDL statement."""
        assert isinstance(event, SchemaChange)
        table = subject(event, self.settings)
        columns: dict[str, Any] = {"headers": self._headers} if self.headers else {}
        if self.broker == "rocketmq":
            columns["tag"] = tag(event.database, table, action(event, self.settings))
        elif self.key == "table" and table is not None:
            columns["key"] = str(table.id).encode()
        return columns

    def _texts(self, packed: PackedBatch, position: int, rows: pa.Array) -> pa.Array:
        return self.values.text(packed.changes.table.columns[position], packed.changes.image()[position].take(rows))

    def _primary_key(self, packed: PackedBatch) -> pa.Array | None:
        """Key of a message's first row: `{"id":"7"}`; None for a table without a key."""
        table, first = packed.changes.table, pa.array(packed.starts[:-1])
        pieces: list[Piece] = []
        for position in table.key_positions:
            lead = f'{"," if pieces else "{"}{quote(table.columns[position].name)}:"'
            pieces += [lead, escape(self._texts(packed, position, first), FASTJSON2), '"']
        return join([*pieces, "}"], len(packed)) if pieces else None

    def _rocketmq_keys(self, packed: PackedBatch) -> pa.Array:
        """The key values of each row: `7_a 8_b`; empty for a table without a key."""
        table, rows = packed.changes.table, pa.array(np.arange(len(packed.changes)))
        texts = [self._texts(packed, position, rows).fill_null("") for position in table.key_positions]
        keys = join([piece for text in texts for piece in ("_", text)][1:], len(packed.changes))
        if packed.single:
            return keys
        values, starts = keys.to_pylist(), packed.starts.tolist()
        return pa.array([fitting(values[a : min(b, a + KEYS_ROWS)]) for a, b in pairwise(starts)], pa.string())


def metadata(values: Values, settings: Settings[CommonOptions], delay_ms: int = 0) -> Metadata | None:
    """Key, headers and tag by the options; None if messages have none of them."""
    broker, key, pairs = settings.broker, settings.options.key, settings.options.custom_header
    if broker == "rabbitmq" and delay_ms:
        # header of RabbitMQ's plug-in for delayed messages (release 3.3.1.0)
        pairs = (*pairs, ("x-delay", str(delay_ms)))
    if broker != "rocketmq" and key == "none" and not pairs:
        return None
    return Metadata(values, settings, broker, key, pairs)


def fitting(keys: list[str]) -> str:
    """The keys joined by blanks, as many as fit."""
    while len(keys) > 1 and len(" ".join(keys).encode()) > KEYS_BYTES:
        keys = keys[:-1]
    return " ".join(keys)


def tag(database: str, table: Table | None, action: str) -> str:
    """RocketMQ's tag: `shop.customer.UPDATE`, `ORCL.HR.EMP.INSERT`."""
    names = [database] if table is None else [table.id.database, table.id.schema, table.id.name]
    return ".".join(part for part in (*names, action) if part)
