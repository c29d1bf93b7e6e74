"""CloudCanal (ClouGence; BladePipe abroad): what its message formats share, whatever is in the message.

Pages: "Message Format", and of the product's documentation the pages of Kafka as a target, `api_datajob_mapping`,
`api_datajob_schema`, `param_guide` and the release notes up to 5.4.0.0.

* Topics are named by a rule; a DDL statement goes to partition 0 of its table's topic, once, or to `ddlTopic`.
* The partition is a hash of the key's values, which is not published: here it is Canal's, without the database.
* A record has no key and no headers, unless the options say so; RocketMQ's keys and tags are as decided here.
* Up to `batch_rows` rows of one table and action that follow each other share a message. The product keeps a group open
  for a time; here it ends with its transaction (or its statement), so that no message depends on a clock, and before a
  row that an earlier update of the group left just the same, which readers cannot tell apart. The full load's rows
  are put together as they are read, table by table.
* RocketMQ and RabbitMQ are targets of some sources only.
* DDL: CREATE, ALTER, RENAME and TRUNCATE; DROP and statements about indexes and databases only when asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.canal.json import switch, zone
from simulator.formats.cloudcanal.types import code, expression, is_mysql, library, name
from simulator.formats.format import Option, Settings
from simulator.model import (
    DDL,
    DELETE,
    INSERT,
    READ,
    UPDATE,
    Column,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.routing import Packing, Routing
from simulator.text.json_style import Style, quote
from simulator.wire.fields import PerTable, Rows

PRODUCT: Final = "CloudCanal"
SPEC: Final = "Message Format, and the product's documentation up to 5.4.0.0"
SOURCES: Final = (
    "gaussdb", "mariadb", "mongodb", "mysql", "oceanbase-mysql", "oceanbase-oracle", "oracle", "postgresql",
    "sqlserver",
)  # fmt: skip
# What the pages of links and the release notes name as sources for other targets than Kafka.
LINKS: Final[Mapping[str, tuple[str, ...]]] = {
    "kafka": SOURCES,
    "rocketmq": ("mysql", "oceanbase-mysql", "oceanbase-oracle", "oracle", "postgresql"),
    "rabbitmq": ("mysql", "postgresql"),
}

# ------------------------------------------------------------------------------------------------------------- events

ACTIONS: Final[Mapping[Kind, str]] = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}
# The action of a statement; those about indexes and databases are decisions.
STATEMENTS: Final[Mapping[SchemaChangeKind, str]] = {
    SchemaChangeKind.CREATE_TABLE: "CREATE",
    SchemaChangeKind.ADD_COLUMN: "ALTER",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER",
    SchemaChangeKind.RENAME_COLUMN: "ALTER",
    SchemaChangeKind.DROP_COLUMN: "ALTER",
    SchemaChangeKind.RENAME_TABLE: "RENAME",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE",
    SchemaChangeKind.DROP_TABLE: "DROP",
    SchemaChangeKind.CREATE_INDEX: "CREATE",
    SchemaChangeKind.DROP_INDEX: "DROP",
    SchemaChangeKind.CREATE_DATABASE: "CREATE",
    SchemaChangeKind.DROP_DATABASE: "DROP",
}
PUBLISHED: Final = frozenset(
    kind for kind, action in STATEMENTS.items() if action in ("ALTER", "RENAME", "TRUNCATE")
) | {SchemaChangeKind.CREATE_TABLE}
STATEMENT_SETS: Final = {
    "tables": PUBLISHED,
    "drop": PUBLISHED | {SchemaChangeKind.DROP_TABLE},
    "all": frozenset(STATEMENTS),
}


def statements(settings: Settings) -> frozenset[SchemaChangeKind]:
    """The statements that are published."""
    return STATEMENT_SETS[settings["ddl_statements"]]


def source_ms(settings: Settings, milliseconds: Any) -> Any:
    """The time at the source: whole seconds where that is MySQL's binary log."""
    return milliseconds - milliseconds % 1000 if is_mysql(settings) else milliseconds


def action(event: SchemaChange, settings: Settings) -> str:
    """The action of a statement. Up to 5.2.0.0 a TRUNCATE of PostgreSQL came tagged ALTER TABLE."""
    return "ALTER" if _old_truncate(event, settings) else STATEMENTS[event.kind]


def _old_truncate(event: SchemaChange, settings: Settings) -> bool:
    old = settings["pg_truncate"] == "alter" and library(settings) == "postgresql"
    return old and event.kind is SchemaChangeKind.TRUNCATE_TABLE


