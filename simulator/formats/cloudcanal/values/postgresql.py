"""PostgreSQL's and GaussDB's values: as the server prints them, except booleans and bytes (a decision)."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, INFINITE_US, US_PER_DAY, primitive
from simulator.formats.cloudcanal.values.families import TEXT, Values
from simulator.model import ColumnType
from simulator.sources.postgresql.times import show_timestamp
from simulator.sources.postgresql.values import show_value
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.columns import offsets_us, whole_numbers
from simulator.text.postgresql import column_text

# More than a day from the ends of the calendar, so that no time zone exceeds it.
_FIRST_US: Final = (FIRST_DAY + 2) * US_PER_DAY
_LAST_US: Final = 2_932_894 * US_PER_DAY


def boolean(array: pa.Array, type: ColumnType) -> pa.Array:
    """`true`, `false`."""
    return array.cast(pa.string())


def numeric(array: pa.Array, type: ColumnType) -> pa.Array:
    """A number with its declared scale; other numbers, and `NaN`, are carried as text."""
    return decimal_text.decimal_plain(array, type) if pa.types.is_decimal(array.type) else decoded(array)


def date(array: pa.Array, type: ColumnType) -> pa.Array:
    """`2024-02-29`, `0044-03-15 BC`, `infinity`."""
    return column_text(array, type, "date", show_value)


def timestamp(array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array:
    """`2024-02-29 12:34:56.5`; with a zone the time there and its offset: `2024-02-29 20:34:56.5+08`."""
    return column_text(array, type, "timestamptz" if zone else "datetime", show_value, zone=zone or "UTC")


def millis(array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array:
    """Timestamps with three fraction digits and no offset, as in the full load and in MongoDB's dates.

    >>> millis(pa.array([500_000, 253_402_300_800_000_000]).cast(pa.timestamp("us")), ColumnType(""), None).to_pylist()
    ['1970-01-01 00:00:00.500', '10000-01-01 00:00:00.000']
    """
    us, nulls = whole_numbers(array)
    usual = (us >= _FIRST_US) & (us <= _LAST_US)
    in_range = array if usual.all() else primitive(np.where(usual, us, 0), array.type, nulls)
    texts = binlog_text.datetime_fixed(in_range, ColumnType("timestamp", 3), zone=zone)
    if usual.all():
        return texts
    offset = 0 if zone is None else int(offsets_us(np.zeros(1, dtype=np.int64), zone)[0])
    rare = pa.array([show_millis(int(value), offset) for value in us[~usual]], pa.string())
    return pc.replace_with_mask(texts, pa.array(~usual), rare)


def show_millis(us: int, offset_us: int) -> str:
    """A timestamp outside the calendar of other systems.

    >>> show_millis(-62_135_596_800_001_000, 0), show_millis(253_402_300_799_999_000, 3_600_000_000)
    ('0001-12-31 23:59:59.999 BC', '10000-01-01 00:59:59.999')
    """
    if abs(us) == INFINITE_US:
        return show_timestamp(us)
    seconds, us_of_second = divmod(us + offset_us, 1_000_000)
    day, clock, *era = show_timestamp(seconds * 1_000_000).split(" ")
    return " ".join([day, f"{clock}.{us_of_second // 1000:03}", *era])


VALUES: Final = Values(
    {
        **TEXT,
        **dict.fromkeys(("bit", "geometry", "other"), binlog_text.text),
        "boolean": boolean,
        "decimal": numeric,
        "time": binlog_text.time_trimmed,
    },
    date,
    timestamp,
    millis,
    digits=lambda type: 6 if type.length is None else type.length,
)
