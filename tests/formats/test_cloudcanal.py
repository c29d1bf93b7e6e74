"""CloudCanal's formats: the examples of the vendor's page, batches, topics, keys, partitions."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from building import Case, Ddl, Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of, with_effect
from cases import cases_of
from each import each

from simulator import formats, messages, sources
from simulator.delivery.pack import cut
from simulator.delivery.parts import assembled
from simulator.delivery.router import parse_route
from simulator.errors import NotOffered, OptionError
from simulator.formats.cloudcanal import dts_avro as cloudcanal_dts_avro
from simulator.formats.cloudcanal.options import JsonOptions
from simulator.formats.cloudcanal.types import code
from simulator.formats.format import Broker, Settings
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, OrderKey, SchemaChange, SchemaChangeKind, Table
from simulator.run.job import Partitions, open_job
from simulator.run.plan import Limits
from simulator.run.render import Renderer
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.stream.engine.block import Stream
from simulator.truth.decoders import parse

# "Message Format", the JSON examples as printed, comments and all.
TABLE_CHANGES: Final = """
"table":{
"columns":[
{
"jdbcType":12, // Jdbc type.
"name":"col1", // Column name.
"position":0, // Column order.
"typeExpression":"varchar(22)", // Type annotation.
"typeName":"varchar" // Type name.
},
{
"jdbcType":12,
"name":"col2",
"position":1,
"typeExpression":"varchar(22)",
"typeName":"varchar"
},
{
"jdbcType":12,
"name":"col_pk",
"position":2,
"typeExpression":"varchar(22)",
"typeName":"varchar"
}
],
"primaryKeyColumnNames":["col_pk"], // The name list of primary key.
}
"""
CLOUDCANAL_DML: Final = """
{
"action":"INSERT/DELETE/UPDATE",
"before":[
// The before field of an UPDATE statement.
{
"col1":"22",
"col2":"22",
"col_pk":"22"
}
],
"bid":0,
"data":[
{
"col1":"11",
"col2":"11",
"col_pk":"11"
}
],
"db":"db_test",
"dbValType":{
"col1":"varchar(22)",
"col2":"varchar(22)",
"col_pk":"varchar(22)"
},
"isDdl":false,
"entryType":"ROWDATA",
"execTs":1669789152000,
"jdbcType":{
"col1":12,
"col2":12,
"col_pk":12
},
"pks":[],
"schema":"db_test",
"sendTs":1669789153377,
"sql":"",
"table":"table_test"
}
"""
CLOUDCANAL_DDL: Final = (
    """
{
"action":"ALTER",
"before":[],
"bid":0,
"data":[],
"db":"db_test",
"dbValType":{
"col1":"varchar(22)",
"col2":"varchar(22)",
"col_pk":"varchar(22)"
},
"isDdl":true,
"entryType":"ROWDATA",
"execTs":1669789188000,
"jdbcType":{
"col1":12,
"col2":12,
"col_pk":12
},
"pks":[],
"schema":"db_test",
"sendTs":1669789189533,
"sql":"alter table table_test add col2 varchar(22) null",
"table":"table_test",
"tableChanges":{"""
    + TABLE_CHANGES
    + """,
"type":"ALTER"
}
}
"""
)
CANAL_DML: Final = """
{
"data":[
{
"col1":"11",
"col2":"11",
"col_pk":"11"
}
],
"database":"db_test",
"es":1669790847000,
"id":0,
"isDdl":false,
"mysqlType":{
"col1":"varchar(22)",
"col2":"varchar(22)",
"col_pk":"varchar(22)"
},
"old":[
// The old field for an UPDATE type.
{
"col1":"22",
"col2":"22",
"col_pk":"22"
}
],
"pkNames":["col_pk"],
"sql":"",
"sqlType":{
"col1":12,
"col2":12,
"col_pk":12
},
"table":"table_test",
"ts":1669790848072,
"type":"INSERT/DELETE/UPDATE"
}
"""
CANAL_DDL: Final = (
    """
{
"data":[],
"database":"db_test",
"es":1669790951000,
"id":0,
"isDdl":true,
"mysqlType":{
"col1":"varchar(22)",
"col2":"varchar(22)",
"col_pk":"varchar(22)"
},
"old":[],
"pkNames":[],
"sql":"alter table table_test add col2 varchar(22) null",
"sqlType":{
"col1":12,
"col2":12,
"col_pk":12
},
"table":"table_test",
"tableChanges":{"""
    + TABLE_CHANGES
    + """,
"type":"ALTER"
},
"ts":1669790952584,
"type":"ALTER"
}
"""
)
ENVELOPE_SOURCE: Final = """
"source":{
"ts_ms":1669796261933,
"db":"db_test",
"table":"table_test",
"connector":"MySQL",
"gtid": null,
"file": "mysql-bin.000003",
"pos": 154,
"server_id": 223344,
...
}
"""
ENVELOPE_DML: Final = (
    """
{
"schema":...,
"payload":{
"op":"i",
"ts_ms":1669796261933,
"after":{
"col1":"11",
"col2":"11",
"col_pk":"11"
},
"before":{},"""
    + ENVELOPE_SOURCE
    + """
}
}
"""
)
ENVELOPE_DDL: Final = (
    """
{
"schema":...,
"payload":{
"databaseName":"db_test",
"ddl":"alter table table_test add col2 varchar(22) null",
"ts_ms":1669797213247,"""
    + ENVELOPE_SOURCE
    + """,
"tableChanges":{
"type":"ALTER","""
    + TABLE_CHANGES
    + """
}
}
}
"""
)
COLUMNS: Final = {"col1": "varchar(22)", "col2": "varchar(22)", "col_pk": "varchar(22)"}
NEW: Final = ["11", "11", "11"]
OLD: Final = ["22", "22", "22"]
# The transaction with which the third file of the binary log begins.
THIRD_FILE: Final = 2 * 1024


def printed(text: str) -> dict[str, Any]:
    """An example without comments, without commas before a closing bracket, without what "..." stands for."""
    text = re.sub(r"//.*", "", text).replace('"schema":...,', "").replace("...", "")
    document: dict[str, Any] = json.loads(re.sub(r",\s*([}\]])", r"\1", text))
    return document


def compact(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def page_table(*key: str) -> Table:
    """The columns in the order in which the page prints them."""
    return table_of("table_test", COLUMNS, key, database="db_test", source="mysql-5.7")


def statement(event_ms: int, write_ms: int) -> SchemaChange:
    """The statement of the examples: `col2` stands before the key, where the page has it."""
    columns = {"col1": "varchar(22)", "col_pk": "varchar(22)"}
    before = table_of("table_test", columns, ["col_pk"], database="db_test", source="mysql-5.7")
    return SchemaChange(
        OrderKey(1, 0, 0), THIRD_FILE, 0, event_ms, write_ms, SchemaChangeKind.ADD_COLUMN, "db_test", before,
        page_table("col_pk"), "alter table table_test add col2 varchar(22) null;",
    )  # fmt: skip


@each(
    [
        # of a table without a key: `pks` is empty in the example
        ("cloudcanal-json", CLOUDCANAL_DML, "action", (), 1669789152000, 1669789153377),
        ("cloudcanal-canal-json", CANAL_DML, "type", ("col_pk",), 1669790847000, 1669790848072),
    ]
)
def test_the_page_examples_of_rows(
    format: str, example: str, name: str, key: tuple[str, ...], event_ms: int, write_ms: int
) -> None:
    """One correction: the action is one of the three."""
    batch = batch_of(page_table(*key), UPDATE, [NEW], [OLD], offset=0, event_ms=event_ms, write_ms=write_ms)
    assert encoded(codec_of(format), batch) == [compact(printed(example) | {name: "UPDATE"})]


@each(
    [
        ("cloudcanal-json", CLOUDCANAL_DDL, 1669789188000, 1669789189533),
        ("cloudcanal-canal-json", CANAL_DDL, 1669790951000, 1669790952584),
    ]
)
def test_the_page_examples_of_statements(format: str, example: str, event_ms: int, write_ms: int) -> None:
    sent = codec_of(format).layout.writer.values.encode_event(statement(event_ms, write_ms), DDL)
    assert sent == compact(printed(example))


ENVELOPE: Final = "cloudcanal-debezium,envelop_schema_include=on,key_order=doc,legacy_insert_op=i"


def without_schema(value: bytes) -> bytes:
    """The message without its schema, which the page does not print."""
    document = json.loads(value)
    assert list(document) == ["schema", "payload"]
    assert document.pop("schema")["type"] == "struct"
    return compact(document)


def test_the_page_example_of_an_envelope() -> None:
    """One correction: `pos`, where the page has the first event of a file (154 in MySQL 5.7), which no row is."""
    batch = batch_of(page_table("col_pk"), INSERT, [NEW], txn=THIRD_FILE, write_ms=1669796261933)
    sent = [without_schema(value) for value in encoded(codec_of(ENVELOPE, "mysql-5.7"), batch)]
    expected = printed(ENVELOPE_DML)
    assert expected["payload"]["source"]["pos"] == 154
    expected["payload"]["source"]["pos"] += 128
    assert sent == [compact(expected)]


def test_the_page_example_of_an_envelope_with_a_statement() -> None:
    """One correction: `ts_ms` of the source, which the page copied from its other example."""
    expected = printed(ENVELOPE_DDL)
    expected["payload"]["source"]["ts_ms"] = expected["payload"]["ts_ms"]
    sent = codec_of(ENVELOPE, "mysql-5.7").layout.writer.values.encode_event(
        statement(1669797212000, 1669797213247), DDL
    )
    assert without_schema(sent) == compact(expected)


def test_the_schema_of_the_blog() -> None:
    """Article 020 prints of it that members are sorted, `isPK`, `jdbType`, and the source's type."""
    table = table_of("t", {"column_1": "int", "column_2": "varchar(20)"}, ["column_1"], source="mysql-5.7")
    codec = codec_of("cloudcanal-debezium,envelop_schema_include=on", "mysql-5.7")
    (value,) = encoded(codec, batch_of(table, INSERT, [["3", None]]))
    document = json.loads(value)
    assert list(document) == ["payload", "schema"]
    fields = {field["field"]: field for field in document["schema"]["fields"]}
    assert list(fields) == list(document["payload"]) == ["after", "before", "op", "source", "ts_ms"]
    assert compact(fields["after"]) == (
        b'{"field":"after","fields":[{"field":"column_1","isPK":true,"jdbType":4,"type":"int(11)"},'
        b'{"field":"column_2","isPK":false,"jdbType":12,"type":"varchar(20)"}],"type":"struct"}'
    )
    assert document["payload"]["after"] == {"column_1": "3", "column_2": None}
    assert [field["field"] for field in fields["source"]["fields"]] == list(document["payload"]["source"])


