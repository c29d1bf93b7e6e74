"""Estimated bytes of changes, from structure alone: every process derives the same block size from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from simulator.model import Column, Table
from simulator.stream.engine.program import Plan, Program

# Approximate bytes of a block's messages, which are held at once.
BLOCK_BYTES: Final = 48 << 20
# Largest column of a block: escaped and written twice it still fits into an array, which holds 2 GiB.
COLUMN_BYTES: Final = 256 << 20
# Bytes of a message beside its values: per change, and per column.
CHANGE_BYTES: Final = 300
NAME_BYTES: Final = 20


class Measured(Protocol):
    """A column of a table."""

    @property
    def most_bytes(self) -> int: ...


@dataclass(frozen=True)
class Peak:
    """The column with the most possible bytes in one turn: size of its values, number of rows."""

    table: str
    field: str
    value_bytes: int
    rows: int

    @property
    def bytes(self) -> int:
        return self.value_bytes * self.rows


@dataclass(frozen=True)
class Sizes:
    """Approximate bytes of a turn's messages, on average, and of a row of each table; and the widest column."""

    turn: float
    rows: Mapping[str, int]
    peak: Peak

    def block_turns(self, most: int) -> int:
        """Number of turns in a block."""
        return max(1, min(most, int(BLOCK_BYTES / self.turn), COLUMN_BYTES // self.peak.bytes))

    def block_rows(self, table: str) -> int:
        """Number of a snapshot's rows in a block."""
        return max(1, BLOCK_BYTES // self.rows[table])


def row_bytes(columns: Sequence[tuple[Column, int]]) -> int:
    """Approximate bytes of a message of one row; each column comes with the maximum bytes of its values."""
    return CHANGE_BYTES + sum(3 * len(column.name) + NAME_BYTES + bytes for column, bytes in columns)


def sizes(plan: Plan, versions: Mapping[str, Sequence[tuple[Table, Sequence[Measured]]]]) -> Sizes:
    """The sizes of a plan's turns; `versions` are the versions of each table, with their columns."""
    measured = {
        name: [
            [(c, drawn.most_bytes) for c, drawn in zip(table.columns, drawns, strict=True)]
            for table, drawns in table_versions
        ]
        for name, table_versions in versions.items()
    }
    rows = {name: max(map(row_bytes, tables)) for name, tables in measured.items()}
    means = [_mean(program, rows) for program in plan.programs]
    shares = [(cohort.count * cohort.weight, means[cohort.program]) for cohort in plan.cohorts]
    turn = sum(share * mean for share, mean in shares) / sum(share for share, _ in shares)
    most = {name: max(_most_rows(program, name) for program in plan.programs) for name in measured}
    peaks = [
        Peak(name, column.field, value_bytes, most[name])
        for name, tables in measured.items()
        for columns in tables
        for column, value_bytes in columns
    ]
    return Sizes(turn, rows, max(peaks, key=lambda peak: peak.bytes))


def _mean(program: Program, rows: Mapping[str, int]) -> float:
    """Mean bytes of the messages of a step."""
    bytes_of_statement = {name: (member.low + member.high) / 2 * rows[name] for name, member in program.members.items()}
    total = sum(
        times * sum(bytes_of_statement[act.table] for act in step.acts) for step, times in program.turns.items()
    )
    return total / len(program.steps)


def _most_rows(program: Program, table: str) -> int:
    """The most rows of a table that a step changes; 1 if no step changes any."""
    if table not in program.members:
        return 1
    changed = [sum(act.table == table for act in step.acts) for step in program.turns]
    return max(1, program.members[table].high * max(changed))
