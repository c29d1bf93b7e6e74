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

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.formats.drs import envelope as drs
from simulator.formats.drs.envelope import Names
from simulator.formats.format import Layout
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, SchemaChange, SchemaChangeKind
from simulator.sources import mongodb
from simulator.sources.mongodb.shell import Shell
from simulator.text import json_style
from simulator.text.json_style import quote
from simulator.text.template import join
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, PerChange, PerEvent, PerTable

STYLE: Final = json_style.HTML_SAFE
NAMES: Final = Names(
    table_text="{database}.{table}",
    schema_text="{database}",
    topics=("single", "table", "database"),
    ddl=True,
    # "only drop database, drop collection, rename" (From DDS to Kafka)
    statements=frozenset({SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.DROP_TABLE, SchemaChangeKind.RENAME_TABLE}),
)


# Documents as they are in keys of messages, and inside of JSON strings.
PLAIN: Final = Shell()
INSIDE: Final = Shell(STYLE)
SPELLING: Final = INSIDE.spelling
_UNSET: Final = f"{INSIDE.key('$unset')}: {{"
_SET: Final = f"{INSIDE.key('$set')}: {{"


def _quoted(texts: pa.Array) -> pa.Array:
    """Escaped texts as JSON strings."""
    return join(['"', texts, '"'], len(texts))


def document(batch: ChangeBatch) -> pa.Array:
    """The whole document after the change."""
    return _quoted(mongodb.documents(batch.table, batch.image(), SPELLING))


def key(batch: ChangeBatch) -> pa.Array:
    """What names the document: `{"_id": 1}`."""
    return _quoted(mongodb.keys(batch.table, batch.image(), SPELLING))


def change(batch: ChangeBatch) -> pa.Array:
    """The new document of a replace; of an update what it unsets and what it sets, in this order."""
    replaced = mongodb.replaced(batch)
    if not replaced.any():
        return _updated(batch)
    if replaced.all():
        return document(batch)
    whole, parts = np.flatnonzero(replaced), np.flatnonzero(~replaced)
    texts = pa.concat_arrays([document(batch.take(whole)), _updated(batch.take(parts))])
    return texts.take(pa.array(np.argsort(np.concatenate([whole, parts]))))


def _updated(batch: ChangeBatch) -> pa.Array:
    sets, unsets = mongodb.updates(batch, lambda path: f"{INSIDE.key(path)}: true", SPELLING)
    count = len(batch)
    some, gone = pc.not_equal(sets, ""), pc.not_equal(unsets, "")
    told = join([_SET, sets, "}"], count)
    if not pc.all(some).as_py():
        told = pc.if_else(some, told, "")
    if not pc.any(gone).as_py():
        return join(['"{', told, '}"'], count)
    comma = pc.if_else(pc.and_(some, gone), ", ", "")
    return join(['"{', pc.if_else(gone, join([_UNSET, unsets, "}"], count), ""), comma, told, '}"'], count)


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


def layout(settings: drs.DrsSettings, format: str) -> Layout:
    """How changes of documents are written; a key of messages is the shell's text of `_id`."""
    encoder = Encoder(fields(), lambda column: Cell(lambda array: PLAIN.text(column, array)), STYLE)
    return drs.layout(settings, format, NAMES, encoder)
