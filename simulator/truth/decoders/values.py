"""Readers of the values in messages, with no more knowledge than a consumer of the format needs.

A `Reading` converts a value to a literal of the source system, or, if the system has no literal for it, to the value of
the column's carrier. Values of types without a reading are literals already: text, or a number in its spelling. `seen`
reduces a value to the part that a format carries, on both sides of a comparison; `lost` names the rest in words.
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
from simulator.carriers import as_integers
from simulator.model import ColumnType
from simulator.sources.mysql.geometry import to_text

# A value of a message and its column's type → a literal, or the carrier's value. If the type is unknown (None), the
# value is read as far as possible.
Read: TypeAlias = Callable[[Any, Any], Any]


class Carried(str):
    """A text that is the carrier's value, not a literal."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Reader of a format's values of a type, and the part of them that it carries. `left_out`: messages have no such
    member."""

    read: Read = lambda value, type: value
    seen: Callable[[Any, ColumnType], Any] = lambda value, type: value
    left_out: bool = False
    lost: str = ""

    def value(self, source: str, type: ColumnType, value: Any) -> Any:
        """A value of a message, reduced to the part that the format carries. Raises ValueError and similar errors."""
        got = self.read(value, type)
        literal = isinstance(got, str) and not isinstance(got, Carried)
        return self.seen(parsed(source, type, got) if literal else got, type)


def carried(array: pa.Array) -> list[Any]:
    """The values of a carrier; floats as their shortest text, so NaN equals NaN and -0.0 differs from 0.0."""
    values = as_integers(decoded(array)).to_pylist()
    return [repr(value) if isinstance(value, float) else value for value in values]


@cache
def parsed(source: str, type: ColumnType, literal: str) -> Any:
    """The carrier's value for a literal of a type."""
    return carried(sources.find(source).parse_values([literal], type))[0]


# ---------------------------------------------------------------------------------------------- how values are written


def latin1(value: str, type: ColumnType) -> bytes:
    """Bytes of an ISO-8859-1 text; a BINARY without its padding zeros."""
    return filled(value.encode("latin1"), type)


def filled(data: bytes, type: ColumnType | None) -> bytes:
    """Bytes of a BINARY, with the padding zeros that MySQL's log omits."""
    return data.ljust(type.length or 1, b"\0") if type is not None and type.name == "binary" else data


def hexadecimal(value: str, type: ColumnType) -> bytes:
    return bytes.fromhex(value)


def signed_bytes(value: str, type: ColumnType) -> bytes:
    """Bytes from Java's print of them: `[0, -1]`."""
    return filled(bytes(int(part) & 255 for part in value.strip("[]").split(",") if part), type)


def in_base64(value: str, type: ColumnType) -> bytes:
    return base64.b64decode(value, validate=True)


def number(read: Read) -> Read:
    """Reader of bytes that represent a number."""
    return lambda value, type: str(int.from_bytes(read(value, type)))


def later(text: str, seconds: float) -> str:
    """A date and time of any year, moved by some seconds."""
    match = re.fullmatch(r"(-?\d+)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no date and time")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    moment = datetime(2000 + year % 400, month, day, hour, minute, second, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment.year - 2000 - year % 400 + year:04}{moment:-%m-%d %H:%M:%S}{match[7] or ''}"


def east(hours: int) -> Read:
    """Reader of times printed in a zone this many hours east of UTC; MySQL's zero is the same in every zone."""
    return lambda value, type: value if value.startswith("0000") else later(value, -3600 * hours)


def named_zone(value: str, type: ColumnType) -> str:
    """A time followed by the name of its zone."""
    text, _, zone = value.rpartition(" ")
    seconds, _, fraction = text.partition(".")
    utc = datetime.fromisoformat(seconds).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(' ')}.{fraction or 0}"


def interval_of_parts(value: str, type: ColumnType) -> str:
    """An interval of numbers without leading zeros: `-1 2:3:4.05`."""
    return re.sub(r"(?<=[ :])\d\b", lambda digit: f"0{digit[0]}", value) if ":" in value else value


def interval_literal(value: str, type: ColumnType) -> str:
    """An interval literal: `INTERVAL '-1 02:03:04' DAY TO SECOND`, `INTERVAL '1' MONTH`."""
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
    """Reading of floating point numbers that are printed with this many digits of their shortest text; zero has no
    sign."""

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
    """Times with at most six fraction digits; smaller parts are lost."""
    if not is_time(value):
        return value
    cut = re.sub(r"\.\d+", lambda match: match[0][:7].rstrip("0").rstrip("."), value)
    return cut if re.search(r"[1-9]", cut) else cut.replace("-", "+", 1)


def is_time(value: Any) -> bool:
    return isinstance(value, str) and re.search(r"\d:\d\d:\d\d\.", value) is not None


def no_srid(data: bytes, type: ColumnType) -> bytes:
    """A MySQL geometry without its SRID, the first four bytes."""
    return data[4:]


def geometry_text(data: bytes) -> str:
    """The text of a geometry in well-known binary."""
    return to_text(bytes(4) + data)


EMPTY_LOB: Final = "empty_clob()"
NO_SRID: Final = "reference system"

LITERAL: Final = Reading()
# Texts that must agree to the last blank, although literals with other blanks would be read as the same value.
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
