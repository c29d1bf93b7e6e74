"""oms-canal-json: OceanBase Migration Service, serialization method Canal.

Spec: "Data formats", OMS Community Edition V3.3.1, "Canal-compatible JSON message format". How values look is
`values`, what the five formats share `envelope`. Against open-source Canal:

* columns, and the members themselves, stand in the order of a Java HashMap; there is no `id` and no `gtid`;
* numbers are bare, all else is strings; TIMESTAMP is seconds since 1970; ENUM and SET are labels; bytes are Base64;
* one row a message; `old` of an update has the columns that changed, `[{}]` where none did, and is null elsewhere;
* mysqlType has no parameters, sqlType of FLOAT is 6;
* rows of a full synchronization are ROW (`canal_full_type=INSERT`: as readers of Canal know them);
* DDL, of which the page of V3.3.1 says nothing, is written from `version=4` on (`canal_ddl`), in Canal's words.
"""

from __future__ import annotations

from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import key_names
from simulator.formats.oms import envelope as oms
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.envelope import by_row
from simulator.formats.oms.options import CanalOptions
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Table
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, Order, PerEvent, PerTable, Rows


def type_names(columns: Columns, order: Order) -> PerTable:
    def text(table: Table, style: Style) -> str:
        places = order([column.name for column in table.columns], len(table.columns))
        shown = [table.columns[place] for place in places]
        return "{" + ",".join(f"{quote(c.name, style)}:{quote(columns.name(c).lower(), style)}" for c in shown) + "}"

    return PerTable(text)


def type_codes(columns: Columns, order: Order) -> PerTable:
    def text(table: Table, style: Style) -> str:
        places = order([column.name for column in table.columns], len(table.columns))
        shown = [table.columns[place] for place in places]
        return "{" + ",".join(f"{quote(column.name, style)}:{columns.code(column)}" for column in shown) + "}"

    return PerTable(text)


def fields(settings: Settings[CanalOptions], columns: Columns, order: Order) -> list[Field]:
    """The members, in the order of a HashMap of them."""
    words = PerEvent(lambda event: oms.WORDS[event.kind])
    members = [
        Field("database", by_row(oms.DATABASE, DDL=PerEvent(oms.database_name))),
        Field("sqlType", by_row(type_codes(columns, order), DDL=None)),
        Field("data", by_row(Rows("after"), DDL=None) | {DELETE: Rows("before")}),
        Field("pkNames", by_row(PerTable(key_names), DDL=None)),
        Field("old", by_row(None, DDL=None) | {UPDATE: Rows("changed")}),
        Field("mysqlType", by_row(type_names(columns, order), DDL=None)),
        Field(
            "type",
            {READ: settings.options.canal_full_type, INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: words},
        ),
        Field("table", by_row(oms.TABLE, DDL=PerEvent(lambda event: oms.table_name(event) or ""))),
        Field("es", oms.EVENT_MS),
        Field("isDdl", by_row(False, DDL=True)),
        Field("ts", oms.WRITE_MS),
        Field("sql", by_row("", DDL=PerEvent(lambda event: event.sql))),
    ]
    return [members[i] for i in hash_order([field.name for field in members])]


def layout(settings: Settings[CanalOptions], columns: Columns | None = None) -> Layout:
    columns, order = columns or Columns(settings, bigint=settings.options.bigint_type_name), oms.order(settings)
    statements = settings.options.canal_ddl or ("off" if settings.options.version < "4" else "canal")
    sends = oms.sent(settings, (DDL, statements == "canal"))
    return oms.layout(settings, columns, fields(settings, columns, order), sends=sends, order=order)


FORMAT = Format(
    id="oms-canal-json",
    title="OMS Canal",
    product="OceanBase Migration Service",
    spec="Data formats, OMS Community Edition V3.3.1, Canal",
    sources=oms.SOURCES,
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
