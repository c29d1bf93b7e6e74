"""The topic of schema changes (`SchemaChangeEvent`, `ConnectTableChangeSerializer`), and heartbeats."""

from __future__ import annotations

from typing import Any, Final

from simulator.formats.debezium.connectors.connector import DdlConnector, Published, TableChange
from simulator.formats.debezium.schema import BOOLEAN, INT32, INT64, STRING, Schema, array, optional, struct
from simulator.wire.fields import Field, Members, PerChange, PerEvent

COLUMN: Final = struct(
    {
        "name": STRING,
        "jdbcType": INT32,
        "nativeType": optional(INT32),
        "typeName": STRING,
        "typeExpression": optional(STRING),
        "charsetName": optional(STRING),
        "length": optional(INT32),
        "scale": optional(INT32),
        "position": INT32,
        "optional": optional(BOOLEAN),
        "autoIncremented": optional(BOOLEAN),
        "generated": optional(BOOLEAN),
        "comment": optional(STRING),
        "defaultValueExpression": optional(STRING),
        "enumValues": optional(array(STRING)),
    },
    "io.debezium.connector.schema.Column",
    1,
)
TABLE: Final = struct(
    {
        "defaultCharsetName": optional(STRING),
        "primaryKeyColumnNames": optional(array(STRING)),
        "columns": array(COLUMN),
        "comment": optional(STRING),
    },
    "io.debezium.connector.schema.Table",
    1,
)
CHANGE: Final = struct(
    {"type": STRING, "id": STRING, "table": optional(TABLE)}, "io.debezium.connector.schema.Change", 1
)
HEARTBEAT_KEY: Final = struct({"serverName": STRING}, "io.debezium.connector.common.ServerNameKey", 1)
HEARTBEAT: Final = struct({"ts_ms": INT64}, "io.debezium.connector.common.Heartbeat", 1)


def key_schema(connector: DdlConnector) -> Schema:
    return struct({"databaseName": STRING}, f"io.debezium.connector.{connector.name}.SchemaChangeKey", 1)


def value_schema(connector: DdlConnector, source: Schema) -> Schema:
    return struct(
        {
            "source": source,
            "ts_ms": INT64,
            "databaseName": optional(STRING),
            "schemaName": optional(STRING),
            "ddl": optional(STRING),
            "tableChanges": array(CHANGE),
        },
        f"io.debezium.connector.{connector.name}.SchemaChangeValue",
        1,
    )


def fields(connector: DdlConnector, source: Members) -> tuple[Field, ...]:
    return (
        Field("source", source),
        Field("ts_ms", PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)),
        Field("databaseName", PerEvent(lambda event: event.database)),
        Field("schemaName", PerEvent(lambda event: _schema_name(event, connector))),
        Field("ddl", PerEvent(connector.text_of)),
        Field("tableChanges", PerEvent(lambda event: [_change(change, connector) for change in event.changes])),
    )


def _schema_name(event: Published, connector: DdlConnector) -> str | None:
    table = event.after or event.before
    return table.id.schema if connector.source.has_schemas and table else None


def _change(change: TableChange, connector: DdlConnector) -> dict[str, Any]:
    table = change.table
    described = None
    if table is not None:
        described = {
            "defaultCharsetName": connector.table_charset(table),
            "primaryKeyColumnNames": list(connector.table_key(table)),
            "columns": [connector.described(column, table, i + 1) for i, column in enumerate(table.columns)],
            "comment": connector.comment(table.comment),
        }
    return {"type": change.type, "id": change.id, "table": described}
