"""Preview of a scenario, computed from the structure of its first turns; few values are drawn (`practice.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from simulator.model import ROW_KINDS, Kind
from simulator.stream import MOST_IN_FULL
from simulator.stream.engine.stream import ChangeStream, Structure
from simulator.stream.practice import lines as practice_lines
from simulator.stream.practice import practice
from simulator.values.draw import identity
from simulator.values.groups import expanded

TURNS: Final = 100_000
# Changes of the stream within which a repeated change counts as soon; changes of the table among which distinct rows
# are counted.
SOON: Final = 100
WINDOW: Final = 1000


def outlook(stream: ChangeStream) -> dict[str, Any]:
    """Transactions, time and each table's changes over the first turns."""
    stop = stream.border(min(TURNS, stream.last_turn // 2))
    structure = stream.structure(0, stop)
    compiled = stream.compiled
    _, first, length = stream.timeline.transactions(structure.turns)
    sizes = length[first == structure.turns]
    commits = stream.timeline.commit_us(structure.turns[first == structure.turns])
    present = structure.tick >= 0
    turn, statement = np.nonzero(present.T)
    tick, rows = structure.tick[statement, turn], structure.rows[statement, turn]
    group = np.repeat(compiled.group[tick], rows)
    _, row = expanded(rows)
    life = compiled.ticks.life(structure.cohort[turn], structure.slot[turn], structure.cycle[turn], tick)
    gaps_us = np.diff(commits)
    tables = []
    alive = _alive(stream)
    for number, (name, table) in enumerate(zip(compiled.names, stream.first_tables, strict=True)):
        permanent = np.array(
            [name in p.members and p.members[name].permanent for p in stream.plan.programs], dtype=bool
        )
        table_changes = np.flatnonzero(group // 4 == number)
        lives = np.where(permanent[compiled.ticks.cohort_program[structure.cohort[turn]]], -1, life)
        owner = np.repeat(identity(structure.slot[turn], lives, 0), rows)
        names = owner[table_changes] + row[table_changes].astype(np.uint64)
        tables.append(
            {
                "name": str(table.id),
                "rows": alive[number],
                "changes": len(table_changes),
                **{
                    kind.name.lower(): int((group[table_changes] % 4 == kind).sum())
                    for kind in ROW_KINDS
                    if kind is not Kind.READ
                },
                **_repeats(names, table_changes),
            }
        )
    return {
        "turns": stop,
        "changes": len(group),
        "seconds": round(float(commits[-1] - commits[0]) / 1e6, 3),
        "transactions": len(sizes),
        "turns_per_transaction": {
            "mean": round(float(sizes.mean()), 2),
            **{f"p{p}": int(np.percentile(sizes, p)) for p in (50, 90, 99)},
            "max": int(sizes.max()),
        },
        "ms_between_transactions": {f"p{p}": round(float(np.percentile(gaps_us, p)) / 1000, 3) for p in (1, 50, 99)},
        "tables": tables,
        "lifecycles": _steps(stream, structure),
        "practice": practice(stream, structure),
    }


def _steps(stream: ChangeStream, structure: Structure) -> list[dict[str, Any]]:
    """Occurrences of each step of each lifecycle."""
    ticks, counters = stream.compiled.ticks, dict[str, Counter[str]]()
    for number, program in enumerate(stream.plan.programs):
        if program.lifecycle in stream.scenario.spec.lifecycles:
            steps = ticks.step[structure.tick[0][ticks.cohort_program[structure.cohort] == number]]
            step_counts = np.bincount(steps, minlength=len(program.steps)).tolist()
            counts = counters.setdefault(program.lifecycle, Counter())
            for step, count in zip(program.steps, step_counts, strict=True):
                counts[step.name] += count
    return [{"name": name, "turns": counts.total(), "steps": dict(counts)} for name, counts in counters.items()]


def _alive(stream: ChangeStream) -> list[int]:
    """Approximate number of rows of each table at the stream's start."""
    alive = Counter[str]()
    for cohort in stream.plan.cohorts:
        program = stream.plan.programs[cohort.program]
        for table, member in program.members.items():
            alive[table] += round(cohort.count * program.share_alive(table) * (member.low + member.high) / 2)
    return [alive[name] for name in stream.compiled.names]


def _repeats(names: Any, numbers: Any) -> dict[str, Any]:
    """Statistics of repeated changes of rows. `names` identify the rows in stream order; `numbers` count the changes in
    the stream.
    """
    if not len(names):
        return {}
    order = np.argsort(names, kind="stable")
    repeats = names[order][1:] == names[order][:-1]
    gaps = np.diff(numbers[order])[repeats]
    _, counts = np.unique(names, return_counts=True)
    window = min(WINDOW, len(names))
    complete = len(names) // window * window
    different = [len(np.unique(rows_in_window)) for rows_in_window in names[:complete].reshape(-1, window)]
    return {
        "rows_per_1000_changes": round(float(np.mean(different)) * WINDOW / window),
        "again_within_100_changes": round(float((gaps <= SOON).sum() / len(names)), 4),
        "changes_between": {f"p{p}": int(np.percentile(gaps, p)) for p in (10, 50, 90)} if len(gaps) else None,
        "hottest_row": round(float(counts.max() / len(names)), 5),
        "ten_hottest_rows": round(float(np.sort(counts)[-10:].sum() / len(names)), 5),
    }


def text(facts: Mapping[str, Any]) -> str:
    """The outlook for people."""
    sizes, gaps = facts["turns_per_transaction"], facts["ms_between_transactions"]
    lines = [
        f"The first {facts['turns']:,} turns make {facts['changes']:,} row changes in {facts['transactions']:,} "
        f"transactions and {facts['seconds']:,} seconds of simulated time.",
        f"Turns in a transaction: {sizes['mean']} on average, {sizes['p50']} in the median, {sizes['max']} at most.",
        f"Between two transactions: {gaps['p50']} ms in the median, {gaps['p1']} to {gaps['p99']} ms in 98 of 100.",
    ]
    if len(facts["tables"]) > MOST_IN_FULL:
        lines += ["", *map(_line, facts["tables"])]
    else:
        for table in facts["tables"]:
            lines += _full(table)
    for life in facts["lifecycles"]:
        shares = (f"{name} {count / max(life['turns'], 1):.1%}" for name, count in life["steps"].items())
        lines.append(f"\nLifecycle {life['name']}: {life['turns']:,} turns\n  {', '.join(shares)}")
    if sentences := list(practice_lines(facts["practice"])):
        lines += ["\nIn practice:", *(f"  {line}" for line in sentences)]
    return "\n".join(lines)


def _begin(table: Mapping[str, Any]) -> str:
    return f"{table['name']}: about {table['rows']:,} rows when it begins, {table['changes']:,} changes"


def _shares(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{table[kind] / table['changes']:.1%} {kind}s" for kind in ("insert", "update", "delete"))


def _line(table: Mapping[str, Any]) -> str:
    """A line about one of many tables."""
    if not table["changes"]:
        return _begin(table)
    return f"{_begin(table)}: {_shares(table)}; the hottest row takes {table['hottest_row']:.2%}"


def _full(table: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n{_begin(table)}"
    if not table["changes"]:
        return
    yield f"  {_shares(table)}"
    yield (
        f"  {table['rows_per_1000_changes']} different rows in 1,000 changes; "
        f"{table['again_within_100_changes']:.1%} of the changes are of a row that "
        f"changed within the 100 before; the hottest row takes {table['hottest_row']:.2%}, the ten hottest "
        f"{table['ten_hottest_rows']:.2%}"
    )
    if between := table["changes_between"]:
        yield (
            f"  a row changes again after {between['p50']:,} changes of the stream in the median, "
            f"{between['p10']:,} to {between['p90']:,} in 8 of 10"
        )
