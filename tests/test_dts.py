"""DTS records beyond their goldens: the specification's own bytes, what the vendor's SDK lets through although it is
wrong, positions, heartbeats; and the examples of SharePlex JSON."""

from __future__ import annotations

import datetime as dt
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from building import Case, Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of, samples_of
from decoding import decode

from simulator.api import open_job
from simulator.errors import NotOffered, OptionError, UnsupportedType
from simulator.formats import dts_record, dts_values, open_codec
from simulator.formats.dts_avro import FORMAT
from simulator.formats.dts_drds import physical_name
from simulator.formats.dts_geometry import well_known_binary
from simulator.formats.dts_types import MYSQL, MYSQL_TYPES, SYSTEMS, System
from simulator.model import DELETE, INSERT, UPDATE, Column, ColumnType
from simulator.pipeline import Limits
from simulator.sinks.memory import MemorySink
from simulator.sources import SOURCES, find, sqlserver_clr
from simulator.sources.mysql_geometry import to_bytes
from simulator.sources.postgresql_table import EVERY_TYPE
from simulator.sources.postgresql_times import day_number

SYSTEMS_READ: Final = [f"{id}-{version}" for id in FORMAT.sources for version in SOURCES[id][2]]

# ------------------------------------------------------------------------------------------------------ golden records

# Encoded by fastavro from the vendor's schema, members as in printed messages of MySQL 8.0.28.
HEAD: Final[Mapping[str, Any]] = {
    "id": 1_700_382,
    "source_timestamp": 1_696_984_408,
    "source_position": "72469@78",
    "safe_source_position": "72347@78",
    "source_txid": "0",
    "source_type": "MySQL",
    "source_version": "8.0.28",
    "born_timestamp": 1_696_984_408,
}
HEARTBEAT: Final = (
    "00bcc8cf01b0b5afd20c1037323436394037381037323334374037380230000c382e302e323810000000000000b0b5afd20c"
)
INSERTED: Final = (
    "00bcc8cf01b0b5afd20c1037323436394037381037323334374037380230000c382e302e323800020e6d7964622e7431000214706b5f756b"
    "5f696e666f227b225052494d415259223a5b2261225d7d0004040261100262fa0300000404021012313233343536373839040e757466386d"
    "623404686900b0b5afd20c"
)
DELETED: Final = (
    "00bcc8cf01b0b5afd20c1037323436394037381037323334374037380230000c382e302e323804020e6d7964622e7431000004040261100262"
    "fa03000404021012313233343536373839000000b0b5afd20c"
)
DROPPED: Final = (
    "00bcc8cf01b0b5afd20c1036373030384037381036373030384037380230000c382e302e32380602086d79646200000000021a64726f7020"
    "7461626c65207431b0b5afd20c"
)
COLUMNS: Final = (Column("a", ColumnType("bigint")), Column("b", ColumnType("varchar", 10)))


def record(**members: Any) -> str:
    made: bytes = dts_record.records(1, **{"tags": {}, **HEAD, **members})[0].as_py()
    return made.hex()


def image(*arrays: pa.Array) -> list[Any]:
    values = []
    for column, array in zip(COLUMNS, arrays, strict=True):
        write = dts_values.values_of(MYSQL_TYPES[column.type.name], column.type, MYSQL)
        values.append([dts_values.whole(write(array), len(array))])
    return dts_record.image(values, len(COLUMNS))


def test_records_byte_for_byte() -> None:
    fields = dts_record.fields_of(COLUMNS, lambda column: MYSQL_TYPES[column.type.name].number)
    number, text = pa.array([123_456_789]), pa.array(["hi"])
    assert record(operation="HEARTBEAT", object_name=None) == HEARTBEAT
    assert record(operation="HEARTBEAT", object_name=None, born_timestamp=None) == HEARTBEAT[:-10]
    keys = {"pk_uk_info": '{"PRIMARY":["a"]}'}
    assert (
        record(operation="INSERT", object_name="mydb.t1", fields=fields, after=image(number, text), tags=keys)
        == INSERTED
    )
    null = pa.array([None], pa.string())
    assert record(operation="DELETE", object_name="mydb.t1", fields=fields, before=image(number, null)) == DELETED
    at = {"source_position": "67008@78", "safe_source_position": "67008@78"}
    dropped = dts_record.statement("drop table t1")
    assert record(operation="DDL", object_name="mydb", after=dropped, **at) == DROPPED


