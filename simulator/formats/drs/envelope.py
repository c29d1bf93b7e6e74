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

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulator.errors import OptionError, UnsupportedType
from simulator.formats.canal.json import switch, zone
from simulator.formats.drs.record import Image
from simulator.formats.format import Option, Settings
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
    Kind,
    SchemaChangeKind,
    Table,
)
from simulator.routing import Policy, Routing
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import Style, quote
from simulator.wire.fields import Cell, Order, PerTable, table_order

PRODUCT: Final = "Huawei Cloud DRS"
SPEC: Final = "Kafka Message Format, 2024-03-28"
# No format has heartbeats or marks of transactions: no edition of the page knows any.
SENDS: Final = frozenset({READ, INSERT, UPDATE, DELETE, DDL})
SILENT: Final = frozenset({BEGIN, COMMIT, HEARTBEAT})

# topic_policy by our name: the product's topic name format, and the partition policies that go with it (Terraform
# provider; of MySQL, partition 0 is offered with topics made by DRS only).
TOPICS: Final[dict[str, tuple[str, tuple[Policy, ...]]]] = {
    "single": ("drs", ("key", "table", "single", "schema", "columns")),
    "table": ("{database}-{schema}-{table}", ("key", "single", "columns")),
    "database": ("{database}", ("table", "single", "schema")),
    "schema": ("{database}-{schema}", ("table", "single")),
}
_VARIABLES: Final = {"$database$": "{database}", "$schema$": "{schema}", "$tablename$": "{table}"}


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


@dataclass(frozen=True, kw_only=True)
class System(Names):
    """What DRS says of a type system of tables.

    `cell` says how a column's values look, `code` is its sqlType, `type_name` the name of its type, `image` its class
    of Avro; values of some `kinds` of change may differ. `handles` says whether DRS has the column's type at all,
    `leaves` whether it leaves such columns out. `db_type` is there in the relational layout only; there columnType and
    the database may be blank, and the event time is that of the transaction before (`previous_commit`).
    """

    title: str
    cell: Callable[[Column, Settings, Kind | None], Cell]
    code: Callable[[Column], int]
    type_name: Callable[[Column], str]
    image: Callable[[Column, Settings, Kind | None], Image]
    kinds: tuple[Kind, ...] = ()
    handles: Callable[[Column], bool] = lambda column: True
    leaves: Callable[[Column, Settings], bool] = lambda column, settings: False
    db_type: str | None = None
    blank_types: bool = False
    blank_database: bool = False
    previous_commit: bool = False

    def columns(self, table: Table, settings: Settings) -> list[int]:
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


def topic_policy(text: str) -> str:
    """A name of the table above; which of them there are depends on the source."""
    if text not in TOPICS:
        raise ValueError(f"it is one of {', '.join(TOPICS)}")
    return text


def topic_name(text: str) -> str:
    """`$database$-$tablename$` as a pattern of ours."""
    if not re.fullmatch(rf"(?:[\w.-]|{'|'.join(map(re.escape, _VARIABLES))})+", text, re.ASCII):
        raise ValueError(f"it is the name of a topic, in which may be {', '.join(_VARIABLES)}")
    for variable, ours in _VARIABLES.items():
        text = text.replace(variable, ours)
    return text


def routing(settings: Settings, format: str, system: Names) -> Routing:
    """Where messages go. Raises OptionError for what DRS does not offer."""
    policy = settings["topic_policy"]
    if policy not in system.topics:
        offered = ", ".join(system.topics)
        raise OptionError(f"-f {format},topic_policy={policy}: for {settings.source} DRS offers {offered}.")
    topic, policies = TOPICS[policy]
    if "{schema}" not in system.table_text:
        topic = topic.replace("-{schema}", "")
    if policy == "single" and system.single_needs_topics:
        policies = tuple(each for each in policies if each != "single")
    if settings["topic_name_format"] is not None:
        if policy == "single":
            raise OptionError(f"-f {format},topic_name_format: with topic_policy=single there is one topic; see --to.")
        topic = settings["topic_name_format"]
        if "{schema}" in topic and "{schema}" not in system.table_text:
            raise OptionError(f"-f {format},topic_name_format: {settings.source} has no schemas, so no $schema$.")
    return Routing(
        topic=topic,
        policies=policies,
        combine="concat",
        reduce="mask",
        table_text=system.table_text,
        schema_text=system.schema_text,
        image="after",
        hash="murmur2",
        separator=",",
        null_text="null",
        keyless="table",
        ddl_of="schema",
        ddl_topic=settings["ddl_topic"],
        split="always" if settings["pk_update"] == "split" else False,
        key="hashed",
    )


