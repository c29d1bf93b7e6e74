"""cloudcanal-canal-json: "Canal Json" as CloudCanal writes it (`CANAL_JSON_FOR_MQ`).

Page: "Message Format", section Canal Json. The messages of cloudcanal-json under Canal's names, in alphabetical order.
Differs from open-source Canal in:

* `old` is an array for every kind: `[]` but for updates, where it has the whole row before (`old_image=changed`: the
  changed columns, as Canal); `data` and `pkNames` of DDL are `[]`, where Canal has null;
* DDL has the actions CREATE, ALTER, RENAME, TRUNCATE (and DROP), and `tableChanges`, which Canal does not know;
* `sqlType` are CloudCanal's codes: -4 for blob, -1 for text and json, 91 for year, 1 for enum;
* `gtid` is absent; values are labels, hexadecimal digits and well-known text;
* `database` of a source with schemas is the schema (`database_name`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from simulator.formats.cloudcanal import json as cloudcanal_json
from simulator.formats.cloudcanal.options import CanalOptions
from simulator.formats.cloudcanal.statements import subject
from simulator.formats.format import Layout, Settings
from simulator.formats.members import by_row
from simulator.model import BEGIN, COMMIT, HEARTBEAT, SchemaChange, Table
from simulator.text.json_style import quote
from simulator.wire.fields import Field, PerEvent, PerTable

# The members in wire order, by the names that cloudcanal-json has for them.
MEMBERS: Final[Mapping[str, str]] = {
    "data": "data",
    "database": "db",
    "es": "execTs",
    "id": "bid",
    "isDdl": "isDdl",
    "mysqlType": "dbValType",
    "old": "before",
    "pkNames": "pks",
    "sql": "sql",
    "sqlType": "jdbcType",
    "table": "table",
    "tableChanges": "tableChanges",
    "ts": "sendTs",
    "type": "action",
}


def database(table: Table, settings: Settings[CanalOptions]) -> str:
    """The one level of names: the schema, the database, or both."""
    match settings.options.database_name:
        case "schema":
            return cloudcanal_json.schema(table)
        case "db":
            return table.id.database
    return ".".join(part for part in (table.id.database, table.id.schema) if part)


def databases(settings: Settings[CanalOptions]) -> Field:
    def of_event(event: SchemaChange) -> str:
        table = subject(event, settings)
        return database(table, settings) if table else event.database

    rows = PerTable(lambda table, style: quote(database(table, settings), style))
    return Field("database", by_row(rows, PerEvent(of_event)))


def layout(settings: Settings[CanalOptions]) -> Layout:
    values = {field.name: field.value for field in cloudcanal_json.fields(settings)}
    members = {name: Field(name, values[canal_name]) for name, canal_name in MEMBERS.items()}
    return cloudcanal_json.batched(tuple({**members, "database": databases(settings)}.values()), settings)


FORMAT = replace(
    cloudcanal_json.FORMAT,
    id="cloudcanal-canal-json",
    title="CloudCanal Canal Json",
    sends=cloudcanal_json.SENDS,
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
