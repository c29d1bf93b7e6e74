"""Compares a consumer's table with the expected rows, in any order and number.

Each row is reduced to two hashes, of its key and of all its cells, which are sorted and joined: about 50 bytes per row
and side. The first differing rows of each kind are then read again for the report.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import as_integers
from simulator.errors import UsageError, did_you_mean, short
from simulator.model import Column, TableId
from simulator.sources.source import Source
from simulator.truth.verify.findings import EXAMPLES
from simulator.truth.verify.tables.cells import DOCUMENTS, Hashes, Tolerance, as_carrier, hashes
from simulator.truth.verify.tables.consumed import Consumed
from simulator.truth.verify.tables.conversions import conversions, difference, in_common, row_text

# With more rows than this, of which none is right, it may be another run.
FEW: Final = 20
# The cells of one row: the carriers' values, by column.
Cells: TypeAlias = dict[str, Any]


class WrongRow(enum.Enum):
    """Kinds of findings about rows."""

    MISSING = "missing"
    EXTRA = "that must not be there"
    DIFFERENT = "with other cells"
    REPEATED = "there more than once"


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A wrong row: its key as the database's client prints it, the difference, its cause, the columns that differ, and
    what makes their values of the expected ones."""

    wrong: WrongRow
    table: str
    key: Mapping[str, str | None]
    text: str
    cause: str = ""
    differing: tuple[str, ...] = ()
    conversions: tuple[Sequence[str], ...] = ()

    def __str__(self) -> str:
        key = row_text(self.key)
        return f"{key}: {self.text}" + (f"\n    {self.cause}" if self.cause else "")


@dataclass(slots=True)
class TableVerdict:
    """Result of comparing a table. `skipped`: columns of the consumer's table that are not expected;
    `hint`: what explains all examples.

    A table that was followed may have only a part of the changes: `reached` is the turn before which it has all, and
    `behind` are the rows that are right for that turn and wait for later changes. `counts` and `examples` are about the
    others then.
    """

    table: str
    place: str
    expected: int = 0
    found: int = 0
    counts: Counter[WrongRow] = field(default_factory=Counter)
    examples: list[RowFinding] = field(default_factory=list)
    skipped: tuple[str, ...] = ()
    hint: str = ""
    reached: int | None = None
    behind: int = 0

    @property
    def ok(self) -> bool:
        """Whether the table holds exactly the rows expected."""
        return not self.counts and not self.behind

    def __str__(self) -> str:
        """The findings as text: counts, then examples."""
        word = "all right" if self.ok else "wrong" if self.counts else "behind"
        lines = [f"{self.table}: {self.found:,} rows, {self.expected:,} expected: {word}"]
        if self.behind:
            rows = "1 row waits" if self.behind == 1 else f"{self.behind:,} rows wait"
            lines.append(f"  {rows} for changes from turn {self.reached:,} on, which the consumer has not reached")
            if self.counts:
                lines.append("  earlier changes are lost:")
        for wrong in WrongRow:
            if count := self.counts[wrong]:
                lines.append(f"  {count:,} {'row' if count == 1 else 'rows'} {wrong.value}")
                own = [finding for finding in self.examples if finding.wrong is wrong]
                lines += [f"    {str(finding).replace(chr(10), chr(10) + '  ')}" for finding in own]
                if (more := count - len(own)) > 0:
                    lines.append(f"    … and {more:,} more")
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The findings as data, for programs."""
        return {
            "table": self.table,
            "place": self.place,
            "ok": self.ok,
            "expected": self.expected,
            "found": self.found,
            "reached": self.reached,
            "behind": self.behind,
            "wrong": {wrong.value: count for wrong, count in self.counts.items()},
            "skipped": list(self.skipped),
            "hint": self.hint,
            "examples": [
                {
                    "kind": finding.wrong.value,
                    "key": dict(finding.key),
                    "text": finding.text,
                    "cause": finding.cause,
                }
                for finding in self.examples
            ],
        }


@dataclass(frozen=True, slots=True)
class ExpectedTable:
    """An expected table: its columns, its key's columns (none: all cells identify a row), and its rows as carriers,
    which can be read repeatedly."""

    id: TableId
    columns: Sequence[Column]
    key: Sequence[str]
    rows: Callable[[], Iterator[Sequence[pa.Array]]]


@dataclass(frozen=True, slots=True)
class Side:
    """Hashes of rows: of each row's key, and of all its cells."""

    keys: Hashes
    rows: Hashes

    @property
    def pairs(self) -> Hashes:
        """One hash of both: equal for a row with the same key and cells."""
        return self.keys * np.uint64(3) + self.rows

    @property
    def digest(self) -> tuple[int, int]:
        """Number of rows, and a sum that any change of a row changes."""
        return len(self.keys), int(self.pairs.sum()) if len(self.keys) else 0


