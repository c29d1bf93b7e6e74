"""What the formats of Huawei Cloud DRS share: options, topics, partitions and keys, and the order of columns.

Spec: "Kafka Message Format" (page of 2024-03-28), the vendor's SDK and Terraform provider (topic_policy,
partition_policy, topic_name_format), and "Topic and Partition policies" for GaussDB.

| DRS's partition_policy | here | key of a message, decided here |
| --- | --- | --- |
| 0, hash of database.schema.table | `--route table` | the same text |
| 1, partition 0 | `--route single` | as with 0 |
| 2, hash of the primary key | `--route key` | the key's values, commas between; without a key as with 0 |
| 3, hash of database.schema | `--route schema` | the same text |
| 5, hash of chosen columns | `--route columns:a,b` | the columns' values, commas between |

The hash is not published: it is that of a Kafka client's default partitioner, so that key and partition agree with what
any client would compute. DDL goes to partition 0, under the name of its database (and schema) alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from simulator.delivery.hashes import MURMUR2
from simulator.delivery.policies.by_name import ByName
from simulator.delivery.policies.by_text import ByText
from simulator.delivery.policies.single import Single
from simulator.delivery.routing import Destination, Policy, Routing, Statements, Topics, fill, hashed_text, without
from simulator.errors import OptionError, UnsupportedType
from simulator.formats.drs.options import TOPICS, DrsOptions, Everything, Timestamps
from simulator.formats.drs.record import Image
from simulator.formats.format import Layout, Settings, Writer, of_stream, without_table
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    UPDATE,
    Column,
    Event,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableId,
)
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import Style, quote
from simulator.wire.avro import Container
from simulator.wire.fields import Cell, Order, PerTable, table_order

DrsSettings: TypeAlias = Settings[Everything]

PRODUCT: Final = "Huawei Cloud DRS"
SPEC: Final = "Kafka Message Format, 2024-03-28"
# No format has heartbeats or marks of transactions: no edition of the page knows any.
SENDS: Final = frozenset({READ, INSERT, UPDATE, DELETE, DDL})
SILENT: Final = frozenset({BEGIN, COMMIT, HEARTBEAT})


@dataclass(frozen=True, kw_only=True)
class Names:
    """How DRS names the tables of a type system, and what it sends of it.

    `table_text` and `schema_text` are what is hashed of names, `topics` the topic policies that there are; partition 0
    is offered in topics that DRS makes only, if `single_needs_topics`. `ddl` and `full_sync` say whether DDL is
    synchronised and whether there is a full load, unless somebody says so; `statements` which statements, if not all.
    """

    table_text: str
    schema_text: str
    topics: tuple[str, ...]
    ddl: bool
    full_sync: bool = False
    single_needs_topics: bool = False
    statements: frozenset[SchemaChangeKind] | None = None
    previous_commit: bool = False


@dataclass(frozen=True, kw_only=True)
class System(Names):
    """What DRS says of a type system of tables.

    `cell` says how a column's values look, `code` is its sqlType, `type_name` the name of its type, `image` its class
    of Avro; values of some `kinds` of change may differ. `handles` says whether DRS has the column's type at all,
    `leaves` whether it leaves such columns out. `db_type` is there in the relational layout only; there columnType and
    the database may be blank, and the event time is that of the transaction before (`previous_commit`).
    """

    title: str
    cell: Callable[[Column, DrsSettings, Kind | None], Cell]
    code: Callable[[Column], int]
    type_name: Callable[[Column], str]
    image: Callable[[Column, DrsSettings, Kind | None], Image]
    kinds: tuple[Kind, ...] = ()
    handles: Callable[[Column], bool] = lambda column: True
    leaves: Callable[[Column, DrsSettings], bool] = lambda column, settings: False
    db_type: str | None = None
    blank_types: bool = False
    blank_database: bool = False

    def columns(self, table: Table, settings: DrsSettings) -> list[int]:
        """Places of the columns that messages have."""
        return [i for i, column in enumerate(table.columns) if not self.leaves(column, settings)]

    def check(self, table: Table, format: str) -> None:
        """Raises UnsupportedType for a column whose type DRS does not read."""
        for column in table.columns:
            if not self.handles(column):
                raise UnsupportedType(
                    f"{format} has no rendering for {self.title} {column.type.name} ({table.id}.{column.name}): "
                    "DRS does not list the type. Drop the column or use another format."
                )


@dataclass(frozen=True)
class SchemaStatements(Statements):
    """DDL is addressed as if its table had no name: to the topic and with the key of its schema."""

    table_text: str = field(kw_only=True)

    def _without_table(self, pattern: str, event: Event) -> str:
        pattern = without(pattern, "table")
        # a statement about no table has no schema either
        return pattern if self.table(event) else without(pattern, "schema")

    def pattern(self, event: Event, to: Destination) -> str:
        if self.topic and isinstance(event, SchemaChange):
            return self.topic
        return self._without_table(to.topics.pattern, event) or "{table}"

    def key(self, event: Event, names: TableId) -> str:
        pattern = self._without_table(self.table_text, event)
        return fill(pattern, database=names.database, schema=names.schema, table="")


def routing(settings: DrsSettings, format: str, system: Names) -> Routing:
    """Where messages go. Raises OptionError for what DRS does not offer."""
    policy = settings.options.topic_policy
    if policy not in system.topics:
        offered = ", ".join(system.topics)
        raise OptionError(f"-f {format},topic_policy={policy}: for {settings.source} DRS offers {offered}.")
    topic, policies = TOPICS[policy]
    if "{schema}" not in system.table_text:
        topic = topic.replace("-{schema}", "")
    if policy == "single" and system.single_needs_topics:
        policies = tuple(each for each in policies if each != "single")
    if settings.options.topic_name_format is not None:
        if policy == "single":
            raise OptionError(f"-f {format},topic_name_format: with topic_policy=single there is one topic; see --to.")
        topic = settings.options.topic_name_format
        if "{schema}" in topic and "{schema}" not in system.table_text:
            raise OptionError(f"-f {format},topic_name_format: {settings.source} has no schemas, so no $schema$.")
    by_table = ByName(system.table_text, MURMUR2)
    by_columns = ByText(MURMUR2, by_table, separator=",", null_text="null")
    known: dict[str, Policy] = {
        "key": by_columns,
        "table": by_table,
        "single": Single(text=system.table_text),
        "schema": ByName(system.schema_text, MURMUR2),
        "columns": by_columns,
    }
    return Routing(
        Topics(topic),
        {name: known[name] for name in policies},
        hashed_text,
        "key" if settings.options.pk_update == "split" else "never",
        SchemaStatements(settings.options.ddl_topic, table_text=system.table_text),
    )


def order(settings: DrsSettings) -> Order:
    """The order of columns in the maps of a message: java.util.HashMap's, as in the page's samples."""
    return hash_order if settings.options.column_order == "java_hashmap" else table_order


def snapshot_too(sends: frozenset[Kind]) -> Callable[[Event], bool]:
    """What is omitted: DDL of no table; the CREATE TABLEs of a full load, unless its rows are sent, too."""
    return without_table if READ in sends else of_stream


def sends(settings: DrsSettings, system: Names) -> frozenset[Kind]:
    """The kinds that the settings let through."""
    ddl = system.ddl if settings.options.sync_ddl is None else settings.options.sync_ddl
    full = system.full_sync if settings.options.full_sync is None else settings.options.full_sync
    return SENDS - (frozenset() if ddl else {DDL}) - (frozenset() if full else {READ})


def complete(settings: Settings[DrsOptions], timestamps: Timestamps = "epoch") -> DrsSettings:
    """The settings with defaults for options that the format does not have."""
    return Settings(Everything(**vars(settings.options), timestamps=timestamps), settings.source, settings.broker)


def layout(
    settings: DrsSettings, format: str, system: Names, writer: Writer, container: Container | None = None
) -> Layout:
    """A writer with what all formats share. Raises OptionError for topics that DRS does not offer."""
    sent = sends(settings, system)
    return Layout(
        writer,
        routing(settings, format, system),
        container=container,
        sends=sent,
        statements=system.statements,
        omits=snapshot_too(sent),
        event_time="previous commit" if system.previous_commit else "commit",
    )


def key_names(table: Table, style: Style) -> str:
    """The key's columns in key order; null without a key, as in the sample of GaussDB."""
    names = [quote(name, style) for name in table.primary_key]
    return f"[{','.join(names)}]" if names else "null"


PK_NAMES: Final = PerTable(key_names)

# What sources beside MySQL have.
# How the relational layout looks.