def test_object_names() -> None:
    assert dts_record.object_name("my.db", "s", "t.") == "my\\u002Edb.s.t\\u002E"


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
    assert fraction is None or abs(fraction) < (10**6 if SYSTEMS[system_id(system)].fraction == 1 else 10**9)


def system_id(source_type: str) -> str:
    return next(id for id, system in SYSTEMS.items() if system.source_type == source_type)


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


@pytest.mark.parametrize("source", SYSTEMS_READ)
def test_records_are_what_readers_need(source: str) -> None:
    fields: dict[tuple[str, str], Any] = {}
    for case in cases_of(source):
        for message in messages_of("dts-avro,product=subscription", source, block_of(case)):
            assert message.value is not None
            assert len(message.value) > 48, "clients are told to ignore records of 48 bytes and less"
            found = decode("dts-avro", message.value)
            check(found)
            if found["fields"] is not None:
                # readers keep the fields of a table by its metaVersion and skip those of later records
                key = found["objectName"], found["tags"]["metaVersion"]
                assert fields.setdefault(key, found["fields"]) == found["fields"]


def test_a_minimal_row_image_has_the_key_before_and_what_changed_after() -> None:
    table = table_of("t", {"v": "int", "id": "int", "w": "int"}, ["id"])
    old, new = [["1", "7", None], ["1", "8", "2"]], [["2", "7", None], ["1", "9", "3"]]
    format = "dts-avro,row_image=minimal"
    values = encoded(codec_of(format), batch_of(table, UPDATE, new, old))
    found = [decode("dts-avro", value) for value in values]
    assert [texts(record["beforeImages"]) for record in found] == [["?", "7", "?"], ["?", "8", "?"]]
    assert [texts(record["afterImages"]) for record in found] == [["2", "?", "?"], ["?", "9", "3"]]
    (deleted,) = encoded(codec_of(format), batch_of(table, DELETE, [["1", "7", None]]))
    assert texts(decode("dts-avro", deleted)["beforeImages"]) == ["?", "7", "?"]
    (inserted,) = encoded(codec_of(format), batch_of(table, INSERT, [["1", "7", None]]))
    assert texts(decode("dts-avro", inserted)["afterImages"]) == ["1", "7", None]


def texts(image: list[Any]) -> list[str | None]:
    """The texts of Integers, `?` for what is not known."""
    return [None if v is None else "?" if v == "NONE" or v[1] == "NONE" else v[1]["value"] for v in image]


def test_the_hidden_key_is_the_same_in_both_images() -> None:
    format = "dts-avro,rds_hidden_pk=on"
    keyless = table_of("t", {"a": "int", "b": "varchar(9)"})
    (inserted,) = encoded(codec_of(format), batch_of(keyless, INSERT, [["1", "x"]]))
    (updated,) = encoded(codec_of(format), batch_of(keyless, UPDATE, [["1", "y"]], [["1", "x"]]))
    (deleted,) = encoded(codec_of(format), batch_of(keyless, DELETE, [["1", "x"]]))
    records = [decode("dts-avro", value) for value in (inserted, updated, deleted)]
    assert {(record["fields"][-1]["name"], record["fields"][-1]["dataTypeNumber"]) for record in records} == {
        ("__#alibaba_rds_row_id#__", 8)
    }
    assert {record["tags"]["pk_uk_info"] for record in records} == {"{}"}
    images = [record[side] for record in records for side in ("beforeImages", "afterImages") if record[side]]
    assert len(images) == 4
    assert len({image[-1][1]["value"] for image in images}) == 1
    keyed = table_of("t", {"a": "int", "b": "varchar(9)"}, ["a"])
    assert encoded(codec_of(format), batch_of(keyed, INSERT, [["1", "x"]])) == encoded(
        codec_of("dts-avro"), batch_of(keyed, INSERT, [["1", "x"]])
    )


