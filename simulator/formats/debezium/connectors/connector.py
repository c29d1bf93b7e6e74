"""Base class of Debezium's connectors, with the members that differ between sources."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.redelivery import Redelivery
from simulator.delivery.steps import Step
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values.cells import Converted
from simulator.formats.members import per_entry
from simulator.formats.redelivery import DEBEZIUM
from simulator.model import Column, LoggedStatement, SchemaChange, SchemaChangeKind, Table, TableId
from simulator.sources.log import Entries
from simulator.sources.source import Source
from simulator.wire.fields import Cells, Field, Members, PerChange


@dataclass(frozen=True, slots=True)
class TableChange:
    """An item of `tableChanges`: its type, the table's id in quotes, and the table, None if it was dropped."""

    type: str
    id: str
    table: Table | None


def members_of(event: SchemaChange) -> dict[str, Any]:
    """A statement's members by name, to make a `Published` or `SnapshotOpened` of them."""
    return {field.name: getattr(event, field.name) for field in fields(SchemaChange)}


@dataclass(frozen=True, slots=True)
class Published(SchemaChange):
    """A message of the topic of schema changes. `table_names`: the tables in its `source`; None: the member is null.

    `truncated`: the table that it empties; the message goes to that table's topic. `row`: of MySQL, the number of the
    last row before it in its event of the log.
    """

    table_names: str | None = None
    changes: tuple[TableChange, ...] = ()
    truncated: Table | None = None
    row: int = 0


