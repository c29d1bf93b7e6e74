"""Aggregate functions over the rows of a group."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any, Final

from sqlglot import exp

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import Scope, collation_of, compiled
from simulator.sql.functions.json import as_json
from simulator.sql.store.session import Session
from simulator.sql.values import documents
from simulator.sql.values.comparison import compare, sort_key
from simulator.sql.values.kinds import CONTEXT, ScaledDecimal, bytes_of, number_of, scale_of, text_of

Aggregate = Callable[[list[Any]], Any]
# Aggregates that sqlglot takes for functions as any.
_NAMES: Final = ("json_arrayagg",)
_HIGH: Final = (1 << 64) - 1


def is_aggregate(node: Any) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _NAMES
    return isinstance(node, exp.AggFunc | exp.JSONObjectAgg)


def aggregates_in(node: Any) -> list[Any]:
    """The aggregates of an expression, not those of subqueries in it nor those that OVER makes window functions."""
    found = []
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, exp.Window):
            pending += [inner for key, inner in one.args.items() if isinstance(inner, exp.Expression) and key != "this"]
            pending += one.args.get("partition_by") or []
            pending += [inner for inner in one.this.iter_expressions()]
        elif is_aggregate(one):
            found.append(one)
        elif not isinstance(one, exp.Select | exp.SetOperation):
            pending += list(one.iter_expressions())
    return found


def aggregate_of(node: Any, scope: Scope) -> Aggregate:
    """What computes an aggregate from the environments of a group."""
    if isinstance(node, exp.GroupConcat):
        return _group_concat(node, scope)
    if isinstance(node, exp.JSONObjectAgg):
        return _json_objectagg(node, scope)
    kind = str(node.this).lower() if isinstance(node, exp.Anonymous) else type(node).__name__
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    if kind == "Count" and isinstance(inner, exp.Star):
        return len
    distinct = isinstance(inner, exp.Distinct)
    nodes = inner.expressions if distinct else [inner]
    reads = [compiled(one, scope) for one in nodes]
    collation = collation_of(scope, *nodes)
    read = reads[0]
    if kind == "json_arrayagg":
        session = scope.session
        return lambda rows: _array(session, [as_json(session, read(row)) for row in rows]) if rows else None

    def values(rows: list[Any]) -> list[Any]:
        found = [made for row in rows if None not in (made := tuple(one(row) for one in reads))]
        if distinct:
            found = list(
                {tuple(sort_key(value, collation) for value in made): made for made in reversed(found)}.values()
            )
            found.reverse()
        return [made[0] for made in found]

    if kind not in _COMPUTED:
        raise Unsupported(f"the aggregate {node.sql('mysql')[:40]!r}")
    compute = _COMPUTED[kind]
    return lambda rows: compute(values(rows), collation)


def _extreme(sign: int) -> Callable[[list[Any], str], Any]:
    def best(values: list[Any], collation: str) -> Any:
        kept = None
        for value in values:
            if kept is None or (compare(value, kept, collation) or 0) * sign > 0:
                kept = value
        return kept

    return best


def _sum(values: list[Any], collation: str) -> Any:
    numbers = [number_of(value) for value in values]
    if not numbers:
        return None
    if any(isinstance(number, float) for number in numbers):
        return sum(map(float, numbers))
    total = reduce(CONTEXT.add, map(Decimal, numbers))
    shown = max(map(scale_of, numbers))
    return ScaledDecimal(total, shown) if scale_of(total) > shown else total


def _average(values: list[Any], collation: str) -> Any:
    total = _sum(values, collation)
    if total is None or isinstance(total, float):
        return None if total is None else total / len(values)
    unit = Decimal(1).scaleb(-min(30, scale_of(total) + 4))
    return CONTEXT.divide(Decimal(total), Decimal(len(values))).quantize(unit, context=CONTEXT)


def _variance(*, sample: bool, root: bool) -> Callable[[list[Any], str], Any]:
    def compute(values: list[Any], collation: str) -> Any:
        numbers = [float(number_of(value)) for value in values]
        if len(numbers) <= sample:
            return None
        mean = total = 0.0
        for count, number in enumerate(numbers, 1):  # as servers do, in one pass
            step = number - mean
            mean += step / count
            total += step * (number - mean)
        made = total / (len(numbers) - sample)
        return math.sqrt(made) if root else made

    return compute


def _bits(start: int, operate: Callable[[int, int], int]) -> Callable[[list[Any], str], Any]:
    return lambda values, collation: reduce(operate, (int(number_of(value)) & _HIGH for value in values), start)


_COMPUTED: Final[dict[str, Callable[[list[Any], str], Any]]] = {
    "Count": lambda values, collation: len(values),
    "Sum": _sum,
    "Avg": _average,
    "Min": _extreme(-1),
    "Max": _extreme(1),
    "StddevPop": _variance(sample=False, root=True),
    "Stddev": _variance(sample=False, root=True),
    "StddevSamp": _variance(sample=True, root=True),
    "VariancePop": _variance(sample=False, root=False),
    "Variance": _variance(sample=True, root=False),
    "BitwiseAndAgg": _bits(_HIGH, lambda a, b: a & b),
    "BitwiseOrAgg": _bits(0, lambda a, b: a | b),
    "BitwiseXorAgg": _bits(0, lambda a, b: a ^ b),
}


def _group_concat(node: exp.GroupConcat, scope: Scope) -> Aggregate:
    """GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR ';'), cut at group_concat_max_len."""
    inner, orders = node.this, []
    if isinstance(inner, exp.Order):
        orders = [(compiled(one.this, scope), bool(one.args.get("desc"))) for one in inner.expressions]
        inner = inner.this
    distinct = isinstance(inner, exp.Distinct)
    nodes = inner.expressions if distinct else [inner]
    nodes = [part for one in nodes for part in (one.expressions if isinstance(one, exp.Concat) else [one])]
    reads = [compiled(one, scope) for one in nodes]
    separator = node.args.get("separator")
    mark = "," if separator is None else str(separator.name)
    session, collation = scope.session, collation_of(scope, *nodes)

    def joined(rows: list[Any]) -> Any:
        for read, desc in reversed(orders):
            rows = sorted(rows, key=lambda row: sort_key(read(row), collation), reverse=desc)
        found = [made for row in rows if None not in (made := tuple(read(row) for read in reads))]
        if distinct:
            found = list({tuple(sort_key(v, collation) for v in made): made for made in reversed(found)}.values())[::-1]
        if not found:
            return None
        raw = bytes_of(mark.join("".join(map(text_of, made)) for made in found))
        most = int(session.variable("group_concat_max_len"))
        if len(raw) > most and session.refuses_texts:
            raise SqlError(1260, len(found))
        if len(raw) > most:
            session.warnings.append(f"GROUP_CONCAT() is cut at group_concat_max_len ({most})")
        return raw[:most].decode("utf-8", "ignore")

    return joined


def _json_objectagg(node: exp.JSONObjectAgg, scope: Scope) -> Aggregate:
    (pair,) = node.expressions
    key, value, session = compiled(pair.this, scope), compiled(pair.expression, scope), scope.session

    def collected(rows: list[Any]) -> Any:
        if not rows:
            return None
        pairs = [(text_of(key(row)), as_json(session, value(row))) for row in rows]
        if not session.server.mariadb:
            return session.as_document(dict(pairs))
        texts = [f"{documents.text_of(name, 'mariadb')}:{documents.text_of(held, 'mariadb')}" for name, held in pairs]
        return session.as_document(documents.JsonNumber("{" + ", ".join(texts) + "}"))

    return collected


def _array(session: Session, values: list[Any]) -> Any:
    """MariaDB puts no blanks into what it aggregates."""
    if not session.server.mariadb:
        return session.as_document(values)
    return session.as_document(
        documents.JsonNumber("[" + ",".join(documents.text_of(one, "mariadb") for one in values) + "]")
    )
