"""Converts a PostgreSQL server's log to literal transactions, and tracks the rows of its tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from simulator.errors import UsageError
from simulator.model import INSERT, LogPositions, SchemaChangeKind, StatementKind, Table, TableId
from simulator.sources.postgresql.ddl import ddl
from simulator.sources.source import Source
from simulator.sql.server.postgresql.decoding import COLUMNS, SCHEMA, TABLE
from simulator.sql.server.postgresql.pgoutput import (
    CASCADE,
    RESTART_IDENTITY,
    UNCHANGED,
    Begin,
    Cell,
    Change,
    Commit,
    Event,
    Message,
    Relation,
    Truncate,
)
from simulator.sql.server.postgresql.tables import Catalog, CatalogTable, kinds_of
from simulator.stream.literal.transactions import Ddl, Entry, Positions, Row, RowChange, TableRows, Text, Transaction


class TrackedRows:
    """Rows by number; the log names them by the columns of `identity`."""

    def __init__(self, definition: CatalogTable) -> None:
        self.definition, self.rows, self._last_number = definition, dict[int, Row](), 0
        self._identity: tuple[int, ...] = ()
        self._numbers: dict[Row, list[int]] = {}

    @property
    def table(self) -> Table:
        return self.definition.table

    def identify_by(self, identity: tuple[int, ...]) -> None:
        if identity != self._identity:
            self._identity, self._numbers = identity, {}
            for number, row in self.rows.items():
                self._enter(number, row)

    def _key(self, row: Row) -> Row:
        return tuple([row[i] for i in self._identity])

    def _enter(self, number: int, row: Row) -> None:
        if self._identity:
            self._numbers.setdefault(self._key(row), []).append(number)

    def insert(self, row: Row) -> int:
        self._last_number += 1
        self.rows[self._last_number] = row
        self._enter(self._last_number, row)
        return self._last_number

    def remove(self, old: Row) -> tuple[int, Row]:
        """Remove the row that the log names; returns its number and its cells. Raises KeyError."""
        key = self._key(old)
        numbers = self._numbers[key]
        number = numbers.pop(0)
        if not numbers:
            del self._numbers[key]
        return number, self.rows.pop(number)

    def put(self, number: int, row: Row) -> None:
        self.rows[number] = row
        self._enter(number, row)

    def clear(self) -> Table:
        self.rows, self._numbers = {}, {}
        return self.table

    def reshape(self, definition: CatalogTable, rewritten: Sequence[Sequence[str | None]] | None) -> bool:
        """Apply a DDL statement to the rows; returns whether they changed. `rewritten`: all rows after a statement that
        rewrote the table, else None."""
        old, self.definition = self.definition, definition
        self._identity, self._numbers = (), {}
        if rewritten is not None:
            self._rewrite(old, [tuple(row) for row in rewritten])
            return True
        if old.numbers == definition.numbers:
            return False
        positions = {number: position for position, number in enumerate(old.numbers)}
        for number, row in self.rows.items():
            self.rows[number] = tuple(
                [
                    row[positions[column_number]] if column_number in positions else definition.missing[column_number]
                    for column_number in definition.numbers
                ]
            )
        return True

    def _rewrite(self, old: CatalogTable, rows: Sequence[Row]) -> None:
        """Rows keep their numbers by the primary key, or by their order where keys changed or there is none."""
        keys = old.table.key_positions
        key_positions = [_position(self.definition, old.numbers[i]) for i in keys]
        numbers = {tuple(row[i] for i in keys): number for number, row in self.rows.items()}
        rows_by_key = {tuple(row[i] for i in key_positions if i is not None): row for row in rows}
        if keys and rows_by_key.keys() == numbers.keys():
            self.rows = {number: rows_by_key[key] for key, number in numbers.items()}
        else:
            self.rows = dict(zip(self.rows, rows, strict=True))


def _position(definition: CatalogTable, number: int) -> int | None:
    """The position of the column of this number; None: it was dropped."""
    return definition.numbers.index(number) if number in definition.numbers else None


_STEP_US: Final = 1_000_000
# Tables that no other session sees.
_TEMPORARY: Final = re.compile(r"\s*create\s+(local\s+|global\s+)?temp(orary)?\b", re.IGNORECASE)


class Logged(NamedTuple):
    """A change with its position, and the table's logged definition."""

    position: int
    event: Change | Truncate | Message
    relation: Relation | None


@dataclass
class Log:
    """The transactions of a script's run so far."""

    transactions: list[Transaction] = field(default_factory=list)


