"""Maxwell's routing: `MaxwellKafkaProducer.java`, `AbstractMaxwellPartitioner.java`, docs/producers.md.

The topic is `maxwell`, or a pattern. What is hashed is the database's name by default, or that of the table, the key's
values put together, the number of the transaction or of the session's thread, or the values of columns. DDL goes by
the database, or, where rows go by table, by the table. There is no key-based split of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.hashes import JAVA_ABS, Hash, java_abs_mod, murmur3
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.routing import Address, Destination, Policy, Routing, Spread, Statements, Texts, Topics
from simulator.formats.format import Settings
from simulator.formats.maxwell.options import MaxwellOptions
from simulator.model import Event, SchemaChange, Table
from simulator.sources.log import entries
from simulator.sources.mysql.log import MysqlLog
from simulator.text.template import join

MURMUR3_SEED: Final = 25342
HASHES: Final = {"default": JAVA_ABS, "murmur3": Hash(lambda texts: murmur3(texts, MURMUR3_SEED), java_abs_mod)}


@dataclass(frozen=True)
class ByValues(ByText):
    """Policy by a text; rows whose text is empty use another policy or another text."""

    empty: Policy | str = "None"

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        spread = super().spread(batch, count, texts)
        if not self.columns(batch.table) or not (empty := np.asarray(pc.equal(spread.text, ""))).any():
            return spread
        assert spread.partitions is not None
        partitions = spread.partitions.copy()
        if isinstance(self.empty, str):
            partitions[empty] = self.hash.partition(self.empty, count)
        else:
            empty_partitions = self.empty.spread(batch, count, texts).partitions
            assert empty_partitions is not None
            partitions[empty] = empty_partitions[empty]
        return Spread(partitions, spread.text)


@dataclass(frozen=True)
class ByNumber:
    """A hash of a number that every change has; rows of a snapshot have none (`null`)."""

    hash: Hash
    of: Callable[[ChangeBatch], Ints]

    def columns(self, table: Table) -> tuple[int, ...]:
        return ()

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread:
        if not batch.envelope.phase:
            return Spread(np.full(len(batch), self.hash.partition("null", count)), "null")
        text = join([pa.array(self.of(batch))], len(batch))
        return Spread(self.hash.partitions(text, count), text)


@dataclass(frozen=True)
class MaxwellStatements(Statements):
    """DDL is routed by its database, or by its table if rows are."""

    hash: Hash = JAVA_ABS

    def partitions(self, event: Event, topic: str, to: Destination) -> tuple[int, ...]:
        if not isinstance(event, SchemaChange):
            return super().partitions(event, topic, to)
        table = event.before or event.after
        by_table = to.route.policy == "table" and table is not None
        name = table.id.name if by_table and table is not None else event.database
        return (self.hash.partition(name, to.count(topic)),)

    def addresses(self, event: Event, database: str, to: Destination) -> Iterator[tuple[Event, Address]]:
        """A statement about several tables is a message for each."""
        return ((part, self.address(part, database, to)) for part in self.parts(event))


def routing(settings: Settings[MaxwellOptions]) -> Routing:
    options, log = settings.options, settings.source.log
    assert isinstance(log, MysqlLog)
    hash = HASHES[options.kafka_partition_hash]
    by_database, by_table = ByName("{database}", hash), ByName("{table}", hash)
    by_key = ByValues(hash, ByName("{database}{table}", hash))
    choices: dict[str, Policy] = {"database": by_database, "table": by_table, "primary_key": by_key}
    fallback = choices[options.producer_partition_by_fallback]
    return Routing(
        Topics("maxwell"),
        {
            "key": by_key,
            "database": by_database,
            "table": by_table,
            "columns": ByValues(hash, fallback, empty=fallback),
            "transaction_id": ByNumber(hash, lambda batch: batch.envelope.txn),
            "thread_id": ByNumber(hash, lambda batch: log.thread(entries(batch.envelope))),
            "single": Single(),
        },
        statements=MaxwellStatements(options.ddl_kafka_topic, hash=hash),
        aliases={"primary_key": "key"},
    )