@dataclass(frozen=True, slots=True)
class Explained:
    """The cause of a wrong row as a sentence. `is_state`: the row is as it was at some time."""

    text: str
    is_state: bool = False


# The cause of a finding, from its kind, the key's cells, and the consumer's row.
Cause: TypeAlias = Callable[[WrongRow, Cells, Cells | None], Explained]


class Comparer:
    """Compares one table. Raises UsageError if the consumer's table lacks a column."""

    def __init__(
        self,
        expected: ExpectedTable,
        consumed: Consumed,
        source: Source,
        tolerances: Sequence[Tolerance] = (),
        mark: str | None = None,
    ) -> None:
        """`mark`: a column of the consumer's that grows; `greatest` is its greatest value when the table was last
        read."""
        # keys of the wrong rows of the last verdict, and of those that were expected
        self._wrong = self._wanted = np.zeros(0, dtype=np.uint64)
        self.greatest: Any = None
        self._source, self._consumed, self._expected = source, consumed, expected
        by_name = {name.lower(): name for name in consumed.columns}
        names_there = Counter(name.lower() for name in consumed.columns)
        self.columns: list[Column] = []
        self._positions: list[int] = []
        self._names: list[str] = []
        self._tolerances: list[list[Tolerance]] = []
        for position, column in enumerate(expected.columns):
            fitting = [tolerance for tolerance in tolerances if tolerance.fits(expected.id.name, column.name)]
            if source.family(column.type) == "json":
                fitting.append(DOCUMENTS)
            if any(tolerance.ignored for tolerance in fitting):
                continue
            name = column.name if column.name in consumed.columns else by_name.get(column.name.lower())
            if name is None and not consumed.columns:
                name = column.name
            if name is None:
                hint = did_you_mean(column.name, consumed.columns)
                raise UsageError(
                    f"--table {consumed.name}: it has no column {column.name!r} of {expected.id}; it has"
                    f" {short(', '.join(consumed.columns))}.{hint} If it need not have it, add"
                    f" --tolerate {column.name}=ignore."
                )
            if consumed.columns.count(name) > 1 or (name != column.name and names_there[name.lower()] > 1):
                raise UsageError(
                    f"--table {consumed.name}: several of its columns may be {column.name!r} of {expected.id}: leave"
                    " one."
                )
            self.columns.append(column)
            self._positions.append(position)
            self._names.append(name)
            self._tolerances.append(fitting)
        key = [name for name in expected.key if name in {column.name for column in self.columns}]
        self.key = key if len(key) == len(expected.key) else []
        names = [column.name for column in self.columns]
        self._key_positions = [names.index(name) for name in self.key] or list(range(len(names)))
        self._mark = [name for name in [by_name.get((mark or "").lower())] if mark and name is not None]
        if mark and not self._mark and consumed.columns:
            raise UsageError(f"--table {consumed.name}: it has no column {mark!r}, which --reached names.")
        self._mark_at = [*self._names, *self._mark].index(self._mark[0]) if self._mark else 0
        self.skipped = tuple(name for name in consumed.columns if name not in (*self._names, *self._mark))

    # ------------------------------------------------------------------------------------------------------ both sides

    def _expected_rows(self) -> Iterator[list[pa.Array]]:
        for arrays in self._expected.rows():
            yield [self._both(number, arrays[position]) for number, position in enumerate(self._positions)]

    def _found_rows(self, carriers: Sequence[pa.DataType]) -> Iterator[tuple[list[pa.Array], list[pa.Array], Any]]:
        """Columns as carriers, masks of unreadable values, and the consumer's rows unconverted."""
        for batch in self._consumed.rows(list(dict.fromkeys((*self._names, *self._mark)))):
            if self._mark and (value := pc.max(batch.column(self._mark_at)).as_py()) is not None:
                self.greatest = value if self.greatest is None else max(self.greatest, value)
            arrays, bad = [], []
            for number, column in enumerate(self.columns):
                array, wrong = as_carrier(batch.column(number), column, carriers[number], self._source)
                for tolerance in self._tolerances[number]:
                    array = tolerance.found(array)
                arrays.append(self._both(number, array))
                bad.append(wrong)
            yield arrays, bad, batch

    def _both(self, number: int, array: pa.Array) -> pa.Array:
        """A column as it is compared. Without tolerances, one of a dictionary stays so, which is hashed faster."""
        for tolerance in self._tolerances[number]:
            array = tolerance.both(decoded(array))
        return array if not pa.types.is_dictionary(array.type) or not array.dictionary.null_count else decoded(array)

    @cached_property
    def _carriers(self) -> list[pa.DataType]:
        arrays = next(iter(self._expected.rows()))
        return [decoded(arrays[position]).type for position in self._positions]

    def _hashed(self, arrays: Sequence[pa.Array], bad: Sequence[Any] = ()) -> tuple[Hashes, Hashes]:
        rows = hashes(arrays, bad)
        if len(self._key_positions) == len(arrays):
            return rows, rows
        wrong = [bad[position] for position in self._key_positions] if bad else ()
        return hashes([arrays[position] for position in self._key_positions], wrong), rows

    # ------------------------------------------------------------------------------------------------------- comparing

    def expected_side(self) -> Side:
        """Hashes of the expected rows."""
        return _side(self._hashed(arrays) for arrays in self._expected_rows())

    def found_side(self) -> Side:
        """Hashes of the consumer's rows."""
        carriers = self._carriers
        return _side(self._hashed(arrays, bad) for arrays, bad, _ in self._found_rows(carriers))

    def side_of(self, values: Sequence[pa.Array]) -> Side:
        """Hashes of rows with the expected columns."""
        arrays = [self._both(number, values[position]) for number, position in enumerate(self._positions)]
        return Side(*self._hashed(arrays))

    def compare(self, cause: Cause = lambda wrong, key, row: Explained(""), examples: int = EXAMPLES) -> TableVerdict:
        """The verdict. Rows are read once, and a second time if some are wrong."""
        # NumPy and Arrow release the GIL, so both sides run in parallel; only this thread reads the stream
        assert self._carriers is not None
        with ThreadPoolExecutor(1) as other:
            reading = other.submit(self.found_side)
            wanted = self.expected_side()
            came = reading.result()
        return self.verdict(wanted, came, cause, examples)

    def check_same_run(self, verdict: TableVerdict) -> None:
        """Raises UsageError if no row is right and those with expected keys differ in most columns: another run's."""
        counts = verdict.counts
        wrong = counts[WrongRow.MISSING] + counts[WrongRow.DIFFERENT] + counts[WrongRow.REPEATED]
        if not self.key or wrong < verdict.expected or min(verdict.expected, verdict.found) <= FEW:
            return
        different = [row for row in verdict.examples if row.wrong in (WrongRow.DIFFERENT, WrongRow.REPEATED)]
        if all(2 * len(row.differing) > len(self.columns) - len(self.key) for row in different):
            first = (different or verdict.examples)[0]
            raise UsageError(
                f"--table {verdict.place}: none of its {verdict.found:,} rows is one of the {verdict.expected:,} that"
                f" {verdict.table} must hold: they are of another scenario, seed, --set, --at or table, or their keys"
                f" are written in another way. The first difference: {str(first).partition(chr(10))[0]}."
            )

    def wrong_keys(self, wanted: Side, came: Side) -> dict[WrongRow, Hashes]:
        """Keys of the wrong rows by kind; no kinds if all rows are right, which needs no join."""
        if _are_equal(wanted, came):
            return {}
        return _joined(wanted, came) if self.key else _counted(wanted.rows, came.rows)

    @property
    def wrong_count(self) -> int:
        """Number of keys whose rows were wrong in the last verdict."""
        return len(np.unique(self._wrong))

    def keys_besides(self, keys: Hashes) -> Hashes:
        """The keys of the rows expected in the last verdict, without these."""
        return self._wanted[~np.isin(self._wanted, keys)]

    def key_hashes(self, keys: Sequence[pa.Array]) -> Hashes:
        """Hashes of rows' keys, from the columns of `key`."""
        return hashes([self._both(number, array) for number, array in zip(self._key_positions, keys, strict=True)])

    def are_wrong(self, keys: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tests whether the rows with these keys were wrong in the last verdict."""
        return np.isin(keys, self._wrong)

    def verdict(
        self, wanted: Side, came: Side, cause: Cause, examples: int = EXAMPLES, known: Collection[int] = ()
    ) -> TableVerdict:
        """The verdict on two sides; rows of the `known` keys are not wrong."""
        verdict = TableVerdict(
            str(self._expected.id), self._consumed.name, len(wanted.keys), len(came.keys), skipped=self.skipped
        )
        chosen: dict[WrongRow, list[int]] = {}
        wrong_keys = self.wrong_keys(wanted, came)
        self._wrong, self._wanted = np.concatenate([wanted.keys[:0], *wrong_keys.values()]), wanted.keys
        for wrong, keys in wrong_keys.items():
            if known:
                keys = keys[~np.isin(keys, np.array(list(known), dtype=np.uint64))]
            if len(keys):
                verdict.counts[wrong] = len(keys)
                chosen[wrong] = list(dict.fromkeys(keys[:examples].tolist()))
        if chosen:
            self._name(verdict, chosen, self._carriers, cause)
        if chosen.keys() == {WrongRow.DIFFERENT} and len(verdict.examples) > 1:
            verdict.hint = in_common([(row.differing, row.conversions) for row in verdict.examples])
        return verdict

    def _name(
        self, verdict: TableVerdict, chosen: dict[WrongRow, list[int]], carriers: Sequence[pa.DataType], cause: Cause
    ) -> None:
        """Reads the rows of the examples and describes what is wrong."""
        wanted_keys = np.array(sorted({key for keys in chosen.values() for key in keys}), dtype=np.uint64)
        expected: dict[int, tuple[Cells, Cells]] = {}
        for arrays in self._expected_rows():
            keys, _ = self._hashed(arrays)
            for row in np.flatnonzero(np.isin(keys, wanted_keys)).tolist():
                expected[int(keys[row])] = self._cells(arrays, row), self._printed(arrays, row)
        found: dict[int, list[tuple[Cells, Cells, Cells]]] = {}
        for arrays, bad, batch in self._found_rows(carriers):
            keys, _ = self._hashed(arrays, bad)
            for row in np.flatnonzero(np.isin(keys, wanted_keys)).tolist():
                raw = {column.name: batch.column(n)[row].as_py() for n, column in enumerate(self.columns)}
                unread = {
                    column.name for n, column in enumerate(self.columns) if bad[n] is not None and bad[n][row].as_py()
                }
                printed = {
                    name: raw[name] if name in unread else text for name, text in self._printed(arrays, row).items()
                }
                found.setdefault(int(keys[row]), []).append((self._cells(arrays, row), printed, raw))
        for wrong, keys_of in chosen.items():
            for key in keys_of:
                verdict.examples.append(self._finding(wrong, expected.get(key), found.get(key, []), cause))

    def _finding(
        self,
        wrong: WrongRow,
        expected: tuple[Cells, Cells] | None,
        found: Sequence[tuple[Cells, Cells, Cells]],
        cause: Cause,
    ) -> RowFinding:
        if expected is None and not found:
            return RowFinding(wrong, str(self._expected.id), {}, "it changed while it was read")
        cells, printed = expected if expected is not None else found[0][:2]
        key = {name: printed[name] for name in self.key or printed}
        why = cause(wrong, {name: cells[name] for name in self.key}, found[0][0] if found else None)
        differing: list[str] = []
        made: list[Sequence[str]] = []
        match wrong:
            case WrongRow.MISSING:
                text = f"it is missing: {row_text(printed)}"
            case WrongRow.EXTRA:
                text = f"it must not be there: {row_text(printed)}"
            case WrongRow.REPEATED:
                text = f"it is there {len(found)} times"
                if len({row for row in (tuple(printed.items()) for _, printed, _ in found)}) == 1:
                    text += ", all alike: a change that came again may have been added again"
                differing = min(
                    ([name for name in printed if came[name] != printed[name]] for _, came, _ in found), key=len
                )
            case WrongRow.DIFFERENT if not found:
                text = "it changed while it was read"
            case WrongRow.DIFFERENT:
                came = found[0][1]
                differing = [name for name in printed if came[name] != printed[name]]
                made = [[] if why.is_state else self._conversions(name, came, printed, differing) for name in differing]
                parts = zip(differing, made, strict=True)
                text = "; ".join(difference(name, came[name], printed[name], words) for name, words in parts)
                text = text or "its cells differ"
        return RowFinding(wrong, str(self._expected.id), key, text, why.text, tuple(differing), tuple(made))

    def _conversions(self, name: str, came: Cells, wanted: Cells, differing: Sequence[str]) -> list[str]:
        """Ways from the expected values to that of a row: another column's, or a conversion of its own."""
        value = came[name]
        if other := [column for column in differing if isinstance(value, str) and wanted[column] == value]:
            return [f"the value of {other[0]}"]
        return conversions(value, wanted[name], self._carriers[[*wanted].index(name)])

    def _cells(self, arrays: Sequence[pa.Array], row: int) -> Cells:
        return {
            column.name: cell(decoded(array.slice(row, 1)), 0)
            for column, array in zip(self.columns, arrays, strict=True)
        }

    def _printed(self, arrays: Sequence[pa.Array], row: int) -> Cells:
        return {
            column.name: self._source.format_values(decoded(array.slice(row, 1)), column.type)[0]
            for column, array in zip(self.columns, arrays, strict=True)
        }


def cell(array: pa.Array, row: int) -> Any:
    """A carrier's value as a comparable Python value."""
    value = as_integers(array.slice(row, 1))[0].as_py()
    return repr(value) if isinstance(value, float) else value


def _side(parts: Iterator[tuple[Hashes, Hashes]]) -> Side:
    keys, rows = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.uint64)]
    for key, row in parts:
        keys.append(key)
        rows.append(row)
    all_keys = np.concatenate(keys)
    keys.clear()  # half of the memory is free before the other half is copied
    return Side(all_keys, np.concatenate(rows))


