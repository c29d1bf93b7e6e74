"""The connector for PostgreSQL, reading `pgoutput` (`PostgresConnector`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.steps import Step
from simulator.errors import OptionError
from simulator.formats.debezium.connectors.connector import Published, RelationalConnector, members_of
from simulator.formats.debezium.connectors.postgresql import source_types
from simulator.formats.debezium.connectors.postgresql.converters import Converters
from simulator.formats.debezium.connectors.postgresql.messages import counted_messages, log_messages
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT64, STRING, Schema, optional
from simulator.formats.debezium.values.cells import Converted
from simulator.formats.members import TABLE, by_row, per_entry
from simulator.model import READ, Column, Event, LoggedStatement, SchemaChange, SchemaChangeKind, Table, TableId
from simulator.sources.log import Entries, entries, entry
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.sources.source import Source
from simulator.text.json_style import quote
from simulator.text.template import Piece, join
from simulator.wire.fields import Field, PerChange, PerEvent, PerTable

# Prefix of a placeholder's bytes.
HEX: Final = "hex:"


class PostgresqlConnector(RelationalConnector):
    """The connector for PostgreSQL, which has no topic of schema changes."""

    name: ClassVar[str] = "postgresql"
    parts: ClassVar[str] = "{schema}.{table}"
    row_images: ClassVar[frozenset[str] | None] = None
    truncates_in_transaction: ClassVar[bool] = True

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        super().__init__(options, source, numeric=numeric)
        self._converters = Converters(options, source, numeric=numeric)
        self._placeholder = self._read_placeholder()
        self.log_messages = log_messages(options.binary_handling)
        assert isinstance(source.log, PostgresqlLog)
        self.log = source.log

    @property
    def steps(self) -> tuple[Step, ...]:
        return (counted_messages,)

    @property
    def placeholder(self) -> bytes:
        return self._placeholder

    def _read_placeholder(self) -> bytes:
        """The placeholder's bytes. Raises OptionError for invalid digits after `hex:`."""
        text = self.options.placeholder
        if not text.startswith(HEX):
            return text.encode()
        if not re.fullmatch(r"(?:[0-9A-Fa-f]{2})*", digits := text.removeprefix(HEX)):
            raise OptionError(
                f"unavailable.value.placeholder={text}: bytes stand behind {HEX}, two hexadecimal digits each, such as "
                f"{HEX}00ff."
            )
        return bytes.fromhex(digits)

    @property
    def source_schemas(self) -> Sequence[tuple[str, Schema]]:
        own = {
            "schema": STRING,
            "table": STRING,
            "txId": optional(INT64),
            "lsn": optional(INT64),
            "xmin": optional(INT64),
        }
        if self.options.version == "3.6":
            own |= {"origin": optional(STRING), "origin_lsn": optional(INT64)}
        return tuple(own.items())

    def source_fields(self) -> Sequence[Field]:
        schema = PerTable(lambda table, style: quote(table.id.schema, style))
        names = (
            Field("schema", by_row(schema, PerEvent(lambda event: _table_of(event).schema))),
            Field("table", by_row(TABLE, PerEvent(lambda event: _table_of(event).name))),
        )
        origin = [Field("origin", None), Field("origin_lsn", None)] if self.options.version == "3.6" else []
        return (
            *names,
            Field(
                "txId",
                by_row(per_entry(self.log.xid), PerEvent(lambda event: int(self.log.xid(entry(event))[0]) or None)),
            ),
            Field("lsn", by_row(per_entry(self.log.number), per_entry(self.log.number))),
            Field("xmin", None),
            *origin,
        )

    def sequence(self) -> Any:
        """The positions of the last commit and of the change."""

        def changes(batch: ChangeBatch) -> list[Piece]:
            log_entries = entries(batch.envelope)
            here = pa.array(self.log.number(log_entries))
            if batch.kind is READ:
                return ['"[null,\\"', here, '\\"]"']
            return ['"[\\"', pa.array(self.log.number(_last_commit(log_entries))), '\\",\\"', here, '\\"]"']

        def event(event: Event) -> str:
            log_entries = entry(event)
            return f'["{self.log.number(_last_commit(log_entries))[0]}","{self.log.number(log_entries)[0]}"]'

        return PerChange(changes, event)

    def convert(self, column: Column, *, snapshot: bool) -> Converted:
        converted = self._converters.column(column, snapshot=snapshot)
        assert converted is not None, column
        return converted

    def columns(self, table: Table) -> Sequence[int]:
        return tuple(i for i, column in enumerate(table.columns) if self._has(column))

    def _has(self, column: Column) -> bool:
        return self._converters.column(column) is not None

    def source_type(self, column: Column) -> tuple[str, int | None, int | None]:
        return source_types.described(column.type)

    def transaction_id(self, log_entries: Entries) -> pa.Array:
        """The transaction's number and the entry's own position."""
        return join(
            [pa.array(self.log.xid(log_entries)), ":", pa.array(self.log.number(log_entries))], len(log_entries)
        )

    def published(self, event: SchemaChange) -> Iterator[Published]:
        """One message per table of a TRUNCATE; the log has no other statements."""
        if event.statement is not SchemaChangeKind.TRUNCATE_TABLE:
            return
        members = members_of(event)
        for before, after in event.tables:
            table = after or before
            assert table is not None
            yield Published(**members | {"database": table.id.database}, truncated=table)

    def collection(self, table: TableId) -> str:
        return f"{table.schema}.{table.name}"


def _table_of(event: Published | LoggedStatement) -> TableId:
    """The table that a statement empties; a message has none."""
    truncated = getattr(event, "truncated", None)
    return TableId("", "") if truncated is None else truncated.id


def _last_commit(log_entries: Entries) -> Entries:
    """The commit of the previous transaction, which ends where the log continues."""
    one = np.ones_like(log_entries.txn)
    return (
        replace(log_entries, txn=log_entries.txn - 1, seq=2 * one, size=one)
        if log_entries.header is None
        else log_entries.begin
    )
