"""The Avro record of DRS: its schema, its frame, and its classes of values, column by column.

Schema: the vendor's generated class `com.huawei.hwclouds.drs.avro.Record` (huaweicloud/huaweicloud-mrs-example, pull
request 55); `record.avsc` beside this file holds it as it is. Messages have Avro's single-object encoding: C3 01,
the schema's CRC-64-AVRO (CC78AC4009A39E4E), least byte first, and the datum.

A value of an image is a branch of a union: 0 null, 1 Integer, 2 Character, 3 Decimal, 4 Float, 5 Timestamp, 6 Date,
7 Bit, 8 BinaryObject.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.text.fixed_width import whole_numbers
from simulator.wire import avro

FINGERPRINT: Final = 0xCC78AC4009A39E4E
FRAME: Final = b"\xc3\x01" + FINGERPRINT.to_bytes(8, "little")
NULL: Final = avro.long(0)
CHARSET: Final = "utf8"

# A column of carriers to a column of the union's bytes; a null is the branch of null.
Image: TypeAlias = Callable[[pa.Array], pa.Array]
Texts: TypeAlias = Callable[[pa.Array], pa.Array]


@lru_cache(maxsize=1)
def schema() -> str:
    return Path(__file__).with_name("record.avsc").read_text(encoding="utf-8")


def integer(text: Texts, precision: int) -> Image:
    """Integer{precision, value}: the number as text; the precision is the bytes of the type."""
    return _image(1, avro.long(precision), lambda array: _strings(text(array)))


def character(text: Texts) -> Image:
    """Character{charset, value}: UTF-8 under the name utf8."""
    return _image(2, avro.string(CHARSET), lambda array: _strings(text(array)))


def decimal(text: Texts, precision: int, scale: int) -> Image:
    """Decimal{value, precision, scale}: the number as text."""
    return _image(3, b"", lambda array: _strings(text(array)), avro.long(precision) + avro.long(scale))


def floating(precision: int, scale: int) -> Image:
    """Float{value, precision, scale}: a float32 is widened."""

    def values(array: pa.Array) -> pa.Array:
        return avro.doubles(np.asarray(array.cast(pa.float64()).fill_null(0.0)))

    return _image(4, b"", values, avro.long(precision) + avro.long(scale))


def timestamp(*, zero_dates: bool = False) -> Image:
    """Timestamp{timestamp, millis}: seconds since 1970 and the milliseconds above; with `zero_dates`, which travel as
    moments before the year 1, those are 0."""

    def values(array: pa.Array) -> pa.Array:
        us, _ = whole_numbers(array)
        if zero_dates:
            us = np.where(us < FIRST_DAY * US_PER_DAY, 0, us)
        seconds = us // 1_000_000
        return avro.join([avro.longs(seconds), avro.longs((us - seconds * 1_000_000) // 1000)], len(us))

    return _image(5, b"", values)


def date(text: Texts) -> Image:
    """Date{value}: the text of a date, a time or both."""
    return _image(6, b"", lambda array: _strings(text(array)))


def bit(text: Texts, precision: int) -> Image:
    """Bit{precision, value}."""
    return _image(7, avro.long(precision), lambda array: _strings(text(array)))


def binary(type: str, values: Texts) -> Image:
    """BinaryObject{type, value}: the source's name of the type, and the bytes."""
    return _image(8, avro.string(type), lambda array: _strings(values(array)))


def _image(branch: int, lead: bytes, body: Callable[[pa.Array], pa.Array], tail: bytes = b"") -> Image:
    def made(array: pa.Array) -> pa.Array:
        if pa.types.is_dictionary(array.type):
            return made(array.dictionary).take(array.indices).fill_null(NULL)
        joined = avro.join([avro.long(branch) + lead, body(array), tail], len(array))
        return pc.if_else(array.is_valid(), joined, pa.scalar(NULL, pa.binary())) if array.null_count else joined

    return made


def _strings(texts: pa.Array) -> pa.Array:
    """Texts or bytes with their lengths; nulls as if they were empty."""
    if pa.types.is_dictionary(texts.type):
        found = avro.strings(texts.dictionary).take(texts.indices)
        return found.fill_null(b"") if found.null_count else found
    if texts.null_count:
        texts = texts.fill_null(b"" if pa.types.is_binary(texts.type) else "")
    return avro.strings(texts)
