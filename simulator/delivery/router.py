"""Route: topic and partition of each change, by the policy that a format declares and the user chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.delivery import partition
from simulator.errors import UsageError, closest
from simulator.model import MARKS, UPDATE, Column, Event, LoggedStatement, SchemaChange, Table
from simulator.routing import POLICIES, Policy, Routing, fill, without
from simulator.text.json_style import escape, quote
from simulator.text.template import join, repeat

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
        self._case = "kept" if topic else routing.topic_case
        self._partitions = partitions
        self._counts: dict[str, int] = {}

    def topic(self, database: str, schema: str, table: str, pattern: str | None = None) -> str:
        if self.routing.topics is not None and (chosen := self.routing.topics(database, table)):
            return chosen
        name = fill(pattern or self._pattern, database=database, schema=schema, table=table)
        return name if self._case == "kept" else name.lower() if self._case == "lower" else name.upper()

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
                # by the scenario's names, which a source may write otherwise (ORDERS for orders)
                fields = {column.field: place for place, column in enumerate(table.columns)} | dict(table.positions)
                return "columns", tuple(fields[name] for name in route.columns if name in fields)
        return route.policy, ()

    def split_by(self, table: Table) -> tuple[int, ...] | None:
        """Places of the columns of which an update is delivered as DELETE and INSERT: none where it never is, None
        where it always is."""
        if not self.routing.split:
            return ()
        if self.routing.split == "every":
            return None
        if self.routing.split == "always":
            return tuple(sorted({*table.key_positions, *self.columns(table)}))
        return self.columns(table)

    def changes(self, batch: ChangeBatch) -> tuple[str, Ints, pa.Array | None]:
        """(topic, partition of each row, key of each row as text: None without keys)."""
        topic, partitions, keys = self._hashed(batch)
        if self.routing.key == "primary" and batch.kind not in MARKS:
            texts = [self._text(batch, column) for column in batch.table.key_positions]
            pieces = [piece for text in texts for piece in (self.routing.separator, text)][1:]
            keys = join(pieces or [self._table_text(batch.table)], len(batch))
        if self.routing.key_as == "json" and keys is not None:
            keys = join(['"', escape(keys), '"'], len(batch))
        return topic, partitions, keys

    def _hashed(self, batch: ChangeBatch) -> tuple[str, Ints, pa.Array | None]:
        """(topic, partition of each row, what was hashed of each row where that is the key)."""
        table, routing = batch.table, self.routing
        topic = self.topic(table.id.database, table.id.schema, table.id.name)
        n = self.count(topic)
        count = len(batch)
        only = self._only(topic)
        if batch.kind in MARKS or (n == 1 and routing.key != "hashed"):
            return topic, np.full(count, only), None
        policy, columns = self._policy(table)
        whole = policy in ("single", "table", "schema")
        by_table = whole or (not columns and routing.keyless == "table")
        if by_table or (not columns and routing.keyless == "zero"):
            text = self._table_text(table)
            keys = repeat(text, count) if routing.key == "hashed" else None
            zero = policy == "single" or not by_table
            return topic, np.full(count, only if zero else self._partition(text, n)), keys
        texts = [self._text(batch, column) for column in columns]
        joined = None
        if routing.combine == "concat" or routing.key == "hashed":
            pieces = [piece for text in texts for piece in (routing.separator, text)][1:]
            joined = join(pieces, count)
        hashes: partition.Hashes
        if routing.combine == "xor":
            hashes = np.zeros(count, dtype=np.int32)
            if routing.database_hash:
                hashes ^= self._hash(table.id.database)
            for text in texts:
                hashes = hashes ^ self._hashes(text)
        else:
            hashes = self._hashes(joined)
        return topic, self._reduce(hashes, n), joined if routing.key == "hashed" else None

    def event(self, database: str, event: Event) -> tuple[str, list[int], str | None]:
        """(topic, partitions, key) of a DDL statement, a logged text, or a heartbeat (of the database)."""
        change = event if isinstance(event, SchemaChange) else None
        table = None if change is None else change.after or change.before
        if change is not None:
            database = change.database
            if self.routing.renamed == "old":
                table = change.before or change.after
        schema, name = (table.id.schema, table.id.name) if table else ("", "")
        if self.routing.event_table is not None:
            database, schema, name = self.routing.event_table(event)
        elif isinstance(event, LoggedStatement):
            database, schema, name = event.database, "", event.table
        pattern, key = self._pattern, None
        if self.routing.key != "none":
            key = self._table_text(table) if table else database
        if change is not None and self.routing.ddl_of == "schema":
            # a statement about no table has no schema either
            pattern, key_text = without(pattern, "table"), without(self.routing.table_text, "table")
            if table is None:
                pattern, key_text = without(pattern, "schema"), without(key_text, "schema")
            pattern = pattern or "{table}"
            if key is not None:
                key = fill(key_text, database=database, schema=schema, table="")
        if key is not None and self.routing.key_as == "json":
            key = quote(key)
        if change is not None and self.routing.ddl_topic:
            pattern = self.routing.ddl_topic
        topic = self.topic(database, schema, name, pattern)
        n = self.count(topic)
        by_row = self.route.policy in ("key", "columns") or (table is None and self.route.policy != "single")
        if change is not None and (
            (self.routing.ddl == "all" and self.route.policy != "single") or (self.routing.ddl == "rows" and by_row)
        ):
            return topic, list(range(n)), key
        if table is not None and self.route.policy == "table" and self.routing.ddl in ("table", "rows") and n > 1:
            involved = (table,) if change is None or self.routing.ddl == "table" else (change.before, change.after)
            return topic, sorted({self._partition(self._table_text(t), n) for t in involved if t is not None}), key
        return topic, [self._only(topic)], key

    def _only(self, topic: str) -> int:
        """The partition of what goes to one alone. Raises UsageError where the topic has not so many."""
        fixed = self.routing.fixed if self.route.policy == "single" else 0
        if fixed >= self.count(topic):
            raise UsageError(f"topic {topic!r} has {self.count(topic)} partitions: there is no partition {fixed}.")
        return fixed

    def _text(self, batch: ChangeBatch, column: int) -> pa.Array:
        """The values that are hashed."""
        if batch.kind is UPDATE and self.routing.image == "before":
            values = batch.full_before(column)
        else:
            values = batch.image()[column]
        return self.texts(batch.table.columns[column], values).fill_null(self.routing.null_text)

    def _table_text(self, table: Table) -> str:
        """What is hashed of a table, or of its schema under the policy of that name."""
        at = table.id
        pattern = self.routing.schema_text if self.route.policy == "schema" else self.routing.table_text
        return fill(pattern, database=at.database, schema=at.schema, table=at.name)

    def _partition(self, text: str, n: int) -> int:
        return int(self._reduce(np.array([self._hash(text)], dtype=np.int32), n)[0])

    def _hash(self, text: str) -> np.int32:
        return np.int32(self._hashes(pa.array([text]))[0])

    def _hashes(self, texts: pa.Array) -> partition.Hashes:
        return partition.murmur2(texts) if self.routing.hash == "murmur2" else partition.string_hash(texts)

    def _reduce(self, hashes: partition.Hashes, n: int) -> Ints:
        reduce = partition.java_abs_mod if self.routing.reduce == "abs" else partition.to_positive_mod
        return reduce(hashes, n).astype(np.int64)
