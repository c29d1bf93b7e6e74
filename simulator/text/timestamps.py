"""Timestamps as text in other ways than a database's own: seconds since 1970, and as java.time prints them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import ColumnType
from simulator.partial_dates import are_partial
from simulator.text.columns import whole_numbers
from simulator.text.mysql import datetime_fixed, epoch_text, time_fixed
from simulator.text.template import constant, join

Ints = npt.NDArray[np.int64]
_MICROSECONDS: Final = ColumnType("datetime", 6)
_SECONDS: Final = ColumnType("datetime")


def partial(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Mask of the zero and partial dates (`0000-00-00`, `2020-00-00`) of a datetime column."""
    us, _ = whole_numbers(array)
    return are_partial(us)


def epoch_trimmed(array: pa.Array) -> pa.Array:
    """Seconds since 1970 in UTC, and the fraction without zeros at its end: `1606233662.012345`, `1606233662.5`.

    Zero and partial dates are written as whole second 0.
    """
    return pc.utf8_rtrim(pc.utf8_rtrim(epoch_text(*whole_numbers(array), 6), "0"), ".")


def time_text(array: pa.Array, digits: int, *, zone: str = "") -> pa.Array:
    """Timestamps (`2024-05-01 10:00:00.1234567`) or times of day (durations, `10:00:00.1234567`) as carrier texts.

    Fractions are cut or zero-padded to `digits` digits; `zone` is appended after a blank.

    >>> time_text(pa.array([1_500_000], pa.timestamp("us")), 7, zone="+00:00").to_pylist()
    ['1970-01-01 00:00:01.5000000 +00:00']
    """
    type = ColumnType("datetime", min(digits, 6))
    texts = datetime_fixed(array, type) if pa.types.is_timestamp(array.type) else time_fixed(array, type)
    return join([texts, "0" * (digits - 6), f" {zone}" if zone else ""], len(array))


def local_datetime(array: pa.Array) -> pa.Array:
    """`java.time.LocalDateTime.toString()`: no seconds where they and the fraction are zero, else 0, 3 or 6 digits.

    | 2020-11-25 00:01:00 | 00:01:02 | 00:01:02.5 | 00:01:02.012345 |
    | --- | --- | --- | --- |
    | `2020-11-25T00:01` | `2020-11-25T00:01:02` | `2020-11-25T00:01:02.500` | `2020-11-25T00:01:02.012345` |
    """
    return shortened(pc.replace_substring(datetime_fixed(array, _MICROSECONDS), " ", "T"))


def local_time(array: pa.Array) -> pa.Array:
    """`java.time.LocalTime.toString()`, for times of day: `00:01`, `00:01:02`, `00:01:02.500`."""
    return shortened(time_fixed(array, _MICROSECONDS))


def shortened(texts: pa.Array) -> pa.Array:
    """Times with all their fraction digits (6 or 9) as java.time prints them."""
    for pattern, instead in (
        (r"\.0+$", ""),
        (r"(\.\d{3})0+$", r"\1"),
        (r"(\.\d{6})0+$", r"\1"),
        (r"(^|T)(\d\d:\d\d):00$", r"\1\2"),
    ):
        texts = pc.replace_substring_regex(texts, pattern, instead)
    return texts


def wall_clock(seconds: Ints, zone: str) -> pa.Array:
    """Seconds since 1970 as a zone's clock shows them: `2020-11-25T00:01:02`."""
    distinct, indexes = np.unique(seconds, return_inverse=True)
    times = pa.array(distinct * 1_000_000).cast(pa.timestamp("us"))
    texts = datetime_fixed(times, _SECONDS, zone=zone)
    return pc.replace_substring(texts, pattern=" ", replacement="T").take(pa.array(indexes))


def without_zeros(texts: pa.Array) -> pa.Array:
    """Timestamps that travel as text (`2024-05-01 10:00:00.120 +08:00`) without zeros at the end of their fraction.

    >>> without_zeros(pa.array(["10:00:00.120 +08:00", "10:00:00.000", "10:00:00.5"])).to_pylist()
    ['10:00:00.12 +08:00', '10:00:00', '10:00:00.5']
    """
    texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+( |$)", r"\1\2")
    return pc.replace_substring_regex(texts, r"\.( |$)", r"\1")


def chosen(mask: npt.NDArray[np.bool_], where: pa.Array | str, elsewhere: pa.Array) -> pa.Array:
    """One column of text under the mask, another elsewhere; nulls stay."""
    if not mask.any():
        return elsewhere
    alternative = constant(where) if isinstance(where, str) else where
    combined = pc.if_else(pa.array(mask), alternative, elsewhere)
    return (
        pc.if_else(elsewhere.is_valid(), combined, pa.scalar(None, pa.string())) if elsewhere.null_count else combined
    )
