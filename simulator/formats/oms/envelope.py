"""What the five OMS formats share around the row: options, counters, names, DDL, keys, partitions.

Source: "Data formats" of OMS Community Edition V3.3.1, and of newer versions for `version=4`; a consumer written
against real OMS output (wentaojin/dbms, message/oceanbase) for keys, DDL and full synchronization; libobcdc for
uniqueId.

Decisions where these have nothing, each a table or an option here:

* messages are compact JSON with Jackson's escapes;
* the running number of a second (storeDataSequence, scn) counts positions in the second's stream, gaps included;
* checkpoint is the second before the commit, of a heartbeat the heartbeat's own;
* a message's partition is String.hashCode of the key's values put together with U+0001, its sign dropped; its key the
  primary key's values (`kafka_key=json`: as a JSON string), the table's name where there is none and for DDL;
* names and numbers of tenant, log stream, cluster, subtopic and transaction; tag `default_tag`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import ChangeBatch, PackedBatch
from simulator.formats.format import Layout, Settings
from simulator.formats.members import per_entry, whole_seconds
from simulator.formats.oms.columns import Columns
from simulator.formats.oms.options import DB_TYPES, DefaultOptions, OmsOptions, OrderedOptions, TypedOptions
from simulator.formats.oms.routing import routing
from simulator.formats.oms.writer import Writer
from simulator.model import ABSENT, DELETE, INSERT, READ, UPDATE, Event, Kind, SchemaChange, SchemaChangeKind, Table
from simulator.sources.log import entries
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oceanbase.log import OceanbaseLog
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import JACKSON, escape, quote
from simulator.text.template import join, repeat
from simulator.wire.fields import Field, Members, Order, PerChange, PerTable, number_pieces, plain, table_order

Ints = npt.NDArray[np.int64]
SEQUENCES_A_SECOND: Final = 100_000

# What DDL is called, by kind: ddlType of Default (dbms; "CREATE INDEX" and what follows are decided), and the event
# types that Canal knows, which Dataworks uses, too. Statements about databases are not synchronized.
DDL_TYPES: Final[Mapping[SchemaChangeKind, str]] = {
    SchemaChangeKind.CREATE_TABLE: "CREATE TABLE",
    SchemaChangeKind.ADD_COLUMN: "ALTER TABLE",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER TABLE",
    SchemaChangeKind.RENAME_COLUMN: "ALTER TABLE",
    SchemaChangeKind.DROP_COLUMN: "ALTER TABLE",
    SchemaChangeKind.DROP_TABLE: "DROP TABLE",
    SchemaChangeKind.RENAME_TABLE: "RENAME TABLE",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE TABLE",
    SchemaChangeKind.CREATE_INDEX: "CREATE INDEX",
    SchemaChangeKind.DROP_INDEX: "DROP INDEX",
}
WORDS: Final[Mapping[SchemaChangeKind, str]] = {
    SchemaChangeKind.CREATE_TABLE: "CREATE",
    SchemaChangeKind.ADD_COLUMN: "ALTER",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER",
    SchemaChangeKind.RENAME_COLUMN: "ALTER",
    SchemaChangeKind.DROP_COLUMN: "ALTER",
    SchemaChangeKind.DROP_TABLE: "ERASE",
    SchemaChangeKind.RENAME_TABLE: "RENAME",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE",
    SchemaChangeKind.CREATE_INDEX: "CINDEX",
    SchemaChangeKind.DROP_INDEX: "DINDEX",
}

# The systems that dbType names, of those that there are here.
SOURCES: Final = ("mysql", "oceanbase-mysql", "oceanbase-oracle", "oracle")


# -------------------------------------------------------------------------------------------------------------- options


def order(settings: Settings[OrderedOptions]) -> Order:
    """Columns of a map in the order of Java's HashMap, each map by its own number of keys."""
    return hash_order if settings.options.map_order == "java_hash" else table_order


# ---------------------------------------------------------------------------------------------------------------- names


def in_oceanbase(settings: Settings[OmsOptions]) -> bool:
    return settings.source.id.startswith("oceanbase")


def db_type(settings: Settings[TypedOptions]) -> str:
    return settings.options.db_type or DB_TYPES.get(settings.source.id, "UNKNOWN")


def database_of(table: Table) -> str:
    """The database of a table; in systems with schemas the schema, as it is in Oracle mode."""
    return table.id.schema or table.id.database


def table_of(event: Event) -> Table | None:
    """The table that a statement is about: under its new name after a rename."""
    return event.after or event.before if isinstance(event, SchemaChange) else None


def database_name(event: SchemaChange) -> str:
    table = table_of(event)
    return database_of(table) if table else event.database


def table_name(event: Event) -> str | None:
    table = table_of(event)
    return table.id.name if table else None


def by_row(value: Any, **others: Any) -> dict[Kind, Any]:
    """The same for all kinds that change or show rows; others by their names: `DDL=None`."""
    return {READ: value, INSERT: value, UPDATE: value, DELETE: value} | {Kind[name]: v for name, v in others.items()}


def hashed(fields: Sequence[Field], kind: Kind) -> Members:
    """The members that a kind has, in the order of a HashMap of them; they are put in as they stand here."""
    present = [field for field in fields if field.on(kind) is not ABSENT]
    return Members(tuple(present[i] for i in hash_order([field.name for field in present])))


DATABASE: Final = PerTable(lambda table, style: quote(database_of(table), style))
TABLE: Final = PerTable(lambda table, style: quote(table.id.name, style))


