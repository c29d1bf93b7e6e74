"""Size of a row in a rows event of the binary log, in bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column, ColumnType
from simulator.sources.mysql.type_table import TYPES, character_bytes, family, precision_scale

Ints = npt.NDArray[np.int64]

# Bytes of 0 to 9 decimal digits: MySQL packs nine into four bytes.
_DIGIT_BYTES: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_SET_BYTES: Final = (1, 2, 3, 4, 8, 8, 8, 8)


def packed_bytes(column: Column, array: pa.Array) -> Ints:
    """Bytes of each value in the row image of a rows event; 0 for null, which is only a bit of the row's bitmap.

    | type | bytes |
    | --- | --- |
    | tinyint … bigint | 1, 2, 3, 4, 8 |
    | decimal(p,s) | 4 for nine digits on each side of the point, less for the rest |
    | float, double, date, year | 4, 8, 3, 1 |
    | datetime(f), timestamp(f), time(f) | 5, 4, 3, and (f + 1) // 2 |
    | bit(n) | (n + 7) // 8 |
    | enum, set | 1 or 2; 1, 2, 3, 4 or 8 |
    | char, varchar, binary, varbinary | 1 or 2 by the most bytes the column holds, and the bytes |
    | tinytext, blob … | 1, 2, 3 or 4, and the bytes |
    | json | 4, and an estimate of the binary document |
    | geometry | 4, and the bytes |

    The estimate of a JSON document is its text's length, one byte for every member and four for every object and array:
    the binary form has no quotes, blanks or commas but seven bytes of offsets, lengths and types for a member.
    """
    fixed = FIXED.get(family(column.type))
    if fixed is not None:
        sizes = np.full(len(array), fixed(column.type), dtype=np.int64)
    else:
        sizes = _varying(column.type, array)
    if array.null_count:
        sizes[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return sizes


def packed_row_bytes(columns: Sequence[Column], arrays: Sequence[pa.Array]) -> Ints:
    """Bytes of each row image: its values and the bitmap of nulls, one bit a column.

    A full row of (int, varchar(100)) takes 107 bytes (captured: 76 such rows fill an event of 8192).
    """
    sizes = np.full(len(arrays[0]), (len(columns) + 7) // 8, dtype=np.int64)
    for column, array in zip(columns, arrays, strict=True):
        sizes += packed_bytes(column, array)
    return sizes


def event_header(columns: int, images: int) -> int:
    """Bytes of a rows event without rows: 11, and a bitmap of the columns for each image (MySQL; recorded splits)."""
    return 11 + images * ((columns + 7) // 8)


def event_starts(sizes: Ints, statements: Ints, room: int, most: int | None = None) -> Ints:
    """First rows of rows events, and the number of rows at the end: within a statement a row joins the event while its
    bytes fit into the room, up to `most` rows (None: any number). `statements`: first rows of these."""
    ends = np.append(statements[1:], len(sizes))
    most = most or len(sizes)
    done = np.concatenate([[0], np.cumsum(sizes)])
    filled: list[int] = []
    # Statements that fit whole need no loop over rows; most do.
    fitting = (done[ends] - done[statements] <= room) & ((ends - statements) <= most)
    for start, end, fits in zip(statements.tolist(), ends.tolist(), fitting.tolist(), strict=True):
        filled.append(start)
        row = start
        while not fits:
            # the last row that fits; a row larger than an event gets its own event
            row = max(row + 1, int(np.searchsorted(done, done[row] + room, side="right")) - 1)
            row = min(row, filled[-1] + most)
            if row >= end:
                break
            filled.append(row)
    return np.array([*filled, len(sizes)], dtype=np.int64)


def _decimal_bytes(type: ColumnType) -> int:
    precision, scale = precision_scale(type)
    return sum(digits // 9 * 4 + _DIGIT_BYTES[digits % 9] for digits in (precision - scale, scale))


def _datetime_bytes(type: ColumnType) -> int:
    return (4 if type.name == "timestamp" else 5) + ((type.length or 0) + 1) // 2


FIXED: Final[Mapping[str, Callable[[ColumnType], int]]] = {
    "integer": lambda type: TYPES[type.name].bits // 8,
    "decimal": _decimal_bytes,
    "float": lambda type: 4 if type.name == "float" else 8,
    "bit": lambda type: ((type.length or 1) + 7) // 8,
    "date": lambda type: 3,
    "datetime": _datetime_bytes,
    "time": lambda type: 3 + ((type.length or 0) + 1) // 2,
    "year": lambda type: 1,
    "enum": lambda type: 1 if len(type.labels) < 256 else 2,
    "set": lambda type: _SET_BYTES[(len(type.labels) - 1) // 8],
}


def _varying(type: ColumnType, array: pa.Array) -> Ints:
    sizes: Ints
    if pa.types.is_dictionary(array.type):
        # one more entry, for null
        sizes = np.append(_varying(type, array.dictionary), 0)
        sizes = sizes[np.asarray(array.indices.fill_null(len(array.dictionary)))]
        return sizes
    sizes = np.asarray(pc.fill_null(pc.binary_length(array), 0)).astype(np.int64)
    if type.name == "json":
        members = np.asarray(pc.fill_null(pc.count_substring(array, '": '), 0))
        containers = sum(np.asarray(pc.fill_null(pc.count_substring(array, bracket), 0)) for bracket in "[{")
        sizes += members + 4 * containers
    if type.name == "binary":
        # The binary log leaves out the zeros at the end of a BINARY(n).
        sizes -= _trailing_zeros(array)
    sizes += _length_bytes(type)
    return sizes


def _length_bytes(type: ColumnType) -> int:
    row = TYPES[type.name]
    if row.family == "geometry":
        return 4
    if type.length is not None:
        most = type.length * (character_bytes(type) if row.family == "text" else 1)
        return 1 if most < 256 else 2
    return (row.max_bytes.bit_length() + 7) // 8


def _trailing_zeros(array: pa.Array) -> Ints:
    counts = np.zeros(len(array), dtype=np.int64)
    if not len(array) or array.buffers()[2] is None:
        return counts
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(array.buffers()[2], dtype=np.uint8)
    rows = np.arange(len(array))
    while True:
        rows = rows[offsets[rows + 1] - counts[rows] > offsets[rows]]
        rows = rows[data[offsets[rows + 1] - counts[rows] - 1] == 0]
        if not len(rows):
            return counts
        counts[rows] += 1
