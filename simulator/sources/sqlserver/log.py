"""SQL Server's transaction log: log sequence numbers and transaction ids."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.sources.log import Entries, Log

# A log sequence number has the numbers of a virtual log file, of a block in it and of a record in the block. The sizes
# below limit the transactions of a file, the blocks of a transaction and the records (one per change) of a block.
FIRST_FILE: Final = 42
FILE_BITS: Final = 20
BLOCK_BITS: Final = 12
RECORD_BITS: Final = 15


class SqlserverLog(Log):
    """Log sequence numbers; a transaction's commit has the record after its last change."""

    def parts(self, entries: Entries) -> tuple[Ints, Ints, Ints]:
        """The three numbers of each LSN: file, block, record. As ten bytes they are 4, 4 and 2, big-endian."""
        seq = np.maximum(entries.seq, 0)
        file = FIRST_FILE + (entries.txn >> FILE_BITS)
        block = ((entries.txn & ((1 << FILE_BITS) - 1)) << BLOCK_BITS) + (seq >> RECORD_BITS)
        return file, block, seq & ((1 << RECORD_BITS) - 1)

    def number(self, entries: Entries) -> Ints:
        file, block, record = self.parts(entries)
        number: Ints = (file << 48) + (block << 16) + record
        return number

    def position(self, entries: Entries) -> pa.Array:
        """`0000002a:000001c8:0003`.

        >>> seven, zero = np.array([7, 7]), np.zeros(2, dtype=np.int64)
        >>> SqlserverLog().position(Entries(seven, np.array([1, 2]), zero + 1, zero, zero)).to_pylist()
        ['0000002a:00007000:0001', '0000002a:00007000:0002']
        """
        file, block, record = self.parts(entries)
        return _hexadecimal([(file, 8), (block, 8), (record, 4)])

    def transaction_id(self, entries: Entries) -> pa.Array:
        """As fn_dblog shows it: `0000:00000394`."""
        return _hexadecimal([(entries.txn >> 32, 4), (entries.txn & 0xFFFFFFFF, 8)])


def _hexadecimal(parts: list[tuple[Ints, int]]) -> pa.Array:
    """Numbers in lower-case hexadecimal digits, with colons between."""
    digits_ = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    count, width = len(parts[0][0]), sum(size for _, size in parts) + len(parts) - 1
    cells = np.full((count, width), ord(":"), dtype=np.uint8)
    offset = 0
    for numbers, size in parts:
        for i in range(size):
            cells[:, offset + size - 1 - i] = digits_[numbers >> 4 * i & 15]
        offset += size + 1
    offsets = np.arange(count + 1, dtype=np.int64) * width
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(cells)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers, 0).cast(pa.string())
