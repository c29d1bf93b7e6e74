"""MySQL's DDL as a DBA types it: back-quotes only where a name needs them, the database chosen before by USE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from simulator.model import Column, ColumnType, Table, UniqueKey
from simulator.sources.ddl import Rule, SqlDdl, more_labels, widens, wider_bounds, wider_decimal
from simulator.sources.mysql.type_table import DEFAULT_CHARSET, TYPES, bounds, character_bytes, family, precision_scale
from simulator.sources.mysql.types import quote, type_text
from simulator.tables import words

# Compiled on first use: it takes nine milliseconds.
_PLAIN_NAME: Final = r"[A-Za-z_$\u0080-\uffff][0-9A-Za-z_$\u0080-\uffff]*"
_BARE_LITERAL: Final = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0x[0-9A-Fa-f]+|[xX]'[0-9A-Fa-f]*'|[bB]'[01]*'"
)
_BARE: Final = ("integer", "decimal", "float", "bit", "year", "binary")
# Until 8.0.13 none of these took a default, and since then only an expression.
_WITHOUT_DEFAULT: Final = ("tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob")


def _decimal(old: ColumnType, new: ColumnType) -> bool:
    if new.unsigned and not old.unsigned:
        return False
    old_digits, new_digits = precision_scale(old), precision_scale(new)
    return wider_decimal(old_digits, new_digits) or (old_digits == new_digits and old.unsigned != new.unsigned)


def _float(old: ColumnType, new: ColumnType) -> bool:
    return (old.name, new.name) == ("float", "double") and new.length is None and old.unsigned >= new.unsigned


def _longer(old: ColumnType, new: ColumnType) -> bool:
    """Whether the type is the same with a larger number: for bit, and for the fraction digits of times."""
    return old.name == new.name and (new.length or 0) > (old.length or 0)


def _texts(old: ColumnType, new: ColumnType) -> bool:
    if (old.charset or DEFAULT_CHARSET) != (new.charset or DEFAULT_CHARSET):
        return False
    if new.name == "char":  # CHAR strips trailing blanks, so only a CHAR can be widened to it
        return old.name == "char" and (new.length or 0) > (old.length or 0)
    return _room(old, character_bytes(old)) < _room(new, character_bytes(new)) or (
        old.name == "char" and new.name == "varchar" and (new.length or 0) >= (old.length or 0)
    )


def _bytes(old: ColumnType, new: ColumnType) -> bool:
    if new.name == "binary":  # BINARY pads with zero bytes, which changes values
        return False
    return _room(old, 1) < _room(new, 1) or (old.name == "binary" and (new.length or 0) >= (old.length or 0))


def _room(type: ColumnType, width: int) -> int:
    """Number of characters (bytes if `width` is 1) that fit."""
    return type.length if type.length is not None else TYPES[type.name].max_bytes // width


_WIDENS: Final[Mapping[str, Rule]] = {
    "integer": lambda old, new: wider_bounds(bounds(old), bounds(new)),
    "decimal": _decimal,
    "float": _float,
    "bit": _longer,
    "datetime": _longer,
    "time": _longer,
    "text": _texts,
    "binary": _bytes,
    "enum": more_labels,
    "set": more_labels,
}


class MysqlDdl(SqlDdl):
    """MySQL's and MariaDB's DDL."""

    places_columns = True
    retypes_columns = True

    def name(self, text: str) -> str:
        """An identifier, in back-quotes where it needs them.

        >>> ddl.name("orders"), ddl.name("order"), ddl.name("order id"), ddl.name("订单")
        ('orders', '`order`', '`order id`', '订单')
        """
        if re.fullmatch(_PLAIN_NAME, text) and text.lower() not in words(__file__, "reserved.txt"):
            return text
        return "`" + text.replace("`", "``") + "`"

    def type_definition(self, type: ColumnType) -> str:
        """A column's type as typed, or as one would type it, with a character set that is not the default one."""
        if type.spelled:
            return type.spelled
        if type.labels:  # labels as literals that a server reads back, also with backslashes
            text = f"{type.name}({','.join(map(quote, type.labels))})"
        else:
            text = type_text(type, style="show_create_80").replace("geomcollection", "geometrycollection")
        return text + (f" CHARACTER SET {type.charset}" if type.charset and type.charset != DEFAULT_CHARSET else "")

    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons: `decimal(10,2)`, however it was typed."""
        return type_text(type, style="show_create_80")

    def literal(self, text: str, type: ColumnType) -> str:
        """A literal of a column's type: `12.50`, `'it''s'`, `b'101'`.

        >>> ddl.literal("12.50", ColumnType("decimal", 10, 2)), ddl.literal("it's", ColumnType("varchar", 20))
        ('12.50', "'it''s'")
        >>> ddl.literal("SRID=3857;POINT(1 2)", ColumnType("point"))
        "ST_GeomFromText('POINT(1 2)', 3857)"
        """
        if family(type) == "geometry":
            system, _, shape = text.rpartition(";")
            # MySQL 8.0 reads y first; 5.7 has no third argument, and reads x first
            axes = ", 'axis-order=long-lat'" if system == "SRID=4326" else ""
            return f"ST_GeomFromText({quote(shape)}{system.replace('SRID=', ', ')}{axes})"
        if family(type) == "float" and text == "-0":
            return "-0e0"  # a decimal literal loses the sign of zero
        return text if family(type) in _BARE and _BARE_LITERAL.fullmatch(text) else quote(text)

    def takes_default(self, type: ColumnType) -> bool:
        """Whether a column of the type can have a literal default that is not null."""
        return type.name not in _WITHOUT_DEFAULT and family(type) not in ("json", "geometry")

    def column(self, column: Column, default: str | None = None) -> str:
        """`qty int NOT NULL DEFAULT 1`. A nullable timestamp needs an explicit NULL: its default is NOT NULL."""
        text = f"{self.name(column.name)} {self.type_definition(column.type)}"
        if not column.nullable:
            text += " NOT NULL"
        elif column.type.name == "timestamp":
            text += " NULL"
        return text + (f" DEFAULT {self.literal(default, column.type)}" if default is not None else "")

    def unique_key(self, key: UniqueKey) -> str:
        return f"UNIQUE KEY {self.name(key.name)} ({self.names(key.columns)})"

    def rename_table(self, table: Table, to: str) -> str:
        return f"RENAME TABLE {self.name(table.id.name)} TO {self.name(to)}"

    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str:
        """`ALTER TABLE orders ADD COLUMN note varchar(40) DEFAULT 'none' AFTER status`"""
        position = f" AFTER {self.name(after)}" if after else ""
        return self.alter_table(table, f"ADD COLUMN {self.column(new, default)}{position}")

    def alter_column(self, table: Table, changed: Column) -> str:
        """`ALTER TABLE orders MODIFY COLUMN note varchar(80)`"""
        return self.alter_table(table, f"MODIFY COLUMN {self.column(changed)}")

    def rename_column(self, table: Table, old: Column, renamed: Column) -> str:
        """`ALTER TABLE orders CHANGE COLUMN note remark varchar(80)`: all versions know this one, RENAME only 8.0."""
        return self.alter_table(table, f"CHANGE COLUMN {self.name(old.name)} {self.column(renamed)}")

    def drop_index(self, table: Table, index: str) -> str:
        return f"DROP INDEX {self.name(index)} ON {self.name(table.id.name)}"

    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether every value of the old type is a value of the new one, which has more, and both are of one family.

        >>> int_type = ColumnType("int")
        >>> ddl.widens(int_type, ColumnType("bigint")), ddl.widens(int_type, ColumnType("bigint", unsigned=True))
        (True, False)
        """
        return widens(_WIDENS, family, old, new)


ddl: Final = MysqlDdl()
