"""The connectors for MySQL and MariaDB (`MySqlConnector`, `MariaDbConnector`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.delivery.redelivery import Redelivery
from simulator.delivery.steps import Changes, Step
from simulator.delivery.steps.queries import with_queries
from simulator.formats.debezium.connectors.connector import DdlConnector, Published, SnapshotOpened
from simulator.formats.debezium.connectors.mysql import defaults, statements
from simulator.formats.debezium.connectors.mysql.converters import Converters
from simulator.formats.debezium.connectors.mysql.literals import literal_text
from simulator.formats.debezium.connectors.mysql.rows import row_numbers, row_pieces
from simulator.formats.debezium.connectors.mysql.types import default, definition, enum_values
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT32, INT64, STRING, Schema, optional
from simulator.formats.debezium.values.cells import Converted
from simulator.formats.members import TABLE, by_row, per_entry, query_texts, whole_seconds
from simulator.formats.redelivery import DEBEZIUM_BINLOG, DEBEZIUM_GTID
from simulator.model import (
    DDL,
    MARKS,
    READ,
    ROW_KINDS,
    Column,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TransactionHeader,
)
from simulator.sources.log import Entries, entries, entry
from simulator.sources.mysql.log import MariadbLog, MysqlLog
from simulator.sources.source import Source
from simulator.text.template import join
from simulator.wire.fields import Field, PerChange, PerEvent

# The default collation of a server whose character set is utf8mb4.
COLLATIONS: Final = {"mysql-8.0": "utf8mb4_0900_ai_ci"}


def branches_apart(changes: Changes) -> Changes:
    """Puts changes of XA transactions into batches of their own, without the begin and end of these: the connector
    knows a transaction by its BEGIN, and XA START is none."""
    batches = []
    for batch in changes.batches:
        branch = _in_branch(batch)
        parts = [np.flatnonzero(~branch), np.flatnonzero(branch & (batch.kind not in MARKS))]
        batches += [batch if len(rows) == len(batch) else batch.take(rows) for rows in parts if len(rows)]
    return replace(changes, batches=batches)


def _in_branch(batch: ChangeBatch) -> npt.NDArray[np.bool_]:
    """Mask of the changes, or marks, of XA transactions."""
    headers = batch.envelope.header
    if headers is None:
        return np.zeros(len(batch), bool)
    return np.array([isinstance(header, TransactionHeader) and header.xa for header in headers], bool)


class MysqlConnector(DdlConnector):
    name: ClassVar[str] = "mysql"
    has_branches: ClassVar[bool] = True  # XA START begins no transaction
    omitted_in_index: ClassVar[re.Pattern[str] | None] = statements.BEFORE_UNIQUE
    java_class: ClassVar[str] = "io.debezium.connector.mysql.MySqlConnector"
    parts: ClassVar[str] = "{database}.{table}"
    source_schemas: ClassVar[Sequence[tuple[str, Schema]]] = (
        ("table", optional(STRING)),
        ("server_id", INT64),
        ("gtid", optional(STRING)),
        ("file", STRING),
        ("pos", INT64),
        ("row", INT32),
        ("thread", optional(INT64)),
        ("query", optional(STRING)),
    )

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        super().__init__(options, source, numeric=numeric)
        self._converters = Converters(options, source, numeric=numeric)
        assert isinstance(source.log, MysqlLog)
        self.log = source.log

    @property
    def steps(self) -> tuple[Step, ...]:
        branches = (branches_apart,) if self.has_branches else ()
        return (*branches, row_numbers(self.log), *((with_queries(self.source),) if self.options.query else ()))

    @property
    def has_gtids(self) -> bool:
        return self.options.gtid

    @property
    def redelivery(self) -> Redelivery:
        return DEBEZIUM_GTID if self.has_gtids else DEBEZIUM_BINLOG

    def source_ms(self, event_ms: Any) -> Any:
        """Time at the source: seconds; with GTIDs the milliseconds of the commit in the log (not in snapshot rows)."""
        return event_ms if self.has_gtids else whole_seconds(event_ms)

    def source_fields(self) -> Sequence[Field]:
        logged: dict[Any, Any] = dict.fromkeys((*ROW_KINDS, DDL), per_entry(self._gtid) if self.has_gtids else None)
        thread = None if self._thread() is None else PerChange(self._row_threads)
        return (
            Field("table", by_row(TABLE, PerEvent(lambda event: event.table_names))),
            Field("server_id", by_row(self.options.server_id, PerEvent(self._server_id)) | {READ: 0}),
            Field("gtid", {**logged, READ: None}),
            Field("file", by_row(per_entry(self.log.file), per_entry(self.log.file))),
            Field("pos", by_row(per_entry(self.log.offset), per_entry(self.log.offset))),
            Field("row", by_row(PerChange(row_pieces), PerEvent(lambda event: event.row))),
            Field("thread", {**dict.fromkeys(ROW_KINDS, thread), READ: None, DDL: PerEvent(self._ddl_thread)}),
            Field("query", by_row(PerChange(query_texts) if self.options.query else None) | {READ: None}),
        )

    def _server_id(self, event: SchemaChange) -> int:
        return self.options.server_id if event.order.phase else 0

    def is_alone(self, batch: ChangeBatch) -> bool:
        return self.has_branches and bool(_in_branch(batch)[:1].any())

    def _thread(self) -> Any:
        return per_entry(self.log.thread)

    def _row_threads(self, batch: ChangeBatch) -> Any:
        """The connections of changes; unknown without a BEGIN."""
        return ["null"] if self.is_alone(batch) else self.log.thread(entries(batch.envelope))

    def _ddl_thread(self, event: SchemaChange) -> int | None:
        """Null for statements, except CREATE TABLE … SELECT, which begins a transaction."""
        begins = self._thread() is not None and event.sql.endswith("START TRANSACTION")
        return int(self.log.thread(entry(event))[0]) if begins else None

    def _gtid(self, entries: Entries) -> pa.Array:
        return self.log.gtid(entries, self.options.server_uuid)

    def convert(self, column: Column, *, snapshot: bool) -> Converted:
        return self._converters.column(column, snapshot=snapshot)

    def transaction_id(self, entries: Entries) -> pa.Array:
        """The GTID, or the position of the transaction's BEGIN."""
        if self.has_gtids:
            return self._gtid(entries)
        begin = entries.begin
        return join(["file=", self.log.file(begin), ",pos=", pa.array(self.log.offset(begin))], len(entries))

    def published(self, event: SchemaChange) -> Iterator[Published]:
        if isinstance(event, SnapshotOpened):
            return statements.opened(event, COLLATIONS.get(str(self.source), "utf8mb4_general_ci"))
        return statements.published(event, self.table_key, self.omitted_in_index)

    @property
    def statements(self) -> frozenset[SchemaChangeKind]:
        return frozenset(SchemaChangeKind) - statements.SILENT

    def described(self, column: Column, table: Table, position: int) -> dict[str, Any]:
        read = definition(column, self.source, table)
        numbered = column.auto_increment or column.on_update
        return {
            "name": column.name,
            "jdbcType": read.jdbc,
            "nativeType": None,
            "typeName": read.name,
            "typeExpression": read.name,
            "charsetName": read.charset,
            "length": read.length,
            "scale": read.scale,
            "position": position,
            "optional": column.nullable,
            "autoIncremented": numbered,
            "generated": numbered,
            "comment": self.comment(column.comment),
            "defaultValueExpression": defaults.text(column),
            "enumValues": enum_values(column),
        }

    def comment(self, literal: str) -> str | None:
        return literal_text(literal) or None if self.options.schema_comments else None

    def source_type(self, column: Column) -> tuple[str, int | None, int | None]:
        read = definition(column, self.source)
        return read.name, read.length, read.scale

    def table_key(self, table: Table) -> tuple[str, ...]:
        """The key that the parser knows, else the primary key, else the first unique key without nulls."""
        return table.row_key if table.text_key is None else table.text_key

    def table_charset(self, table: Table) -> str | None:
        return default(table)


class MariadbConnector(MysqlConnector):
    """GTIDs are always present, with times in whole seconds; connections are not reported. They begin transactions."""

    name: ClassVar[str] = "mariadb"
    has_branches: ClassVar[bool] = False
    omitted_in_index: ClassVar[re.Pattern[str] | None] = None
    java_class: ClassVar[str] = "io.debezium.connector.mariadb.MariaDbConnector"

    @property
    def has_gtids(self) -> bool:
        return True

    def source_ms(self, event_ms: Any) -> Any:
        return whole_seconds(event_ms)

    def _thread(self) -> Any:
        return None

    def _gtid(self, entries: Entries) -> pa.Array:
        assert isinstance(self.log, MariadbLog)
        return self.log.gtid(entries)
