"""MySQL values: literals as a person writes them to carrier arrays, and back to the text that MySQL's client shows.

Vectorised nothing: literals come from scenarios and scripts, a few at a time.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.carriers import FIRST_DAY, PARTIAL_DAYS, PARTIAL_US, US_PER_DAY, partial_day, partial_us, split_partial
from simulator.model import ColumnType
from simulator.sources import mysql_geometry, mysql_json
from simulator.sources.mysql_types import CHARSETS, DEFAULT_CHARSET, TYPES, arrow_type, bounds, family, precision_scale

_INTEGER: Final = re.compile(r"[+-]?\d+")
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_CLOCK: Final = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?"
_DATETIME: Final = re.compile(rf"(\d{{4}}-\d{{1,2}}-\d{{1,2}})(?:[ T]{_CLOCK})?\s*(Z|[+-]\d{{2}}:\d{{2}})?")
_TIME: Final = re.compile(r"(-?)(\d{1,3}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?")
_HEX: Final = re.compile(r"0x([0-9A-Fa-f]+)|[xX]'((?:[0-9A-Fa-f]{2})*)'")
_BITS: Final = re.compile(r"0b([01]+)|[bB]'([01]*)'")
_BOOLS: Final = {"true": 1, "false": 0}
# 838:59:59
MAX_TIME_US: Final = (838 * 3600 + 59 * 60 + 59) * 1_000_000
# 1970-01-01 00:00:01 and 2038-01-19 03:14:07.999999, UTC
TIMESTAMP_US: Final = (1_000_000, (1 << 31) * 1_000_000 - 1)
# 9999-12-31 23:59:59.999999
_LAST_US: Final = 253_402_300_800_000_000 - 1


def parse_values(texts: Sequence[str | None], type: ColumnType) -> pa.Array:
    """Literals of a column's type as its carrier array; None is null. Raises ValueError with one sentence.

    | family | literals |
    | --- | --- |
    | integer | `-5`; `true`, `false` for tinyint |
    | decimal | `12.345`, `1e3`; rounded half up to the scale, as MySQL does |
    | float | `1.5`, `1e3`, `-0e0` |
    | bit | `b'101'`, `0b101`, `0x05`, `5` |
    | date | `2024-02-29`, also `0000-00-00` and `2020-00-00` |
    | datetime | `2024-02-29 12:34:56.789`, or with `T`, or the date alone; a timestamp is UTC or says `+08:00` |
    | time | `-838:59:59` to `838:59:59` |
    | year | `1901` to `2155`, `0000` |
    | text | itself |
    | binary | `0x6a67`, `x'6a67'`, or text, as UTF-8 |
    | json | any JSON text |
    | enum | a label, else its number from 1; `''` when it is no label is the error value |
    | set | labels with commas between, or the mask |
    | geometry | `POINT(1 2)`, `SRID=4326;LINESTRING(0 0,1 1)` … |
    """
    parse = _PARSERS[family(type)]
    values = [None if text is None else parse(text, type) for text in texts]
    return _array(values, type)


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`: each value as MySQL's client shows it.

    Three families differ from the client, so that the text can be read back: floats have the digits that bring back
    the same value, bytes are `0x…`, geometries are well-known text. Timestamps are UTC.
    """
    show = _FORMATTERS[family(type)]
    raw: list[Any]
    if family(type) in ("date", "datetime", "time"):
        numbers = array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
        raw = numbers.to_pylist()
    else:
        raw = array.to_pylist()
    return [None if value is None else show(value, type) for value in raw]


def _array(values: list[Any], type: ColumnType) -> pa.Array:
    carrier = arrow_type(type)
    if pa.types.is_temporal(carrier):
        whole = pa.int32() if carrier == pa.date32() else pa.int64()
        return pa.array(values, type=whole).view(carrier)
    if carrier == pa.float32():
        # through NumPy, so that a value is rounded once
        nulls = np.array([value is None for value in values], dtype=bool)
        return pa.array(
            np.array([0.0 if value is None else value for value in values], dtype=np.float32), mask=nulls, type=carrier
        )
    return pa.array(values, type=carrier)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ------------------------------------------------------------------------------------------------------ numbers


