"""What `-f` takes for the formats of CloudCanal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import option, positive, zone
from simulator.model import SchemaChangeKind

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


# Pattern of each rule of the page `api_datajob_mapping`, and its case; {schema} with what stands before it is left out
# for sources that have none.
TOPIC_RULES: Final[Mapping[str, tuple[str, Literal["kept", "lower", "upper"]]]] = {
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


@dataclass(frozen=True, kw_only=True)
class ValueOptions:
    """How values look."""

    timestamp_zone: str = option("UTC", "srcTimeZone: zone in which TIMESTAMP values are printed.", parse=zone)
    zero_date: str = option("", "defaultZeroDate: what stands for zero dates; empty: they stay.", parse=zero_date)
    full_datetime: Literal["millis", "log"] = option(
        "millis", "Moments of the full load: three digits of a fraction (since 4.7.1.0), or as later changes."
    )
    float_text: Literal["java", "plain"] = option(
        "java", "Floating point numbers: as Java prints them, or without an exponent."
    )
    value_types: Literal["string", "native"] = option("string", "Values are strings; native: numbers are JSON numbers.")
    geometry_srid: Literal["drop", "keep"] = option("drop", "Well-known text of geometries without or with SRID.")
    oracle_lob: bool = option(False, "oraLmLobEnable: on: LogMiner shows BLOBs; else they are null.")
    oracle_std_codes: bool = option(False, "on: java.sql.Types for the types that ojdbc numbers itself.")


@dataclass(frozen=True, kw_only=True)
class RoutingOptions:
    """Topics, partitions, keys and headers."""

    instance: str | None = option(None, "Id of the source instance in topic names.", parse=topic_name)
    topic_rule: str | None = option(
        None, "Rule of topic names; default: instance, database, (schema,) table.", tuple(TOPIC_RULES)
    )
    default_topic: str = option("cloudcanal", "Topic under the rule DEFAULT_TOPIC.", parse=topic_name)
    ddl_topic: str = option(
        "", "ddlTopic: where all DDL goes; empty: partition 0 of its table's topic.", parse=topic_name
    )
    keyless: Literal["zero", "table"] = option(
        "zero", "Tables without key columns: partition 0, or by the table's name."
    )
    split_pk_update: bool = option(False, "on: an update of the partition key is a DELETE and an INSERT.")
    key: Literal["none", "pk", "table"] = option(
        "none", "Key of a record: none, the primary key as JSON, or the table."
    )
    custom_header: tuple[tuple[str, str], ...] = option(
        (), "customHeader: headers of each record: 'env:test;team:orders'.", parse=headers
    )


@dataclass(frozen=True, kw_only=True)
class StatementOptions:
    """Which statements are published, and as what."""

    ddl_statements: str = option(
        "tables",
        "Statements that are published: CREATE, ALTER, RENAME and TRUNCATE of tables; DROP, too; all.",
        tuple(STATEMENT_SETS),
    )
    rename_table: Literal["old", "new"] = option(
        "old", "Table of a RENAME: the one that was subscribed, or its new name."
    )
    pg_truncate: Literal["truncate", "alter"] = option(
        "truncate", "Action of PostgreSQL's TRUNCATE; up to 5.2.0.0 ALTER."
    )


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """What messages hold of a row."""

    null_columns: Literal["null", "omit"] = option("null", "Null columns are written or left out.")
    minimal: bool = option(False, "increLogMinimal: updates without unchanged columns, deletes with the key.")
    replica_identity: Literal["full", "default"] = option(
        "full", "PostgreSQL's: full, as the product asks for, or the default: of old rows their key alone."
    )


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """Several rows in one message."""

    batch_rows: int = option(1, "batchWriteSize: rows in a message at most.", parse=positive)
    batch_scope: Literal["transaction", "statement"] = option(
        "transaction", "What may share a message: rows of a transaction that follow each other, or of a statement."
    )
    delay_ms: int = option(0, "delayMs of delaySendEnable: RabbitMQ's header x-delay; 0: none.", parse=delay)
    bid_mode: Literal["counter", "zero"] = option(
        "counter", "Numbers of batches rise, or are 0 as in the printed examples."
    )
    delete_image: Literal["data", "before", "both"] = option("data", "Where deleted rows stand.")
    old_image: Literal["full", "changed"] = option(
        "full", "Columns of the row before an update: all, or the changed ones."
    )


@dataclass(frozen=True, kw_only=True)
class CommonOptions(RoutingOptions, ValueOptions, StatementOptions, ImageOptions):
    """What all JSON formats take."""


@dataclass(frozen=True, kw_only=True)
class BatchedOptions(BatchOptions, CommonOptions):
    """What the formats with several rows in a message take."""


@dataclass(frozen=True, kw_only=True)
class JsonOptions(BatchedOptions):
    """Options of cloudcanal-json."""

    ddl_field: Literal["isDdl", "ddl", "both"] = option(
        "isDdl", "Name of the member that marks DDL: `ddl` in messages of 2022, `isDdl` on the page."
    )
    emit_transaction_end: bool = option(False, "on: a message at the end of each transaction.")


@dataclass(frozen=True, kw_only=True)
class CanalOptions(BatchedOptions):
    """Options of cloudcanal-canal-json."""

    database_name: Literal["schema", "db", "db.schema"] = option(
        "schema", "`database` of a source with schemas: the schema, the database, or both."
    )


@dataclass(frozen=True, kw_only=True)
class DebeziumOptions(CommonOptions):
    """Options of cloudcanal-debezium."""

    envelop_schema_include: bool = option(
        False, "envelopSchemaInclude (the vendor's spelling): on: schema and payload."
    )
    connect_schema: bool = option(False, "on: the schema in Kafka Connect's form.")
    key_order: Literal["sorted", "doc"] = option("sorted", "Members sorted, or as the page prints them.")
    legacy_insert_op: Literal["c", "i"] = option("c", "`op` of inserts: `i` stands in the page's example.")
    init_op: Literal["c", "r"] = option("c", "`op` of rows of the full load.")
    ddl_op: Literal["none", "a"] = option(
        "none", "`op` of statements: none, as in the example, or `a`, as in the table."
    )
    empty_image: Literal["object", "null"] = option("object", "An image that is not there: {} or null.")
    source_ts: Literal["sent", "exec"] = option(
        "sent", "`ts_ms` of the source: that of the message, or the time there."
    )
    source_members: Literal["printed", "debezium"] = option(
        "printed", "Members of `source` of the MySQL family: the eight printed ones, or Debezium's too."
    )
    server_id: int = option(223344, "The source server's number.")
    gtid: bool = option(False, "on: the source has GTIDs.")
    server_uuid: str = option("3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs.")


@dataclass(frozen=True, kw_only=True)
class AvroOptions(RoutingOptions):
    """Options of cloudcanal-dts-avro."""

    ispk_field: bool = option(False, "on: the records of fields have isPk, which DTS's readers do not read.")
    init_op: Literal["INSERT", "INIT"] = option("INSERT", "Operation of rows of the full load.")
    minimal: bool = option(False, "increLogMinimal: updates without unchanged columns, deletes with the key.")
    ddl_statements: str = option(
        "tables",
        "Statements that are published: CREATE, ALTER, RENAME and TRUNCATE of tables; DROP, too; all.",
        tuple(STATEMENT_SETS),
    )
    schema_variant: Literal["B", "A"] = option("B", "The schema's version; A has no bornTimestamp.")
    born_unit: Literal["s", "ms"] = option("s", "bornTimestamp in seconds, as messages have it, or in ms.")
    ddl_object: Literal["table", "db"] = option(
        "table", "objectName of statements about a table that is there: the table's, or the database."
    )
    oracle_frac: Literal["ns", "us"] = option(
        "ns", "Fractions of Oracle and SQL Server: nanoseconds, or microseconds, which is what SDK 2.0 reads."
    )
    gtid: bool = option(True, "on: MySQL has GTIDs; BEGIN and DDL carry them.")
    server_uuid: str = option("3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs.")
    server_id: str = option("1", "MySQL's server id, a tag.")
    source_version: str | None = option(None, "The version that the source reports; default: one of the source's.")
