"""A table's columns as an OMS format with some settings shows them: cells, names and codes of types."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from simulator.errors import UnsupportedType
from simulator.formats.format import Settings
from simulator.formats.oms.nearest import nearest
from simulator.formats.oms.options import OmsOptions
from simulator.formats.oms.values import Shown, Types, Writing, types_of
from simulator.model import Column, Table
from simulator.wire.fields import Cell


class Columns:
    """How columns are written. `types` says how each type is shown: as those of the source, unless told otherwise."""

    def __init__(
        self, settings: Settings[OmsOptions], *, plain: bool = False, types: Types | None = None, bigint: str = "BIGINT"
    ) -> None:
        legacy: bool = settings.options.legacy_types
        source = settings.source
        self._types = types or types_of(source) or nearest(source)
        self._writing = Writing(plain=plain, legacy=legacy, zone=settings.options.server_timezone)
        self._bigint = bigint

    def shown(self, column: Column) -> Shown:
        found = self._types(column.type)
        if found is None:
            raise UnsupportedType(f"{column.type.name} of column {column.name} has no rendering")
        return found

    def check(self, table: Table) -> None:
        """Raises UnsupportedType for a column that OMS does not carry."""
        for column in table.columns:
            if self._types(column.type) is None:
                raise UnsupportedType(
                    f"OMS has no rendering for {column.type.name} ({table.id}.{column.name}). "
                    "Drop the column or use another format."
                )

    def cell(self, column: Column, *, full: bool = False) -> Cell:
        """How a column's values are written; `full`: in a full synchronization."""
        shown, type = self.shown(column), column.type
        how = replace(self._writing, full=full)
        quoted = shown.quoted and not (shown.bare and how.legacy)

        def text(array: pa.Array) -> pa.Array:
            if pa.types.is_dictionary(array.type):
                return pa.DictionaryArray.from_arrays(array.indices, text(array.dictionary))
            return shown.text(array, type, how)

        return Cell(text, quoted=quoted, escaped=shown.escaped)

    def name(self, column: Column) -> str:
        """The name of a column's type, without parameters: `VARCHAR`."""
        name = self.shown(column).name
        return self._bigint if name == "BIGINT" else name

    def code(self, column: Column) -> int:
        """Its java.sql.Types code."""
        return self.shown(column).code

    def lossy(self, column: Column) -> bool:
        """Whether values that differ may look the same."""
        return self.shown(column).lossy

    def lob(self, column: Column) -> bool:
        """Whether OceanBase logs values only where they change."""
        return self.shown(column).lob
