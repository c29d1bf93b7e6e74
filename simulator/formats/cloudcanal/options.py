"""Options of CloudCanal's formats. Names in camel case are the product's own parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.cloudcanal.topics import DEFAULT_TOPIC, RULES
from simulator.formats.options import (
    MYSQL_FAMILY,
    NOT_MONGODB,
    NOT_ORACLE,
    ORACLE_FAMILY,
    POSTGRESQL_FAMILY,
    WITH_ZONES,
    option,
    positive,
    zone,
)
from simulator.sources.mysql.log import SERVER_ID, SERVER_UUID

# Topic rules whose names do not begin with the instance.
WITHOUT_INSTANCE: Final = tuple(rule for rule, (pattern, _) in RULES.items() if "{instance}" not in pattern)
# Topic rules with one topic per database.
WITHOUT_TABLE: Final = ("SOURCE_INS_DB_BY_DOT", "SOURCE_INS_DB_BY_PERCENT")
# Kinds of DDL that a job may publish.
STATEMENTS: Final = ("create", "alter", "rename", "truncate", "drop", "index", "database")


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
        raise ValueError("it is a date and time such as '1970-01-01 00:00:00'")
    return text


def statements(text: str) -> str:
    if text == "all":
        return "+".join(STATEMENTS)
    if wrong := next((word for word in text.split("+") if word not in STATEMENTS), None):
        raise ValueError(f"it is all, or some of {', '.join(STATEMENTS)} with + between them, not {wrong!r}")
    return text


def topic_name(text: str) -> str:
    if not re.fullmatch(r"[^\s{}/]*", text):
        raise ValueError("it is a name without blanks, slashes and braces")
    return text


# Sources with MySQL's binary log.
BINLOGS: Final = ("mariadb", "mysql")


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """Options of all formats: topics, partitions, keys, headers, and the kinds of events to publish."""

    instance: str | None = option(
        None,
        "Id of the source instance in topic names.",
        parse=topic_name,
        unless={"topic_rule": WITHOUT_INSTANCE, "source_members": ("printed",)},
    )
    topic_rule: str | None = option(
        None, "Rule of topic names; default: instance, database, (schema,) table.", tuple(RULES)
    )
    default_topic: str | None = option(
        None,
        "defaultTopic: the topic of tables that appear while the job runs, of what has no table (DDL of databases, "
        "ends of transactions), and of all under the rule DEFAULT_TOPIC. Default: new tables have topics by the rule, "
        f"the rest goes to {DEFAULT_TOPIC}.",
        parse=topic_name,
        unless={"topic_rule": WITHOUT_TABLE},
    )
    ddl_topic: str = option(
        "", "ddlTopic: the topic of all DDL; empty: partition 0 of its table's topic.", parse=topic_name
    )
    keyless: Literal["zero", "table"] = option(
        "zero",
        "Tables without key columns: partition 0, or a partition by the table's name.",
        routes=("key", "columns"),
        decided=True,
    )
    split_pk_update: bool = option(
        False,
        "on: an update of the partition key is a DELETE and an INSERT.",
        sources=NOT_MONGODB,
        routes=("key", "columns"),
        decided=True,
    )
    key: Literal["none", "pk", "table"] = option(
        "none",
        "Key of a record: none, the primary key as JSON, or the table.",
        brokers=("kafka", "rabbitmq"),
        decided=True,
    )
    custom_header: tuple[tuple[str, str], ...] = option(
        (), "customHeader: headers of each record: 'env:test;team:orders'.", parse=headers
    )
    ddl_statements: str = option(
        "create+alter+rename+truncate",
        "Published DDL: any of create, alter, rename, truncate and drop (of tables), index (CREATE and DROP INDEX) and "
        "database, with + between them; all: all of these.",
        parse=statements,
    )
    minimal: bool = option(False, "increLogMinimal; on: updates lack unchanged columns, deletes have the key alone.")


@dataclass(frozen=True, kw_only=True)
class CommonOptions(JobOptions):
    """Options of all JSON formats: texts of values, and contents of messages."""

    timestamp_zone: str = option(
        "UTC",
        "srcTimeZone: time zone in which TIMESTAMP values are printed.",
        parse=zone,
        sources=WITH_ZONES,
    )
    zero_date: str = option(
        "",
        "defaultZeroDate: replaces zero dates; empty: they stay.",
        parse=zero_date,
        sources=MYSQL_FAMILY,
    )
    full_datetime: Literal["millis", "log"] = option(
        "millis", "Timestamps of the full load: three digits of a fraction (since 4.7.1.0), or as in later changes."
    )
    float_text: Literal["java", "plain"] = option(
        "java",
        "Floating point numbers: as Java prints them, or without an exponent.",
        decided=True,
    )
    value_types: Literal["string", "native"] = option(
        "string",
        "Values are strings; native: numbers are JSON numbers.",
        sources=NOT_ORACLE,
        decided=True,
    )
    geometry_srid: Literal["drop", "keep"] = option(
        "drop",
        "Well-known text of geometries without or with SRID.",
        sources=(*MYSQL_FAMILY, "sqlserver"),
        decided=True,
    )
    oracle_lob: bool = option(
        False,
        "oraLmLobEnable; on: LogMiner shows BLOBs, which are null otherwise.",
        sources=("oracle",),
    )
    oracle_std_codes: bool = option(
        False,
        "on: java.sql.Types codes for types that ojdbc numbers itself.",
        sources=ORACLE_FAMILY,
        where={"envelop_schema_include": (True,)},
        decided=True,
    )
    rename_table: Literal["old", "new"] = option(
        "old",
        "Table of a RENAME: the one that was subscribed, or its new name.",
        where={"ddl_statements": lambda words: "rename" in words},
        decided=True,
    )
    pg_truncate: Literal["truncate", "alter"] = option(
        "truncate",
        "Action of PostgreSQL's TRUNCATE; up to 5.2.0.0 ALTER.",
        sources=POSTGRESQL_FAMILY,
        where={"ddl_statements": lambda words: "truncate" in words},
    )
    null_columns: Literal["null", "omit"] = option("null", "Null columns are written or left out.", decided=True)


@dataclass(frozen=True, kw_only=True)
class BatchedOptions(CommonOptions):
    """Options of the formats with several rows per message."""

    batch_rows: int = option(1, "batchWriteSize: the most rows of a message.", parse=positive, decided=True)
    batch_scope: Literal["partition", "transaction", "statement"] = option(
        "partition",
        "Rows that may share a message: successive ones of a partition, or those of a transaction, or of a statement.",
        where={"batch_rows": lambda rows: rows > 1},
        decided=True,
    )
    batch_ms: int = option(
        1000,
        "Rows that share a message were committed within such a time.",
        parse=positive,
        where={"batch_rows": lambda rows: rows > 1, "batch_scope": ("partition",)},
        decided=True,
    )
    delay_ms: int = option(
        0,
        "delayMs of delaySendEnable: RabbitMQ's header x-delay; 0: none.",
        parse=delay,
        brokers=("rabbitmq",),
    )
    bid_mode: Literal["counter", "zero"] = option(
        "counter",
        "Numbers of batches rise, or are 0 as in the printed examples.",
        decided=True,
    )
    delete_image: Literal["data", "before", "both"] = option(
        "data", "The member that holds deleted rows.", decided=True
    )
    old_image: Literal["full", "changed"] = option(
        "full",
        "Columns of the row before an update: all, or the changed ones.",
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class JsonOptions(BatchedOptions):
    """Options of cloudcanal-json."""

    ddl_field: Literal["isDdl", "ddl", "both"] = option(
        "isDdl", "Name of the member that marks DDL: `isDdl` on the page, `ddl` in messages of 2022."
    )
    emit_transaction_end: bool = option(False, "on: a message at the end of each transaction.", decided=True)


@dataclass(frozen=True, kw_only=True)
class CanalOptions(BatchedOptions):
    """Options of cloudcanal-canal-json."""

    database_name: Literal["schema", "db", "db.schema"] = option(
        "schema",
        "`database` of a source with schemas: the schema, the database, or both.",
        sources=(*POSTGRESQL_FAMILY, *ORACLE_FAMILY, "sqlserver"),
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class DebeziumOptions(CommonOptions):
    """Options of cloudcanal-debezium."""

    envelop_schema_include: bool = option(
        False, "envelopSchemaInclude (the vendor's spelling); on: a schema and the payload."
    )
    connect_schema: bool = option(
        False,
        "on: the schema in Kafka Connect's form.",
        where={"envelop_schema_include": (True,)},
        decided=True,
    )
    key_order: Literal["sorted", "doc"] = option("sorted", "Members sorted, or as the page prints them.")
    legacy_insert_op: Literal["c", "i"] = option("c", "`op` of inserts; the page's example has `i`.")
    init_op: Literal["c", "r"] = option("c", "`op` of rows of the full load.", decided=True)
    ddl_op: Literal["none", "a"] = option(
        "none", "`op` of DDL: none, as in the page's example, or `a`, as in its table."
    )
    empty_image: Literal["object", "null"] = option("object", "A missing image: {} or null.")
    source_ts: Literal["sent", "exec"] = option(
        "sent",
        "`ts_ms` in `source`: the time of sending, or the time at the source.",
        decided=True,
    )
    source_members: Literal["printed", "debezium"] = option(
        "printed",
        "Members of `source` of the MySQL family: the eight that the page prints, or all of Debezium's.",
        sources=MYSQL_FAMILY,
        decided=True,
    )
    server_id: int = option(
        223344,
        "The source server's number.",
        sources=BINLOGS,
    )
    gtid: bool = option(
        False,
        "on: the source has GTIDs.",
        sources=BINLOGS,
        decided=True,
    )
    server_uuid: str = option(
        SERVER_UUID,
        "The source server's UUID in GTIDs.",
        sources=("mysql",),
        where={"gtid": (True,)},
    )


@dataclass(frozen=True, kw_only=True)
class AvroOptions(JobOptions):
    """Options of cloudcanal-dts-avro."""

    minimal: bool = option(
        False, "increLogMinimal; on: updates lack unchanged columns, deletes have the key alone.", sources=NOT_MONGODB
    )
    ispk_field: bool = option(False, "on: records of fields have isPk; DTS's readers cannot read them.", decided=True)
    init_op: Literal["INSERT", "INIT"] = option("INSERT", "Operation of rows of the full load.", decided=True)
    schema_variant: Literal["B", "A"] = option("B", "Version of the schema; A has no bornTimestamp.")
    born_unit: Literal["s", "ms"] = option(
        "s",
        "bornTimestamp in seconds, as messages have it, or in ms.",
        where={"schema_variant": ("B",)},
    )
    ddl_object: Literal["table", "db"] = option(
        "table",
        "objectName of DDL about an existing table: the table's, or the database.",
        sources=NOT_MONGODB,
        decided=True,
    )
    oracle_frac: Literal["ns", "us"] = option(
        "us",
        "Fractions of Oracle and SQL Server: microseconds, which the published SDKs read, or nanoseconds.",
        decided=True,
        sources=(*ORACLE_FAMILY, "sqlserver"),
    )
    gtid: bool = option(
        False,
        "on: the source has GTIDs, which DDL carries; off as in cloudcanal-debezium, since the page's sample has none.",
        sources=("mysql",),
        decided=True,
    )
    server_uuid: str = option(
        SERVER_UUID,
        "The source server's UUID in GTIDs.",
        sources=("mysql",),
        where={"gtid": (True,)},
    )
    server_id: str = option(
        str(SERVER_ID),
        "MySQL's server id, a tag.",
        sources=MYSQL_FAMILY,
    )
    source_version: str | None = option(None, "The version that the source reports; default: one of that source.")
