"""Values as OMS's page and its samples show them, type by type: the tables of the formats' description, row by row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from building import Case, Ddl, batch_of, block_of, codec_of, encoded, messages_of, table_of
from each import each

from simulator.model import DELETE, INSERT, READ, UPDATE, Kind, SchemaChangeKind

OB_MYSQL: Final = "oceanbase-mysql-4.3"
OB_ORACLE: Final = "oceanbase-oracle-4.3"


class Bare(str):
    """A JSON number, digit for digit."""


def column(
    format: str, typed: str, literals: Sequence[str | None], source: str = OB_MYSQL, kind: Kind = INSERT
) -> list[Any]:
    """The JSON values of a column, numbers as `Bare` text."""
    name = source.rpartition("-")[0]
    key = "int" if source == OB_MYSQL else "NUMBER(9)"
    table = table_of("t", {"id": key, "c": typed}, ["id"], source=name)
    rows = [[str(number), text] for number, text in enumerate(literals)]
    batch = batch_of(table, kind, rows, phase=0 if kind is READ else 1, source=name)
    values = []
    for value in encoded(codec_of(format, source), batch):
        message = json.loads(value, parse_int=Bare, parse_float=Bare)
        match format.partition(",")[0]:
            case "oms-default":
                row = message["postStruct"]
            case "oms-canal-json":
                (row,) = message["data"]
            case "oms-dataworks":
                row = message["payload"]["after"]["data"]
            case _:
                row = message["data"]
        values.append(row[next(name for name in row if name.lower() == "c")])
    return values


# The formats that print numbers with BigDecimal.toString(), and the one that uses toPlainString().
SCIENTIFIC: Final = ("oms-default", "oms-canal-json", "oms-shareplex")
PLAIN: Final = "oms-dataworks"

DECIMALS: Final = [
    ("decimal(10,4)", "12.3400", "12.3400", "12.3400"),
    ("decimal(10,0)", "100", "100", "100"),
    ("decimal(10,6)", "0", "0.000000", "0.000000"),
    ("decimal(10,7)", "0", "0E-7", "0.0000000"),
    ("decimal(20,10)", "0", "0E-10", "0.0000000000"),
    ("decimal(20,10)", "0.0000001", "1.000E-7", "0.0000001000"),
    ("decimal(20,10)", "-0.0000001", "-1.000E-7", "-0.0000001000"),
    ("decimal(10,6)", "0.000001", "0.000001", "0.000001"),
    ("decimal(65,0)", "9" * 65, "9" * 65, "9" * 65),
    ("decimal(65,30)", "0", "0E-30", "0." + "0" * 30),
    ("decimal(10,2)", "-0.00", "0.00", "0.00"),
    ("bigint", "-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    ("bigint unsigned", "18446744073709551615", "18446744073709551615", "18446744073709551615"),
    ("float", "1.2222", "1.2222", "1.2222"),
    ("float", "16777217", "1.677722E+7", "16777220"),
    ("float", "1e8", "1.000000E+8", "100000000"),
    ("float", "3.4028235e38", "3.402824E+38", "3402824" + "0" * 32),
    ("float", "-0.0", "0", "0"),
    ("double", "0.1", "0.1", "0.1"),
    ("double", "0.3333333333333333", "0.3333333333333333", "0.3333333333333333"),
    ("double", "100", "100", "100"),
    ("double", "1e10", "10000000000", "10000000000"),
    ("double", "1e15", "1E+15", "1000000000000000"),
    ("double", "1e20", "1E+20", "1" + "0" * 20),
    ("double", "0", "0", "0"),
    ("double", "1e-7", "1E-7", "0.0000001"),
    ("double", "1e-307", "1E-307", "0." + "0" * 306 + "1"),
    ("double", "1.7976931348623157e308", "1.797693134862316E+308", "1797693134862316" + "0" * 293),
]


@each(DECIMALS)
def test_numbers(typed: str, literal: str, scientific: str, plain: str) -> None:
    """They are never quoted, Canal's neither."""
    for format in SCIENTIFIC:
        assert [(type(v), v) for v in column(format, typed, [literal])] == [(Bare, scientific)]
    assert [(type(v), v) for v in column(PLAIN, typed, [literal])] == [(Bare, plain)]


