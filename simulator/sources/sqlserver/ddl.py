"""Transact-SQL DDL as a DBA types it: brackets only where a name needs them, the database chosen before by USE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from simulator.model import Column, ColumnType, Table
from simulator.sources.ddl import Literals, Rule, SqlDdl, more_labels, widens, wider_bounds, wider_decimal
from simulator.sources.sqlserver.type_table import NATIONAL, bounds, digits, family, precision_scale
from simulator.sources.sqlserver.types import type_text
from simulator.tables import words

_PLAIN_NAME: Final = re.compile(r"[^\W\d][\w@$#]*")
_BARE_LITERAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0[xX][0-9A-Fa-f]*")
_BARE: Final = ("bit", "integer", "decimal", "float", "binary")


def string(text: str, *, national: bool | None = None) -> str:
    """A string literal, with the prefix N if it is not ASCII or if requested."""
    prefix = "N" if (not text.isascii() if national is None else national) else ""
    return prefix + "'" + text.replace("'", "''") + "'"


def _decimal(old: ColumnType, new: ColumnType) -> bool:
    money = ("money", "smallmoney")
    return (new.name not in money or old.name in money) and wider_decimal(precision_scale(old), precision_scale(new))


def _times(old: ColumnType, new: ColumnType) -> bool:
    return old.name == new.name and digits(new) > digits(old)


def _texts(old: ColumnType, new: ColumnType) -> bool:
    if old.labels and new.labels:
        return more_labels(old, new)
    if new.name in ("text", "ntext") or old.name in ("text", "ntext"):
        return False
    if new.name in ("char", "nchar"):  # padded with blanks, which changes values
        return False
    if old.name in NATIONAL and new.name not in NATIONAL:
        return False
    if old.name not in NATIONAL and new.name not in NATIONAL and old.charset != new.charset:
        return False
    longer = _room(new) > _room(old)
    return longer or (old.name != new.name and _room(new) >= _room(old))


def _bytes(old: ColumnType, new: ColumnType) -> bool:
    if new.name != "varbinary" or old.name not in ("binary", "varbinary"):
        return False
    return _room(new) > _room(old) or (old.name == "binary" and _room(new) >= _room(old))


def _room(type: ColumnType) -> int:
    return type.length if type.length is not None else 1 << 31


_WIDENS: Final[Mapping[str, Rule]] = {
    "integer": lambda old, new: wider_bounds(bounds(old), bounds(new)),
    "decimal": _decimal,
    "float": lambda old, new: (old.name, new.name) == ("real", "float"),
    "time": _times,
    "datetime": _times,
    "zoned": _times,
    "text": _texts,
    "binary": _bytes,
}


class SqlserverDdl(SqlDdl):
    """SQL Server's DDL. A new column is the last one: there is no AFTER."""

    schema = "dbo"

    def name(self, text: str) -> str:
        """An identifier, in brackets where it needs them.

        >>> ddl.name("orders"), ddl.name("order"), ddl.name("order id"), ddl.name("a]b"), ddl.name("订单")
        ('orders', '[order]', '[order id]', '[a]]b]', '订单')
        """
        if _PLAIN_NAME.fullmatch(text) and text.lower() not in words(__file__, "reserved.txt"):
            return text
        return "[" + text.replace("]", "]]") + "]"

    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons: `decimal(10,2)`, however it was typed."""
        return type_text(type)

    def literal(self, text: str, type: ColumnType) -> str:
        """A literal of a column's type: `12.50`, `'it''s'`, `N'中'`.

        >>> ddl.literal("12.50", ColumnType("decimal", 10, 2)), ddl.literal("it's", ColumnType("nvarchar", 20))
        ('12.50', "N'it''s'")
        """
        if family(type) in _BARE and _BARE_LITERAL.fullmatch(text):
            return text
        return string(text, national=type.name in NATIONAL or None)

    def takes_default(self, type: ColumnType) -> bool:
        """Whether a column of the type can have a literal default that is not null: all but a rowversion."""
        return type.name != "timestamp"

    def column(self, column: Column, default: str | None = None) -> str:
        """`qty int NOT NULL DEFAULT 1`; WITH VALUES gives existing rows the default if the column is nullable."""
        text = f"{self.name(column.name)} {self.type_definition(column.type)}{self._null(column)}"
        if default is None:
            return text
        return text + f" DEFAULT {self.literal(default, column.type)}" + (" WITH VALUES" if column.nullable else "")

    def row_change(self, table: Table, before: Literals | None, after: Literals | None) -> str:
        """The statement of a change, which sets no rowversions: the server does."""
        server_made = {column.name for column in table.columns if column.type.name == "timestamp"}
        set_values = (
            None if after is None else {column: text for column, text in after.items() if column not in server_made}
        )
        return super().row_change(table, before, set_values)

    def _null(self, column: Column) -> str:
        return "" if column.nullable else " NOT NULL"

    def _qualified(self, *parts: str) -> str:
        return string(".".join(self.name(part) for part in parts if part))

    def rename_table(self, table: Table, to: str) -> str:
        """`EXEC sp_rename 'dbo.orders', 'bills'`"""
        return f"EXEC sp_rename {self._qualified(table.id.schema, table.id.name)}, {string(to)}"

    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str:
        """`ALTER TABLE orders ADD note nvarchar(40) DEFAULT N'none' WITH VALUES`"""
        return self.alter_table(table, f"ADD {self.column(new, default)}")

    def alter_column(self, table: Table, changed: Column) -> str:
        """`ALTER TABLE orders ALTER COLUMN note nvarchar(80)`"""
        text = f"{self.name(changed.name)} {self.type_definition(changed.type)}{self._null(changed)}"
        return self.alter_table(table, f"ALTER COLUMN {text}")

    def rename_column(self, table: Table, old: Column, renamed: Column) -> str:
        """`EXEC sp_rename 'dbo.orders.note', 'remark', 'COLUMN'`"""
        column = self._qualified(table.id.schema, table.id.name, old.name)
        return f"EXEC sp_rename {column}, {string(renamed.name)}, 'COLUMN'"

    def drop_index(self, table: Table, index: str) -> str:
        return f"DROP INDEX {self.name(index)} ON {self.table(table.id)}"

    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether every value of the old type is a value of the new one, which has more, and both are of one family.

        >>> ddl.widens(ColumnType("int"), ColumnType("bigint"))
        True
        >>> ddl.widens(ColumnType("nvarchar", 20), ColumnType("varchar", 80))
        False
        """
        return widens(_WIDENS, family, old, new)


ddl: Final = SqlserverDdl()
