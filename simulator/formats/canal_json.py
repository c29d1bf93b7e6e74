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
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.carriers import numbers
from simulator.errors import NotOffered
from simulator.formats import canal_rules
from simulator.formats.canal_json_column import json_column
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    READ,
    STATEMENT,
    UNTOLD,
    UPDATE,
    Column,
    ColumnType,
    Event,
    LoggedStatement,
    SchemaChange,
    SchemaChangeKind,
    StatementKind,
    Table,
)
from simulator.routing import Packing, Routing
from simulator.sources import mysql
from simulator.wire import binlog_text, json_style
from simulator.wire.fields import Cell, Codes, Field, PerChange, PerEvent, PerTable, Rows
from simulator.wire.format import Format, Layout, Option, Settings
from simulator.wire.json_style import Style, quote
from simulator.wire.template import join, repeat

VERSIONS: Final = ("1.1.4", "1.1.5", "1.1.6", "1.1.7", "1.1.8")

# ------------------------------------------------------------------------------------------------ values and type codes

# Column values: type name (or family of types) to its text. Canal LogBuffer.fetchValue, LogEventConvert.parseOneRow.
TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,
    "decimal": binlog_text.decimal_groups,
    "float": binlog_text.float_,
    "bit": binlog_text.bit,
    "date": binlog_text.date,
    "datetime": binlog_text.datetime_fixed,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,
    "binary": binlog_text.latin1_bytes,
    "json": binlog_text.text,
    "enum": binlog_text.enum_index,
    "set": binlog_text.set_mask,
    "geometry": binlog_text.latin1_bytes,
}
ESCAPED: Final = frozenset({"text", "binary", "json", "geometry"})

# java.sql.Types of values that are there and, where it differs, of nulls: since 1.1.7, and up to 1.1.6.
NULL_CODES: Final = {"json": 1111, "set": 2004}
OLD_NULL_CODES: Final = {
    "json": 1111,
    "set": -2,
    "char": 1,
    "varchar": 12,
    "tinytext": -3,
    "text": -4,
    "mediumtext": -4,
    "longtext": -4,
    "binary": -2,
    "varbinary": -3,
    "tinyblob": -3,
    "blob": -4,
    "mediumblob": -4,
    "longblob": -4,
    "geometry": -2,
}
# Unsigned values above the signed type's highest go up a type: LogEventConvert, "处理unsigned类型".
PROMOTED: Final = {"tinyint": (127, 5), "smallint": (32767, 4), "int": (2**31 - 1, -5), "bigint": (2**63 - 1, 3)}
# A text column is text to Canal only when its type is spelled like this; `text(30)` as typed in DDL is bytes.
TEXT_SPELLINGS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext"})


def type_text(column: Column, settings: Settings) -> str:
    style = settings["mysql_type_style"]
    if style is None:
        # Canal's store of table definitions: what a statement that it read typed, else what the server prints.
        read = column.typed_in and readable(column.typed_in)
        style = "ddl_text" if read else mysql.VERSIONS[settings.source].type_style
    return mysql.type_text(column.type, style=style)


def cell(column: Column, settings: Settings) -> Cell:
    """How a column's values are written: always a string."""
    type, family, version = column.type, mysql.family(column.type), settings["version"]
    if checked_text(column, settings) or misread(column, settings):
        codec = mysql.CHARSETS[type.charset or mysql.DEFAULT_CHARSET][1]
        return Cell(lambda array: binlog_text.latin1_bytes(as_bytes(array, codec), type), escaped=True)
    if family == "json":
        return Cell(lambda array: json_column(array, version), escaped=True)
    charset = type.charset or mysql.DEFAULT_CHARSET
    if family == "text" and settings["text_charset"] == "connection" and not charset.startswith("utf8"):
        return Cell(lambda array: in_charset(array, charset), escaped=True)
    if read_as_text(column, settings):
        return Cell(lambda array: as_text(array, type), escaped=True)
    if type.name == "binary":
        return Cell(lambda array: binlog_text.binary_stripped(array, type), escaped=True)
    if type.name == "timestamp":
        zone = settings["timezone"]
        return Cell(lambda array: binlog_text.datetime_fixed(array, type, zone=zone))
    if family == "time" and version <= "1.1.5":
        return Cell(lambda array: old_time(binlog_text.time_fixed(array, type), type.length or 0, version))
    render = TEXT[family]
    parts = (lambda array: binlog_text.decimal_parts(array, grouped=True)) if family == "decimal" else None
    return Cell(lambda array: render(array, type), escaped=family in ESCAPED, parts=parts)


