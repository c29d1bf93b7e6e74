"""The envelope of row changes: members and schemas around the rows (`Envelope`, `AbstractSourceInfoStructMaker`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from simulator.batch import ChangeBatch
from simulator.formats.debezium.connectors.connector import Connector
from simulator.formats.debezium.names import Names
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT64, STRING, Schema, optional, semantic, struct
from simulator.formats.debezium.snapshots import snapshot_marks
from simulator.formats.members import DATABASE, by_row
from simulator.model import DDL, DELETE, INSERT, READ, ROW_KINDS, UPDATE, Column, Kind, Table
from simulator.wire.fields import Field, Members, PerChange, PerEvent, Rows

RELEASES: Final = {"3.6": "3.6.3.Final", "2.7": "2.7.4.Final", "2.5": "2.5.4.Final"}
OPERATIONS: Final = {READ: "r", INSERT: "c", UPDATE: "u", DELETE: "d"}
_MARKS: Final = "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
_MARKS_27: Final = "true,last,false,incremental"
TRANSACTION: Final = optional(
    struct({"id": STRING, "total_order": INT64, "data_collection_order": INT64}, "event.block", 1)
)


@dataclass(frozen=True)
class Envelopes:
    """Members and schemas of a connector's messages about rows."""

    options: ConnectorOptions
    connector: Connector
    names: Names

    @property
    def _nanoseconds(self) -> bool:
        return self.options.version != "2.5"

    # ------------------------------------------------------------------------------------------------------- schemas

    def source_schema(self) -> Schema:
        marks = _MARKS if self.options.version == "3.6" else _MARKS_27
        snapshot = semantic(STRING, "io.debezium.data.Enum", {"allowed": marks})
        finer = {"ts_us": optional(INT64), "ts_ns": optional(INT64)} if self._nanoseconds else {}
        return struct(
            (
                *{
                    "version": STRING,
                    "connector": STRING,
                    "name": STRING,
                    "ts_ms": INT64,
                    "snapshot": Schema(
                        snapshot.type, snapshot.name, 1, snapshot.parameters, optional=True, default='"false"'
                    ),
                    "db": STRING,
                    "sequence": optional(STRING),
                    **finer,
                }.items(),
                *self.connector.source_schemas,
            ),
            f"io.debezium.connector.{self.connector.package or self.connector.name}.Source",
            1 if self.options.version == "3.6" else None,
        )

    def row_schema(self, table: Table) -> Schema:
        """Schema of `before` and `after`."""
        columns = [table.columns[i] for i in self.connector.row_columns(table)]
        fields = [(self.names.field(column.name), self._column_schema(column, table)) for column in columns]
        return optional(struct(fields, self.names.schema(table.id, "Value")))

    def _column_schema(self, column: Column, table: Table) -> Schema:
        schema = self.connector.convert(column, snapshot=False).schema
        return replace(schema, parameters=(*schema.parameters, *self.connector.parameters(column, table)))

    def key_schema(self, table: Table) -> Schema:
        columns = [table.columns[i] for i in self.connector.key_columns(table)]
        fields = [(self.names.field(c.name), self.connector.convert(c, snapshot=False).schema) for c in columns]
        return struct(fields, self.names.schema(table.id, "Key"))

    def key_fields(self) -> tuple[Field, ...]:
        """The members of keys, if they are not the values of columns."""
        return ()

    def schema(self, table: Table) -> Schema:
        """Schema of a whole message."""
        row = self.row_schema(table)
        times = ("ts_ms", "ts_us", "ts_ns") if self._nanoseconds else ("ts_ms",)
        written = {name: optional(INT64) for name in times}
        head = {"before": row, "after": row, "source": self.source_schema()}
        tail = {"op": STRING, **written}
        members = {**head, "transaction": TRANSACTION, **tail}
        if self.options.version == "2.5":
            members = {**head, **tail, "transaction": TRANSACTION}
        return struct(members, self.names.schema(table.id, "Envelope"), 1 if self.options.version == "2.5" else 2)

    # -------------------------------------------------------------------------------------------------------- values

    def source(self) -> Members:
        """`source`."""
        ms = self.connector.source_ms
        marks: dict[Kind, Any] = {**dict.fromkeys((*ROW_KINDS, DDL), "false"), READ: self.snapshot_marks()}
        marks[DDL] = PerEvent(lambda event: "false" if event.order.phase else "true")
        head = [
            Field("version", RELEASES[self.options.version]),
            Field("connector", self.connector.name),
            Field("name", self.options.topic_prefix),
            Field("ts_ms", _event_time(ms, 0)),
            Field("snapshot", marks),
            Field("db", by_row(DATABASE, PerEvent(lambda event: event.database))),
            Field("sequence", self.connector.sequence()),
        ]
        if self._nanoseconds:
            head += [Field("ts_us", _event_time(ms, 3)), Field("ts_ns", _event_time(ms, 6))]
        return Members((*head, *self.connector.source_fields()))

    def snapshot_marks(self) -> PerChange:
        """`source.snapshot` of a snapshot's rows."""
        return PerChange(snapshot_marks)

    def payload(self, *, no_before: bool = False, alone: bool = False) -> tuple[Field, ...]:
        """The members of messages about rows and about TRUNCATE. `no_before`: the log does not hold the row before an
        update. `alone`: the changes belong to no transaction."""
        before, after = self.rows("before"), self.rows("after")
        head = [
            Field(
                "before", {**dict.fromkeys((READ, INSERT, DDL)), UPDATE: None if no_before else before, DELETE: before}
            ),
            Field("after", {**dict.fromkeys((DELETE, DDL)), READ: after, INSERT: after, UPDATE: after}),
            Field("source", self.source()),
        ]
        transaction = Field("transaction", None if alone else self._transaction())
        times = [Field("ts_ms", write_time(0))]
        if self._nanoseconds:
            times += [Field("ts_us", write_time(3)), Field("ts_ns", write_time(6))]
        operation = Field("op", {**OPERATIONS, DDL: "t"})
        if self.options.version == "2.5":
            return (*head, operation, *times, transaction)
        return (*head, transaction, operation, *times)

    def rows(self, image: Literal["before", "after"]) -> Rows:
        """A row as an object, without the columns that the connector leaves out."""
        connector = self.connector
        filtered = connector.options.included_columns or connector.options.excluded_columns
        all_columns = type(connector).columns is Connector.columns and not filtered
        return Rows(image, array=False, columns=None if all_columns else connector.row_columns)

    def _transaction(self) -> Mapping[Kind, Any] | None:
        if not self.options.transactions:
            return None
        block = Members(
            (
                Field("id", self.connector.transaction_member()),
                Field("total_order", PerChange(lambda batch: batch.envelope.place)),
                Field("data_collection_order", PerChange(_table_place)),
            )
        )
        return {**dict.fromkeys((INSERT, UPDATE, DELETE), block), READ: None, DDL: None}


def _table_place(batch: ChangeBatch) -> Any:
    places = batch.envelope.place_in_table
    return batch.envelope.place if places is None else places


def _event_time(of: Callable[[Any], Any], zeros: int) -> PerChange:
    return PerChange(
        lambda batch: of(batch.envelope.event_ms), lambda event: of(event.event_ms) * 10**zeros, zeros=zeros
    )


def write_time(zeros: int) -> PerChange:
    """When the connector handled the event: milliseconds followed by this number of zeros."""
    return PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms * 10**zeros, zeros=zeros)
