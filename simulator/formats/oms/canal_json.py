"""oms-canal-json: OceanBase Migration Service, serialization method Canal.

Spec: "Data formats", OMS Community Edition V3.3.1, "Canal-compatible JSON message format". Differs from open-source
Canal in:

* columns, and the members themselves, stand in the order of a Java HashMap; `id` and `gtid` are absent;
* numbers are bare, other values are strings; TIMESTAMP is seconds since 1970; ENUM and SET are labels, bytes Base64;
* a message has one row; `old` of an update has the changed columns, `[{}]` where none changed; otherwise it is null;
* mysqlType has no parameters; sqlType of FLOAT is 6;
* rows of a full synchronization are ROW (`canal_full_type=INSERT`: as readers of Canal expect them);
* the page of V3.3.1 says nothing of DDL; it is written from `version=4` on (`canal_ddl`), in Canal's words.
"""

from __future__ import annotations

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import EVENT_SECOND_MS, TABLE, WRITE_MS, by_row, per_column, row_key_names
from simulator.formats.oms.layout import columns_of, map_order, sent
from simulator.formats.oms.layout import layout as oms_layout
from simulator.formats.oms.names import DATABASE, event_database, event_table, word
from simulator.formats.oms.options import CanalOptions
from simulator.formats.oms.systems import SOURCE, SOURCES
from simulator.formats.oms.types.columns import Columns
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE
from simulator.text.java.hash_map import hash_order
from simulator.wire.fields import Field, PerEvent, PerTable, Rows


def fields(settings: Settings[CanalOptions], columns: Columns) -> list[Field]:
    """The members, in the order of a HashMap of them."""
    order, read = map_order(settings), settings.options.canal_full_type
    types = {READ: read, INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: PerEvent(word)}
    members = [
        Field("database", by_row(DATABASE, PerEvent(event_database))),
        Field("sqlType", by_row(per_column(columns.code, order))),
        Field("data", {**by_row(Rows("after")), DELETE: Rows("before")}),
        Field("pkNames", by_row(PerTable(row_key_names))),
        Field("old", {**by_row(None), UPDATE: Rows("changed")}),
        Field("mysqlType", by_row(per_column(lambda column: columns.name(column).lower(), order))),
        Field("type", types),
        Field("table", by_row(TABLE, PerEvent(lambda event: event_table(event) or ""))),
        Field("es", EVENT_SECOND_MS),
        Field("isDdl", by_row(False, True)),
        Field("ts", WRITE_MS),
        Field("sql", by_row("", PerEvent(lambda event: event.sql))),
    ]
    return [members[i] for i in hash_order([field.name for field in members])]


def layout(settings: Settings[CanalOptions], columns: Columns | None = None) -> Layout:
    options = settings.options
    columns = columns or columns_of(settings, bigint=options.bigint_type_name)
    ddl = options.canal_ddl or ("off" if options.version < "4" else "canal")
    sends = sent((DDL, ddl == "canal"))
    return oms_layout(settings, columns, fields(settings, columns), sends=sends, order=map_order(settings))


FORMAT = Format(
    id="oms-canal-json",
    title="OMS Canal",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Canal",
    sources=SOURCES,
    source=SOURCE,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
