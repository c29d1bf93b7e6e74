"""DTS records beyond their goldens: the specification's own bytes, what the vendor's SDK lets through although it is
wrong, positions, heartbeats; and the examples of SharePlex JSON."""

from __future__ import annotations

import datetime as dt
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of
from decoding import decode

from simulator.api import open_job
from simulator.formats import dts_record, dts_values
from simulator.formats.dts_avro import FORMAT
from simulator.formats.dts_geometry import well_known_binary
from simulator.formats.dts_types import MYSQL, MYSQL_TYPES, SYSTEMS
from simulator.model import DELETE, INSERT, UPDATE, Column, ColumnType
from simulator.pipeline import Limits
from simulator.sinks.memory import MemorySink
from simulator.sources import SOURCES, sqlserver_clr
from simulator.sources.mysql_geometry import to_bytes

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
}
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
    assert isinstance(record["afterImages"], str) == (record["operation"] == "DDL")
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
                if value is not None:
                    check_value(system, field["dataTypeNumber"], value[0].rpartition(".")[2], value[1])


def check_value(system: str, number: int, name: str, value: Mapping[str, Any]) -> None:
    demanded = CONVERTERS.get(system)
    if demanded is not None:
        assert number in demanded[name], f"{system} {number} is no {name}"
    match name:
        case "Integer":
            assert -(1 << 8 * value["precision"] - 1) <= int(value["value"]) < 1 << 8 * value["precision"]
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
            assert re.fullmatch(r"[+-]\d\d:\d\d|[A-Z][A-Za-z/_]+", value["timezone"])
        case "BinaryGeometry":
            assert shape_end(value["value"], 0) == len(value["value"])
        case "BinaryObject" | "TextObject":
            assert value["type"] in OBJECT_TYPES


def check_date(system: str, value: Mapping[str, int | None]) -> None:
    year, month, day, hour, minute, second, fraction = (value[m] for m in value)
    there = [number for number in value.values() if number]
    assert all(number > 0 for number in there) or all(number < 0 for number in there), "one sign for all"
    if None not in (year, month, day) and (month or day or system != "MySQL") and month and day:
        dt.date(year or 1, month, day)
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


@pytest.mark.parametrize("source", ["mysql", "oracle", "sqlserver"])
def test_positions_rise_and_transactions_are_whole(source: str) -> None:
    records = stream("dts-avro,product=subscription", "orders", source, 3000)
    ids = [record["id"] for record in records]
    assert ids == sorted(set(ids))
    if source == "mysql":
        places = [[int(n) for n in record["sourcePosition"].split("@")[::-1]] for record in records]
        safe = [[int(n) for n in record["safeSourcePosition"].split("@")[::-1]] for record in records]
        assert all(before <= at for before, at in zip(safe, places, strict=True))
    else:
        places = [[record["sourcePosition"]] for record in records]
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


def test_times_of_messages_are_those_of_their_records() -> None:
    for case in cases_of("mysql-8.0"):
        for message in messages_of("dts-avro,product=subscription", "mysql-8.0", block_of(case)):
            assert message.timestamp_ms == 1000 * decode("dts-avro", message.value or b"")["sourceTimestamp"]


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
