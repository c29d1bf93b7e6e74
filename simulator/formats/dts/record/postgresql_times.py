"""PostgreSQL's dates and times in row images: its calendar begins before Christ and ends far after 9999.

A DateTime cannot say `infinity`. Decided here: it is the day that PostgreSQL's JDBC driver uses for it (constants of
`PGStatement`), 292278994-08-17 and 292269055-12-03 BC. All members of a day before Christ are negative.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, INFINITE_DAYS, INFINITE_US, US_PER_DAY
from simulator.formats.dts.record.record import BRANCHES, of_distinct, with_nulls_of
from simulator.formats.dts.record.times import (
    clock_members,
    datetime_record,
    day_members,
    fraction_member,
    members_of,
    record_of,
)
from simulator.sources.postgresql.times import civil
from simulator.text.columns import whole_numbers
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import plain

Ints = npt.NDArray[np.int64]

INFINITY: Final = (292_278_994, 8, 17)
MINUS_INFINITY: Final = (292_269_055, 12, 3)
# The last day that NumPy's calendar and Python's have in common.
_LAST_DAY: Final = 2_932_896
_OFFSET: Final = re.compile(r"(.*\d)([+-]\d\d)(?::(\d\d))?(:\d\d)?")


def dates(array: pa.Array) -> list[Bytes]:
    """DateTimes with year, month and day."""
    array = decoded(array)
    days, _ = whole_numbers(array)
    zeros = np.zeros(len(days), dtype=np.int64)
    return _members("DateTime", array, days, zeros, zeros, "YMD")


def timestamps(array: pa.Array, members: str, units: int, branch: str = "DateTime") -> list[Bytes]:
    """DateTimes with all members, the fraction in `units` of a microsecond; those with a time zone in UTC."""
    array = decoded(array)
    us, _ = whole_numbers(array)
    days, us_of_day = np.divmod(us, US_PER_DAY)
    infinite = np.abs(us) == INFINITE_US
    days = np.where(infinite, np.sign(us) * INFINITE_DAYS, days)
    seconds = np.where(infinite, 0, us_of_day // 1_000_000)
    return _members(branch, array, days, seconds, np.where(infinite, 0, us_of_day % 1_000_000 * units), members)


def zoned_timestamps(array: pa.Array, members: str, units: int) -> list[Bytes]:
    """Timestamps with a time zone in UTC: readers want an offset, not the name of a zone."""
    pieces = timestamps(array, members, units, "TimestampWithTimeZone")
    return [*pieces, avro.string("+00:00")]


def zoned_times(array: pa.Array, members: str, units: int) -> list[Bytes]:
    """Times of day and their offset, from the server's text: `12:34:56.5+02`."""

    def record(text: str) -> bytes:
        match = _OFFSET.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a time with an offset")
        clock, hours, minutes, seconds = match.groups()
        zone = f"{hours}:{minutes or '00'}{seconds or ''}"
        return datetime_record(members_of(clock, members), members, units) + avro.string(zone)

    return [BRANCHES["TimestampWithTimeZone"], plain(of_distinct(array, record))]


def _members(branch: str, array: pa.Array, days: Ints, seconds: Ints, fraction: Ints, members: str) -> list[Bytes]:
    """Records of days since 1970, seconds of the day and fractions."""
    rare = (days < FIRST_DAY) | (days > _LAST_DAY)
    clocked = "h" in members
    ordinary = np.where(rare, 0, days) if rare.any() else days
    pieces: list[Bytes] = [BRANCHES[branch], with_nulls_of(day_members(ordinary), array)]
    pieces += [clock_members(seconds), fraction_member(fraction)] if clocked else [b"\x00" * 4]
    if not rare.any():
        return pieces
    records = [
        None if not valid else BRANCHES[branch] + record_of(_numbers(*numbers, clocked=clocked))
        for valid, *numbers in zip(
            np.asarray(array.is_valid())[rare].tolist(),
            days[rare].tolist(),
            seconds[rare].tolist(),
            fraction[rare].tolist(),
            strict=True,
        )
    ]
    return [pc.replace_with_mask(avro.join(pieces, len(array)), pa.array(rare), pa.array(records, pa.binary()))]


def _numbers(day: int, seconds: int, fraction: int, *, clocked: bool) -> list[int | None]:
    """The seven members of a day outside the years 1 to 9999."""
    if abs(day) == INFINITE_DAYS:
        year, month, number = INFINITY if day > 0 else MINUS_INFINITY
        before = day < 0
    else:
        year, month, number = civil(day)
        before = year <= 0
        year = 1 - year if before else year
    clock = [seconds // 3600, seconds // 60 % 60, seconds % 60, fraction] if clocked else []
    sign = -1 if before else 1
    return [sign * part for part in (year, month, number, *clock)] + [None] * (4 - len(clock))
