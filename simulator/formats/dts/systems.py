"""What DTS says of each source: a row a source. Sources that DTS does not read are treated as what they are compatible
with."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from simulator.errors import UnsupportedType
from simulator.formats.dts.cells import by_family
from simulator.formats.dts.cells import mysql as mysql_cells
from simulator.formats.dts.cells import postgresql as postgresql_cells
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record import values as dts_values
from simulator.formats.dts.record.values import Values
from simulator.formats.dts.types import DtsType, types_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType, Table, TableId
from simulator.sources import Source
from simulator.sources.oracle import type_table as oracle_table
from simulator.sources.postgresql import type_table as postgresql_table
from simulator.sources.sqlserver import type_table as sqlserver_table
from simulator.wire.fields import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What DTS says of a source.

    * `source_types`: SourceType of its records, and what `source_type` may make of it.
    * `versions`: the version that the server reports, by version of the source.
    * `types`: number and value record of each type; `values`: how a column of them is written, given the units of a
      microsecond in DateTime's fraction, of which `fraction` is the default.
    * `cell`: how the JSON formats write a column's values.
    * `names`: the parts of objectName; the first is `database` of Canal JSON.
    * `table_text`: the names that the table policy hashes.
    * `mysql`: it has MySQL's types and binary log, which decide sqlType, mysqlType and tags.
    * `gtids`: transactions may have GTIDs. `hidden_key`: RDS adds a key to tables without one.
    * `rowids`: rows have a ROWID. `userid`: who commits, in SharePlex JSON.
    * `logged_as`: types that the source's log has as another one.
    * `documents`: rows are documents, which are written whole; columns have no types of their own.
    """

    source_types: tuple[str, ...]
    versions: Mapping[str, str]
    types: Mapping[str, DtsType]
    cell: Callable[[Column, Settings[TextOptions]], Cell]
    values: Callable[[DtsType, ColumnType, int], Values] = dts_values.values_of
    fraction: int = 1000
    names: Callable[[TableId], tuple[str, ...]] = lambda id: (id.database, id.schema, id.name)
    table_text: str = "{database}.{table}"
    mysql: bool = False
    gtids: bool = False
    hidden_key: bool = False
    rowids: bool = False
    userid: int = 0
    logged_as: Mapping[str, ColumnType] = field(default_factory=dict)
    documents: bool = False


_MYSQL: Final = System(
    source_types=("MySQL",),
    versions={},
    types=types_of("mysql"),
    values=dts_values.mysql_values,
    cell=mysql_cells.cell,
    fraction=1,
    names=lambda id: (id.database, id.name),
    mysql=True,
)
_ORACLE: Final = System(
    source_types=("Oracle",),
    versions={"21c": "21.0.0.0.0", "19c": "19.0.0.0.0", "11g": "11.2.0.4.0"},
    types=types_of("oracle", {name: row.dty for name, row in oracle_table.TYPES.items()}),
    cell=by_family.cell,
    names=lambda id: (id.schema, id.name),
    table_text="{schema}.{table}",
    rowids=True,
    userid=84,
)
_POSTGRESQL: Final = System(
    source_types=("PostgreSQL", "PPAS"),
    versions={"16": "16.4", "14": "14.13", "12": "12.20"},
    types=types_of("postgresql", {name: row.oid for name, row in postgresql_table.types_of("postgresql").items()}),
    values=dts_values.postgresql_values,
    cell=postgresql_cells.cell,
    fraction=1,
)
SYSTEMS: Final[Mapping[str, System]] = {
    "gaussdb": replace(
        _POSTGRESQL,
        source_types=("PostgreSQL",),
        versions={"505": "9.2.4"},
        types=types_of("postgresql", {name: row.oid for name, row in postgresql_table.types_of("gaussdb").items()}),
    ),
    "mariadb": replace(
        _MYSQL,
        versions={"10.11": "10.11.19-MariaDB-log"},
        # a LONGTEXT that the server checks
        types={**_MYSQL.types, "json": _MYSQL.types["longtext"]},
        logged_as={"json": ColumnType("longtext")},
    ),
    "mongodb": System(
        source_types=("MongoDB",),
        versions={"6.0": "6.0.16", "4.4": "4.4.29"},
        types={},
        cell=by_family.cell,
        names=lambda id: (id.database, id.name),
        documents=True,
    ),
    "mysql": replace(
        _MYSQL,
        source_types=("MySQL", "DRDS"),
        versions={"8.0": "8.0.28", "5.7": "5.7.26-log"},
        gtids=True,
        hidden_key=True,
    ),
    "oceanbase-mysql": replace(_MYSQL, versions={"4.3": "5.7.25-OceanBase-v4.3"}),
    "oceanbase-oracle": replace(_ORACLE, versions={"4.3": "4.3.0.0"}),
    "oracle": _ORACLE,
    "postgresql": _POSTGRESQL,
    "sqlserver": System(
        source_types=("SQLServer",),
        versions={"2022": "16.0.1000.6", "2019": "15.0.2000.5", "2016": "13.0.1601.5"},
        types=types_of("sqlserver", {name: row.number for name, row in sqlserver_table.TYPES.items()}),
        values=dts_values.sqlserver_values,
        cell=by_family.cell,
    ),
}

# Databases number the types of their users and extensions from here on.
FIRST_USER_TYPE: Final = 16_384


def system_of(source: Source) -> System:
    return SYSTEMS[source.id]


def check(format: str, source: Source, table: Table) -> None:
    """Raises UnsupportedType for a table with a column whose type DTS does not know."""
    system = system_of(source)
    for column in table.columns:
        if column.type.name not in system.types:
            raise UnsupportedType(
                f"{format} has no rendering for {column.type.name} of {system.source_types[0]} "
                f"({table.id}.{column.name}). Drop the column or use another format."
            )


def number_of(source: Source, type: ColumnType) -> int:
    """dataTypeNumber. A type that each database numbers itself has one made of its name, the same in all of them."""
    name = source.types.type_text(type, style="bare")
    return system_of(source).types[type.name].number or FIRST_USER_TYPE + zlib.crc32(name.encode()) % 100_000
