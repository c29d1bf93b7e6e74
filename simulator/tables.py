"""Tables and lists of facts in files next to the modules that use them, read on first use.

Comments (`#`) say where the facts are from, unless a column says it for each row.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, cast, get_type_hints

import pyarrow as pa
import yaml

Row = TypeVar("Row")

# Parser of cells for each field type; an empty cell is the field's default.
_READERS: Final[Mapping[Any, Callable[[str], Any]]] = {
    str: str,
    int: int,
    bool: bool,
    int | None: int,
    str | None: str,
    tuple[int, int]: lambda cell: tuple(map(int, cell.split())),
    tuple[int, ...]: lambda cell: tuple(map(int, cell.split())),
    tuple[str, ...]: lambda cell: tuple(cell.split()),
    frozenset[str]: lambda cell: frozenset(cell.split()),
    pa.DataType: pa.type_for_alias,
}


def rows(module: str, file: str, **only: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file beside a module (its `__file__`); `only` those with these cells."""
    text = Path(module).with_name(file).read_text("utf-8")
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        if only.items() <= row.items():
            yield row


@cache
def words(module: str, file: str) -> frozenset[str]:
    """The words of a text file beside a module."""
    lines = Path(module).with_name(file).read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def document(module: str, file: str) -> Any:
    """The content of a YAML file beside a module; all scalars are text."""
    return yaml.load(Path(module).with_name(file).read_text("utf-8"), Loader=yaml.BaseLoader)


@cache
def lists(module: str, file: str) -> Mapping[str, tuple[str, ...]]:
    """The lists of a YAML file beside a module, by name."""
    return {name: tuple(values) for name, values in document(module, file).items()}


class CsvTable(Mapping[str, Row]):
    """Rows of a CSV file by its first column. A row's class has columns as fields; `str` is the second column."""

    def __init__(self, module: str, file: str, row: type[Row]) -> None:
        self._module, self._file, self._row = module, file, row

    @cached_property
    def _rows(self) -> dict[str, Row]:
        if self._row is str:
            return {key: cast(Row, value) for key, value in map(dict.values, rows(self._module, self._file))}
        readers = {name: _READERS[hint] for name, hint in get_type_hints(self._row).items()}
        return {
            key: self._row(**{name: read(cells[name]) for name, read in readers.items() if cells.get(name)})
            for key, cells in self._cells().items()
        }

    def _cells(self) -> dict[str, dict[str, str]]:
        return {next(iter(cells.values())): cells for cells in rows(self._module, self._file)}

    def __getitem__(self, key: str) -> Row:
        return self._rows[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class CsvColumns(CsvTable[Row]):
    """Columns of a CSV file by their names: its first column has the names of the fields, its last explains them."""

    def _cells(self) -> dict[str, dict[str, str]]:
        lines = list(rows(self._module, self._file))
        field, *names, _ = lines[0]
        return {name: {line[field]: line[name] for line in lines} for name in names}
