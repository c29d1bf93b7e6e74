"""Generated values as PostgreSQL stores them: times cut to their fraction digits, texts filled with blanks."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import cut_times
from simulator.model import ColumnType
from simulator.sources.postgresql.type_table import arrow_type, fraction_digits, padding


def unit_us(type: ColumnType) -> int:
    """The step between the values of a date or time type, in microseconds; whole minutes of a smalldatetime."""
    return 60_000_000 if type.name == "smalldatetime" else int(10 ** (6 - fraction_digits(type)))


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values, or those of a type that this one widens, as a column of the type's carrier: times cut to the
    type's fraction digits, a character(n) filled with blanks.

    >>> stored(pa.array(["ab", None]), ColumnType("character", 4)).to_pylist()
    ['ab  ', None]
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, stored(array.dictionary, type))
    carrier = arrow_type(type)
    if pa.types.is_decimal(array.type) and pa.types.is_string(carrier):
        # Arrow prints 1E-7
        texts = [None if value is None else format(value, "f") for value in array.to_pylist()]
        return pa.array(texts, carrier)
    if array.type != carrier:
        array = array.cast(carrier)
    if width := padding(type):
        return pc.utf8_rpad(array, width=width)
    timed = pa.types.is_timestamp(carrier) or pa.types.is_duration(carrier)
    return cut_times(array, unit_us(type)) if timed else array
