"""Files with the rows of every table before a turn: the state of a correct consumer.

They are computed in closed form for any turn: nothing is replayed. One file per table, `shop.orders.parquet`:

| form | values |
| --- | --- |
| `parquet` | Arrow types of `simulator.carriers`: decimals, unsigned 64-bit numbers, bytes, timestamps in UTC |
| `csv` | texts as the database's own client prints them; null is an empty field, the empty text is `""` |
| `jsonl` | one object per row, the same texts as strings, null |

With a format (`-f`) they hold what its consumers can know: tables and columns that it does not send are missing, and
so are digits that its messages do not have.

`tables.json` in the same folder has the turn, the source, and each table's columns, types, key and number of rows.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from simulator.batch import decoded
from simulator.carriers import storage
from simulator.errors import SinkError, UsageError
from simulator.model import Column, Table
from simulator.output import words_of_the_system
from simulator.sources.source import Source
from simulator.stream.engine.block import FARTHEST, Stream
from simulator.truth.known import KnownRows

MANIFEST: Final = "tables.json"


class Writer(Protocol):
    """A file of rows being written: tables of one schema, then `close`."""

    def write(self, rows: pa.Table) -> Any: ...
    def close(self) -> Any: ...


class JsonLines:
    """Writer of one object per row."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, rows: pa.Table) -> None:
        self._file.write(b"".join(orjson.dumps(row) + b"\n" for row in rows.to_pylist()))

    def close(self) -> None:
        self._file.close()


# Each form: whether it has its own types, and its writer factory.
FORMS: Final[dict[str, tuple[bool, Callable[[Path, pa.Schema], Writer]]]] = {
    "parquet": (True, lambda path, schema: parquet.ParquetWriter(path, schema)),
    "csv": (False, lambda path, schema: csv.CSVWriter(path, schema)),
    "jsonl": (False, lambda path, schema: JsonLines(path)),
}


@dataclass(frozen=True)
class Expected:
    """A table before the turn, its number of rows, and its file."""

    table: Table
    rows: int
    file: str


def write_expected(
    stream: Stream, turn: int | None, folder: Path, form: str, known: KnownRows | None = None
) -> list[Expected]:
    """Writes the rows before a turn (None: those at the end of a script), and the manifest; with `known`, only the part
    that a consumer of a format can know. It overwrites nothing, and leaves nothing behind if it fails. Raises
    UsageError, SinkError."""
    border = border_before(stream, turn)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--to {folder}: it is a file; name a new folder.")
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SinkError(f"--to {folder}: the folder is not empty. Name a new one, or empty it.")
        # in a temporary folder first, so that an interrupted run leaves nothing that looks complete
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as scratch:
            tables = list(_write_tables(stream, border, Path(scratch), form, known))
            (Path(scratch) / MANIFEST).write_bytes(manifest(stream, border, tables, known))
            for name in (*(table_file.file for table_file in tables), MANIFEST):
                os.replace(Path(scratch) / name, folder / name)
    except OSError as error:
        if is_new:
            with suppress(OSError):  # it was not made, or others wrote there meanwhile
                folder.rmdir()
        raise SinkError(f"--to {folder}: the rows cannot be written: {words_of_the_system(error)}.") from None
    return tables


def border_before(stream: Stream, turn: int | None) -> int:
    """The border at or after a turn; None: the end of a script. Raises UsageError."""
    if turn is None:
        if stream.turns is None:
            raise UsageError(f"{stream.file} has no end: name a turn, as in --at 100000 (a run's summary names one).")
        return stream.turns
    if stream.turns is not None and turn > stream.turns:
        raise UsageError(f"--at {turn}: {stream.file} ends at turn {stream.turns}.")
    if turn > FARTHEST:
        raise UsageError(f"--at {turn}: it is a number from 0 to {FARTHEST}.")
    return stream.border(turn)


def _write_tables(stream: Stream, turn: int, folder: Path, form: str, known: KnownRows | None) -> Iterator[Expected]:
    typed, open_file = FORMS[form]
    texts = None if typed else stream.source
    current: Table | None = None
    writer: Writer | None = None
    rows = 0
    # every table has a file; `rows_at` yields the tables one after the other
    for table, arrays in stream.rows_at(turn):
        values: Sequence[pa.Array] = arrays
        if known is not None and not known.columns(table):
            continue
        columns: Sequence[Column] = table.columns
        if known is not None:
            columns, values = known.rows(table, values)
        data = as_table(columns, [storage(decoded(array)) for array in values], texts)
        if writer is None or current != table:
            if writer is not None and current is not None:
                writer.close()
                yield Expected(current, rows, file_name(current, form))
            current, rows = table, 0
            writer = open_file(folder / file_name(table, form), data.schema)
        writer.write(data)
        rows += data.num_rows
    if writer is not None and current is not None:
        writer.close()
        yield Expected(current, rows, file_name(current, form))


def as_table(columns: Sequence[Column], values: Sequence[pa.Array], texts: Source | None) -> pa.Table:
    """Rows with named columns; as the database's texts if the form has no types (`texts`)."""
    arrays = [decoded(array) for array in values]
    if texts is not None:
        arrays = [
            pa.array(texts.format_values(array, column.type), pa.string())
            for array, column in zip(arrays, columns, strict=True)
        ]
    fields = [pa.field(column.name, array.type) for column, array in zip(columns, arrays, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def file_name(table: Table, form: str) -> str:
    """Name of a table's file: `shop.orders.parquet`; characters that file names cannot have are written as codes."""
    return re.sub(r"[^\w.-]", lambda match: f"%{ord(match[0]):02X}", str(table.id)) + f".{form}"


def manifest(stream: Stream, turn: int, tables: Sequence[Expected], known: KnownRows | None = None) -> bytes:
    """`tables.json`: the contents of the files, for programs."""

    def columns(table: Table) -> Sequence[Column]:
        return table.columns if known is None else [table.columns[i] for i in known.columns(table)]

    facts = {
        "scenario": stream.file,
        "source": str(stream.source),
        **({} if known is None else {"format": known.format}),
        "turn": turn,
        "tables": [
            {
                "table": str(table_file.table.id),
                "file": table_file.file,
                "rows": table_file.rows,
                "key": list(table_file.table.primary_key),
                "columns": {
                    column.name: stream.source.ddl.type_name(column.type) for column in columns(table_file.table)
                },
            }
            for table_file in tables
        ],
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n"
