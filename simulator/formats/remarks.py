"""Remarks: sentences for a run's summary, where messages of a product are less than a reader expects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simulator.errors import counted
from simulator.model import SECOND_NUMBERS, Column, Table


@dataclass(frozen=True)
class Delivered:
    """Facts of a finished run that remarks are made from.

    `format`: its name; `tables`: those at the run's start; `snapshot_rows`: the number of rows sent from a snapshot;
    `seconds_ahead`: by how many seconds the numbers within a second have run ahead of the commits.
    """

    format: str
    tables: Sequence[Table]
    snapshot_rows: int
    seconds_ahead: int


# A sentence, or "".
Remark: TypeAlias = Callable[[Delivered], str]


def full_seconds(member: str) -> Remark:
    """Remark about a member that numbers the changes of each second."""

    def remark(delivered: Delivered) -> str:
        if delivered.seconds_ahead <= 0:
            return ""
        return (
            f"{member} has run {counted(delivered.seconds_ahead, 'second')} ahead of the commits: a second has"
            f" {SECOND_NUMBERS:,} numbers, and the scenario needs more; lower its rate."
        )

    return remark


def cut_by_snapshot(is_cut: Callable[[Column], bool]) -> Remark:
    """Remark about columns that have less in a snapshot's rows than in later changes."""

    def remark(delivered: Delivered) -> str:
        names = [
            f"{table.id}.{column.name}" for table in delivered.tables for column in table.columns if is_cut(column)
        ]
        if not names or not delivered.snapshot_rows:
            return ""
        return (
            f"snapshot rows of {delivered.format} have less of {', '.join(names)} than the table: a before image may"
            " differ from the row that was loaded."
        )

    return remark
