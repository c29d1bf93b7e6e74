"""The options of DRS's formats."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import MYSQL_FAMILY, NOT_MONGODB, ORACLE_FAMILY, POSTGRESQL_FAMILY, option, zone
from simulator.model import DDL, READ

_VARIABLES: Final = {"$database$": "{database}", "$schema$": "{schema}", "$tablename$": "{table}"}


def topic_name(text: str) -> str:
    """`$database$-$tablename$` as a pattern of `simulator.delivery`."""
    if not re.fullmatch(rf"(?:[\w.-]|{'|'.join(map(re.escape, _VARIABLES))})+", text, re.ASCII):
        raise ValueError(f"it is a topic name, which may hold {', '.join(_VARIABLES)}")
    for variable, ours in _VARIABLES.items():
        text = text.replace(variable, ours)
    return text


# DRS's numbers of topic policies, and of partition policies.
TOPIC_CODES: Final = {"0": "single", "1": "table", "2": "database", "3": "schema"}
POLICY_CODES: Final = {"0": "table", "1": "single", "2": "key", "3": "schema", "5": "columns"}


@dataclass(frozen=True, kw_only=True)
class DrsOptions:
    """Options of all formats."""

    sync_ddl: bool | None = option(
        None,
        "Whether DDL is synchronised; default: on, but off for PostgreSQL, GaussDB and SQL Server.",
        unless={"gaussdb": ("distributed",)},
        decided=True,
    )
    full_sync: bool | None = option(
        None,
        "Whether existing rows are sent first; default: on for MySQL. No page says it of Oracle to Kafka.",
        sources=(*MYSQL_FAMILY, *ORACLE_FAMILY),
        decided=True,
    )
    pk_update: Literal["single", "split"] = option(
        "single",
        "split: an update of the primary key is sent as DELETE and INSERT, which DRS itself never does.",
        sources=NOT_MONGODB,
        decided=True,
    )
    timezone: str = option(
        "+08:00", "Time zone of the source's session, in which timestamps are printed.", parse=zone, decided=True
    )
    topic_policy: str = option(
        "single",
        "One topic, or topics that DRS creates for each table, database or schema; or DRS's numbers of these.",
        (*TOPIC_CODES.values(), *TOPIC_CODES),
    )
    topic_name_format: str | None = option(
        None, "Names of topics that DRS creates, such as $database$-$tablename$.", parse=topic_name
    )
    partition_policy: str | None = option(
        None, "DRS's number of the partition policy, in place of --route; 5 needs --route columns:…", (*POLICY_CODES,)
    )
    ddl_topic: str = option(
        "",
        "A topic for all DDL.",
        kinds=(DDL,),
    )
    init_binary: Literal["stripped", "padded"] = option(
        "stripped",
        "Whether BINARY(n) keeps its trailing zero bytes in MySQL's full load.",
        sources=("mysql",),
        kinds=(READ,),
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Options of sources other than MySQL."""

    raw: Literal["filter", "send"] = option(
        "filter", "Whether RAW columns of Oracle are left out or sent.", sources=("oracle",), decided=True
    )


@dataclass(frozen=True, kw_only=True)
class MapOptions(DrsOptions):
    """Options of the JSON formats."""

    column_order: Literal["java_hashmap", "table"] = option(
        "java_hashmap", "Order of columns in maps.", sources=NOT_MONGODB, decided=True
    )
    ddl_table: Literal["empty", "name"] = option(
        "empty", "Whether `table` of DDL is empty or the table's name.", sources=NOT_MONGODB, kinds=(DDL,), decided=True
    )


@dataclass(frozen=True, kw_only=True)
class JsonOptions(MapOptions, SourceOptions):
    """Options of drs-json."""

    gaussdb: Literal["primary-standby", "distributed"] = option(
        "primary-standby",
        "Which GaussDB the source is.",
        sources=("gaussdb",),
    )
    timezone: str = option(
        "+08:00",
        "Time zone of the source's session, in which timestamps are printed.",
        parse=zone,
        sources=("oracle", *POSTGRESQL_FAMILY),
        decided=True,
    )
    blank_as: Literal["empty", "null"] = option(
        "empty",
        "Members that DRS leaves blank for Oracle and SQL Server: empty or null.",
        sources=("oracle", "sqlserver"),
        decided=True,
    )
    layout_version: Literal["current", "oracle-legacy"] = option(
        "current",
        "oracle-legacy: Oracle in the layout of MySQL, as until 2022.",
        sources=("oracle",),
    )


@dataclass(frozen=True, kw_only=True)
class JsonCOptions(MapOptions):
    """Options of drs-json-c."""

    init_as_insert: bool = option(
        False,
        "on: rows of the full load are INSERT, which open-source readers of Canal JSON expect.",
        kinds=(READ,),
        decided=True,
    )


@dataclass(frozen=True, kw_only=True)
class AvroOptions(DrsOptions, SourceOptions):
    """Options of drs-avro."""

    timezone: str = option(
        "+08:00",
        "Time zone of the source's session, in which timestamps are printed.",
        parse=zone,
        sources=POSTGRESQL_FAMILY,
        decided=True,
    )
    full_sync_op: Literal["INSERT", "INIT"] = option(
        "INSERT", "`operation` of rows of the full load.", kinds=(READ,), decided=True
    )


def source_options(options: DrsOptions) -> SourceOptions:
    """A format's options for sources other than MySQL; their defaults if it has none."""
    return options if isinstance(options, SourceOptions) else SourceOptions()
