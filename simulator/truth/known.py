"""Rows as a consumer of a format can know them: without the tables, columns and digits that messages do not carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from simulator.formats.format import Codec
from simulator.formats.known import nothing
from simulator.model import INSERT, Column, Table, TableId
from simulator.stream.engine.block import Stream


@dataclass(frozen=True)
class KnownRows:
    """The rows that a consumer of a codec's messages can hold; `unsent` tables have none. `format`: the value of
    `-f`."""

    format: str
    codec: Codec
    unsent: Collection[TableId] = ()

    def columns(self, table: Table) -> Sequence[int]:
        """Indexes of the columns that it can know; empty for a table that is not sent."""
        layout = self.codec.layout
        if table.id in self.unsent:
            return ()
        sent = layout.writer.columns(table, INSERT)
        positions = range(len(table.columns)) if sent is None else sorted(sent)
        return [i for i in positions if layout.known is None or layout.known(table.columns[i]) is not nothing]

    def rows(self, table: Table, values: Sequence[pa.Array]) -> tuple[list[Column], list[pa.Array]]:
        """The columns and their values, reduced to the part that messages carry."""
        reduce_of = self.codec.layout.known
        positions = self.columns(table)
        columns = [table.columns[i] for i in positions]
        reducers = [None if reduce_of is None else reduce_of(column) for column in columns]
        return columns, [
            values[i] if change is None else change(values[i]) for i, change in zip(positions, reducers, strict=True)
        ]

    def differ(self, stream: Stream) -> bool:
        """Tests whether the rows differ from those of the stream's tables, now or after a schema change."""
        reduce_of = self.codec.layout.known
        return any(
            len(self.columns(table)) < len(table.columns)
            or any(reduce_of and reduce_of(column) for column in table.columns)
            for table in stream.tables_from(0)
        )
