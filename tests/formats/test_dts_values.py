"""DTS records value by value: what the vendor's SDK lets through although it is wrong, and what JSON says of a row."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of, with_effect
from cases import cases_of, samples_of, types_of
from each import each

from simulator.formats.dts.avro import FORMAT
from simulator.model import INSERT
from simulator.sources import SOURCES, find
from simulator.sources.postgresql.times import day_number
from simulator.sources.postgresql.type_table import EVERY_TYPE
from simulator.truth.decoders import parse

SYSTEMS_READ: Final = [f"{id}-{version}" for id in FORMAT.sources for version in SOURCES[id][2]]

# --------------------------------------------------------------------------------- what readers need and do not check

# The record that the vendor's converters demand of each number; what has none there is not in these tables.
CONVERTERS: Final[Mapping[str, Mapping[str, set[int]]]] = {
    "MySQL": {
        "Integer": {1, 2, 3, 8, 9, 16},
        "Decimal": {0, 246},
        "Float": {4, 5},
        "Timestamp": {7},
        "DateTime": {10, 11, 12, 13, 14},
        "Character": {15, 253, 254},
        "TextObject": {245, 247, 248},
        "BinaryObject": {249, 250, 251, 252},
        "BinaryGeometry": {255},
    },
    "Oracle": {
        "Character": {1, 8, 58, 96, 112},
        "Decimal": {2},
        "DateTime": {12, 180, 182, 183},
        "BinaryObject": {23, 24, 113},
        "TextObject": {69, 114, 119, 208},
        "Float": {100, 101},
        "TimestampWithTimeZone": {181, 231},
    },
    "PostgreSQL": {
        "Integer": {20, 21, 23},
        "Character": {18, 25, 1042, 1043},
        "Decimal": {1700},
        "Float": {700, 701},
        "DateTime": {1082, 1083, 1114},
        "TimestampWithTimeZone": {1184, 1266},
        "BinaryObject": {17, 3802},
        "TextGeometry": {600, 601, 602, 603, 604, 628, 718},
        "TextObject": {16, 114, 142, 650, 790, 829, 869, 1186, 1560, 1561, 2950, 2970, 3220, 3614, 3615},
    },
    "MongoDB": {"TextObject": {0}},
}
# Numbers of PostgreSQL that the converters do not know: those of the catalogue with these records, all else is text.
UNKNOWN: Final = {19: "Character", 26: "Integer", 28: "Integer"}
# ObjectType of the SDK: another text makes it throw.
OBJECT_TYPES: Final = frozenset(
    [
        "BINARY",
        "BOOL",
        "BLOB",
        "XML",
        "JSON",
        "TEXT",
        "BFILE",
        "RAW",
        "LONG_RAW",
        "ROWID",
        "UROWID",
        "ENUM",
        "SET",
        "BYTEA",
        "GEOMETRY",
        "XTYPE",
        "UUID",
    ]
)


def check(record: Mapping[str, Any]) -> None:
    """Raises AssertionError for a record that a reader would misread or break on."""
    system = record["source"]["sourceType"]
    row = record["operation"] in ("INSERT", "UPDATE", "DELETE", "INIT")
    assert (record["fields"] is not None) == row
    assert (record["beforeImages"] is not None) == (record["operation"] in ("UPDATE", "DELETE"))
    assert isinstance(record["afterImages"], str) == (record["operation"] in ("DDL", "COMMAND"))
    if not row:
        return
    assert 2 <= len(re.split(r"\.", record["objectName"])) <= 3
    names = [field["name"] for field in record["fields"]]
    for columns in json.loads(record["tags"]["pk_uk_info"]).values():
        assert set(columns) <= set(names)
    for side in ("beforeImages", "afterImages"):
        if record[side] is not None:
            assert len(record[side]) == len(names), "readers find values by their place"
            for field, value in zip(record["fields"], record[side], strict=True):
                if value == "NONE":
                    assert (system, side, field["name"]) == ("MongoDB", "beforeImages", "_value")
                elif value is not None:
                    check_value(system, field["dataTypeNumber"], value[0].rpartition(".")[2], value[1])


def check_value(system: str, number: int, name: str, value: Mapping[str, Any]) -> None:
    demanded = CONVERTERS.get(system)
    if system == "PostgreSQL" and not any(number in numbers for numbers in CONVERTERS[system].values()):
        assert name == UNKNOWN.get(number, "TextObject")
        assert number >= 16_384 or number in {row.oid for row in EVERY_TYPE.values()}
    elif name == "Float" and not math.isfinite(value["value"]):
        assert number in demanded["Decimal"] or number in demanded[name]  # no Decimal says it
    elif demanded is not None:
        assert number in demanded[name], f"{system} {number} is no {name}"
    match name:
        case "Integer":
            assert -(1 << 8 * value["precision"] - 1) <= int(value["value"]) < 1 << 8 * value["precision"]
        case "Decimal" if system == "PostgreSQL" and value["value"] in ("NaN", "Infinity", "-Infinity"):
            assert (value["precision"], value["scale"]) == (0, 0)
        case "Decimal":
            assert re.fullmatch(r"-?\d+(\.\d+)?", value["value"])
            unscaled = value["value"].lstrip("-").replace(".", "").lstrip("0")
            assert value["precision"] == max(len(unscaled), 1)
            assert value["scale"] == len(value["value"].partition(".")[2])
        case "Timestamp":
            assert 0 <= value["millis"] < 1_000_000
        case "DateTime":
            check_date(system, value)
        case "TimestampWithTimeZone":
            check_date(system, value["value"])
            assert re.fullmatch(
                r"[+-]\d\d:\d\d|[A-Z][A-Za-z/_]+" if system != "PostgreSQL" else r"[+-]\d\d:\d\d(:\d\d)?",
                value["timezone"],
            )
        case "BinaryGeometry":
            assert shape_end(value["value"], 0) == len(value["value"])
        case "BinaryObject" | "TextObject":
            assert value["type"] in OBJECT_TYPES


def check_date(system: str, value: Mapping[str, int | None]) -> None:
    year, month, day, hour, minute, second, fraction = (value[m] for m in value)
    there = [number for number in value.values() if number]
    assert all(number > 0 for number in there) or all(number < 0 for number in there), "one sign for all"
    if year is not None and month and day is not None and day:
        # a year of the same kind that Python's calendar has; the year before 1 is -1
        dt.date(abs(year + (year < 0)) % 400 + 2000, abs(month), abs(day))
    assert minute is None or -60 < minute < 60
    assert second is None or -60 < second < 60
    assert hour is None or -839 < hour < 839
    assert fraction is None or abs(fraction) < 10**6


def shape_end(data: bytes, place: int) -> int:
    """Where a shape in well-known binary ends; counts its points and parts."""
    order, kind = struct.unpack_from("<BI", data, place)
    assert order == 1
    place += 5
    if kind == 1:
        return place + 16
    (count,) = struct.unpack_from("<I", data, place)
    place += 4
    for _ in range(count):
        if kind == 2:
            place += 16
        elif kind == 3:
            (points,) = struct.unpack_from("<I", data, place)
            place += 4 + 16 * points
        else:
            place = shape_end(data, place)
    return place


@each([str(find(id)) for id in FORMAT.sources])
def test_records_are_what_readers_need(source: str) -> None:
    fields: dict[tuple[str, str], Any] = {}
    for case in cases_of(source):
        for message in messages_of("dts-avro,product=subscription", source, block_of(case)):
            assert message.value is not None
            assert len(message.value) > 48, "clients are told to ignore records of 48 bytes and less"
            found = parse("dts-avro", message.value)
            check(found)
            if found["fields"] is not None:
                # readers keep the fields of a table by its metaVersion and skip those of later records
                key = found["objectName"], found["tags"]["metaVersion"]
                assert fields.setdefault(key, found["fields"]) == found["fields"]


def test_the_check_sees_what_is_wrong() -> None:
    table = table_of("t", {"id": "int", "d": "date", "g": "geometry", "b": "blob"}, ["id"])
    batch = batch_of(table, INSERT, [["1", "2024-02-29", "POINT(1 2)", "x"]])
    good = parse("dts-avro", encoded(codec_of("dts-avro"), batch)[0])
    check(good)
    name = "com.alibaba.dts.formats.avro."
    date = {**good["afterImages"][1][1], "day": 30}
    for place, value in (
        (0, (f"{name}Integer", {"precision": 4, "value": "4294967296"})),
        (1, (f"{name}DateTime", date)),
        (2, (f"{name}BinaryGeometry", {"type": "GEOMETRY", "value": good["afterImages"][2][1]["value"] + b"\0"})),
        (3, (f"{name}Character", {"charset": "utf8", "value": b"x"})),
    ):
        images = list(good["afterImages"])
        images[place] = value
        with pytest.raises((AssertionError, ValueError)):
            check({**good, "afterImages": images})
    with pytest.raises(AssertionError):
        check({**good, "afterImages": good["afterImages"][:-1]})
    with pytest.raises(AssertionError):
        check({**good, "tags": {**good["tags"], "pk_uk_info": '{"PRIMARY":["zz"]}'}})


# ----------------------------------------------------------------------------------------------------- values by hand

# Of printed messages, and of the converters' rules: MySQL's type and literal, the record's members, JSON's text.
BY_HAND: Final = [
    ("decimal(10,2)", "348", ["348.00", 5, 2], "348.00"),
    ("decimal(10,2)", "1050", ["1050.00", 6, 2], "1050.00"),
    ("decimal(10,2)", "1", ["1.00", 3, 2], "1.00"),
    ("decimal(10,2)", "0", ["0.00", 1, 2], "0.00"),
    ("decimal(10,2)", "-0.01", ["-0.01", 1, 2], "-0.01"),
    ("tinyint unsigned", "255", [1, "255"], "255"),
    ("mediumint", "8388607", [3, "8388607"], "8388607"),
    ("int unsigned", "4294967295", [4, "4294967295"], "4294967295"),
    ("bigint unsigned", "18446744073709551615", [8, "18446744073709551615"], "18446744073709551615"),
    ("bit(12)", "5", [2, "5"], "5"),
    ("float", "1.1", [1.100000023841858, 0, 0], "1.1"),
    ("double", "1e10", [1e10, 0, 0], "1.0E10"),
    ("date", "2021-01-27", [2021, 1, 27, None, None, None, None], "2021-01-27"),
    ("date", "0000-00-00", [0, 0, 0, None, None, None, None], "0000-00-00"),
    ("datetime(3)", "2021-01-27 15:16:56.35", [2021, 1, 27, 15, 16, 56, 350_000], "2021-01-27 15:16:56.35"),
    ("datetime", "0000-00-00 00:00:00", [0, 0, 0, 0, 0, 0, 0], "0000-00-00 00:00:00"),
    ("timestamp", "2021-04-12 15:04:11", [1_618_239_851, 0], "2021-04-12 23:04:11"),
    ("timestamp(6)", "2021-04-12 15:04:11.000042", [1_618_239_851, 42], "2021-04-12 23:04:11.000042"),
    ("time", "-838:59:59", [None, None, None, -838, -59, -59, 0], "-838:59:59"),
    ("time(1)", "-00:30:00.5", [None, None, None, 0, -30, 0, -500_000], "-00:30:00.5"),
    ("time(1)", "00:00:00.5", [None, None, None, 0, 0, 0, 500_000], "00:00:00.5"),
    ("year", "0000", [0, None, None, None, None, None, None], "0000"),
    ("year", "2021", [2021, None, None, None, None, None, None], "2021"),
    ("char(3)", "", ["utf8mb4", b""], ""),
    ("json", '{"a": 1}', ["JSON", '{"a": 1}'], '{"a": 1}'),
    ("enum('x','y')", "y", ["ENUM", "y"], "y"),
    ("set('x','y')", "x,y", ["SET", "x,y"], "x,y"),
    ("varbinary(3)", "ab", ["BINARY", b"ab"], "ab"),
]


@each(BY_HAND)
def test_values_by_hand(type: str, literal: str, members: list[Any], shown: str) -> None:
    batch = batch_of(table_of("t", {"id": "int", "c": type}, ["id"]), INSERT, [["1", literal]])
    (record,) = encoded(codec_of("dts-avro"), batch)
    assert list(parse("dts-avro", record)["afterImages"][1][1].values()) == members
    (value,) = encoded(codec_of("dts-canal-json"), batch)
    assert json.loads(value)["data"] == [{"id": "1", "c": shown}]


# ------------------------------------------------------------------------------------------------- values of every type


def julian_day(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day before 1582, as Java counts those. Years that begin in March, the leap day last."""
    shifted = year - (month <= 2)
    return shifted * 365 + shifted // 4 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719_471


