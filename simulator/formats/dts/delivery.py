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

from typing import Final, Literal

from simulator.formats.canal.json import switch
from simulator.formats.dts.types import system_of
from simulator.formats.format import Option, Settings
from simulator.routing import Policy, Routing


def routing(
    settings: Settings,
    *,
    topic: str = "dts",
    policies: tuple[Policy, ...] = ("key", "single", "table", "columns"),
    split: Literal["every"] | None = None,
) -> Routing:
    """The way of a task's messages; `split` is a reason of the format's own to split updates."""
    return Routing(
        topic=topic,
        policies=policies,
        combine="concat",
        reduce="mask",
        table_text=f"{{{system_of(settings.source).name_parts[0]}}}.{{table}}",
        image="before",
        ddl="table",
        ddl_topic=settings["ddl_topic"],
        split=split or settings["split_on_key_update"],
        key="hashed" if settings["kafka_key"] == "partition_key" else "none",
    )


# The page "RDS MySQL to self-managed Kafka" states a limit of records; this figure is decided here.
MOST_BYTES: Final = 10 << 20

OPTIONS: Final = (
    Option(
        "kafka_key", "none", "The message's key: none, or what the partition is made of.", ("none", "partition_key")
    ),
    Option("ddl_topic", "", "A topic that all DDL goes to; empty: that of the data."),
    Option(
        "split_on_key_update",
        "off",
        "on: an update of the partition key is delivered as DELETE and INSERT.",
        parse=switch,
    ),
)