def checked_text(column: Column, settings: Settings) -> bool:
    """A JSON column of MariaDB, which is text that the server checks: bytes to Canal."""
    return column.type.name == "json" and settings.source.startswith("mariadb")


def misread(column: Column, settings: Settings) -> bool:
    """A TEXT column that Canal takes for bytes, since its type was typed as `text(30)` or `long`."""
    family = mysql.family(column.type)
    lob = family == "text" and column.type.name not in ("char", "varchar")
    return lob and type_text(column, settings).lower() not in TEXT_SPELLINGS


def in_charset(array: pa.Array, charset: str) -> pa.Array:
    """Texts as Canal reads the bytes of a column in another character set: as if they were UTF-8."""
    codec = mysql.CHARSETS[charset][1]
    values = decoded(array).to_pylist()
    raw = [None if value is None else _encoded(value, codec) for value in values]
    return pa.array([None if value is None else value.decode(errors="replace") for value in raw], pa.string())


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:  # the five bytes that MySQL's latin1 has and Windows-1252 lacks
        return b"".join(c.encode(codec, "ignore") or c.encode("latin-1", "replace") for c in text)


def read_as_text(column: Column, settings: Settings) -> str:
    """The text type that Canal takes a column of bytes for, typed as `varchar(10) character set binary`; else ""."""
    name = type_text(column, settings).lower().partition("(")[0]
    typed_as_text = mysql.family(column.type) == "binary" and name in ("char", "varchar", *TEXT_SPELLINGS)
    return name if typed_as_text else ""


def as_bytes(array: pa.Array, codec: str = "utf-8") -> pa.Array:
    if codec == "utf-8":
        return decoded(array).cast(pa.binary())
    values = decoded(array).to_pylist()
    return pa.array([None if value is None else _encoded(value, codec) for value in values], pa.binary())


def as_text(array: pa.Array, type: ColumnType) -> pa.Array:
    """Bytes decoded as UTF-8, U+FFFD where they are none."""
    values = decoded(array)
    if type.name == "binary":
        values = binlog_text.without_trailing_zeros(values)
    texts = [None if value is None else value.decode(errors="replace") for value in values.to_pylist()]
    return pa.array(texts, pa.string())


def old_time(texts: pa.Array, fraction: int, version: str) -> pa.Array:
    """TIME as old parsers print it: up to 1.1.5 `-00:00:00.5` loses its sign, in 1.1.4 hours from 100 lose a digit."""
    if 1 <= fraction <= 4:
        texts = pc.replace_substring_regex(texts, r"^-(00:00:00\.)", r"\1")
    if version == "1.1.4":
        limit = pc.match_substring_regex(texts, r"^-?838:59:59")
        texts = pc.if_else(limit, texts, pc.replace_substring_regex(texts, r"^(-?)\d(\d\d:)", r"\1\2"))
    return texts


