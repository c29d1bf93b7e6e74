"""Huawei Cloud DRS: the samples of the vendor's page, made of the rows they describe; what no golden singles out."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

import fastavro
import pytest
from building import Case, Ddl, Rows, Times, block_of, codec_of, messages_of, table_of
from decoding import decode

from simulator.api import messages
from simulator.errors import NotOffered, OptionError, UsageError
from simulator.formats import drs_record
from simulator.formats.drs_mysql import CODES
from simulator.model import DELETE, INSERT, UPDATE, Message, SchemaChangeKind
from simulator.sources import mysql


def compact(text: str) -> bytes:
    """A sample without the white space between its values, in the order in which its names are printed."""
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False).encode()


def sample(name: str) -> str:
    """A sample as the page prints it: "Kafka Message Format", 2024-03-28."""
    return (Path(__file__).parent / "samples" / "drs" / f"{name}.json").read_text(encoding="utf-8")


def one(format: str, case: Case, source: str = "mysql-8.0", **how: Any) -> Message:
    (message,) = messages_of(format, source, block_of(case), **how)
    return message


def values(format: str, case: Case, source: str = "mysql-8.0", **how: Any) -> list[dict[str, Any]]:
    return [json.loads(message.value or b"") for message in messages_of(format, source, block_of(case), **how)]


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


# ------------------------------------------------------------------------------------------------ vectors, rules, codes

SMALL: Final = table_of(
    "t1", {"id": "int", "name": "varchar(40)", "ts6": "timestamp(6)", "bin": "varbinary(8)"}, ["id"]
)
AT: Final = Times(offset=11, event_ms=1_700_000_000_000, write_ms=1_700_000_000_123)
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
    assert set(CODES) == set(mysql.TYPES)


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
    ],
)
@pytest.mark.parametrize("format", ["drs-json", "drs-json-c", "drs-avro"])
def test_keys_and_partitions(format: str, options: str, route: str | None, keys: list[bytes], topic: str) -> None:
    found = messages_of(format + options, "mysql-8.0", block_of(SEVERAL), route=route, partitions=5)
    assert [(m.key, m.topic) for m in found] == [(key, topic) for key in keys]
    expected = [0 if route == "single" else kafka_partition(key, 5) for key in keys]
    assert [m.partition for m in found] == expected


def kafka_partition(key: bytes, count: int) -> int:
    """Kafka's default partitioner, one step after the other."""
    h = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        k = word * 0x5BD1E995 & 0xFFFFFFFF
        k = (k ^ k >> 24) * 0x5BD1E995 & 0xFFFFFFFF
        h = (h * 0x5BD1E995 & 0xFFFFFFFF) ^ k
    if key[whole:]:
        h = (h ^ int.from_bytes(key[whole:], "little")) * 0x5BD1E995 & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0x5BD1E995 & 0xFFFFFFFF
    return ((h ^ h >> 15) & 0x7FFFFFFF) % count


@pytest.mark.parametrize(
    ("options", "topic"),
    [("", "drs"), (",topic_policy=table", "shop"), (",topic_policy=table,ddl_topic=changes", "changes")],
)
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
    with pytest.raises(NotOffered, match="DRS JSON-C, reads mysql, not mariadb"):
        codec_of("drs-json-c", "mariadb")


# ---------------------------------------------------------------------------------------------------------------- Avro

# The smallest record, made by the Avro library of Java.
SMALLEST: Final = bytes.fromhex(
    "c3014e9ea30940ac78cc027602040265060202740c494e5345525402020204696408000002020208023100"
)


def test_the_fingerprint_and_a_record_of_another_writer() -> None:
    canonical = fastavro.schema.to_parsing_canonical_form(json.loads(drs_record.schema()))
    assert int(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"), 16).to_bytes(8, "big").hex() == "4e9ea30940ac78cc"
    assert SMALLEST.startswith(drs_record.FRAME)
    record = decode("drs-avro", SMALLEST)
    assert record["afterImages"] == [(f"{NAMES}.Integer", {"precision": 4, "value": "1"})]
    assert (record["tableName"], record["operation"], record["beforeImages"]) == ("t", "INSERT", None)


NAMES: Final = "com.huawei.hwclouds.drs.avro"
MANY: Final = table_of(
    "many",
    {
        "id": "int",
        "t": "tinyint",
        "y": "year",
        "d": "decimal(10,2)",
        "f": "float(7,2)",
        "g": "float",
        "ts": "timestamp(6)",
        "dt": "datetime(3)",
        "da": "date",
        "tm": "time",
        "b": "bit(9)",
        "bi": "binary(4)",
        "s": "set('a','b')",
        "p": "point",
    },
    ["id"],
)


def test_classes_of_values() -> None:
    row = [
        "7", "-1", "2024", "1.5", "2.25", "3.14", "1970-01-02 00:00:00.123999", "2024-02-29 01:02:03.5", "2024-02-29",
        "-01:02:03", "b'100000001'", "x'6100'", "a,b", "POINT(1 2)",
    ]  # fmt: skip
    message = one("drs-avro", Case("insert", (Rows(INSERT, MANY, [row]),), AT))  # fmt: skip
    record = decode("drs-avro", message.value or b"")
    point = struct.pack("<IBIdd", 0, 1, 1, 1.0, 2.0)
    expected = [
        ("Integer", {"precision": 4, "value": "7"}),
        ("Integer", {"precision": 1, "value": "-1"}),
        ("Integer", {"precision": 1, "value": "2024"}),
        ("Decimal", {"value": "1.50", "precision": 10, "scale": 2}),
        ("Float", {"value": 2.25, "precision": 7, "scale": 2}),
        ("Float", {"value": 3.140000104904175, "precision": 0, "scale": 0}),
        ("Timestamp", {"timestamp": 86400, "millis": 123}),
        ("Date", {"value": "2024-02-29 01:02:03.500"}),
        ("Date", {"value": "2024-02-29"}),
        ("Date", {"value": "-01:02:03"}),
        ("Bit", {"precision": 9, "value": "257"}),
        ("BinaryObject", {"type": "binary", "value": b"a"}),
        ("Character", {"charset": "utf8", "value": b"a,b"}),
        ("BinaryObject", {"type": "point", "value": point}),
    ]
    assert record["afterImages"] == [(f"{NAMES}.{name}", fields) for name, fields in expected]
    assert record["columnCount"] == len(record["fields"]) == len(expected)
    nulls = one("drs-avro", Case("insert", (Rows(INSERT, MANY, [{"id": "7"}]),), AT))
    assert decode("drs-avro", nulls.value or b"")["afterImages"][1:] == [None] * (len(expected) - 1)


def test_a_statement_in_avro() -> None:
    record = decode("drs-avro", one("drs-avro", STATEMENT).value or b"")
    assert (record["operation"], record["fields"], record["tableName"], record["columnCount"]) == ("DDL", None, None, 0)
    assert record["afterImages"] == [(f"{NAMES}.Character", {"charset": "utf8", "value": b"truncate table t1"})]


@pytest.mark.parametrize("format", ["drs-json", "drs-json-c", "drs-avro"])
def test_an_update_of_the_key_can_be_split(format: str) -> None:
    case = Case("update", (Rows(UPDATE, SMALL, [["2", None, None, None]], [["1", None, None, None]]),), AT)
    assert [m.kind for m in messages_of(format, "mysql-8.0", block_of(case))] == [UPDATE]
    halves = messages_of(f"{format},pk_update=split", "mysql-8.0", block_of(case))
    assert [(m.kind, m.key) for m in halves] == [(DELETE, b"1"), (INSERT, b"2")]