def test_rows_of_drds_are_in_physical_tables() -> None:
    assert physical_name(table_of("t", {"id": "int"}, ["id"]), 11).split(".")[1].endswith("_11")
    records = stream("dts-avro,source_type=DRDS", "orders", "mysql", 2000)
    of_key: dict[tuple[str, str], set[str]] = {}
    for found in records:
        if found["fields"] is None:
            continue
        assert found["source"]["sourceType"] == "DRDS"
        tags = found["tags"]
        match = re.fullmatch(r"(\w+)_[a-z]{4}_(\d{4})[.](\w+)_[a-z]{4}_(\d\d)", found["objectName"])
        assert match
        assert (match[1], match[3]) == (tags["l_db_name"], tags["l_tb_name"])
        assert int(match[2]) == int(match[4]) // 2, "as in 0005 and 11 of the printed message"
        (key, *others) = json.loads(tags["pk_uk_info"])["PRIMARY"]
        place = [field["name"] for field in found["fields"]].index(key)
        image = found["beforeImages"] or found["afterImages"]
        if not others:
            of_key.setdefault((match[3], image[place][1]["value"]), set()).add(found["objectName"])
    assert all(len(names) == 1 for names in of_key.values()), "a row stays where it is"
    assert len({name for names in of_key.values() for name in names}) > 16


def test_a_source_type_belongs_to_its_source() -> None:
    with pytest.raises(OptionError, match=r"^-f dts-avro,source_type=DRDS: it belongs to mysql, not oracle-19c[.]$"):
        codec_of("dts-avro,source_type=DRDS", "oracle-19c")


def test_the_check_sees_what_is_wrong() -> None:
    table = table_of("t", {"id": "int", "d": "date", "g": "geometry", "b": "blob"}, ["id"])
    batch = batch_of(table, INSERT, [["1", "2024-02-29", "POINT(1 2)", "x"]])
    good = decode("dts-avro", encoded(codec_of("dts-avro"), batch)[0])
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