@cache
def corpus(format: str, source: str) -> tuple[list[str], list[bytes]]:
    """Types, and messages with a column of each: the least and greatest values, and all that is odd."""
    types = types_of(source)
    columns = {f"c{number}": text for number, text in enumerate(types)}
    table = table_of("t", {"id": samples_of(source).plain, **columns}, ["id"], source=source)
    values = [find(source).boundary_values(column.type) for column in table.columns[1:]]
    rows = [
        [str(number + 1), *(each[number % len(each)] for each in values)]
        for number in range(max(map(len, values), default=0))
    ]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=source)
    return types, encoded(codec_of(format, source), batch)


@each(SYSTEMS_READ)
def test_values_of_every_type_are_what_readers_need(source: str) -> None:
    for value in corpus("dts-avro", source)[1]:
        check(parse("dts-avro", value))


@each([f"{id}-{SOURCES[id][2][0]}" for id in FORMAT.sources if id != "mongodb"])
def test_records_and_json_say_the_same(source: str) -> None:
    """Two ways from the same carriers: members and texts."""
    json_format = with_effect("dts-canal-json,timestamp_zone=+00:00,binary=hex", source)
    kinds = set()
    types, records = corpus("dts-avro", source)
    for record, value in zip(records, corpus(json_format, source)[1], strict=True):
        decoded = parse("dts-avro", record)
        _, *texts = json.loads(value)["data"][0].values()
        for text, member, shown in zip(types, decoded["afterImages"][1:], texts, strict=True):
            assert (member is None) == (shown is None)
            if member is not None:
                kind = member[0].rpartition(".")[2]
                kinds.add(kind)
                assert agree(decoded["source"]["sourceType"], kind, member[1], shown), (text, member, shown)
    assert len(kinds) > 6


