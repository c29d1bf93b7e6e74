"""canal-json: open-source Alibaba Canal, "flat message" of versions 1.1.4 to 1.1.8.

Source: alibaba/canal `FlatMessage.java`, `MQMessageUtils.java`, `LogEventConvert.java`, `LogBuffer.java`,
`JsonConversion.java`, and messages captured from real servers of these versions on MySQL 5.7, 8.0 and MariaDB 10.11.
Keys are in alphabetical order, every key is always there, all column values are strings or null.

What differs between versions:

| | 1.1.4 | 1.1.5 | 1.1.6 | 1.1.7 | 1.1.8 |
| --- | --- | --- | --- | --- | --- |
| `gtid` | absent | absent | absent | yes | yes |
| JSON escapes | fastjson 1 | fastjson 1 | controls raw | fastjson 2 | fastjson 2 |
| row of an update that changes nothing, in `old` | left out | left out | left out | `{}` | `{}` |
| sqlType of null text, bytes, SET | -2 -3 -4 | -2 -3 -4 | -2 -3 -4 | 2004 2005 | 2004 2005 |
| tinyint(1), not null | -7 | -6 | -6 | -6 | -6 |
| TIME: sign of negative fractions, exactly 100 hours | lost, `00` | lost, right | right | right | right |
| JSON column: controls in strings, keys | raw, raw | escaped, raw | escaped, raw | escaped, raw | escaped, escaped |
| isDdl of QUERY | false | true | true | true | true |

Decisions where Canal has nothing: a snapshot row is an INSERT (Canal reads logs only), one transaction is one batch
(`id`). Heartbeats and transaction marks are not sent, as in Canal.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from simulator.delivery.steps.documents import typed_documents
from simulator.delivery.steps.images import logged_images
from simulator.errors import NotOffered, UnsupportedType
from simulator.formats.canal.cells import cell
from simulator.formats.canal.codes import code_cell
from simulator.formats.canal.definitions import type_text
from simulator.formats.canal.options import CanalOptions
from simulator.formats.canal.packing import RowsEvents
from simulator.formats.canal.routing import routing
from simulator.formats.canal.statements import (
    STATEMENT_WORDS,
    backquoted,
    ddl_database,
    ddl_table,
    omitted,
    text_table,
    word,
)
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.members import DATABASE, LOGGED_SECOND_MS, TABLE, WRITE_MS, by_row, per_column, per_entry
from simulator.formats.redelivery import CANAL
from simulator.formats.writing import OneMessage
from simulator.model import ABSENT, BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, INSERT, READ, STATEMENT, UPDATE, Table
from simulator.sources.mysql.log import MysqlLog
from simulator.sources.mysql.source import MysqlSource
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Codes, Field, PerChange, PerEvent, PerTable, Rows

CanalSettings: TypeAlias = Settings[CanalOptions]


def mysql_types(settings: CanalSettings) -> PerTable:
    types = per_column(lambda column: type_text(column, settings), member=backquoted)

    def text(table: Table, style: Style) -> str:
        quoted = [name for name in (table.id.name, *(c.name for c in table.columns)) if "`" in name]
        if quoted and settings.options.version < "1.1.8":
            raise UnsupportedType(
                f"{table.id}: Canal {settings.options.version} stops at a row of a table with a back-quote in a name "
                f"({quoted[0]}); 1.1.8 does not."
            )
        return types.of(table, style)

    return PerTable(text)


def key_names(table: Table, style: Style) -> str:
    """The key's columns in column order; null without any. Canal forgets a PRIMARY KEY that was declared with a column
    if a later statement redefines the column."""
    columns = [table.columns[i] for i in sorted(table.key_positions)]
    names = [quote(backquoted(column.name), style) for column in columns if not column.key_retyped]
    return f"[{','.join(names)}]" if names else "null"


def gtid(settings: CanalSettings) -> Any:
    """The set of executed transactions, this one included; "" unless Canal was started from a GTID."""
    if not settings.options.gtid and not settings.options.master_gtid:
        return ""
    log = settings.source.log
    assert isinstance(log, MysqlLog)
    start, _, last = (settings.options.master_gtid or "").rpartition(":")
    before = int(last.rpartition("-")[2] or 0)
    return per_entry(lambda entries: log.gtid_set(entries, start or settings.options.server_uuid, before=before))


def is_ddl(settings: CanalSettings) -> PerEvent:
    return PerEvent(lambda event: settings.options.version != "1.1.4" or word(event, settings) != "QUERY")


def fields(settings: CanalSettings) -> tuple[Field, ...]:
    """The members in wire order: alphabetical, as fastjson sorts a bean's properties."""
    version = settings.options.version
    old = Rows("changed", drop_empty=version <= "1.1.6")
    return (
        Field("data", {**by_row(Rows("after")), DELETE: Rows("before")}),
        Field("database", by_row(DATABASE, PerEvent(ddl_database), PerEvent(lambda event: text_table(event)[0]))),
        Field("es", LOGGED_SECOND_MS),
        Field("gtid", gtid(settings) if version >= "1.1.7" else ABSENT),
        Field(
            "id",
            PerChange(
                lambda batch: batch.envelope.life.count(batch.envelope.txn), lambda event: event.life.count(event.txn)
            ),
        ),
        Field("isDdl", by_row(False, is_ddl(settings), False)),
        Field("mysqlType", by_row(mysql_types(settings))),
        Field("old", {**by_row(None), UPDATE: old}),
        Field("pkNames", by_row(PerTable(key_names))),
        Field("sql", by_row("", PerEvent(lambda event: event.sql), PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(Codes(lambda column: code_cell(column, settings)))),
        Field("table", by_row(TABLE, PerEvent(ddl_table), PerEvent(lambda event: text_table(event)[1]))),
        Field("ts", WRITE_MS),
        Field(
            "type",
            {
                READ: "INSERT",
                INSERT: "INSERT",
                UPDATE: "UPDATE",
                DELETE: "DELETE",
                DDL: PerEvent(lambda event: word(event, settings)),
                STATEMENT: PerEvent(lambda event: STATEMENT_WORDS.get(event.kind, "QUERY")),
            },
        ),
    )


# Properties of each message of its RabbitMQ producer: MessageProperties.PERSISTENT_TEXT_PLAIN (captured).
PERSISTENT_TEXT_PLAIN: Final = {"content_type": "text/plain", "delivery_mode": 2, "priority": 0}
STYLES: Final = {
    "1.1.4": json_style.FASTJSON1,
    "1.1.5": json_style.FASTJSON1,
    "1.1.6": json_style.FASTJSON2_RAW_CONTROLS,
}


def encoder(settings: CanalSettings) -> Encoder:
    return Encoder(
        fields(settings),
        lambda column: cell(column, settings),
        STYLES.get(settings.options.version, json_style.FASTJSON2),
        member=backquoted,
    )


def layout(settings: CanalSettings) -> Layout:
    if not isinstance(settings.source, MysqlSource):
        raise NotOffered(f"-f canal-json: its values and type names are MySQL's; it has none for {settings.source}.")
    options = settings.options
    return Layout(
        OneMessage(encoder(settings)),
        routing(options),
        # One flat message is one rows event: binlog_row_event_max_size is 8192 by default.
        RowsEvents(options.event_max_size, options.rows_per_message or None),
        properties=PERSISTENT_TEXT_PLAIN,
        omits=lambda event: event.order.phase == 0 or omitted(event, settings),
        steps=(typed_documents, logged_images),
        row_images=None,
        redelivery=CANAL,
    )


FORMAT = Format(
    id="canal-json",
    title="Canal JSON (flat message)",
    product="Alibaba Canal",
    spec="alibaba/canal 1.1.8, FlatMessage",
    sources=("mariadb", "mysql"),
    brokers=("kafka", "rocketmq", "rabbitmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, STATEMENT}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    settings=CanalOptions,
    layout=layout,
)