class Session:
    """The state of a script's run: the log so far, the tables and their rows.

    Transactions have the commit times of the server's log, until the script sets its own clock (`-- @at`).
    """

    def __init__(self, source: Source, start_ms: int, *, leaves_out: bool = False) -> None:
        """`leaves_out`: tables that cannot be read are left out; else they raise UsageError."""
        self.leaves_out, self.position = leaves_out, 0  # of the event that is being read
        self.left_out: list[tuple[int, str]] = []  # positions and reasons
        self.source, self.start_ms = source, start_ms
        self.log, self.now_us, self.account = Log(), 0, ""
        self.warnings: list[str] = []
        self.in_transaction = False
        self.database = ""
        self.rows: dict[int, TrackedRows] = {}
        self._left_rows: list[TableRows] = []  # in databases that the script has left
        self._versions: dict[TableId, int] = {}
        self._relations: dict[int, Relation] = {}
        self._run = 0

    def enter(self, database: str) -> None:
        self._left_rows, self.database = self.current_rows(), database
        self.catalog = Catalog(self.source, database, self._versions)
        self.rows, self._relations = {}, {}

    def current_rows(self) -> list[TableRows]:
        """The current rows of all tables, those of a database in the order of schemas and names, as snapshots read
        them."""
        tables = sorted(self.rows.values(), key=lambda tracked: (tracked.table.id.schema, tracked.table.id.name))
        return [*self._left_rows, *(TableRows(tracked.table, dict(tracked.rows)) for tracked in tables)]

    def heartbeat(self) -> None:
        last = self.log.transactions[-1] if self.log.transactions else None
        ms = self._step(self.start_ms * 1000 if last is None else last.ms * 1000)
        header = None
        if last is not None and isinstance(last.header, LogPositions):  # the end of the log
            header = LogPositions(last.header.xid, last.header.lsns[-1:])
        self.log.transactions.append(Transaction((), ms, heartbeat=True, header=header))

    def _step(self, logged_us: int) -> int:
        """The commit time of a transaction in milliseconds: the log's, or the script's clock, which then advances."""
        if not self.now_us:
            return logged_us // 1000
        self.now_us += _STEP_US
        return (self.now_us - _STEP_US) // 1000

    def read(self, logged: Sequence[tuple[int, Event | None]]) -> None:
        """Append whole transactions of the log, given as positions and events. Raises UsageError for what cannot be
        read, at `position`."""
        begin, begin_position, events = Begin(0, 0), 0, list[Logged]()
        for position, event in logged:
            match event:
                case Begin():
                    begin, begin_position, events = event, position, []
                case Relation():
                    self._relations[event.oid] = event
                case Change():
                    events.append(Logged(position, event, self._relations[event.oid]))
                case Truncate() | Message(transactional=True):
                    events.append(Logged(position, event, None))
                case Message():
                    self._message_alone(event, position)
                case Commit():
                    self._commit(begin, events, begin_position, position)

    def _message_alone(self, event: Message, position: int) -> None:
        """A message outside of transactions; the log has no time of it: it is that of the transaction before it."""
        past = self.log.transactions
        ms = self._step(past[-1].ms * 1000 if past else self.start_ms * 1000)
        header = LogPositions(0, (position, position))
        self.log.transactions.append(Transaction((self._message(event, ms),), ms, header=header))

    def _message(self, event: Message, ms: int) -> Text:
        content = event.content.decode("utf-8", "surrogateescape")
        return Text(StatementKind.MESSAGE, self.database, event.prefix, content, ms)

    def _commit(self, begin: Begin, events: Sequence[Logged], begin_position: int, end_position: int) -> None:
        ms = self._step(begin.at_us)
        entries: list[Entry] = []
        positions = [begin_position]
        for position, event, relation in self._ddl_first(events):
            self.position = position
            if isinstance(event, Truncate):
                truncate = self._truncate(event, ms)
                entries += [] if truncate is None else [truncate]
            elif isinstance(event, Message):
                entries.append(self._message(event, ms))
            elif _is_ddl(relation):
                entries += self._ddl(event, ms)
            else:
                assert relation is not None
                if event.oid not in self.catalog.unreadable:
                    entries.append(self._change(event, relation, ms))
                    positions.append(position)
        if entries:
            header = LogPositions(begin.xid, (*positions, end_position))
            self.log.transactions.append(Transaction(tuple(entries), ms, header=header))

    def _ddl_first(self, events: Sequence[Logged]) -> Iterator[Logged]:
        """The events of a transaction. The DDL of CREATE TABLE AS is moved before its rows; the server logs it after
        them."""
        yielded: set[int] = set()
        for i, logged in enumerate(events):
            if isinstance(logged.event, Change) and not _is_ddl(logged.relation):
                later = (j for j in range(i, len(events)) if j not in yielded and _is_ddl(events[j].relation))
                while logged.event.oid not in self.rows and logged.event.oid not in self.catalog.unreadable:
                    yielded.add(j := next(later))
                    yield events[j]
            if i not in yielded:
                yield logged

    # ----------------------------------------------------------------------------------------------------------- tables

    def _ddl(self, change: Change, ms: int) -> list[Ddl]:
        """A DDL statement; nothing for statements about temporary tables."""
        logged: dict[str, Any] = dict(zip(COLUMNS, change.after or (), strict=True))
        touched, rewritten = json.loads(logged["objects"]), json.loads(logged["rewritten"])
        known = set(self.catalog.unreadable)
        old = self.catalog.update(json.loads(logged["tables"]))
        self._report_unreadable(known)
        new = self.catalog.tables
        numbers = sorted(oid for oid in old.keys() | new.keys() if old.get(oid) is not new.get(oid) or oid in touched)
        pairs = [(old.get(oid), new.get(oid)) for oid in numbers]
        reshaped = []
        for oid, (before, after) in zip(numbers, pairs, strict=True):
            if after is None:
                self.rows.pop(oid, None)
            elif before is None:
                self.rows[oid] = TrackedRows(after)
            elif self.rows[oid].reshape(after, rewritten.get(str(oid))):
                for row in self.rows[oid].rows.values():
                    self._check_numbers(after.table, row)
                reshaped.append(TableRows(after.table, dict(self.rows[oid].rows)))
        if _TEMPORARY.match(logged["sql"]) and not pairs:
            return []
        kinds = kinds_of(logged["tag"], pairs)
        (first, last), *more = [(_table(before), _table(after)) for before, after in pairs] or [(None, None)]
        return [Ddl(kinds[0], self.database, first, last, logged["sql"], ms, kinds, tuple(more), tuple(reshaped))]

    def _report_unreadable(self, known: set[int]) -> None:
        """Raises UsageError for tables that cannot be read, unless they are left out."""
        for oid in self.catalog.unreadable.keys() - known:
            if not self.leaves_out:
                raise UsageError(f"{self.catalog.unreadable[oid]}.")
            self.left_out.append((self.position, f"{self.catalog.unreadable[oid]}; the table's changes are left out."))

    def _check_numbers(self, table: Table, row: Sequence[Cell]) -> None:
        """Raises UsageError for NaN in a numeric with a precision."""
        if "NaN" not in row:
            return
        for column, cell in zip(table.columns, row, strict=True):
            if cell == "NaN" and column.type.name == "numeric":
                try:
                    self.source.parse_values(["NaN"], column.type)
                except ValueError as error:
                    raise UsageError(f"{table.id}.{column.name}: {error}.") from None

    def _truncate(self, event: Truncate, ms: int) -> Ddl | None:
        tables = [self.rows[oid].clear() for oid in event.oids if oid not in self.catalog.unreadable]
        if not tables:
            return None
        sql = f"TRUNCATE TABLE {', '.join(ddl.table(table.id) for table in tables)}"
        sql += " RESTART IDENTITY" if event.options & RESTART_IDENTITY else ""
        sql += " CASCADE" if event.options & CASCADE else ""
        first, *more = tables
        pairs = tuple((other, other) for other in more)
        return Ddl(SchemaChangeKind.TRUNCATE_TABLE, self.database, first, first, sql, ms, more=pairs)

    # ------------------------------------------------------------------------------------------------------------- rows

    def _change(self, event: Change, relation: Relation, ms: int) -> RowChange:
        tracked = self.rows[event.oid]
        table = tracked.table
        positions = [table.positions[name] for name in relation.columns]
        identity = tuple(positions[i] for i in relation.identity)
        tracked.identify_by(identity)
        self._run += 1

        def row(cells: Sequence[Cell], otherwise: Row) -> Row:
            image = list(otherwise)
            for position, cell in zip(positions, cells, strict=True):
                image[position] = image[position] if cell is UNCHANGED else cell
            return tuple(image)

        empty: Row = (None,) * len(table.columns)
        before = after = None
        number = 0
        logged_before: Positions = None
        logged_after: Positions = None
        if event.kind is not INSERT:
            old_cells = event.before if event.before is not None else event.after
            assert old_cells is not None
            number, before = tracked.remove(row(old_cells, empty))
            if not event.full:
                logged_before = () if event.before is None else tuple(sorted(identity))
        if event.after is not None:
            after = row(event.after, before or empty)
            self._check_numbers(table, after)
            if UNCHANGED in event.after:
                logged_after = tuple(
                    sorted(
                        position for position, cell in zip(positions, event.after, strict=True) if cell is not UNCHANGED
                    )
                )
            if event.kind is INSERT:
                number = tracked.insert(after)
            else:
                tracked.put(number, after)
        return RowChange(table, event.kind, before, after, number, self._run, ms, logged_before, logged_after)


def _is_ddl(relation: Relation | None) -> bool:
    return relation is not None and (relation.schema, relation.name) == (SCHEMA, TABLE)


def _table(definition: CatalogTable | None) -> Table | None:
    return None if definition is None else definition.table
