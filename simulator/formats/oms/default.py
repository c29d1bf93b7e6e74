"""oms-default: OceanBase Migration Service, serialization method Default, to Kafka and RocketMQ.

Spec: "Data formats", OMS Community Edition V3.3.1, "Default JSON message format". How values look is `values`, what
the five formats share `envelope`. Here:

    {"allMetaData":{…},"prevStruct":…,"recordType":"UPDATE","postStruct":…}

| record | prevStruct | postStruct | left out of allMetaData |
| --- | --- | --- | --- |
| INSERT | null | the row | |
| UPDATE | the row before | the row after | |
| DELETE | the row | null | |
| ROW (full synchronization) | null | the row | storeDataSequence, uniqueId, timestamp |
| DDL | null | `{"ddl":"…"}` | |
| HEARTBEAT (`heartbeat=on`) | null | null | storeDataSequence, uniqueId |

* Members stand in the order of a Java HashMap, columns in that of the table.
* In a full synchronization the checkpoint is the row's key as JSON text, the source "0".
* `version=4`: ddlType of DDL records; `extended_meta=on`: transId and clusterId, as newer versions write them.
* Keys, values and times of DDL and heartbeats that have none are null.
"""

from __future__ import annotations

from typing import Any, Final

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.oms import envelope as oms
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.envelope import by_row
from simulator.formats.oms.options import DefaultOptions
from simulator.formats.oms.routing import SEPARATOR
from simulator.model import (
    ABSENT,
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    UPDATE,
    Kind,
    Table,
)
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, PerChange, PerEvent, PerTable, Rows

RECORD_TYPES: Final = {
    READ: "ROW",
    INSERT: "INSERT",
    UPDATE: "UPDATE",
    DELETE: "DELETE",
    DDL: "DDL",
    HEARTBEAT: "HEARTBEAT",
}


def database(settings: Settings[DefaultOptions]) -> dict[Kind, Any]:
    """`{tenant}.{database}` of an OceanBase."""
    tenant = (
        f"{settings.options.tenant}." if settings.options.include_tenant_in_db and oms.in_oceanbase(settings) else ""
    )
    return by_row(
        PerTable(lambda table, style: quote(tenant + oms.database_of(table), style)),
        DDL=PerEvent(lambda event: tenant + oms.database_name(event)),
        HEARTBEAT=None,
    )


def key_names(table: Table, style: Style) -> str:
    return quote(SEPARATOR.join(table.primary_key), style) if table.primary_key else "null"


SECONDS: Final = PerChange(lambda batch: batch.envelope.event_ms // 1000, lambda event: event.event_ms // 1000)
SECOND_BEFORE: Final = PerChange(
    lambda batch: batch.envelope.event_ms // 1000 - 1, lambda event: event.event_ms // 1000 - 1
)


def meta(settings: Settings[DefaultOptions], columns: Columns) -> tuple[Field, ...]:
    """The members of allMetaData, put into the map in this order."""
    sequence = oms.SEQUENCE_NUMBER if settings.options.sequence_enabled else ABSENT
    timestamp = oms.as_text(SECONDS)
    fields = [
        Field(
            "checkpoint",
            by_row(oms.as_text(SECOND_BEFORE), DDL=oms.as_text(SECOND_BEFORE), HEARTBEAT=timestamp)
            | {READ: oms.key_object(columns)},
        ),
        Field("record_primary_key", by_row(PerTable(key_names), DDL=None, HEARTBEAT=None)),
        Field(
            "source_identity",
            by_row(
                settings.options.source_identity,
                DDL=settings.options.source_identity,
                HEARTBEAT=settings.options.source_identity,
            )
            | {READ: "0"},
        ),
        Field("record_primary_value", by_row(oms.key_values(columns), DDL=None, HEARTBEAT=None)),
        Field("transId", by_row(oms.transaction(settings), DDL=oms.transaction(settings)) | {READ: ABSENT}),
        Field("dbType", oms.db_type(settings)),
        Field("storeDataSequence", by_row(sequence, DDL=sequence) | {READ: ABSENT}),
        Field("clusterId", settings.options.cluster_id),
        Field("ddlType", {DDL: PerEvent(lambda event: oms.DDL_TYPES[event.kind])}),
        Field("table_name", by_row(oms.TABLE, DDL=PerEvent(oms.table_name), HEARTBEAT=None)),
        Field("db", database(settings)),
        Field("uniqueId", by_row(oms.unique_id(settings), DDL=None) | {READ: ABSENT}),
        Field("timestamp", by_row(timestamp, DDL=timestamp, HEARTBEAT=timestamp) | {READ: ABSENT}),
    ]
    left_out = set() if settings.options.extended_meta else {"transId", "clusterId"}
    if settings.options.version < "4":
        left_out.add("ddlType")
    return tuple(field for field in fields if field.name not in left_out)


def fields(settings: Settings[DefaultOptions], columns: Columns, tail: PerTable | None = None) -> list[Field]:
    """The record; `tail` is what stands behind the columns of a row."""
    after, before = Rows("after", array=False, tail=tail), Rows("before", array=False, tail=tail)
    members = meta(settings, columns)
    record = [
        Field("allMetaData", {kind: oms.hashed(members, kind) for kind in RECORD_TYPES}),
        Field("prevStruct", {**by_row(None, DDL=None, HEARTBEAT=None), UPDATE: before, DELETE: before}),
        Field(
            "postStruct",
            {**by_row(after, DDL=PerEvent(lambda event: {"ddl": event.sql}), HEARTBEAT=None), DELETE: None},
        ),
        Field("recordType", RECORD_TYPES),
    ]
    # made with room for four: a map of four members has eight buckets
    return [record[i] for i in hash_order([field.name for field in record], initial=4)]


def layout(settings: Settings[DefaultOptions], columns: Columns | None = None, tail: PerTable | None = None) -> Layout:
    columns = columns or Columns(settings)
    sends = oms.sent(settings, (DDL, settings.options.ddl), (HEARTBEAT, settings.options.heartbeat))
    return oms.layout(settings, columns, fields(settings, columns, tail), sends=sends)


FORMAT = Format(
    id="oms-default",
    title="OMS Default",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Default",
    sources=oms.SOURCES,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, HEARTBEAT}),
    silent=frozenset({BEGIN, COMMIT}),
    settings=DefaultOptions,
    layout=layout,
)
