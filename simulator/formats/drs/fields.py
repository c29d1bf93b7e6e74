"""The members of DRS's JSON messages about tables: those of MySQL, and the relational layout, which has four more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from simulator.batch import ChangeBatch
from simulator.formats.drs.options import JsonOptions, MapOptions
from simulator.formats.drs.systems.system import TableSystem
from simulator.formats.logged import LoggedRows, in_after, in_before
from simulator.formats.members import TABLE, WRITE_MS, by_row, table_of, whole_seconds
from simulator.model import (
    DDL,
    DELETE,
    INSERT,
    READ,
    UPDATE,
    Column,
    Event,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TransactionHeader,
)
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, Order, PerChange, PerEvent, PerTable, Rows, derived, table_order


def order(options: MapOptions) -> Order:
    """The order of columns in all maps of a message: that of a java.util.HashMap, as in the page's samples."""
    return hash_order if options.column_order == "java_hashmap" else table_order


def map_of(value: Callable[[Column, Style], str], system: TableSystem, options: MapOptions, format: str) -> PerTable:
    """A map with a JSON text per column. Raises UnsupportedType for a column whose type DRS does not read."""

    def text(table: Table, style: Style) -> str:
        system.check(table, format)
        columns = [table.columns[i] for i in written_columns(system, options, table)]
        return "{" + ",".join(f"{quote(c.name, style)}:{value(c, style)}" for c in columns) + "}"

    return PerTable(text)


def written_columns(system: TableSystem, options: MapOptions, table: Table) -> Sequence[int]:
    """Positions of the columns that messages have, in their order."""
    columns = system.columns(table)
    return [columns[i] for i in order(options)([table.columns[column].name for column in columns], len(columns))]


def images(system: TableSystem, options: MapOptions) -> tuple[Rows, Rows]:
    """The rows after and before a change; the row before is null if the source does not log it."""

    def columns(table: Table) -> Sequence[int]:
        return written_columns(system, options, table)

    def unfiltered(logged: Callable[[ChangeBatch], LoggedRows]) -> Callable[[ChangeBatch], LoggedRows]:
        def rows(batch: ChangeBatch) -> LoggedRows:
            of_columns = logged(batch)
            if of_columns is None:
                return None
            sent_columns = set(system.columns(batch.table))
            return [rows if i in sent_columns else None for i, rows in enumerate(of_columns)]

        return rows

    return (
        Rows("after", columns=columns, logged=unfiltered(in_after)),
        Rows("before", drop_empty=True, columns=columns, logged=unfiltered(in_before)),
    )


def pk_names(system: TableSystem) -> PerTable:
    """The key's columns in key order, without those that are left out; null without one, as in GaussDB's sample."""

    def text(table: Table, style: Style) -> str:
        key = (table.columns[i] for i in table.key_positions)
        names = [quote(column.name, style) for column in key if not system.filters(column)]
        return f"[{','.join(names)}]" if names else "null"

    return PerTable(text)


def event_times(batch: ChangeBatch) -> Any:
    """`es` of rows: whole seconds, as in the binary log and the samples; full-load rows have the time of their read."""
    return batch.envelope.event_ms if batch.kind is READ else whole_seconds(batch.envelope.event_ms)


def event_time(event: Event) -> int:
    """`es` of a statement; those of the full load have the time of their read."""
    return event.event_ms if event.order.phase == 0 else whole_seconds(event.event_ms)


def ddl_word(event: Event) -> str:
    """`type` of a statement."""
    return "DDL" if event.order.phase else "INIT_DDL"


def ddl_schema(event: SchemaChange) -> str:
    """The schema of the statement's table; "" for a statement about no table."""
    table = table_of(event)
    return table.id.schema if table else ""


def ddl_database(event: SchemaChange) -> str:
    """The session's current database where the log says it (MySQL's); that of the statement if there is none, and of
    statements about databases."""
    header = event.header
    if not isinstance(header, TransactionHeader) or not header.database or event.kind in OF_DATABASES:
        return event.database
    return header.database


OF_DATABASES: Final = (
    SchemaChangeKind.CREATE_DATABASE,
    SchemaChangeKind.ALTER_DATABASE,
    SchemaChangeKind.DROP_DATABASE,
)
WORDS: Final = {READ: "INIT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}
DATABASE: Final = by_row(PerTable(lambda table, style: quote(table.id.database, style)), PerEvent(ddl_database))
SCHEMA: Final = by_row(PerTable(lambda table, style: quote(table.id.schema, style)), PerEvent(ddl_schema))


def mysql_fields(system: TableSystem, options: MapOptions, format: str) -> tuple[Field, ...]:
    """Table 2, in the order of its sample."""
    types = map_of(lambda column, style: quote(system.type_name(column), style), system, options, format)
    codes = map_of(lambda column, style: str(system.code(column)), system, options, format)
    after, before = images(system, options)

    def ddl_table(event: SchemaChange) -> str:
        """The member `table` of a statement: empty, as is $tablename$ of topics for DDL."""
        table = table_of(event)
        return table.id.name if table and options.ddl_table == "name" else ""

    return (
        Field("mysqlType", by_row(types)),
        Field("id", PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)),
        Field("es", PerChange(event_times, event_time)),
        Field("ts", WRITE_MS),
        Field("database", DATABASE),
        Field("table", by_row(TABLE, PerEvent(ddl_table))),
        Field("type", {**WORDS, DDL: PerEvent(ddl_word)}),
        Field("isDdl", by_row(False, True)),
        Field("sql", by_row("", PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(codes)),
        Field("data", {**by_row(after), DELETE: None}),
        Field("old", {**by_row(None), UPDATE: before, DELETE: before}),
        Field("pkNames", by_row(pk_names(system))),
    )


def table_5(system: TableSystem, options: MapOptions, format: str) -> tuple[Field, ...]:
    """Table 5 has the members of table 2; Oracle's database is its schema there."""
    fields = mysql_fields(system, options, format)
    return derived(fields, [Field("database", SCHEMA)]) if system.blank_database else fields


def relational_fields(system: TableSystem, options: JsonOptions, format: str) -> tuple[Field, ...]:
    """Table 4, in the order of its sample: four members before those of table 2, and no mysqlType."""
    if options.layout_version == "oracle-legacy" and system.blank_database:
        return table_5(system, options, format)
    types, *other_fields = mysql_fields(system, options, format)
    null = options.blank_as == "null"
    if system.blank_types:
        types = Field("", by_row(None if null else PerTable(lambda table, style: "{}")))
    if system.blank_database:
        other_fields = list(derived(other_fields, [Field("database", None if null else "")]))
    return (
        Field("columnType", types.value),
        Field("dbType", system.db_type),
        Field("schema", SCHEMA),
        Field("opType", next(field.value for field in other_fields if field.name == "type")),
        *other_fields,
    )
