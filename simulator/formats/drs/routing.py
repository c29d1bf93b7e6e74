"""Topics, partitions and keys of DRS's messages.

Spec: the vendor's SDK and Terraform provider (topic_policy, partition_policy, topic_name_format), and "Topic and
Partition policies" for GaussDB.

| DRS's partition_policy, which `--route 2` takes too | here | key of a message, decided here |
| --- | --- | --- |
| 0, hash of database.schema.table | `--route table` | the same text |
| 1, partition 0 | `--route single` | as with 0 |
| 2, hash of the primary key | `--route key` | the key's values, commas between; without a key as with 0 |
| 3, hash of database.schema | `--route schema` | the same text |
| 5, hash of chosen columns | `--route columns:a,b` | the columns' values, commas between |

The hash is not published. Here it is that of a Kafka client's default partitioner, so any client computes the same
partition from the key. DDL goes to partition 0; its key and its topic are those of its database (and schema) alone, the
session's database, which the message has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from simulator.delivery.hashes import MURMUR2
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.routing import Destination, Policy, Routing, Statements, Topics, fill, hashed_text, without
from simulator.errors import OptionError
from simulator.formats.drs.fields import ddl_database
from simulator.formats.drs.options import POLICY_CODES, TOPIC_CODES, DrsOptions
from simulator.formats.drs.systems.system import System, TableSystem
from simulator.formats.format import Settings
from simulator.model import Column, Event, SchemaChange, TableId
from simulator.wire.fields import plain_text

# topic_policy: the default topic_name_format, and the partition policies that DRS allows with it (Terraform provider).
TOPICS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "single": ("drs", ("key", "table", "single", "schema", "columns")),
    "table": ("{database}-{schema}-{table}", ("key", "single", "columns")),
    "database": ("{database}", ("table", "single", "schema")),
    "schema": ("{database}-{schema}", ("table", "single")),
}


@dataclass(frozen=True)
class SchemaStatements(Statements):
    """DDL is addressed as if its table name were empty."""

    table_text: str = field(kw_only=True)

    def names(self, event: Event, database: str) -> TableId:
        """The names in the message: the database is the session's."""
        names = super().names(event, database)
        return replace(names, database=ddl_database(event)) if isinstance(event, SchemaChange) else names

    def _without_table(self, pattern: str, event: Event) -> str:
        pattern = without(pattern, "table")
        # a statement about no table has no schema either
        return pattern if self.table(event) else without(pattern, "schema")

    def pattern(self, event: Event, to: Destination) -> str:
        if self.topic and isinstance(event, SchemaChange):
            return self.topic
        return self._without_table(to.topics.pattern, event) or "{table}"

    def key(self, event: Event, names: TableId) -> str:
        pattern = self._without_table(self.table_text, event)
        return fill(pattern, database=names.database, schema=names.schema, table="")


def routing(settings: Settings[DrsOptions], format: str, system: System) -> Routing:
    """Routing of messages. Raises OptionError for a combination that DRS does not offer."""
    options, typed = settings.options, settings.options.topic_policy
    policy = TOPIC_CODES.get(typed, typed)
    if policy not in system.topics:
        offered = ", ".join(system.topics)
        raise OptionError(f"-f {format},topic_policy={typed}: for {settings.source} DRS offers {offered}.")
    topic, policies = TOPICS[policy]
    schemas = "{schema}" in system.table_text
    if not schemas:
        topic = topic.replace("-{schema}", "")
    if policy == "single" and system.single_needs_topics:
        policies = tuple(policy for policy in policies if policy != "single")
    if options.partition_policy is not None:
        chosen = POLICY_CODES[options.partition_policy]
        if chosen not in policies:
            offered = ", ".join(code for code, name in POLICY_CODES.items() if name in policies)
            problem = f"with topic_policy={policy} DRS offers {offered} for {settings.source}"
            raise OptionError(f"-f {format},partition_policy={options.partition_policy}: {problem}.")
        policies = (chosen,)
    if options.topic_name_format is not None:
        if policy == "single":
            raise OptionError(f"-f {format},topic_name_format: with topic_policy=single there is one topic; see --to.")
        topic = options.topic_name_format
        if "{schema}" in topic and not schemas:
            raise OptionError(f"-f {format},topic_name_format: {settings.source} has no schemas, so no $schema$.")
    if "{database}" not in system.table_text:  # Oracle's names are schema and table
        topic = re.sub(r"\{database\}[-._]|[-._]?\{database\}", "", topic) or "{schema}"
    by_table = ByName(system.table_text, MURMUR2)
    left_out = system.filters if isinstance(system, TableSystem) else None
    by_columns = ByText(MURMUR2, by_table, separator=",", null_text="null", left_out=left_out)
    texts = None
    if isinstance(system, TableSystem):
        cell, usual = system.cell, DrsOptions()

        def texts(column: Column, array: pa.Array) -> pa.Array:
            """Texts of values as in drs-json by default."""
            return plain_text(cell(column, usual, None), array)

    known: dict[str, Policy] = {
        "key": by_columns,
        "table": by_table,
        "single": Single(text=system.table_text),
        "schema": ByName(system.schema_text, MURMUR2),
        "columns": by_columns,
    }
    return Routing(
        Topics(topic),
        {name: known[name] for name in policies},
        hashed_text,
        "key" if options.pk_update == "split" else "never",
        SchemaStatements(options.ddl_topic, table_text=system.table_text),
        aliases={code: name for code, name in POLICY_CODES.items() if name in policies},
        texts=texts,
    )
