"""Huawei Cloud DRS: the samples of the vendor's page, made of the rows they describe; what no golden singles out."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from building import Case, Ddl, Rows, Times, batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import samples_of
from drs_samples import AT, compact, kafka_partition, one, sample, values
from each import each

from simulator.cli.progress import unsent_columns
from simulator.errors import NotOffered, OptionError, UsageError
from simulator.formats import find as find_format
from simulator.formats import open_codec
from simulator.formats.drs.systems import system as drs_system
from simulator.formats.drs.systems.system import codes
from simulator.formats.facts import events_of
from simulator.library import messages
from simulator.model import DELETE, INSERT, UPDATE, Column, SchemaChangeKind, Table
from simulator.run.job import open_job
from simulator.sources import find
from simulator.truth.decoders import parse

MYSQL: Final = find("mysql")

# --------------------------------------------------------------------------------------- the sample of MySQL, table 2

SAMPLE_TABLE: Final = table_of(
    "test",
    {
        "id": "int",
        "c1": "varchar(60)",
        "c2": "varbinary(100)",
        "c3": "int",
        "c4": "datetime",
        "c5": "timestamp(3)",
        "c6": "char(30)",
        "c7": "float",
        "c8": "double",
        "c9": "decimal(10,0)",
        "c10": "varchar(50)",
        "c11": "binary(10)",
        "c12": "varbinary(200)",
        "c13": "text",
        "c14": "blob",
    },
    ["id"],
    database="test01",
)


def hexed(numbers: str) -> str:
    """A list of bytes as printed, as a literal."""
    return f"x'{bytes(number & 0xFF for number in json.loads(numbers)).hex()}'"


def sample_row(row: dict[str, str]) -> dict[str, str | None]:
    """The row that a sample shows, as a scenario would write it; its moments are UTC."""
    cells: dict[str, str | None] = {
        name: hexed(text) if name in ("c2", "c11", "c12", "c14") else text for name, text in row.items()
    }
    assert row["c5"] == "1624614713.201"
    return {**cells, "c5": "2021-06-25 09:51:53.201"}


def test_the_sample_of_mysql() -> None:
    """One correction: the table's name is printed with a blank at its end, taken for a slip of the page."""
    text = sample("mysql-update").replace('"test "', '"test"')
    data, old = json.loads(text)["data"][0], json.loads(text)["old"][0]
    case = Case(
        "the page's update",
        (Rows(UPDATE, SAMPLE_TABLE, [sample_row(data)], [sample_row(old)]),),
        Times(offset=27677, event_ms=1_624_614_713_201, write_ms=1_625_058_726_990),
    )
    message = one("drs-json", case)
    assert message.value == compact(text)
    assert message.key == b"104"


def test_the_sample_of_gaussdb() -> None:
    """A table without a key, as REPLICA IDENTITY FULL has it; `es` is the commit before."""
    document = json.loads(sample("gaussdb-update"))
    table = table_of(
        "table01",
        {
            "boolean_column": "boolean",
            "char_column": "char(1)",
            "bit_column": "bit(1)",
            "smallint_column": "smallint",
            "timestamp_column": "timestamp",
            "jsonb_column": "jsonb",
            "int4range_column": "int4range",
            "tstzrange_column": "tstzrange",
            "bytea_column": "bytea",
        },
        database="database01",
        schema="schema01",
        source="gaussdb",
    )

    def row(cells: dict[str, str]) -> dict[str, str | None]:
        return {**cells, "bytea_column": f"x'{cells['bytea_column']}'"}

    case = Case(
        "the page's update",
        (Rows(UPDATE, table, [row(document["data"][0])], [row(document["old"][0])]),),
        Times(offset=332, event_ms=1_639_629_261_650, write_ms=1_639_629_261_915),
        "gaussdb",
    )
    message = one("drs-json", case, "gaussdb", previous_ms=1_639_626_187_344)
    assert message.value == compact(sample("gaussdb-update"))
    assert message.key == b"database01.schema01.table01"


