"""PostgreSQL's and GaussDB's values as CloudCanal writes them: the server's own texts, but for booleans and bytes.

The vendor publishes nothing of them: that they are as the server prints them is a decision. Dates beyond the calendar
of other systems (`infinity`, years before Christ, years of five digits) are made one by one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, INFINITE_US, US_PER_DAY, primitive
from simulator.model import ColumnType
from simulator.sources.postgresql.times import show_moment, show_offset
from simulator.sources.postgresql.values import format_values
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.fixed_width import offsets_us, whole_numbers
from simulator.text.template import join

# A day and more from the ends of the calendar, so that no zone leads out of it.
_FIRST_US: Final = (FIRST_DAY + 2) * US_PER_DAY
_LAST_US: Final = 2_932_894 * US_PER_DAY
_FIRST_DAY: Final = FIRST_DAY
_LAST_DAY: Final = 2_932_896


def boolean(array: pa.Array, type: ColumnType) -> pa.Array:
    """`true`, `false`."""
    return array.cast(pa.string())


def date(array: pa.Array, type: ColumnType) -> pa.Array:
    """`2024-02-29`, `0044-03-15 BC`, `infinity`."""
    days, _ = whole_numbers(array)
    usual = (days >= _FIRST_DAY) & (days <= _LAST_DAY)
    if usual.all():
        return binlog_text.date(array, type)
    return pa.array(format_values(array, type), pa.string())


def moment(array: pa.Array, type: ColumnType, *, zone: str | None = None) -> pa.Array:
    """`2024-02-29 12:34:56.5`; with a zone the time there and its offset: `2024-02-29 20:34:56.5+08`.

    >>> moment(pa.array([500_000, None]).cast(pa.timestamp("us")), ColumnType(""), zone="+05:30").to_pylist()
    ['1970-01-01 05:30:00.5+05:30', None]
    """
    us, _ = whole_numbers(array)
    usual = (us >= _FIRST_US) & (us <= _LAST_US)
    offsets = None if zone is None else offsets_us(np.where(usual, us, 0), zone)
    if not usual.all():
        places: list[Any] = [None] * len(us) if offsets is None else offsets.tolist()
        raw = array.view(pa.int64()).to_pylist()
        texts = [None if u is None else show_moment(u, offset) for u, offset in zip(raw, places, strict=True)]
        return pa.array(texts, pa.string())
    clock = binlog_text.datetime_trimmed(array, type, zone=zone)
    if offsets is None:
        return clock
    distinct, inverse = np.unique(offsets, return_inverse=True)
    shown = pa.array([show_offset(int(offset)) for offset in distinct], pa.string())
    return join([clock, shown.take(pa.array(inverse.reshape(-1)))], len(array))


def millis(array: pa.Array, type: ColumnType, *, zone: str | None = None) -> pa.Array:
    """Three digits of a fraction and no offset, as the full load prints moments, and MongoDB's dates look.

    >>> millis(pa.array([500_000, 253_402_300_800_000_000]).cast(pa.timestamp("us")), ColumnType("")).to_pylist()
    ['1970-01-01 00:00:00.500', '10000-01-01 00:00:00.000']
    """
    us, nulls = whole_numbers(array)
    usual = (us >= _FIRST_US) & (us <= _LAST_US)
    kept = array if usual.all() else primitive(np.where(usual, us, 0), array.type, nulls)
    shown = binlog_text.datetime_fixed(kept, ColumnType("timestamp", 3), zone=zone)
    if usual.all():
        return shown
    offset = 0 if zone is None else int(offsets_us(np.zeros(1, dtype=np.int64), zone)[0])
    rare = pa.array([show_millis(int(moment), offset) for moment in us[~usual]], pa.string())
    return pc.replace_with_mask(shown, pa.array(~usual), rare)


def show_millis(us: int, offset_us: int) -> str:
    """A moment beyond the calendar of other systems.

    >>> show_millis(-62_135_596_800_001_000, 0), show_millis(253_402_300_799_999_000, 3_600_000_000)
    ('0001-12-31 23:59:59.999 BC', '10000-01-01 00:59:59.999')
    """
    if abs(us) == INFINITE_US:
        return show_moment(us)
    seconds, rest = divmod(us + offset_us, 1_000_000)
    day, clock, *era = show_moment(seconds * 1_000_000).split(" ")
    return " ".join([day, f"{clock}.{rest // 1000:03}", *era])


def numeric(array: pa.Array, type: ColumnType) -> pa.Array:
    """A number with the scale that it was declared with; of others the text that they come with, `NaN` too."""
    if pa.types.is_decimal(array.type):
        return decimal_text.decimal_plain(array, type)
    return decoded(array)
