"""oms-shareplex: OceanBase Migration Service, serialization method SharePlex.

Spec: "Data formats", OMS Community Edition V3.3.1, "SharePlex-compatible JSON message format". How values look is
`values`, what the five formats share `envelope`. Here:

    {"data":{…},"meta":{"posttime":…,"op":"upd","size":3,"time":…,"idx":"2/3","seq":2,…},"key":{…}}

* columns, and the members of meta, stand in the order of a Java HashMap;
* data of an update has the new values of the columns that changed (`{}` where none did), key the whole row before;
  other records have no key;
* times are a clock on the wall in `server_timezone`; seq is a number, as in the samples (the template has a string);
* rows of a full synchronization are `ins` without place and sequence, their transaction null;
* neither DDL nor heartbeats are part of the format.

SharePlex itself quotes every value and prints an Oracle ROWID.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.oms import envelope as oms
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.envelope import by_row
from simulator.formats.oms.options import SharePlexOptions
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, ROW_KINDS, UPDATE, Table
from simulator.text.json_style import quote
from simulator.text.template import join
from simulator.text.timestamps import wall_clock
from simulator.wire.fields import Field, PerChange, PerTable, Rows, number_pieces

OPERATIONS: Final = {READ: "ins", INSERT: "ins", UPDATE: "upd", DELETE: "del"}


def clock(name: str, zone: str) -> PerChange:
    """A time of the envelope as the zone's clocks show it."""

    def of(batch: ChangeBatch) -> pa.Array:
        return join(['"', wall_clock(getattr(batch.envelope, name) // 1000, zone), '"'], len(batch))

    return PerChange(of)


def place(batch: ChangeBatch) -> pa.Array:
    """`"2/3"`: the second of three changes."""
    envelope = batch.envelope
    return join([*number_pieces('"', envelope.seq), *number_pieces("/", envelope.size), '"'], len(batch))


def qualified(table: Table) -> str:
    return f"{oms.database_of(table)}.{table.id.name}"


def meta(settings: Settings[SharePlexOptions], columns: Columns) -> tuple[Field, ...]:
    """The members of meta, put into the map in this order."""
    zone = settings.options.server_timezone
    change: Final = (INSERT, UPDATE, DELETE)
    fields = [
        Field("posttime", clock("write_ms", zone)),
        Field("op", OPERATIONS),
        Field("size", dict.fromkeys(change, PerChange(lambda batch: batch.envelope.size))),
        Field("time", clock("event_ms", zone)),
        Field("idx", dict.fromkeys(change, PerChange(place))),
        Field("seq", dict.fromkeys(change, PerChange(lambda batch: batch.envelope.seq))),
        Field("table", PerTable(lambda table, style: quote(qualified(table), style))),
        Field("rowid", oms.key_values(columns, lead=lambda table: f"{qualified(table)}-")),
        Field("trans", by_row(oms.transaction(settings)) | {READ: None}),
        Field("scn", dict.fromkeys(change, oms.as_text(oms.SEQUENCE_NUMBER))),
    ]
    left_out = set() if settings.options.transaction_enabled else {"size", "idx", "seq"}
    if not settings.options.sequence_enabled:
        left_out.add("scn")
    return tuple(field for field in fields if field.name not in left_out)


def fields(settings: Settings[SharePlexOptions], columns: Columns) -> list[Field]:
    members = meta(settings, columns)
    after, before = Rows("after", array=False), Rows("before", array=False)
    return [
        Field("data", {READ: after, INSERT: after, UPDATE: Rows("changed after", array=False), DELETE: before}),
        Field("meta", {kind: oms.hashed(members, kind) for kind in ROW_KINDS}),
        Field("key", {UPDATE: before}),
    ]


def layout(settings: Settings[SharePlexOptions], columns: Columns | None = None) -> Layout:
    columns, order = columns or Columns(settings), oms.order(settings)
    return oms.layout(settings, columns, fields(settings, columns), sends=oms.sent(settings), order=order)


FORMAT = Format(
    id="oms-shareplex",
    title="OMS SharePlex",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, SharePlex",
    sources=oms.SOURCES,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE}),
    silent=frozenset({DDL, BEGIN, COMMIT, HEARTBEAT}),
    settings=SharePlexOptions,
    layout=layout,
)
