"""dts-canal-json: Alibaba Cloud DTS, "Canal Json", synchronisation and migration to a message queue.

Spec: "Data storage formats in message queues" (page of 2026-02-07). Canal's message in other words. Differs from
canal-json in:

| member | difference |
| --- | --- |
| data, old | one row a message; `old` of an update has all columns, as the page says (`old_columns=changed`: Canal's) |
| database, table | Oracle: the owner, and the table; others: the table alone (`table_name=schema`: schema.table) |
| gtid | that of the transaction (`gtid=on`) |
| id | a record's number, not a batch's (`id_style=ts_offset`: made of es, as the page says) |
| mysqlType | without parameters; of other sources than MySQL their own names of types |
| sqlType | Canal's JDBC codes by declared type, for nulls too; of other sources their dataTypeNumbers |
| type | INIT for rows of the full load, DDL for every statement |

* Null members are left out, as in every published example (`null_members=null` writes them).
* Instances created before 2022-03-20 have a deleted row in `old` and exchange the images of an update.
* Values (see `cells`): decimals with their scale, labels of ENUM and SET, fractions without trailing zeros, TIMESTAMP
  at +08:00.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import numbers
from simulator.delivery.steps.halves import counted_halves
from simulator.formats.canal.codes import PROMOTED
from simulator.formats.dts.delivery import PRODUCT, SPEC, STATEMENTS, Limited, routing
from simulator.formats.dts.options import CanalOptions
from simulator.formats.dts.systems import system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import LOGGED_SECOND_MS, WRITE_MS, by_row, per_entry, row_key_names, table_of
from simulator.formats.redelivery import DTS
from simulator.formats.remarks import full_seconds
from simulator.formats.writing import opens_snapshot
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
    SchemaChange,
    Table,
)
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sources.mysql.log import MysqlLog
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Codes, Field, PerChange, PerEvent, PerTable, Rows

# Members that are left out where they are null.
NULLABLE: Final = ("data", "gtid", "mysqlType", "old", "pkNames", "sqlType")


def code_cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """A column's sqlType: the same for all values, except of unsigned columns with by_value."""
    system, options = system_of(settings.source), settings.options
    type = system.logged_as.get(column.type.name, column.type)
    if options.sql_type == "dts_number" or not system.mysql:
        return Cell(decoded, quoted=False, constant=str(system.number_of(column.type)))
    code = mysql_table.TYPES[type.name].jdbc
    if not type.unsigned or type.name not in PROMOTED:
        return Cell(decoded, quoted=False, constant=str(code))
    high, promoted = PROMOTED[type.name]
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
        return source.ddl.type_name(column.type).lower() if options.mysql_type_params else system.type_name(column.type)
    type = system.logged_as.get(column.type.name, column.type)
    text = mysql_types.type_text(type, style="show_create_57" if options.mysql_type_params else "bare")
    return text.replace(" unsigned", "") if options.mysql_type_unsigned == "drop" else text


def type_names(settings: Settings[CanalOptions]) -> PerTable:
    def text(table: Table, style: Style) -> str:
        system_of(settings.source).check(table, FORMAT.id)
        names = ((column.name, type_name(column, settings)) for column in table.columns)
        return "{" + ",".join(f"{quote(name, style)}:{quote(type, style)}" for name, type in names) + "}"

    return PerTable(text)


def gtid(settings: Settings[CanalOptions]) -> Any:
    """The GTID of the transaction; null if the source has none, and for rows of the full load."""
    log = settings.source.log
    if not settings.options.gtid or not system_of(settings.source).gtids or not isinstance(log, MysqlLog):
        return None
    gtids = per_entry(lambda entries: log.gtid(entries, settings.options.server_uuid))
    return by_row(gtids, gtids) | {READ: None}