def _integer(text: str, type: ColumnType) -> int:
    low, high = bounds(type)
    word = text.strip()
    if type.name == "tinyint" and word.lower() in _BOOLS:
        return _BOOLS[word.lower()]
    if not _INTEGER.fullmatch(word):
        raise ValueError(f"{_short(text)} is not a whole number")
    if not low <= int(word) <= high:
        raise ValueError(f"{word} is outside {low} to {high}, the bounds of {_name(type)}")
    return int(word)


def _name(type: ColumnType) -> str:
    return type.name + (" unsigned" if type.unsigned else "")


def _decimal(text: str, type: ColumnType) -> Decimal:
    precision, scale = precision_scale(type)
    with localcontext(prec=200) as context:
        try:
            exact = Decimal(text.strip())
            if not exact.is_finite():
                raise InvalidOperation
            value = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=context)
        except InvalidOperation:
            raise ValueError(f"{_short(text)} is not a decimal number") from None
        if abs(value) >= Decimal(10) ** (precision - scale):
            raise ValueError(f"{text.strip()} does not fit decimal({precision},{scale})")
        if type.unsigned and value < 0:
            raise ValueError(f"{text.strip()} is below 0, and the column is unsigned")
        # MySQL has no negative zero among decimals
        return value if value else abs(value)


def _float(text: str, type: ColumnType) -> float:
    try:
        value = float(text.strip())
    except ValueError:
        value = float("nan")
    word = text.strip().lower().lstrip("+-")
    if value != value or word.startswith(("inf", "nan")) or "_" in word:
        raise ValueError(f"{_short(text)} is not a number such as 1.5 or 1e3")
    if type.scale is not None and type.length is not None and math.isfinite(value):
        value = cut(value, type.scale)
        if abs(value) >= 10.0 ** (type.length - type.scale):
            raise ValueError(f"{text.strip()} does not fit {type.name}({type.length},{type.scale})")
    with np.errstate(over="ignore"):
        stored = float(np.float32(value)) if type.name == "float" else value
    if stored in (float("inf"), float("-inf")):
        raise ValueError(f"{text.strip()} is beyond the range of {type.name}")
    if type.unsigned and stored < 0:
        raise ValueError(f"{text.strip()} is below 0, and the column is unsigned")
    return stored


def cut(value: float, digits: int) -> float:
    """FLOAT(m,d), DOUBLE(m,d): the part above the floor is rounded, so -0.00001 is -9.99999999995449e-06 (captured)."""
    whole, power = math.floor(value), 10.0**digits
    return whole + round((value - whole) * power) / power


def _show_float(value: float, type: ColumnType) -> str:
    if type.name == "float":
        return mysql_json.plain_double(value, str(np.float32(value)))
    return mysql_json.plain_double(value)


def _bit(text: str, type: ColumnType) -> int:
    word = text.strip()
    if match := _BITS.fullmatch(word):
        value = int(match[1] or match[2] or "0", 2)
    elif match := _HEX.fullmatch(word):
        value = int(match[1] or match[2] or "0", 16)
    elif word.lower() in _BOOLS:
        value = _BOOLS[word.lower()]
    elif word.isdecimal():
        value = int(word)
    else:
        raise ValueError(f"{_short(text)} is not a bit value such as b'101', 0x05 or 5")
    bits = type.length or 1
    if value >> bits:
        raise ValueError(f"{word} does not fit bit({bits})")
    return value


def _year(text: str, type: ColumnType) -> int:
    word = text.strip()
    if word in ("0", "0000"):
        return 0
    if not re.fullmatch(r"\d{4}", word) or not 1901 <= int(word) <= 2155:
        raise ValueError(f"{_short(text)} is not a year from 1901 to 2155, or 0000")
    return int(word)


# ------------------------------------------------------------------------------------------------ dates and times


def _day(text: str) -> int:
    """The carrier of a date: days since 1970, or the code of a partial date."""
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError(f"{_short(text)} is not a date such as 2024-02-29")
    year, month, day = (int(part) for part in match.groups())
    if month and day and year:
        try:
            return dt.date(year, month, day).toordinal() + FIRST_DAY - 1
        except ValueError:
            raise ValueError(f"{text} is not in the calendar") from None
    if month > 12 or day > 31 or (month and day > _longest(month)):
        raise ValueError(f"{text} is not in the calendar")
    return partial_day(year, month, day)


