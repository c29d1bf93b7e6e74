"""Type systems: one module per family of databases, found by the id of a source.

A source is written `mysql`, `mysql-5.7`, `mariadb-10.11`: the id, and the version if it is not the default one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import numbers, text_us, time_text
from simulator.errors import UnknownName, UsageError
from simulator.model import Column, ColumnType, Table, TableId
from simulator.sources.log import Log

# id: (module, title, versions with the default first)
SOURCES: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "gaussdb": ("simulator.sources.postgresql.gaussdb", "GaussDB", ("505",)),
    "mariadb": ("simulator.sources.mysql", "MariaDB", ("10.11",)),
    "mongodb": ("simulator.sources.mongodb", "MongoDB", ("6.0", "4.4")),
    "mysql": ("simulator.sources.mysql", "MySQL", ("8.0", "5.7")),
    "oceanbase-mysql": ("simulator.sources.mysql", "OceanBase in MySQL mode", ("4.3",)),
    "oceanbase-oracle": ("simulator.sources.oracle", "OceanBase in Oracle mode", ("4.3",)),
    "oracle": ("simulator.sources.oracle", "Oracle", ("19c", "21c", "11g")),
    "postgresql": ("simulator.sources.postgresql", "PostgreSQL", ("16", "14", "12")),
    "sqlserver": ("simulator.sources.sqlserver", "SQL Server", ("2022", "2019", "2016")),
}

# id: module and class of its log
_LOGS: Final[Mapping[str, tuple[str, str]]] = {
    "gaussdb": ("postgresql", "PostgresqlLog"),
    "mariadb": ("mysql", "MysqlLog"),
    "mongodb": ("mongodb", "MongodbLog"),
    "mysql": ("mysql", "MysqlLog"),
    "oceanbase-mysql": ("oceanbase", "OceanbaseMysqlLog"),
    "oceanbase-oracle": ("oceanbase", "OceanbaseOracleLog"),
    "oracle": ("oracle", "OracleLog"),
    "postgresql": ("postgresql", "PostgresqlLog"),
    "sqlserver": ("sqlserver", "SqlserverLog"),
}

# What times are generated as where their carrier is text, by family.
_MADE: Final[Mapping[str, pa.DataType]] = {
    "datetime": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us"),
    "zoned": pa.timestamp("us"),
    "time": pa.duration("us"),
}

# What may stand in the brackets of a type.
_INSIDE: Final = ("3", "20", "10,2", "38,10", "max", "'a','b'")


class Ddl(Protocol):
    """How a system writes DDL, as somebody types it with the database and schema chosen before.

    `places_columns` says whether a new column can stand elsewhere than behind the others, `fills_columns` whether rows
    that are there get its default.
    """

    @property
    def places_columns(self) -> bool: ...
    @property
    def fills_columns(self) -> bool: ...
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
    interval, text, binary, json, xml, enum, set, geometry, uuid, objectid, array, range, document; `other` for what
    only the system itself reads.
    A system may offer more functions, which `Source` calls if they are there: `stored(array, type)` gives generated
    values, or those of a type that this one widens, the form in which they are stored; `unit_us(type)` is the step
    between a date or time type's values in microseconds; `generated(type)` the Arrow type in which values are made
    where their carrier is text; `microseconds(ends)` the numbers of times that are texts.
    `shaped(table)` is a scenario's table as the system has it, which may have a key column that the scenario has not;
    `made_key(parts)` are the values of that column, made of those of the key's columns; `leaf_text(array, type)` are
    generated values as leaves of a document.
    A system whose DDL has no statement for a change gives "": nobody is told of it, and it takes no transaction.
    `identifier` is a name as the system stores it when it is typed without quotes; `table_id` says where a table of a
    scenario is: in which database, in which schema (systems have theirs for tables of which nobody says more).
    """

    @property
    def ddl(self) -> Ddl: ...

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

    @property
    def log(self) -> Log:
        package, name = _LOGS[self.id]
        found = vars(import_module(f"simulator.sources.{package}.log"))[name]
        first = (154,) if str(self) == "mysql-5.7" else ()
        return cast(Log, found(*first))

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Literals as this server stores them. Raises ValueError with a sentence."""
        return self.types.parse_values(texts, type, server=str(self))

    @property
    def corpus_types(self) -> tuple[str, ...]:
        """Texts of every type, with several arguments where it takes some: the system's own list, or what it reads."""
        own = getattr(self.types, "CORPUS_TYPES", None)
        if own is not None:
            return tuple(own)
        found: list[str] = []
        for name in getattr(self.types, "TYPES", ()):
            shapes = (name, *(f"{name}({inside})" for inside in _INSIDE), name.replace(" ", "(3) ", 1))
            kept: dict[ColumnType, str] = {}
            for text in shapes:
                try:
                    type = self.types.parse_type(text)
                    self.parse_values(self.types.boundary_values(type), type)
                except (UsageError, ValueError):
                    continue
                if type.name == name:
                    kept.setdefault(replace(type, spelled=""), text)
            found += kept.values()
        return tuple(found)

    def generated(self, type: ColumnType) -> pa.DataType:
        """The Arrow type in which values of a type are made: the carrier, but microseconds for times that are texts."""
        arrow = self.types.arrow_type(type)
        own = getattr(self.types, "generated", None)
        if own is not None:
            return own(type)
        if pa.types.is_string(arrow):
            return _MADE.get(self.types.family(type), arrow)
        return arrow

    def place(self, database: str) -> tuple[str, str]:
        """The database and the schema of a scenario's database: its tables are there."""
        at = self.types.table_id(database, "")
        return at.database, at.schema

    def shaped(self, table: Table) -> Table:
        """A table of a scenario as the system has it. Raises UsageError for one that it cannot have."""
        own = getattr(self.types, "shaped", None)
        return table if own is None else cast(Table, own(table))

    @property
    def key_is_fixed(self) -> bool:
        """Whether no update changes a key: it is a delete and an insert there."""
        return bool(getattr(self.types, "KEY_IS_FIXED", False))

    @property
    def fills_columns(self) -> bool:
        """Whether rows that are there get the default of a new column."""
        return self.ddl.fills_columns

    def document_style(self, type: ColumnType) -> str:
        """How generated documents are written: `sorted` as MySQL does, in the order `written`, or so and `compact`."""
        own = getattr(self.types, "document_style", None)
        return "sorted" if own is None else str(own(type))

    @property
    def stores(self) -> bool:
        """Whether the system has its own way of storing generated values."""
        return hasattr(self.types, "stored")

    def stored(self, array: pa.Array, type: ColumnType) -> pa.Array:
        """Generated values, or values of a type that this one widens, as a column of the type's carrier."""
        own = getattr(self.types, "stored", None)
        if own is not None:
            return cast(pa.Array, own(array, type))
        wanted = self.types.arrow_type(type)
        now = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if now == wanted:
            return array
        if pa.types.is_string(wanted) and (pa.types.is_timestamp(now) or pa.types.is_duration(now)):
            zone = "+00:00" if self.types.family(type) == "zoned" else ""
            return time_text(array, type.length or 0, zone=zone)
        return (array.dictionary_decode() if pa.types.is_dictionary(array.type) else array).cast(wanted)

    def unit_us(self, type: ColumnType) -> int:
        """The step between the values of a date or time type, in microseconds."""
        own = getattr(self.types, "unit_us", None)
        return int(own(type)) if own is not None else int(10 ** (6 - min(type.length or 0, 6)))

    def microseconds(self, ends: pa.Array) -> list[int]:
        """Two times as numbers that can be compared, whatever their carrier."""
        own = getattr(self.types, "microseconds", None)
        if own is not None:
            return cast("list[int]", own(ends))
        if pa.types.is_string(ends.type):
            return [text_us(text) for text in ends.to_pylist()]
        return [int(number) for number in numbers(ends)]


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
    found = import_module(module)
    # a module whose systems and versions differ in their types has one type system for each
    types = found.type_system(f"{id}-{version}") if hasattr(found, "type_system") else found
    return Source(id, version, title, cast(TypeSystem, types))