# -------------------------------------------------------------------------------------------------------------- batches


def rows_of(value: bytes) -> int:
    return len(json.loads(value)["data"])


@cache
def orders() -> Stream:
    return open_job("orders", "cloudcanal-json").stream


@pytest.mark.parametrize("scope", ["partition", "transaction", "statement"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_a_block_makes_the_same_batches_alone_and_in_pieces(scope: str, partitions: int) -> None:
    """Wherever the stream is cut (at borders of transactions, or of windows), the same messages come out."""
    stream, codec = orders(), codec_of(f"cloudcanal-json,batch_rows=4,batch_scope={scope}")
    renderer = Renderer(stream, codec, parse_route(None, codec.layout.routing), None, lambda topic: partitions)

    def rendered(first: int, stop: int) -> list[bytes]:
        block_messages = renderer.render(stream.read(first, stop))
        return [] if block_messages is None else block_messages["value"].to_pylist()

    unit = 256 if scope == "partition" else 1
    borders = [stream.border(turn - turn % unit) for turn in (0, 1, 17, 300, 301, 700)]
    pieces = [value for first, stop in pairwise(borders) if first < stop for value in rendered(first, stop)]
    whole = rendered(0, borders[-1])
    assert pieces == whole
    sizes = [rows_of(value) for value in whole]
    assert max(sizes) == (3 if partitions > 1 and scope != "partition" else 4)
    assert sum(sizes) == stream.read(0, borders[-1]).changes


def test_rows_of_several_transactions_share_messages(tmp_path: Path) -> None:
    """As the product does: in each partition what follows each other, up to rows and time."""
    format = "cloudcanal-json,batch_rows=20"
    job = open_job("crud", format)
    whole, step = job.plan(Limits(changes=2_000)), job.plan(Limits(changes=2_000), most_turns=300)
    renderer = job.renderer(lambda topic: 2)
    paced = [part for plan in (whole, step) for where in plan.blocks() if (part := renderer.render_block(where))]
    sent = [message for part in paced for message in part.messages()]
    assert sent[: len(sent) // 2] == sent[len(sent) // 2 :], "however large blocks are"
    single: dict[Any, list[Any]] = {}
    alone = open_job("crud", "cloudcanal-json").addressed(partitions=Partitions(2))
    for message in alone.messages(Limits(changes=2_000)):
        document = json.loads(message.value or b"")
        row = (document["action"], document["data"][0], document["execTs"])
        single.setdefault((message.topic, message.partition), []).append(row)
    rows: dict[Any, list[Any]] = {}
    for message in sent[: len(sent) // 2]:
        document = json.loads(message.value or b"")
        held = rows.setdefault((message.topic, message.partition), [])
        theirs = single[message.topic, message.partition][len(held) : len(held) + len(document["data"])]
        assert [row[:2] for row in theirs] == [(document["action"], row) for row in document["data"]]
        assert {row[2] for row in theirs} == {document["execTs"]}
        assert document["sendTs"] > document["execTs"]
        held += theirs
    assert rows == single
    assert len(sent) // 2 < 0.6 * sum(map(len, rows.values()))


def test_ddl_ends_all_batches() -> None:
    step = Ddl(SchemaChangeKind.ADD_COLUMN, "ALTER TABLE x ADD c int", TABLE, TABLE)
    rows = Rows(INSERT, TABLE, [["1", "a"], ["2", "b"]], statements=[0, 1])
    block = block_of(Case("", (rows, step, rows)))
    values = [json.loads(m.value or b"") for m in messages_of("cloudcanal-json,batch_rows=9", "mysql-8.0", block)]
    assert [(value["action"], len(value["data"])) for value in values] == [("INSERT", 2), ("ALTER", 0), ("INSERT", 2)]


def test_batches_overtake_nothing() -> None:
    """All tables in one topic of one partition: rows come in the order in which one-row messages have them."""

    def row_changes(format: str) -> list[tuple[str, str, str]]:
        with MemorySink() as sink:
            local_run(open_job("orders", format), sink, limits=Limits(changes=3_000))()
            documents = [json.loads(value) for value in sink.values()]
        return [(d["table"], d["action"], compact(row).decode()) for d in documents for row in d["data"]]

    one_topic = "cloudcanal-json,topic_rule=DEFAULT_TOPIC"
    assert row_changes(f"{one_topic},batch_rows=50") == row_changes(one_topic)


TABLE: Final = table_of("t", {"id": "int", "v": "varchar(9)"}, ["id"])


def test_an_update_that_leaves_a_row_as_an_earlier_one_begins_a_message() -> None:
    rows = [["1", "a"], ["2", "b"], ["1", "a"], ["1", "c"], ["2", "b"], ["3", None], ["3", None]]
    old = [["1", "x"]] * len(rows)
    batch = batch_of(TABLE, UPDATE, rows, old)
    batches = [json.loads(value)["data"] for value in encoded(codec_of("cloudcanal-json,batch_rows=50"), batch)]
    assert [[(row["id"], row["v"]) for row in data] for data in batches] == [
        [("1", "a"), ("2", "b")],
        [("1", "a"), ("1", "c"), ("2", "b"), ("3", None)],
        [("3", None)],
    ]


def test_rows_are_counted_in_each_partition() -> None:
    """batch_rows=2: rows 1, 3 and 5 go to partition 1, 2 and 4 to partition 0."""
    rows = [[str(n), "x"] for n in range(1, 6)]
    codec = codec_of("cloudcanal-json,batch_rows=2")
    batch = batch_of(TABLE, INSERT, rows)
    to = np.array([1, 0, 1, 0, 1], dtype=np.int64)
    packed = cut(batch, codec.layout.packing.events(batch), topic="t", partition=to, key=None)
    values = assembled(list(codec.messages(packed)))["value"].to_pylist()
    batches = [[row["id"] for row in json.loads(value)["data"]] for value in values]
    assert batches == [["1", "3"], ["2", "4"], ["5"]]
    assert packed.partition is not None
    assert packed.partition.tolist() == [1, 0, 1]


def test_rows_of_the_full_load_share_messages(tmp_path: Path) -> None:
    """Table by table, in each partition, in their order; the rows are those of messages with one row each."""
    columns = "{id: {type: int64, values: sequence}, n: {type: int32, values: version}}"
    tables = ", ".join(f"{name}: {{key: id, rows: 900, columns: {columns}}}" for name in ("one", "two"))
    scenario = tmp_path / "two.yaml"
    scenario.write_text(f"tables: {{{tables}}}")

    def scanned(options: str) -> list[Any]:
        with MemorySink(partitions=3) as sink:
            local_run(open_job(str(scenario), f"cloudcanal-json{options}"), sink, limits=Limits(0, 1), snapshot=True)()
            return [(m, json.loads(m.value or b"")) for m in sink.messages() if m.kind is READ]

    def rows(pairs: list[Any]) -> dict[tuple[str, int], list[Any]]:
        rows_by_partition: dict[tuple[str, int], list[Any]] = {}
        for message, document in pairs:
            rows_by_partition.setdefault((document["table"], message.partition), []).extend(document["data"])
        return rows_by_partition

    single, shared = scanned(""), scanned(",batch_rows=7")
    assert {len(document["data"]) for _, document in single} == {1}
    assert rows(shared) == rows(single)
    assert max(len(document["data"]) for _, document in shared) == 7
    assert len(shared) < len(single) / 6
    assert {document["action"] for _, document in shared} == {"INSERT"}


def test_old_rows_that_postgresql_logs_by_their_key() -> None:
    table = table_of("t", {"id": "integer", "v": "text"}, ["id"], source="postgresql")
    update = batch_of(table, UPDATE, [["1", "b"]], [["1", "a"]], source="postgresql")
    delete = batch_of(table, DELETE, [["1", "b"]], source="postgresql")
    (update,), (delete,) = (sources.find("postgresql").logged(batch, "default") for batch in (update, delete))
    codec = codec_of("cloudcanal-json", "postgresql")
    (value,) = encoded(codec, update)
    assert (json.loads(value)["before"], json.loads(value)["data"]) == ([{"id": "1"}], [{"id": "1", "v": "b"}])
    assert json.loads(encoded(codec, delete)[0])["data"] == [{"id": "1"}]
    codec = codec_of("cloudcanal-debezium", "postgresql")
    assert json.loads(encoded(codec, update)[0])["before"] == {"id": "1"}
    assert json.loads(encoded(codec, delete)[0])["before"] == {"id": "1"}


# -------------------------------------------------------------------------------------------------------------- sources


@each(
    [
        ("rabbitmq", "oracle", "mysql, postgresql"),
        ("rabbitmq", "oceanbase-mysql", "mysql, postgresql"),
        ("rocketmq", "mongodb", "mysql, oceanbase-mysql, oceanbase-oracle, oracle, postgresql"),
        ("rocketmq", "sqlserver", "mysql, oceanbase-mysql, oceanbase-oracle, oracle, postgresql"),
    ]
)
def test_links_that_the_product_has_not_are_refused(broker: Broker, source: str, reads: str) -> None:
    for format in ("cloudcanal-json", "cloudcanal-canal-json"):
        system = sources.find(source)
        with pytest.raises(NotOffered, match=f"^-f {format} to {broker}: CloudCanal, .* reads {reads}, not {source}; "):
            formats.open_codec(format, system, broker=broker)
        assert formats.open_codec(format, system, broker=broker, allow_undocumented=True)
        assert open_job("crud", format, source=source, broker=broker, allow_undocumented=True).undocumented
        assert not open_job("crud", format, source=source).undocumented
    assert formats.open_codec("cloudcanal-json", sources.find("postgresql"), broker=broker)


# ----------------------------------------------------------------------------- topics, partitions, headers and metadata


@each(
    [
        ("", "my-cdcsim0000000001.shop.customers"),
        (",instance=my-vgpq6q097174t6t", "my-vgpq6q097174t6t.shop.customers"),
        (",topic_rule=SOURCE_INS_DB_SCHEMA_TABLE_BY_DOT,instance=i", "i.shop.customers"),
        (",topic_rule=SOURCE_INS_DB_BY_DOT,instance=i", "i.shop"),
        (",topic_rule=SOURCE_INS_DB_TABLE_BY_DOUBLE_UNDERLINE,instance=i", "i__shop__customers"),
        (",topic_rule=SOURCE_DB_TABLE_BY_COLON", "shop:customers"),
        (",topic_rule=MIRROR", "customers"),
        (",topic_rule=TO_UPPER_CASE", "CUSTOMERS"),
        (",topic_rule=SOURCE_DB_TABLE_BY_UNDERLINE_LOWER_CASE", "shop_customers"),
        (",topic_rule=DEFAULT_TOPIC,default_topic=all", "all"),
    ]
)
def test_topics(options: str, topic: str) -> None:
    sent = [m for m in messages("tour", f"cloudcanal-json{options}", limit=None) if b'"table":"customers"' in m.value]
    assert {message.topic for message in sent} == {topic}
    assert len(sent) > 5


def test_what_has_no_table_goes_to_the_default_topic(tmp_path: Path) -> None:
    """Its name under the rule could be that of a table."""
    script = tmp_path / "script.sql"
    script.write_text("CREATE DATABASE s; USE s; CREATE TABLE t (v int); INSERT INTO t VALUES (1);")
    format = "cloudcanal-json,ddl_statements=all,emit_transaction_end=on"
    topics = [message.topic for message in messages(str(script), format)]
    assert topics == ["cloudcanal", *2 * ["my-cdcsim0000000001.s.t"], "cloudcanal"]
    assert {message.topic for message in messages(str(script), f"{format},default_topic=rest")} == {"rest"}


def test_tables_that_appear_while_the_job_runs_go_to_the_default_topic() -> None:
    """As the vendor's API says of dstMqDefaultTopic; a table that is renamed is one of them."""
    for tail, appeared in (("", "{}"), (",default_topic=rest", "rest")):
        sent = list(messages("tour", f"cloudcanal-json,topic_rule=MIRROR{tail}", limit=None, snapshot=True))
        topics = {json.loads(m.value or b"")["table"]: m.topic for m in sent}
        known = {name: name for name in ("customers", "orders", "limits")}
        assert topics == {name: known.get(name, appeared.format(name)) for name in topics}
        assert len(topics) > len(known)


@pytest.mark.parametrize(
    ("source", "types"),
    [
        ("mysql", {"int unsigned": 4, "bigint unsigned": -5, "text": -1, "enum('a')": 1, "blob": -4, "bit(8)": -7}),
        (
            "oceanbase-mysql",  # ObForMySQLTypes
            {"tinyint unsigned": 5, "smallint unsigned": 4, "mediumint unsigned": 4, "int unsigned": -5}
            | {"bigint unsigned": 12, "text": 12, "enum('a')": 12, "set('a')": 12, "blob": -2, "int": 4, "json": -1},
        ),
        ("postgresql", {"bit(8)": -7, "bit varying(8)": -7, "boolean": -7}),
        ("gaussdb", {"bit(8)": -2, "bit varying(8)": -2, "boolean": -7}),  # GaussDBTypes
    ],
)
def test_codes_are_those_of_the_sources_own_enum(source: str, types: dict[str, int]) -> None:
    columns = {f"c{i}": type for i, type in enumerate(types)}
    table = table_of("t", columns, ["c0"], source=source)
    settings = Settings(JsonOptions(), sources.find(source))
    assert [code(column, settings) for column in table.columns] == list(types.values())


def test_a_schema_of_strings_is_refused_for_values_that_are_none() -> None:
    with pytest.raises(
        OptionError, match=r"^-f cloudcanal-debezium,connect_schema=on: with value_types=native the schema"
    ):
        codec_of("cloudcanal-debezium,envelop_schema_include=on,connect_schema=on,value_types=native")


def test_the_database_before_a_tables_name_is_lost() -> None:
    table = table_of("t", {"id": "int"}, ["id"])
    for text, sent in (
        ("alter table shop.t add c int", "alter table t add c int"),
        ("ALTER TABLE `shop` . `t` COMMENT 'shop.t';", "ALTER TABLE `t` COMMENT 'shop.t'"),
    ):
        block = block_of(Case("", (Ddl(SchemaChangeKind.ADD_COLUMN, text, table, table),)))
        (message,) = messages_of("cloudcanal-json", "mysql-8.0", block)
        assert json.loads(message.value or b"")["sql"] == sent


def test_statements_go_to_their_own_topic_or_to_the_first_partition() -> None:
    for options, topics in (("", 2), (",ddl_topic=changes", 1)):
        sent = [m for m in messages("tour", f"cloudcanal-json{options}", limit=None, partitions=4) if m.kind is DDL]
        assert len(sent) > 3
        assert {message.partition for message in sent} == {0}
        assert len({message.topic for message in sent}) >= topics
        assert ({message.topic for message in sent} == {"changes"}) == bool(options)


@each([("", "many2"), (",rename_table=new", "many3")])
def test_the_statement_that_renames_a_table_goes_where_its_old_name_leads(options: str, name: str) -> None:
    (case,) = (case for case in cases_of("mysql-8.0") if case.name == "rename table")
    for format in ("cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-debezium"):
        (message,) = messages_of(format + options, "mysql-8.0", block_of(case))
        assert message.topic.endswith(f".shop.{name}")
        document = json.loads(message.value or b"")
        assert document.get("table", document.get("source", {}).get("table")) == name


def test_partitions_are_the_hashes_of_the_key() -> None:
    with_key = [m for m in messages("crud", "cloudcanal-json", limit=300, partitions=7) if m.kind is not DDL]
    assert len({message.partition for message in with_key}) == 7
    for message in with_key:
        (row,) = json.loads(message.value)["data"]
        hashed = 0
        for character in row["id"].encode("utf-16-be")[1::2]:
            hashed = (31 * hashed + character) & 0xFFFFFFFF
        signed = hashed - (1 << 32) if hashed >> 31 else hashed
        assert message.partition == abs(int(np.fmod(signed, 7)))


def test_keys_headers_and_tags() -> None:
    def first(options: str, broker: Broker = "kafka") -> Any:
        sent = messages("tour", f"cloudcanal-json{options}", limit=1, broker=broker)
        return next(m for m in sent if m.kind is not DDL)

    plain = first("")
    assert (plain.key, plain.tag, plain.headers) == (None, None, ())
    assert first(",key=pk").key == b'{"id":"3"}'
    assert first(",key=table").key == b"shop.customers"
    assert first(",custom_header=env:test;team:a b").headers == (("env", b"test"), ("team", b"a b"))
    rocketmq = first("", "rocketmq")
    assert (rocketmq.topic, rocketmq.key, rocketmq.tag) == (
        plain.topic.replace(".", "%"),
        b"3",
        "shop.customers.INSERT",
    )
    rabbitmq = first("", "rabbitmq")
    assert (rabbitmq.topic, rabbitmq.tag, rabbitmq.headers) == (plain.topic, None, ())
    assert first(",delay_ms=10000", "rabbitmq").headers == (("x-delay", b"10000"),)


def test_the_tag_of_a_statement_has_its_action() -> None:
    (case,) = (case for case in cases_of("postgresql-16") if case.name == "truncate table")
    for options, action in (("", "TRUNCATE"), (",pg_truncate=alter", "ALTER")):
        (message,) = messages_of(f"cloudcanal-json{options} to rocketmq", "postgresql-16", block_of(case))
        assert message.tag is not None
        assert message.tag.endswith(f".{action}")
        assert json.loads(message.value or b"")["action"] == action


# ---------------------------------------------------------------------------------------------------------------- Avro


def test_the_wider_schema_is_that_of_dts_with_one_member_more() -> None:
    def fields(schema: Any) -> list[Any]:
        """The members of Field, wherever it is declared; they are taken out."""
        if isinstance(schema, dict) and schema.get("name") == "Field":
            return [schema.pop("fields")]
        children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        return [member for child in children for member in fields(child)]

    for variant in ("A", "B"):
        wide, stock = (json.loads(cloudcanal_dts_avro.schema(variant, ispk=ispk)) for ispk in (True, False))
        (own,), (known,) = fields(wide), fields(stock)
        assert own == [*known, {"name": "isPk", "type": "boolean", "default": False}]
        assert wide == stock


def test_fields_say_whether_they_are_of_the_key() -> None:
    batch = batch_of(TABLE, INSERT, [["1", "a"]])
    format = "cloudcanal-dts-avro,ispk_field=on"
    (value,) = encoded(codec_of(format), batch)
    fields = parse(format, value)["fields"]
    assert [(field["name"], field["isPk"]) for field in fields] == [("id", True), ("v", False)]
    (stock,) = encoded(codec_of("cloudcanal-dts-avro"), batch)
    assert all("isPk" not in field for field in parse("cloudcanal-dts-avro", stock)["fields"])
    assert parse("cloudcanal-dts-avro", stock)["tags"]["pk_uk_info"] == '{"PRIMARY":["id"]}'


@each(["mysql-8.0", "oracle-19c", "postgresql-16", "sqlserver-2022"])  # MariaDB has the types of MySQL
def test_records_of_every_source_are_those_of_dts(source: str) -> None:
    theirs_format = with_effect("dts-avro,ddl_object=table,gtid=off", source)
    for case in cases_of(source):
        theirs = messages_of(theirs_format, source, block_of(case))
        ours = messages_of("cloudcanal-dts-avro,init_op=INIT,ddl_statements=all", source, block_of(case))
        assert [m.value for m in ours] == [m.value for m in theirs], case.name


def test_records_of_mongodb_are_those_of_dts_with_preimages() -> None:
    for case in cases_of("mongodb-6.0"):
        theirs = messages_of("dts-avro,mongodb_before=document", "mongodb-6.0", block_of(case))
        ours = messages_of("cloudcanal-dts-avro,init_op=INIT,ddl_statements=all", "mongodb-6.0", block_of(case))
        assert [m.value for m in ours] == [m.value for m in theirs], case.name


def test_which_field_of_a_document_is_the_key() -> None:
    table = table_of("t", {"_id": "int", "v": "string"}, ["_id"], source="mongodb")
    format = "cloudcanal-dts-avro,ispk_field=on"
    batch = batch_of(table, INSERT, [["1", "a"]], source="mongodb")
    (value,) = encoded(codec_of(format, "mongodb-6.0"), batch)
    fields = parse(format, value)["fields"]
    assert [(field["name"], field["isPk"]) for field in fields] == [("_value", False), ("_id", True)]


def test_records_go_to_the_products_own_topics() -> None:
    """In CloudCanal's topics; the full load is of inserts."""
    ours = [m for m in messages("tour", "cloudcanal-dts-avro", limit=None) if m.kind is not DDL]
    assert {m.topic for m in ours} >= {"my-cdcsim0000000001.shop.customers", "my-cdcsim0000000001.shop.orders"}
    scanned = next(m for m in messages("tour", "cloudcanal-dts-avro", limit=None, snapshot=True) if m.kind is READ)
    assert parse("cloudcanal-dts-avro", scanned.value or b"")["operation"] == "INSERT"
