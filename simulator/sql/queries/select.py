"""SELECT on rows in memory: WITH, joins, WHERE, GROUP BY, HAVING, windows, ORDER BY, LIMIT and set operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlglot import exp

from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.branches import converter
from simulator.sql.expressions.compiler import column_reader, compile_node
from simulator.sql.expressions.result_types import ResultType, of_column, type_of, unified
from simulator.sql.expressions.scope import Scope, Source, collation_of, compiled
from simulator.sql.queries.aggregates import aggregate_of, aggregates_in
from simulator.sql.queries.joins import Joined, joined
from simulator.sql.queries.tables import Common
from simulator.sql.queries.windows import window_of, windows_in
from simulator.sql.store.session import Session
from simulator.sql.values.comparison import sort_key
from simulator.sql.values.kinds import truth_of

Values = tuple[Any, ...]
# Sources of the values of aggregates and window functions, after those of FROM.
_AGGREGATES: Final = "?aggregates"
_WINDOWS: Final = "?windows"


@dataclass(frozen=True)
class Query:
    """A compiled query: the names of its columns, the table columns among them, their types, and `run(env)`."""

    names: tuple[str, ...]
    fields: tuple[Field | None, ...]
    types: tuple[ResultType | None, ...]
    run: Callable[[Any], list[Values]]


def prepare(
    node: Any, session: Session, outer: Scope | None = None, commons: Mapping[str, Common] | None = None
) -> Query:
    """Compile a query. Raises SqlError, Unsupported."""
    commons = dict(commons or (outer.commons if outer is not None else {}))
    with_ = node.args.get("with_") if isinstance(node, exp.Expression) else None
    if with_ is not None:
        commons = with_commons(with_, session, commons)
    match node:
        case exp.Subquery():
            return _limited(node, prepare(node.this, session, outer, commons))
        case exp.SetOperation():
            return _set_operation(node, session, outer, commons)
        case exp.Select():
            for part in ("qualify", "laterals", "into"):
                if node.args.get(part):
                    raise Unsupported(f"{part.upper()} in a query")
            return _Select(node, session, outer, commons).query()
        case exp.Values():
            return prepare(exp.select("*").from_(node), session, outer, commons)
    raise Unsupported(f"the query {node.sql('mysql')[:40]!r}")


def run_query(node: Any, scope: Scope) -> Callable[[Any], list[Values]]:
    """Compile a subquery, which may read the columns of the outer query."""
    return prepare(node, scope.session, scope).run


def query_scope(
    session: Session,
    sources: tuple[Source, ...] = (),
    clause: str = "field list",
    *,
    inserted: Source | None = None,
    base: int = 0,
    commons: Mapping[str, Common] | None = None,
    shared: frozenset[str] = frozenset(),
) -> Scope:
    """A scope for expressions with subqueries."""
    return Scope(session, compile_node, sources, clause, inserted, run_query, base, commons or {}, shared)


def with_commons(with_: exp.With, session: Session, outer: Mapping[str, Common]) -> dict[str, Common]:
    """The common table expressions of a WITH; each sees those before it."""
    commons = dict(outer)
    for expression in with_.expressions:
        name, columns = (
            expression.alias,
            tuple(column.name for column in expression.args["alias"].args.get("columns") or ()),
        )
        body = expression.this
        recursive = with_.args.get("recursive") and isinstance(body, exp.Union)
        if recursive and any(table.name.lower() == name.lower() for table in body.expression.find_all(exp.Table)):
            commons[name.lower()] = _recursive(body, columns, name.lower(), session, commons)
            continue
        query = prepare(body, session, None, commons)
        if columns and len(columns) != len(query.names):
            raise SqlError(1353)
        commons[name.lower()] = Common(columns or query.names, query.run)
    return commons


def _recursive(
    body: exp.Union, columns: tuple[str, ...], name: str, session: Session, commons: Mapping[str, Common]
) -> Common:
    """The rows of the first query, then repeatedly those of the second query over the latest rows."""
    first = prepare(body.this, session, None, commons)
    names = columns or first.names
    last: list[Values] = []
    second = prepare(body.expression, session, None, {**commons, name: Common(names, lambda env: list(last))})
    distinct = bool(body.args.get("distinct", True))
    collation, convert = str(session.connection.collation), _converters(first.types)

    def run(env: Any) -> list[Values]:
        maximum = int(
            session.variable("cte_max_recursion_depth" if not session.server.mariadb else "max_recursive_iterations")
        )
        rows = last[:] = [_cast(row, convert) for row in first.run([])]
        rows, seen = list(rows), {tuple(sort_key(v, collation) for v in row) for row in rows}
        for _ in range(maximum + 1):
            new_rows = [_cast(row, convert) for row in second.run([])]
            if distinct:
                keyed = {tuple(sort_key(v, collation) for v in row): row for row in new_rows}
                new_rows = [row for key, row in keyed.items() if key not in seen]
                seen |= keyed.keys()
            if not new_rows:
                return rows
            rows += new_rows
            last[:] = new_rows
        if session.server.mariadb:
            return rows
        raise SqlError(3636, maximum + 1)

    return Common(names, run)


class _Select:
    def __init__(self, node: exp.Select, session: Session, outer: Scope | None, commons: Mapping[str, Common]) -> None:
        self.node, self.session = node, session
        self.from_: Joined = joined(node, session, outer, commons, prepare, query_scope)
        self.scope = self.from_.scope
        self.names: list[str] = []
        self.fields: list[Field | None] = []
        self.outputs: list[Any] = []  # nodes, or (source, position)
        for expression in node.expressions:
            self._output(expression)

    def _output(self, expression: Any) -> None:
        if isinstance(expression, exp.Star) or (
            isinstance(expression, exp.Column) and isinstance(expression.this, exp.Star)
        ):
            table = expression.table if isinstance(expression, exp.Column) else ""
            alias = table.lower()
            before = len(self.outputs)
            for number, position in self.from_.star(alias):
                source = self.scope.sources[number]
                self.names.append(source.names[position])
                self.fields.append(None if source.fields is None else source.fields[position])
                self.outputs.append((number, position))
            if alias and before == len(self.outputs):
                raise SqlError(1051, table)
            return
        inner = expression.this if isinstance(expression, exp.Alias) else expression
        self.names.append(expression.alias_or_name or inner.sql("mysql"))
        self.fields.append(self.scope.field(inner))
        self.outputs.append(inner)

    def query(self) -> Query:
        select, scope = self.node, self.scope
        where = select.args.get("where")
        if where is not None and aggregates_in(where.this):
            raise SqlError(1111)
        having = select.args.get("having")
        orders = [
            self._by_alias(node.this) for node in (select.args["order"].expressions if select.args.get("order") else ())
        ]
        condition = None if having is None else self._by_alias(having.this, aliases_first=True)
        nodes = [node for node in [*self.outputs, *orders, condition] if isinstance(node, exp.Expression)]
        aggregates = [part for node in nodes for part in aggregates_in(node)]
        group = select.args.get("group")
        grouped = group is not None or bool(aggregates)
        steps: list[Callable[[list[Any]], list[Any]]] = []
        values: list[ColumnOf] = []
        if grouped:
            steps.append(self._group(group, aggregates))
            values += (ColumnOf(node, _AGGREGATES, position) for position, node in enumerate(aggregates))
            source = Source(_AGGREGATES, "", tuple(str(position) for position in range(len(aggregates))))
            scope = replace(scope, sources=(*scope.sources, source))
        if condition is not None:
            test = compiled(_replaced(condition, values), scope.in_clause("having clause"))
            steps.append(lambda envs: [env for env in envs if truth_of(test(env))])
        windows = [part for node in nodes for part in windows_in(node)]
        if windows:
            frames = select.args.get("windows") or ()
            functions = [window_of(_replaced(node, values), scope, frames) for node in windows]
            steps.append(lambda envs: _with_windows(envs, functions))
            values += (ColumnOf(node, _WINDOWS, position) for position, node in enumerate(windows))
            source = Source(_WINDOWS, "", tuple(str(position) for position in range(len(windows))))
            scope = replace(scope, sources=(*scope.sources, source))
        readers = [self._reader(node, scope, values) for node in self.outputs]
        order = self._order(orders, scope, values)
        return self._query(steps, readers, order, windows)

    def _query(
        self,
        steps: Sequence[Callable[[list[Any]], list[Any]]],
        readers: Sequence[Compiled],
        order: Callable[[Any], Any],
        windows: Sequence[Any],
    ) -> Query:
        node = self.node
        limit, distinct = limit_of(node), node.args.get("distinct") is not None
        collation, rows_of = str(self.session.connection.collation), self.from_.rows(node)
        sorts = node.args.get("order") is not None or node.args.get("group") is not None
        sorted_at_last = sorts and node.find(exp.PropertyEQ) is None

        def run(env: Any) -> list[Values]:
            unsure = self.session.statement.order_unsure
            envs = rows_of(env)
            if sorted_at_last:
                self.session.statement.order_unsure = unsure
            # rows come in the order of the last window, which depends on the server's plan
            self.session.statement.order_unsure |= bool(windows) and node.args.get("order") is None
            for step in steps:
                envs = step(envs)
            # variables are assigned row by row before the rows are sorted
            rows = order([(joined, tuple([read(joined) for read in readers])) for joined in envs])
            result = [values for _, values in rows]
            result = _distinct(result, collation) if distinct else result
            self.session.connection.found_rows = len(result)
            return limit(result)

        types = [self._type(output, field) for output, field in zip(self.outputs, self.fields, strict=True)]
        return Query(tuple(self.names), tuple(self.fields), tuple(types), run)

    def _type(self, output: Any, field: Field | None) -> ResultType | None:
        if field is not None:
            return of_column(field.type)
        return None if isinstance(output, tuple) else type_of(output, self.scope)

    def _reader(self, output: Any, scope: Scope, values: Sequence[ColumnOf]) -> Compiled:
        if isinstance(output, tuple):
            return column_reader(scope, *output)
        return compiled(_replaced(output, values), scope)

    def _by_alias(self, node: Any, *, aliases_first: bool = False) -> Any:
        """Resolve a node of ORDER BY or HAVING: (source, position), or the expression that it names by position or
        alias."""
        if isinstance(node, exp.Literal) and not node.is_string and node.this.isdecimal() and not aliases_first:
            position = int(node.this) - 1
            if not 0 <= position < len(self.outputs):
                raise SqlError(1054, node.this, "order clause")
            return self.outputs[position]
        lowered = [name.lower() for name in self.names]

        def resolved(column: Any) -> Any:
            if not isinstance(column, exp.Column) or column.table or column.name.lower() not in lowered:
                return column
            output = self.outputs[lowered.index(column.name.lower())]
            if column is not node and not aliases_first and self._is_column(column):
                return column
            return column if isinstance(output, tuple) or output is column else exp.paren(output.copy())

        if isinstance(node, exp.Column) and not node.table and node.name.lower() in lowered:
            return self.outputs[lowered.index(node.name.lower())]
        return node.copy().transform(resolved)

    def _is_column(self, node: exp.Column) -> bool:
        try:
            self.scope.find("", node.name)
        except SqlError:
            return False
        return True

    def _order(
        self, nodes: Sequence[Any], scope: Scope, values: Sequence[ColumnOf]
    ) -> Callable[[list[Any]], list[Any]]:
        """Sorts (environment, values) by ORDER BY."""
        order = self.node.args.get("order")
        if order is None:
            return lambda rows: rows
        keys: list[tuple[Compiled, bool, str]] = []
        scope = scope.in_clause("order clause")
        for node, expression in zip(nodes, order.expressions, strict=True):
            if isinstance(node, tuple):
                fields = scope.sources[node[0]].fields
                collation = (fields[node[1]].collation if fields else "") or str(self.session.connection.collation)
            else:
                collation = collation_of(scope, node)
            keys.append((self._reader(node, scope, values), bool(expression.args.get("desc")), collation))

        def ordered(rows: list[Any]) -> list[Any]:
            for read, desc, collation in reversed(keys):
                rows = sorted(rows, key=lambda pair: sort_key(read(pair[0]), collation), reverse=desc)
            return rows

        return ordered

    def _group(self, group: Any, aggregates: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        """Returns a function that groups environments: each group becomes one environment with the values of the
        aggregates."""
        if group is not None and group.args.get("rollup"):
            raise Unsupported("WITH ROLLUP")
        scope = self.scope.in_clause("group statement")
        nodes = [self._by_alias(node) for node in (group.expressions if group is not None else ())]
        keys = [(self._reader(node, scope, ()), collation_of(scope, node) if isinstance(node, exp.Expression) else "")
                for node in nodes]  # fmt: skip
        functions = [aggregate_of(node, self.scope) for node in aggregates]
        collation, widths = str(self.session.connection.collation), [len(source.names) for source in self.scope.sources]
        always = self.session.server.id != "mysql-8.0"

        def run(envs: list[Any]) -> list[Any]:
            sorts = always or self.from_.groups_by_index(
                [node for node in nodes if isinstance(node, exp.Expression)], self.node
            )
            groups: dict[Any, list[Any]] = {}
            for env in envs:
                key = tuple(sort_key(read(env), by or collation) for read, by in keys)
                groups.setdefault(key, []).append(env)
            if not keys and not groups:
                groups[()] = []
            ordered = sorted(groups) if sorts and keys else groups
            empty = [(None,) * width for width in widths]
            return [[*(groups[key][0] if groups[key] else empty), tuple([f(groups[key]) for f in functions])]
                    for key in ordered]  # fmt: skip

        return run


@dataclass(frozen=True)
class ColumnOf:
    """The column that holds the values of an aggregate or window function."""

    node: exp.Expression
    table: str
    position: int


def _replaced(node: Any, values: Sequence[ColumnOf]) -> Any:
    """The expression with aggregates and window functions replaced by columns of their values. Nodes that read alike
    are equal, but a query may compute each of them in another place, so it must be the same node."""
    if not isinstance(node, exp.Expression) or not values:
        return node
    for column in values:
        if column.node is node:
            return exp.column(str(column.position), table=column.table)
    copy = type(node)()
    for key, value in node.args.items():
        if isinstance(value, list):
            copy.set(key, [_replaced(item, values) for item in value])
        else:
            copy.set(key, _replaced(value, values))
    return copy


def _with_windows(envs: list[Any], functions: Sequence[Callable[[list[Any]], list[Any]]]) -> list[Any]:
    columns = [function(envs) for function in functions]
    return [[*env, values] for env, values in zip(envs, zip(*columns, strict=True), strict=True)]


def _distinct(rows: list[Values], collation: str) -> list[Values]:
    seen: dict[Any, Values] = {}
    for row in rows:
        seen.setdefault(tuple(sort_key(value, collation) for value in row), row)
    return list(seen.values())


def limit_of(node: Any) -> Callable[[list[Any]], list[Any]]:
    """LIMIT and OFFSET of a query or statement."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None:
        return lambda rows: rows
    count = _row_count(limit.expression)
    skip = offset.expression if offset is not None else limit.args.get("offset")
    start = 0 if skip is None else _row_count(skip)
    return lambda rows: rows[start : start + count]


