"""What a SQL Server column is filled with: boundary values of each type, and believable ones when nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable
from simulator.sources.believable import Drawn
from simulator.sources.sqlserver.type_table import FILLED, NATIONAL, bounds, codec, digits, family, precision_scale
from simulator.sources.sqlserver.values import MONEY

# Values above this many bytes are large objects; `boundary_values` leaves them out unless asked.
LARGE_BYTES: Final = 70_000

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
    "\"\\/'`[]",
    "<b>&amp;=</b>",
    "\\n",
    "null",
    "e\u0301",
)
_BYTES: Final = ("0x00", "0xFF", "0x61000000", "0x00FF10", "0xE4B8AD", "0x220A5C", "0x7F80", "0xEFBBBF")
_DATES: Final = ("0001-01-01", "1752-09-09", "1900-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31")
_SHAPES: Final = (
    "POINT(1 2)",
    "SRID=4326;POINT(116.4 39.9)",
    "LINESTRING(0 0,1 1)",
    "LINESTRING(0 0,1 1,2 0)",
    "POLYGON((0 0,10 0,10 10,0 10,0 0),(5 5,5 7,7 7,7 5,5 5))",
    "MULTIPOINT(0 0,1 1)",
    "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
    "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))",
    "GEOMETRYCOLLECTION EMPTY",
)
_XML: Final = (
    "",
    "<a/>",
    '<order id="7"><item sku="a&amp;b">2 &lt; 3</item><note>中文 😀</note></order>',
    "<a>1</a><a>2</a>",
    "just text",
)


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.sqlserver.types import parse_type
    >>> boundary_values(parse_type("tinyint"))
    ['0', '1', '127', '128', '255', None]
    """
    values = list(dict.fromkeys(_BOUNDARIES[family(type)](type)))
    if large and type.length is None and type.name != "timestamp" and family(type) in ("text", "binary"):
        values.append("0x" + "00FF" * (LARGE_BYTES // 2) if family(type) == "binary" else "0123456789" * 7000)
    elif large and type.name == "xml":
        values.append(f"<a>{'0123456789' * 7000}</a>")
    return [*values, None]


def _integers(type: ColumnType) -> list[str]:
    low, high = bounds(type)
    edges = {low, -1, 0, 1, high, 127, 128, 32_767, 32_768, 2**31 - 1, 2**31}
    return [str(value) for value in sorted(edges) if low <= value <= high]


def _point(unscaled: int, scale: int) -> str:
    text = str(abs(unscaled)).zfill(scale + 1)
    return ("-" if unscaled < 0 else "") + (f"{text[:-scale]}.{text[-scale:]}" if scale else text)


def _decimals(type: ColumnType) -> list[str]:
    precision, scale = precision_scale(type)
    most = MONEY.get(type.name, 10**precision - 1)
    least = -most - (type.name in MONEY)
    edges = [0, 1, -1, most, least]
    if precision > scale:
        edges += [5 * 10**scale, 51 * 10**scale // 10]
    return [_point(value, scale) for value in edges]


def _floats(type: ColumnType) -> list[str]:
    values = ["0", "1", "3.14", "0.1", "0.001", "0.0009999", "9999999", "1e7", "-0e0", "-1.5"]
    if type.name == "real":
        return [*values, "16777217", "123456789", "3.4028235e38", "-3.4028235e38", "1.17549435e-38"]
    return [*values, "2e23", "1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308"]


def _fractions(type: ColumnType) -> list[str]:
    places = digits(type)
    if type.name == "datetime":
        return ["", ".003", ".007", ".990", ".997"]
    return ["", "." + "1".zfill(places), "." + "5".ljust(places, "0"), "." + "9" * places] if places else [""]


def _datetimes(type: ColumnType) -> list[str]:
    if type.name == "smalldatetime":
        return ["1900-01-01 00:00:00", "1970-01-01 00:00:00", "2024-02-29 12:35:00", "2079-06-06 23:59:00"]
    days = [day for day in _DATES if type.name != "datetime" or day > "1753"]
    if type.name == "datetime":
        days.insert(0, "1753-01-01")
    values = [f"{day} 00:00:00" for day in days[:-1]]
    return values + [
        f"{moment}{fraction}"
        for moment in ("2024-02-29 12:34:56", "9999-12-31 23:59:59")
        for fraction in _fractions(type)
    ]


def _zoned(type: ColumnType) -> list[str]:
    return [
        "0001-01-01 00:00:00 +00:00",
        "1970-01-01 00:00:00 +00:00",
        "1969-12-31 19:00:00 -05:00",
        "2024-02-29 12:34:56 +14:00",
        "2024-02-29 12:34:56 -14:00",
        *(f"2024-03-31 02:30:00{fraction} +05:45" for fraction in _fractions(type)),
        f"9999-12-31 23:59:59{_fractions(type)[-1]} +00:00",
    ]


def _times(type: ColumnType) -> list[str]:
    return ["00:00:00", "12:34:56", *(f"23:59:59{fraction}" for fraction in _fractions(type))]


def _texts(type: ColumnType) -> list[str]:
    if type.labels:
        return list(type.labels)
    most = type.length if type.length is not None else 1000
    values = ["", *(value for value in _TEXTS if _size(value, type) <= most)]
    return [*values, ("0123456789" * (most // 10 + 1))[:most]] if most <= 1000 else values


def _size(value: str, type: ColumnType) -> int:
    try:
        encoded = value.encode(codec(type))
    except UnicodeEncodeError:
        return 1 << 31
    return len(encoded) // 2 if type.name in NATIONAL else len(encoded)


def _binaries(type: ColumnType) -> list[str]:
    if type.name == "timestamp":
        return ["0x0000000000000000", "0x00000000000007D0", "0x7FFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFF"]
    most = type.length if type.length is not None else 1000
    values = ["", *(value for value in _BYTES if len(value) // 2 - 1 <= most)]
    return [*values, "0x" + bytes(range(256)).hex().upper()] if most >= 256 else values


def _other(type: ColumnType) -> list[str]:
    if type.name == "hierarchyid":
        return ["/", "/0/", "/1/", "/1/3/", "/2/15/16/79/", "/80/1103/1104/5199/", "/-1/-8/-9/-72/"]
    return ["", "1", "-1.50", "2024-02-29 12:34:56.123", "text 中文"]


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "bit": lambda type: ["0", "1"],
    "integer": _integers,
    "decimal": _decimals,
    "float": _floats,
    "date": lambda type: list(_DATES),
    "time": _times,
    "datetime": _datetimes,
    "zoned": _zoned,
    "text": _texts,
    "binary": _binaries,
    "uuid": lambda type: [
        "00000000-0000-0000-0000-000000000000",
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ],
    "xml": lambda type: list(_XML),
    "other": _other,
    "geometry": lambda type: list(_SHAPES),
}


# --------------------------------------------------------------------------------------------------- defaults


def default_values(type: ColumnType) -> Drawn:
    """How a column is filled of which a scenario says nothing.

    >>> from simulator.sources.sqlserver.types import parse_type
    >>> default_values(parse_type("nvarchar(40)"))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    """
    drawn = _DEFAULTS.get(family(type))
    return drawn(type) if drawn is not None else believable.BOUNDARY


def _default_text(type: ColumnType) -> Drawn:
    if type.labels:
        return believable.choices(type.labels)
    most = type.length if type.length is not None else 60
    return believable.texts(most, fixed=type.name in FILLED, long=type.length is None)


def _default_bytes(type: ColumnType) -> Drawn:
    if type.name == "timestamp":
        return believable.binaries(8, fixed=True)
    return believable.binaries(type.length if type.length is not None else 32, fixed=type.name == "binary")


_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "bit": lambda type: believable.up_to("1"),
    "integer": lambda type: believable.integers(bounds(type)[1]),
    "decimal": lambda type: believable.decimals(*precision_scale(type)),
    "float": lambda type: believable.FLOATS,
    "date": lambda type: believable.DATES,
    "datetime": lambda type: believable.DATETIMES,
    "zoned": lambda type: believable.DATETIMES,
    "time": lambda type: believable.TIMES,
    "text": _default_text,
    "binary": _default_bytes,
    "uuid": lambda type: believable.UUIDS,
}
