"""dts-avro: Alibaba Cloud DTS, "DTS Avro": one format of synchronisation to a queue, the only one of change tracking.

Spec: "Data storage formats in message queues" (page of 2026-02-07), which names the schema LioRoger/subscribe_example
`avro/Record.avsc`; "Use a Kafka client to consume tracked data" (types); the vendor's SDK and demo, which read records;
printed messages of 2020 to 2024. A message holds one record from its first byte on: no magic byte.

| operation | objectName | fields | before | after | tags |
| --- | --- | --- | --- | --- | --- |
| INSERT, INIT | the table's | yes | null | row | of rows; INIT: pk_uk_info, metaVersion |
| UPDATE | the table's | yes | row | row | of rows |
| DELETE | the table's | yes | row | null | of rows |
| DDL | its database's | null | null | the statement, a text | of statements |
| BEGIN, COMMIT, HEARTBEAT | null | null | null | null | see `record/tags` |
| NOOP | null | null | null | null | none |

* Both images of an update are complete, unless `row_image=minimal` (`record/images`). NULL is the union's null.
* MongoDB: records have a document and its key instead of columns, and commands are COMMAND (`record/documents`).
* `drds=on`: records name physical tables, with the logical names in tags (`record/drds`). They say MySQL, as the one
  printed message does. `source_type=DRDS` and `source_type=PPAS` say that instead of MySQL and PostgreSQL.
* `rds_hidden_pk=on`: MySQL tables without a key have the hidden one of RDS as last field; pk_uk_info is `{}`.
* Change tracking (`product=subscription`) has no INIT. It has BEGIN and COMMIT around each transaction, and heartbeats.
  Nothing says whether synchronisation sends these; it does not here, unless `begin_commit=on` or `heartbeat=on`.
* `millis` of Timestamp is microseconds; so is that of DateTime. Of sources other than MySQL and PostgreSQL SDK-fast
  takes it for nanoseconds (`oracle_frac=ns`), the SDKs 2.0.0 and 2.1.4 for microseconds; which the product writes is
  not published, and microseconds are decided here. NaN and Infinity of PostgreSQL's numeric are a Float.
* sourceTimestamp is the second of the commit, bornTimestamp the second when the product read the change. A heartbeat
  has the sourceTimestamp of the last commit before it.
* metaVersion is the CRC-32 of the table's name and fields: readers cache fields by it.
* NOOP (`noop=on`, instead of HEARTBEAT) is a record of 48 bytes, which the vendor's clients must ignore; zeros before
  its position fill it up.

* DDL names the database alone, as the one printed message does, a CREATE TABLE (`ddl_object=table`: an existing table).

Decided here, since nothing says it: ids number the records, with gaps; connections are a fixed few.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.delivery.steps.halves import counted_halves
from simulator.errors import OptionError
from simulator.formats.dts.delivery import PRODUCT, SPEC, STATEMENTS, Limited, routing
from simulator.formats.dts.options import AvroOptions, TextOptions
from simulator.formats.dts.record.record import schema
from simulator.formats.dts.record.writer import Writer
from simulator.formats.dts.systems import SYSTEMS, row, system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import whole_seconds
from simulator.formats.redelivery import DTS
from simulator.formats.writing import opens_snapshot
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, MARKS, READ, STATEMENT, UPDATE, Event, Heartbeat, Kind
from simulator.wire.avro import Container


class Timestamps:
    """A message's timestamp is the record's sourceTimestamp."""

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        return {"timestamp_ms": pa.array(whole_seconds(packed.changes.envelope.logged_ms))}

    def event(self, event: Event) -> Mapping[str, Any]:
        last_ms = event.last_ms if isinstance(event, Heartbeat) else None
        return {"timestamp_ms": whole_seconds(event.event_ms if last_ms is None else last_ms)}


def sends(options: AvroOptions) -> frozenset[Kind]:
    """The kinds of event that the product sends by default, or that options turn on."""
    tracking = options.product == "subscription"
    marks = tracking if options.begin_commit is None else options.begin_commit
    heartbeats = options.noop or (tracking if options.heartbeat is None else options.heartbeat)
    return frozenset(
        {INSERT, UPDATE, DELETE}
        | (set() if tracking else {READ})
        | ({DDL} if options.ddl else set())
        | (set(MARKS) if marks else set())
        | ({HEARTBEAT} if heartbeats else set())
    )


def layout(settings: Settings[AvroOptions]) -> Layout:
    """Raises OptionError for a source_type of another source."""
    options, source, system = settings.options, settings.source, system_of(settings.source)
    if options.source_type and options.source_type not in system.source_types:
        systems_of_type = ", ".join(id for id in SYSTEMS if options.source_type in row(id).source_types)
        raise OptionError(
            f"-f dts-avro,source_type={options.source_type}: it belongs to {systems_of_type}, not {source}."
        )
    if options.drds and not system.drds:
        systems_of_type = ", ".join(id for id in SYSTEMS if row(id).drds)
        raise OptionError(f"-f dts-avro,drds=on: it belongs to {systems_of_type}, not {source}.")
    # partitions are made of values as the JSON formats write them
    json = Settings(TextOptions(), source)
    writer = Writer(options, source, lambda column: system.cell(column, json), format=FORMAT.id)
    return Layout(
        Limited(writer, Timestamps()),
        # change tracking: "<region>_<instance>_<account>_version2", with one partition to keep the order of all
        routing(options, system, source, topic="cn_hangzhou_rm_bp1cdcsim_dts_version2", only_one=True)
        if options.product == "subscription"
        else routing(options, system, source),
        known=writer.known,
        container=Container(schema(options.schema_variant), framing=5 if options.framing == "confluent" else 0),
        steps=(counted_halves,),
        statements=STATEMENTS,
        omits=opens_snapshot,
        sends=sends(options),
        row_images=None,
        heartbeat_ms=1000,
        redelivery=DTS,
    )


FORMAT = Format(
    id="dts-avro",
    title="DTS Avro",
    product=PRODUCT,
    spec=f"{SPEC}; Record.avsc",
    sources=("mariadb", "mongodb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset(Kind) - {STATEMENT},
    silent=frozenset(),
    settings=AvroOptions,
    layout=layout,
    binary=True,
)