def schema_of(table: Table) -> str:
    """The schema; where a source has none, the database once more."""
    return table.id.schema or table.id.database


def statement_table(event: SchemaChange, settings: Settings) -> Table | None:
    """The table a statement is about, as it was subscribed: the old one of a rename, unless the option says so."""
    if event.kind is SchemaChangeKind.RENAME_TABLE and settings["rename_table"] == "new":
        return event.after
    return event.before or event.after


def statement_columns(event: SchemaChange) -> tuple[Column, ...]:
    """The columns after the statement; none of a dropped table."""
    return event.after.columns if event.after else ()


def statement_text(event: SchemaChange, settings: Settings) -> str:
    """The statement without a semicolon at its end; the old TRUNCATE of PostgreSQL as its trigger wrote it."""
    if _old_truncate(event, settings) and event.before is not None:
        return f"TRUNCATE {event.before.id.schema}.{event.before.id.name}"
    return event.sql.rstrip().removesuffix(";").rstrip()


def table_changes(event: SchemaChange, settings: Settings) -> dict[str, Any]:
    """`tableChanges`: the table after the statement, columns in table order from position 0."""
    columns = [
        {
            "jdbcType": code(column, settings),
            "name": column.name,
            "position": position,
            "typeExpression": expression(column, settings),
            "typeName": name(column, settings),
        }
        for position, column in enumerate(statement_columns(event))
    ]
    keys = list(event.after.primary_key) if event.after else []
    return {"table": {"columns": columns, "primaryKeyColumnNames": keys}, "type": STATEMENTS[event.kind]}


# ------------------------------------------------------------------------------------------------------------- images


def key_places(table: Table) -> tuple[int, ...]:
    """Places of the key's columns, in table order."""
    return tuple(sorted(table.key_positions))


def logs_keys(settings: Settings) -> bool:
    """Whether the source logs of an old row its key alone, as PostgreSQL does without REPLICA IDENTITY FULL."""
    return bool(settings["replica_identity"] == "default" and library(settings) == "postgresql")


def images(settings: Settings) -> dict[str, dict[Kind, Any]]:
    """What stands in `data` and `before` of each kind: `{"data": {INSERT: Rows(…), …}, "before": {…}}`."""
    nulls = settings["null_columns"] == "omit"
    after, before = Rows("after", skip_nulls=nulls), Rows("before", skip_nulls=nulls)
    keyed = Rows("before", columns=key_places)
    deleted = keyed if settings["minimal"] or logs_keys(settings) else before
    in_before, in_data = settings["delete_image"] != "data", settings["delete_image"] != "before"
    data: dict[Kind, Any] = {READ: after, INSERT: after, UPDATE: after, DELETE: deleted if in_data else [], DDL: []}
    old: dict[Kind, Any] = {READ: [], INSERT: [], UPDATE: before, DELETE: deleted if in_before else [], DDL: []}
    if settings["old_image"] == "changed":
        old[UPDATE] = Rows("changed")
    if logs_keys(settings):
        old[UPDATE] = keyed
    if settings["minimal"]:
        # increLogMinimal: an update without the columns that did not change, but for the key
        data[UPDATE], old[UPDATE] = Rows("changed after", kept=key_places), Rows("changed", kept=key_places)
    return {"data": data, "before": old}


def type_map(settings: Settings) -> PerTable:
    """Column name to `dbValType`, in table order."""

    def text(table: Table, style: Style) -> str:
        members = (f"{quote(c.name, style)}:{quote(expression(c, settings), style)}" for c in table.columns)
        return "{" + ",".join(members) + "}"

    return PerTable(text)


def code_map(settings: Settings) -> PerTable:
    """Column name to `jdbcType`, in table order."""

    def text(table: Table, style: Style) -> str:
        return "{" + ",".join(f"{quote(c.name, style)}:{code(c, settings)}" for c in table.columns) + "}"

    return PerTable(text)


def key_names(table: Table, style: Style) -> str:
    """The key's columns in key order; [] without a key."""
    return "[" + ",".join(quote(key, style) for key in table.primary_key) + "]"


# ------------------------------------------------------------------------------------------------- topics, partitions

