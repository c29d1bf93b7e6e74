"""The named changes on the types of Oracle and of OceanBase in Oracle mode; names as in `cases.py` where both know a
case. Nothing is recorded: no server was at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from building import Beat, Case, Ddl, Row, Rows, table_of

from cases import Samples
from simulator import sources
from simulator.model import DELETE, INSERT, READ, UPDATE, SchemaChangeKind, Table

# One column of each type.
ALL: Final = {
    "ID": "NUMBER(10)",
    "C_NUMBER": "NUMBER",
    "C_FLOAT": "FLOAT",
    "C_BINARY_FLOAT": "BINARY_FLOAT",
    "C_BINARY_DOUBLE": "BINARY_DOUBLE",
    "C_DATE": "DATE",
    "C_TIMESTAMP": "TIMESTAMP",
    "C_TIMESTAMP_TZ": "TIMESTAMP WITH TIME ZONE",
    "C_TIMESTAMP_LTZ": "TIMESTAMP WITH LOCAL TIME ZONE",
    "C_MONTHS": "INTERVAL YEAR TO MONTH",
    "C_SECONDS": "INTERVAL DAY TO SECOND",
    "C_CHAR": "CHAR(5)",
    "C_NCHAR": "NCHAR(5)",
    "C_VARCHAR2": "VARCHAR2(20)",
    "C_NVARCHAR2": "NVARCHAR2(20)",
    "C_LONG": "LONG",
    "C_CLOB": "CLOB",
    "C_NCLOB": "NCLOB",
    "C_RAW": "RAW(10)",
    "C_LONG_RAW": "LONG RAW",
    "C_BLOB": "BLOB",
    "C_BFILE": "BFILE",
    "C_ROWID": "ROWID",
    "C_UROWID": "UROWID",
    "C_XMLTYPE": "XMLTYPE",
    "C_JSON": "JSON",
}
NUMBERS: Final = {
    "ID": "NUMBER(10)",
    "N1": "NUMBER(1)",
    "N4": "NUMBER(4)",
    "N9": "NUMBER(9)",
    "N18": "NUMBER(18)",
    "N19": "NUMBER(19)",
    "N38": "INTEGER",
    "D2": "NUMBER(10,2)",
    "D10": "NUMBER(38,10)",
    "HUNDREDS": "NUMBER(5,-2)",
    "SMALL": "NUMBER(3,5)",
    "ANY_NUMBER": "NUMBER",
}
FLOATS: Final = {
    "ID": "NUMBER(10)",
    "FL": "FLOAT",
    "DP": "DOUBLE PRECISION",
    "BF": "BINARY_FLOAT",
    "BD": "BINARY_DOUBLE",
}
TIMES: Final = {
    "ID": "NUMBER(10)",
    "DA": "DATE",
    "TS0": "TIMESTAMP(0)",
    "TS": "TIMESTAMP",
    "TS9": "TIMESTAMP(9)",
    "TZ": "TIMESTAMP(3) WITH TIME ZONE",
    "TZ9": "TIMESTAMP(9) WITH TIME ZONE",
    "LTZ": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
}
INTERVALS: Final = {
    "ID": "NUMBER(10)",
    "YM": "INTERVAL YEAR TO MONTH",
    "YM4": "INTERVAL YEAR(4) TO MONTH",
    "DS": "INTERVAL DAY TO SECOND",
    "DS9": "INTERVAL DAY(9) TO SECOND(9)",
}
TEXTS: Final = {
    "ID": "NUMBER(10)",
    "CH": "CHAR(5)",
    "NC": "NCHAR(5)",
    "VC": "VARCHAR2(100 CHAR)",
    "NV": "NVARCHAR2(100)",
    "LO": "LONG",
    "CL": "CLOB",
    "NL": "NCLOB",
}
BYTES: Final = {"ID": "NUMBER(10)", "RA": "RAW(16)", "LR": "LONG RAW", "BL": "BLOB"}
OTHERS: Final = {"ID": "NUMBER(10)", "RI": "ROWID", "UR": "UROWID", "BF": "BFILE", "XM": "XMLTYPE", "JS": "JSON"}


class _Tables:
    """The tables of the cases on one system: columns of types that it lacks are left out, here and in the rows."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.types = sources.find(source).types

    def table(self, name: str, columns: Mapping[str, str], key: Sequence[str] = ("ID",), version: int = 0) -> Table:
        known = sources.find("oracle-21c")
        kept = {column: text for column, text in columns.items() if known.parse_type(text).name in self.types}
        return table_of(name, kept, key, version=version, source=self.source)

    def rows(self, table: Table, rows: Sequence[Row]) -> list[Row]:
        return [{c.name: row.get(c.name) for c in table.columns} if isinstance(row, Mapping) else row for row in rows]

    def inserts(self, name: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, str | None]]) -> Rows:
        table = self.table(name, columns)
        return Rows(INSERT, table, self.rows(table, rows), statements=range(len(rows)))