def julian_day(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day before 1582, as Java counts those. Years that begin in March, the leap day last."""
    shifted = year - (month <= 2)
    return shifted * 365 + shifted // 4 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719_471


def corpus(format: str, source: str) -> Iterator[tuple[str, list[bytes]]]:
    """The least and greatest value of each type, and all that is odd, in messages."""
    codec, system = codec_of(format, source), find(source).types
    for text in samples_of(source).types:
        table = table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
        rows = [[str(i), literal] for i, literal in enumerate(system.boundary_values(table.columns[1].type), 1)]
        yield text, encoded(codec, batch_of(table, INSERT, rows, statements=range(len(rows)), source=source))


@pytest.mark.parametrize("source", SYSTEMS_READ)
def test_values_of_every_type_are_what_readers_need(source: str) -> None:
    for _, values in corpus("dts-avro", source):
        for value in values:
            check(decode("dts-avro", value))


@pytest.mark.parametrize("source", [source for source in SYSTEMS_READ if not source.startswith("mongodb")])
def test_records_and_json_say_the_same(source: str) -> None:
    """Two ways from the same carriers: members and texts."""
    json_format = "dts-canal-json,timestamp_zone=+00:00,binary=hex"
    kinds = set()
    for (text, records), (_, values) in zip(corpus("dts-avro", source), corpus(json_format, source), strict=True):
        for record, value in zip(records, values, strict=True):
            member = decode("dts-avro", record)["afterImages"][1]
            shown = list(json.loads(value)["data"][0].values())[1]
            assert (member is None) == (shown is None)
            if member is not None:
                kind = member[0].rpartition(".")[2]
                kinds.add(kind)
                assert agree(SYSTEMS[source.rpartition("-")[0]], kind, member[1], shown), (text, member, shown)
    assert len(kinds) > 6


def agree(system: System, kind: str, value: Mapping[str, Any], shown: str) -> bool:
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
            return system.source_type == "SQLServer" or shown[8:] == value["value"].hex().upper()
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


def same_members(system: System, value: Mapping[str, int | None], shown: str) -> bool:
    if "infinity" in shown:
        return value["year"] == (-292_269_055 if shown.startswith("-") else 292_278_994)
    there = {name: number for name, number in value.items() if number is not None}
    if "millis" in there:
        there["millis"] *= 1000 // system.fraction
    negative = shown.startswith("-") or shown.endswith("BC")
    signs = {number < 0 for number in there.values() if number}
    return signs <= {negative} and [abs(number) for number in there.values()] == numbers_of(shown)[: len(there)]


def test_infinity_and_days_before_christ() -> None:
    """The day of infinity is the one of the JDBC driver's constants, which are milliseconds."""
    table = table_of("t", {"id": "int", "d": "date", "z": "timestamptz"}, ["id"], source="postgresql")
    rows = [["1", "infinity", "-infinity"], ["2", "0001-12-31 BC", "0044-03-15 12:30:00.5 BC"], ["3", None, None]]
    batch = batch_of(table, INSERT, rows, source="postgresql")
    found = [
        decode("dts-avro", value)["afterImages"] for value in encoded(codec_of("dts-avro", "postgresql-16"), batch)
    ]
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


def test_a_table_that_changes_has_another_version() -> None:
    made = []
    for columns in ({"id": "int", "v": "int"}, {"id": "int", "v": "bigint"}, {"id": "int", "v": "bigint", "w": "int"}):
        row = ["1"] * len(columns)
        (value,) = encoded(codec_of("dts-avro"), batch_of(table_of("t", columns, ["id"]), INSERT, [row]))
        made.append(decode("dts-avro", value)["tags"]["metaVersion"])
    assert len(set(made)) == 3
    assert all(0 <= int(version) < 1 << 32 for version in made)


# ------------------------------------------------------------------------------------------------- a stream of records


def stream(format: str, scenario: str, source: str | None, changes: int | None) -> list[dict[str, Any]]:
    with MemorySink() as sink:
        open_job(scenario, format, source=source).run(sink, limits=Limits(0, changes), snapshot=False)()
        return [decode("dts-avro", message.value or b"") for message in sink.messages()]


def place(source: str, position: str) -> Any:
    """A position as something that can be compared."""
    match source:
        case "mysql":
            return [int(number) for number in position.split("@")[::-1]]
        case "postgresql":
            return [int(number, 16) for number in position.split("/")]
        case "mongodb":
            return [int(number) for number in position.split("_")]
    return position


@pytest.mark.parametrize("source", ["mongodb", "mysql", "oracle", "postgresql", "sqlserver"])
def test_positions_rise_and_transactions_are_whole(source: str) -> None:
    records = stream("dts-avro,product=subscription", "orders", source, 3000)
    ids = [record["id"] for record in records]
    assert ids == sorted(set(ids))
    places = [place(source, record["sourcePosition"]) for record in records]
    safe = [place(source, record["safeSourcePosition"]) for record in records]
    assert all(before <= at for before, at in zip(safe, places, strict=True))
    assert places == sorted(places)
    open_at: Any = None
    for found in records:
        if found["operation"] == "BEGIN":
            assert open_at is None
            open_at = found["safeSourcePosition"], found["sourceTxid"]
        elif found["operation"] == "COMMIT":
            assert open_at is not None
            open_at = None
        elif found["operation"] in ("INSERT", "UPDATE", "DELETE"):
            assert open_at is not None
            assert found["sourceTxid"] == open_at[1]
            if source == "mysql":
                assert found["safeSourcePosition"] == open_at[0], "where the transaction begins"
        else:
            assert open_at is None, "statements and heartbeats stand between transactions"


def test_a_heartbeat_has_the_time_of_the_commit_before_it() -> None:
    records = stream("dts-avro,product=subscription", "tour", "mysql", None)
    last = None
    beats = 0
    for found in records:
        if found["operation"] == "HEARTBEAT":
            beats += 1
            assert found["sourceTimestamp"] == last
            assert found["bornTimestamp"] >= last
        last = found["sourceTimestamp"]
    assert beats


def test_a_noop_is_48_bytes_long_wherever_the_stream_is() -> None:
    case = next(case for case in cases_of("mysql-8.0") if case.name == "heartbeat")
    for offset, txn in ((101, 7), (1 << 20, 1 << 10), (1 << 45, 1 << 30)):
        later = replace(case, times=replace(case.times, offset=offset, txn=txn))
        (message,) = messages_of("dts-avro,noop=on", "mysql-8.0", block_of(later))
        assert len(message.value or b"") == 48
        assert decode("dts-avro", message.value or b"")["operation"] == "NOOP"


@pytest.mark.parametrize("source", ["mysql", "oracle"])
def test_ids_of_timestamp_and_offset_rise(source: str) -> None:
    with MemorySink() as sink:
        open_job("orders", "dts-canal-json,id_style=ts_offset", source=source).run(sink, limits=Limits(0, 3000))()
        found = [json.loads(value) for value in sink.values()]
    ids = [message["id"] for message in found if message["type"] != "INIT"]
    assert len(ids) > 2900
    assert all(before < after for before, after in pairwise(ids))
    assert max(ids) < 1 << 63
    assert all(message["id"] // 10**9 * 1000 == message["es"] for message in found if message["type"] != "INIT")


@pytest.mark.parametrize("format", ["dts-avro", "dts-canal-json", "dts-shareplex-json,ddl=on"])
def test_statements_may_have_a_topic_of_their_own(format: str) -> None:
    (case,) = [case for case in cases_of("mysql-8.0") if case.name == "add column"]
    (row,) = [case for case in cases_of("mysql-8.0") if case.name == "insert"]
    text = f"{format},ddl_topic=statements"
    assert {message.topic for message in messages_of(text, "mysql-8.0", block_of(case))} == {"statements"}
    assert {message.topic for message in messages_of(text, "mysql-8.0", block_of(row))} == {"dts"}
    assert {message.topic for message in messages_of(format, "mysql-8.0", block_of(case))} == {"dts"}


@pytest.mark.parametrize("format", ["dts-avro", "dts-canal-json", "dts-shareplex-json"])
@pytest.mark.parametrize("partitions", [3, 4, 6, 8, 12, 16, 24])
def test_the_page_example_of_a_partition_key_update(format: str, partitions: int) -> None:
    """ "The partition key id has a value of 1. The message is delivered to partition-1": UPDATE SET id = 2."""
    table = table_of("t", {"id": "int"}, ["id"])
    step = Rows(UPDATE, table, [["2"]], [["1"]])
    for options, expected in (("", [(UPDATE, 1)]), (",split_on_key_update=on", [(DELETE, 1), (INSERT, 2)])):
        block = block_of(Case("x", (step,)))
        made = messages_of(format + options, "mysql-8.0", block, partitions=partitions)
        assert [(message.kind, message.partition) for message in made] == expected


def test_times_of_messages_are_those_of_their_records() -> None:
    for case in cases_of("mysql-8.0"):
        for message in messages_of("dts-avro,product=subscription", "mysql-8.0", block_of(case)):
            assert message.timestamp_ms == 1000 * decode("dts-avro", message.value or b"")["sourceTimestamp"]


# ------------------------------------------------------------------------------------------------- what is not offered

FORMATS: Final = ["dts-avro", "dts-canal-json", "dts-shareplex-json"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("source", ["gaussdb", "oceanbase-mysql", "oceanbase-oracle", "mongodb"])
def test_other_sources_are_refused_by_what_is_offered(format: str, source: str) -> None:
    if (format, source) == ("dts-avro", "mongodb"):
        return
    offered = "mariadb, (mongodb, )?mysql, oracle, postgresql, sqlserver"
    with pytest.raises(NotOffered, match=f"^-f {format}: Alibaba Cloud DTS, .* reads {offered}, not {source};"):
        codec_of(format, source)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("source", ["gaussdb-505", "oceanbase-mysql-4.3", "oceanbase-oracle-4.3", "mongodb-6.0"])
def test_undocumented_sources_are_written_or_refused_by_type(format: str, source: str) -> None:
    codec = open_codec(format, find(source), allow_undocumented=True)
    written, refused = set(), set()
    for text in samples_of(source).types:
        table = table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
        literals = find(source).types.boundary_values(table.columns[1].type)
        rows = [[str(number), literal] for number, literal in enumerate(literals, 1)]
        batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=source)
        try:
            for value in encoded(codec, batch):
                decode(format, value)
            written.add(table.columns[1].type.name)
        except UnsupportedType:
            refused.add(table.columns[1].type.name)
    if source.startswith("mongodb") and format != "dts-avro":
        assert not written
    else:
        assert len(written) > 5 * len(refused)


# ------------------------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    "text",
    [
        "POINT(1 2)",
        "LINESTRING(0 0,1 1)",
        "LINESTRING(0 0,1 1,2 5)",
        "POLYGON((0 0,9 0,9 9,0 0),(1 1,2 1,2 2,1 1))",
        "MULTIPOINT(1 1,2 2)",
        "MULTILINESTRING((0 0,1 1),(2 2,3 3,4 4))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5),(5 5,6 5,6 6,5 5)))",
        "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(LINESTRING(0 0,1 1),POINT(3 4)))",
        "GEOMETRYCOLLECTION EMPTY",
    ],
)
@pytest.mark.parametrize("kind", ["geometry", "geography"])
def test_shapes_of_sql_server_as_well_known_binary(text: str, kind: str) -> None:
    stored = sqlserver_clr.shape(text, kind)
    assert well_known_binary(stored, latitude_first=kind == "geography") == to_bytes(text, "geometry")[4:]


def test_shapes_with_heights_are_refused() -> None:
    stored = bytearray(sqlserver_clr.shape("POINT(1 2)", "geometry"))
    stored[5] |= 1
    with pytest.raises(ValueError, match="heights or measures"):
        well_known_binary(bytes(stored), latitude_first=False)


# ------------------------------------------------------------------------------------------------------ SharePlex JSON

# Alibaba Cloud DTS, "Data storage formats in message queues" (2026-02-07), section Shareplex Json: the examples as
# printed, but for white space, the dots in meta and the comma before its brace.
PAGE_INSERT: Final = """
{"meta": {"time": "2017-06-16T14:24:34", "userid": 84, "op": "ins", "scn": "14589063118712",
"rowid": "AAATGpAAIAAItcIAAA", "trans": "7.0.411499", "seq": 1, "size": 11, "table": "CL_BIZ1.MIO_LOG", "idx": "1/11",
"posttime": "2017-06-16T14:33:52"}, "data": {"MIO_LOG_ID": "32539737"}}
"""
PAGE_UPDATE: Final = """
{"meta": {"time": "2017-06-16T15:38:13", "userid": 84, "op": "upd", "table": "CL_BIZ1.MIO_LOG"},
"data": {"CNTR_NO": "1171201606"},
"key": {"MIO_LOG_ID": "32537893", "PLNMIO_REC_ID": "31557806", "POL_CODE": null, "CNTR_TYPE": null,
"CNTR_NO": "1171201606syui26"}}
"""
PAGE_DELETE: Final = """
{"meta": {"time": "2017-06-16T15:51:35", "userid": 84, "op": "del"},
"data": {"MIO_LOG_ID": "32539739", "PLNMIO_REC_ID": "31557806", "POL_CODE": null, "CNTR_TYPE": null, "CG_NO": null}}
"""
MIO: Final = {"PLNMIO_REC_ID": "NUMBER(18)", "POL_CODE": "VARCHAR2(20)", "CNTR_TYPE": "VARCHAR2(20)"}


def milliseconds(text: str) -> int:
    return int(np.datetime64(text, "ms").astype(int))


def shareplex(kind: Any, columns: Mapping[str, str], row: list[str | None], old: Any, page: Any) -> str:
    table = table_of("MIO_LOG", {"MIO_LOG_ID": "NUMBER(18)", **columns}, [], database="CL_BIZ1", source="oracle")
    time, post = page["meta"]["time"], page["meta"].get("posttime", page["meta"]["time"])
    batch = batch_of(table, kind, [row], old, source="oracle", event_ms=milliseconds(time), write_ms=milliseconds(post))
    batch = replace(batch, envelope=replace(batch.envelope, size=batch.envelope.size * 11))
    (value,) = encoded(codec_of("dts-shareplex-json", "oracle-19c"), batch)
    return value.decode()


def compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def test_the_page_example_of_an_insert() -> None:
    """Byte for byte, but for scn, rowid and trans, which here follow from the change's numbers."""
    page = json.loads(PAGE_INSERT)
    ours = shareplex(INSERT, {}, ["32539737"], None, page)
    for name, form in (("scn", r"\d{14}"), ("rowid", r"[A-Za-z0-9+/]{18}"), ("trans", r"\d+\.\d+\.\d{6}")):
        assert re.fullmatch(form, page["meta"][name])
        ours, found = re.subn(f'"{name}":"{form}"', f'"{name}":"{page["meta"][name]}"', ours)
        assert found == 1
    assert ours == compact(page)


@pytest.mark.parametrize(
    ("kind", "text", "last", "row", "old"),
    [
        (
            UPDATE,
            PAGE_UPDATE,
            "CNTR_NO",
            ["32537893", "31557806", None, None, "1171201606"],
            [["32537893", "31557806", None, None, "1171201606syui26"]],
        ),
        (DELETE, PAGE_DELETE, "CG_NO", ["32539739", "31557806", None, None, None], None),
    ],
)
def test_the_page_examples_of_an_update_and_a_delete(
    kind: Any, text: str, last: str, row: list[str | None], old: Any
) -> None:
    """Byte for byte behind meta, of which the examples show some members."""
    page = json.loads(text)
    ours = shareplex(kind, {**MIO, last: "VARCHAR2(20)"}, row, old, page)
    meta, rest = ours.split(',"data":')
    assert rest == compact(page).split(',"data":')[1]
    ours_meta = json.loads(meta + "}")["meta"]
    assert {name: ours_meta[name] for name in page["meta"]} == page["meta"]
    assert [name for name in ours_meta if name in page["meta"]] == list(page["meta"])


def test_rows_of_one_transaction_share_their_numbers() -> None:
    with MemorySink() as sink:
        open_job("orders", "dts-shareplex-json", source="oracle").run(sink, limits=Limits(0, 2000))()
        metas = [json.loads(value)["meta"] for value in sink.values()]
    of: dict[str, list[Any]] = {}
    for meta in metas:
        of.setdefault(meta["scn"], []).append(meta)
    assert max(map(len, of.values())) > 1
    for scn, rows in of.items():
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1)), scn
        assert {row["size"] for row in rows} == {len(rows)}
        assert len({(row["time"], row["trans"]) for row in rows}) == 1
    scns = [int(meta["scn"]) for meta in metas]
    assert scns == sorted(scns)