def agree(system: str, kind: str, value: Mapping[str, Any], shown: str) -> bool:
    """Whether a record's members say what a text does."""
    match kind:
        case "Integer" | "TextObject" | "TextGeometry" | "Decimal":
            return bool(value["value"] == shown)
        case "Float":
            number = float(shown)
            same = number == value["value"] or float(np.float32(number)) == value["value"]
            return same or (number != number and value["value"] != value["value"])
        case "Character":
            return bool(value["value"] == shown.encode(CODECS.get(value["charset"], value["charset"]), "replace"))
        case "BinaryObject":
            return shown in (value["value"].hex().upper(), value["value"].decode("utf-8", "replace"))
        case "BinaryGeometry":
            # SQL Server's are stored in another form, which has tests of its own
            return system == "SQLServer" or shown[8:] == value["value"].hex().upper()
        case "Timestamp":
            moment = dt.datetime.fromtimestamp(value["timestamp"], dt.UTC)
            zero = value["timestamp"] == value["millis"] == 0 and shown.startswith("0000-00-00")
            return zero or numbers_of(shown) == [*moment.timetuple()[:6], value["millis"] * 1000]
        case "TimestampWithTimeZone":
            return same_members(system, value["value"], shown)
    return same_members(system, value, shown)


CODECS: Final = {"utf8mb4": "utf-8", "utf8": "utf-8", "utf8mb3": "utf-8", "binary": "latin-1"}


