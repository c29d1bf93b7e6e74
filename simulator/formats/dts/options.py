"""The options of DTS's formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.formats.options import MYSQL_FAMILY, NOT_MONGODB, WITH_ZONES, option, zone
from simulator.model import DDL
from simulator.sources.mysql.log import SERVER_ID, SERVER_UUID


def number(text: str) -> int:
    if not text.isdigit() or int(text) >= 1 << 31:
        raise ValueError("it is a whole number from 0 to 2147483647")
    return int(text)


def user_id(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is a whole number, such as 84")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class DeliveryOptions:
    """Topics, partitions and keys."""

    kafka_key: Literal["none", "partition_key"] = option(
        "none",
        "Message key: none, or the text whose hash is the partition.",
        brokers=("kafka",),
        decided=True,
    )
    ddl_topic: str = option(
        "",
        "A topic for all DDL; empty: the topic of the data.",
        kinds=(DDL,),
        decided=True,
    )
    split_on_key_update: bool = option(
        False,
        "on: an update of the partition key is sent as DELETE and INSERT; the page shows it in Canal JSON.",
        sources=NOT_MONGODB,
        routes=("key", "columns"),
        unless={"update_style": ("split",)},
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Options of the source server."""

    server_uuid: str = option(
        SERVER_UUID,
        "The source server's UUID in GTIDs.",
        sources=("mysql",),
        where={"gtid": (True,)},
    )


@dataclass(frozen=True, kw_only=True)
class StatementOptions:
    """DDL."""

    ddl: bool = option(True, "off: DDL is not sent, which the product's wizard offers.")