MYSQL: Final = [
    ("tinyint", ["-128", "127"], [Bare("-128"), Bare("127")]),
    ("tinyint unsigned", ["255"], [Bare("255")]),
    ("tinyint(1)", ["1", "0"], [Bare("1"), Bare("0")]),
    ("mediumint", ["-8388608", "8388607"], [Bare("-8388608"), Bare("8388607")]),
    ("int unsigned", ["4294967295"], [Bare("4294967295")]),
    ("year", ["2020", "1901", "2155", "0"], [Bare("2020"), Bare("1901"), Bare("2155"), Bare("0")]),
    ("varchar(20)", ["", 'a"\\\x0b/\x7f\u2028中', None], ["", 'a"\\\x0b/\x7f\u2028中', None]),
    ("enum('a','b')", ["b"], ["b"]),
    ("set('a','b','c')", ["a,c", ""], ["a,c", ""]),
    ("varbinary(20)", ["hello world", "", None], ["aGVsbG8gd29ybGQ=", "", None]),
    ("binary(4)", ["a"], ["YQAAAA=="]),
    ("bit(16)", ["5", "0", "128", "256"], ["BQ==", "AA==", "gA==", "AQA="]),
    ("date", ["1000-01-01", "9999-12-31", "0000-00-00", "2020-00-10"], 4),
    ("time", ["00:01:02", "838:59:59", "-01:00:00"], 3),
    ("time(3)", ["00:01:02.5", "00:01:02", "-01:00:00.5"], ["00:01:02.5", "00:01:02", "-01:00:00.500"]),
    (
        "datetime(6)",
        ["2020-11-25 00:01:02.012345", "2020-11-25 00:01:02.1", "2020-11-25 00:01:02", "0000-00-00"],
        ["2020-11-25 00:01:02.012345", "2020-11-25 00:01:02.1", "2020-11-25 00:01:02", "0000-00-00 00:00:00.000000"],
    ),
    (
        "timestamp(6)",
        # 2020-11-25 00:01:02 in +08:00; literals are UTC
        ["2020-11-24 16:01:02.012345", "2020-11-24 16:01:02", "2020-11-24 16:01:02.5", "0000-00-00"],
        ["1606233662.012345", "1606233662", "1606233662.5", "0000-00-00 00:00:00"],
    ),
    ("json", ['{"a": 1}'], ['{"a": 1}']),
    ("point", ["POINT(1 2)"], ["SRID=0;POINT(1 2)"]),
]


@each(MYSQL)
def test_types_of_mysql(typed: str, literals: list[str | None], texts: list[Any] | int) -> None:
    expected = literals if isinstance(texts, int) else texts
    for format in (*SCIENTIFIC, PLAIN):
        values = column(format, typed, literals)
        assert [(type(v), v) for v in values] == [(type(v), v) for v in expected]


def test_bits_of_a_full_synchronization_are_whole() -> None:
    for format in (*SCIENTIFIC, PLAIN):
        assert column(format, "bit(16)", ["5", "0"], kind=READ) == ["AAU=", "AAA="]


OLD_PROJECTS: Final = [
    ("bit(16)", ["5", "0"], [Bare("5"), Bare("0")]),
    ("timestamp(6)", ["2020-11-24 16:01:02.912345"], [Bare("1606233662")]),
    (
        "datetime(6)",
        ["2020-11-25 00:01:00", "2020-11-25 00:01:02", "2020-11-25 00:01:02.5", "2020-11-25 00:00:00.012345"],
        ["2020-11-25T00:01", "2020-11-25T00:01:02", "2020-11-25T00:01:02.500", "2020-11-25T00:00:00.012345"],
    ),
    ("datetime", ["0000-00-00"], ["0000-00-00 00:00:00"]),
    ("time(3)", ["00:01:00", "00:01:02.5", "838:59:59"], ["00:01", "00:01:02.500", "838:59:59.000"]),
    ("date", ["2020-11-25"], ["2020-11-25"]),
]


@each(OLD_PROJECTS)
def test_projects_from_before_3_3_0(typed: str, literals: list[str], texts: list[Any]) -> None:
    values = column("oms-default,legacy_types=on", typed, literals)
    assert [(type(v), v) for v in values] == [(type(v), v) for v in texts]


ORACLE: Final = [
    ("NUMBER", ["9" * 38, "1e-130", "1.5000", "9.99e125"], ["9" * 38, "1E-130", "1.5", "999" + "0" * 123]),
    ("NUMBER(10,4)", ["1.5"], ["1.5000"]),
    ("BINARY_FLOAT", ["1.2222"], ["1.2222"]),
    ("BINARY_DOUBLE", ["1e20"], ["1E+20"]),
]


@each(ORACLE)
def test_numbers_of_oracle(typed: str, literals: list[str], texts: list[str]) -> None:
    values = column("oms-default", typed, literals, OB_ORACLE)
    assert [(type(v), v) for v in values] == [(Bare, text) for text in texts]