def _longest(month: int) -> int:
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def _date(text: str, type: ColumnType) -> int:
    return _day(text.strip())


def _show_day(days: int) -> str:
    if days >= FIRST_DAY:
        return dt.date.fromordinal(days - FIRST_DAY + 1).isoformat()
    return "{:04}-{:02}-{:02}".format(*split_partial(days - PARTIAL_DAYS))


def _fraction_us(digits: str | None, places: int) -> int:
    """Microseconds of a fraction's digits, rounded half up to this many places; may be a whole second."""
    if not digits:
        return 0
    kept = int(digits[: places + 1].ljust(places + 1, "0"))
    return (kept + 5) // 10 * int(10 ** (6 - places))


def _datetime(text: str, type: ColumnType) -> int:
    word = text.strip()
    match = _DATETIME.fullmatch(word)
    if not match:
        raise ValueError(f"{_short(text)} is not a date and time such as 2024-02-29 12:34:56")
    date, hour, minute, second, digits, zone = match.groups()
    parts = int(hour or 0), int(minute or 0), int(second or 0)
    if parts[0] > 23 or parts[1] > 59 or parts[2] > 59:
        raise ValueError(f"{_short(text)} has no such time of day")
    time_us = (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1_000_000 + _fraction_us(digits, type.length or 0)
    day = _day(date)
    if day < FIRST_DAY:
        return _partial(word, day, time_us, type, zone)
    us = day * US_PER_DAY + time_us
    if zone is not None:
        if type.name != "timestamp":
            raise ValueError(f"{_short(text)} has a time zone, and {type.name} has none")
        if zone != "Z":
            sign = -1 if zone[0] == "-" else 1
            us -= sign * (int(zone[1:3]) * 60 + int(zone[4:])) * 60_000_000
    if type.name == "timestamp" and not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]:
        raise ValueError(
            f"{word} is outside 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999, the bounds of timestamp"
        )
    if us > _LAST_US:
        raise ValueError(f"{word} is rounded beyond the year 9999")
    return us


def _partial(word: str, day: int, time_us: int, type: ColumnType, zone: str | None) -> int:
    code = day - PARTIAL_DAYS
    if type.name == "timestamp" and (code or time_us):
        raise ValueError(f"{word} is no point in time; a timestamp has no partial date but 0000-00-00 00:00:00")
    if zone is not None:
        raise ValueError(f"{word} has a time zone, but is no point in time")
    if time_us >= US_PER_DAY:
        raise ValueError(f"{word} is rounded beyond its day, which is none of the calendar")
    return partial_us(*split_partial(code), time_us)


def _show_datetime(us: int, type: ColumnType) -> str:
    if us >= FIRST_DAY * US_PER_DAY:
        days, rest = divmod(us, US_PER_DAY)
    else:
        code, rest = divmod(us - PARTIAL_US, US_PER_DAY)
        days = PARTIAL_DAYS + code
    return f"{_show_day(days)} {_show_clock(rest, type.length or 0)}"


def _show_clock(us: int, digits: int) -> str:
    seconds, us = divmod(us, 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{us:06}"[: 1 + digits - 7 or None] if digits else text


def _time(text: str, type: ColumnType) -> int:
    word = text.strip()
    match = _TIME.fullmatch("00:00:00" if word == "0" else word)
    if not match or int(match[3]) > 59 or int(match[4] or 0) > 59:
        raise ValueError(f"{_short(text)} is not a time such as 12:34:56 or -838:59:59")
    us = (int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4] or 0)) * 1_000_000
    us += _fraction_us(match[5], type.length or 0)
    if us > MAX_TIME_US:
        raise ValueError(f"{word} is outside -838:59:59 to 838:59:59")
    return -us if match[1] else us


def _show_time(us: int, type: ColumnType) -> str:
    return ("-" if us < 0 else "") + _show_clock(abs(us), type.length or 0)


# ---------------------------------------------------------------------------------------------- texts and the rest


