"""Type systems: one module per family of databases, found by the id of a source.

A source is written `mysql`, `mysql-5.7`, `mariadb-10.11`: the id, and the version if it is not the default one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.errors import UnknownName, UsageError
from simulator.model import Column, ColumnType, Table, TableId

# id: (module, title, versions with the default first)
SOURCES: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "gaussdb": ("simulator.sources.gaussdb", "GaussDB", ("505",)),
    "mariadb": ("simulator.sources.mysql", "MariaDB", ("10.11",)),
    "mysql": ("simulator.sources.mysql", "MySQL", ("8.0", "5.7")),
    "oceanbase-mysql": ("simulator.sources.mysql", "OceanBase in MySQL mode", ("4.3",)),
    "postgresql": ("simulator.sources.postgresql", "PostgreSQL", ("16", "14", "12")),
}


class Ddl(Protocol):
    """How a system writes DDL, as somebody types it with the database and schema chosen before."""

    def create_database(self, database: str) -> str: ...
    def drop_database(self, database: str) -> str: ...
    def create_table(self, table: Table) -> str: ...
    def drop_table(self, table: Table) -> str: ...
    def truncate_table(self, table: Table) -> str: ...
    def rename_table(self, table: Table, to: str) -> str: ...
    def add_column(self, table: Table, new: Column, default: str | None, after: str | None) -> str: ...
    def alter_column(self, table: Table, changed: Column) -> str: ...
    def rename_column(self, table: Table, old: Column, renamed: Column) -> str: ...
    def drop_column(self, table: Table, dropped: Column) -> str: ...
    def create_index(self, table: Table, index: str, columns: Sequence[str], *, unique: bool) -> str: ...
    def drop_index(self, table: Table, index: str) -> str: ...
    def type_definition(self, type: ColumnType) -> str: ...
    def type_name(self, type: ColumnType) -> str: ...
    def takes_default(self, type: ColumnType) -> bool: ...
    def widens(self, old: ColumnType, new: ColumnType) -> bool: ...


class TypeSystem(Protocol):
    """What a module of this folder offers. Carriers are those of `simulator.carriers`.

    `family` says what a type's values are, in words that all systems share: integer, decimal, float, bit, boolean,
    date, datetime (no zone; MySQL's timestamp too), timestamptz (a moment), zoned (a moment and its zone), time, year,
    interval, text, binary, json, xml, enum, set, geometry, uuid, array, range, document; `other` for what only the
    system itself reads.
    `identifier` is a name as the system stores it when it is typed without quotes; `table_id` says where a table of a
    scenario is: in which database, in which schema (systems have theirs for tables of which nobody says more).
    """

    ddl: Ddl

    def family(self, type: ColumnType) -> str: ...
    def identifier(self, name: str) -> str: ...
    def table_id(self, database: str, name: str) -> TableId: ...

    def parse_type(self, text: str) -> ColumnType: ...
    def from_portable(self, text: str) -> ColumnType: ...
    def arrow_type(self, type: ColumnType) -> pa.DataType: ...
    def parse_values(self, texts: Sequence[str | None], type: ColumnType, *, server: str) -> pa.Array: ...
    def boundary_values(self, type: ColumnType) -> list[str | None]: ...
    def default_values(self, type: ColumnType) -> tuple[str, dict[str, Any]]: ...
    def type_text(self, type: ColumnType, *, style: str) -> str: ...
    def packed_bytes(self, column: Column, array: pa.Array) -> npt.NDArray[np.int64]: ...


@dataclass(frozen=True)
class Source:
    """A database system in one version, with its type system."""

    id: str
    version: str
    title: str
    types: TypeSystem

    def __str__(self) -> str:
        return f"{self.id}-{self.version}"

    @property
    def ddl(self) -> Ddl:
        return self.types.ddl

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Literals as this server stores them. Raises ValueError with a sentence."""
        return self.types.parse_values(texts, type, server=str(self))


def find(text: str) -> Source:
    """`find("mysql")`, `find("mysql-5.7")`. Raises UnknownName, or UsageError for a version we do not have."""
    id, _, version = text.partition("-")
    if id not in SOURCES:
        # ids may hold a dash themselves: the longest one that fits wins
        id = max((known for known in SOURCES if text == known or text.startswith(known + "-")), key=len, default="")
        version = text[len(id) + 1 :]
    if not id:
        raise UnknownName("source", text, SOURCES, "`cdcsim sources` lists them all.")
    module, title, versions = SOURCES[id]
    version = version or versions[0]
    if version not in versions:
        raise UsageError(f"--source {text}: {title} is known here in version {', '.join(versions)}, not {version!r}.")
    types = import_module(module)
    # a module may hold a type system for each version
    of_version = getattr(types, "of_version", None)
    return Source(id, version, title, cast(TypeSystem, types if of_version is None else of_version(version)))