def code_cell(column: Column, settings: Settings) -> Cell:
    """A column's java.sql.Types code, which depends on the value for unsigned columns and nulls."""
    type, version = column.type, settings["version"]
    code = mysql.TYPES[read_as_text(column, settings) or type.name].jdbc
    # nulls have their code from what the binary log says of the column
    stored = "longblob" if checked_text(column, settings) else type.name
    if stored != type.name or misread(column, settings):
        code = 2004
    nulls = NULL_CODES if version >= "1.1.7" else OLD_NULL_CODES
    null = nulls.get(stored, nulls.get(mysql.TYPES[stored].family, code))
    if (
        type.name == "tinyint"
        and version == "1.1.4"
        and type.length == 1
        and not type.spelled.lower().startswith("bool")
    ):
        code = -7
    high, promoted = PROMOTED.get(type.name, (0, 0)) if type.unsigned else (0, 0)
    if null == code and not promoted:
        return Cell(decoded, quoted=False, constant=str(code))

    codes = pa.array([str(code), str(promoted), str(null)], pa.string())

    def text(array: pa.Array) -> pa.Array:
        if array.null_count == 0 and not promoted:
            return repeat(str(code), len(array))
        which = np.zeros(len(array), dtype=np.int8)
        if promoted:
            which[numbers(array) > high] = 1
        if array.null_count:
            which[np.asarray(array.is_null())] = 2
        return codes.take(pa.array(which))

    return Cell(text, quoted=False)


# --------------------------------------------------------------------------------------------------------------- fields


def es(milliseconds: Any) -> Any:
    """Canal's `es` is the binlog event's time: whole seconds, in milliseconds."""
    return milliseconds - milliseconds % 1000


def mysql_types(settings: Settings) -> PerTable:
    def text(table: Table, style: Style) -> str:
        members = (f"{quote(column_name(c.name), style)}:{quote(type_text(c, settings), style)}" for c in table.columns)
        return "{" + ",".join(members) + "}"

    return PerTable(text)


def key_names(table: Table, style: Style) -> str:
    """The key's columns in column order; null without a key."""
    names = [quote(column_name(table.columns[i].name), style) for i in sorted(table.key_positions)]
    return f"[{','.join(names)}]" if names else "null"


# Types that Canal's parser does not know in a CREATE or ALTER TABLE (captured); the whole statement is unread then.
_UNREAD: Final = re.compile(
    r"(national\s+char|nchar|national\s+character|char)\s+varying\b|national\s+character\b|nchar\s+varchar\b"
    r"|long\s+var|.*\sbyte$",
    re.IGNORECASE,
)


def readable(types: Sequence[str]) -> bool:
    """Whether Canal's parser reads a statement with columns of these types, as typed."""
    return not any(_UNREAD.match(text) for text in types)


def column_name(name: str) -> str:
    """A back-quote in a name stays doubled, as it was typed (captured)."""
    return name.replace("`", "``")


# EventType of a DDL statement: DruidDdlParser.
WORDS: Final = {
    SchemaChangeKind.CREATE_DATABASE: "QUERY",
    SchemaChangeKind.DROP_DATABASE: "QUERY",
    SchemaChangeKind.CREATE_TABLE: "CREATE",
    SchemaChangeKind.ADD_COLUMN: "ALTER",
    SchemaChangeKind.ALTER_COLUMN_TYPE: "ALTER",
    SchemaChangeKind.RENAME_COLUMN: "ALTER",
    SchemaChangeKind.DROP_COLUMN: "ALTER",
    SchemaChangeKind.TRUNCATE_TABLE: "TRUNCATE",
    SchemaChangeKind.RENAME_TABLE: "RENAME",
    SchemaChangeKind.DROP_TABLE: "ERASE",
    SchemaChangeKind.CREATE_INDEX: "CINDEX",
    SchemaChangeKind.DROP_INDEX: "DINDEX",
    SchemaChangeKind.ALTER_TABLE: "ALTER",
    SchemaChangeKind.TABLE_OPTIONS: "ALTER",
    SchemaChangeKind.DROP_FOREIGN_KEY: "DINDEX",
    SchemaChangeKind.ALTER_VIEW: "QUERY",
    SchemaChangeKind.ALTER_USER: "QUERY",
}
# Of a text in the log that is no DDL: LogEventConvert.parseQueryEvent and its kin. A text before rows is a QUERY.
STATEMENT_WORDS: Final = {
    StatementKind.INSERT: "INSERT",
    StatementKind.UPDATE: "UPDATE",
    StatementKind.DELETE: "DELETE",
    StatementKind.XA_COMMIT: "XACOMMIT",
    StatementKind.XA_ROLLBACK: "XAROLLBACK",
}
_DATABASE_NAME: Final = re.compile(
    r"(?:database|schema)\s+(?:if\s+(?:not\s+)?exists\s+)?(`(?:[^`]|``)+`)", re.IGNORECASE
)