def _row_count(node: Any) -> int:
    """An integer of LIMIT, which accepts no expression. Raises SqlError."""
    if isinstance(node, exp.Column):
        raise SqlError(1327, node.name)
    text = str(node.this) if isinstance(node, exp.Literal) and not node.is_string else ""
    if not text.isdecimal() or int(text[:21]) >= 1 << 64:
        raise SqlError(1064, node.sql("mysql")[:80])
    return int(text)


def _limited(node: Any, query: Query) -> Query:
    """A query in brackets with a LIMIT after them."""
    if node.args.get("order"):
        raise Unsupported("ORDER BY behind a query in brackets")
    limit = limit_of(node)
    return query if node.args.get("limit") is None else replace(query, run=lambda env: limit(query.run(env)))


def _set_operation(
    node: exp.SetOperation, session: Session, outer: Scope | None, commons: Mapping[str, Common]
) -> Query:
    left, right = prepare(node.this, session, outer, commons), prepare(node.expression, session, outer, commons)
    if session.server.id == "mysql-5.7" and not isinstance(node, exp.Union):
        raise SqlError(1064, node.expression.sql("mysql")[:80])
    if len(left.names) != len(right.names):
        raise SqlError(1222)
    collation = str(session.connection.collation)
    distinct = bool(node.args.get("distinct", True))
    types = tuple(unified(pair) for pair in zip(left.types, right.types, strict=True))
    converts = [_converters(types, side.types) for side in (left, right)]
    positions, limit = _sort_positions(node, left.names), limit_of(node)

    def run(env: Any) -> list[Values]:
        first, second = (
            [_cast(row, convert) for row in side.run(env)]
            for side, convert in zip((left, right), converts, strict=True)
        )
        rows = _combined(node, first, second, collation, distinct=distinct)
        for position, desc in reversed(positions):
            rows = sorted(rows, key=lambda row: sort_key(row[position], collation), reverse=desc)
        return limit(rows)

    return Query(left.names, (None,) * len(left.names) if left.fields != right.fields else left.fields, types, run)


