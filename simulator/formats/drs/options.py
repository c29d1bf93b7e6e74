"""What `-f` takes for the formats of DRS."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from simulator.formats.options import option, zone

# topic_policy by our name: the product's topic name format, and the partition policies that go with it (Terraform
# provider; of MySQL, partition 0 is offered with topics made by DRS only).
TOPICS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "single": ("drs", ("key", "table", "single", "schema", "columns")),
    "table": ("{database}-{schema}-{table}", ("key", "single", "columns")),
    "database": ("{database}", ("table", "single", "schema")),
    "schema": ("{database}-{schema}", ("table", "single")),
}


_VARIABLES: Final = {"$database$": "{database}", "$schema$": "{schema}", "$tablename$": "{table}"}


def topic_policy(text: str) -> str:
    """A name of the table above; which of them there are depends on the source."""
    if text not in TOPICS:
        raise ValueError(f"it is one of {', '.join(TOPICS)}")
    return text


def topic_name(text: str) -> str:
    """`$database$-$tablename$` as a pattern of ours."""
    if not re.fullmatch(rf"(?:[\w.-]|{'|'.join(map(re.escape, _VARIABLES))})+", text, re.ASCII):
        raise ValueError(f"it is the name of a topic, in which may be {', '.join(_VARIABLES)}")
    for variable, ours in _VARIABLES.items():
        text = text.replace(variable, ours)
    return text


@dataclass(frozen=True, kw_only=True)
class DrsOptions:
    """What all formats take."""

    sync_ddl: bool | None = option(None, "Whether DDL is synchronised; default: as DRS has it.")
    full_sync: bool | None = option(None, "Whether there is a full load; default: as DRS has it.")
    pk_update: Literal["single", "split"] = option(
        "single", "split: an update of the primary key is a DELETE and an INSERT, which DRS itself never does."
    )
    timezone: str = option("+08:00", "Zone of the source's session, in which moments are printed.", parse=zone)
    topic_policy: str = option(
        "single",
        "One topic, or those that DRS makes for each table, database, schema: single, table, database, schema.",
        parse=topic_policy,
    )
    topic_name_format: str | None = option(
        None, "Names of topics that DRS makes: $database$-$tablename$.", parse=topic_name
    )
    ddl_topic: str = option("", "A topic that all DDL goes to.")
    init_binary: Literal["stripped", "padded"] = option(
        "stripped", "Zeros at the end of BINARY(n) in rows of MySQL's full load."
    )


@dataclass(frozen=True, kw_only=True)
class OtherSourceOptions:
    """What sources beside MySQL have."""

    gaussdb: Literal["primary-standby", "distributed"] = option("primary-standby", "Which GaussDB the source is.")
    raw: Literal["filter", "send"] = option("filter", "RAW columns of Oracle: left out, or sent.")
    replica_identity: Literal["full", "default"] = option(
        "full", "What PostgreSQL and GaussDB log of an old row: all of it, or (default) its key, where that is changed."
    )
    supplemental: Literal["all", "pk_ui"] = option(
        "all", "What Oracle logs of an update: all columns, or the key and what changes."
    )


@dataclass(frozen=True, kw_only=True)
class JsonOptions(OtherSourceOptions, DrsOptions):
    """Options of drs-json."""

    column_order: Literal["java_hashmap", "table"] = option("java_hashmap", "Order of columns in maps.")
    ddl_table: Literal["empty", "name"] = option("empty", "`table` of DDL: empty, or the table's name.")
    blank_as: Literal["empty", "null"] = option("empty", "What is blank for Oracle and SQL Server: empty, or null.")
    layout_version: Literal["current", "oracle-legacy"] = option(
        "current", "Oracle's layout until 2022 was that of MySQL."
    )


@dataclass(frozen=True, kw_only=True)
class JsonCOptions(DrsOptions):
    """Options of drs-json-c."""

    column_order: Literal["java_hashmap", "table"] = option("java_hashmap", "Order of columns in maps.")
    ddl_table: Literal["empty", "name"] = option("empty", "`table` of DDL: empty, or the table's name.")
    init_as_insert: bool = option(False, "on: rows of the full load are INSERT, for open-source readers.")


@dataclass(frozen=True, kw_only=True)
class AvroOptions(OtherSourceOptions, DrsOptions):
    """Options of drs-avro."""

    full_sync_op: Literal["INSERT", "INIT"] = option("INSERT", "`operation` of rows of the full load.")


Timestamps = Literal["epoch", "text"]


@dataclass(frozen=True, kw_only=True)
class Everything(AvroOptions, JsonCOptions, JsonOptions):
    """What the writers of all formats look at, with defaults for what a format does not take; how moments look is a
    matter of the format."""

    timestamps: Timestamps = "epoch"
