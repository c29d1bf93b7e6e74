"""drs-json: Huawei Cloud DRS, "JSON".

Spec: "Kafka Message Format" (page of 2024-03-28), tables 2 to 4, their samples and table 6; its Chinese edition of
2025-11 for `sql` of rows ("") and `old` of inserts (null). The layout depends on the source:

| source | layout |
| --- | --- |
| MySQL, TaurusDB | table 2: mysqlType, id, es, ts, database, table, type, isDdl, sql, sqlType, data, old, pkNames |

What stands out:

* Columns stand in the order of a java.util.HashMap, in all maps alike; Gson's HTML-safe escapes (table 6).
* Every value is a string, SQL NULL is null; `old` of an update has all columns; a deleted row is in `old`, `data` is
  null.
* One row a message. No member is ever left out.
* `type` of DDL is DDL whatever the statement; INIT and INIT_DDL in the full load.
* `id` counts everything that DRS sees, so it has gaps; `es` has whole seconds, as the binary log.

Decided here, for lack of a word in the page: INIT_DDL is a CREATE TABLE before the rows of each table; the table of DDL
is "" (`ddl_table=name`); `es` of the full load has milliseconds; names are written as they are (the sample's `test ` is
taken for a slip of the page).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats import drs
from simulator.formats.canal_json import by_row, es
from simulator.formats.drs import System
from simulator.formats.drs_systems import system_of
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, Column, Event, Kind, SchemaChange, Table
from simulator.wire import json_style
from simulator.wire.fields import Encoder, Field, PerChange, PerEvent, PerTable, Rows
from simulator.wire.format import Format, Layout, Option, Settings
from simulator.wire.json_style import Style, quote


def map_of(value: Any, settings: Settings) -> PerTable:
    """A map with a JSON text per column: `value(column, style)`."""
    order = drs.order(settings)

    def text(table: Table, style: Style) -> str:
        columns = [table.columns[i] for i in order([column.name for column in table.columns], len(table.columns))]
        return "{" + ",".join(f"{quote(c.name, style)}:{value(c, style)}" for c in columns) + "}"

    return PerTable(text)


def ddl_table(settings: Settings) -> PerEvent:
    """The topic's variable of the table is empty for DDL, so the member is, too; or the table that is named first."""

    def name(event: SchemaChange) -> str:
        table = event.before or event.after
        return table.id.name if table and settings["ddl_table"] == "name" else ""

    return PerEvent(name)


def batch_time(batch: ChangeBatch) -> Any:
    """The binary log has seconds only; rows of the full load have the time at which they were read."""
    return batch.envelope.event_ms if batch.kind is READ else es(batch.envelope.event_ms)


def single_time(event: Event) -> int:
    """`es` of a statement; those of the full load stand before the stream."""
    return event.event_ms if event.order.phase == 0 else event.event_ms - event.event_ms % 1000


def ddl_word(event: Event) -> str:
    """`type` of a statement."""
    return "DDL" if event.order.phase else "INIT_DDL"


def mysql_fields(settings: Settings, system: System) -> tuple[Field, ...]:
    """Table 2, in the order of its sample."""
    types = map_of(lambda column, style: quote(system.type_name(column), style), settings)
    return (
        Field("mysqlType", by_row(types)),
        Field("id", PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)),
        Field("es", PerChange(batch_time, single_time)),
        Field("ts", PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)),
        Field(
            "database",
            by_row(
                PerTable(lambda table, style: quote(table.id.database, style)), PerEvent(lambda event: event.database)
            ),
        ),
        Field("table", by_row(PerTable(lambda table, style: quote(table.id.name, style)), ddl_table(settings))),
        Field("type", {**WORDS, DDL: PerEvent(ddl_word)}),
        Field("isDdl", by_row(False, True)),
        Field("sql", by_row("", PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(map_of(lambda column, style: str(system.code(column)), settings))),
        Field("data", {**by_row(Rows("after")), DELETE: None}),
        Field("old", {**by_row(None), UPDATE: Rows("before"), DELETE: Rows("before")}),
        Field("pkNames", by_row(drs.PK_NAMES)),
    )


WORDS: Final = {READ: "INIT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}


class FullLoad:
    """Writes rows of the full load in one way and everything else in another."""

    def __init__(self, full: Encoder, rest: Encoder) -> None:
        self._full, self._rest = full, rest

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        return (self._full if packed.changes.kind is READ else self._rest).encode(packed, end)

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        return self._rest.encode_event(event, kind)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        return self._rest.text(column, array)


def layout(settings: Settings, format: str = "drs-json", changes: Sequence[Field] = ()) -> Layout:
    """How the source's changes are written; `changes` are fields that a dialect has otherwise."""
    settings = Settings({"timestamps": "epoch", **settings.values}, settings.source)
    system = system_of(settings.source, format)
    order, style = drs.order(settings), json_style.HTML_SAFE
    fields = mysql_fields(settings, system)
    changed = {field.name: field for field in changes}
    fields = tuple(changed.get(field.name, field) for field in fields)
    full = Encoder(fields, lambda column: system.cell(column, settings, READ), style, order)
    rest = Encoder(fields, lambda column: system.cell(column, settings, None), style, order)
    return Layout(
        fields=fields,
        cell=lambda column: system.cell(column, settings, None),
        style=style,
        routing=drs.routing(settings, format, system),
        order=order,
        writer=FullLoad(full, rest) if settings["init_binary"] == "padded" else None,
        sends=drs.sends(settings, system),
        snapshot_ddl=True,
    )


DDL_TABLE: Final = Option("ddl_table", "empty", "`table` of DDL: empty, or the table's name.", ("empty", "name"))

FORMAT = Format(
    id="drs-json",
    title="DRS JSON",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("mysql",),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    options=(
        *drs.OPTIONS,
        *drs.MYSQL_OPTIONS,
        DDL_TABLE,
    ),
    layout=layout,
)
