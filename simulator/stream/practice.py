"""Plausibility of a history: lifetimes of rows, agreement of copied prices, distinct people, missing numbers, busy
hours. Values are drawn for some rows of the first turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from simulator.batch import decoded
from simulator.model import INSERT
from simulator.stream.engine.alive import states
from simulator.stream.engine.block import SnapshotPart
from simulator.stream.engine.compiled import Compiled
from simulator.stream.engine.history import State
from simulator.stream.engine.stream import ChangeStream, Structure
from simulator.stream.generators.columns import CompiledColumn
from simulator.stream.generators.computed.of import Looked
from simulator.stream.generators.computed.person import Persons
from simulator.stream.generators.computed.sequence import Numbers
from simulator.stream.generators.living import NEVER, Deaths
from simulator.values.groups import expanded

# Maximum rows of a table to examine.
MOST_ROWS: Final = 10_000
BARS: Final = "▁▂▃▄▅▆▇█"
HOUR_US: Final = 3_600_000_000
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNITS: Final = (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1))


def practice(stream: ChangeStream, structure: Structure) -> dict[str, Any]:
    """Facts about the first turns, from their structure."""
    compiled, stop = stream.compiled, int(structure.turns[-1]) + 1
    lives, copies, gaps, people = [], [], [], []
    for number, name in enumerate(compiled.names):
        inserted = _inserted(compiled, structure, number)
        columns = [column for column in compiled.versions[name][0].columns if isinstance(column, CompiledColumn)]
        title = str(stream.first_tables[number].id)
        if len(inserted):
            lives += [{"table": title, **_lifetimes(stream, name, inserted)}]
        for column in columns:
            label = f"{title}.{column.field.column.name}"
            if isinstance(column.generator, Looked) and len(inserted):
                copies.append({"column": label, **_agreement(column.generator, inserted, stop)})
            if isinstance(column.generator, Numbers) and len(inserted) > 1:
                used_numbers = np.sort(column.generator.numbers(inserted)) // column.generator.step
                span = int(used_numbers[-1] - used_numbers[0]) + 1
                gaps.append({"column": label, "missing": round(1 - len(np.unique(used_numbers)) / span, 4)})
            if isinstance(column.generator, Persons) and column.generator.part == "name":
                rows = _alive(compiled, number)
                names = decoded(column.array(rows)).to_pylist() if len(rows) else []
                people.append({"column": label, "rows": len(names), "different": len({*names})})
    return {"lives": lives, "copies": copies, "gaps": gaps, "people": people, **_busy(stream)}


def _inserted(compiled: Compiled, structure: Structure, table: int) -> State:
    """Inserted rows of a table, in their initial state."""
    inserts = (structure.tick >= 0) & (compiled.group[structure.tick] == table * 4 + INSERT)
    statement, turn = (indexes[:MOST_ROWS] for indexes in np.nonzero(inserts))
    owner, row = (numbers[:MOST_ROWS] for numbers in expanded(structure.rows[statement, turn]))
    return structure.state(compiled.ticks, compiled.names[table], statement[owner], turn[owner], row)


def _lifetimes(stream: ChangeStream, name: str, rows: State) -> dict[str, Any]:
    """Lifetimes of rows that are inserted in these turns, and the share of those that stay for good."""
    assert rows.turn is not None
    deaths = Deaths(stream.compiled.drawn, name)(rows.cohort, rows.slot, rows.cycle, rows.tick)
    mortal = np.flatnonzero(deaths != NEVER)
    seconds = None
    if len(mortal):
        ends, begins = (stream.timeline.commit_us(turns[mortal]) for turns in (deaths, rows.turn))
        seconds = round(float(np.median(ends - begins)) / 1e6, 3)
    return {"stay": round(1 - len(mortal) / len(rows), 4), "median_seconds": seconds}


def _agreement(looked: Looked, rows: State, stop: int) -> dict[str, Any]:
    """The shares of copies that equal the referenced row's value at that time, and its value at the end
    of these turns.
    """
    copies = decoded(looked.array(rows)).to_pylist()
    referenced, _ = looked.references.rows(rows)
    turns = rows.turns(looked.history)
    at_that_time, later = (
        decoded(looked.column.array(looked.current(referenced, moments))).to_pylist()
        for moments in (turns, turns * 0 + stop)
    )
    share_then, share_later = (
        round(float(np.mean([a == b for a, b in zip(copies, values, strict=True)])), 4)
        for values in (at_that_time, later)
    )
    return {"of": f"{looked.column.field.table}.{looked.column.field.name}", "then": share_then, "later": share_later}


def _alive(compiled: Compiled, table: int) -> State:
    """Rows alive at the stream's start, of the table's largest cohort."""
    name = compiled.names[table]
    with_table = [
        (cohort.count, number)
        for number, cohort in enumerate(compiled.plan.cohorts)
        if name in compiled.plan.programs[cohort.program].members
    ]
    count, number = max(with_table)
    base = compiled.plan.cohorts[number].base
    return states(compiled, SnapshotPart(table, number, base, base + min(count, MOST_ROWS)), 0)


def _busy(stream: ChangeStream) -> dict[str, Any]:
    """Shares of the turns by hour of the day and by day of the week, if they vary."""
    curve = stream.scenario.spec.curve
    hours, days = (np.array(weights) / sum(weights) for weights in (curve.hours, curve.days))
    busy_shares: dict[str, Any] = {}
    for name, shares in (("hours", hours), ("days", days)):
        if shares.max() > shares.min():
            busy_shares[name] = [round(float(share), 4) for share in shares]
    return busy_shares


def lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """The facts as sentences."""
    lives: dict[str, list[Mapping[str, Any]]] = {}
    for life in facts["lives"]:
        seconds = life["median_seconds"]
        lives.setdefault("" if seconds is None else _duration(seconds), []).append(life)
    for median, alike in lives.items():
        tables = ", ".join(life["table"] for life in alike)
        if not median:
            yield f"{tables}: new rows stay for good."
            continue
        stays = sorted(life["stay"] for life in alike)
        least, most = (f"{share:.0%}" for share in (stays[0], stays[-1]))
        stay = f"; {least if least == most else f'{least} to {most}'} stay for good" if stays[-1] else ""
        yield f"{tables}: rows that are deleted live {median} in the median{stay}."
    for copy in facts["copies"]:
        yield (
            f"{copy['column']} is {copy['of']} of that time in {copy['then']:.1%} of the rows, and today's in "
            f"{copy['later']:.1%}."
        )
    for people in facts["people"]:
        yield f"{people['column']}: {people['different']:,} different names in {people['rows']:,} rows."
    missing = [f"{gap['column']} {gap['missing']:.1%}" for gap in facts["gaps"] if gap["missing"] >= 0.001]
    if missing:
        yield f"Numbers that no row has: {', '.join(missing)}."
    if "hours" in facts:
        hours = facts["hours"]
        most, least = max(hours), min(hours)
        yield (
            f"Hours of the day, UTC: {_bars(hours)}  {hours.index(most)}:00 has {most:.1%} of the turns, "
            f"{hours.index(least)}:00 {least:.1%}."
        )
    if "days" in facts:
        days = facts["days"]
        yield f"Days from Monday: {_bars(days)}  {DAYS[days.index(max(days))]} has {max(days):.1%} of the turns."


def _bars(shares: list[float]) -> str:
    return "".join(BARS[min(int(share / max(shares) * len(BARS)), len(BARS) - 1)] for share in shares)


def _duration(seconds: float) -> str:
    """
    >>> _duration(7), _duration(5400), _duration(200_000)
    ('7.0 seconds', '1.5 hours', '2.3 days')
    """
    unit, size = next((unit, size) for unit, size in UNITS if seconds >= size or size == 1)
    return f"{seconds / size:.1f} {unit}"