def _are_equal(wanted: Side, came: Side) -> bool:
    """Whether both sides have the same rows, in any order."""
    if wanted.digest != came.digest:
        return False
    pairs, other = wanted.pairs, came.pairs
    pairs.sort()
    other.sort()
    return bool(np.array_equal(pairs, other))


def _joined(wanted: Side, came: Side) -> dict[WrongRow, Hashes]:
    """Keys of the wrong rows by kind, in row order: a sorted merge of both sides."""
    order, found_order = (np.argsort(side.keys, kind="stable") for side in (wanted, came))
    keys, found = wanted.keys[order], came.keys[found_order]
    first = np.ones(len(found), dtype=bool)
    first[1:] = found[1:] != found[:-1]
    repeated = np.isin(found, found[~first])
    places = np.minimum(np.searchsorted(keys, found), max(len(keys) - 1, 0))
    inside = keys[places] == found if len(keys) else np.zeros(len(found), dtype=bool)
    other = np.zeros(len(found), dtype=bool)
    other[inside] = wanted.rows[order][places[inside]] != came.rows[found_order][inside]
    seen = np.zeros(len(keys), dtype=bool)
    seen[places[inside]] = True

    def in_order(rows: np.ndarray[Any, np.dtype[np.bool_]]) -> Hashes:
        ordered: Hashes = came.keys[np.sort(found_order[rows])]
        return ordered

    return {
        WrongRow.MISSING: wanted.keys[np.sort(order[~seen])],
        WrongRow.EXTRA: in_order(first & ~inside),
        WrongRow.DIFFERENT: in_order(other & ~repeated),
        WrongRow.REPEATED: in_order(first & inside & repeated),
    }


def _counted(wanted: Hashes, came: Hashes) -> dict[WrongRow, Hashes]:
    """Wrong rows of a table without a key: each row must occur as often as expected."""
    rows, number = np.unique(np.concatenate([wanted, came]), return_inverse=True)
    surplus = np.bincount(number[len(wanted) :], minlength=len(rows)) - np.bincount(
        number[: len(wanted)], minlength=len(rows)
    )
    return {
        WrongRow.MISSING: np.repeat(rows, np.maximum(-surplus, 0)),
        WrongRow.EXTRA: np.repeat(rows, np.maximum(surplus, 0)),
    }
