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

from simulator.partial_dates import are_partial
from simulator.text.columns import whole_numbers
from simulator.text.template import Piece, unless_null
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.columns import Dictionaries

FINGERPRINT: Final = 0xCC78AC4009A39E4E
FRAME: Final = b"\xc3\x01" + FINGERPRINT.to_bytes(8, "little")
NULL: Final = avro.long(0)
CHARSET: Final = "utf8"

# A column of carriers to the pieces of the union's values; a null is the branch of null.
Values: TypeAlias = Callable[[pa.Array], list[Bytes]]
# A column of carriers to its text, or to bytes.
Texts: TypeAlias = Callable[[pa.Array], Piece]


@lru_cache(maxsize=1)
def schema() -> str:
    return Path(__file__).with_name("record.avsc").read_text(encoding="utf-8")


def integer(text: Texts, precision: int) -> Values:
    """Integer{precision, value}: the number as text; the precision is the bytes of the type."""
    return _of_text(1, avro.long(precision), text)


def character(text: Texts) -> Values:
    """Character{charset, value}: UTF-8 under the name utf8."""
    return _of_text(2, avro.string(CHARSET), text)


def decimal(text: Texts, precision: int, scale: int) -> Values:
    """Decimal{value, precision, scale}: the number as text."""
    return _of_text(3, b"", text, avro.long(precision) + avro.long(scale))


def floating(precision: int, scale: int) -> Values:
    """Float{value, precision, scale}: a float32 is widened."""

    def values(array: pa.Array) -> list[Bytes]:
        return [avro.doubles(np.asarray(array.cast(pa.float64()).fill_null(0.0)))]

    return _class(4, b"", values, avro.long(precision) + avro.long(scale))


def timestamp(*, zero_dates: bool = False) -> Values:
    """Timestamp{timestamp, millis}: seconds since 1970 and the milliseconds above. `zero_dates`: zero dates, whose
    carriers are before the year 1, are 0."""

    def values(array: pa.Array) -> list[Bytes]:
        us, _ = whole_numbers(array)
        if zero_dates:
            us = np.where(are_partial(us), 0, us)
        seconds = us // 1_000_000
        return [avro.Longs(seconds), avro.Longs((us - seconds * 1_000_000) // 1000)]

    return _class(5, b"", values)


def date(text: Texts) -> Values:
    """Date{value}: the text of a date, a time or both."""
    return _of_text(6, b"", text)


def bit(text: Texts, precision: int) -> Values:
    """Bit{precision, value}."""
    return _of_text(7, avro.long(precision), text)


def binary(type: str, values: Texts) -> Values:
    """BinaryObject{type, value}: the source's name of the type, and the bytes."""
    return _of_text(8, avro.string(type), values)


def _of_text(branch: int, lead: bytes, text: Texts, tail: bytes = b"") -> Values:
    def body(array: pa.Array) -> list[Bytes]:
        piece = text(array)
        if isinstance(piece, pa.Array) and not pa.types.is_integer(piece.type):
            return [avro.Strings(piece)]
        return [avro.Sized([piece], len(array))]

    return _class(branch, lead, body, tail)


def _class(branch: int, lead: bytes, body: Callable[[pa.Array], list[Bytes]], tail: bytes = b"") -> Values:
    pools = Dictionaries()

    def values(array: pa.Array) -> list[Bytes]:
        if pa.types.is_dictionary(array.type):
            pool = pools.of(array.dictionary, None, lambda pool: avro.join(values(pool), len(pool)))
            return [avro.present(pa.DictionaryArray.from_arrays(array.indices, pool), NULL)]
        pieces: list[Bytes] = [avro.long(branch) + lead, *body(array), tail]
        if not array.null_count:
            return pieces
        return [unless_null(pieces, np.asarray(array.is_null()), NULL)]

    return values
