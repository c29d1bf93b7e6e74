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

* Both images of an update are complete. NULL is the union's null.
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

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats import dts_canal_json, dts_positions, dts_record, dts_values
from simulator.formats.canal_json import switch
from simulator.formats.dts_record import Texts
from simulator.formats.dts_types import System, system_of, type_of
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    MARKS,
    READ,
    UPDATE,
    Column,
    Event,
    Heartbeat,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.routing import Routing
from simulator.wire import avro
from simulator.wire.avro import Bytes, Container
from simulator.wire.fields import KEPT_DICTIONARIES, Cell, plain
from simulator.wire.format import Format, Layout, Option, Settings
from simulator.wire.json_style import quote

OPERATIONS: Final[Mapping[Kind, str]] = {
    READ: "INIT",
    INSERT: "INSERT",
    UPDATE: "UPDATE",
    DELETE: "DELETE",
    DDL: "DDL",
    BEGIN: "BEGIN",
    COMMIT: "COMMIT",
    HEARTBEAT: "HEARTBEAT",
}

# The version that a server reports, by source.
SERVER_VERSIONS: Final[Mapping[str, str]] = {
    "mysql-8.0": "8.0.28",
    "mysql-5.7": "5.7.26-log",
    "mariadb-10.11": "10.11.19-MariaDB-log",
    "oceanbase-mysql-4.3": "5.7.25-OceanBase-v4.3",
    "oracle-21c": "21.0.0.0.0",
    "oracle-19c": "19.0.0.0.0",
    "oracle-11g": "11.2.0.4.0",
    "sqlserver-2022": "16.0.1000.6",
    "sqlserver-2019": "15.0.2000.5",
    "sqlserver-2016": "13.0.1601.5",
}
# MySQL's status variables of a session with defaults, as printed messages have them: flags, sql_mode, character set.
STATUS: Final = {"Q_FLAGS2_CODE": "0", "Q_SQL_MODE_CODE": "1168113696", "Q_CHARSET_CODE": "33"}
# Connections at the source; a transaction is one's.
FIRST_THREAD, THREADS = 1000, 16
# Statements of which objectName is the database alone.
OF_DATABASE: Final = frozenset(
    {SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.CREATE_TABLE}
)
NOOP_BYTES: Final = 48


@dataclass(frozen=True)
class Shape:
    """What all records of a table version share."""

    table: Table  # kept, so that its id stays its own
    object_name: str
    fields: bytes
    tags: Mapping[str, str]
    values: tuple[dts_values.Values, ...]


