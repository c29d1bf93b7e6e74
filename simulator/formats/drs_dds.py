"""How DRS writes documents of MongoDB (DDS): one layout of its own, documents as MongoDB's shell writes them.

Spec: "Kafka Message Format" (page of 2024-03-28), table 3 and its samples; the text of documents is that of MongoDB's
Java driver 4 (JsonMode.SHELL), which the samples match.

| | op | value | where | recordType, extra |
| --- | --- | --- | --- | --- |
| insert | INSERT | the document | null | insert |
| replace | UPDATE | the new document | the key | replace |
| update | UPDATE | `{"$unset": {…}, "$set": {…}}`, without what is empty | the key | update |
| delete | DELETE | the key | null | doc |
| command | DDL | the command | null | command |

Decided here: clusterTime has the seconds of es (in the samples it is eight hours ahead, which is taken for a slip of
their machines); how commands look; a document that is updated to what it was has the value `{}`.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.formats import drs
from simulator.formats.drs import Names
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, Column, ColumnType, SchemaChange, SchemaChangeKind
from simulator.sources import mongodb
from simulator.sources import mongodb_json as bson
from simulator.wire import binlog_text, java, json_style
from simulator.wire.fields import Cell, Field, PerChange, PerEvent, PerTable, plain
from simulator.wire.format import Layout, Settings
from simulator.wire.json_style import escape, quote
from simulator.wire.template import join

# ---------------------------------------------------------------------------------------------------- the shell's text

# Characters of these categories stand as they are; all others are \uXXXX, each UTF-16 unit of them.
_RAW: Final = ("Lu", "Ll", "Lt", "Lo", "N", "Zs", "P", "S")
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_EASY: Final = r"^[ !#-\[\]-~]*$"
# What the driver prints as a date, in milliseconds; other moments are numbers.
_FIRST_MS, _LAST_MS = -59_014_396_800_000, 253_399_536_000_000
_MILLISECONDS: Final = ColumnType("datetime", 3)


@lru_cache(maxsize=1)
def _escapes() -> Mapping[int, str]:
    odd = {code: f"\\u{code:04x}" for code in range(0x10000) if not unicodedata.category(chr(code)).startswith(_RAW)}
    return odd | {ord(character): text for character, text in _SHORT.items()}


def _units(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be")
    return f"\\u{data[:2].hex()}\\u{data[2:].hex()}"


def shell_string(text: str) -> str:
    r"""A string in quotes.

    >>> shell_string("a\"/é中"), shell_string("\x7f\N{GRINNING FACE}")
    ('"a\\"/é中"', '"\\u007f\\ud83d\\ude00"')
    """
    return f'"{_ASTRAL.sub(_units, text.translate(_escapes()))}"'


def shell_double(value: float) -> str:
    return str(java.double_text(pa.array([value]))[0].as_py())


def shell_long(value: int) -> str:
    return f"NumberLong({value})" if -(1 << 31) <= value < 1 << 31 else f'NumberLong("{value}")'


def shell_date(ms: int) -> str:
    return f'ISODate("{bson.iso_text(ms)}")' if _FIRST_MS <= ms <= _LAST_MS else f"new Date({ms})"


def shell_binary(subtype: int, data: bytes) -> str:
    return f'new BinData({subtype}, "{b64encode(data).decode()}")'


def _regex(value: bson.Regex) -> str:
    return f"/{value.pattern.replace('/', chr(92) + '/') or '(?:)'}/{value.options}"


def _code(value: bson.Code) -> str:
    scope = "" if value.scope is None else f', "$scope": {shell(value.scope)}'
    return f'{{"$code": {shell_string(value.text)}{scope}}}'


_LEAVES: Final[Mapping[type, Callable[[Any], str]]] = {
    str: shell_string,
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    bson.Long: shell_long,
    int: str,
    float: shell_double,
    bson.ObjectId: lambda value: f'ObjectId("{value.text}")',
    bson.Decimal128: lambda value: f'NumberDecimal("{value.text}")',
    bson.Date: lambda value: shell_date(value.ms),
    bson.Timestamp: lambda value: f"Timestamp({value.seconds}, {value.ordinal})",
    bson.Binary: lambda value: shell_binary(value.subtype, value.data),
    bson.Regex: _regex,
    bson.Code: _code,
    bson.Symbol: lambda value: f'{{"$symbol": {shell_string(value.text)}}}',
    bson.DBPointer: lambda value: f'{{"$ref": {shell_string(value.namespace)}, "$id": ObjectId("{value.id}")}}',
    bson.Special: lambda value: {"minKey": "MinKey", "maxKey": "MaxKey", "undefined": "undefined"}[value.value],
}


def shell_leaf(value: Any) -> str:
    return _LEAVES[type(value)](value)


def shell(value: Any) -> str:
    """A tree of documents, arrays and leaves.

    >>> shell(bson.loads('{"a": [1, 2.0, {"$numberLong": "7"}], "b": {"$oid": "0123456789abcdef01234567"}}'))
    '{"a": [1, 2.0, NumberLong(7)], "b": ObjectId("0123456789abcdef01234567")}'
    """
    return bson.write(value, shell_leaf, key=shell_string)


def shell_text(column: Column, array: pa.Array) -> pa.Array:
    """A field's values as the shell writes them; nulls, which are fields that are not there, stay null."""
    type = column.type
    if pa.types.is_dictionary(array.type):
        return shell_text(column, array.dictionary).take(array.indices)
    match type.name:
        case "string":
            return _strings(array)
        case "int":
            return array.cast(pa.string())
        case "long":
            small = pc.and_(pc.greater_equal(array, -(1 << 31)), pc.less(array, 1 << 31))
            text, count = array.cast(pa.string()), len(array)
            return pc.if_else(small, join(["NumberLong(", text, ")"], count), join(['NumberLong("', text, '")'], count))
        case "double":
            return java.double_text(array)
        case "bool":
            return pc.if_else(array, "true", "false")
        case "objectId":
            return join(['ObjectId("', array, '")'], len(array))
        case "decimal":
            return join(['NumberDecimal("', array.cast(pa.string()), '")'], len(array))
        case "date" if _is_ordinary(array):
            text = pc.replace_substring(binlog_text.datetime_fixed(array, _MILLISECONDS), " ", "T")
            return join(['ISODate("', text, 'Z")'], len(array))
    write: Callable[[Any], str] = {
        "date": lambda us: shell_date(us // 1000),
        "binData": lambda data: shell_binary(mongodb.subtype(type), data),
        "timestamp": lambda packed: f"Timestamp({packed >> 32}, {packed & 0xFFFFFFFF})",
    }.get(type.name, lambda text: shell(bson.loads(text)))
    coded = (array.view(pa.int64()) if pa.types.is_temporal(array.type) else array).dictionary_encode()
    return pa.array([write(value) for value in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def _strings(array: pa.Array) -> pa.Array:
    """Most texts need no escape, and those that do are made one by one."""
    easy = pc.match_substring_regex(array, _EASY).fill_null(True)
    quoted = join(['"', array, '"'], len(array))
    if pc.all(easy).as_py() is not False:
        return quoted
    hard = pc.invert(easy)
    texts = [shell_string(text) for text in array.filter(hard).to_pylist()]
    return pc.replace_with_mask(quoted, hard, pa.array(texts, pa.string()))


def _is_ordinary(array: pa.Array) -> bool:
    us = np.asarray(array.view(pa.int64()).fill_null(0))
    return not len(us) or bool(us.min() >= _FIRST_MS * 1000 and us.max() <= _LAST_MS * 1000)


SHELL: Final = mongodb.Spelling(text=shell_text, leaf=shell_leaf, key=shell_string)

# ---------------------------------------------------------------------------------------------------------- the message

STYLE: Final = json_style.HTML_SAFE
NAMES: Final = Names(
    table_text="{database}.{table}",
    schema_text="{database}",
    topics=("single", "table", "database"),
    ddl=True,
)
# "Only drop database, drop collection, rename" (From DDS to Kafka).
COMMANDS: Final = frozenset(
    {SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.DROP_TABLE, SchemaChangeKind.RENAME_TABLE}
)


def _quoted(texts: pa.Array) -> pa.Array:
    """Texts as JSON strings."""
    return join(['"', escape(texts, STYLE), '"'], len(texts))


def document(batch: ChangeBatch) -> pa.Array:
    """The whole document after the change."""
    return _quoted(mongodb.documents(batch.table, batch.image(), SHELL))


def key(batch: ChangeBatch) -> pa.Array:
    """What names the document: `{"_id": 1}`."""
    return _quoted(mongodb.keys(batch.table, batch.image(), SHELL))


def change(batch: ChangeBatch) -> pa.Array:
    """The new document of a replace; of an update what it unsets and what it sets, in this order."""
    sets, unsets = mongodb.updates(batch, lambda path: f"{shell_string(path)}: true", SHELL)
    sets, unsets = plain(sets).fill_null(""), plain(unsets).fill_null("")
    count = len(batch)
    some, gone = pc.not_equal(sets, ""), pc.not_equal(unsets, "")
    first = pc.if_else(gone, join(['"$unset": {', unsets, "}"], count), "")
    comma = pc.if_else(pc.and_(some, gone), ", ", "")
    second = pc.if_else(some, join(['"$set": {', sets, "}"], count), "")
    updated = join(["{", first, comma, second, "}"], count)
    replaced = mongodb.replaced(batch)
    if replaced.any():
        assert batch.after is not None
        updated = pc.if_else(pa.array(replaced), mongodb.documents(batch.table, batch.after, SHELL), updated)
    return _quoted(updated)


def record_type(batch: ChangeBatch) -> pa.Array:
    return pc.if_else(pa.array(mongodb.replaced(batch)), '"replace"', '"update"')


def cluster_time(batch: ChangeBatch) -> pa.Array:
    return _quoted(mongodb.cluster_time(batch.envelope.event_ms, batch.envelope.in_second))


def collection(event: SchemaChange) -> str:
    table = event.before or event.after
    return table.id.name if table else ""


def fields() -> tuple[Field, ...]:
    """Table 3, in the order of its samples."""
    words: dict[Any, Any] = {
        READ: "insert", INSERT: "insert", UPDATE: PerChange(record_type), DELETE: "doc", DDL: "command"
    }  # fmt: skip
    name = PerTable(lambda table, style: quote(table.id.name, style))
    database = PerTable(lambda table, style: quote(table.id.database, style))
    every = (READ, INSERT, UPDATE, DELETE)
    return (
        Field("id", PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)),
        Field("op", {READ: "INSERT", INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: "DDL"}),
        Field("dbType", "MongoDB"),
        Field("db", {**dict.fromkeys(every, database), DDL: PerEvent(lambda event: event.database)}),
        Field("coll", {**dict.fromkeys(every, name), DDL: PerEvent(collection)}),
        Field(
            "value",
            {
                READ: PerChange(document),
                INSERT: PerChange(document),
                UPDATE: PerChange(change),
                DELETE: PerChange(key),
                DDL: PerEvent(lambda event: event.sql),
            },
        ),
        Field("where", {**dict.fromkeys((*every, DDL)), UPDATE: PerChange(key)}),
        Field("recordType", words),
        Field("extra", words),
        Field("es", PerChange(lambda batch: batch.envelope.event_ms, lambda event: event.event_ms)),
        Field("ts", PerChange(lambda batch: batch.envelope.write_ms, lambda event: event.write_ms)),
        Field(
            "clusterTime",
            PerChange(cluster_time, lambda event: mongodb.cluster_time_text(event.event_ms, event.in_second)),
        ),
    )


def layout(settings: Settings, format: str) -> Layout:
    """How changes of documents are written; a key of messages is the shell's text of `_id`."""
    return Layout(
        fields=fields(),
        cell=lambda column: Cell(lambda array: shell_text(column, array)),
        style=STYLE,
        routing=drs.routing(settings, format, NAMES),
        sends=drs.sends(settings, NAMES),
        statements=COMMANDS,
    )
