"""What goldens of single cases do not show of the OMS formats: keys and partitions, full synchronization, large
objects, numbers that look alike, sequences, names of other systems, refusals."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from building import Beat, Case, Ddl, Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of
from command import Command
from each import each

from simulator import messages, sources
from simulator.errors import NotOffered, OptionError, UnsupportedType, UsageError
from simulator.formats import find, open_codec
from simulator.formats.oms import default as oms_default
from simulator.formats.oms.layout import columns_of
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Kind, SchemaChangeKind
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.wire.fields import Members

SOURCE: Final = "oceanbase-mysql-4.3"
FORMATS: Final = (
    "oms-default",
    "oms-default-extend-column-type",
    "oms-canal-json",
    "oms-dataworks",
    "oms-shareplex",
)
# The row of the format's description.
ORDERS: Final = table_of(
    "orders",
    {
        "id": "int",
        "region": "varchar(10)",
        "name": "varchar(20)",
        "amount": "decimal(20,10)",
        "created": "datetime(3)",
        "upd_ts": "timestamp(6)",
        "pic": "blob",
        "bits": "bit(16)",
        "note": "text",
    },
    ["id", "region"],
)
TIMES: Final = ["2020-12-31 00:11:11.5", "2020-12-30 16:11:11.012345"]
OLD: Final = ["7", "cn", "张三", "12.3", *TIMES, "hello", "5", None]
NEW: Final = ["7", "cn", "李四", "0", *TIMES, "hello", "5", None]


def decoded(format: str, kind: Kind, rows: list[Any], old: list[Any] | None = None) -> list[dict[str, Any]]:
    phase = 0 if kind is READ else 1
    batch = batch_of(ORDERS, kind, rows, old, phase=phase, source=SOURCE)
    return [json.loads(value, parse_float=str) for value in encoded(codec_of(format, SOURCE), batch)]


def test_columns_of_maps_stand_by_their_hashes() -> None:
    by_hash = ["note", "amount", "upd_ts", "created", "name", "bits", "id", "pic", "region"]
    (canal,) = decoded("oms-canal-json", UPDATE, [NEW], [OLD])
    assert [list(canal["data"][0]), list(canal["sqlType"]), list(canal["mysqlType"])] == [by_hash] * 3
    assert canal["old"] == [{"amount": "12.3000000000", "name": "张三"}]
    assert list(canal["old"][0]) == ["amount", "name"]
    (shareplex,) = decoded("oms-shareplex", UPDATE, [NEW], [OLD])
    assert list(shareplex["key"]) == by_hash
    assert shareplex["data"] == {"amount": "0E-10", "name": "李四"}
    (default,) = decoded("oms-default", UPDATE, [NEW], [OLD])
    assert list(default["postStruct"]) == list(ORDERS.positions)


def test_all_meta_data_is_a_hash_map_of_the_keys_that_are_there() -> None:
    """With 13 keys the map has grown to 32 buckets."""
    settings = codec_of("oms-default,version=4,extended_meta=on", SOURCE).settings
    (record, *_) = oms_default.fields(settings, columns_of(settings))
    names = {}
    for kind in (INSERT, DDL):
        members = record.on(kind)
        assert isinstance(members, Members)
        names[kind] = [member.name for member in members.fields]
    assert " ".join(names[INSERT]) == (
        "checkpoint record_primary_key source_identity record_primary_value transId dbType storeDataSequence clusterId "
        "table_name db uniqueId timestamp"
    )
    assert " ".join(names[DDL]) == (
        "checkpoint record_primary_key record_primary_value transId dbType clusterId ddlType table_name "
        "source_identity storeDataSequence db uniqueId timestamp"
    )


def test_full_synchronization_writes_bits_in_full_width() -> None:
    (full,) = decoded("oms-default", READ, [OLD])
    (change,) = decoded("oms-default", INSERT, [OLD])
    assert full["postStruct"]["bits"] == "AAU="
    assert change["postStruct"]["bits"] == "BQ=="
    assert full["allMetaData"]["checkpoint"] == '{"id":7,"region":"cn"}'


def test_doubles_that_look_alike_do_not_count_as_changed() -> None:
    table = table_of("t", {"id": "int", "d": "double"}, ["id"])
    batch = batch_of(
        table, UPDATE, [["1", "10000000000000002"], ["2", "0.5"]], [["1", "10000000000000004"], ["2", "0.25"]]
    )
    shareplex = [json.loads(value)["data"] for value in encoded(codec_of("oms-shareplex", SOURCE), batch)]
    assert shareplex == [{}, {"d": 0.5}]
    canal = [json.loads(value)["old"] for value in encoded(codec_of("oms-canal-json", SOURCE), batch)]
    assert canal == [[{}], [{"d": 0.25}]]


@each([False, True])
def test_large_texts_are_null_where_oceanbase_does_not_log_them(dictionary: bool) -> None:
    table = table_of("t", {"id": "int", "a": "text", "b": "json", "c": "varchar(9)"}, ["id"])
    rows = [["1", "new", "1", "x"], ["2", "same", "2", "y"]]
    old = [["1", "old", "1", "x"], ["2", "same", "2", "z"]]
    codec = codec_of("oms-default,ob_lob_nulls=on", SOURCE)
    sent = [json.loads(value) for value in encoded(codec, batch_of(table, UPDATE, rows, old))]
    assert [message["prevStruct"] for message in sent] == [
        {"id": 1, "a": None, "b": None, "c": "x"},
        {"id": 2, "a": None, "b": None, "c": "z"},
    ]
    assert [message["postStruct"] for message in sent] == [
        {"id": 1, "a": "new", "b": None, "c": "x"},
        {"id": 2, "a": None, "b": None, "c": "y"},
    ]
    (gone,) = (json.loads(value) for value in encoded(codec, batch_of(table, DELETE, rows[:1])))
    assert gone["prevStruct"] == {"id": 1, "a": None, "b": None, "c": "x"}
    (there,) = (json.loads(value) for value in encoded(codec, batch_of(table, INSERT, rows[:1])))
    assert there["postStruct"] == {"id": 1, "a": "new", "b": "1", "c": "x"}


# ------------------------------------------------------------------------------------------------- keys and partitions


def addressed(format: str, kind: Kind, rows: list[Any], old: list[Any] | None = None, **options: Any) -> list[Any]:
    block = block_of(Case("", (Rows(kind, ORDERS, rows, old),)))
    return [(m.kind.name, m.partition, m.key, m.tag) for m in messages_of(format, SOURCE, block, **options)]


def java_partition(text: str, n: int) -> int:
    hashed = 0
    for character in text:
        hashed = (31 * hashed + ord(character)) & 0xFFFFFFFF
    return (hashed & 0x7FFFFFFF) % n


@each(FORMATS)
def test_the_key_is_that_of_the_row_whatever_is_hashed(format: str) -> None:
    key = "7\x01cn"
    for route, hashed in (("key", key), ("columns:name", "张三"), ("table", "shop.orders"), ("single", None)):
        partition = 0 if hashed is None else java_partition(hashed, 5)
        assert addressed(format, INSERT, [OLD], route=route, partitions=5) == [
            ("INSERT", partition, key.encode(), None)
        ]


def test_a_key_may_be_a_json_string() -> None:
    sent = addressed("oms-default,kafka_key=json", INSERT, [OLD])
    assert sent == [("INSERT", 0, b'"7\\u0001cn"', None)]
    assert addressed("oms-default,tag=orders to rocketmq", INSERT, [OLD]) == [("INSERT", 0, None, "orders")]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("route", ["key", "table", "single", "columns:name"])
def test_updates_of_the_key_are_split_under_any_policy(format: str, route: str) -> None:
    moved = ["8", *OLD[1:]]
    sent = addressed(format, UPDATE, [moved], [OLD], route=route, partitions=5)
    assert [(kind, key) for kind, _, key, _ in sent] == [("DELETE", b"7\x01cn"), ("INSERT", b"8\x01cn")]
    block = block_of(Case("", (Rows(UPDATE, ORDERS, [moved], [OLD]),)))
    (whole,) = messages_of(format, "mysql-8.0", block, route=route, partitions=5)
    assert (whole.kind, whole.key) == (UPDATE, b"7\x01cn"), "MySQL's log has one event"
    halves = messages_of(f"{format},split_key_update=on", "mysql-8.0", block, route=route, partitions=5)
    assert [(half.kind.name, half.key) for half in halves] == [(kind, key) for kind, _, key, _ in sent]


def test_updates_of_routing_columns_are_split() -> None:
    sent = addressed("oms-default", UPDATE, [NEW], [OLD], route="columns:name", partitions=5)
    assert [kind for kind, *_ in sent] == ["DELETE", "INSERT"]
    assert [partition for _, partition, *_ in sent] == [java_partition(name, 5) for name in ("张三", "李四")]


@each(
    [
        ("key", [0, 1, 2, 3, 4]),
        ("columns:name", [0, 1, 2, 3, 4]),
        ("table", [java_partition("shop.orders", 5)]),
        ("single", [0]),
    ]
)
def test_statements_go_wherever_rows_may_go(route: str, partitions: list[int]) -> None:
    step = Ddl(SchemaChangeKind.ADD_COLUMN, "ALTER TABLE `orders` ADD COLUMN `c2` INT", ORDERS, ORDERS)
    sent = messages_of("oms-default", SOURCE, block_of(Case("", (step,))), route=route, partitions=5)
    assert [m.partition for m in sent] == partitions
    assert {m.key for m in sent} == {b"shop.orders"}
    assert len({m.value for m in sent}) == 1


def test_a_rename_goes_to_the_partitions_of_both_names() -> None:
    new = table_of("orders_2024", {"id": "int"}, ["id"])
    step = Ddl(SchemaChangeKind.RENAME_TABLE, "RENAME TABLE `orders` TO `orders_2024`", ORDERS, new)
    block = block_of(Case("", (step,)))
    sent = messages_of("oms-default", SOURCE, block, route="table", partitions=50)
    assert [m.partition for m in sent] == sorted(
        java_partition(f"shop.{name}", 50) for name in ("orders", "orders_2024")
    )
    assert len({m.value for m in sent}) == 1


def test_statements_about_a_table_that_is_not_known() -> None:
    """An index is dropped by its own name."""
    step = Ddl(SchemaChangeKind.DROP_INDEX, "DROP INDEX `by_name`")
    block = block_of(Case("", (step,)))
    for route, partitions in (("key", [0, 1, 2]), ("columns:name", [0, 1, 2]), ("table", [0, 1, 2]), ("single", [0])):
        sent = messages_of("oms-default", SOURCE, block, route=route, partitions=3)
        assert [(m.partition, m.key) for m in sent] == [(partition, b"shop") for partition in partitions]
    (default,) = messages_of("oms-default", SOURCE, block)
    meta = json.loads(default.value or b"")["allMetaData"]
    assert (meta["db"], meta["table_name"], meta["record_primary_key"]) == ("obt1.shop", None, None)
    (canal,) = messages_of("oms-canal-json,version=4", SOURCE, block)
    assert json.loads(canal.value or b"")["table"] == ""
    (dataworks,) = messages_of("oms-dataworks", SOURCE, block)
    source = json.loads(dataworks.value or b"")["schema"]["source"]
    assert (source["dbName"], source["schema"], source["table"]) == ("shop", None, None)


def test_one_partition_may_be_any() -> None:
    for kind, old in ((INSERT, None), (UPDATE, [OLD])):
        (message,) = addressed("oms-default,fixed_partition=3", kind, [NEW], old, route="single", partitions=5)
        assert message[1] == 3
    step = Ddl(SchemaChangeKind.ADD_COLUMN, "ALTER TABLE `orders` ADD COLUMN `c2` INT", ORDERS, ORDERS)
    block = block_of(Case("", (step, Beat())))
    sent = messages_of("oms-default,fixed_partition=3,heartbeat=on", SOURCE, block, route="single", partitions=5)
    assert [(m.kind.name, m.partition) for m in sent] == [("DDL", 3), ("HEARTBEAT", 3)]
    # other policies choose partitions of their own
    (message,) = addressed("oms-default,fixed_partition=3", INSERT, [OLD], route="key", partitions=3)
    assert message[1] == java_partition("7\x01cn", 3)
    with pytest.raises(UsageError, match=r"^topic 'oms' has 3 partitions: there is no partition 3\.$"):
        addressed("oms-default,fixed_partition=3", INSERT, [OLD], route="single", partitions=3)
    with pytest.raises(OptionError, match="from 0 on"):
        addressed("oms-default,fixed_partition=-1", INSERT, [OLD])


# ------------------------------------------------------------------------------------------------------------ sequences


@each([("crud", 42_000, 0), ("orders", 1_500, 19_800), ("tour", None, 0)])
def test_sequences_rise_and_begin_with_the_time(scenario: str, limit: int | None, start: int) -> None:
    with MemorySink() as sink:
        local_run(open_job(scenario, "oms-default"), sink, limits=Limits(start, limit))()
        values = sink.values()
    last = 0
    for value in values:
        (sequence,) = map(int, re.findall(rb'"storeDataSequence":(\d+),', value))
        (timestamp,) = map(int, re.findall(rb'"timestamp":"(\d+)"', value))
        assert sequence > last
        # a second that is full to the last number may lend the next one a few
        assert timestamp - 1 <= sequence // 100_000 <= timestamp
        last = sequence
    assert scenario == "crud" or any(b'"recordType":"DDL"' in value for value in values)


# -------------------------------------------------------------------------------------------------------- other systems


@each(
    [
        ("mysql", "MYSQL", "shop"),
        ("oceanbase-mysql", "OB_MYSQL", "obt1.shop"),
        ("oracle", "ORACLE", "SHOP"),
        ("oceanbase-oracle", "OB_ORACLE", "obt1.SHOP"),
    ]
)
def test_systems_and_their_names(source: str, db_type: str, db: str) -> None:
    message = next(iter(messages("orders", "oms-default", source=source, limit=1)))
    meta = json.loads(message.value or b"")["allMetaData"]
    assert (meta["dbType"], meta["db"]) == (db_type, db)
    assert message.key == meta["record_primary_value"].encode()


def test_a_type_without_rendering_is_refused_by_table_and_column() -> None:
    table = table_of("files", {"ID": "NUMBER(10)", "F": "BFILE"}, ["ID"], source="oracle")
    batch = batch_of(table, INSERT, [["1", None]], source="oracle")
    with pytest.raises(UnsupportedType, match=r"^OMS has no rendering for bfile \(.*FILES\.F\)\. Drop the column or"):
        encoded(codec_of("oms-default", "oracle-19c"), batch)


UNREAD: Final = {
    "postgresql": {
        "bigint": ("1", 1),
        "boolean": ("true", 1),
        "numeric(10,2)": ("1.5", "1.50"),
        "numeric": ("NaN", "NaN"),
        "money": ("-$1,234.50", "-1234.50"),
        "real": ("1.2222", "1.2222"),
        "uuid": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        "bytea": ("\\x6869", "aGk="),
        "bit(16)": ("0000000000000101", "BQ=="),
        "inet": ("10.0.0.1", "10.0.0.1"),
        "enum('a','b')": ("b", "b"),
        "integer[]": ("{1,2}", "{1,2}"),
        "date": ("infinity", "infinity"),
        "timestamp": ("0044-03-15 12:00:00 BC", "0044-03-15 12:00:00 BC"),
        "timestamptz": ("2024-01-01 00:00:00.5+00", "2024-01-01 08:00:00.5 Asia/Shanghai"),
    },
    "sqlserver": {
        "bit": ("1", 1),
        "money": ("1.5", "1.5000"),
        "datetime2(7)": ("2024-01-01 00:00:00.1234567", "2024-01-01 00:00:00.1234567"),
        "datetimeoffset(0)": ("2024-01-01 00:00:00 +05:30", "2024-01-01 00:00:00 +05:30"),
        "varbinary(9)": ("0x6869", "aGk="),
        "uniqueidentifier": ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
    },
    "mongodb": {
        "objectId": ("0123456789abcdef01234567", "0123456789abcdef01234567"),
        "bool": ("true", 1),
        "date": ("2024-01-01T00:00:00Z", "2024-01-01 08:00:00 Asia/Shanghai"),
        "object": ('{"a": 1}', '{"a": 1}'),
    },
}


@each(UNREAD)
def test_systems_that_oms_does_not_read_have_the_nearest_classes(source: str) -> None:
    system, types = sources.find(source), UNREAD[source]
    key = "_id" if source == "mongodb" else "id"
    columns = {key: "int"} | {f"c{number}": typed for number, typed in enumerate(types)}
    table = table_of("t", columns, [key], source=source)
    batch = batch_of(table, INSERT, [["1", *(literal for literal, _ in types.values())]], source=source)
    codec = open_codec("oms-default-extend-column-type", system, allow_undocumented=True)
    (value,) = encoded(codec, batch)
    message = json.loads(value, parse_float=str)
    assert message["allMetaData"]["dbType"] == {"postgresql": "POSTGRESQL"}.get(source, "UNKNOWN")
    row = message["postStruct"]
    light = row.pop("__light_type")
    assert list(row.values())[1:] == [value for _, value in types.values()]
    names = [column.type.name.upper().replace(" ", "_") for column in table.columns]
    assert [each["schemaType"] for each in light.values()] == names


@each(["postgresql", "gaussdb", "sqlserver", "mongodb", "mariadb"])
def test_every_value_of_systems_that_oms_does_not_read_is_json(source: str) -> None:
    """Asked for with --allow-undocumented; none of it is the vendor's, but it may not break."""
    system = sources.find(source)
    key = "_id" if source == "mongodb" else "id"
    codecs = [
        open_codec(format, system, allow_undocumented=True) for format in (*FORMATS, "oms-default,legacy_types=on")
    ]
    types = {f"c{number}": text for number, text in enumerate(system.corpus_types)}
    table = table_of("t", {key: "int", **types}, [key], source=source)
    literals = [system.boundary_values(column.type) for column in table.columns[1:]]
    rows = [
        [str(number + 1), *(values[number % len(values)] for values in literals)]
        for number in range(max(map(len, literals)))
    ]
    for kind in (READ, INSERT):
        batch = batch_of(table, kind, rows, phase=0 if kind is READ else 1, source=source)
        for codec in codecs:
            values = encoded(codec, batch)
            assert len(values) == len(rows)
            for value in values:
                json.loads(value, parse_int=str)  # numbers of thousands of digits


