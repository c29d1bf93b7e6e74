"""The three formats of DTS: the page's examples of SharePlex JSON, ids, delivery, and sources that are not offered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from building import Case, Ddl, Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of, refused, samples_of
from each import each

from simulator.errors import DeliveryFailed, NotOffered
from simulator.formats import open_codec
from simulator.model import DDL, DELETE, INSERT, UPDATE, SchemaChangeKind
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.sources import find
from simulator.truth.decoders import parse

# ------------------------------------------------------------------------------------------------- what is not offered

FORMATS: Final = ["dts-avro", "dts-canal-json", "dts-shareplex-json"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("source", ["gaussdb", "oceanbase-mysql", "oceanbase-oracle", "mongodb"])
def test_other_sources_are_refused_by_what_is_offered(format: str, source: str) -> None:
    if (format, source) == ("dts-avro", "mongodb"):
        return
    offered = "mariadb, (mongodb, )?mysql, oracle, postgresql, sqlserver"
    hint = ", of which it writes dts-avro" if source == "mongodb" else ""
    with pytest.raises(NotOffered, match=f"^-f {format}: Alibaba Cloud DTS, .* reads {offered}, not {source}{hint};"):
        open_codec(format, find(source))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("source", ["gaussdb-505", "oceanbase-mysql-4.3", "oceanbase-oracle-4.3", "mongodb-6.0"])
def test_undocumented_sources_are_written_or_refused_by_type(format: str, source: str) -> None:
    types = {f"c{number}": text for number, text in enumerate(samples_of(source).types)}
    whole = table_of("t", {"id": samples_of(source).plain, **types}, ["id"], source=source)
    lost = refused(format, source, whole.columns[1:])
    if source.startswith("mongodb") and format != "dts-avro":
        assert len(lost) == len(types)
        return
    assert len(types) - len(lost) > 5 * len(lost)
    table = replace(whole, columns=tuple(column for column in whole.columns if column not in lost))
    values = [find(source).boundary_values(column.type) for column in table.columns[1:]]
    rows = [
        [str(number + 1), *(each[number % len(each)] for each in values)] for number in range(max(map(len, values)))
    ]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=source)
    for value in encoded(codec_of(format, source), batch):
        parse(format, value)


# ------------------------------------------------------------------------------------------------------------ delivery


@each(FORMATS)
def test_a_message_of_more_than_ten_megabytes_is_refused(format: str) -> None:
    table = table_of("t", {"id": "int", "c": "longtext"}, ["id"])
    fits, room = ["1", "x" * 1000], 10 << 20
    (value,) = encoded(codec_of(format), batch_of(table, INSERT, [fits]))
    longest = room - len(value) + 1000
    if format == "dts-avro":
        longest -= 2  # of the longer text's length
    (value,) = encoded(codec_of(format), batch_of(table, INSERT, [["1", "x" * longest]]))
    assert len(value) == room
    with pytest.raises(DeliveryFailed, match=rf"^-f {format}: a message about shop[.]t has 10,485,761 bytes, and .*"):
        encoded(codec_of(format), batch_of(table, INSERT, [["1", "x" * (longest + 1)]]))


@each(["mysql", "oracle"])
def test_ids_of_timestamp_and_offset_rise(source: str) -> None:
    job = open_job("orders", "dts-canal-json,id_style=ts_offset", source=source)
    with MemorySink() as sink:
        local_run(job, sink, limits=Limits(0, 3000))()
        found = [json.loads(value) for value in sink.values()]
    ids = [message["id"] for message in found if message["type"] != "INIT"]
    assert len(ids) > 2900
    assert all(before < after for before, after in pairwise(ids))
    assert max(ids) < 1 << 63
    assert all(message["id"] // 10**9 * 1000 == message["es"] for message in found if message["type"] != "INIT")


@each(["dts-avro", "dts-canal-json", "dts-shareplex-json,ddl=on"])
def test_statements_may_have_a_topic_of_their_own(format: str) -> None:
    (case,) = [case for case in cases_of("mysql-8.0") if case.name == "add column"]
    (row,) = [case for case in cases_of("mysql-8.0") if case.name == "insert"]
    text = f"{format},ddl_topic=statements"
    assert {message.topic for message in messages_of(text, "mysql-8.0", block_of(case))} == {"statements"}
    assert {message.topic for message in messages_of(text, "mysql-8.0", block_of(row))} == {"dts"}
    assert {message.topic for message in messages_of(format, "mysql-8.0", block_of(case))} == {"dts"}


@each(FORMATS)
def test_ddl_can_be_left_out(format: str) -> None:
    (case,) = [case for case in cases_of("mysql-8.0") if case.name == "add column"]
    assert messages_of(f"{format},ddl=on", "mysql-8.0", block_of(case))
    assert messages_of(f"{format},ddl=off", "mysql-8.0", block_of(case)) == []


def test_a_rename_goes_where_either_name_leads() -> None:
    """The table policy: the statement is behind the rows of the old name and before those of the new one."""
    old, new = (table_of(name, {"id": "int"}, ["id"]) for name in ("t1", "t3"))
    rename = Ddl(SchemaChangeKind.RENAME_TABLE, "rename table t1 to t3", old, new)
    block = block_of(Case("x", (Rows(INSERT, old, [["1"]]), rename, Rows(INSERT, new, [["2"]]))))
    made = messages_of("dts-canal-json,kafka_key=partition_key", "mysql-8.0", block, route="table", partitions=24)
    assert [json.loads(message.value or b"")["table"] for message in made] == ["t1", "t1", "t1", "t3"]
    assert [message.key for message in made] == [b"shop.t1", b"shop.t1", b"shop.t1", b"shop.t3"]
    assert made[0].partition == made[1].partition != made[2].partition == made[3].partition


def test_each_table_of_a_statement_is_named_where_its_rows_are() -> None:
    x1, x2, y1, y2 = (table_of(name, {"id": "int"}, ["id"]) for name in ("x1", "x2", "y1", "y2"))
    drop = Ddl(SchemaChangeKind.DROP_TABLE, "DROP TABLE `x1`,`x2`", x1, None, more=((x2, None),))
    rename = Ddl(SchemaChangeKind.RENAME_TABLE, "rename table x1 to y1, x2 to y2", x1, y1, more=((x2, y2),))
    rows = [Rows(INSERT, table, [["1"]]) for table in (x1, x2)]
    for statement in (drop, rename):
        made = messages_of(
            "dts-canal-json", "mysql-8.0", block_of(Case("x", (*rows, statement))), route="table", partitions=97
        )
        places = {json.loads(m.value or b"")["table"]: m.partition for m in made if m.kind is INSERT}
        named = {m.partition: json.loads(m.value or b"")["table"] for m in made if m.kind is DDL}
        assert {named[partition]: partition for partition in places.values()} == places


@each(FORMATS)
def test_rows_without_a_key_have_no_message_key(format: str) -> None:
    rows = Rows(INSERT, table_of("t", {"a": "int"}), [["1"]])
    (message,) = messages_of(f"{format},kafka_key=partition_key", "mysql-8.0", block_of(Case("x", (rows,))))
    assert (message.key, message.partition) == (None, 0)


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


@each(
    [
        (
            UPDATE,
            PAGE_UPDATE,
            "CNTR_NO",
            ["32537893", "31557806", None, None, "1171201606"],
            [["32537893", "31557806", None, None, "1171201606syui26"]],
        ),
        (DELETE, PAGE_DELETE, "CG_NO", ["32539739", "31557806", None, None, None], None),
    ]
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
        local_run(open_job("orders", "dts-shareplex-json", source="oracle"), sink, limits=Limits(0, 2000))()
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


def test_a_delete_with_its_null_members() -> None:
    """A message of Canal JSON with everything that the page's text lists."""
    table = table_of("item", {"id": "bigint", "name": "varchar(9)"}, ["id"])
    batch = batch_of(table, DELETE, [["7", None]], event_ms=1_700_000_000_123, write_ms=1_700_000_000_412)
    (value,) = encoded(codec_of("dts-canal-json,null_members=null"), batch)
    ours = re.sub(r'"id":\d+,"isDdl"', '"id":101,"isDdl"', value.decode())
    assert ours == (
        '{"data":[{"id":"7","name":null}],"database":"shop","es":1700000000000,"gtid":null,"id":101,"isDdl":false,'
        '"mysqlType":{"id":"bigint","name":"varchar"},"old":null,"pkNames":["id"],"sql":"",'
        '"sqlType":{"id":-5,"name":12},"table":"item","ts":1700000000412,"type":"DELETE"}'
    )


