"""INSERT, REPLACE, UPDATE and DELETE on rows in memory, with their side effects on a server: defaults, counters,
generated columns, checks, foreign keys, triggers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Compiled, View
from simulator.sql.dml.joined_changes import delete_joined, is_joined, not_from_itself, update_joined
from simulator.sql.dml.row_deletes import delete_row
from simulator.sql.dml.row_inserts import DEFAULT, Inserter
from simulator.sql.dml.row_updates import assignments, change_row, position_of
from simulator.sql.errors import ManyPartitions, SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, Source, collation_of, compiled
from simulator.sql.parse.trees import statement_tree
from simulator.sql.queries import select
from simulator.sql.queries.access_paths import path_of
from simulator.sql.queries.tables import source_of_table, values_of
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session
from simulator.sql.values.comparison import sort_key
from simulator.sql.values.kinds import truth_of


def on_base_table(node: Any, session: Session) -> Any:
    """The statement on the view's base table; a statement on a table is returned unchanged."""
    target = node.this.this if isinstance(node.this, exp.Schema) else node.this
    view = session.view(target.db, target.name) if isinstance(target, exp.Table) else None
    if view is None:
        return node
    if view.checked and not isinstance(node, exp.Delete):
        raise Unsupported("a change through a view WITH CHECK OPTION")
    select = statement_tree(view.select)
    base = select.args["from_"].this if isinstance(select, exp.Select) and select.args.get("from_") else None
    parts = ("joins", "group", "having", "distinct", "limit", "with_", "windows")
    if not isinstance(base, exp.Table) or any(select.args.get(part) for part in parts):
        raise Unsupported("a change of the rows of a view that is more than columns of one table")
    columns = _columns(view, select, session)
    node, where = node.copy(), select.args.get("where")
    alias = target.alias or target.name
    table: Any = exp.Table(this=base.this.copy(), db=exp.to_identifier(base.db or view.database))
    if isinstance(node, exp.Insert):
        if not isinstance(node.this, exp.Schema):
            names = list(columns)
            table = exp.Schema(this=table, expressions=[exp.to_identifier(columns[name]) for name in names])
        else:
            identifiers = [exp.to_identifier(_base_name(columns, column.name)) for column in node.this.expressions]
            table = exp.Schema(this=table, expressions=identifiers)
        node.set("this", table)
        return node
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    changed = node.transform(lambda column: _renamed(column, columns, alias))
    changed.set("this", table)
    if where is not None:
        condition = where.this.transform(
            lambda column: exp.column(column.name, table=alias) if isinstance(column, exp.Column) else column
        )
        own_where = changed.args.get("where")
        changed.set("where", exp.Where(this=exp.and_(*([own_where.this] if own_where else []), condition)))
    return changed


def _columns(view: View, select: exp.Select, session: Session) -> dict[str, str]:
    """The column of the table by the lower-case name that it has in the view."""
    names: dict[str, str] = {}
    base = select.args["from_"].this
    for number, expression in enumerate(select.expressions):
        if isinstance(expression, exp.Star):
            data = session.table(base.db or view.database, base.name)
            names |= {field.name.lower(): field.name for field in data.definition.fields}
            continue
        inner = expression.this if isinstance(expression, exp.Alias) else expression
        name = view.columns[number] if view.columns else expression.alias_or_name
        names[name.lower()] = inner.name if isinstance(inner, exp.Column) else ""
    return names


def _base_name(columns: dict[str, str], name: str) -> str:
    if name.lower() not in columns:
        raise SqlError(1054, name, "field list")
    if not columns[name.lower()]:
        raise SqlError(1348, name)
    return columns[name.lower()]


def _renamed(node: Any, columns: dict[str, str], alias: str) -> Any:
    if isinstance(node, exp.Column) and node.name.lower() in columns and (not node.table or node.table == alias):
        return exp.column(_base_name(columns, node.name), table=alias)
    return node


# The source of columns that ON DUPLICATE KEY UPDATE reads from the tables of a query.
_HIDDEN: Final = "?query"


def insert(session: Session, node: exp.Insert, *, replace: bool = False) -> None:
    """INSERT [IGNORE] … VALUES | SELECT | SET, ON DUPLICATE KEY UPDATE; REPLACE."""
    if node.args.get("returning") and not session.server.mariadb:
        raise SqlError(1064, node.args["returning"].sql("mysql"))
    node = on_base_table(node, session)
    target = node.this
    columns = None
    if isinstance(target, exp.Schema):
        columns = [field.name for field in target.expressions]
        target = target.this
    if not isinstance(target, exp.Table):
        raise Unsupported(f"INSERT INTO {target.sql('mysql')[:40]}")
    data = session.table(target.db, target.name)
    definition = data.definition
    if columns is None:
        positions = [i for i, field in enumerate(definition.fields) if not field.invisible]
    else:
        positions = [position_of(definition, name, "columns") for name in columns]
        for i, position in enumerate(positions):
            if position in positions[:i]:
                raise SqlError(1110, columns[i])
    mode = "replace" if replace else "ignore" if node.args.get("ignore") else ""
    if isinstance(node.expression, exp.Values):
        _insert_values(session, node, target, data, positions, mode, all_columns=columns is None)
    elif isinstance(node.expression, exp.Query):
        _insert_query(session, node, data, positions, mode)
    else:
        raise Unsupported("this form of INSERT")


