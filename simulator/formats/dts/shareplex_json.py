"""dts-shareplex-json: Alibaba Cloud DTS, "Shareplex Json", synchronisation and migration to a message queue.

Spec: "Data storage formats in message queues" (page of 2026-02-07). One message is one row:
`{"meta":{…},"data":{…}}`, and `"key":{…}` of updates.

| op | data | key |
| --- | --- | --- |
| ins | the row | - |
| upd | the columns that changed, their new values | the row before |
| del | the row | - |

* Values are strings or null, as dts-canal-json writes them, but for a `T` between date and time, as meta has it.
* time is the commit's second, posttime the write's; both UTC, without the Z that the page's text has and its examples
  have not (`time_z=on`).
* op is short, as in the examples; the text lists words (`op_style=words`).
* scn, rowid and trans are Oracle's. Other sources: a number that rises with the transactions (MySQL: where it ends in
  the log), the table and the key's values before the change with U+0001 between, and the transaction's id (MySQL: its
  GTID, without GTIDs scn).
* userid is 84 for Oracle, else 0, and 0 for rows of the full load, which are `ins` of transactions of their own.
* The page lists TRUNCATE, DROP COLUMN, UPDATE BEFORE and UPDATE AFTER as well, and shows none: `ddl=on` writes
  statements, with `ddl` for those that have no word, `update_style=split` two messages for each update.

* `supplemental=pk`: `key` of an update has what Oracle logs without full supplemental logging.
* An update of the partition key that is delivered as a delete and an insert keeps its place in the transaction: both
  have its seq and idx, and size does not count them twice.

The examples leave out members of meta and columns; here they are all there. Topics and partitions: `delivery`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.formats.dts import delivery as dts_delivery
from simulator.formats.dts.options import SharePlexOptions
from simulator.formats.dts.systems import check, system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import by_row, per_entry
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    UPDATE,
    Column,
    Kind,
    SchemaChange,
    SchemaChangeKind,
    Table,
)
from simulator.sources.log import Log, text
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oracle import log as oracle_log
from simulator.sources.oracle.log import OracleLog
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.text import json_style
from simulator.text.json_style import Style, escape, quote
from simulator.text.template import join, repeat
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, Members, PerChange, PerEvent, PerTable, Rows, plain

Ints = npt.NDArray[np.int64]

OPS: Final = {READ: "ins", INSERT: "ins", UPDATE: "upd", DELETE: "del"}
WORDS: Final = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}
# Statements that the page has a word for.
DDL_WORDS: Final = {SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE", SchemaChangeKind.DROP_COLUMN: "DROP COLUMN"}
# Families of types that have a date and a time.
TIMESTAMPS: Final = frozenset({"datetime", "timestamptz", "zoned"})


def cell(column: Column, settings: Settings[SharePlexOptions]) -> Cell:
    """How a column's values are written: as in dts-canal-json, with T for the blank behind a date."""
    inner = system_of(settings.source).cell(column, settings)
    if settings.source.types.family(column.type) not in TIMESTAMPS:
        return inner

    def text(array: pa.Array) -> pa.Array:
        return pc.replace_substring(plain(inner.text(array)), " ", "T", max_replacements=1)

    return Cell(text)


def moments(milliseconds: Ints, z: str) -> pa.Array:
    """`"2017-06-16T14:24:34"`: seconds come in runs, which are written once."""
    seconds = milliseconds // 1000
    begins = np.flatnonzero(np.diff(seconds, prepend=seconds[0] - 1))
    texts = [f'"{text}{z}"' for text in np.datetime_as_string(seconds[begins].astype("datetime64[s]"))]
    return pa.array(texts, pa.string()).take(
        pa.array(np.repeat(np.arange(len(begins)), np.diff(begins, append=len(seconds))))
    )


