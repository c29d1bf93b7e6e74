"""oms-dataworks: OceanBase Migration Service, serialization method Dataworks, version 2.0.

Spec: "Data formats", OMS Community Edition V3.3.1, "Dataworks-compatible JSON message format".

* Members stand as declared, columns as in the table. Decimals and doubles never have an exponent.
* Each row has its table's columns with their types, and its key.
* eventTime is whole seconds in milliseconds, systemTime milliseconds, checkpointTime seconds.
* scn is the sequence as text, the text "null" in a full synchronization and with `sequence_enabled=off`.
* Rows of a full synchronization are INSERT.
* DDL has Canal's words and the statement in ddl.text; its lists of columns and of keys are empty.
* The page lists TRANSACTION_BEGIN and TRANSACTION_END without a body: with `transaction_marks=on` they have op and
  times, no schema and the scn "null" (decided here).
* A heartbeat (`heartbeat=on`) is `{"version":"2.0","payload":{"timestamp":{"eventTime":…},"op":"HEARTBEAT"}}`.

DataWorks' own Kafka writer has another format (dataColumn, UPDATE_BEFOR).
"""

from __future__ import annotations

from typing import Any, Final

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import EVENT_SECOND_MS, TABLE, WRITE_MS, by_row, row_key_names
from simulator.formats.oms.layout import columns_of, sent
from simulator.formats.oms.layout import layout as oms_layout
from simulator.formats.oms.names import DATABASE, db_type, event_database, event_table, subject, word
from simulator.formats.oms.options import DataworksOptions
from simulator.formats.oms.positions import SEQUENCE, as_text
from simulator.formats.oms.systems import SOURCE, SOURCES
from simulator.formats.oms.types.columns import Columns
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, MARKS, READ, UPDATE, SchemaChange, Table
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, Members, PerChange, PerEvent, PerTable, Rows, json_text

CHECKPOINT: Final = PerChange(lambda batch: batch.envelope.event_ms // 1000, lambda event: event.event_ms // 1000)


def column_list(columns: Columns) -> PerTable:
    def text(table: Table, style: Style) -> str:
        return json_text([{"name": column.name, "type": columns.name(column)} for column in table.columns], style)

    return PerTable(text)


def schema_name(table: Table, style: Style) -> str:
    return quote(table.id.schema, style) if table.id.schema else "null"


def event_schema(event: SchemaChange) -> str | None:
    table = subject(event)
    return table.id.schema or None if table else None


def members(**values: Any) -> Members:
    return Members(tuple(Field(name, value) for name, value in values.items()))


def fields(settings: Settings[DataworksOptions], columns: Columns) -> list[Field]:
    options = settings.options
    source = members(
        dbType=db_type(settings).lower(),
        dbVersion=None,
        dbName=by_row(DATABASE, PerEvent(event_database)),
        schema=by_row(PerTable(schema_name), PerEvent(event_schema)),
        table=by_row(TABLE, PerEvent(event_table)),
    )
    schema = members(source=source, column=by_row(column_list(columns), []), pk=by_row(PerTable(row_key_names), []))
    after, before = (members(data=Rows(image, array=False)) for image in ("after", "before"))
    scn = as_text(SEQUENCE) if options.sequence_enabled else "null"
    times = members(eventTime=EVENT_SECOND_MS, systemTime=WRITE_MS, checkpointTime=CHECKPOINT)
    payload = members(
        before={**by_row(None), UPDATE: before, DELETE: before},
        after={**by_row(after), DELETE: None},
        op={READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: PerEvent(word)},
        timestamp=times,
        ddl=by_row(None, PerEvent(lambda event: {"text": event.sql})),
        scn={**by_row(scn, scn), READ: "null"},
    )
    heartbeat = members(timestamp=members(eventTime=EVENT_SECOND_MS), op="HEARTBEAT")
    marks = {
        kind: members(before=None, after=None, op=op, timestamp=times, ddl=None, scn="null")
        for kind, op in ((BEGIN, "TRANSACTION_BEGIN"), (COMMIT, "TRANSACTION_END"))
    }
    extend = members(load_fm=options.business_name) if options.business_name else None
    return [
        Field("version", "2.0"),
        Field("schema", {**by_row(schema, schema), **dict.fromkeys(MARKS)}),
        Field("payload", {**by_row(payload, payload), HEARTBEAT: heartbeat, **marks}),
        Field("extend", {**by_row(extend, extend), **dict.fromkeys(MARKS, extend)}),
    ]


def layout(settings: Settings[DataworksOptions], columns: Columns | None = None) -> Layout:
    options = settings.options
    columns = columns or columns_of(settings, plain=True, bigint=options.bigint_type_name)
    marks = ((kind, options.transaction_marks) for kind in MARKS)
    sends = sent((DDL, options.ddl), (HEARTBEAT, options.heartbeat), *marks)
    sequence = "scn" if options.sequence_enabled else ""
    return oms_layout(settings, columns, fields(settings, columns), sends=sends, sequence=sequence)


FORMAT = Format(
    id="oms-dataworks",
    title="OMS Dataworks 2.0",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Dataworks",
    sources=SOURCES,
    source=SOURCE,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, HEARTBEAT, BEGIN, COMMIT}),
    silent=frozenset(),
    settings=DataworksOptions,
    layout=layout,
)