def _insert_values(
    session: Session,
    node: exp.Insert,
    target: exp.Table,
    data: Data,
    positions: list[int],
    mode: str,
    *,
    all_columns: bool,
) -> None:
    definition, body = data.definition, node.expression
    lists = [values_of(row) for row in body.expressions]
    if all_columns and lists and not lists[0]:
        positions = []
    for number, values in enumerate(lists, 1):
        if len(values) != len(positions):
            raise SqlError(1136, number)
    inserter = Inserter(session, data, positions, mode, len(lists))
    alias = body.args.get("alias")
    names = [column.name for column in alias.args.get("columns") or ()] if alias is not None else []
    _on_duplicate(
        session,
        node,
        data,
        inserter,
        alias.name if alias is not None else "",
        dict(zip(names, positions, strict=False)),
    )
    source = Source(target.name, definition.id.database, tuple(f.name for f in definition.fields), definition.fields)
    scope = select.query_scope(session, (source,), "values")
    not_from_itself(session, body, definition.id)
    reads_columns = any(
        isinstance(value, exp.Expression) and value.find(exp.Column) for values in lists for value in values
    )
    compiled_lists = [[_value(value, scope) for value in values] for values in lists]
    for number, readers in enumerate(compiled_lists, 1):
        # a column reference in VALUES reads the value that was set before it, or its default
        row = inserter.defaults() if reads_columns else [None] * len(definition.fields)

        def values_of_row(row: list[Any], readers: list[Compiled]) -> Iterator[Any]:
            for position, read in zip(positions, readers, strict=True):
                value = read([row])
                if value is not DEFAULT and value is not None:
                    row[position] = value
                yield value

        inserter.insert(values_of_row(row, readers), number)
    inserter.done()


def _insert_query(session: Session, node: exp.Insert, data: Data, positions: list[int], mode: str) -> None:
    """INSERT … SELECT. The query also selects the columns of its tables that ON DUPLICATE KEY UPDATE reads, after its
    own."""
    body, conflict = node.expression, node.args.get("conflict")
    with_ = node.args.get("with_")
    commons = select.with_commons(with_, session, {}) if with_ is not None else {}
    hidden: list[exp.Column] = []
    if conflict is not None and isinstance(body, exp.Select) and not body.args.get("group"):
        node, body, hidden = _with_hidden_columns(node, data)
    query = select.prepare(body, session, None, commons)
    width = len(query.names) - len(hidden)
    if width != len(positions):
        raise SqlError(1136, 1)
    inserter = Inserter(session, data, positions, mode, 0)
    read: list[Any] = [()]
    _on_duplicate(
        session, node, data, inserter, "", {}, (tuple(map(str, range(len(hidden)))), read) if hidden else None
    )
    for number, values in enumerate(query.run([]), 1):
        read[0] = values[width:]
        inserter.insert(values[:width], number)
    inserter.done()


def _with_hidden_columns(node: exp.Insert, data: Data) -> tuple[exp.Insert, Any, list[exp.Column]]:
    """The statement, whose query also selects the columns of its tables that the assignments read."""
    node = node.copy()
    body = node.expression
    tables = [body.args["from_"].this] if body.args.get("from_") else []
    aliases = {item.alias_or_name.lower() for item in [*tables, *(join.this for join in body.args.get("joins") or ())]}
    target = data.definition.id.name.lower()
    hidden: list[exp.Column] = []
    for item in node.args["conflict"].expressions:
        for column in list(item.expression.find_all(exp.Column)):
            if column.table.lower() == target in aliases:
                raise SqlError(1052, f"{column.table}.{column.name}", "field list")
            if column.table.lower() in aliases:
                hidden.append(column.copy())
                column.replace(exp.column(str(len(hidden) - 1), table=_HIDDEN))
    for column in hidden:
        body.append("expressions", column)
    return node, body, hidden


def _value(node: Any, scope: Scope) -> Compiled:
    if isinstance(node, exp.Var) and node.name.upper() == "DEFAULT":
        return lambda env: DEFAULT
    return compiled(node, scope)