def record_id(options: CanalOptions) -> PerChange:
    """A record's number; or, "generated from the timestamp and an internal DTS offset", the seconds of es and nine
    digits of a number within the second. (A full second runs over into the next, so that ids rise.)"""
    if options.id_style == "counter":
        return PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)

    def of(event_ms: Any, in_second: Any) -> Any:
        seconds, offset = divmod(event_ms // 1000 * SECOND_NUMBERS + in_second, SECOND_NUMBERS)
        return seconds * 10**9 + offset

    return PerChange(
        lambda batch: of(batch.envelope.event_ms, batch.envelope.in_second),
        lambda event: of(event.event_ms, event.in_second),
    )


def names(settings: Settings[CanalOptions]) -> tuple[dict[Kind, Any], dict[Kind, Any]]:
    """`database` and `table`; of DDL the old name of a rename, and "" without a table."""
    system, with_schema = system_of(settings.source), settings.options.table_name == "schema"

    def database(table: Table) -> str:
        return system.names(table.id)[0]

    def name(table: Table) -> str:
        return f"{table.id.schema}.{table.id.name}" if with_schema and table.id.schema else table.id.name

    def member(of: Callable[[Table], str], without_table: Callable[[SchemaChange], str]) -> dict[Kind, Any]:
        def ddl(event: SchemaChange) -> str:
            table = table_of(event)
            return of(table) if table else without_table(event)

        return by_row(PerTable(lambda table, style: quote(of(table), style)), PerEvent(ddl))

    return member(database, lambda event: event.database), member(name, lambda event: "")


def images(options: CanalOptions) -> tuple[dict[Kind, Any], dict[Kind, Any]]:
    """`data` and `old`."""
    after, before = Rows("after"), Rows("before")
    data = {**by_row(after), DELETE: before}
    old = {**by_row(None), UPDATE: Rows("changed") if options.old_columns == "changed" else before}
    if options.images == "before-2022-03-20":
        data[DELETE], old[DELETE] = None, before
        if options.pre_update == "exchanged":
            data[UPDATE], old[UPDATE] = before, after
    return data, old


def fields(settings: Settings[CanalOptions]) -> tuple[Field, ...]:
    """The members, in alphabetical order."""
    options = settings.options
    data, old = images(options)
    database, table = names(settings)
    init = "INSERT" if options.init_as_insert else "INIT"
    members = (
        Field("data", data),
        Field("database", database),
        Field("es", LOGGED_SECOND_MS),
        Field("gtid", gtid(settings)),
        Field("id", record_id(options)),
        Field("isDdl", by_row(False, True)),
        Field("mysqlType", by_row(type_names(settings))),
        Field("old", old),
        Field("pkNames", by_row(PerTable(row_key_names))),
        Field("sql", by_row("", PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(Codes(lambda column: code_cell(column, settings)))),
        Field("table", table),
        Field("ts", WRITE_MS),
        Field("type", {READ: init, INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: "DDL"}),
    )
    if options.null_members == "null":
        return members
    return tuple(without_nulls(field) if field.name in NULLABLE else field for field in members)


def without_nulls(field: Field) -> Field:
    """The field with ABSENT where it was null."""
    if isinstance(field.value, Mapping):
        return Field(field.name, {k: ABSENT if v is None else v for k, v in field.value.items()})
    return Field(field.name, ABSENT if field.value is None else field.value)


def layout(settings: Settings[CanalOptions]) -> Layout:
    system = system_of(settings.source)
    return Layout(
        Limited(Encoder(fields(settings), lambda column: system.cell(column, settings), json_style.FASTJSON2)),
        routing(settings.options, system, settings.source),
        steps=(counted_halves,),
        remarks=(full_seconds("id"),) if settings.options.id_style == "ts_offset" else (),
        statements=STATEMENTS,
        omits=opens_snapshot,
        sends=FORMAT.sends if settings.options.ddl else FORMAT.sends - {DDL},
        redelivery=DTS,
    )


FORMAT = Format(
    id="dts-canal-json",
    title="DTS Canal JSON",
    product=PRODUCT,
    spec=SPEC,
    sources=("mariadb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
