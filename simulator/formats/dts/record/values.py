"""Values of row images, column by column: a branch of the union and its value record.

Each function takes a column of carriers and gives its values as pieces (`simulator.wire.avro`): bytes that all rows
share, and columns of bytes that are null where the carrier is.

| branch | record | members |
| --- | --- | --- |
| 1 | Integer | precision (bytes of the type), value (text) |
| 2 | Character | charset, value (bytes in it) |
| 3 | Decimal | value (text), precision and scale of the value, as BigDecimal counts them |
| 4 | Float | value (double), precision, scale (0: readers ignore them) |
| 5 | Timestamp | timestamp (epoch seconds), millis (microseconds) |
| 6 | DateTime | year, month, day, hour, minute, second, millis: null where the type has none |
| 7 | TimestampWithTimeZone | value (DateTime), timezone |
| 8, 9 | BinaryGeometry, TextGeometry | type, value |
| 10, 11 | BinaryObject, TextObject | type, value |
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints, decoded
from simulator.carriers import is_narrow, numbers, unscaled, validity
from simulator.formats.dts.record.record import BRANCHES, decoded_type, of_distinct, with_nulls_of
from simulator.formats.dts.record.times import datetimes, timestamps, zoned
from simulator.formats.dts.types import DtsType
from simulator.model import ColumnType
from simulator.sources.mysql import type_table as mysql_table
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.charsets import encoded
from simulator.text.columns import nulls_of
from simulator.text.template import Piece, constant
from simulator.wire import avro
from simulator.wire.avro import Bytes
from simulator.wire.fields import plain

# A column of carriers to the pieces of its values.
Values = Callable[[pa.Array], list[Bytes]]


def values_of(dts: DtsType, type: ColumnType, fraction: int) -> Values:
    """Way to write a column's values. `fraction`: units of DateTime's fraction in a microsecond."""
    match dts.record:
        case "Integer":
            size = int(dts.detail) or ((type.length or 1) + 7) // 8
            return lambda array: integers(array, size)
        case "Character":
            return characters
        case "Decimal":
            return decimals
        case "Float":
            return floats
        case "Timestamp":
            return timestamps
        case "DateTime":
            return lambda array: datetimes(array, dts.detail, fraction)
        case "TimestampWithTimeZone":
            return lambda array: zoned(array, dts.detail, fraction)
        case "BinaryGeometry":
            return lambda array: objects("BinaryGeometry", dts.detail, well_known_binary(array))
        case "BinaryObject" | "TextObject" | "TextGeometry":
            return lambda array: objects(dts.record, dts.detail, label_texts(array, type))


def whole(pieces: Sequence[Bytes], count: int) -> pa.Array:
    """The joined pieces of a column; null is the union's first branch."""
    return avro.present(avro.join(pieces, count))


def integers(array: pa.Array, size: int) -> list[Bytes]:
    """`size` bytes of the type, and the digits."""
    lead = BRANCHES["Integer"] + avro.long(size)
    if pa.types.is_int64(array.type) or pa.types.is_uint64(array.type):
        return [lead, avro.Sized([array], len(array))]
    texts = array if pa.types.is_string(decoded_type(array)) else binlog_text.integer(array, ColumnType("integer"))
    return [lead, avro.Strings(texts)]


def characters(array: pa.Array, charset: str = "UTF-8") -> list[Bytes]:
    """Texts in a character set."""
    codec = mysql_table.CHARSETS.get(charset, (0, "utf-8"))[1]
    if codec != "utf-8":
        array = encoded(array, codec)
    return [BRANCHES["Character"] + avro.string(charset), avro.Strings(array)]


# ------------------------------------------------------------------------------------------------------------- numbers

_POWERS: Final = 10 ** np.arange(1, 19, dtype=np.int64)
_SIZES: Final = [avro.long(digits) for digits in range(20)]