# --------------------------------------------------------------------------------------------------- the vendor's words


def test_the_vendors_words_for_policies_and_versions() -> None:
    block = block_of(Case("", (Rows(INSERT, ORDERS, [OLD]),)))

    def places(route: str) -> list[int | None]:
        return [m.partition for m in messages_of("oms-default", SOURCE, block, route=route, partitions=50)]

    for theirs, ours in (("HASH", "key"), ("TABLE", "table"), ("ONE", "single")):
        assert places(theirs) == places(ours)
    step = Ddl(SchemaChangeKind.ADD_COLUMN, "ALTER TABLE `orders` ADD COLUMN `c2` INT", ORDERS, ORDERS)
    for version, typed in (("3.3.1", False), ("4.2.5", True)):
        (message,) = messages_of(f"oms-default,version={version}", SOURCE, block_of(Case("", (step,))))
        assert ("ddlType" in json.loads(message.value or b"")["allMetaData"]) is typed


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("oms-DEFAULT_WITH_SCHEMA", "oms-default-extend-column-type"),
        ("oms-DefaultExtendColumnType", "oms-default-extend-column-type"),
        ("oms-DATAWORKS_V2", "oms-dataworks"),
        ("oms-Canal", "oms-canal-json"),
        ("OMS-SharePlex", "oms-shareplex"),
        ("CLOUDCANAL_JSON_FOR_MQ", "cloudcanal-json"),
    ],
)
def test_formats_have_the_vendors_names(theirs: str, ours: str) -> None:
    assert find(theirs).id == ours