def word(event: SchemaChange, settings: Settings) -> str:
    """The `type` of a DDL statement."""
    if event.kind is SchemaChangeKind.DROP_FOREIGN_KEY and settings["version"] < "1.1.8":
        return "ALTER"
    return "QUERY" if unread(event) else WORDS[event.kind]


def unread(event: SchemaChange) -> bool:
    """A CREATE TABLE that Canal's parser does not understand."""
    if event.kind is not SchemaChangeKind.CREATE_TABLE or event.after is None:
        return False
    return not readable([text for column in event.after.columns for text in column.typed_in])


def omitted(event: Event, settings: Settings) -> bool:
    """Statements that Canal drops: of no table, a replacement as text, and by version."""
    version = settings["version"]
    if isinstance(event, LoggedStatement):
        return event.kind is StatementKind.REPLACE or (
            settings["filter_query_dml"] and event.kind not in (StatementKind.XA_COMMIT, StatementKind.XA_ROLLBACK)
        )
    if not isinstance(event, SchemaChange):
        return False
    if event.kind in (SchemaChangeKind.ALTER_VIEW, SchemaChangeKind.ALTER_USER):
        # 1.1.8 reads these on MySQL and drops them, but not what MariaDB logs
        return version >= "1.1.8" and not settings.source.startswith("mariadb")
    if event.kind is SchemaChangeKind.TABLE_OPTIONS:
        return bool(version <= "1.1.5")
    return event.kind in UNTOLD


def ddl_database(event: SchemaChange) -> str:
    """The database that a statement is about: as typed where it makes or drops one, "" where it was not understood."""
    if event.kind in (SchemaChangeKind.CREATE_DATABASE, SchemaChangeKind.DROP_DATABASE):
        typed = _DATABASE_NAME.search(event.sql)
        return typed[1] if typed else event.database
    if event.kind in (SchemaChangeKind.ALTER_VIEW, SchemaChangeKind.ALTER_USER) or unread(event):
        return ""
    return event.database


def text_table(event: LoggedStatement) -> tuple[str, str]:
    """(database, table) of a text in the log."""
    if event.kind is StatementKind.ROWS_QUERY:
        return "", event.table
    return ("", "") if event.kind is StatementKind.ANNOTATION else (event.database, event.table)


def ddl_table(event: SchemaChange) -> str:
    """The table a statement is about: the new name of a rename, "" for a database's."""
    renames = event.kind is SchemaChangeKind.RENAME_TABLE
    table = (event.after or event.before) if renames else (event.before or event.after)
    return "" if table is None or unread(event) else column_name(table.id.name)


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


def filed_under(event: Event) -> tuple[str, str, str]:
    """(database, schema, table) by which the topic of a single event is chosen: what the message itself says."""
    if isinstance(event, SchemaChange):
        return ddl_database(event), "", ddl_table(event)
    return (text_table(event)[0], "", text_table(event)[1]) if isinstance(event, LoggedStatement) else ("", "", "")


def layout(settings: Settings) -> Layout:
    if settings.source not in mysql.VERSIONS:
        raise NotOffered(f"-f canal-json: its values and type names are MySQL's; it has none for {settings.source}.")
    rows: int = settings["rows_per_message"]
    return Layout(
        fields=fields(settings),
        cell=lambda column: cell(column, settings),
        style=STYLES.get(settings["version"], json_style.FASTJSON2),
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
