"""Values of a MySQL binary log as text, and JSON flavours: against captured messages and plain Python."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import UsageError
from simulator.model import ColumnType
from simulator.sources import find
from simulator.text import decimals as decimal_text
from simulator.text import json_style
from simulator.text import mysql as binlog_text
from simulator.text.java import decimal as java_decimal
from simulator.text.java import numbers as java

MYSQL: Final = find("mysql")

RENDERERS = {
    "integer": binlog_text.integer,
    "decimal": decimal_text.decimal_groups,
    "float": binlog_text.float_,
    "bit": binlog_text.number,
    "date": binlog_text.date,
    "datetime": binlog_text.datetime_fixed,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,
    "binary": binlog_text.latin1_bytes,
    "enum": binlog_text.number,
    "set": binlog_text.number,
    "geometry": binlog_text.latin1_bytes,
}

# type, literals as in the statement, texts as in the message. captured: Canal 1.1.8 on MySQL 8.0.31
CAPTURED = [
    ("tinyint", ["-128", "127", "-1", None], ["-128", "127", "-1", None]),
    ("tinyint(1)", ["true", "false"], ["1", "0"]),
    ("int(5) unsigned zerofill", ["42", "12345", "4294967295"], ["42", "12345", "4294967295"]),
    ("bigint", ["-9223372036854775808", "9223372036854775807"], ["-9223372036854775808", "9223372036854775807"]),
    ("bigint unsigned", ["0", "18446744073709551615"], ["0", "18446744073709551615"]),
    ("decimal", ["5", "-1234567890", "0", "9999999999"], ["5", "-1234567890", "0", "9999999999"]),
    (
        "decimal(10,2)",
        ["5", "5.1", "5.01", "-99999999.99", "0.1", "100.00", None],
        ["5.0", "5.10", "5.01", "-99999999.99", "0.10", "100.0", None],
    ),
    (
        "DECIMAL(8, 3)",
        ["12345.11", "-12345.110", "0.001", "99999.999", "0.1", "100.5"],
        ["12345.110", "-12345.110", "0.001", "99999.999", "0.100", "100.500"],
    ),
    (
        "decimal(20,9)",
        ["1", "-1.000000001", "123456789.123456789", "99999999999.999999999", "0.1"],
        ["1.000000000", "-1.000000001", "123456789.123456789", "99999999999.999999999", "0.100000000"],
    ),
    (
        "decimal(20,11)",
        ["1.123456789", "0.00000000001", "-0.12345678901", "999999999.99999999999", "0.1"],
        ["1.123456789", "0.00000000001", "-0.12345678901", "999999999.99999999999", "0.100000000"],
    ),
    (
        "decimal(20,18)",
        ["1.000000000000000001", "12.5", "-0.000000000000000001", "99.999999999999999999"],
        ["1.000000000000000001", "12.500000000000000000", "-0.000000000000000001", "99.999999999999999999"],
    ),
    (
        "decimal(65,30)",
        [
            "0",
            "12345678901234567890123456789012345.123456789012345678901234567890",
            "0.000000000000000000000000000001",
            "-99999999999999999999999999999999999.999999999999999999999999999999",
            "1000000000",
        ],
        [
            "0.000000000000000000000000000",
            "12345678901234567890123456789012345.123456789012345678901234567890",
            "0.000000000000000000000000000001",
            "-99999999999999999999999999999999999.999999999999999999999999999999",
            "1000000000.000000000000000000000000000",
        ],
    ),
    (
        "decimal(12,4) unsigned",
        ["5", "99999999.9999", "0.0001", "12345678.9"],
        ["5.0", "99999999.9999", "0.0001", "12345678.9000"],
    ),
    ("numeric(5,5)", ["0.5", "-0.99999", "0.00001", "0"], ["0.50000", "-0.99999", "0.00001", "0.0"]),
    ("fixed(12,2)", ["-0.01", "-0.5", "9999999999.99"], ["-0.01", "-0.50", "9999999999.99"]),
    ("dec(6,1)", ["5", "99999.9", "-0.1"], ["5.0", "99999.9", "-0.1"]),
    (
        "float",
        ["3.14", "3.4028235e38", "-0e0", "0.001", "16777216", "1.2222", "1e7", "123456789", "1.1", "0.3"],
        ["3.14", "3.4028235E38", "-0.0", "0.001", "1.6777216E7", "1.2222", "1.0E7", "1.23456792E8", "1.1", "0.3"],
    ),
    (
        "float(24)",
        ["1.17549435e-38", "1e-45", "0.0001", "16777217"],
        ["1.17549435E-38", "1.4E-45", "1.0E-4", "1.6777216E7"],
    ),
    ("float(7,2)", ["12345.67", "-0e0", "100"], ["12345.67", "0.0", "100.0"]),
    (
        "double",
        ["2.718281828459045", "1.7976931348623157e308", "-0e0", "0.0009999", "2e23"],
        ["2.718281828459045", "1.7976931348623157E308", "-0.0", "9.999E-4", "1.9999999999999998E23"],
    ),
    (
        "double precision",
        ["9999999", "1e7", "4.9e-324", "1e15", "0.3"],
        ["9999999.0", "1.0E7", "4.9E-324", "1.0E15", "0.3"],
    ),
    (
        "real",
        ["2.2250738585072014e-308", "1e21", "9007199254740993", "1e-7", "1e16", "1e22"],
        ["2.2250738585072014E-308", "1.0E21", "9.007199254740992E15", "1.0E-7", "1.0E16", "1.0E22"],
    ),
    ("double(10,5)", ["12345.67891", "-0.00001", "0.1"], ["12345.67891", "-9.99999999995449E-6", "0.1"]),
    (
        "double unsigned",
        ["12345678901234567", "1.0E10", "123456.789"],
        ["1.2345678901234568E16", "1.0E10", "123456.789"],
    ),
    ("bit", ["b'1'", "b'0'"], ["1", "0"]),
    ("bit(9)", ["b'111111111'", "b'100000001'"], ["511", "257"]),
    ("bit(64)", [f"b'{'1' * 64}'", "b'1" + "0" * 62 + "1'"], ["18446744073709551615", "9223372036854775809"]),
    (
        "date",
        ["2024-02-29", "0001-01-01", "1000-01-01", "9999-12-31", "1969-12-31", "0000-00-00", "2020-00-00", None],
        ["2024-02-29", "0001-01-01", "1000-01-01", "9999-12-31", "1969-12-31", "0000-00-00", "2020-00-00", None],
    ),
    ("year", ["2024", "1901", "2155", "0"], ["2024", "1901", "2155", "0000"]),
    (
        "time",
        ["12:34:56", "-838:59:59", "838:59:59", "-00:00:01", "-100:00:00", "0", None],
        ["12:34:56", "-838:59:59", "838:59:59", "-00:00:01", "-100:00:00", "00:00:00", None],
    ),
    (
        "time(1)",
        ["12:34:56.7", "-00:00:00.5", "-99:59:59.9", "0"],
        ["12:34:56.7", "-00:00:00.5", "-99:59:59.9", "00:00:00.0"],
    ),
    ("time(2)", ["12:34:56.78", "-00:00:00.05", "-100:00:00.01"], ["12:34:56.78", "-00:00:00.05", "-100:00:00.01"]),
    ("time(3)", ["12:34:56.789", "-00:00:00.005", "100:00:00.001"], ["12:34:56.789", "-00:00:00.005", "100:00:00.001"]),
    ("time(4)", ["12:34:56.7891", "-00:00:00.0005"], ["12:34:56.7891", "-00:00:00.0005"]),
    ("time(5)", ["-01:02:03.45678", "-00:00:00.00005"], ["-01:02:03.45678", "-00:00:00.00005"]),
    ("time(6)", ["838:59:58.999999", "-00:00:00.000005"], ["838:59:58.999999", "-00:00:00.000005"]),
    (
        "datetime",
        ["2024-02-29 12:34:56", "1000-01-01", "9999-12-31 23:59:59", "0000-00-00", "2020-00-15 01:02:03", None],
        [
            "2024-02-29 12:34:56",
            "1000-01-01 00:00:00",
            "9999-12-31 23:59:59",
            "0000-00-00 00:00:00",
            "2020-00-15 01:02:03",
            None,
        ],
    ),
    (
        "datetime(3)",
        ["2024-02-29 12:34:56.789", "2024-01-01", "0000-01-00 01:02:03.4", "0000-00-00 00:00:00"],
        ["2024-02-29 12:34:56.789", "2024-01-01 00:00:00.000", "0000-01-00 01:02:03.400", "0000-00-00 00:00:00.000"],
    ),
    (
        "datetime(6)",
        ["1000-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"],
        ["1000-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"],
    ),
    (
        "timestamp(5)",
        ["1970-01-01 00:00:01", "2038-01-19 03:14:07.99999", "0000-00-00 00:00:00"],
        ["1970-01-01 00:00:01.00000", "2038-01-19 03:14:07.99999", "0000-00-00 00:00:00.00000"],
    ),
    ("char(5)", ["ab   ", "  x  ", ""], ["ab", "  x", ""]),
    ("varchar(40)", ["  x  ", "hé中😀€", None], ["  x  ", "hé中😀€", None]),
    ("varbinary(10)", ["x'00ff10'", "x'61000000'", "", None], ["\x00ÿ\x10", "a\x00\x00\x00", "", None]),
    ("blob", ["0xe4b8ade69687", "x'00'"], ["ä¸\xadæ\x96\x87", "\x00"]),
    ("enum('a','b','c,d','e''f','')", ["a", "c,d", "e'f", "", None], ["1", "3", "4", "5", None]),
    ("set('x','y','z','w w')", ["x", "x,z", "x,y,z,w w", "", None], ["1", "5", "15", "0", None]),
    ("point", ["POINT(1 2)"], ["\0\0\0\0\x01\x01\0\0\0\0\0\0\0\0\0ð?" + "\0" * 7 + "@"]),
]


@each(CAPTURED)
def test_captured_texts(typed: str, literals: list[str | None], texts: list[str | None]) -> None:
    type = MYSQL.parse_type(typed)
    array = MYSQL.parse_values(literals, type)
    render = RENDERERS[MYSQL.family(type)]
    rendered = render(array, type)
    rendered.validate(full=True)
    assert rendered.type == pa.string()
    assert rendered.to_pylist() == texts
    # one at a time, and of a slice: no text depends on its neighbours
    for i, text in enumerate(texts):
        assert render(array.slice(i, 1), type).to_pylist() == [text]
    assert render(array.slice(1), type).to_pylist() == texts[1:]
    assert render(array.slice(0, 0), type).to_pylist() == []


def test_captured_binary_loses_zeros_at_its_end() -> None:
    # captured: Canal 1.1.8 on MySQL 8.0.31
    type = MYSQL.parse_type("binary(4)")
    array = MYSQL.parse_values(["x'01ff'", "x'61000000'", "x'00000000'", "x'00000001'", None], type)
    texts = ["\x01ÿ", "a", "", "\x00\x00\x00\x01", None]
    assert binlog_text.binary_stripped(array, type).to_pylist() == texts
    assert binlog_text.binary_stripped(array.slice(1), type).to_pylist() == texts[1:]
    encoded = binlog_text.binary_stripped(array.dictionary_encode(), type)
    assert pa.types.is_dictionary(encoded.type)
    assert encoded.to_pylist() == texts


def test_captured_bytes_of_all_kinds() -> None:
    # captured: Canal 1.1.8 on MySQL 8.0.31 (every byte becomes the character of its number)
    every = bytes(range(256))
    assert java.latin1(pa.array([every, None, b"abc"])).to_pylist() == [every.decode("latin1"), None, "abc"]


@each(
    [
        (
            "datetime(6)",
            [
                "2024-02-29 16:16:56.35",
                "2024-02-29 00:00:00",
                "2024-02-29 00:00:00.000100",
                "2024-02-29 00:00:00.123456",
            ],
            ["2024-02-29 16:16:56.35", "2024-02-29 00:00:00", "2024-02-29 00:00:00.0001", "2024-02-29 00:00:00.123456"],
        ),
        ("datetime(3)", ["2024-02-29 00:00:00.120", "0000-00-00"], ["2024-02-29 00:00:00.12", "0000-00-00 00:00:00"]),
        ("datetime", ["2024-02-29 00:00:00", None], ["2024-02-29 00:00:00", None]),
        ("time(3)", ["00:00:00.5", "-838:59:59", None], ["00:00:00.5", "-838:59:59", None]),
        ("time(6)", ["00:00:00.000001", "12:00:00.100001", "0"], ["00:00:00.000001", "12:00:00.100001", "00:00:00"]),
    ]
)
def test_trimmed_fractions(typed: str, literals: list[str | None], texts: list[str | None]) -> None:
    type = MYSQL.parse_type(typed)
    array = MYSQL.parse_values(literals, type)
    render = binlog_text.time_trimmed if type.name == "time" else binlog_text.datetime_trimmed
    assert render(array, type).to_pylist() == texts


@each(
    [
        ("decimal(10,2)", ["5", "-0.5", "0", None], ["5.00", "-0.50", "0.00", None]),
        ("decimal(10,2)", ["348.00", "-0.01"], ["348.00", "-0.01"]),
        ("decimal(18,18)", ["0.000000000000000001"], ["0.000000000000000001"]),
        ("decimal(18,5)", ["1234567890123.00001"], ["1234567890123.00001"]),
        ("decimal(38,20)", ["0", "-1.5"], ["0.00000000000000000000", "-1.50000000000000000000"]),
        (
            "decimal(20,18)",
            ["9.223372036854775807", "-9.223372036854775808", "9.3", None],
            [
                "9.223372036854775807",
                "-9.223372036854775808",
                "9.300000000000000000",
                None,
            ],
        ),
        (
            "decimal(19)",
            ["-9223372036854775808", "9223372036854775807"],
            [
                "-9223372036854775808",
                "9223372036854775807",
            ],
        ),
        ("decimal(38,20)", ["0.00000000000000000001", None], ["0.00000000000000000001", None]),
        ("decimal(5)", ["5"], ["5"]),
    ]
)
def test_plain_decimals(typed: str, literals: list[str | None], texts: list[str | None]) -> None:
    type = MYSQL.parse_type(typed)
    assert decimal_text.decimal_plain(MYSQL.parse_values(literals, type), type).to_pylist() == texts


def grouped(value: Decimal, scale: int) -> str:
    """The rule in plain words: whole groups of nine, then the rest unless it is zero, then `0` if nothing is there."""
    sign = "-" if value < 0 else ""
    whole, _, fraction = f"{abs(value):.{scale}f}".partition(".")
    if not scale:
        return sign + whole
    full = scale // 9 * 9
    rest = fraction[full:]
    shown = fraction[:full] + (rest if rest.strip("0") else "")
    return f"{sign}{whole}.{shown or '0'}"


# Whole numbers about the ends of what 64 bits hold.
ENDS = [sign * (end + by) for end in (0, 10**18, 1 << 63) for by in (-1, 0, 1) for sign in (1, -1)]
ENDS = sorted({value for value in ENDS if -(1 << 63) <= value < 1 << 63})


def cut(value: int, zeros: int) -> int:
    """The number with this many zeros at its end."""
    return (abs(value) - abs(value) % 10**zeros) * (-1 if value < 0 else 1)


@given(
    st.integers(0, 20),
    st.lists(st.sampled_from(ENDS), max_size=6) | st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=6),
)
def test_wide_decimals_follow_the_rules(scale: int, values: list[int]) -> None:
    """Of 38 digits, whether or not all fit into 64 bits; a row without a value does not count."""
    decimals = [None, *(Context(prec=40).scaleb(Decimal(value), -scale) for value in values)]
    array = pa.array([Decimal(1), *decimals], type=pa.decimal128(38, scale)).slice(1)
    expected = [None if value is None else f"{value:.{scale}f}" for value in decimals]
    assert decimal_text.decimal_plain(array, ColumnType("decimal")).to_pylist() == expected
    assert java_decimal.decimal_text(array).to_pylist() == [
        None
        if value is None
        else java_decimal.text(value.quantize(Decimal(1).scaleb(-scale), context=Context(prec=60)))
        for value in decimals
    ]


@given(st.integers(0, 18), st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1, max_size=6), st.data())
def test_decimals_follow_the_rules(scale: int, values: list[int], data: st.DataObject) -> None:
    zeros = data.draw(st.integers(0, 18))
    decimals = [Decimal(cut(value, zeros)).scaleb(-scale) for value in values]
    array = pa.array([*decimals, None], type=pa.decimal128(18, scale))
    type = MYSQL.parse_type(f"decimal(18,{scale})")
    assert decimal_text.decimal_groups(array, type).to_pylist() == [*(grouped(d, scale) for d in decimals), None]
    assert decimal_text.decimal_plain(array, type).to_pylist() == [*(f"{d:.{scale}f}" for d in decimals), None]
    wide = array.cast(pa.decimal128(38, scale))
    # with a number that 64 bits do not hold, all are made one by one
    wider = pa.concat_arrays([wide, pa.array([Decimal(10**37).scaleb(-scale)], wide.type)])
    for render in (decimal_text.decimal_groups, decimal_text.decimal_plain):
        assert render(wide, type).equals(render(array, type))
        assert render(wider, type).slice(0, len(array)).equals(render(array, type))


@given(st.lists(st.none() | st.datetimes(), max_size=6), st.integers(0, 6))
def test_datetimes_follow_the_rules(moments: list[dt.datetime | None], digits: int) -> None:
    unit = 10 ** (6 - digits)
    cut = [m and m.replace(microsecond=m.microsecond // unit * unit) for m in moments]
    type = MYSQL.parse_type(f"datetime({digits})")
    array = pa.array(cut, type=pa.timestamp("us"))
    fixed = [m and f"{m.isoformat(' ', 'microseconds')}"[: 20 + digits if digits else 19] for m in cut]
    trimmed = [text and (text.rstrip("0").rstrip(".") if digits else text) for text in fixed]
    assert binlog_text.datetime_fixed(array, type).to_pylist() == fixed
    assert binlog_text.datetime_trimmed(array, type).to_pylist() == trimmed


@each(
    [
        # captured: Canal 1.1.8 in Asia/Shanghai
        ("Asia/Shanghai", "2024-02-29 12:34:56", "2024-02-29 20:34:56"),
        ("+08:00", "2024-02-29 12:34:56", "2024-02-29 20:34:56"),
        ("GMT-3:30", "2024-02-29 12:34:56", "2024-02-29 09:04:56"),
        ("UTC", "2024-02-29 12:34:56", "2024-02-29 12:34:56"),
        ("Asia/Shanghai", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
        ("+08:00", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
        ("Europe/Berlin", "2024-03-31 00:59:59", "2024-03-31 01:59:59"),
        ("Europe/Berlin", "2024-03-31 01:00:00", "2024-03-31 03:00:00"),
        ("Europe/Berlin", "2024-10-27 00:59:59", "2024-10-27 02:59:59"),
        ("Europe/Berlin", "2024-10-27 01:00:00", "2024-10-27 02:00:00"),
        ("Australia/Lord_Howe", "2024-04-06 15:00:00", "2024-04-07 01:30:00"),
        ("Asia/Kathmandu", "2024-01-01 00:00:00", "2024-01-01 05:45:00"),
    ]
)
def test_timestamps_in_a_zone(zone: str, utc: str, text: str) -> None:
    type = MYSQL.parse_type("timestamp")
    array = MYSQL.parse_values([utc, None, utc], type)
    assert binlog_text.datetime_fixed(array, type, zone=zone).to_pylist() == [text, None, text]
    assert binlog_text.datetime_trimmed(array, type, zone=zone).to_pylist() == [text, None, text]


def test_timestamps_by_minutes() -> None:
    type = MYSQL.parse_type("timestamp")
    array = MYSQL.parse_values(["2024-02-29 12:34:56"], type)
    assert binlog_text.datetime_fixed(array, type, offset_minutes=-90).to_pylist() == ["2024-02-29 11:04:56"]


def test_an_unknown_zone_is_a_usage_error() -> None:
    type = MYSQL.parse_type("timestamp")
    with pytest.raises(UsageError, match="no time zone 'Asia/Shangai'; write one such as"):
        binlog_text.datetime_fixed(MYSQL.parse_values(["2024-02-29"], type), type, zone="Asia/Shangai")


def test_labels() -> None:
    enum, members = MYSQL.parse_type("enum('a','b')"), MYSQL.parse_type("set('x','y','z')")
    assert binlog_text.enum_label(pa.array([2, 0, None]), enum).to_pylist() == ["b", "", None]
    masks = pa.array([5, 0, None, 5], type=pa.uint64())
    assert binlog_text.set_labels(masks, members).to_pylist() == ["x,z", "", None, "x,z"]


@each([binlog_text.text, binlog_text.latin1_bytes])
def test_dictionaries_stay_dictionaries(render: Callable[..., pa.Array]) -> None:
    values = ["a", None, "b", "a"] if render is binlog_text.text else [b"\xff", None, b"b", b"\xff"]
    encoded = pa.array(values).dictionary_encode()
    rendered = render(encoded, MYSQL.parse_type("blob"))
    assert pa.types.is_dictionary(rendered.type)
    assert rendered.to_pylist() == render(pa.array(values), MYSQL.parse_type("blob")).to_pylist()


# ------------------------------------------------------------------------------------------------ JSON flavours

CONTROLS = "".join(map(chr, range(0x20)))
# captured: Canal 1.1.8 on MySQL 8.0.31
FASTJSON2_CONTROLS = (
    r"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"
    r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"
)
RARE = "\x7f\x80\x85\x9f\xa0\xad\u200b\u200d\u2028\u2029\ufeff\ufffd\uffff😀"
ESCAPED = [
    (json_style.FASTJSON2, CONTROLS, FASTJSON2_CONTROLS),
    (json_style.FASTJSON2, RARE, RARE),
    (json_style.FASTJSON2, "\"\\/<>&='`", "\\\"\\\\/<>&='`"),
    (
        json_style.FASTJSON2_RAW_CONTROLS,
        CONTROLS,
        CONTROLS.translate({8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r"}),
    ),
    (json_style.FASTJSON2_RAW_CONTROLS, RARE, RARE),
    # captured: Canal 1.1.5 on MySQL 5.7.22 (upper-case digits, more characters)
    (json_style.FASTJSON1, "\x0b\x1f", r"\u000B\u001F"),
    (
        json_style.FASTJSON1,
        RARE,
        r"\u007F\u0080\u0085\u009F" + "\xa0\xad\u200b\u200d" + r"\u2028\u2029" + "\ufeff\ufffd\uffff😀",
    ),
    (json_style.JACKSON_BYTES, "\x0b中😀\U000e0041", r"\u000B中\uD83D\uDE00\uDB40\uDC41"),
    (json_style.HTML_SAFE, CONTROLS, FASTJSON2_CONTROLS),
    (json_style.HTML_SAFE, RARE, RARE.replace("\u2028\u2029", r"\u2028\u2029")),
    (json_style.HTML_SAFE, "\"\\/<>&='`", r"\"\\/\u003c\u003e\u0026\u003d\u0027`"),
]


@each(ESCAPED)
def test_escapes(style: json_style.Style, text: str, escaped: str) -> None:
    assert json_style.quote(text, style) == f'"{escaped}"'
    array = pa.array(["plain", text, None, "", text * 2])
    expected = ["plain", escaped, None, "", escaped * 2]
    assert json_style.escape(array, style).to_pylist() == expected
    assert json_style.escape(array.slice(2), style).to_pylist() == expected[2:]
    encoded = json_style.escape(array.dictionary_encode(), style)
    assert pa.types.is_dictionary(encoded.type)
    assert encoded.to_pylist() == expected


@pytest.mark.parametrize("style", list(json_style.STYLES.values()), ids=list(json_style.STYLES))
@given(
    texts=st.lists(
        st.none() | st.text(st.sampled_from("ab\"\\\n\x0b\x00\x7f\x80\x9f\xa0\u2027\u2028<'é中😀"), max_size=8)
    ),
    start=st.integers(0, 3),
)
def test_columns_are_escaped_like_single_texts(style: json_style.Style, texts: list[str | None], start: int) -> None:
    array = pa.array(texts, type=pa.string()).slice(start)
    escaped = json_style.escape(array, style)
    escaped.validate(full=True)
    assert escaped.to_pylist() == [None if t is None else json_style.quote(t, style)[1:-1] for t in texts[start:]]


def test_a_column_without_escapes_is_not_copied() -> None:
    array = pa.array(["plain", "中文", None])
    assert json_style.escape(array) is array


@given(st.lists(st.none() | st.binary(max_size=6), max_size=6), st.integers(0, 3))
def test_bytes_as_characters(values: list[bytes | None], start: int) -> None:
    array = pa.array(values, type=pa.binary()).slice(start)
    decoded = java.latin1(array)
    decoded.validate(full=True)
    assert decoded.to_pylist() == [None if v is None else v.decode("latin1") for v in values[start:]]
    stripped = binlog_text.without_trailing_zeros(array)
    stripped.validate(full=True)
    assert stripped.to_pylist() == [None if v is None else v.rstrip(b"\0") for v in values[start:]]
    digits = binlog_text.hex_bytes(array, MYSQL.parse_type("blob"))
    digits.validate(full=True)
    assert digits.to_pylist() == [None if v is None else v.hex().upper() for v in values[start:]]


def test_floats_without_a_finite_value() -> None:
    array = pa.array([float("inf"), -float("inf"), float("nan"), 0.0, None])
    texts = ["Infinity", "-Infinity", "NaN", "0.0", None]
    assert java.double_text(array).to_pylist() == texts
    assert java.float_text(array.cast(pa.float32())).to_pylist() == texts


@given(st.lists(st.none() | st.floats(), max_size=4))
def test_java_doubles_mean_the_same(values: list[float | None]) -> None:
    texts = java.double_text(pa.array(values, type=pa.float64())).to_pylist()
    back = [None if text is None else float(text.replace("Infinity", "inf")) for text in texts]
    assert np.array_equal(np.array(back, dtype=float), np.array(values, dtype=float), equal_nan=True)
    assert [None if value is None else java.double_string(value) for value in values] == texts


@given(st.integers(-(10**12), 10**12), st.integers(0, 14))
def test_one_java_double_is_as_a_column_of_them(digits: int, places: int) -> None:
    value = digits / 10**places
    assert java.double_string(value) == java.double_text(pa.array([value]))[0].as_py()