@pytest.mark.parametrize(
    ("format", "source", "chosen"),
    [
        ("oms-default", "oceanbase-mysql-4.3", True),
        ("oms-shareplex,legacy_types=on", "oceanbase-mysql-4.3", True),
        ("drs-json,raw=send", "oracle-19c", True),
        ("dts-avro,source_type=PPAS", "postgresql-16", True),
        ("canal-json", "mysql-8.0", False),
    ],
)
def test_a_source_that_fits_the_format_is_chosen_where_none_is_named(format: str, source: str, chosen: bool) -> None:
    job = open_job("crud", format)
    assert (str(job.source), job.source_chosen) == (source, chosen)
    assert str(open_job("crud", "oms-default", source="mysql").source) == "mysql-8.0"


@pytest.mark.parametrize("suffix", ["yaml", "sql"])
def test_a_script_without_heartbeats_has_those_of_the_product_while_it_is_idle(tmp_path: Path, suffix: str) -> None:
    """Every second after a commit; other products' messages, and positions, stay as they are."""
    rows = [("10:00:00", 1), ("10:00:01", 2), ("10:00:04", 3)]
    if suffix == "yaml":
        text = "tables:\n  t: {columns: {id: int32}, key: [id]}\nscript:\n" + "".join(
            f"  - {{at: 2024-05-01T{at}Z, transaction: [{{insert: t, rows: [{{id: {id}}}]}}]}}\n" for at, id in rows
        )
    else:
        text = "create database shop; use shop; create table t(id int primary key);\n-- @snapshot\n" + "".join(
            f"-- @at 2024-05-01T{at}Z\ninsert into t values({id});\n" for at, id in rows
        )
    path = tmp_path / f"s.{suffix}"
    path.write_text(text)
    every = list(messages(path, "oms-default,heartbeat=on", source="oceanbase-mysql"))
    assert [m.kind.name for m in every] == ["INSERT", "INSERT", "HEARTBEAT", "HEARTBEAT", "INSERT"]
    times = [json.loads(m.value or b"")["allMetaData"]["timestamp"] for m in every]
    assert [int(time) - int(times[0]) for time in times] == [0, 1, 2, 3, 4]
    quiet = list(messages(path, "oms-default", source="oceanbase-mysql"))
    assert [m.order for m in quiet] == [m.order for m in every if m.kind is not Kind.HEARTBEAT]
    sequences = [json.loads(m.value or b"")["allMetaData"].get("storeDataSequence") for m in every]
    assert [s for s in sequences if s] == sorted({s for s in sequences if s})


