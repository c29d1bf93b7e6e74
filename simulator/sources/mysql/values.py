"""MySQL values: literals as a person writes them to carrier arrays, and back to the text that MySQL's client shows.

Nothing is vectorised: literals come from scenarios and scripts, a few at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.errors import short
from simulator.model import ColumnType
from simulator.partial_dates import date_text
from simulator.sources import literals
from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import times as mysql_times
from simulator.sources.mysql.type_table import (
    CHARSETS,
    DEFAULT_CHARSET,
    TYPES,
    arrow_type,
    bounds,
    family,
    precision_scale,
)

_HEX: Final = re.compile(r"0x([0-9A-Fa-f]+)|[xX]'((?:[0-9A-Fa-f]{2})*)'")
_BITS: Final = re.compile(r"0b([01]+)|[bB]'([01]*)'")
_BOOLS: Final = {"true": 1, "false": 0}


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
    return literals.carried(values, arrow_type(type))


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`: each value as MySQL's client shows it.

    Three families differ from the client, so that the text can be read back: floats have the digits that bring back
    the same value, bytes are `0x…`, geometries are well-known text. Timestamps are UTC.
    """
    show = _FORMATTERS[family(type)]
    return [None if value is None else show(value, type) for value in literals.raw_values(array)]


# ------------------------------------------------------------------------------------------------------ numbers


def _integer(text: str, type: ColumnType) -> int:
    word = text.strip().lower()
    if type.name == "tinyint" and word in _BOOLS:
        return _BOOLS[word]
    return literals.integer(text, bounds(type), _name(type))


def _name(type: ColumnType) -> str:
    return type.name + (" unsigned" if type.unsigned else "")


def _decimal(text: str, type: ColumnType) -> Decimal:
    precision, scale = precision_scale(type)
    value = literals.decimal(text, precision, scale, f"decimal({precision},{scale})")
    if type.unsigned and value < 0:
        raise ValueError(f"{text.strip()} is below 0, and the column is unsigned")
    return value


def _float(text: str, type: ColumnType) -> float:
    value = literals.finite_float(text)
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
    """A value of FLOAT(m,d) or DOUBLE(m,d): the part above the floor is rounded, so -0.00001 is -9.99999999995449e-06
    (captured).
    """
    integer, power = math.floor(value), 10.0**digits
    return integer + round((value - integer) * power) / power


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
        raise ValueError(f"{short(text)} is not a bit value such as b'101', 0x05 or 5")
    bits = type.length or 1
    if value >> bits:
        raise ValueError(f"{word} does not fit bit({bits})")
    return value


def _year(text: str, type: ColumnType) -> int:
    word = text.strip()
    if word in ("0", "0000"):
        return 0
    if not re.fullmatch(r"\d{4}", word) or not 1901 <= int(word) <= 2155:
        raise ValueError(f"{short(text)} is not a year from 1901 to 2155, or 0000")
    return int(word)


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
        raise ValueError(f"{short(text)} has a character that {charset} lacks: {value[error.start]!r}") from None
    if codec == "utf-8" and width == 3 and len(encoded) > 3 and any(ord(character) > 0xFFFF for character in value):
        raise ValueError(f"{short(text)} has a character of four bytes, and {charset} has three at most")
    if row.arguments in ("char", "varchar"):
        if len(value) > (type.length or 0):
            raise ValueError(f"{short(text)} has {len(value)} characters, and {type.name}({type.length}) holds fewer")
    elif len(encoded) > row.max_bytes:
        raise ValueError(f"{short(text)} has {len(encoded)} bytes, and {type.name} holds {row.max_bytes}")
    return value


def _binary(text: str, type: ColumnType) -> bytes:
    row = TYPES[type.name]
    value = literals.hexadecimal(match[1] or match[2] or "") if (match := _HEX.fullmatch(text)) else text.encode()
    most = type.length if type.length is not None else row.max_bytes
    if len(value) > most:
        type_text = f"{type.name}({most})" if type.length is not None else type.name
        raise ValueError(f"{short(text)} has {len(value)} bytes, and {type_text} holds {most}")
    return value.ljust(most, b"\0") if type.name == "binary" else value


def _enum(text: str, type: ColumnType) -> int:
    index = _label(text, type.labels)
    if index is not None:
        return index + 1
    if text == "":
        return 0
    if text.isdecimal() and int(text) <= len(type.labels):
        return int(text)
    raise ValueError(f"{short(text)} is none of the labels {literals.listed(type.labels)}")


def _set(text: str, type: ColumnType) -> int:
    mask = 0
    for label in text.split(",") if text else ():
        index = _label(label, type.labels)
        if index is None:
            if text.isdecimal() and int(text) < 1 << len(type.labels):
                return int(text)
            raise ValueError(f"{short(label)} is none of the labels {literals.listed(type.labels)}")
        mask |= 1 << index
    return mask


def _label(text: str, labels: tuple[str, ...]) -> int | None:
    if text in labels:
        return labels.index(text)
    # MySQL's default collations ignore case
    folded = [label.casefold() for label in labels]
    return folded.index(text.casefold()) if folded.count(text.casefold()) == 1 else None


_PARSERS: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "integer": _integer,
    "decimal": _decimal,
    "float": _float,
    "bit": _bit,
    "date": mysql_times.date,
    "datetime": mysql_times.datetime,
    "time": mysql_times.time,
    "year": _year,
    "text": _text,
    "binary": _binary,
    "json": lambda text, type: mysql_json.normalise(text),
    "enum": _enum,
    "set": _set,
    "geometry": lambda text, type: mysql_geometry.to_bytes(text, type.name),
}
_FORMATTERS: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "integer": lambda value, type: str(value).zfill(type.length or 0) if type.zerofill else str(value),
    "decimal": lambda value, type: format(value, "f"),
    "float": _show_float,
    "bit": lambda value, type: f"b'{value:0{type.length or 1}b}'",
    "date": lambda value, type: date_text(value),
    "datetime": mysql_times.show_datetime,
    "time": mysql_times.show_time,
    "year": lambda value, type: f"{value:04}",
    "text": lambda value, type: value,
    "binary": lambda value, type: "0x" + value.hex() if value else "",
    "json": lambda value, type: value,
    "enum": lambda value, type: type.labels[value - 1] if value else "",
    "set": lambda mask, type: ",".join(label for i, label in enumerate(type.labels) if mask >> i & 1),
    "geometry": lambda value, type: mysql_geometry.to_text(value),
}
