"""cloudcanal-debezium: CloudCanal's "Debezium Envelope" (`DEBEZIUM_ENVELOP_JSON_FOR_MQ`, the vendor's spelling).

Page: "Message Format", section Debezium Envelope; of the vendor's blog the articles 020 and 025. One row a message, for
Kafka alone. It has Debezium's members and is not Debezium's format:

* values are strings whatever the type, null as null;
* `before` of an insert and `after` of a delete are `{}` (`empty_image=null`: as in an article of 2022);
* `source` has the connector's name in the product's spelling (`MySQL`), and eight members where Debezium has fifteen
  (`source_members=debezium`); its `ts_ms` is that of the message (`source_ts=exec`: the time at the source);
* a statement has no `op` (`ddl_op=a`), and `tableChanges` is one object with columns from position 0;
* the schema, where `envelopSchemaInclude` asks for it, has a shape of its own: `isPK`, `jdbType` and the source's type
  texts (`connect_schema=on`: Kafka Connect's). Without it the payload is the root.

Members are in alphabetical order, as in the blog's message; `key_order=doc` has them as the page prints them. `op` of
an insert is `c`; the page's example says `i`, against its own table (`legacy_insert_op=i`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from simulator.errors import OptionError
from simulator.formats.cloudcanal.images import KEY_ALONE, images
from simulator.formats.cloudcanal.metadata import metadata
from simulator.formats.cloudcanal.options import DebeziumOptions
from simulator.formats.cloudcanal.positions import positions
from simulator.formats.cloudcanal.routing import instance, routing
from simulator.formats.cloudcanal.schema import statement_schema, table_schema
from simulator.formats.cloudcanal.statements import published, sql, subject, table_changes
from simulator.formats.cloudcanal.systems import PRODUCT, SOURCES, SPEC, library_of, system_of
from simulator.formats.cloudcanal.values.cells import is_cut_by_snapshot, known, writer
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import DATABASE, TABLE, WRITE_MS, by_row, per_entry
from simulator.formats.redelivery import CLOUDCANAL
from simulator.formats.remarks import cut_by_snapshot
from simulator.formats.writing import OneMessage, opens_snapshot
from simulator.model import (
    ABSENT,
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    ROW_KINDS,
    UPDATE,
    Kind,
    SchemaChange,
    Table,
)
from simulator.sources.log import Log
from simulator.sources.mysql.log import MariadbLog, MysqlLog
from simulator.text.json_style import quote
from simulator.wire.fields import Field, Members, PerEvent, PerTable

# The members in the page's order; members that it does not print follow them.
PAGE_ORDER: Final = ("databaseName", "ddl", "op", "ts_ms", "after", "before", "source", "tableChanges")
PAGE_SOURCE_ORDER: Final = ("ts_ms", "db", "schema", "table", "connector", "gtid", "file", "pos", "server_id")
DEBEZIUM_VERSION: Final = "2.7.4.Final"


def ordered(fields: Sequence[Field], page: Sequence[str], settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members in the order that `key_order` asks for."""

    page = page if settings.options.key_order == "doc" else ()

    def position(field: Field) -> tuple[int, str]:
        return page.index(field.name) if field.name in page else len(page), field.name

    return tuple(sorted(fields, key=position))


def debezium_members(settings: Settings[DebeziumOptions]) -> list[Field]:
    """Members of Debezium's MySQL `source` that the page does not print; a message has one row, its row 0."""
    return [
        Field("name", instance(settings)),
        Field("query", None),
        Field("row", 0),
        Field("sequence", None),
        Field("snapshot", {**dict.fromkeys((*ROW_KINDS, DDL), "false"), READ: "true"}),
        Field("thread", thread(settings.source.log)),
        Field("version", DEBEZIUM_VERSION),
    ]


def thread(log: Log) -> Any:
    """The session's connection; null in DDL, in the full load and for MariaDB, as in Debezium."""
    if not isinstance(log, MysqlLog) or isinstance(log, MariadbLog):
        return None
    return {**by_row(per_entry(log.thread)), READ: None}


