"""drs-avro: Huawei Cloud DRS, "Avro": one record a message, in Avro's single-object encoding.

Spec: "Kafka Message Format" (page of 2024-03-28), whose schema is distributed as record.rar; here from the vendor's
generated class (see `record`). What the fields hold is told by the vendor's reader, `Avro2Json` of the MRS samples,
as far as it reads them:

| field | holds | known from |
| --- | --- | --- |
| version | "1.0" | decided here |
| seqno, eventid | the id of drs-json, as a number and as text | decided here |
| shardId | 0 | decided here |
| updateTimestamp | es of drs-json | the reader makes it ts_ms |
| tableName | "db"."table", quoted | the reader takes quotes away |
| operation | INSERT, UPDATE, DELETE, DDL; rows of the full load are INSERT (`full_sync_op=INIT`) | its doc |
| columnCount, fields | the columns in table order, with the sqlType of drs-json | the reader goes by index |
| beforeImages, afterImages | a value per column; null without the image | the reader |

Decided here: DDL has no fields, and its statement is the only value after the change; which class the values of a type
have (all but datetime, which is Date, and blob, which is BinaryObject: the schema's comments say so). There is no
database but in tableName. PostgreSQL's infinities are the first and the last moment of 64 bits of microseconds. A NULL
and a column that was not logged are the same.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, PackedBatch
from simulator.delivery.routing import fill
from simulator.formats.drs import envelope as drs
from simulator.formats.drs import fields as drs_fields
from simulator.formats.drs import record as drs_record
from simulator.formats.drs.envelope import System
from simulator.formats.drs.images import Shown, logged
from simulator.formats.drs.options import AvroOptions
from simulator.formats.drs.record import Image
from simulator.formats.drs.systems import system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.model import READ, Column, Event, Kind, SchemaChange, Table
from simulator.wire import avro
from simulator.wire.fields import plain

VERSION: Final = "1.0"
SHARD: Final = 0
# A union with null: its first branch, or its second with what follows; and the end of an array's blocks.
NULL, THERE, END = avro.long(0), avro.long(1), avro.long(0)


class Records:
    """Writes records: what is the same for all rows of a table version once, and a column of bytes for each value."""

    def __init__(self, settings: drs.DrsSettings, system: System) -> None:
        self._settings, self._system, self._logged = settings, system, logged(settings, system)
        self._words = {**drs_fields.WORDS, READ: settings.options.full_sync_op}
        self._quoted = system.table_text.replace("{", '"{').replace("}", '}"')
        self._images: dict[tuple[int, Kind | None], tuple[Column, Image]] = {}
        self._heads: dict[tuple[int, Kind], tuple[Table, bytes]] = {}

    def encode(self, packed: PackedBatch) -> pa.Array:
        """One record per message."""
        batch, count = packed.changes, len(packed)
        pieces = [
            drs_record.FRAME + avro.string(VERSION),
            avro.longs(batch.envelope.offset),
            avro.long(SHARD),
            avro.strings(pa.array(batch.envelope.offset).cast(pa.string())),
            avro.longs(drs_fields.batch_time(batch)),
            self._head(batch.table, batch.kind),
        ]
        for image in self._images_of(batch):
            pieces += [NULL] if image is None else [THERE, *image]
        return avro.join(pieces, count)

    def _images_of(self, batch: ChangeBatch) -> list[list[avro.Bytes] | None]:
        """The arrays of beforeImages and of afterImages; None where there is no such image."""
        columns = self._system.columns(batch.table, self._settings)
        after, before = dict[int, pa.Array](), dict[int, pa.Array]()
        shown = None
        if batch.after is not None:
            shown = self._logged.after(batch)
            after = {i: self._values(batch, i, batch.after[i], shown) for i in columns}
        if batch.before is not None:
            old = self._logged.before(batch)
            for i in columns:
                # a column that nothing changed has the bytes of its after image
                same = i in after and shown is None and old is None and batch.before[i] is None
                before[i] = after[i] if same else self._values(batch, i, batch.full_before(i), old)
        size = avro.long(len(columns))
        return [
            None if none else [size, *values.values(), END] if values else [END]
            for none, values in ((batch.before is None, before), (batch.after is None, after))
        ]

    def _head(self, table: Table, kind: Kind) -> bytes:
        """tableName, operation, columnCount and fields."""
        key = (id(table), kind)
        if key not in self._heads:
            self._system.check(table, "drs-avro")
            places = self._system.columns(table, self._settings)
            fields = [
                avro.string(column.name) + avro.long(self._system.code(column))
                for column in (table.columns[place] for place in places)
            ]
            count = avro.long(len(places))
            columns = count + b"".join(fields) + END if places else END
            name = fill(self._quoted, database=table.id.database, schema=table.id.schema, table=table.id.name)
            head = THERE + avro.string(name) + avro.string(self._words[kind]) + count + THERE + columns
            self._heads[key] = (table, head)  # keeps the table alive, so that its id stays its own
        return self._heads[key][1]

    def _values(self, batch: ChangeBatch, place: int, array: pa.Array, shown: Shown) -> pa.Array:
        """A column of an image; what is not logged is like a null."""
        column, kind = batch.table.columns[place], batch.kind if batch.kind in self._system.kinds else None
        key = (id(column), kind)
        if key not in self._images:
            self._images[key] = (column, self._system.image(column, self._settings, kind))
        values = self._images[key][1](array)
        if shown is None:
            return values
        logged = np.zeros(len(batch), dtype=bool)
        if (rows := shown[place]) is not None:
            logged[rows] = True
        return pc.if_else(pa.array(logged), values, pa.scalar(NULL, pa.binary()))

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """A DDL statement: its text is the only value after the change."""
        assert isinstance(event, SchemaChange)
        statement = avro.long(2) + avro.string(drs_record.CHARSET) + avro.string(event.sql)
        return b"".join(
            [
                drs_record.FRAME + avro.string(VERSION),
                avro.long(event.offset) + avro.long(SHARD) + avro.string(str(event.offset)),
                avro.long(drs_fields.single_time(event)),
                NULL + avro.string("DDL") + avro.long(0),
                NULL + NULL,  # no fields, nothing before
                THERE + avro.long(1) + statement + END,
            ]
        )

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """As drs-json prints it: messages of both formats have the same keys."""
        return plain(self._system.cell(column, self._settings, None).text(array))


def layout(settings: Settings[AvroOptions]) -> Layout:
    """Raises NotOffered for MongoDB, of which the record has no values."""
    complete = drs.complete(settings)
    system = system_of(complete, FORMAT.id)
    container = avro.Container(drs_record.schema(), len(drs_record.FRAME))
    return drs.layout(complete, FORMAT.id, system, Records(complete, system), container)


FORMAT = Format(
    id="drs-avro",
    title="DRS Avro",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("gaussdb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
