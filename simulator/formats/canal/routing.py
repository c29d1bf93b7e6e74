"""Canal's routing: its hash of column values, and its rules for topics and partitions.

Source: alibaba/canal `MQMessageUtils.java` (messagePartition); `canal.mq.topic` is `example` in the shipped
instance.properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from simulator.batch import ChangeBatch
from simulator.delivery.hashes import JAVA_ABS
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.xor import ByXor
from simulator.delivery.routing import Policy, Routing, Spread, Statements, Texts, Topics
from simulator.formats.canal.options import CanalOptions
from simulator.formats.canal.rules import TableRule
from simulator.formats.canal.statements import filed_under
from simulator.model import Event, Table, TableId


@dataclass(frozen=True)
class RuleTopics(Topics):
    """`canal.mq.dynamicTopic` and `canal.mq.dynamicTopicPartitionNum`: rules come before any pattern."""

    rule: Callable[[str, str], str] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def of(self, table_id: TableId, pattern: str | None = None) -> str:
        return (self.rule(table_id.database, table_id.name) if self.rule else "") or super().of(table_id, pattern)

    def partitions(self, topic: str) -> int | None:
        return self.counts.get(topic)


@dataclass(frozen=True)
class ByRules:
    """Policy by `canal.mq.partitionHash`: the first rule that matches a table decides; rows of other tables go to
    partition 0.
    """

    rules: tuple[TableRule, ...]
    by_columns: ByXor
    by_table: ByName

    def _policy(self, table: Table) -> Policy:
        for rule in self.rules:
            if rule.matches(table.id.database, table.id.name):
                return self.by_table if rule.table else replace(self.by_columns, names=rule.columns)
        return Single()

    def columns(self, table: Table) -> tuple[int, ...]:
        return self._policy(table).columns(table)

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        return self._policy(batch.table).spread(batch, count, texts)


class FiledStatements(Statements):
    """Routing of statements and logged texts by the names that Canal reads in them."""

    def names(self, event: Event, database: str) -> TableId:
        database, schema, name = filed_under(event)
        return TableId(database, name, schema)

    def parts(self, event: Event) -> Iterator[Event]:
        """A statement about several tables is one message, about the first."""
        yield event


def routing(options: CanalOptions) -> Routing:
    by_columns = ByXor(JAVA_ABS, database_hash=options.database_hash)
    by_table = ByName("{table}", JAVA_ABS)
    policies: dict[str, Policy] = {"key": by_columns, "single": Single(), "table": by_table, "columns": by_columns}
    if options.partition_hash:
        policies = {"rules": ByRules(options.partition_hash, by_columns, by_table), **policies}
    return Routing(
        RuleTopics("example", rule=options.dynamic_topic, counts=options.topic_partitions or {}),
        policies,
        statements=FiledStatements(),
    )