def test_codes_of_the_sample_of_gaussdb() -> None:
    """The others are a reconstruction: nobody knows them."""
    document = json.loads(sample("gaussdb-update"))
    known = {document["columnType"][name]: code for name, code in document["sqlType"].items()}
    path = Path(drs_system.__file__).with_name("codes.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["system"] == "postgresql"]
    assert {row["type"]: int(row["code"]) for row in rows if row["known from"] == "sample"} == {**known, "jsonb": 22}
    assert {row["known from"] for row in rows} == {"sample", "reconstructed"}


def test_what_postgresql_logs_of_a_row() -> None:
    table = table_of("t", {"id": "int", "a": "int", "doc": "text"}, ["id"], source="postgresql")
    long, other = "x" * 2001, "y" * 2001
    new = [["1", "5", long], ["2", "5", other], ["30", "5", "short"]]
    old = [["1", "4", long], ["2", "5", long], ["3", "5", "short"]]
    case = Case("update", (Rows(UPDATE, table, new, old),), AT, "postgresql")
    block = block_of(case, log="default")
    found = [json.loads(message.value or b"") for message in messages_of("drs-json", "postgresql", block)]
    assert [message["data"] for message in found] == [
        [{"a": "5", "id": "1"}],  # the long text is stored apart, and was not changed
        [{"a": "5", "doc": other, "id": "2"}],
        [{"a": "5", "doc": "short", "id": "30"}],
    ]
    assert [message["old"] for message in found] == [None, None, [{"id": "3"}]]
    records = [parse("drs-avro", message.value or b"") for message in messages_of("drs-avro", "postgresql", block)]
    assert [record["afterImages"][2] is None for record in records] == [True, False, False]
    assert [[cell is None for cell in record["beforeImages"]] for record in records] == [
        [True, True, True],
        [True, True, True],
        [False, True, True],
    ]


def test_what_is_blank() -> None:
    for source, types, database in (("oracle", {}, ""), ("sqlserver", {}, "shop")):
        table = table_of("t", {"id": "int"}, ["id"], source=source)
        case = Case("insert", (Rows(INSERT, table, [["1"]]),), AT, source)
        (message,) = values("drs-json", case, source)
        assert (message["columnType"], message["database"]) == (types, database)
        (message,) = values("drs-json,blank_as=null", case, source)
        assert (message["columnType"], message["database"]) == (None, database or None)
        assert len(message["sqlType"]) == 1


def test_large_objects_of_deleted_rows_of_sql_server() -> None:
    table = table_of("t", {"id": "int", "i": "image", "t": "text", "v": "varchar(9)"}, ["id"], source="sqlserver")
    row = ["1", "0x00", "x", "y"]
    case = Case("rows", (Rows(INSERT, table, [row]), Rows(DELETE, table, [row])), AT, "sqlserver")
    inserted, deleted = values("drs-json", case, "sqlserver")
    assert inserted["data"] == [{"i": "[0]", "t": "x", "v": "y", "id": "1"}]
    assert deleted["old"] == [{"i": None, "t": None, "v": "y", "id": "1"}]
    record = parse("drs-avro", messages_of("drs-avro", "sqlserver", block_of(case))[1].value or b"")
    assert [cell is None for cell in record["beforeImages"]] == [False, True, True, False]


# What DRS never sends of a source, and the options that would ask for it.
NEVER: Final = {
    "postgresql": {"full sync": "full_sync"},
    "sqlserver": {"full sync": "full_sync"},
    "gaussdb": {"full sync": "full_sync"},
    "mongodb": {"full sync": "full_sync"},
    "oracle": {},
    "mysql": {},
}


@each(NEVER.items())
def test_ddl_and_full_loads_that_drs_does_not_send_of_a_source(source: str, asked: dict[str, str]) -> None:
    """Refused where an option asks for them; a run that meets them counts them as not sent (`test_statements`)."""
    kinds = {m.kind.name for m in messages("crud", "drs-json", source=source, limit=5, snapshot=True)}
    assert ("READ" in kinds) == (source == "mysql")
    events = events_of(find_format("drs-json"), find(source))
    assert {name for name in ("full sync", "DDL") if events[name] == "no"} == set(asked)
    for option in asked.values():
        with pytest.raises(OptionError, match=f"{option}=on: it has no effect on {source}; it is for"):
            open_codec(f"drs-json,{option}=on", find(source))


def test_a_distributed_gaussdb_sends_no_ddl() -> None:
    with pytest.raises(OptionError, match="it has no effect with gaussdb=distributed"):
        open_codec("drs-json,sync_ddl=on,gaussdb=distributed", find("gaussdb"))


def test_the_time_of_the_commit_before() -> None:
    """PostgreSQL's `es` is that of the transaction before, at any place of a stream."""
    own = [json.loads(m.value or b"")["es"] for m in messages("crud", "drs-json", source="oracle", limit=3_000)]
    before = [json.loads(m.value or b"")["es"] for m in messages("crud", "drs-json", source="postgresql", limit=3_000)]
    later = messages("crud", "drs-json", source="postgresql", limit=1_000, start_at=2_000)
    assert before[1:] == own[:-1]
    assert before[0] <= own[0]
    assert [json.loads(m.value or b"")["es"] for m in later] == before[2_000:]


# ------------------------------------------------------------------------------------------------ vectors, rules, codes

SMALL: Final = table_of(
    "t1", {"id": "int", "name": "varchar(40)", "ts6": "timestamp(6)", "bin": "varbinary(8)"}, ["id"]
)
# A row as Gson 2.11 writes it, its nulls too.
INSERTED: Final = (
    rb'{"mysqlType":{"ts6":"timestamp","bin":"varbinary","name":"varchar","id":"int"},"id":11,"es":1700000000000,'
    rb'"ts":1700000000123,"database":"shop","table":"t1","type":"INSERT","isDdl":false,"sql":"",'
    rb'"sqlType":{"ts6":93,"bin":-3,"name":12,"id":4},"data":[{"ts6":"1700000000.123456","bin":"[0, 127, -128]",'
    rb'"name":"a\u003cb\u003e \u0026 c\u003d\u0027d\u0027","id":"1"}],"old":null,"pkNames":["id"]}'
)


def test_escapes_epochs_and_signed_bytes() -> None:
    row = ["1", "a<b> & c='d'", "2023-11-14 22:13:20.123456", "x'007f80'"]
    assert one("drs-json", Case("insert", (Rows(INSERT, SMALL, [row]),), AT)).value == INSERTED


def test_where_a_deleted_row_is() -> None:
    case = Case("delete", (Rows(DELETE, SMALL, [["2", None, "2023-11-14 22:13:20.99", ""]]),), AT)
    (plain,), (canal,) = values("drs-json", case), values("drs-json-c", case)
    assert (plain["data"], plain["old"]) == (None, [{"ts6": "1700000000.990000", "bin": "[]", "name": None, "id": "2"}])
    assert (canal["data"], canal["old"]) == (
        [{"ts6": "2023-11-15 06:13:20", "bin": "[]", "name": None, "id": "2"}],
        None,
    )


def test_every_type_has_its_code() -> None:
    assert set(codes("mysql")) == set(MYSQL.types)


def test_rows_of_the_full_load_come_after_their_table() -> None:
    found = [json.loads(m.value or b"") for m in messages("tour", "drs-json", limit=1, snapshot=True)]
    kinds = [(message["type"], message["table"]) for message in found]
    assert kinds[:5] == [
        ("INIT_DDL", ""),
        ("INIT", "customers"),
        ("INIT", "customers"),
        ("INIT_DDL", ""),
        ("INIT", "orders"),
    ]
    assert found[0]["sql"].startswith("CREATE TABLE customers (")
    assert found[0]["isDdl"] is True
    ids = [message["id"] for message in found]
    assert ids == sorted(set(ids))
    # other products send no such statement
    assert all(m.kind.name != "DDL" for m in messages("tour", "dts-canal-json", limit=1, snapshot=True))


# -------------------------------------------------------------------------------------------------- topics, partitions

SEVERAL: Final = Case("rows", (Rows(INSERT, SMALL, [[str(n), None, None, f"x'{n:02x}'"] for n in range(1, 4)]),), AT)
STATEMENT: Final = Case("ddl", (Ddl(SchemaChangeKind.TRUNCATE_TABLE, "truncate table t1", SMALL, SMALL),), AT)


@pytest.mark.parametrize(
    ("options", "route", "keys", "topic"),
    [
        ("", None, [b"1", b"2", b"3"], "drs"),
        ("", "key", [b"1", b"2", b"3"], "drs"),
        ("", "table", [b"shop.t1"] * 3, "drs"),
        ("", "schema", [b"shop"] * 3, "drs"),
        ("", "columns:bin,name", [b"[1],null", b"[2],null", b"[3],null"], "drs"),
        (",topic_policy=table", "single", [b"shop.t1"] * 3, "shop-t1"),
        (",topic_policy=table,topic_name_format=cdc.$tablename$", None, [b"1", b"2", b"3"], "cdc.t1"),
        (",topic_policy=table,topic_name_format=x_$database$_$tablename$_y", None, [b"1", b"2", b"3"], "x_shop_t1_y"),
    ],
)
@pytest.mark.parametrize("format", ["drs-json", "drs-json-c", "drs-avro"])
def test_keys_and_partitions(format: str, options: str, route: str | None, keys: list[bytes], topic: str) -> None:
    found = messages_of(format + options, "mysql-8.0", block_of(SEVERAL), route=route, partitions=5)
    assert [(m.key, m.topic) for m in found] == [(key, topic) for key in keys]
    expected = [0 if route == "single" else kafka_partition(key, 5) for key in keys]
    assert [m.partition for m in found] == expected


@each([("", "drs"), (",topic_policy=table", "shop"), (",topic_policy=table,ddl_topic=changes", "changes")])
def test_ddl_is_filed_under_its_database(options: str, topic: str) -> None:
    message = one(f"drs-json{options}", STATEMENT, partitions=5)
    assert (message.topic, message.partition, message.key) == (topic, 0, b"shop")


def test_what_drs_does_not_offer() -> None:
    with pytest.raises(OptionError, match=r"topic_policy=schema: for mysql-8[.]0 DRS offers single, table"):
        codec_of("drs-json,topic_policy=schema")
    with pytest.raises(OptionError, match="topic_name_format: with topic_policy=single there is one topic"):
        codec_of("drs-json,topic_name_format=$tablename$")
    with pytest.raises(UsageError, match="--route single: the product's policies are key, table, schema, columns"):
        messages_of("drs-json", "mysql-8.0", block_of(SEVERAL), route="single")
    with pytest.raises(UsageError, match="--route table: the product's policies are key, single, columns"):
        messages_of("drs-json,topic_policy=table", "mysql-8.0", block_of(SEVERAL), route="table")
    with pytest.raises(OptionError, match=r"topic_name_format: mysql-8[.]0 has no schemas, so no [$]schema[$]"):
        codec_of("drs-json,topic_policy=table,topic_name_format=$schema$")


@each(
    [
        ("drs-json-c", "mariadb", "DRS JSON-C, reads mysql, not mariadb; --allow"),
        ("drs-json-c", "oracle", "reads mysql, not oracle, of which it writes drs-avro, drs-json; --allow"),
        ("drs-json-c", "mongodb", "reads mysql, not mongodb, of which it writes drs-json; --allow"),
        ("drs-avro", "mongodb", "sqlserver, not mongodb, of which it writes drs-json; --allow"),
        ("drs-json", "oceanbase-oracle", "sqlserver, not oceanbase-oracle; --allow"),
    ]
)
def test_what_drs_offers_of_a_source(format: str, source: str, sentence: str) -> None:
    with pytest.raises(NotOffered, match=re.escape(sentence)):
        open_codec(format, find(source))


@each(["drs-avro", "drs-json-c"])
def test_documents_have_no_columns(format: str) -> None:
    with pytest.raises(NotOffered, match=f"^-f {format}: DRS .*; drs-json has "):
        open_codec(format, find("mongodb"), allow_undocumented=True)


@each(
    [
        *(("drs-json-c", id) for id in ("oracle", "postgresql", "gaussdb", "sqlserver")),
        *((format, id) for format in ("drs-json", "drs-json-c", "drs-avro") for id in ("mariadb", "oceanbase-mysql")),
        ("drs-json", "oceanbase-oracle"),
        ("drs-avro", "oceanbase-oracle"),
    ]
)
def test_other_sources_if_somebody_insists(format: str, id: str) -> None:
    source = find(id)
    table = Table(source.table_id("shop", "T"), (Column("ID", source.from_portable("int32"), nullable=False),), ("ID",))
    codec = open_codec(format, source, allow_undocumented=True)
    for kind in (INSERT, DELETE):
        (value,) = encoded(codec, batch_of(table, kind, [["1"]], source=id))
        message = parse(format, value)
        if format == "drs-json-c":
            assert (message["database"], message["data"], message["old"]) == (
                "SHOP" if id == "oracle" else "shop",
                [{"ID": "1"}],
                None,
            )
            assert list(message)[:2] == ["mysqlType", "id"]


def test_databases_of_oracle_come_and_go_unheard() -> None:
    """DRS knows statements about its tables only."""
    statements = [Ddl(kind, "…") for kind in (SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE)]
    assert messages_of("drs-json", "oracle-19c", block_of(Case("ddl", tuple(statements), AT, "oracle"))) == []


@each(["drs-json", "drs-json-c", "drs-avro"])
def test_an_update_of_the_key_can_be_split(format: str) -> None:
    case = Case("update", (Rows(UPDATE, SMALL, [["2", None, None, None]], [["1", None, None, None]]),), AT)
    assert [m.kind for m in messages_of(format, "mysql-8.0", block_of(case))] == [UPDATE]
    halves = messages_of(f"{format},pk_update=split", "mysql-8.0", block_of(case))
    assert [(m.kind, m.key) for m in halves] == [(DELETE, b"1"), (INSERT, b"2")]


@pytest.mark.parametrize(
    ("source", "id", "column", "problem"),
    [
        ("mysql", ("shop", "订单"), "c", "table '订单' holds '订'"),
        ("mysql", ("sh/op", "t"), "c", "database 'sh/op' holds '/'"),
        ("oracle", ("shop", "T!"), "C", "table 'T!' holds '!'"),
        ("postgresql", ("shop", "t", "a<b"), "c", "schema 'a<b' holds '<'"),
        ("postgresql", ("shop", "t"), "it's", 'column "it\'s" holds "\'"'),
        ("gaussdb", ("shop", "a,b"), "c", "table 'a,b' holds ','"),
        ("sqlserver", ("shop", "a b"), "c", "table 'a b' holds ' '"),
        ("mongodb", ("my shop", "t"), "c", "database 'my shop' holds ' '"),
        ("mongodb", ("shop", "system.t"), "c", "table 'system.t' holds 'system.'"),
    ],
)
def test_names_that_drs_refuses(source: str, id: tuple[str, ...], column: str, problem: str) -> None:
    """The same names with a character less are taken."""
    system = find(source)
    type = "string" if source == "mongodb" else "char(1)"
    for names, wrong in ((id, True), (("shop", "T_1"), column != "c" and source == "postgresql")):
        table = table_of(names[1], {"_id": type, column: type}, ["_id"], database=names[0], source=source)
        table = replace(table, id=replace(table.id, schema=names[2] if len(names) > 2 else table.id.schema))
        case = Case("insert", (Rows(INSERT, table, [["1", "x"]]),), AT, source)
        if wrong:
            with pytest.raises(
                NotOffered, match=re.escape(f"the {problem}, which DRS refuses in names of {system.title}")
            ):
                messages_of("drs-json", source, block_of(case))
        else:
            messages_of("drs-json", source, block_of(case))


def test_the_vendors_names_of_sources() -> None:
    assert (str(find("taurusdb")), str(find("dds"))) == ("mysql-8.0", "mongodb-6.0")
    assert open_codec("drs-json_c", find("gaussdb-mysql")).format.id == "drs-json-c"


def test_the_partition_policy_as_an_option() -> None:
    block = block_of(SEVERAL)
    for theirs, ours in (("0", "table"), ("2", "key"), ("3", "schema")):
        assert messages_of(f"drs-json,partition_policy={theirs}", "mysql-8.0", block, partitions=5) == messages_of(
            "drs-json", "mysql-8.0", block, route=ours, partitions=5
        )
    with pytest.raises(
        OptionError, match="partition_policy=1: with topic_policy=single DRS offers 0, 2, 3, 5 for mysql"
    ):
        codec_of("drs-json,partition_policy=1")
    with pytest.raises(UsageError, match="--route table: the product's policies are key"):
        messages_of("drs-json,partition_policy=2", "mysql-8.0", block, route="table")
    with pytest.raises(UsageError, match="--route columns: write the columns after a colon"):
        messages_of("drs-json,partition_policy=5", "mysql-8.0", block)
    assert messages_of("drs-json,partition_policy=5", "mysql-8.0", block, route="columns:name")


def test_the_vendors_numbers_of_policies() -> None:
    for theirs, ours in (("0", "single"), ("1", "table")):
        codecs = [codec_of(f"drs-json,topic_policy={policy}") for policy in (theirs, ours)]
        assert codecs[0].layout.routing.topics == codecs[1].layout.routing.topics
    block = block_of(SEVERAL)
    for theirs, ours in (("0", "table"), ("2", "key"), ("5:name", "columns:name")):
        first, second = (
            messages_of("drs-json", "mysql-8.0", block, route=each, partitions=5) for each in (theirs, ours)
        )
        assert first == second


def test_key_columns_that_are_left_out_are_not_in_the_key() -> None:
    table = table_of("T", {"ID": "NUMBER(10)", "R": "RAW(4)"}, ["ID", "R"], source="oracle")
    case = Case("", (Rows(INSERT, table, [["1", "00FF"]]),), AT, "oracle")
    for options, names, key in (("", ["ID"], "1"), (",raw=send", ["ID", "R"], "1,[48, 48, 70, 70]")):
        (message,) = messages_of(f"drs-json{options}", "oracle-19c", block_of(case), route="key", partitions=5)
        assert json.loads(message.value or b"")["pkNames"] == names
        assert message.key == key.encode()


def test_topics_of_oracle_have_no_database() -> None:
    for policy, topic in (
        ("table", "{schema}-{table}"),
        ("schema", "{schema}"),
        ("database", "{schema}"),
        ("table,topic_name_format=x.$database$.$tablename$", "x.{table}"),
        ("table,topic_name_format=$tablename$-$database$", "{table}"),
    ):
        assert codec_of(f"drs-json,topic_policy={policy}", "oracle").layout.routing.topics.pattern == topic


@pytest.mark.parametrize(
    ("statement", "database"),
    [
        ("rename table a to e.b", "d"),
        ("create table e.yy (id int)", "d"),
        ("alter table e.c add x int", "d"),
        ("drop database e", "e"),
    ],
)
def test_ddl_of_mysql_is_filed_under_the_database_that_it_names(tmp_path: Path, statement: str, database: str) -> None:
    """The session's, also where a table is in another one; the topic and the key have it, too."""
    script = tmp_path / "ddl.sql"
    tables = "create table a (id int); create table e.c (id int);"
    script.write_text(f"create database d; create database e; use d; {tables} {statement};")
    *_, last = messages(str(script), "drs-json,topic_policy=table")
    assert (json.loads(last.value or b"")["database"], last.key, last.topic) == (database, database.encode(), database)


@each(["postgresql-16", "sqlserver-2022"])
def test_ddl_of_other_sources_can_be_asked_for(source: str) -> None:
    """The pages say that DRS does not synchronise it; the layout has it."""
    table = table_of("t", {"id": samples_of(source).plain}, ["id"], source=source)
    case = Case("ddl", (Ddl(SchemaChangeKind.TRUNCATE_TABLE, "TRUNCATE TABLE t", table, table),), source=source)
    assert messages_of("drs-json", source, block_of(case)) == []
    for format in ("drs-json", "drs-avro"):
        (message,) = messages_of(f"{format},sync_ddl=on", source, block_of(case))
        value = parse(format, message.value or b"")
        assert (value["operation"] if format == "drs-avro" else value["type"]) == "DDL"
        assert message.key == b"shop" + (f".{table.id.schema}".encode() if table.id.schema else b"")


def test_the_run_says_which_columns_are_left_out(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "source: oracle\n"
        "tables: {t: {columns: {id: {type: NUMBER(10)}, c: {type: CLOB}, r: {type: RAW(4)}}, key: id}}\n"
        "script: [{transaction: [{insert: t, rows: [{id: 1}]}]}]\n"
    )
    for options, unsent in (("", ["ORCL.SHOP.T.C", "ORCL.SHOP.T.R"]), (",raw=send", ["ORCL.SHOP.T.C"])):
        assert unsent_columns(open_job(str(scenario), f"drs-json{options}")) == unsent


def test_json_of_oracle_21c_is_left_out() -> None:
    job = open_job("tour", "drs-json", source="oracle-21c")
    assert "ORCL.SHOP.LIMITS.DOCUMENT" in unsent_columns(job)
    assert len(list(messages("tour", "drs-json", source="oracle-21c", limit=50))) > 20


def test_a_full_load_has_tables_without_rows() -> None:
    script = (
        "tables: {a: {key: id, columns: {id: int32}}, b: {key: id, columns: {id: int32}}, c: {columns: {id: int32}}}\n"
        "script: [{snapshot: {table: b, rows: [{id: 1}]}}, {transaction: [{insert: a, rows: [{id: 2}]}]}]\n"
    )
    found = [json.loads(m.value or b"") for m in messages(script, "drs-json", snapshot=True)]
    assert [message["sql"].partition(" (")[0] or message["type"] for message in found] == [
        "CREATE TABLE a",
        "CREATE TABLE b",
        "INIT",
        "CREATE TABLE c",
        "INSERT",
    ]
    assert [message["id"] for message in found] == sorted({message["id"] for message in found})


@pytest.mark.parametrize("source", ["mysql-8.0", "mysql-5.7"])
def test_a_full_load_has_the_text_of_its_tables(source: str, tmp_path: Path) -> None:
    """As SHOW CREATE TABLE prints it, so it makes the same table again."""

    def text(statement: str) -> str:
        script = tmp_path / "script.sql"
        script.write_text(f"create database s; use s; {statement};\n-- @snapshot\ncreate table z (i int);\n")
        first, *_ = (json.loads(m.value or b"") for m in messages(str(script), "drs-json", source=source))
        assert first["type"] == "INIT_DDL"
        return str(first["sql"])

    typed = (
        "create table t (id int unsigned auto_increment primary key, n varchar(9) default 'x' collate latin1_bin, "
        "d decimal(8,2) default 1.5, ts timestamp(3) default now(3) on update now(3), j json, b text, "
        "e enum('a','b') not null, g int unsigned generated always as (1+1) stored, unique key uk (n, e), "
        "key k (n(3)), constraint up foreign key (g) references t (id) on delete cascade) default charset latin1"
    )
    printed = text(typed)
    assert printed == (
        "CREATE TABLE `t` (\n"
        f"  `id` int{'' if source == 'mysql-8.0' else '(10)'} unsigned NOT NULL AUTO_INCREMENT,\n"
        f"  `n` varchar(9) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'x',\n"
        "  `d` decimal(8,2) DEFAULT '1.50',\n"
        f"  `ts` timestamp(3) {'NULL' if source == 'mysql-8.0' else 'NOT NULL'} DEFAULT CURRENT_TIMESTAMP(3)"
        " ON UPDATE CURRENT_TIMESTAMP(3),\n"
        "  `j` json DEFAULT NULL,\n"
        "  `b` text,\n"
        "  `e` enum('a','b') NOT NULL,\n"
        f"  `g` int{'' if source == 'mysql-8.0' else '(10)'} unsigned GENERATED ALWAYS AS (1+1) STORED,\n"
        "  PRIMARY KEY (`id`),\n"
        "  UNIQUE KEY `uk` (`n`,`e`),\n"
        "  KEY `k` (`n`(3)),\n"
        "  CONSTRAINT `up` FOREIGN KEY (`g`) REFERENCES `t` (`id`) ON DELETE CASCADE\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=latin1"
    )
    assert text(printed) == printed
