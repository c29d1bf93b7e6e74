"""drs-avro: Huawei Cloud DRS, "Avro": a message holds one record in Avro's single-object encoding.

Spec: "Kafka Message Format" (page of 2024-03-28), whose schema the vendor distributes as record.rar; here it comes from
the vendor's generated class (see `record`). The vendor's reader, `Avro2Json` of the MRS samples, shows what it expects:

| field | content | known from |
| --- | --- | --- |
| version | "1.0" | decided here |
| seqno, eventid | the id of drs-json, as a number and as text | decided here |
| shardId | 0 | decided here |
| updateTimestamp | es of drs-json | the reader makes it ts_ms |
| tableName | "db"."table", quoted | the reader removes quotes |
| operation | INSERT, UPDATE, DELETE, DDL; of the full load INSERT (`full_sync_op=INIT`) | the schema's comment |
| columnCount, fields | the columns in table order, with the sqlType of drs-json | the reader goes by index |
| beforeImages, afterImages | a value per column; null without the image | the reader |

Decided here: DDL has no fields, and its statement is the only value of afterImages; the classes of values (the schema's
comments give two: Date for datetime, BinaryObject for blob). Only tableName names the database. PostgreSQL's infinities
are the first and the last timestamp of 64 bits of microseconds. NULL and a column that was not logged are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.delivery.routing import fill
from simulator.formats.drs import record, task
from simulator.formats.drs.fields import WORDS, event_time, event_times
from simulator.formats.drs.options import AvroOptions
from simulator.formats.drs.record import Values
from simulator.formats.drs.systems import tables_of
from simulator.formats.drs.systems.system import TableSystem
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.known import MILLISECONDS
from simulator.formats.logged import LoggedRows, in_after, in_before
from simulator.model import READ, Column, Event, Kind, SchemaChange, Table
from simulator.text.template import Choice
from simulator.wire import avro
from simulator.wire.fields import plain_text

VERSION: Final = "1.0"
SHARD: Final = 0
# A union with null: its first branch, or its second with what follows; and the end of an array's blocks.
NULL, PRESENT, END = avro.long(0), avro.long(1), avro.long(0)


@dataclass(frozen=True)
class Shape:
    """Parts that all records of a kind and table share: indexes and writers of their columns; tableName, operation,
    columnCount and fields."""

    values: Mapping[int, Values]
    head: bytes


class Records:
    """Writes records. Holds no state but a cache."""

    def __init__(self, options: AvroOptions, system: TableSystem) -> None:
        self._options, self._system = options, system
        self._words = {**WORDS, READ: options.full_sync_op}
        self._quoted = system.table_text.replace("{", '"{').replace("}", '}"')
        self._shapes: dict[tuple[Table, Kind], Shape] = {}

    def pieces(self, packed: PackedBatch) -> list[avro.Bytes]:
        """The pieces of one record per message."""
        batch = packed.changes
        shape = self._shape(batch.table, batch.kind)
        pieces: list[avro.Bytes] = [
            record.FRAME + avro.string(VERSION),
            avro.Longs(batch.envelope.offset),
            avro.long(SHARD),
            avro.Sized([pa.array(batch.envelope.offset)], len(batch)),
            avro.Longs(event_times(batch)),
            shape.head,
        ]
        for image in self._images(batch, shape.values):
            pieces += [NULL] if image is None else [PRESENT, *image]
        return pieces

    def _images(self, batch: ChangeBatch, values: Mapping[int, Values]) -> list[list[avro.Bytes] | None]:
        """The arrays of beforeImages and of afterImages; None without the image."""
        after, before = dict[int, list[avro.Bytes]](), dict[int, list[avro.Bytes]]()
        after_rows = before_rows = None
        if batch.after is not None:
            after_rows = in_after(batch)
            after = {i: column(write(batch.after[i]), after_rows, i, len(batch)) for i, write in values.items()}
        if batch.before is not None:
            before_rows = in_before(batch)
            for i, write in values.items():
                # an unchanged column has the bytes of its after image
                same = i in after and after_rows is None and before_rows is None and batch.before[i] is None
                before[i] = after[i] if same else column(write(batch.full_before(i)), before_rows, i, len(batch))
        size = avro.long(len(values))
        return [
            None if missing else [size, *chain.from_iterable(image.values()), END] if image else [END]
            for missing, image in ((batch.before is None, before), (batch.after is None, after))
        ]

    def _shape(self, table: Table, kind: Kind) -> Shape:
        key = (table, kind)
        if key not in self._shapes:
            self._system.check(table, FORMAT.id)
            columns = {i: table.columns[i] for i in self._system.columns(table)}
            of_kind = kind if kind in self._system.kinds else None
            values = {i: self._system.values(column, self._options, of_kind) for i, column in columns.items()}
            count = avro.long(len(columns))
            fields = [avro.string(column.name) + avro.long(self._system.code(column)) for column in columns.values()]
            array = count + b"".join(fields) + END if fields else END
            name = fill(self._quoted, database=table.id.database, schema=table.id.schema, table=table.id.name)
            head = PRESENT + avro.string(name) + avro.string(self._words[kind]) + count + PRESENT + array
            self._shapes[key] = Shape(values, head)
        return self._shapes[key]

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """A DDL statement: its text is the only value of afterImages."""
        assert isinstance(event, SchemaChange)
        statement = avro.long(2) + avro.string(record.CHARSET) + avro.string(event.sql)
        return b"".join(
            [
                record.FRAME + avro.string(VERSION),
                avro.long(event.offset) + avro.long(SHARD) + avro.string(str(event.offset)),
                avro.long(event_time(event)),
                NULL + avro.string("DDL") + avro.long(0),
                NULL + NULL,  # no fields, no beforeImages
                PRESENT + avro.long(1) + statement + END,
            ]
        )

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """The text that drs-json prints: messages of both formats have the same keys."""
        return plain_text(self._system.cell(column, self._options, None), array)


def column(values: list[avro.Bytes], logged: LoggedRows, i: int, count: int) -> list[avro.Bytes]:
    """A column of an image, with null where the log does not hold it."""
    if logged is None:
        return values
    rows, slots = logged[i], np.full(count, -1, dtype=np.int32)
    if rows is not None:
        slots[rows] = rows
    return [Choice(values, slots, NULL, count)]


def layout(settings: Settings[AvroOptions]) -> Layout:
    """The format's layout. Raises NotOffered for MongoDB: the record has no values for documents."""
    system = tables_of(settings, FORMAT.id)
    container = avro.Container(record.schema(), len(record.FRAME))
    return task.layout(settings, FORMAT.id, system, Records(settings.options, system), container, unit_us=MILLISECONDS)


FORMAT = Format(
    id="drs-avro",
    title="DRS Avro",
    product=task.PRODUCT,
    spec=task.SPEC,
    sources=("gaussdb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka",),
    sends=task.SENDS,
    silent=task.SILENT,
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