def test_heartbeats_that_the_scenario_does_not_have_come_each_second(tmp_path: Path) -> None:
    """…, in the formats that send some; the rows and their positions stay the same."""
    scenario = tmp_path / "quiet.yaml"
    table = "{rows: 9, key: id, columns: {id: {type: int64, values: sequence}, n: {type: int32, values: version}}}"
    scenario.write_text(f"rate: 10\ntables: {{t: {table}}}")
    for format in ("oms-default,heartbeat=on", "oms-dataworks,heartbeat=on", "dts-avro,product=subscription"):
        sent = list(messages(str(scenario), format, limit=100))
        assert [m.order.turn for m in sent if m.kind is HEARTBEAT] == pytest.approx(range(0, 100, 10), abs=9)
        rows = [m.value for m in sent if m.kind in (INSERT, UPDATE, DELETE)]
        without = messages(str(scenario), format.replace(",heartbeat=on", ""), limit=100)
        assert rows == [m.value for m in without if m.kind in (INSERT, UPDATE, DELETE)]
    scenario.write_text(f"rate: 0.00001\ntables: {{t: {table}}}")  # a second would be too often
    assert any(m.kind is HEARTBEAT for m in messages(str(scenario), "oms-default,heartbeat=on", limit=3))


@pytest.mark.parametrize(("rate", "said"), [("1000", False), ("100000", True)])
def test_sequences_that_run_ahead_of_their_second_say_so(rate: str, said: bool, command: Command) -> None:
    turns = ["--start-at", "29000", "--limit", "3000"]
    done = command("run", "orders", "-f", "oms-dataworks", *turns, "--set", f"rate={rate}")
    ahead = int(json.loads(done.out.splitlines()[-1])["payload"]["scn"]) // 100_000
    behind = json.loads(done.out.splitlines()[-1])["payload"]["timestamp"]["eventTime"] // 1000
    assert (ahead > behind) is said
    assert (f"scn has run {ahead - behind} second" in done.err) is said


