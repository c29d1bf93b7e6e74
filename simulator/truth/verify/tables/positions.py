"""`cdcsim verify` of tables: compares each expected table at a turn with the consumer's (`--table`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from simulator.batch import decoded
from simulator.carriers import storage
from simulator.errors import UsageError, did_you_mean
from simulator.model import Column, TableId
from simulator.run.job import Job
from simulator.sinks.url import public
from simulator.stream.engine.block import SnapshotBlock, Stream
from simulator.truth.expected import border_before
from simulator.truth.known import KnownRows
from simulator.truth.verify.findings import EXAMPLES
from simulator.truth.verify.tables.causes import Causes
from simulator.truth.verify.tables.cells import Tolerance
from simulator.truth.verify.tables.comparer import Comparer, ExpectedTable, TableVerdict
from simulator.truth.verify.tables.consumed import DATABASES, SUFFIXES, Consumed, open_table, rows_of
from simulator.truth.verify.tables.following import Follower, Patience, Progress


def verify_tables(
    job: Job,
    places: Sequence[str],
    turn: int | None,
    *,
    tolerances: Sequence[Tolerance] = (),
    patience: Patience | None = None,
    watch: Callable[[Progress], object] = lambda progress: None,
    examples: int = EXAMPLES,
) -> list[TableVerdict]:
    """Compares a consumer's tables with the rows before a turn (None: those at the end of a script), with `patience`
    while it runs; `watch` then gets the progress of each reading.

    A place is `NAME=PLACE` with the name of the table, a file that is named like the table, or a folder or database
    that has all tables under their names. Raises UsageError, SinkError, MissingPackage.
    """
    stream = job.stream
    border = border_before(stream, turn)
    known = KnownRows(job.format, job.codec, job.unsent) if job.format else None
    tables_before = partial(expected_tables, stream, known=known)
    tables = tables_before(border)
    _check_tolerances(tolerances, tables)
    pairs = opened(places, tables)
    if patience is None:
        return _compared(stream, border, pairs, tolerances, examples, is_run_known=False)
    follower = Follower(
        stream, border, pairs, tables_before, known=known, tolerances=tolerances, patience=patience, examples=examples
    )
    return follower.follow(watch)


def opened(places: Sequence[str], tables: Sequence[ExpectedTable]) -> list[tuple[ExpectedTable, Consumed]]:
    """Each expected table with the consumer's. Raises UsageError, SinkError, MissingPackage."""
    return [(table, open_table(place, name)) for table, place, name in _pairs_of(places, tables)]


def _compared(
    stream: Stream,
    turn: int,
    pairs: Sequence[tuple[ExpectedTable, Consumed]],
    tolerances: Sequence[Tolerance],
    examples: int = EXAMPLES,
    *,
    is_run_known: bool = True,
) -> list[TableVerdict]:
    """Verdicts on tables; they may be another run's unless `is_run_known`. Raises UsageError."""
    verdicts = []
    for table, consumed in pairs:
        comparer = Comparer(table, consumed, stream.source, tolerances)
        causes = Causes(stream, turn, table.id, comparer)
        verdicts.append(comparer.compare(causes.cause, examples))
        if not is_run_known:
            comparer.check_same_run(verdicts[-1])
        verdicts[-1].hint = causes.hint or verdicts[-1].hint
    return verdicts


def _check_tolerances(tolerances: Sequence[Tolerance], tables: Sequence[ExpectedTable]) -> None:
    """Raises UsageError for a tolerance that fits no column."""
    names = [(table.id.name, column.name) for table in tables for column in table.columns]
    for tolerance in tolerances:
        if not any(tolerance.fits(*name) for name in names):
            hint = did_you_mean(tolerance.pattern, [column for _, column in names])
            raise UsageError(f"--tolerate {tolerance.pattern}: no expected table has such a column.{hint}")


def compare_tables(
    stream: Stream,
    turn: int,
    tables: Sequence[ExpectedTable],
    output: str | Path | Mapping[str, Iterable[Mapping[str, Any]]],
    tolerances: Sequence[Tolerance],
) -> list[TableVerdict]:
    """Compares all tables with those of a place, or with rows by table. Raises UsageError, SinkError."""
    _check_tolerances(tolerances, tables)
    if not isinstance(output, Mapping):
        return _compared(stream, turn, opened([str(output)], tables), tolerances)
    names = {name: table for table in tables for name in (table.id.name, str(table.id))}
    for name in output:
        if name not in names:
            raise UsageError(f"no table {name!r} is expected.{did_you_mean(name, names)}")
    by_table = {names[name].id: list(rows) for name, rows in output.items()}
    return _compared(
        stream, turn, [(t, in_memory(t.id, by_table.get(t.id, []), t.columns)) for t in tables], tolerances
    )


