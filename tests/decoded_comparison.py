"""Decoded messages held against the batch they were made of: the operation, the table, its key, the time, and each
value of each image, as far as the format carries them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from building import PREVIOUS_MS, codec_of

from simulator import sources
from simulator.batch import ChangeBatch
from simulator.delivery.steps.times import previous_commits
from simulator.formats.writing import kind_of
from simulator.model import DDL, DELETE, INSERT, MARKS, READ, ROW_KINDS, Kind, Message, SchemaChange
from simulator.split import split
from simulator.stream.engine.block import Block
from simulator.truth.decoders import changes, find, reading, statement
from simulator.truth.decoders.change import CHANGED, KEY, NOTHING, UNSET, Change, Image
from simulator.truth.decoders.json_text import Number
from simulator.truth.decoders.values import Reading, carried

# ------------------------------------------------------------------------------------------- what formats leave away

# Columns that other rows of the event changed are there too; and a document may be replaced as a whole.
OTHERS_TOO: Final = ("canal-json of mysql", "canal-json of mariadb", "drs-json of mongodb")
# These write texts of their own for some statements.
OWN_TEXTS: Final = ("debezium-avro", "debezium-json")
# A field that is null and one that is not there are the same.
DOCUMENTS: Final = (
    "dts-avro of mongodb", "cloudcanal-dts-avro of mongodb", "drs-json of mongodb",
    "debezium-json of mongodb", "debezium-avro of mongodb",
)  # fmt: skip


# ----------------------------------------------------------------------------------------------------- the comparison


class Expected:
    """The changes of a batch, to hold decoded ones against."""

    def __init__(self, format: str, source: str, batch: ChangeBatch) -> None:
        self.batch, self.source, self.format = batch, sources.find(source), format
        self.at = f"{format.partition(',')[0]} of {self.source.id}"
        self.columns = {column.name: column for column in batch.table.columns}
        self.readings = {name: reading(format, source, column.type) for name, column in self.columns.items()}
        lost = find(format).not_deleted.get(self.source.id, ()) if batch.kind is DELETE else ()
        self.readings |= {n: Reading(left_out=True) for n, c in self.columns.items() if c.type.name in lost}
        self.left_out = {name for name, how in self.readings.items() if how.left_out}
        previous = previous_commits in codec_of(format, source).layout.steps
        self.event_ms = [PREVIOUS_MS] * len(batch) if previous else batch.envelope.event_ms.tolist()
        places = range(len(self.columns))
        self.before = self._rows(None if batch.before is None else [batch.full_before(place) for place in places])
        self.after = self._rows(batch.after)

    def _rows(self, columns: Any) -> list[Image]:
        if columns is None:
            return [None] * len(self.batch)
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*map(carried, columns), strict=True)]

    def problems(self, row: int, found: Change) -> Iterator[str]:
        """What a decoded change says wrong."""
        kind, table = self.batch.kind, self.batch.table
        if found.op is not kind and not (kind is READ and found.op is INSERT):
            yield f"the operation is {found.op.name}"
        if found.table != table.id.name:
            yield f"the table is {found.table!r}"
        if found.key is not None and found.key != set(table.primary_key):
            yield f"the key is {sorted(found.key)}"
        if found.event_ms is not None and kind is not READ and found.event_ms // 1000 != self.event_ms[row] // 1000:
            yield f"the time is {found.event_ms}"
        before, after = self.before[row], self.after[row]
        changed = {name for name in self.columns if before and after and before[name] != after[name]}
        for side, image, expected in (("before", found.before, before), ("after", found.after, after)):
            carries = find(self.format).image(self.source.id, kind, side)
            if carries is NOTHING:
                if image is not None:
                    yield f"{side} is {image!r:.200}"
                continue
            if image is None or expected is None:
                if image is not expected:
                    yield f"{side} is {image!r:.200}"
                continue
            part = {CHANGED: changed, KEY: set(table.primary_key), None: set(self.columns)}[carries]
            most = set(self.columns) if carries is CHANGED and self.at in OTHERS_TOO else part | self.left_out
            if self.at in DOCUMENTS:
                image = dict.fromkeys(part - {name.partition(".")[0] for name in image}) | dict(image)
            if not part - self.left_out <= {name.partition(".")[0] for name in image} <= most:
                yield f"{side} has the columns {sorted(image)}, not {sorted(part)}"
            for name, value in image.items():
                if name.partition(".")[0] in self.columns:
                    yield from (f"{side} {problem}" for problem in self._value(name, value, expected))

    def _value(self, name: str, value: Any, image: Mapping[str, Any]) -> Iterator[str]:
        column, *path = name.split(".")
        how, type, expected = self.readings[column], self.columns[column].type, image[column]
        if path:  # a field of a document
            *outer, last = path
            inside = reduce(dict.__getitem__, outer, json.loads(expected, parse_int=Number, parse_float=Number))
            if inside.get(last, UNSET) != value:
                yield f"{name}: {value!r}, expected {expected!r}"
            return
        value = None if value is UNSET else value
        seen = None if expected is None else how.seen(expected, type)
        if value is None or seen is None:
            if value is not seen and not how.left_out:
                yield f"{name} {type.spelled}: {value!r:.200}, expected {expected!r:.200}"
            return
        try:
            found = how.value(str(self.source), type, value)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            yield f"{name} {type.spelled}: {value!r:.200} cannot be read: {error}; expected {expected!r:.200}"
        else:
            if found != seen:
                yield f"{name} {type.spelled}: {value!r:.200} is {found!r:.200}, expected {expected!r:.200}"


def problems_of(format: str, source: str, block: Block, messages: Sequence[Message]) -> Iterator[str]:
    """What is wrong with the messages of a transaction: kinds that are not sent, statements, changes."""
    codec = codec_of(format, source)
    expected: dict[Kind, list[tuple[Expected, int]]] = {kind: [] for kind in ROW_KINDS}
    for whole in block.batches:
        by_log = sources.find(source).key_is_fixed
        split_by = codec.layout.routing.split
        splits = by_log or callable(split_by) or split_by in ("key", "row key")
        key = whole.table.key_positions if by_log else whole.table.row_key_positions
        if callable(split_by):
            key = split_by(whole.table)
        for batch in split(whole, key) if splits else [whole]:
            if codec.sends(batch.kind):
                each = Expected(format, source, batch)
                expected[batch.kind] += [(each, row) for row in range(len(batch))]
    events = [event for event in block.events if codec.sends_event(event)]
    kinds = {kind for kind, rows in expected.items() if rows} | {kind_of(event) for event in events}
    if any(batch.kind is not READ for batch in block.batches):
        kinds |= {mark for mark in MARKS if codec.sends(mark)}
    if {message.kind for message in messages} != kinds:
        yield f"messages are {sorted({message.kind.name for message in messages})}, not {sorted(k.name for k in kinds)}"
    told = [(message.kind, message.value) for message in messages if message.value is not None]  # else a tombstone
    # A statement that is a transaction has marks, too, whose text is empty.
    sql = [text for kind, value in told if kind is DDL and (text := statement(format, value))]
    expected_sql = [event.sql for event in events if isinstance(event, SchemaChange)]
    if format.partition(",")[0] in OWN_TEXTS:
        if sql == ["N/A"]:  # SQL Server's change tables have no texts
            sql = expected_sql
        sql, expected_sql = ([text.split()[0].upper() for text in texts] for texts in (sql, expected_sql))
    if sql != expected_sql:
        yield f"statements are {sql}"
    for kind, rows in expected.items():
        found = [change for told_kind, value in told if told_kind is kind for change in changes(format, value)]
        if len(found) != len(rows):
            yield f"{kind.name}: {len(found)} changes, not {len(rows)}"
            continue
        for number, (change, (each, row)) in enumerate(zip(found, rows, strict=True)):
            yield from (f"{kind.name} {number}: {problem}" for problem in each.problems(row, change))
