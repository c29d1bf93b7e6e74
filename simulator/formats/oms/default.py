"""oms-default: OceanBase Migration Service, serialization method Default, to Kafka and RocketMQ.

Spec: "Data formats", OMS Community Edition V3.3.1, "Default JSON message format"; of newer versions for `version=4`. A
consumer written against real OMS output (wentaojin/dbms, message/oceanbase) for keys, DDL and full synchronization.

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
* The checkpoint is the second of the change or heartbeat, as in all samples of Dataworks (decided here, as are the
  names and numbers of tenant, log stream, cluster and subtopic).
* Keys and values of DDL, and keys, values, table and database of heartbeats are null.
"""

from __future__ import annotations

from typing import Any, Final

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import TABLE
from simulator.formats.oms import positions
from simulator.formats.oms.keys import key_object, key_values
from simulator.formats.oms.layout import columns_of, hash_map, sent
from simulator.formats.oms.layout import layout as oms_layout
from simulator.formats.oms.names import DATABASE, STATEMENTS, database_of, db_type, event_database, event_table
from simulator.formats.oms.options import DefaultOptions
from simulator.formats.oms.routing import SEPARATOR
from simulator.formats.oms.systems import SOURCE, SOURCES, system_of
from simulator.formats.oms.types.columns import Columns
from simulator.model import ABSENT, BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Kind, Table
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


def by_record(changes: Any, *, row: Any, ddl: Any, heartbeat: Any = None) -> dict[Kind, Any]:
    """The value in inserts, updates and deletes, in rows of a full synchronization, in DDL and in heartbeats."""
    return {READ: row, INSERT: changes, UPDATE: changes, DELETE: changes, DDL: ddl, HEARTBEAT: heartbeat}


def key_names(table: Table, style: Style) -> str:
    return quote(SEPARATOR.join(table.row_key), style) if table.row_key else "null"


SECONDS: Final = positions.as_text(
    PerChange(lambda batch: batch.envelope.event_ms // 1000, lambda event: event.event_ms // 1000)
)


def meta(settings: Settings[DefaultOptions], columns: Columns) -> tuple[Field, ...]:
    """The members of allMetaData, in the order in which they are put into the map."""
    options = settings.options
    tenant = f"{options.tenant}." if options.include_tenant_in_db and system_of(settings).tenants else ""
    databases = PerTable(lambda table, style: quote(tenant + database_of(table), style)) if tenant else DATABASE
    ddl_database = PerEvent(lambda event: tenant + event_database(event))
    ddl_type = PerEvent(lambda event: STATEMENTS[event.statement].ddl_type)
    sequence = positions.SEQUENCE if options.sequence_enabled else ABSENT
    subtopic, unique_id = options.source_identity, positions.unique_id(settings)
    key, names = key_values(columns), PerTable(key_names)
    trans_id = positions.transaction(settings) if options.extended_meta else ABSENT
    cluster_id = options.cluster_id if options.extended_meta else ABSENT
    return (
        Field("checkpoint", by_record(SECONDS, row=key_object(columns), ddl=SECONDS, heartbeat=SECONDS)),
        Field("record_primary_key", by_record(names, row=names, ddl=None)),
        Field("source_identity", by_record(subtopic, row="0", ddl=subtopic, heartbeat=subtopic)),
        Field("record_primary_value", by_record(key, row=key, ddl=None)),
        Field("transId", by_record(trans_id, row=ABSENT, ddl=trans_id, heartbeat=ABSENT)),
        Field("dbType", db_type(settings)),
        Field("storeDataSequence", by_record(sequence, row=ABSENT, ddl=sequence, heartbeat=ABSENT)),
        Field("clusterId", cluster_id),
        Field("ddlType", {DDL: ddl_type} if options.version >= "4" else ABSENT),
        Field("table_name", by_record(TABLE, row=TABLE, ddl=PerEvent(event_table))),
        Field("db", by_record(databases, row=databases, ddl=ddl_database)),
        Field(
            "uniqueId", by_record(unique_id, row=ABSENT, ddl=None, heartbeat=ABSENT) if options.unique_id else ABSENT
        ),
        Field("timestamp", by_record(SECONDS, row=ABSENT, ddl=SECONDS, heartbeat=SECONDS)),
    )


def fields(settings: Settings[DefaultOptions], columns: Columns, tail: PerTable | None = None) -> list[Field]:
    """The record; `tail` is a last member of rows."""
    after, before = Rows("after", array=False, tail=tail), Rows("before", array=False, tail=tail)
    members = meta(settings, columns)
    record = [
        Field("allMetaData", {kind: hash_map(members, kind) for kind in RECORD_TYPES}),
        Field("prevStruct", {**by_record(None, row=None, ddl=None), UPDATE: before, DELETE: before}),
        Field(
            "postStruct", {**by_record(after, row=after, ddl=PerEvent(lambda event: {"ddl": event.sql})), DELETE: None}
        ),
        Field("recordType", RECORD_TYPES),
    ]
    # the map was made with room for four, so it has eight buckets
    return [record[i] for i in hash_order([field.name for field in record], initial=4)]


def layout(settings: Settings[DefaultOptions], columns: Columns | None = None, tail: PerTable | None = None) -> Layout:
    columns, options = columns or columns_of(settings), settings.options
    sends = sent((DDL, options.ddl), (HEARTBEAT, options.heartbeat))
    sequence = "storeDataSequence" if options.sequence_enabled else ""
    return oms_layout(settings, columns, fields(settings, columns, tail), sends=sends, sequence=sequence)


FORMAT = Format(
    id="oms-default",
    title="OMS Default",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Default",
    sources=SOURCES,
    source=SOURCE,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, HEARTBEAT}),
    silent=frozenset({BEGIN, COMMIT}),
    settings=DefaultOptions,
    layout=layout,
)
