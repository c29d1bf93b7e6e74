"""Oracle's redo log: SCNs and transaction ids; ROWIDs, and how many bytes a value takes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column, TableId
from simulator.sources.log import Entries, Log, text
from simulator.sources.oracle.type_table import family
from simulator.values.draw import mix

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

# The SCN at which the log begins; a transaction takes so many. An SCN is a time, not a change: those of a long
# transaction share the last one before its commit.
FIRST_SCN: Final = 14_589_000_000_000
SCN_PER_TRANSACTION: Final = 64
# Undo segments, slots of each, and how often its first slot was used before.
UNDO_SEGMENTS: Final = 10
UNDO_SLOTS: Final = 34
FIRST_SEQUENCE: Final = 411_499


class OracleLog(Log):
    """SCNs: a transaction's changes follow its start, and its commit has the last SCN of its share."""

    def number(self, at: Entries) -> Ints:
        """The SCN of each entry.

        >>> zero = np.zeros(4, dtype=np.int64)
        >>> OracleLog().number(Entries(zero, np.array([0, 1, 100, 101]), zero + 100, zero, zero)).tolist()
        [14589000000000, 14589000000001, 14589000000062, 14589000000063]
        """
        last = SCN_PER_TRANSACTION - 1
        inside = np.where((at.seq > at.size) & (at.seq > 0), last, np.clip(at.seq, 0, last - 1))
        scn: Ints = FIRST_SCN + at.txn * SCN_PER_TRANSACTION + inside
        return scn

    def transaction_id(self, at: Entries) -> pa.Array:
        """`usn.slot.sequence`, as V$TRANSACTION counts them: `7.0.411499`."""
        return pc.binary_join_element_wise(*map(text, _transaction(at.txn)), ".")

    def xid(self, at: Entries) -> pa.Array:
        """The same as 16 hexadecimal digits in lower case, the RAW(8) that LogMiner shows as XID: usn and slot in two
        bytes each, the sequence in four, low bytes first."""
        usn, slot, sequence = _transaction(at.txn)
        number = (usn << 48) | (slot << 32) | sequence
        raw = number.astype(np.int64).view(np.uint8).reshape(-1, 8)[:, [6, 7, 4, 5, 0, 1, 2, 3]]
        return pa.array([row.tobytes().hex() for row in raw], pa.string())


def _transaction(txn: Ints) -> tuple[Ints, Ints, Ints]:
    """(undo segment, slot, sequence) of each transaction; no two have all three in common."""
    usn = txn % UNDO_SEGMENTS + 1
    slot = txn // UNDO_SEGMENTS % UNDO_SLOTS
    return usn, slot, FIRST_SEQUENCE + txn // (UNDO_SEGMENTS * UNDO_SLOTS)


# ------------------------------------------------------------------------------------------------------------- ROWIDs

_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PAIRS: Final = pa.array([high + low for high in _DIGITS for low in _DIGITS])
ROWS_PER_BLOCK: Final = 128
_BLOCKS: Final = 1 << 22
_FILES: Final = 1000


def row_numbers(columns: Sequence[pa.Array]) -> Ints:
    """A number of each row made of its key's columns: that of a single whole number, else a hash."""
    hashes = [_hashed(column) for column in columns]
    if len(columns) == 1 and (pa.types.is_integer(columns[0].type) or pa.types.is_decimal(columns[0].type)):
        return (hashes[0] & np.uint64(2**63 - 1)).view(np.int64)
    total: Bits = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
    for each in hashes:
        total = mix(total * np.uint64(31) + each)
    return (total >> np.uint64(1)).view(np.int64)


def rowid(table: TableId, numbers: Ints) -> pa.Array:
    """A ROWID for each row number: object, file, block and row in base 64, `AAATGpAAIAAItcIAAA`.

    The same number gives the same ROWID, so a row keeps it as long as its key.
    """
    number = zlib.crc32(str(table).encode()) % 100_000 + 70_000
    data_object = "AAA" + _DIGITS[number >> 12] + _PAIRS[number % 4096].as_py()
    row = numbers % ROWS_PER_BLOCK
    block = numbers // ROWS_PER_BLOCK % _BLOCKS
    file = 4 + numbers // (ROWS_PER_BLOCK * _BLOCKS) % _FILES
    places = [file, block >> 12, block & 4095, row]
    parts = [_PAIRS.take(pa.array(place)) for place in places]
    return pc.binary_join_element_wise(data_object + "A", parts[0], "AA", parts[1], parts[2], "A", parts[3], "")