def order(settings: Settings) -> Order:
    """The order of columns in the maps of a message: java.util.HashMap's, as in the page's samples."""
    return hash_order if settings["column_order"] == "java_hashmap" else table_order


def sends(settings: Settings, system: Names) -> frozenset[Kind]:
    """The kinds that the settings let through."""
    ddl = system.ddl if settings["sync_ddl"] is None else settings["sync_ddl"]
    full = system.full_sync if settings["full_sync"] is None else settings["full_sync"]
    return SENDS - (frozenset() if ddl else {DDL}) - (frozenset() if full else {READ})


def complete(settings: Settings, **more: Any) -> Settings:
    """The settings with defaults for options that the format does not have."""
    options = (COLUMN_ORDER, DDL_TABLE, *MYSQL_OPTIONS, *OTHER_OPTIONS, *LAYOUT_OPTIONS)
    defaults = {option.name: option.value("", None) for option in options}
    return Settings({**defaults, **more, **settings.values}, settings.source)


def key_names(table: Table, style: Style) -> str:
    """The key's columns in key order; null without a key, as in the sample of GaussDB."""
    names = [quote(name, style) for name in table.primary_key]
    return f"[{','.join(names)}]" if names else "null"


PK_NAMES: Final = PerTable(key_names)

OPTIONS: Final = (
    Option("sync_ddl", None, "Whether DDL is synchronised; default: as DRS has it.", ("on", "off"), switch),
    Option("full_sync", None, "Whether there is a full load; default: as DRS has it.", ("on", "off"), switch),
    Option(
        "pk_update",
        "single",
        "split: an update of the primary key is a DELETE and an INSERT, which DRS itself never does.",
        ("single", "split"),
    ),
    Option("timezone", "+08:00", "Zone of the source's session, in which moments are printed.", parse=zone),
    Option(
        "topic_policy",
        "single",
        "One topic, or those that DRS makes for each table, database, schema: single, table, database, schema.",
        parse=topic_policy,
    ),
    Option("topic_name_format", None, "Names of topics that DRS makes: $database$-$tablename$.", parse=topic_name),
    Option("ddl_topic", "", "A topic that all DDL goes to."),
)
COLUMN_ORDER: Final = Option("column_order", "java_hashmap", "Order of columns in maps.", ("java_hashmap", "table"))
DDL_TABLE: Final = Option("ddl_table", "empty", "`table` of DDL: empty, or the table's name.", ("empty", "name"))
MYSQL_OPTIONS: Final = (
    Option(
        "init_binary",
        "stripped",
        "Zeros at the end of BINARY(n) in rows of MySQL's full load.",
        ("stripped", "padded"),
    ),
)
# What sources beside MySQL have.
OTHER_OPTIONS: Final = (
    Option("gaussdb", "primary-standby", "Which GaussDB the source is.", ("primary-standby", "distributed")),
    Option("raw", "filter", "RAW columns of Oracle: left out, or sent.", ("filter", "send")),
    Option(
        "replica_identity",
        "full",
        "What PostgreSQL and GaussDB log of an old row: all of it, or (default) its key, where that is changed.",
        ("full", "default"),
    ),
    Option(
        "supplemental",
        "all",
        "What Oracle logs of an update: all columns, or the key and what changes.",
        ("all", "pk_ui"),
    ),
)
# How the relational layout looks.
LAYOUT_OPTIONS: Final = (
    Option("blank_as", "empty", "What is blank for Oracle and SQL Server: empty, or null.", ("empty", "null")),
    Option("layout_version", "current", "Oracle's layout until 2022 was that of MySQL.", ("current", "oracle-legacy")),
)
