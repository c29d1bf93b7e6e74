"""The rows that a scenario's tables must hold before a turn, computed in closed form, as values of `replay.py`."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from replay import Key, Row

from simulator.batch import decoded
from simulator.carriers import FIRST_DAY, PARTIAL_DAYS, PARTIAL_US, US_PER_DAY, split_partial
from simulator.model import ColumnType
from simulator.run.job import open_job

DAY_ZERO = date(1970, 1, 1)


def rows_at(scenario: str, turn: int, *, zone_hours: int = 0) -> dict[str, dict[Key, Row]]:
    """Tables that have rows, by `database.table`; `zone_hours` east of UTC is where TIMESTAMP values are printed."""
    state: dict[str, dict[Key, Row]] = {}
    for table, columns in open_job(scenario, "canal-json").stream.rows_at(turn):
        names = [column.name for column in table.columns]
        values = [python(array, c.type, zone_hours) for array, c in zip(columns, table.columns, strict=True)]
        key = sorted(table.primary_key)
        held = state.setdefault(str(table.id), {})
        for row in zip(*values, strict=True):
            whole = dict(zip(names, row, strict=True))
            place = tuple([whole[name] for name in key])
            assert place not in held, f"{table.id} has two rows with the key {place} before turn {turn}"
            held[place] = whole
    return {name: rows for name, rows in state.items() if rows}


def python(array: pa.Array, type: ColumnType, zone_hours: int = 0) -> list[Any]:
    """A column's values: numbers, texts, moments as texts, labels, bytes as ISO-8859-1, JSON decoded."""
    array = decoded(array)
    make: Callable[[Any], Any] | None = None
    if type.name == "enum":
        make = ["", *type.labels].__getitem__
    elif type.name == "set":
        make = lambda mask: ",".join(label for bit, label in enumerate(type.labels) if mask >> bit & 1)  # noqa: E731
    elif type.name == "json":
        make = json.loads
    elif pa.types.is_binary(array.type):
        # Canal cuts the zero bytes off that MySQL fills BINARY up with
        fill = "\0" if type.name == "binary" else ""
        make = lambda data: data.decode("latin1").rstrip(fill)  # noqa: E731
    elif pa.types.is_timestamp(array.type):
        shift = zone_hours * 3_600_000_000 if type.name == "timestamp" else 0
        array, make = array.view(pa.int64()), lambda us: moment_text(us, shift)
    elif pa.types.is_date(array.type):
        array, make = array.view(pa.int32()), day_text
    elif pa.types.is_duration(array.type):
        array, make = array.view(pa.int64()), clock_text
    elif pa.types.is_float32(array.type):
        array = pa.array(np.asarray(array.fill_null(0)).astype(np.float64), mask=np.asarray(array.is_null()))
    values: list[Any] = array.to_pylist()
    return values if make is None else [None if value is None else make(value) for value in values]


def day_text(day: int) -> str:
    if day >= FIRST_DAY:
        return (DAY_ZERO + timedelta(day)).isoformat()
    return "{:04}-{:02}-{:02}".format(*split_partial(day - PARTIAL_DAYS))


def clock_text(us: int) -> str:
    seconds, fraction = divmod(abs(us), 1_000_000)
    text = f"{'-' if us < 0 else ''}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + (f".{fraction:06}".rstrip("0") if fraction else "")


def moment_text(us: int, shift: int) -> str:
    if us < FIRST_DAY * US_PER_DAY:  # such as 0000-00-00, which is the same in all zones
        code, rest = divmod(us - PARTIAL_US, US_PER_DAY)
        day = "{:04}-{:02}-{:02}".format(*split_partial(code))
    else:
        days, rest = divmod(us + shift, US_PER_DAY)
        day = day_text(days)
    return f"{day} {clock_text(rest)}"
