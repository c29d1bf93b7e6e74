"""What an Oracle column is filled with: boundary values of every type, and believable values when nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from simulator.model import ColumnType
from simulator.sources import believable
from simulator.sources.believable import Drawn
from simulator.sources.oracle.type_table import TYPES, family, most_bytes, number_digits

# Values above this many bytes are large objects; `boundary_values` leaves them out unless asked.
LARGE_BYTES: Final = 70_000

# A text of every type, with the arguments at which products change their minds.
CORPUS_TYPES: Final = (
    "NUMBER",
    "NUMBER(1)",
    "NUMBER(4)",
    "NUMBER(9)",
    "NUMBER(18)",
    "NUMBER(19)",
    "NUMBER(38)",
    "NUMBER(10,2)",
    "NUMBER(38,10)",
    "NUMBER(5,-2)",
    "NUMBER(3,5)",
    "FLOAT",
    "FLOAT(10)",
    "BINARY_FLOAT",
    "BINARY_DOUBLE",
    "DATE",
    "TIMESTAMP(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP",
    "TIMESTAMP(9)",
    "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP(9) WITH TIME ZONE",
    "TIMESTAMP WITH LOCAL TIME ZONE",
    "INTERVAL YEAR TO MONTH",
    "INTERVAL YEAR(4) TO MONTH",
    "INTERVAL DAY TO SECOND",
    "INTERVAL DAY(9) TO SECOND(9)",
    "CHAR(5)",
    "CHAR(10 CHAR)",
    "NCHAR(5)",
    "VARCHAR2(40)",
    "VARCHAR2(100 CHAR)",
    "NVARCHAR2(40)",
    "LONG",
    "CLOB",
    "NCLOB",
    "RAW(16)",
    "RAW(2000)",
    "LONG RAW",
    "BLOB",
    "BFILE",
    "ROWID",
    "UROWID",
    "XMLTYPE",
    "JSON",
)

_TEXTS: Final = (
    "a",
    "héé",
    "中文",
    "😀",
    " ",
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
    "𠮷👩\u200d💻",
)
_BYTES: Final = ("0x00", "0xff", "0x61000000", "0x00ff10", "0xe4b8ad", "0x220a5c", "0x7f80", "0xefbbbf")
_DOCUMENTS: Final = (
    "null",
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "18446744073709551615",
    "1.5",
    "1e20",
    '""',
    '"str"',
    "{}",
    "[]",
    '{"":"empty key","a":[1,null,"x",true,{"z":{}}],"aa":{"deep":{"er":[[],[[]]]}}}',
    '{"中":"文😀é","q\\"k":"v\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u2028"}',
    '["<a href=\'x\'>&amp;</a>","\\\\u0041"]',
)
_XML: Final = (
    "<a/>",
    '<order id="1"><item qty="2">caf\u00e9 &amp; 中文 &lt;3</item><empty></empty></order>',
    '<?xml version="1.0"?>\n<a xmlns="urn:x"><![CDATA[<b>]]></a>',
)


def boundary_values(type: ColumnType, *, large: bool = False) -> list[str | None]:
    """Literals at the edges of a type, the last of them None; each is one that `parse_values` takes.

    The empty text is among them, which is null. `large` adds a value of 70 000 bytes where the type holds it.

    >>> from simulator.sources.oracle.types import parse_type
    >>> boundary_values(parse_type("number(2)"))
    ['0', '1', '-1', '99', '-99', None]
    """
    make = _BOUNDARIES.get(type.name) or _BOUNDARIES[family(type)]
    values = list(dict.fromkeys(make(type)))
    if large and TYPES[type.name].max_bytes > LARGE_BYTES:
        values.append(_large(type))
    return [*values, None]


def _large(type: ColumnType) -> str:
    match family(type):
        case "json":
            return json.dumps(["x" * (LARGE_BYTES - 4)], separators=(",", ":"))
        case "xml":
            return f"<a>{'x' * (LARGE_BYTES - 7)}</a>"
        case "binary":
            return "0x" + "00ff" * (LARGE_BYTES // 2)
    return "0123456789" * (LARGE_BYTES // 10)


# ------------------------------------------------------------------------------------------------------ boundaries


def _numbers(type: ColumnType) -> list[str]:
    if type.length is None:
        tiny, most = "1e-130", "9" * 40 + "e85"
        values = [
            "0",
            "1",
            "-1",
            "0.1",
            "77.323",
            "100",
            "1e10",
            tiny,
            "-" + tiny,
            "9" * 38,
            "9" * 40,
            most,
            "-" + most,
        ]
        return [*values, "0." + "3" * 38, "1.50", "12345678901234567890.123456789"]
    scale = type.scale or 0
    if scale < 0:
        unit = "1" + "0" * -scale
        most = "9" * type.length + "0" * -scale
        return ["0", unit, "-" + unit, most, "-" + most, "15" + "0" * (-scale - 1)]
    digits = "9" * type.length
    if scale > type.length:
        most = "0." + digits.zfill(scale)
        return ["0", most, "-" + most, "0." + "1".zfill(scale)]
    whole, fraction = digits[: type.length - scale] or "0", digits[type.length - scale :]
    most = whole + ("." + fraction if fraction else "")
    least = "0." + "1".zfill(scale) if scale else "1"
    values = ["0", least, "-" + least, most, "-" + most]
    if scale and type.length > scale:
        values += ["5", "5.1", "-0.5" if scale == 1 else "-0.50"]
    if not scale:
        edges = (127, 128, 32_767, 32_768, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64 - 1)
        values += [str(edge) for edge in edges if len(str(abs(edge))) <= type.length and type.length > 2]
    return values


def _floats(type: ColumnType) -> list[str]:
    if (type.length or 126) < 126:
        return ["0", "1", "-1", "0.5", "12.34", "123.45", "99999", "1e-10", "1e100"]
    return ["0", "1", "-1", "0.1", "77.323", "1e-100", "1e100", "3." + "14159265358979323846264338327950288419"]


def _binary_floats(type: ColumnType) -> list[str]:
    values = ["0", "1", "-1.5", "3.14", "0.1", "0.001", "9999999", "1e7", "NaN", "Infinity", "-Infinity"]
    if type.name == "binary_float":
        return [*values, "16777217", "3.40282347e38", "1.17549435e-38", "-1e-45"]
    return [*values, "2e23", "1.7976931348623157e308", "2.2250738585072014e-308", "-4.9e-324"]


_MOMENTS: Final = (
    "0001-01-01 00:00:00",
    "1582-10-15 00:00:00",
    "1900-01-01 00:00:00",
    "1969-12-31 23:59:59",
    "1970-01-01 00:00:00",
    "2000-02-29 12:34:56",
    "2024-02-29 23:59:59",
    "2024-03-31 01:30:00",  # the hour that summer time skips in Europe
    "9999-12-31 23:59:59",
)


def _fractions(type: ColumnType) -> list[str]:
    digits = type.length or 0
    if not digits:
        return [""]
    return ["", "." + "1".zfill(digits), "." + "5".ljust(digits, "0"), "." + "9" * digits]


def _datetimes(type: ColumnType) -> list[str]:
    several = _fractions(type)
    return [
        day + fraction for day in _MOMENTS for fraction in (several if day[:4] in ("1969", "2024", "9999") else [""])
    ]


def _moments(type: ColumnType) -> list[str]:
    return _datetimes(type)


def _zoned(type: ColumnType) -> list[str]:
    zones = ("+00:00", "+08:00", "-11:00", "+05:45", "-03:30", "+14:00", "Asia/Shanghai", "Europe/Berlin", "UTC")
    moments = _datetimes(type)
    values = [f"{moment} {zones[i % 6]}" for i, moment in enumerate(moments)]
    return [*values, *(f"2024-02-29 12:34:56{_fractions(type)[-1]} {zone}" for zone in zones)]


def _months(type: ColumnType) -> list[str]:
    most = "9" * (type.length or 2)
    return ["0-0", "0-1", "-0-1", "1-0", "2-3", "-3-6", f"{most}-11", f"-{most}-11"]


def _seconds(type: ColumnType) -> list[str]:
    days = "9" * (2 if type.length is None else type.length) or "0"
    digits = 6 if type.scale is None else type.scale
    least, most = ("." + "1".zfill(digits), "." + "9" * digits) if digits else ("", "")
    values = ["0 00:00:00", f"0 00:00:00{least}", f"-0 00:00:00{least}", "0 12:34:56", "1 02:03:04", "-1 02:03:04"]
    return [*values, f"-1 02:03:04{most}", f"{days} 23:59:59{most}", f"-{days} 23:59:59{most}"]


def _texts(type: ColumnType) -> list[str]:
    if type.labels:
        return ["", *type.labels]
    most = most_bytes(type)
    national = type.name in ("nchar", "nvarchar2")
    values = [""]
    for value in _TEXTS:
        size = len(value.encode("utf-16-le" if national else "utf-8"))
        count = size // 2 if national else len(value)
        if size <= most and (type.length is None or not type.characters or count <= type.length):
            values.append(value)
    full = type.length if type.length is not None else 0
    if 0 < full <= 1000:
        values.append(("0123456789" * (full // 10 + 1))[:full])
        if type.characters and full * 3 <= most and not national:
            values.append("中" * full)
    return values + (["empty_clob()"] if type.name in ("clob", "nclob") else [])


def _binaries(type: ColumnType) -> list[str]:
    most = most_bytes(type)
    values = ["", *(value for value in _BYTES if len(value) // 2 - 1 <= most)]
    if most >= 256:
        values.append("0x" + bytes(range(256)).hex())
    return values + (["empty_blob()"] if type.name == "blob" else [])


_BOUNDARIES: Final[Mapping[str, Callable[[ColumnType], list[str]]]] = {
    "number": _numbers,
    "float": lambda type: _floats(type) if type.name == "float" else _binary_floats(type),
    "datetime": _datetimes,
    "zoned": _zoned,
    "timestamptz": _moments,
    "interval year to month": _months,
    "interval day to second": _seconds,
    "text": _texts,
    "binary": _binaries,
    "json": lambda type: list(_DOCUMENTS),
    "xml": lambda type: list(_XML),
    "rowid": lambda type: ["AAAAAAAAAAAAAAAAAA", "AAAR3sAAEAAAACXAAA", "AAATGpAAIAAItcIAAA", "//////////////////"],
    "urowid": lambda type: ["AAAR3sAAEAAAACXAAA", "*BAEAAAYCwQL+", "*AAIBAgEHAAAAAAAAAA=="],
    "bfile": lambda type: ["bfilename('DATA_DIR', 'a.txt')", "bfilename('DATA_DIR', 'données 中.bin')"],
}


# --------------------------------------------------------------------------------------------------------- defaults


def default_values(type: ColumnType) -> Drawn:
    """How a column is filled of which a scenario says nothing.

    >>> from simulator.sources.oracle.types import parse_type
    >>> default_values(parse_type("number(10,2)")), default_values(parse_type("number(1)"))
    (('range', ('0', '9999.99')), ('choices', ['0', '1']))
    """
    make = _DEFAULTS.get(type.name) or _DEFAULTS[family(type)]
    return make(type)


def _default_number(type: ColumnType) -> Drawn:
    digits = number_digits(type)
    if digits is None:
        return believable.choices(["0", "1", "2.5", "10"]) if type.length else believable.up_to("9999.99")
    precision, scale = digits
    if (type.scale or 0) < 0:
        return believable.up_to("9" * min(type.length or 1, 4) + "0" * -(type.scale or 0))
    if type.length == 1 and not scale:
        return believable.choices("01")
    if not scale:
        return believable.up_to("9" * min(precision, 9))
    if min(type.length or 0, 18) < scale:
        return believable.up_to("0." + ("9" * min(type.length or 0, 18)).zfill(scale))
    return believable.decimals(precision, scale)


def _default_zoned(type: ColumnType) -> Drawn:
    zones = ("+08:00", "+00:00", "-05:00", "+01:00")
    return believable.choices(f"20{year}-05-{year} 10:11:{year} {zones[year % 4]}" for year in range(15, 29))


def _default_text(type: ColumnType) -> Drawn:
    if type.labels:
        return believable.choices(type.labels)
    most = min(type.length if type.length is not None else 60, most_bytes(type))
    return believable.texts(most, fixed=type.name in ("char", "nchar"), long=type.length is None)


_FLOATS: Final = believable.choices(["0", "0.5", "1", "2.5", "10", "12", "99"])
_DEFAULTS: Final[Mapping[str, Callable[[ColumnType], Drawn]]] = {
    "number": _default_number,
    "float": lambda type: _FLOATS if type.name == "float" else believable.FLOATS,
    "date": lambda type: ("range", ("2015-01-01", "2029-12-31")),
    "datetime": lambda type: believable.DATETIMES,
    "zoned": _default_zoned,
    "timestamptz": lambda type: believable.DATETIMES,
    "interval year to month": lambda type: believable.choices(["0-1", "0-6", "1-0", "2-3", "5-0"]),
    "interval day to second": lambda type: ("range", ("0 00:00:00", "0 23:59:59")),
    "text": _default_text,
    "binary": lambda type: believable.binaries(most_bytes(type)),
    "json": lambda type: believable.DOCUMENTS,
    "xml": lambda type: believable.choices(f'<item n="{n}"/>' for n in range(1, 9)),
    "rowid": lambda type: believable.choices(f"AAAR3sAAEAAAACXAA{letter}" for letter in "ABCDEFGH"),
    "urowid": lambda type: believable.choices(f"AAAR3sAAEAAAACXAA{letter}" for letter in "ABCDEFGH"),
    "bfile": lambda type: believable.choices(f"bfilename('DATA_DIR', 'scan{n}.pdf')" for n in range(1, 9)),
}
