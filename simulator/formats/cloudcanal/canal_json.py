"""cloudcanal-canal-json: "Canal Json" as CloudCanal writes it (`CANAL_JSON_FOR_MQ`).

Page: "Message Format", section Canal Json. The messages of cloudcanal-json under Canal's names, in alphabetical order.
Differs from open-source Canal in:

* `old` is an array for every kind: `[]` but for updates, where it has the whole row before (`old_image=changed`: the
  columns that changed, as Canal); `data` and `pkNames` of DDL are `[]`, where Canal has null;
* DDL has the actions CREATE, ALTER, RENAME, TRUNCATE (and DROP), and `tableChanges`, which Canal does not know;
* `sqlType` are CloudCanal's codes: -4 for blob, -1 for text and json, 91 for year, 1 for enum;
* `gtid` is never there; values are labels, hexadecimal digits and well-known text;
* `database` of a source with schemas is the schema (`database_name`).
"""

from __future__ import annotations

from simulator.formats.cloudcanal import envelope as cloudcanal
from simulator.formats.cloudcanal.envelope import ACTIONS, action, schema_of, statement_table, statement_text
from simulator.formats.cloudcanal.json import (
    SENDS,
    batched,
    by_kind,
    changes,
    number,
    statement_codes,
    statement_types,
    table_name,
    times,
)
from simulator.formats.cloudcanal.options import CanalOptions
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import key_names
from simulator.model import BEGIN, COMMIT, DDL, HEARTBEAT, SchemaChange, Table
from simulator.text.json_style import quote
from simulator.wire.fields import Field, PerEvent, PerTable


def database(table: Table, settings: Settings[CanalOptions]) -> str:
    """The one level of names: the schema, the database, or both."""
    match settings.options.database_name:
        case "schema":
            return schema_of(table)
        case "db":
            return table.id.database
    return ".".join(part for part in (table.id.database, table.id.schema) if part)


def fields(settings: Settings[CanalOptions]) -> tuple[Field, ...]:
    """The members in wire order."""
    images = cloudcanal.images(settings)
    happened, sent = times(settings)

    def of_event(event: SchemaChange) -> str:
        table = statement_table(event, settings)
        return database(table, settings) if table else event.database

    return (
        Field("data", images["data"]),
        Field(
            "database",
            by_kind(PerTable(lambda table, style: quote(database(table, settings), style)), PerEvent(of_event)),
        ),
        Field("es", happened),
        Field("id", number(settings)),
        Field("isDdl", by_kind(False, True)),
        Field("mysqlType", by_kind(cloudcanal.type_map(settings), statement_types(settings))),
        Field("old", images["before"]),
        Field("pkNames", by_kind(PerTable(key_names), [])),
        Field("sql", by_kind("", PerEvent(lambda event: statement_text(event, settings)))),
        Field("sqlType", by_kind(cloudcanal.code_map(settings), statement_codes(settings))),
        Field("table", by_kind(PerTable(lambda table, style: quote(table.id.name, style)), table_name(settings))),
        Field("tableChanges", {DDL: changes(settings)}),
        Field("ts", sent),
        Field("type", {**ACTIONS, DDL: PerEvent(lambda event: action(event, settings))}),
    )


def layout(settings: Settings[CanalOptions]) -> Layout:
    return batched(fields(settings), settings, SENDS)


FORMAT = Format(
    id="cloudcanal-canal-json",
    title="CloudCanal Canal Json",
    product=cloudcanal.PRODUCT,
    spec=cloudcanal.SPEC,
    sources=cloudcanal.SOURCES,
    brokers=("kafka", "rocketmq", "rabbitmq"),
    sends=SENDS,
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
