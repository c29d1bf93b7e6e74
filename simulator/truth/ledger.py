"""Ledgers beside the expected rows: the changes of each key of a table before a turn, and a digest of its row.

`shop.orders.ledger.parquet` (or `.csv`, `.jsonl`) has the key's columns as the database's client prints them, and:

* `changes`: row changes of the key since turn 0 under the table's last name; an update of the key counts for both keys
* `last_turn`, `last_ordinal`: the last of them; null if there is none
* `digest`: SHA-256 of the row's cells as the client prints them, each with U+001F behind it, null as U+0000; null if
  the row is gone

Memory grows with the number of keys: the stream is read block by block.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.errors import SinkError
from simulator.model import Column, Table, TableId
from simulator.output import words_of_the_system
from simulator.sources.source import Source
from simulator.stream.engine.block import Block, Stream
from simulator.truth.expected import FORMS, border_before, file_name
from simulator.truth.known import KnownRows

# Ordinals of a turn are below this.
ORDINALS: Final = 1 << 20
# Rows after which the entries of a table are added up.
ROWS: Final = 1_000_000
# What an entry has besides the key; `place` is turn * ORDINALS + ordinal of the last change.
NUMBERS: Final = (("changes", pa.int64()), ("place", pa.int64()), ("digest", pa.string()))


@dataclass(frozen=True, slots=True)
class KeyLedger:
    """Maker of a table's entries: of its rows, of the changes in a block, and of entries that are added up."""

    table: Table
    source: Source
    known: KnownRows | None

    @property
    def has_key(self) -> bool:
        """Whether the table has a key that a consumer can know."""
        columns = self.table.columns
        if self.known is not None:
            columns = tuple(columns[i] for i in self.known.columns(self.table))
        return bool(self.table.row_key) and set(self.table.row_key) <= {column.name for column in columns}

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*((name, pa.string()) for name in self.table.row_key), *NUMBERS])

    def of_rows(self, arrays: Sequence[pa.Array]) -> pa.Table:
        """Entries with the digests of rows, without changes."""
        columns: Sequence[Column] = self.table.columns
        if self.known is not None:
            columns, arrays = self.known.rows(self.table, arrays)
        texts = [self._texts(array, column) for column, array in zip(columns, arrays, strict=True)]
        cells = [array.fill_null("\0") for array in texts]
        rows = pc.binary_join_element_wise(*cells, "", "\x1f") if len(cells[0]) else cells[0]
        digests = [hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest() for row in rows.to_pylist()]
        names = [column.name for column in columns]
        keys = [texts[names.index(name)] for name in self.table.row_key]
        zeros = pa.array(np.zeros(len(digests), dtype=np.int64))
        return pa.table([*keys, zeros, pa.nulls(len(digests), pa.int64()), digests], self.schema)

    def of_changes(self, block: Block) -> Iterator[pa.Table]:
        """Entries with the changes of a block, without digests."""
        for batch in block.batches:
            if batch.table.id == self.table.id:
                yield from self._of_batch(batch)

    def _of_batch(self, batch: ChangeBatch) -> Iterator[pa.Table]:
        """An entry for each change and key: the new one, and the old one if it is another."""
        positions = [batch.table.positions[name] for name in self.table.row_key if name in batch.table.positions]
        if len(positions) < len(self.table.row_key):
            return
        images = [] if batch.after is None else [[batch.after[i] for i in positions]]
        if batch.before is not None or batch.after is None:
            images.append([batch.full_before(i) for i in positions])
        texts = [
            [self._texts(array, batch.table.columns[i]) for i, array in zip(positions, image, strict=True)]
            for image in images
        ]
        place = pa.array(batch.envelope.turn * ORDINALS + batch.envelope.ordinal)
        ones, none = pa.array(np.ones(len(batch), dtype=np.int64)), pa.nulls(len(batch), pa.string())
        for number, keys in enumerate(texts):
            change_entries = pa.table([*keys, ones, place, none], self.schema)
            if number:  # old keys that are still the row's keys were counted
                same: Any = pa.scalar(True)
                for new, old in zip(texts[0], keys, strict=True):
                    same = pc.and_(same, pc.equal(new, old))
                change_entries = change_entries.filter(pc.invert(same))
            yield change_entries

    def added_up(self, entries: Sequence[pa.Table]) -> pa.Table:
        """One entry for each key."""
        added = [("changes", "sum"), ("place", "max"), ("digest", "max")]
        grouped = pa.concat_tables(entries).group_by(list(self.table.row_key)).aggregate(added)
        return pa.table([grouped[name] for name in (*self.table.row_key, *map("_".join, added))], self.schema)

    def _texts(self, array: pa.Array, column: Column) -> pa.Array:
        return pa.array(self.source.format_values(decoded(array), column.type), pa.string())


def ledgers(stream: Stream, turn: int, known: KnownRows | None = None) -> Iterator[tuple[Table, pa.Table]]:
    """The ledger of each table with a key that a consumer can know, before a border of the stream."""
    entries: dict[TableId, tuple[KeyLedger, list[pa.Table]]] = {}
    for table, arrays in stream.rows_at(turn):
        ledger = KeyLedger(table, stream.source, known)
        if ledger.has_key:
            entries.setdefault(table.id, (ledger, []))[1].append(ledger.of_rows(arrays))
    first = 0
    while first < turn:
        stop = min(stream.border(first + stream.block_turns), turn)
        block = stream.read(first, stop)
        for ledger, own in entries.values():
            own += ledger.of_changes(block)
            if sum(part.num_rows for part in own) > ROWS:
                own[:] = [ledger.added_up(own)]
        first = stop
    for ledger, own in entries.values():
        added = ledger.added_up(own).sort_by([(name, "ascending") for name in ledger.table.row_key])
        yield ledger.table, with_positions(added)


def with_positions(entries: pa.Table) -> pa.Table:
    """Entries with the turn and ordinal of the last change."""
    place = entries["place"]
    turn = pc.divide(place, ORDINALS)
    index = entries.schema.get_field_index("place")
    entries = entries.set_column(index, "last_turn", turn)
    return entries.add_column(index + 1, "last_ordinal", pc.subtract(place, pc.multiply(turn, ORDINALS)))


def write_ledgers(
    stream: Stream, turn: int | None, folder: Path, form: str, known: KnownRows | None = None
) -> list[tuple[str, int]]:
    """Writes the ledgers into the folder of the expected rows; the file and number of keys of each. Raises UsageError,
    SinkError."""
    written = []
    for table, ledger in ledgers(stream, border_before(stream, turn), known):
        name = file_name(table, f"ledger.{form}")
        write_ledger(ledger, folder, name, form)
        written.append((name, ledger.num_rows))
    return written


def write_ledger(ledger: pa.Table, folder: Path, name: str, form: str) -> None:
    """Writes a ledger into a folder; nothing is left of a file that fails. Raises SinkError."""
    unfinished = folder / f".unfinished-{name}"
    try:
        writer = FORMS[form][1](unfinished, ledger.schema)
        writer.write(ledger)
        writer.close()
        os.replace(unfinished, folder / name)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise SinkError(f"--to {folder}: {name} cannot be written: {words_of_the_system(error)}.") from None
