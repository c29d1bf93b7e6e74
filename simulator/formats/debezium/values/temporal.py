"""Dates and times without a zone by `time.precision.mode`, of carriers in days and microseconds.

| mode | date | time | timestamp |
| --- | --- | --- | --- |
| adaptive | Date | Time, MicroTime by the column's digits | Timestamp, MicroTimestamp |
| adaptive_time_microseconds | Date | MicroTime | as adaptive |
| connect | Connect's Date | Connect's Time; null outside a day | Connect's Timestamp |
| isostring | IsoDate | IsoTime | IsoTimestamp |
| microseconds, nanoseconds | Date | MicroTime, NanoTime | MicroTimestamp, NanoTimestamp |
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import US_PER_DAY, numbers, primitive
from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values.cells import number_cell, real_days, real_us, scaled, text_cell
from simulator.model import ColumnType
from simulator.text.columns import nulls_of
from simulator.text.mysql import date as date_text
from simulator.text.mysql import datetime_fixed, time_fixed
from simulator.text.timestamps import without_zeros
from simulator.wire.fields import Cell

SIX_DIGITS: Final = ColumnType("datetime", 6)
Typed = tuple[Schema, Cell]
# Times in microseconds whose nanoseconds the connector makes: within 64 bits, the least a whole second.
LEAST_US: Final = -9_223_372_036 * 10**6
MOST_US: Final = (2**63 - 1) // 1000


def date(mode: str) -> Typed:
    """A date; its carrier is date32."""
    if mode == "isostring":
        return connect.ISO_DATE, text_cell(lambda array: _followed(_iso_days(array), "Z"))
    return connect.CONNECT_DATE if mode == "connect" else connect.DATE, number_cell(real_days)


def time(mode: str, digits: int) -> Typed:
    """A time of day, or MySQL's of up to 838 hours; its carrier is a duration."""
    match mode:
        case "isostring":
            return connect.ISO_TIME, text_cell(lambda array: _followed(_iso_clock(within_day(array)), "Z"))
        case "connect":
            return connect.CONNECT_TIME, number_cell(lambda array: scaled(_us(within_day(array)), divisor=1000))
        case "nanoseconds":
            return connect.NANO_TIME, number_cell(lambda array: scaled(_us(array), factor=1000))
        case "adaptive" if digits <= 3:
            return connect.TIME, number_cell(lambda array: scaled(_us(array), divisor=1000))
    return connect.MICRO_TIME, number_cell(_us)


def timestamp(mode: str, digits: int) -> Typed:
    """A timestamp without a zone; its carrier is a timestamp in microseconds."""
    match mode:
        case "isostring":
            return connect.ISO_TIMESTAMP, text_cell(lambda array: _followed(iso_text(array), "Z"))
        case "connect":
            return connect.CONNECT_TIMESTAMP, number_cell(_ms)
        case "nanoseconds":
            return connect.NANO_TIMESTAMP, number_cell(lambda array: nanoseconds(real_us(array)))
        case "adaptive" | "adaptive_time_microseconds" if digits <= 3:
            return connect.TIMESTAMP, number_cell(_ms)
    return connect.MICRO_TIMESTAMP, number_cell(real_us)


def zoned(digits: int | None) -> Cell:
    """A point in time as text in UTC with this many fraction digits; None: without trailing zeros."""

    def text(array: pa.Array) -> pa.Array:
        if digits is None:
            return _followed(iso_text(array), "Z")
        return _followed(_with_t(datetime_fixed(_real(array), ColumnType("datetime", digits))), "Z")

    return text_cell(text)


def iso_text(array: pa.Array) -> pa.Array:
    """`2024-02-29T12:34:56.5`, without trailing zeros in the fraction."""
    return _with_t(without_zeros(datetime_fixed(_real(array), SIX_DIGITS)))


def within_day(array: pa.Array) -> pa.Array:
    """Sets times outside a day to null."""
    us = numbers(array)
    outside = (us < 0) | (us > US_PER_DAY)
    if not outside.any():
        return array
    nulls = nulls_of(array)
    return primitive(us, array.type, outside if nulls is None else outside | nulls)


def nanoseconds(array: pa.Array) -> pa.Array:
    """Microseconds in nanoseconds; null if these exceed 64 bits, since the connector cannot convert them."""
    us = numbers(array)
    outside = (us < LEAST_US) | (us > MOST_US)
    if outside.any():
        nulls = nulls_of(array)
        array = primitive(us, pa.int64(), outside if nulls is None else outside | nulls)
    return scaled(array, factor=1000)


def _us(array: pa.Array) -> pa.Array:
    return array.view(pa.int64())


def _ms(array: pa.Array) -> pa.Array:
    return scaled(real_us(array), divisor=1000)


def _real(array: pa.Array) -> pa.Array:
    us = real_us(array)
    return primitive(np.ascontiguousarray(numbers(us)), pa.timestamp("us"), nulls_of(us))


def _iso_days(array: pa.Array) -> pa.Array:
    days = real_days(array)
    return date_text(primitive(numbers(days).astype(np.int32), pa.date32(), nulls_of(days)), ColumnType("date"))


def _iso_clock(array: pa.Array) -> pa.Array:
    return without_zeros(time_fixed(array, ColumnType("time", 6)))


def _with_t(texts: pa.Array) -> pa.Array:
    return pc.replace_substring(texts, " ", "T", max_replacements=1)


def _followed(texts: pa.Array, end: str) -> pa.Array:
    return pc.binary_join_element_wise(texts, end, "")
