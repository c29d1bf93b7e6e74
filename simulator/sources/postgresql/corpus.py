"""What a PostgreSQL column is filled with: boundary values of every type, and believable ones when nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.sources import believable
from simulator.sources.believable import Drawn
from simulator.sources.postgresql.type_table import EVERY_TYPE, arrow_type, bounds, element, family, fraction_digits
from simulator.sources.postgresql.types import POSTGRESQL_16, Dialect

# Values above this many bytes are large objects; `boundary_values` leaves them out unless asked.
LARGE_BYTES: Final = 70_000

# Where a wider type would be needed at a reader.
_PROMOTIONS: Final = (127, 128, 255, 256, 32_767, 32_768, 2**31 - 1, 2**31, 2**63 - 1, 2**63)
_TEXTS: Final = (
    "a",
    "héé",
    "中文",
    "😀",
    "  x  ",
    "a\tb\nc\r",
    "\x01\b\x0b\f\x1f",
    "\x7f\x80\x9f\xa0",
    "\u200b\u2028\u2029\ufeff",
    "\"\\/'`",
    "<b>&amp;=</b>",
    "\\n",
    "null",
    "e\u0301",
    "\U000e0041",
)
_BYTES: Final = ("00", "ff", "61000000", "00ff10", "e4b8ad", "220a5c", "7f80", "efbbbf", bytes(range(256)).hex())
_JSON: Final = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "18446744073709551616",
    "1.50",
    "-0.0",
    "1e20",
    "1e-7",
    '""',
    '"str"',
    "{}",
    "[]",
    '{"b":1,"a" : [1.0,null,"x",true,{"z":{}}],"":"empty key","b":2}',
    '{"中": "文😀é", "q\\"k": "v\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\\u0080\\u00a0\\u2028"}',
    '["<a href=\'x\'>&amp;</a>", "\\\\u0041"]',
)
_DATES: Final = (
    "infinity",
    "-infinity",
    "4714-11-24 BC",
    "0044-03-15 BC",
    "0001-12-31 BC",
    "0001-01-01",
    "1500-01-01",
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "2024-02-29",
    "9999-12-31",
    "5874897-12-31",
)
# A place in text for what every type of a family, or a type, has: its literals.
_LITERALS: Final[Mapping[str, tuple[str, ...]]] = {
    "boolean": ("true", "false"),
    "money": ("$0.00", "$1,234.56", "-$0.01", "$92,233,720,368,547,758.07", "-$92,233,720,368,547,758.08"),
    "xml": ("", "text", "<a>x</a>", '<?xml version="1.0" encoding="utf-8"?><r b="&lt;é中😀"><![CDATA[<&]]></r>'),
    "uuid": (
        "00000000-0000-0000-0000-000000000000",
        "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ),
    "point": ("(0,0)", "(1,2)", "(-1.5,1e10)", "(0.1,1e-07)"),
    "line": ("{1,2,3}", "{0,-1,0.5}"),
    "lseg": ("[(0,0),(1,1)]", "[(-1.5,1e10),(0,0)]"),
    "box": ("(1,1),(0,0)", "(-1,-2),(3,4.5)"),
    "path": ("((0,0),(1,1))", "[(0,0),(1,1),(2,0)]"),
    "polygon": ("((0,0),(1,1),(1,0))", "((0,0))"),
    "circle": ("<(1,2),3>", "<(0,0),0>"),
    "inet": ("192.168.1.5/24", "10.0.0.1", "0.0.0.0/0", "::1", "2001:db8::ff00:42:8329/64", "::ffff:1.2.3.4"),
    "cidr": ("10.0.0.0/8", "192.168.1.5/32", "0.0.0.0/0", "2001:db8::/32", "::/0"),
    "macaddr": ("00:00:00:00:00:00", "08:00:2B:01:02:03", "ff:ff:ff:ff:ff:ff"),
    "macaddr8": ("00:00:00:00:00:00:00:00", "08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03"),
    "interval": (
        "00:00:00",
        "1 year 2 mons 3 days 04:05:06.789",
        "-1 day 02:00:00",
        "-1 year -2 mons +3 days -04:05:06",
        "1 mon",
        "1 day",
        "00:00:00.000001",
        "-00:00:01",
        "100:00:00",
        "178000000 years",
        "-178000000 years",
    ),
    "time with time zone": (
        "00:00:00+00",
        "12:34:56.123456+02",
        "12:34:56.789-05:30",
        "24:00:00+15:59:59",
        "00:00:00-15:59:59",
    ),
    "int4range": ("empty", "[1,5]", "(1,5]", "(,)", "[,0)", "[2147483646,)", "[-2147483648,2147483647)"),
    "int8range": ("empty", "(1,5]", "(,)", "[-9223372036854775808,9223372036854775807)"),
    "numrange": ("empty", "[1.50,2.5)", "(,)", "(0,1.0]", "[1,)", "[0,NaN]"),
    "tsrange": ("empty", "[2020-01-01 00:00,2020-01-02 00:00:00.5)", "(,)", "[-infinity,infinity]"),
    "tstzrange": ("empty", "[2020-01-01 00:00+08,2020-01-02 00:00+00)", "(,)", "[2010-01-01 14:30:00+08,]"),
    "daterange": ("empty", "[2020-01-01,2020-01-31]", "(,)", "[0044-03-15 BC,infinity)"),
    "int4multirange": ("{}", "{[1,5],(9,10]}", "{(,)}", "{[3,4),[1,2),[2,3)}"),
    "int8multirange": ("{}", "{[1,5]}", "{(,0),(1,)}"),
    "nummultirange": ("{}", "{[1.50,2.5),[3,4]}"),
    "tsmultirange": ("{}", "{[2020-01-01,2020-01-02),[2020-02-01,)}"),
    "tstzmultirange": ("{}", "{[2020-01-01 00:00+08,2020-01-02 00:00+00)}"),
    "datemultirange": ("{}", "{[2020-01-01,2020-01-31],[2020-03-01,)}"),
    "tsvector": ("", "fat:1 cat:2", "'it''s':3A,1 'x y' 中文:2B", "a\\\\b"),
    "tsquery": ("", "fat & rat", "(fat | 'x y':*A) & !cat <-> dog", "a <-> (b <2> c)", "'it''s'"),
    "pg_lsn": ("0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"),
    "txid_snapshot": ("1:1:", "10:20:10,14,15"),
    "hstore": ("", 'a=>1,b=>NULL,"c d"=>"x\\"y"', '"中"=>"😀","k\\\\"=>""'),
    "ltree": ("", "Top", "Top.Science.Astronomy_2"),
    "array": ("{}", "{NULL}"),
}
# Elements that a reader of arrays may get wrong.
_ELEMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("a", "", "null", "a b", "b,c", '"', "\\", "{}", "中😀"),
}


def boundary_values(type: ColumnType, dialect: Dialect = POSTGRESQL_16, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    `large` adds a value of 70 000 bytes where the type holds it.

    >>> boundary_values(ColumnType("smallint"))
    ['-32768', '-1', '0', '1', '127', '128', '255', '256', '32767', None]
    """
    values = list(dict.fromkeys(_edges(type, dialect)))
    if large and EVERY_TYPE[type.name].max_bytes >= LARGE_BYTES and type.length is None:
        values.append(_large(type))
    return [*values, None]


