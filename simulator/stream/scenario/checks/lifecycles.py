"""Checks of lifecycles and short forms: the statements on each table's rows must be possible in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.errors import all_problems
from simulator.stream.scenario.checks.traffic import check_hot, check_surges
from simulator.stream.scenario.language.tables import LifecycleSpec, Statement, Step, TableSpec
from simulator.stream.scenario.lines import Key
from simulator.stream.scenario.loader import Loaded
from simulator.stream.scenario.tables import unknown

# Maximum updates of a row between insert and delete: the engine's tables have an entry for each.
LONGEST_LIFE: Final = 10_000

# By table: whether an entity may have rows at this step.
Rows = dict[str, bool]
# The keys of the steps and ways around a statement that not all entities take, outermost first.
Branch = tuple[Key, ...]


@dataclass
class Home:
    """A table's lifecycle (None: the short form) and its numbered statements on the table's rows. `counted_as` is the
    table that has as many rows in an entity; `single` if that is one row. `permanent` if some rows live for the whole
    stream.
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
    branch: Branch = ()
    # step name and statement number of each update, with the columns that it sets
    updates: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)

    def is_there_for(self, other: Home) -> bool:
        """Whether each entity that has rows of the other table has rows of this one."""
        return other.branch[: len(self.branch)] == self.branch

    def settings(self, column: str) -> list[int]:
        """The numbers of the statements that set a column."""
        return [self.inserted, *(number for _, number, columns in self.updates if column in columns)]


def homes(loaded: Loaded, columns: Mapping[str, Mapping[str, object]]) -> Mapping[str, Home]:
    """The home of every table. `columns[table]` are all its columns, at any time."""
    spec = loaded.spec
    by_table: dict[str, Home] = {}
    with all_problems() as part:
        for name, table in spec.tables.items():
            if table.rows is not None:
                with part():
                    _check_short(loaded, name, table)
                    single = table.rows_per_statement == 1
                    by_table[name] = Home(name, None, None, _has_permanent_rows(table), single=single)
        for name, life in spec.lifecycles.items():
            with part():
                _Lifecycle(loaded, name, life, columns, by_table).check()
    with all_problems() as part:
        for name in spec.tables:
            with part():
                if name not in by_table:
                    loaded.fail(("tables", name), "nothing happens to this table: add rows, or use it in a lifecycle")
        with part():
            check_surges(loaded)
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
    check_hot(loaded, path, table)
    for key, value in (("zipf", table.zipf), ("hot", table.moves)):
        if value and delete:
            loaded.fail((*path, key), "rows must stay to be hot: set `mix` to no deletes")
    if table.rows_per_statement > (table.rows or 0):
        loaded.fail((*path, "rows_per_statement"), f"this is more than the table's {table.rows} rows")
    for columns in table.updates:
        where: Key = (*path, "updates", " ".join(columns))
        for column in columns:
            if column not in table.columns:
                unknown(loaded, where, "column", column, table.columns)
            if column in table.key or not table.columns[column].changes:
                loaded.fail(where, f"no update sets {column}: it is in the key, or says `changes: no`")
    if table.key_updates and not update:
        loaded.fail((*path, "key_updates"), "the mix has no updates")
    if table.key_updates and not table.key:
        loaded.fail((*path, "key_updates"), "the table has no key")
    if table.key_updates and not table.columns[table.key[0]].values.generator.unique:
        loaded.fail((*path, "key_updates"), f"they change {table.key[0]}, which must be a sequence or a uuid")


def _has_permanent_rows(table: TableSpec) -> bool:
    """Whether the short form has rows that live for the whole stream: hot ones, or updates beyond the full lives'."""
    _, update, delete = table.shares
    return bool(table.hot) or (update > 0 and not delete)


