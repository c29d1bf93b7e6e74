"""cloudcanal-dts-avro: "Aliyun DTS Avro" as CloudCanal writes it (`ALIYUN_DTS_AVRO_FOR_MQ`), for Kafka alone.

Page: "Message Format", which leaves the schema to DTS; release note 2.2.1.0: "compatible, and an attribute isPk is
added". Stands on dts-avro, whose numbers and value records of types it has for every source; openGauss's own types
have the numbers of its catalogue, OceanBase's Oracle mode has Oracle's. Differs in:

* there are inserts, updates, deletes and DDL, but no BEGIN, COMMIT, HEARTBEAT, NOOP; rows of the full load are INSERT,
  as in the product's other formats (`init_op=INIT`: as DTS);
* where isPk stands is not published. The schema is DTS's, which all of its readers read, and the key is in the tag
  pk_uk_info, as DTS has it; `ispk_field=on` appends isPk to the records of fields (`dts_record.avsc`), which
  DTS's readers cannot read;
* old documents of MongoDB are whole, as in the product's other formats;
* topics, partitions, keys and DDL are those of CloudCanal's other formats.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Literal

from simulator.formats.cloudcanal.metadata import metadata
from simulator.formats.cloudcanal.options import AvroOptions, CommonOptions
from simulator.formats.cloudcanal.routing import routing
from simulator.formats.cloudcanal.statements import published
from simulator.formats.cloudcanal.systems import PRODUCT, SOURCES, SPEC
from simulator.formats.cloudcanal.values.cells import cell
from simulator.formats.dts.options import RecordOptions
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record.writer import OPERATIONS, Writer
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.options import shared
from simulator.formats.redelivery import CLOUDCANAL
from simulator.formats.writing import OneMessage, opens_snapshot
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Column, Table
from simulator.wire.avro import Container


def schema(variant: str, *, ispk: bool) -> str:
    """The schema as JSON text: DTS's, or one with `isPk` in each field."""
    if not ispk:
        return dts_record.schema(variant)
    text = files("simulator.formats.cloudcanal").joinpath("dts_record.avsc").read_text(encoding="utf-8")
    record = json.loads(text)
    if variant == "A":
        record["fields"] = [field for field in record["fields"] if field["name"] != "bornTimestamp"]
    return json.dumps(record, separators=(",", ":"))


def is_key(table: Table, column: Column) -> bytes:
    """The member `isPk`, a boolean."""
    return b"\x01" if column.name in table.primary_key else b"\x00"


def layout(settings: Settings[AvroOptions]) -> Layout:
    options = settings.options
    # texts that are hashed look as in the product's JSON formats
    texts = Settings(shared(options, CommonOptions), settings.source, settings.broker)
    row_image: Literal["full", "minimal"] = "minimal" if options.minimal else "full"
    record = shared(options, RecordOptions, row_image=row_image, mongodb_before="document")
    values = Writer(
        record,
        settings.source,
        lambda column: cell(column, texts),
        format=FORMAT.id,
        field_tail=is_key if options.ispk_field else None,
        operations={**OPERATIONS, READ: options.init_op},
    )
    return Layout(
        OneMessage(values, metadata(values, texts)),
        routing(texts),
        known=values.known,
        container=Container(schema(options.schema_variant, ispk=options.ispk_field)),
        statements=published(options),
        omits=opens_snapshot,
        redelivery=CLOUDCANAL,
    )


FORMAT = Format(
    id="cloudcanal-dts-avro",
    title="CloudCanal Aliyun DTS Avro",
    product=PRODUCT,
    spec=SPEC + "; Record.avsc of DTS",
    sources=SOURCES,
    brokers=("kafka",),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
