"""dts-avro: Alibaba Cloud DTS, "DTS Avro": what synchronisation writes to a queue, and all that change tracking does.

Spec: "Data storage formats in message queues" (page of 2026-02-07), which names the schema LioRoger/subscribe_example
`avro/Record.avsc`; "Use a Kafka client to consume tracked data" (types); the vendor's SDK and demo, which read them;
messages of 2020 to 2024 that people have printed. One message is one record from its first byte on: no magic byte.

| operation | objectName | fields | before | after | tags |
| --- | --- | --- | --- | --- | --- |
| INSERT, INIT | the table's | yes | null | row | of rows; INIT: pk_uk_info, metaVersion |
| UPDATE | the table's | yes | row | row | of rows |
| DELETE | the table's | yes | row | null | of rows |
| DDL | its database's or table's | null | null | the statement, a text | of statements |
| BEGIN, COMMIT, HEARTBEAT, NOOP | null | null | null | null | of the reader |

* Both images of an update are complete, unless `row_image=minimal` (`record/images`). NULL is the union's null.
* Records of MongoDB have a document and its key for columns, and commands are COMMAND (`record/documents`).
* `source_type=DRDS` has physical tables, the logical names in tags (`record/drds`); `source_type=PPAS` is PostgreSQL.
* `rds_hidden_pk=on`: tables of MySQL without a key have the hidden one of RDS, and pk_uk_info says that there is none.
* Change tracking (`product=subscription`) has no INIT, but BEGIN and COMMIT round each transaction, and heartbeats;
  whether synchronisation sends those is not known: it does not, unless `begin_commit=on` or `heartbeat=on`.
* `millis` of Timestamp and of DateTime are microseconds for MySQL and PostgreSQL, nanoseconds for other sources.
* sourceTimestamp is the commit's second, bornTimestamp the second when the product read it; a heartbeat has the time of
  the last commit before it.
* metaVersion is the CRC-32 of the table's name and fields: readers that cache fields by it must not meet others.
* NOOP (`noop=on`, instead of HEARTBEAT) is a record of 48 bytes, which the vendor's clients are told to ignore: its
  position is filled up with zeros.

Decided here, since nothing says it: ids are numbers of the record, with gaps; a connection is one of a few; DDL names
the database alone for CREATE TABLE, as the one printed message does, else its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.errors import OptionError
from simulator.formats.canal.json import switch
from simulator.formats.dts import canal_json as dts_canal_json
from simulator.formats.dts import delivery as dts_delivery
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record.writer import Writer
from simulator.formats.format import Format, Layout, Option, Settings
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, MARKS, READ, STATEMENT, UPDATE, Event, Heartbeat, Kind
from simulator.wire.avro import Container


class Timestamps:
    """A message's own time is the record's sourceTimestamp."""

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        event_ms = packed.changes.envelope.event_ms
        return {"timestamp_ms": pa.array(event_ms - event_ms % 1000)}

    def event(self, event: Event) -> Mapping[str, Any]:
        last_ms = event.last_ms if isinstance(event, Heartbeat) else None
        event_ms = event.event_ms if last_ms is None else last_ms
        return {"timestamp_ms": event_ms - event_ms % 1000}


def sends(settings: Settings) -> frozenset[Kind]:
    """What the product sends, and what is turned on."""
    tracking = settings["product"] == "subscription"
    found = {INSERT, UPDATE, DELETE, DDL} if tracking else {READ, INSERT, UPDATE, DELETE, DDL}
    for kinds, option in ((MARKS, "begin_commit"), ((HEARTBEAT,), "heartbeat")):
        if settings[option] if settings[option] is not None else tracking:
            found |= set(kinds)
    return frozenset(found | ({HEARTBEAT} if settings["noop"] else set()))


def layout(settings: Settings) -> Layout:
    """How records are written and where they go. Raises OptionError for a source_type of another source."""
    related = settings["source_type"]
    if related and not settings.source.startswith(f"{RELATED[related]}-"):
        raise OptionError(
            f"-f dts-avro,source_type={related}: it belongs to {RELATED[related]}, not {settings.source}."
        )
    parent = dts_canal_json.FORMAT.codec(settings.source).layout
    tracking = settings["product"] == "subscription"
    # "<region>_<instance>_<account>_version2", one partition, to keep the order of all
    routing = (
        dts_delivery.routing(settings, topic="cn_hangzhou_rm_bp1cdcsim_dts_version2", policies=("single",))
        if tracking
        else dts_delivery.routing(settings)
    )
    return Layout(
        fields=(),
        cell=parent.cell,
        style=parent.style,
        routing=routing,
        beside=Timestamps(),
        writer=Writer(settings, parent.cell),
        container=Container(
            dts_record.schema(settings["schema_variant"]), framing=5 if settings["framing"] == "confluent" else 0
        ),
        most_bytes=dts_delivery.MOST_BYTES,
        sends=sends(settings),
    )


# Other source types of the schema, and whose types and logs they have.
RELATED: Final = {"DRDS": "mysql", "PPAS": "postgresql"}


def source_type(text: str) -> str:
    if text not in RELATED:
        raise ValueError(f"it is {' or '.join(RELATED)}")
    return text


def number(text: str) -> int:
    if not text.isdigit() or int(text) >= 1 << 31:
        raise ValueError("it is a whole number from 0 to 2147483647")
    return int(text)


FORMAT = Format(
    id="dts-avro",
    title="DTS Avro",
    product="Alibaba Cloud DTS",
    spec="Data storage formats in message queues, 2026-02-07; Record.avsc",
    sources=("mariadb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset(Kind) - {STATEMENT},
    silent=frozenset(),
    options=(
        Option(
            "product",
            "sync",
            "Synchronisation to a queue, or change tracking, which has marks and heartbeats and no full load.",
            ("sync", "subscription"),
        ),
        Option("schema_variant", "B", "The schema's version; A has no bornTimestamp.", ("B", "A")),
        Option("born_unit", "s", "bornTimestamp in seconds, as messages have it, or in ms.", ("s", "ms")),
        Option("begin_commit", None, "BEGIN and COMMIT of transactions; default: by product.", parse=switch),
        Option("heartbeat", None, "Heartbeats; default: by product.", parse=switch),
        Option("noop", "off", "on: NOOP records of 48 bytes in place of heartbeats.", parse=switch),
        Option(
            "ddl_object",
            "table",
            "objectName of statements about a table that is there: the table's, or the database.",
            ("table", "db"),
        ),
        Option(
            "oracle_frac",
            "ns",
            "Fractions of Oracle and SQL Server: nanoseconds, or microseconds, which is what SDK 2.0 reads.",
            ("ns", "us"),
        ),
        Option(
            "source_type",
            None,
            "DRDS: MySQL as DRDS (PolarDB-X), whose tables are physical ones; PPAS: PostgreSQL as EDB's.",
            parse=source_type,
        ),
        Option(
            "row_image",
            "full",
            "Images as a log of whole rows has them, or one of keys and changed columns; other values are NONE.",
            ("full", "minimal"),
        ),
        Option(
            "rds_hidden_pk",
            "off",
            "on: MySQL tables without a key have RDS's hidden one as last field.",
            parse=switch,
        ),
        Option(
            "mongodb_before",
            "id",
            "What is known of a MongoDB document as it was: its _id, or all of it, where pre-images are kept.",
            ("id", "document"),
        ),
        Option("framing", "raw", "The record alone, or behind a schema registry's five bytes.", ("raw", "confluent")),
        Option("schema_id", "1", "The schema's id in the registry, for framing=confluent.", parse=number),
        Option("gtid", "on", "on: MySQL has GTIDs; BEGIN and DDL carry them.", parse=switch),
        Option("server_uuid", "3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs."),
        Option("server_id", "1", "MySQL's server id, a tag."),
        Option("source_version", None, "The version that the source reports; default: one of the source's."),
        *dts_delivery.OPTIONS,
    ),
    layout=layout,
    binary=True,
)
