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

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from simulator.formats.cloudcanal import envelope as cloudcanal
from simulator.formats.cloudcanal.envelope import source_ms, statement_table, statement_text
from simulator.formats.cloudcanal.json import changes
from simulator.formats.cloudcanal.metadata import metadata
from simulator.formats.cloudcanal.options import DebeziumOptions
from simulator.formats.cloudcanal.positions import positions
from simulator.formats.cloudcanal.schema import statement_schema, table_schema
from simulator.formats.cloudcanal.types import source_id
from simulator.formats.cloudcanal.values import writer
from simulator.formats.format import Format, Layout, Settings
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
)
from simulator.text.json_style import quote
from simulator.wire.fields import Field, Members, PerChange, PerEvent, PerTable, Rows

# The data source's type as the product spells it; MySQL's is printed, the others are decisions.
CONNECTORS: Final[Mapping[str, str]] = {
    "gaussdb": "openGauss",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "oceanbase-mysql": "OceanBase",
    "oceanbase-oracle": "OceanBase",
    "oracle": "Oracle",
    "postgresql": "PostgreSQL",
    "sqlserver": "SQLServer",
    "mongodb": "MongoDB",
}
# The members in the order in which the page prints them; those that it does not print come behind.
PAGE_ORDER: Final = ("databaseName", "ddl", "op", "ts_ms", "after", "before", "source", "tableChanges")
PAGE_SOURCE_ORDER: Final = ("ts_ms", "db", "schema", "table", "connector", "gtid", "file", "pos", "server_id")
DEBEZIUM_VERSION: Final = "2.7.4.Final"


def ordered(fields: Sequence[Field], page: Sequence[str], settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members in the order that `key_order` asks for."""

    def place(field: Field) -> tuple[int, str]:
        printed = settings.options.key_order == "doc" and field.name in page
        unprinted = len(page) if settings.options.key_order == "doc" else 0
        return (page.index(field.name) if printed else unprinted, field.name)

    return tuple(sorted(fields, key=place))


# -------------------------------------------------------------------------------------------------------------- source


def debezium_members(settings: Settings[DebeziumOptions]) -> list[Field]:
    """What Debezium's `source` of MySQL has beside the printed members; a message has one row, its row 0."""
    return [
        Field("name", cloudcanal.instance(settings)),
        Field("query", None),
        Field("row", 0),
        Field("sequence", None),
        Field("snapshot", {**dict.fromkeys((*ROW_KINDS, DDL), "false"), READ: "true"}),
        Field("thread", None),
        Field("version", DEBEZIUM_VERSION),
    ]


def sent() -> PerChange:
    return PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)


def source(settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members of `source`."""

    def both(rows: PerTable, of: Callable[[SchemaChange], Any]) -> dict[Kind, Any]:
        return {**dict.fromkeys(ROW_KINDS, rows), DDL: PerEvent(of)}

    def table(event: SchemaChange) -> Any:
        found = statement_table(event, settings)
        return found.id.name if found else ""

    def schema(event: SchemaChange) -> Any:
        found = statement_table(event, settings)
        return found.id.schema if found else ""

    happened = PerChange(
        lambda batch: source_ms(settings, batch.envelope.event_ms), lambda event: source_ms(settings, event.event_ms)
    )
    fields = [
        Field("connector", CONNECTORS[source_id(settings)]),
        Field("db", both(PerTable(lambda table, style: quote(table.id.database, style)), lambda event: event.database)),
        Field("table", both(PerTable(lambda table, style: quote(table.id.name, style)), table)),
        Field("ts_ms", happened if settings.options.source_ts == "exec" else sent()),
        *positions(settings),
    ]
    if cloudcanal.levels(settings) == 3:
        fields.append(Field("schema", both(PerTable(lambda table, style: quote(table.id.schema, style)), schema)))
    if settings.options.source_members == "debezium":
        fields += debezium_members(settings)
    return ordered(fields, PAGE_SOURCE_ORDER, settings)


# ------------------------------------------------------------------------------------------------------------- payload


def images(settings: Settings[DebeziumOptions]) -> tuple[Field, Field]:
    """`after` and `before`."""
    nulls = settings.options.null_columns == "omit"
    empty: Any = {} if settings.options.empty_image == "object" else None
    after = Rows("after", array=False, skip_nulls=nulls)
    before = Rows("before", array=False, skip_nulls=nulls)
    changed_after, changed_before, deleted = after, before, before
    keys = cloudcanal.key_places
    if cloudcanal.logs_keys(settings):
        changed_before = deleted = Rows("before", array=False, columns=keys)
    if settings.options.minimal:
        changed_after = Rows("changed after", array=False, kept=keys)
        changed_before = Rows("changed", array=False, kept=keys)
        deleted = Rows("before", array=False, columns=keys)
    return (
        Field("after", {READ: after, INSERT: after, UPDATE: changed_after, DELETE: empty}),
        Field("before", {READ: empty, INSERT: empty, UPDATE: changed_before, DELETE: deleted}),
    )


def table_changes(settings: Settings[DebeziumOptions]) -> PerEvent:
    """`tableChanges`; a dropped table has none of its own in it. The page prints `type` first."""
    of = changes(settings).of

    def shown(event: SchemaChange) -> Any:
        made = of(event)
        if made is ABSENT:
            return made
        if event.after is None:
            del made["table"]
        return dict(reversed(made.items())) if settings.options.key_order == "doc" else made

    return PerEvent(shown)


def payload(settings: Settings[DebeziumOptions]) -> tuple[Field, ...]:
    """The members of the payload, in wire order."""
    insert = settings.options.legacy_insert_op
    ops: dict[Kind, Any] = {READ: settings.options.init_op, INSERT: insert, UPDATE: "u", DELETE: "d"}
    if settings.options.ddl_op == "a":
        ops[DDL] = "a"
    fields = [
        *images(settings),
        Field("databaseName", {DDL: PerEvent(lambda event: event.database)}),
        Field("ddl", {DDL: PerEvent(lambda event: statement_text(event, settings))}),
        Field("op", ops),
        Field("source", Members(source(settings))),
        Field("tableChanges", {DDL: table_changes(settings)}),
        Field("ts_ms", sent()),
    ]
    return ordered(fields, PAGE_ORDER, settings)


def layout(settings: Settings[DebeziumOptions]) -> Layout:
    fields = members = payload(settings)
    if settings.options.envelop_schema_include:
        of_table = PerTable(lambda table, style: table_schema(table, members, settings, style))
        of_event = PerEvent(lambda event: statement_schema(event, members, settings))
        schema = Field("schema", {**dict.fromkeys(ROW_KINDS, of_table), DDL: of_event})
        fields = ordered([Field("payload", Members(members)), schema], ("schema", "payload"), settings)
    made = writer(fields, settings)
    return Layout(
        made,
        cloudcanal.routing(settings),
        metadata=metadata(made, settings),
        statements=cloudcanal.statements(settings),
    )


FORMAT = Format(
    id="cloudcanal-debezium",
    title="CloudCanal Debezium Envelope",
    product=cloudcanal.PRODUCT,
    spec=cloudcanal.SPEC,
    sources=cloudcanal.SOURCES,
    brokers=("kafka",),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=DebeziumOptions,
    layout=layout,
)
