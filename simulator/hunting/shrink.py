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
from simulator.hunting.rows import rows_of
from simulator.run.scenario import load
from simulator.sql import is_script

Item = TypeVar("Item")
# A path to a key or an entry of a scenario.
Path: TypeAlias = tuple[str | int, ...]
# Keys and entries below this depth stay.
DEEPEST: Final = 8
# Whether the consumer fails in a case as it did in the first.
Fails: TypeAlias = Callable[[Case], bool]


def shrink(case: Case, fails: Fails) -> Case:
    """The smallest case found. `fails` says no when the time is over."""
    known: dict[Case, bool] = {}

    def still(smaller: Case) -> bool:
        if smaller not in known:
            known[smaller] = False
            with suppress(SimulatorError):  # a scenario that lost too much is none
                known[smaller] = fails(smaller)
        return known[smaller]

    while True:
        before = case
        for step in (_plainer, _fewer_turns, _fewer_rows, _less_scenario):
            case = step(case, still)
        if case == before:
            return case


def _plainer(case: Case, fails: Fails) -> Case:
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
        if smaller != case and smaller.partitions <= case.partitions and fails(smaller):
            case = smaller
    return case


def _fewer_turns(case: Case, fails: Fails) -> Case:
    """Turns cut off at the end, then at the beginning, by halves, quarters … single turns."""
    for first in (False, True):
        step = case.turns // 2
        while step:
            smaller = replace(case, turns=case.turns - step)
            if first:
                smaller = replace(smaller, first_turn=case.first_turn + step)
            if smaller.turns > 0 and fails(smaller):
                case = smaller
                step = min(step, case.turns // 2)
            else:
                step //= 2
    return case


def _fewer_rows(case: Case, fails: Fails) -> Case:
    """Changes of fewer rows; what an update of the key connects stays together."""
    groups = history_of(case).groups
    if not groups:
        return case
    kept = minimal(groups, lambda some: fails(replace(case, rows=rows_of(some))))
    return case if len(kept) == len(groups) and case.rows is not None else _with_rows(case, kept, fails)


def _with_rows(case: Case, groups: Sequence[Any], fails: Fails) -> Case:
    smaller = replace(case, rows=rows_of(groups))
    return smaller if fails(smaller) else case


def _less_scenario(case: Case, fails: Fails) -> Case:
    """A scenario of its own with fewer tables and columns; a script stays as it is."""
    if is_script(case.scenario):
        return case
    loaded, _ = load(case.loaded_from, case.source, settings=case.settings)
    data: Any = loaded.data  # type: ignore[union-attr]
    for depth in range(1, DEEPEST):
        case, data = _less_at(depth, case, data, fails)
    return case


def _less_at(depth: int, case: Case, data: Any, fails: Fails) -> tuple[Case, Any]:
    """The case without the keys and entries at a depth that it can do without, and the scenario's data."""
    paths = list(_paths(data, depth))

    def without(kept: Sequence[Path]) -> Any:
        return _rebuilt(data, {*paths}.difference(kept))

    def with_own(scenario: Any) -> Case:
        return replace(case, scenario=yaml_of(scenario), settings=())

    kept = minimal(paths, lambda some: fails(with_own(without(some))))
    return (case, data) if len(kept) == len(paths) else (with_own(without(kept)), without(kept))


def _paths(data: Any, depth: int, above: Path = ()) -> Iterator[Path]:
    """The paths of all keys and entries at a depth."""
    for name, value in _entries(data):
        if depth == 1:
            yield (*above, name)
        else:
            yield from _paths(value, depth - 1, (*above, name))


def _rebuilt(data: Any, gone: Set[Path], above: Path = ()) -> Any:
    """The data without some paths."""
    kept = {name: _rebuilt(value, gone, (*above, name)) for name, value in _entries(data) if (*above, name) not in gone}
    return kept if isinstance(data, Mapping) else list(kept.values()) if isinstance(data, list) else data


def _entries(data: Any) -> Iterable[tuple[str | int, Any]]:
    return data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()


def minimal(items: Sequence[Item], fails: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """A part of the items that still fails, and of which no single one can go: halves are left out first, then
    quarters … (delta debugging). The items themselves are taken to fail."""
    kept, size = list(items), max(1, len(items) // 2)
    while True:
        position, removed = 0, False
        while position < len(kept):
            fewer = kept[:position] + kept[position + size :]
            if fewer and fails(fewer):
                kept, removed = fewer, True
            else:
                position += size
        if size == 1 and not removed:
            return kept
        if not removed or size > len(kept):
            size = max(1, size // 2)