ORACLE_TEXTS: Final = [
    ("BINARY_DOUBLE", ["NaN", "Infinity", "-Infinity"], ["NaN", "Infinity", "-Infinity"]),
    ("CHAR(4)", ["a"], ["a   "]),
    ("VARCHAR2(4)", ["a", ""], ["a", None]),
    ("RAW(4)", ["0x6869"], ["aGk="]),
    ("DATE", ["2020-11-25 00:01:02"], ["2020-11-25 00:01:02"]),
    ("TIMESTAMP(9)", ["2020-11-25 00:01:02.123456780"], ["2020-11-25 00:01:02.12345678"]),
    (
        "TIMESTAMP(6) WITH TIME ZONE",
        ["2020-11-25 00:01:02.012345 Asia/Shanghai", "2020-11-25 00:01:02 +08:00"],
        ["2020-11-25 00:01:02.012345 Asia/Shanghai", "2020-11-25 00:01:02 +08:00"],
    ),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", ["2020-11-24 16:01:02.5"], ["2020-11-25 00:01:02.5 Asia/Shanghai"]),
    (
        "INTERVAL DAY(2) TO SECOND(6)",
        ["+03 00:00:00.000000", "+03 04:05:06.789000", "-03 00:00:00.000000"],
        ["INTERVAL '3' DAY", "INTERVAL '3 04:05:06.789' DAY TO SECOND", "INTERVAL '-3' DAY"],
    ),
    (
        "INTERVAL YEAR(2) TO MONTH",
        ["+04-00", "+04-02", "+00-05"],
        ["INTERVAL '4' YEAR", "INTERVAL '4-2' YEAR TO MONTH", "INTERVAL '5' MONTH"],
    ),
]


@each(ORACLE_TEXTS)
def test_texts_of_oracle(typed: str, literals: list[str], texts: list[str | None]) -> None:
    values = column("oms-default", typed, literals, OB_ORACLE)
    assert [(type(v), v) for v in values] == [(type(v), v) for v in texts]


# --------------------------------------------------------------------------------------------- names and codes of types

NAMES: Final = {
    OB_MYSQL: {
        "tinyint": ("TINYINT", -6),
        "smallint": ("SMALLINT", 5),
        "mediumint": ("MEDIUMINT", 4),
        "int unsigned": ("INT", 4),
        "bigint": ("BIGINT", -5),
        "bigint unsigned": ("BIGINT", -5),
        "tinyint(1)": ("TINYINT", -6),
        "year": ("YEAR", 4),
        "decimal(10,2)": ("DECIMAL", 3),
        "float": ("FLOAT", 6),
        "double": ("DOUBLE", 8),
        "char(9)": ("CHAR", 1),
        "varchar(9)": ("VARCHAR", 12),
        "tinytext": ("TINYTEXT", 2005),
        "longtext": ("LONGTEXT", 2005),
        "enum('a')": ("ENUM", 1),
        "set('a')": ("SET", 1),
        "json": ("JSON", 12),
        "polygon": ("GEOMETRY", 12),
        "mediumblob": ("MEDIUMBLOB", 2004),
        "binary(9)": ("BINARY", -2),
        "varbinary(9)": ("VARBINARY", -3),
        "bit(9)": ("BIT", -7),
        "date": ("DATE", 91),
        "time(3)": ("TIME", 92),
        "datetime(3)": ("DATETIME", 93),
        "timestamp(3)": ("TIMESTAMP", 93),
    },
    OB_ORACLE: {
        "NUMBER(9)": ("NUMBER", 3),
        "FLOAT(9)": ("FLOAT", 6),
        "BINARY_FLOAT": ("BINARY_FLOAT", 6),
        "BINARY_DOUBLE": ("BINARY_DOUBLE", 8),
        "CHAR(9)": ("CHAR", 1),
        "NCHAR(9)": ("NCHAR", 1),
        "VARCHAR2(9)": ("VARCHAR2", 12),
        "NVARCHAR2(9)": ("NVARCHAR2", 12),
        "CLOB": ("CLOB", 2005),
        "RAW(9)": ("RAW", -3),
        "BLOB": ("BLOB", 2004),
        "DATE": ("DATE", 93),
        "TIMESTAMP(3)": ("TIMESTAMP", 93),
        "TIMESTAMP(3) WITH TIME ZONE": ("ZONED_DATETIME", 2014),
        "TIMESTAMP(3) WITH LOCAL TIME ZONE": ("ZONED_DATETIME", 2014),
        "INTERVAL DAY(2) TO SECOND(6)": ("INTERVAL_DAY_TO_SECOND", 12),
        "INTERVAL YEAR(2) TO MONTH": ("INTERVAL_YEAR_TO_MONTH", 12),
    },
}


