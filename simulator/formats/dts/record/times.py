"""Dates and times in row images: the value records Timestamp, DateTime and TimestampWithTimeZone.

Members that the type lacks are null. All members of a date before Christ or of a negative interval are negative.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import decoded
from simulator.carriers import storage_type
from simulator.formats.dts.record.record import BRANCHES, decoded_type, of_distinct, with_nulls_of
from simulator.native.program import Kind
from simulator.partial_dates import are_partial, date_parts, split_us
from simulator.text.columns import whole_numbers
from simulator.text.mysql import CALENDAR, written
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import plain

Ints = npt.NDArray[np.int64]
MEMBERS: Final = "YMDhmsf"


def timestamps(array: pa.Array) -> list[Bytes]:
    """Epoch seconds and microseconds; the zero timestamp is 0 and 0."""
    us, _ = whole_numbers(array)
    us = np.where(are_partial(us), 0, us)
    seconds = us // 1_000_000
    fraction = us - seconds * 1_000_000
    fraction_bytes: Bytes = avro.Longs(fraction) if fraction.any() else avro.long(0)
    return [BRANCHES["Timestamp"], with_nulls_of(avro.Longs(seconds), array), fraction_bytes]


def datetimes(array: pa.Array, members: str, units: int, branch: str = "DateTime") -> list[Bytes]:
    """The members that the type has, null for the others.

    Carriers are days, timestamps, times of day, whole numbers (years) and texts (`members_of`).
    """
    type = decoded_type(array)
    lead = BRANCHES[branch]
    if pa.types.is_string(type):
        return [
            lead,
            plain(of_distinct(array, lambda text: datetime_record(members_of(text, members), members, units))),
        ]
    array = decoded(array)
    if pa.types.is_integer(type):
        years, _ = whole_numbers(array)
        return [lead + b"\x02", with_nulls_of(avro.Longs(years), array), b"\x00" * 6]
    if pa.types.is_date32(storage_type(type)):
        days, _ = whole_numbers(array)
        clock = b"\x00" * 4 if "h" not in members else b"\x02\x00" * 3 + (b"\x02\x00" if "f" in members else b"\x00")
        return [lead, with_nulls_of(day_members(days), array), clock]
    if pa.types.is_duration(type):
        return [lead + b"\x00" * 3, *time_members(array, units)]
    us, nulls = whole_numbers(array)

    def record(us: int) -> bytes:
        day, time_us = split_us(us)
        seconds, fraction = divmod(time_us, 1_000_000)
        values = (*date_parts(day), seconds // 3600, seconds // 60 % 60, seconds % 60)
        return record_of([*values, fraction * units if "f" in members else None])

    digits = units if "f" in members else 0
    return [lead, written(us, nulls, Kind.MEMBERS, digits, CALENDAR, record, pa.binary())]


def record_of(numbers: Sequence[int | None]) -> bytes:
    """A DateTime of its seven members."""
    return b"".join(b"\x00" if number is None else b"\x02" + avro.long(number) for number in numbers)


def datetime_record(values: Mapping[str, int], members: str, units: int) -> bytes:
    """A DateTime of values by the letters of their members. The fraction comes in nanoseconds and is written in
    `units` of a microsecond."""
    scaled = {**values, "f": int(values.get("f", 0) / (1000 / units))}
    return record_of([scaled.get(letter, 0) if letter in members else None for letter in MEMBERS])


# The days of two centuries take the same number of bytes each, so they come from a table; others are made one by one.
_FIRST_TABLED: Final = -25_567  # 1900-01-01
_TABLED: Final = 84_006  # up to 2129


@lru_cache(maxsize=1)
def _days() -> npt.NDArray[np.void]:
    days = np.arange(_FIRST_TABLED, _FIRST_TABLED + _TABLED).astype("datetime64[D]")
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970
    months = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    dates = (days - days.astype("datetime64[M]")).astype(np.int64) + 1
    day_fields = np.empty((_TABLED, 7), dtype=np.uint8)
    day_fields[:, (0, 3, 5)] = 2
    day_fields[:, 1], day_fields[:, 2] = (years << 1) & 0x7F | 0x80, years >> 6
    day_fields[:, 4], day_fields[:, 6] = months << 1, dates << 1
    return day_fields.view("V7").reshape(-1)


@lru_cache(maxsize=1)
def _clock() -> npt.NDArray[np.void]:
    seconds = np.arange(86_400)
    clock_fields = np.full((86_400, 6), 2, dtype=np.uint8)
    clock_fields[:, 1], clock_fields[:, 3], clock_fields[:, 5] = (
        seconds // 3600 << 1,
        seconds // 60 % 60 << 1,
        seconds % 60 << 1,
    )
    return clock_fields.view("V6").reshape(-1)


def _cells(cells: npt.NDArray[np.void]) -> pa.Array:
    """A column of bytes of one size."""
    return pa.Array.from_buffers(pa.binary(cells.itemsize), len(cells), [None, pa.py_buffer(cells)]).cast(pa.binary())


def day_members(days: Ints) -> pa.Array:
    """Year, month, day."""
    rows = days - _FIRST_TABLED
    if not len(days) or (int(rows.min()) >= 0 and int(rows.max()) < _TABLED):
        return _cells(_days()[rows])
    distinct, inverse = np.unique(days, return_inverse=True)
    return avro.looked_up([record_of(date_parts(day)) for day in distinct.tolist()], inverse)


def clock_members(seconds: npt.NDArray[Any]) -> pa.Array:
    """Hour, minute, second of seconds of the day."""
    return _cells(_clock()[seconds])


def fraction_member(fraction: Ints) -> Bytes:
    if not fraction.any():
        return b"\x02\x00"
    return avro.join([b"\x02", avro.Longs(fraction)], len(fraction))


def time_members(array: pa.Array, units: int) -> list[Bytes]:
    """Hour, minute, second and fraction, each negative where the time is: `-00:30:00.5` is 0, -30, 0, -500000."""
    us, _ = whole_numbers(array)
    sign, size = np.sign(us), np.abs(us)
    seconds = size // 1_000_000
    pieces: list[Bytes] = []
    if (us >= 0).all() and (seconds < 86_400).all():
        pieces = [with_nulls_of(clock_members(seconds), array)]
    else:
        parts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
        pieces = [piece for part in parts for piece in (b"\x02", with_nulls_of(avro.Longs(sign * part), array))]
    return [*pieces, fraction_member(sign * (size - seconds * 1_000_000) * units)]


def zoned(array: pa.Array, members: str, units: int) -> list[Bytes]:
    """A wall clock and its time zone; timestamps that keep no time zone are in UTC."""
    if not pa.types.is_string(decoded_type(array)):
        return [*datetimes(array, members, units, "TimestampWithTimeZone"), avro.string("+00:00")]

    def record(text: str) -> bytes:
        clock, _, zone = text.rpartition(" ")
        if ":" in zone and zone[0].isdigit():
            clock, zone = text, "+00:00"  # no time zone, and more digits than microseconds have
        return datetime_record(members_of(clock, members), members, units) + avro.string(zone)

    return [BRANCHES["TimestampWithTimeZone"], plain(of_distinct(array, record))]


_DATE_TIME: Final = re.compile(r"(-?)(?:(-?\d+)-(\d\d)-(\d\d))?[ T]?(?:(\d+):(\d\d):(\d\d)(?:\.(\d+))?)?")
_YEARS: Final = re.compile(r"([+-]?)(\d+)-(\d+)")
_DAYS: Final = re.compile(r"([+-]?)(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?")


def members_of(text: str, members: str) -> dict[str, int]:
    """A text's members, the fraction in nanoseconds. All members of a negative interval are negative.

    >>> members_of("2024-05-01 10:00:00.1234567", "YMDhmsf")
    {'Y': 2024, 'M': 5, 'D': 1, 'h': 10, 'm': 0, 's': 0, 'f': 123456700}
    >>> members_of("-1 02:03:04.5", "Dhmsf"), members_of("+04-03", "YM")
    ({'D': -1, 'h': -2, 'm': -3, 's': -4, 'f': -500000000}, {'Y': 4, 'M': 3})
    """
    pattern = {"YM": _YEARS, "Dhmsf": _DAYS}.get(members, _DATE_TIME)
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not made of {members}")
    sign, *parts = match.groups()
    letters = "YMDhmsf" if pattern is _DATE_TIME else members
    factor = -1 if sign == "-" else 1
    return {letter: factor * int(part.ljust(9, "0")[:9] if letter == "f" else part)
            for letter, part in zip(letters, parts, strict=True) if part is not None}  # fmt: skip