# ---------------------------------------------------------------------------------------------------- times and numbers


EVENT_MS: Final = PerChange(
    lambda batch: whole_seconds(batch.envelope.event_ms), lambda event: whole_seconds(event.event_ms)
)
WRITE_MS: Final = PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)


def quoted_numbers(numbers: Ints) -> pa.Array:
    return join([*number_pieces('"', numbers), '"'], len(numbers))


def as_text(number: PerChange) -> PerChange:
    """Whole numbers as JSON strings."""
    return PerChange(
        lambda batch: quoted_numbers(number.of(batch)), lambda event: str(number.event(event)) if number.event else ""
    )


def sequence_of(event_ms: Any, in_second: Any) -> Any:
    """Seconds and a running number of five digits: 160934467100001; what does not fit is carried on."""
    return event_ms // 1000 * SEQUENCES_A_SECOND + in_second


SEQUENCE_NUMBER: Final = PerChange(
    lambda batch: sequence_of(batch.envelope.event_ms, batch.envelope.in_second),
    lambda event: sequence_of(event.event_ms, event.in_second),
)


def transaction(settings: Settings[OmsOptions]) -> PerChange:
    """The source's id of the transaction."""
    return per_entry(settings.source.log.transaction_id)


def unique_id(settings: Settings[DefaultOptions]) -> PerChange:
    """What the store calls a change: tenant, log stream, transaction, place in the redo log, row of the transaction
    (libobcdc, DmlStmtUniqueID); of MySQL the place in the binary log, of other systems transaction and position."""
    log = settings.source.log

    def of(batch: ChangeBatch) -> pa.Array:
        at = entries(batch.envelope)
        row = number_pieces("_", batch.envelope.seq - 1)
        if isinstance(log, OceanbaseLog):
            stream = f'"{settings.options.tenant_id}_{settings.options.log_stream}_'
            redo = number_pieces("_", log.redo_lsn(at))
            return join([stream, log.transaction_id(at), *redo, *row, '"'], len(batch))
        if isinstance(log, MysqlLog):
            return join(['"', log.file(at), *number_pieces("_", log.offset(at)), *row, '"'], len(batch))
        return join(['"', log.transaction_id(at), "_", log.position(at), *row, '"'], len(batch))

    return PerChange(of)


# ----------------------------------------------------------------------------------------------------------------- keys


def key_texts(batch: ChangeBatch, columns: Columns) -> list[pa.Array]:
    """The values of the key of each row, in key order, as they look in the row but without quotes; of an update those
    before it."""
    texts = []
    for place in batch.table.key_positions:
        values = batch.full_before(place) if batch.kind is UPDATE else batch.image()[place]
        cell = columns.cell(batch.table.columns[place], full=batch.kind is READ)
        texts.append(plain(cell.text(values)))
    return texts


def key_values(columns: Columns, *, lead: Callable[[Table], str] | None = None) -> PerChange:
    """The values of the key with U+0001 between, as a JSON string; `lead` is what stands before them in it.

    Without a key null, or the lead alone.
    """

    def of(batch: ChangeBatch) -> pa.Array:
        texts = key_texts(batch, columns)
        if not texts and lead is None:
            return repeat("null", len(batch))
        before = "" if lead is None else quote(lead(batch.table), JACKSON)[1:-1]
        pieces: list[Any] = [f'"{before}']
        for number, text in enumerate(texts):
            pieces += [r"\u0001" if number else "", escape(text, JACKSON).fill_null("")]
        return join([*pieces, '"'], len(batch))

    return PerChange(of)


def key_object(columns: Columns) -> PerChange:
    """The key as a JSON object in a JSON string: the checkpoint of a full synchronization; null without a key."""

    def of(batch: ChangeBatch) -> pa.Array:
        if not batch.table.primary_key:
            return repeat("null", len(batch))
        pieces: list[Any] = ["{"]
        for number, (name, text) in enumerate(zip(batch.table.primary_key, key_texts(batch, columns), strict=True)):
            mark = '"' if columns.cell(batch.table.columns[batch.table.positions[name]]).quoted else ""
            lead = f"{',' if number else ''}{quote(name, JACKSON)}:{mark}"
            pieces += [lead, escape(text, JACKSON).fill_null(""), mark]
        return join(['"', escape(join([*pieces, "}"], len(batch)), JACKSON), '"'], len(batch))

    return PerChange(of)


# --------------------------------------------------------------------------------------------------------------- layout


class Tag:
    """The task's tag beside every message."""

    def __init__(self, tag: str) -> None:
        self._tag = tag

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        return {"tag": repeat(self._tag, len(packed))}

    def event(self, event: Event) -> Mapping[str, Any]:
        return {"tag": self._tag}


def layout(
    settings: Settings[OmsOptions],
    columns: Columns,
    fields: Sequence[Field],
    *,
    sends: frozenset[Kind],
    order: Order = table_order,
) -> Layout:
    """A format's members with what all five share: escapes, values, partitions, keys, tag."""
    return Layout(
        Writer(fields, columns, order, lob_nulls=settings.options.ob_lob_nulls),
        routing(settings),
        metadata=Tag(settings.options.tag),
        sends=sends,
        statements=frozenset(DDL_TYPES),
    )


def sent(settings: Settings[OmsOptions], *optional: tuple[Kind, bool]) -> frozenset[Kind]:
    """The kinds that rows have, and those of the others that the settings turn on."""
    return frozenset({READ, INSERT, UPDATE, DELETE, *(kind for kind, on in optional if on)})
