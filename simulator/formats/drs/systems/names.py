"""Characters that DRS refuses in names of databases, tables and columns: it checks them before a task begins.

Spec: the pages "From MySQL to Kafka", "From Oracle to Kafka" (2022), "From PostgreSQL to Kafka" (2025-12), "From
GaussDB Distributed to Kafka", "From Microsoft SQL Server to Kafka" (2025-02) and "From DDS to Kafka" (2024-11): each
lists what the patterns of its system name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.errors import NotOffered
from simulator.model import Table


@dataclass(frozen=True)
class Names:
    """Patterns of refused characters in names of databases, of tables and their schemas, and of columns; "": none."""

    database: str = ""
    table: str = ""
    column: str = ""

    def check(self, table: Table, format: str, title: str) -> None:
        """Raises NotOffered for a name that DRS refuses."""
        for noun, name, pattern in self._names(table):
            if pattern and (refused := re.search(pattern, name)):
                raise NotOffered(
                    f"-f {format}: the {noun} {name!r} holds {refused[0]!r}, which DRS refuses in names of {title}: "
                    "rename it, or use another format."
                )

    def _names(self, table: Table) -> Iterator[tuple[str, str, str]]:
        yield "database", table.id.database, self.database
        yield "schema", table.id.schema, self.table
        yield "table", table.id.name, self.table
        for column in table.columns:
            yield "column", column.name, self.column


ANY: Final = Names()
