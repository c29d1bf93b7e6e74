"""What a MySQL column is filled with: boundary values of every type, and believable values when nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable
from simulator.sources.believable import Drawn
from simulator.sources.mysql.types import CHARSETS, DEFAULT_CHARSET, TYPES, bounds, family, precision_scale

# Values above this many bytes are large objects; `boundary_values` leaves them out unless asked.
LARGE_BYTES: Final = 70_000

# Unsigned values from these on take a wider signed type at the reader.
_PROMOTIONS: Final = (127, 128, 32_767, 32_768, 8_388_607, 8_388_608, 2**31 - 1, 2**31, 2**63 - 1, 2**63)

# A text of every type, with the arguments at which products change their minds.
CORPUS_TYPES: Final = (
    *("tinyint", "tinyint unsigned", "tinyint(1)", "smallint", "smallint unsigned", "mediumint", "mediumint unsigned"),
    *("int", "int unsigned", "int(8) unsigned zerofill", "bigint", "bigint unsigned"),
    *("decimal(10,2)", "decimal(10,2) unsigned", "decimal(20,11)", "decimal(65,30)", "float", "float(7,2)", "double"),
    *("bit(1)", "bit(8)", "bit(64)", "date", "datetime", "datetime(3)", "datetime(6)", "timestamp", "timestamp(6)"),
    *("time", "time(6)", "year", "char(5)", "varchar(60)", "varchar(60) character set latin1"),
    *("tinytext", "text", "mediumtext", "longtext", "binary(4)", "varbinary(300)"),
    *("tinyblob", "blob", "mediumblob", "longblob", "json", "enum('new','it''s','中')", "set('a','b','c d')"),
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    "geometrycollection",
)

_TEXTS: Final = (
    "a",
    "héé",
    "中文",
    "😀",
    "  x  ",
    "a\tb\nc\r",
    "\x00\x01\b\x0b\f\x1f",
    "\x7f\x80\x9f\xa0",
    "\u200b\u2028\u2029\ufeff",
    "\"\\/'`",
    "<b>&amp;=</b>",
    "\\n",
    "null",
    "e\u0301",
    "\U000e0041",
)
_BYTES: Final = ("0x00", "0xff", "0x61000000", "0x00ff10", "0xe4b8ad", "0x220a5c", "0x7f80", "0xefbbbf")
_JSON: Final = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "65536",
    "9223372036854775807",
    "18446744073709551615",
    "1.5",
    "-0.0",
    "3.0",
    "1e20",
    "1e-7",
    '""',
    '"str"',
    "{}",
    "[]",
    '{"": "empty key", "a": [1.0, null, "x", true, {"z": {}}], "b": 1, "aa": {"deep": {"er": [[], [[]]]}}}',
    '{"中": "文😀é", "q\\"k": "v\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u0080\\u00a0\\u2028"}',
    '["<a href=\'x\'>&amp;</a>", "\\\\u0041"]',
)
_GEOMETRIES: Final = {
    "point": ("POINT(1 2)", "POINT(-1.5 1e10)", "SRID=4326;POINT(116.4 39.9)"),
    "linestring": ("LINESTRING(0 0,1 1)",),
    "polygon": ("POLYGON((0 0,1 0,1 1,0 0))", "POLYGON((0 0,10 0,10 10,0 10,0 0),(5 5,7 5,7 7,5 7,5 5))"),
    "multipoint": ("MULTIPOINT(0 0,1 1)",),
    "multilinestring": ("MULTILINESTRING((0 0,1 1),(2 2,3 3))",),
    "multipolygon": ("MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",),
    "geometrycollection": ("GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))", "GEOMETRYCOLLECTION EMPTY"),
}


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.mysql.types import parse_type
    >>> boundary_values(parse_type("tinyint unsigned"))
    ['0', '1', '127', '128', '255', None]
    """
    values = list(dict.fromkeys(_BOUNDARIES[family(type)](type)))
    if large and TYPES[type.name].max_bytes >= LARGE_BYTES:
        values.append(_large(type))
    return [*values, None]


