"""Boundary values of every type of a source in each format, cut out of real messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import orjson
import pyarrow as pa

from simulator.batch import ChangeBatch, Envelope
from simulator.compare.members import cut, elements, members, value_text
from simulator.delivery.pack import cut as cut_packs
from simulator.delivery.parts import assembled
from simulator.errors import UnsupportedType, UsageError
from simulator.formats.documents import described_as, members_of
from simulator.formats.format import Codec
from simulator.model import INSERT, Column, ColumnType, Table
from simulator.sources.source import Source

# Maximum characters of a text; longer ones are shortened in the middle.
LONGEST: Final = 160
ABSENT: Final = "(absent)"

Boundary: TypeAlias = tuple[ColumnType, list[str | None]]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A type, its boundary values as the database's client prints them, and the text of each value in every format
    (None: the format cannot render the type)."""

    type: str
    values: tuple[str, ...]
    texts: dict[str, tuple[str, ...] | None]


def rendered(source: Source, codecs: dict[str, Codec]) -> Iterator[Rendered]:
    """Every type of a source by name, in these formats."""
    corpus = source.corpus_types
    columns = [_boundary(source, name, corpus) for name in source.types]
    types = [boundary for boundary in columns if boundary is not None]
    texts = {id: _texts(source, codec, types) for id, codec in codecs.items()}
    for number, (type, values) in enumerate(types):
        yield Rendered(
            source.ddl.type_name(type),
            tuple("NULL" if value is None else shortened(value) for value in values),
            {id: of_format[number] for id, of_format in texts.items()},
        )


def _boundary(source: Source, name: str, corpus: Sequence[str]) -> Boundary | None:
    """The type of this name with its boundary values."""
    for text in (name, *(typed for typed in corpus if typed.partition("(")[0] == name)):
        try:
            type = source.parse_type(text)
            values = list(dict.fromkeys(source.boundary_values(type)))
            source.parse_values(values, type)
        except (UsageError, ValueError):
            continue
        return type, values
    return None


def _texts(source: Source, codec: Codec, types: Sequence[Boundary]) -> list[tuple[str, ...] | None]:
    """The texts of each type's values; None for a type that the format cannot render."""
    try:
        return list(_columns(source, codec, types))
    except (UnsupportedType, _NotJson):
        if len(types) == 1:
            return [None]
        return [_texts(source, codec, [boundary])[0] for boundary in types]


def _columns(source: Source, codec: Codec, types: Sequence[Boundary]) -> Iterator[tuple[str, ...]]:
    """Column texts of inserts into a table with one column per type; each insert is a statement."""
    key = Column("_id", source.from_portable("int64"), nullable=False)
    columns = [Column(f"c{number}_", type) for number, (type, _) in enumerate(types)]
    table = Table(source.table_id("d", "t"), (key, *columns), ("_id",))
    count = max(len(values) for _, values in types)
    numbers = np.arange(1, count + 1, dtype=np.int64)
    image = [source.stored(pa.array(numbers), key.type)]
    image += [source.parse_values([*values, *[None] * (count - len(values))], type) for type, values in types]
    arrays: dict[str, Any] = {name: numbers.copy() for name in Envelope.ARRAYS}
    envelope = Envelope(phase=1, **arrays)
    batch = ChangeBatch(table, INSERT, envelope, tuple(image), None, row_numbers=numbers.copy)
    packs = codec.layout.packing.events(batch)
    batch_part = next(codec.messages(cut_packs(batch, packs, topic="", partition=None, key=None)))
    members = members_of(codec.format)
    rows = []
    for value in assembled([batch_part])["value"].to_pylist():
        text = value_text(value, codec)
        after = [
            part
            for name, part in cut(text, tuple(members))
            if (path := described_as(name, members)) in members and members[path].meaning == "after"
        ]
        # without an envelope, the value is the row
        rows.append(_row(after[0] if after else text, [column.name for column in columns]))
    for number, (_, values) in enumerate(types):
        yield tuple(shortened(row[number]) for row in rows[: len(values)])


class _NotJson(Exception):
    """A row is a single text, of which only the last column can be read."""


def _row(text: str, names: Sequence[str]) -> list[str]:
    """The texts of a row's columns, in an object, in a list of one object, as typed values after the key's, or in a
    document among typed values.
    """
    if text.startswith('"'):
        if len(names) > 1:
            raise _NotJson
        value = orjson.loads(text).partition(f'"{names[0]}": ')[2]
        return [value.removesuffix("}") if value else ABSENT]
    if text.startswith("["):
        values = list(elements(text))
        if len(values) == len(names) + 1:
            return values[1:]
        text = next((document for value in values if (document := _document(value))), values[-1])
    row = dict(members(text))
    if "_id" not in row:
        row = dict(members(row.get("data", row.get("payload", text))))
    return [row.get(name, ABSENT) for name in names]


def _document(typed_value: str) -> str:
    value = dict(members(typed_value)).get("value", "")
    text: str = orjson.loads(value) if value.startswith('"') else ""
    return text if text.startswith('{"_id"') else ""


def shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}…{text[-LONGEST // 4 :]} ({len(text):,} characters)"