@each(NAMES)
def test_names_and_codes_of_types(source: str) -> None:
    """They have no length, no precision and no UNSIGNED; in capitals but in mysqlType."""
    name = source.rpartition("-")[0]
    types = {f"c{number}": typed for number, typed in enumerate(NAMES[source])}
    key = "int" if source == OB_MYSQL else "NUMBER(9)"
    table = table_of("t", {"id": key, **types}, ["id"], source=name)
    columns = [column.name for column in table.columns[1:]]
    batch = batch_of(table, INSERT, [["1", *[None] * len(types)]], source=name)

    def message(format: str) -> dict[str, Any]:
        (value,) = encoded(codec_of(format, source), batch)
        document: dict[str, Any] = json.loads(value)
        return document

    names, codes = zip(*NAMES[source].values(), strict=True)
    canal = message("oms-canal-json")
    assert [canal["mysqlType"][column] for column in columns] == [name.lower() for name in names]
    assert [canal["sqlType"][column] for column in columns] == list(codes)
    dataworks = message("oms-dataworks")["schema"]["column"]
    assert [(each["name"], each["type"]) for each in dataworks[1:]] == list(zip(columns, names, strict=True))
    light = message("oms-default-extend-column-type")["postStruct"]["__light_type"]
    assert list(light) == [column.name for column in table.columns]
    assert [light[column] for column in columns] == [{"schemaType": name} for name in names]


def test_types_stand_in_each_image_that_is_there_and_last() -> None:
    table = table_of("t", {"id": "int", "c": "varchar(9)"}, ["id"])
    for kind, images in (
        (READ, ["postStruct"]),
        (INSERT, ["postStruct"]),
        (UPDATE, ["prevStruct", "postStruct"]),
        (DELETE, ["prevStruct"]),
    ):
        batch = batch_of(table, kind, [["1", "b"]], [["1", "a"]] if kind is UPDATE else None)
        (value,) = encoded(codec_of("oms-default-extend-column-type", OB_MYSQL), batch)
        message = json.loads(value)
        assert [name for name in ("prevStruct", "postStruct") if message[name] is not None] == images
        assert [list(message[image])[-1] for image in images] == ["__light_type"] * len(images)


# ----------------------------------------------------------------------------------------------------------- statements

STATEMENTS: Final = {
    SchemaChangeKind.CREATE_TABLE: ("CREATE TABLE", "CREATE"),
    SchemaChangeKind.ADD_COLUMN: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.ALTER_COLUMN_TYPE: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.RENAME_COLUMN: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.DROP_COLUMN: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.ALTER_TABLE: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.TABLE_OPTIONS: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.ADD_CONSTRAINT: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.DROP_FOREIGN_KEY: ("ALTER TABLE", "ALTER"),
    SchemaChangeKind.DROP_TABLE: ("DROP TABLE", "ERASE"),
    SchemaChangeKind.TRUNCATE_TABLE: ("TRUNCATE TABLE", "TRUNCATE"),
    SchemaChangeKind.RENAME_TABLE: ("RENAME TABLE", "RENAME"),
    SchemaChangeKind.CREATE_INDEX: ("CREATE INDEX", "CINDEX"),
    SchemaChangeKind.DROP_INDEX: ("DROP INDEX", "DINDEX"),
}


@each(SchemaChangeKind)
def test_statements(kind: SchemaChangeKind) -> None:
    """What each format calls a statement; those about databases are not synchronized."""
    table = table_of("t", {"id": "int"}, ["id"])
    block = block_of(Case("", (Ddl(kind, "the statement", table, table),)))

    def sent(format: str) -> list[dict[str, Any]]:
        return [json.loads(message.value or b"") for message in messages_of(format, OB_MYSQL, block)]

    assert not sent("oms-shareplex")
    assert not sent("oms-canal-json")
    for format in ("oms-default", "oms-default-extend-column-type", "oms-dataworks"):
        assert not sent(f"{format},ddl=off")
    if kind not in STATEMENTS:
        for format in ("oms-default", "oms-canal-json,version=4", "oms-dataworks"):
            assert not sent(format)
        return
    type, word = STATEMENTS[kind]
    for format in ("oms-default", "oms-default-extend-column-type"):
        (old,) = sent(format)
        (new,) = sent(f"{format},version=4")
        assert old["postStruct"] == {"ddl": "the statement"}
        assert (old["recordType"], old["prevStruct"]) == ("DDL", None)
        assert "ddlType" not in old["allMetaData"]
        assert new["allMetaData"]["ddlType"] == type
    (canal,) = sent("oms-canal-json,version=4")
    assert (canal["type"], canal["isDdl"], canal["sql"]) == (word, True, "the statement")
    assert {canal[name] for name in ("data", "old", "pkNames", "sqlType", "mysqlType")} == {None}
    assert not sent("oms-canal-json,canal_ddl=off")
    assert sent("oms-canal-json,canal_ddl=canal") == [canal]
    (dataworks,) = sent("oms-dataworks")
    assert (dataworks["payload"]["op"], dataworks["payload"]["ddl"]) == (word, {"text": "the statement"})
    assert (dataworks["schema"]["column"], dataworks["schema"]["pk"]) == ([], [])