@dataclass(frozen=True, kw_only=True)
class TextOptions(DeliveryOptions):
    """Values in the JSON formats."""

    timestamp_zone: str = option(
        "+08:00",
        "Time zone in which TIMESTAMP values are printed.",
        parse=zone,
        sources=WITH_ZONES,
        decided=True,
    )
    frac: Literal["trim", "pad"] = option(
        "trim", "Fractions of seconds: without trailing zeros, or as declared.", decided=True
    )
    binary: Literal["latin1", "hex"] | None = option(
        None,
        "Bytes as ISO-8859-1 characters or hexadecimal; default: latin1 for MySQL, else hex.",
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class CanalOptions(TextOptions, StatementOptions, ServerOptions):
    """Options of dts-canal-json."""

    images: Literal["current", "before-2022-03-20"] = option(
        "current", "before-2022-03-20: `data` and `old` as instances created before that day write them."
    )
    pre_update: Literal["exchanged", "normal"] = option(
        "exchanged",
        "With images=before-2022-03-20: whether `data` and `old` of an update are exchanged.",
        where={"images": ("before-2022-03-20",)},
    )
    null_members: Literal["omit", "null"] = option("omit", "Whether members that are null are left out or written.")
    old_columns: Literal["all", "changed"] = option(
        "all",
        "Columns in `old` of an update.",
        unless={"images": ("before-2022-03-20",), "pre_update": ("exchanged",)},
    )
    table_name: Literal["bare", "schema"] = option(
        "bare",
        "schema: `table` is schema.table.",
        sources=("oracle", "postgresql", "sqlserver"),
        decided=True,
    )
    mysql_type_params: bool = option(False, "on: mysqlType has parameters, such as bigint(20), as in 2021.")
    mysql_type_unsigned: Literal["keep", "drop"] = option(
        "keep",
        "Whether mysqlType says unsigned.",
        sources=MYSQL_FAMILY,
        decided=True,
    )
    sql_type: Literal["jdbc", "dts_number"] = option(
        "jdbc",
        "sqlType is java.sql.Types, as in the examples, or dataTypeNumber, as in the text.",
        sources=MYSQL_FAMILY,
    )
    unsigned_sql_type: Literal["declared", "by_value"] = option(
        "declared",
        "sqlType of unsigned columns: by declared type or by value.",
        sources=MYSQL_FAMILY,
        where={"sql_type": ("jdbc",)},
    )
    id_style: Literal["counter", "ts_offset"] = option(
        "counter",
        "id is a record number, or es in seconds times 10^9 plus a number within the second.",
        decided=True,
    )
    init_as_insert: bool = option(
        False,
        "on: rows of the full load are INSERT, which open-source readers of Canal JSON expect.",
        decided=True,
    )
    gtid: bool = option(
        False,
        "on: the source has GTIDs.",
        sources=("mysql",),
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class SharePlexOptions(TextOptions, ServerOptions):
    """Options of dts-shareplex-json."""

    time_z: bool = option(False, "on: time and posttime end with Z, as in the page's text.")
    op_style: Literal["short", "words"] = option("short", "op is ins, upd, del, as in the examples, or a word.")
    ins_nulls: Literal["write", "omit"] = option(
        "write", "Whether nulls of inserted rows are written or left out.", decided=True
    )
    ddl: bool = option(False, "on: DDL is sent, as TRUNCATE, DROP COLUMN or ddl.", decided=True)
    update_style: Literal["one", "split"] = option(
        "one",
        "An update is one message, or two: UPDATE BEFORE and UPDATE AFTER.",
        decided=True,
    )
    userid: int | None = option(
        None, "The committing user; default: 84 for Oracle, else 0.", parse=user_id, decided=True
    )
    gtid: bool = option(
        True,
        "on: MySQL has GTIDs, which trans holds.",
        sources=("mysql",),
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class RecordOptions(ServerOptions):
    """Contents of an Avro record."""

    schema_variant: Literal["B", "A"] = option("B", "The schema's version; A has no bornTimestamp.")
    born_unit: Literal["s", "ms"] = option(
        "s",
        "Unit of bornTimestamp: seconds, as in real messages, or milliseconds.",
        where={"schema_variant": ("B",)},
    )
    ddl_object: Literal["db", "table"] = option(
        "db",
        "objectName of DDL: the database alone, as in a printed message, or the table's if it exists.",
        kinds=(DDL,),
        sources=NOT_MONGODB,
        decided=True,
    )
    tags: Literal["2023", "2021", "2020"] = option(
        "2023", "Tags as messages of that year have them: server_id came in 2021, metaVersion in 2023."
    )
    oracle_frac: Literal["ns", "us"] = option(
        "us",
        "Fractions of sources other than MySQL and PostgreSQL: microseconds, as SDK 2.0.0 and 2.1.4 read them, or "
        "nanoseconds, as SDK-fast does.",
        decided=True,
        sources=("oracle", "sqlserver"),
        elsewhere={"source_type": ("DRDS", "PPAS")},
    )
    drds: bool = option(False, "on: MySQL is DRDS (PolarDB-X): rows name physical tables, tags the logical ones.")
    source_type: Literal["DRDS", "PPAS"] | None = option(
        None,
        "SourceType of records: DRDS instead of MySQL, or PPAS instead of PostgreSQL.",
        decided=True,
    )
    row_image: Literal["full", "minimal"] = option(
        "full",
        "What the source logs: whole rows, or keys and changed columns, where other values are NONE.",
        sources=NOT_MONGODB,
    )
    rds_hidden_pk: bool = option(
        False,
        "on: MySQL tables without a key have the hidden one of RDS as last field.",
        sources=("mysql",),
    )
    mongodb_before: Literal["id", "document"] = option(
        "id",
        "What is known of a MongoDB document before a change: its _id, or all of it (pre-images).",
        sources=("mongodb",),
        decided=True,
    )
    framing: Literal["raw", "confluent"] = option(
        "raw", "The record alone, or after a schema registry's five bytes.", decided=True
    )
    schema_id: int = option(
        1,
        "The schema's id in the registry, for framing=confluent.",
        parse=number,
        where={"framing": ("confluent",)},
        decided=True,
    )
    noop: bool = option(False, "on: NOOP records of 48 bytes instead of heartbeats.")
    gtid: bool = option(
        True,
        "on: MySQL has GTIDs; BEGIN and DDL carry them.",
        sources=("mysql",),
    )
    server_id: str = option(
        str(SERVER_ID),
        "MySQL's server id, a tag.",
        sources=MYSQL_FAMILY,
    )
    source_version: str | None = option(None, "The version that the source reports; default: one of its version.")


@dataclass(frozen=True, kw_only=True)
class AvroOptions(RecordOptions, StatementOptions, DeliveryOptions):
    """Options of dts-avro."""

    product: Literal["sync", "subscription"] = option(
        "sync", "Synchronisation to a queue, or change tracking, which has BEGIN, COMMIT, heartbeats and no full load."
    )
    begin_commit: bool | None = option(None, "Whether BEGIN and COMMIT are sent; default: by product.", decided=True)
    heartbeat: bool | None = option(
        None,
        "Whether heartbeats are sent, one a second if the scenario does not say; default: by product.",
        where={"noop": (False,)},
        decided=True,
    )
