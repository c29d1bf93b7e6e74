"""Maxwell's messages with their keys: rows, the marks of a bootstrap, DDL."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import Border, ChangeBatch, Ints, PackedBatch
from simulator.delivery.routing import Destination
from simulator.formats.format import Settings
from simulator.formats.maxwell.definitions import change
from simulator.formats.maxwell.names import naming
from simulator.formats.maxwell.options import MaxwellOptions
from simulator.formats.members import whole_seconds
from simulator.formats.writing import Written, WrittenEvent
from simulator.model import Column, Event, Kind, SchemaChange, Table
from simulator.sources.log import entry
from simulator.sources.mysql.log import MysqlLog
from simulator.text.json_style import JACKSON_BYTES, quote
from simulator.text.template import Piece, join, repeat
from simulator.wire.by_kind import ByKind
from simulator.wire.fields import Cells, inner_text, json_text


def random_uuid(*parts: object) -> str:
    """A UUID of version 4 that is not random: equal for equal places in the stream."""
    return str(uuid.UUID(bytes=hashlib.sha256(repr(parts).encode()).digest()[:16], version=4))


def is_repeated(event: Event) -> bool:
    """Whether an earlier life of Maxwell has sent the event."""
    return event.life.first_new is not None and event.order < event.life.first_new


@dataclass(frozen=True)
class Keys:
    """The JSON of rows' keys: the values of `primary_key`, and the key of a Kafka message."""

    cells: Cells
    format: str

    def values(self, batch: ChangeBatch) -> list[Piece]:
        """`[4,"a"]` of each row."""
        pieces: list[Piece] = ["["]
        for number, position in enumerate(batch.table.key_positions):
            pieces += ["," if number else "", *self._value(batch, position)]
        return [*pieces, "]"]

    def keys(self, batch: ChangeBatch) -> pa.Array:
        """`{"database":"d","table":"t","pk.id":4}` or `["d","t",[{"id":4}]]` of each row."""
        table = batch.table
        database, name = quote(table.id.database, JACKSON_BYTES), quote(table.id.name, JACKSON_BYTES)
        pieces: list[Piece]
        if self.format == "array":
            pieces = [f"[{database},{name},["]
            for number, position in enumerate(table.key_positions):
                lead = quote(table.columns[position].name.lower(), JACKSON_BYTES)
                pieces += [f"{',' if number else ''}{{{lead}:", *self._value(batch, position), "}"]
            return join([*pieces, "]]"], len(batch), pa.binary())
        pieces = [f'{{"database":{database},"table":{name}']
        for position in table.key_positions:
            lead = quote(f"pk.{table.columns[position].name.lower()}", JACKSON_BYTES)
            pieces += [f",{lead}:", *self._value(batch, position)]
        if not table.primary_key:
            numbers = zip(batch.envelope.turn.tolist(), batch.envelope.ordinal.tolist(), strict=True)
            uuids = [random_uuid(table.id, batch.envelope.phase, *number) for number in numbers]
            pieces += [',"_uuid":"', pa.array(uuids), '"']
        return join([*pieces, "}"], len(batch), pa.binary())

    def without_row(self, table: Table, key: Sequence[str], turn: int, ordinal: int) -> bytes:
        """The key of a message about a table: columns of the key are null."""
        names = [name.lower() for name in key]
        if self.format == "array":
            return json_text(
                [table.id.database, table.id.name, [{name: None} for name in names]], JACKSON_BYTES
            ).encode()
        members: dict[str, Any] = {"database": table.id.database, "table": table.id.name}
        columns: dict[str, Any] = {f"pk.{name}": None for name in names}
        members |= columns or {"_uuid": random_uuid(table.id, turn, ordinal)}
        return json_text(members, JACKSON_BYTES).encode()

    def _value(self, batch: ChangeBatch, position: int) -> list[Piece]:
        cell = self.cells(batch.table.columns[position])
        mark = '"' if cell.quoted else ""
        return [mark, inner_text(cell, batch.image()[position], JACKSON_BYTES), mark]


