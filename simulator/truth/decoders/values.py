"""Values as messages hold them, read back: what a consumer of a format must know of them, and no more.

A `Reading` gives a literal of the source system, or, where that has no literal for it, what the column's carrier holds.
A value of a type without a reading is a literal already: text, or a number as it is written. `seen` is how much of a
value a format carries: both sides of a comparison go through it, and `lost` says in words what is gone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from simulator import sources
from simulator.batch import decoded
from simulator.model import ColumnType
from simulator.sources.mysql.geometry import to_text

# A value of a message and its column's type → a literal, or what the carrier holds. Without a type, where nobody knows
# it, the value is read as far as that goes.
Read: TypeAlias = Callable[[Any, Any], Any]


class Carried(str):
    """A text that is what the carrier holds, and not a literal."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How a format's values of a type are read, and how much of them it carries. `left_out`: it has no such member."""

    read: Read = lambda value, type: value
    seen: Callable[[Any, ColumnType], Any] = lambda value, type: value
    left_out: bool = False
    lost: str = ""

    def value(self, source: str, type: ColumnType, value: Any) -> Any:
        """A value of a message, as much of it as the format carries. Raises ValueError and its like."""
        got = self.read(value, type)
        literal = isinstance(got, str) and not isinstance(got, Carried)
        return self.seen(parsed(source, type, got) if literal else got, type)


def carried(array: pa.Array) -> list[Any]:
    """The values of a carrier, floats as their shortest text, so that NaN is NaN and -0.0 is not 0.0."""
    array = decoded(array)
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


@cache
def parsed(source: str, type: ColumnType, literal: str) -> Any:
    """What the carrier of a type holds for a literal."""
    return carried(sources.find(source).parse_values([literal], type))[0]


# ---------------------------------------------------------------------------------------------- how values are written


def latin1(value: str, type: ColumnType) -> bytes:
    """Bytes as the text that they are in ISO-8859-1; a BINARY without the zeros that fill it up."""
    return filled(value.encode("latin1"), type)


def filled(data: bytes, type: ColumnType | None) -> bytes:
    """Bytes of a BINARY, with the zeros that MySQL's log leaves away."""
    return data.ljust(type.length or 1, b"\0") if type is not None and type.name == "binary" else data


def hexadecimal(value: str, type: ColumnType) -> bytes:
    return bytes.fromhex(value)


def signed_bytes(value: str, type: ColumnType) -> bytes:
    """`[0, -1]`: bytes as Java prints them."""
    return filled(bytes(int(part) & 255 for part in value.strip("[]").split(",") if part), type)


def in_base64(value: str, type: ColumnType) -> bytes:
    return base64.b64decode(value, validate=True)


def number(read: Read) -> Read:
    """Bytes that are a number."""
    return lambda value, type: str(int.from_bytes(read(value, type)))


def later(text: str, seconds: float) -> str:
    """A date and time some seconds later, of any year."""
    match = re.fullmatch(r"(-?\d+)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no date and time")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    moment = datetime(2000 + year % 400, month, day, hour, minute, second, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment.year - 2000 - year % 400 + year:04}{moment:-%m-%d %H:%M:%S}{match[7] or ''}"


def east(hours: int) -> Read:
    """A time printed in a zone this many hours east of UTC; MySQL's zero is the same everywhere."""
    return lambda value, type: value if value.startswith("0000") else later(value, -3600 * hours)


def named_zone(value: str, type: ColumnType) -> str:
    """A time that the name of its zone follows."""
    text, _, zone = value.rpartition(" ")
    seconds, _, fraction = text.partition(".")
    utc = datetime.fromisoformat(seconds).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(' ')}.{fraction or 0}"


def interval_of_parts(value: str, type: ColumnType) -> str:
    """`-1 2:3:4.05`, of numbers without leading zeros."""
    return re.sub(r"(?<=[ :])\d\b", lambda digit: f"0{digit[0]}", value) if ":" in value else value


def interval_literal(value: str, type: ColumnType) -> str:
    """`INTERVAL '-1 02:03:04' DAY TO SECOND`, `INTERVAL '1' MONTH`."""
    match = re.fullmatch(r"INTERVAL '(-?)(.+)' (\w+)(?: TO \w+)?", value)
    if match is None:
        raise ValueError(f"{value!r} is no interval")
    short = {"MONTH": "0-{}", "DAY": "{} 00:00:00", "YEAR": "{}-0"}
    return match[1] + (match[2] if " TO " in value else short[match[3]].format(match[2]))


def epoch(value: str, type: ColumnType | None) -> str:
    """Seconds since 1970, with a fraction; zero is MySQL's 0000-00-00."""
    if value.startswith("0000"):
        return value
    seconds, _, fraction = value.partition(".")
    if not int(seconds) and not fraction.strip("0"):
        return "0000-00-00 00:00:00"
    return later(f"1970-01-01 00:00:00{'.' if fraction else ''}{fraction}", int(seconds))


# --------------------------------------------------------------------------------------------- how much is carried


def significant(digits: int) -> Reading:
    """Floating point numbers that are printed with some digits of their shortest text, and no sign of zero."""

    def seen(value: str | Decimal, type: ColumnType) -> str:
        if not isinstance(value, Decimal):
            short = str(np.float32(float(value))) if digits < 10 else value
            value = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(short)
        return str((value + 0).normalize())

    return Reading(lambda value, type: Decimal(value), seen, lost=f"digits after the first {digits}, sign of zero")


def to_milliseconds(microseconds: int, type: ColumnType) -> int:
    return microseconds // 1000


def to_seconds(microseconds: int, type: ColumnType) -> int:
    return microseconds // 1_000_000


def cut_to_microseconds(value: Any, type: ColumnType) -> Any:
    """Texts of times with six digits of a fraction at most; nothing is left of less."""
    if not is_time(value):
        return value
    cut = re.sub(r"\.\d+", lambda match: match[0][:7].rstrip("0").rstrip("."), value)
    return cut if re.search(r"[1-9]", cut) else cut.replace("-", "+", 1)


def is_time(value: Any) -> bool:
    return isinstance(value, str) and re.search(r"\d:\d\d:\d\d\.", value) is not None


def no_srid(data: bytes, type: ColumnType) -> bytes:
    """A geometry of MySQL without its first four bytes, the number of its reference system."""
    return data[4:]


def geometry_text(data: bytes) -> str:
    """The text of a geometry in well-known binary."""
    return to_text(bytes(4) + data)


EMPTY_LOB: Final = "empty_clob()"
NO_SRID: Final = "reference system"

LITERAL: Final = Reading()
# Texts of which not a blank may differ, though a literal with another would be read as the same.
AS_TEXT: Final = Reading(lambda value, type: Carried(value))
TEXTS: Final = ("text", "json", "xml", "uuid")
LATIN1: Final = Reading(latin1)
HEXADECIMAL: Final = Reading(hexadecimal)
BASE64: Final = Reading(in_base64)
SIGNED_BYTES: Final = Reading(signed_bytes)
EPOCH: Final = Reading(epoch)
SHANGHAI: Final = Reading(east(8))
LOB: Final = Reading(lambda value, type: value or EMPTY_LOB)
LEFT_OUT: Final = Reading(left_out=True, lost="columns")
