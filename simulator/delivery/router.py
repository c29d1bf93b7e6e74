"""Route: topic and partition of each change, by the policy that a format declares and the user chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints
from simulator.delivery import partition
from simulator.errors import UsageError, closest
from simulator.model import UPDATE, Column, Event, LoggedStatement, SchemaChange, Table
from simulator.routing import POLICIES, Policy, Routing, fill

# A column's values as the product's text, nulls kept.
Texts = Callable[[Column, pa.Array], pa.Array]


@dataclass(frozen=True)
class Route:
    """What `--route` says: a policy, and its columns if it is `columns`."""

    policy: Policy
    columns: tuple[str, ...] = ()


def parse_route(text: str | None, routing: Routing) -> Route:
    """`None` (the product's default), `table`, `columns:customer_id,region`. Raises UsageError."""
    if text is None:
        return Route(routing.policies[0])
    name, _, columns = text.partition(":")
    policy = next((known for known in POLICIES if known == name), None)
    if policy is None or policy not in routing.policies:
        guess = closest(name, routing.policies)
        hint = f" Did you mean {guess!r}?" if guess and guess != name else ""
        raise UsageError(f"--route {text}: the product's policies are {', '.join(routing.policies)}.{hint}")
    names = tuple(part.strip() for part in columns.split(",") if part.strip())
    if (policy == "columns") != bool(names):
        raise UsageError(f"--route {text}: columns are named like 'columns:customer_id,region', and only then.")
    return Route(policy, names)


class Router:
    """Addresses changes. `partitions(topic)` is the topic's partition count; asked once per topic."""

    def __init__(
        self, routing: Routing, route: Route, topic: str | None, partitions: Callable[[str], int], texts: Texts
    ) -> None:
        self.routing, self.route, self.texts = routing, route, texts
        self._pattern = topic or routing.topic
        self._partitions = partitions
        self._counts: dict[str, int] = {}

    def topic(self, database: str, schema: str, table: str) -> str:
        if self.routing.topics is not None and (chosen := self.routing.topics(database, table)):
            return chosen
        return fill(self._pattern, database=database, schema=schema, table=table)

    def count(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = self.routing.counts.get(topic) or self._partitions(topic)
        return self._counts[topic]

    def columns(self, table: Table) -> tuple[int, ...]:
        """Places of the columns that decide where a row of this table goes."""
        return self._policy(table)[1]

    def _policy(self, table: Table) -> tuple[Policy, tuple[int, ...]]:
        """How a table's rows are spread, and by which columns; under `rules` the first that matches says it."""
        route = self.route
        if route.policy == "rules":
            rule = next((rule for rule in self.routing.rules if rule.matches(table.id.database, table.id.name)), None)
            route = Route("single") if rule is None else Route(rule.policy, rule.columns)
        match route.policy:
            case "key":
                return "key", table.key_positions
            case "columns":
                return "columns", tuple(table.positions[name] for name in route.columns if name in table.positions)
        return route.policy, ()

    def changes(self, batch: ChangeBatch) -> tuple[str, Ints]:
        """(topic, partition of each row)."""
        table, routing = batch.table, self.routing
        topic = self.topic(table.id.database, table.id.schema, table.id.name)
        n = self.count(topic)
        policy, columns = self._policy(table)
        if policy == "single" or n == 1:
            return topic, np.zeros(len(batch), dtype=np.int64)
        if policy == "table":
            return topic, np.full(len(batch), self._table(table, n), dtype=np.int64)
        if not columns and routing.keyless == "zero":
            return topic, np.zeros(len(batch), dtype=np.int64)
        texts = [self._text(batch, column) for column in columns]
        hashes: partition.Hashes
        if routing.combine == "xor":
            hashes = np.zeros(len(batch), dtype=np.int32)
            if routing.database_hash:
                hashes ^= self._hash(table.id.database)
            for text in texts:
                hashes = hashes ^ partition.string_hash(text)
        else:
            hashes = partition.string_hash(texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, ""))
        return topic, self._reduce(hashes, n)

    def event(self, database: str, event: Event) -> tuple[str, int]:
        """(topic, partition) of a DDL statement, a logged text, or a heartbeat (of the database)."""
        change = event if isinstance(event, SchemaChange) else None
        table = None if change is None else change.after or change.before
        if change is not None:
            database = change.database
        if self.routing.event_table is not None:
            topic = self.topic(*self.routing.event_table(event))
        elif isinstance(event, LoggedStatement):
            topic = self.topic(event.database, "", event.table)
        else:
            topic = self.topic(database, table.id.schema if table else "", table.id.name if table else "")
        n = self.count(topic)
        if table is not None and self.route.policy == "table" and self.routing.ddl_with_table and n > 1:
            return topic, self._table(table, n)
        return topic, 0

    def _text(self, batch: ChangeBatch, column: int) -> pa.Array:
        """The values that are hashed; a null is the empty text."""
        if batch.kind is UPDATE and self.routing.image == "before":
            values = batch.full_before(column)
        else:
            values = batch.image()[column]
        return self.texts(batch.table.columns[column], values).fill_null("")

    def _table(self, table: Table, n: int) -> int:
        text = fill(self.routing.table_text, database=table.id.database, schema=table.id.schema, table=table.id.name)
        return int(self._reduce(np.array([self._hash(text)], dtype=np.int32), n)[0])

    def _hash(self, text: str) -> np.int32:
        return np.int32(partition.string_hash(pa.array([text]))[0])

    def _reduce(self, hashes: partition.Hashes, n: int) -> Ints:
        reduce = partition.java_abs_mod if self.routing.reduce == "abs" else partition.to_positive_mod
        return reduce(hashes, n).astype(np.int64)
