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
from typing import Any

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.errors import OptionError
from simulator.formats.dts import delivery as dts_delivery
from simulator.formats.dts.options import AvroOptions, TextOptions
from simulator.formats.dts.record import record as dts_record
from simulator.formats.dts.record.writer import Writer
from simulator.formats.dts.systems import SYSTEMS, system_of
from simulator.formats.format import Format, Layout, Settings
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


def sends(settings: Settings[AvroOptions]) -> frozenset[Kind]:
    """What the product sends, and what is turned on."""
    tracking = settings.options.product == "subscription"
    found = {INSERT, UPDATE, DELETE, DDL} if tracking else {READ, INSERT, UPDATE, DELETE, DDL}
    for kinds, given in ((MARKS, settings.options.begin_commit), ((HEARTBEAT,), settings.options.heartbeat)):
        if tracking if given is None else given:
            found |= set(kinds)
    return frozenset(found | ({HEARTBEAT} if settings.options.noop else set()))


def layout(settings: Settings[AvroOptions]) -> Layout:
    """How records are written and where they go. Raises OptionError for a source_type of another source."""
    system, source_type = system_of(settings.source), settings.options.source_type
    if source_type and source_type not in system.source_types:
        theirs = ", ".join(id for id, each in SYSTEMS.items() if source_type in each.source_types)
        raise OptionError(f"-f dts-avro,source_type={source_type}: it belongs to {theirs}, not {settings.source}.")
    # what is hashed looks as in the product's JSON
    texts = Settings(TextOptions(), settings.source)
    tracking = settings.options.product == "subscription"
    # "<region>_<instance>_<account>_version2", one partition, to keep the order of all
    routing = (
        dts_delivery.routing(settings, topic="cn_hangzhou_rm_bp1cdcsim_dts_version2", only_one=True)
        if tracking
        else dts_delivery.routing(settings)
    )
    return Layout(
        Writer(settings, lambda column: system.cell(column, texts)),
        routing,
        metadata=Timestamps(),
        container=Container(
            dts_record.schema(settings.options.schema_variant),
            framing=5 if settings.options.framing == "confluent" else 0,
        ),
        complete=dts_delivery.refuse_large(FORMAT.id),
        sends=sends(settings),
    )


FORMAT = Format(
    id="dts-avro",
    title="DTS Avro",
    product=dts_delivery.PRODUCT,
    spec="Data storage formats in message queues, 2026-02-07; Record.avsc",
    sources=("mariadb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset(Kind) - {STATEMENT},
    silent=frozenset(),
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
