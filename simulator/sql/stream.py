"""A script's log as a stream of changes: the same blocks that generated streams and YAML scripts hand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from simulator.batch import Before, ChangeBatch, Delta, Envelope, Ints
from simulator.errors import UsageError
from simulator.model import (
    ABSENT,
    DELETE,
    INSERT,
    Event,
    Heartbeat,
    LoggedStatement,
    OrderKey,
    SchemaChange,
    Table,
)
from simulator.sources import Source
from simulator.sources.mysql import typed_json
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.script import START_MS, Outcome, Script, run
from simulator.sql.store.log import Ddl, Entry, RowChange, Transaction
from simulator.sql.store.rows import Row, carrier
from simulator.sql.store.session import Session
from simulator.stream.engine.block import WRITE_LAG_MS, Block
from simulator.stream.literal.numbers import Numbers

_Place = tuple[int, int, int, RowChange]  # turn, place in it among all entries, and among its row changes from 1


class SqlStream:
    """What a SQL script did; turn i is its transaction i. The script is run once, when the stream is made.

    `failure` is the error that ended the script, if one did: what went before it is there, and the error is for the
    caller to raise when that is delivered.
    """

    block_turns = 4096

    def __init__(
        self, script: Script, source: Source, *, force: bool = False, tell: Callable[[str], None] | None = None
    ) -> None:
        self.script, self.source, self.force = script, source, force
        self._before: list[tuple[Table, list[Row]]] = []
        outcome = run(script, source, force=force, tell=tell, at_snapshot=self._keep)
        self.failure: UsageError | None = outcome.failure
        self.errors, self.steps = tuple(outcome.errors), tuple(outcome.steps)
        self.database = outcome.session.database
        self._transactions: list[Transaction] = outcome.session.log.transactions
        self.turns = len(self._transactions)
        rows = [[isinstance(entry, RowChange) for entry in one.entries] for one in self._transactions]
        self._counts: Ints = np.array([sum(each) for each in rows], dtype=np.int64)
        self.numbers = Numbers(
            sum(len(rows) for _, rows in self._before),
            [bool(one.entries) for one in self._transactions],
            [[entry.ms for entry in one.entries] for one in self._transactions],
            [one.ms for one in self._transactions],
        )
        self._projected: dict[tuple[int, tuple[int, ...]], tuple[Table, Table]] = {}
        self.first_tables: tuple[Table, ...] = _tables(outcome)
        self.column_names = frozenset(column.name for table in _ever(outcome) for column in table.columns)

    def _keep(self, session: Session) -> None:
        """What is there at `-- @snapshot`: no log that a product reads tells how its types were typed."""
        for data in session.all_tables():
            fields = tuple(replace(one, typed_in=()) for one in data.definition.fields)
            data.define(replace(data.definition, fields=fields))
            self._before.append((data.table, [row for _, row in data.scan()]))

    def border(self, turn: int) -> int:
        """The first transaction border at or after a turn: every turn of a script is one."""
        return turn

    def count(self, first: int, stop: int) -> Ints:
        """Row changes of each turn in [first, stop)."""
        return self._counts[first:stop]

    def read(self, first: int, stop: int) -> Block:
        """The changes and events of the turns [first, stop)."""
        stop = min(stop, self.turns)
        groups: dict[Any, list[_Place]] = {}
        events: list[Event] = []
        for number in range(first, stop):
            one = self._transactions[number]
            if not one.entries:
                events.append(Heartbeat(*self._common(number, 0, one.ms)))
            rows = 0
            for place, entry in enumerate(one.entries):
                if isinstance(entry, RowChange):
                    rows += 1
                    key = (id(entry.table), entry.kind, entry.logged_before, entry.logged_after)
                    groups.setdefault(key, []).append((number, place, rows, entry))
                else:
                    events.append(self._event(number, place, entry, one))
        batches = tuple(self._batch(group) for group in groups.values())
        return Block(first, stop - first, batches, tuple(events), int(self._counts[first:stop].sum()))

    def _common(self, number: int, place: int, ms: int) -> tuple[OrderKey, int, int, int, int]:
        order = OrderKey(1, number, 2 * place)
        return (
            order,
            int(self.numbers.txn[number]),
            int(self.numbers.offset[number]) + 2 * place,
            ms,
            ms + WRITE_LAG_MS,
        )

    def _event(self, number: int, place: int, entry: Entry, one: Transaction) -> Event:
        common = self._common(number, place, entry.ms)
        executed = (one.own, one.foreign)
        in_second = int(self.numbers.in_second(number, place))
        if isinstance(entry, Ddl):
            facts = (entry.kind, entry.database, entry.before, entry.after, entry.sql)
            return SchemaChange(*common, *facts, in_second=in_second, executed=executed)
        assert not isinstance(entry, RowChange)
        text = (entry.kind, entry.database, entry.table, entry.sql)
        return LoggedStatement(*common, *text, in_second=in_second, executed=executed)

    def _batch(self, group: Sequence[_Place]) -> ChangeBatch:
        """The changes of one table version, kind and set of columns; documents as the server prints them."""
        batch = self._changes(group, _printed)
        images = [image for *_, change in group for image in (change.before, change.after) if image is not None]
        documents = _documents(group[0][3].table, self.source)
        if any(image[i] is not None and typed_json.is_typed(image[i]) for i in documents for image in images):
            return replace(batch, typed_json=self._changes(group, list))
        return batch

    def _changes(self, group: Sequence[_Place], documents_of: Callable[[Sequence[Any]], list[Any]]) -> ChangeBatch:
        turn = np.array([each[0] for each in group], dtype=np.int64)
        place = np.array([each[1] for each in group], dtype=np.int64)
        seq = np.array([each[2] for each in group], dtype=np.int64)
        changes = [each[3] for each in group]
        first = changes[0]
        table, kind = first.table, first.kind
        event_ms = np.array([change.ms for change in changes], dtype=np.int64)
        executed = [self._transactions[number] for number, *_ in group]
        envelope = Envelope(
            phase=1,
            turn=turn,
            ordinal=2 * place,
            statement=np.array([change.run for change in changes], dtype=np.int64),
            txn=self.numbers.txn[turn],
            seq=seq,
            size=self._counts[turn],
            offset=self.numbers.offset[turn] + 2 * place,
            event_ms=event_ms,
            write_ms=event_ms + WRITE_LAG_MS,
            in_second=self.numbers.in_second(turn, place),
            own=np.array([one.own for one in executed], dtype=np.int64),
            foreign=pa.array([one.foreign for one in executed], pa.string()),
        )
        shown = first.logged_before if kind is DELETE else first.logged_after
        places = tuple(range(len(table.columns))) if shown is None else shown
        if shown is not None:
            table = self._with_columns(table, shown)
        columns = [first.table.columns[i] for i in places]
        after: tuple[pa.Array, ...] | None = None
        if kind is not DELETE:
            news = self._values([change.after for change in changes], first.table, places, documents_of)
            after = tuple(carrier(new, column.type) for new, column in zip(news, columns, strict=True))
        if kind is INSERT:
            return ChangeBatch(table, kind, envelope, after, None)
        olds = self._values([change.before for change in changes], first.table, places, documents_of)
        if kind is DELETE:
            before: tuple[Before, ...] = tuple(carrier(old, c.type) for old, c in zip(olds, columns, strict=True))
            return ChangeBatch(table, kind, envelope, None, before)
        there = set(places if first.logged_before is None else first.logged_before)
        before = tuple(
            _old(old, new, column) if i in there else ABSENT
            for i, old, new, column in zip(places, olds, news, columns, strict=True)
        )
        return ChangeBatch(table, kind, envelope, after, before)

    def _values(
        self,
        images: Sequence[Row | None],
        table: Table,
        places: Sequence[int],
        documents_of: Callable[[Sequence[Any]], list[Any]],
    ) -> list[list[Any]]:
        """The values of some columns, column by column."""
        documents = _documents(table, self.source)
        columns = [[image[i] for image in images if image is not None] for i in places]
        return [documents_of(column) if i in documents else column for i, column in zip(places, columns, strict=True)]

    def _with_columns(self, table: Table, places: tuple[int, ...]) -> Table:
        """A table of some of its columns: that of an image which leaves others out."""
        key = (id(table), places)
        if key not in self._projected:
            columns = tuple(table.columns[i] for i in places)
            names = {column.name for column in columns}
            primary = tuple(name for name in table.primary_key if name in names)
            self._projected[key] = (table, replace(table, columns=columns, primary_key=primary))
        return self._projected[key][1]

    # ----------------------------------------------------------------------------------------------------------- state

    def rows_at(self, turn: int) -> Iterator[tuple[Table, tuple[pa.Array, ...]]]:
        """The rows every table holds before a turn: (table version, columns). The script is run up to there."""
        outcome = run(self.script, self.source, force=self.force, until=turn, at_snapshot=lambda session: None)
        for data in outcome.session.all_tables():
            rows = [row for _, row in data.scan()]
            yield data.table, self._columns(data.table, rows)

    def snapshot(self, turn: int = 0) -> Iterator[Block]:
        """The rows alive before a turn as READ changes, table by table; those of `-- @snapshot` at turn 0."""
        ms = self._transactions[max(turn - 1, 0)].ms if self.turns else START_MS
        held = self.rows_at(turn) if turn else ((table, self._columns(table, rows)) for table, rows in self._before)
        return self.numbers.snapshot(self.source, held, ms)

    def _columns(self, table: Table, rows: Sequence[Row]) -> tuple[pa.Array, ...]:
        columns = self._values(rows, table, range(len(table.columns)), _printed)
        return tuple(carrier(values, column.type) for values, column in zip(columns, table.columns, strict=True))

    def previous_ms(self, turns: Ints) -> Ints:
        """When the transaction before each turn was committed, epoch milliseconds; of the first its own time."""
        return self.numbers.previous_ms(turns)


def _documents(table: Table, source: Source) -> list[int]:
    """The columns that hold binary JSON documents; MariaDB's JSON is text."""
    if SERVERS[str(source)].json_is_text:
        return []
    return [i for i, column in enumerate(table.columns) if column.type.name == "json"]


