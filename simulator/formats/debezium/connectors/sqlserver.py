"""The connector for SQL Server, reading change tables (`SqlServerConnector`, `SqlServerValueConverters`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.connectors.relational import KnownTypesConnector
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT64, STRING, Schema, optional
from simulator.formats.debezium.values import cells, precise, temporal
from simulator.formats.debezium.values.cells import text_cell
from simulator.formats.members import TABLE, by_row, per_entry
from simulator.model import DDL, READ, ROW_KINDS, UPDATE, Column, ColumnType, SchemaChange, TableId
from simulator.sources.log import Entries
from simulator.sources.source import Source
from simulator.sources.sqlserver.log import SqlserverLog
from simulator.sources.sqlserver.type_table import TYPES
from simulator.text.json_style import quote
from simulator.wire.fields import Cell, Field, PerEvent, PerTable

Typed = tuple[Schema, Cell]
INTEGERS = {"tinyint": 16, "smallint": 16, "int": 32, "bigint": 64}


class SqlserverConnector(KnownTypesConnector):
    """A change table has a changed key as a delete and an insert, so no header has the other key."""

    name: ClassVar[str] = "sqlserver"
    parts: ClassVar[str] = "{database}.{schema}.{table}"
    tells_other_key: ClassVar[bool] = False

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        super().__init__(options, source, numeric=numeric)
        self.numeric, self.times = numeric, options.time_precision or "adaptive"
        assert isinstance(source.log, SqlserverLog)
        self.log = source.log

    @property
    def source_schemas(self) -> Sequence[tuple[str, Schema]]:
        return (
            ("schema", STRING),
            ("table", STRING),
            ("change_lsn", optional(STRING)),
            ("commit_lsn", optional(STRING)),
            ("event_serial_no", optional(INT64)),
        )

    def source_fields(self) -> Sequence[Field]:
        schema = PerTable(lambda table, style: quote(table.id.schema, style))
        commit = per_entry(lambda entries: self.log.position(entries.commit))
        change = {**dict.fromkeys(ROW_KINDS, per_entry(self.log.position)), READ: None, DDL: None}
        return (
            Field("schema", by_row(schema, PerEvent(lambda event: (event.after or event.before).id.schema))),
            Field("table", by_row(TABLE, PerEvent(lambda event: event.table_names))),
            Field("change_lsn", change),
            Field("commit_lsn", by_row(commit, commit)),
            Field("event_serial_no", {**dict.fromkeys(ROW_KINDS, 1), UPDATE: 2, READ: None, DDL: None}),
        )

    def transaction_id(self, entries: Entries) -> pa.Array:
        return self.log.position(entries.commit)

    def collection(self, table: TableId) -> str:
        return f"{table.database}.{table.schema}.{table.name}"

    def text_of(self, event: SchemaChange) -> str | None:
        return "N/A" if event.order.phase else None

    def described_type(self, column: Column) -> tuple[int, str, int | None, int | None]:
        type = column.type
        return TYPES[type.name].jdbc, type.name, type.length, type.scale

    def typed(self, type: ColumnType) -> Typed | None:
        name, family = type.name, TYPES[type.name].family
        match family:
            case "bit":
                return connect.BOOLEAN, cells.BOOLEAN
            case "integer":
                return Schema(f"int{INTEGERS[name]}"), cells.WHOLE
            case "decimal":
                return self._decimal(type)
            case "float":
                return (connect.FLOAT, cells.FLOAT) if name == "real" else (connect.DOUBLE, cells.DOUBLE)
            case "date":
                return temporal.date(self.times)
            case "time":
                digits = 7 if type.length is None else type.length
                return precise.time(self.times) if digits > 6 else temporal.time(self.times, digits)
            case "datetime":
                digits = 3 if name in ("datetime", "smalldatetime") else 7 if type.length is None else type.length
                return precise.timestamp(self.times) if digits > 6 else temporal.timestamp(self.times, digits)
            case "zoned":
                return connect.ZONED_TIMESTAMP, precise.ZONED()
            case "text" | "xml":
                return connect.STRING, cells.STRING
            case "uuid":
                return connect.STRING, text_cell(pc.utf8_upper)
            case "binary":
                mode = self.options.binary_handling
                return cells.binary_schema(mode), cells.binary_cell(mode)
        return None

    def _decimal(self, type: ColumnType) -> Typed:
        mode = self.options.decimal_handling
        precision, scale = {"money": (19, 4), "smallmoney": (10, 4)}.get(
            type.name, (18 if type.length is None else type.length, type.scale or 0)
        )
        schema = connect.decimal(precision, scale)
        if mode != "precise":
            schema = connect.STRING if mode == "string" else connect.DOUBLE
        return schema, cells.decimal_cell(mode, numeric=self.numeric)
