"""Options of `-f maxwell-json`, in the names of Maxwell's own configuration (docs/config.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import count, option
from simulator.model import DDL, READ

# The policies whose hashed text is the same for a whole table.
BY_NAME: Final = ("database", "table")


@dataclass(frozen=True, kw_only=True)
class MaxwellOptions:
    """Options of Maxwell."""

    output_commit_info: bool = option(True, "off: rows have neither xid nor commit.")
    output_xoffset: bool = option(
        False,
        "on: rows before the last one of their transaction have their place in it, xoffset.",
        where={"output_commit_info": (True,)},
    )
    output_binlog_position: bool = option(False, "on: file and offset in the log, position.")
    output_gtid_position: bool = option(False, "on: the set of executed GTIDs, gtid.")
    output_server_id: bool = option(False, "on: server_id.")
    output_thread_id: bool = option(False, "on: the session's connection, thread_id.")
    output_schema_id: bool = option(
        False, "on: schema_id, the number of the table's version here; Maxwell's counts all it stored.", decided=True
    )
    output_row_query: bool = option(
        False,
        "on: query has the statement, where the log has it (binlog_rows_query_log_events of MySQL); of a scenario, one "
        "that changes the row.",
        decided=True,
    )
    row_query_max_length: int = option(
        0, "The most characters of query; 0: all.", parse=count, where={"output_row_query": (True,)}
    )
    output_push_timestamp: bool = option(False, "on: when the message was sent, push_ts, in seconds.")
    output_primary_keys: bool = option(False, "on: the key's values, primary_key.")
    output_primary_key_columns: bool = option(False, "on: the key's columns, primary_key_columns.")
    output_nulls: bool = option(True, "off: columns that are null are left out.")
    output_null_zerodates: bool = option(False, "on: zero dates are null.")
    output_naming_strategy: Literal["none", "underscore_to_camelcase"] = option(
        "none", "underscore_to_camelcase: names of members and columns as order_id to orderId."
    )
    output_ddl: bool = option(False, "on: DDL is sent.")
    bootstrap: bool = option(
        True,
        "off: rows of a snapshot are plain inserts; on: bootstrap-insert between bootstrap-start and -complete.",
        kinds=(READ,),
        decided=True,
    )
    ddl_kafka_topic: str = option("", "The topic of DDL; default: that of rows.", kinds=(DDL,), brokers=("kafka",))
    kafka_key_format: Literal["hash", "array"] = option(
        "hash", "hash: the key is an object; array: a list.", brokers=("kafka",)
    )
    kafka_partition_hash: Literal["default", "murmur3"] = option(
        "default", "The hash of partitions: Java's hashCode, or MurmurHash3.", brokers=("kafka",)
    )
    producer_partition_by_fallback: Literal["database", "table", "primary_key"] = option(
        "database", "What is hashed for rows whose chosen columns are all null.", routes=("columns",)
    )
    rabbitmq_routing_key_template: str = option(
        "%db%.%table%", "The routing key, with %db% and %table%.", brokers=("rabbitmq",)
    )
