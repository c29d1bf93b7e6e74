"""Topic, partition and key of each change, by the format's routing and the user's policy."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.policies.client import ByClient
from simulator.delivery.policies.single import Single
from simulator.delivery.policies.texts import ByText
from simulator.delivery.policies.xor import ByXor
from simulator.delivery.routing import Address, Policy, Route, Routing, Spread, Texts, hashed_text
from simulator.errors import UsageError, did_you_mean
from simulator.model import MARKS, Event, Table, TableId


def parse_route(text: str | None, routing: Routing) -> Route:
    """Parses `None` (the product's default), `table`, `columns:customer_id,region`. Raises UsageError."""
    text = text or next(iter(routing.policies))
    typed, colon, columns = text.partition(":")
    name = routing.aliases.get(typed, typed)
    if name not in routing.policies:
        hint = did_you_mean(name, routing.policies)
        raise UsageError(f"--route {text}: the product's policies are {', '.join(routing.policies)}.{hint}")
    names = tuple(part.strip() for part in columns.split(",") if part.strip())
    if name == "columns" and not names:
        raise UsageError(f"--route {text}: write the columns after a colon: --route columns:customer_id,region.")
    if name != "columns" and colon:
        raise UsageError(
            f"--route {text}: only the policy 'columns' takes columns: --route columns:customer_id,region."
        )
    return Route(name, names)


@dataclass(frozen=True)
class Addressed:
    """Destination of a batch: its topic, the partition of each row (None: the client decides), the key of each row."""

    topic: str
    partitions: Ints | None
    keys: pa.Array | None


class Router:
    """Addresses changes. `partitions(topic)` returns the topic's partition count; it is called once per topic.
    `tables`: the tables that exist before the stream; `database`: the stream's; `texts`: text of values in messages."""

    def __init__(
        self,
        routing: Routing,
        route: Route,
        topic: str | None,
        partitions: Callable[[str], int],
        texts: Texts,
        tables: Collection[TableId] = (),
        *,
        database: str = "",
    ) -> None:
        self.routing, self.route, self._texts, self._database = routing, route, routing.texts or texts, database
        self.topics = routing.topics.mapping(tables).named(topic)
        self._policy = _chosen(routing, route)
        self._partitions = partitions
        self._counts: dict[str, int] = {}

    def count(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = self.topics.partitions(topic) or self._partitions(topic)
        return self._counts[topic]

    def columns(self, table: Table) -> tuple[int, ...]:
        """Indexes of the columns that decide the partition of a row."""
        return self._policy.columns(table)

    def split_by(self, table: Table) -> tuple[int, ...] | None:
        """Indexes of the columns whose updates are split into DELETE and INSERT; (): none; None: all
        updates are split.
        """
        split = self.routing.split
        if callable(split):
            return tuple(sorted({*split(table), *self.columns(table)}))
        match split:
            case "every":
                return None
            case "key":
                return tuple(sorted({*table.key_positions, *self.columns(table)}))
            case "row key":
                return tuple(sorted({*table.row_key_positions, *self.columns(table)}))
            case "routing columns":
                return self.columns(table)
        return ()

    def changes(self, batch: ChangeBatch) -> Addressed:
        """Destination of a batch's rows, or of its transaction marks."""
        if batch.kind in MARKS:
            address = self.routing.statements.marks(batch.table.id, self)
            (partition,) = address.partitions
            keys = None if self.routing.mark_key is None else self.routing.mark_key(batch)
            return Addressed(address.topic, None if partition is None else np.full(len(batch), partition), keys)
        topic = self.topics.of(batch.table.id)
        count = self.count(topic)
        only = self.only(topic)
        if count == 1 and self.routing.key is not hashed_text and not isinstance(self._policy, ByClient):
            spread = Spread(np.full(len(batch), only))  # nothing to hash
        else:
            spread = self._policy.spread(batch, count, self._texts)
        keys = None if self.routing.key is None else self.routing.key(batch, spread, self._texts)
        return Addressed(topic, spread.partitions, keys)

    def event(self, event: Event) -> list[tuple[Event, Address]]:
        """Addresses of a DDL statement, a logged text or a heartbeat, each with the event as it is sent there."""
        return list(self.routing.statements.addresses(event, self._database, self))

    def only(self, topic: str) -> int:
        """The partition of events that go to a single partition. Raises UsageError if the topic does not have it."""
        fixed = self._policy.number if isinstance(self._policy, Single) else 0
        if fixed >= self.count(topic):
            raise UsageError(f"topic {topic!r} has {self.count(topic)} partitions: there is no partition {fixed}.")
        return fixed


def _chosen(routing: Routing, route: Route) -> Policy:
    """The policy of a route, with its columns."""
    policy = routing.policies[route.policy]
    if route.columns:
        assert isinstance(policy, ByText | ByXor)
        return replace(policy, names=route.columns)
    return policy
