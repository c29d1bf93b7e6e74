"""What `-f` takes for the formats of OMS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import option, positive, word, zone
from simulator.sources.oceanbase.log import LOG_STREAM_ID, TENANT_ID

# allMetaData.dbType by system; in Dataworks in small letters.
DB_TYPES: Final[Mapping[str, str]] = {
    "mysql": "MYSQL",
    "mariadb": "MYSQL",
    "oracle": "ORACLE",
    "oceanbase-mysql": "OB_MYSQL",
    "oceanbase-oracle": "OB_ORACLE",
    "postgresql": "POSTGRESQL",
    "gaussdb": "POSTGRESQL",
}


# What dbType may say, old spellings included, which projects keep ("Data formats", hosted page and Community Edition;
# DbTypeEnum of oblogclient).
SPELLINGS: Final = (
    *dict.fromkeys(DB_TYPES.values()),
    *("OCEANBASE", "OB_IN_ORACLE_MODE", "DB2_LUW", "DB2", "OB_05", "HBASE", "UNKNOWN"),
)


def partition(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is the number of a partition, from 0 on")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class OmsOptions:
    """What all formats take: how values look, keys, partitions and tags."""

    legacy_types: bool = option(False, "on: values as in projects created before V3.3.0.")
    ob_lob_nulls: bool = option(
        False, "on: large texts that OceanBase does not log are null: before images, and what an update left as it was."
    )
    server_timezone: str = option("Asia/Shanghai", "Zone of the product, for moments without one.", parse=zone)
    split_key_update: bool = option(True, "off: an update of the key is one UPDATE.")
    kafka_key: Literal["pk", "json"] = option("pk", "The key's values put together, or that text as a JSON string.")
    fixed_partition: int = option(0, "The partition of all messages under --route single.", parse=partition)
    tag: str = option("default_tag", "The task's tag on RocketMQ.", parse=word)


@dataclass(frozen=True, kw_only=True)
class OrderedOptions:
    """The order of columns in maps."""

    map_order: Literal["java_hash", "schema"] = option(
        "java_hash", "Columns as a HashMap orders them, or as the table does."
    )


@dataclass(frozen=True, kw_only=True)
class TypedOptions:
    """How messages name the source system."""

    db_type: str | None = option(None, "dbType; default: by the source system.", SPELLINGS)


@dataclass(frozen=True, kw_only=True)
class DefaultOptions(TypedOptions, OmsOptions):
    """Options of oms-default."""

    version: Literal["3.3.1", "4"] = option("3.3.1", "The product's version; 4: DDL has a type.")
    tenant: str = option("obt1", "The OceanBase tenant, which db begins with.", parse=word)
    include_tenant_in_db: bool = option(True, "off: db is the database alone.")
    source_identity: str = option("np_4w1_source-000-0", "The subtopic of the store.", parse=word)
    tenant_id: int = option(TENANT_ID, "The tenant's number in uniqueId.", parse=positive)
    log_stream: int = option(LOG_STREAM_ID, "The log stream's number in uniqueId.", parse=positive)
    extended_meta: bool = option(False, "on: transId and clusterId.")
    cluster_id: str = option("1", "clusterId, if there is one.", parse=word)
    sequence_enabled: bool = option(True, "sequenceEnabled: changes carry a sequence of time and running number.")
    ddl: bool = option(True, "off: DDL is not synchronized.")
    heartbeat: bool = option(False, "on: heartbeats are delivered.")


@dataclass(frozen=True, kw_only=True)
class ExtendedOptions(DefaultOptions):
    """Options of oms-default-extend-column-type."""

    bigint_type_name: Literal["BIGINT", "INT64"] = option("BIGINT", "The name of the type BIGINT.")


@dataclass(frozen=True, kw_only=True)
class CanalOptions(OrderedOptions, OmsOptions):
    """Options of oms-canal-json."""

    version: Literal["3.3.1", "4"] = option("3.3.1", "The product's version; 4: DDL has a type.")
    canal_full_type: Literal["ROW", "INSERT"] = option("ROW", "The type of rows of a full synchronization.")
    canal_ddl: Literal["off", "canal"] | None = option(None, "Whether DDL is written; default: from version 4 on.")
    bigint_type_name: Literal["BIGINT", "INT64"] = option("BIGINT", "The name of the type BIGINT.")


@dataclass(frozen=True, kw_only=True)
class DataworksOptions(TypedOptions, OmsOptions):
    """Options of oms-dataworks."""

    business_name: str | None = option(None, "The task's business system, in extend.load_fm; default: extend is null.")
    bigint_type_name: Literal["BIGINT", "INT64"] = option("BIGINT", "The name of the type BIGINT.")
    sequence_enabled: bool = option(True, "sequenceEnabled: changes carry a sequence of time and running number.")
    ddl: bool = option(True, "off: DDL is not synchronized.")
    heartbeat: bool = option(False, "on: heartbeats are delivered.")


@dataclass(frozen=True, kw_only=True)
class SharePlexOptions(OrderedOptions, OmsOptions):
    """Options of oms-shareplex."""

    transaction_enabled: bool = option(True, "transactionEnabled: changes carry their place in it.")
    sequence_enabled: bool = option(True, "sequenceEnabled: changes carry a sequence of time and running number.")
