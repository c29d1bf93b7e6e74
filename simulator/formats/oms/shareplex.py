"""oms-shareplex: OceanBase Migration Service, serialization method SharePlex.

Spec: "Data formats", OMS Community Edition V3.3.1, "SharePlex-compatible JSON message format".

    {"data":{…},"meta":{"posttime":…,"op":"upd","size":3,"time":…,"idx":"2/3","seq":2,…},"key":{…}}

* Columns, and the members of meta, stand in the order of a Java HashMap.
* `data` of an update has the new values of the changed columns (`{}` where none changed), `key` the whole row before;
  other messages have no `key`.
* Times are local times in `server_timezone`; `seq` is a number, as in the samples (the template has a string).
* Rows of a full synchronization are `ins`; their transaction is null, `size`, `idx`, `seq` and `scn` are absent.
* An update that is sent as DELETE and INSERT is two changes in `seq`, `size` and `idx`, as in OceanBase's log.
* The format has neither DDL nor heartbeats.

SharePlex itself quotes every value and prints an Oracle ROWID.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simulator.batch import ChangeBatch, Envelope, Ints
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.oms.keys import key_values
from simulator.formats.oms.layout import columns_of, hash_map, map_order, sent
from simulator.formats.oms.layout import layout as oms_layout
from simulator.formats.oms.names import database_of
from simulator.formats.oms.options import SharePlexOptions
from simulator.formats.oms.positions import SEQUENCE, as_text, transaction
from simulator.formats.oms.systems import SOURCE, SOURCES
from simulator.formats.oms.types.columns import Columns
from simulator.model import ABSENT, BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, ROW_KINDS, UPDATE, Kind, Table
from simulator.text.json_style import quote
from simulator.text.template import Piece
from simulator.text.timestamps import wall_clock
from simulator.wire.fields import Field, PerChange, PerTable, Rows, number_pieces

OPERATIONS: Final = {READ: "ins", INSERT: "ins", UPDATE: "upd", DELETE: "del"}


def local_time(milliseconds: Callable[[Envelope], Ints], zone: str) -> PerChange:
    """`"2020-11-25T00:01:02"`"""

    def of(batch: ChangeBatch) -> list[Piece]:
        return ['"', wall_clock(milliseconds(batch.envelope) // 1000, zone), '"']

    return PerChange(of)


def index(batch: ChangeBatch) -> list[Piece]:
    """`"2/3"`: the second of three changes."""
    envelope = batch.envelope
    return [*number_pieces('"', envelope.place), *number_pieces("/", envelope.places), '"']


def qualified(table: Table) -> str:
    return f"{database_of(table)}.{table.id.name}"


def meta(settings: Settings[SharePlexOptions], columns: Columns) -> tuple[Field, ...]:
    """The members of meta, in the order in which they are put into the map."""
    options, zone = settings.options, settings.options.server_timezone

    def of_changes(value: Any, *, enabled: bool) -> dict[Kind, Any]:
        return dict.fromkeys((INSERT, UPDATE, DELETE), value if enabled else ABSENT)

    in_transaction = options.transaction_enabled
    return (
        Field("posttime", local_time(lambda envelope: envelope.write_ms, zone)),
        Field("op", OPERATIONS),
        Field("size", of_changes(PerChange(lambda batch: batch.envelope.places), enabled=in_transaction)),
        Field("time", local_time(lambda envelope: envelope.event_ms, zone)),
        Field("idx", of_changes(PerChange(index), enabled=in_transaction)),
        Field("seq", of_changes(PerChange(lambda batch: batch.envelope.place), enabled=in_transaction)),
        Field("table", PerTable(lambda table, style: quote(qualified(table), style))),
        Field("rowid", key_values(columns, lead=lambda table: f"{qualified(table)}-")),
        Field("trans", {**of_changes(transaction(settings), enabled=True), READ: None}),
        Field("scn", of_changes(as_text(SEQUENCE), enabled=options.sequence_enabled)),
    )


def fields(settings: Settings[SharePlexOptions], columns: Columns) -> list[Field]:
    members = meta(settings, columns)
    after, before = Rows("after", array=False), Rows("before", array=False)
    return [
        Field("data", {READ: after, INSERT: after, UPDATE: Rows("changed after", array=False), DELETE: before}),
        Field("meta", {kind: hash_map(members, kind) for kind in ROW_KINDS}),
        Field("key", {UPDATE: before}),
    ]


def layout(settings: Settings[SharePlexOptions], columns: Columns | None = None) -> Layout:
    columns = columns or columns_of(settings)
    sequence = "scn" if settings.options.sequence_enabled else ""
    order = map_order(settings)
    return oms_layout(settings, columns, fields(settings, columns), sends=sent(), order=order, sequence=sequence)


FORMAT = Format(
    id="oms-shareplex",
    title="OMS SharePlex",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, SharePlex",
    sources=SOURCES,
    source=SOURCE,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE}),
    silent=frozenset({DDL, BEGIN, COMMIT, HEARTBEAT}),
    settings=SharePlexOptions,
    layout=layout,
)
