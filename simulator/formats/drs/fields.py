"""The members of DRS's JSON messages about tables: MySQL's, and the relational ones, four more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from simulator.batch import ChangeBatch
from simulator.formats.drs import envelope as drs
from simulator.formats.drs import images as drs_images
from simulator.formats.drs.envelope import System
from simulator.formats.members import by_row, whole_seconds
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, Column, Event, SchemaChange, Table
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Field, PerChange, PerEvent, PerTable


def map_of(value: Callable[[Column, Style], str], system: System, settings: drs.DrsSettings, format: str) -> PerTable:
    """A map with a JSON text per column. Raises UnsupportedType for a table with a column that DRS does not read."""
    order = drs.order(settings)

    def text(table: Table, style: Style) -> str:
        system.check(table, format)
        columns = [table.columns[i] for i in system.columns(table, settings)]
        columns = [columns[i] for i in order([column.name for column in columns], len(columns))]
        return "{" + ",".join(f"{quote(c.name, style)}:{value(c, style)}" for c in columns) + "}"

    return PerTable(text)


def ddl_table(settings: drs.DrsSettings) -> PerEvent:
    """The topic's variable of the table is empty for DDL, so the member is, too; or the table that is named first."""

    def name(event: SchemaChange) -> str:
        table = event.before or event.after
        return table.id.name if table and settings.options.ddl_table == "name" else ""

    return PerEvent(name)


def batch_time(batch: ChangeBatch) -> Any:
    """Whole seconds, as the binary log has them and the samples show; rows of the full load have the time at which they
    were read."""
    return batch.envelope.event_ms if batch.kind is READ else whole_seconds(batch.envelope.event_ms)


def single_time(event: Event) -> int:
    """`es` of a statement; those of the full load stand before the stream."""
    return event.event_ms if event.order.phase == 0 else event.event_ms - event.event_ms % 1000


def ddl_word(event: Event) -> str:
    """`type` of a statement."""
    return "DDL" if event.order.phase else "INIT_DDL"


WORDS: Final = {READ: "INIT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}


def mysql_fields(settings: drs.DrsSettings, system: System, format: str) -> tuple[Field, ...]:
    """Table 2, in the order of its sample."""
    types = map_of(lambda column, style: quote(system.type_name(column), style), system, settings, format)
    numbers = map_of(lambda column, style: str(system.code(column)), system, settings, format)
    after, before = drs_images.images(settings, system)
    return (
        Field("mysqlType", by_row(types)),
        Field("id", PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)),
        Field("es", PerChange(batch_time, single_time)),
        Field("ts", PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)),
        Field("database", by_row(*DATABASE)),
        Field("table", by_row(PerTable(lambda table, style: quote(table.id.name, style)), ddl_table(settings))),
        Field("type", {**WORDS, DDL: PerEvent(ddl_word)}),
        Field("isDdl", by_row(False, True)),
        Field("sql", by_row("", PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(numbers)),
        Field("data", {**by_row(after), DELETE: None}),
        Field("old", {**by_row(None), UPDATE: before, DELETE: before}),
        Field("pkNames", by_row(drs.PK_NAMES)),
    )


DATABASE: Final = (
    PerTable(lambda table, style: quote(table.id.database, style)),
    PerEvent(lambda event: event.database),
)
SCHEMA: Final = (
    PerTable(lambda table, style: quote(table.id.schema, style)),
    PerEvent(lambda event: schema_of(event)),
)


def schema_of(event: SchemaChange) -> str:
    """The schema of the table that a statement is about; "" where it is about none."""
    table = event.before or event.after
    return table.id.schema if table else ""


def common_fields(settings: drs.DrsSettings, system: System, format: str) -> tuple[Field, ...]:
    """Table 5, which has the members of table 2: Oracle's database is its schema."""
    fields = mysql_fields(settings, system, format)
    if system.blank_database:
        return tuple(Field("database", by_row(*SCHEMA)) if f.name == "database" else f for f in fields)
    return fields


def relational_fields(settings: drs.DrsSettings, system: System, format: str) -> tuple[Field, ...]:
    """Table 4, in the order of its sample: four members before those of table 2, and no mysqlType."""
    if settings.options.layout_version == "oracle-legacy" and system.blank_database:
        return common_fields(settings, system, format)
    fields = mysql_fields(settings, system, format)
    blank: Any = settings.options.blank_as == "null"
    types: Any = fields[0].value
    if system.blank_types:
        types = by_row(None if blank else PerTable(lambda table, style: "{}"))
    rest = fields[1:]
    if system.blank_database:
        rest = tuple(Field("database", None if blank else "") if f.name == "database" else f for f in rest)
    words = next(field.value for field in rest if field.name == "type")
    leading = (
        Field("columnType", types),
        Field("dbType", system.db_type),
        Field("schema", by_row(*SCHEMA)),
        Field("opType", words),
    )
    return (*leading, *rest)
