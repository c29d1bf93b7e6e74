"""Where DTS sends messages, the same for its three formats.

Page: "Kafka partition synchronization strategy": all to partition 0, by database and table, or by the values of the key
(rows without one: partition 0). DDL goes to 0, or under the table policy where its table's rows go. Updates go where
the row before them went; "Split message delivery after partition key update" makes a DELETE and an INSERT of those
that change the key.

The hash is Java's hashCode, says the page; what is hashed, and how it becomes a partition, is decided here: values put
together without a separator, the hash without its sign. It agrees with the example of the page on formats (id 1 in
partition 1, id 2 in partition 2) for 3, 4, 6, 8, 12, 16 and 24 partitions. Messages have no key and no headers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pyarrow.compute as pc

from simulator.batch import MessageBatch, PackedBatch
from simulator.delivery.hashes import JAVA_MASK
from simulator.delivery.policies.names import ByName
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.routing import Destination, Policy, Routing, Statements, Topics, hashed_text
from simulator.errors import DeliveryFailed
from simulator.formats.dts.options import DeliveryOptions
from simulator.formats.dts.systems import system_of
from simulator.formats.format import Settings
from simulator.model import Event, TableId


@dataclass(frozen=True)
class DtsStatements(Statements):
    """DDL goes where its table's rows go under the table policy; its key is what is hashed there."""

    names_table: ByName = field(kw_only=True)
    keys: bool = field(kw_only=True)

    def partitions(self, event: Event, topic: str, to: Destination) -> tuple[int, ...]:
        table = self.table(event)
        if to.route.policy == "table" and table is not None:
            return (self.names_table.partition(table, to.count(topic)),)
        return super().partitions(event, topic, to)

    def key(self, event: Event, names: TableId) -> str | None:
        if not self.keys:
            return None
        table = self.table(event)
        return self.names_table.name(table) if table else names.database


def routing(
    settings: Settings[DeliveryOptions], *, topic: str = "dts", only_one: bool = False, split_all: bool = False
) -> Routing:
    """The way of a task's messages. `only_one`: there is one partition; `split_all`: the format splits all updates."""
    options = settings.options
    keys = options.kafka_key == "partition_key"
    by_table = ByName(f"{{{system_of(settings.source).name_parts[0]}}}.{{table}}", JAVA_MASK)
    single = Single(text=by_table.text)
    by_columns = ByText(JAVA_MASK, single, image="before")
    policies: dict[str, Policy] = {"key": by_columns, "single": single, "table": by_table, "columns": by_columns}
    return Routing(
        Topics(topic),
        {"single": single} if only_one else policies,
        hashed_text if keys else None,
        "every" if split_all else "routing columns" if options.split_on_key_update else "never",
        DtsStatements(options.ddl_topic, names_table=by_table, keys=keys),
    )


# The page "RDS MySQL to self-managed Kafka" states a limit of records; this figure is decided here.
PRODUCT: Final = "Alibaba Cloud DTS"
MOST_BYTES: Final = 10 << 20


def refuse_large(format: str) -> Callable[[PackedBatch, MessageBatch], MessageBatch]:
    """The last word on messages: a value that is too large is refused. Raises DeliveryFailed."""

    def check(packed: PackedBatch, messages: MessageBatch) -> MessageBatch:
        values = messages["value"]
        if values.nbytes > MOST_BYTES and (longest := pc.max(pc.binary_length(values)).as_py()) > MOST_BYTES:
            raise DeliveryFailed(
                f"-f {format}: a message about {packed.changes.table.id} has {longest:,} bytes, and "
                f"{PRODUCT} delivers up to {MOST_BYTES:,}. Write smaller values, or drop the column."
            )
        return messages

    return check
