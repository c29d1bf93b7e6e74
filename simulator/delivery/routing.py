"""How a product addresses messages, as a value that formats declare: topics, policies, keys, split updates, DDL."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol, TypeAlias

import pyarrow as pa

from simulator.batch import ChangeBatch, Ints
from simulator.model import Column, Event, LoggedStatement, SchemaChange, Table, TableId
from simulator.text.template import repeat

# A column's values as the product's text, nulls kept.
Texts: TypeAlias = Callable[[Column, pa.Array], pa.Array]


class Spread(NamedTuple):
    """Where the rows of a batch go: the partition of each (None: the client decides by the key), and the text that was
    hashed, one for all or one a row (None: there is no such text)."""

    partitions: Ints | None
    text: pa.Array | str | None = None


class Policy(Protocol):
    """A way to spread rows over the partitions of a topic: a module each in `policies`."""

    def columns(self, table: Table) -> tuple[int, ...]:
        """Places of the columns that decide where a row of the table goes."""
        ...

    def spread(self, batch: ChangeBatch, count: int, texts: Texts) -> Spread: ...


# The key of each row as text, None for none.
Key: TypeAlias = Callable[[ChangeBatch, Spread, Texts], pa.Array | None]


def hashed_text(batch: ChangeBatch, spread: Spread, texts: Texts) -> pa.Array | None:
    """A key: the text that the partition was made of."""
    return repeat(spread.text, len(batch)) if isinstance(spread.text, str) else spread.text


@dataclass(frozen=True)
class Topics:
    """Names of topics: a pattern of {database}, {schema} and {table}, in its case or as lower or upper case."""

    pattern: str
    case: Literal["kept", "lower", "upper"] = "kept"

    def named(self, pattern: str | None) -> Topics:
        """The same with a pattern of the user's, whose case is kept."""
        return replace(self, pattern=pattern, case="kept") if pattern else self

    def mapping(self, tables: Collection[TableId]) -> Topics:
        """The same for a task that was set up when there were these tables."""
        return self

    def of(self, at: TableId, pattern: str | None = None) -> str:
        """The topic of a table, or of a statement about no table (without names)."""
        name = fill(pattern or self.pattern, database=at.database, schema=at.schema, table=at.name)
        return name if self.case == "kept" else name.lower() if self.case == "lower" else name.upper()

    def partitions(self, topic: str) -> int | None:
        """The topic's partition count where the product's own configuration says it."""
        return None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a single event goes: to each of these partitions of a topic (None: the client decides)."""

    topic: str
    partitions: tuple[int | None, ...]
    key: str | None = None

    def __len__(self) -> int:
        return len(self.partitions)


class Destination(Protocol):
    """What statements are addressed with: the router of a run."""

    route: Route
    topics: Topics

    def count(self, topic: str) -> int: ...
    def only(self, topic: str) -> int: ...

    def event(self, event: Event) -> Sequence[tuple[Event, Address]]:
        """Where the product's routing sends an event, and what it names there."""
        ...


@dataclass(frozen=True)
class Statements:
    """Where DDL, logged texts, heartbeats and transaction marks go: partition 0 of their table's topic, without a key.

    `topic`: a topic that all DDL goes to. `renamed`: the statement that renames a table goes where the `new` name
    leads, or the `old` one. Products that address them otherwise say in a subclass what differs.
    """

    topic: str = ""
    renamed: Literal["new", "old"] = "new"

    def table(self, event: Event) -> Table | None:
        """The table that a DDL statement is about."""
        if not isinstance(event, SchemaChange):
            return None
        return event.before or event.after if self.renamed == "old" else event.after or event.before

    def names(self, event: Event, database: str) -> TableId:
        """The names that the event is filed under; `database` is the stream's."""
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
        """Where the marks of transactions go: to one partition, or where the client decides by the writer's key."""
        topic = to.topics.of(names)
        return Address(topic, (to.only(topic),))

    def parts(self, event: Event) -> Iterator[Event]:
        """A statement once for each of its tables, which it names then."""
        if not isinstance(event, SchemaChange) or event.tables == ((event.before, event.after),):
            yield event
            return
        for before, after in event.tables:
            table = after or before
            assert table is not None
            yield replace(event, database=table.id.database, before=before, after=after, more=())

    def addresses(self, event: Event, database: str, to: Destination) -> Iterator[tuple[Event, Address]]:
        """Where an event goes: a statement about several tables once to each partition that is one of theirs, where it
        names the first table whose first partition this is, else the first that has it."""
        addressed = [(part, self.address(part, database, to)) for part in self.parts(event)]
        named: dict[tuple[str, int | None], int] = {}
        for number, (_, address) in enumerate(addressed):
            named.setdefault((address.topic, address.partitions[0]), number)
        for number, (_, address) in enumerate(addressed):
            for partition in address.partitions:
                named.setdefault((address.topic, partition), number)
        for number, (part, address) in enumerate(addressed):
            own = tuple(each for each in address.partitions if named[address.topic, each] == number)
            if own:
                yield part, replace(address, partitions=own)


@dataclass(frozen=True)
class Routing:
    """How a product chooses topic, partition and key.

    `policies` are what `--route` may say, the default first; `aliases` are the vendor's words for them.
    `split`: updates that are delivered as DELETE + INSERT:
    none, those of a column that routes, of one of these or of the primary key (or the unique key that takes its place:
    the row key) under any policy, or all.
    `mark_key`: the keys of transaction marks, which have none otherwise.
    `texts`: a column's values as they are hashed and stand in keys, the product's own whatever a format and its options
    print; None: as messages have them.
    """

    topics: Topics
    policies: Mapping[str, Policy]
    key: Key | None = None
    split: Literal["never", "routing columns", "key", "row key", "every"] = "never"
    statements: Statements = Statements()
    aliases: Mapping[str, str] = field(default_factory=dict)
    mark_key: Callable[[ChangeBatch], pa.Array] | None = None
    texts: Texts | None = None


@dataclass(frozen=True)
class Route:
    """What `--route` says: a policy by name, and its columns if it is `columns`."""

    policy: str
    columns: tuple[str, ...] = ()


def fill(pattern: str, *, database: str, schema: str, table: str) -> str:
    """A pattern with its names put in. Statements about no table are filed under `ddl`."""
    return (
        pattern.replace("{database}", database or "ddl").replace("{schema}", schema).replace("{table}", table or "ddl")
    )


def without(pattern: str, name: str) -> str:
    """A pattern without one of its names, and without the separator that would be left at either end or be double.

    >>> without("{database}-{table}", "table"), without("{table}.{schema}.x", "table"), without("{table}", "table")
    ('{database}', '{schema}.x', '')
    >>> without("x_{database}_{table}_y", "table"), without("x{table}_y", "table")
    ('x_{database}_y', 'x_y')
    """
    name = rf"\{{{name}\}}"
    return re.sub(rf"[-._:]*{name}$|^{name}[-._:]*|[-._:]{name}(?=[-._:])|{name}", "", pattern)
