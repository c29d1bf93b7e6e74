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
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, decoded
from simulator.errors import SinkError
from simulator.model import Column, Table, TableId
from simulator.sources.source import Source
from simulator.stream.engine.block import Stream
from simulator.truth.expected import FORMS, border_before, file_name
from simulator.truth.known import KnownRows

# Ordinals of a turn are below this.
ORDINALS: Final = 1 << 20
# Rows after which the counts of a table are added up.
ROWS: Final = 1_000_000


def ledgers(stream: Stream, turn: int, known: KnownRows | None = None) -> Iterator[tuple[Table, pa.Table]]:
    """The ledger of each table with a key that a consumer can know, before a border of the stream."""
    tables: dict[TableId, Table] = {}
    digests: dict[TableId, list[pa.Table]] = {}
    for table, arrays in stream.rows_at(turn):
        columns, values = _seen(table, arrays, known)
        if _keyed(table, columns):
            tables[table.id] = table
            digests.setdefault(table.id, []).append(_digests(table, columns, values, stream.source))
    counts: dict[TableId, list[pa.Table]] = {id: [] for id in tables}
    first = 0
    while first < turn:
        stop = min(stream.border(first + stream.block_turns), turn)
        for batch in stream.read(first, stop).batches:
            if batch.table.id in counts:
                own = counts[batch.table.id]
                own += _counts(batch, tables[batch.table.id].row_key, stream.source)
                if sum(part.num_rows for part in own) > ROWS:
                    own[:] = [_added_up(own, tables[batch.table.id].row_key)]
        first = stop
    for id, table in tables.items():
        yield table, _joined(digests[id], counts[id], table.row_key)


def _seen(
    table: Table, arrays: Sequence[pa.Array], known: KnownRows | None
) -> tuple[Sequence[Column], Sequence[pa.Array]]:
    return (table.columns, arrays) if known is None else known.rows(table, arrays)


def _keyed(table: Table, columns: Sequence[Column]) -> bool:
    return bool(table.row_key) and set(table.row_key) <= {column.name for column in columns}


def _texts(array: pa.Array, column: Column, source: Source) -> pa.Array:
    return pa.array(source.format_values(decoded(array), column.type), pa.string())


def _digests(table: Table, columns: Sequence[Column], values: Sequence[pa.Array], source: Source) -> pa.Table:
    texts = [_texts(array, column, source) for column, array in zip(columns, values, strict=True)]
    cells = [array.fill_null("\0") for array in texts]
    rows = pc.binary_join_element_wise(*cells, "", "\x1f") if len(cells[0]) else cells[0]
    digests = [hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest() for row in rows.to_pylist()]
    names = [column.name for column in columns]
    keys = {name: texts[names.index(name)] for name in table.row_key}
    return pa.table({**keys, "digest": pa.array(digests, pa.string())})


def _counts(batch: ChangeBatch, key: Sequence[str], source: Source) -> Iterator[pa.Table]:
    """A row for each change and key: the new one, and the old one if it is another."""
    positions = [batch.table.positions[name] for name in key if name in batch.table.positions]
    if len(positions) < len(key):
        return
    images = [] if batch.after is None else [[batch.after[i] for i in positions]]
    if batch.before is not None or batch.after is None:
        images.append([batch.full_before(i) for i in positions])
    texts = [
        [_texts(array, batch.table.columns[i], source) for i, array in zip(positions, image, strict=True)]
        for image in images
    ]
    place = pa.array(batch.envelope.turn * ORDINALS + batch.envelope.ordinal)
    ones = pa.array(np.ones(len(batch), dtype=np.int64))
    for number, arrays in enumerate(texts):
        part = pa.table({**dict(zip(key, arrays, strict=True)), "changes": ones, "place": place})
        if number:  # old keys that are still the row's keys were counted
            same: Any = pa.scalar(True)
            for new, old in zip(texts[0], arrays, strict=True):
                same = pc.and_(same, pc.equal(new, old))
            part = part.filter(pc.invert(same))
        yield part


def _added_up(parts: Sequence[pa.Table], key: Sequence[str]) -> pa.Table:
    grouped = pa.concat_tables(parts).group_by(list(key)).aggregate([("changes", "sum"), ("place", "max")])
    names = {"changes_sum": "changes", "place_max": "place"}
    return grouped.rename_columns([names.get(name, name) for name in grouped.column_names])


def _joined(digests: Sequence[pa.Table], counts: Sequence[pa.Table], key: Sequence[str]) -> pa.Table:
    rows = pa.concat_tables(digests)
    if not counts:
        numbers = {name: pa.array([], pa.int64()) for name in ("changes", "place")}
        counts = [pa.table({**{name: pa.array([], pa.string()) for name in key}, **numbers})]
    found = rows.join(_added_up(counts, key), list(key), join_type="full outer")
    found = found.sort_by([(name, "ascending") for name in key])
    place = found["place"]
    turn = pc.divide(place, ORDINALS)
    return pa.table(
        {
            **{name: found[name] for name in key},
            "changes": found["changes"].fill_null(0),
            "last_turn": turn,
            "last_ordinal": pc.subtract(place, pc.multiply(turn, ORDINALS)),
            "digest": found["digest"],
        }
    )


def write_ledgers(
    stream: Stream, turn: int | None, folder: Path, form: str, known: KnownRows | None = None
) -> list[tuple[str, int]]:
    """Writes the ledgers into the folder of the expected rows; the file and number of keys of each. Raises UsageError,
    SinkError."""
    written = []
    for table, ledger in ledgers(stream, border_before(stream, turn), known):
        name = file_name(table, f"ledger.{form}")
        unfinished = folder / f".unfinished-{name}"
        try:
            writer = FORMS[form][1](unfinished, ledger.schema)
            writer.write(ledger)
            writer.close()
            os.replace(unfinished, folder / name)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise SinkError(f"--to {folder}: {error.strerror or error}.") from None
        written.append((name, ledger.num_rows))
    return written