def test_partition_columns_of_each_table_and_the_key_of_the_others() -> None:
    items = table_of("items", {"id": "int", "order_id": "int"}, ["id"])
    block = block_of(Case("", (Rows(INSERT, ORDERS, [OLD]), Rows(INSERT, items, [["3", "9"]]))))
    for columns, hashed in (
        ("orders.region", ("cn", "3")),
        ("orders.region,items.order_id", ("cn", "9")),
        ("order_id", ("7\x01cn", "9")),
    ):
        sent = messages_of("oms-default", SOURCE, block, route=f"columns:{columns}", partitions=97)
        assert [m.partition for m in sent] == [java_partition(text, 97) for text in hashed]


def test_a_system_has_no_name_of_another() -> None:
    for source, given, known in (
        ("oracle", "OB_MYSQL", "on oracle it is ORACLE"),
        ("oceanbase-mysql", "MYSQL", "on oceanbase-mysql it is OB_MYSQL or OCEANBASE or OB_05"),
    ):
        with pytest.raises(OptionError, match=f"^-f oms-default,db_type={given}: {known}[.]$"):
            codec_of(f"oms-default,db_type={given}", source)


def test_drop_index_of_oracle_mode_names_no_table() -> None:
    step = Ddl(SchemaChangeKind.DROP_INDEX, "DROP INDEX I", ORDERS, ORDERS)
    sent = messages_of("oms-default", SOURCE, block_of(Case("", (step,))), route="table", partitions=3)
    assert [m.partition for m in sent] == [0, 1, 2]
    assert {json.loads(m.value or b"")["allMetaData"]["table_name"] for m in sent} == {None}


