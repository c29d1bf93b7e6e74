"""The index by which a server reads a table: rows are changed and logged in the order in which they are read.

The costs are those of MySQL's range optimizer (`test_quick_select`, `handler::multi_range_read_info_const`) for tables
that fit into memory; rows in a range are counted, not estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Field, Key
from simulator.sql.catalog.servers import Server
from simulator.sql.errors import SqlError
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.store.rows import Data, Row, index_value
from simulator.sql.values.kinds import truth_of

# Costs of reading a page and of evaluating a row: MySQL 8.0, and other servers.
_COSTS_80: Final = (0.25, 0.1)
_COSTS: Final = (1.0, 0.2)
# Costs are close if they differ by less than this factor: servers estimate pages and rows.
CLOSE: Final = 1.4
# Comparisons that an index range can answer, and the number of ranges.
_RANGES: Final[dict[type, int]] = {
    exp.EQ: 1, exp.NullSafeEQ: 1, exp.LT: 1, exp.LTE: 1, exp.GT: 1, exp.GTE: 1, exp.NEQ: 2, exp.Between: 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AccessPath:
    """The index by which rows are read (None: the clustered one), and the rows in that order.

    `close`: another index costs about as much and gives another order, so a server's statistics may choose it.
    """

    key: Key | None
    numbered_rows: Sequence[tuple[int, Row]]
    close: bool = False

    def rows(self, env: Any) -> list[Row]:
        return [row for _, row in self.numbered_rows]


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a column with constants: the column's position, its ranges, and a test of a row.

    `points`: each range is a single value.
    """

    position: int
    ranges: int
    points: bool
    test: Callable[[Any], Any]


def conjuncts(node: Any) -> list[Any]:
    """The conditions joined by AND."""
    if isinstance(node, exp.Paren):
        return conjuncts(node.this)
    if isinstance(node, exp.And):
        return [*conjuncts(node.left), *conjuncts(node.right)]
    return [] if node is None else [node]


def read_costs(server: Server) -> tuple[float, float]:
    """The costs of a page and of a row."""
    return _COSTS_80 if server.id == "mysql-8.0" else _COSTS


def path_of(
    data: Data, where: Any, scope: Scope, *, used: Iterable[int] | None = None, limited: bool = False
) -> AccessPath:
    """The access path by which a table is read. `used`: the positions of the columns that are read (None: all);
    `limited`: the statement has a LIMIT."""
    scanned = list(data.scan())
    conditions = [
        condition
        for conjunct in conjuncts(where)
        if (condition := condition_of(conjunct, scope, scope.base)) is not None
    ]
    page, row = read_costs(scope.session.server)
    count = max(1, len(scanned))
    scan = page + 1.1 + count * row + 1
    best: tuple[float, Key, list[tuple[int, Row]]] | None = None
    alternatives: list[tuple[float, Key | None]] = [(scan, None)]
    for key in data.definition.keys if conditions and scanned else ():
        within = _range(data, key, conditions, scanned)
        if within is None:
            continue
        ranges, rows = within
        pages: float = ranges + len(rows)
        if key.kind == "primary" or _is_clustered(data, key):
            pages = len(rows) if len(rows) <= 2 else ranges + len(rows) / count
        elif used is not None and _covers(data, key, used):
            pages = 1
        cost = pages * page + len(rows) * row + 0.01
        alternatives.append((cost, key))
        if (cost < scan or limited) and (best is None or cost < best[0]):
            best = cost, key, rows
    alternatives += [(best[0] if best else scan, key) for key in _maybe_used(data, where)]
    if best is not None:
        cost, key, rows = best
        numbered = rows if _is_clustered(data, key) else in_index_order(data, key, rows)
        return AccessPath(key, numbered, _is_close(data, cost, numbered, alternatives))
    covering = None if used is None else shortest_covering(data, used)
    if covering is not None:
        return AccessPath(covering, in_index_order(data, covering, scanned))
    return AccessPath(None, scanned, _is_close(data, scan, scanned, alternatives))


def _maybe_used(data: Data, where: Any) -> list[Key]:
    """Indexes that a server may use for the arms of an OR; their costs are not computed."""
    arms = [arm for arm in conjuncts(where) if isinstance(arm, exp.Or)]
    names = {column.name.lower() for arm in arms for column in arm.find_all(exp.Column)}
    return [key for key in data.definition.keys if key.names and key.names[0].lower() in names and all(key.names)]


def _is_close(
    data: Data, cost: float, numbered: Sequence[tuple[int, Row]], alternatives: Sequence[tuple[float, Key | None]]
) -> bool:
    """Whether another index costs about as much and reads the rows in another order."""
    keys = [key for other, key in alternatives if max(other, cost) < CLOSE * min(other, cost)]
    if len(keys) < 2 or len(numbered) < 2:
        return False
    numbers = {number for number, _ in numbered}
    rows = [pair for pair in data.scan() if pair[0] in numbers]
    orders = [rows if key is None or _is_clustered(data, key) else in_index_order(data, key, rows) for key in keys]
    return any([number for number, _ in order] != [number for number, _ in orders[0]] for order in orders)


