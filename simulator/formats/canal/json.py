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
| TIME: sign of negative fractions, three-digit hours | lost, lost | lost, right | right | right | right |
| JSON column: controls in strings, keys | raw, raw | escaped, raw | escaped, raw | escaped, raw | escaped, escaped |
| isDdl of QUERY | false | true | true | true | true |

Decisions where Canal has nothing: a snapshot row is an INSERT (Canal reads logs only), one transaction is one batch
(`id`). Heartbeats and transaction marks are not sent, as in Canal.
"""

from __future__ import annotations

import re
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.errors import NotOffered, UnsupportedType
from simulator.formats.canal import rules as canal_rules
from simulator.formats.canal.cells import VERSIONS, cell, code_cell, type_text
from simulator.formats.canal.statements import (
    STATEMENT_WORDS,
    column_name,
    ddl_database,
    ddl_table,
    filed_under,
    omitted,
    text_table,
    word,
)
from simulator.formats.format import Format, Layout, Option, Settings
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    STATEMENT,
    UPDATE,
    Table,
)
from simulator.routing import Packing, Routing
from simulator.sources import mysql
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.text.template import join
from simulator.wire.fields import Codes, Field, PerChange, PerEvent, PerTable, Rows


def es(milliseconds: Any) -> Any:
    """Canal's `es` is the binlog event's time: whole seconds, in milliseconds."""
    return milliseconds - milliseconds % 1000


def mysql_types(settings: Settings) -> PerTable:
    def text(table: Table, style: Style) -> str:
        quoted = [name for name in (table.id.name, *(c.name for c in table.columns)) if "`" in name]
        if quoted and settings["version"] < "1.1.8":
            raise UnsupportedType(
                f"{table.id}: Canal {settings['version']} stops at a row of a table with a back-quote in a name "
                f"({quoted[0]}); 1.1.8 does not."
            )
        members = (f"{quote(column_name(c.name), style)}:{quote(type_text(c, settings), style)}" for c in table.columns)
        return "{" + ",".join(members) + "}"

    return PerTable(text)


def key_names(table: Table, style: Style) -> str:
    """The key's columns in column order; null without a key."""
    names = [quote(column_name(table.columns[i].name), style) for i in sorted(table.key_positions)]
    return f"[{','.join(names)}]" if names else "null"


def by_row(value: Any, ddl: Any = None, text: Any = None) -> dict[Any, Any]:
    """The same for all kinds that change rows, others for DDL and for texts of the log."""
    return {READ: value, INSERT: value, UPDATE: value, DELETE: value, DDL: ddl, STATEMENT: text}


def gtid(settings: Settings) -> Any:
    """The set of executed transactions, this one included; "" unless Canal was started from a GTID."""
    if not settings["gtid"] and not settings["master_gtid"]:
        return ""
    server = settings["server_uuid"]
    start, _, last = (settings["master_gtid"] or "").rpartition(":")
    server = start or server
    before = int(last.rpartition("-")[2] or 0)

    def executed(own: int, foreign: str) -> str:
        count = before + own
        return f"{server}:1{f'-{count}' if count > 1 else ''}{foreign}"

    def sets(batch: ChangeBatch) -> pa.Array:
        own, foreign = batch.envelope.own, batch.envelope.foreign
        if own is not None and foreign is not None:
            pairs = zip(own.tolist(), foreign.to_pylist(), strict=True)
            return pa.array([f'"{executed(*pair)}"' for pair in pairs], pa.string())
        return join([f'"{server}:1-', pa.array(batch.envelope.txn).cast(pa.string()), '"'], len(batch))

    return PerChange(sets, lambda event: executed(*event.executed) if event.executed else f"{server}:1-{event.txn}")


def is_ddl(settings: Settings) -> PerEvent:
    return PerEvent(lambda event: settings["version"] != "1.1.4" or word(event, settings) != "QUERY")


def fields(settings: Settings) -> tuple[Field, ...]:
    """The members in wire order: alphabetical, as fastjson sorts a bean's properties."""
    version = settings["version"]
    old = Rows("changed", drop_empty=version <= "1.1.6")
    members = (
        Field("data", {**by_row(Rows("after")), DELETE: Rows("before")}),
        Field(
            "database",
            by_row(
                PerTable(lambda table, style: quote(table.id.database, style)),
                PerEvent(ddl_database),
                PerEvent(lambda event: text_table(event)[0]),
            ),
        ),
        Field("es", PerChange(lambda batch: es(batch.envelope.event_ms), lambda event: es(event.event_ms))),
        Field("gtid", gtid(settings)),
        Field("id", PerChange(lambda batch: batch.envelope.txn, lambda event: event.txn)),
        Field("isDdl", by_row(False, is_ddl(settings), False)),
        Field("mysqlType", by_row(mysql_types(settings))),
        Field("old", {**by_row(None), UPDATE: old}),
        Field("pkNames", by_row(PerTable(key_names))),
        Field("sql", by_row("", PerEvent(lambda event: event.sql), PerEvent(lambda event: event.sql))),
        Field("sqlType", by_row(Codes(lambda column: code_cell(column, settings)))),
        Field(
            "table",
            by_row(
                PerTable(lambda table, style: quote(table.id.name, style)),
                PerEvent(ddl_table),
                PerEvent(lambda event: text_table(event)[1]),
            ),
        ),
        Field("ts", PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)),
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
    return tuple(f for f in members if f.name != "gtid" or version >= "1.1.7")