def test_checkpoints_never_go_back() -> None:
    """A heartbeat does not promise its own second, in which rows may follow."""
    block = block_of(Case("", (Beat(), Rows(INSERT, ORDERS, [OLD]), Beat())))
    sent = messages_of("oms-default,heartbeat=on", SOURCE, block)
    assert len({json.loads(m.value or b"")["allMetaData"]["checkpoint"] for m in sent}) == 1


SCRIPTED: Final = "script: [{transaction: [{insert: t, rows: [{id: 1}]}]}]\n"


def test_oceanbase_runs_scripts_and_scenarios_of_mysql(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("CREATE DATABASE shop; USE shop; CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1);")
    *_, last = messages(str(script), "oms-default", source="oceanbase-mysql")
    meta = json.loads(last.value or b"")["allMetaData"]
    assert (meta["dbType"], meta["db"], meta["uniqueId"].split("_")[:2]) == ("OB_MYSQL", "obt1.shop", ["1042", "1002"])
    with pytest.raises(
        UsageError, match=r"SQL scripts are run as on .*, oceanbase-mysql-4\.3, .*not on oceanbase-oracle"
    ):
        messages(str(script), "oms-default", source="oceanbase-oracle")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("source: mysql\ntables: {t: {columns: {id: {type: int unsigned}}, key: id}}\n" + SCRIPTED)
    (message,) = messages(str(scenario), "oms-default", source="oceanbase-mysql")
    assert json.loads(message.value or b"")["postStruct"] == {"id": 1}


def test_dataworks_may_mark_transactions() -> None:
    format = "oms-dataworks,transaction_marks=on"
    block = block_of(Case("", (Rows(INSERT, ORDERS, [OLD]), Rows(DELETE, ORDERS, [OLD]))))
    payloads = [json.loads(m.value or b"")["payload"] for m in messages_of(format, SOURCE, block)]
    assert [payload["op"] for payload in payloads] == ["TRANSACTION_BEGIN", "INSERT", "DELETE", "TRANSACTION_END"]
    assert (payloads[0]["scn"], payloads[0]["before"], payloads[0]["ddl"]) == ("null", None, None)
    assert payloads[0]["timestamp"] == payloads[1]["timestamp"]


def test_checkpoints_are_one_rule() -> None:
    """The second of the change or heartbeat, in Default and Dataworks; both are decided."""
    sent = [
        list(messages("crud", f"{format},heartbeat=on", source="oceanbase-mysql", settings={"rate": 5}, limit=30))
        for format in ("oms-default", "oms-dataworks")
    ]
    for kind in (INSERT, HEARTBEAT):
        (default, *_), (dataworks, *_) = ([json.loads(m.value or b"") for m in of if m.kind is kind] for of in sent)
        second = dataworks["payload"]["timestamp"]["eventTime"] // 1000
        meta = default["allMetaData"]
        assert int(meta["checkpoint"]) == int(meta["timestamp"]) == second
        assert dataworks["payload"]["timestamp"].get("checkpointTime", second) == second


STATEMENTS_OF_TABLES: Final = """create database d; use d;
create table x1 (id int primary key); create table x2 (id int);
create table y as select id from x2; rename table x1 to z1, x2 to z2; drop table z1, z2;"""


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("mysql", ["DROP TABLE `z1`,`z2` /* generated by server */"] * 2),
        ("oceanbase-mysql", ["DROP TABLE `d`.`z1`", "DROP TABLE `d`.`z2`"]),
    ],
)
def test_a_statement_about_several_tables_is_a_record_for_each(tmp_path: Path, source: str, texts: list[str]) -> None:
    """OceanBase has a text of its own for each dropped table, and no rewritten CREATE TABLE … AS SELECT."""
    script = tmp_path / "s.sql"
    script.write_text(STATEMENTS_OF_TABLES)
    found = [m for m in messages(script, "oms-default", source=source, partitions=3) if m.kind is DDL]
    records = [json.loads(m.value or b"") for m in found]
    named = [(r["allMetaData"]["table_name"], r["postStruct"]["ddl"]) for r in records]
    renamed = [name for name, sql in named if sql.startswith("rename")]
    assert renamed == ["z1"] * 3 + ["z2"] * 3, "each partition has a copy of each record"
    assert [pair for pair in named if pair[1].startswith("DROP")] == [
        pair for pair in zip(("z1", "z2"), texts, strict=True) for _ in range(3)
    ]
    (as_select,) = {sql for name, sql in named if name == "y"}
    assert as_select.startswith("create table y as select id") == (source != "mysql")


