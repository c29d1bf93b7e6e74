"""Decimals as text, whole columns at once: with their scale kept, or in groups of nine digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import Ints, is_narrow, unscaled
from simulator.model import ColumnType
from simulator.native.program import Kind, Program
from simulator.text.fixed_width import digits_table, distinct_text, joined, looked_up, nulls_of
from simulator.text.template import Compound, Piece, join


def decimal_plain(array: pa.Array, type: ColumnType) -> pa.Array:
    """A decimal with its scale kept, never scientific.

    | decimal(10,2) | decimal(8,3) | decimal(20,9) | decimal(8,0) |
    | --- | --- | --- | --- |
    | 5 is `5.00` | 12345.11 is `12345.110` | 1 is `1.000000000` | `11111` |
    | -0.5 is `-0.50` | 0 is `0.000` | | |
    """
    return _decimal(array, grouped=False)


def decimal_trimmed(array: pa.Array, type: ColumnType) -> pa.Array:
    """A decimal without trailing zeros, never scientific: `5`, `-0.5`, `100`."""
    text = decimal_plain(array, type)
    return pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".") if array.type.scale > 0 else text


def decimal_groups(array: pa.Array, type: ColumnType) -> pa.Array:
    """A decimal as LogBuffer.getDecimal0 of the dbsync library prints it: groups of nine digits after the point are
    written in full, the remaining digits of the scale only if they are not zero, and a lone point gets a zero.

    | decimal(10,2) | decimal(20,9) | decimal(20,11) | decimal(8,0) |
    | --- | --- | --- | --- |
    | 5 is `5.0` | 1 is `1.000000000` | 1.123456789 is `1.123456789` | `11111` |
    | 5.1 is `5.10` | | -0.12345678901 is `-0.12345678901` | |
    | -0.5 is `-0.50` | | | |
    """
    return _decimal(array, grouped=True)


def _decimal(array: pa.Array, *, grouped: bool) -> pa.Array:
    return join([decimal_piece(array, grouped=grouped)], len(array))


@dataclass(frozen=True, slots=True, eq=False)
class Decimals(Compound):
    """Decimals whose unscaled numbers and scale fit 64 bits, as text; null where they are."""

    array: pa.Array
    grouped: bool

    def column(self) -> pa.Array:
        return join(_narrow_parts(self.array, grouped=self.grouped), len(self.array))

    def add_to(self, program: Program) -> None:
        program.numbers(self.array, Kind.GROUPED if self.grouped else Kind.DECIMAL, self.array.type.scale)

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        return nulls_of(self.array)


def decimal_piece(array: pa.Array, *, grouped: bool) -> Piece:
    """The text of `decimal_groups` or `decimal_plain`, to be joined with more; null where the value is."""
    scale = array.type.scale
    if is_narrow(array) and pa.types.is_decimal128(array.type) and 0 <= scale <= 18:
        return Decimals(array, grouped)
    if is_narrow(array):
        return join(_narrow_parts(array, grouped=grouped), len(array))
    return distinct_text(array, lambda value: _wide_decimal(value, scale, grouped))


def _narrow_parts(array: pa.Array, *, grouped: bool) -> list[pa.Array]:
    """The text in pieces side by side; one is null where the value is."""
    scale = array.type.scale
    nulls = nulls_of(array)
    values = np.ascontiguousarray(unscaled(array))
    if nulls is not None:
        values = np.where(nulls, 0, values)
    if scale == 0:
        return [pc.cast(pa.array(values, mask=nulls), pa.string())]
    size = np.abs(values)
    units = size // 10**scale
    fraction = size - units * 10**scale
    parts: list[Any] = [pc.cast(pa.array(units, mask=nulls), pa.string())]
    if (values < 0).any():
        parts.insert(0, looked_up(["", "-"], (values < 0).astype(np.int64), None))
    return [*parts, *_fraction_parts(fraction, scale, grouped)]


def _fraction_parts(fraction: Ints, scale: int, grouped: bool) -> list[pa.Array]:
    """The point and the fraction's digits, in pieces of up to four digits, each from a table."""
    full, rest = divmod(scale, 9)
    parts: list[pa.Array] = []
    dropped = (fraction % 10**rest == 0) if grouped and rest else None
    lone = dropped is not None and not full
    left = scale
    while left:
        # pieces do not cross from the whole groups into the last one, which may be left out
        width = min(4, left if left <= rest else left - rest)
        left -= width
        piece = fraction // 10**left % 10**width if left else fraction % 10**width
        prefix = "." if left + width == scale else ""
        if dropped is not None and left < rest:
            instead = ".0" if lone and prefix else ""
            parts.append(_digits_or(instead, prefix, width).take(pa.array(np.where(dropped, 10**width, piece))))
        else:
            parts.append(joined(len(piece), None, digits_table(width, prefix)[piece]))
    return parts


def grouped_text(text: str) -> str:
    """One decimal, written plainly, in groups of nine digits: `5.00` is `5.0`."""
    return _grouped(text, len(text.partition(".")[2]), grouped=True)


@lru_cache(maxsize=32)
def _digits_or(last: str, prefix: str, width: int) -> pa.Array:
    """All numbers of `width` digits, and the text `last` after them."""
    return pa.array([*(f"{prefix}{number:0{width}}" for number in range(10**width)), last], pa.string())


def _wide_decimal(value: Any, scale: int, grouped: bool) -> str:
    return _grouped(format(value, "f"), scale, grouped=grouped)


def _grouped(text: str, scale: int, *, grouped: bool) -> str:
    rest = scale % 9
    if grouped and rest and text.endswith("0" * rest):
        text = text[:-rest]
        return text + "0" if text.endswith(".") else text
    return text
