"""DTS records beyond their goldens: the specification's own bytes, images, names, positions and heartbeats."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of
from each import each

from simulator.errors import OptionError
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record import values as dts_values
from simulator.formats.dts.record.drds import physical_name
from simulator.formats.dts.record.geometry import well_known_binary
from simulator.formats.dts.systems import mysql
from simulator.formats.dts.types import types_of
from simulator.model import DELETE, INSERT, UPDATE, Column, ColumnType
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.sources.mysql.geometry import to_bytes
from simulator.sources.sqlserver import clr as sqlserver_clr
from simulator.truth.decoders import parse
from simulator.wire import avro

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
TYPES: Final = types_of("mysql")
COLUMNS: Final = (Column("a", ColumnType("bigint")), Column("b", ColumnType("varchar", 10)))


def record(**members: Any) -> str:
    made: bytes = avro.join(dts_record.records(**{"tags": {}, **HEAD, **members}), 1)[0].as_py()
    return made.hex()


def image(*arrays: pa.Array) -> list[Any]:
    values = []
    for column, array in zip(COLUMNS, arrays, strict=True):
        write = mysql.values(TYPES[column.type.name], column.type, 1)
        values.append([dts_values.whole(write(array), len(array))])
    return dts_record.image(values, len(COLUMNS))


def test_records_byte_for_byte() -> None:
    fields = dts_record.fields_of(COLUMNS, lambda column: TYPES[column.type.name].number)
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


# ---------------------------------------------------------------------------------------------- images and versions


def test_a_minimal_row_image_has_the_key_before_and_what_changed_after() -> None:
    table = table_of("t", {"v": "int", "id": "int", "w": "int"}, ["id"])
    old, new = [["1", "7", None], ["1", "8", "2"]], [["2", "7", None], ["1", "9", "3"]]
    format = "dts-avro,row_image=minimal"
    values = encoded(codec_of(format), batch_of(table, UPDATE, new, old))
    found = [parse("dts-avro", value) for value in values]
    assert [texts(record["beforeImages"]) for record in found] == [["?", "7", "?"], ["?", "8", "?"]]
    assert [texts(record["afterImages"]) for record in found] == [["2", "?", "?"], ["?", "9", "3"]]
    (deleted,) = encoded(codec_of(format), batch_of(table, DELETE, [["1", "7", None]]))
    assert texts(parse("dts-avro", deleted)["beforeImages"]) == ["?", "7", "?"]
    (inserted,) = encoded(codec_of(format), batch_of(table, INSERT, [["1", "7", None]]))
    assert texts(parse("dts-avro", inserted)["afterImages"]) == ["1", "7", None]


def texts(image: list[Any]) -> list[str | None]:
    """The texts of Integers, `?` for what is not known."""
    return [None if v is None else "?" if v == "NONE" or v[1] == "NONE" else v[1]["value"] for v in image]


def test_the_hidden_key_is_the_same_in_both_images() -> None:
    format = "dts-avro,rds_hidden_pk=on"
    keyless = table_of("t", {"a": "int", "b": "varchar(9)"})
    (inserted,) = encoded(codec_of(format), batch_of(keyless, INSERT, [["1", "x"]]))
    (updated,) = encoded(codec_of(format), batch_of(keyless, UPDATE, [["1", "y"]], [["1", "x"]]))
    (deleted,) = encoded(codec_of(format), batch_of(keyless, DELETE, [["1", "x"]]))
    records = [parse("dts-avro", value) for value in (inserted, updated, deleted)]
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
    records = stream("dts-avro,drds=on", "orders", "mysql", 2000)
    of_key: dict[tuple[str, str], set[str]] = {}
    for found in records:
        if found["fields"] is None:
            continue
        assert found["source"]["sourceType"] == "MySQL"
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


@each(["source_type=DRDS", "drds=on"])
def test_a_source_type_belongs_to_its_source(option: str) -> None:
    with pytest.raises(OptionError, match=f"^-f dts-avro,{option}: it belongs to mysql, not oracle-19c[.]$"):
        codec_of(f"dts-avro,{option}", "oracle-19c")


@each(
    [
        ("", "mysql-8.0", ("datetime(6)",), 123_456),
        (",drds=on", "mysql-8.0", ("datetime(6)",), 123_456),
        (",source_type=DRDS,oracle_frac=ns", "mysql-8.0", ("datetime(6)",), 123_456_000),
        (",source_type=DRDS", "mysql-8.0", ("datetime(6)",), 123_456),
        ("", "postgresql-16", ("timestamp", "timestamptz", "time", "timetz"), 123_456),
        (",source_type=PPAS", "postgresql-16", ("timestamp", "timestamptz", "time", "timetz"), 123_456),
        (
            ",source_type=PPAS,oracle_frac=ns",
            "postgresql-16",
            ("timestamp", "timestamptz", "time", "timetz"),
            123_456_000,
        ),
        ("", "oracle-19c", ("timestamp(9)", "timestamp with time zone"), 123_456),
        (",oracle_frac=ns", "oracle-19c", ("timestamp(9)", "timestamp with time zone"), 123_456_000),
        ("", "sqlserver-2022", ("datetime2", "time"), 123_456),
    ]
)
def test_fractions_are_microseconds_unless_nanoseconds_are_asked_for(
    options: str, source: str, types: tuple[str, ...], fraction: int
) -> None:
    columns = {"id": "int", **{f"c{i}": type for i, type in enumerate(types)}}
    literals = [f"{'' if type in ('time', 'timetz') else '2024-05-01 '}12:00:00.123456" for type in types]
    batch = batch_of(table_of("t", columns, ["id"], source=source), INSERT, [["1", *literals]], source=source)
    (value,) = encoded(codec_of(f"dts-avro{options}", source), batch)
    members = [value[1].get("value", value[1]) for value in parse("dts-avro", value)["afterImages"][1:]]
    assert [value["millis"] for value in members] == [fraction] * len(types)


@each([("2023", set()), ("2021", {"metaVersion"}), ("2020", {"metaVersion", "server_id"})])
def test_older_messages_lack_tags(year: str, missing: set[str]) -> None:
    for name in ("insert", "a row of a snapshot", "add column"):
        (case,) = [case for case in cases_of("mysql-8.0") if case.name == name]
        newest, older = (
            parse("dts-avro", messages_of(f"dts-avro{options}", "mysql-8.0", block_of(case))[0].value or b"")["tags"]
            for options in ("", f",tags={year}")
        )
        assert older == {name: tag for name, tag in newest.items() if name not in missing}


@pytest.mark.parametrize(
    ("source", "options", "name"),
    [
        ("mysql-8.0", "", "utf8mb3"),
        ("mysql-8.0", ",source_version=8.0.27", "utf8"),
        ("mysql-5.7", "", "utf8"),
        ("mariadb-10.11", "", "utf8mb3"),
    ],
)
@pytest.mark.parametrize("spelled", ["utf8", "utf8mb3"])
def test_the_server_names_character_sets(source: str, options: str, name: str, spelled: str) -> None:
    table = table_of("t", {"id": "int", "c": f"varchar(9) character set {spelled}"}, ["id"], source=source)
    (value,) = encoded(codec_of(f"dts-avro{options}", source), batch_of(table, INSERT, [["1", "x"]], source=source))
    assert parse("dts-avro", value)["afterImages"][1][1] == {"charset": name, "value": b"x"}


@each(
    [
        ("NUMBER(10,2)", "12.5", ["12.5", 3, 1], "12.5"),
        ("NUMBER(10,2)", "10", ["10", 2, 0], "10"),
        ("NUMBER(10,2)", "0", ["0", 1, 0], "0"),
        ("NUMBER(10,2)", "-0.1", ["-0.1", 1, 1], "-0.1"),
        ("NUMBER(38,20)", "1.50", ["1.5", 2, 1], "1.5"),
        ("NUMBER(18)", "1000", ["1000", 4, 0], "1000"),
    ]
)
def test_numbers_as_oracle_stores_them(type: str, literal: str, members: list[Any], text: str) -> None:
    table = table_of("T", {"ID": "NUMBER(9)", "C": type}, ["ID"], source="oracle")
    batch = batch_of(table, INSERT, [["1", literal]], source="oracle")
    (record,) = encoded(codec_of("dts-avro", "oracle-19c"), batch)
    assert list(parse("dts-avro", record)["afterImages"][1][1].values()) == members
    (value,) = encoded(codec_of("dts-canal-json", "oracle-19c"), batch)
    assert json.loads(value)["data"][0]["C"] == text


def test_a_table_that_changes_has_another_version() -> None:
    versions = []
    for columns, key in (
        ({"id": "int", "v": "int"}, ["id"]),
        ({"id": "int", "v": "int"}, ["id", "v"]),
        ({"id": "int", "v": "int unsigned"}, ["id"]),
        ({"id": "int", "v": "varchar(9)"}, ["id"]),
        ({"id": "int", "v": "varchar(10)"}, ["id"]),
        ({"id": "int", "w": "varchar(10)"}, ["id"]),
        ({"id": "int", "v": "varchar(10)", "w": "int"}, ["id"]),
    ):
        row = ["1"] * len(columns)
        (value,) = encoded(codec_of("dts-avro"), batch_of(table_of("t", columns, key), INSERT, [row]))
        versions.append(parse("dts-avro", value)["tags"]["metaVersion"])
    assert len(set(versions)) == len(versions)
    assert all(0 <= int(version) < 1 << 32 for version in versions)


# ------------------------------------------------------------------------------------------------- a stream of records


def stream(format: str, scenario: str, source: str | None, changes: int | None) -> list[dict[str, Any]]:
    with MemorySink() as sink:
        local_run(open_job(scenario, format, source=source), sink, limits=Limits(0, changes), snapshot=False)()
        return [parse("dts-avro", message.value or b"") for message in sink.messages()]


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


@each(["mongodb", "mysql", "oracle", "postgresql", "sqlserver"])
def test_positions_rise_and_transactions_are_whole(source: str) -> None:
    records = stream("dts-avro,product=subscription", "orders", source, 600)
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
        assert parse("dts-avro", message.value or b"")["operation"] == "NOOP"


def test_times_of_messages_are_those_of_their_records() -> None:
    for case in cases_of("mysql-8.0"):
        for message in messages_of("dts-avro,product=subscription", "mysql-8.0", block_of(case)):
            assert message.timestamp_ms == 1000 * parse("dts-avro", message.value or b"")["sourceTimestamp"]


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
