"""FROM and WHERE: joins and filters the sources of a query into environments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import Unsupported
from simulator.sql.expressions.scope import Scope, Source, compiled
from simulator.sql.queries.access_paths import AccessPath, path_of
from simulator.sql.queries.join_order import Step, joined_rows, ordered_joins
from simulator.sql.queries.tables import Common, Prepare, Relation, relation_of
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import truth_of


@dataclass(frozen=True, slots=True)
class Join:
    """A relation and its join with those before it: `side` is "", LEFT or RIGHT; `on` is the condition."""

    relation: Relation
    side: str
    on: Any
    fixed: bool = False  # STRAIGHT_JOIN


class Joined:
    """The sources of a query, the columns of `*`, and the environments of its rows."""

    def __init__(self, joins: Sequence[Join], scope: Scope, using: Sequence[tuple[int, frozenset[str]]]) -> None:
        self.joins, self.scope, self.using = list(joins), scope, using
        self.session = scope.session

    def star(self, table: str) -> Iterator[tuple[int, int]]:
        """(source, position) of the columns of `*` or `table.*`; the columns of USING come once, and first."""
        shared_names = [name for _, names in self.using for name in names] if not table else []
        yielded: set[str] = set()
        numbers = range(self.scope.base, len(self.scope.sources))
        for only_shared in (True, False) if shared_names else (False,):
            for number in numbers:
                source = self.scope.sources[number]
                if table and source.alias.lower() != table:
                    continue
                for position, name in enumerate(source.names):
                    if source.fields is not None and source.fields[position].invisible:
                        continue
                    shared = name.lower() in shared_names
                    if shared is not only_shared and shared_names:
                        continue
                    if shared and name.lower() in yielded:
                        continue
                    yielded.add(name.lower()) if shared else None
                    yield number, position

    def groups_by_index(self, nodes: Sequence[Any], query: Any) -> bool:
        """Whether the rows are sorted by these columns because they begin the index that is read."""
        where = query.args.get("where")
        path = self._path(None if where is None else where.this, query) if len(self.joins) == 1 else None
        if path is None or path.key is None or not nodes:
            return False
        names = [node.name.lower() for node in nodes if isinstance(node, exp.Column)]
        return len(names) == len(nodes) and [n.lower() for n in path.key.names[: len(names)]] == names

    def reading_order(self, node: Any) -> list[int]:
        """The numbers of the sources in the order in which they are read."""
        steps = None
        if len(self.joins) > 1 and not any(join.side or join.fixed for join in self.joins):
            steps = self._steps(node)
        return list(range(len(self.joins))) if steps is None else [step.number for step in steps]

    def _steps(self, node: Any) -> list[Step] | None:
        where = node.args.get("where")
        used = [_columns(node, self.scope, n) if isinstance(node, exp.Select) else None for n in range(len(self.joins))]
        return ordered_joins(self.joins, None if where is None else where.this, self.scope, used)

    def _path(self, where: Any, node: Any = None) -> AccessPath | None:
        data = self.joins[0].relation.data if self.joins else None
        if data is None or self.scope.base:
            return None
        return path_of(data, where, self.scope, used=None if node is None else _columns(node, self.scope, 0))

    def rows(self, node: Any) -> Callable[[Any], list[Any]]:
        """Returns a function that computes the environments that satisfy WHERE, in the order in which a server reads
        them."""
        where = node.args.get("where")
        test = None if where is None else compiled(where.this, self.scope.in_clause("where clause"))
        on_scope = self.scope.in_clause("on clause")
        ons = [None if join.on is None else compiled(join.on, on_scope) for join in self.joins]
        data = [join.relation.data for join in self.joins]
        partitioned = any(table is not None and table.definition.partitioned for table in data)
        if len(self.joins) == 1:
            base = self.scope.base

            def scanned(env: Any) -> list[Any]:
                outer = list(env[:base])
                path = self._path(None if where is None else where.this, node)
                self.session.statement.order_unsure |= partitioned or (path is not None and path.close)
                envs = [[*outer, row] for row in (self.joins[0].relation.rows if path is None else path.rows)(outer)]
                return envs if test is None else [joined for joined in envs if truth_of(test(joined))]

            return scanned
        if self.joins and not self.scope.base and not any(join.side or join.fixed for join in self.joins):

            def in_order(env: Any) -> list[Any]:
                self.session.statement.order_unsure |= partitioned
                steps = self._steps(node)
                if steps is None:
                    return self._joined([], ons, test)
                return joined_rows([], len(self.joins), steps)

            return in_order

        def as_typed(env: Any) -> list[Any]:
            self.session.statement.order_unsure |= partitioned
            return self._joined(list(env[: self.scope.base]), ons, test)

        return as_typed

    def _joined(self, outer: list[Any], ons: Sequence[Compiled | None], test: Compiled | None) -> list[Any]:
        envs = [outer]
        for join, on in zip(self.joins, ons, strict=True):
            envs = self._next(envs, join, on)
        return envs if test is None else [env for env in envs if truth_of(test(env))]

    def _next(self, envs: list[Any], join: Join, on: Compiled | None) -> list[Any]:
        """The environments joined with one more source."""
        joined: list[Any] = []
        width = len(join.relation.source.names)
        rows = None if join.relation.lateral else join.relation.rows(envs[0] if envs else [])
        if join.side == "RIGHT":
            blank = [(None,) * len(source.names) for source in self.scope.sources[: len(envs[0]) if envs else 0]]
            for row in rows or ():
                hits = [candidate for env in envs if on is None or truth_of(on(candidate := [*env, row]))]
                joined += hits or [[*blank, row]]
            return joined
        for env in envs:
            inner = join.relation.rows(env) if rows is None else rows
            hits = (
                [candidate for row in inner if on is None or truth_of(on(candidate := [*env, row]))]
                if on
                else [[*env, row] for row in inner]
            )
            if not hits and join.side == "LEFT":
                hits = [[*env, (None,) * width]]
            joined += hits
        return joined


def joined(
    node: exp.Select,
    session: Session,
    outer: Scope | None,
    commons: Mapping[str, Common],
    prepare: Prepare,
    scope_of: Callable[..., Scope],
) -> Joined:
    """The FROM of a query."""
    frm = node.args.get("from_") or node.args.get("from")
    nodes = [(None, frm.this)] if frm is not None else []
    if frm is not None:
        nodes += [(join, join.this) for join in frm.this.args.get("joins") or ()]
    nodes += [(join, join.this) for join in node.args.get("joins") or ()]
    return join_tables(nodes, session, outer, commons, prepare, scope_of)


def join_tables(
    nodes: Sequence[tuple[Any, Any]],
    session: Session,
    outer: Scope | None,
    commons: Mapping[str, Common],
    prepare: Prepare,
    scope_of: Callable[..., Scope],
) -> Joined:
    """Tables and the joins that add them; the join of the first table is None."""
    sources: list[Source] = list(outer.sources) if outer else []
    base = len(sources)
    joins: list[Join] = []
    using: list[tuple[int, frozenset[str]]] = []
    for join, table in nodes:
        before = scope_of(session, tuple(sources), base=base, commons=commons)
        relation = relation_of(table, session, commons, prepare, before)
        side = "" if join is None else str(join.args.get("side") or "").upper()
        if side == "FULL":
            raise Unsupported("FULL JOIN")
        on = None if join is None else join.args.get("on")
        names = [] if join is None else [identifier.name for identifier in join.args.get("using") or ()]
        if join is not None and str(join.args.get("method") or "").upper() == "NATURAL":
            earlier = {name.lower() for source in sources[base:] for name in source.names}
            names = [name for name in relation.source.names if name.lower() in earlier]
        if names:
            on = _using(names, sources[base:], relation.source)
            using.append((len(sources), frozenset(name.lower() for name in names)))
        sources.append(relation.source)
        fixed = join is not None and str(join.args.get("kind") or "").upper() == "STRAIGHT_JOIN"
        joins.append(Join(relation, side, on, fixed))
        for nested in (table.args.get("joins") or ()) if isinstance(table, exp.Table) and join is not None else ():
            raise Unsupported(f"a join in brackets: {nested.sql('mysql')[:40]!r}")
    shared = frozenset(name for _, names in using for name in names)
    scope = scope_of(session, tuple(sources), base=base, commons=commons, shared=shared)
    return Joined(joins, scope, using)


def _using(names: Sequence[str], before: Sequence[Source], source: Source) -> Any:
    conditions = []
    for name in names:
        left = next(earlier for earlier in before if name.lower() in map(str.lower, earlier.names))
        conditions.append(
            exp.EQ(this=exp.column(name, table=left.alias), expression=exp.column(name, table=source.alias))
        )
    return exp.and_(*conditions)


def _columns(node: Any, scope: Scope, number: int) -> frozenset[int] | None:
    """The positions of one source's columns that a query reads; None: all."""
    positions: set[int] = set()
    source = scope.sources[scope.base + number]
    for column in node.find_all(exp.Column, exp.Star):
        if isinstance(column, exp.Column) and column.table and column.table.lower() != source.alias.lower():
            continue
        if isinstance(column, exp.Star):
            if isinstance(column.parent, exp.Count):
                continue
            return None
        if isinstance(column.this, exp.Star):
            return None
        position = next((i for i, name in enumerate(source.names) if name.lower() == column.name.lower()), None)
        if position is not None:
            positions.add(position)
    return frozenset(positions)
