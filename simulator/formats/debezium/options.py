"""Options of Debezium's formats: properties of a connector and of Kafka Connect's converters, under their own names.

Documentation of Debezium 3.6, "connector configuration properties" of each connector, and "Topic routing"; of Kafka,
"Converters". Lists have semicolons where properties have commas, which separate options here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from simulator.formats.options import count, option, word
from simulator.sources.mysql.log import SERVER_UUID
from simulator.subjects.registered import checked_url

MYSQL: Final = ("mariadb", "mysql")
RELATIONAL: Final = ("mariadb", "mysql", "oracle", "postgresql", "sqlserver")
POSTGRESQL: Final = ("postgresql",)
MONGODB: Final = ("mongodb",)
TRUE_FALSE: Final = ("true", "false")
PLACEHOLDER: Final = "__debezium_unavailable_value"

Decimals = Literal["precise", "string", "double"]
Times = Literal["adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"]
Binary = Literal["bytes", "base64", "base64-url-safe", "hex"]
Strategy = Literal["TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy"]
Adjustment = Literal["none", "avro", "avro_unicode"]
Version = Literal["3.6", "2.7", "2.5"]


def topic(text: str) -> str:
    """The name of a topic."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", text):
        raise ValueError("it is the name of a topic: up to 249 letters, digits, dots, hyphens and underscores")
    return text


def existing_file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise ValueError("it is the path of a file")
    return path.resolve()


def operations(text: str) -> frozenset[str]:
    """`c;u;d;t`, or `none`."""
    letters = frozenset(part.strip() for part in text.split(";"))
    if letters == {"none"}:
        return frozenset()
    if letters - set("cudt"):
        raise ValueError("it is none, or letters of c, u, d and t with semicolons between")
    return letters


def patterns(text: str) -> re.Pattern[str]:
    """Regular expressions with semicolons between, any of which matches a whole name, whatever its case. Names
    have dots: `shop.orders.note`; an expression without one matches none."""
    if not all("." in part for part in text.split(";")):
        raise ValueError(
            r"it is regular expressions of whole names, such as shop\.orders\.note, with semicolons between"
        )
    try:
        return re.compile("|".join(f"(?:{part.strip()})" for part in text.split(";")), re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"it is regular expressions with semicolons between: {error}") from None


def key_patterns(text: str) -> tuple[re.Pattern[str], ...]:
    """`shop.orders:region;id;shop.items:id`: a table with its first column, further columns, the next table; tables are
    regular expressions. The result matches names such as `shop.orders.region`, in the order of the key."""
    names: list[re.Pattern[str]] = []
    table = ""
    for part in text.split(";"):
        owner, colon, column = part.strip().rpartition(":")
        table = owner if colon else table
        if not table or not column:
            raise ValueError(
                "it is tables, each with a colon and its columns, with semicolons between: shop.orders:a;b"
            )
        names.append(patterns(rf"{table}\.{column}"))
    return tuple(names)


