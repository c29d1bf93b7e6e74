"""A consumer that keeps the tables and trusts no message: each change is held against the rows that earlier ones left.

Values are compared as far as the format carries them (`simulator/truth/decoders`). Tables are known as they were at
first, and as statements change them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from simulator import sources
from simulator.model import READ, ROW_KINDS, Column, Kind, Message, SchemaChange, SchemaChangeKind, Table
from simulator.run.render import Renderer
from simulator.stream.engine.block import Block, Stream
from simulator.truth.decoders import changes, find, reading
from simulator.truth.decoders.change import CHANGED, NOTHING, UNSET, Change, Image
from simulator.truth.decoders.documents import strict_json
from simulator.truth.decoders.json_text import Number
from simulator.truth.decoders.values import carried, parsed

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[Any, ...]


class Contradiction(AssertionError):
    """A message that cannot follow the ones before it."""


class Replay:
    """Tables by name, made of the messages of a format about a source. `changes` counts what they told."""

    def __init__(self, format: str, source: str, tables: Iterable[Table]) -> None:
        self.format, self.source, self.system = format, source, sources.find(source).id
        self.tables = {table.id.name: table for table in tables}
        self.types = {(table.id.name, c.name): c.type for table in self.tables.values() for c in table.columns}
        self.rows: dict[str, dict[Key, Row]] = {name: {} for name in self.tables}
        self.changes: Counter[Kind] = Counter()

    def state(self) -> dict[str, dict[Key, Row]]:
        """The rows of all tables that have any, without nulls: documents do not tell them from absent fields."""
        return {
            name: {
                key: {column: value for column, value in row.items() if value is not None} for key, row in rows.items()
            }
            for name, rows in self.rows.items()
            if rows
        }

    def begin(self, stream: Stream, renderer: Renderer, first: int, snapshot: Iterable[Block]) -> None:
        """The rows before a turn: those of its snapshot; where the product reads none, the rows are copied."""
        if renderer.codec.sends(READ):
            self.play(renderer, snapshot)
        else:
            self.rows |= rows_at(stream, first, self.format)

    def play(self, renderer: Renderer, blocks: Iterable[Block]) -> None:
        """The messages of blocks, and the statements between them, which not all formats send."""
        for block in blocks:
            self.follow(block, messages_of(renderer, block))

    def follow(self, block: Block, messages: Iterable[Message]) -> None:
        """The messages of a block, and the statements between them."""
        for table in (each.table for each in block.batches):  # documents get fields without a statement
            self.types |= {(table.id.name, column.name): column.type for column in table.columns}
        rows = [message for message in messages if message.kind in ROW_KINDS]
        events = [event for event in block.events if isinstance(event, SchemaChange)]
        for item in sorted([*rows, *events], key=lambda item: item.order):
            if isinstance(item, SchemaChange):
                self.statement(item)
            elif item.value is not None:  # else it is a tombstone
                self.apply([self._named(change, item.key) for change in changes(self.format, item.value)])

    def _named(self, change: Change, key: bytes | None) -> Change:
        """The change with the document that only its message's key names, as Debezium of MongoDB has it."""
        if key is None or find(self.format).image(self.system, change.op, "before") is not NOTHING:
            return change
        parsed = find(self.format).parse(key, {})
        return replace(change, before={"_id": strict_json(parsed.get("payload", parsed)["id"])})

    def apply(self, told: list[Change]) -> None:
        """The changes of one message. Rows leave their places before others take them."""
        taken: list[tuple[str, Row]] = []
        for change in told:
            self.changes[change.op] += 1
            table = self.tables[change.table]
            before = self._row(table, change.before)
            fields, paths = inside(change.after)
            after = self._row(table, fields)
            row = after or {}
            if before is not None:
                if find(self.format).image(self.system, change.op, "before") is CHANGED:
                    before = {**row, **before}
                key = self._key(table, {**row, **before})
                held = self.rows[change.table].pop(key, None)
                if held is None:
                    raise Contradiction(f"there is no row {key} for {change}")
                differ = {name: (held.get(name), value) for name, value in before.items() if held.get(name) != value}
                if differ:
                    raise Contradiction(f"the row {key} is another (held, told): {differ}, in {change}")
                if find(self.format).image(self.system, change.op, "after") is CHANGED:
                    row = {**held, **row, **(self._row(table, with_paths(held, paths)) or {})}
            if after is not None:
                taken.append((change.table, row))
        for name, row in taken:
            key = self._key(self.tables[name], row)
            if self.rows[name].setdefault(key, row) is not row:
                raise Contradiction(f"there is a row {key} in {name} already")

    def statement(self, change: SchemaChange) -> None:
        """A table becomes what the statement makes of it; a new column has its default in all rows."""
        old, new = change.before, change.after
        if change.kind is SchemaChangeKind.DROP_DATABASE:
            # Oracle's user goes, not the database, and none of a scenario has a table
            dropped = [n for n, t in self.tables.items() if t.id.database == change.database and not t.id.schema]
            for name in dropped:
                del self.tables[name], self.rows[name]
        if old is not None:
            del self.tables[old.id.name]
        rows = self.rows.pop(old.id.name, {}) if old is not None else {}
        if new is None:
            return
        default = re.search(r"DEFAULT\s+N?('(?:[^']|'')*'|[^\s,)]+)", change.sql, re.IGNORECASE)
        literal = default[1].strip("'").replace("''", "'") if default and default[1].upper() != "NULL" else None
        kept = {} if old is None else {column.field: column.name for column in old.columns}
        self.tables[new.id.name], self.rows[new.id.name] = new, {}
        self.types |= {(new.id.name, column.name): column.type for column in new.columns}
        if change.kind is not SchemaChangeKind.TRUNCATE_TABLE:
            for row in rows.values():
                made = {
                    c.name: row.get(kept[c.field]) if c.field in kept else self._seen(c, literal) for c in new.columns
                }
                self.rows[new.id.name][self._key(new, made)] = made

    def _row(self, table: Table, image: Image) -> Row | None:
        if image is None:
            return None
        row: Row = {}
        for name, value in image.items():
            type = self.types[table.id.name, name]
            how = reading(self.format, self.source, type)
            if not how.left_out:
                row[name] = None if value in (None, UNSET) else how.value(self.source, type, value)
        return row

    def _seen(self, column: Column, literal: str | None) -> Any:
        if literal is None:
            return None
        return reading(self.format, self.source, column.type).seen(
            parsed(self.source, column.type, literal), column.type
        )

    @staticmethod
    def _key(table: Table, row: Mapping[str, Any]) -> Key:
        return tuple([row[name] for name in table.primary_key])


