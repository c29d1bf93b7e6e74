"""dts-canal-json: Alibaba Cloud DTS, "Canal Json", synchronisation and migration to a message queue.

Spec: "Data storage formats in message queues" (page of 2026-02-07). Stands on canal-json. Differs in:

* one row per message; type INIT for rows of the full load, DDL for every statement;
* null members are left out, as in every published example (`null_members=null` writes them);
* `old` of an update has all columns, as the page says (`old_columns=changed`: Canal's way);
* instances created before 2022-03-20 put a deleted row into `old` and exchange the images of an update;
* mysqlType without parameters; sqlType are Canal's JDBC codes by declared type, nulls alike; of other sources
  than MySQL their own names of types and dataTypeNumbers;
* database is Oracle's owner; the table stands alone (`table_name=schema`: behind its schema);
* values: decimals with their scale, labels of ENUM and SET, fractions without trailing zeros, TIMESTAMP at +08:00;
* `id` is a number of the record, not of a batch (`id_style=ts_offset`: made of es, as the page says of it); gtid is the
  transaction's own;
* topics and partitions as in `delivery`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import numbers
from simulator.formats.canal import cells as canal_cells
from simulator.formats.canal import json as canal_json
from simulator.formats.canal import options as canal_options
from simulator.formats.dts import delivery as dts_delivery
from simulator.formats.dts.options import CanalOptions
from simulator.formats.dts.systems import check, number_of, system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import by_row, key_names, per_entry
from simulator.model import (
    ABSENT,
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    SECOND_NUMBERS,
    UPDATE,
    Column,
    Kind,
    Table,
)
from simulator.sources import mysql
from simulator.sources.mysql.log import MysqlLog
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Codes, Field, PerChange, PerEvent, PerTable, Rows, derived

# Members that are left out where they are null.
NULLABLE: Final = ("data", "gtid", "mysqlType", "old", "pkNames", "sqlType")


def code_cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """A column's sqlType: the same for all values, except of unsigned columns with by_value."""
    system, options = system_of(settings.source), settings.options
    type = system.logged_as.get(column.type.name, column.type)
    if options.sql_type == "dts_number" or not system.mysql:
        return Cell(decoded, quoted=False, constant=str(number_of(settings.source, column.type)))
    code = mysql.TYPES[type.name].jdbc
    if not type.unsigned or type.name not in canal_cells.PROMOTED:
        return Cell(decoded, quoted=False, constant=str(code))
    high, promoted = canal_cells.PROMOTED[type.name]
    if options.unsigned_sql_type == "declared":
        return Cell(decoded, quoted=False, constant=str(promoted))

    def text(array: pa.Array) -> pa.Array:
        above = (numbers(array) > high) & np.asarray(array.is_valid())
        return pc.if_else(pa.array(above), str(promoted), str(code))

    return Cell(text, quoted=False)


def type_name(column: Column, settings: Settings[CanalOptions]) -> str:
    """mysqlType: "parameters, such as precision, are not supported" (the page of 2021 still had them)."""
    source, system, options = settings.source, system_of(settings.source), settings.options
    if not system.mysql:
        if options.mysql_type_params:
            return source.ddl.type_name(column.type).lower()
        # of a type that users make, its own name
        return source.types.type_text(column.type, style="bare") if column.type.labels else column.type.name
    type = system.logged_as.get(column.type.name, column.type)
    text = mysql.type_text(type, style="show_create_57" if options.mysql_type_params else "bare")
    return text.replace(" unsigned", "") if options.mysql_type_unsigned == "drop" else text


def type_names(settings: Settings[CanalOptions]) -> PerTable:
    def text(table: Table, style: Style) -> str:
        check(FORMAT.id, settings.source, table)
        names = ((column.name, type_name(column, settings)) for column in table.columns)
        return "{" + ",".join(f"{quote(name, style)}:{quote(type, style)}" for name, type in names) + "}"

    return PerTable(text)


def gtid(settings: Settings[CanalOptions]) -> Any:
    """The transaction's own GTID, null where the source has none, and for rows of the full load."""
    log = settings.source.log
    if not settings.options.gtid or not isinstance(log, MysqlLog):
        return None
    gtids = per_entry(lambda at: log.gtid(at, settings.options.server_uuid))
    return by_row(gtids, gtids) | {READ: None}


