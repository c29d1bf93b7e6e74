"""Values of PostgreSQL and GaussDB as the texts that the server prints: whole columns.

Ordinary values come from tables and from Arrow. Rare ones (infinity, years before Christ or beyond 9999, floats with an
exponent, bytes) are printed one by one, each distinct value once, by the type system's `show_value`. That function
is the reference for ordinary values, too; this module is only faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, INFINITE_US, US_PER_DAY, as_integers, numbers, primitive
from simulator.model import ColumnType
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.columns import distinct_text, nulls_of, offsets_us, whole_numbers
from simulator.text.template import join

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Show = Callable[[Any, ColumnType], str]

# 9999-12-31
_LAST_DAY: Final = 2_932_896
_UTC: Final = ("UTC", "GMT", "Z")


def column_text(array: pa.Array, type: ColumnType, family: str, show: Show, *, zone: str = "UTC") -> pa.Array:
    """Each value of a carrier column as text; null stays null; of a dictionary array only the dictionary is printed.

    `family` and `show` are those of the type system: `types.family(type)`, `types.show_value`. `zone` is the session's
    time zone, in which timestamps are printed: `UTC`, `+08:00`, `Asia/Shanghai`. Ranges and arrays of timestamps
    are not converted: their texts are in UTC.

    | type | text |
    | --- | --- |
    | boolean | `t`, `f` |
    | timestamp(6) | `2024-02-29 12:34:56.5`, `infinity`, `0044-03-15 12:00:00 BC` |
    | timestamp with time zone, +08:00 | `2024-02-29 20:34:56.5+08` |
    | double precision | `0.1`, `1e+20`, `NaN` |
    | bytea | `\\x00ff` |
    """
    if pa.types.is_dictionary(array.type):
        inner = column_text(array.dictionary, type, family, show, zone=zone)
        return pa.DictionaryArray.from_arrays(array.indices, inner)
    if pa.types.is_string(array.type):
        return array
    match family:
        case "integer":
            return binlog_text.integer(array, type)
        case "boolean":
            return pc.if_else(array, "t", "f")
        case "decimal":
            return decimal_text.decimal_plain(array, type)
        case "float":
            return _floats(array, type, show)
        case "date":
            return _dates(array, type, show)
        case "time":
            return binlog_text.time_trimmed(array, type)
        case "datetime":
            return _moments(array, type, show, None)
        case "timestamptz":
            return _moments(array, type, show, zone)
        case "enum":
            return pa.array(["", *type.labels], pa.string()).take(array)
    return _one_by_one(array, lambda value: show(value, type))


def _one_by_one(array: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    """Texts made one by one, once for each distinct value; times are passed as numbers."""
    return distinct_text(as_integers(array), text)


def _with_rare(
    array: pa.Array, rare: Mask, ordinary: Callable[[pa.Array], pa.Array], text: Callable[[Any], str]
) -> pa.Array:
    """Texts of ordinary values, printed as a column, and of rare ones, printed one by one; nulls are neither."""
    nulls = nulls_of(array)
    if nulls is not None:
        rare = rare & ~nulls
    if not rare.any():
        return ordinary(array)
    tame = primitive(np.where(rare, 0, numbers(array)).astype(numbers(array).dtype), array.type, nulls)
    chosen = pa.array(rare)
    return pc.replace_with_mask(ordinary(tame), chosen, _one_by_one(array.filter(chosen), text))


def _floats(array: pa.Array, type: ColumnType, show: Show) -> pa.Array:
    values = numbers(array)
    with np.errstate(invalid="ignore"):
        size = np.abs(values)
    # neither -0, which has a sign, nor what may have an exponent
    plain = ((size >= 1e-3) & (size < 1e6)) | ((values == 0) & ~np.signbit(values))
    return _with_rare(array, ~plain, lambda tame: tame.cast(pa.string()), lambda value: show(value, type))


def _dates(array: pa.Array, type: ColumnType, show: Show) -> pa.Array:
    days = numbers(array)
    rare = (days < FIRST_DAY) | (days > _LAST_DAY)
    return _with_rare(array, rare, lambda tame: binlog_text.date(tame, type), lambda value: show(value, type))


def _moments(array: pa.Array, type: ColumnType, show: Show, zone: str | None) -> pa.Array:
    us = numbers(array)
    # a day away from either end: no zone moves such a value out of the calendar
    rare = (us < (FIRST_DAY + 1) * US_PER_DAY) | (us >= _LAST_DAY * US_PER_DAY)
    if zone is None:
        return _with_rare(
            array, rare, lambda tame: binlog_text.datetime_trimmed(tame, type), lambda value: show(value, type)
        )

    def ordinary(tame: pa.Array) -> pa.Array:
        offsets = _offsets(tame, zone)
        there = primitive(numbers(tame) + offsets, tame.type, nulls_of(tame))
        return join([binlog_text.datetime_trimmed(there, type), _offset_texts(offsets)], len(tame))

    def one(value: int) -> str:
        if abs(value) == INFINITE_US:
            return show(value, type)
        # the calendar's ends have the offsets of their last days
        inside = min(max(value, (FIRST_DAY + 1) * US_PER_DAY), _LAST_DAY * US_PER_DAY)
        offset = int(_offsets(pa.array([inside], pa.int64()).view(pa.timestamp("us")), zone)[0])
        return show(value + offset, type).replace("+00", offset_text(offset), 1)

    return _with_rare(array, rare, ordinary, one)


def _offsets(array: pa.Array, zone: str) -> Ints:
    """A zone's offset from UTC at each timestamp, in microseconds."""
    if zone.upper() in _UTC:
        return np.zeros(len(array), dtype=np.int64)
    return offsets_us(whole_numbers(array)[0], zone)


def offset_text(offset: int) -> str:
    """`+00`, `+05:30`, `-00:01:15`."""
    seconds = abs(offset) // 1_000_000
    text = f"{'-' if offset < 0 else '+'}{seconds // 3600:02}"
    if seconds % 3600:
        text += f":{seconds // 60 % 60:02}"
    return text + (f":{seconds % 60:02}" if seconds % 60 else "")


def _offset_texts(offsets: Ints) -> pa.Array | str:
    distinct, inverse = np.unique(offsets, return_inverse=True)
    if len(distinct) == 1:
        return offset_text(int(distinct[0]))
    return pa.array(map(offset_text, distinct.tolist()), pa.string()).take(pa.array(inverse))