def condition_of(node: Any, scope: Scope, number: int) -> Condition | None:
    """A condition on a column of one source that an index can answer."""
    ranges, points = _RANGES.get(type(node), 0), isinstance(node, exp.EQ | exp.NullSafeEQ)
    column, operands = _sides(node)
    if isinstance(node, exp.Is) or (isinstance(node, exp.Not) and isinstance(node.this, exp.Is)):
        inner = node if isinstance(node, exp.Is) else node.this
        column, operands, ranges, points = inner.this, [inner.expression], 1, isinstance(node, exp.Is)
    elif isinstance(node, exp.In) and node.args.get("query") is None:
        column, operands, points = node.this, node.expressions, True
        ranges = len({operand.sql() for operand in operands})
    elif isinstance(node, exp.Like) and not node.args.get("negate"):
        column, operands, ranges = node.this, [node.expression], 1
        if not isinstance(node.expression, exp.Literal) or node.expression.this[:1] in ("%", "_", ""):
            return None
    if not ranges or not isinstance(column, exp.Column) or not all(map(is_constant, operands)):
        return None
    try:
        source, position = scope.find(column.table, column.name)
    except SqlError:
        return None
    fields = scope.sources[source].fields
    if source != number or fields is None or not _comparable(fields[position], operands):
        return None
    return Condition(position, ranges, points, compiled(node, scope))


def _sides(node: Any) -> tuple[Any, list[Any]]:
    if isinstance(node, exp.Between):
        return node.this, [node.args["low"], node.args["high"]]
    if type(node) in _RANGES:
        return (node.left, [node.right]) if isinstance(node.left, exp.Column) else (node.right, [node.left])
    return None, []


def is_constant(node: Any) -> bool:
    return not any(True for _ in node.find_all(exp.Column, exp.Query, exp.Window, exp.AggFunc))


def _comparable(field: Field, operands: Sequence[Any]) -> bool:
    """Whether an index can answer the comparison: a text column is not searched for a number."""
    if mysql_table.family(field.type) not in ("text", "enum", "set"):
        return True
    return not any(isinstance(operand, exp.Literal) and not operand.is_string for operand in operands)


def _range(
    data: Data, key: Key, conditions: Sequence[Condition], scanned: Sequence[tuple[int, Row]]
) -> tuple[int, list[tuple[int, Row]]] | None:
    """The number of index ranges of the conditions, and the rows in them; None without a usable condition."""
    ranges, tests = 1, []
    for name in key.names if key.kind in ("primary", "unique", "index") and all(key.names) else ():
        position = data.definition.position(name)
        column_conditions = [condition for condition in conditions if condition.position == position]
        if not column_conditions:
            break
        ranges *= min(condition.ranges for condition in column_conditions)
        tests += [condition.test for condition in column_conditions]
        if not any(condition.points for condition in column_conditions):
            break
    if not tests:
        return None
    return ranges, [(number, row) for number, row in scanned if all(truth_of(test([row])) for test in tests)]


def _is_clustered(data: Data, key: Key) -> bool:
    return data.clustered is not None and data.clustered.key is key


def in_index_order(data: Data, key: Key, rows: Sequence[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """Sort rows, given in the order of the clustered index, by another index; NULL comes first."""
    definition = data.definition
    parts = [(definition.position(name) or 0, prefix) for name, prefix in key.columns]

    def order(pair: tuple[int, Row]) -> Any:
        values = [index_value(pair[1][position], definition.fields[position], prefix) for position, prefix in parts]
        return [(value is not None, value if value is not None else 0) for value in values]

    return sorted(rows, key=order)


def _covers(data: Data, key: Key, used: Iterable[int]) -> bool:
    """Whether an index contains all used columns; it also contains those of the clustered key."""
    definition = data.definition
    if key.kind not in ("unique", "index") or not all(key.names) or any(prefix for _, prefix in key.columns):
        return False
    covered = {definition.position(name) for name in key.names}
    covered |= set(data.clustered.positions) if data.clustered is not None else set()
    return set(used) <= covered


def shortest_covering(data: Data, used: Iterable[int]) -> Key | None:
    """The index that is read instead of the table (`find_shortest_key`); an index with all columns is no gain."""
    definition, positions = data.definition, list(used)
    keys = [key for key in definition.keys if _covers(data, key, positions) and not _is_clustered(data, key)]
    keys = [key for key in keys if len(key.names) < len(definition.fields)]
    return min(keys, key=lambda key: key_bytes(data, key), default=None)


def key_bytes(data: Data, key: Key) -> int:
    """The length of an index entry without the clustered key."""
    total = 0
    for name in key.names:
        field = data.definition.fields[data.definition.position(name) or 0]
        type = field.type
        family = mysql_table.family(type)
        fixed = {"integer": 8, "float": 8, "date": 3, "datetime": 8, "time": 6, "year": 1, "enum": 2, "set": 8}
        sizes = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "timestamp": 4, "float": 4}
        length = type.length or 255
        total += sizes.get(type.name, fixed.get(family, 0)) or (
            length * mysql_table.character_bytes(type) + 2 if family == "text" else length
        )
        total += field.nullable
    return total