def test_an_update_of_an_oracle_row() -> None:
    """A message of SharePlex JSON with all members of meta; its ids are ours."""
    columns = {"ID": "NUMBER(9)", "PRICE": "NUMBER(9,2)", "NOTE": "VARCHAR2(9)"}
    table = table_of("ITEM", columns, ["ID"], source="oracle")
    ms = milliseconds("2024-03-01T08:00:00")
    batch = batch_of(
        table, UPDATE, [["7", "12.5", None]], [["7", "10", None]], source="oracle", event_ms=ms, write_ms=ms + 1000
    )
    (value,) = encoded(codec_of("dts-shareplex-json", "oracle-19c"), batch)
    ours = value.decode()
    for name, text in (("scn", "14589063118712"), ("rowid", "AAATGpAAIAAItcIAAA"), ("trans", "7.0.411499")):
        ours, found = re.subn(f'"{name}":"[^"]+"', f'"{name}":"{text}"', ours)
        assert found == 1
    assert ours == (
        '{"meta":{"time":"2024-03-01T08:00:00","userid":84,"op":"upd","scn":"14589063118712",'
        '"rowid":"AAATGpAAIAAItcIAAA","trans":"7.0.411499","seq":1,"size":1,"table":"SHOP.ITEM","idx":"1/1",'
        '"posttime":"2024-03-01T08:00:01"},"data":{"PRICE":"12.5"},'
        '"key":{"ID":"7","PRICE":"10","NOTE":null}}'
    )


@each([SchemaChangeKind.DROP_COLUMN, SchemaChangeKind.TRUNCATE_TABLE, SchemaChangeKind.ADD_COLUMN])
def test_ddl_of_shareplex_says_its_statement(kind: SchemaChangeKind) -> None:
    """The page has a word for two kinds, and no sample: without the text the dropped column's name would be lost."""
    table = table_of("t", {"id": "int"}, ["id"])
    block = block_of(Case("x", (Ddl(kind, "alter table t …", table, table),)))
    (message,) = messages_of("dts-shareplex-json,ddl=on", "mysql-8.0", block)
    assert json.loads(message.value or b"")["data"] == {"sql": "alter table t …"}
