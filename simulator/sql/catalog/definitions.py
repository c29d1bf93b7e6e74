"""Databases, tables and their columns and keys as a server stores them. Streams carry the model's Table instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.model import Column, ColumnType, Table, TableId, UniqueKey

# A compiled expression: from a row's values in table order to a value.
Compiled = Callable[[Any], Any]


@dataclass(frozen=True)
class Field:
    """A column: its type, and what a server does with it.

    `default` is the text of its DEFAULT (a SQL expression), None without one; `typed_in` are the types, as typed, of
    all columns that the same statement defined; `default_dropped`: not even NULL is its default.
    `inline_key`: PRIMARY KEY was typed with the column; `retyped`: a later statement typed the column without it.
    `implied`: nobody typed its `default` and `on_update`.
    """

    name: str
    type: ColumnType
    nullable: bool = True
    default: str | None = None
    auto: bool = False
    on_update: bool = False
    generated: str | None = None
    stored: bool = False
    invisible: bool = False
    default_dropped: bool = False
    collation: str = ""
    typed_in: tuple[str, ...] = ()
    inline_key: bool = False
    retyped: bool = False
    comment: str = ""
    implied: bool = False

    def column(self) -> Column:
        return Column(
            self.name,
            self.type,
            self.nullable,
            typed_in=self.typed_in,
            key_retyped=self.retyped,
            default=None if self.implied else self.default,
            auto_increment=self.auto,
            on_update=self.on_update and not self.implied,
            comment=self.comment,
        )


@dataclass(frozen=True)
class Key:
    """A key or index; `columns` are names with the length of a prefix. `kind` is primary, unique, index or fulltext."""

    name: str
    kind: str
    columns: tuple[tuple[str, int | None], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    @property
    def unique(self) -> bool:
        return self.kind in ("primary", "unique")


@dataclass(frozen=True)
class ForeignKey:
    """`on_delete` and `on_update` are `restrict`, `cascade` or `set null`."""

    name: str
    columns: tuple[str, ...]
    parent: TableId
    parent_columns: tuple[str, ...]
    on_delete: str = "restrict"
    on_update: str = "restrict"


@dataclass(frozen=True)
class Definition:
    """The current definition of a table. `checks` are names and texts of CHECK constraints; `partitioned` by RANGE,
    LIST, HASH or KEY: servers read and log its rows by partition. `text_key`: as in the model's Table."""

    id: TableId
    fields: tuple[Field, ...]
    keys: tuple[Key, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()
    checks: tuple[tuple[str, str], ...] = ()
    charset: str = "utf8mb4"
    collation: str = ""
    temporary: bool = False
    transactional: bool = True  # False: MyISAM and the like, whose changes cannot be rolled back
    version: int = 0
    comment: str = ""
    partitioned: str = ""
    text_key: tuple[str, ...] | None = None

    def position(self, name: str) -> int | None:
        """The position of the column of this name; case does not matter."""
        lowered = name.lower()
        return next((i for i, column in enumerate(self.fields) if column.name.lower() == lowered), None)

    def without_spellings(self) -> Definition:
        """The definition without the typed spellings of its types."""
        fields = tuple(
            replace(field, typed_in=(), inline_key=False, retyped=False, implied=False) for field in self.fields
        )
        return replace(self, fields=fields, text_key=None)

    def with_text_keys(self, keys: Iterable[Key], *, typed_with_column: bool = False) -> Definition:
        """The definition after keys were typed. A unique key is the table's to readers of the text if it has none yet,
        and if all of its columns are known and NOT NULL; one that was typed with its column may be null."""
        known = self.known_text_key
        optional = {field.name.lower(): field.nullable for field in self.fields}
        for key in keys:
            fits = typed_with_column or not any(optional.get(name.lower(), True) for name in key.names)
            if key.kind == "primary" or (key.kind == "unique" and not known and fits):
                known = key.names
        return replace(self, text_key=known)

    @property
    def known_text_key(self) -> tuple[str, ...]:
        return self.table().row_key if self.text_key is None else self.text_key

    @property
    def primary(self) -> Key | None:
        return next((key for key in self.keys if key.kind == "primary"), None)

    def table(self) -> Table:
        """The model's table of this version. A unique key of expressions is not among its keys."""
        primary = self.primary
        names = () if primary is None else self._stored_names(primary)
        unique = tuple(
            UniqueKey(key.name, self._stored_names(key)) for key in self.keys if key.kind == "unique" and all(key.names)
        )
        return Table(
            self.id,
            tuple(column.column() for column in self.fields),
            names,
            self.version,
            unique,
            self.charset,
            self.comment,
            None if self.text_key is None else self._names_of(self.text_key),
        )

    def _stored_names(self, key: Key) -> tuple[str, ...]:
        return self._names_of(key.names)

    def _names_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.fields[self.position(name) or 0].name for name in names)


@dataclass
class Trigger:
    """`CREATE TRIGGER name BEFORE INSERT ON table FOR EACH ROW body`."""

    database: str
    name: str
    before: bool
    event: str  # insert, update, delete
    table: TableId
    body: str


@dataclass(frozen=True)
class Routine:
    """A procedure or function: `parameters` are directions (in, out, inout), names and types; `modes` is its
    sql_mode."""

    kind: str
    database: str
    name: str
    parameters: tuple[tuple[str, str, str], ...]
    returns: str
    body: str
    modes: frozenset[str]


@dataclass(frozen=True)
class View:
    """`CREATE VIEW name (columns) AS select`; unqualified names in `select` belong to the view's database. `checked`:
    WITH CHECK OPTION."""

    database: str
    name: str
    columns: tuple[str, ...]
    select: str
    checked: bool = False


@dataclass
class Database:
    """A database, its default character set, and its tables and views by name."""

    name: str
    charset: str = "utf8mb4"
    collation: str = ""
    tables: dict[str, Any] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
