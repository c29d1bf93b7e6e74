"""Expressions that choose one of several values (IF, CASE, COALESCE, LEAST …): converts the values to one type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import Unsupported
from simulator.sql.expressions.casts import dated
from simulator.sql.expressions.result_types import ResultType, type_of, unified
from simulator.sql.expressions.scope import Scope
from simulator.sql.values.kinds import CONTEXT, ScaledDecimal, bytes_of, number_of, text_of

# Functions whose arguments are such branches.
UNIFIED: Final = frozenset(("coalesce", "greatest", "least"))


def unified_branches(name: str, nodes: Sequence[Any], parts: Sequence[Compiled], scope: Scope) -> list[Compiled]:
    types = [type_of(node, scope) for node in nodes]
    kinds = {type.kind for type in types if type is not None}
    if "time" in kinds and kinds & {"date", "datetime"}:
        raise Unsupported(f"{name.upper()} of a time and a date")
    if "bytes" in kinds and kinds - {"bytes", "text", "null"}:
        raise Unsupported(f"{name.upper()} of bytes and a value of another kind")
    single = "float" in kinds and (len(kinds) > 1 or scope.session.server.id == "mysql-5.7")
    if single or ("double" in kinds and kinds & {"text", "bytes", "json"}):
        raise Unsupported(f"{name.upper()} of a floating-point number and a value of another kind")
    target = unified(types)
    if target is None:
        return list(parts)
    if name in ("greatest", "least") and target.kind in ("text", "bytes", "json"):
        return list(parts)
    if name in ("if", "case") and target.kind != "datetime" and not scope.session.server.mariadb:
        return list(parts)  # the chosen value keeps its type
    if name in ("greatest", "least") and scope.session.server.id == "mysql-5.7" and target.kind == "decimal":
        unit = Decimal(1).scaleb(-target.scale)
        return [
            _converted(part, lambda value: Decimal(number_of(value)).quantize(unit, context=CONTEXT)) for part in parts
        ]
    return [
        part if type == target or type is None or type.kind == "null" else _converted(part, converter(target))
        for part, type in zip(parts, types, strict=True)
    ]


def _converted(part: Compiled, convert: Callable[[Any], Any]) -> Compiled:
    return lambda env: None if (value := part(env)) is None else convert(value)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        raise Unsupported("bytes beside a value that makes them a text")
    return text_of(value)


def converter(target: ResultType) -> Callable[[Any], Any]:
    """Returns a function that converts values to this type."""
    if target.kind == "decimal":
        return lambda value: ScaledDecimal(Decimal(number_of(value)), target.scale)
    if target.kind == "double":
        return lambda value: float(number_of(value))
    if target.kind == "text":
        return _text
    if target.kind == "bytes":
        return bytes_of
    if target.kind == "datetime":
        return lambda value: dated(value, target.scale)
    return lambda value: value
