"""Aggregate functions over the rows of a group."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from functools import reduce
from typing import Any, Final

from sqlglot import exp

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.arithmetic import checked_number, quotient_digits
from simulator.sql.expressions.calls import refuse_years
from simulator.sql.expressions.scope import Scope, collation_of, compiled
from simulator.sql.functions.json import as_json
from simulator.sql.store.session import Session
from simulator.sql.values import documents
from simulator.sql.values.comparison import compare, sort_key
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import (
    CONTEXT,
    JsonText,
    Label,
    Quotient,
    ScaledDecimal,
    bytes_of,
    is_number,
    number_of,
    scale_of,
    text_of,
)
from simulator.sql.values.temporal import Temporal

Aggregate = Callable[[list[Any]], Any]
# Aggregates that sqlglot parses as plain functions.
_NAMES: Final = ("json_arrayagg",)
_HIGH: Final = (1 << 64) - 1


def is_aggregate(node: Any) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _NAMES
    return isinstance(node, exp.AggFunc | exp.JSONObjectAgg)


def aggregates_in(node: Any) -> list[Any]:
    """The aggregates of an expression, without those of subqueries and those that OVER makes window functions."""
    aggregates = []
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, exp.Window):
            pending += [
                inner for key, inner in current.args.items() if isinstance(inner, exp.Expression) and key != "this"
            ]
            pending += current.args.get("partition_by") or []
            pending += [inner for inner in current.this.iter_expressions()]
        elif is_aggregate(current):
            aggregates.append(current)
        elif not isinstance(current, exp.Select | exp.SetOperation):
            pending += list(current.iter_expressions())
    return aggregates


def aggregate_of(node: Any, scope: Scope) -> Aggregate:
    """Returns a function that computes an aggregate from the environments of a group."""
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
    reads = [compiled(argument, scope) for argument in nodes]
    collation = collation_of(scope, *nodes)
    read = reads[0]
    if kind == "json_arrayagg":
        refuse_years([inner], scope)
        session = scope.session
        return lambda rows: _array(session, [_member(session, read(row)) for row in rows]) if rows else None

    def values(rows: list[Any]) -> list[Any]:
        tuples = [cells for row in rows if None not in (cells := tuple(reader(row) for reader in reads))]
        if distinct:
            tuples = _distinct(tuples, collation)
        return [cells[0] for cells in tuples]

    if kind not in _COMPUTED:
        raise Unsupported(f"the aggregate {node.sql('mysql')[:40]!r}")
    compute, session = _COMPUTED[kind], scope.session
    if kind == "Count":
        return lambda rows: compute(values(rows), collation)
    if kind in ("Min", "Max"):

        def extreme(rows: list[Any]) -> Any:
            result = compute(values(rows), collation)
            if isinstance(result, Temporal) and not isinstance(inner, exp.Column):
                raise Unsupported("MIN or MAX of dates and times that are no column")
            return str(result) if isinstance(result, Label) else result

        return extreme

    def computed(rows: list[Any]) -> Any:
        numbers = [checked_number(value, session) if isinstance(value, Label) else value for value in values(rows)]
        for value in numbers:
            _check_number(kind, value, strict=session.statement.refuses_texts)
        return compute(numbers, collation)

    return computed


def _check_number(kind: str, value: Any, *, strict: bool) -> None:
    """Raises Unsupported for a value that servers add up differently than other calculations treat it."""
    of_bits = kind.startswith("Bitwise")
    if isinstance(value, Temporal | bytes | Document) or (of_bits and not isinstance(value, int)):
        raise Unsupported("an aggregate of bits or numbers over values of this kind")
    if strict and isinstance(value, str) and not is_number(value):
        raise Unsupported(f"an aggregate of numbers over the text {value[:20]!r} in a strict statement")


def _distinct(rows: list[Any], collation: str) -> list[Any]:
    """Remove duplicates: the first of equal rows stays, in the position of the last."""
    return list({tuple(sort_key(value, collation) for value in row): row for row in reversed(rows)}.values())[::-1]


def _extreme(sign: int) -> Callable[[list[Any], str], Any]:
    def best(values: list[Any], collation: str) -> Any:
        best_value = None
        for value in values:
            if best_value is None or (compare(value, best_value, collation) or 0) * sign > 0:
                best_value = value
        return best_value

    return best


def _sum(values: list[Any], collation: str) -> Any:
    numbers = [number_of(value) for value in values]
    if not numbers:
        return None
    if any(isinstance(number, float) for number in numbers):
        return sum(map(float, numbers))
    total = reduce(CONTEXT.add, map(Decimal, numbers))
    scale = max(map(scale_of, numbers))
    return ScaledDecimal(total, scale) if scale_of(total) > scale else total


def _average(values: list[Any], collation: str) -> Any:
    total = _sum(values, collation)
    if total is None or isinstance(total, float):
        return None if total is None else total / len(values)
    unit = Decimal(1).scaleb(-quotient_digits(scale_of(total), 0))
    exact = CONTEXT.divide(Decimal(total), Decimal(len(values))).quantize(unit, ROUND_DOWN, context=CONTEXT)
    return Quotient(exact, min(30, scale_of(total) + 4))


def _variance(*, sample: bool, root: bool) -> Callable[[list[Any], str], Any]:
    def compute(values: list[Any], collation: str) -> Any:
        numbers = [float(number_of(value)) for value in values]
        if len(numbers) <= sample:
            return None
        mean = total = 0.0
        for count, number in enumerate(numbers, 1):  # in one pass, as servers do
            step = number - mean
            mean += step / count
            total += step * (number - mean)
        variance = total / (len(numbers) - sample)
        return math.sqrt(variance) if root else variance

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
        orders = [(compiled(item.this, scope), bool(item.args.get("desc"))) for item in inner.expressions]
        inner = inner.this
    distinct = isinstance(inner, exp.Distinct)
    nodes = inner.expressions if distinct else [inner]
    nodes = [part for item in nodes for part in (item.expressions if isinstance(item, exp.Concat) else [item])]
    reads = [compiled(item, scope) for item in nodes]
    separator = node.args.get("separator")
    mark = "," if separator is None else str(separator.name)
    session, collation = scope.session, collation_of(scope, *nodes)

    def joined(rows: list[Any]) -> Any:
        for read, desc in reversed(orders):
            rows = sorted(rows, key=lambda row: sort_key(read(row), collation), reverse=desc)
        tuples = [cells for row in rows if None not in (cells := tuple(read(row) for read in reads))]
        if distinct:
            tuples = _distinct(tuples, collation)
        if not tuples:
            return None
        if any(isinstance(cell, bytes) for cells in tuples for cell in cells):
            raise Unsupported("GROUP_CONCAT() of bytes")
        raw = bytes_of(mark.join("".join(map(text_of, cells)) for cells in tuples))
        maximum = int(session.variable("group_concat_max_len"))
        if len(raw) > maximum and session.statement.refuses_texts:
            raise SqlError(1260, len(tuples))
        if len(raw) > maximum:
            session.statement.warnings.append(f"GROUP_CONCAT() is cut at group_concat_max_len ({maximum})")
        return raw[:maximum].decode("utf-8", "ignore")

    return joined


def _json_objectagg(node: exp.JSONObjectAgg, scope: Scope) -> Aggregate:
    (pair,) = node.expressions
    refuse_years([pair.expression], scope)
    key, value, session = compiled(pair.this, scope), compiled(pair.expression, scope), scope.session

    def collected(rows: list[Any]) -> Any:
        if not rows:
            return None
        pairs = [(text_of(key(row)), _member(session, value(row))) for row in rows]
        if not session.server.mariadb:
            return session.as_document(dict(pairs))
        texts = [
            f"{documents.text_of(name, 'mariadb')}:{documents.text_of(member, 'mariadb')}" for name, member in pairs
        ]
        return session.as_document(documents.JsonNumber("{" + ", ".join(texts) + "}"))

    return collected


def _member(session: Session, value: Any) -> Any:
    """A value in an aggregated document. Raises Unsupported for types of which servers keep more or less."""
    if isinstance(value, Decimal) or (isinstance(value, Temporal) and value.kind == "date"):
        if not session.server.mariadb:
            raise Unsupported("a decimal or a date in an aggregated JSON document")
    elif isinstance(value, bytes | JsonText) and session.server.mariadb:
        raise Unsupported("bytes or a document in an aggregated JSON document")
    return as_json(session, value)


def _array(session: Session, values: list[Any]) -> Any:
    """An array as a document; MariaDB's aggregates have no blanks."""
    if not session.server.mariadb:
        return session.as_document(values)
    return session.as_document(
        documents.JsonNumber("[" + ",".join(documents.text_of(value, "mariadb") for value in values) + "]")
    )
