"""The order in which a server joins tables: the cheapest by read costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final, Protocol

from sqlglot import exp

from simulator.sql.catalog.definitions import Key
from simulator.sql.errors import SqlError
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.queries.access_paths import CLOSE, condition_of, conjuncts, in_index_order, path_of, read_costs
from simulator.sql.queries.tables import Relation
from simulator.sql.store.rows import Data, Row
from simulator.sql.values.kinds import truth_of

# Joins of more tables keep the typed order.
MAX_TABLES: Final = 6


class Joinable(Protocol):
    @property
    def relation(self) -> Relation: ...
    @property
    def side(self) -> str: ...
    @property
    def on(self) -> Any: ...
    @property
    def fixed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Test:
    """A condition and the sources that it reads."""

    sources: frozenset[int]
    holds: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The next table of a join: its rows in reading order, whether an index finds them for each row so far, and the
    conditions that can be tested after it."""

    number: int
    rows: Sequence[Row]
    by_index: bool
    tests: Sequence[Test]


def ordered_joins(
    joins: Sequence[Joinable], where: Any, scope: Scope, used: Sequence[frozenset[int] | None]
) -> list[Step] | None:
    """The steps of a join; None if the typed order stays: outer joins, and sources that are no tables. `used`: the
    columns that are read of each source (None: all)."""
    scope.session.statement.order_unsure |= any(
        join.fixed for join in joins
    )  # the number of rows in a join buffer is unknown
    if len(joins) > MAX_TABLES or any(join.side or join.fixed or join.relation.lateral for join in joins):
        return None
    nodes = [node for join in joins for node in conjuncts(join.on)] + conjuncts(where)
    sources = [_sources(node, scope, len(joins)) for node in nodes]
    tests = [
        Test(needed, compiled(node, scope.in_clause("on clause"))) for needed, node in zip(sources, nodes, strict=True)
    ]
    tables = [_Table(n, join.relation, nodes, sources, scope, used[n]) for n, join in enumerate(joins)]
    ranks = {order: _rank([tables[n] for n in order]) for order in permutations(range(len(joins)))}
    best, *others = sorted(ranks, key=lambda order: ranks[order])
    if any(ranks[order][0] == ranks[best][0] and ranks[order][1] < CLOSE * ranks[best][1] for order in others):
        scope.session.statement.order_unsure = True
    steps: list[Step] = []
    joined: set[int] = set()
    for number in best:
        table = tables[number]
        key = table.lookup(joined)[0]
        joined.add(number)
        ready = [t for t in tests if (t.sources <= joined and number in t.sources) or (not steps and not t.sources)]
        steps.append(Step(number, table.ordered(key), key is not None or not steps, ready))
    return steps


def joined_rows(outer: list[Any], count: int, steps: Sequence[Step]) -> list[Any]:
    """The environments of inner joins, in the order of a server."""
    base = len(outer)
    envs: list[list[Any]] = [[*outer, *[None] * count]]
    for step in steps:
        position = base + step.number

        def put(env: list[Any], row: Any, position: int = position) -> list[Any]:
            joined = list(env)
            joined[position] = row
            return joined

        if step.by_index:
            candidates = (put(env, row) for env in envs for row in step.rows)
        else:  # join buffer: the rows of the current table come first
            candidates = (put(env, row) for row in step.rows for env in envs)
        envs = [env for env in candidates if all(truth_of(test.holds(env)) for test in step.tests)]
    return envs


def _sources(node: Any, scope: Scope, count: int) -> frozenset[int]:
    """The numbers of the sources that a condition reads; all sources if it contains a query."""
    if node.find(exp.Query):
        return frozenset(range(count))
    numbers = set()
    for column in node.find_all(exp.Column):
        try:
            numbers.add(scope.find(column.table, column.name)[0] - scope.base)
        except SqlError:
            return frozenset(range(count))  # reported when the condition is compiled
    return frozenset(number for number in numbers if number >= 0)