@pytest.mark.parametrize("source", ["oceanbase-mysql", "oceanbase-oracle", "mysql", "oracle"])
def test_an_update_of_the_key_is_two_changes_in_the_log_of_oceanbase_alone(tmp_path: Path, source: str) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "tables: {t: {key: id, columns: {id: int32}}}\nscript:\n"
        "- transaction: [{insert: t, rows: [{id: 1}]}]\n- transaction: [{update: t, where: {id: 1}, set: {id: 2}}]\n"
    )
    for format in ("oms-default", "cloudcanal-debezium", "dts-avro", "drs-json"):
        kinds = [m.kind for m in messages(scenario, format, source=source, allow_undocumented=True)]
        assert kinds == [INSERT, *([DELETE, INSERT] if source.startswith("oceanbase") else [UPDATE])], format


def test_no_key_is_empty() -> None:
    """Readers refuse an empty key: a row whose key is the empty text has its table's name, a mark its transaction."""
    table = table_of("t", {"id": "varchar(9)", "n": "int"}, ["id"])
    block = block_of(Case("", (Rows(INSERT, table, [["", "1"], ["x", "2"]]),)))
    for format, name in (("oms-default", b"shop.t"), ("oms-canal-json,kafka_key=json", b'"shop.t"')):
        keys = [message.key for message in messages_of(format, SOURCE, block)]
        assert keys == [name, b'"x"' if name.startswith(b'"') else b"x"]
    begin, *_, commit = messages_of("oms-dataworks,transaction_marks=on", SOURCE, block)
    assert begin.key == commit.key == b"52267000007"


