"""drs-avro: Huawei Cloud DRS, "Avro": one record a message, in Avro's single-object encoding.

Spec: "Kafka Message Format" (page of 2024-03-28), whose schema is distributed as record.rar; here from the vendor's
generated class (see `drs_record`). What the fields hold is told by the vendor's reader, `Avro2Json` of the MRS samples,
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
database but in tableName. A NULL and a column that was not logged are the same.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats import drs, drs_json, drs_record
from simulator.formats.drs import System
from simulator.formats.drs_record import Image
from simulator.formats.drs_systems import system_of
from simulator.model import READ, Column, Event, Kind, SchemaChange, Table
from simulator.routing import fill
from simulator.wire import avro, json_style
from simulator.wire.fields import plain
from simulator.wire.format import Format, Layout, Option, Settings

VERSION: Final = "1.0"
SHARD: Final = 0
# A union with null: its first branch, or its second with what follows; and the end of an array's blocks.
NULL, THERE, END = avro.long(0), avro.long(1), avro.long(0)


class Records:
    """Writes records: what is the same for all rows of a table version once, and a column of bytes for each value."""

    def __init__(self, settings: Settings, system: System) -> None:
        self._settings, self._system = settings, system
        self._words = {**drs_json.WORDS, READ: settings["full_sync_op"]}
        self._quoted = system.table_text.replace("{", '"{').replace("}", '}"')
        self._images: dict[tuple[int, bool], tuple[Column, Image]] = {}
        self._heads: dict[tuple[int, Kind], tuple[Table, bytes]] = {}

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        """One record per message, and `end` behind it."""
        batch, count = packed.changes, len(packed)
        pieces = [
            drs_record.FRAME + avro.string(VERSION),
            avro.longs(batch.envelope.offset),
            avro.long(SHARD),
            avro.strings(pa.array(batch.envelope.offset).cast(pa.string())),
            avro.longs(drs_json.batch_time(batch)),
            self._head(batch.table, batch.kind),
        ]
        size = avro.long(len(batch.table.columns))
        columns = range(len(batch.table.columns))
        after = None
        if batch.after is not None:
            after = [self._values(batch, i, batch.after[i]) for i in columns]
        before = None
        if batch.before is not None:
            # a column that nothing changed has the bytes of its after image
            before = [
                after[i]
                if after is not None and batch.before[i] is None
                else self._values(batch, i, batch.full_before(i))
                for i in columns
            ]
        for image in (before, after):
            pieces += [NULL] if image is None else [THERE + size, *image, END] if image else [THERE + END]
        return avro.join([*pieces, end.encode()], count)

    def _head(self, table: Table, kind: Kind) -> bytes:
        """tableName, operation, columnCount and fields."""
        key = (id(table), kind)
        if key not in self._heads:
            columns = b"".join(
                avro.string(column.name) + avro.long(self._system.code(column)) for column in table.columns
            )
            count = avro.long(len(table.columns))
            name = fill(self._quoted, database=table.id.database, schema=table.id.schema, table=table.id.name)
            head = THERE + avro.string(name) + avro.string(self._words[kind]) + count + THERE + count + columns + END
            self._heads[key] = (table, head)  # keeps the table alive, so that its id stays its own
        return self._heads[key][1]

    def _values(self, batch: ChangeBatch, place: int, array: pa.Array) -> pa.Array:
        column, full = batch.table.columns[place], batch.kind is READ
        key = (id(column), full)
        if key not in self._images:
            self._images[key] = (column, self._system.image(column, self._settings, batch.kind))
        return self._images[key][1](array)

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """A DDL statement: its text is the only value after the change."""
        assert isinstance(event, SchemaChange)
        statement = avro.long(2) + avro.string(drs_record.CHARSET) + avro.string(event.sql)
        return b"".join(
            [
                drs_record.FRAME + avro.string(VERSION),
                avro.long(event.offset) + avro.long(SHARD) + avro.string(str(event.offset)),
                avro.long(drs_json.single_time(event)),
                NULL + avro.string("DDL") + avro.long(0),
                NULL + NULL,  # no fields, nothing before
                THERE + avro.long(1) + statement + END,
            ]
        )

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """As drs-json prints it: messages of both formats have the same keys."""
        return plain(self._system.cell(column, self._settings, None).text(array))


def layout(settings: Settings) -> Layout:
    """Raises NotOffered for MongoDB, of which the record has no values."""
    settings = Settings({"timestamps": "epoch", **settings.values}, settings.source)
    system = system_of(settings.source, "drs-avro")
    return Layout(
        fields=(),
        cell=lambda column: system.cell(column, settings, None),
        style=json_style.HTML_SAFE,
        routing=drs.routing(settings, "drs-avro", system),
        writer=Records(settings, system),
        container=avro.Container(drs_record.schema(), len(drs_record.FRAME)),
        sends=drs.sends(settings, system),
        snapshot_ddl=True,
    )


FORMAT = Format(
    id="drs-avro",
    title="DRS Avro",
    product=drs.PRODUCT,
    spec=drs.SPEC,
    sources=("mysql",),
    brokers=("kafka",),
    sends=drs.SENDS,
    silent=drs.SILENT,
    options=(
        *(option for option in drs.OPTIONS if option.name != "column_order"),
        *drs.MYSQL_OPTIONS,
        Option("full_sync_op", "INSERT", "`operation` of rows of the full load.", ("INSERT", "INIT")),
    ),
    layout=layout,
    binary=True,
)
