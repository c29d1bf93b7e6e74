"""Rows put into a table by INSERT and REPLACE: AUTO_INCREMENT, defaults, duplicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from simulator.model import DELETE, INSERT, UPDATE
from simulator.sources import mysql
from simulator.sql import relations
from simulator.sql.assign import assign, implicit
from simulator.sql.catalog import Field
from simulator.sql.errors import SqlError
from simulator.sql.plans import plan_of
from simulator.sql.rows import Data, Row
from simulator.sql.session import Session
from simulator.sql.values import truth_of

# A column's value that the statement leaves to the column.
DEFAULT: Final = object()


MOST_RESERVED: Final = 65_535


# Literals of a column whose stored form is kept.
MOST_KNOWN: Final = 4096


class Counter:
    """AUTO_INCREMENT within a statement: how many values are reserved at once (innodb_autoinc_lock_mode 1 and 2).

    A statement with a list of rows reserves as many as it has rows, one that reads them 1, 2, 4 …; what is left over is
    lost.
    """

    def __init__(self, data: Data, expected: int) -> None:
        self.data, self.expected = data, expected
        self.next = self.end = 0
        self.times = 0
        self.first = 0

    def take(self) -> int:
        if self.next >= self.end:
            count = self.expected if self.expected and not self.times else min(1 << self.times, MOST_RESERVED)
            self.times += 1
            self.next = self.data.next_auto
            self.end = self.next + count
            self.data.next_auto = self.end
        self.next += 1
        self.first = self.first or self.next - 1
        return self.next - 1

    def seen(self, value: int) -> None:
        """A value that was given; the counter goes on behind it."""
        if value >= self.data.next_auto:
            self.data.next_auto = value + 1
        if self.next <= value < self.end:
            self.next = value + 1


class Inserter:
    """Rows put into one table by one statement."""

    def __init__(self, session: Session, data: Data, places: Sequence[int], mode: str, expected: int) -> None:
        self.session, self.data, self.places, self.mode = session, data, tuple(places), mode
        self.fields = data.definition.fields
        session.target = data.definition.id
        self.rules = session.rules(ignore=mode == "ignore")
        self.counter = Counter(data, expected)
        plan = self.plan = plan_of(data, session)
        self.expected = expected
        if plan.stored is None or plan.stored[0] is not self.rules:
            plan.stored = (self.rules, [{} for _ in self.fields])
        self.stored = plan.stored[1]
        self.touched = frozenset(self.places if data.auto_place is None else (*self.places, data.auto_place))
        self.rest = [i for i in range(len(self.fields)) if i not in self.touched]
        if data.auto_place is not None and data.auto_place not in self.places:
            self.rest.append(data.auto_place)
        self.on_duplicate: Callable[[int, list[Any]], None] | None = None
        self.watched = bool(self.plan.generated or self.plan.checks or self.plan.triggers or data.definition.foreign)

    def insert(self, values: Sequence[Any], row_number: int) -> None:
        """One row; `values` are those of the named columns, DEFAULT where the column decides."""
        row: list[Any] = [None] * len(self.fields)
        for place, value in zip(self.places, values, strict=True):
            row[place] = self._stored(place, value, row_number)
        for place in self.rest:
            row[place] = self._default(place)
        self._put(row, row_number)

    def _put(self, row: list[Any], row_number: int) -> None:
        session, data = self.session, self.data
        for trigger in self.plan.triggers if self.watched else ():
            relations.fire(session, trigger, "insert", True, None, row, self.rules, row_number)
        auto = data.auto_place
        if auto is not None:
            given = row[auto]
            if given is None or (not given and "NO_AUTO_VALUE_ON_ZERO" not in session.modes):
                row[auto] = self.counter.take()
            else:
                self.counter.seen(int(given))
        if self.watched:
            self._finish(row, row_number)
        made = tuple(row)
        conflict = data.conflict(made)
        if conflict is not None:
            self._duplicate(made, conflict, row_number)
            return
        if self.watched and not relations.parents_there(session, data, made, ignore=self.mode == "ignore"):
            return
        number = data.add(made)
        session.changed(data, number, None)
        session.log_row(data, INSERT, None, made, self.touched)
        for trigger in self.plan.triggers if self.watched else ():
            relations.fire(session, trigger, "insert", False, None, row, self.rules, row_number)

    def _finish(self, row: list[Any], row_number: int) -> None:
        finish(self.session, self.data, row, self.rules, row_number)

    def _duplicate(self, row: Row, conflict: tuple[int, Any], row_number: int) -> None:
        session, data = self.session, self.data
        if self.mode == "ignore":
            return
        if self.mode == "replace":
            self._replace(row, row_number)
        elif self.on_duplicate is not None:
            self.on_duplicate(conflict[0], list(row))
        else:
            error = data.duplicate(conflict[1], row)
            if session.server.key_with_table:
                error = SqlError(1062, error.text.split("'")[1], f"{data.definition.id.name}.{conflict[1].key.name}")
            raise error

    def _replace(self, row: Row, row_number: int) -> None:
        """REPLACE: the conflicting rows are deleted but for the last, which is logged as an update where it can be."""
        session, data = self.session, self.data
        deletes = any(one[0].event == "delete" for one in self.plan.triggers)
        while (conflict := data.conflict(row)) is not None:
            number, index = conflict
            old = data.rows[number]
            last_key = index is data.indexes[-1]
            if last_key and not deletes and not relations.is_parent(session, data):
                data.put(number, row)
                session.changed(data, number, old)
                if old != row:
                    session.log_row(data, UPDATE, old, row, self.touched)
                return
            relations.delete_children(session, data, old)
            data.put(number, None)
            session.changed(data, number, old)
            session.log_row(data, DELETE, old, None)
        number = data.add(row)
        session.changed(data, number, None)
        session.log_row(data, INSERT, None, row, self.touched)

    def _stored(self, place: int, value: Any, row_number: int) -> Any:
        one = self.fields[place]
        if value is DEFAULT:
            return None if one.generated is not None else self._default(place, named=True)
        if one.generated is not None:
            raise SqlError(3105, one.name, self.data.definition.id.name)
        if value is None:
            return null_for(self.session, one, multiple=self.expected > 1, ignore=self.mode == "ignore")
        if type(value) not in (str, Decimal):
            return assign(value, one, row_number, self.rules)
        # the same literals come again and again: dates, states, prices
        known = self.stored[place]
        found = known.get(value)
        if found is None or type(found[0]) is not type(value):
            found = (value, assign(value, one, row_number, self.rules))
            if len(known) < MOST_KNOWN:
                known[value] = found
        return found[1]

    def _default(self, place: int, *, named: bool = False) -> Any:
        one = self.fields[place]
        default = self.plan.defaults.get(place)
        if default is not None:
            return default(())
        if one.auto or one.nullable or one.generated is not None:
            return None
        if self.rules.strict or (named and not self.mode and self.session.strict):
            if mysql.family(one.type) == "enum":
                return 1
            raise SqlError(1364, one.name)
        return implicit(one.type)

    def done(self) -> None:
        self.session.generated_ids = self.counter.first
        if self.counter.first:
            self.session.last_insert_id = self.counter.first


def null_for(session: Session, one: Field, *, multiple: bool = False, ignore: bool = False) -> Any:
    """What a NULL becomes in a column. Raises SqlError 1048."""
    if one.nullable or one.auto:
        return None
    if one.type.name == "timestamp" and session.settings["old_timestamps"]:
        digits = one.type.length or 0
        return session.now_us // int(10 ** (6 - digits)) * int(10 ** (6 - digits))
    if ignore or (multiple and not session.strict):
        return implicit(one.type)
    raise SqlError(1048, one.name)


def finish(session: Session, data: Data, row: list[Any], rules: Any, row_number: int) -> None:
    """Generated columns and checks of a row that is about to be stored."""
    plan = plan_of(data, session)
    for place, generate in plan.generated:
        value = generate([row])
        row[place] = None if value is None else assign(value, data.definition.fields[place], row_number, rules)
    for i, one in enumerate(data.definition.fields):
        if row[i] is None and not one.nullable and not one.auto:
            raise SqlError(1048, one.name)
    for name, check in plan.checks:
        if truth_of(check([row])) is False:
            raise SqlError(3819, name)