def _on_duplicate(
    session: Session,
    node: exp.Insert,
    data: Data,
    inserter: Inserter,
    alias: str,
    renamed: dict[str, int],
    hidden: tuple[tuple[str, ...], list[Any]] | None = None,
) -> None:
    """`alias` and `renamed`: VALUES … AS new(a, b); `hidden`: names and values of the query's current row."""
    conflict = node.args.get("conflict")
    if conflict is None:
        return
    definition = data.definition
    names = tuple(field.name for field in definition.fields)
    existing = Source(definition.id.name, definition.id.database, names, definition.fields)
    by_position = {position: name for name, position in renamed.items()}
    new_names = tuple(by_position.get(position, "" if renamed else name) for position, name in enumerate(names))
    new = Source(alias or "?new", "", new_names, definition.fields)
    sources: tuple[Source, ...] = (existing,)
    if alias:
        sources = (existing, new)
    elif hidden is not None:
        sources = (existing, Source(_HIDDEN, "", hidden[0]))
    scope = select.query_scope(session, sources, "on duplicate", inserted=dataclasses.replace(new, names=names))
    # a column without a table belongs to the existing row
    scope = dataclasses.replace(scope, shared=frozenset(name.lower() for name in names))
    sets = assignments(conflict.expressions, definition, scope)

    inserter.touched |= {position for position, _ in sets}

    def update(number: int, row: list[Any]) -> None:
        old = data.rows[number]
        env = [list(old), row] if hidden is None else [list(old), hidden[1][0], row]
        change_row(session, data, number, old, sets, inserter.rules, 1, env, inserts=True, also=inserter.touched)

    inserter.on_duplicate = update


def update(session: Session, node: exp.Update) -> None:
    node = on_base_table(node, session)
    if is_joined(node):
        update_joined(session, node)
        return
    data, scope = _target(session, node, "UPDATE")
    sets = assignments(node.expressions, data.definition, scope)
    ignore = bool(node.args.get("ignore"))
    rules = session.rules(ignore=ignore)
    for number, (id, old) in enumerate(_matching(session, node, data, scope), 1):
        change_row(session, data, id, old, sets, rules, number, [list(old)], ignore=ignore)


def delete(session: Session, node: exp.Delete) -> None:
    node = on_base_table(node, session)
    if is_joined(node):
        delete_joined(session, node)
        return
    data, scope = _target(session, node, "DELETE")
    for number, (id, _) in enumerate(_matching(session, node, data, scope), 1):
        delete_row(session, data, id, number, ignore=bool(node.args.get("ignore")))


def _target(session: Session, node: Any, verb: str) -> tuple[Data, Scope]:
    table = node.this
    if not isinstance(table, exp.Table):
        raise Unsupported(f"{verb} {table.sql('mysql')[:40]}")
    if node.args.get("returning") and (verb == "UPDATE" or not session.server.mariadb):
        raise SqlError(1064, node.args["returning"].sql("mysql"))
    if node.args.get("from_") or table.args.get("partition"):
        raise Unsupported(f"this form of {verb}")
    source, data = source_of_table(session, table)
    session.statement.target = data.definition.id
    not_from_itself(session, node, data.definition.id)
    return data, select.query_scope(session, (source,), "set" if verb == "UPDATE" else "field list")


def _matching(session: Session, node: Any, data: Data, scope: Scope) -> list[tuple[int, Row]]:
    """The rows that match WHERE, ORDER BY and LIMIT, in the order in which they are changed."""
    where = node.args.get("where")
    test = None
    if where is not None:
        inner = scope.in_clause("where clause")
        test = compiled(where.this, inner)
        session.statement.division_fails = False
    candidates = _by_key(where.this, data) if where is not None else None
    if candidates is None:
        limited = node.args.get("limit") is not None
        where_scope = scope.in_clause("where clause")
        path = path_of(data, None if where is None else where.this, where_scope, limited=limited)
        candidates = list(path.numbered_rows)
        session.statement.order_unsure = path.close and node.args.get("order") is None
    rows = iter(candidates)
    matches = [(number, row) for number, row in rows if test is None or truth_of(test([row]))]
    session.statement.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.connection.modes
    order = node.args.get("order")
    if order is None and len(matches) > 1 and data.definition.partitioned:
        raise ManyPartitions(data.definition.id)
    if order is not None:
        inner = scope.in_clause("order clause")
        for expression in reversed(order.expressions):
            read, collation = compiled(expression.this, inner), collation_of(inner, expression.this)
            matches.sort(
                key=lambda pair: sort_key(read([pair[1]]), collation),
                reverse=bool(expression.args.get("desc")),
            )
    return select.limit_of(node)(matches)


def _by_key(where: Any, data: Data) -> list[tuple[int, Row]] | None:
    """The only row that can match if WHERE compares the primary key with a literal: no table scan. None: any other
    condition."""
    index = data.indexes[0] if data.indexes and data.indexes[0].key.kind == "primary" else None
    if (
        index is None
        or len(index.positions) > 1
        or not index.unfolded
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
