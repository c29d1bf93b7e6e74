"""cloudcanal-json: CloudCanal's own message format (`CLOUDCANAL_JSON_FOR_MQ`), which new jobs have.

Page: "Message Format", section CloudCanal Json. Members in alphabetical order, as fastjson sorts a bean's properties;
`isDdl` stands where its property `ddl` sorts. All values are strings or null, maps and rows in table order.

| | insert | update | delete | DDL |
| --- | --- | --- | --- | --- |
| `data` | rows | rows after | deleted rows | `[]` |
| `before` | `[]` | rows before | `[]` | `[]` |
| `pks` | key | key | key | `[]` |
| `dbValType`, `jdbcType` | columns | columns | columns | columns after the statement |
| `tableChanges` | absent | absent | absent | the table after the statement (MySQL family) |

Up to `batchWriteSize` rows of one table and action that follow each other in a partition share a message, across
transactions, with the times of the last one. The product keeps a group open for a time, which is not published. Here
groups end with each second of commit times (`batch_ms`) and every 256 turns, so that no message depends on a clock;
before DDL; and before a row that an earlier update of the group left just the same, which readers cannot tell apart.
`batch_scope` keeps them within transactions or statements. The full load's rows are put together as they are read,
table by table.

Decisions where the page is silent: deleted rows are in `data` (`delete_image`), nulls are written (`null_columns`),
`before` has all columns (`old_image`), `bid` is a number that rises from message to message with gaps, and 0 for DDL
(`bid_mode=zero`: always), a row of the full load is an INSERT, heartbeats and transaction marks are not sent.
`emit_transaction_end=on` sends TRANSACTIONEND, whose shape is ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from simulator.formats.cloudcanal import types
from simulator.formats.cloudcanal.images import KEY_ALONE, images
from simulator.formats.cloudcanal.metadata import metadata
from simulator.formats.cloudcanal.options import BatchedOptions, JsonOptions
from simulator.formats.cloudcanal.packing import Batches
from simulator.formats.cloudcanal.routing import routing
from simulator.formats.cloudcanal.statements import (
    ROW_ACTIONS,
    action,
    columns_after,
    published,
    sql,
    subject,
    table_changes,
)
from simulator.formats.cloudcanal.systems import BROKERS, LINKS, PRODUCT, SOURCES, SPEC, library_of
from simulator.formats.cloudcanal.values.cells import is_cut_by_snapshot, known, writer
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import DATABASE, TABLE, WRITE_MS, by_row, key_names
from simulator.formats.redelivery import CLOUDCANAL
from simulator.formats.remarks import cut_by_snapshot
from simulator.formats.writing import OneMessage, opens_snapshot
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Kind, SchemaChange, Table
from simulator.text.json_style import quote
from simulator.wire.fields import Field, PerChange, PerEvent, PerTable

SENDS: Final = frozenset({READ, INSERT, UPDATE, DELETE, DDL})


def by_kind(rows: Any, ddl: Any, end: Any) -> dict[Kind, Any]:
    """A member by kind: one value for all row changes, others for DDL and for the end of a transaction."""
    return {**by_row(rows, ddl), COMMIT: end}


def schema(table: Table) -> str:
    """The schema; the database again, if the source has no schemas."""
    return table.id.schema or table.id.database


def fields(settings: Settings[BatchedOptions], is_ddl: tuple[str, ...] = ("isDdl",)) -> tuple[Field, ...]:
    """The members in wire order; `is_ddl`: the names of the member that marks DDL."""
    options = settings.options
    row = images(settings, array=True, changed=options.old_image == "changed")
    deleted: dict[str, Any] = {
        name: row.deleted if options.delete_image in (name, "both") else [] for name in ("data", "before")
    }
    event_ms = library_of(settings).event_ms
    number = 0 if options.bid_mode == "zero" else PerChange(lambda batch: batch.envelope.offset)
    schemas = PerTable(lambda table, style: quote(schema(table), style))

    def per_event(of: Any) -> PerEvent:
        return PerEvent(lambda event: of(event, settings))

    def event_schema(event: SchemaChange) -> str:
        table = subject(event, settings)
        return schema(table) if table else event.database

    def event_table(event: SchemaChange) -> str:
        table = subject(event, settings)
        return table.id.name if table else ""

    def after(of: Any) -> PerEvent:
        return PerEvent(lambda event: {column.name: of(column, settings) for column in columns_after(event)})

    return (
        Field("action", {**ROW_ACTIONS, DDL: per_event(action), COMMIT: "QUERY"}),
        Field("before", {**by_kind([], [], []), UPDATE: row.before, DELETE: deleted["before"]}),
        Field("bid", by_kind(number, 0, number)),
        Field("data", {**by_kind(row.inserted, [], []), UPDATE: row.after, DELETE: deleted["data"]}),
        Field("db", by_kind(DATABASE, PerEvent(lambda event: event.database), DATABASE)),
        Field("dbValType", by_kind(types.expressions(settings), after(types.expression), {})),
        *(Field(name, by_kind(False, True, False)) for name in is_ddl),
        Field("entryType", by_kind("ROWDATA", "ROWDATA", "TRANSACTIONEND")),
        Field("execTs", event_ms),
        Field("jdbcType", by_kind(types.codes(settings), after(types.code), {})),
        Field("pks", by_kind(PerTable(key_names), [], [])),
        Field("schema", by_kind(schemas, PerEvent(event_schema), schemas)),
        Field("sendTs", WRITE_MS),
        Field("sql", by_kind("", per_event(sql), "")),
        Field("table", by_kind(TABLE, PerEvent(event_table), "")),
        Field("tableChanges", {DDL: per_event(table_changes)}),
    )


def batched(fields: tuple[Field, ...], settings: Settings[BatchedOptions], sends: frozenset[Kind] = SENDS) -> Layout:
    """The layout of a format with several rows in a message."""
    options, values = settings.options, writer(fields, settings)
    return Layout(
        OneMessage(values, metadata(values, settings, options.delay_ms)),
        routing(settings),
        Batches(options.batch_rows, options.batch_scope if options.batch_rows > 1 else "statement", options.batch_ms),
        sends=sends,
        statements=published(options),
        omits=opens_snapshot,
        known=partial(known, settings),
        remarks=(cut_by_snapshot(partial(is_cut_by_snapshot, settings)),),
        row_images=KEY_ALONE,
        redelivery=CLOUDCANAL,
    )


def layout(settings: Settings[JsonOptions]) -> Layout:
    options = settings.options
    is_ddl = ("isDdl", "ddl") if options.ddl_field == "both" else (options.ddl_field,)
    sends = SENDS | {COMMIT} if options.emit_transaction_end else SENDS
    return batched(fields(settings, is_ddl), settings, sends)


FORMAT = Format(
    id="cloudcanal-json",
    title="CloudCanal Json",
    product=PRODUCT,
    spec=SPEC,
    sources=SOURCES,
    brokers=BROKERS,
    links=LINKS,
    sends=SENDS | {COMMIT},
    silent=frozenset({BEGIN, HEARTBEAT}),
    settings=JsonOptions,
    layout=layout,
)
