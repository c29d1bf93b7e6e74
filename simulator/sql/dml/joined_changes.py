"""UPDATE and DELETE of several tables: changes the rows that the join returns, table by table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from simulator.model import TableId
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.dml.row_deletes import delete_row
from simulator.sql.dml.row_updates import assignments, change_row
from simulator.sql.errors import ManyPartitions, SqlError, Unsupported
from simulator.sql.expressions.scope import Scope
from simulator.sql.queries.joins import Joined, join_tables
from simulator.sql.queries.select import prepare, query_scope, with_commons
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import Session


def is_joined(node: Any) -> bool:
    """Whether a statement changes or reads several tables."""
    tables = node.args.get("using") or node.args.get("tables")
    return bool(tables or node.args.get("with_") or node.this.args.get("joins"))


def _join(session: Session, node: Any, table: Any) -> Joined:
    with_ = node.args.get("with_")
    commons = with_commons(with_, session, {}) if with_ is not None else {}
    nodes = [(None, table), *((join, join.this) for join in table.args.get("joins") or ())]
    if node.args.get("order") or node.args.get("limit"):
        raise SqlError(1221, type(node).__name__.upper(), "ORDER BY")
    return join_tables(nodes, session, None, commons, prepare, query_scope)


def _data(joined: Joined, number: int) -> Data:
    data = joined.joins[number].relation.data
    if data is None:
        raise SqlError(1288, joined.scope.sources[number].alias, "UPDATE")
    return data


def update_joined(session: Session, node: exp.Update) -> None:
    joined = _join(session, node, node.this)
    scope, ignore = joined.scope.in_clause("set"), bool(node.args.get("ignore"))
    sets = _sets(joined, node.expressions, scope)
    session.statement.target = _data(joined, next(iter(sets))).definition.id
    for number in () if session.server.mariadb else sets:
        not_from_itself(session, node, _data(joined, number).definition.id, joined.scope.sources[number].alias)
    order = joined.reading_order(node)
    rows_by_source: dict[int, dict[int, list[Any]]] = {number: {} for number in sets}
    for env in joined.rows(node)([]):
        for number in sets:
            row = env[number]
            if row is not None and (row or joined.scope.sources[number].names == ()):
                row_id = _number_of(_data(joined, number), row)
                if row_id is not None and row_id not in rows_by_source[number]:
                    rows_by_source[number][row_id] = env
    _check_partitions(joined, rows_by_source)
    rules = session.rules(ignore=ignore)
    # the first table of the join is changed while it is read, the others after the join is read
    for number in sorted(sets, key=lambda n: (n != order[0], n)):
        data = _data(joined, number)
        for row_number, (row_id, env) in enumerate(rows_by_source[number].items(), 1):
            old = data.rows[row_id]
            row = list(old)
            changing = [*env[:number], row, *env[number + 1 :]]
            change_row(session, data, row_id, old, sets[number], rules, row_number, changing, at=number, ignore=ignore)


def _sets(joined: Joined, nodes: Sequence[Any], scope: Scope) -> dict[int, list[tuple[int, Compiled]]]:
    """The assigned columns and their values by source."""
    sets: dict[int, list[tuple[int, Compiled]]] = {}
    for node in nodes:
        if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column):
            raise Unsupported(f"the assignment {node.sql('mysql')[:40]!r}")
        number, _ = scope.find(node.this.table, node.this.name)
        sets.setdefault(number, []).extend(assignments([node], _data(joined, number).definition, scope))
    return sets


def _number_of(data: Data, row: Row) -> int | None:
    """The number of a row that was read: the same object, not an equal row."""
    if data.clustered is not None:
        return data.clustered.rows.get(data.clustered.key_of(row))
    return next((number for number, stored in data.rows.items() if stored is row), None)


def delete_joined(session: Session, node: exp.Delete) -> None:
    using = node.args.get("using")
    table = using[0] if using else node.this
    names = [node.this] if using else node.args.get("tables") or []
    if using and isinstance(node.this, exp.Table) and node.this.args.get("joins"):
        names = [node.this, *(join.this for join in node.this.args["joins"])]
    joined = _join(session, node, table)
    order = joined.reading_order(node)
    targets = [_target(joined, name) for name in (names or [node.this])]
    session.statement.target = _data(joined, targets[0]).definition.id
    for number in targets:
        not_from_itself(session, node, _data(joined, number).definition.id, joined.scope.sources[number].alias)
    rows_by_source: dict[int, dict[int, Row]] = {number: {} for number in targets}
    for env in joined.rows(node)([]):
        for number in targets:
            row = env[number]
            row_id = _number_of(_data(joined, number), row) if row and any(value is not None for value in row) else None
            if row_id is not None:
                rows_by_source[number].setdefault(row_id, row)
    _check_partitions(joined, rows_by_source)
    row_number = 0
    for number in sorted(targets, key=lambda n: (n != order[0], n)):
        data, rows = _data(joined, number), rows_by_source[number]
        # sorted by their positions in the table: all tables but the first are changed after the join is read
        positions = {row_id: position for position, (row_id, _) in enumerate(data.scan())}
        in_table = {row_id: rows[row_id] for row_id in sorted(rows, key=positions.__getitem__)}
        if number == order[0] and len(targets) > 1 and list(in_table) != list(rows):
            raise Unsupported("the order in which this statement deletes the rows of several tables")
        rows = in_table if number != order[0] else rows
        for row_id in rows:
            row_number += 1
            delete_row(session, data, row_id, row_number, ignore=bool(node.args.get("ignore")))


def _check_partitions(joined: Joined, rows_by_source: Mapping[int, Mapping[int, Any]]) -> None:
    """Raises ManyPartitions for several rows of a partitioned table."""
    for number, rows in rows_by_source.items():
        definition = _data(joined, number).definition
        if definition.partitioned and len(rows) > 1:
            raise ManyPartitions(definition.id)


def _target(joined: Joined, name: Any) -> int:
    for number, source in enumerate(joined.scope.sources):
        if source.alias.lower() == name.name.lower() and (not name.db or source.database == name.db):
            return number
    raise SqlError(1109, name.name, "MULTI DELETE")


def not_from_itself(session: Session, node: exp.Expression, id: TableId, alias: str = "") -> None:
    """Raises SqlError 1093 if a subquery reads the table that the statement changes. MySQL allows it in a derived
    table."""
    if session.server.mariadb and not alias:
        return
    for query in node.find_all(exp.Select):
        outer = query.parent
        if isinstance(outer, exp.CTE) or (
            isinstance(outer, exp.Subquery) and isinstance(outer.parent, exp.From | exp.Join)
        ):
            continue
        frm = query.args.get("from_") or query.args.get("from")
        tables = [frm.this] if frm is not None else []
        for table in [*tables, *(join.this for join in query.args.get("joins") or ())]:
            is_target = isinstance(table, exp.Table) and table.name == id.name
            if is_target and (table.db or session.connection.database) == id.database:
                raise SqlError(1093, alias or id.name)
