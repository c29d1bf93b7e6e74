"""CloudCanal (ClouGence; BladePipe abroad): what its message formats share, whatever is in the message.

Pages: "Message Format", and of the product's documentation the pages of Kafka as a target, `api_datajob_mapping`,
`api_datajob_schema`, `param_guide` and the release notes up to 5.4.0.0.

* Topics are named by a rule; a DDL statement goes to partition 0 of its table's topic, once, or to `ddlTopic`.
* The partition is a hash of the key's values, which is not published: here it is Canal's, without the database.
* A record has no key and no headers, unless the options say so; RocketMQ's keys and tags are as decided here.
* Up to `batch_rows` rows of one table and action that follow each other share a message. The product keeps a group open
  for a time; here it ends with its transaction (or its statement), so that no message depends on a clock, and before a
  row that an earlier update of the group left just the same, which readers cannot tell apart. The full load's rows
  are put together as they are read, table by table.
* RocketMQ and RabbitMQ are targets of some sources only.
* DDL: CREATE, ALTER, RENAME and TRUNCATE; DROP and statements about indexes and databases only when asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from simulator.delivery.hashes import JAVA_ABS
from simulator.delivery.pack import Packing
from simulator.delivery.policies.by_name import ByName
from simulator.delivery.policies.by_xor import ByXor
from simulator.delivery.policies.single import Single
from simulator.delivery.routing import Routing, Statements, Topics
from simulator.formats.cloudcanal.options import (
    STATEMENT_SETS,
    STATEMENTS,
    TOPIC_RULES,
    BatchedOptions,
    CommonOptions,
)
from simulator.formats.cloudcanal.types import code, expression, is_mysql, library, name
from simulator.formats.format import Settings
from simulator.formats.members import whole_seconds
from simulator.model import (
    DDL,
    DELETE,
    INSERT,
    READ,
    UPDATE,
    Column,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.text.json_style import Style, quote
from simulator.wire.fields import PerTable, Rows

PRODUCT: Final = "CloudCanal"
SPEC: Final = "Message Format, and the product's documentation up to 5.4.0.0"
SOURCES: Final = (
    "gaussdb", "mariadb", "mongodb", "mysql", "oceanbase-mysql", "oceanbase-oracle", "oracle", "postgresql",
    "sqlserver",
)  # fmt: skip
# What the pages of links and the release notes name as sources for other targets than Kafka.
LINKS: Final[Mapping[str, tuple[str, ...]]] = {
    "kafka": SOURCES,
    "rocketmq": ("mysql", "oceanbase-mysql", "oceanbase-oracle", "oracle", "postgresql"),
    "rabbitmq": ("mysql", "postgresql"),
}

# ------------------------------------------------------------------------------------------------------------- events

ACTIONS: Final[Mapping[Kind, str]] = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}


def statements(settings: Settings[CommonOptions]) -> frozenset[SchemaChangeKind]:
    """The statements that are published."""
    return STATEMENT_SETS[settings.options.ddl_statements]


def source_ms(settings: Settings[CommonOptions], milliseconds: Any) -> Any:
    """The time at the source: whole seconds where that is MySQL's binary log."""
    return whole_seconds(milliseconds) if is_mysql(settings) else milliseconds