@each([("two words", " "), ("a.b", "."), ("名字", "名")])
def test_names_that_oms_does_not_synchronize_are_refused(name: str, refused: str) -> None:
    block = block_of(Case("", (Rows(INSERT, table_of(name, {"id": "int"}, ["id"]), [["1"]]),)))
    for format in FORMATS:
        with pytest.raises(NotOffered, match=f"^the table {name!r} holds {refused!r}, and OMS does not synchronize"):
            messages_of(format, SOURCE, block)


def test_words_of_the_vendor_are_understood() -> None:
    for theirs, ours in (
        ("SHAREPLEX", "oms-shareplex"),
        ("DEFAULT_WITH_SCHEMA", "oms-default-extend-column-type"),
        ("DATAWORKS_V2", "oms-dataworks"),
    ):
        assert find(theirs).id == ours
    assert codec_of("oms-default,version=V4.2.5", SOURCE).settings.options.version == "4.2.5"
    digest = int.from_bytes(hashlib.md5(b"7").digest()[:4]) & 0x7FFFFFFF
    table = table_of("t", {"id": "int"}, ["id"])
    block = block_of(Case("", (Rows(INSERT, table, [["7"]]),)))
    for route, hashed in (("MD5", digest), ("ORIGINAL_VAL", 7)):
        (message,) = messages_of("oms-default", SOURCE, block, route=route, partitions=5)
        assert message.partition == hashed % 5


def test_all_meta_data_may_have_the_eight_members_of_the_samples() -> None:
    block = block_of(Case("", (Rows(INSERT, ORDERS, [OLD]),)))
    (message,) = messages_of("oms-default,sequence_enabled=off,unique_id=off", SOURCE, block)
    meta = json.loads(message.value or b"")["allMetaData"]
    assert len(meta) == 8
    assert not {"storeDataSequence", "uniqueId"} & set(meta)
