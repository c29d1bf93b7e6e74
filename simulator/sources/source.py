"""A source system in one version: its types, values, DDL and log.

A subclass says what a system has; most of the rest follows. Carriers are the Arrow types of `simulator.carriers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Protocol

import orjson
import pyarrow as pa

from simulator.batch import ChangeBatch, decoded
from simulator.carriers import numbers, storage, storage_type, text_us
from simulator.errors import UsageError
from simulator.model import Column, ColumnType, Table, TableId
from simulator.sources import find, portable
from simulator.sources.believable import Drawn
from simulator.sources.ddl import Ddl
from simulator.sources.log import Log
from simulator.text.columns import distinct_text
from simulator.text.timestamps import time_text

# By family: Arrow type in which times are drawn whose carrier is text.
_DRAWN: Final[Mapping[str, pa.DataType]] = {
    "datetime": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us"),
    "zoned": pa.timestamp("us"),
    "time": pa.duration("us"),
}
# Samples of arguments of a type, to try which it accepts.
_ARGUMENTS: Final = ("3", "20", "10,2", "38,10", "max", "'a','b'")


class TypeRow(Protocol):
    """A row of a system's table of types. `name` is the system's canonical lower-case name.

    `family` says what the values are, in words that all systems share: integer, decimal, float, bit, boolean, date,
    datetime (no zone; MySQL's timestamp too), timestamptz (a point in time), zoned (that and its zone), time, year,
    interval, text, binary, json, xml, enum, set, geometry, uuid, objectid, array, range, document; `other` for what
    only the system itself reads.
    """

    @property
    def name(self) -> str: ...
    @property
    def family(self) -> str: ...


@dataclass(frozen=True)
class Source(ABC):
    """A system in one version; `str(source)` is `mysql-8.0`, by which it pickles. `title` is for people.

    * `TITLE` and `VERSIONS`, the default one first, are for sources that others install; ours are in `SOURCES`.
    * `key_is_fixed`: no update changes a key; it is a delete and an insert there.
    * `logs_equal_updates`: an update that leaves a row as it was is in the log, too.
    * `logs_statement_times`: a change has the time at which its statement began in the log, not that of the commit.
    * `row_image_setting` of a scenario says what the log holds of a row, one of `row_images`; the first is all of it.
    * `stores`: generated values become other ones when the system stores them (`stored`).
    * `portable_types` are the system's types for the portable ones of scenarios; arguments take the place of `{}`.
    """

    id: str
    version: str
    title: str

    TITLE: ClassVar[str] = ""
    VERSIONS: ClassVar[tuple[str, ...]] = ()
    key_is_fixed: ClassVar[bool] = False
    row_image_setting: ClassVar[str] = ""
    row_images: ClassVar[tuple[str, ...]] = ("full",)
    logs_equal_updates: ClassVar[bool] = True
    logs_statement_times: ClassVar[bool] = False
    stores: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"{self.id}-{self.version}"

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (str(self),)

    # ---------------------------------------------------------------------------------------------------------- types

    @property
    @abstractmethod
    def types(self) -> Mapping[str, TypeRow]:
        """The table of types, by name."""

    @property
    @abstractmethod
    def portable_types(self) -> Mapping[str, str]: ...

    @abstractmethod
    def parse_type(self, text: str) -> ColumnType:
        """A column type as typed in the system's SQL; the text is kept in `spelled`. Raises UsageError."""

    @abstractmethod
    def type_text(self, type: ColumnType, *, style: str | None = None) -> str:
        """The text of a type in one of the system's styles, None: as its own tools print it. Every system has the
        style `bare`, the name alone."""

    @abstractmethod
    def arrow_type(self, type: ColumnType) -> pa.DataType:
        """The Arrow type that carries the values of a column."""

    def family(self, type: ColumnType) -> str:
        """The family of a type's values, see `TypeRow`."""
        return self.types[type.name].family

    def from_portable(self, text: str) -> ColumnType:
        """The system's type for a portable one; `spelled` is empty: a user did not type it. Raises UsageError."""
        if portable.is_enum(text):
            return self.labels_type(text)
        name, arguments = portable.parsed(text)
        return replace(self.portable_type(name, arguments), spelled="")

    def portable_type(self, name: str, arguments: Sequence[str]) -> ColumnType:
        """The type for a portable one with these arguments."""
        return self.parse_type(self.portable_types[name].format(",".join(arguments)))

    def labels_type(self, text: str) -> ColumnType:
        """The type for the portable `enum('a','b')`: a text type that keeps the labels, if the system has no enum."""
        return replace(self.parse_type(text), spelled="")

    @property
    def corpus_types(self) -> tuple[str, ...]:
        """Texts of every type; several for a type with arguments."""
        literals: list[str] = []
        for name in self.types:
            shapes = (name, *(f"{name}({sample})" for sample in _ARGUMENTS), name.replace(" ", "(3) ", 1))
            by_type: dict[ColumnType, str] = {}
            for text in shapes:
                try:
                    type = self.parse_type(text)
                    self.parse_values(self.boundary_values(type), type)
                except (UsageError, ValueError):
                    continue
                if type.name == name:
                    by_type.setdefault(replace(type, spelled=""), text)
            literals += by_type.values()
        return tuple(literals)

    # --------------------------------------------------------------------------------------------------------- values

    @abstractmethod
    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Literals as carriers, as the system stores them; None is null. Raises ValueError with a sentence."""

    @abstractmethod
    def format_values(self, array: pa.Array, type: ColumnType) -> list[str | None]:
        """The inverse of `parse_values`: each value as a literal."""

    @abstractmethod
    def boundary_values(self, type: ColumnType, *, large: bool = False) -> list[str | None]:
        """Literals at the edges of a type, the last of them None. `large` adds a large object where the type holds
        one."""

    @abstractmethod
    def default_values(self, type: ColumnType) -> Drawn:
        """The default generator and its arguments of a column whose values the scenario does not set."""

    def generated(self, type: ColumnType) -> pa.DataType:
        """The Arrow type in which values are drawn: the carrier, except microseconds for times whose carrier is text,
        and calendar dates for MySQL's dates.
        """
        arrow = self.arrow_type(type)
        return _DRAWN.get(self.family(type), arrow) if pa.types.is_string(arrow) else storage_type(arrow)

    def stored(self, array: pa.Array, type: ColumnType) -> pa.Array:
        """Generated values, or values of a type that this one widens, as a column of the type's carrier."""
        carrier = self.arrow_type(type)
        array_type = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if array_type == carrier:
            return array
        if pa.types.is_string(carrier) and (pa.types.is_timestamp(array_type) or pa.types.is_duration(array_type)):
            zone = "+00:00" if self.family(type) == "zoned" else ""
            return time_text(array, type.length or 0, zone=zone)
        return storage(decoded(array)).cast(storage_type(carrier)).cast(carrier)

    def unit_us(self, type: ColumnType) -> int:
        """The step between the values of a date or time type, in microseconds."""
        return int(10 ** (6 - min(type.length or 0, 6)))

    def microseconds(self, array: pa.Array) -> list[int]:
        """Times as comparable numbers, for any carrier."""
        if pa.types.is_string(array.type):
            return [text_us(text) for text in array.to_pylist()]
        return [int(number) for number in numbers(array)]

    # ------------------------------------------------------------------------------------------------------ documents

    def document_style(self, type: ColumnType) -> str:
        """Style of generated documents: `sorted` by MySQL's order of names, `written` in their own order, or `compact`:
        in their own order without blanks."""
        return "sorted"

    def leaf_text(self, array: pa.Array, type: ColumnType) -> pa.Array:
        """Generated values as leaves of a document: numbers bare, all else as strings; null is `null`."""
        plain = decoded(array)
        if pa.types.is_integer(plain.type) or pa.types.is_decimal(plain.type):
            return plain.cast(pa.string()).fill_null("null")
        return distinct_text(plain, lambda value: orjson.dumps(str(value)).decode()).fill_null("null")

    # --------------------------------------------------------------------------------------------------------- tables

    def identifier(self, name: str) -> str:
        """A name as the system stores it if typed without quotes; by default unchanged."""
        return name

    def table_id(self, database: str, name: str, schema: str | None = None) -> TableId:
        """The id of a scenario's table: its database and, if the system has schemas, its schema (None: the default
        one)."""
        return TableId(self.identifier(database), self.identifier(name))

    @property
    def has_schemas(self) -> bool:
        """Whether tables are in schemas inside of databases."""
        return bool(self.table_id("x", "").schema)

    def is_in(self, database: str, id: TableId) -> bool:
        """Whether a table is in a database of a scenario."""
        return id.database == self.identifier(database)

    def shaped(self, table: Table) -> Table:
        """A table of a scenario in the system's form. Raises UsageError for a table that it cannot have."""
        return table

    def may_repeat(self, nulls: Sequence[bool]) -> bool:
        """Whether several rows may have the same values in a unique key; `nulls` says which of them are null."""
        return any(nulls)

    def made_key(self, parts: Sequence[tuple[Column, pa.Array]]) -> pa.Array:
        """The values of a key column that `shaped` added, from those of the scenario's key columns."""
        raise TypeError(f"{self.title} adds no key column")

    @property
    @abstractmethod
    def ddl(self) -> Ddl: ...

    # ------------------------------------------------------------------------------------------------------------ log

    def logged(self, batch: ChangeBatch, row_image: str, /) -> list[ChangeBatch]:
        """The changes with the columns that the log holds under one of `row_images`, a setting of the server."""
        return [batch]

    @property
    @abstractmethod
    def log(self) -> Log: ...