class Writer:
    """Records of changes and events. `field_tail` is what a wider Field record has behind name and number,
    `operations` the words for the kinds of event.

    Holds no state but caches.
    """

    def __init__(
        self,
        settings: Settings,
        text_cell: Callable[[Column], Cell],
        *,
        field_tail: Callable[[Table, Column], bytes] | None = None,
        format: str = "dts-avro",
        operations: Mapping[Kind, str] = OPERATIONS,
    ) -> None:
        self.settings, self.format, self.field_tail = settings, format, field_tail
        self.operations = operations
        self.source = settings.source.rpartition("-")[0]
        self.system: System = system_of(settings.source)
        self.prefix = b"\x00" + settings["schema_id"].to_bytes(4) if settings["framing"] == "confluent" else b""
        self._text_cell = text_cell
        self._shapes: dict[int, Shape] = {}
        self._pools: dict[tuple[int, int, int, int], tuple[Any, pa.Array, pa.Array]] = {}

    # ------------------------------------------------------------------------------------------------------- a table

    def shape(self, table: Table) -> Shape:
        """A table version's names, numbers, tags and ways of writing, made once."""
        if id(table) not in self._shapes:
            types = {column.name: type_of(self.format, self.settings.source, table, column) for column in table.columns}
            tail = self.field_tail
            fields = dts_record.fields_of(
                table.columns,
                lambda column: types[column.name].number,
                None if tail is None else lambda column: tail(table, column),
            )
            name = dts_record.table_name(table, self.system.name_parts)
            fraction = 1 if self.settings["oracle_frac"] == "us" else None
            self._shapes[id(table)] = Shape(
                table,
                name,
                fields,
                {"pk_uk_info": keys(table), "metaVersion": str(zlib.crc32(name.encode() + fields))},
                tuple(
                    dts_values.values_of(types[c.name], c.type, self.system, fraction=fraction) for c in table.columns
                ),
            )
        return self._shapes[id(table)]

    # ------------------------------------------------------------------------------------------------------- columnar

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        """One record per message."""
        batch, count = packed.changes, len(packed)
        kind, envelope = batch.kind, batch.envelope
        name, fields, images = None, dts_record.NOTHING, ([dts_record.NOTHING], [dts_record.NOTHING])
        tags: Mapping[str, Texts] = {}
        if kind not in MARKS:
            shape = self.shape(batch.table)
            name, fields, tags = shape.object_name, shape.fields, shape.tags
            images = self._images(shape, batch)
        snapshot = kind is READ
        where = (
            dts_positions.Positions("", "", "")
            if snapshot
            else dts_positions.of_changes(self.settings.source, kind, envelope)
        )
        values = dts_record.records(
            count,
            operation=self.operations[kind],
            id=envelope.offset,
            source_timestamp=envelope.event_ms // 1000,
            source_position=where.source,
            safe_source_position=where.safe,
            source_txid=where.txid,
            source_type=self.system.source_type,
            source_version=self._version,
            object_name=name,
            tags=tags if snapshot else self._tags(kind, tags, envelope.txn, envelope.write_ms),
            fields=fields,
            before=images[0],
            after=images[1],
            born_timestamp=self._born(envelope.write_ms),
        )
        return avro.join([self.prefix, values, end.encode()], count)

    def _images(self, shape: Shape, batch: ChangeBatch) -> tuple[list[Bytes], list[Bytes]]:
        """The before and the after image; what is the same in both is made once."""
        places = range(len(batch.table.columns))
        after = None if batch.after is None else [self._column(shape, i, batch.after[i]) for i in places]
        before = None
        if batch.before is not None:
            before = [
                after[i]
                if after is not None and batch.before[i] is None
                else self._column(shape, i, batch.full_before(i))
                for i in places
            ]
        first, second = (
            [dts_record.NOTHING] if values is None else dts_record.image(values, len(places))
            for values in (before, after)
        )
        return first, second

    def _column(self, shape: Shape, place: int, array: pa.Array) -> list[Bytes]:
        """A column's values, each with its branch; of a pool those that differ are written once."""
        write = shape.values[place]
        if pa.types.is_dictionary(array.type):
            pool = array.dictionary
            data = pool.buffers()[2]
            key = (id(write), data.address if data is not None else 0, pool.offset, len(pool))
            if key not in self._pools:
                if len(self._pools) >= KEPT_DICTIONARIES:
                    self._pools.clear()
                # the function and the pool are kept, too, so that their addresses stay their own
                self._pools[key] = (write, pool, dts_values.whole(write(pool), len(pool)))
            return [avro.present(self._pools[key][2].take(array.indices))]
        pieces = write(array)
        return [dts_values.whole(pieces, len(array))] if array.null_count else pieces

    # ---------------------------------------------------------------------------------------------------------- events

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The record of a DDL statement or a heartbeat."""
        where = dts_positions.of_event(self.settings.source, event)
        source_ms, name, after, tags = event.event_ms, None, [dts_record.NOTHING], dict[str, Texts]()
        operation = self.operations[kind]
        if isinstance(event, SchemaChange):
            name, after = self._ddl_object(event), dts_record.statement(event.sql)
            tags = self._ddl_tags(event)
        elif isinstance(event, Heartbeat):
            source_ms = event.event_ms if event.last_ms is None else event.last_ms
            if self.settings["noop"]:
                return self._noop(event, where.source, source_ms)
            tags = {"readerThroughoutTime": str(event.write_ms)}
        return self.prefix + self._event(
            event, operation, where.source, where.safe, where.txid, source_ms, name, tags, after
        )

    def _event(
        self,
        event: Event,
        operation: str,
        position: Texts,
        safe: Texts,
        txid: Texts,
        source_ms: int,
        name: str | None,
        tags: Mapping[str, Texts],
        after: Sequence[Bytes] = (dts_record.NOTHING,),
    ) -> bytes:
        born = event.event_ms if operation in ("HEARTBEAT", "NOOP") else event.write_ms
        value: bytes = dts_record.records(
            1,
            operation=operation,
            id=event.offset,
            source_timestamp=source_ms // 1000,
            source_position=position,
            safe_source_position=safe,
            source_txid=txid,
            source_type=self.system.source_type,
            source_version=self._version,
            object_name=name,
            tags=tags,
            after=after,
            born_timestamp=self._born(born),
        )[0].as_py()
        return value

    def _noop(self, event: Event, position: Texts, source_ms: int) -> bytes:
        """A record of 48 bytes; more where the position is long."""
        bare = self._event(event, "NOOP", "", "", "", source_ms, None, {})
        filled = str(position).rjust(NOOP_BYTES - len(bare), "0")
        return self.prefix + self._event(event, "NOOP", filled, "", "", source_ms, None, {})

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """The text that is hashed: as in the product's JSON."""
        return plain(self._text_cell(column).text(array))

    # ------------------------------------------------------------------------------------------------- members and tags

    @property
    def _version(self) -> str:
        return self.settings["source_version"] or SERVER_VERSIONS[self.settings.source]

    def _born(self, write_ms: Any) -> Any:
        if self.settings["schema_variant"] == "A":
            return None
        return write_ms if self.settings["born_unit"] == "ms" else write_ms // 1000

    def _tags(self, kind: Kind, of_table: Mapping[str, str], txn: Any, write_ms: Any) -> dict[str, Texts]:
        """The tags of rows and marks."""
        reader: dict[str, Texts] = {"readerThroughoutTime": dts_record.digits(write_ms)}
        if self.system.source_type != "MySQL":
            if not of_table:
                return reader
            return {"pk_uk_info": of_table["pk_uk_info"], **reader, "metaVersion": of_table["metaVersion"]}
        thread = {"thread_id": dts_record.digits(FIRST_THREAD + txn % THREADS)}
        if kind is BEGIN:
            begun: dict[str, Texts] = {name: STATUS[name] for name in ("Q_SQL_MODE_CODE", "Q_CHARSET_CODE")}
            numbers = pa.array(txn).cast(pa.string())
            return {**begun, **self._gtid(numbers), **thread, **reader, "Q_FLAGS2_CODE": STATUS["Q_FLAGS2_CODE"]}
        if kind is COMMIT:
            return {**thread, **reader}
        info = {"pk_uk_info": of_table["pk_uk_info"]}
        last = {"server_id": self.settings["server_id"], "metaVersion": of_table["metaVersion"]}
        return {**info, **reader, **thread, **last}

    def _gtid(self, numbers: pa.Array | str) -> dict[str, Texts]:
        """GTID of a transaction, where MySQL has them."""
        if not self.settings["gtid"] or self.source != "mysql":
            return {}
        lead = f"{self.settings['server_uuid']}:"
        if isinstance(numbers, str):
            return {"GTID": lead + numbers}
        return {"GTID": avro.join([lead.encode(), numbers.cast(pa.binary())], len(numbers)).cast(pa.string())}

    def _ddl_tags(self, event: SchemaChange) -> dict[str, Texts]:
        """The tags of a statement, in alphabetical order."""
        reader: dict[str, Texts] = {"readerThroughoutTime": str(event.write_ms)}
        if self.system.source_type != "MySQL":
            return reader
        gtid = self._gtid(str(event.txn))
        sets: dict[str, Texts] = {"GTID_SET": f"{self.settings['server_uuid']}:1-{event.txn}"} if gtid else {}
        found: dict[str, Texts] = {
            **gtid,
            **sets,
            **STATUS,
            **reader,
            "commitTimestamp": str(event.event_ms // 1000),
            "lowerCaseTableNames": "true",
            "server_id": self.settings["server_id"],
            "thread_id": str(FIRST_THREAD + event.txn % THREADS),
        }
        return dict(sorted(found.items()))

    def _ddl_object(self, event: SchemaChange) -> str:
        """The database, or the table as it was."""
        table = event.before or event.after
        if table is None:
            return dts_record.object_name(event.database)
        if event.kind in OF_DATABASE or self.settings["ddl_object"] == "db":
            return dts_record.object_name(getattr(table.id, self.system.name_parts[0]))
        return dts_record.table_name(table, self.system.name_parts)


def keys(table: Table) -> str:
    """pk_uk_info: the primary key under its name, the columns in key order."""
    if not table.primary_key:
        return "{}"
    return '{"PRIMARY":[' + ",".join(map(quote, table.primary_key)) + "]}"


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
    parent = dts_canal_json.FORMAT.codec(settings.source).layout
    tracking = settings["product"] == "subscription"
    routing = Routing(
        # "<region>_<instance>_<account>_version2", one partition, to keep the order of all
        topic="cn_hangzhou_rm_bp1cdcsim_dts_version2" if tracking else parent.routing.topic,
        policies=("single",) if tracking else parent.routing.policies,
        combine=parent.routing.combine,
        reduce=parent.routing.reduce,
        table_text=parent.routing.table_text,
        image=parent.routing.image,
        ddl=parent.routing.ddl,
        split=settings["split_on_key_update"],
        key="hashed" if settings["kafka_key"] == "partition_key" else "none",
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
        sends=sends(settings),
    )


def number(text: str) -> int:
    if not text.isdigit() or int(text) >= 1 << 31:
        raise ValueError("it is a whole number from 0 to 2147483647")
    return int(text)


FORMAT = Format(
    id="dts-avro",
    title="DTS Avro",
    product="Alibaba Cloud DTS",
    spec="Data storage formats in message queues, 2026-02-07; Record.avsc",
    sources=("mariadb", "mysql", "oracle", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset(Kind),
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
            "kafka_key", "none", "The message's key: none, or what the partition is made of.", ("none", "partition_key")
        ),
        Option("framing", "raw", "The record alone, or behind a schema registry's five bytes.", ("raw", "confluent")),
        Option("schema_id", "1", "The schema's id in the registry, for framing=confluent.", parse=number),
        Option("gtid", "on", "on: MySQL has GTIDs; BEGIN and DDL carry them.", parse=switch),
        Option("server_uuid", "3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs."),
        Option("server_id", "1", "MySQL's server id, a tag."),
        Option("source_version", None, "The version that the source reports; default: one of the source's."),
        Option(
            "split_on_key_update",
            "off",
            "on: an update of the partition key is delivered as DELETE and INSERT.",
            parse=switch,
        ),
    ),
    layout=layout,
    binary=True,
)
