"""Oracle as a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final

from simulator.errors import UsageError
from simulator.model import ColumnType, TableId
from simulator.sources import portable
from simulator.sources.oracle import corpus, supplemental_logging, type_table, values
from simulator.sources.oracle import types as oracle_types
from simulator.sources.oracle.ddl import OracleDdl, ddl
from simulator.sources.oracle.log import OracleLog
from simulator.sources.oracle.type_table import OracleType
from simulator.sources.source import Source
from simulator.tables import CsvTable

# The database (a service or pluggable database) of an Oracle source; in OceanBase the tenant.
DATABASE: Final = "ORCL"

# The longest text and RAW that a column of a table of the standard size holds.
MOST_STRING: Final = 4000
MOST_RAW: Final = 2000


class OracleSource(Source):
    """Oracle in one version. Tables without a schema are in that of their database, `ORCL.SHOP.ORDERS`; names typed
    without quotes are stored in capitals.
    """

    portable_types = CsvTable(__file__, "portable.csv", str)
    stores = True
    row_image_setting = "supplemental_logging"
    row_images: ClassVar[tuple[str, ...]] = ("all", "minimal", "primary key", "unique", "primary key, unique")
    ddl: ClassVar[OracleDdl] = ddl
    log: ClassVar[OracleLog] = OracleLog()

    @cached_property
    def types(self) -> Mapping[str, OracleType]:
        return {name: row for name, row in type_table.TYPES.items() if str(self).startswith(row.sources)}

    @property
    def corpus_types(self) -> tuple[str, ...]:
        return tuple(text for text in corpus.corpus_types() if oracle_types.parse_type(text).name in self.types)

    def parse_type(self, text: str) -> ColumnType:
        """Parses a type. A VARCHAR2 has at most 4000 bytes before 12c, and later unless MAX_STRING_SIZE is EXTENDED."""
        type = oracle_types.parse_type(text)
        if type.name not in self.types:
            raise UsageError(f"{text.strip()!r}: {self.name} has no type {type.name.upper()}.")
        most = 4000 if self.version == "11g" else 32_767
        if type.name in ("varchar2", "nvarchar2", "raw") and (type.length or 0) > most:
            raise UsageError(f"{text.strip()!r}: {self.name} holds {most} bytes in a {type.name.upper()}.")
        return type

    @property
    def name(self) -> str:
        """The system's name, with the version if it matters: `Oracle 19c`."""
        return f"{self.title} {self.version}" if self.id == "oracle" else self.title

    type_text = staticmethod(oracle_types.type_text)
    arrow_type = staticmethod(type_table.arrow_type)

    def portable_type(self, name: str, arguments: Sequence[str]) -> ColumnType:
        """The Oracle type of a portable type: JSON is a CLOB in versions without the type, and types too long for a
        length are LOBs.
        """
        if (name == "json" and "json" not in self.types) or (name == "string" and int(arguments[0]) > MOST_STRING):
            return self.parse_type("clob")
        if name == "bytes" and int(arguments[0]) > MOST_RAW:
            return self.parse_type("blob")
        return super().portable_type(name, arguments)

    def labels_type(self, text: str) -> ColumnType:
        """A VARCHAR2 that a check constraint keeps to the labels."""
        labels = portable.labels(text)
        longest = max(map(len, labels))
        if not longest:
            raise UsageError(f"{text.strip()!r}: an empty label is null in {self.name}.")
        return ColumnType("varchar2", longest, labels=labels, characters=True)

    parse_values = staticmethod(values.parse_values)
    format_values = staticmethod(values.format_values)
    boundary_values = staticmethod(corpus.boundary_values)
    default_values = staticmethod(corpus.default_values)
    logged = staticmethod(supplemental_logging.as_logged)
    generated = staticmethod(values.generated)
    stored = staticmethod(values.stored)
    unit_us = staticmethod(values.unit_us)
    microseconds = staticmethod(values.microseconds)

    def document_style(self, type: ColumnType) -> str:
        """A JSON column is printed without blanks, with its members in their written order."""
        return "compact" if type.name == "json" else "sorted"

    def identifier(self, name: str) -> str:
        return name.upper()

    def may_repeat(self, nulls: Sequence[bool]) -> bool:
        """Whether all values are null: such rows are not in an index."""
        return all(nulls)

    def table_id(self, database: str, name: str, schema: str | None = None) -> TableId:
        return TableId(DATABASE, self.identifier(name), self.identifier(schema or database))

    def is_in(self, database: str, id: TableId) -> bool:
        return id.schema == self.identifier(database)