STYLES: Final = {
    "1.1.4": json_style.FASTJSON1,
    "1.1.5": json_style.FASTJSON1,
    "1.1.6": json_style.FASTJSON2_RAW_CONTROLS,
}


def event_header(columns: int, images: int) -> int:
    """Bytes of a rows event without rows: 11, and a bitmap of the columns for each image (MySQL; recorded splits)."""
    return 11 + images * ((columns + 7) // 8)


POLICIES_WITHOUT_RULES: Final = ("key", "single", "table", "columns")


def layout(settings: Settings) -> Layout:
    if settings.source not in mysql.VERSIONS:
        raise NotOffered(f"-f canal-json: its values and type names are MySQL's; it has none for {settings.source}.")
    rows: int = settings["rows_per_message"]
    return Layout(
        fields=fields(settings),
        cell=lambda column: cell(column, settings),
        style=STYLES.get(settings["version"], json_style.FASTJSON2),
        member=column_name,
        # MQMessageUtils.messagePartition; canal.mq.topic is `example` in the shipped instance.properties
        routing=Routing(
            topic="example",
            policies=("rules", *POLICIES_WITHOUT_RULES) if settings["partition_hash"] else POLICIES_WITHOUT_RULES,
            combine="xor",
            reduce="abs",
            table_text="{table}",
            image="after",
            database_hash=settings["database_hash"],
            keyless="database",
            rules=settings["partition_hash"],
            topics=settings["dynamic_topic"],
            counts=settings["topic_partitions"],
            event_table=filed_under,
        ),
        # One flat message is one rows event: binlog_row_event_max_size is 8192 by default.
        typed_json=True,
        packing=Packing(mysql.packed_row_bytes, event_header, settings["event_max_size"], rows or None),
        omits=lambda event: omitted(event, settings),
    )


def switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("it is on or off")
    return text == "on"


def count(text: str) -> int:
    if not text.isdigit():
        raise ValueError("it is a whole number, 0 for no limit")
    return int(text)


def zone(text: str) -> str:
    if re.fullmatch(r"[+-](0\d|1[0-4]):[0-5]\d", text):
        return text
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("it is a time zone such as 'UTC', 'Asia/Shanghai' or '+08:00'") from None
    return text


FORMAT = Format(
    id="canal-json",
    title="Canal JSON (flat message)",
    product="Alibaba Canal",
    spec="alibaba/canal 1.1.8, FlatMessage",
    sources=("mariadb", "mysql"),
    brokers=("kafka", "rocketmq", "rabbitmq"),
    sends=frozenset({READ, INSERT, UPDATE, DELETE, DDL, STATEMENT}),
    silent=frozenset({BEGIN, COMMIT, HEARTBEAT}),
    options=(
        Option("version", "1.1.8", "Canal's version: its escapes, codes and members.", VERSIONS),
        Option(
            "mysql_type_style",
            None,
            "How mysqlType prints types; default: as typed where the log has the definition, else as the server's "
            "SHOW CREATE TABLE.",
            mysql.STYLES,
        ),
        Option("timezone", "UTC", "Time zone of Canal's JVM, in which TIMESTAMP values are printed.", parse=zone),
        Option("gtid", "off", "on: gtid holds the executed set, as when Canal was started from a GTID.", parse=switch),
        Option("server_uuid", "3e11fa47-71ca-11e1-9e33-c80aa9429562", "The source server's UUID in GTIDs."),
        Option(
            "master_gtid",
            None,
            "canal.instance.master.gtid: the GTIDs executed before the stream, UUID:1-2.",
            parse=canal_rules.gtid,
        ),
        Option(
            "partition_hash",
            "",
            "canal.mq.partitionHash, rules with ; between: shop.orders:id^region;.*\\..*:$pk$",
            parse=canal_rules.partition_hash,
        ),
        Option(
            "dynamic_topic",
            "",
            "canal.mq.dynamicTopic, rules with ; between: orders:shop.orders;shop\\..*",
            parse=canal_rules.dynamic_topic,
        ),
        Option(
            "topic_partitions",
            "",
            "canal.mq.dynamicTopicPartitionNum, with ; between: orders:3",
            parse=canal_rules.topic_partitions,
        ),
        Option(
            "filter_query_dml",
            "off",
            "canal.instance.filter.query.dml: texts of statements about rows are dropped.",
            parse=switch,
        ),
        Option(
            "text_charset",
            "connection",
            "connection: Canal takes the bytes of every text for UTF-8, as it does; "
            "column: texts are right whatever their column's character set.",
            ("connection", "column"),
        ),
        Option(
            "event_max_size",
            "8192",
            "binlog_row_event_max_size of the server: bytes of a rows event.",
            parse=canal_rules.size,
        ),
        Option(
            "database_hash", "on", "canal.mq.database.hash: the database takes part in the partition.", parse=switch
        ),
        Option(
            "rows_per_message",
            "0",
            "Rows of one statement in a message at most; 0: as many as a rows event holds.",
            parse=count,
        ),
    ),
    layout=layout,
)
