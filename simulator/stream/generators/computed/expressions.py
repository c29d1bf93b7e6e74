"""Expressions of derived columns: arithmetic over an entity's values, parsed once, computed on arrays.

    quantity * price                                  columns of the same row
    sum(order_items.quantity * order_items.price)     over the entity's rows of another table; 0 when there are none
    count(order_items), min(…), max(…)
    orders.id + 1                                     a column of the entity's only row in another table
    concat(city, '-', id)                             text

Numbers are exact: integers and decimals are computed as integers with a scale.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import fits_64_bits, numbers, unscaled
from simulator.errors import UsageError
from simulator.values.draw import Ints

AGGREGATES = ("sum", "count", "min", "max")


@dataclass(frozen=True)
class Number:
    """Integers that represent decimals: their value is divided by 10^scale."""

    unscaled: Ints
    scale: int

    def at(self, scale: int) -> Ints:
        """The integers at another scale; a smaller one rounds half away from zero, as databases do."""
        if scale >= self.scale:
            return self.unscaled * np.int64(10 ** (scale - self.scale))
        unit = 10 ** (self.scale - scale)
        rounded: Ints = np.sign(self.unscaled) * ((np.abs(self.unscaled) + unit // 2) // unit)
        return rounded


def number(array: pa.Array) -> Number:
    """A column of integers or decimals; nulls count as 0."""
    if array.null_count:
        array = array.fill_null(pa.scalar(Decimal(0) if pa.types.is_decimal(array.type) else 0, array.type))
    if pa.types.is_decimal128(array.type):
        if array.type.precision > 18 and not fits_64_bits(array):
            raise UsageError("an expression reckons with numbers of 64 bits, and a larger one is among its values.")
        return Number(unscaled(array), array.type.scale)
    if pa.types.is_integer(array.type):
        return Number(numbers(array).astype(np.int64), 0)
    raise TypeError(f"{array.type} is not a number")


class Scope:
    """Names visible to an expression: `column(table, name)` of the entity's rows in a table, or (None) of the row."""

    def __init__(
        self,
        rows: int,
        column: Callable[[str | None, str], pa.Array],
        members: Callable[[str], tuple[Ints, int]],
    ) -> None:
        """`members(table)` returns the owner (an index in [0, rows)) of each of the entities' rows, and their count."""
        self.rows, self.column, self.members = rows, column, members


def parse(text: str) -> ast.expr:
    """The expression's tree. Raises ValueError with a sentence if it is not supported."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"{text!r} is not an expression such as 'sum(items.quantity * items.price)'") from None
    _check(tree, text)
    return tree


def _check(tree: ast.expr, text: str) -> None:
    match tree:
        case ast.Name():
            return
        case ast.Constant(value=int() | float() | str()):
            return
        case ast.Attribute(value=ast.Name()):
            return
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            _check(left, text)
            _check(right, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in AGGREGATES and len(args) == 1:
            _check(args[0], text)
        case ast.Call(func=ast.Name(id="concat"), args=[_, *_] as args, keywords=[]):
            for argument in args:
                _check(argument, text)
        case _:
            raise ValueError(
                f"{text!r}: {ast.unparse(tree)!r} is not allowed; there are + - *, numbers, column, table.column, "
                f"concat(…), {', '.join(f'{name}(…)' for name in AGGREGATES)}"
            )


@lru_cache(maxsize=1024)  # called for each batch
def columns(tree: ast.expr) -> frozenset[tuple[str | None, str]]:
    """The columns that the expression reads: (table, column); table None is the row itself."""
    names: set[tuple[str | None, str]] = set()
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    tables = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    counted = {
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "count"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add((node.value.id, node.attr))
        elif isinstance(node, ast.Name) and node not in called | tables | counted:
            names.add((None, node.id))
    return frozenset(names)


def constant(literal: float) -> tuple[int, int]:
    """A number of an expression as an integer and a scale: 0.25 is (25, 2)."""
    exact = Decimal(str(literal))
    exponent = exact.as_tuple().exponent
    scale = max(-exponent, 0) if isinstance(exponent, int) else 0
    return int(exact.scaleb(scale)), scale


def evaluate(tree: ast.expr, scope: Scope) -> Number:
    """The expression's value for each row."""
    match tree:
        case ast.Constant(value=int() | float() as literal):
            unscaled, scale = constant(literal)
            return Number(np.full(scope.rows, unscaled, dtype=np.int64), scale)
        case ast.Name(id=name):
            return number(scope.column(None, name))
        case ast.Attribute(value=ast.Name(id=table), attr=name):
            return number(scope.column(table, name))
        case ast.UnaryOp(operand=operand):
            value = evaluate(operand, scope)
            return Number(-value.unscaled, value.scale)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = evaluate(left, scope), evaluate(right, scope)
            if isinstance(op, ast.Mult):
                return Number(a.unscaled * b.unscaled, a.scale + b.scale)
            scale = max(a.scale, b.scale)
            sign = 1 if isinstance(op, ast.Add) else -1
            return Number(a.at(scale) + sign * b.at(scale), scale)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _aggregate(name, argument, scope)
    raise TypeError(ast.unparse(tree))


def _aggregate(name: str, argument: ast.expr, scope: Scope) -> Number:
    if name == "count" and isinstance(argument, ast.Name):
        owner, _ = scope.members(argument.id)
        return Number(np.bincount(owner, minlength=scope.rows).astype(np.int64), 0)
    table = next(table for table, _ in columns(argument) if table is not None)
    owner, count = scope.members(table)
    inner = evaluate(argument, Scope(count, scope.column, scope.members))
    if name == "sum":
        # owners are sorted: differences of running sums are ten times as fast as sums per owner
        ends = np.cumsum(np.bincount(owner, minlength=scope.rows))
        return Number(np.diff(np.append(0, np.cumsum(inner.unscaled))[ends], prepend=0), inner.scale)
    result = np.zeros(scope.rows, dtype=np.int64)
    if count:
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        reduce = np.minimum if name == "min" else np.maximum
        result[owner[begins]] = reduce.reduceat(inner.unscaled, begins)
    return Number(result, inner.scale)


def concat(tree: ast.expr, scope: Scope) -> pa.Array:
    """The text of a `concat(…)` call, or of a single column."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "concat":
        parts = [concat(argument, scope) for argument in tree.args]
        return pc.binary_join_element_wise(*parts, "")
    if isinstance(tree, ast.Constant):
        return pa.array([str(tree.value)]).take(pa.array(np.zeros(scope.rows, dtype=np.int64)))
    if isinstance(tree, ast.Name | ast.Attribute):
        table, name = (None, tree.id) if isinstance(tree, ast.Name) else (ast.unparse(tree.value), tree.attr)
        return decoded(scope.column(table, name)).cast(pa.string()).fill_null("")
    value = evaluate(tree, scope)
    return pa.array(value.unscaled).cast(pa.string())
