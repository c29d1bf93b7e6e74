"""MySQL and MariaDB as sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.model import ColumnType
from simulator.sources.mysql import corpus, type_table, values
from simulator.sources.mysql import types as mysql_types
from simulator.sources.mysql.ddl import MysqlDdl, ddl
from simulator.sources.mysql.json import normalise
from simulator.sources.mysql.log import FIRST_OFFSET_57, SQL_MODE_57, MariadbLog, MysqlLog
from simulator.sources.mysql.row_image import as_logged
from simulator.sources.mysql.type_table import MysqlType
from simulator.sources.source import Source
from simulator.tables import CsvTable


class MysqlSource(Source):
    """MySQL in one version. A database is a schema; `json_is_text`: JSON is validated text, kept as written."""

    types: ClassVar[Mapping[str, MysqlType]] = type_table.TYPES
    portable_types = CsvTable(__file__, "portable.csv", str)
    json_is_text: ClassVar[bool] = False
    row_image_setting = "row_image"
    row_images: ClassVar[tuple[str, ...]] = ("full", "minimal", "noblob")
    logs_equal_updates = False
    logs_statement_times = True
    ddl: ClassVar[MysqlDdl] = ddl

    @property
    def type_style(self) -> str:
        """Types as SHOW CREATE TABLE prints them."""
        return "show_create_57" if self.version == "5.7" else "show_create_80"

    @property
    def corpus_types(self) -> tuple[str, ...]:
        return corpus.corpus_types()

    parse_type = staticmethod(mysql_types.parse_type)

    def type_text(self, type: ColumnType, *, style: str | None = None) -> str:
        return mysql_types.type_text(type, style=style or self.type_style)

    arrow_type = staticmethod(type_table.arrow_type)

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        """Literals as carriers. Of duplicate JSON keys the last value is kept, in 5.7 the first."""
        parsed = values.parse_values(texts, type)
        if self.family(type) != "json" or (self.version != "5.7" and not self.json_is_text):
            return parsed
        if self.json_is_text:
            return pa.array(texts, pa.string())
        return pa.array([None if text is None else normalise(text, duplicates="first") for text in texts], pa.string())

    format_values = staticmethod(values.format_values)
    boundary_values = staticmethod(corpus.boundary_values)
    default_values = staticmethod(corpus.default_values)

    def logged(self, batch: ChangeBatch, row_image: str, /) -> list[ChangeBatch]:
        return as_logged(batch, row_image, keyless=self.id != "mariadb")

    @cached_property
    def log(self) -> MysqlLog:
        return MysqlLog(FIRST_OFFSET_57, SQL_MODE_57) if self.version == "5.7" else MysqlLog()


class MariadbSource(MysqlSource):
    json_is_text = True
    type_style = "show_create_57"

    @cached_property
    def log(self) -> MysqlLog:
        return MariadbLog()
