"""Topics, partitions and keys of DTS's messages, the same for its three formats.

Page: "Kafka partition synchronization strategy". All to partition 0; by database and table; or by the values of the
key, or of the first NOT NULL unique key (rows of tables with neither go to partition 0). An update goes by the row
before; "Split message delivery after partition key update" makes a DELETE and an INSERT of an update that changes the
key. DDL goes to partition 0, under the table policy to the partition of its table: of a renamed one to that of either
name; the message has the old one.

The page says that the hash is Java's hashCode. What is hashed and how it becomes a partition is decided here: values
as Canal JSON has them by default, in all three formats and whatever their options print, without a separator; the hash
without its sign, modulo the partitions. The page's example of formats (id 1 in partition
1, id 2 in partition 2) agrees for 3, 4, 6, 8, 12, 16 and 24 partitions. Messages have no headers, and no key; with
`kafka_key=partition_key` it is the hashed text, and rows without columns to hash have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from simulator.batch import PackedBatch
from simulator.delivery.hashes import JAVA_MASK
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.routing import Destination, Policy, Routing, Statements, Topics, hashed_text
from simulator.formats.dts.options import DeliveryOptions, TextOptions
from simulator.formats.dts.systems.system import System
from simulator.formats.format import Settings
from simulator.formats.writing import OneMessage, Written
from simulator.model import IN_DATABASE, WITHOUT_TABLE, Event, SchemaChange, SchemaChangeKind, TableId
from simulator.sources.source import Source
from simulator.wire.fields import plain_text

PRODUCT: Final = "Alibaba Cloud DTS"
SPEC: Final = "Data storage formats in message queues, 2026-02-07"
# The page "RDS MySQL to self-managed Kafka" mentions a limit; this figure is decided here.
MAX_BYTES: Final = 10 << 20
# DDL that is sent, decided here: of tables, and of databases and what stands in them; not of accounts, and no
# administration.
STATEMENTS: Final = frozenset(SchemaChangeKind) - WITHOUT_TABLE | IN_DATABASE


@dataclass(frozen=True)
class DtsStatements(Statements):
    """Under the table policy DDL goes to the partitions of its table's rows, before and after it; its key is the text
    that is hashed there."""

    by_table: ByName = field(kw_only=True)
    keys: bool = field(kw_only=True)

    def partitions(self, event: Event, topic: str, to: Destination) -> tuple[int, ...]:
        table = self.table(event)
        if to.route.policy == "table" and table is not None:
            assert isinstance(event, SchemaChange)
            versions = [version for version in (event.before, event.after) if version is not None]
            count = to.count(topic)
            return tuple(dict.fromkeys(self.by_table.partition(version, count) for version in versions))
        return super().partitions(event, topic, to)

    def key(self, event: Event, names: TableId) -> str | None:
        if not self.keys:
            return None
        table = self.table(event)
        return self.by_table.name(table) if table else names.database


class Limited(OneMessage):
    """The writer of DTS's formats: values up to `MAX_BYTES`."""

    def messages(self, packed: PackedBatch) -> Iterator[Written]:
        for written in super().messages(packed):
            yield replace(written, most_bytes=MAX_BYTES)


def routing(
    options: DeliveryOptions,
    system: System,
    source: Source,
    *,
    topic: str = "dts",
    only_one: bool = False,
    split_all: bool = False,
) -> Routing:
    """Routing of messages. `only_one`: the topic has one partition; `split_all`: the format splits all updates."""
    json = Settings(TextOptions(), source)
    keys = options.kafka_key == "partition_key"
    by_table = ByName(system.table_text, JAVA_MASK)
    single = Single(text=by_table.text)
    by_columns = ByText(JAVA_MASK, Single(), image="before", unique=True)
    policies: dict[str, Policy] = {"key": by_columns, "single": single, "table": by_table, "columns": by_columns}
    return Routing(
        Topics(topic),
        {"single": single} if only_one else policies,
        hashed_text if keys else None,
        "every" if split_all else "routing columns" if options.split_on_key_update else "never",
        DtsStatements(options.ddl_topic, "old", by_table=by_table, keys=keys),
        texts=lambda column, array: plain_text(system.cell(column, json), array),
    )