def _values(rows: Mapping[str, Sequence[str | None]]) -> list[dict[str, str | None]]:
    """Columns of values as rows, numbered from 1; shorter columns end in null."""
    most = max(map(len, rows.values()))
    return [
        {"ID": str(i + 1), **{column: values[i] if i < len(values) else None for column, values in rows.items()}}
        for i in range(most)
    ]


@cache
def cases(source: str) -> list[Case]:
    """The named cases on a system."""
    on = _Tables(source)
    text = "VARCHAR2(255)"
    customers = on.table(
        "customers", {"ID": "NUMBER(10)", "FIRST_NAME": text, "LAST_NAME": text, "EMAIL": text, "NOTE": "CLOB"}
    )
    composite = on.table(
        "comp", {"V": "VARCHAR2(10)", "K2": "NUMBER(10)", "K1": "VARCHAR2(5)", "W": "NUMBER(10)"}, ["K1", "K2"]
    )
    keyless = on.table("nopk", {"A": "NUMBER(10)", "B": "VARCHAR2(100)"}, [])
    strange = table_of(
        't"ü', {"编号": "NUMBER(10)", 'a"b': "VARCHAR2(5)", "c\\d": "NUMBER", "<e>&": "NUMBER"}, ["编号"], source=source
    )
    sally = ["1001", "Sally", "Thomas", "sally@x", None]
    every = on.table("every_type", ALL)

    middle = on.table(
        "customers", {"ID": "NUMBER(10)", "FIRST_NAME": text, "LAST_NAME": text, "MIDDLE": "VARCHAR2(22)"}, version=1
    )
    c1 = on.table("customers", {"ID": "NUMBER(10)", "C1": "NUMBER(5)", "C2": "NUMBER(8,2)"}, version=2)
    c1_wide = on.table("customers", {"ID": "NUMBER(10)", "C1": "NUMBER(10)", "C2": "NUMBER(8,2)"}, version=3)
    c3 = on.table("customers", {"ID": "NUMBER(10)", "C1": "NUMBER(10)", "C3": "NUMBER(8,2)"}, version=4)
    without = on.table("customers", {"ID": "NUMBER(10)", "C3": "NUMBER(8,2)"}, version=5)
    many2 = on.table("many2", {"ID": "NUMBER(10)", "S": "VARCHAR2(100)"}, version=1)
    many3 = on.table("many3", {"ID": "NUMBER(10)", "S": "VARCHAR2(100)"}, version=2)

    def ddl(
        name: str, kind: SchemaChangeKind, sql: str, before: Table | None = None, after: Table | None = None
    ) -> Case:
        known = after or before
        return Case(name, (Ddl(kind, sql, before, after, known.id.database if known else "ORCL"),), source=source)

    def case(name: str, *steps: Rows | Beat) -> Case:
        return Case(name, steps, source=source)

    def update(name: str, table: Table, rows: Sequence[Row], old: Sequence[Row]) -> Case:
        return case(name, Rows(UPDATE, table, rows, old))

    renamed = ["1001", "A2", "Thomas", "sally@x", None]
    return [
        case("insert", Rows(INSERT, customers, [sally])),
        case(
            "insert several rows",
            Rows(
                INSERT,
                customers,
                [
                    ["1002", "Anne", "K", "annek@x", "n1"],
                    ["1003", "Bob", "L", "bob@x", None],
                    ["1004", "Cy", "M", "cy@x", "n3"],
                ],
            ),
        ),
        update("update one column", customers, [renamed], [sally]),
        update("update null to a value", customers, [[*renamed[:4], "now"]], [renamed]),
        update("update a value to null", customers, [renamed], [[*renamed[:4], "now"]]),
        # an empty text is null
        update("update a value to the empty text", customers, [[*renamed[:3], "", None]], [renamed]),
        update(
            "update one column of several rows",
            customers,
            [["1001", "A2", "Q", "sally@x", None], ["1002", "Anne", "Q", "annek@x", "n1"]],
            [["1001", "A2", "Thomas", "sally@x", None], ["1002", "Anne", "K", "annek@x", "n1"]],
        ),
        update(
            "update another column of each row",
            customers,
            [["1001", "F1", "Q", "sally@x", None], ["1002", "Anne", "L2", "annek@x", "n1"]],
            [["1001", "A2", "Q", "sally@x", None], ["1002", "Anne", "Q", "annek@x", "n1"]],
        ),
        update(
            "update the key", customers, [["2003", "Bob", "Q", "bob@x", "N3"]], [["1003", "Bob", "Q", "bob@x", "N3"]]
        ),
        update(
            "update the key and a column",
            customers,
            [["2004", "Cy", "M", "cy@x", "moved"]],
            [["1004", "Cy", "M", "cy@x", "n3"]],
        ),
        update(
            "update the keys of several rows",
            customers,
            [["6002", "Anne", "L2", "annek@x", "n1"], ["6001", "F1", "Q", "sally@x", None]],
            [["1002", "Anne", "L2", "annek@x", "n1"], ["1001", "F1", "Q", "sally@x", None]],
        ),
        case("delete", Rows(DELETE, customers, [["2003", "Bob", "Q", "bob@x", "N3"]])),
        case(
            "delete several rows",
            Rows(DELETE, customers, [["6001", "F1", "Q", "sally@x", None], ["6002", "Anne", "L2", "annek@x", "n1"]]),
        ),
        case("insert without a key", Rows(INSERT, keyless, [["1", "x"], ["2", "y"], [None, None]])),
        update("update without a key", keyless, [["1", "q"]], [["1", "x"]]),
        case("delete without a key", Rows(DELETE, keyless, [["2", "y"]])),
        case("insert with a composite key", Rows(INSERT, composite, [["v", "1", "a", None], ["v", "2", "a", "5"]])),
        update("update a part of the key", composite, [["v", "1", "b", None]], [["v", "1", "a", None]]),
        case(
            "a transaction on two tables",
            Rows(INSERT, keyless, [["10", "t"]]),
            Rows(INSERT, composite, [["t", "10", "t", "1"]]),
            Rows(UPDATE, keyless, [["10", "t2"]], [["10", "t"]]),
            Rows(INSERT, keyless, [["11", "t"]]),
        ),
        update("update nothing", customers, [renamed], [renamed]),
        case("a row of a snapshot", Rows(READ, customers, [sally])),
        case("null everywhere", Rows(INSERT, every, on.rows(every, [{"ID": "1"}]))),
        case(
            "numbers at their bounds",
            on.inserts(
                "numbers",
                NUMBERS,
                _values(
                    {
                        "N1": ["0", "9", "-9"],
                        "N4": ["0", "9999", "-9999", "127", "128"],
                        "N9": ["0", "999999999", "-999999999", "100"],
                        "N18": ["0", "999999999999999999", "-999999999999999999"],
                        "N19": ["0", "9999999999999999999", "-9223372036854775808", "9223372036854775808"],
                        "N38": ["0", "9" * 38, "-" + "9" * 38],
                        "D2": ["0", "99999999.99", "-99999999.99", "5", "5.10"],
                        "D10": ["0", "9" * 28 + "." + "9" * 10, "-0.0000000001", "1e-7"],
                        "HUNDREDS": ["0", "9999900", "-150"],
                        "SMALL": ["0", "0.00999", "-0.00001"],
                        "ANY_NUMBER": ["0", "9.99e125", "-1e-130", "12.50", "0.1"],
                    }
                ),
            ),
        ),
        case(
            "floating point numbers",
            on.inserts(
                "floats",
                FLOATS,
                _values(
                    {
                        "FL": ["0", "77.323", "-1e-100", "1e100"],
                        "DP": ["0", "0.1", "3.14159265358979323846264338327950288419", "-1"],
                        "BF": ["0", "3.14", "-1e-45", "3.40282347e38", "NaN", "Infinity", "-Infinity", "1e7", "0.001"],
                        "BD": [
                            "0",
                            "0.1",
                            "-4.9e-324",
                            "1.7976931348623157e308",
                            "NaN",
                            "Infinity",
                            "-Infinity",
                            "2e23",
                        ],
                    }
                ),
            ),
        ),
        case(
            "dates and times",
            on.inserts(
                "times",
                TIMES,
                _values(
                    {
                        "DA": ["2024-02-29", "0001-01-01", "9999-12-31 23:59:59", "1969-12-31 23:59:59"],
                        "TS0": ["2024-02-29 12:34:56", "0001-01-01", "9999-12-31 23:59:59", "1969-12-31 23:59:59"],
                        "TS": ["2024-02-29 12:34:56", "0001-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999"],
                        "TS9": ["2024-02-29 12:34:56.123456789", "0001-01-01", "9999-12-31 23:59:59.999999999"],
                        "TZ": [
                            "2018-03-27 01:34:56.007 -11:00",
                            "2024-03-31 02:30:00.5 Asia/Shanghai",
                            "2024-02-29 12:34:56 +05:45",
                            "1970-01-01 00:00:00 Europe/Berlin",
                        ],
                        "TZ9": ["2018-03-27 01:34:56.000000005 -11:00", "2024-01-01 00:00:00 UTC", None],
                        "LTZ": ["2024-02-29 12:34:56.789+08:00", "0001-01-01", "9999-12-31 23:59:59.999"],
                    }
                ),
            ),
        ),
        case(
            "intervals",
            on.inserts(
                "intervals",
                INTERVALS,
                _values(
                    {
                        "YM": ["0-0", "4-0", "-4-3", "99-11", "0-5"],
                        "YM4": ["0-1", "-9999-11", "2-3"],
                        "DS": ["0 00:00:00", "3 00:00:00", "1 02:03:04.000005", "-99 23:59:59.999999", "-0 00:00:00.5"],
                        "DS9": ["0 00:00:00", "999999999 23:59:59.999999999", "-1 02:03:04.000000005"],
                    }
                ),
            ),
        ),
        case(
            "texts",
            on.inserts(
                "texts",
                TEXTS,
                _values(
                    {
                        "CH": ["ab", "a b ", "héé", "", " "],
                        "NC": ["ab", "中文", "héé", "", " "],
                        "VC": ["  x  ", "hé中😀€", "\"\\/'`", "", "\t\n\r\b\f\v"],
                        "NV": ["  x  ", "𠮷👩\u200d💻", "<b>&amp;=</b>", "", "\x7f\x80\x9f\xa0"],
                        "LO": ["long", "te/xt", "null", "", "\u2028\u2029\ufeff"],
                        "CL": ["text", "0123456789" * 40, "{}", "empty_clob()", '{"k":"\\u0041"}'],
                        "NL": ["三十", "e\u0301\u200d\u00ad", "\\n", "empty_clob()", "\x01\x1b\x1f"],
                    }
                ),
            ),
        ),
        case(
            "bytes",
            on.inserts(
                "bytes",
                BYTES,
                _values(
                    {
                        "RA": ["0x00", "0x61000000", "", "0xe4b8ad", "0x220a5c7f80a0ff"],
                        "LR": ["0x00", "0x61000000", "", "abc", "0xefbbbf"],
                        "BL": ["0x00", "0x00ff10", "empty_blob()", "", "0x" + "00ff" * 100],
                    }
                ),
            ),
        ),
        case(
            "identifiers, files and documents",
            on.inserts(
                "others",
                OTHERS,
                _values(
                    {
                        "RI": ["AAATGpAAIAAItcIAAA", "AAAAAAAAAAAAAAAAAA"],
                        "UR": ["AAATGpAAIAAItcIAAA", "*BAEAAAYCwQL+"],
                        "BF": ["bfilename('DATA_DIR', 'a.txt')"],
                        "XM": ["<a/>", '<a b="1">caf\u00e9 &amp; 中</a>'],
                        "JS": ['{"b":1,"a":[1.0,null,"x",true,{"z":{}}]}', "1.50", '"<é>"'],
                    }
                ),
            ),
        ),
        case("names that need escapes", Rows(INSERT, strange, [["1", "x", "2", "3"]])),
        ddl("create database", SchemaChangeKind.CREATE_DATABASE, "CREATE USER SHOP IDENTIFIED BY SHOP"),
        ddl(
            "create table",
            SchemaChangeKind.CREATE_TABLE,
            "CREATE TABLE NOPK (A NUMBER(10), B VARCHAR2(100))",
            after=keyless,
        ),
        ddl(
            "add column",
            SchemaChangeKind.ADD_COLUMN,
            "ALTER TABLE CUSTOMERS ADD (MIDDLE VARCHAR2(22) DEFAULT 'x')",
            customers,
            middle,
        ),
        ddl(
            "alter column type",
            SchemaChangeKind.ALTER_COLUMN_TYPE,
            "ALTER TABLE CUSTOMERS MODIFY (C1 NUMBER(10))",
            c1,
            c1_wide,
        ),
        ddl(
            "rename column",
            SchemaChangeKind.RENAME_COLUMN,
            "ALTER TABLE CUSTOMERS RENAME COLUMN C2 TO C3",
            c1_wide,
            c3,
        ),
        ddl("drop column", SchemaChangeKind.DROP_COLUMN, "ALTER TABLE CUSTOMERS DROP COLUMN C1", c3, without),
        ddl("rename table", SchemaChangeKind.RENAME_TABLE, "ALTER TABLE MANY2 RENAME TO MANY3", many2, many3),
        ddl(
            "create index",
            SchemaChangeKind.CREATE_INDEX,
            "CREATE INDEX IX ON CUSTOMERS (LAST_NAME)",
            customers,
            customers,
        ),
        ddl("drop index", SchemaChangeKind.DROP_INDEX, "DROP INDEX IX", customers, customers),
        ddl("truncate table", SchemaChangeKind.TRUNCATE_TABLE, "TRUNCATE TABLE NOPK", keyless, keyless),
        ddl("drop table", SchemaChangeKind.DROP_TABLE, 'DROP TABLE "SHOP"."NOPK" PURGE', keyless),
        ddl("drop database", SchemaChangeKind.DROP_DATABASE, "DROP USER SHOP CASCADE"),
        case("heartbeat", Beat()),
    ]


@cache
def samples(source: str) -> Samples:
    """What formats are tried with on a system: `samples("oracle-21c")`."""
    found = sources.find(source)
    return Samples(
        cases=cases(source),
        types=[*found.corpus_types, "INTEGER", "DOUBLE PRECISION", "VARCHAR2(300)", "RAW(300)"],
        plain="NUMBER(10)",
        large=[text for text in ("CLOB", "BLOB", "LONG", "XMLTYPE", "JSON") if text.lower() in found.types],
        options=(
            table_of(
                "t",
                {"ID": "NUMBER(10)", "C": "TIMESTAMP(3)", "B": "RAW(4)", "TS": "TIMESTAMP(3) WITH LOCAL TIME ZONE"},
                ["ID"],
                source=source,
            ),
            ["1", "2024-01-01 00:00:00.5", "0x78", "2024-01-01"],
            ["2", None, "0x00", None],
        ),
    )
