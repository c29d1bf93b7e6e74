"""Window functions: values computed over the rows around each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, collation_of, compiled
from simulator.sql.queries.aggregates import aggregate_of, is_aggregate
from simulator.sql.values.comparison import sort_key
from simulator.sql.values.kinds import Quotient, displayed_decimal, number_of


def windows_in(node: Any) -> list[Any]:
    return (
        [
            window
            for window in node.find_all(exp.Window)
            if isinstance(window.this, exp.Expression)
            and window.find_ancestor(exp.Select) is node.find_ancestor(exp.Select)
        ]
        if isinstance(node, exp.Expression)
        else []
    )


def window_of(node: exp.Window, scope: Scope, definitions: Sequence[exp.Window]) -> Callable[[list[Any]], list[Any]]:
    """Returns a function that computes a window function for all environments of a result, in their order."""
    node = _resolved(node, definitions)
    parts = [compiled(expression, scope) for expression in node.args.get("partition_by") or ()]
    order = node.args.get("order")
    orders = [
        (compiled(expression.this, scope), bool(expression.args.get("desc")), collation_of(scope, expression.this))
        for expression in (order.expressions if order is not None else ())
    ]
    function = _function(node, scope)
    collation = str(scope.session.connection.collation)

    def run(rows: list[Any]) -> list[Any]:
        groups: dict[Any, list[int]] = {}
        for number, row in enumerate(rows):
            key = tuple(sort_key(read(row), collation) for read in parts)
            groups.setdefault(key, []).append(number)
        values: list[Any] = [None] * len(rows)
        for numbers in groups.values():
            for read, desc, by in reversed(orders):
                numbers.sort(key=lambda n: sort_key(read(rows[n]), by), reverse=desc)
            peers = [tuple(sort_key(read(rows[n]), by) for read, _, by in orders) for n in numbers]
            results = function([rows[n] for n in numbers], peers)
            for number, value in zip(numbers, results, strict=True):
                values[number] = value
        return values

    return run


def _resolved(node: exp.Window, definitions: Sequence[exp.Window]) -> exp.Window:
    name = node.args.get("alias")
    if name is None:
        return node
    for definition in definitions:
        if definition.this.name.lower() == name.name.lower():
            resolved = node.copy()
            for key in ("partition_by", "order", "spec"):
                if not resolved.args.get(key) and definition.args.get(key):
                    resolved.set(key, definition.args[key])
            return resolved
    raise SqlError(3579, name.name)


Function = Callable[[list[Any], list[Any]], list[Any]]


def _function(node: exp.Window, scope: Scope) -> Function:
    inner = node.this
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
        raise Unsupported("IGNORE NULLS")
    if is_aggregate(inner):
        compute, frame = aggregate_of(inner, scope), _frame(node)

        def aggregate(rows: list[Any]) -> Any:
            value = compute(rows)
            return displayed_decimal(value) if isinstance(value, Quotient) else value

        return lambda rows, peers: [aggregate(rows[slice(*frame(i, peers))]) for i in range(len(rows))]
    if not isinstance(inner, exp.Anonymous):
        raise Unsupported(f"the window function {inner.sql('mysql')[:40]!r}")
    name = str(inner.this).lower()
    reads = [compiled(argument, scope) for argument in inner.expressions]
    if name in _RANKS:
        return _RANKS[name]
    if name == "ntile":
        return lambda rows, peers: _tiles(len(rows), int(number_of(reads[0](rows[0]))))
    if name in ("lag", "lead"):
        if len(reads) > 2 and scope.session.server.mariadb:
            raise SqlError(1064, inner.sql("mysql"))
        return _moved(reads, -1 if name == "lag" else 1)
    if name in ("first_value", "last_value", "nth_value"):
        frame = _frame(node)

        def chosen(rows: list[Any], peers: list[Any]) -> list[Any]:
            results = []
            for i in range(len(rows)):
                frame_rows = rows[slice(*frame(i, peers))]
                index = {"first_value": 0, "last_value": len(frame_rows) - 1}.get(name, -1)
                if name == "nth_value":
                    index = int(number_of(reads[1](rows[i]))) - 1
                results.append(reads[0](frame_rows[index]) if 0 <= index < len(frame_rows) else None)
            return results

        return chosen
    raise Unsupported(f"the window function {name}")


def _rank(rows: list[Any], peers: list[Any]) -> list[Any]:
    return [peers.index(peer) + 1 for peer in peers]


def _dense_rank(rows: list[Any], peers: list[Any]) -> list[Any]:
    ranks = {peer: rank for rank, peer in enumerate(dict.fromkeys(peers), 1)}
    return [ranks[peer] for peer in peers]


def _cume_dist(rows: list[Any], peers: list[Any]) -> list[Any]:
    last = {peer: rank for rank, peer in enumerate(peers, 1)}
    return [last[peer] / len(peers) for peer in peers]


def _percent_rank(rows: list[Any], peers: list[Any]) -> list[Any]:
    return [(rank - 1) / (len(rows) - 1) if len(rows) > 1 else 0.0 for rank in _rank(rows, peers)]


_RANKS: dict[str, Function] = {
    "row_number": lambda rows, peers: list(range(1, len(rows) + 1)),
    "rank": _rank,
    "dense_rank": _dense_rank,
    "cume_dist": _cume_dist,
    "percent_rank": _percent_rank,
}


def _tiles(count: int, tiles: int) -> list[Any]:
    size, remainder = divmod(count, tiles)
    return [tile + 1 for tile in range(tiles) for _ in range(size + (tile < remainder))]


def _moved(reads: Sequence[Any], sign: int) -> Function:
    def run(rows: list[Any], peers: list[Any]) -> list[Any]:
        results = []
        for i, row in enumerate(rows):
            distance = sign * (int(number_of(reads[1](row))) if len(reads) > 1 else 1)
            in_partition = 0 <= i + distance < len(rows)
            results.append(reads[0](rows[i + distance]) if in_partition else reads[2](row) if len(reads) > 2 else None)
        return results

    return run


def _frame(node: exp.Window) -> Callable[[int, list[Any]], tuple[int, int]]:
    """The rows of a frame. Default: all rows up to the last peer; without ORDER BY all rows."""
    spec = node.args.get("spec")
    if spec is None:
        if node.args.get("order") is None:
            return lambda i, peers: (0, len(peers))
        return lambda i, peers: (0, len(peers) - peers[::-1].index(peers[i]))
    if spec.args.get("kind") != "ROWS":
        unbounded = spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") in ("CURRENT ROW", None)
        if spec.args.get("start") == "UNBOUNDED" and spec.args.get("end") == "UNBOUNDED":
            return lambda i, peers: (0, len(peers))
        if not unbounded:
            raise Unsupported("RANGE in a window")
        return lambda i, peers: (0, len(peers) - peers[::-1].index(peers[i]))
    start, end = (_bound(spec, side) for side in ("start", "end"))

    def rows(i: int, peers: list[Any]) -> tuple[int, int]:
        first = 0 if start is None else i + start
        stop = len(peers) if end is None else i + end + 1
        return max(0, first), max(0, stop)

    return rows


def _bound(spec: Any, side: str) -> int | None:
    """The offset of a frame's bound from the current row, negative before it; None: unbounded."""
    value = spec.args.get(side)
    if value is None or value == "CURRENT ROW":
        return 0
    if value == "UNBOUNDED":
        return None
    sign = -1 if spec.args.get(f"{side}_side") == "PRECEDING" else 1
    return sign * int(Decimal(value.name))