def record_id(settings: Settings[CanalOptions]) -> PerChange:
    """A number of the record; or, "generated from the timestamp and an internal DTS offset", the seconds of es and nine
    digits of a number in that second. (A second that is full runs over into the next, so that ids rise.)"""
    if settings.options.id_style == "counter":
        return PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)

    def made(event_ms: Any, in_second: Any) -> Any:
        seconds, offset = divmod(event_ms // 1000 * SECOND_NUMBERS + in_second, SECOND_NUMBERS)
        return seconds * 10**9 + offset

    return PerChange(
        lambda batch: made(batch.envelope.event_ms, batch.envelope.in_second),
        lambda event: made(event.event_ms, event.in_second),
    )


def names(settings: Settings[CanalOptions]) -> tuple[dict[Kind, Any], dict[Kind, Any]]:
    """The database (Oracle: the owner) and the table of rows and of statements: there the old name of a rename, "" for
    a statement of no table."""
    owner = system_of(settings.source).name_parts[0]
    schemas = settings.options.table_name == "schema"

    def database(table: Table) -> str:
        return str(getattr(table.id, owner))

    def name(table: Table) -> str:
        return f"{table.id.schema}.{table.id.name}" if schemas and table.id.schema else table.id.name

    def of(event: Any, text: Callable[[Table], str], otherwise: str) -> str:
        table = event.before or event.after
        return text(table) if table else otherwise

    return (
        by_row(
            PerTable(lambda table, style: quote(database(table), style)),
            PerEvent(lambda event: of(event, database, event.database)),
        ),
        by_row(PerTable(lambda table, style: quote(name(table), style)), PerEvent(lambda event: of(event, name, ""))),
    )


def layout(settings: Settings[CanalOptions]) -> Layout:
    before_2022 = settings.options.images == "before-2022-03-20"
    exchanged = before_2022 and settings.options.pre_update == "exchanged"
    changed = Rows("changed") if settings.options.old_columns == "changed" else Rows("before")
    data = {**by_row(Rows("after")), DELETE: Rows("before")}
    old: dict[Kind, Any] = {**by_row(None), UPDATE: changed}
    if before_2022:
        data[DELETE], old[DELETE] = None, Rows("before")
    if exchanged:
        data[UPDATE], old[UPDATE] = Rows("before"), Rows("after")
    database, table = names(settings)
    fields = [
        Field("data", data),
        Field("database", database),
        Field("gtid", gtid(settings)),
        Field("id", record_id(settings)),
        Field("isDdl", by_row(False, True)),
        Field("mysqlType", by_row(type_names(settings))),
        Field("old", old),
        Field("pkNames", by_row(PerTable(key_names))),
        Field("sqlType", by_row(Codes(lambda column: code_cell(column, settings)))),
        Field("table", table),
        Field(
            "type",
            {
                READ: "INSERT" if settings.options.init_as_insert else "INIT",
                INSERT: "INSERT",
                UPDATE: "UPDATE",
                DELETE: "DELETE",
                DDL: "DDL",
            },
        ),
    ]
    if settings.options.null_members == "omit":
        fields = [without_nulls(field) if field.name in NULLABLE else field for field in fields]
    # the members of Canal's own that stay are the same for all sources
    members = derived(canal_json.fields(Settings(canal_options.CanalOptions(), settings.source)), fields)
    return Layout(
        Encoder(members, lambda column: system_of(settings.source).cell(column, settings), json_style.FASTJSON2),
        dts_delivery.routing(settings),
        complete=dts_delivery.refuse_large(FORMAT.id),
    )


def without_nulls(field: Field) -> Field:
    """The field with ABSENT where it was null."""
    if isinstance(field.value, Mapping):
        return Field(field.name, {k: ABSENT if v is None else v for k, v in field.value.items()})
    return Field(field.name, ABSENT if field.value is None else field.value)


FORMAT = Format(
    id="dts-canal-json",
    title="DTS Canal JSON",
    product=dts_delivery.PRODUCT,
    spec="Data storage formats in message queues, 2026-02-07",
    sources=("mariadb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
