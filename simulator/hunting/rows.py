"""Rows of a case by their keys: those whose changes are sent, those that belong together, and those left at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch, decoded
from simulator.hunting.case import Key, Rows
from simulator.model import DELETE, UPDATE, TableId
from simulator.sources.source import Source
from simulator.stream.engine.block import Block
from simulator.truth.expected import as_table
from simulator.truth.known import KnownRows
from simulator.truth.verify.tables.comparer import ExpectedTable

# The identity of a row: its table, and its key as texts.
Identity: TypeAlias = tuple[str, Key]


def keys_of(batch: ChangeBatch, source: Source) -> tuple[list[Key], list[Key]]:
    """The keys before and after each change, as texts; equal but for updates of the key. The table has a key."""
    positions = batch.table.key_positions
    columns = [batch.table.columns[position] for position in positions]

    def texts(arrays: Sequence[pa.Array]) -> list[Key]:
        return [tuple(row.values()) for row in as_table(columns, arrays, source).to_pylist()]

    image = batch.image()
    after = texts([image[position] for position in positions])
    return (texts([batch.full_before(p) for p in positions]) if batch.kind is UPDATE else after), after


def only(block: Block, rows: Rows, source: Source) -> Block:
    """A block with the changes of some rows alone; events stay, and so do changes of tables without a key."""
    wanted_rows = {(table, key) for table, keys in rows for key in keys}
    tables = {table for table, _ in rows}
    batches = []
    for batch in block.batches:
        table = str(batch.table.id)
        if batch.table.primary_key and table in tables:
            reduced_batches = [
                row
                for row, (old, new) in enumerate(zip(*keys_of(batch, source), strict=True))
                if (table, old) in wanted_rows or (table, new) in wanted_rows
            ]
            if reduced_batches:
                batches.append(batch.take(np.array(reduced_batches, dtype=np.int64)))
    return replace(block, batches=tuple(batches), changes=sum(map(len, batches)))


def groups_of(batches: Iterable[ChangeBatch], source: Source) -> list[tuple[Identity, ...]]:
    """Rows in groups: an update of the key connects two. Rows of tables without a key are in none."""
    leaders = dict[Identity, Identity]()

    def leader(row: Identity) -> Identity:
        while leaders.setdefault(row, row) != row:
            row = leaders[row]
        return row

    for batch in batches:
        if batch.table.primary_key:
            table = str(batch.table.id)
            for old, new in zip(*keys_of(batch, source), strict=True):
                leaders[leader((table, old))] = leader((table, new))
    grouped = defaultdict[Identity, list[Identity]](list)
    for row in leaders:
        grouped[leader(row)].append(row)
    return [tuple(group) for group in grouped.values()]


def rows_of(groups: Iterable[tuple[Identity, ...]]) -> Rows:
    """The rows of groups, by table."""
    rows = defaultdict[str, list[Key]](list)
    for group in groups:
        for table, key in group:
            rows[table].append(key)
    return tuple((table, tuple(keys)) for table, keys in sorted(rows.items()))


def rows_left(batches: Sequence[ChangeBatch], known: KnownRows, source: Source) -> list[ExpectedTable]:
    """The rows that changes leave behind, of each table with a key, as far as a consumer can know them. All changes of
    a table have the same columns."""
    changes = [
        (batch.envelope.phase, int(batch.envelope.turn[row]), int(batch.envelope.ordinal[row]), number, row, old, new)
        for number, batch in enumerate(batches)
        if batch.table.primary_key
        for row, (old, new) in enumerate(zip(*keys_of(batch, source), strict=True))
    ]
    remaining = dict[TableId, dict[Key, tuple[int, int]]]()
    for *_, number, row, old, new in sorted(changes, key=lambda change: change[:3]):
        rows = remaining.setdefault(batches[number].table.id, {})
        rows.pop(old, None)
        if batches[number].kind is not DELETE:
            rows[new] = number, row
    tables = {batch.table.id: batch for batch in batches}
    return [
        table
        for id, rows in remaining.items()
        if (table := _expected(tables[id], [(batches[number], row) for number, row in rows.values()], known))
    ]


def _expected(like: ChangeBatch, rows: Sequence[tuple[ChangeBatch, int]], known: KnownRows) -> ExpectedTable | None:
    parts = [[decoded(array).slice(row, 1) for array in batch.image()] for batch, row in rows]
    parts = parts or [[decoded(array).slice(0, 0) for array in like.image()]]
    columns, arrays = known.rows(like.table, [pa.concat_arrays(column) for column in zip(*parts, strict=True)])
    return ExpectedTable(like.table.id, columns, like.table.row_key, lambda: iter([arrays])) if columns else None
