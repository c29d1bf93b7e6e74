"""A product's rules for addresses, as a value that formats declare: topics, policies, keys, split updates, DDL."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol, TypeAlias

import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.model import Column, Event, LoggedStatement, SchemaChange, Table, TableId
from simulator.text.template import repeat

# Converts a column's values to the product's text; nulls stay null.
Texts: TypeAlias = Callable[[Column, pa.Array], pa.Array]


class Spread(NamedTuple):
    """Partition of each row of a batch (None: the client decides by the key), and the hashed text: one for all rows or
    one per row (None: nothing was hashed)."""

    partitions: Ints | None
    text: pa.Array | str | None = None


class Policy(Protocol):
    """A way to spread rows over the partitions of a topic; each has a module in `policies`."""

    def columns(self, table: Table) -> tuple[int, ...]:
        """Indexes of the columns that decide the partition of a row."""
        ...

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread: ...


# Makes the key of each row as text; None: no keys.
Key: TypeAlias = Callable[[ChangeBatch, Spread, Texts], pa.Array | None]


def hashed_text(batch: ChangeBatch, spread: Spread, texts: Texts) -> pa.Array | None:
    """The hashed text as the message key."""
    return repeat(spread.text, len(batch)) if isinstance(spread.text, str) else spread.text


@dataclass(frozen=True)
class Topics:
    """Topic names: a pattern of {database}, {schema} and {table}, with its case kept or in lower or upper case."""

    pattern: str
    case: Literal["kept", "lower", "upper"] = "kept"

    def named(self, pattern: str | None) -> Topics:
        """A copy with the user's pattern, whose case is kept."""
        return replace(self, pattern=pattern, case="kept") if pattern else self

    def mapping(self, tables: Collection[TableId]) -> Topics:
        """A copy for a task that was set up when these tables existed."""
        return self

    def of(self, table_id: TableId, pattern: str | None = None) -> str:
        """The topic of a table; without names, the topic of a statement that belongs to no table."""
        name = fill(pattern or self.pattern, database=table_id.database, schema=table_id.schema, table=table_id.name)
        return name if self.case == "kept" else name.lower() if self.case == "lower" else name.upper()

    def partitions(self, topic: str) -> int | None:
        """The topic's partition count, if the product's own configuration sets it."""
        return None


@dataclass(frozen=True, slots=True)
class Address:
    """Destination of a single event: each of these partitions of a topic (None: the client decides)."""

    topic: str
    partitions: tuple[int | None, ...]
    key: str | None = None

    def __len__(self) -> int:
        return len(self.partitions)


class Destination(Protocol):
    """Router of a run, as `Statements` use it to address events."""

    route: Route
    topics: Topics

    def count(self, topic: str) -> int: ...
    def only(self, topic: str) -> int: ...

    def event(self, event: Event) -> Sequence[tuple[Event, Address]]:
        """Addresses of an event by the product's routing, each with the event as it is sent there."""
        ...


