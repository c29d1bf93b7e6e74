"""Oracle's DDL as a DBA types it: stored names in capitals, quoted only where they need it, the schema chosen before.

A database of a scenario is a schema, which is a user. ADD appends a column; it cannot be placed.
"""

from __future__ import annotations

import re
from typing import Final

from simulator.model import Column, ColumnType, Table
from simulator.sources.ddl import SqlDdl, wider_decimal
from simulator.sources.oracle.type_table import family, most_bytes, number_digits
from simulator.sources.oracle.types import type_text
from simulator.tables import words

_PLAIN_NAME: Final = re.compile(r"[A-Z\u0080-\uffff][0-9A-Z_$#\u0080-\uffff]*")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Default digits of an interval, which are left out.
_DIGITS: Final = re.compile(r"(?<=YEAR)\(2\)|(?<=DAY)\(2\)|(?<=SECOND)\(6\)")
# Literals of large objects that are calls, in the types that have them.
_CALL: Final = re.compile(r"empty_[bc]lob\(\)|bfilename\('[^']*', '[^']*'\)", re.IGNORECASE)
_LARGE: Final = ("blob", "clob", "nclob", "bfile")
_WITHOUT_DEFAULT: Final = ("bfile", "xmltype", "json", "long", "long raw")


class OracleDdl(SqlDdl):
    """Oracle's DDL."""

    def name(self, text: str) -> str:
        """An identifier, in double quotes where it needs them; others are stored in capitals.

        >>> ddl.name("ORDERS"), ddl.name("orders"), ddl.name("comment"), ddl.name("ORDER ID")
        ('ORDERS', 'ORDERS', '"COMMENT"', '"ORDER ID"')
        """
        stored = text.upper()
        if _PLAIN_NAME.fullmatch(stored) and stored not in words(__file__, "reserved.txt"):
            return stored
        return '"' + stored.replace('"', "") + '"'

    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons: `NUMBER(10,2)`, however it was typed."""
        return type_text(type)

    def literal(self, text: str, type: ColumnType) -> str:
        """A literal of a column's type.

        >>> ddl.literal("12.50", ColumnType("number", 10, 2)), ddl.literal("it's", ColumnType("varchar2", 20))
        ('12.50', "'it''s'")
        >>> ddl.literal("2024-05-01", ColumnType("date")), ddl.literal("0x6a", ColumnType("raw", 2))
        ("TIMESTAMP '2024-05-01 00:00:00'", "HEXTORAW('6A')")
        """
        quoted = "'" + text.replace("'", "''") + "'"
        if type.name in _LARGE and _CALL.fullmatch(text):
            return text
        match family(type):
            case "decimal" | "float" if _NUMBER.fullmatch(text):
                return text
            case "datetime" | "zoned" | "timestamptz":
                return f"TIMESTAMP '{text.replace('T', ' ') if len(text) > 10 else text + ' 00:00:00'}'"
            case "interval":
                return f"INTERVAL {quoted} {_DIGITS.sub('', type_text(type).removeprefix('INTERVAL '))}"
            case "binary":
                digits = text[2:] if text.lower().startswith("0x") else text.encode().hex()
                return f"HEXTORAW('{digits.upper()}')"
        return "N" + quoted if type.name in ("nchar", "nvarchar2", "nclob") else quoted

    def takes_default(self, type: ColumnType) -> bool:
        """Whether a column of the type can have a literal default that is not null."""
        return type.name not in _WITHOUT_DEFAULT

    def column(self, column: Column, default: str | None = None) -> str:
        """`QTY NUMBER(10) DEFAULT 1 NOT NULL`: the default comes before the constraints."""
        text = f"{self.name(column.name)} {self.type_definition(column.type)}"
        if default is not None:
            text += f" DEFAULT {self.literal(default, column.type)}"
        if not column.nullable:
            text += " NOT NULL"
        if column.type.labels:
            labels = ", ".join(self.literal(label, column.type) for label in column.type.labels)
            text += f" CHECK ({self.name(column.name)} IN ({labels}))"
        return text

    def create_database(self, database: str) -> str:
        """CREATE USER: a schema is a user."""
        return f"CREATE USER {self.name(database)} IDENTIFIED BY {self.name(database)}"

    def drop_database(self, database: str) -> str:
        return f"DROP USER {self.name(database)} CASCADE"

    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str:
        """`ALTER TABLE ORDERS ADD (NOTE VARCHAR2(40 CHAR) DEFAULT 'none')`; always the last column."""
        return self.alter_table(table, f"ADD ({self.column(new, default)})")

    def alter_column(self, table: Table, changed: Column) -> str:
        """`ALTER TABLE ORDERS MODIFY (NOTE VARCHAR2(80 CHAR))`: NOT NULL stays; repeating it is an error."""
        return self.alter_table(table, f"MODIFY ({self.name(changed.name)} {self.type_definition(changed.type)})")

    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether MODIFY can change the old type to the new one, keeps every value, and allows more values. CHAR and
        NCHAR are never widened, since Oracle pads the old rows with blanks; fraction digits up to six.

        >>> ddl.widens(ColumnType("number", 10, 2), ColumnType("number", 12, 2))
        True
        >>> ddl.widens(ColumnType("number", 10, 2), ColumnType("number", 10, 4))
        False
        """
        if old.name != new.name or (old.labels and new.labels[: len(old.labels)] != old.labels):
            return False
        match old.name:
            case "number":
                old_digits, new_digits = number_digits(old), number_digits(new)
                if old_digits is None or new_digits is None or min(old.scale or 0, new.scale or 0) < 0:
                    return False
                return wider_decimal(old_digits, new_digits)
            case "varchar2" | "nvarchar2":
                if new.labels:
                    return len(new.labels) > len(old.labels)
                longer = (new.length or 0) >= (old.length or 0) and new.characters >= old.characters
                return longer and (new.length, new.characters) != (old.length, old.characters)
            case "raw":
                return most_bytes(new) > most_bytes(old)
            case "timestamp" | "timestamp with local time zone":
                return (old.length or 0) < (new.length or 0) <= 6
        return False


ddl: Final = OracleDdl()
