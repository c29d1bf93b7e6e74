"""Zero and partial dates, which MySQL stores and no calendar has: `0000-00-00`, `2020-00-00`, `2024-02-31`.

MySQL's columns of dates, and of dates and times, have the Arrow types `DATE` and `DATETIME`: those of the calendar,
marked as columns whose numbers below the calendar are partial dates. They print as dates, and so does a single number
of a partial date (`Partial`). Columns of other systems do not have these types: PostgreSQL's numbers below the calendar
are dates before Christ.

The number of a partial date is `_DAYS + year·512 + month·32 + day`, and that many days in microseconds and the time of
day for a datetime. Ordinary dates keep their numbers, so columns of both are written at the same speed. Only this
module knows these numbers.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import FIRST_DAY, US_PER_DAY, Ints

# One above the least 32-bit number, and one day above the least 64-bit number (NumPy's NaT).
_DAYS: Final = -(2**31) + 1
_US: Final = -(2**63) + US_PER_DAY


class Partial(int):
    """The number of a partial date, or of one with a time of day, which prints as what it stands for.

    >>> [partial_day(2020, 0, 0), partial_us(0, 0, 0, 3_500_000)]
    [2020-00-00, 0000-00-00 00:00:03.500000]
    """

    def __repr__(self) -> str:
        return date_text(self) if self >= _DAYS else datetime_text(self)

    __str__ = __repr__


def partial_day(year: int, month: int, day: int) -> Partial:
    """`partial_day(2020, 0, 0)`: the number of days that stands for `2020-00-00`."""
    return Partial(_DAYS + year * 512 + month * 32 + day)


def partial_us(year: int, month: int, day: int, us: int = 0) -> Partial:
    """The number of microseconds that stands for `2020-00-00` with a time of day of `us` microseconds."""
    return Partial(_US + (year * 512 + month * 32 + day) * US_PER_DAY + us)


# 0000-00-00, and that with the time 00:00:00.
ZERO_DAY: Final = partial_day(0, 0, 0)
ZERO_US: Final = partial_us(0, 0, 0)


def is_partial(day: int) -> bool:
    """Whether a number of days stands for a partial date."""
    return day < FIRST_DAY


def are_partial_days(days: Ints) -> npt.NDArray[np.bool_]:
    """Marks the numbers of days that stand for partial dates."""
    return days < FIRST_DAY


def are_partial(us: Ints) -> npt.NDArray[np.bool_]:
    """Marks the numbers of microseconds that stand for partial dates."""
    return us < FIRST_DAY * US_PER_DAY


def date_parts(day: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days.

    >>> date_parts(19_782), date_parts(partial_day(2020, 0, 0))
    ((2024, 2, 29), (2020, 0, 0))
    """
    if day < FIRST_DAY:
        code = day - _DAYS
        return code >> 9, (code >> 5) & 15, code & 31
    date = dt.date.fromordinal(day - FIRST_DAY + 1)
    return date.year, date.month, date.day


@lru_cache(maxsize=1 << 12)
def date_text(day: int) -> str:
    """`2024-02-29`, `2020-00-00`."""
    return "{:04}-{:02}-{:02}".format(*date_parts(day))


def datetime_text(us: int) -> str:
    """`2020-00-00 01:02:03.500000`."""
    day, time_us = split_us(us)
    seconds, fraction = divmod(time_us, 1_000_000)
    return f"{date_text(day)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def split_us(us: int) -> tuple[int, int]:
    """The number of days of a number of microseconds, and the microseconds of its day."""
    if us >= FIRST_DAY * US_PER_DAY:
        return divmod(us, US_PER_DAY)
    code, time_us = divmod(us - _US, US_PER_DAY)
    return Partial(_DAYS + code), time_us


def joined_us(day: int, time_us: int) -> int:
    """The number of microseconds of a number of days and microseconds of its day: the reverse of `split_us`."""
    if day >= FIRST_DAY:
        return day * US_PER_DAY + time_us
    return Partial(_US + (day - _DAYS) * US_PER_DAY + time_us)


def split_all(us: Ints) -> tuple[Ints, Ints]:
    """`split_us` of a column."""
    partial = are_partial(us)
    days, time_us = np.divmod(np.where(partial, us - _US, us), US_PER_DAY)
    return np.where(partial, days + _DAYS, days), time_us


# ------------------------------------------------------------------------------------------------------ Arrow's types


class PartialDateScalar(pa.ExtensionScalar):  # type: ignore[misc]
    """A value of a column: `datetime.date` or `datetime.datetime`, of a partial date its text, as MySQL's drivers have
    it."""

    def as_py(self, **options: Any) -> dt.date | dt.datetime | str | None:
        if not self.is_valid:
            return None
        is_day = pa.types.is_date32(self.value.type)
        number = self.value.cast(pa.int32() if is_day else pa.int64()).as_py()
        if number < (FIRST_DAY if is_day else FIRST_DAY * US_PER_DAY):
            return date_text(number) if is_day else datetime_text(number)
        value: dt.date | dt.datetime = self.value.as_py()
        return value


class PartialDateArray(pa.ExtensionArray):  # type: ignore[misc]
    """A column of dates, some of which may be partial."""

    def __repr__(self) -> str:
        shown = [str(value) for value in (self if len(self) <= 20 else [*self[:10], "…", *self[-10:]])]
        return f"<{self.type}: {', '.join(shown)}>"

    __str__ = __repr__


class PartialDateType(pa.ExtensionType):  # type: ignore[misc]
    """Dates, or dates and times, of a system that stores partial ones, too."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "cdcsim.partial_dates")

    def __str__(self) -> str:
        return f"partial_dates[{self.storage_type}]"

    def __hash__(self) -> int:
        return hash((self.extension_name, self.storage_type))

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> PartialDateType:
        return cls(storage_type)

    def __arrow_ext_class__(self) -> type[PartialDateArray]:
        return PartialDateArray

    def __arrow_ext_scalar_class__(self) -> type[PartialDateScalar]:
        return PartialDateScalar


DATE: Final = PartialDateType(pa.date32())
DATETIME: Final = PartialDateType(pa.timestamp("us"))