def in_memory(table: TableId, rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> Consumed:
    """Rows as a consumer's table; one without rows has all columns."""
    names = list(dict.fromkeys(name for row in rows for name in row)) or [column.name for column in columns]
    return rows_of(str(table), names, [tuple(row.get(name) for name in names) for row in rows])


def only(table: ExpectedTable, mask: Callable[[ExpectedTable, Sequence[pa.Array]], Sequence[bool]]) -> ExpectedTable:
    """A table with only the rows that a function of its columns selects."""

    def rows() -> Iterator[Sequence[pa.Array]]:
        for arrays in table.rows():
            chosen = pa.array(mask(table, arrays), pa.bool_())
            yield [decoded(array).filter(chosen) for array in arrays]

    return replace(table, rows=rows)


def expected_tables(stream: Stream, turn: int, known: KnownRows | None) -> list[ExpectedTable]:
    """The tables before a turn, as a consumer of a format can know them; `known` None: all of their data."""
    tables = []
    for _, blocks in groupby(stream.snapshot_blocks(turn), key=lambda block: block.part.table):
        own = list(blocks)
        table, _ = stream.snapshot_rows(own[0])
        columns = table.columns if known is None else [table.columns[position] for position in known.columns(table)]
        if columns:
            tables.append(ExpectedTable(table.id, columns, table.row_key, partial(_rows, stream, own, known)))
    return tables


def _rows(stream: Stream, blocks: Sequence[SnapshotBlock], known: KnownRows | None) -> Iterator[Sequence[pa.Array]]:
    """The rows of a table, by blocks of the snapshot."""
    for block in blocks:
        table, arrays = stream.snapshot_rows(block)
        columns = arrays if known is None else known.rows(table, arrays)[1]
        yield [storage(column) for column in columns]


def _pairs_of(places: Sequence[str], tables: Sequence[ExpectedTable]) -> Iterator[tuple[ExpectedTable, str, str]]:
    """Each expected table with its place, and its name there. Raises UsageError."""
    names = {name: table for table in tables for name in (table.id.name, str(table.id))}
    for place in places:
        name, equals, location = place.partition("=")
        if equals and not any(mark in name for mark in "/:?"):
            if (named := _by_name(names, name)) is None:
                raise UsageError(f"--table {place}: no table {name!r} is expected.{did_you_mean(name, names)}")
            if not location:
                raise UsageError(f"--table {place}: name a file, folder or database, as in {name}=out/{name}.parquet.")
            yield named, *_named_there(location, named.id.name)
            continue
        if place.partition(":")[0] in DATABASES:
            database, own_name = _named_there(place, "")
            if own_name and len(tables) > 1:
                raise UsageError(
                    f"--table {public(place)}: say which table {own_name!r} is, as in"
                    f" {tables[0].id.name}={public(place)}."
                )
            for table in tables:
                yield table, database, own_name or table.id.name
            continue
        path = Path(place.removeprefix("file:"))
        if not path.exists():
            open_table(place, path.stem)  # raises an error that says what is wrong
        if path.is_dir():
            files = _files_in(path, names)
            own = [(table, files[table.id]) for table in tables if table.id in files]
            if own:
                yield from ((table, place, file) for table, file in own)
                if missing := [str(table.id) for table in tables if table not in [each for each, _ in own]]:
                    raise UsageError(f"--table {place}: it has no file of {', '.join(missing)}.")
                continue
        if (named := _by_name(names, path.stem)) is None:
            none = f"it has no file of {', '.join(str(table.id) for table in tables)}: " if path.is_dir() else ""
            raise UsageError(
                f"--table {place}: {none}say which table it is, as in {tables[0].id.name}={place}."
                f"{did_you_mean(path.stem, names)}"
            )
        yield named, place, path.stem


def _named_there(place: str, table: str) -> tuple[str, str]:
    """A place and the table's name there: `sqlite:FILE#name`, else its own; a # in a password begins no name."""
    if place.partition(":")[0] not in DATABASES:
        return place, table
    database, mark, name = place.rpartition("#")
    return (database, name) if mark and "/" not in name else (place, table)


def _by_name(tables: Mapping[str, ExpectedTable], name: str) -> ExpectedTable | None:
    """The table with a name; in any case if one alone has it so, as the names of columns are found."""
    if name in tables:
        return tables[name]
    others = {table.id: table for other, table in tables.items() if other.lower() == name.lower()}
    return next(iter(others.values())) if len(others) == 1 else None


def _files_in(folder: Path, tables: Mapping[str, ExpectedTable]) -> dict[TableId, str]:
    """The names in a folder under which tables have a file or folder: exactly theirs, else in another case."""
    names = [own.stem if own.suffix in SUFFIXES else own.name for own in sorted(folder.iterdir())]
    files: dict[TableId, str] = {}
    for name in sorted(names, key=lambda name: name not in tables):
        if (table := _by_name(tables, name)) is not None:
            files.setdefault(table.id, name)
    return files