def _edges(type: ColumnType, dialect: Dialect) -> list[str]:
    of = family(type)
    if of == "array":
        return [*_LITERALS["array"], *_arrays(type, dialect)]
    if of == "decimal":
        return _decimals(type, dialect)
    if of in _BOUNDARIES:
        return _BOUNDARIES[of](type)
    return list(_LITERALS[type.name])


def _large(type: ColumnType) -> str:
    if family(type) == "json":
        return json.dumps(["x" * (LARGE_BYTES - 4)])
    if family(type) == "binary":
        return ("\\x" if type.name == "bytea" else "") + "00ff" * (LARGE_BYTES // 2)
    if type.name == "hstore":
        return f'"k"=>"{"x" * LARGE_BYTES}"'
    if type.name == "tsvector":
        return " ".join(f"w{number:05}" for number in range(LARGE_BYTES // 7))
    return "0123456789" * (LARGE_BYTES // 10)


def _arrays(type: ColumnType, dialect: Dialect) -> list[str]:
    """All the edges of the element in one array, two of them in two dimensions, and one of other bounds."""
    inner = element(type)
    edges = [*_ELEMENTS["text"]] if inner.name in ("text", "character varying") else []
    if not edges:
        edges = [edge for edge in _edges(inner, dialect) if edge][:6]
    if type.length is not None and family(inner) == "text":
        edges = [edge for edge in edges if len(edge) <= type.length]
    mark = ";" if inner.name == "box" else ","
    quoted = ['"' + edge.replace("\\", "\\\\").replace('"', '\\"') + '"' for edge in edges]
    two = (quoted * 2)[:2]
    made = ["{" + mark.join([*quoted, "NULL"]) + "}"]
    return [
        *made,
        f"{{{{{mark.join(two)}}},{{{two[0]}{mark}NULL}}}}".replace("},{", f"}}{mark}{{"),
        f"[0:0]={{{two[0]}}}",
    ]


def _integers(type: ColumnType) -> list[str]:
    low, high = bounds(type)
    edges = {low, -1, 0, 1, high, *_PROMOTIONS}
    return [str(value) for value in sorted(edges) if low <= value <= high]


def _decimals(type: ColumnType, dialect: Dialect) -> list[str]:
    if type.length is None:
        values = ["0", "123.4500", "1e20", "-0.00", "1e-30", "9" * 80 + "." + "9" * 80, "NaN"]
        infinite = dialect.system == "postgresql" and dialect.version >= 14
        return values + (["Infinity", "-Infinity"] if infinite else [])
    precision, scale = type.length, type.scale or 0
    if not 0 <= scale <= precision:
        least = f"1e{-scale}"
        most = f"{'9' * precision}e{-scale}"
        return ["0", least, most, "-" + most]
    digits = "9" * precision
    whole, fraction = digits[: precision - scale] or "0", digits[precision - scale :]
    widest = whole + ("." + fraction if fraction else "")
    least = "0." + "1".zfill(scale) if scale else "1"
    values = ["0", least, widest, "-" + least, "-" + widest]
    if precision > scale:
        values += ["5", "5.1"] if scale else ["5"]
    return values + ([] if pa.types.is_decimal(arrow_type(type)) else ["NaN"])


def _floats(type: ColumnType) -> list[str]:
    values = ["0", "-0", "1", "-1.5", "3.14", "0.1", "0.0001", "0.00001", "999999", "1e6", "123456789", "1e15"]
    values += ["NaN", "Infinity", "-Infinity"]
    return (
        values
        + {
            "real": ["16777217", "3.4028235e38", "1.17549435e-38", "1e-45"],
            "double precision": ["1e14", "2e23", "1.7976931348623157e308", "2.2250738585072014e-308", "4.9e-324"],
        }[type.name]
    )


def _texts(type: ColumnType) -> list[str]:
    row = EVERY_TYPE[type.name]
    if type.name == '"char"':
        return ["", "a", "~"]
    most = type.length if type.length is not None else row.max_bytes
    values = ["", *(text for text in _TEXTS if len(text) <= most)]
    if type.name == "name":
        values = [value for value in values if len(value.encode()) <= most]
    if type.length is not None and most <= 1000:
        values.append(("0123456789" * (most // 10 + 1))[:most])
    return values


def _bits(type: ColumnType) -> list[str]:
    if type.name == "bit varying" and type.length is None:
        return ["", "0", "1", "101", "1" * 65]
    length = type.length or 1
    values = ["0" * length, "1" * length, "1" + "0" * (length - 1), "0" * (length - 1) + "1"]
    return ["", "1", *values] if type.name == "bit varying" else values


def _fractions(type: ColumnType) -> list[str]:
    digits = fraction_digits(type)
    if not digits:
        return [""]
    return ["", "." + "1".zfill(digits), "." + "5".ljust(digits, "0"), "." + "9" * digits]


def _moments(type: ColumnType) -> list[str]:
    first = ["infinity", "-infinity"]
    days = ["4714-11-24 00:00:00 BC", "0044-03-15 12:00:00 BC", "0001-01-01 00:00:00", "1500-01-01 00:00:00"]
    days += ["1969-12-31 23:59:59", "1970-01-01 00:00:00", "2000-02-29 12:34:56", "2024-02-29 23:59:59"]
    # the hour that summer time skips in Europe, which no offset of UTC does
    days += ["2024-03-31 01:30:00", "9999-12-31 23:59:59", "294246-12-31 23:59:59"]
    if type.name == "smalldatetime":
        return ["1900-01-01 00:00:00", *days[4:-2], "2024-02-29 12:34:29", "2024-02-29 12:34:30", "9999-12-31 23:59:00"]
    fractions = _fractions(type)
    return first + [
        day + fraction for day in days for fraction in (fractions if day[:4] in ("2024", "9999", "1969") else [""])
    ]


def _clock_times(type: ColumnType) -> list[str]:
    values = ["00:00:00", "12:34:56", "23:59:59", "24:00:00"]
    return values + [f"00:00:01{fraction}" for fraction in _fractions(type) if fraction]


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "integer": _integers,
    "float": _floats,
    "text": _texts,
    "binary": lambda type: ["", *(("\\x" if type.name == "bytea" else "") + digits for digits in _BYTES)],
    "bit": _bits,
    "date": lambda type: list(_DATES),
    "datetime": _moments,
    "timestamptz": _moments,
    "time": _clock_times,
    "json": lambda type: list(_JSON),
    "enum": lambda type: list(type.labels),
}


# --------------------------------------------------------------------------------------------------- defaults


def default_values(type: ColumnType) -> Drawn:
    """How a column is filled of which a scenario says nothing.

    >>> default_values(ColumnType("character varying", 40))
    ('text', {'length': '3..24', 'alphabet': 'letters'})
    >>> default_values(ColumnType("numeric", 10, 2)), default_values(ColumnType("money"))
    (('range', ('0', '9999.99')), ('boundary', True))
    """
    of = family(type)
    if of == "decimal":
        return _default_decimal(type)
    if type.name in _DEFAULT_CHOICES:
        return believable.choices(_DEFAULT_CHOICES[type.name])
    return _DEFAULTS[of](type) if of in _DEFAULTS else believable.BOUNDARY


def _default_decimal(type: ColumnType) -> Drawn:
    scale = type.scale or 0
    if not pa.types.is_decimal(arrow_type(type)):
        some = ["0.5", "12.50", "1000"] if type.length is None else [f"{digit}e{-scale}" for digit in "147"]
        return believable.choices(some)
    assert type.length is not None
    whole = min(type.length - scale, 4)
    if whole + scale > 18:  # wider than the numbers that a range draws
        return believable.choices(["0.5", "0.125", "0.75"] if whole < 2 else ["0.5", "12.125", "99.75"])
    return believable.decimals(type.length, scale)


def _default_text(type: ColumnType) -> Drawn:
    most = type.length if type.length is not None else EVERY_TYPE[type.name].max_bytes
    long = type.length is None and type.name != "name"
    return believable.texts(most, fixed=type.name == "character", long=long)


_DEFAULT_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "integer[]": ("{1,2,3}", "{}", "{10,NULL}", "{7}"),
    "text[]": ("{red,green}", "{}", '{"a b",c}', "{blue}"),
    "interval": ("1 day", "02:30:00", "1 mon 15 days", "10 years"),
    "inet": ("192.168.1.5/24", "10.0.0.1", "172.16.0.9", "2001:db8::1"),
    "point": ("(1,2)", "(-1.5,0)", "(116.4,39.9)", "(0,0)"),
    '"char"': "abc",
}
_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "boolean": lambda type: believable.BOOLEANS,
    "integer": lambda type: believable.integers(bounds(type)[1]),
    "float": lambda type: believable.FLOATS,
    "text": _default_text,
    "binary": lambda type: believable.binaries(32),
    "date": lambda type: believable.DATES,
    "datetime": lambda type: ("range", ("2015-01-01 00:00:00", "2029-12-31 23:59:00")),
    "timestamptz": lambda type: believable.DATETIMES,
    "time": lambda type: believable.TIMES,
    "json": lambda type: believable.DOCUMENTS,
    "uuid": lambda type: believable.UUIDS,
    "enum": lambda type: believable.choices(type.labels),
}
