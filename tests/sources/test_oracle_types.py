"""Oracle's types and values: read, printed, stored, and what OceanBase and the versions differ in."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import sources
from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table
from simulator.sources import find
from simulator.sources.oracle import values as oracle_values
from simulator.sources.oracle.rowid import rowid
from simulator.values.draw import Ints

ORACLE: Final = find("oracle-21c")

SYSTEMS = ["oracle-11g", "oracle-19c", "oracle-21c", "oceanbase-oracle-4.3"]


@each(
    [
        ("NUMBER", "number", None, None, "NUMBER"),
        ("number ( 10 , 2 )", "number", 10, 2, "NUMBER(10,2)"),
        ("NUMBER(10)", "number", 10, 0, "NUMBER(10)"),
        ("NUMBER(*)", "number", None, None, "NUMBER"),
        ("NUMBER(*,3)", "number", 38, 3, "NUMBER(38,3)"),
        ("NUMBER(5,-2)", "number", 5, -2, "NUMBER(5,-2)"),
        ("NUMBER(2,7)", "number", 2, 7, "NUMBER(2,7)"),
        ("INTEGER", "number", 38, 0, "NUMBER(38)"),
        ("int", "number", 38, 0, "NUMBER(38)"),
        ("SMALLINT", "number", 38, 0, "NUMBER(38)"),
        ("DECIMAL", "number", 38, 0, "NUMBER(38)"),
        ("DECIMAL(12,4)", "number", 12, 4, "NUMBER(12,4)"),
        ("numeric(8)", "number", 8, 0, "NUMBER(8)"),
        ("FLOAT", "float", 126, None, "FLOAT(126)"),
        ("FLOAT(*)", "float", 126, None, "FLOAT(126)"),
        ("FLOAT(63)", "float", 63, None, "FLOAT(63)"),
        ("REAL", "float", 63, None, "FLOAT(63)"),
        ("double  precision", "float", 126, None, "FLOAT(126)"),
        ("BINARY_FLOAT", "binary_float", None, None, "BINARY_FLOAT"),
        ("DATE", "date", None, None, "DATE"),
        ("TIMESTAMP", "timestamp", 6, None, "TIMESTAMP(6)"),
        ("TIMESTAMP(0)", "timestamp", 0, None, "TIMESTAMP(0)"),
        ("timestamp (3) with time zone", "timestamp with time zone", 3, None, "TIMESTAMP(3) WITH TIME ZONE"),
        (
            "TIMESTAMP WITH LOCAL TIME ZONE",
            "timestamp with local time zone",
            6,
            None,
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        ),
        ("INTERVAL YEAR TO MONTH", "interval year to month", 2, None, "INTERVAL YEAR(2) TO MONTH"),
        ("INTERVAL DAY (3) TO SECOND (0)", "interval day to second", 3, 0, "INTERVAL DAY(3) TO SECOND(0)"),
        ("CHAR", "char", 1, None, "CHAR(1)"),
        ("CHARACTER(9)", "char", 9, None, "CHAR(9)"),
        ("VARCHAR2(40 BYTE)", "varchar2", 40, None, "VARCHAR2(40)"),
        ("varchar(40 char)", "varchar2", 40, None, "VARCHAR2(40 CHAR)"),
        ("character varying(5)", "varchar2", 5, None, "VARCHAR2(5)"),
        ("NATIONAL CHARACTER VARYING (5)", "nvarchar2", 5, None, "NVARCHAR2(5)"),
        ("national char(3)", "nchar", 3, None, "NCHAR(3)"),
        ("LONG RAW", "long raw", None, None, "LONG RAW"),
        ("LONG VARCHAR", "long", None, None, "LONG"),
        ("RAW(16)", "raw", 16, None, "RAW(16)"),
        ("UROWID", "urowid", 4000, None, "UROWID(4000)"),
        ("SYS.XMLTYPE", "xmltype", None, None, "XMLTYPE"),
    ]
)
def test_types(typed: str, name: str, length: int | None, scale: int | None, printed: str) -> None:
    type = ORACLE.parse_type(typed)
    assert (type.name, type.length, type.scale, type.spelled) == (name, length, scale, typed)
    assert ORACLE.type_text(type) == printed
    assert replace(ORACLE.parse_type(printed), spelled="") == replace(type, spelled="")
    assert ORACLE.type_text(type, style="bare") == name.upper()
    assert ORACLE.ddl.type_definition(type) == typed


@each(
    [
        ("VARCHR2(5)", "'varchr2' is not an Oracle type. Did you mean 'varchar2'?"),
        ("", "'' is not an Oracle type."),
        ("VARCHAR2", "'VARCHAR2': varchar2 needs a length, as in VARCHAR2(40)."),
        ("VARCHAR2(40000)", "'VARCHAR2(40000)': the length must be 1 to 32767."),
        ("CHAR(2001)", "'CHAR(2001)': the length must be 1 to 2000."),
        ("NUMBER(39)", "'NUMBER(39)': the precision must be 1 to 38."),
        ("NUMBER(5,128)", "'NUMBER(5,128)': the scale must be -84 to 127."),
        ("NUMBER(a)", "'NUMBER(a)': whole numbers belong between the brackets of number."),
        ("INTEGER(5)", "'INTEGER(5)': integer takes no argument in brackets."),
        ("CLOB(5)", "'CLOB(5)': clob takes no argument in brackets."),
        ("RAW(1,2)", "'RAW(1,2)': raw takes one argument in brackets."),
        ("NUMBER(1,2,3)", "'NUMBER(1,2,3)': number takes two arguments in brackets."),
        ("TIMESTAMP(10)", "'TIMESTAMP(10)': the number of fraction digits must be 0 to 9."),
        (
            "INTERVAL DAY(x) TO SECOND",
            "'INTERVAL DAY(x) TO SECOND': the precision of the leading field must be 0 to 9.",
        ),
    ]
)
def test_bad_types_are_told_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        ORACLE.parse_type(typed)
    assert str(caught.value) == sentence


@each(
    [
        ("oracle-19c", "JSON", "'JSON': Oracle 19c has no type JSON."),
        ("oracle-11g", "VARCHAR2(4001)", "'VARCHAR2(4001)': Oracle 11g holds 4000 bytes in a VARCHAR2."),
        ("oceanbase-oracle", "LONG RAW", "'LONG RAW': OceanBase in Oracle mode has no type LONG RAW."),
        ("oceanbase-oracle", "NCLOB", "'NCLOB': OceanBase in Oracle mode has no type NCLOB."),
    ]
)
def test_what_a_system_has_not(system: str, typed: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        sources.find(system).parse_type(typed)
    assert str(caught.value) == sentence
    assert ORACLE.parse_type(typed)


@each(
    [
        ("NUMBER(18)", pa.int64()),
        ("NUMBER(19)", pa.decimal128(19, 0)),
        ("INTEGER", pa.decimal128(38, 0)),
        ("NUMBER(10,2)", pa.decimal128(10, 2)),
        ("NUMBER(16,-2)", pa.int64()),
        ("NUMBER(17,-2)", pa.decimal128(19, 0)),
        ("NUMBER(37,-2)", pa.string()),
        ("NUMBER(2,5)", pa.decimal128(5, 5)),
        ("NUMBER(2,40)", pa.string()),
        ("NUMBER", pa.string()),
        ("FLOAT", pa.string()),
        ("BINARY_FLOAT", pa.float32()),
        ("BINARY_DOUBLE", pa.float64()),
        ("DATE", pa.timestamp("us")),
        ("TIMESTAMP", pa.timestamp("us")),
        ("TIMESTAMP(7)", pa.string()),
        ("TIMESTAMP WITH TIME ZONE", pa.string()),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", pa.timestamp("us")),
        ("INTERVAL DAY TO SECOND", pa.string()),
        ("RAW(5)", pa.binary()),
        ("BFILE", pa.string()),
        ("JSON", pa.string()),
    ]
)
def test_carriers(typed: str, carrier: pa.DataType) -> None:
    assert ORACLE.arrow_type(ORACLE.parse_type(typed)) == carrier


@each(
    [
        ("bool", "NUMBER(1)"),
        ("int16", "NUMBER(5)"),
        ("int32", "NUMBER(10)"),
        ("int64", "NUMBER(19)"),
        ("uint64", "NUMBER(20)"),
        ("decimal", "NUMBER(10)"),
        ("decimal(12, 2)", "NUMBER(12,2)"),
        ("float32", "BINARY_FLOAT"),
        ("float64", "BINARY_DOUBLE"),
        ("string(40)", "VARCHAR2(40 CHAR)"),
        ("string(4001)", "CLOB"),
        ("text", "CLOB"),
        ("bytes(16)", "RAW(16)"),
        ("bytes(2001)", "BLOB"),
        ("blob", "BLOB"),
        ("date", "DATE"),
        ("time(3)", "INTERVAL DAY(2) TO SECOND(3)"),
        ("timestamp", "TIMESTAMP(0)"),
        ("timestamp(6)", "TIMESTAMP(6)"),
        ("timestamptz(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("json", "CLOB"),
        ("uuid", "CHAR(36)"),
        ("enum('a','it''s')", "VARCHAR2(4 CHAR)"),
    ]
)
def test_portable_types(portable: str, on_19c: str) -> None:
    type = sources.find("oracle").from_portable(portable)
    assert type.spelled == ""
    assert ORACLE.type_text(type) == on_19c
    for system in ("oracle-21c", "oceanbase-oracle"):
        again = sources.find(system).from_portable(portable)
        assert ORACLE.type_text(again) == ("JSON" if portable == "json" else on_19c)


@each(["strng(4)", "string", "int32(4)", "varchar2(20)", "decimal(99)", "enum('')"])
def test_wrong_portable_types(wrong: str) -> None:
    with pytest.raises(UsageError):
        sources.find("oracle").from_portable(wrong)


# -------------------------------------------------------------------------------------------------------------- corpus

CORPUS = [(system, text) for system in SYSTEMS for text in sources.find(system).corpus_types]


@each(SYSTEMS)
def test_the_corpus_has_every_type(system: str) -> None:
    types = sources.find(system)
    assert {types.parse_type(text).name for text in sources.find(system).corpus_types} == set(types.types)


def same(left: pa.Array, right: pa.Array) -> bool:
    """Equal, not-a-numbers too."""
    return left.type == right.type and list(map(repr, left.to_pylist())) == list(map(repr, right.to_pylist()))


@each(CORPUS)
def test_boundary_values_are_values_and_come_back(system: str, typed: str) -> None:
    found = sources.find(system)
    type = found.parse_type(typed)
    literals = ORACLE.boundary_values(type, large=True)
    array = found.parse_values(literals, type)
    assert array.type == found.arrow_type(type)
    array.validate(full=True)
    assert literals[-1] is None
    assert array.null_count >= 1
    shown = ORACLE.format_values(array, type)
    again = found.parse_values(shown, type)
    assert same(again, array)
    assert ORACLE.format_values(again, type) == shown
    # what is stored already stays
    assert same(found.stored(array, type), array)


@settings(deadline=None)
@given(
    st.integers(1, 38).flatmap(lambda p: st.tuples(st.just(p), st.integers(-10, 40))),
    st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**12), max_value=10**12),
)
def test_numbers_come_back(digits: tuple[int, int], value: Decimal) -> None:
    type = ColumnType("number", *digits)
    try:
        array = ORACLE.parse_values([str(value)], type)
    except ValueError as error:
        if "does not fit" not in str(error):
            raise
        return
    (shown,) = ORACLE.format_values(array, type)
    assert shown is not None
    assert "e" not in shown.lower()
    assert abs(Decimal(shown) - value) <= Decimal(5).scaleb(-digits[1] - 1)
    assert same(ORACLE.parse_values([shown], type), array)
    assert oracle_values.number_text(array).to_pylist() == [shown]


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=12))
def test_texts_come_back_and_are_filled_up(text: str) -> None:
    for type in (ColumnType("nvarchar2", 40, characters=True), ColumnType("varchar2", 60)):
        assert ORACLE.parse_values([text], type).to_pylist() == [text or None]
    for type in (ColumnType("nchar", 40, characters=True), ColumnType("char", 60)):
        array = ORACLE.parse_values([text], type)
        (value,) = array.to_pylist()
        assert value is None if not text else value.startswith(text) and set(value[len(text) :]) <= {" "}
        if value is not None:
            assert len(value.encode("utf-16-le" if type.name == "nchar" else "utf-8")) == (
                80 if type.name == "nchar" else 60
            )
            drawn = ORACLE.stored(pa.array([text], pa.string()), type)
            assert drawn.to_pylist() == [value]


@settings(deadline=None)
@given(st.datetimes(), st.integers(0, 9), st.integers(-15 * 60 - 59, 15 * 60 + 59))
def test_moments_come_back(moment: object, digits: int, minutes: int) -> None:
    text = str(moment)
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    for name, literal in (
        ("date", text),
        ("timestamp", text),
        ("timestamp with time zone", f"{text} {zone}"),
        ("timestamp with local time zone", f"{text}{zone}"),
    ):
        type = ColumnType(name, None if name == "date" else digits)
        try:
            array = ORACLE.parse_values([literal], type)
        except ValueError as error:
            if "9999" not in str(error):
                raise
            continue
        shown = ORACLE.format_values(array, type)
        assert same(ORACLE.parse_values(shown, type), array)


# -------------------------------------------------------------------------------------------------------------- values


@each(
    [
        ("NUMBER(10,2)", "1.005", "1.01"),
        ("NUMBER(10,2)", "-1.005", "-1.01"),
        ("NUMBER(10,2)", "-0.001", "0"),
        ("NUMBER(10,2)", "100.00", "100"),
        ("NUMBER(5,-2)", "149", "100"),
        ("NUMBER(5,-2)", "-150", "-200"),
        ("NUMBER(3,5)", "0.001234", "0.00123"),
        ("NUMBER(1)", "true", "1"),
        ("NUMBER", "1.50", "1.5"),
        ("NUMBER", "1e3", "1000"),
        ("NUMBER", "1e-131", "0"),
        ("NUMBER", "1" * 41, "1" * 40 + "0"),
        ("FLOAT(5)", "123.45", "120"),
        ("BINARY_DOUBLE", "-0", "0.0"),
        ("BINARY_DOUBLE", "nan", "Nan"),
        ("BINARY_FLOAT", "16777217", "1.6777216e+07"),
        ("DATE", "2024-02-29", "2024-02-29 00:00:00"),
        ("DATE", "2024-02-29T12:34:56.5", "2024-02-29 12:34:57"),
        ("TIMESTAMP(3)", "2024-12-31 23:59:59.9995", "2025-01-01 00:00:00.000"),
        ("TIMESTAMP(9)", "2024-01-01 00:00:00.1234567891", "2024-01-01 00:00:00.123456789"),
        ("TIMESTAMP(3) WITH TIME ZONE", "2024-01-01 00:00:00 +8:00", "2024-01-01 00:00:00.000 +08:00"),
        ("TIMESTAMP(0) WITH TIME ZONE", "2024-01-01 00:00:00 America/New_York", "2024-01-01 00:00:00 America/New_York"),
        ("TIMESTAMP(0) WITH TIME ZONE", "2024-01-01 00:00:00Z", "2024-01-01 00:00:00 +00:00"),
        ("TIMESTAMP(0) WITH LOCAL TIME ZONE", "2024-01-01 00:00:00+08:00", "2023-12-31 16:00:00"),
        ("INTERVAL YEAR TO MONTH", "2-3", "+02-03"),
        ("INTERVAL YEAR(4) TO MONTH", "-0-0", "+0000-00"),
        ("INTERVAL DAY TO SECOND", "12:34", "+00 12:34:00.000000"),
        ("INTERVAL DAY TO SECOND(3)", "-1 02:03:04.0005", "-01 02:03:04.001"),
        ("INTERVAL DAY TO SECOND(0)", "0 23:59:59.5", "+01 00:00:00"),
        ("CHAR(5)", "ab", "ab   "),
        ("CHAR(5)", "é", "é   "),
        ("CHAR(5 CHAR)", "é", "é    "),
        ("NCHAR(4)", "😀", "😀  "),
        ("VARCHAR2(5)", "", None),
        ("CLOB", "", None),
        ("CLOB", "EMPTY_CLOB()", "empty_clob()"),
        ("BLOB", "empty_blob()", "empty_blob()"),
        ("RAW(4)", "0xabc", "0x0abc"),
        ("RAW(4)", "HEXTORAW('6A67')", "0x6a67"),
        ("RAW(4)", "x'6a'", "0x6a"),
        ("RAW(4)", "中", "0xe4b8ad"),
        ("ROWID", "AAATGpAAIAAItcIAAA", "AAATGpAAIAAItcIAAA"),
        ("BFILE", "BFILENAME('D','a b.txt')", "bfilename('D', 'a b.txt')"),
        ("JSON", ' {"b" : 1.50, "a":[ 1e2, true, null], "b":2}', '{"b":2,"a":[100,true,null]}'),
    ]
)
def test_literals(typed: str, literal: str, shown: str | None) -> None:
    type = ORACLE.parse_type(typed)
    assert ORACLE.format_values(ORACLE.parse_values([literal], type), type) == [shown]


@each(
    [
        ("NUMBER(5,2)", "999.995", "999.995 does not fit NUMBER(5,2)"),
        ("NUMBER(3,5)", "0.01", "0.01 does not fit NUMBER(3,5)"),
        ("NUMBER", "1e126", "1e126 is beyond the range of NUMBER, which ends below 1e126"),
        ("NUMBER", "NaN", "'NaN' is not a decimal number"),
        ("NUMBER(9)", "true", "'true' is not a decimal number"),
        ("BINARY_FLOAT", "1e39", "1e39 is beyond the range of BINARY_FLOAT"),
        ("BINARY_DOUBLE", "1_0", "'1_0' is not a number such as 1.5, 1e3, NaN or Infinity"),
        ("DATE", "2021-02-29", "'2021-02-29' is not in the calendar"),
        ("DATE", "2021-01-01 00:00:00 +01:00", "'2021-01-01 00:00:00 +01:00' has a time zone, and date has none"),
        ("TIMESTAMP", "yesterday", "'yesterday' is not a date and time such as 2024-02-29 12:34:56"),
        ("TIMESTAMP", "2021-01-01 24:00:00", "'2021-01-01 24:00:00' has no such time of day"),
        ("TIMESTAMP(0)", "9999-12-31 23:59:59.5", "9999-12-31 23:59:59.5 is rounded beyond the year 9999"),
        (
            "TIMESTAMP WITH TIME ZONE",
            "2021-01-01 00:00:00 +16:00",
            "'2021-01-01 00:00:00 +16:00': an offset is -15:59 to +15:59",
        ),
        (
            "INTERVAL YEAR TO MONTH",
            "1-12",
            "'1-12' is not an interval of years and months such as 2-3 or -4-11",
        ),
        ("INTERVAL YEAR TO MONTH", "100-0", "100-0 has more years than 2 digits hold"),
        ("INTERVAL DAY TO SECOND", "99 23:59:59.9999999", "99 23:59:59.9999999 has more days than 2 digits hold"),
        ("VARCHAR2(2)", "中", "'中' has 3 bytes, and VARCHAR2(2) holds 2"),
        ("VARCHAR2(2 CHAR)", "abc", "'abc' has 3 characters, and VARCHAR2(2 CHAR) holds fewer"),
        ("RAW(2)", "0x010203", "'0x010203' has 3 bytes, and RAW(2) holds 2"),
        ("ROWID", "AAA", "'AAA' is not a ROWID such as AAAR3sAAEAAAACXAAA"),
        ("BFILE", "a.txt", "'a.txt' is not a file such as bfilename('DATA_DIR', 'a.txt')"),
        ("XMLTYPE", "<a>", "'<a>' is not well-formed XML: no element found: line 1, column 3"),
        ("JSON", "{a}", "'{a}' is not a JSON text: Expecting property name enclosed in double quotes at character 1"),
    ]
)
def test_bad_literals_are_told_in_one_sentence(typed: str, literal: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        ORACLE.parse_values([literal], ORACLE.parse_type(typed))
    assert str(caught.value) == sentence


def test_an_enum_takes_its_labels_only() -> None:
    type = sources.find("oracle").from_portable("enum('a','b')")
    with pytest.raises(ValueError, match="'c' is none of the values 'a', 'b'"):
        ORACLE.parse_values(["c"], type)
    assert ORACLE.boundary_values(type) == ["", "a", "b", None]


# ----------------------------------------------------------------------------------------------------------------- DDL


def table() -> Table:
    types = sources.find("oracle")
    columns = (
        Column("ID", types.from_portable("int64"), nullable=False),
        Column("COMMENT", types.from_portable("string(20)")),
        Column("TIER", types.from_portable("enum('basic','gold')"), nullable=False),
    )
    return Table(types.table_id("shop", "orders"), columns, ("ID",))


def test_names_are_stored_in_capitals_in_a_schema_of_the_database() -> None:
    assert str(table().id) == "ORCL.SHOP.ORDERS"
    assert ORACLE.identifier("Order_Items") == "ORDER_ITEMS"


def test_ddl_as_a_dba_types_it() -> None:
    ddl, orders = ORACLE.ddl, table()
    id, comment, _ = orders.columns
    assert ddl.create_table(orders) == (
        'CREATE TABLE ORDERS (ID NUMBER(19) NOT NULL, "COMMENT" VARCHAR2(20 CHAR), '
        "TIER VARCHAR2(5 CHAR) NOT NULL CHECK (TIER IN ('basic', 'gold')), PRIMARY KEY (ID))"
    )
    assert ddl.add_column(orders, comment, "it's", "id") == (
        "ALTER TABLE ORDERS ADD (\"COMMENT\" VARCHAR2(20 CHAR) DEFAULT 'it''s')"
    )
    assert ddl.add_column(orders, id, "1", None) == "ALTER TABLE ORDERS ADD (ID NUMBER(19) DEFAULT 1 NOT NULL)"
    assert ddl.alter_column(orders, id) == "ALTER TABLE ORDERS MODIFY (ID NUMBER(19))"
    assert ddl.rename_column(orders, comment, id) == 'ALTER TABLE ORDERS RENAME COLUMN "COMMENT" TO ID'
    assert ddl.drop_column(orders, id) == "ALTER TABLE ORDERS DROP COLUMN ID"
    assert ddl.rename_table(orders, "file") == 'ALTER TABLE ORDERS RENAME TO "FILE"'
    assert ddl.create_index(orders, "by_id", ["id", "comment"], unique=True) == (
        'CREATE UNIQUE INDEX BY_ID ON ORDERS (ID, "COMMENT")'
    )
    assert ddl.drop_index(orders, "by_id") == "DROP INDEX BY_ID"
    assert ddl.truncate_table(orders) == "TRUNCATE TABLE ORDERS"
    assert ddl.drop_table(orders) == "DROP TABLE ORDERS"
    assert ddl.create_database("other") == "CREATE USER OTHER IDENTIFIED BY OTHER"
    assert ddl.drop_database("other") == "DROP USER OTHER CASCADE"


@each(
    [
        ("1.5", "NUMBER", "1.5"),
        ("NaN", "BINARY_DOUBLE", "'NaN'"),
        ("it's", "NVARCHAR2(9)", "N'it''s'"),
        ("2024-05-01", "DATE", "TIMESTAMP '2024-05-01 00:00:00'"),
        ("2-3", "INTERVAL YEAR TO MONTH", "INTERVAL '2-3' YEAR TO MONTH"),
        ("0x6a", "RAW(2)", "HEXTORAW('6A')"),
        ("a", "RAW(2)", "HEXTORAW('61')"),
    ]
)
def test_literals_of_ddl(text: str, typed: str, literal: str) -> None:
    assert ORACLE.ddl.literal(text, ORACLE.parse_type(typed)) == literal


@each(
    [
        ("NUMBER(5)", "NUMBER(10)", True),
        ("NUMBER(10,2)", "NUMBER(12,4)", True),
        ("NUMBER(10,2)", "NUMBER(11,4)", False),
        ("NUMBER(10)", "NUMBER(10)", False),
        ("VARCHAR2(5)", "VARCHAR2(6)", True),
        ("VARCHAR2(5)", "VARCHAR2(5 CHAR)", True),
        ("VARCHAR2(5 CHAR)", "VARCHAR2(6)", False),
        ("CHAR(5)", "CHAR(6)", False),
        ("RAW(5)", "RAW(6)", True),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", True),
        ("TIMESTAMP(3)", "TIMESTAMP(9)", False),
        ("DATE", "TIMESTAMP(6)", False),
        ("CLOB", "CLOB", False),
    ]
)
def test_widening(old: str, new: str, wider: bool) -> None:
    assert ORACLE.ddl.widens(ORACLE.parse_type(old), ORACLE.parse_type(new)) == wider


# ----------------------------------------------------------------------------------------------------------------- log


def several(count: int = 5000) -> Ints:
    return np.arange(count, dtype=np.int64)


def test_row_ids_are_those_of_rows() -> None:
    at = table().id
    numbers = several()
    ids = rowid(at, numbers)
    assert len(ids.unique()) == len(ids)
    type = ORACLE.parse_type("ROWID")
    assert ORACLE.parse_values(ids.to_pylist(), type).equals(ids)
    assert not set(ids.to_pylist()) & set(rowid(replace(at, name="ITEMS"), numbers).to_pylist())
