"""A failing case made smaller: fewer turns, rows, tables and columns, in the order of what removes most.

History is random access, so nothing is replayed: a smaller case is asked for, and kept if the consumer still fails in
the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from simulator.errors import SimulatorError
from simulator.hunting.case import Case, yaml_of
from simulator.hunting.history import history_of
from simulator.hunting.rows import Identity, rows_of
from simulator.run.scenario import load
from simulator.sql import is_script

Item = TypeVar("Item")
# Maps a function over cases, in their order.
InOrder: TypeAlias = Callable[[Callable[[Case], bool], Iterable[Case]], Iterable[bool]]
# A path to a key or an entry of a scenario.
Path: TypeAlias = tuple[str | int, ...]
# Keys and entries below this depth stay.
DEEPEST: Final = 8
# Index of the first case in which the consumer fails as it did at first; None: in none of them.
First: TypeAlias = Callable[[Iterable[Case]], int | None]


def shrink(case: Case, fails: Callable[[Case], bool], in_order: InOrder = map) -> Case:
    """The smallest case found. `fails` says whether the consumer still fails, and no when the time is over; `in_order`
    maps it over cases, several at once if it likes."""
    failed_before: dict[Case, bool] = {}

    def still(smaller: Case) -> bool:
        if smaller not in failed_before:
            failed = False
            with suppress(SimulatorError):  # a scenario that lost too much is none
                failed = fails(smaller)
            failed_before[smaller] = failed
        return failed_before[smaller]

    def first(cases: Iterable[Case]) -> int | None:
        return next((number for number, failed in enumerate(in_order(still, cases)) if failed), None)

    while True:
        before = case
        for step in (_plainer, _fewer_turns, _fewer_rows, _less_scenario):
            case = step(case, first)
        if case == before:
            return case


def _plainer(case: Case, first: First) -> Case:
    """No faults, one partition, stream order, no snapshot."""
    for plainer in (
        {"partitions": 1, "arrival": 0, "snapshot": False, "faults": "none"},
        {"faults": "none"},
        {"partitions": 1, "arrival": 0, "snapshot": False},
        {"partitions": 1, "arrival": 0},
        {"snapshot": False},
        {"arrival": 0},
        {"partitions": 2},
    ):
        smaller = replace(case, **plainer)
        if smaller != case and smaller.partitions <= case.partitions and first([smaller]) is not None:
            case = smaller
    return case


def _fewer_turns(case: Case, first: First) -> Case:
    """Turns cut off at the end, then at the beginning, by halves, quarters … single turns."""
    for at_begin in (0, 1):
        step = case.turns // 2
        while step:
            steps = [step >> halvings for halvings in range(step.bit_length())]
            cut = [replace(case, turns=case.turns - n, first_turn=case.first_turn + n * at_begin) for n in steps]
            if (number := first(cut)) is None:
                break
            case, step = cut[number], min(steps[number], cut[number].turns // 2)
    return case


def _fewer_rows(case: Case, first: First) -> Case:
    """Changes of fewer rows; what an update of the key connects stays together."""
    groups = history_of(case).groups
    if not groups:
        return case

    def with_groups(some: Sequence[tuple[Identity, ...]]) -> Case:
        return replace(case, rows=rows_of(some))

    needed_groups = minimal(groups, lambda parts: first(map(with_groups, parts)))
    if len(needed_groups) == len(groups) and (case.rows is not None or first([with_groups(needed_groups)]) is None):
        return case
    return with_groups(needed_groups)


def _less_scenario(case: Case, first: First) -> Case:
    """A scenario of its own with fewer tables and columns; a script stays as it is."""
    if is_script(case.scenario):
        return case
    loaded, _ = load(case.loaded_from, case.source, settings=case.settings)
    data: Any = loaded.data  # type: ignore[union-attr]
    for depth in range(1, DEEPEST):
        case, data = _less_at(depth, case, data, first)
    return case


def _less_at(depth: int, case: Case, data: Any, first: First) -> tuple[Case, Any]:
    """The case without the keys and entries at a depth that it can do without, and the scenario's data."""
    paths = list(_paths(data, depth))

    def without(needed_paths: Sequence[Path]) -> Any:
        return _rebuilt(data, {*paths}.difference(needed_paths))

    def with_own(scenario: Any) -> Case:
        return replace(case, scenario=yaml_of(scenario), settings=())

    needed_paths = minimal(paths, lambda parts: first(with_own(without(removed_paths)) for removed_paths in parts))
    return (case, data) if len(needed_paths) == len(paths) else (with_own(without(needed_paths)), without(needed_paths))


def _paths(data: Any, depth: int, above: Path = ()) -> Iterator[Path]:
    """The paths of all keys and entries at a depth."""
    for name, value in _entries(data):
        if depth == 1:
            yield (*above, name)
        else:
            yield from _paths(value, depth - 1, (*above, name))


def _rebuilt(data: Any, removed: Set[Path], above: Path = ()) -> Any:
    """The data without some paths."""
    entries = {
        name: _rebuilt(value, removed, (*above, name))
        for name, value in _entries(data)
        if (*above, name) not in removed
    }
    return entries if isinstance(data, Mapping) else list(entries.values()) if isinstance(data, list) else data


def _entries(data: Any) -> Iterable[tuple[str | int, Any]]:
    return data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()


def minimal(items: Sequence[Item], first: Callable[[Iterable[Sequence[Item]]], int | None]) -> list[Item]:
    """A part of the items that still fails, and of which no single one can go: halves are left out first, then
    quarters … (delta debugging). `first` is the index of the first part that fails. The items themselves are taken to
    fail."""
    needed, size = list(items), max(1, len(items) // 2)
    while True:
        position, removed = 0, False
        while size < len(needed):
            starts = range(position, len(needed), size)
            number = first(needed[:start] + needed[start + size :] for start in starts)
            if number is None:
                break
            position, removed = starts[number], True
            needed = needed[:position] + needed[position + size :]
        if size == 1 and not removed:
            return needed
        if not removed or size > len(needed):
            size = max(1, size // 2)
