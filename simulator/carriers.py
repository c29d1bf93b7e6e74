"""Arrow types that carry column values, the same for every source and format.

| values | Arrow type |
| --- | --- |
| integers up to signed 64 bit, year, enum (1-based index, 0 = error value `''`) | int64 |
| bigint unsigned, bit, set (bit mask) | uint64 |
| decimal(p, s) | decimal128(p, s) up to p = 38, else decimal256 |
| float, double | float32, float64 |
| text, JSON (as the database's own text) | string, or dictionary<int32, string> when drawn from a pool |
| bytes, geometry (as stored) | binary, or dictionary<int32, binary> |
| date | date32, of MySQL `simulator.partial_dates.DATE` |
| datetime, timestamp (UTC wall clock of the value) | timestamp[us], of MySQL `simulator.partial_dates.DATETIME` |
| time of day, signed | duration[us] |
| boolean | bool |
| timestamp with time zone that keeps no zone, in UTC | timestamp[us] |
| timestamps and times with more than six fraction digits | string: `2024-05-01 10:00:00.123456789`, all declared |
| timestamp and its zone | string: `2024-05-01 10:00:00.123 +08:00`, or the zone's name behind the blank |
| interval, uuid, xml, array, range, network address, ROWID, document … | string: the database's own text |
| a numeric of any scale, bit strings of PostgreSQL | string: `123.4500`, `NaN`; `101` |

Null is Arrow null. MySQL also stores zero and partial dates (`0000-00-00`, `2020-00-00`), in columns of types of their
own (`simulator.partial_dates`). PostgreSQL stores `infinity` and `-infinity`, which are the greatest number of the
carrier and its negative, and dates before Christ, which are the days before `FIRST_DAY` in the same calendar.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

US_PER_DAY: Final = 86_400_000_000
# 0001-01-01; PostgreSQL's numbers below it are dates before Christ.
FIRST_DAY: Final = -719_162
# Infinity; its negative is -infinity.
INFINITE_DAYS: Final = 2**31 - 1
INFINITE_US: Final = 2**63 - 1

Ints = npt.NDArray[np.int64]

_MOMENT: Final = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d))?[ T]?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?: ([+-])(\d\d):(\d\d)| Z)?"
)


def storage_type(type: pa.DataType) -> pa.DataType:
    """The type of the memory of a column: that of the calendar for MySQL's dates, any other as it is."""
    return type.storage_type if isinstance(type, pa.ExtensionType) else type


def storage(array: pa.Array) -> pa.Array:
    """A column of dates of MySQL as Arrow computes with it, its type being that of the calendar; any other as it is."""
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def as_integers(array: pa.Array) -> pa.Array:
    """A column of dates or times as their numbers, any other as it is; nothing is copied.

    >>> as_integers(pa.array([19_782], pa.int32()).view(pa.date32())).to_pylist()
    [19782]
    """
    type = storage_type(array.type)
    return array.view(pa.int32() if pa.types.is_date32(type) else pa.int64()) if pa.types.is_temporal(type) else array


def numbers(array: pa.Array) -> npt.NDArray[Any]:
    """The raw numbers of a primitive or temporal array without copying; null slots hold arbitrary numbers.

    date32 gives int32 days, timestamp and duration int64 microseconds.
    """
    dtype = {pa.date32(): np.int32, pa.float32(): np.float32, pa.float64(): np.float64, pa.uint64(): np.uint64}.get(
        storage_type(array.type), np.int64
    )
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=len(array) + array.offset)[array.offset :]


def unscaled(array: pa.Array) -> Ints:
    """The unscaled 64-bit numbers of a decimal128 array: precision up to 18, or arrays that pass `fits_64_bits`."""
    words = np.frombuffer(array.buffers()[1], dtype=np.int64, count=2 * (len(array) + array.offset))
    return words[2 * array.offset :: 2]


def fits_64_bits(array: pa.Array) -> bool:
    """Whether the unscaled numbers of a decimal128 array (without nulls) are signed numbers of 64 bits."""
    words = np.frombuffer(array.buffers()[1], dtype=np.int64, count=2 * (len(array) + array.offset))
    low, high = words[2 * array.offset :: 2], words[2 * array.offset + 1 :: 2]
    return bool((high == low >> 63).all())


def is_narrow(array: pa.Array) -> bool:
    """Whether the unscaled numbers of a decimal array, their absolute values and its scale as a power of ten fit 64
    bits: those of up to 18 digits do, and most of wider columns."""
    type = array.type
    if type.precision <= 18:
        return True
    if not pa.types.is_decimal128(type) or not 0 <= type.scale <= 18:
        return False
    whole = array.fill_null(0) if array.null_count else array
    return fits_64_bits(whole) and bool((unscaled(whole) != np.iinfo(np.int64).min).all())


def decimals(numbers: Ints, precision: int, scale: int, nulls: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """A decimal128 array of unscaled 64-bit numbers: `decimals([1250], 10, 2)` is 12.50."""
    words = np.empty((len(numbers), 2), dtype=np.int64)
    words[:, 0] = numbers
    words[:, 1] = numbers >> 63
    return pa.Array.from_buffers(
        pa.decimal128(precision, scale), len(numbers), [validity(nulls), pa.py_buffer(words)], -1
    )


def validity(nulls: npt.NDArray[np.bool_] | None) -> pa.Buffer | None:
    """Arrow's validity bitmap for a mask that is true where the value is null; None without nulls."""
    if nulls is None or not nulls.any():
        return None
    return pa.py_buffer(np.packbits(~nulls, bitorder="little"))


def primitive(numbers: npt.NDArray[Any], type: pa.DataType, nulls: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """An Arrow array over these numbers, of a type of the same width (int64 as timestamp, int32 as date32 …)."""
    return pa.Array.from_buffers(type, len(numbers), [validity(nulls), pa.py_buffer(np.ascontiguousarray(numbers))], -1)


def cut_times(array: pa.Array, unit_us: int) -> pa.Array:
    """Timestamps or times of day rounded down to a multiple of `unit_us` microseconds; infinity stays."""
    us = numbers(array)
    rest = us % unit_us
    if not rest.any():
        return array
    nulls = np.asarray(array.is_null()) if array.null_count else None
    return primitive(np.where(np.abs(us) == INFINITE_US, us, us - rest), array.type, nulls)


# ----------------------------------------------------------------------------------------------- times that are texts


def text_us(text: str) -> int:
    """The microseconds of a carrier text: since 1970 in UTC, or of the day; finer fractions are cut.

    >>> text_us("1970-01-01 08:00:01.5000009 +08:00"), text_us("00:00:02.25")
    (1500000, 2250000)
    """
    match = _MOMENT.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no date or time with an offset")
    year, month, day, hour, minute, second, fraction, sign, ahead, past = match.groups()
    days = dt.date(int(year), int(month), int(day)).toordinal() + FIRST_DAY - 1 if year else 0
    seconds = int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)
    if sign:
        seconds -= (int(ahead) * 60 + int(past)) * (60 if sign == "+" else -60)
    return days * US_PER_DAY + seconds * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))
