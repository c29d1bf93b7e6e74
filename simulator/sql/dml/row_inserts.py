"""Inserts rows for INSERT and REPLACE: AUTO_INCREMENT, defaults, duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from simulator.model import INSERT, UPDATE
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import implicit_default, to_stored
from simulator.sql.catalog.definitions import Field
from simulator.sql.dml import triggers
from simulator.sql.dml.row_deletes import delete_row
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.table_plans import plan_of
from simulator.sql.store import foreign_keys
from simulator.sql.store.rows import Data, Index, Row
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import truth_of
from simulator.sql.values.temporal import rounded

# Stands for DEFAULT among the values of a statement.
DEFAULT: Final = object()


MAX_RESERVED: Final = 65_535
MAX_VALUE: Final = (1 << 64) - 1


# Cached literals of a column.
MAX_CACHED: Final = 4096


class Counter:
    """AUTO_INCREMENT within a statement: how many values are reserved at once (innodb_autoinc_lock_mode 1 and 2).

    A statement with a list of rows reserves one value for each row; a statement that reads rows reserves 1, 2, 4 ….
    Unused reserved values are lost. Values are auto_increment_offset plus multiples of auto_increment_increment.
    """

    def __init__(self, session: Session, data: Data, expected: int) -> None:
        self.session, self.data, self.expected = session, data, expected
        self.step = int(session.connection.settings["auto_increment_increment"])
        self.offset = int(session.connection.settings["auto_increment_offset"])
        self.next = self.end = 0
        self.times = 0
        self.first = 0

    def take(self, row_number: int) -> int:
        """The next value. Raises SqlError if the column's type has no more."""
        if self.next >= self.end:
            count = self.expected if self.expected and not self.times else min(1 << self.times, MAX_RESERVED)
            if not self.times and self.session.connection.forced_id:
                self.next, self.session.connection.forced_id = self.session.connection.forced_id, 0
                self.data.next_auto = max(self.data.next_auto, self.next + 1)
                self.end = self.next + 1
            else:
                self.next = self._aligned(self.data.next_auto)
                self.end = self.next + count * self.step
                self.data.next_auto = max(self.data.next_auto, self._aligned(self.end))
            self.times += 1
        value = min(self.next, self._most(row_number))
        self.next += self.step
        return value

    def give_back(self, value: int) -> None:
        """Reuse the value of a row that was not inserted for the next row of the statement."""
        self.next = value

    def _aligned(self, value: int) -> int:
        if self.step == 1 or self.offset > self.step:
            return value
        return self.offset + max(0, -(-(value - self.offset) // self.step)) * self.step

    def _most(self, row_number: int) -> int:
        """The highest value of the column; MySQL returns it again and again, MariaDB refuses."""
        position = self.data.auto_position
        field = self.data.definition.fields[position or 0]
        maximum = int(mysql_table.bounds(field.type)[1]) if mysql_table.family(field.type) == "integer" else MAX_VALUE
        if self.next > maximum:
            if self.session.server.mariadb:
                raise SqlError(167, field.name, row_number)
            if field.type.name == "bigint":
                raise SqlError(1467)
        return maximum

    def observe(self, value: int) -> None:
        """Advance the counter past an explicit value."""
        if value >= self.data.next_auto:
            self.data.next_auto = value + 1
        if self.next <= value < self.end:
            self.next = value + 1 if self.step == 1 else self._aligned(value + 1)


class Inserter:
    """Inserts the rows of one statement into one table."""

    def __init__(self, session: Session, data: Data, positions: Sequence[int], mode: str, expected: int) -> None:
        self.session, self.data, self.positions, self.mode = session, data, tuple(positions), mode
        self.fields = data.definition.fields
        session.statement.target = data.definition.id
        self.rules = session.rules(ignore=mode == "ignore")
        self.counter = Counter(session, data, expected)
        plan = self.plan = plan_of(data, session)
        self.expected = expected
        if plan.stored is None or plan.stored[0] is not self.rules:
            plan.stored = (self.rules, [{} for _ in self.fields])
        self.stored = plan.stored[1]
        shape = plan.shapes.get(self.positions)
        if shape is None:
            shape = plan.shapes[self.positions] = self._shape()
        self.unnamed, self.touched = shape
        if session.server.mariadb and self.rules.strict:
            for position in self.unnamed:  # raised even if no row follows
                self._default(position)
        self.on_duplicate: Callable[[int, list[Any]], None] | None = None
        self.watched = bool(self.plan.generated or self.plan.checks or self.plan.triggers or data.definition.foreign)

    def _shape(self) -> tuple[list[int], frozenset[int]]:
        """The columns without a value in the statement (AUTO_INCREMENT last), and the columns of a minimal row image:
        named, generated, or set by the clock."""
        auto = self.data.auto_position
        written = set(self.positions) if auto is None else {*self.positions, auto}
        unnamed = [i for i in range(len(self.fields)) if i not in written]
        if auto is not None and auto not in self.positions:
            unnamed.append(auto)
        for i, field in enumerate(self.fields):
            computed = field.generated is not None and in_images(field, self.session)
            if computed or (field.default or "")[:3].upper() == "CUR":
                written.add(i)
        return unnamed, frozenset(written)

    def insert(self, values: Iterable[Any], row_number: int) -> None:
        """Insert one row; `values` belong to the named columns, DEFAULT stands for a column's default. Each value is
        stored before the next one is read."""
        row: list[Any] = [None] * len(self.fields)
        for position, value in zip(self.positions, values, strict=True):
            row[position] = self._stored(position, value, row_number)
        for position in self.unnamed:
            row[position] = self._default(position)
        self._insert_row(row, row_number)

    def _insert_row(self, row: list[Any], row_number: int) -> None:
        session, data = self.session, self.data
        for trigger in self.plan.triggers if self.watched else ():
            triggers.fire(session, trigger, "insert", True, None, row, self.rules, row_number)
        auto, generated, typed = data.auto_position, 0, 0
        if auto is not None:
            value = row[auto]
            if value is None or (not value and "NO_AUTO_VALUE_ON_ZERO" not in session.connection.modes):
                row[auto] = generated = self.counter.take(row_number)
            else:
                typed = int(value)
        if self.watched:
            try:
                finish(session, data, row, self.rules, row_number)
            except SqlError as error:
                if error.key == 3819 and self.mode == "ignore":
                    return  # the row is left out
                raise
        stored = tuple(row)
        conflict = data.conflict(stored)
        if conflict is not None:
            if typed and self.mode == "replace":
                self.counter.observe(typed)
            if generated and self.mode != "replace":
                self.counter.give_back(generated)
            else:
                self.counter.first = self.counter.first or generated
            self._duplicate(stored, conflict, row_number)
            return
        self.counter.first = self.counter.first or generated
        if auto is not None and not generated:
            self.counter.observe(typed)
        if self.watched and not foreign_keys.has_parents(session, data, stored, ignore=self.mode == "ignore"):
            return
        number = data.add(stored)
        session.record_undo(data, number, None)
        session.log_row(data, number, INSERT, None, stored, self.touched)
        for trigger in self.plan.triggers if self.watched else ():
            triggers.fire(session, trigger, "insert", False, None, row, self.rules, row_number)

    def _duplicate(self, row: Row, conflict: tuple[int, Index], row_number: int) -> None:
        session, data = self.session, self.data
        if self.mode == "ignore":
            return
        if self.mode == "replace":
            self._all_touched()
            self._replace(row, row_number)
            for trigger in self.plan.triggers:
                triggers.fire(session, trigger, "insert", False, None, list(row), self.rules, row_number)
        elif self.on_duplicate is not None:
            self._all_touched()
            self.on_duplicate(conflict[0], list(row))
        else:
            raise duplicate_key(session, data, conflict[1], row)

    def _all_touched(self) -> None:
        """Log all columns from the first duplicate on, as MySQL may write every column."""
        if not self.session.server.mariadb:
            self.touched = frozenset(range(len(self.fields)))

    def _replace(self, row: Row, row_number: int) -> None:
        """REPLACE: delete the conflicting rows; the last one is logged as an update where possible."""
        session, data = self.session, self.data
        deletes = any(trigger[0].event == "delete" for trigger in self.plan.triggers)
        while (conflict := data.conflict(row)) is not None:
            number, index = conflict
            old = data.rows[number]
            last_key = index is data.indexes[-1]
            if last_key and not deletes and not foreign_keys.is_parent(session, data):
                data.put(number, row)
                session.record_undo(data, number, old)
                if old != row:
                    session.log_row(data, number, UPDATE, old, row, self.touched)
                return
            delete_row(session, data, number, row_number)
        number = data.add(row)
        session.record_undo(data, number, None)
        session.log_row(data, number, INSERT, None, row, self.touched)

    def _stored(self, position: int, value: Any, row_number: int) -> Any:
        field = self.fields[position]
        if value is DEFAULT:
            return None if field.generated is not None else self._default(position, named=True)
        if field.generated is not None:
            raise SqlError(3105, field.name, self.data.definition.id.name)
        if value is None:
            return null_for(self.session, field, multiple=self.expected != 1, ignore=self.mode == "ignore")
        if type(value) not in (str, Decimal):
            return to_stored(value, field, row_number, self.rules)
        # the same literals repeat: dates, states, prices; 1.5 and 1.50 are equal, and other texts
        cache, key = self.stored[position], value if type(value) is str else str(value)
        cached = cache.get(key)
        if cached is None or type(cached[0]) is not type(value):
            cached = (value, to_stored(value, field, row_number, self.rules))
            if len(cache) < MAX_CACHED:
                cache[key] = cached
        return cached[1]

    def _default(self, position: int, *, named: bool = False) -> Any:
        field = self.fields[position]
        default = self.plan.defaults.get(position)
        if default is not None:
            return default(())
        if field.auto or (field.nullable and not field.default_dropped) or field.generated is not None:
            return None
        if self.rules.strict or (named and not self.mode and self.session.strict):
            if mysql_table.family(field.type) == "enum":
                return 1
            raise SqlError(1364, field.name)
        if mysql_table.family(field.type) == "geometry":
            raise SqlError(1364, field.name)
        _check_json(self.session, field)
        return None if field.nullable else implicit_default(field.type)

    def defaults(self) -> list[Any]:
        """The values that an expression in VALUES reads of columns that are not set yet."""
        row: list[Any] = []
        for position, field in enumerate(self.fields):
            default = self.plan.defaults.get(position)
            empty = None if field.nullable or field.generated is not None else implicit_default(field.type)
            row.append(empty if default is None else default(()))
        return row

    def done(self) -> None:
        self.session.statement.generated_ids = self.counter.first
        if self.counter.first:
            self.session.connection.last_insert_id = self.counter.first


def duplicate_key(session: Session, data: Data, index: Index, row: Row) -> SqlError:
    """The error for a row whose unique key exists already; MySQL 8.0 names the table with the key."""
    error = data.duplicate(index, row)
    if session.server.key_with_table:
        return SqlError(1062, error.text.split("'")[1], f"{data.definition.id.name}.{index.key.name}")
    return error


def in_images(field: Field, session: Session) -> bool:
    """Whether the images of a statement contain a generated column; MariaDB's virtual columns are absent."""
    return field.stored or not session.server.mariadb


def _check_json(session: Session, field: Field) -> None:
    """MariaDB stores an empty text, which the column's own check may refuse. Raises Unsupported."""
    if session.server.json_is_text and field.type.name == "json":
        raise Unsupported("a JSON column of MariaDB without a value")


def null_for(session: Session, field: Field, *, multiple: bool = False, ignore: bool = False) -> Any:
    """The value that NULL becomes in a column. Raises SqlError 1048."""
    if field.nullable or field.auto:
        return None
    if field.type.name == "timestamp" and session.connection.settings["old_timestamps"]:
        return rounded(session.now_us, field.type.length or 0, truncate=True)
    if mysql_table.family(field.type) == "geometry" and session.server.id == "mysql-8.0":
        raise SqlError(3673, field.name)  # even with IGNORE
    if ignore or (multiple and not session.strict):
        _check_json(session, field)
        return implicit_default(field.type)
    raise SqlError(1048, field.name)


def finish(session: Session, data: Data, row: list[Any], rules: Any, row_number: int) -> None:
    """Compute generated columns and test the checks of a row before it is stored."""
    plan = plan_of(data, session)
    for position, generate in plan.generated:
        value = generate([row])
        row[position] = None if value is None else to_stored(value, data.definition.fields[position], row_number, rules)
    for i, field in enumerate(data.definition.fields):
        if row[i] is None and not field.nullable and not field.auto:
            raise SqlError(1048, field.name)
    for name, check in plan.checks:
        if truth_of(check([row])) is False:
            raise SqlError(3819, name)