def action(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The action of a statement. Up to 5.2.0.0 a TRUNCATE of PostgreSQL came tagged ALTER TABLE."""
    return "ALTER" if _old_truncate(event, settings) else STATEMENTS[event.kind]


def _old_truncate(event: SchemaChange, settings: Settings[CommonOptions]) -> bool:
    old = settings.options.pg_truncate == "alter" and library(settings) == "postgresql"
    return old and event.kind is SchemaChangeKind.TRUNCATE_TABLE


def schema_of(table: Table) -> str:
    """The schema; where a source has none, the database once more."""
    return table.id.schema or table.id.database


def statement_table(event: SchemaChange, settings: Settings[CommonOptions]) -> Table | None:
    """The table a statement is about, as it was subscribed: the old one of a rename, unless the option says so."""
    if event.kind is SchemaChangeKind.RENAME_TABLE and settings.options.rename_table == "new":
        return event.after
    return event.before or event.after


def statement_columns(event: SchemaChange) -> tuple[Column, ...]:
    """The columns after the statement; none of a dropped table."""
    return event.after.columns if event.after else ()


def statement_text(event: SchemaChange, settings: Settings[CommonOptions]) -> str:
    """The statement without a semicolon at its end; the old TRUNCATE of PostgreSQL as its trigger wrote it."""
    if _old_truncate(event, settings) and event.before is not None:
        return f"TRUNCATE {event.before.id.schema}.{event.before.id.name}"
    return event.sql.rstrip().removesuffix(";").rstrip()


def table_changes(event: SchemaChange, settings: Settings[CommonOptions]) -> dict[str, Any]:
    """`tableChanges`: the table after the statement, columns in table order from position 0."""
    columns = [
        {
            "jdbcType": code(column, settings),
            "name": column.name,
            "position": position,
            "typeExpression": expression(column, settings),
            "typeName": name(column, settings),
        }
        for position, column in enumerate(statement_columns(event))
    ]
    keys = list(event.after.primary_key) if event.after else []
    return {"table": {"columns": columns, "primaryKeyColumnNames": keys}, "type": STATEMENTS[event.kind]}


# ------------------------------------------------------------------------------------------------------------- images


def key_places(table: Table) -> tuple[int, ...]:
    """Places of the key's columns, in table order."""
    return tuple(sorted(table.key_positions))


def logs_keys(settings: Settings[CommonOptions]) -> bool:
    """Whether the source logs of an old row its key alone, as PostgreSQL does without REPLICA IDENTITY FULL."""
    return bool(settings.options.replica_identity == "default" and library(settings) == "postgresql")


def images(settings: Settings[BatchedOptions]) -> dict[str, dict[Kind, Any]]:
    """What stands in `data` and `before` of each kind: `{"data": {INSERT: Rows(…), …}, "before": {…}}`."""
    nulls = settings.options.null_columns == "omit"
    after, before = Rows("after", skip_nulls=nulls), Rows("before", skip_nulls=nulls)
    keyed = Rows("before", columns=key_places)
    deleted = keyed if settings.options.minimal or logs_keys(settings) else before
    in_before, in_data = settings.options.delete_image != "data", settings.options.delete_image != "before"
    data: dict[Kind, Any] = {READ: after, INSERT: after, UPDATE: after, DELETE: deleted if in_data else [], DDL: []}
    old: dict[Kind, Any] = {READ: [], INSERT: [], UPDATE: before, DELETE: deleted if in_before else [], DDL: []}
    if settings.options.old_image == "changed":
        old[UPDATE] = Rows("changed")
    if logs_keys(settings):
        old[UPDATE] = keyed
    if settings.options.minimal:
        # increLogMinimal: an update without the columns that did not change, but for the key
        data[UPDATE], old[UPDATE] = Rows("changed after", kept=key_places), Rows("changed", kept=key_places)
    return {"data": data, "before": old}


def type_map(settings: Settings[CommonOptions]) -> PerTable:
    """Column name to `dbValType`, in table order."""

    def text(table: Table, style: Style) -> str:
        members = (f"{quote(c.name, style)}:{quote(expression(c, settings), style)}" for c in table.columns)
        return "{" + ",".join(members) + "}"

    return PerTable(text)


def code_map(settings: Settings[CommonOptions]) -> PerTable:
    """Column name to `jdbcType`, in table order."""

    def text(table: Table, style: Style) -> str:
        return "{" + ",".join(f"{quote(c.name, style)}:{code(c, settings)}" for c in table.columns) + "}"

    return PerTable(text)


# ------------------------------------------------------------------------------------------------- topics, partitions


# Names of instances: what they begin with, and 16 characters.
INSTANCES: Final[Mapping[str, str]] = {
    "mysql": "my", "oracle": "ora", "postgresql": "pg", "sqlserver": "sqlserver", "mongodb": "mongo",
}  # fmt: skip
INSTANCE_TAIL: Final = "cdcsim0000000001"


def levels(settings: Settings[CommonOptions]) -> int:
    """Levels of names above the column: database and table, or a schema between them."""
    return 3 if library(settings) in ("oracle", "postgresql", "sqlserver") else 2


def instance(settings: Settings[CommonOptions]) -> str:
    """The id of the source instance: `my-` and 16 characters."""
    return settings.options.instance or f"{INSTANCES[library(settings)]}-{INSTANCE_TAIL}"


def topic(settings: Settings[CommonOptions]) -> tuple[str, Literal["kept", "lower", "upper"]]:
    """The pattern of topic names, and its case. RocketMQ takes no dots in them: there the default has `%`."""
    by = "PERCENT" if settings.broker == "rocketmq" else "DOT"
    own = "SOURCE_INS_DB_SCHEMA_TABLE_BY_" if levels(settings) == 3 else "SOURCE_INS_DB_TABLE_BY_"
    pattern, case = TOPIC_RULES[settings.options.topic_rule or own + by]
    if levels(settings) == 2:
        pattern = re.sub(r"\{schema\}[.%:]", "", pattern)
    return pattern.replace("{instance}", instance(settings)).replace("{default}", settings.options.default_topic), case


def routing(settings: Settings[CommonOptions]) -> Routing:
    """Explicit partitions: the XOR of the hashes of the key's values; a table without key columns has partition 0."""
    options = settings.options
    single, by_table = Single(), ByName("{table}", JAVA_ABS)
    by_columns = ByXor(JAVA_ABS, keyless=by_table if options.keyless == "table" else single)
    return Routing(
        Topics(*topic(settings)),
        {"key": by_columns, "columns": by_columns, "table": by_table, "single": single},
        split="routing columns" if options.split_pk_update else "never",
        statements=Statements(options.ddl_topic, options.rename_table),
    )


def packing(settings: Settings[BatchedOptions]) -> Packing:
    """`batchWriteSize` counts the rows of a message, after they were put into partitions."""
    return Packing(
        max_rows=settings.options.batch_rows,
        scope=settings.options.batch_scope,
        rows_of="message",
        distinct=True,
        full_load=True,
    )


# ------------------------------------------------------------------------------------------------------------ options
