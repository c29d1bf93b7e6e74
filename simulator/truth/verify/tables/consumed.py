"""A consumer's tables in files and databases: rows as record batches, which can be read repeatedly.

| `--table` | content |
| --- | --- |
| `out/orders.parquet`, a folder of such files | Parquet; also folders with `column=value` parts |
| a folder of Delta Lake or Iceberg | the latest version of the table, read by deltalake or pyiceberg |
| `out/orders.csv` | CSV with a header, with one of `SEPARATORS`; an empty field is null, `""` the empty text |
| `out/orders.jsonl` | one object per row; a missing member is null |
| `sqlite:FILE` | an SQLite database |
| `mysql://USER:PASSWORD@HOST/DATABASE`, `postgresql://…`, `duckdb:FILE` | databases, read by their drivers |
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as dataset

from simulator.errors import MissingPackage, SinkError, UsageError, did_you_mean
from simulator.sinks.url import public
from simulator.truth.verify.files import compression

ROWS: Final = 50_000
SUFFIXES: Final = (".parquet", ".csv", ".jsonl")
# The quote of names: ` or ".
QUOTES: Final = {"mysql": "`"}
SEPARATORS: Final = ",;\t|"


@dataclass(frozen=True, slots=True)
class Consumed:
    """A consumer's table. `rows` reads it in batches of at most some ten thousand rows. Without rows it may have no
    columns, if nothing else tells them."""

    name: str
    columns: Sequence[str]
    rows: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]


def open_table(place: str, table: str) -> Consumed:
    """Opens the table at a path or URL. Raises UsageError, SinkError, MissingPackage."""
    scheme = place.partition(":")[0]
    if scheme in DATABASES and place != scheme:
        return _in_database(place, scheme, table)
    path = Path(place.removeprefix("file:"))
    if path.is_dir():
        own = [path / f"{table}{suffix}" for suffix in (*SUFFIXES, "")]
        path = next((file for file in own if file.exists()), path)
    if not path.exists():
        if "://" in place and scheme != "file":
            raise UsageError(
                f"--table {public(place)}: tables are read from files, folders, and {', '.join(DATABASES)};"
                f" {scheme} is none of them.{did_you_mean(scheme, DATABASES)}"
            )
        raise UsageError(f"--table {place}: there is no such file or folder.")
    if (path / "_delta_log").is_dir():
        return _delta(path)
    if any((path / "metadata").glob("*.metadata.json")):
        return _iceberg(path)
    if path.is_dir() or path.suffix == ".parquet":
        return _parquet(path)
    if path.suffix == ".csv":
        return _csv(path)
    if path.suffix == ".jsonl":
        return _json_lines(path)
    raise UsageError(f"--table {place}: its suffix is none of {', '.join(SUFFIXES)}.")


# ---------------------------------------------------------------------------------------------------------------- files


def _parquet(path: Path) -> Consumed:
    try:
        files = _dataset(path)
        names = files.schema.names
        if not names:
            raise UsageError(f"--table {path}: there are no files of Parquet.")
    except (pa.ArrowInvalid, OSError) as error:
        raise SinkError(f"{path}: it is no whole file of Parquet: {_first_line(error)}.") from None

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from files.to_batches(columns=list(columns), batch_size=ROWS, batch_readahead=2, fragment_readahead=1)
        except (pa.ArrowInvalid, OSError) as error:
            raise SinkError(f"{path}: reading stopped: {_first_line(error)}.") from None

    return Consumed(str(path), names, rows)


def _dataset(path: Path) -> Any:
    """The files of a table, whose columns are those of all files: Arrow alone takes those of the first."""
    partitioning = "hive" if path.is_dir() else None
    files = dataset.dataset(path, format="parquet", partitioning=partitioning)
    schemas = [fragment.physical_schema for fragment in files.get_fragments()]
    try:
        schema = pa.unify_schemas([files.schema, *schemas], promote_options="permissive")
    except pa.ArrowException:  # no type holds both: Arrow casts to those of the first
        return files
    return dataset.dataset(path, schema, format="parquet", partitioning=partitioning)


def _delta(path: Path) -> Consumed:
    """The latest version of a table of Delta Lake; the folder's files may be those of earlier versions, too."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise MissingPackage("tables of Delta Lake need deltalake: pip install 'cdc-simulator[tables]'.") from None
    return _read_by(
        path, lambda: DeltaTable(str(path)).to_pyarrow_dataset(), lambda files: files.schema.names, _batches_of
    )


def _batches_of(files: Any, columns: list[str]) -> Any:
    return files.to_batches(columns=columns, batch_size=ROWS, batch_readahead=2, fragment_readahead=1)


