"""MySQL and MariaDB as sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import pyarrow as pa

from simulator.model import ColumnType
from simulator.sources.believable import Drawn
from simulator.sources.mysql import corpus, type_table, values
from simulator.sources.mysql import types as mysql_types
from simulator.sources.mysql.ddl import MysqlDdl, ddl
from simulator.sources.mysql.json import normalise
from simulator.sources.mysql.log import FIRST_OFFSET, FIRST_OFFSET_57, MysqlLog
from simulator.sources.mysql.type_table import MysqlType
from simulator.sources.source import Source
from simulator.tables import CsvTable


class MysqlSource(Source):
    """A database is a schema.

    `json_is_text`: JSON is no type of its own but checked text, kept as written.
    """

    types: ClassVar[Mapping[str, MysqlType]] = type_table.TYPES
    portable_types = CsvTable(__file__, "portable.csv", str)
    json_is_text: ClassVar[bool] = False
    ddl: ClassVar[MysqlDdl] = ddl

    @property
    def type_style(self) -> str:
        """How SHOW CREATE TABLE prints types."""
        return "show_create_57" if self.version == "5.7" else "show_create_80"

    @property
    def corpus_types(self) -> tuple[str, ...]:
        return corpus.corpus_types()

    def parse_type(self, text: str) -> ColumnType:
        return mysql_types.parse_type(text)

    def type_text(self, type: ColumnType, *, style: str | None = None) -> str:
        return mysql_types.type_text(type, style=style or self.type_style)

    def arrow_type(self, type: ColumnType) -> pa.DataType:
        return type_table.arrow_type(type)

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Of a JSON key that stands there twice the last value stays; in 5.7 the first."""
        parsed = values.parse_values(texts, type)
        if self.family(type) != "json" or (self.version != "5.7" and not self.json_is_text):
            return parsed
        if self.json_is_text:
            return pa.array(texts, pa.string())
        return pa.array([None if text is None else normalise(text, duplicates="first") for text in texts], pa.string())

    def format_values(self, array: pa.Array, type: ColumnType) -> list[str | None]:
        return values.format_values(array, type)

    def boundary_values(self, type: ColumnType, *, large: bool = False) -> list[str | None]:
        return corpus.boundary_values(type, large=large)

    def default_values(self, type: ColumnType) -> Drawn:
        return corpus.default_values(type)

    @cached_property
    def log(self) -> MysqlLog:
        return MysqlLog(FIRST_OFFSET_57 if self.version == "5.7" else FIRST_OFFSET)


class MariadbSource(MysqlSource):
    json_is_text = True
    type_style = "show_create_57"
