"""OMS's treatment of columns: the class of their values, and the names and codes of their types.

`types.csv` has MySQL's and Oracle's types, which OceanBase has in its two modes, and families and carriers of `others`.
Rows `sample` are in the samples of the page "Data formats" (V3.3.1), of rows `sample name` only the name is; the others
are decided here: the type's own name in capitals, the code of java.sql.Types, as OceanBase's fork of Canal has them.
`lob`: a large object, which OceanBase leaves out of its log where it did not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias

import pyarrow as pa

from simulator.errors import NotOffered, UnsupportedType
from simulator.formats.known import Known, printed
from simulator.formats.oms.types.classes import CLASSES, Class, ValueStyle
from simulator.model import Column, ColumnType, Table
from simulator.sources.source import Source
from simulator.tables import rows
from simulator.text.template import Piece, join
from simulator.wire.fields import Cell


@dataclass(frozen=True)
class OmsType:
    """A row of the table of types. Names are in capitals; Canal's `mysqlType` has small letters."""

    values: Class
    name: str
    code: int
    lob: bool = False


_REFUSED: Final = re.compile(r"[\s.]|[^\x00-\x7f]")

# The row of a type; None for a type that OMS does not carry.
Types: TypeAlias = Callable[[ColumnType], OmsType | None]


@cache
def types_of(system: str) -> Mapping[str, OmsType]:
    """The rows of a system by the names of types."""
    return {
        row["type"]: OmsType(
            CLASSES[row["class"]], row["name"] or row["type"].upper(), int(row["code"]), bool(row["lob"])
        )
        for row in rows(__file__, "types.csv", system=system)
    }


def mysql(source: Source) -> Types:
    return lambda type: types_of("mysql").get(type.name)


def oracle(source: Source) -> Types:
    return lambda type: types_of("oracle").get(type.name)


class Columns:
    """The columns of tables under the settings of a format. `bigint` is the name of the type BIGINT."""

    def __init__(self, types: Types, style: ValueStyle, bigint: str = "BIGINT") -> None:
        self._types, self._style, self._bigint = types, style, bigint

    def type_of(self, column: Column) -> OmsType:
        row = self._types(column.type)
        if row is None:
            raise UnsupportedType(f"OMS has no rendering for {column.type.name} (column {column.name}).")
        return row

    def check(self, table: Table) -> None:
        """Raises NotOffered for a name that OMS does not synchronize, which could not be told from others where names
        are joined by a dot, and UnsupportedType for a column that OMS does not carry."""
        for noun, name in (("database", table.id.database), ("schema", table.id.schema), ("table", table.id.name)):
            if refused := _REFUSED.search(name):
                raise NotOffered(
                    f"the {noun} {name!r} holds {refused[0]!r}, and OMS does not synchronize names with blanks, dots "
                    "and characters that are not ASCII: rename it, or use another format."
                )
        for column in table.columns:
            if self._types(column.type) is None:
                raise UnsupportedType(
                    f"OMS has no rendering for {column.type.name} ({table.id}.{column.name}). "
                    "Drop the column or use another format."
                )

    def cell(self, column: Column, *, full: bool = False) -> Cell:
        """Writer of a column's values; `full`: in a full synchronization."""
        values, type = self.type_of(column).values, column.type
        style = replace(self._style, full=full)
        quoted = values.quoted and not (values.legacy_number and style.legacy)

        def text(array: pa.Array) -> pa.Array:
            if pa.types.is_dictionary(array.type):
                return pa.DictionaryArray.from_arrays(array.indices, text(array.dictionary))
            written = piece(array)
            is_column = isinstance(written, pa.Array) and not pa.types.is_integer(written.type)
            return written if is_column else join([written], len(array))

        def piece(array: pa.Array) -> Piece:
            return values.text(array, type, style)

        return Cell(text, quoted=quoted, escaped=values.escaped, piece=None if values.escaped else piece)

    def known(self, column: Column) -> Known | None:
        """The known part of a column: floats have fewer digits than they may need, and zero has no sign."""
        row = self._types(column.type)
        return printed(self.cell(column).text) if row is not None and row.values is CLASSES["Double"] else None

    def name(self, column: Column) -> str:
        """The name of a column's type, without parameters: `VARCHAR`."""
        name = self.type_of(column).name
        return self._bigint if name == "BIGINT" else name

    def code(self, column: Column) -> int:
        """Its java.sql.Types code."""
        return self.type_of(column).code
