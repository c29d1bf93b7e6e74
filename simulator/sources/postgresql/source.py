"""PostgreSQL as a source; GaussDB's is in `gaussdb`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final

import pyarrow as pa

from simulator.model import ColumnType, TableId
from simulator.sources.postgresql import corpus, replica_identity, storage, type_table, values
from simulator.sources.postgresql import types as postgresql_types
from simulator.sources.postgresql.ddl import PostgresqlDdl, ddl
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.sources.postgresql.type_table import PostgresType
from simulator.sources.postgresql.types import Dialect
from simulator.sources.source import Source
from simulator.tables import CsvTable

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_\u0080-\uffff][0-9A-Za-z_$\u0080-\uffff]*")
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class PostgresqlSource(Source):
    """PostgreSQL in one version. 12 has no multiranges and no infinite numeric; scales below 0 need 15."""

    portable_types = CsvTable(__file__, "portable.csv", str)
    stores = True
    row_image_setting = "replica_identity"
    row_images = ("full", "default", "index")
    ddl: ClassVar[PostgresqlDdl] = ddl
    log: ClassVar[PostgresqlLog] = PostgresqlLog()

    @cached_property
    def dialect(self) -> Dialect:
        return Dialect("postgresql", "PostgreSQL", int(self.version))

    @property
    def types(self) -> Mapping[str, PostgresType]:
        return self.dialect.types

    def parse_type(self, text: str) -> ColumnType:
        return postgresql_types.parse_type(text, self.dialect)

    type_text = staticmethod(postgresql_types.type_text)
    arrow_type = staticmethod(type_table.arrow_type)

    def parse_values(self, texts: Sequence[str | None], type: ColumnType) -> pa.Array:
        return values.parse_values(texts, type, self.dialect)

    format_values = staticmethod(values.format_values)

    def boundary_values(self, type: ColumnType, *, large: bool = False) -> list[str | None]:
        return corpus.boundary_values(type, self.dialect, large=large)

    default_values = staticmethod(corpus.default_values)
    logged = staticmethod(replica_identity.as_logged)
    stored = staticmethod(storage.stored)
    unit_us = staticmethod(storage.unit_us)

    def identifier(self, name: str) -> str:
        """A name as stored: in lower case, unless it needs quotes and so keeps its case; at most 63 bytes."""
        text = name.translate(_LOWER) if _PLAIN_NAME.fullmatch(name) else name
        return text.encode()[:63].decode(errors="ignore")

    def table_id(self, database: str, name: str, schema: str | None = None) -> TableId:
        """Tables without a schema are in `public`."""
        return TableId(self.identifier(database), self.identifier(name), self.identifier(schema or ddl.schema))