def _combined(node: Any, first: list[Values], second: list[Values], collation: str, *, distinct: bool) -> list[Values]:
    if isinstance(node, exp.Union):
        return _distinct([*first, *second], collation) if distinct else [*first, *second]
    if not distinct:
        raise Unsupported("INTERSECT ALL and EXCEPT ALL")
    keys = {tuple(sort_key(value, collation) for value in row) for row in second}
    in_both = isinstance(node, exp.Intersect)
    rows = [row for row in first if (tuple(sort_key(value, collation) for value in row) in keys) is in_both]
    return _distinct(rows, collation)


def _sort_positions(node: Any, names: Sequence[str]) -> list[tuple[int, bool]]:
    """The columns by which ORDER BY sorts the rows of a set operation."""
    positions = []
    order = node.args.get("order")
    for expression in order.expressions if order is not None else ():
        desc = bool(expression.args.get("desc"))
        if isinstance(expression.this, exp.Literal) and expression.this.this.isdecimal():
            positions.append((int(expression.this.this) - 1, desc))
            continue
        lowered = [name.lower() for name in names]
        if expression.this.name.lower() not in lowered:
            raise SqlError(1054, expression.this.name, "order clause")
        positions.append((lowered.index(expression.this.name.lower()), desc))
    return positions


def _converters(
    types: Sequence[ResultType | None], current: Sequence[ResultType | None] | None = None
) -> list[Callable[[Any], Any] | None]:
    """Converters of the values of each column to its type; None where no conversion is needed."""
    converters: list[Callable[[Any], Any] | None] = []
    for i, type in enumerate(types):
        unchanged = type is None or type.kind in ("null", "json") or (current is not None and current[i] == type)
        converters.append(None if unchanged or type is None else converter(type))
    return converters


def _cast(row: Values, converters: Sequence[Callable[[Any], Any] | None]) -> Values:
    return tuple(
        value if value is None or convert is None else convert(value)
        for value, convert in zip(row, converters, strict=True)
    )
