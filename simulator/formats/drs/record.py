"""The Avro record of DRS: its schema, its frame, and the classes of its values, column by column.

Schema: the vendor's generated class `com.huawei.hwclouds.drs.avro.Record` (huaweicloud/huaweicloud-mrs-example, pull
request 55), in `record.avsc`. Messages have Avro's single-object encoding: C3 01, the schema's CRC-64-AVRO
(CC78AC4009A39E4E, little-endian), then the datum.

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
Values: TypeAlias = Callable[[pa.Array], pa.Array]
# A column of carriers to a column of text, or of bytes.
Texts: TypeAlias = Callable[[pa.Array], pa.Array]


@lru_cache(maxsize=1)
def schema() -> str:
    return Path(__file__).with_name("record.avsc").read_text(encoding="utf-8")


def integer(text: Texts, precision: int) -> Values:
    """Integer{precision, value}: the number as text; the precision is the bytes of the type."""
    return _class(1, avro.long(precision), lambda array: _strings(text(array)))


def character(text: Texts) -> Values:
    """Character{charset, value}: UTF-8 under the name utf8."""
    return _class(2, avro.string(CHARSET), lambda array: _strings(text(array)))


def decimal(text: Texts, precision: int, scale: int) -> Values:
    """Decimal{value, precision, scale}: the number as text."""
    return _class(3, b"", lambda array: _strings(text(array)), avro.long(precision) + avro.long(scale))


def floating(precision: int, scale: int) -> Values:
    """Float{value, precision, scale}: a float32 is widened."""

    def values(array: pa.Array) -> pa.Array:
        return avro.doubles(np.asarray(array.cast(pa.float64()).fill_null(0.0)))

    return _class(4, b"", values, avro.long(precision) + avro.long(scale))


def timestamp(*, zero_dates: bool = False) -> Values:
    """Timestamp{timestamp, millis}: seconds since 1970 and the milliseconds above. `zero_dates`: zero dates, whose
    carriers are before the year 1, are 0."""

    def values(array: pa.Array) -> pa.Array:
        us, _ = whole_numbers(array)
        if zero_dates:
            us = np.where(us < FIRST_DAY * US_PER_DAY, 0, us)
        seconds = us // 1_000_000
        return avro.join([avro.Longs(seconds), avro.Longs((us - seconds * 1_000_000) // 1000)], len(us))

    return _class(5, b"", values)


def date(text: Texts) -> Values:
    """Date{value}: the text of a date, a time or both."""
    return _class(6, b"", lambda array: _strings(text(array)))


def bit(text: Texts, precision: int) -> Values:
    """Bit{precision, value}."""
    return _class(7, avro.long(precision), lambda array: _strings(text(array)))


def binary(type: str, values: Texts) -> Values:
    """BinaryObject{type, value}: the source's name of the type, and the bytes."""
    return _class(8, avro.string(type), lambda array: _strings(values(array)))


def _class(branch: int, lead: bytes, body: Callable[[pa.Array], pa.Array], tail: bytes = b"") -> Values:
    def values(array: pa.Array) -> pa.Array:
        if pa.types.is_dictionary(array.type):
            return avro.present(pa.DictionaryArray.from_arrays(array.indices, values(array.dictionary)), NULL)
        joined = avro.join([avro.long(branch) + lead, body(array), tail], len(array))
        return pc.if_else(array.is_valid(), joined, pa.scalar(NULL, pa.binary())) if array.null_count else joined

    return values


def _strings(texts: pa.Array) -> pa.Array:
    """Texts or bytes with their lengths; nulls like empty ones."""
    if pa.types.is_dictionary(texts.type):
        return avro.present(avro.strings(texts), b"")
    if texts.null_count:
        texts = texts.fill_null(b"" if pa.types.is_binary(texts.type) else "")
    return avro.strings(texts)
