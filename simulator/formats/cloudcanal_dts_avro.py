"""cloudcanal-dts-avro: "Aliyun DTS Avro" as CloudCanal writes it (`ALIYUN_DTS_AVRO_FOR_MQ`), for Kafka alone.

Page: "Message Format", which leaves the schema to DTS; release note 2.2.1.0: "compatible, and an attribute isPk is
added". Stands on dts-avro. Differs in:

* inserts, updates, deletes and statements alone: no BEGIN, COMMIT, HEARTBEAT, NOOP; rows of the full load are INSERT,
  as in the product's other formats (`init_op=INIT`: as DTS);
* where isPk stands is not published. The schema is DTS's, which every reader of it reads, and the key is in the tag
  pk_uk_info, as DTS has it; `ispk_field=on` appends isPk to the records of fields (`cloudcanal_dts_record.avsc`), which
  DTS's readers cannot read;
* topics, partitions, keys and statements are those of CloudCanal's other formats; messages have no time of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from simulator.formats import cloudcanal, dts_record, dts_writer
from simulator.formats.canal_json import switch
from simulator.formats.cloudcanal_beside import beside
from simulator.formats.cloudcanal_values import cell
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, UPDATE, Column, Table
from simulator.wire.avro import Container
from simulator.wire.fields import Cell
from simulator.wire.format import Format, Layout, Option, Settings
from simulator.wire.json_style import FASTJSON2

# What DTS's own records have options for, and these have not.
FIXED: Final[Mapping[str, Any]] = {
    "framing": "raw",
    "noop": False,
    "oracle_frac": "ns",
    "mongodb_before": "id",
    "row_image": "full",
    "rds_hidden_pk": False,
    "source_type": None,
}


def schema(variant: str, *, ispk: bool) -> str:
    """The schema as JSON text: DTS's, or with `isPk` in each field."""
    if not ispk:
        return dts_record.schema(variant)
    text = files("simulator.formats").joinpath("cloudcanal_dts_record.avsc").read_text(encoding="utf-8")
    found = json.loads(text)
    if variant == "A":
        found["fields"] = [field for field in found["fields"] if field["name"] != "bornTimestamp"]
    return json.dumps(found, separators=(",", ":"))


def is_key(table: Table, column: Column) -> bytes:
    """The member `isPk`, a boolean."""
    return b"\x01" if column.name in table.primary_key else b"\x00"


def layout(settings: Settings) -> Layout:
    hashed = {option.name: option.value(FORMAT.id, None) for option in cloudcanal.VALUE_OPTIONS}
    settings = Settings({**FIXED, **hashed, **settings.values}, settings.source)

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
    sources=("mariadb", "mysql", "oceanbase-mysql"),
    brokers=("kafka",),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    options=(
        Option(
            "ispk_field", "off", "on: the records of fields have isPk, which DTS's readers do not read.", parse=switch
        ),
        Option("schema_variant", "B", "The schema's version; A has no bornTimestamp.", ("B", "A")),
        Option("born_unit", "s", "bornTimestamp in seconds or in ms.", ("s", "ms")),
        Option("init_op", "INSERT", "Operation of rows of the full load.", ("INSERT", "INIT")),
        Option(
            "ddl_object",
            "table",
            "objectName of statements about a table that is there: the table's, or the database.",
            ("table", "db"),
        ),
        Option("gtid", "on", "on: MySQL has GTIDs; statements carry them.", parse=switch),
        Option("server_uuid", "3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs."),
        Option("server_id", "1", "MySQL's server id, a tag."),
        Option("source_version", None, "The version that the source reports; default: one of the source's."),
        cloudcanal.DDL_OPTIONS[0],
        *cloudcanal.ROUTING_OPTIONS,
    ),
    layout=layout,
    binary=True,
)