def decimals(array: pa.Array, *, trimmed: bool = False) -> list[Bytes]:
    """The number in plain digits, its scale kept: `348.00` has precision 5 and scale 2, `0.00` 1 and 2. `trimmed`:
    without trailing zeros.

    The carrier is an Arrow decimal, or text if the number keeps the scale that it was given.
    """
    type = decoded_type(array)
    if pa.types.is_decimal(type):
        array = decoded(array)
        render = decimal_text.decimal_trimmed if trimmed else decimal_text.decimal_plain
        if is_narrow(array):
            numerators, scales = unscaled(array), np.full(len(array), type.scale)
            for _ in range(type.scale if trimmed else 0):
                zero = (numerators % 10 == 0) & (scales > 0)
                numerators, scales = np.where(zero, numerators // 10, numerators), scales - zero
            text = render(array, ColumnType("decimal")) if trimmed else decimal_text.decimal_piece(array, grouped=False)
            return _narrow(text, numerators, array, scales if trimmed else type.scale)
        array = render(array, ColumnType("decimal"))
    elif pa.types.is_int64(type):
        array = decoded(array)
        return _narrow(array, numbers(array), array, 0)
    elif not pa.types.is_string(type):
        array = binlog_text.integer(array, ColumnType("integer"))
    return [plain(of_distinct(array, number_record))]


def _narrow(text: Piece, unscaled: Ints, array: pa.Array, scale: int | Ints) -> list[Bytes]:
    """Decimals of at most 18 digits, which are counted by comparing numbers."""
    nulls = nulls_of(array)
    size = np.abs(unscaled if nulls is None else np.where(nulls, 0, unscaled))
    digits = np.searchsorted(_POWERS, size, side="right") + 1
    return [
        BRANCHES["Decimal"],
        avro.Sized([text], len(array)),
        avro.looked_up(_SIZES, digits),
        avro.long(scale) if isinstance(scale, int) else avro.looked_up(_SIZES, scale),
    ]


def number_record(text: str) -> bytes:
    """A Decimal with its branch. PostgreSQL's NaN and Infinity are a Float (a decision: readers refuse them as a
    Decimal).

    >>> number_record("7") == BRANCHES["Decimal"] + decimal_record("7")
    True
    """
    if text.lstrip("-").isalpha():
        return BRANCHES["Float"] + struct.pack("<d", float(text)) + avro.long(0) * 2
    return BRANCHES["Decimal"] + decimal_record(text)


def decimal_record(text: str) -> bytes:
    """A single Decimal.

    >>> [part for part in decimal_record("-0.01")]
    [10, 45, 48, 46, 48, 49, 2, 4]
    """
    whole_part, _, fraction = text.lstrip("-").partition(".")
    digits = (whole_part + fraction).lstrip("0")
    return avro.string(text) + avro.long(len(digits) or 1) + avro.long(len(fraction))


def floats(array: pa.Array) -> list[Bytes]:
    """Floats of 32 bits are widened exactly."""
    values = np.asarray(decoded(array).fill_null(0)).astype(np.float64)
    column = avro.doubles(values)
    return [BRANCHES["Float"], with_nulls_of(column, array), avro.long(0) * 2]


# --------------------------------------------------------------------------------------------------- texts and bytes


def objects(record: str, type: str, values: pa.Array) -> list[Bytes]:
    """An object's type, and its text or bytes."""
    return [BRANCHES[record] + avro.string(type), avro.Strings(values)]


def well_known_binary(array: pa.Array) -> pa.Array:
    """MySQL's geometries without the four bytes of their reference system."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, well_known_binary(array.dictionary))
    if array.null_count == len(array):
        return array
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    starts = (offsets[:-1] - offsets[0])[np.asarray(array.is_valid())]
    is_kept = np.ones(int(offsets[-1] - offsets[0]), dtype=bool)
    is_kept[(starts[:, None] + np.arange(4)).ravel()] = False
    data = np.frombuffer(array.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]][is_kept]
    ends = np.append(0, np.cumsum(is_kept, dtype=np.int32))[offsets - offsets[0]].astype(np.int32)
    buffers = [validity(nulls_of(array)), pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers, -1)


def label_texts(array: pa.Array, type: ColumnType) -> pa.Array:
    """Texts and bytes as they are; labels of ENUM and SET; booleans as t and f."""
    if type.labels and pa.types.is_integer(decoded_type(array)):
        render = binlog_text.set_labels if type.name == "set" else binlog_text.enum_label
        return render(decoded(array), type)
    if pa.types.is_boolean(decoded_type(array)):
        return pc.if_else(decoded(array), constant("t"), constant("f"))
    return array
