"""cloudcanal-dts-avro: "Aliyun DTS Avro" as CloudCanal writes it (`ALIYUN_DTS_AVRO_FOR_MQ`), for Kafka alone.

Page: "Message Format", which leaves the schema to DTS; release note 2.2.1.0: "compatible, and an attribute isPk is
added". Stands on dts-avro, whose numbers and value records of types it has for every source; openGauss's own types
have the numbers of its catalogue, OceanBase's Oracle mode has Oracle's. Differs in:

* inserts, updates, deletes and statements alone: no BEGIN, COMMIT, HEARTBEAT, NOOP; rows of the full load are INSERT,
  as in the product's other formats (`init_op=INIT`: as DTS);
* where isPk stands is not published. The schema is DTS's, which every reader of it reads, and the key is in the tag
  pk_uk_info, as DTS has it; `ispk_field=on` appends isPk to the records of fields (`dts_record.avsc`), which
  DTS's readers cannot read;
* old documents of MongoDB are whole, as in the product's other formats;
* topics, partitions, keys and statements are those of CloudCanal's other formats; messages have no time of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from simulator.formats.canal.json import switch
from simulator.formats.cloudcanal import envelope as cloudcanal
from simulator.formats.cloudcanal.metadata import beside
from simulator.formats.cloudcanal.values import cell
from simulator.formats.dts import avro as dts_avro
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record import writer as dts_writer
from simulator.formats.format import Format, Layout, Option, Settings
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Column, Table
from simulator.text.json_style import FASTJSON2
from simulator.wire.avro import Container
from simulator.wire.fields import Cell

# What DTS's own records have options for, and these have not.
FIXED: Final[Mapping[str, Any]] = {
    "framing": "raw",
    "noop": False,
    "mongodb_before": "document",
    "rds_hidden_pk": False,
    "rename_table": "old",
    "source_type": None,
}
# The options that are the same.
SHARED: Final = (
    "schema_variant", "born_unit", "ddl_object", "oracle_frac", "gtid", "server_uuid", "server_id", "source_version",
)  # fmt: skip


def schema(variant: str, *, ispk: bool) -> str:
    """The schema as JSON text: DTS's, or with `isPk` in each field."""
    if not ispk:
        return dts_record.schema(variant)
    text = files("simulator.formats.cloudcanal").joinpath("dts_record.avsc").read_text(encoding="utf-8")
    found = json.loads(text)
    if variant == "A":
        found["fields"] = [field for field in found["fields"] if field["name"] != "bornTimestamp"]
    return json.dumps(found, separators=(",", ":"))


def is_key(table: Table, column: Column) -> bytes:
    """The member `isPk`, a boolean."""
    return b"\x01" if column.name in table.primary_key else b"\x00"


def layout(settings: Settings) -> Layout:
    hashed = {option.name: option.value(FORMAT.id, None) for option in cloudcanal.VALUE_OPTIONS}
    own = {"row_image": "minimal" if settings["minimal"] else "full"}
    settings = Settings({**FIXED, **hashed, **own, **settings.values}, settings.source)

    def text(column: Column) -> Cell:
        return cell(column, settings)

    writer = dts_writer.Writer(
        settings,
        text,
        field_tail=is_key if settings["ispk_field"] else None,
        format=FORMAT.id,
        operations={**dts_writer.OPERATIONS, READ: settings["init_op"]},
    )
    return Layout(
        fields=(),
        cell=text,
        style=FASTJSON2,
        routing=cloudcanal.routing(settings),
        beside=beside(writer, settings),
        writer=writer,
        container=Container(schema(settings["schema_variant"], ispk=settings["ispk_field"])),
        statements=cloudcanal.statements(settings),
    )


FORMAT = Format(
    id="cloudcanal-dts-avro",
    title="CloudCanal Aliyun DTS Avro",
    product=cloudcanal.PRODUCT,
    spec=cloudcanal.SPEC + "; Record.avsc of DTS",
    sources=cloudcanal.SOURCES,
    brokers=("kafka",),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    options=(
        Option(
            "ispk_field", "off", "on: the records of fields have isPk, which DTS's readers do not read.", parse=switch
        ),
        Option("init_op", "INSERT", "Operation of rows of the full load.", ("INSERT", "INIT")),
        *(option for option in dts_avro.FORMAT.options if option.name in SHARED),
        cloudcanal.MINIMAL,
        cloudcanal.DDL_OPTIONS[0],
        *cloudcanal.ROUTING_OPTIONS,
    ),
    layout=layout,
    binary=True,
)