def _iceberg(path: Path) -> Consumed:
    """The latest version of a table of Iceberg, by its newest metadata file."""
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise MissingPackage("tables of Iceberg need pyiceberg: pip install 'cdc-simulator[tables]'.") from None

    def opened() -> Any:
        def version(file: Path) -> tuple[int, float]:
            number = re.match(r"v?(\d+)", file.name)
            return int(number[1]) if number else 0, file.stat().st_mtime

        return StaticTable.from_metadata(str(max((path / "metadata").glob("*.metadata.json"), key=version)))

    def batches(table: Any, columns: list[str]) -> Any:
        return table.scan(selected_fields=tuple(columns)).to_arrow_batch_reader()

    return _read_by(path, opened, lambda table: table.schema().column_names, batches)


def _read_by(
    path: Path,
    opened: Callable[[], Any],
    names: Callable[[Any], Sequence[str]],
    batches: Callable[[Any, list[str]], Any],
) -> Consumed:
    """A table that a package reads; it is opened anew each time, since a consumer may write to it."""

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches(opened(), list(columns)):
                yield batch.select(list(columns))
        except Exception as error:  # each package has errors of its own
            raise SinkError(f"{path}: reading stopped: {_first_line(error)}.") from None

    try:
        return Consumed(str(path), list(names(opened())), rows)
    except Exception as error:
        raise SinkError(f"{path}: it cannot be read: {_first_line(error)}.") from None


def _csv(path: Path) -> Consumed:
    names, separator = _header(path)

    def opened(columns: Sequence[str] | None) -> csv.CSVStreamingReader:
        types = None if columns is None else dict.fromkeys(columns, pa.string())
        convert = csv.ConvertOptions(
            column_types=types, include_columns=columns, null_values=[""], strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )  # fmt: skip
        parse = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
        return csv.open_csv(path, parse_options=parse, convert_options=convert)

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            with opened(columns) as reader:
                yield from reader
        except (pa.ArrowInvalid, OSError) as error:
            raise SinkError(f"{path}: reading stopped: {_first_line(error)}.") from None

    return Consumed(str(path), names, rows)


def _header(path: Path) -> tuple[list[str], str]:
    """The columns that the header of a file of CSV has, and what separates them: what makes the most of it."""
    import csv as text_csv

    _refuse_compressed(path)
    headers = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for separator in SEPARATORS:
                file.seek(0)
                headers[separator] = next(text_csv.reader(file, delimiter=separator), [])
    except UnicodeDecodeError:
        raise SinkError(f"{path}: it is not UTF-8.") from None
    except (OSError, text_csv.Error) as error:
        raise SinkError(f"{path}: {error}.") from None
    separator = max(headers, key=lambda separator: len(headers[separator]))
    if not headers[separator]:
        raise UsageError(f"--table {path}: it is empty: not even a header is there.")
    return headers[separator], separator


def _refuse_compressed(path: Path) -> None:
    """Raises SinkError for a compressed file."""
    try:
        with path.open("rb") as file:
            begin = file.read(8)
    except OSError as error:
        raise SinkError(f"{path}: {error.strerror}.") from None
    if kind := compression(begin):
        raise SinkError(f"{path}: it is compressed with {kind}: decompress it first.")


def _json_lines(path: Path) -> Consumed:
    _refuse_compressed(path)

    def objects() -> Iterator[dict[str, Any]]:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.isspace():
                    continue
                try:
                    row = json.loads(line, parse_float=str)
                except ValueError as error:
                    raise SinkError(f"{path}:{number}: no JSON: {error}.") from None
                if not isinstance(row, dict):
                    raise SinkError(f"{path}:{number}: no JSON object.")
                yield row

    names: dict[str, None] = {}
    for row in objects():  # all of them, since writers leave out members that are null
        if not row.keys() <= names.keys():
            names |= dict.fromkeys(row)

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from _batches(((row.get(name) for name in columns) for row in objects()), columns)

    return Consumed(str(path), list(names), rows)


# ------------------------------------------------------------------------------------------------------------ databases


def _sqlite(place: str) -> Any:
    path = Path(place.partition(":")[2].removeprefix("//"))
    if not path.is_file():
        raise UsageError(f"--table {place}: there is no file {str(path)!r}.")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode(errors="surrogateescape")
    return connection


def _duckdb(place: str) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingPackage("tables of DuckDB need its driver: pip install 'cdc-simulator[tables]'.") from None
    path = Path(place.partition(":")[2].removeprefix("//"))
    if not path.is_file():
        raise UsageError(f"--table {place}: there is no file {str(path)!r}.")
    return duckdb.connect(str(path), read_only=True)


