"""`System`: DTS's facts of a source."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from simulator.errors import UnsupportedType
from simulator.formats.dts import cells
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record.values import Values, values_of
from simulator.formats.dts.types import DtsType
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType, Table, TableId
from simulator.wire.fields import Cell

# Databases number the types of their users and extensions from here on.
FIRST_USER_TYPE: Final = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """DTS's facts of a source.

    * `source_types`: SourceType of its records, and the values that `source_type` may set.
    * `versions`: the version that the server reports, by version of the source.
    * `types`: number and value record of each type, read when a run needs them; `type_name`: its name.
    * `values`: writer of a column's values in records, given the units of a microsecond in DateTime's fraction;
      `fraction`: those units.
    * `cell`: writer of a column's values in the JSON formats.
    * `names`: the parts of objectName; the first is `database` of Canal JSON.
    * `table_text`: the names that the table policy hashes.
    * `mysql`: it has MySQL's types and binary log, which decide sqlType, mysqlType and tags.
    * `gtids`: transactions may have GTIDs. `hidden_key`: RDS adds a key to tables without one.
    * `drds`: it may be DRDS. `charset`: the name that a server of a version has for a character set.
    * `rowids`: rows have a ROWID. `userid`: the committing user in SharePlex JSON.
    * `logged_as`: types that the source's log replaces with another type.
    * `documents`: rows are documents, which are written whole; columns have no types of their own.
    """

    source_types: tuple[str, ...]
    versions: Mapping[str, str]
    types: Callable[[], Mapping[str, DtsType]]
    type_name: Callable[[ColumnType], str] = lambda type: type.name
    values: Callable[[DtsType, ColumnType, int], Values] = values_of
    fraction: int = 1000
    cell: Callable[[Column, Settings[TextOptions]], Cell] = cells.cell
    names: Callable[[TableId], tuple[str, ...]] = lambda id: (id.database, id.schema, id.name)
    table_text: str = "{database}.{table}"
    mysql: bool = False
    gtids: bool = False
    hidden_key: bool = False
    drds: bool = False
    charset: Callable[[str, str], str] = lambda name, version: name
    rowids: bool = False
    userid: int = 0
    logged_as: Mapping[str, ColumnType] = field(default_factory=dict)
    documents: bool = False

    def check(self, table: Table, format: str) -> None:
        """Raises UnsupportedType for a column whose type DTS does not know."""
        for column in table.columns:
            if column.type.name not in self.types():
                raise UnsupportedType(
                    f"{format} has no rendering for {column.type.name} of {self.source_types[0]} "
                    f"({table.id}.{column.name}). Drop the column or use another format."
                )

    def number_of(self, type: ColumnType) -> int:
        """dataTypeNumber. A type that each database numbers itself gets a number derived from its name."""
        number = self.types()[type.name].number
        return number or FIRST_USER_TYPE + zlib.crc32(self.type_name(type).encode()) % 100_000