def _text(text: str, type: ColumnType) -> str:
    row = TYPES[type.name]
    charset = type.charset or DEFAULT_CHARSET
    width, codec = CHARSETS[charset]
    # The server strips the blanks at the end of a CHAR.
    value = text.rstrip(" ") if type.name == "char" else text
    try:
        encoded = value.encode(codec)
    except UnicodeEncodeError as error:
        raise ValueError(f"{_short(text)} has a character that {charset} lacks: {value[error.start]!r}") from None
    if codec == "utf-8" and width == 3 and len(encoded) > 3 and any(ord(character) > 0xFFFF for character in value):
        raise ValueError(f"{_short(text)} has a character of four bytes, and {charset} has three at most")
    if row.arguments in ("char", "varchar"):
        if len(value) > (type.length or 0):
            raise ValueError(f"{_short(text)} has {len(value)} characters, and {type.name}({type.length}) holds fewer")
    elif len(encoded) > row.max_bytes:
        raise ValueError(f"{_short(text)} has {len(encoded)} bytes, and {type.name} holds {row.max_bytes}")
    return value


def _binary(text: str, type: ColumnType) -> bytes:
    row = TYPES[type.name]
    if match := _HEX.fullmatch(text):
        digits = match[1] or match[2] or ""
        value = bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))
    else:
        value = text.encode()
    most = type.length if type.length is not None else row.max_bytes
    if len(value) > most:
        shown = f"{type.name}({most})" if type.length is not None else type.name
        raise ValueError(f"{_short(text)} has {len(value)} bytes, and {shown} holds {most}")
    return value.ljust(most, b"\0") if type.name == "binary" else value


def _json(text: str, type: ColumnType) -> str:
    return mysql_json.normalise(text)


def _enum(text: str, type: ColumnType) -> int:
    place = _label(text, type.labels)
    if place is not None:
        return place + 1
    if text == "":
        return 0
    if text.isdecimal() and int(text) <= len(type.labels):
        return int(text)
    raise ValueError(f"{_short(text)} is none of {_listed(type.labels)}")


def _set(text: str, type: ColumnType) -> int:
    mask = 0
    for label in text.split(",") if text else ():
        place = _label(label, type.labels)
        if place is None:
            if text.isdecimal() and int(text) < 1 << len(type.labels):
                return int(text)
            raise ValueError(f"{_short(label)} is none of {_listed(type.labels)}")
        mask |= 1 << place
    return mask


def _label(text: str, labels: tuple[str, ...]) -> int | None:
    if text in labels:
        return labels.index(text)
    # MySQL's default collations ignore case
    folded = [label.casefold() for label in labels]
    return folded.index(text.casefold()) if folded.count(text.casefold()) == 1 else None


def _listed(labels: tuple[str, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return f"the labels {shown}" + (" …" if len(labels) > 8 else "")


def _show_set(mask: int, type: ColumnType) -> str:
    return ",".join(label for i, label in enumerate(type.labels) if mask >> i & 1)


def _geometry(text: str, type: ColumnType) -> bytes:
    return mysql_geometry.to_bytes(text, type.name)


_PARSERS: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "integer": _integer,
    "decimal": _decimal,
    "float": _float,
    "bit": _bit,
    "date": _date,
    "datetime": _datetime,
    "time": _time,
    "year": _year,
    "text": _text,
    "binary": _binary,
    "json": _json,
    "enum": _enum,
    "set": _set,
    "geometry": _geometry,
}
_FORMATTERS: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "integer": lambda value, type: str(value).zfill(type.length or 0) if type.zerofill else str(value),
    "decimal": lambda value, type: format(value, "f"),
    "float": _show_float,
    "bit": lambda value, type: f"b'{value:0{type.length or 1}b}'",
    "date": lambda value, type: _show_day(value),
    "datetime": _show_datetime,
    "time": _show_time,
    "year": lambda value, type: f"{value:04}",
    "text": lambda value, type: value,
    "binary": lambda value, type: "0x" + value.hex() if value else "",
    "json": lambda value, type: value,
    "enum": lambda value, type: type.labels[value - 1] if value else "",
    "set": _show_set,
    "geometry": lambda value, type: mysql_geometry.to_text(value),
}
