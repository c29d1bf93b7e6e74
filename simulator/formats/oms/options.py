"""Options of OMS's formats. Names in camel case are the product's own parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import NOT_OCEANBASE, NOT_ORACLE, OCEANBASE, ORACLE_FAMILY, option, positive, word, zone
from simulator.sources.oceanbase.log import LOG_STREAM_ID, TENANT_ID

# Values of dbType, with the old spellings, which old projects keep.
DB_TYPES: Final = (
    "MYSQL", "ORACLE", "OB_MYSQL", "OB_ORACLE", "OCEANBASE", "OB_IN_ORACLE_MODE", "DB2_LUW", "DB2", "OB_05",
    "POSTGRESQL", "HBASE", "UNKNOWN",
)  # fmt: skip


# Values of dbType by source, the default first, then old spellings.
DB_TYPES_OF: Final = {
    "mysql": ("MYSQL",),
    "oceanbase-mysql": ("OB_MYSQL", "OCEANBASE", "OB_05"),
    "oceanbase-oracle": ("OB_ORACLE", "OB_IN_ORACLE_MODE"),
    "oracle": ("ORACLE",),
}


def version(text: str) -> str:
    """`4.2.5`, also of `V4.2.5`, as the vendor writes it."""
    if not re.fullmatch(r"[vV]?[34](\.\d+)*", text):
        raise ValueError("it is a version such as 3.3.1 or V4.2.5")
    return text.lstrip("vV")


def partition(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is the number of a partition, from 0 on")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class OmsOptions:
    """Options of all formats: texts of values, keys, partitions and tags."""

    legacy_types: bool = option(False, "on: values as in projects created before V3.3.0.")
    ob_lob_nulls: bool = option(
        False,
        "on: large texts that OceanBase does not log are null: in before images, and where an update kept them.",
        sources=OCEANBASE,
        decided=True,
    )
    server_timezone: str = option(
        "Asia/Shanghai",
        "Time zone of timestamps without one of their own.",
        parse=zone,
        sources=ORACLE_FAMILY,
        decided=True,
    )
    split_key_update: bool = option(
        False,
        "on: an update of the key is a DELETE and an INSERT, as it is in OceanBase's log.",
        sources=NOT_OCEANBASE,
        decided=True,
    )
    kafka_key: Literal["pk", "json"] = option(
        "pk",
        "Key of a message: the primary key's values, or a JSON string of them.",
        brokers=("kafka",),
        decided=True,
    )
    fixed_partition: int = option(
        0,
        "The partition of all messages with --route single.",
        parse=partition,
        routes=("single",),
    )
    tag: str = option(
        "default_tag",
        "The task's tag on RocketMQ.",
        parse=word,
        brokers=("rocketmq",),
    )


@dataclass(frozen=True, kw_only=True)
class OrderedOptions:
    """The order of columns in maps."""

    map_order: Literal["java_hash", "schema"] = option(
        "java_hash",
        "Columns in the order of a Java HashMap, or of the table.",
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class SequenceOptions:
    """Sequences of changes."""

    sequence_enabled: bool = option(True, "sequenceEnabled: changes have a sequence of seconds and a running number.")


@dataclass(frozen=True, kw_only=True)
class EventOptions(SequenceOptions):
    """The source system's name, DDL and heartbeats."""

    db_type: str | None = option(None, "dbType; default: by the source.", DB_TYPES, offered=DB_TYPES_OF)
    ddl: bool = option(True, "off: DDL is not synchronized.")
    heartbeat: bool = option(False, "on: heartbeats are delivered, one a second if the scenario does not say.")


@dataclass(frozen=True, kw_only=True)
class TypeNameOptions:
    """Names of types."""

    bigint_type_name: Literal["BIGINT", "INT64"] = option(
        "BIGINT",
        "The name of the type BIGINT.",
        sources=NOT_ORACLE,
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class VersionOptions:
    """The product's version."""

    version: str = option(
        "3.3.1",
        "The product's version, such as 4.2.5; from 4 on DDL has a type.",
        parse=version,
        unless={"canal_ddl": ("off", "canal")},
    )


@dataclass(frozen=True, kw_only=True)
class DefaultOptions(VersionOptions, EventOptions, OmsOptions):
    """Options of oms-default."""

    tenant: str = option(
        "obt1",
        "The OceanBase tenant, with which db begins.",
        parse=word,
        sources=OCEANBASE,
        where={"include_tenant_in_db": (True,)},
    )
    include_tenant_in_db: bool = option(
        True,
        "off: db is the database alone.",
        sources=OCEANBASE,
        decided=True,
    )
    source_identity: str = option("np_4w1_source-000-0", "The subtopic of the store.", parse=word, decided=True)
    tenant_id: int = option(
        TENANT_ID,
        "The tenant's number in uniqueId.",
        parse=positive,
        sources=OCEANBASE,
        decided=True,
    )
    log_stream: int = option(
        LOG_STREAM_ID,
        "The log stream's number in uniqueId.",
        parse=positive,
        sources=OCEANBASE,
        decided=True,
    )
    unique_id: bool = option(
        True, "off: uniqueId is left out; with sequence_enabled=off allMetaData has eight members, as in the samples."
    )
    extended_meta: bool = option(False, "on: adds transId and clusterId.")
    cluster_id: str = option(
        "1",
        "clusterId of extended_meta.",
        parse=word,
        where={"extended_meta": (True,)},
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class ExtendedOptions(TypeNameOptions, DefaultOptions):
    """Options of oms-default-extend-column-type."""


@dataclass(frozen=True, kw_only=True)
class CanalOptions(VersionOptions, OrderedOptions, TypeNameOptions, OmsOptions):
    """Options of oms-canal-json."""

    canal_full_type: Literal["ROW", "INSERT"] = option(
        "ROW", "The type of rows of a full synchronization.", decided=True
    )
    canal_ddl: Literal["off", "canal"] | None = option(
        None, "Whether DDL is written; default: from version 4 on.", decided=True
    )


@dataclass(frozen=True, kw_only=True)
class DataworksOptions(TypeNameOptions, EventOptions, OmsOptions):
    """Options of oms-dataworks."""

    transaction_marks: bool = option(
        False, "on: TRANSACTION_BEGIN and TRANSACTION_END around each transaction.", decided=True
    )
    business_name: str | None = option(None, "The task's business system, in extend.load_fm; default: extend is null.")


@dataclass(frozen=True, kw_only=True)
class SharePlexOptions(OrderedOptions, SequenceOptions, OmsOptions):
    """Options of oms-shareplex."""

    server_timezone: str = option(
        "Asia/Shanghai",
        "Time zone of times, and of timestamps without one of their own.",
        parse=zone,
        decided=True,
    )
    transaction_enabled: bool = option(
        True, "transactionEnabled: changes have their position in the transaction.", decided=True
    )
