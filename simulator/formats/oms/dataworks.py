"""oms-dataworks: OceanBase Migration Service, serialization method Dataworks, version 2.0.

Spec: "Data formats", OMS Community Edition V3.3.1, "Dataworks-compatible JSON message format". How values look is
`values`, what the five formats share `envelope`. Here:

* members and columns stand as declared; decimals and doubles never have an exponent;
* each row carries its table: columns with types, key; times are whole seconds in milliseconds, but for systemTime, and
  checkpointTime in seconds;
* scn is the sequence as text, the text "null" where there is none (full synchronization, `sequence_enabled=off`);
* rows of a full synchronization are INSERT; DDL has the words of Canal and the statement in ddl.text, with an empty
  list of columns and of keys;
* a heartbeat (`heartbeat=on`) is `{"version":"2.0","payload":{"timestamp":{"eventTime":…},"op":"HEARTBEAT"}}`.

It is not the format of DataWorks' own Kafka writer (dataColumn, UPDATE_BEFOR).
"""

from __future__ import annotations

from typing import Final

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import key_names
from simulator.formats.oms import envelope as oms
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.envelope import by_row
from simulator.formats.oms.options import DataworksOptions
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, SchemaChange, Table
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, Members, PerChange, PerEvent, PerTable, Rows

CHECKPOINT: Final = PerChange(lambda batch: batch.envelope.event_ms // 1000, lambda event: event.event_ms // 1000)


def column_list(columns: Columns) -> PerTable:
    def text(table: Table, style: Style) -> str:
        shown = (f'{{"name":{quote(c.name, style)},"type":{quote(columns.name(c), style)}}}' for c in table.columns)
        return "[" + ",".join(shown) + "]"

    return PerTable(text)


def schema_name(table: Table, style: Style) -> str:
    return quote(table.id.schema, style) if table.id.schema else "null"


def ddl_schema(event: SchemaChange) -> str | None:
    table = oms.table_of(event)
    return table.id.schema or None if table else None


def fields(settings: Settings[DataworksOptions], columns: Columns) -> list[Field]:
    source = Members(
        (
            Field("dbType", oms.db_type(settings).lower()),
            Field("dbVersion", None),
            Field("dbName", by_row(oms.DATABASE, DDL=PerEvent(oms.database_name))),
            Field(
                "schema",
                by_row(PerTable(schema_name), DDL=PerEvent(ddl_schema)),
            ),
            Field("table", by_row(oms.TABLE, DDL=PerEvent(oms.table_name))),
        )
    )
    schema = Members(
        (
            Field("source", source),
            Field("column", by_row(column_list(columns), DDL=[])),
            Field("pk", by_row(PerTable(key_names), DDL=[])),
        )
    )
    sequence = oms.as_text(oms.SEQUENCE_NUMBER) if settings.options.sequence_enabled else "null"
    after = Members((Field("data", Rows("after", array=False)),))
    before = Members((Field("data", Rows("before", array=False)),))
    payload = Members(
        (
            Field("before", by_row(None, DDL=None) | {UPDATE: before, DELETE: before}),
            Field("after", by_row(after, DDL=None) | {DELETE: None}),
            Field(
                "op",
                {
                    READ: "INSERT",
                    INSERT: "INSERT",
                    UPDATE: "UPDATE",
                    DELETE: "DELETE",
                    DDL: PerEvent(lambda event: oms.WORDS[event.kind]),
                },
            ),
            Field(
                "timestamp",
                Members(
                    (
                        Field("eventTime", oms.EVENT_MS),
                        Field("systemTime", oms.WRITE_MS),
                        Field("checkpointTime", CHECKPOINT),
                    )
                ),
            ),
            Field("ddl", by_row(None, DDL=PerEvent(lambda event: {"text": event.sql}))),
            Field("scn", by_row(sequence, DDL=sequence) | {READ: "null"}),
        )
    )
    beat = Members((Field("timestamp", Members((Field("eventTime", oms.EVENT_MS),))), Field("op", "HEARTBEAT")))
    name = settings.options.business_name
    extend = Members((Field("load_fm", name),)) if name else None
    return [
        Field("version", "2.0"),
        Field("schema", by_row(schema, DDL=schema)),
        Field("payload", by_row(payload, DDL=payload, HEARTBEAT=beat)),
        Field("extend", by_row(extend, DDL=extend)),
    ]


def layout(settings: Settings[DataworksOptions], columns: Columns | None = None) -> Layout:
    columns = columns or Columns(settings, plain=True, bigint=settings.options.bigint_type_name)
    sends = oms.sent(settings, (DDL, settings.options.ddl), (HEARTBEAT, settings.options.heartbeat))
    return oms.layout(settings, columns, fields(settings, columns), sends=sends)


FORMAT = Format(
    id="oms-dataworks",
    title="OMS Dataworks 2.0",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Dataworks",
    sources=oms.SOURCES,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, HEARTBEAT}),
    silent=frozenset({BEGIN, COMMIT}),
    settings=DataworksOptions,
    layout=layout,
)
