"""Options of `-f canal-json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.canal import rules
from simulator.formats.options import option, zone
from simulator.sources.mysql import types as mysql_types
from simulator.sources.mysql.log import SERVER_UUID

VERSIONS: Final = ("1.1.4", "1.1.5", "1.1.6", "1.1.7", "1.1.8")


@dataclass(frozen=True, kw_only=True)
class CanalOptions:
    """Options of Canal and of the server that it reads."""

    version: str = option("1.1.8", "Canal's version: its escapes, codes and members.", VERSIONS)
    mysql_type_style: str | None = option(
        None,
        "How mysqlType prints types; default: as typed where the log has the definition, else as the server's SHOW "
        "CREATE TABLE.",
        mysql_types.STYLES,
    )
    timezone: str = option("UTC", "Time zone of Canal's JVM, in which TIMESTAMP values are printed.", parse=zone)
    gtid: bool = option(
        False,
        "on: gtid holds the executed set, as when Canal was started from a GTID.",
        where={"version": ("1.1.7", "1.1.8")},
        unless={"master_gtid": bool},
    )
    server_uuid: str = option(
        SERVER_UUID,
        "The source server's UUID in GTIDs.",
        sources=("mysql",),
        where={"gtid": (True,), "master_gtid": (None,)},
    )
    master_gtid: str | None = option(
        None,
        "canal.instance.master.gtid: the GTIDs executed before the stream, UUID:1-2.",
        parse=rules.gtid,
        sources=("mysql",),
        where={"version": ("1.1.7", "1.1.8")},
    )
    partition_hash: tuple[rules.TableRule, ...] = option(
        (),
        "canal.mq.partitionHash, rules with ; between: shop.orders:id^region;.*\\..*:$pk$",
        parse=rules.partition_hash,
        routes=("rules",),
    )
    dynamic_topic: Callable[[str, str], str] | None = option(
        None, "canal.mq.dynamicTopic, rules with ; between: orders:shop.orders;shop\\..*", parse=rules.dynamic_topic
    )
    topic_partitions: Mapping[str, int] | None = option(
        None, "canal.mq.dynamicTopicPartitionNum, with ; between: orders:3", parse=rules.topic_partitions
    )
    filter_query_dml: bool = option(
        False, "canal.instance.filter.query.dml; on: texts of statements about rows are dropped."
    )
    text_charset: Literal["connection", "column"] = option(
        "connection",
        "connection: Canal takes the bytes of all texts for UTF-8; column: texts are right in every character set.",
        decided=True,
    )
    event_max_size: int = option(
        8192, "binlog_row_event_max_size of the server: bytes of a rows event.", parse=rules.size
    )
    database_hash: bool = option(
        True,
        "canal.mq.database.hash; off: the partition does not depend on the database.",
        routes=("rules", "key", "columns"),
    )
    rows_per_message: int = option(
        0, "The most rows of one statement in a message; 0: as a rows event holds.", decided=True
    )
