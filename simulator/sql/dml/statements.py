"""INSERT, REPLACE, UPDATE and DELETE on rows in memory, with what a server does round them: defaults, counters,
generated columns, checks, foreign keys, triggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from simulator.model import DELETE, TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.dml import triggers
from simulator.sql.dml.row_inserts import DEFAULT, Inserter
from simulator.sql.dml.row_updates import assignments, change_row, place_of
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, Source, collation_of, compiled
from simulator.sql.expressions.table_plans import plan_of
from simulator.sql.queries import select
from simulator.sql.store import foreign_keys
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session
from simulator.sql.values.comparison import sort_key
from simulator.sql.values.kinds import truth_of


def insert(session: Session, node: exp.Insert, *, replace: bool = False) -> None:
    """INSERT [IGNORE] … VALUES | SELECT | SET, ON DUPLICATE KEY UPDATE; REPLACE."""
    target = node.this
    columns = None
    if isinstance(target, exp.Schema):
        columns = [one.name for one in target.expressions]
        target = target.this
    if not isinstance(target, exp.Table):
        raise Unsupported(f"INSERT INTO {target.sql('mysql')[:40]}")
    data = session.table(target.db, target.name)
    definition = data.definition
    if columns is None:
        places = [i for i, one in enumerate(definition.fields) if not one.invisible]
    else:
        places = [place_of(definition, name, "columns") for name in columns]
        for i, place in enumerate(places):
            if place in places[:i]:
                raise SqlError(1110, columns[i])
    mode = "replace" if replace else "ignore" if node.args.get("ignore") else ""
    body = node.expression
    if isinstance(body, exp.Values):
        lists = [one.expressions for one in body.expressions]
        if columns is None and lists and not lists[0]:
            places = []
        for number, values in enumerate(lists, 1):
            if len(values) != len(places):
                raise SqlError(1136, number)
        inserter = Inserter(session, data, places, mode, len(lists))
        _on_duplicate(session, node, data, inserter)
        known = Source(target.name, definition.id.database, tuple(f.name for f in definition.fields), definition.fields)
        scope = select.query_scope(session, (known,), "values")
        _not_from_itself(session, body, definition.id)
        compiled_lists = [[_value(one, scope) for one in values] for values in lists]
        for number, readers in enumerate(compiled_lists, 1):
            # a column that stands among the values is the one that was set before it
            row: list[Any] = [None] * len(definition.fields)

            def values_of(row: list[Any], readers: list[Compiled]) -> Iterator[Any]:
                for place, read in zip(places, readers, strict=True):
                    value = read([row])
                    if value is not DEFAULT and value is not None:
                        row[place] = value
                    yield value

            inserter.insert(values_of(row, readers), number)
    elif isinstance(body, exp.Select | exp.Union | exp.Subquery):
        query = select.prepare(body, session)
        if len(query.names) != len(places):
            raise SqlError(1136, 1)
        inserter = Inserter(session, data, places, mode, 0)
        _on_duplicate(session, node, data, inserter)
        for number, read in enumerate(query.run([]), 1):
            inserter.insert(read, number)
    else:
        raise Unsupported("this form of INSERT")
    inserter.done()


def _value(node: Any, scope: Scope) -> Compiled:
    if isinstance(node, exp.Var) and node.name.upper() == "DEFAULT":
        return lambda env: DEFAULT
    return compiled(node, scope)


def _on_duplicate(session: Session, node: exp.Insert, data: Data, inserter: Inserter) -> None:
    conflict = node.args.get("conflict")
    if conflict is None:
        return
    definition = data.definition
    names = tuple(one.name for one in definition.fields)
    existing = Source(definition.id.name, definition.id.database, names, definition.fields)
    alias = node.expression.alias if isinstance(node.expression, exp.Values) else ""
    new = Source(alias or "?new", "", names, definition.fields)
    sources = (existing, new) if alias else (existing,)
    scope = select.query_scope(session, sources, "on duplicate", inserted=new)
    sets = assignments(conflict.expressions, definition, scope)

    inserter.touched |= {place for place, _ in sets}

    def update(number: int, row: list[Any]) -> None:
        old = data.rows[number]
        change_row(
            session, data, number, old, sets, inserter.rules, 1, [list(old), row], inserts=True, also=inserter.touched
        )

    inserter.on_duplicate = update


def update(session: Session, node: exp.Update) -> None:
    data, scope = _target(session, node, "UPDATE")
    sets = assignments(node.expressions, data.definition, scope)
    ignore = bool(node.args.get("ignore"))
    rules = session.rules(ignore=ignore)
    for number, (id, old) in enumerate(_matching(session, node, data, scope), 1):
        change_row(session, data, id, old, sets, rules, number, [list(old)], ignore=ignore)


def delete(session: Session, node: exp.Delete) -> None:
    data, scope = _target(session, node, "DELETE")
    plan, rules = plan_of(data, session), session.rules()
    for number, (id, old) in enumerate(_matching(session, node, data, scope), 1):
        for trigger in plan.triggers:
            triggers.fire(session, trigger, "delete", True, old, None, rules, number)
        if id not in data.rows:
            continue
        foreign_keys.delete_children(session, data, old)
        data.put(id, None)
        session.changed(data, id, old)
        session.log_row(data, DELETE, old, None)
        for trigger in plan.triggers:
            triggers.fire(session, trigger, "delete", False, old, None, rules, number)


def _target(session: Session, node: Any, verb: str) -> tuple[Data, Scope]:
    table = node.this
    if not isinstance(table, exp.Table) or table.args.get("joins") or node.args.get("tables") or node.args.get("using"):
        raise Unsupported(f"{verb} of several tables")
    for part in ("with_", "from_", "returning"):
        if node.args.get(part):
            raise Unsupported(f"{part.strip('_').upper()} in {verb}")
    source, data = select.source_of_table(session, table)
    session.target = data.definition.id
    _not_from_itself(session, node, data.definition.id)
    return data, select.query_scope(session, (source,), "set" if verb == "UPDATE" else "field list")


def _not_from_itself(session: Session, node: exp.Expression, id: TableId) -> None:
    """MySQL reads no table in a subquery that the statement changes; a derived table hides it. Raises SqlError 1093."""
    if session.server.mariadb:
        return
    for query in node.find_all(exp.Select):
        outer = query.parent
        if isinstance(outer, exp.Subquery) and isinstance(outer.parent, exp.From | exp.Join):
            continue
        frm = query.args.get("from_") or query.args.get("from")
        tables = [frm.this] if frm is not None else []
        for table in [*tables, *(join.this for join in query.args.get("joins") or ())]:
            named = isinstance(table, exp.Table) and table.name == id.name
            if named and (table.db or session.database) == id.database:
                raise SqlError(1093, id.name)


def _matching(session: Session, node: Any, data: Data, scope: Scope) -> list[tuple[int, Row]]:
    """The rows that WHERE, ORDER BY and LIMIT choose, in the order in which they are changed."""
    where = node.args.get("where")
    test = None
    if where is not None:
        inner = scope.at("where clause")
        test = compiled(where.this, inner)
        session.division_fails = False
    candidates = _by_key(session, where.this, data, scope) if where is not None else None
    rows = data.scan() if candidates is None else iter(candidates)
    found = [(number, row) for number, row in rows if test is None or truth_of(test([row]))]
    session.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.modes
    order = node.args.get("order")
    if order is not None:
        inner = scope.at("order clause")
        for one in reversed(order.expressions):
            read, collation = compiled(one.this, inner), collation_of(inner, one.this)
            found.sort(
                key=lambda pair: sort_key(read([pair[1]]), collation),
                reverse=bool(one.args.get("desc")),
            )
    return select.limit_of(node)(found)


def _by_key(session: Session, where: Any, data: Data, scope: Scope) -> list[tuple[int, Row]] | None:
    """The only row that WHERE can mean, if it sets the primary key equal to literals: no table is searched for it."""
    index = data.indexes[0] if data.indexes and data.indexes[0].key.kind == "primary" else None
    if (
        index is None
        or len(index.places) > 1
        or not index.plain
        or mysql_table.family(index.fields[0].type) != "integer"
    ):
        return None
    name = index.fields[0].name.lower()
    for part in where.flatten() if isinstance(where, exp.And) else [where]:
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and part.this.name.lower() == name:
            value = part.expression
            if isinstance(value, exp.Literal) and not value.is_string and value.this.isdecimal():
                number = index.rows.get(int(value.this))
                return [] if number is None else [(number, data.rows[number])]
    return None