def _printed(documents: Sequence[Any]) -> list[Any]:
    return [None if text is None else typed_json.printed(text) for text in documents]


def _old(old: list[Any], new: list[Any], column: Any) -> Before:
    """A column of the before image: only the rows in which it differs (0.0 and -0.0 do)."""
    rows = [
        i
        for i, (a, b) in enumerate(zip(old, new, strict=True))
        if a is not b and (a != b or (isinstance(a, float) and repr(a) != repr(b)))
    ]
    if not rows:
        return None
    if len(rows) == len(old):
        return carrier(old, column.type)
    return Delta(np.array(rows, dtype=np.int64), carrier([old[i] for i in rows], column.type))


def _ever(outcome: Outcome) -> Iterator[Table]:
    """All table versions that the log tells of, and those at the end."""
    for one in outcome.session.log.transactions:
        for entry in one.entries:
            if isinstance(entry, RowChange):
                yield entry.table
            elif isinstance(entry, Ddl):
                yield from (table for table in (entry.before, entry.after) if table is not None)
    for data in outcome.session.all_tables():
        yield data.table


def _tables(outcome: Outcome) -> tuple[Table, ...]:
    """The tables that a script found or made, each in its last version, by first appearance."""
    found: dict[Any, Table] = {}
    for table in _ever(outcome):
        if table.columns:
            found[table.id] = table
    return tuple(found.values())