def source(settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members of `source`."""

    def of_table(name: Callable[[Table], str]) -> PerEvent:
        def of(event: SchemaChange) -> str:
            table = subject(event, settings)
            return name(table) if table else ""

        return PerEvent(of)

    fields = [
        Field("connector", system_of(settings).connector),
        Field("db", by_row(DATABASE, PerEvent(lambda event: event.database))),
        Field("table", by_row(TABLE, of_table(lambda table: table.id.name))),
        Field("ts_ms", library_of(settings).event_ms if settings.options.source_ts == "exec" else WRITE_MS),
        *positions(settings),
    ]
    if settings.source.has_schemas:
        schema = PerTable(lambda table, style: quote(table.id.schema, style))
        fields.append(Field("schema", by_row(schema, of_table(lambda table: table.id.schema))))
    if settings.options.source_members == "debezium":
        fields += debezium_members(settings)
    return ordered(fields, PAGE_SOURCE_ORDER, settings)


def changes(settings: Settings[DebeziumOptions]) -> PerEvent:
    """`tableChanges`; that of a dropped table lacks `table`. The page prints `type` first."""

    def of(event: SchemaChange) -> Any:
        change = table_changes(event, settings)
        if change is ABSENT:
            return change
        if event.after is None:
            del change["table"]
        return dict(reversed(change.items())) if settings.options.key_order == "doc" else change

    return PerEvent(of)


def payload(settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members of the payload, in wire order."""
    options, row = settings.options, images(settings, array=False)
    empty: Any = {} if options.empty_image == "object" else None
    ops: dict[Kind, Any] = {READ: options.init_op, INSERT: options.legacy_insert_op, UPDATE: "u", DELETE: "d"}
    if options.ddl_op == "a":
        ops[DDL] = "a"
    fields = [
        Field("after", {READ: row.inserted, INSERT: row.inserted, UPDATE: row.after, DELETE: empty}),
        Field("before", {READ: empty, INSERT: empty, UPDATE: row.before, DELETE: row.deleted}),
        Field("databaseName", {DDL: PerEvent(lambda event: event.database)}),
        Field("ddl", {DDL: PerEvent(lambda event: sql(event, settings))}),
        Field("op", ops),
        Field("source", Members(source(settings))),
        Field("tableChanges", {DDL: changes(settings)}),
        Field("ts_ms", WRITE_MS),
    ]
    return ordered(fields, PAGE_ORDER, settings)


def layout(settings: Settings[DebeziumOptions]) -> Layout:
    """The format's layout. Raises OptionError for a schema of strings with values that are no strings."""
    if settings.options.connect_schema and settings.options.value_types == "native":
        raise OptionError(
            "-f cloudcanal-debezium,connect_schema=on: with value_types=native the schema would call numbers strings; "
            "leave one of them out."
        )
    fields = members = payload(settings)
    if settings.options.envelop_schema_include:
        of_table = PerTable(lambda table, style: table_schema(table, members, settings, style))
        of_event = PerEvent(lambda event: statement_schema(event, members, settings))
        schema = Field("schema", by_row(of_table, of_event))
        fields = ordered([Field("payload", Members(members)), schema], ("schema", "payload"), settings)
    values = writer(fields, settings)
    statements = published(settings.options)
    return Layout(
        OneMessage(values, metadata(values, settings)),
        routing(settings),
        statements=statements,
        omits=opens_snapshot,
        known=partial(known, settings),
        remarks=(cut_by_snapshot(partial(is_cut_by_snapshot, settings)),),
        row_images=KEY_ALONE,
        redelivery=CLOUDCANAL,
    )


FORMAT = Format(
    id="cloudcanal-debezium",
    title="CloudCanal Debezium Envelope",
    product=PRODUCT,
    spec=SPEC,
    sources=SOURCES,
    brokers=("kafka",),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=DebeziumOptions,
    layout=layout,
)
