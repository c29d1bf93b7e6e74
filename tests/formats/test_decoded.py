"""Messages decoded are the changes that they were made of: of every format and source, all types' boundary values and
all cases.

A format is read by what its pages say of it (`decoded_changes.py`, `decoded_values.py`), and held against the batch:
the operation, the table, its key, the time, and each value of each image, as far as the format carries them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pytest
from building import PREVIOUS_MS, batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of, refuses, samples_of
from decoded_changes import CHANGED, KEY, UNSET, Change, Image, changes, image_of, statement
from decoded_values import Reading, carried, reading
from decoding import Number

from simulator import formats, registry, sources
from simulator.batch import ChangeBatch
from simulator.errors import UnsupportedType
from simulator.formats.format import kind_of
from simulator.model import DDL, DELETE, INSERT, MARKS, READ, ROW_KINDS, UPDATE, Kind, SchemaChange, Table
from simulator.split import split
from simulator.stream.engine.block import Block

FORMATS: Final = list(registry.names("format", formats.FORMATS))
SYSTEMS: Final = [(format, id) for format in FORMATS for id in formats.find(format).sources]
PAIRS: Final = [(format, str(sources.find(id))) for format, id in SYSTEMS]
EVERY_VERSION: Final = [(format, f"{id}-{v}") for format, id in SYSTEMS for v in sources.SOURCES[id][2]]

# ------------------------------------------------------------------------------------------- what formats leave away

# Columns that other rows of the event changed are there too; and a document may be replaced as a whole.
OTHERS_TOO: Final = ("canal-json of mysql", "canal-json of mariadb", "drs-json of mongodb")
# Types whose values a delete does not have.
NOT_DELETED: Final = {
    "drs-json of sqlserver": ("text", "ntext", "image"),
    "drs-avro of sqlserver": ("text", "ntext", "image"),
}
# A field that is null and one that is not there are the same.
DOCUMENTS: Final = ("dts-avro of mongodb", "cloudcanal-dts-avro of mongodb", "drs-json of mongodb")


# ----------------------------------------------------------------------------------------------------- the comparison


class Expected:
    """The changes of a batch, to hold decoded ones against."""

    def __init__(self, format: str, source: str, batch: ChangeBatch) -> None:
        self.batch, self.source, self.format = batch, sources.find(source), format
        self.at = f"{format} of {self.source.id}"
        self.columns = {column.name: column for column in batch.table.columns}
        self.readings = {name: reading(format, source, column.type) for name, column in self.columns.items()}
        lost = NOT_DELETED.get(self.at, ()) if batch.kind is DELETE else ()
        self.readings |= {n: Reading(left_out=True) for n, c in self.columns.items() if c.type.name in lost}
        self.left_out = {name for name, how in self.readings.items() if how.left_out}
        previous = codec_of(format, source).layout.event_time == "previous commit"
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
        if found.event_s is not None and kind is not READ and found.event_s != self.event_ms[row] // 1000:
            yield f"the time is {found.event_s}"
        before, after = self.before[row], self.after[row]
        changed = {name for name in self.columns if before and after and before[name] != after[name]}
        for side, image, expected in (("before", found.before, before), ("after", found.after, after)):
            if image is None or expected is None:
                if image is not expected:
                    yield f"{side} is {image!r:.200}"
                continue
            carries = image_of(self.format, self.source.id, kind, side)
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
        if value is None or expected is None:
            if value is not expected and not how.left_out:
                yield f"{name} {type.spelled}: {value!r:.200}, expected {expected!r:.200}"
            return
        try:
            found = how.told(str(self.source), type, value)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            yield f"{name} {type.spelled}: {value!r:.200} cannot be read: {error}; expected {expected!r:.200}"
        else:
            if found != how.seen(expected):
                yield f"{name} {type.spelled}: {value!r:.200} is {found!r:.200}, expected {expected!r:.200}"


# -------------------------------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_every_case_comes_back(format: str, source: str) -> None:
    problems = [
        f"{case.name}, {problem}"
        for case in cases_of(source, format)
        for problem in problems_of(format, source, block_of(case))
    ]
    assert not problems, "\n".join(problems)


def problems_of(format: str, source: str, block: Block) -> Iterator[str]:
    """What is wrong with the messages of a transaction: kinds that are not sent, statements, changes."""
    codec, messages = codec_of(format, source), messages_of(format, source, block)
    expected: dict[Kind, list[tuple[Expected, int]]] = {kind: [] for kind in ROW_KINDS}
    for whole in block.batches:
        splits = codec.layout.routing.split in ("key", "row key")
        for batch in split(whole, whole.table.row_key_positions) if splits else [whole]:
            if codec.sends(batch.kind):
                each = Expected(format, source, batch)
                expected[batch.kind] += [(each, row) for row in range(len(batch))]
    events = [event for event in block.events if codec.sends_event(event)]
    kinds = {kind for kind, rows in expected.items() if rows} | {kind_of(event) for event in events}
    if any(batch.kind is not READ for batch in block.batches):
        kinds |= {mark for mark in MARKS if codec.sends(mark)}
    if {message.kind for message in messages} != kinds:
        yield f"messages are {sorted({message.kind.name for message in messages})}, not {sorted(k.name for k in kinds)}"
    sql = [statement(format, message.value or b"") for message in messages if message.kind is DDL]
    if sql != [event.sql for event in events if isinstance(event, SchemaChange)]:
        yield f"statements are {sql}"
    for kind, rows in expected.items():
        found = [c for message in messages if message.kind is kind for c in changes(format, message.value or b"")]
        if len(found) != len(rows):
            yield f"{kind.name}: {len(found)} changes, not {len(rows)}"
            continue
        for number, (change, (each, row)) in enumerate(zip(found, rows, strict=True)):
            yield from (f"{kind.name} {number}: {problem}" for problem in each.problems(row, change))


def table_of_all(types: list[str], format: str, source: str) -> Table:
    """A table with a column of each type, and a key; without those types that the format refuses, by their names."""
    key = "_id" if source.startswith("mongodb") else "id"
    texts = {key: samples_of(source).plain, **{f"c{number}": text for number, text in enumerate(types)}}
    table = table_of("t", texts, [key], source=source)
    if not refuses(format, source, table.columns):
        return table
    refused = [column for column in table.columns if refuses(format, source, (column,))]
    for column in refused:
        alone = batch_of(Table(table.id, (column,)), INSERT, [[None]], source=source)
        with pytest.raises(UnsupportedType, match=f"(?i){re.escape(column.type.name)}.*t[.]{column.name}"):
            encoded(codec_of(format, source), alone)
    return Table(table.id, tuple(column for column in table.columns if column not in refused), table.primary_key)


def check_rows(format: str, source: str, table: Table, rows: list[list[str | None]], kinds: tuple[Kind, ...]) -> None:
    """Rows come back in changes of these kinds; the row before each is the one above it.

    An insert's columns are plain, a delete's are dictionaries (as texts and bytes drawn from a pool), an update's both.
    """
    old = [[row[0], *above[1:]] for row, above in zip(rows, [rows[-1], *rows], strict=False)]
    problems: list[str] = []
    for kind in kinds:
        before = old if kind is UPDATE else None
        batch = batch_of(table, kind, rows, before, statements=range(len(rows)), source=source)
        if batch.before is not None:
            batch = replace(batch, before=tuple(map(pooled, batch.before)))
        problems += problems_of(format, source, Block(0, 1, (batch,), (), len(batch)))
    assert not problems, "\n".join(problems)


def pooled(column: Any) -> pa.Array:
    return column.dictionary_encode() if pa.types.is_string(column.type) or pa.types.is_binary(column.type) else column


def types_of(source: str) -> list[str]:
    """Samples of all types of a source; of a version that is not the default one, those that the default has not."""
    default = str(sources.find(sources.find(source).id))
    known = set() if source == default else set(samples_of(default).types)
    return [text for text in samples_of(source).types if text not in known]


@pytest.mark.parametrize(("format", "source"), EVERY_VERSION)
def test_every_type_comes_back_or_is_refused_by_name(format: str, source: str) -> None:
    """Of boundary values, each type's as often as the longest list asks for."""
    table = table_of_all(types_of(source), format, source)
    boundary = sources.find(source).boundary_values
    columns = [boundary(column.type) for column in table.columns[1:]]
    rows = [
        [str(number + 1), *(values[number % len(values)] for values in columns)]
        for number in range(max(map(len, columns), default=0))
    ]
    if rows:
        check_rows(format, source, table, rows, (INSERT, UPDATE, DELETE))


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_large_values_come_back(format: str, source: str) -> None:
    table = table_of_all(samples_of(source).large, format, source)
    boundary = sources.find(source).boundary_values
    large = [boundary(column.type, large=True)[-2] for column in table.columns[1:]]
    check_rows(format, source, table, [["1", *large], ["2", *large], ["3", *[None] * len(large)]], (INSERT,))


@pytest.mark.parametrize("source", sorted({source for _, source in EVERY_VERSION}))
def test_types_are_all_there(source: str) -> None:
    found = sources.find(source)
    assert {found.parse_type(text).name for text in samples_of(source).types} == set(found.types)
