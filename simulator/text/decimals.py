"""Decimals as text, whole columns at once: with their scale kept, or in groups of nine digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import is_narrow
from simulator.model import ColumnType
from simulator.native.program import Kind, Program
from simulator.text.columns import distinct_text, nulls_of
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
        return _one_by_one(self.array, grouped=self.grouped)

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
    return _one_by_one(array, grouped=grouped)


def _one_by_one(array: pa.Array, *, grouped: bool) -> pa.Array:
    scale = array.type.scale
    return distinct_text(array, lambda value: _grouped(format(value, "f"), scale, grouped=grouped))


def grouped_text(text: str) -> str:
    """One decimal, written plainly, in groups of nine digits: `5.00` is `5.0`."""
    return _grouped(text, len(text.partition(".")[2]), grouped=True)


def _grouped(text: str, scale: int, *, grouped: bool) -> str:
    rest = scale % 9
    if grouped and rest and text.endswith("0" * rest):
        text = text[:-rest]
        return text + "0" if text.endswith(".") else text
    return text