@dataclass(frozen=True, kw_only=True)
class ConnectorOptions:
    """Options of all connectors."""

    version: Version = option("3.6", "Debezium's version: 3.6 stands for 3.5 and later.")
    connector_class: str | None = option(
        None,
        "The connector, where the source has several: Debezium's for MySQL reads MariaDB, too.",
        ("io.debezium.connector.mysql.MySqlConnector", "io.debezium.connector.mariadb.MariaDbConnector"),
        name="connector.class",
        sources=("mariadb",),
    )
    topic_prefix: str = option(
        "dbserver1", "Logical name of the server; topics and schemas begin with it.", name="topic.prefix", parse=word
    )
    topic_delimiter: str = option(".", "Between the names in a topic.", name="topic.delimiter", parse=word)
    topic_transaction: str = option(
        "transaction", "Name of the topic of transactions, behind the prefix.", name="topic.transaction", parse=word
    )
    topic_heartbeat_prefix: str = option(
        "__debezium-heartbeat",
        "Topics of heartbeats begin with it.",
        name="topic.heartbeat.prefix",
        parse=word,
    )
    topic_heartbeat_name: str = option(
        "", "The topic of heartbeats, whatever its prefix; several connectors can share one.",
        name="topic.heartbeat.name", parse=topic, where={"version": ("3.6",)},
    )  # fmt: skip
    decimal_handling: Decimals = option(
        "precise",
        "Decimals as bytes of the unscaled number, text, or doubles.",
        name="decimal.handling.mode",
        sources=RELATIONAL,
    )
    legacy_decimals: bool = option(
        False, "Whole numbers of Oracle stay whole, whatever decimal.handling.mode says.", TRUE_FALSE,
        name="legacy.decimal.handling.strategy", sources=("oracle",), where={"version": ("3.6",)},
    )  # fmt: skip
    time_precision: Times | None = option(
        None,
        "How dates and times without a zone are numbers or texts; default: adaptive_time_microseconds of MySQL and "
        "MariaDB, adaptive of other sources.",
        name="time.precision.mode",
        sources=RELATIONAL,
    )
    binary_handling: Binary = option("bytes", "Bytes, or their text.", name="binary.handling.mode", sources=RELATIONAL)
    bigint_unsigned: Literal["long", "precise"] = option(
        "long",
        "BIGINT UNSIGNED as a signed number of 64 bits, or as a decimal.",
        name="bigint.unsigned.handling.mode",
        sources=MYSQL,
    )
    query: bool = option(
        False, "source.query has the statement, where the log has it (binlog_rows_query_log_events of MySQL); of a "
        "scenario, one that changes the row.", TRUE_FALSE, name="include.query", sources=MYSQL,
    )  # fmt: skip
    time_adjuster: bool = option(
        True, "Years below 100 are those of two digits: 1 is 2001.", TRUE_FALSE, name="enable.time.adjuster",
        sources=MYSQL,
    )  # fmt: skip
    interval_handling: Literal["numeric", "string"] = option(
        "numeric", "Intervals as microseconds or text.", name="interval.handling.mode", sources=("oracle", "postgresql")
    )
    hstore_handling: Literal["json", "map"] = option(
        "json", "hstore as JSON text or a map.", name="hstore.handling.mode", sources=POSTGRESQL
    )
    unknown_types: bool = option(
        False, "Columns of types that the connector does not know are the bytes of their text, else rows lack them.",
        TRUE_FALSE, name="include.unknown.datatypes", sources=POSTGRESQL,
    )  # fmt: skip
    money_digits: int = option(2, "Decimals of money.", name="money.fraction.digits", parse=count, sources=POSTGRESQL)
    lob: bool = option(
        False, "Large objects are read, else a placeholder stands for them.", TRUE_FALSE, name="lob.enabled",
        sources=("oracle",),
    )  # fmt: skip
    capture_mode: Literal[
        "change_streams_update_full", "change_streams", "change_streams_update_full_with_pre_image",
        "change_streams_with_pre_image",
    ] = option(
        "change_streams_update_full",
        "Updates have the document after them (update_full); updates and deletes have that before (with_pre_image).",
        name="capture.mode",
        sources=MONGODB,
    )  # fmt: skip
    key_columns: tuple[re.Pattern[str], ...] = option(
        (), "Columns of keys other than the table's key: shop.orders:region;id;shop.items:id.",
        name="message.key.columns", parse=key_patterns, sources=RELATIONAL,
    )  # fmt: skip
    included_columns: re.Pattern[str] | None = option(
        None, "The columns of rows: regular expressions of names such as shop.orders.id, with semicolons between.",
        name="column.include.list", parse=patterns, sources=RELATIONAL,
    )  # fmt: skip
    excluded_columns: re.Pattern[str] | None = option(
        None, "Columns that rows lack; keys have them.", name="column.exclude.list", parse=patterns, sources=RELATIONAL
    )
    typed_columns: re.Pattern[str] | None = option(
        None, "Columns whose schema has the type, length, scale and name at the source.",
        name="column.propagate.source.type", parse=patterns, sources=RELATIONAL,
    )  # fmt: skip
    typed_types: re.Pattern[str] | None = option(
        None, "The same of columns by table and type: shop.orders.VARCHAR.",
        name="datatype.propagate.source.type", parse=patterns, sources=RELATIONAL,
    )  # fmt: skip
    tombstones: bool = option(
        True, "A delete is followed by a message without a value.", TRUE_FALSE, name="tombstones.on.delete"
    )
    skipped_operations: frozenset[str] = option(
        frozenset("t"), "Operations that are left out: c;u;d;t, or none; default: t.",
        name="skipped.operations", parse=operations,
    )  # fmt: skip
    transactions: bool = option(
        False,
        "Messages for the begin and end of transactions, and each change's place in its own.",
        TRUE_FALSE,
        name="provide.transaction.metadata",
    )
    schema_changes: bool = option(
        True,
        "DDL goes to the topic that is called as the prefix.",
        TRUE_FALSE,
        name="include.schema.changes",
        sources=RELATIONAL,
    )
    schema_comments: bool = option(
        False, "Comments of tables and columns are in it.", TRUE_FALSE, name="include.schema.comments", sources=MYSQL
    )
    context_headers: bool = option(
        True, "Headers that name the connector.", TRUE_FALSE, name="extended.headers.enabled"
    )
    heartbeat_ms: int = option(
        0, "Milliseconds between heartbeats; 0: none.", name="heartbeat.interval.ms", parse=count
    )
    placeholder: str = option(
        PLACEHOLDER,
        "Stands for a large value that the log does not hold; of PostgreSQL also hex: and bytes.",
        name="unavailable.value.placeholder",
        sources=RELATIONAL,
    )
    name_adjustment: Adjustment = option(
        "none",
        "avro: characters that Avro's names cannot have become _; avro_unicode: they and _ become _u and their number.",
        name="schema.name.adjustment.mode",
    )
    field_adjustment: Adjustment = option(
        "none", "The same in names of columns.", name="field.name.adjustment.mode", sources=RELATIONAL
    )
    server_id: int = option(223344, "The server's id in its log.", parse=count, sources=MYSQL)
    gtid: bool = option(False, "on: MySQL has GTIDs, and logs times of commits below a second.", sources=("mysql",))
    server_uuid: str = option(
        SERVER_UUID, "The server's UUID, the first part of its GTIDs.", sources=("mysql",), where={"gtid": (True,)}
    )
    run_id: str = option(
        "019f0000-0000-7000-8000-000000000000", "The header that tells starts of the connector apart.", decided=True
    )


