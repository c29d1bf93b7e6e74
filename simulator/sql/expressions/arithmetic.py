"""Operators on numbers, bits and intervals, made into Python functions: exact for decimals, checked for 64 bits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions import casts
from simulator.sql.expressions.scope import Scope, compiled
from simulator.sql.functions.arguments import integer_of
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import (
    CONTEXT,
    FixedDouble,
    JsonText,
    Label,
    Quotient,
    Raw,
    ScaledDecimal,
    is_number,
    number_of,
    scale_of,
)
from simulator.sql.values.temporal import Temporal

# The maximal digits behind the point of a decimal.
MAX_SCALE: Final = 30
_LOW, _SIGNED, HIGH = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


_INTEGERS: Final = ("tinyint", "smallint", "mediumint", "int", "bigint")
_UNSIGNED: Final = ("bit", "year")


def is_unsigned(node: Any, scope: Scope) -> bool:
    """Whether a column or a cast has an integer without a sign."""
    if isinstance(node, exp.Cast):
        return node.to.this in (exp.DataType.Type.UBIGINT, exp.DataType.Type.UINT)
    field = scope.field(node)
    type = None if field is None else field.type
    return type is not None and (type.name in _UNSIGNED or (type.unsigned and type.name in _INTEGERS))


def make_arithmetic(
    operate: Callable[[Any, Any], Any],
    operate_decimal: Callable[[Any, Any], Any],
    scale_of_result: Callable[[int, int], int] = max,
) -> Callable[[Any, Scope], Compiled]:
    """`scale_of_result`: the digits behind the point of the result, from those of the operands."""

    def make(node: Any, scope: Scope) -> Compiled:
        if isinstance(node.left, exp.Interval) or isinstance(node.right, exp.Interval):
            return make_interval(node, scope)
        left, right = compiled(node.left, scope), compiled(node.right, scope)
        text = node.sql("mysql")
        session = scope.session
        unsigned = any(is_unsigned(operand.unnest(), scope) for operand in (node.left, node.right))
        operands = node.walk(prune=lambda operand: isinstance(operand, exp.Query))
        nested = any(is_unsigned(operand, scope) for operand in operands)
        keeps_sign = "NO_UNSIGNED_SUBTRACTION" not in session.connection.modes

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            digits = isinstance(a, Raw) or isinstance(b, Raw)
            a, b = checked_number(a, session), checked_number(b, session)
            if isinstance(a, float) or isinstance(b, float):
                number = operate(float(a), float(b))
                if number in (float("inf"), float("-inf")):
                    raise SqlError(1690, "DOUBLE", text)
                return _fixed(number, a, b)
            if isinstance(a, Decimal) or isinstance(b, Decimal):
                result = operate_decimal(Decimal(a), Decimal(b))
                scale = min(MAX_SCALE, scale_of_result(scale_of(a), scale_of(b)))
                if not result and scale:
                    return Quotient(result, scale)
                return result if scale_of(result) <= scale else ScaledDecimal(result, scale)
            number = operate(int(a), int(b))
            if digits and number < 0:
                raise Unsupported("a negative number of hexadecimal digits")
            if nested and not unsigned and number < 0 and keeps_sign:
                raise Unsupported("a negative number of a calculation with a column without a sign")
            # the result of signed operands is signed; with an unsigned operand it is unsigned and must not be negative
            large = unsigned or a > _SIGNED or b > _SIGNED
            if not (0 if large and keeps_sign else _LOW) <= number <= (HIGH if large else _SIGNED):
                raise SqlError(1690, "BIGINT UNSIGNED" if large else "BIGINT", text)
            return number

        return calculate

    return make


def _fixed(result: float, a: Any, b: Any) -> float:
    """The sum of doubles with fixed digits also has fixed digits."""
    scales = [x.scale if isinstance(x, FixedDouble) else None if isinstance(x, float) else scale_of(x) for x in (a, b)]
    fixed_scales = [scale for scale in scales if scale is not None]
    return FixedDouble(result, max(fixed_scales)) if len(fixed_scales) == 2 else result


def checked_number(value: Any, session: Any) -> Any:
    """The numeric value of an operand. Raises Unsupported for values that servers or clauses treat differently."""
    if type(value) is str and (session.server.mariadb or session.statement.refuses_texts) and not is_number(value):
        raise Unsupported(f"a calculation with the text {value[:20]!r}")
    if isinstance(value, Document) and not session.server.mariadb:
        if not isinstance(value.value, int | float | Decimal):
            raise Unsupported("a calculation with a JSON document that is no number")
        return float(number_of(value))  # MySQL calculates with documents as doubles
    if isinstance(value, Label):
        return value.number if session.server.mariadb else float(value.number)
    if isinstance(value, Temporal) and value.digits:
        raise Unsupported("a calculation with a time that has fractions")
    if isinstance(value, bytes) and (session.server.mariadb or not isinstance(value, Raw)):
        raise Unsupported("a calculation with bytes")
    if isinstance(value, JsonText) and not is_number(value):
        raise Unsupported("a calculation with a JSON document that is no number")
    return number_of(value)


def make_division(kind: str) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        left, right = compiled(node.this, scope), compiled(node.expression, scope)
        session = scope.session
        fields = [field for side in (node.this, node.expression) if (field := scope.field(side)) is not None]
        unsigned = any(field.type.unsigned or field.type.name == "year" for field in fields)
        unsigned = unsigned or any(isinstance(side, exp.HexString) for side in (node.this, node.expression))

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            if kind != "/" and any(
                isinstance(x, Temporal) or (isinstance(x, str) and not is_number(x)) for x in (a, b)
            ):
                raise Unsupported("a remainder or DIV of a value that is no number")
            a, b = checked_number(a, session), checked_number(b, session)
            if b == 0:
                if session.statement.division_fails:
                    raise SqlError(1365)
                return None
            if kind == "/":
                if isinstance(a, float) or isinstance(b, float):
                    return float(a) / float(b)
                digits = quotient_digits(max(0, -_exponent(a)), max(0, -_exponent(b)))
                quotient = CONTEXT.divide(Decimal(a), Decimal(b))
                exact = quotient.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN, context=CONTEXT)
                scale = min(MAX_SCALE, scale_of(a) + int(session.variable("div_precision_increment")))
                return ScaledDecimal(exact, scale) if a else Quotient(exact, scale)
            if kind == "div":
                if isinstance(a, float) or isinstance(b, float):
                    a, b = Decimal(repr(float(a))), Decimal(repr(float(b)))
                whole = int(CONTEXT.divide_int(Decimal(a), Decimal(b)))
                if whole < 0 and unsigned:
                    raise Unsupported("a negative result of DIV and a number without a sign")
                return whole
            if isinstance(a, float) or isinstance(b, float):
                rest = math.fmod(a, b)
                return abs(rest) if session.server.mariadb and not rest else rest
            if isinstance(a, ScaledDecimal) or isinstance(b, ScaledDecimal):
                raise Unsupported("the remainder of a value with fixed digits")
            remainder = CONTEXT.remainder(Decimal(a), Decimal(b))
            if isinstance(a, int) and isinstance(b, int):
                return int(remainder)
            return remainder or Quotient(remainder, max(scale_of(a), scale_of(b)))

        return calculate

    return make


def quotient_digits(dividend_scale: int, divisor_scale: int) -> int:
    """Digits behind the point of a quotient of decimals before rounding: whole groups of nine (do_div_mod)."""
    f1, f2 = -(-dividend_scale // 9) * 9, -(-divisor_scale // 9) * 9
    extra = max(0, 4 - (f1 - dividend_scale + f2 - divisor_scale))
    return -(-(f1 + f2 + extra) // 9) * 9


def _exponent(value: Any) -> int:
    exponent = Decimal(value).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def make_bitwise(operate: Callable[[int, int], int]) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        left, right = compiled(node.left, scope), compiled(node.right, scope)

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            return operate(_bits_of(a, scope.session), _bits_of(b, scope.session)) & HIGH

        return calculate

    return make


def make_negative(node: Any, scope: Scope) -> Compiled:
    inner, session = compiled(node.this, scope), scope.session
    mariadb = session.server.mariadb

    def negated(env: Any) -> Any:
        value = inner(env)
        if value is None:
            return None
        number = checked_number(value, session)
        # a decimal has no negative zero; a double has one, except in MariaDB
        if not number and (mariadb or isinstance(number, Decimal)):
            return number
        if isinstance(number, Decimal):
            negative = CONTEXT.minus(number)  # keeps all digits
            return ScaledDecimal(negative, number.scale) if isinstance(number, ScaledDecimal) else negative
        return -number

    return negated


def make_bitwise_not(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)
    return lambda env: None if (value := inner(env)) is None else ~_bits_of(value, scope.session) & HIGH


def _bits_of(value: Any, session: Any) -> int:
    """An operand as 64 bits: numbers are rounded. Raises SqlError 1292, Unsupported."""
    if isinstance(value, bytes) and not isinstance(value, Raw):
        raise Unsupported("a calculation with bits of a binary text")
    if isinstance(value, Document) and not isinstance(value.value, int):
        raise Unsupported("bits of a JSON document")
    if isinstance(value, str) and not isinstance(value, Label) and not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value):
        raise Unsupported(f"bits of the text {value[:20]!r}")
    if isinstance(value, Temporal) and value.digits:
        raise Unsupported("bits of a time with fractions")
    return integer_of(value) & HIGH


def make_interval(node: Any, scope: Scope) -> Compiled:
    """A date or time and an INTERVAL."""
    base, span = (node.right, node.left) if isinstance(node.left, exp.Interval) else (node.left, node.right)
    sign, unit = -1 if isinstance(node, exp.Sub) else 1, span.args["unit"].name.lower()
    return casts.compiled_move(
        compiled(base, scope), compiled(span.this, scope), sign, unit, isinstance(base, exp.Literal)
    )
