"""Changes through a view, rewritten as changes of its table: a view that selects columns of one table."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from simulator.sql.catalog.definitions import View
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.trees import statement_tree
from simulator.sql.store.session import Session


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
