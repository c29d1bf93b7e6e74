"""DRS's treatment of a source: `System`; `TableSystem` if it has columns, `DocumentSystem` if it has documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from simulator.errors import UnsupportedType
from simulator.formats import writing
from simulator.formats.drs.options import DrsOptions
from simulator.formats.drs.record import Values
from simulator.formats.drs.systems.names import ANY, Names
from simulator.model import Column, Kind, SchemaChangeKind, Table
from simulator.sources.source import Source
from simulator.tables import rows
from simulator.wire.fields import Cell


@dataclass(frozen=True, kw_only=True)
class System:
    """DRS's rules for a source: kinds of event, and names.

    * `table_text`, `schema_text`: the names that are hashed to a partition.
    * `topics`: the topic policies that DRS offers; `single_needs_topics`: partition 0 only for topics that it creates.
    * `ddl`, `full_sync`: whether DRS synchronises DDL and existing rows by default.
    * `statements`: the DDL that it synchronises; None: all.
    * `previous_commit`: messages have the commit time of the transaction before theirs.
    * `names`: characters that names cannot have.
    * `in_utc`: the type, beside those of the family timestamptz, whose values are timestamps in UTC.
    """

    title: str
    table_text: str
    schema_text: str
    topics: tuple[str, ...]
    ddl: bool
    full_sync: bool = False
    single_needs_topics: bool = False
    statements: frozenset[SchemaChangeKind] | None = None
    previous_commit: bool = False
    names: Names = ANY
    in_utc: str = ""


@dataclass(frozen=True, kw_only=True)
class DocumentSystem(System):
    """Rows are documents; drs-json alone has them. `writer` makes its messages."""

    writer: Callable[[Source], writing.Values]


@dataclass(frozen=True, kw_only=True)
class TableSystem(System):
    """DRS's rules for columns and their values.

    * `cell`: a column's values as JSON text; `json_c_cell`: the text in JSON-C, if it differs.
    * `code`: sqlType; `type_name`: mysqlType or columnType; `values`: the Avro class of its values.
    * `kinds`: kinds of change whose values look different.
    * `reads`: whether DRS reads the column's type; `filters`: whether it leaves such columns out.
    * `row_images`: settings of the source that leave columns out of its log and with which DRS works.
    * `db_type`: `dbType` of the relational layout; None: the layout of MySQL.
    * `blank_types`, `blank_database`: columnType or the database are blank in the relational layout.
    """

    cell: Callable[[Column, DrsOptions, Kind | None], Cell]
    code: Callable[[Column], int]
    type_name: Callable[[Column], str]
    values: Callable[[Column, DrsOptions, Kind | None], Values]
    json_c_cell: Callable[[Column, DrsOptions, Kind | None], Cell] | None = None
    kinds: tuple[Kind, ...] = ()
    reads: Callable[[Column], bool] = lambda column: True
    filters: Callable[[Column], bool] = lambda column: False
    row_images: frozenset[str] = frozenset()
    db_type: str | None = None
    blank_types: bool = False
    blank_database: bool = False

    def columns(self, table: Table) -> list[int]:
        """Positions of the columns that messages have."""
        return [i for i, column in enumerate(table.columns) if not self.filters(column)]

    def check(self, table: Table, format: str) -> None:
        """Raises UnsupportedType for a column whose type DRS does not read, NotOffered for a name that it refuses."""
        self.names.check(table, format, self.title)
        for column in table.columns:
            if not self.reads(column):
                raise UnsupportedType(
                    f"{format} has no rendering for {self.title} {column.type.name} ({table.id}.{column.name}): "
                    "DRS does not list the type. Drop the column or use another format."
                )


@cache
def codes(system: str) -> Mapping[str, int]:
    """sqlType by type of a system, from `codes.csv`."""
    return {row["type"]: int(row["code"]) for row in rows(__file__, "codes.csv", system=system)}
