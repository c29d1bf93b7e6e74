"""Messages decoded are the changes that they were made of: of every format and source, all types' boundary values and
all cases.

A format is read by what its pages say of it (`simulator/truth/decoders`), and held against the batch
(`decoded_comparison.py`). Cases that stand in a golden file of all cases are held against their batches there, by
`test_goldens.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pytest
from building import batch_of, block_of, messages_of, table_of
from cases import cases_of, refused, samples_of, types_of
from decoded_comparison import problems_of
from test_goldens import PATHS, read

from simulator import formats, registry, sources
from simulator.model import INSERT, UPDATE, Kind, Table
from simulator.stream.engine.block import Block

FORMATS: Final = list(registry.names("format", formats.FORMATS))
SYSTEMS: Final = [(format, id) for format in FORMATS for id in formats.find(format).sources]
PAIRS: Final = [(format, str(sources.find(id))) for format, id in SYSTEMS]
EVERY_VERSION: Final = [(format, f"{id}-{v}") for format, id in SYSTEMS for v in sources.SOURCES[id][2]]
WITH_GOLDENS: Final = {(file.format, file.source) for file in map(read, PATHS) if file.whole}


@pytest.mark.parametrize(("format", "source"), [pair for pair in PAIRS if pair not in WITH_GOLDENS])
def test_every_case_comes_back(format: str, source: str) -> None:
    problems = [
        f"{case.name}, {problem}"
        for case, block in ((case, block_of(case)) for case in cases_of(source, format))
        for problem in problems_of(format, source, block, messages_of(format, source, block))
    ]
    assert not problems, "\n".join(problems)


def table_of_all(types: list[str], format: str, source: str) -> Table:
    """A table with a column of each type, and a key; without those types that the format refuses, by their names."""
    key = "_id" if source.startswith("mongodb") else "id"
    texts = {key: samples_of(source).plain, **{f"c{number}": text for number, text in enumerate(types)}}
    table = table_of("t", texts, [key], source=source)
    lost = refused(format, source, table.columns)
    return Table(table.id, tuple(column for column in table.columns if column not in lost), table.primary_key)


def check_rows(format: str, source: str, table: Table, kind: Kind, rows: list[list[str | None]]) -> None:
    """Rows come back in changes of this kind; before an update each row is the one above it.

    Columns after an update are plain, those before it are dictionaries (as texts and bytes drawn from a pool).
    """
    old = [[row[0], *above[1:]] for row, above in zip(rows, [rows[-1], *rows], strict=False)]
    batch = batch_of(table, kind, rows, old if kind is UPDATE else None, statements=range(len(rows)), source=source)
    if batch.before is not None:
        batch = replace(batch, before=tuple(map(pooled, batch.before)))
    block = Block(0, 1, (batch,), (), len(batch))
    problems = list(problems_of(format, source, block, messages_of(format, source, block)))
    assert not problems, "\n".join(problems)


def pooled(column: Any) -> pa.Array:
    return column.dictionary_encode() if pa.types.is_string(column.type) or pa.types.is_binary(column.type) else column


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
        check_rows(format, source, table, UPDATE, rows)


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_large_values_come_back(format: str, source: str) -> None:
    table = table_of_all(samples_of(source).large, format, source)
    boundary = sources.find(source).boundary_values
    large = [boundary(column.type, large=True)[-2] for column in table.columns[1:]]
    check_rows(format, source, table, INSERT, [["1", *large], ["2", *large], ["3", *[None] * len(large)]])


@pytest.mark.parametrize("source", sorted({source for _, source in EVERY_VERSION}))
def test_types_are_all_there(source: str) -> None:
    found = sources.find(source)
    assert {found.parse_type(text).name for text in samples_of(source).types} == set(found.types)