def numbers_of(shown: str) -> list[int]:
    """The numbers of a date's or time's text but for a zone, the fraction in nanoseconds; 0 without one."""
    forms = r"\d+-\d+-\d+(?:[ T]\d+:\d+:\d+)?|\d+ \d+:\d+:\d+|\d+:\d+:\d+|\d+-\d+|\d+"
    match = re.match(rf"[-+]?({forms})(?:[.](\d+))?", shown)
    assert match
    found = [int(number) for number in re.findall(r"\d+", match[1])]
    return [*found, int((match[2] or "0").ljust(9, "0"))] if ":" in match[1] else found


def same_members(system: str, value: Mapping[str, int | None], shown: str) -> bool:
    if "infinity" in shown:
        return value["year"] == (-292_269_055 if shown.startswith("-") else 292_278_994)
    there = {name: number for name, number in value.items() if number is not None}
    if "millis" in there:
        there["millis"] *= 1000
    negative = shown.startswith("-") or shown.endswith("BC")
    signs = {number < 0 for number in there.values() if number}
    return signs <= {negative} and [abs(number) for number in there.values()] == [
        number // 1000 * 1000 if i == len(there) - 1 and "millis" in there else number
        for i, number in enumerate(numbers_of(shown)[: len(there)])
    ]


def test_infinity_and_days_before_christ() -> None:
    """The day of infinity is the one of the JDBC driver's constants, which are milliseconds."""
    table = table_of("t", {"id": "int", "d": "date", "z": "timestamptz"}, ["id"], source="postgresql")
    rows = [["1", "infinity", "-infinity"], ["2", "0001-12-31 BC", "0044-03-15 12:30:00.5 BC"], ["3", None, None]]
    batch = batch_of(table, INSERT, rows, source="postgresql")
    found = [parse("dts-avro", value)["afterImages"] for value in encoded(codec_of("dts-avro", "postgresql-16"), batch)]
    for row, constant in (
        (found[0][1][1], 9_223_372_036_825_200_000),
        (found[0][2][1]["value"], -9_223_372_036_832_400_000),
    ):
        sign = -1 if row["year"] < 0 else 1
        assert all(sign * number > 0 for number in row.values() if number), "one sign for all"
        year, month, day = (abs(row[name]) for name in ("year", "month", "day"))
        number = julian_day(1 - year, month, day) if sign < 0 else day_number(year, month, day)
        # midnight an hour east of Greenwich
        assert number * 86_400_000 - 3_600_000 == constant
    assert list(found[1][1][1].values()) == [-1, -12, -31, None, None, None, None]
    assert list(found[1][2][1]["value"].values()) == [-44, -3, -15, -12, -30, 0, -500_000]
    assert found[2][1:] == [None, None]