@dataclass(frozen=True, slots=True)
class SnapshotOpened(SchemaChange):
    """The beginning of a snapshot: its tables, with the statements that create them."""

    created: tuple[tuple[Table, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LogMessages:
    """Messages that sessions write to a source's log: their schemas and fields, and their places in transactions.

    `collection` names them in counts of transactions; `place` counts the changes of a transaction from 1.
    """

    key: Schema
    collection: str
    fields: Callable[[Members], tuple[Field, ...]]
    value_schema: Callable[[Schema, Schema], Schema]
    in_transaction: Callable[[LoggedStatement], bool]
    is_only_entry: Callable[[LoggedStatement], bool]
    place: Callable[[LoggedStatement], int]


class Connector(ABC):
    """A connector for a source, set up with these options.

    * `name` stands in messages; `package` in names of schemas, where it differs for MongoDB.
    * `java_class`: its class, where a source has several connectors.
    * `parts`: the parts of a table's name in topics; `collection` in counts of transactions.
    * `truncates_in_transaction`: a TRUNCATE is a change of a transaction.
    * `log_messages`: the messages that sessions write to its source's log; None: it has none.
    * `tells_other_key`: headers of a changed key have the other key.
    * `redelivery`: where it starts again after its process ended.
    * `row_images`: settings of the source with which its log lacks columns, those with which it works; None: all.
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    parts: ClassVar[str]
    java_class: ClassVar[str] = ""
    row_images: ClassVar[frozenset[str] | None] = frozenset()
    tells_other_key: ClassVar[bool] = True
    truncates_in_transaction: ClassVar[bool] = False
    log_messages: LogMessages | None = None

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        self.options, self.source = options, source

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its treatment of a block's changes, after that of all connectors."""
        return ()

    @property
    def placeholder(self) -> bytes:
        """The bytes of `unavailable.value.placeholder`."""
        return self.options.placeholder.encode()

    @property
    def redelivery(self) -> Redelivery:
        return DEBEZIUM

    @property
    @abstractmethod
    def source_schemas(self) -> Sequence[tuple[str, Schema]]:
        """Schemas of the connector's own members of `source`, which follow the common ones."""

    @abstractmethod
    def source_fields(self) -> Sequence[Field]:
        """Values of the connector's own members of `source`."""

    def source_ms(self, event_ms: Any) -> Any:
        """The time at the source, as exact as the connector has it, from milliseconds."""
        return event_ms

    @abstractmethod
    def convert(self, column: Column, *, snapshot: bool) -> Converted: ...

    def sequence(self) -> Any:
        """`source.sequence`."""
        return None

    def cells(self, *, snapshot: bool) -> Cells:
        """Writers of columns' values."""
        return lambda column: self.convert(column, snapshot=snapshot).cell

    @abstractmethod
    def transaction_id(self, entries: Entries) -> pa.Array:
        """The transaction id of each entry, as text."""

    def is_alone(self, batch: ChangeBatch) -> bool:
        """Tests for changes, all of a batch or none, that `provide.transaction.metadata` has in no transaction."""
        return False

    def transaction_member(self) -> PerChange:
        """The same as a member of messages."""
        return per_entry(self.transaction_id)

    @abstractmethod
    def published(self, event: SchemaChange) -> Iterator[Published]:
        """The messages of a statement."""

    def text_of(self, event: SchemaChange) -> str | None:
        """`ddl` of a statement."""
        return event.sql

    @property
    def statements(self) -> frozenset[SchemaChangeKind]:
        """Kinds of DDL that can have messages."""
        return frozenset({SchemaChangeKind.TRUNCATE_TABLE})

    def collection(self, table: TableId) -> str:
        """The name of a table in counts of transactions: `shop.orders`."""
        return str(table)

    def key_columns(self, table: Table) -> tuple[int, ...]:
        """Indexes of the columns of keys, in key order: those of `message.key.columns`, else the table's key."""
        chosen = (
            i
            for pattern in self.options.key_columns
            for i, column in enumerate(table.columns)
            if self._matches(pattern, table, column.name)
        )
        return tuple(dict.fromkeys(chosen)) or tuple(table.positions[name] for name in self.table_key(table))

    def table_key(self, table: Table) -> tuple[str, ...]:
        """The primary key, else the unique key whose name is the first one."""
        unique = min(table.unique_keys, key=lambda key: key.name, default=None)
        return table.primary_key or (unique.columns if unique else ())

    def columns(self, table: Table) -> Sequence[int] | None:
        """Indexes of the columns whose types the connector knows; None: all."""
        return None

    def row_columns(self, table: Table) -> Sequence[int]:
        """Indexes of the columns that rows have, by `column.include.list` and `column.exclude.list`."""
        known = self.columns(table)
        included, excluded = self.options.included_columns, self.options.excluded_columns
        return tuple(
            i
            for i in (range(len(table.columns)) if known is None else known)
            if (included is None or self._matches(included, table, table.columns[i].name))
            and (excluded is None or not self._matches(excluded, table, table.columns[i].name))
        )

    def _matches(self, pattern: re.Pattern[str], table: Table, name: str) -> bool:
        """Tests the name of a column, or a type, behind that of its table."""
        return pattern.fullmatch(f"{self.collection(table.id)}.{name}") is not None

    def comment(self, literal: str) -> str | None:
        """A comment of SQL, if messages have comments."""
        return None

    def parameters(self, column: Column, table: Table) -> tuple[tuple[str, str], ...]:
        """Parameters of a column's schema, behind those of its type."""
        return ()


class RelationalConnector(Connector):
    """A connector for tables with typed columns."""

    @abstractmethod
    def source_type(self, column: Column) -> tuple[str, int | None, int | None]:
        """The name of a column's type at the source, its length and scale; None: unknown."""

    def comment(self, literal: str) -> str | None:
        """A comment of SQL, if messages have comments."""
        return None

    def parameters(self, column: Column, table: Table) -> tuple[tuple[str, str], ...]:
        """Parameters of a column's schema that tell its type at the source, if they are asked for."""
        by_name, by_type = self.options.typed_columns, self.options.typed_types
        if by_name is None and by_type is None:
            return ()
        type, length, scale = self.source_type(column)
        if not (by_name and self._matches(by_name, table, column.name)) and not (
            by_type and self._matches(by_type, table, type)
        ):
            return ()
        told = {
            "type": type.upper(),
            "length": length,
            "scale": scale,
            "comment": self.comment(column.comment),
            "name": column.name,
        }
        return tuple(
            (f"__debezium.source.column.{key}", str(value)) for key, value in told.items() if value is not None
        )


class DdlConnector(RelationalConnector):
    """A connector with a topic of schema changes."""

    @abstractmethod
    def described(self, column: Column, table: Table, position: int) -> dict[str, Any]:
        """A column in `tableChanges`, without its comment."""

    def table_charset(self, table: Table) -> str | None:
        """`defaultCharsetName`."""
        return None
