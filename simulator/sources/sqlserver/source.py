"""SQL Server as a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import pyarrow as pa

from simulator.model import ColumnType, TableId
from simulator.sources import portable
from simulator.sources.source import Source
from simulator.sources.sqlserver import corpus, times, type_table, values
from simulator.sources.sqlserver import types as sqlserver_types
from simulator.sources.sqlserver.ddl import SqlserverDdl, ddl
from simulator.sources.sqlserver.log import SqlserverLog
from simulator.sources.sqlserver.type_table import SqlServerType
from simulator.tables import CsvTable

_LONGEST: Final = {"string": 4000, "bytes": 8000}


class SqlserverSource(Source):
    """SQL Server in one version. Tables without a schema are in `dbo`; names keep their case."""

    types: ClassVar[Mapping[str, SqlServerType]] = type_table.TYPES
    portable_types = CsvTable(__file__, "portable.csv", str)
    stores = True
    ddl: ClassVar[SqlserverDdl] = ddl
    log: ClassVar[SqlserverLog] = SqlserverLog()

    parse_type = staticmethod(sqlserver_types.parse_type)
    type_text = staticmethod(sqlserver_types.type_text)
    arrow_type = staticmethod(type_table.arrow_type)

    def portable_type(self, name: str, arguments: Sequence[str]) -> ColumnType:
        """The SQL Server type of a portable one; a length above the limit becomes (max)."""
        if name in _LONGEST:
            length = max(int(arguments[0]), 1)
            arguments = [str(length) if length <= _LONGEST[name] else "max"]
        return super().portable_type(name, arguments)

    def labels_type(self, text: str) -> ColumnType:
        """A text type that keeps the labels, as its only values."""
        labels = portable.labels(text)
        longest = max(len(label.encode("utf-16-le")) // 2 for label in labels)
        return ColumnType("nvarchar", max(longest, 1), labels=labels)

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Literals as carriers. UTF-8 collations need 2019."""
        if type.charset == "utf8" and self.version == "2016":
            raise ValueError(f"{type.spelled or type.name}: SQL Server 2016 has no UTF-8 collations; 2019 has")
        return values.parse_values(texts, type)

    format_values = staticmethod(values.format_values)
    boundary_values = staticmethod(corpus.boundary_values)
    default_values = staticmethod(corpus.default_values)
    stored = staticmethod(values.stored)
    unit_us = staticmethod(times.unit_us)

    def may_repeat(self, nulls: Sequence[bool]) -> bool:
        """False: unique indexes treat nulls as equal."""
        return False

    def table_id(self, database: str, name: str, schema: str | None = None) -> TableId:
        return TableId(database, name, schema or ddl.schema)
