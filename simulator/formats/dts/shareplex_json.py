"""dts-shareplex-json: Alibaba Cloud DTS, "Shareplex Json", synchronisation and migration to a message queue.

Spec: "Data storage formats in message queues" (page of 2026-02-07). A message holds one row:
`{"meta":{…},"data":{…}}`, for updates with `"key":{…}` after it.

| op | data | key |
| --- | --- | --- |
| ins | the row | - |
| upd | the changed columns, new values | the row before |
| del | the row | - |

| meta | content |
| --- | --- |
| time | the second of the commit, UTC; without Z, as in the examples (`time_z=on`: with it, as in the page's text) |
| userid | 84 for Oracle, else 0; 0 for the full load |
| op | short, as in the examples; the text lists words (`op_style=words`) |
| scn | Oracle: the SCN of the commit; others: a number that rises with the transactions (MySQL: where they end) |
| rowid | Oracle: the ROWID; others: the table, `-`, and the key's values before the change with U+0001 between |
| trans | Oracle, PostgreSQL: the transaction's id; MySQL: its GTID; others, and without GTIDs: scn |
| seq, size | position in the transaction, and the number of its changes |
| table | OWNER.TABLE; others: schema.table, or database.table where tables are in no schema |
| idx | seq/size |
| posttime | the second of the write, like time |

* Values are strings or null, as in dts-canal-json, but with `T` between date and time, as in meta.
* Rows of the full load are `ins`, each a transaction of its own.
* The page lists TRUNCATE, DROP COLUMN, UPDATE BEFORE and UPDATE AFTER, too, and has no example: `ddl=on` sends DDL
  (`ddl` for statements without a word), `update_style=split` two messages for each update.
* `key` has what Oracle logs of the row before, if that is not all of it (`supplemental_logging` of the scenario).
* An update that is sent as DELETE and INSERT (`split_on_key_update`) is two changes in seq, idx and size. UPDATE BEFORE
  and UPDATE AFTER are one: both have its seq and idx.

The examples abridge meta and columns; here all are written. All of other sources than Oracle is decided here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Ints
from simulator.delivery.steps.halves import counted_halves
from simulator.formats.dts.delivery import PRODUCT, SPEC, STATEMENTS, Limited, routing
from simulator.formats.dts.options import SharePlexOptions
from simulator.formats.dts.systems import system_of
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.logged import in_before
from simulator.formats.members import by_row, per_entry, table_of
from simulator.formats.redelivery import DTS
from simulator.formats.writing import opens_snapshot
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
from simulator.sources.log import Log
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.oracle.log import OracleLog
from simulator.sources.oracle.rowid import rowid
from simulator.sources.postgresql.log import PostgresqlLog
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.text.template import Piece
from simulator.wire.encoder import Encoder
from simulator.wire.fields import (
    Cell,
    Field,
    Members,
    PerChange,
    PerEvent,
    PerTable,
    Rows,
    inner_text,
    number_pieces,
    plain,
)

STYLE: Final = json_style.FASTJSON2
OPS: Final = {READ: "ins", INSERT: "ins", UPDATE: "upd", DELETE: "del"}
WORDS: Final = {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE"}
# Statements that the page has a word for.
DDL_WORDS: Final = {SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE", SchemaChangeKind.DROP_COLUMN: "DROP COLUMN"}
# Families of types with date and time.
TIMESTAMPS: Final = frozenset({"datetime", "timestamptz", "zoned"})


def cell(column: Column, settings: Settings[SharePlexOptions]) -> Cell:
    """A column's values: as in dts-canal-json, with T for the blank after a date."""
    blank = system_of(settings.source).cell(column, settings)
    if settings.source.family(column.type) not in TIMESTAMPS:
        return blank
    return Cell(lambda array: pc.replace_substring(plain(blank.text(array)), " ", "T", max_replacements=1))


def seconds(milliseconds: Ints, z: str) -> pa.Array:
    """`"2017-06-16T14:24:34"`. Equal seconds come in runs; each is written once."""
    times = milliseconds // 1000
    begins = np.flatnonzero(np.diff(times, prepend=times[0] - 1))
    texts = [f'"{text}{z}"' for text in np.datetime_as_string(times[begins].astype("datetime64[s]"))]
    runs = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(times)))
    return pa.array(texts, pa.string()).take(pa.array(runs))


