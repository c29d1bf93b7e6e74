"""Losses of a format's messages: the part of a column's values that a consumer can know.

`Layout.known(column)` returns a function from the table's values to the part that messages carry: None if nothing is
lost, `nothing` if no message, or not every one, has the column's value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import pyarrow as pa

from simulator.batch import decoded
from simulator.carriers import cut_times
from simulator.text.columns import distinct_text

Known: TypeAlias = Callable[[pa.Array], pa.Array]

MILLISECONDS: Final = 1_000
SECONDS: Final = 1_000_000
SRID_BYTES: Final = 4


def nothing(array: pa.Array) -> pa.Array:
    """No value."""
    return pa.nulls(len(array), array.type)


def down_to(unit_us: int) -> Known:
    """Cuts timestamps to a unit of this many microseconds."""

    def cut(array: pa.Array) -> pa.Array:
        array = decoded(array)
        if is_text(array):  # it has more than six fraction digits
            return distinct_text(array, partial(_cut, digits=7 - len(str(unit_us))))
        return cut_times(array, unit_us)

    return cut


def microseconds(array: pa.Array) -> pa.Array:
    """Times as text with at most six fraction digits; other carriers have no more.

    >>> microseconds(pa.array(["2024-05-01 10:00:00.123456789 +08:00", "+01 02:03:04.5"])).to_pylist()
    ['2024-05-01 10:00:00.123456 +08:00', '+01 02:03:04.5']
    """
    array = decoded(array)
    return distinct_text(array, partial(_cut, digits=6)) if is_text(array) else array


def without_srid(array: pa.Array) -> pa.Array:
    """Geometries with SRID 0."""
    return of_distinct(array, lambda stored: bytes(SRID_BYTES) + stored[SRID_BYTES:])


def printed(text: Callable[[pa.Array], pa.Array]) -> Known:
    """Floating point numbers as parsed from their texts; zero loses its sign if its text has none."""

    def read(array: pa.Array) -> pa.Array:
        texts = decoded(text(decoded(array))).to_pylist()
        return pa.array([None if number is None else float(number.strip('"')) for number in texts], decoded(array).type)

    return read


def of_distinct(array: pa.Array, change: Callable[[Any], Any]) -> pa.Array:
    array = decoded(array)
    return pa.array([None if value is None else change(value) for value in array.to_pylist()], array.type)


def is_text(array: pa.Array) -> bool:
    return bool(pa.types.is_string(array.type))


_FRACTION: Final = re.compile(r"(?<=\d:\d\d)\.\d+")


def _cut(text: str, *, digits: int) -> str:
    cut = _FRACTION.sub(lambda match: match[0][: digits + 1] if digits else "", text)
    return cut if re.search("[1-9]", cut) else cut.replace("-", "+", 1)  # an interval of which nothing is left
