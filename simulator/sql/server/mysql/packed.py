"""Decodes packed decimals, dates and times of the log."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from simulator.partial_dates import ZERO_DAY
from simulator.sql.server.mysql.binlog import Bytes
from simulator.sql.values import temporal

# Bytes of decimal digits that do not fill a group of nine.
_DIGIT_BYTES: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def decimal(data: Bytes, precision: int, scale: int) -> Decimal:
    """A decimal in groups of nine digits, high bytes first, its sign in the first bit."""
    whole_groups, leading = divmod(precision - scale, 9)
    fraction_groups, trailing = divmod(scale, 9)
    count = _DIGIT_BYTES[leading] + 4 * whole_groups + 4 * fraction_groups + _DIGIT_BYTES[trailing]
    raw = bytearray(data.take(count))
    negative = not raw[0] & 0x80
    raw[0] ^= 0x80
    part = Bytes(bytes(byte ^ 0xFF for byte in raw) if negative else bytes(raw))
    digits = f"{part.big(_DIGIT_BYTES[leading])}" if leading else "0"
    digits += "".join(f"{part.big(4):09}" for _ in range(whole_groups))
    digits += "." if scale else ""
    digits += "".join(f"{part.big(4):09}" for _ in range(fraction_groups))
    digits += f"{part.big(_DIGIT_BYTES[trailing]):0{trailing}}" if trailing else ""
    value = Decimal(digits)
    return value.copy_negate() if negative and value else value


def day_of(year: int, month: int, day: int) -> int:
    """The day's number; that of 0000-00-00 for a date that does not exist."""
    number = temporal.day_of(year, month, day)
    return ZERO_DAY if number is None else number


def clock_us(packed: int) -> int:
    """Microseconds from ten bits of hours, six of minutes, six of seconds."""
    return ((packed >> 12 & 0x3FF) * 3600 + (packed >> 6 & 63) * 60 + (packed & 63)) * 1_000_000


def date_and_time(packed: int) -> tuple[int, int]:
    """The day and the microseconds since midnight of a packed datetime of 40 bits without its sign."""
    ymd, hms = packed >> 17, packed & 0x1FFFF
    months, day = ymd >> 5, ymd & 31
    return day_of(months // 13, months % 13, day), clock_us(hms)
