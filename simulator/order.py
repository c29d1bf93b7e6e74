"""Order keys: where rows, halves of updates, marks and single events stand in a turn. Their numbers are made here.

| ordinal in a turn of the stream | |
| --- | --- |
| from -2 · `BEFORE_ROWS` | heartbeats before the turn |
| from -`BEFORE_ROWS` | schema changes before its rows |
| -1 | BEGIN of a transaction whose first row is the turn's first |
| 0, 2, 4, … | rows; in a script also statements and heartbeats between them |
| behind each by 1 | the insert half of a split update |
| behind the last row by 2 | COMMIT |

Offsets and numbers within a second leave the same gaps. A snapshot's rows are its turns, from 0 in phase 0; CREATE
TABLE stands right before the first row of its table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from simulator.model import OrderKey

Ints = npt.NDArray[np.int64]

# From a row to the next.
STEP: Final = 2
# From an update that is split, where its delete stands, to its insert.
HALF: Final = 1
# From the first row of a transaction to its BEGIN, from the last to its COMMIT.
BEGIN: Final = -1
COMMIT: Final = STEP
# More than the schema changes, or the heartbeats, before a turn.
BEFORE_ROWS: Final = 1 << 10
# More than a scenario can have.
MOST_TABLES: Final = 1 << 20


def heartbeats(numbers: Ints) -> Ints:
    """Ordinals of heartbeats before a turn of a generated stream, by their index among these heartbeats."""
    return numbers - 2 * BEFORE_ROWS


def schema_change(turn: int, number: int) -> OrderKey:
    """Schema change `number` of a generated stream, before its turn."""
    return OrderKey(1, turn, number - BEFORE_ROWS)


def create_table(first_row: int, table: int) -> OrderKey:
    """CREATE TABLE of a snapshot: right before the table's first row, behind those of earlier tables without rows."""
    return OrderKey(0, first_row, table - MOST_TABLES)


def following(key: OrderKey) -> OrderKey:
    """The least key above a message's."""
    return replace(key, ordinal=key.ordinal + 1)