def messages_of(renderer: Renderer, block: Block) -> list[Message]:
    batch = renderer.render(block)
    return [] if batch is None else list(batch.messages())


def inside(image: Image) -> tuple[Image, dict[str, Any]]:
    """The fields of an image; and apart from them what MongoDB sets inside of documents: `{"doc.field": value}`."""
    if image is None:
        return None, {}
    paths = {name: value for name, value in image.items() if "." in name}
    return {name: value for name, value in image.items() if name not in paths}, paths


def with_paths(held: Row, paths: Mapping[str, Any]) -> Row:
    """The documents of a row that paths change."""
    documents: Row = {}
    for path, value in paths.items():
        name, *outer, last = path.split(".")
        document = documents.setdefault(name, json.loads(held[name], parse_int=Number, parse_float=Number))
        for field in outer:
            document = document[field]
        if value is UNSET:
            del document[last]
        else:
            document[last] = value
    return documents


def rows_at(stream: Stream, turn: int, format: str) -> dict[str, dict[Key, Row]]:
    """The rows in closed form, as a replay of a format holds them: of the tables that have any."""
    state: dict[str, dict[Key, Row]] = {}
    for table, columns in stream.rows_at(turn):
        readings = [reading(format, str(stream.source), column.type) for column in table.columns]
        values = [
            [None if value is None else how.seen(value, column.type) for value in carried(array)]
            for column, how, array in zip(table.columns, readings, columns, strict=True)
        ]
        names = [column.name for column in table.columns]
        left_out = {name for name, how in zip(names, readings, strict=True) if how.left_out}
        held = state.setdefault(table.id.name, {})
        for cells in zip(*values, strict=True):
            row = {n: cell for n, cell in zip(names, cells, strict=True) if cell is not None and n not in left_out}
            key = tuple([row[name] for name in table.primary_key])
            assert key not in held, f"{table.id} has two rows with the key {key} before turn {turn}"
            held[key] = row
    return {name: rows for name, rows in state.items() if rows}
