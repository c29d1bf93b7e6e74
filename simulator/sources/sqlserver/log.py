"""SQL Server's transaction log: log sequence numbers, transaction ids, and how many bytes a value takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column, ColumnType
from simulator.sources.log import Entries, Log
from simulator.sources.sqlserver.type_table import NATIONAL, digits, family, precision_scale

Ints = npt.NDArray[np.int64]

# A log sequence number is the number of a virtual log file, of a block in it and of a record in the block. A file takes
# so many transactions, and a transaction so many blocks, in which each change has a record.
FIRST_FILE: Final = 42
FILE_BITS: Final = 20
BLOCK_BITS: Final = 12
RECORD_BITS: Final = 15


class SqlserverLog(Log):
    """Log sequence numbers; a transaction's commit has the record behind its last change."""

    def parts(self, at: Entries) -> tuple[Ints, Ints, Ints]:
        """The three numbers of each LSN: file, block, record. As ten bytes they are 4, 4 and 2, big-endian."""
        seq = np.maximum(at.seq, 0)
        file = FIRST_FILE + (at.txn >> FILE_BITS)
        block = ((at.txn & ((1 << FILE_BITS) - 1)) << BLOCK_BITS) + (seq >> RECORD_BITS)
        return file, block, seq & ((1 << RECORD_BITS) - 1)

    def number(self, at: Entries) -> Ints:
        file, block, record = self.parts(at)
        number: Ints = (file << 48) + (block << 16) + record
        return number

    def position(self, at: Entries) -> pa.Array:
        """`0000002a:000001c8:0003`.

        >>> seven, zero = np.array([7, 7]), np.zeros(2, dtype=np.int64)
        >>> SqlserverLog().position(Entries(seven, np.array([1, 2]), zero + 1, zero, zero)).to_pylist()
        ['0000002a:00007000:0001', '0000002a:00007000:0002']
        """
        file, block, record = self.parts(at)
        return _hexadecimal([(file, 8), (block, 8), (record, 4)])

    def transaction_id(self, at: Entries) -> pa.Array:
        """As fn_dblog shows it: `0000:00000394`."""
        return _hexadecimal([(at.txn >> 32, 4), (at.txn & 0xFFFFFFFF, 8)])


def _hexadecimal(parts: list[tuple[Ints, int]]) -> pa.Array:
    """Numbers in lower-case hexadecimal digits, with colons between."""
    digits_ = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    count, width = len(parts[0][0]), sum(size for _, size in parts) + len(parts) - 1
    cells = np.full((count, width), ord(":"), dtype=np.uint8)
    place = 0
    for numbers, size in parts:
        for i in range(size):
            cells[:, place + size - 1 - i] = digits_[numbers >> 4 * i & 15]
        place += size + 1
    offsets = np.arange(count + 1, dtype=np.int64) * width
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(cells)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers, 0).cast(pa.string())


# ------------------------------------------------------------------------------------------------------ bytes of a row

_INTEGERS: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}


def packed_bytes(column: Column, array: pa.Array) -> Ints:
    """Bytes of each value in a row of the log; 0 for null, which is a bit of the row's bitmap.

    | type | bytes |
    | --- | --- |
    | bit | 1 (eight of them share it) |
    | tinyint … bigint, real, float | 1, 2, 4, 8, 4, 8 |
    | decimal(p,s) | 5, 9, 13 or 17 for up to 9, 19, 28 and 38 digits |
    | smallmoney, money | 4, 8 |
    | date, smalldatetime, datetime | 3, 4, 8 |
    | time(f), datetime2(f), datetimeoffset(f) | 3 to 5; 3 and 5 more |
    | char, binary, rowversion, uniqueidentifier | their length; 8; 16 |
    | what varies | 2 and the bytes, of nvarchar twice the pairs |
    """
    fixed = _FIXED.get(family(column.type))
    size = fixed(column.type) if fixed is not None else 0
    if size:
        sizes = np.full(len(array), size, dtype=np.int64)
    else:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        count = pc.utf8_length(array) if column.type.name in NATIONAL else pc.binary_length(array)
        sizes = np.asarray(pc.fill_null(count, 0)).astype(np.int64)
        sizes = 2 + sizes * (2 if column.type.name in NATIONAL else 1)
    if array.null_count:
        sizes[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return sizes


def _decimal_bytes(type: ColumnType) -> int:
    if type.name in ("money", "smallmoney"):
        return 8 if type.name == "money" else 4
    return (5, 9, 13, 17)[sum(precision_scale(type)[0] > most for most in (9, 19, 28))]


def _fraction_bytes(type: ColumnType) -> int:
    return 3 + (digits(type) > 2) + (digits(type) > 4)


_FIXED: Final[Mapping[str, Callable[[ColumnType], int]]] = {
    "bit": lambda type: 1,
    "integer": lambda type: _INTEGERS[type.name],
    "decimal": _decimal_bytes,
    "float": lambda type: 4 if type.name == "real" else 8,
    "date": lambda type: 3,
    "time": _fraction_bytes,
    "datetime": lambda type: {"smalldatetime": 4, "datetime": 8}.get(type.name, 3 + _fraction_bytes(type)),
    "zoned": lambda type: 5 + _fraction_bytes(type),
    "uuid": lambda type: 16,
    "binary": lambda type: (type.length or 1) if type.name == "binary" else 8 if type.name == "timestamp" else 0,
}
