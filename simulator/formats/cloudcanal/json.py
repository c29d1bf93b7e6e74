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

Decisions where the page is silent: deleted rows are in `data` (`delete_image`), nulls are written (`null_columns`),
`before` has all columns (`old_image`), `bid` is a number that rises from message to message and 0 for DDL
(`bid_mode=zero`: always), a row of the full load is an INSERT, heartbeats and transaction marks are not sent.
`emit_transaction_end=on` sends TRANSACTIONEND, whose shape is ours.
"""

from __future__ import annotations

from typing import Any, Final

from simulator.batch import ChangeBatch
from simulator.formats.cloudcanal import envelope as cloudcanal
from simulator.formats.cloudcanal.envelope import (
    ACTIONS,
    action,
    schema_of,
    source_ms,
    statement_columns,
    statement_table,
    statement_text,
)
from simulator.formats.cloudcanal.metadata import metadata
from simulator.formats.cloudcanal.options import BatchedOptions, CommonOptions, JsonOptions
from simulator.formats.cloudcanal.types import code, expression, is_mysql
from simulator.formats.cloudcanal.values import writer
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import key_names
from simulator.model import (
    ABSENT,
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    ROW_KINDS,
    UPDATE,
    Kind,
    SchemaChange,
    Table,
)
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, PerChange, PerEvent, PerTable


def by_kind(rows: Any, ddl: Any, mark: Any = ABSENT) -> dict[Kind, Any]:
    """The same for all kinds that change rows, another for DDL, another for the end of a transaction."""
    return {**dict.fromkeys(ROW_KINDS, rows), DDL: ddl, COMMIT: mark}


def number(settings: Settings[BatchedOptions]) -> dict[Kind, Any]:
    """`bid` and `id`: a number of the message's first change, which rises with gaps; 0 for DDL."""
    if settings.options.bid_mode == "zero":
        return by_kind(0, 0, 0)
    counted = PerChange(lambda batch: batch.envelope.offset)
    return by_kind(counted, 0, counted)


def statement_types(settings: Settings[BatchedOptions]) -> PerEvent:
    """Column name to `dbValType` after a statement."""
    return PerEvent(lambda event: {c.name: expression(c, settings) for c in statement_columns(event)})


def statement_codes(settings: Settings[BatchedOptions]) -> PerEvent:
    """Column name to `jdbcType` after a statement."""
    return PerEvent(lambda event: {c.name: code(c, settings) for c in statement_columns(event)})


def changes(settings: Settings[CommonOptions]) -> PerEvent:
    """`tableChanges`, of the MySQL family alone, and where there is a table."""

    def of(event: SchemaChange) -> Any:
        if not is_mysql(settings) or statement_table(event, settings) is None:
            return ABSENT
        return cloudcanal.table_changes(event, settings)

    return PerEvent(of)


def times(settings: Settings[BatchedOptions]) -> tuple[PerChange, PerChange]:
    """When it happened at the source, and when it was sent. A message has the time of its last row, and its rows are
    of one transaction."""

    def happened(batch: ChangeBatch) -> Any:
        return source_ms(settings, batch.envelope.event_ms)

    return (
        PerChange(happened, lambda event: source_ms(settings, event.event_ms)),
        PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms),
    )


def table_name(settings: Settings[BatchedOptions]) -> PerEvent:
    """The table of a statement, "" for one about a database."""

    def name(event: SchemaChange) -> str:
        table = statement_table(event, settings)
        return table.id.name if table else ""

    return PerEvent(name)


def _schema(table: Table, style: Style) -> str:
    return quote(schema_of(table), style)


def _event_schema(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    table = statement_table(event, settings)
    return schema_of(table) if table else event.database


def fields(settings: Settings[JsonOptions]) -> tuple[Field, ...]:
    """The members in wire order."""
    images = cloudcanal.images(settings)
    happened, sent = times(settings)
    database = PerTable(lambda table, style: quote(table.id.database, style))
    schema = PerTable(_schema)
    is_ddl = [name for name in ("isDdl", "ddl") if settings.options.ddl_field in (name, "both")]
    return (
        Field("action", {**ACTIONS, DDL: PerEvent(lambda event: action(event, settings)), COMMIT: "QUERY"}),
        Field("before", {**images["before"], COMMIT: []}),
        Field("bid", number(settings)),
        Field("data", {**images["data"], COMMIT: []}),
        Field("db", by_kind(database, PerEvent(lambda event: event.database), database)),
        Field("dbValType", by_kind(cloudcanal.type_map(settings), statement_types(settings), {})),
        *(Field(name, by_kind(False, True, False)) for name in is_ddl),
        Field("entryType", by_kind("ROWDATA", "ROWDATA", "TRANSACTIONEND")),
        Field("execTs", happened),
        Field("jdbcType", by_kind(cloudcanal.code_map(settings), statement_codes(settings), {})),
        Field("pks", by_kind(PerTable(key_names), [], [])),
        Field("schema", by_kind(schema, PerEvent(lambda event: _event_schema(event, settings)), schema)),
        Field("sendTs", sent),
        Field("sql", by_kind("", PerEvent(lambda event: statement_text(event, settings)), "")),
        Field(
            "table",
            by_kind(PerTable(lambda table, style: quote(table.id.name, style)), table_name(settings), ""),
        ),
        Field("tableChanges", {DDL: changes(settings)}),
    )


SENDS: Final = frozenset({READ, INSERT, UPDATE, DELETE, DDL})


def batched(fields: tuple[Field, ...], settings: Settings[BatchedOptions], sends: frozenset[Kind]) -> Layout:
    """The layout of a format with several rows in a message."""
    made = writer(fields, settings)
    return Layout(
        made,
        cloudcanal.routing(settings),
        cloudcanal.packing(settings),
        metadata(made, settings, settings.options.delay_ms),
        sends=sends,
        statements=cloudcanal.statements(settings),
        sources=cloudcanal.LINKS[settings.broker],
    )


def layout(settings: Settings[JsonOptions]) -> Layout:
    return batched(fields(settings), settings, SENDS | {COMMIT} if settings.options.emit_transaction_end else SENDS)


FORMAT = Format(
    id="cloudcanal-json",
    title="CloudCanal Json",
    product=cloudcanal.PRODUCT,
    spec=cloudcanal.SPEC,
    sources=cloudcanal.SOURCES,
    brokers=("kafka", "rocketmq", "rabbitmq"),
    sends=SENDS | {COMMIT},
    silent=frozenset({BEGIN, HEARTBEAT}),
    settings=JsonOptions,
    layout=layout,
)