@dataclass(frozen=True)
class Statements:
    """Routing of DDL, logged texts, heartbeats and transaction marks: to partition 0 of their table's topic, no key.

    `topic`: a single topic for all DDL. `renamed`: whether a statement that renames a table goes to the topic of the
    `new` or of the `old` name. Products that address events differently override methods in a subclass.
    """

    topic: str = ""
    renamed: Literal["new", "old"] = "new"

    def table(self, event: Event) -> Table | None:
        """The table that a DDL statement is about."""
        if not isinstance(event, SchemaChange):
            return None
        return event.before or event.after if self.renamed == "old" else event.after or event.before

    def names(self, event: Event, database: str) -> TableId:
        """The names that decide the event's topic; `database` is the stream's."""
        if isinstance(event, LoggedStatement):
            return TableId(event.database, event.table)
        table = self.table(event)
        if table is not None:
            return table.id
        return TableId(event.database if isinstance(event, SchemaChange) else database, "")

    def pattern(self, event: Event, to: Destination) -> str:
        """The pattern of the topic."""
        return self.topic if self.topic and isinstance(event, SchemaChange) else to.topics.pattern

    def partitions(self, event: Event, topic: str, to: Destination) -> tuple[int, ...]:
        return (to.only(topic),)

    def key(self, event: Event, names: TableId) -> str | None:
        return None

    def address(self, event: Event, database: str, to: Destination) -> Address:
        names = self.names(event, database)
        topic = to.topics.of(names, self.pattern(event, to))
        return Address(topic, self.partitions(event, topic, to), self.key(event, names))

    def marks(self, names: TableId, to: Destination) -> Address:
        """Address of transaction marks: one partition, or the client's choice by the writer's key."""
        topic = to.topics.of(names)
        return Address(topic, (to.only(topic),))

    def parts(self, event: Event) -> Iterator[Event]:
        """One copy of a statement per table, each naming only its table."""
        if not isinstance(event, SchemaChange) or event.tables == ((event.before, event.after),):
            yield event
            return
        for before, after in event.tables:
            table = after or before
            assert table is not None
            yield replace(event, database=table.id.database, before=before, after=after, more=())

    def addresses(self, event: Event, database: str, to: Destination) -> Iterator[tuple[Event, Address]]:
        """Addresses of an event. A statement about several tables goes once to each partition of any of them; there it
        names the first table whose first partition this is, else the first table that uses the partition."""
        addressed = [(part, self.address(part, database, to)) for part in self.parts(event)]
        first_named: dict[tuple[str, int | None], int] = {}
        for number, (_, address) in enumerate(addressed):
            first_named.setdefault((address.topic, address.partitions[0]), number)
        for number, (_, address) in enumerate(addressed):
            for partition in address.partitions:
                first_named.setdefault((address.topic, partition), number)
        for number, (part, address) in enumerate(addressed):
            own = tuple(index for index in address.partitions if first_named[address.topic, index] == number)
            if own:
                yield part, replace(address, partitions=own)


@dataclass(frozen=True)
class Routing:
    """A product's rules for topic, partition and key.

    `policies`: values of `--route`, the default first; `aliases`: the vendor's names for them. `split`: updates that
    are delivered as DELETE + INSERT: none; those that change a routing column; those that also change, under any
    policy, the primary key (`row key`: or the unique key in its place), or the columns that a function chooses; or all.
    `mark_key`: makes the keys of transaction marks; None: they have no key. `texts`: the text of a column's values for
    hashes and keys, independent of the format and its options; None: the text that messages have.
    """

    topics: Topics
    policies: Mapping[str, Policy]
    key: Key | None = None
    split: Literal["never", "routing columns", "key", "row key", "every"] | Callable[[Table], tuple[int, ...]] = "never"
    statements: Statements = Statements()
    aliases: Mapping[str, str] = field(default_factory=dict)
    mark_key: Callable[[ChangeBatch], pa.Array] | None = None
    texts: Texts | None = None


@dataclass(frozen=True)
class Route:
    """The parsed `--route`: the name of a policy, and the columns of `columns:…`."""

    policy: str
    columns: tuple[str, ...] = ()


def fill(pattern: str, *, database: str, schema: str, table: str) -> str:
    """A pattern with its names filled in. For statements that belong to no table, the table is `ddl`."""
    return (
        pattern.replace("{database}", database or "ddl").replace("{schema}", schema).replace("{table}", table or "ddl")
    )


def without(pattern: str, name: str) -> str:
    """A pattern without one of its names, and without a separator left over at an end or doubled.

    >>> without("{database}-{table}", "table"), without("{table}.{schema}.x", "table"), without("{table}", "table")
    ('{database}', '{schema}.x', '')
    >>> without("x_{database}_{table}_y", "table"), without("x{table}_y", "table")
    ('x_{database}_y', 'x_y')
    """
    name = rf"\{{{name}\}}"
    return re.sub(rf"[-._:]*{name}$|^{name}[-._:]*|[-._:]{name}(?=[-._:])|{name}", "", pattern)
