"""Converts tables of PostgreSQL's catalog, and classifies DDL statements by their effect on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from simulator.errors import UsageError
from simulator.model import Column, ColumnType, SchemaChangeKind, Table, TableId, UniqueKey
from simulator.sources.source import Source

_TAGS: Final = {
    "CREATE TABLE": SchemaChangeKind.CREATE_TABLE,
    "CREATE TABLE AS": SchemaChangeKind.CREATE_TABLE,
    "SELECT INTO": SchemaChangeKind.CREATE_TABLE,
    "DROP TABLE": SchemaChangeKind.DROP_TABLE,
    "CREATE INDEX": SchemaChangeKind.CREATE_INDEX,
    "DROP INDEX": SchemaChangeKind.DROP_INDEX,
}
# Objects other than tables: patterns of the command tag, in this order.
_ENDINGS: Final = (
    (r"ALTER (MATERIALIZED )?VIEW", SchemaChangeKind.ALTER_VIEW),
    (r".*\bVIEW", SchemaChangeKind.VIEW),
    (r".*\b(FUNCTION|PROCEDURE|ROUTINE|TRIGGER)", SchemaChangeKind.STORED_PROGRAM),
    (r"GRANT|REVOKE|ALTER DEFAULT PRIVILEGES", SchemaChangeKind.ACCOUNT),
)


# By pg_type.typtype.
_KINDS: Final = {"c": "composite type", "r": "range type", "m": "multirange type"}


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the catalog. `numbers` are the column numbers, which renames keep; `missing` has, by number, the value
    of a column in rows older than the column."""

    table: Table
    numbers: tuple[int, ...]
    missing: Mapping[int, str | None]

    def equals(self, other: CatalogTable) -> bool:
        return replace(self.table, version=0) == replace(other.table, version=0)


class Catalog:
    """The tables of a database by oid; `versions` counts the versions of each name."""

    def __init__(self, source: Source, database: str, versions: dict[TableId, int]) -> None:
        self.source, self.database, self._versions = source, database, versions
        self.tables: dict[int, CatalogTable] = {}
        self.unreadable: dict[int, str] = {}  # the reason, by oid, for tables with a column that cannot be read
        self._fields: dict[tuple[int, int], str] = {}

    def update(self, listed: Sequence[Mapping[str, Any]]) -> dict[int, CatalogTable]:
        """Set the current tables; returns the previous ones. Tables with a column of an unknown type are left out."""
        old, self.tables = self.tables, {}
        for entry in listed:
            oid = entry["oid"]
            try:
                self.tables[oid] = self._table(entry, old.get(oid))
            except UsageError as error:
                self.unreadable[oid] = str(error)
        return old

    def _table(self, listed: Mapping[str, Any], old: CatalogTable | None) -> CatalogTable:
        id = TableId(self.database, listed["name"], listed["schema"])
        columns = [self._column(id, listed["oid"], column) for column in listed["columns"] or ()]
        keys = listed["keys"] or ()
        table = Table(
            id,
            tuple(columns),
            next((tuple(key["columns"]) for key in keys if key["primary"]), ()),
            unique_keys=tuple(UniqueKey(key["name"], tuple(key["columns"])) for key in keys if not key["primary"]),
        )
        numbers = tuple(column["number"] for column in listed["columns"] or ())
        new = CatalogTable(table, numbers, {column["number"]: column["missing"] for column in listed["columns"] or ()})
        if old is not None and new.equals(old):
            return old
        version = self._versions.get(id, -1) + 1
        self._versions[id] = version
        return replace(new, table=replace(table, version=version))

    def _column(self, id: TableId, oid: int, listed: Mapping[str, Any]) -> Column:
        name, labels = listed["name"], listed["labels"]
        field = self._fields.setdefault((oid, listed["number"]), name)
        if labels is not None:
            type = ColumnType("enum", labels=tuple(labels), spelled=listed["type"])
        else:
            try:
                type = replace(self.source.parse_type(listed["type"]), spelled="")
            except UsageError:
                kind, type_name = _KINDS.get(listed["kind"], "type"), listed["type"]
                if type_name.startswith("_"):  # PostgreSQL's own name of an array
                    type_name = f"{type_name[1:]}[]"
                raise UsageError(
                    f"{id}.{name}: no format has values of the {kind} {type_name!r} here; declare the column with a "
                    "type of PostgreSQL itself, such as text, or leave it out"
                ) from None
        return Column(name, type, not listed["not_null"], field, default=listed["default"])


def kinds_of(
    tag: str, pairs: Sequence[tuple[CatalogTable | None, CatalogTable | None]]
) -> tuple[SchemaChangeKind, ...]:
    """The kinds of change of a statement, from its tag and the tables before and after it."""
    if not pairs:
        kinds = (kind for pattern, kind in _ENDINGS if re.fullmatch(pattern, tag))
        return (next(kinds, SchemaChangeKind.OTHER),)
    if tag in _TAGS:
        return (_TAGS[tag],)
    old, new = pairs[0]
    if old is None or new is None:
        return (SchemaChangeKind.OTHER,)
    return tuple(dict.fromkeys(_items(old, new))) or (SchemaChangeKind.ALTER_TABLE,)


def _items(old: CatalogTable, new: CatalogTable) -> Iterator[SchemaChangeKind]:
    if old.table.id != new.table.id:
        yield SchemaChangeKind.RENAME_TABLE
    before = dict(zip(old.numbers, old.table.columns, strict=True))
    after = dict(zip(new.numbers, new.table.columns, strict=True))
    if after.keys() - before.keys():
        yield SchemaChangeKind.ADD_COLUMN
    if before.keys() - after.keys():
        yield SchemaChangeKind.DROP_COLUMN
    for number in before.keys() & after.keys():
        if before[number].name != after[number].name:
            yield SchemaChangeKind.RENAME_COLUMN
        if before[number].type != after[number].type:
            yield SchemaChangeKind.ALTER_COLUMN_TYPE