def _mysql(place: str) -> Any:
    try:
        import pymysql
        from pymysql.cursors import SSCursor
    except ImportError:
        raise MissingPackage("tables of MySQL need PyMySQL: pip install 'cdc-simulator[mysql]'.") from None
    url = urlsplit(place)
    return pymysql.connect(
        host=url.hostname or "localhost", port=url.port or 3306, user=unquote(url.username or "root"),
        password=unquote(url.password or ""), database=url.path.strip("/") or None, charset="utf8mb4",
        cursorclass=SSCursor, connect_timeout=10, init_command="SET time_zone = '+00:00'",
    )  # fmt: skip


def _postgresql(place: str) -> Any:
    try:
        import psycopg
        from psycopg.types.string import TextLoader
    except ImportError:
        raise MissingPackage("tables of PostgreSQL need psycopg: pip install 'cdc-simulator[postgresql]'.") from None
    connection = psycopg.connect(place, options="-c TimeZone=UTC", connect_timeout=10)
    # Python's documents lose digits, and their null is NULL; its UUIDs are no type of Arrow
    for name in ("json", "jsonb", "uuid"):
        connection.adapters.register_loader(name, TextLoader)
    for name in ("date", "timestamp", "timestamptz"):
        connection.adapters.register_loader(name, _or_text(connection, name))
    return connection


def _or_text(connection: Any, type: str) -> Any:
    """PostgreSQL's type as Python's, and those values that Python does not have, such as infinity, as text."""
    from psycopg import DataError, pq
    from psycopg.adapt import Loader

    inner = connection.adapters.get_loader(connection.adapters.types[type].oid, pq.Format.TEXT)

    class OrText(Loader):
        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self._load = inner(oid, context).load

        def load(self, data: Any) -> Any:
            try:
                return self._load(data)
            except DataError:
                return bytes(data).decode()

    return OrText


DATABASES: Final[dict[str, Callable[[str], Any]]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "mysql": _mysql,
    "mariadb": _mysql,
    "postgresql": _postgresql,
}


def _in_database(place: str, scheme: str, table: str) -> Consumed:
    quote = QUOTES.get("mysql" if scheme == "mariadb" else scheme, '"')

    def quoted(name: str) -> str:
        return ".".join(f"{quote}{part.replace(quote, 2 * quote)}{quote}" for part in name.split("."))

    def selected(what: str, end: str = "") -> Iterator[Any]:
        try:
            with closing(DATABASES[scheme](place)) as connection, closing(connection.cursor()) as cursor:
                cursor.execute(f"SELECT {what} FROM {quoted(table)}{end}")
                yield [column[0] for column in cursor.description]
                while rows := cursor.fetchmany(ROWS):
                    yield from rows
        except (UsageError, MissingPackage):
            raise
        except Exception as error:  # each driver has errors of its own
            raise UsageError(
                f"--table {public(place)}: table {table!r} cannot be read: {_first_line(error)}. If it has another name"
                f" there, write it behind the place, as in {table}={scheme}:…#name."
            ) from None

    with closing(selected("*", " WHERE 1 = 0")) as found:  # type: ignore[type-var]
        names = list(next(found))

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with closing(selected(", ".join(map(quoted, columns)))) as found:  # type: ignore[type-var]
            next(found)
            yield from _batches(found, columns)

    return Consumed(f"{table} of {public(place)}", names, rows)


def rows_of(name: str, names: Sequence[str], tuples: Sequence[tuple[Any, ...]]) -> Consumed:
    """Rows in memory as a table."""

    def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        positions = [list(names).index(column) for column in columns]
        yield from _batches((tuple(row[position] for position in positions) for row in tuples), columns)

    return Consumed(name, names, rows)


def _batches(rows: Iterator[Any], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    waiting: list[tuple[Any, ...]] = []
    for row in rows:
        waiting.append(tuple(row))
        if len(waiting) == ROWS:
            yield _batch(waiting, names)
            waiting = []
    if waiting:
        yield _batch(waiting, names)


def _batch(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array_of(list(column)) for column in zip(*rows, strict=True)], list(names))


def array_of(values: Sequence[Any]) -> pa.Array:
    """Python values as an array; as texts if they have several types or types that Arrow does not have."""
    if not any(isinstance(value, dict | list | str) for value in values):
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            pass
    return pa.array([None if value is None else text_of(value) for value in values], pa.string())


def text_of(value: Any) -> str:
    """A value as text: documents as JSON, times with a blank."""
    match value:
        case str():
            return value
        case bool():
            return "1" if value else "0"
        case dict() | list():
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
    return str(value)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