class _Lifecycle:
    """Walk through a lifecycle, statement by statement."""

    def __init__(
        self,
        loaded: Loaded,
        name: str,
        life: LifecycleSpec,
        columns: Mapping[str, Mapping[str, object]],
        homes: dict[str, Home],
    ) -> None:
        self.loaded, self.name, self.life, self.columns, self.homes = loaded, name, life, columns, homes
        self.members: dict[str, Home] = {}
        self.path: Key = ("lifecycles", name)
        self.first: Key = (*self.path, "steps", 0)
        self.number = 0  # number of the current statement

    def check(self) -> None:
        loaded, life = self.loaded, self.life
        for key, value in (("hot", life.hot), ("zipf", life.zipf)):
            if value and not life.repeats:
                loaded.fail((*self.path, key), "hot entities are permanent: add `then: repeat`")
        check_hot(loaded, self.path, life)
        if life.repeats and len(life.steps) < 2:
            loaded.fail((*self.path, "then"), "a lifecycle that repeats needs a second step: the first happens once")
        if life.steps[0].varies or life.steps[0].times != (1, 1):
            loaded.fail((*self.path, "steps", 0), "each entity takes the first step, once")
        names: set[str] = set()
        for path, step in life.walk():
            if step.name in names:
                loaded.fail((*self.path, *path, "name"), f"duplicate step {step.name!r}")
            names.add(step.name)
        self._steps(life.steps, (*self.path, "steps"), (), {}, repeated=False)

    def _steps(self, steps: Sequence[Step], path: Key, branch: Branch, present: Rows, *, repeated: bool) -> None:
        """Walks through steps. `present`: by table inserted so far, whether the entity may still have rows."""
        for s, step in enumerate(steps):
            step_path: Key = (*path, s)
            skipped = dict(present) if step.optional else None
            inner_branch = (*branch, step_path) if step.optional else branch
            again = repeated or step.times[1] > 1
            for d, statement in enumerate(step.do):
                self._statement(
                    (*step_path, "do", d),
                    step,
                    statement,
                    inner_branch,
                    present,
                    first=step_path == self.first,
                    repeated=again,
                )
                self.number += 1
            ends = [] if skipped is None else [skipped]
            for w, way in enumerate(step.either):
                end = dict(present)
                under: Key = (*step_path, "either", w)
                self._steps(way.steps, (*under, "steps"), (*inner_branch, under), end, repeated=again)
                ends.append(end)
            if step.do:
                ends.append(dict(present))
            present |= {table: any(end.get(table, False) for end in ends) for end in ends for table in end}

    def _statement(
        self, path: Key, step: Step, statement: Statement, branch: Branch, present: Rows, *, first: bool, repeated: bool
    ) -> None:
        loaded, table = self.loaded, statement.table
        kind = statement.kind
        step_path = (*path, kind)
        if table not in loaded.spec.tables:
            unknown(loaded, step_path, "table", table, loaded.spec.tables)
        if table in self.homes and table not in self.members:
            other_lifecycle = self.homes[table].lifecycle
            where = f"lifecycle {other_lifecycle!r}" if other_lifecycle else "its short form (rows)"
            loaded.fail(step_path, f"{table!r} is changed by {where}; a table has one lifecycle")
        if kind != "update" and repeated:
            loaded.fail(step_path, "a step that may happen several times can only update")
        if kind == "insert":
            self._insert(path, step, statement, branch, permanent=self.life.repeats and first)
            present[table] = True
            return
        home = self.members.get(table)
        if home is None:
            loaded.fail(step_path, f"{table!r} has no rows yet: insert it in an earlier statement")
        if not present.get(table, False):
            loaded.fail(step_path, f"the rows of {table!r} are deleted already")
        if self.life.repeats and first:
            loaded.fail(
                step_path, "the first step of a lifecycle that repeats can only insert: its rows exist from the start"
            )
        if kind == "delete":
            if home.permanent:
                loaded.fail(step_path, f"the rows of {table!r} are permanent, since the lifecycle repeats")
            home.deleted = self.number if home.deleted is None else home.deleted
            present[table] = False
            return
        for i, column in enumerate(statement.set or ()):
            if column not in self.columns[table]:
                unknown(loaded, (*path, "set", i), f"column of {table}", column, self.columns[table])
        home.updates.append((step.name, self.number, frozenset(statement.set or ())))

    def _insert(self, path: Key, step: Step, statement: Statement, branch: Branch, *, permanent: bool) -> None:
        table, rows = statement.table, statement.rows
        if table in self.members:
            self.loaded.fail((*path, "insert"), f"{table!r} is inserted already; use rows to insert several rows")
        home = Home(
            table,
            self.name,
            self.life,
            permanent=permanent,
            single=rows is None or rows.strip() == "1",
            counted_as=table,
            inserted=self.number,
            insert_step=step.name,
            branch=branch,
        )
        if rows is not None and not rows[:1].isdigit():
            if rows not in self.members:
                unknown(self.loaded, (*path, "rows"), "table inserted before", rows, self.members)
            other_member = self.members[rows]
            if not other_member.is_there_for(home):
                self.loaded.fail((*path, "rows"), f"not every entity that takes this step has rows of {rows!r}")
            home.single, home.counted_as = other_member.single, other_member.counted_as
        self.members[table] = self.homes[table] = home