# Pattern of each rule of the page `api_datajob_mapping`, and its case; {schema} with what stands before it is left out
# for sources that have none.
TOPIC_RULES: Final[Mapping[str, tuple[str, str]]] = {
    "SOURCE_INS_DB_TABLE_BY_DOT": ("{instance}.{database}.{table}", "kept"),
    "SOURCE_INS_DB_SCHEMA_TABLE_BY_DOT": ("{instance}.{database}.{schema}.{table}", "kept"),
    "SOURCE_INS_DB_BY_DOT": ("{instance}.{database}", "kept"),
    "SOURCE_INS_DB_TABLE_BY_PERCENT": ("{instance}%{database}%{table}", "kept"),
    "SOURCE_INS_DB_SCHEMA_TABLE_BY_PERCENT": ("{instance}%{database}%{schema}%{table}", "kept"),
    "SOURCE_INS_DB_BY_PERCENT": ("{instance}%{database}", "kept"),
    "SOURCE_INS_DB_TABLE_BY_DOUBLE_UNDERLINE": ("{instance}__{database}__{table}", "kept"),
    "MIRROR": ("{table}", "kept"),
    "TO_LOWER_CASE": ("{table}", "lower"),
    "TO_UPPER_CASE": ("{table}", "upper"),
    "SOURCE_DB_TABLE_BY_COLON": ("{database}:{table}", "kept"),
    "SOURCE_DB_SCHEMA_TABLE_BY_COLON": ("{database}:{schema}:{table}", "kept"),
    "SOURCE_DB_TABLE_BY_UNDERLINE": ("{database}_{table}", "kept"),
    "SOURCE_DB_TABLE_BY_UNDERLINE_LOWER_CASE": ("{database}_{table}", "lower"),
    "DEFAULT_TOPIC": ("{default}", "kept"),
}
# Names of instances: what they begin with, and 16 characters.
INSTANCES: Final[Mapping[str, str]] = {
    "mysql": "my", "oracle": "ora", "postgresql": "pg", "sqlserver": "sqlserver", "mongodb": "mongo",
}  # fmt: skip
INSTANCE_TAIL: Final = "cdcsim0000000001"


def broker_of(settings: Settings) -> str:
    """What messages are made for; formats that have no such option are for Kafka."""
    return str(settings.values.get("broker", "kafka"))


def levels(settings: Settings) -> int:
    """Levels of names above the column: database and table, or a schema between them."""
    return 3 if library(settings) in ("oracle", "postgresql", "sqlserver") else 2


def instance(settings: Settings) -> str:
    """The id of the source instance: `my-` and 16 characters."""
    return settings["instance"] or f"{INSTANCES[library(settings)]}-{INSTANCE_TAIL}"


def topic(settings: Settings) -> tuple[str, str]:
    """The pattern of topic names, and its case. RocketMQ takes no dots in them: there the default has `%`."""
    by = "PERCENT" if broker_of(settings) == "rocketmq" else "DOT"
    own = "SOURCE_INS_DB_SCHEMA_TABLE_BY_" if levels(settings) == 3 else "SOURCE_INS_DB_TABLE_BY_"
    pattern, case = TOPIC_RULES[settings["topic_rule"] or own + by]
    if levels(settings) == 2:
        pattern = re.sub(r"\{schema\}[.%:]", "", pattern)
    return pattern.replace("{instance}", instance(settings)).replace("{default}", settings["default_topic"]), case


def routing(settings: Settings) -> Routing:
    """Explicit partitions: the XOR of the hashes of the key's values; a table without key columns has partition 0."""
    pattern, case = topic(settings)
    return Routing(
        topic=pattern,
        policies=("key", "columns", "table", "single"),
        combine="xor",
        reduce="abs",
        table_text="{table}",
        image="after",
        keyless=settings["keyless"],
        ddl_topic=settings["ddl_topic"],
        split=settings["split_pk_update"],
        renamed=settings["rename_table"],
        topic_case=case,  # type: ignore[arg-type]
    )


def packing(settings: Settings) -> Packing:
    """`batchWriteSize` counts the rows of a message, after they were put into partitions."""
    return Packing(
        max_rows=settings["batch_rows"],
        scope=settings["batch_scope"],
        rows_of="message",
        distinct=True,
        full_load=True,
    )


# ------------------------------------------------------------------------------------------------------------ options