@dataclass(frozen=True)
class MaxwellWriter:
    """Writer of Maxwell's messages; `rows` writes the changes."""

    settings: Settings[MaxwellOptions]
    keys: Keys
    rows: ByKind

    def messages(self, packed: PackedBatch) -> Iterable[Written]:
        batch = packed.changes
        columns, borders = self._columns(batch), batch.envelope.borders
        if borders is None or not self.settings.options.bootstrap:
            yield Written(self.rows.pieces(packed), columns)
            return
        yield from self._marks("bootstrap-start", batch, columns, np.flatnonzero(borders & Border.TABLE_FIRST))
        yield Written(self.rows.pieces(packed), columns)
        yield from self._marks("bootstrap-complete", batch, columns, np.flatnonzero(borders & Border.TABLE_LAST))

    def _marks(self, type: str, batch: ChangeBatch, columns: Mapping[str, pa.Array], rows: Ints) -> Iterable[Written]:
        """A message before or behind each of these rows."""
        if not len(rows):
            return
        table, options, name = batch.table, self.settings.options, naming(self.settings.options.output_naming_strategy)
        key = table.primary_key if type == "bootstrap-start" else ()
        members: dict[str, Any] = {"database": table.id.database, "table": table.id.name, "type": type, "ts": 0}
        if options.output_primary_keys:
            members["primary_key"] = [None for _ in key]
        if options.output_primary_key_columns:
            members["primary_key_columns"] = list(key)
        members["data"] = {}
        members = {name(member): value for member, value in members.items()}
        seconds = (batch.envelope.event_ms[rows] // 1000).tolist()
        texts = [json_text({**members, name("ts"): second}, JACKSON_BYTES) for second in seconds]
        taken = {member: column.take(pa.array(rows)) for member, column in columns.items()}
        if "key" in taken:
            order = zip(batch.envelope.turn[rows].tolist(), batch.envelope.ordinal[rows].tolist(), strict=True)
            taken["key"] = pa.array([self.keys.without_row(table, key, *numbers) for numbers in order], pa.binary())
        yield Written([pa.array(texts, pa.string())], taken, packs=rows)

    def _columns(self, batch: ChangeBatch) -> Mapping[str, pa.Array]:
        match self.settings.broker:
            case "kafka":
                return {"key": self.keys.keys(batch)}
            case "rabbitmq":
                return {"tag": repeat(self._routing_key(batch.table.id.database, batch.table.id.name), len(batch))}
        return {}

    def _routing_key(self, database: str, table: str) -> str:
        return self.settings.options.rabbitmq_routing_key_template.replace("%db%", database).replace("%table%", table)

    def event(self, event: Event, to: Destination) -> Iterable[WrittenEvent]:
        for part, address in to.event(event):
            assert isinstance(part, SchemaChange)
            columns: dict[str, Any] = {}
            if self.settings.broker == "kafka":
                # Maxwell draws it anew in each life
                drawn = (part.life.number,) if is_repeated(part) else ()
                columns["key"] = random_uuid(address.topic, part.order, part.sql, *drawn).encode()
            elif self.settings.broker == "rabbitmq":
                table = part.before or part.after
                columns["tag"] = self._routing_key(part.database, table.id.name if table else "")
            yield WrittenEvent(address, self.statement(part).encode(), columns)

    def statement(self, event: SchemaChange) -> str:
        """The JSON of a DDL statement."""
        options, log, log_entry = self.settings.options, self.settings.source.log, entry(event)
        assert isinstance(log, MysqlLog)
        members = {
            **change(event, stored=is_repeated(event)),
            "ts": whole_seconds(event.event_ms),
            "sql": event.sql,
        }
        if options.output_binlog_position:
            members["position"] = log.position(log_entry)[0].as_py()
        if options.output_gtid_position:
            members["gtid"] = log.gtid_set(log_entry)[0].as_py()
        if options.output_schema_id:
            members["schema_id"] = 1 + max(table.version for table in (event.before, event.after) if table)
        return json_text(members, JACKSON_BYTES)

    def columns(self, table: Table, kind: Kind) -> Collection[int] | None:
        return None

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self.rows.text(column, array)
