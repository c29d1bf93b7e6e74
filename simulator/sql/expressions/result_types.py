"""The result type of an expression, known before any row is read; branches are converted to a common one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.model import ColumnType
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.expressions.scope import Scope, literal_value
from simulator.sql.functions.table import facts_of, known_as
from simulator.sql.values.kinds import scale_of


@dataclass(frozen=True, slots=True)
class ResultType:
    """`kind` is int, decimal, double, text, bytes, date, datetime, time, json or null; `scale` is the number of digits
    behind the point of a decimal, or of fraction digits of a time."""

    kind: str
    scale: int = 0


_INT: Final = ResultType("int")
_DOUBLE: Final = ResultType("double")
_TEXT: Final = ResultType("text")
_NULL: Final = ResultType("null")
_FAMILIES: Final = {
    "integer": "int", "year": "int", "bit": "int", "float": "double", "date": "date", "datetime": "datetime",
    "time": "time", "text": "text", "enum": "text", "set": "text", "binary": "bytes", "geometry": "bytes",
    "json": "json",
}  # fmt: skip
_NODES: Final = {
    "CurrentTimestamp": "datetime", "Localtime": "datetime", "Localtimestamp": "datetime", "CurrentDate": "date",
    "CurrentTime": "time", "Trim": "text", "Substring": "text", "StrPosition": "int", "Extract": "int", "Exists": "int",
    "JSONExtract": "json", "JSONExtractScalar": "text", "GroupConcat": "text", "Count": "int", "HexString": "bytes",
    "BitString": "bytes", "Boolean": "int", "Null": "null", "National": "text", "CurrentUser": "text", "Chr": "bytes",
    "JSONObjectAgg": "json", "IntDiv": "int",
}  # fmt: skip


def type_of(node: Any, scope: Scope) -> ResultType | None:
    """The result type; None if it depends on the values."""
    match node:
        case exp.Paren() | exp.Alias() | exp.Collate():
            return type_of(node.this, scope)
        case exp.Literal():
            value = literal_value(node)
            if isinstance(value, str):
                return _TEXT
            return _DOUBLE if isinstance(value, float) else _number(value)
        case exp.Column():
            field = scope.field(node)
            return None if field is None else of_column(field.type)
        case exp.Neg():
            return _numeric(type_of(node.this, scope))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _arithmetic(node, scope)
        case exp.Cast():
            return _cast(node)
        case exp.Case():
            arms = [arm.args["true"] for arm in node.args["ifs"]]
            return unified([type_of(child, scope) for child in [*arms, *filter(None, [node.args.get("default")])]])
        case exp.If():
            return unified([type_of(node.args[key], scope) for key in ("true", "false")])
        case exp.Min() | exp.Max():
            return type_of(node.this, scope)
        case exp.Sum() | exp.Avg():
            inner = _numeric(type_of(node.this, scope))
            if inner is None or inner.kind == "double":
                return inner
            return ResultType("decimal", inner.scale + (4 if isinstance(node, exp.Avg) else 0))
        case exp.Anonymous():
            name = known_as(str(node.this).lower())
            if name in ("coalesce", "greatest", "least"):
                return unified([type_of(child, scope) for child in node.expressions])
            if name in ("nullif", "any_value", "abs"):
                return type_of(node.expressions[0], scope) if node.expressions else None
            result = facts_of(name).result
            return ResultType(result) if result else None
        case exp.Predicate() | exp.Connector() | exp.Not():
            return _INT
    kind = _NODES.get(type(node).__name__)
    return None if kind is None else ResultType(kind)


def of_column(type: ColumnType) -> ResultType:
    family = mysql_table.family(type)
    if type.name == "float":
        return ResultType("float")
    if family == "decimal":
        return ResultType("decimal", mysql_table.precision_scale(type)[1])
    return ResultType(_FAMILIES[family], (type.length or 0) if family in ("datetime", "time") else 0)


def _number(value: int | Decimal) -> ResultType:
    return _INT if isinstance(value, int) else ResultType("decimal", scale_of(value))


def _numeric(type: ResultType | None) -> ResultType | None:
    """The type of a value in a numeric context."""
    if type is None or type.kind in ("int", "decimal", "double", "null"):
        return type
    return _INT if type.kind in ("date", "datetime", "time", "bytes") else _DOUBLE  # texts and FLOAT


def _arithmetic(node: Any, scope: Scope) -> ResultType | None:
    if isinstance(node.left, exp.Interval) or isinstance(node.right, exp.Interval):
        return None
    left, right = (_numeric(type_of(operand, scope)) for operand in (node.left, node.right))
    if left is None or right is None:
        return None
    if "double" in (left.kind, right.kind):
        return _DOUBLE
    if isinstance(node, exp.Div):
        return ResultType("decimal", left.scale + 4)
    scale = left.scale + right.scale if isinstance(node, exp.Mul) else max(left.scale, right.scale)
    return ResultType("decimal" if "decimal" in (left.kind, right.kind) else "int", scale)


def _cast(node: exp.Cast) -> ResultType | None:
    name = node.to.this.name
    if name == "DECIMAL":
        sizes = [int(parameter.this.this) for parameter in node.to.expressions]
        return ResultType("decimal", sizes[1] if len(sizes) > 1 else 0)
    kinds = {
        "CHAR": "text", "VARCHAR": "text", "NCHAR": "text", "TEXT": "text", "CHARACTER_SET": "text", "BINARY": "bytes",
        "VARBINARY": "bytes", "BIGINT": "int", "UBIGINT": "int", "INT": "int", "UINT": "int", "DOUBLE": "double",
        "FLOAT": "double", "DATE": "date", "DATETIME": "datetime", "TIMESTAMP": "datetime", "TIMESTAMPTZ": "datetime",
        "TIME": "time", "JSON": "json", "YEAR": "int",
    }  # fmt: skip
    kind = kinds.get(name)
    if kind == "datetime":
        return ResultType(kind, _fraction_digits(node))
    return None if kind is None else ResultType(kind)


def _fraction_digits(node: exp.Cast) -> int:
    """Digits of CAST(… AS DATETIME(3)), and of TIMESTAMP'2024-01-01 10:11:12.345', a cast in sqlglot's tree."""
    if node.to.expressions:
        return int(node.to.expressions[0].this.this)
    if isinstance(node.this, exp.Literal) and node.to.this.name != "DATETIME":
        return len(str(node.this.this).partition(".")[2])
    return 0


def unified(types: Sequence[ResultType | None]) -> ResultType | None:
    """The common type of several branches; None if one is unknown."""
    concrete = [type for type in types if type is not None and type.kind != "null"]
    if None in types:
        return None
    if not concrete:
        return _NULL
    kinds = {type.kind for type in concrete}
    if len(kinds) == 1 and not kinds & {"decimal", "datetime", "time"}:
        return concrete[0]
    if kinds <= {"int", "decimal"}:
        return ResultType("decimal", max(type.scale for type in concrete))
    if kinds <= {"int", "decimal", "double", "float"}:
        return _DOUBLE
    if kinds == {"time"}:
        return ResultType("time", max(type.scale for type in concrete))
    if kinds <= {"date", "datetime", "time"}:
        return ResultType("datetime", max(type.scale for type in concrete))
    return ResultType("bytes") if "bytes" in kinds and "json" not in kinds else _TEXT
