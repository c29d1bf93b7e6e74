"""What `-f` takes for the formats of DTS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.formats.options import option, zone


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
        "none", "The message's key: none, or what the partition is made of."
    )
    ddl_topic: str = option("", "A topic that all DDL goes to; empty: that of the data.")
    split_on_key_update: bool = option(False, "on: an update of the partition key is delivered as DELETE and INSERT.")


@dataclass(frozen=True, kw_only=True)
class TextOptions(DeliveryOptions):
    """How the JSON formats write values."""

    timestamp_zone: str = option("+08:00", "Zone in which TIMESTAMP values are printed.", parse=zone)
    frac: Literal["trim", "pad"] = option("trim", "Fraction digits: trailing zeros cut, or the column's number.")
    binary: Literal["latin1", "hex"] | None = option(None, "Bytes as ISO-8859-1 characters (default: MySQL) or as hex.")


@dataclass(frozen=True, kw_only=True)
class CanalOptions(TextOptions):
    """Options of dts-canal-json."""

    images: Literal["current", "before-2022-03-20"] = option(
        "current", "Instances created before 2022-03-20 place the images otherwise."
    )
    pre_update: Literal["exchanged", "normal"] = option(
        "exchanged", "Updates of instances before 2022-03-20: images exchanged or not."
    )
    null_members: Literal["omit", "null"] = option("omit", "Members that are null are left out or written.")
    old_columns: Literal["all", "changed"] = option("all", "Columns in `old` of an update.")
    table_name: Literal["bare", "schema"] = option("bare", "The table's name alone, or behind its schema's.")
    mysql_type_params: bool = option(False, "on: bigint(20), varchar(50), as in 2021.")
    mysql_type_unsigned: Literal["keep", "drop"] = option("keep", "Whether mysqlType says unsigned.")
    sql_type: Literal["jdbc", "dts_number"] = option(
        "jdbc", "sqlType: java.sql.Types, as in the examples, or dataTypeNumber, as in the text."
    )
    unsigned_sql_type: Literal["declared", "by_value"] = option(
        "declared", "Codes of unsigned columns: by type or by value."
    )
    id_style: Literal["counter", "ts_offset"] = option(
        "counter", "id: a number of the record, or es in seconds times 10^9 and a number in the second."
    )
    init_as_insert: bool = option(False, "on: rows of the full load are INSERT, for open-source readers.")
    gtid: bool = option(False, "on: the source has GTIDs.")
    server_uuid: str = option("3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs.")


@dataclass(frozen=True, kw_only=True)
class SharePlexOptions(TextOptions):
    """Options of dts-shareplex-json."""

    time_z: bool = option(False, "on: time and posttime end with Z, as in the page's text.")
    op_style: Literal["short", "words"] = option("short", "op as in the examples, or in words.")
    ins_nulls: Literal["write", "omit"] = option("write", "Nulls of inserted rows are written or left out.")
    ddl: bool = option(False, "on: statements are written: TRUNCATE, DROP COLUMN, ddl.")
    update_style: Literal["one", "split"] = option(
        "one", "An update is one message, or UPDATE BEFORE and UPDATE AFTER."
    )
    userid: int | None = option(None, "Who committed; default: 84 for Oracle, else 0.", parse=user_id)
    gtid: bool = option(True, "on: MySQL has GTIDs, which trans holds.")
    server_uuid: str = option("3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs.")
    supplemental: Literal["all", "pk"] = option(
        "all", "What the log has of a row before an update: all, or its key and what changed."
    )


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """What is in an Avro record."""

    schema_variant: Literal["B", "A"] = option("B", "The schema's version; A has no bornTimestamp.")
    born_unit: Literal["s", "ms"] = option("s", "bornTimestamp in seconds, as messages have it, or in ms.")
    ddl_object: Literal["table", "db"] = option(
        "table", "objectName of statements about a table that is there: the table's, or the database."
    )
    oracle_frac: Literal["ns", "us"] = option(
        "ns", "Fractions of Oracle and SQL Server: nanoseconds, or microseconds, which is what SDK 2.0 reads."
    )
    source_type: Literal["DRDS", "PPAS"] | None = option(
        None, "DRDS: MySQL as DRDS (PolarDB-X), whose tables are physical ones; PPAS: PostgreSQL as EDB's."
    )
    row_image: Literal["full", "minimal"] = option(
        "full", "Images as a log of whole rows has them, or one of keys and changed columns; other values are NONE."
    )
    rds_hidden_pk: bool = option(False, "on: MySQL tables without a key have RDS's hidden one as last field.")
    mongodb_before: Literal["id", "document"] = option(
        "id", "What is known of a MongoDB document as it was: its _id, or all of it, where pre-images are kept."
    )
    framing: Literal["raw", "confluent"] = option("raw", "The record alone, or behind a schema registry's five bytes.")
    schema_id: int = option(1, "The schema's id in the registry, for framing=confluent.", parse=number)
    noop: bool = option(False, "on: NOOP records of 48 bytes in place of heartbeats.")
    gtid: bool = option(True, "on: MySQL has GTIDs; BEGIN and DDL carry them.")
    server_uuid: str = option("3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs.")
    server_id: str = option("1", "MySQL's server id, a tag.")
    source_version: str | None = option(None, "The version that the source reports; default: one of the source's.")


@dataclass(frozen=True, kw_only=True)
class AvroOptions(RecordOptions, DeliveryOptions):
    """Options of dts-avro."""

    product: Literal["sync", "subscription"] = option(
        "sync", "Synchronisation to a queue, or change tracking, which has marks and heartbeats and no full load."
    )
    begin_commit: bool | None = option(None, "BEGIN and COMMIT of transactions; default: by product.")
    heartbeat: bool | None = option(None, "Heartbeats; default: by product.")