def second(milliseconds: int, z: str) -> str:
    return str(np.datetime64(milliseconds // 1000, "s")) + z


def ops(options: SharePlexOptions) -> dict[Kind, Any]:
    words = WORDS if options.op_style == "words" else OPS
    values: dict[Kind, Any] = {**words, DDL: PerEvent(lambda event: DDL_WORDS.get(event.kind, "ddl"))}
    if options.update_style == "split":

        def half(batch: ChangeBatch) -> list[Piece]:
            word = words[batch.kind]
            if batch.moved:
                word = "UPDATE BEFORE" if batch.kind is DELETE else "UPDATE AFTER"
            return [f'"{word}"']

        values[DELETE] = values[INSERT] = PerChange(half)
    return values


def scn(log: Log) -> PerChange:
    """The number of the commit; of rows of the full load where the log begins."""
    return per_entry(lambda entries: pa.array(log.commit_number(entries)))


def trans(settings: Settings[SharePlexOptions]) -> PerChange | dict[Kind, PerChange]:
    log, options = settings.source.log, settings.options
    if isinstance(log, MysqlLog) and options.gtid and system_of(settings.source).gtids:
        ids = per_entry(lambda entries: log.gtid(entries, options.server_uuid))
    elif isinstance(log, OracleLog | PostgresqlLog):
        ids = per_entry(log.transaction_id)
    else:
        return scn(log)
    return {**by_row(ids, ids), READ: scn(log)}


def rowids(settings: Settings[SharePlexOptions]) -> PerChange:
    def of(batch: ChangeBatch) -> list[Piece]:
        table = batch.table
        if system_of(settings.source).rowids:
            assert batch.row_numbers is not None
            return ['"', rowid(table.id, batch.row_numbers()), '"']
        pieces: list[Piece] = []
        for i in table.row_key_positions:
            array = batch.image()[i] if batch.before is None else batch.full_before(i)
            pieces += ["\\u0001" if pieces else "", inner_text(cell(table.columns[i], settings), array, STYLE)]
        return [quote(f"{table_text(table)}-", STYLE)[:-1], *pieces, '"']

    return PerChange(of, lambda event: "")


def table_text(table: Table) -> str:
    return f"{table.id.schema or table.id.database}.{table.id.name}"


def ddl_table(event: SchemaChange) -> str:
    table = table_of(event)
    return table_text(table) if table else event.database


def indexes(batch: ChangeBatch) -> list[Piece]:
    return [*number_pieces('"', batch.envelope.place), *number_pieces("/", batch.envelope.places), '"']


def meta(settings: Settings[SharePlexOptions]) -> Members:
    options, system = settings.options, system_of(settings.source)
    z = "Z" if options.time_z else ""
    userid = system.userid if options.userid is None else options.userid

    def table(table: Table, style: Style) -> str:
        system.check(table, FORMAT.id)
        return quote(table_text(table), style)

    return Members(
        (
            Field(
                "time",
                PerChange(lambda batch: seconds(batch.envelope.event_ms, z), lambda event: second(event.event_ms, z)),
            ),
            Field("userid", {**by_row(userid, userid), READ: 0}),
            Field("op", ops(options)),
            Field("scn", scn(settings.source.log)),
            Field("rowid", rowids(settings)),
            Field("trans", trans(settings)),
            Field("seq", PerChange(lambda batch: batch.envelope.place, lambda event: 1)),
            Field("size", PerChange(lambda batch: batch.envelope.places, lambda event: 1)),
            Field("table", by_row(PerTable(table), PerEvent(ddl_table))),
            Field("idx", PerChange(indexes, lambda event: "1/1")),
            Field(
                "posttime",
                PerChange(lambda batch: seconds(batch.envelope.write_ms, z), lambda event: second(event.write_ms, z)),
            ),
        )
    )


def statement(event: SchemaChange) -> dict[str, str]:
    """`data` of DDL: its text, which says what the word of op does not (decided here)."""
    return {"sql": event.sql}


def layout(settings: Settings[SharePlexOptions]) -> Layout:
    options = settings.options
    inserted = Rows("after", array=False, skip_nulls=options.ins_nulls == "omit")
    changed, before = Rows("changed after", array=False), Rows("before", array=False)
    key = Rows("before", array=False, logged=in_before)
    fields = (
        Field("meta", meta(settings)),
        Field("data", {READ: inserted, INSERT: inserted, UPDATE: changed, DELETE: before, DDL: PerEvent(statement)}),
        Field("key", {UPDATE: key}),
    )
    return Layout(
        Limited(Encoder(fields, lambda column: cell(column, settings), STYLE)),
        routing(options, system_of(settings.source), settings.source, split_all=options.update_style == "split"),
        steps=() if options.update_style == "split" else (counted_halves,),
        statements=STATEMENTS,
        omits=opens_snapshot,
        sends=FORMAT.sends if options.ddl else FORMAT.sends - {DDL},
        row_images=frozenset({"primary key", "primary key, unique"}),
        redelivery=DTS,
    )


FORMAT = Format(
    id="dts-shareplex-json",
    title="DTS SharePlex JSON",
    product=PRODUCT,
    spec=SPEC,
    sources=("mariadb", "mysql", "oracle", "postgresql", "sqlserver"),
    brokers=("kafka", "rocketmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=SharePlexOptions,
    layout=layout,
)
