"""Common base of the connectors for Oracle and SQL Server: schema changes, and columns that are left out."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from simulator.formats.debezium.connectors.connector import (
    DdlConnector,
    Published,
    SnapshotOpened,
    TableChange,
    members_of,
)
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values import cells
from simulator.formats.debezium.values.cells import Converted
from simulator.model import Column, ColumnType, SchemaChange, SchemaChangeKind, Table, TableId
from simulator.text.json_style import JACKSON_BYTES, escape
from simulator.wire.fields import Cell

K = SchemaChangeKind
TABLES = frozenset({K.CREATE_TABLE, K.ALTER_TABLE, K.ADD_COLUMN, K.ALTER_COLUMN_TYPE, K.RENAME_COLUMN, K.DROP_COLUMN,
                    K.RENAME_TABLE, K.DROP_TABLE})  # fmt: skip
# Replacements for required values that are missing.
ABSENT = {
    "boolean": "false", "int8": "0", "int16": "0", "int32": "0", "int64": "0", "float": "0.0", "double": "0.0",
    "string": '""', "bytes": '""', "struct": '{"scale":0,"value":"AA=="}',
}  # fmt: skip
_LITERAL: Final = re.compile(r"N?'((?:[^']|'')*)'|(-?[\d.]+)")


class KnownTypesConnector(DdlConnector):
    """A connector that leaves out columns of types that it does not know."""

    @abstractmethod
    def typed(self, type: ColumnType) -> tuple[Schema, Cell] | None:
        """The schema and cell of a type; None: columns of the type are left out."""

    @abstractmethod
    def described_type(self, column: Column) -> tuple[int, str, int | None, int | None]:
        """Code, name, length and scale of a column's type."""

    def source_type(self, column: Column) -> tuple[str, int | None, int | None]:
        _, name, length, scale = self.described_type(column)
        return name, length, scale

    def convert(self, column: Column, *, snapshot: bool) -> Converted:
        typed = self.typed(column.type)
        assert typed is not None, column
        schema, cell = typed
        absent = '"AA=="' if schema.name.endswith(".Decimal") else ABSENT[schema.type]
        default = self._default(column, cell)
        return cells.finished(schema, cell, nullable=column.nullable, default=default, absent=absent)

    def _default(self, column: Column, cell: Cell) -> str:
        """The default as the converter writes it; "" without one. Expressions are none."""
        if (literal := _LITERAL.fullmatch(column.default or "")) is None:
            return ""
        text = literal[2] or literal[1].replace("''", "'")
        texts = cell.text(self.source.parse_values([text], column.type))
        value = (escape(texts, JACKSON_BYTES) if cell.escaped else texts)[0].as_py()
        return "" if value is None else f'"{value}"' if cell.quoted else str(value)

    def columns(self, table: Table) -> Sequence[int]:
        return tuple(i for i, column in enumerate(table.columns) if self.typed(column.type) is not None)

    truncates: ClassVar[bool] = False

    @property
    def statements(self) -> frozenset[SchemaChangeKind]:
        return TABLES | super().statements if self.truncates else TABLES

    def published(self, event: SchemaChange) -> Iterator[Published]:
        members = members_of(event)
        if isinstance(event, SnapshotOpened):
            for created, text in event.created:
                yield self._message(members | {"sql": text}, created, "CREATE", created)
            return
        for before, after in event.tables:
            table = after or before
            assert table is not None
            if event.statement is K.TRUNCATE_TABLE:
                yield Published(**members, truncated=table, table_names=table.id.name)
                continue
            what = "DROP" if after is None else "CREATE" if before is None else "ALTER"
            yield self._message(members, table, what, after)

    def _message(self, members: dict[str, Any], table: Table, what: str, after: Table | None) -> Published:
        change = TableChange(what, quoted(table.id), after)
        members = members | {"database": table.id.database, "before": table, "after": table, "more": ()}
        return Published(**members, table_names=table.id.name, changes=(change,))

    def described(self, column: Column, table: Table, position: int) -> dict[str, Any]:
        jdbc, name, length, scale = self.described_type(column)
        return {
            "name": column.name,
            "jdbcType": jdbc,
            "nativeType": None,
            "typeName": name,
            "typeExpression": name,
            "charsetName": None,
            "length": length,
            "scale": scale,
            "position": position,
            "optional": column.nullable,
            "autoIncremented": False,
            "generated": False,
            "comment": None,
            "defaultValueExpression": None,
            "enumValues": None,
        }


def quoted(table: TableId) -> str:
    """`"DB"."SCHEMA"."TABLE"`."""
    return ".".join(f'"{part}"' for part in (table.database, table.schema, table.name) if part)
