"""Proposed cases of a hunt: the number of a case decides it, so a hunt can be repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from simulator.hunting.case import Case
from simulator.run.scenario import load
from simulator.sql import is_script
from simulator.values.draw import below, bits, key

# Maximum first turn of later cases: a stream can be read from any turn.
FAR: Final = 1_000_000
# Tables with more rows are made smaller, so that changes meet.
MANY_ROWS: Final = 200
ROWS: Final = (3, 10, 50, MANY_ROWS)
TURNS: Final = (20, 100, 400, 1_500)
PARTITIONS: Final = (1, 2, 3, 7)
# This many cases are of one stream, since opening it takes as long as a case of it.
CASES_OF_ONE: Final = 4
# What any consumer meets that gets messages at least once, often enough to be in a case.
AT_LEAST_ONCE: Final = (
    "redelivery=20000,flush=60000", "redelivery=5000", "duplicates=0.1", "late=0.5", "early=0.5", "halves=1",
)  # fmt: skip


def cases(
    bases: Sequence[Case],
    seed: int,
    *,
    snapshots: bool,
    faults: Sequence[str] = AT_LEAST_ONCE,
) -> Iterator[Case]:
    """Cases without end: first the begin of each base as it is, then other seeds, turns, numbers of rows, partitions,
    arrivals, and one of the `faults` in every other case. `snapshots`: the format sends rows of a snapshot."""
    sized = {base: _sized_tables(base) for base in bases}
    for base in bases:
        yield replace(base, settings=_with_rows(base, sized[base], MANY_ROWS), turns=TURNS[1])
    number = 0
    while True:
        number += 1
        draw, draw_stream = partial(_draw, seed, number), partial(_draw, seed, -(number // CASES_OF_ONE))
        base = bases[draw_stream("base", len(bases))]
        partitions = PARTITIONS[draw("partitions", len(PARTITIONS))]
        near = is_script(base.scenario) or draw("near", 2) == 0
        yield replace(
            base,
            seed=draw_stream("seed", 1 << 31),
            settings=_with_rows(base, sized[base], ROWS[draw_stream("rows", len(ROWS))]),
            first_turn=0 if near else draw("turn", FAR),
            turns=TURNS[draw("turns", len(TURNS))],
            snapshot=snapshots and near and draw("snapshot", 3) == 0,
            partitions=partitions,
            arrival=1 + draw("arrival", 1 << 30) if partitions > 1 and draw("late", 3) else 0,
            faults=faults[draw("fault", len(faults))] if faults and draw("faults", 2) else "none",
        )


def _draw(seed: int, number: int, name: str, size: int) -> int:
    """A number below `size`, for a case and a name."""
    return int(below(bits(key(seed, number, name), np.zeros(1, dtype=np.int64)), size)[0])


def _sized_tables(base: Case) -> list[str]:
    """The tables whose number of rows the scenario says, and `--set` does not."""
    if is_script(base.scenario):
        return []
    loaded, _ = load(base.loaded_from)
    set_keys = {setting.partition("=")[0] for setting in base.settings}
    return [
        name
        for name, table in loaded.data["tables"].items()  # type: ignore[union-attr]
        if "rows" in table and f"tables.{name}.rows" not in set_keys and _count(table["rows"]) > MANY_ROWS
    ]


def _count(text: object) -> float:
    try:
        return float(str(text).replace("_", "").replace(",", ""))
    except ValueError:
        return 0.0


def _with_rows(base: Case, tables: Sequence[str], rows: int) -> tuple[str, ...]:
    return (*base.settings, *(f"tables.{name}.rows={rows}" for name in tables))