def _large(type: ColumnType) -> str:
    if family(type) == "json":
        return json.dumps(["x" * (LARGE_BYTES - 4)])
    if family(type) == "binary":
        return "0x" + "00ff" * (LARGE_BYTES // 2)
    return "0123456789" * (LARGE_BYTES // 10)


def _integers(type: ColumnType) -> list[str]:
    low, high = bounds(type)
    edges = {low, -1, 0, 1, high, *_PROMOTIONS}
    return [str(value) for value in sorted(edges) if low <= value <= high]


def _decimals(type: ColumnType) -> list[str]:
    precision, scale = precision_scale(type)
    digits = "9" * precision
    whole, fraction = digits[: precision - scale] or "0", digits[precision - scale :]
    widest = whole + ("." + fraction if fraction else "")
    least = "0." + "1".zfill(scale) if scale else "1"
    values = ["0", least, widest]
    if precision - scale >= 1:
        values += ["5", "5.1"] if scale else ["5"]
    if scale > 9:
        values.append("0.123456789")
    if not type.unsigned:
        values += ["-" + least, "-" + widest]
    return values


def _floats(type: ColumnType) -> list[str]:
    values = ["0", "1", "3.14", "0.1", "0.001", "9999999", "1e7"]
    if type.scale is None:
        values += {
            "float": ["0.0009999", "16777217", "123456789", "3.4028235e38", "1.17549435e-38", "1e-45"],
            "double": ["0.0009999", "2e23", "1.7976931348623157e308", "2.2250738585072014e-308", "4.9e-324"],
        }[type.name]
    else:
        most = (type.length or 0) - type.scale
        values = [value for value in values if float(value) < 10.0**most]
    if not type.unsigned:
        values += ["-0e0", "-1.5"] if type.scale is None else ["-0e0"]
    return values


def _bits(type: ColumnType) -> list[str]:
    bits = type.length or 1
    return ["0", "1", str(1 << bits - 1), str((1 << bits) - 1)]


_DATES: Final = (
    "0000-00-00",
    "2020-00-00",
    "2020-02-00",
    "0001-01-01",
    "1000-01-01",
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "2024-02-29",
    "9999-12-31",
)


def _fractions(type: ColumnType) -> list[str]:
    digits = type.length or 0
    if not digits:
        return [""]
    return ["", "." + "1".zfill(digits), "." + "5".ljust(digits, "0"), "." + "9" * digits]


def _datetimes(type: ColumnType) -> list[str]:
    fractions = _fractions(type)
    if type.name == "timestamp":
        days = ["0000-00-00 00:00:00", "1970-01-01 00:00:01", "2000-02-29 12:34:56", "2024-02-29 23:59:59"]
        # the last one is the hour that summer time skips in Europe, which no offset of UTC does
        days += ["2038-01-19 03:14:07", "2024-03-31 01:30:00"]
    else:
        days = [f"{day} 00:00:00" for day in _DATES[:-1]] + ["2020-00-15 01:02:03", "9999-12-31 23:59:59"]
    return [day + fraction for day in days for fraction in (fractions if day[:4] in ("2024", "2038", "9999") else [""])]


def _times(type: ColumnType) -> list[str]:
    values = ["-838:59:59", "-100:00:00", "-23:59:59", "-00:00:01", "00:00:00", "12:34:56", "99:59:59", "838:59:59"]
    return values + [f"{sign}00:00:00{fraction}" for sign in ("", "-") for fraction in _fractions(type) if fraction]


def _years(type: ColumnType) -> list[str]:
    return ["0000", "1901", "1970", "2024", "2155"]


def _texts(type: ColumnType) -> list[str]:
    row = TYPES[type.name]
    width, codec = CHARSETS[type.charset or DEFAULT_CHARSET]
    most = type.length if row.arguments in ("char", "varchar") else row.max_bytes // width
    assert most is not None
    values = [""]
    for value in _TEXTS:
        value = value.rstrip(" ") if type.name == "char" else value
        fits = value.isascii() if width == 1 else width == 4 or all(ord(character) <= 0xFFFF for character in value)
        if fits and len(value) <= most and not _lacks(value, codec):
            values.append(value)
    if 0 < most <= 1000:
        values.append(("0123456789" * (most // 10 + 1))[:most])
    return values


def _lacks(value: str, codec: str) -> bool:
    try:
        value.encode(codec)
    except UnicodeEncodeError:
        return True
    return False


def _binaries(type: ColumnType) -> list[str]:
    most = type.length if type.length is not None else TYPES[type.name].max_bytes
    values = ["", *(value for value in _BYTES if len(value) // 2 - 1 <= most)]
    if most >= 256:
        values.append("0x" + bytes(range(256)).hex())
    return values


def _enums(type: ColumnType) -> list[str]:
    return ["", *type.labels]


def _sets(type: ColumnType) -> list[str]:
    return ["", *type.labels, ",".join(type.labels)]


def _geometries(type: ColumnType) -> list[str]:
    if type.name != "geometry":
        return list(_GEOMETRIES[type.name])
    return [text for texts in _GEOMETRIES.values() for text in texts]


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "integer": _integers,
    "decimal": _decimals,
    "float": _floats,
    "bit": _bits,
    "date": lambda type: list(_DATES),
    "datetime": _datetimes,
    "time": _times,
    "year": _years,
    "text": _texts,
    "binary": _binaries,
    "json": lambda type: list(_JSON),
    "enum": _enums,
    "set": _sets,
    "geometry": _geometries,
}


# --------------------------------------------------------------------------------------------------------- defaults


def default_values(type: ColumnType) -> Drawn:
    """How a column is filled of which a scenario says nothing.

    >>> from simulator.sources.mysql.types import parse_type
    >>> default_values(parse_type("varchar(40)"))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    >>> default_values(parse_type("decimal(10,2)"))
    ('range', ('0', '9999.99'))
    """
    return _DEFAULTS[family(type)](type)


def _default_integer(type: ColumnType) -> Drawn:
    if type.name == "tinyint" and type.length == 1:
        return believable.choices("01")
    return believable.integers(bounds(type)[1])


def _default_float(type: ColumnType) -> Drawn:
    if type.scale is None:
        return believable.FLOATS
    return believable.up_to(str(10 ** min((type.length or 0) - type.scale, 4) - 1))


def _default_text(type: ColumnType) -> Drawn:
    short = TYPES[type.name].arguments in ("char", "varchar")
    most = (type.length or 0) if short else TYPES[type.name].max_bytes // 4
    return believable.texts(most, fixed=type.name == "char", long=not short)


def _default_bytes(type: ColumnType) -> Drawn:
    most = type.length if type.length is not None else TYPES[type.name].max_bytes
    return believable.binaries(most, fixed=type.name == "binary")


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "integer": _default_integer,
    "decimal": lambda type: believable.decimals(*precision_scale(type)),
    "float": _default_float,
    "bit": lambda type: believable.bits(type.length or 1),
    "date": lambda type: believable.DATES,
    "datetime": lambda type: believable.DATETIMES,
    "time": lambda type: believable.TIMES,
    "year": lambda type: ("range", ("1970", "2029")),
    "text": _default_text,
    "binary": _default_bytes,
    "json": lambda type: believable.DOCUMENTS,
    "enum": lambda type: believable.choices(type.labels),
    "set": lambda type: believable.bits(len(type.labels)),
    "geometry": lambda type: believable.BOUNDARY,
}
