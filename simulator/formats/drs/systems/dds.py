"""Documents of MongoDB (DDS) in drs-json: a layout of their own, documents as MongoDB's shell writes them.

Spec: "Kafka Message Format" (page of 2024-03-28), table 3 and its samples; documents have the text of MongoDB's Java
driver 4 (JsonMode.SHELL), which the samples match.

| | op | value | where | recordType, extra |
| --- | --- | --- | --- | --- |
| insert | INSERT | the document | null | insert |
| replace | UPDATE | the new document | the key | replace |
| update | UPDATE | `{"$unset": {…}, "$set": {…}}`, without the empty part | the key | update |
| delete | DELETE | the key | null | doc |
| command | DDL | the command | null | command |

Decided here: clusterTime has the seconds of es (in the samples es and ts are eight hours and some minutes behind
clusterTime and the ObjectIds, which agree: the clock of their machines); the text of commands; a document that is
updated to what it was has the value `{}`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch
from simulator.formats.drs.options import SourceOptions
from simulator.formats.drs.systems.names import Names
from simulator.formats.drs.systems.system import DocumentSystem
from simulator.formats.members import EVENT_MS, WRITE_MS, per_entry, table_of
from simulator.model import DDL, DELETE, INSERT, UPDATE, SchemaChange, SchemaChangeKind, Table
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb.shell import Shell
from simulator.sources.source import Source
from simulator.text import json_style
from simulator.text.json_style import Style, quote
from simulator.text.template import constant, join
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, PerChange, PerEvent, PerTable

TITLE: Final = "MongoDB"
NAMES: Final = Names(r'[/\\."$ ]', r"\$|^system\.")
STYLE: Final = json_style.HTML_SAFE

# Documents in keys of messages, and inside JSON strings.
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
    return _quoted(mongodb_documents.documents(batch.table, batch.image(), SPELLING))


def key(batch: ChangeBatch) -> pa.Array:
    """The document key: `{"_id": 1}`."""
    return _quoted(mongodb_documents.keys(batch.table, batch.image(), SPELLING))


def change(batch: ChangeBatch) -> pa.Array:
    """The new document of a replace; of an update what it unsets and what it sets, in this order."""
    replaced = mongodb_documents.replaced(batch)
    if not replaced.any():
        return _updated(batch)
    if replaced.all():
        return document(batch)
    replacements, updates = np.flatnonzero(replaced), np.flatnonzero(~replaced)
    texts = pa.concat_arrays([document(batch.take(replacements)), _updated(batch.take(updates))])
    return texts.take(pa.array(np.argsort(np.concatenate([replacements, updates]))))


def _updated(batch: ChangeBatch) -> pa.Array:
    sets, unsets = mongodb_documents.updates(batch, lambda path: f"{INSIDE.key(path)}: true", SPELLING)
    count = len(batch)
    nothing = constant("")
    has_set, has_unset = pc.not_equal(sets, nothing), pc.not_equal(unsets, nothing)
    set_part = join([_SET, sets, "}"], count)
    if not pc.all(has_set).as_py():
        set_part = pc.if_else(has_set, set_part, nothing)
    if not pc.any(has_unset).as_py():
        return join(['"{', set_part, '}"'], count)
    unset_part = pc.if_else(has_unset, join([_UNSET, unsets, "}"], count), nothing)
    comma = pc.if_else(pc.and_(has_set, has_unset), constant(", "), nothing)
    return join(['"{', unset_part, comma, set_part, '}"'], count)


def record_type(batch: ChangeBatch) -> pa.Array:
    replaced = pa.array(mongodb_documents.replaced(batch))
    return pc.if_else(replaced, constant('"replace"'), constant('"update"'))


def collection(event: SchemaChange) -> str:
    table = table_of(event)
    return table.id.name if table else ""


def fields(source: Source) -> tuple[Field, ...]:
    """Table 3, in the order of its samples."""
    words = {INSERT: "insert", UPDATE: PerChange(record_type), DELETE: "doc", DDL: "command"}

    def checked_name(table: Table, style: Style) -> str:
        NAMES.check(table, "drs-json", TITLE)
        return quote(table.id.name, style)

    name = PerTable(checked_name)
    database = PerTable(lambda table, style: quote(table.id.database, style))
    changes = (INSERT, UPDATE, DELETE)
    return (
        Field("id", PerChange(lambda batch: batch.envelope.offset, lambda event: event.offset)),
        Field("op", {INSERT: "INSERT", UPDATE: "UPDATE", DELETE: "DELETE", DDL: "DDL"}),
        Field("dbType", TITLE),
        Field("db", {**dict.fromkeys(changes, database), DDL: PerEvent(lambda event: event.database)}),
        Field("coll", {**dict.fromkeys(changes, name), DDL: PerEvent(collection)}),
        Field(
            "value",
            {
                INSERT: PerChange(document),
                UPDATE: PerChange(change),
                DELETE: PerChange(key),
                DDL: PerEvent(lambda event: event.sql),
            },
        ),
        Field("where", {**dict.fromkeys((*changes, DDL)), UPDATE: PerChange(key)}),
        Field("recordType", words),
        Field("extra", words),
        Field("es", EVENT_MS),
        Field("ts", WRITE_MS),
        Field("clusterTime", per_entry(source.log.position)),
    )


def writer(source: Source) -> Encoder:
    """Writer of messages; the key is the shell's text of `_id`."""
    return Encoder(fields(source), lambda column: Cell(lambda array: PLAIN.text(column, array)), STYLE)


def system(options: SourceOptions) -> DocumentSystem:
    return DocumentSystem(
        title=TITLE,
        table_text="{database}.{table}",
        schema_text="{database}",
        topics=("single", "table", "database"),
        ddl=True,
        # "only drop database, drop collection, rename" (From DDS to Kafka)
        statements=frozenset(
            {SchemaChangeKind.DROP_DATABASE, SchemaChangeKind.DROP_TABLE, SchemaChangeKind.RENAME_TABLE}
        ),
        writer=writer,
        names=NAMES,
    )