def moment(milliseconds: int, z: str) -> str:
    return str(np.datetime64(milliseconds // 1000, "s")) + z


def ops(settings: Settings[SharePlexOptions]) -> dict[Kind, Any]:
    words = WORDS if settings.options.op_style == "words" else OPS
    found: dict[Kind, Any] = {**words, DDL: PerEvent(lambda event: DDL_WORDS.get(event.kind, "ddl"))}
    if settings.options.update_style == "split":

        def half(batch: ChangeBatch) -> pa.Array:
            word = words[batch.kind]
            if batch.moved:
                word = "UPDATE BEFORE" if batch.kind is DELETE else "UPDATE AFTER"
            return repeat(f'"{word}"', len(batch))

        found[DELETE] = found[INSERT] = PerChange(half)
    return found


def scn(log: Log) -> PerChange:
    """The number of the commit; of rows of the full load where the log begins."""
    return per_entry(lambda at: text(log.commit_number(at)))


def trans(settings: Settings[SharePlexOptions]) -> PerChange | dict[Kind, PerChange]:
    """The transaction's id: a GTID, that of Oracle or PostgreSQL, else its scn."""
    log, options = settings.source.log, settings.options
    if isinstance(log, MysqlLog) and options.gtid and system_of(settings.source).gtids:
        ids = per_entry(lambda at: log.gtid(at, options.server_uuid))
    elif isinstance(log, OracleLog | PostgresqlLog):
        ids = per_entry(log.transaction_id)
    else:
        return scn(log)
    return {**by_row(ids, ids), READ: scn(log)}


def rowids(settings: Settings[SharePlexOptions], style: Style) -> PerChange:
    """Oracle's ROWID; else the table, and the values of the key before the change."""

    def of(batch: ChangeBatch) -> pa.Array:
        table = batch.table
        keys = [
            batch.image()[place] if batch.before is None else batch.full_before(place) for place in table.key_positions
        ]
        if system_of(settings.source).rowids:
            # a table without a key is told apart by its rows' values
            of_row = keys or list(batch.image())
            return join(['"', oracle_log.rowid(table.id, oracle_log.row_numbers(of_row)), '"'], len(batch))
        pieces: list[Any] = []
        for place, values in zip(table.key_positions, keys, strict=True):
            text = plain(cell(table.columns[place], settings).text(values))
            pieces += ["\\u0001" if pieces else "", escape(text, style)]
        return join([quote(f"{table_text(table)}-", style)[:-1], *pieces, '"'], len(batch))

    return PerChange(of, lambda event: "")


def table_text(table: Table) -> str:
    """`OWNER.TABLE`; the database's name where tables are in no schema."""
    return f"{table.id.schema or table.id.database}.{table.id.name}"


def event_table(event: SchemaChange) -> str:
    table = event.before or event.after
    return table_text(table) if table else event.database


def meta(settings: Settings[SharePlexOptions], style: Style) -> Members:
    z = "Z" if settings.options.time_z else ""
    default = system_of(settings.source).userid
    user = default if settings.options.userid is None else settings.options.userid

    def both(name: str, ours: Any, event: Any) -> Field:
        """A number of the change; rows of a full load and statements stand alone."""
        return Field(name, PerChange(ours, lambda _: event))

    def named(table: Table, style: Style) -> str:
        check(FORMAT.id, settings.source, table)
        return quote(table_text(table), style)

    def indexes(batch: ChangeBatch) -> pa.Array:
        seq, size = (pa.array(numbers).cast(pa.string()) for numbers in (batch.envelope.seq, batch.envelope.size))
        return join(['"', seq, "/", size, '"'], len(batch))

    return Members(
        (
            Field(
                "time",
                PerChange(lambda batch: moments(batch.envelope.event_ms, z), lambda event: moment(event.event_ms, z)),
            ),
            Field("userid", {kind: 0 if kind is READ else user for kind in (READ, INSERT, UPDATE, DELETE, DDL)}),
            Field("op", ops(settings)),
            Field("scn", scn(settings.source.log)),
            Field("rowid", rowids(settings, style)),
            Field("trans", trans(settings)),
            both("seq", lambda batch: batch.envelope.seq, 1),
            both("size", lambda batch: batch.envelope.size, 1),
            Field(
                "table",
                {
                    **by_row(PerTable(named)),
                    DDL: PerEvent(event_table),
                },
            ),
            both("idx", indexes, "1/1"),
            Field(
                "posttime",
                PerChange(lambda batch: moments(batch.envelope.write_ms, z), lambda event: moment(event.write_ms, z)),
            ),
        )
    )


def statement(event: SchemaChange) -> dict[str, str]:
    """data of a statement: nothing where op says it all."""
    return {} if event.kind in DDL_WORDS else {"sql": event.sql}


def layout(settings: Settings[SharePlexOptions]) -> Layout:
    style = json_style.FASTJSON2
    inserted = Rows("after", array=False, skip_nulls=settings.options.ins_nulls == "omit")
    before = Rows("before", array=False)
    logged = before
    if settings.options.supplemental == "pk":
        logged = Rows("changed", array=False, kept=lambda table: table.key_positions)
    fields = (
        Field("meta", meta(settings, style)),
        Field(
            "data",
            {
                READ: inserted,
                INSERT: inserted,
                UPDATE: Rows("changed after", array=False),
                DELETE: before,
                DDL: PerEvent(statement),
            },
        ),
        Field("key", {UPDATE: logged}),
    )
    return Layout(
        Encoder(fields, lambda column: cell(column, settings), style),
        dts_delivery.routing(settings, split_all=settings.options.update_style == "split"),
        complete=dts_delivery.refuse_large(FORMAT.id),
        sends=FORMAT.sends if settings.options.ddl else FORMAT.sends - {DDL},
    )


FORMAT = Format(
    id="dts-shareplex-json",
    title="DTS SharePlex JSON",
    product=dts_delivery.PRODUCT,
    spec="Data storage formats in message queues, 2026-02-07",
    sources=("mariadb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=SharePlexOptions,
    layout=layout,
)
