"""A SQL script as literal transactions: it is run, and its log is the stream."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope, Ints
from simulator.model import Table, TableId
from simulator.sources.mysql import typed_json
from simulator.sources.source import Source
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.ddl.show_create import show_create
from simulator.sql.script import POSTGRESQL, START_MS, Outcome, Script, run, run_on_postgresql
from simulator.sql.store.rows import Row, carrier
from simulator.sql.store.session import Session
from simulator.stream.literal.history import HistoryStream
from simulator.stream.literal.stream import LiteralStream
from simulator.stream.literal.transactions import Ddl, RowChange, TableRows


def stream_of(script: Script, source: Source, *, force: bool = False) -> LiteralStream:
    """What a script did. `failure` is the error that ended it, if one did: what went before it is there, and the error
    is for the caller to raise when that is delivered."""
    if source.id != POSTGRESQL:
        return SqlStream(script, source, force=force)
    before: list[TableRows] = []
    outcome = run_on_postgresql(script, source, force=force, at_snapshot=lambda session: before.extend(session.held()))
    session = outcome.session
    stream = HistoryStream(
        script.file,
        source,
        session.database,
        session.log.transactions,
        before=before,
        after=session.held(),
        start_ms=START_MS,
        partial_setting="REPLICA IDENTITY is not FULL; run ALTER TABLE … REPLICA IDENTITY FULL before",
    )
    stream.failure, stream.errors = outcome.failure, tuple(outcome.errors)
    return stream


class SqlStream(LiteralStream):
    """What a SQL script did; turn i is its transaction i. The script is run once, when the stream is made.

    `failure` is the error that ended the script, if one did: what went before it is there, and the error is for the
    caller to raise when that is delivered. `steps` are the names of `-- @step`, each with its turn.
    """

    def __init__(self, script: Script, source: Source, *, force: bool = False) -> None:
        self.script, self.force = script, force
        self._before: list[tuple[Table, list[Row], list[int]]] = []
        self._texts: dict[tuple[int, TableId], str] = {}
        outcome = run(script, source, force=force, at_snapshot=self._keep)
        self.failure, self.steps = outcome.failure, tuple(outcome.steps)
        self.errors, self.warnings = tuple(outcome.errors), tuple(outcome.warnings)
        super().__init__(
            script.file,
            source,
            outcome.session.database,
            outcome.session.log.transactions,
            alive=sum(len(rows) for _, rows, _ in self._before),
            start_ms=START_MS,
            first_tables=_tables(outcome),
            column_names={column.name for table in _versions(outcome) for column in table.columns},
        )

    def _keep(self, session: Session) -> None:
        """What is there at `-- @snapshot`."""
        _forget_spellings(session)
        self._before = _rows(session)
        self._keep_texts(session, 0)

    def _keep_texts(self, session: Session, turn: int) -> None:
        for data in session.all_tables():
            text = show_create(data.definition, session.server, data.next_auto)
            self._texts[turn, data.definition.id] = text

    def create_table(self, table: Table, turn: int) -> str:
        """…, as SHOW CREATE TABLE prints it; known once the table's rows are."""
        return self._texts[turn, table.id]

    @property
    def names_at_start(self) -> Collection[TableId]:
        return {table.id for table, _, _ in self._before}

    def column(self, table: Table, position: int, cells: Sequence[Any]) -> pa.Array:
        return carrier(cells, table.columns[position].type)

    @property
    def partial_images(self) -> str | None:
        if self.partial_turn is None:
            return None
        return f"binlog_row_image is not FULL in turn {self.partial_turn}; set it to FULL"

    def row_bytes(self, table: Table, row: Row) -> int:
        return sum(len(cell) for cell in row if isinstance(cell, str | bytes))

    def _images(self, changes: Sequence[RowChange], envelope: Envelope) -> ChangeBatch:
        """…; documents as the server prints them, and apart from these with their types, where that differs."""
        batch = super()._images(changes, envelope)
        documents = self._documents(changes[0].table)
        images = [image for change in changes for image in (change.before, change.after) if image is not None]
        if not any(image[i] is not None and typed_json.is_typed(image[i]) for i in documents for image in images):
            return batch
        printed = [
            replace(change, before=_printed(change.before, documents), after=_printed(change.after, documents))
            for change in changes
        ]
        return replace(super()._images(printed, envelope), typed_json=batch)

    def _documents(self, table: Table) -> list[int]:
        """The columns that hold binary JSON documents; MariaDB's JSON is text."""
        if SERVERS[str(self.source)].json_is_text:
            return []
        return [position for position, column in enumerate(table.columns) if column.type.name == "json"]

    def numbered_rows(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...], Ints]]:
        """…; the script is run up to the turn. At turn 0 there are the rows of `-- @snapshot`."""
        held = self._before
        if turn:
            outcome = run(self.script, self.source, force=self.force, until=turn, at_snapshot=_forget_spellings)
            held = _rows(outcome.session)
            self._keep_texts(outcome.session, turn)
        for table, rows, numbers in held:
            documents = self._documents(table)
            printed = [_printed(row, documents) for row in rows] if documents else rows
            columns = range(len(table.columns))
            arrays = tuple(self.column(table, i, [row[i] for row in printed]) for i in columns)
            yield table, arrays, np.array(numbers, dtype=np.int64)


def _printed(row: Any, documents: Sequence[int]) -> Any:
    """A row with its documents as the server prints them."""
    if row is None:
        return None
    cells = list(row)
    for position in documents:
        if cells[position] is not None:
            cells[position] = typed_json.printed(cells[position])
    return tuple(cells)


def _forget_spellings(session: Session) -> None:
    """No log that a product reads says how the types were typed of tables that were there before."""
    for data in session.all_tables():
        fields = tuple(replace(field, typed_in=(), inline_key=False, retyped=False) for field in data.definition.fields)
        data.define(replace(data.definition, fields=fields))


def _rows(session: Session) -> list[tuple[Table, list[Row], list[int]]]:
    """Each table's rows and their numbers."""
    held = [(data.table, list(data.scan())) for data in session.all_tables()]
    return [(table, [row for _, row in rows], [number for number, _ in rows]) for table, rows in held]


def _versions(outcome: Outcome[Session]) -> Iterator[Table]:
    """All table versions in the log, and those at the end."""
    for transaction in outcome.session.log.transactions:
        for entry in transaction.entries:
            if isinstance(entry, RowChange):
                yield entry.table
            elif isinstance(entry, Ddl):
                yield from (table for table in (entry.before, entry.after) if table is not None)
    for data in outcome.session.all_tables():
        yield data.table


def _tables(outcome: Outcome[Session]) -> tuple[Table, ...]:
    """The tables that a script finds or creates, each in its last version, by first appearance."""
    last: dict[Any, Table] = {}
    for table in _versions(outcome):
        if table.columns:
            last[table.id] = table
    return tuple(last.values())