def _hashed(column: pa.Array) -> Bits:
    """64 bits of each value; null is 0."""
    if pa.types.is_dictionary(column.type):
        return _hashed(column.dictionary_decode())
    column = pa.concat_arrays([column])  # buffers from their start
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        offsets = np.frombuffer(column.buffers()[1], dtype=np.int32)[: len(column) + 1].astype(np.int64)
        data = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)[: offsets[-1]].astype(np.uint64)
        return _polynomial(data, offsets)
    width = column.type.bit_width // 8
    words = np.frombuffer(column.buffers()[1], dtype=np.uint8).reshape(-1, width)[: len(column), : min(width, 8)]
    whole = np.zeros((len(column), 8), dtype=np.uint8)
    whole[:, : words.shape[1]] = words
    bits: Bits = whole.view(np.uint64).reshape(-1)
    return np.where(np.asarray(column.is_null()), np.uint64(0), bits)


def _polynomial(data: Bits, offsets: Ints) -> Bits:
    """Of each text its bytes times powers of 31, summed in 64 bits: differences of one running sum."""
    factor = np.uint64(31)
    powers = np.cumprod(np.full(len(data) + 1, factor, dtype=np.uint64))
    inverse = np.cumprod(np.full(len(data) + 1, pow(31, -1, 1 << 64), dtype=np.uint64))
    sums = np.concatenate(
        [np.zeros(1, dtype=np.uint64), np.cumsum((data + np.uint64(1)) * powers[:-1], dtype=np.uint64)]
    )
    hashed: Bits = (sums[offsets[1:]] - sums[offsets[:-1]]) * inverse[offsets[:-1]]
    return hashed


# -------------------------------------------------------------------------------------------------------------- bytes

_FIXED: Final = {
    "binary_float": 4,
    "binary_double": 8,
    "date": 7,
    "timestamp with time zone": 13,
    "interval year to month": 5,
    "interval day to second": 11,
    "rowid": 10,
}


def packed_bytes(column: Column, array: pa.Array) -> Ints:
    """Bytes of each value in a row of a data block; 1 for null, which is a length byte alone.

    | type | bytes |
    | --- | --- |
    | NUMBER, FLOAT | 1 for two digits, and one for the exponent (one more where it is negative) |
    | BINARY_FLOAT, BINARY_DOUBLE, DATE | 4, 8, 7 |
    | TIMESTAMP, … WITH LOCAL TIME ZONE, … WITH TIME ZONE | 11 (7 without a fraction), 13 |
    | INTERVAL YEAR TO MONTH, DAY TO SECOND | 5, 11 |
    | texts, bytes and all else | the bytes |

    Before each stands its length: one byte, three above 250.
    """
    type = column.type
    fixed = _FIXED.get(type.name)
    if family(type) in ("datetime", "timestamptz") and fixed is None:
        fixed = 11 if type.length else 7
    if fixed is not None:
        sizes: Ints = np.full(len(array), fixed, dtype=np.int64)
    elif family(type) == "decimal":
        text = array if pa.types.is_string(array.type) else array.cast(pa.string())
        digits = np.asarray(pc.fill_null(pc.utf8_length(text), 0)).astype(np.int64)
        sizes = (digits + 1) // 2 + 1 + np.asarray(pc.fill_null(pc.starts_with(text, "-"), False))
    elif pa.types.is_dictionary(array.type):
        lengths = np.append(np.asarray(pc.binary_length(array.dictionary)).astype(np.int64), 0)
        sizes = lengths[np.asarray(array.indices.fill_null(len(array.dictionary)))]
    else:
        sizes = np.asarray(pc.fill_null(pc.binary_length(array), 0)).astype(np.int64)
    sizes = sizes + np.where(sizes > 250, 3, 1)
    if array.null_count:
        sizes[array.is_null().to_numpy(zero_copy_only=False)] = 1
    return sizes
