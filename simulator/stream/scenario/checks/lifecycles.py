"""Lifecycles and short forms: what happens to each table's rows, and that it can happen in that order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.stream.scenario.language.tables import Hot, LifecycleSpec, Statement, TableSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import unknown

# Updates of a row between its insert and its delete: the engine's tables have an entry for each.
LONGEST_LIFE: Final = 10_000


@dataclass
class Home:
    """Where a table's rows live: its lifecycle (None: the short form) and what happens to them there.

    The lifecycle's statements are numbered. `counted_as` is the table that has as many rows in an entity; `single` if
    that is one row. `permanent` if some rows live for the whole stream.
    """

    table: str
    lifecycle: str | None
    spec: LifecycleSpec | None
    permanent: bool
    single: bool = True
    counted_as: str = ""
    inserted: int = 0
    deleted: int | None = None
    insert_step: str = ""
    # step name and statement number of each update, with the columns that it sets
    updates: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)

    def settings(self, column: str) -> list[int]:
        """The numbers of the statements that set a column."""
        return [self.inserted, *(number for _, number, columns in self.updates if column in columns)]


def homes(loaded: Loaded, columns: Mapping[str, Mapping[str, object]]) -> Mapping[str, Home]:
    """The home of every table. `columns[table]` are all its columns, at any time."""
    spec = loaded.spec
    by_table: dict[str, Home] = {}
    for name, table in spec.tables.items():
        if table.rows is not None:
            _check_short(loaded, name, table)
            by_table[name] = Home(name, None, None, _has_permanent_rows(table), single=table.rows_per_statement == 1)
    for name, life in spec.lifecycles.items():
        _Lifecycle(loaded, name, life, columns, by_table).check()
    for name in spec.tables:
        if name not in by_table:
            loaded.fail(("tables", name), "nothing happens to this table: add rows, or use it in a lifecycle")
    return by_table


def _check_short(loaded: Loaded, name: str, table: TableSpec) -> None:
    path: Key = ("tables", name)
    insert, update, delete = table.mix.insert, table.mix.update, table.mix.delete
    if insert + update + delete <= 0:
        loaded.fail((*path, "mix"), "set insert, update or delete above 0")
    if delete > insert:
        loaded.fail((*path, "mix"), f"delete ({delete:g}) is above insert ({insert:g}), so rows would run out")
    if delete and update / delete > LONGEST_LIFE:
        loaded.fail(
            (*path, "mix"),
            f"a row would be updated {update / delete:g} times before its delete, more than {LONGEST_LIFE}: "
            "raise delete or lower update",
        )
    _check_hot(loaded, (*path, "hot"), table.hot)
    if table.rows_per_statement > (table.rows or 0):
        loaded.fail((*path, "rows_per_statement"), f"this is more than the table's {table.rows} rows")
    if table.key_updates and not update:
        loaded.fail((*path, "key_updates"), "the mix has no updates")
    if table.key_updates and not table.key:
        loaded.fail((*path, "key_updates"), "the table has no key")
    if table.key_updates and not table.columns[table.key[0]].values.generator.unique:
        loaded.fail((*path, "key_updates"), f"they change {table.key[0]}, which must be a sequence or a uuid")


def _has_permanent_rows(table: TableSpec) -> bool:
    """Whether the short form has rows that live for the whole stream: hot ones, or updates beyond the full lives'."""
    _, update, delete = table.shares
    if table.hot:
        return True
    if not delete:
        return update > 0
    return update / delete - int(update / delete + 1e-9) > 1e-9


def _check_hot(loaded: Loaded, path: Key, hot: Sequence[Hot]) -> None:
    total = sum(share.share for share in hot)
    if total >= 1:
        loaded.fail(path, f"the hot shares add up to {total:g}; keep the sum below 1")


class _Lifecycle:
    """One lifecycle walked through, statement by statement."""

    def __init__(
        self,
        loaded: Loaded,
        name: str,
        life: LifecycleSpec,
        columns: Mapping[str, Mapping[str, object]],
        homes: dict[str, Home],
    ) -> None:
        self.loaded, self.name, self.life, self.columns, self.homes = loaded, name, life, columns, homes
        self.mine: dict[str, Home] = {}
        self.path: Key = ("lifecycles", name)

    def check(self) -> None:
        loaded, life = self.loaded, self.life
        if life.hot and not life.repeats:
            loaded.fail((*self.path, "hot"), "hot entities are permanent: add `then: repeat`")
        _check_hot(loaded, (*self.path, "hot"), life.hot)
        if life.repeats and len(life.steps) < 2:
            loaded.fail((*self.path, "then"), "a lifecycle that repeats needs a second step: the first happens once")
        names: set[str] = set()
        number = 0
        for s, step in enumerate(life.steps):
            at: Key = (*self.path, "steps", s)
            if step.name in names:
                loaded.fail((*at, "name"), f"duplicate step {step.name!r}")
            names.add(step.name)
            for d, statement in enumerate(step.do):
                self._statement((*at, "do", d), s, statement, number)
                number += 1

    def _statement(self, path: Key, step: int, statement: Statement, number: int) -> None:
        loaded, table = self.loaded, statement.table
        kind = "insert" if statement.insert else "update" if statement.update else "delete"
        at = (*path, kind)
        if table not in loaded.spec.tables:
            unknown(loaded, at, "table", table, loaded.spec.tables)
        if table in self.homes and table not in self.mine:
            other = self.homes[table].lifecycle
            where = f"lifecycle {other!r}" if other else "its short form (rows)"
            loaded.fail(at, f"{table!r} is changed by {where}; a table has one lifecycle")
        if kind != "update" and self.life.steps[step].times > 1:
            loaded.fail(at, f"a step that happens {self.life.steps[step].times} times can only update")
        if kind == "insert":
            self._insert(path, step, statement, number)
            return
        home = self.mine.get(table)
        if home is None:
            loaded.fail(at, f"{table!r} has no rows yet: insert it in an earlier statement")
        if home.deleted is not None:
            loaded.fail(at, f"the rows of {table!r} are deleted already")
        if self.life.repeats and step == 0:
            loaded.fail(at, "the first step of a lifecycle that repeats can only insert: its rows exist from the start")
        if kind == "delete":
            if home.permanent:
                loaded.fail(at, f"the rows of {table!r} are permanent, since the lifecycle repeats")
            home.deleted = number
            return
        for i, column in enumerate(statement.set or ()):
            if column not in self.columns[table]:
                unknown(loaded, (*path, "set", i), f"column of {table}", column, self.columns[table])
        home.updates.append((self.life.steps[step].name, number, frozenset(statement.set or ())))

    def _insert(self, path: Key, step: int, statement: Statement, number: int) -> None:
        table, rows = statement.table, statement.rows
        if table in self.mine:
            self.loaded.fail((*path, "insert"), f"{table!r} is inserted already; use rows to insert several rows")
        home = Home(
            table,
            self.name,
            self.life,
            permanent=self.life.repeats and step == 0,
            single=rows is None or rows.strip() == "1",
            counted_as=table,
            inserted=number,
            insert_step=self.life.steps[step].name,
        )
        if rows is not None and not rows[:1].isdigit():
            if rows not in self.mine:
                unknown(self.loaded, (*path, "rows"), "table inserted before", rows, self.mine)
            other = self.mine[rows]
            home.single, home.counted_as = other.single, other.counted_as
        self.mine[table] = self.homes[table] = home