def rows(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise ValueError("it is a whole number, 1 or more")
    return int(text)


def delay(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is a whole number of milliseconds")
    return int(text)


def headers(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [part.partition(":") for part in text.split(";") if part]
    if any(not colon or not key.strip() or " " in key.strip() for key, colon, _ in pairs):
        raise ValueError("it is a list such as 'env:test;team:orders'")
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def zero_date(text: str) -> str:
    if text and not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text):
        raise ValueError("it is a moment such as '1970-01-01 00:00:00'")
    return text


def topic_name(text: str) -> str:
    if not re.fullmatch(r"[^\s{}/]*", text):
        raise ValueError("it is a name without blanks and braces")
    return text


VALUE_OPTIONS: Final = (
    Option("timestamp_zone", "UTC", "srcTimeZone: zone in which TIMESTAMP values are printed.", parse=zone),
    Option("zero_date", "", "defaultZeroDate: what stands for zero dates; empty: they stay.", parse=zero_date),
    Option(
        "full_datetime",
        "millis",
        "Moments of the full load: three digits of a fraction (since 4.7.1.0), or as later changes.",
        ("millis", "log"),
    ),
    Option(
        "float_text", "java", "Floating point numbers: as Java prints them, or without an exponent.", ("java", "plain")
    ),
    Option("value_types", "string", "Values are strings; native: numbers are JSON numbers.", ("string", "native")),
    Option("geometry_srid", "drop", "Well-known text of geometries without or with SRID.", ("drop", "keep")),
    Option("oracle_lob", "off", "oraLmLobEnable: on: LogMiner shows BLOBs; else they are null.", parse=switch),
    Option("oracle_std_codes", "off", "on: java.sql.Types for the types that ojdbc numbers itself.", parse=switch),
)
ROUTING_OPTIONS: Final = (
    Option("instance", None, "Id of the source instance in topic names.", parse=topic_name),
    Option(
        "topic_rule", None, "Rule of topic names; default: instance, database, (schema,) table.", tuple(TOPIC_RULES)
    ),
    Option("default_topic", "cloudcanal", "Topic under the rule DEFAULT_TOPIC.", parse=topic_name),
    Option("ddl_topic", "", "ddlTopic: where all DDL goes; empty: partition 0 of its table's topic.", parse=topic_name),
    Option("keyless", "zero", "Tables without key columns: partition 0, or by the table's name.", ("zero", "table")),
    Option("split_pk_update", "off", "on: an update of the partition key is a DELETE and an INSERT.", parse=switch),
    Option("key", "none", "Key of a record: none, the primary key as JSON, or the table.", ("none", "pk", "table")),
    Option("custom_header", "", "customHeader: headers of each record: 'env:test;team:orders'.", parse=headers),
)
DDL_OPTIONS: Final = (
    Option(
        "ddl_statements",
        "tables",
        "Statements that are published: CREATE, ALTER, RENAME and TRUNCATE of tables; DROP, too; all.",
        tuple(STATEMENT_SETS),
    ),
    Option("rename_table", "old", "Table of a RENAME: the one that was subscribed, or its new name.", ("old", "new")),
    Option("pg_truncate", "truncate", "Action of PostgreSQL's TRUNCATE; up to 5.2.0.0 ALTER.", ("truncate", "alter")),
)
BATCH_OPTIONS: Final = (
    Option("batch_rows", "1", "batchWriteSize: rows in a message at most.", parse=rows),
    Option(
        "batch_scope",
        "transaction",
        "What may share a message: rows of a transaction that follow each other, or of a statement.",
        ("transaction", "statement"),
    ),
    Option(
        "broker",
        "kafka",
        "What names, keys and tags are made for.",
        ("kafka", "rocketmq", "rabbitmq"),
    ),
    Option("delay_ms", "0", "delayMs of delaySendEnable: RabbitMQ's header x-delay; 0: none.", parse=delay),
    Option("bid_mode", "counter", "Numbers of batches rise, or are 0 as in the printed examples.", ("counter", "zero")),
    Option("delete_image", "data", "Where deleted rows stand.", ("data", "before", "both")),
    Option("old_image", "full", "Columns of the row before an update: all, or the changed ones.", ("full", "changed")),
)
MINIMAL: Final = Option(
    "minimal", "off", "increLogMinimal: updates without unchanged columns, deletes with the key.", parse=switch
)
IMAGE_OPTIONS: Final = (
    Option("null_columns", "null", "Null columns are written or left out.", ("null", "omit")),
    MINIMAL,
    Option(
        "replica_identity",
        "full",
        "PostgreSQL's: full, as the product asks for, or the default: of old rows their key alone.",
        ("full", "default"),
    ),
)
