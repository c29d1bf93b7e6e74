"""Huawei Cloud DRS in Avro: the frame of a record, the classes of its values, statements."""

from __future__ import annotations

import json
import struct
from typing import Final

import fastavro
from building import Case, Ddl, Rows, block_of, messages_of, table_of
from drs_samples import AT, one

from simulator.formats.drs import record as drs_record
from simulator.model import INSERT, SchemaChangeKind
from simulator.truth.decoders import parse

# The smallest record, made by the Avro library of Java.
SMALLEST: Final = bytes.fromhex(
    "c3014e9ea30940ac78cc027602040265060202740c494e5345525402020204696408000002020208023100"
)


def test_the_fingerprint_and_a_record_of_another_writer() -> None:
    canonical = fastavro.schema.to_parsing_canonical_form(json.loads(drs_record.schema()))
    assert int(fastavro.schema.fingerprint(canonical, "CRC-64-AVRO"), 16).to_bytes(8, "big").hex() == "4e9ea30940ac78cc"
    assert SMALLEST.startswith(drs_record.FRAME)
    record = parse("drs-avro", SMALLEST)
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
    record = parse("drs-avro", message.value or b"")
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
    assert parse("drs-avro", nulls.value or b"")["afterImages"][1:] == [None] * (len(expected) - 1)


def test_moments_before_christ_in_avro() -> None:
    table = table_of("t", {"id": "int", "c": "timestamp with time zone"}, ["id"], source="postgresql")
    rows = [["1", "0002-12-31 23:59:59.25+00 BC"], ["2", "0001-01-01 00:00:00+00"], ["3", "1969-12-31 23:59:59.5+00"]]
    case = Case("insert", (Rows(INSERT, table, rows),), AT, "postgresql")
    records = [parse("drs-avro", m.value or b"") for m in messages_of("drs-avro", "postgresql-16", block_of(case))]
    found = [record["afterImages"][1][1] for record in records]
    # 719,162 days are from 0001-01-01 to 1970, and the year before it has 366
    assert found == [
        {"timestamp": -(719_162 + 366) * 86_400 - 1, "millis": 250},
        {"timestamp": -719_162 * 86_400, "millis": 0},
        {"timestamp": -1, "millis": 500},
    ]


def test_a_statement_in_avro() -> None:
    statement = Ddl(SchemaChangeKind.TRUNCATE_TABLE, "truncate table t1", MANY, MANY)
    record = parse("drs-avro", one("drs-avro", Case("ddl", (statement,), AT)).value or b"")
    assert (record["operation"], record["fields"], record["tableName"], record["columnCount"]) == ("DDL", None, None, 0)
    assert record["afterImages"] == [(f"{NAMES}.Character", {"charset": "utf8", "value": b"truncate table t1"})]