_UNWRAPPED: Final = {"transforms": ("unwrap",)}


def names(text: str) -> tuple[str, ...]:
    """`op;source.ts_ms;table:tbl`."""
    if not all(re.fullmatch(r"[\w.]+(:\w+)?", part) for part in text.split(";")):
        raise ValueError("it is members with semicolons between, such as op;source.ts_ms;table:tbl")
    return tuple(text.split(";"))


@dataclass(frozen=True, kw_only=True)
class Unwrap:
    """Settings of ExtractNewRecordState."""

    deletes: str
    fields: tuple[str, ...]
    headers: tuple[str, ...]
    fields_prefix: str
    headers_prefix: str


def unwrapping(options: RecordOptions) -> Unwrap:
    return Unwrap(
        deletes=options.unwrap_deletes,
        fields=options.unwrap_fields,
        headers=options.unwrap_headers,
        fields_prefix=options.unwrap_fields_prefix,
        headers_prefix=options.unwrap_headers_prefix,
    )


@dataclass(frozen=True, kw_only=True)
class RecordOptions(ConnectorOptions):
    """Options of records, whatever converter writes them."""

    transforms: Literal["none", "unwrap"] = option(
        "none",
        "unwrap: rows without their envelope, as ExtractNewRecordState and ExtractNewDocumentState make them.",
    )
    unwrap_deletes: Literal["drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone"] = option(
        "tombstone",
        "What becomes of deletes and their tombstones.",
        name="transforms.unwrap.delete.tombstone.handling.mode",
        where=_UNWRAPPED,
    )
    unwrap_fields: tuple[str, ...] = option(
        (), "Members of the envelope behind the columns: op;source.ts_ms;table:tbl.",
        name="transforms.unwrap.add.fields", parse=names, where=_UNWRAPPED,
    )  # fmt: skip
    unwrap_fields_prefix: str = option(
        "__", "Before their names.", name="transforms.unwrap.add.fields.prefix", where=_UNWRAPPED
    )
    unwrap_headers: tuple[str, ...] = option(
        (), "Members of the envelope as headers.",
        name="transforms.unwrap.add.headers", parse=names, where=_UNWRAPPED,
    )  # fmt: skip
    unwrap_headers_prefix: str = option(
        "__", "Before their names.", name="transforms.unwrap.add.headers.prefix", where=_UNWRAPPED
    )


@dataclass(frozen=True, kw_only=True)
class JsonOptions(RecordOptions):
    """Options of the JSON converter."""

    value_schemas: bool = option(
        True, "Values have their schema beside them.", TRUE_FALSE, name="value.converter.schemas.enable"
    )
    key_schemas: bool = option(
        True, "Keys have their schema beside them.", TRUE_FALSE, name="key.converter.schemas.enable"
    )
    decimal_format: Literal["BASE64", "NUMERIC"] = option(
        "BASE64",
        "How the converter writes precise decimals.",
        name="value.converter.decimal.format",
        where={"decimal_handling": ("precise",)},
        sources=RELATIONAL,
    )


@dataclass(frozen=True, kw_only=True)
class AvroOptions(RecordOptions):
    """Options of Confluent's Avro converter, for keys and values alike. Unwrapped documents of MongoDB have a schema
    each, which is known only with the document."""

    transforms: Literal["none", "unwrap"] = option(
        "none", "unwrap: rows without their envelope, as ExtractNewRecordState makes them.", sources=RELATIONAL
    )
    registry: str | None = option(
        None, "Schema registry that numbers schemas; they are registered before the first message.",
        name="schema.registry.url", parse=checked_url,
    )  # fmt: skip
    auto_register: bool = option(
        True, "false: the registry must have the schemas already.", TRUE_FALSE, name="auto.register.schemas"
    )
    ids: Path | None = option(
        None, "File with the schemas of a registry and their ids, its answer to GET /schemas; no registry is asked.",
        name="schema.ids", parse=existing_file, decided=True,
    )  # fmt: skip
    key_subjects: Strategy = option(
        "TopicNameStrategy", "Subjects of keys in the registry: TOPIC-key, RECORD, TOPIC-RECORD.",
        name="key.subject.name.strategy",
    )  # fmt: skip
    value_subjects: Strategy = option(
        "TopicNameStrategy", "Subjects of values in the registry: TOPIC-value, RECORD, TOPIC-RECORD.",
        name="value.subject.name.strategy",
    )  # fmt: skip

    meta_data: bool = option(
        True, "Schemas have attributes for Kafka Connect: names, versions, parameters.", TRUE_FALSE,
        name="connect.meta.data",
    )  # fmt: skip
    scrub: bool = option(
        False, "Characters that Avro's names cannot have are encoded in URLs' way, with _ for %.", TRUE_FALSE,
        name="scrub.invalid.names",
    )  # fmt: skip
