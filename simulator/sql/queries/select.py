"""SELECT on rows in memory: FROM and joins, WHERE, GROUP BY with the common aggregates, ORDER BY, LIMIT, UNION."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import product
from typing import Any

from sqlglot import exp

from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import column_reader, compile_node, scope_of
from simulator.sql.expressions.scope import Scope, Source, collation_of, compiled
from simulator.sql.store.session import Session
from simulator.sql.values.comparison import compare, sort_key
from simulator.sql.values.kinds import CONTEXT, number_of, text_of, truth_of

Values = tuple[Any, ...]


class Query:
    """A query made ready: the names of its columns, those that are plain columns of tables, and `run(env)`."""

    def __init__(
        self, names: Sequence[str], fields: Sequence[Field | None], run: Callable[[Any], list[Values]]
    ) -> None:
        self.names, self.fields, self.run = tuple(names), tuple(fields), run


def prepare(node: Any, session: Any, outer: Scope | None = None) -> Query:
    """Raises SqlError, Unsupported."""
    if isinstance(node, exp.Subquery):
        return prepare(node.this, session, outer)
    if isinstance(node, exp.Union):
        return _union(node, session, outer)
    if isinstance(node, exp.Values):
        raise Unsupported("VALUES as a query")
    if not isinstance(node, exp.Select):
        raise Unsupported(f"the query {node.sql('mysql')[:40]!r}")
    for part in ("with_", "windows", "qualify", "laterals", "into", "having"):
        if node.args.get(part):
            raise Unsupported(f"{part.strip('_').upper()} in a query")
    return _Select(node, session, outer).query()


def run_query(node: Any, scope: Scope) -> Callable[[Any], list[Values]]:
    """For expressions: a query that may use the columns round it."""
    return prepare(node, scope.session, scope).run


def source_of_table(session: Any, table: exp.Table) -> tuple[Source, Any]:
    data = session.table(table.db, table.name)
    definition = data.definition
    names = tuple(one.name for one in definition.fields)
    return Source(table.alias or table.name, definition.id.database, names, definition.fields), data


class _Select:
    def __init__(self, node: exp.Select, session: Any, outer: Scope | None) -> None:
        self.node, self.session = node, session
        self.outer = outer
        self.base = len(outer.sources) if outer else 0
        self.readers: list[Callable[[Any], list[Any]]] = []
        self.joins: list[tuple[str, Any]] = []
        sources: list[Source] = list(outer.sources) if outer else []
        frm = node.args.get("from_") or node.args.get("from")
        tables = [(frm.this, "", None)] if frm is not None else []
        for join in [*((frm.this.args.get("joins") or ()) if frm is not None else ()), *(node.args.get("joins") or ())]:
            side = str(join.args.get("side") or "").upper()
            if side == "RIGHT" or join.args.get("using") or str(join.args.get("method") or ""):
                raise Unsupported("RIGHT, NATURAL and USING joins")
            tables.append((join.this, side, join.args.get("on")))
        for table, side, on in tables:
            source, reader = self._source(table)
            sources.append(source)
            self.readers.append(reader)
            self.joins.append((side, on))
        self.scope = query_scope(session, tuple(sources), base=self.base)

    def _source(self, table: Any) -> tuple[Source, Callable[[Any], list[Any]]]:
        if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier):
            if table.name.lower() == "dual" and not table.db:
                return Source("dual", "", ()), lambda env: [()]
            source, data = source_of_table(self.session, table)
            return source, lambda env: [row for _, row in data.scan()]
        if isinstance(table, exp.Subquery):
            query = prepare(table.this, self.session)
            return Source(table.alias, "", query.names), query.run
        raise Unsupported(f"FROM {table.sql('mysql')[:40]!r}")

    def query(self) -> Query:
        node, scope = self.node, self.scope
        names: list[str] = []
        fields: list[Field | None] = []
        outputs: list[Any] = []  # nodes, or (source, place)
        for one in node.expressions:
            if isinstance(one, exp.Star) or (isinstance(one, exp.Column) and isinstance(one.this, exp.Star)):
                wanted = one.table if isinstance(one, exp.Column) else ""
                for number in range(self.base, len(scope.sources)):
                    source = scope.sources[number]
                    if wanted and source.alias.lower() != wanted.lower():
                        continue
                    for place, name in enumerate(source.names):
                        if source.fields is not None and source.fields[place].invisible:
                            continue
                        names.append(name)
                        fields.append(None if source.fields is None else source.fields[place])
                        outputs.append((number, place))
            else:
                inner = one.this if isinstance(one, exp.Alias) else one
                names.append(one.alias_or_name or inner.sql("mysql"))
                fields.append(scope.field(inner))
                outputs.append(inner)
        where = node.args.get("where")
        test = compiled(where.this, scope.at("where clause")) if where is not None else None
        ons = [compiled(on, scope.at("on clause")) if on is not None else None for _, on in self.joins]
        grouped = bool(node.args.get("group")) or any(
            isinstance(one, exp.Expression) and one.find(exp.AggFunc) for one in outputs
        )
        if grouped:
            return Query(names, fields, self._grouped(outputs, names, test, ons))
        readers = [self._reader(one) for one in outputs]
        order = self._order(node, names, outputs)
        limit = limit_of(node)
        distinct = node.args.get("distinct") is not None
        collation = str(self.session.collation)

        def run(env: Any) -> list[Values]:
            rows = self._rows(env, ons, test)
            if order is not None:
                made = [(inner, tuple(read(inner) for read in readers)) for inner in rows]
                made = order(made)
                result = [values for _, values in made]
            else:
                result = [tuple(read(inner) for read in readers) for inner in rows]
            if distinct:
                result = _distinct(result, collation)
            return limit(result)

        return Query(names, fields, run)

    def _reader(self, one: Any) -> Compiled:
        if isinstance(one, tuple):
            return column_reader(self.scope, *one)
        return compiled(one, self.scope)

    def _rows(self, env: Any, ons: Sequence[Any], test: Compiled | None) -> list[Any]:
        outer = list(env) if self.outer else []
        found: list[Any] = [outer]
        pending = list(zip(self.readers, self.joins, ons, strict=True))
        if pending and all(side == "" and on is None for _, (side, _), on in pending):
            lists = [reader(env) for reader, _, _ in pending]
            found = [[*outer, *rows] for rows in product(*lists)]
        else:
            for reader, (side, _), on in pending:
                rows = reader(env)
                joined = []
                for left in found:
                    hits = (
                        [made for row in rows if on is None or truth_of(on(made := [*left, row]))]
                        if on
                        else [[*left, row] for row in rows]
                    )
                    if not hits and side == "LEFT":
                        width = len(self.scope.sources[len(left)].names)
                        hits = [[*left, (None,) * width]]
                    joined += hits
                found = joined
        return found if test is None else [inner for inner in found if truth_of(test(inner))]

    def _order(self, node: Any, names: Sequence[str], outputs: Sequence[Any]) -> Callable[[Any], Any] | None:
        order = node.args.get("order")
        if order is None:
            return None
        keys: list[tuple[Compiled | None, int, bool, str]] = []
        for one in order.expressions:
            inner = one.this
            reader: Compiled
            if isinstance(inner, exp.Literal) and not inner.is_string and inner.this.isdecimal():
                place = int(inner.this) - 1
                if not 0 <= place < len(names):
                    raise SqlError(1054, inner.this, "order clause")
                keys.append((None, place, bool(one.args.get("desc")), str(self.session.collation)))
                continue
            alias = (
                isinstance(inner, exp.Column)
                and not inner.table
                and inner.name.lower() in [name.lower() for name in names]
            )
            if alias:
                place = [name.lower() for name in names].index(inner.name.lower())
                shown_by = outputs[place]
                collation = str(self.session.collation)
                if isinstance(shown_by, exp.Expression):
                    collation = collation_of(self.scope, shown_by)
                elif (field := self.scope.sources[shown_by[0]].fields) is not None:
                    collation = field[shown_by[1]].collation or collation
                keys.append((None, place, bool(one.args.get("desc")), collation))
            else:
                scope = self.scope.at("order clause")
                reader = compiled(inner, scope)
                keys.append((reader, 0, bool(one.args.get("desc")), collation_of(scope, inner)))

        def ordered(made: list[Any]) -> list[Any]:
            for reader, place, desc, collation in reversed(keys):
                made = sorted(
                    made,
                    key=lambda pair: sort_key(reader(pair[0]) if reader else pair[1][place], collation),
                    reverse=desc,
                )
            return made

        return ordered

    # ------------------------------------------------------------------------------------------------------ aggregates

    def _grouped(
        self, outputs: Sequence[Any], names: Sequence[str], test: Compiled | None, ons: Sequence[Any]
    ) -> Callable[[Any], list[Values]]:
        group = self.node.args.get("group")
        scope = self.scope
        collation = str(self.session.collation)
        at_group = scope.at("group statement")
        keys = [compiled(one, at_group) for one in (group.expressions if group is not None else ())]
        made = [_aggregate(one, scope) if isinstance(one, exp.Expression) else None for one in outputs]
        plain = [self._reader(one) if agg is None else None for one, agg in zip(outputs, made, strict=True)]
        order = self._order(self.node, names, outputs) if self.node.args.get("order") else None
        limit = limit_of(self.node)

        def run(env: Any) -> list[Values]:
            groups: dict[Any, list[Any]] = {}
            for inner in self._rows(env, ons, test):
                key = tuple(sort_key(read(inner), collation) for read in keys)
                groups.setdefault(key, []).append(inner)
            if not keys and not groups:
                groups[()] = []
            result = []
            for inner_rows in groups.values():
                first = inner_rows[0] if inner_rows else [(None,) * len(s.names) for s in scope.sources]
                values = tuple(
                    agg(inner_rows) if agg is not None else read(first) if read is not None else None
                    for agg, read in zip(made, plain, strict=True)
                )
                result.append((first, values))
            if order is not None:
                result = order(result)
            return limit([values for _, values in result])

        return run


def _aggregate(node: Any, scope: Scope) -> Callable[[list[Any]], Any] | None:
    """An aggregate alone, or an expression of one: `max(id) + 1`."""
    if not node.find(exp.AggFunc):
        return None
    if isinstance(node, exp.AggFunc):
        return _alone(node, scope)
    inside = list(node.find_all(exp.AggFunc))
    calls = [_alone(one, scope) for one in inside]
    copy = node.copy()
    for number, one in enumerate(list(copy.find_all(exp.AggFunc))):
        one.replace(exp.column(f"?{number}"))
    source = Source("?", "", tuple(f"?{number}" for number in range(len(calls))))
    outer = compiled(copy, scope_of(scope.session, (source,)))
    return lambda rows: outer([tuple(call(rows) for call in calls)])


def _alone(node: Any, scope: Scope) -> Callable[[list[Any]], Any]:
    kind = type(node).__name__
    inner = node.this
    distinct = isinstance(inner, exp.Distinct)
    if distinct:
        inner = inner.expressions[0]
    collation = str(scope.session.collation)
    if kind == "Count" and isinstance(inner, exp.Star):
        return len
    read = compiled(inner, scope)

    def values(rows: list[Any]) -> list[Any]:
        found = [value for row in rows if (value := read(row)) is not None]
        return [value for (value,) in _distinct([(v,) for v in found], collation)] if distinct else found

    def extreme(sign: int) -> Callable[[list[Any]], Any]:
        def best(rows: list[Any]) -> Any:
            kept = None
            for value in values(rows):
                if kept is None or (compare(value, kept, collation) or 0) * sign > 0:
                    kept = value
            return kept

        return best

    def total(rows: list[Any]) -> Any:
        numbers = [number_of(value) for value in values(rows)]
        if not numbers:
            return None
        return sum(map(float, numbers)) if any(isinstance(n, float) for n in numbers) else sum(map(Decimal, numbers))

    def average(rows: list[Any]) -> Any:
        numbers = values(rows)
        made = total(rows)
        if made is None:
            return None
        if isinstance(made, float):
            return made / len(numbers)
        exponent = made.as_tuple().exponent
        return CONTEXT.divide(made, Decimal(len(numbers))).quantize(Decimal(1).scaleb(exponent - 4), context=CONTEXT)

    known: dict[str, Callable[[list[Any]], Any]] = {
        "Count": lambda rows: len(values(rows)),
        "Sum": total,
        "Avg": average,
        "Min": extreme(-1),
        "Max": extreme(1),
        "GroupConcat": lambda rows: ",".join(map(text_of, values(rows))) or None,
    }
    if kind not in known:
        raise Unsupported(f"the aggregate {node.sql('mysql')[:40]!r}")
    return known[kind]


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
    """A number in LIMIT, which takes no expression. Raises SqlError."""
    if isinstance(node, exp.Column):
        raise SqlError(1327, node.name)
    text = str(node.this) if isinstance(node, exp.Literal) and not node.is_string else ""
    if not text.isdecimal() or int(text[:21]) >= 1 << 64:
        raise SqlError(1064, node.sql("mysql")[:80])
    return int(text)


def _union(node: exp.Union, session: Any, outer: Scope | None) -> Query:
    left, right = prepare(node.this, session, outer), prepare(node.expression, session, outer)
    if type(node) is not exp.Union:
        raise Unsupported("INTERSECT and EXCEPT")
    if len(left.names) != len(right.names):
        raise SqlError(1222)
    collation = str(session.collation)
    distinct = bool(node.args.get("distinct", True))
    places = []
    order = node.args.get("order")
    for one in order.expressions if order is not None else ():
        if isinstance(one.this, exp.Literal) and one.this.this.isdecimal():
            places.append((int(one.this.this) - 1, bool(one.args.get("desc"))))
        else:
            names = [name.lower() for name in left.names]
            if one.this.name.lower() not in names:
                raise SqlError(1054, one.this.name, "order clause")
            places.append((names.index(one.this.name.lower()), bool(one.args.get("desc"))))
    limit = limit_of(node)

    def run(env: Any) -> list[Values]:
        rows = [*left.run(env), *right.run(env)]
        if distinct:
            rows = _distinct(rows, collation)
        for place, desc in reversed(places):
            rows = sorted(rows, key=lambda row: sort_key(row[place], collation), reverse=desc)
        return limit(rows)

    return Query(left.names, left.fields, run)


def query_scope(
    session: Session,
    sources: tuple[Source, ...] = (),
    place: str = "field list",
    *,
    inserted: Source | None = None,
    base: int = 0,
) -> Scope:
    """A scope in which expressions may hold queries."""
    return Scope(session, compile_node, sources, place, inserted, run_query, base)
