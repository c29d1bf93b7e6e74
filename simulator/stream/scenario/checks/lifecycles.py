"""Lifecycles and short forms: what happens to each table's rows, and that it can happen in that order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.stream.scenario.language.tables import Hot, LifecycleSpec, Statement, TableSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import unknown

# Updates of a row between its insert and its delete: each has a place in tables of the stream's arithmetic.
LONGEST_LIFE: Final = 10_000


@dataclass
class Home:
    """Where a table's rows live: its lifecycle (None: its own short form) and what happens to them there.

    Places number the lifecycle's statements. `counted_as` is the table whose rows its own are as many as; `single` if
    an entity has one row. `permanent` if some rows live for the whole stream.
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
    # step names and places of updates, with the columns that each sets
    updates: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)

    def settings(self, column: str) -> list[int]:
        """The places at which a column gets a value."""
        return [self.inserted, *(place for _, place, columns in self.updates if column in columns)]


def homes(loaded: Loaded, columns: Mapping[str, Mapping[str, object]]) -> Mapping[str, Home]:
    """The home of every table. `columns[table]` are all columns that it ever has."""
    spec = loaded.spec
    found: dict[str, Home] = {}
    for name, table in spec.tables.items():
        if table.rows is not None:
            _check_short(loaded, name, table)
            found[name] = Home(name, None, None, _has_immortals(table), single=table.rows_per_statement == 1)
    for name, life in spec.lifecycles.items():
        _Lifecycle(loaded, name, life, columns, found).check()
    for name in spec.tables:
        if name not in found:
            loaded.fail(("tables", name), "nothing happens to this table: give it rows, or use it in a lifecycle")
    return found


def _check_short(loaded: Loaded, name: str, table: TableSpec) -> None:
    path: Key = ("tables", name)
    insert, update, delete = table.mix.insert, table.mix.update, table.mix.delete
    if insert + update + delete <= 0:
        loaded.fail((*path, "mix"), "one of insert, update, delete must be above 0")
    if delete > insert:
        loaded.fail((*path, "mix"), f"delete ({delete:g}) is above insert ({insert:g}), so the rows would run out")
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
        loaded.fail((*path, "key_updates"), f"{table.key[0]}, which they change, must be a sequence or a uuid")


def _has_immortals(table: TableSpec) -> bool:
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
        loaded.fail(path, f"the hot shares make {total:g} together; some rows must be left that are not hot")


class _Lifecycle:
    """One lifecycle walked through, statement by statement."""

    def __init__(
        self,
        loaded: Loaded,
        name: str,
        life: LifecycleSpec,
        columns: Mapping[str, Mapping[str, object]],
        found: dict[str, Home],
    ) -> None:
        self.loaded, self.name, self.life, self.columns, self.found = loaded, name, life, columns, found
        self.mine: dict[str, Home] = {}
        self.path: Key = ("lifecycles", name)

    def check(self) -> None:
        loaded, life = self.loaded, self.life
        if life.hot and not life.repeats:
            loaded.fail((*self.path, "hot"), "hot entities live for ever, so only a lifecycle that repeats has them")
        _check_hot(loaded, (*self.path, "hot"), life.hot)
        if life.repeats and len(life.steps) < 2:
            loaded.fail((*self.path, "then"), "to repeat, a lifecycle wants a second step: the first happens once")
        names: set[str] = set()
        place = 0
        for s, step in enumerate(life.steps):
            at: Key = (*self.path, "steps", s)
            if step.name in names:
                loaded.fail((*at, "name"), f"a step {step.name!r} is there already")
            names.add(step.name)
            for d, statement in enumerate(step.do):
                self._statement((*at, "do", d), s, statement, place)
                place += 1

    def _statement(self, path: Key, step: int, statement: Statement, place: int) -> None:
        loaded, table = self.loaded, statement.table
        kind = "insert" if statement.insert else "update" if statement.update else "delete"
        at = (*path, kind)
        if table not in loaded.spec.tables:
            unknown(loaded, at, "table", table, loaded.spec.tables)
        if table in self.found and table not in self.mine:
            other = self.found[table].lifecycle
            where = f"lifecycle {other!r}" if other else "its own short form (rows)"
            loaded.fail(at, f"{table!r} belongs to {where}; a table has one home")
        if kind != "update" and self.life.steps[step].times > 1:
            loaded.fail(at, f"a step that happens {self.life.steps[step].times} times only updates")
        if kind == "insert":
            self._insert(path, step, statement, place)
            return
        home = self.mine.get(table)
        if home is None:
            loaded.fail(at, f"{table!r} has no rows yet: an insert must come before")
        if home.deleted is not None:
            loaded.fail(at, f"the rows of {table!r} are deleted already")
        if self.life.repeats and step == 0:
            loaded.fail(
                at, "the first step of a lifecycle that repeats only inserts: its rows are there from the start"
            )
        if kind == "delete":
            if home.permanent:
                loaded.fail(at, f"the rows of {table!r} live for ever, since the lifecycle repeats")
            home.deleted = place
            return
        for i, column in enumerate(statement.set or ()):
            if column not in self.columns[table]:
                unknown(loaded, (*path, "set", i), f"column of {table}", column, self.columns[table])
        home.updates.append((self.life.steps[step].name, place, frozenset(statement.set or ())))

    def _insert(self, path: Key, step: int, statement: Statement, place: int) -> None:
        table, rows = statement.table, statement.rows
        if table in self.mine:
            self.loaded.fail((*path, "insert"), f"{table!r} is inserted already; one insert may make several rows")
        home = Home(
            table,
            self.name,
            self.life,
            permanent=self.life.repeats and step == 0,
            single=rows is None or rows.strip() == "1",
            counted_as=table,
            inserted=place,
            insert_step=self.life.steps[step].name,
        )
        if rows is not None and not rows[:1].isdigit():
            if rows not in self.mine:
                unknown(self.loaded, (*path, "rows"), "table inserted before", rows, self.mine)
            other = self.mine[rows]
            home.single, home.counted_as = other.single, other.counted_as
        self.mine[table] = self.found[table] = home
