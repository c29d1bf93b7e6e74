"""Definitions of tables and their rows as a server has them now, read from its catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from simulator.errors import UsageError
from simulator.model import ColumnType, TableId
from simulator.sources.literals import raw_values
from simulator.sources.mysql import type_table
from simulator.sources.mysql.types import parse_type, quote
from simulator.sources.mysql.values import parse_values
from simulator.sql.catalog.definitions import Definition, Field, Key
from simulator.sql.parse.words import quoted
from simulator.sql.server.mysql.connection import Connection
from simulator.stream.literal.transactions import Row

_COLUMNS: Final = """SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA,
 COLUMN_DEFAULT, COLUMN_COMMENT
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} ORDER BY ORDINAL_POSITION"""
_KEYS: Final = """SELECT INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX"""
_TABLE: Final = """SELECT TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES
WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND TABLE_TYPE = 'BASE TABLE'"""
# Expressions that bring a value as a text from which its stored form can be read; others bring it as it is.
_EXPRESSIONS: Final = {
    "binary": "HEX({})", "geometry": "HEX({})", "bit": "CAST({} + 0 AS CHAR)", "enum": "CAST({} + 0 AS CHAR)",
    "set": "CAST({} + 0 AS CHAR)", "year": "CAST({} + 0 AS CHAR)", "float": "CAST({} + 0e0 AS CHAR)",
}  # fmt: skip


class Catalog:
    """Reads a server's catalogue in a session of its own."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        # The names of character sets by the numbers of their collations.
        self.charsets: dict[int, str] = {
            int(number): str(charset)
            for number, charset in connection.rows("SELECT ID, CHARACTER_SET_NAME FROM information_schema.COLLATIONS")
            if number is not None
        }

    def definition(self, id: TableId) -> Definition | None:
        """The current definition of a table, without spellings; None if there is no such table, or if a column has a
        type that is not supported."""
        names = quote(id.database), quote(id.name)
        table = self.connection.rows(_TABLE.format(*names))
        if not table:
            return None
        collation, comment = (str(text or "") for text in table[0])
        try:
            mariadb = "mariadb" in self.connection.version.lower()
            fields = tuple(_field(*row, mariadb=mariadb) for row in self.connection.rows(_COLUMNS.format(*names)))
        except UsageError:
            return None
        keys: dict[str, list[tuple[str, int | None]]] = {}
        unique = set()
        for name, repeats, column, length in self.connection.rows(_KEYS.format(*names)):
            keys.setdefault(name, []).append((column or "", length))
            if not int(repeats):
                unique.add(name)
        return Definition(
            id,
            fields,
            tuple(
                Key(name, "primary" if name == "PRIMARY" else "unique" if name in unique else "index", tuple(columns))
                for name, columns in keys.items()
            ),
            charset=collation.partition("_")[0],
            collation=collation,
            comment=quote(comment) if comment else "",
        )

    def create_table(self, id: TableId) -> str:
        """The text of SHOW CREATE TABLE; "" if there is no such table."""
        import pymysql

        try:
            (_, text), *_ = self.connection.rows(f"SHOW CREATE TABLE {quoted(id.database)}.{quoted(id.name)}")
        except pymysql.MySQLError:
            return ""
        return str(text)

    def cells(self, id: TableId, columns: Sequence[tuple[str, ColumnType]]) -> list[Row]:
        """The stored values of some columns in all rows."""
        expressions = [
            _EXPRESSIONS.get(type_table.family(type), "CAST({} AS CHAR)").format(quoted(name)) for name, type in columns
        ]
        self.connection.run("SET time_zone = '+00:00'")
        rows = self.connection.rows(f"SELECT {', '.join(expressions)} FROM {quoted(id.database)}.{quoted(id.name)}")
        types = [type for _, type in columns]
        return [tuple([_cell(text, type) for text, type in zip(row, types, strict=True)]) for row in rows]


def _field(
    name: str,
    type_text: str,
    nullable: str,
    charset: str | None,
    collation: str | None,
    extra: str,
    default: str | None,
    comment: str,
    *,
    mariadb: bool,
) -> Field:
    type, extra = parse_type(type_text), extra.lower()
    if default is not None and not mariadb:
        # a text without its quotes, but for expressions
        if default.upper().startswith("CURRENT_TIMESTAMP") and type_table.family(type) == "datetime":
            pass
        elif "default_generated" in extra:
            default = f"({default})"
        elif not default.startswith("b'"):
            default = quote(default)
    return Field(
        name,
        ColumnType(
            type.name, type.length, type.scale, type.unsigned, type.zerofill, charset if charset else None, type.labels
        ),
        nullable == "YES",
        default,
        auto="auto_increment" in extra,
        on_update="on update" in extra,
        collation=collation or "",
        comment=quote(comment) if comment else "",
    )


def _cell(text: str | None, type: ColumnType) -> Any:
    if text is None:
        return None
    family = type_table.family(type)
    if family in ("binary", "geometry"):
        return bytes.fromhex(text)
    if family in ("bit", "enum", "set", "year"):
        return int(text)
    if family in ("text", "json"):
        return text
    return raw_values(parse_values([text], type))[0]