class _Table:
    """A table of the join: its rows and its read costs."""

    def __init__(
        self,
        number: int,
        relation: Relation,
        nodes: Sequence[Any],
        sources: Sequence[frozenset[int]],
        scope: Scope,
        used: frozenset[int] | None,
    ) -> None:
        self.number, self.relation, self.scope = number, relation, scope
        self.data: Data | None = relation.data
        self.page, self.row = read_costs(scope.session.server)
        own_conditions = [node for node, needed in zip(nodes, sources, strict=True) if needed == frozenset((number,))]
        self.rows: list[Row] = relation.rows([]) if self.data is None else [row for _, row in self.data.scan()]
        table_scope = Scope(scope.session, scope.compile, (relation.source,), scope.clause, None, scope.run_query)
        tests = [compiled(node, table_scope) for node in own_conditions]
        self.filtered = [row for row in self.rows if all(truth_of(test([row])) for test in tests)]
        condition = exp.and_(*[node.copy() for node in own_conditions]) if own_conditions else None
        self.path = None if self.data is None else path_of(self.data, condition, table_scope, used=used)
        conditions = [condition_of(node, table_scope, 0) for node in own_conditions]
        self.constant = {c.position for c in conditions if c is not None and c.points and c.ranges == 1}
        self.equal = self._equalities(nodes, sources)

    def _equalities(self, nodes: Sequence[Any], sources: Sequence[frozenset[int]]) -> dict[int, list[frozenset[int]]]:
        """The sources whose columns a column equals, by its position."""
        equal: dict[int, list[frozenset[int]]] = {}
        for node, needed in zip(nodes, sources, strict=True):
            if not isinstance(node, exp.EQ) or self.number not in needed or len(needed) < 2:
                continue
            for side in (node.left, node.right):
                if isinstance(side, exp.Column):
                    source, position = self.scope.find(side.table, side.name)
                    if source - self.scope.base == self.number:
                        equal.setdefault(position, []).append(needed - {self.number})
        return equal

    def lookup(self, joined: set[int]) -> tuple[Key | None, float]:
        """The index that finds the table's rows for each row so far, and the number of rows that it finds."""
        if self.data is None:
            return None, len(self.filtered)
        definition, best, rows = self.data.definition, None, float(len(self.rows))
        for key in definition.keys if joined else ():
            positions = []
            for name in key.names if key.kind in ("primary", "unique", "index") and all(key.names) else ():
                position = definition.position(name)
                bound = position in self.constant or any(
                    needed <= joined for needed in self.equal.get(position or 0, ())
                )
                if position is None or not bound:
                    break
                positions.append(position)
            if not positions or all(position in self.constant for position in positions):
                continue
            distinct = len({tuple(row[position] for position in positions) for row in self.rows})
            matching_rows = (
                1.0 if key.unique and len(positions) == len(key.names) else len(self.rows) / max(1, distinct)
            )
            if best is None or matching_rows < rows:
                best, rows = key, matching_rows
        return best, rows

    def ordered(self, key: Key | None) -> list[Row]:
        if self.data is None:
            return self.filtered
        if key is None:
            return self.path.rows([]) if self.path is not None else self.filtered
        if key.kind == "primary":
            return self.rows
        return [row for _, row in in_index_order(self.data, key, list(self.data.scan()))]

    @property
    def single(self) -> bool:
        """Whether constants fix a unique key of the table."""
        if self.data is None:
            return len(self.rows) <= 1 and not self.relation.lateral
        keys = [key for key in self.data.definition.keys if key.unique and all(key.names)]
        return any(self._is_reference(key, len(key.names)) for key in keys)

    def _is_reference(self, key: Key, parts: int = 1) -> bool:
        """Whether constants fix the first parts of an index."""
        positions = [self.data.definition.position(name) for name in key.names[:parts]] if self.data is not None else []
        return all(position in self.constant for position in positions)

    def scan_cost(self) -> float:
        if self.path is not None and self.path.key is not None:
            rows = len(self.path.numbered_rows)
            return (rows + (not self._is_reference(self.path.key))) * self.page + rows * self.row
        return self.page + len(self.rows) * self.row


def _rank(order: Sequence[_Table]) -> tuple[bool, float]:
    """Tables with at most one row come first; then the cost decides."""
    single = [table.single for table in order]
    return single != sorted(single, reverse=True), _cost(order)


def _cost(order: Sequence[_Table]) -> float:
    total, prefix = 0.0, 1.0
    joined: set[int] = set()
    for table in order:
        key, rows = table.lookup(joined)
        if key is not None:
            total += prefix * rows * (table.page + table.row)
            share = len(table.filtered) / max(1, len(table.rows))
            prefix *= max(rows * share, 0.01)
        else:
            passed = (prefix - 1) * len(table.filtered) * table.row if joined else 0.0
            total += table.scan_cost() + passed
            is_joined = any(needed <= joined for lists in table.equal.values() for needed in lists)
            prefix *= max(len(table.filtered) * (0.1 if is_joined else 1.0), 0.01)
        joined.add(table.number)
    return total
