"""MySQL's binary log: file and offset of each event, GTIDs, executed GTID sets."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints
from simulator.sources.log import Entries, Log, spread, text

# A file takes so many transactions, and each of them a share of its 1 GiB (max_binlog_size).
TRANSACTIONS_PER_FILE: Final = 1024
TRANSACTION_BYTES: Final = 1 << 20
# Where the first event stands behind a file's header: in MySQL 8.0, and in 5.7.
FIRST_OFFSET: Final = 157
FIRST_OFFSET_57: Final = 154
# Bytes of the events that announce a transaction, of those that announce its first row, and of a row.
BEGIN_BYTES: Final = 64
FIRST_ROW_BYTES: Final = 64
ROW_BYTES: Final = 32


class MysqlLog(Log):
    """Events stand where they end. A file begins with its header, so the first transaction begins behind that."""

    def __init__(self, first_offset: int = FIRST_OFFSET) -> None:
        self.first_offset = first_offset

    def file_number(self, at: Entries) -> Ints:
        """The number of the log file, from 1."""
        return at.txn // TRANSACTIONS_PER_FILE + 1

    def file(self, at: Entries, *, base: str = "mysql-bin") -> pa.Array:
        """The name of the log file: `mysql-bin.000001`."""
        numbers, inverse = np.unique(self.file_number(at), return_inverse=True)
        names = pa.array([f"{base}.{number:06}" for number in numbers.tolist()], pa.string())
        return names.take(pa.array(inverse))

    def offset(self, at: Entries) -> Ints:
        """Where in its file each event ends.

        >>> one, zero = np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        >>> MysqlLog().offset(Entries(one, np.array([-1, 0, 1, 2]), one, zero, zero)).tolist()
        [1048733, 1048797, 1048861, 1048893]
        """
        lead = BEGIN_BYTES + FIRST_ROW_BYTES
        rows = lead + spread(at.seq - 1, step=ROW_BYTES, share=TRANSACTION_BYTES - 2 * lead)
        inside = np.where(at.seq > 0, rows, np.where(at.seq < 0, 0, BEGIN_BYTES))
        offset: Ints = self.first_offset + at.txn % TRANSACTIONS_PER_FILE * TRANSACTION_BYTES + inside
        return offset

    def number(self, at: Entries) -> Ints:
        """The number of the file, and the offset in ten digits: 780000072469."""
        return self.file_number(at) * 10**10 + self.offset(at)

    def position(self, at: Entries) -> pa.Array:
        """`mysql-bin.000078:72469`."""
        return pc.binary_join_element_wise(self.file(at), text(self.offset(at)), ":")

    def gtid(self, at: Entries, server_uuid: str) -> pa.Array:
        """The GTID of each transaction: `3e11fa47-71ca-11e1-9e33-c80aa9429562:7`; null of snapshot rows."""
        if at.executed is not None:
            return pa.array([one.gtid or f"{server_uuid}:{one.last}" for one in at.executed], pa.string())
        numbers = pc.if_else(pa.array(at.txn > 0), text(at.txn), pa.scalar(None, pa.string()))
        return pc.binary_join_element_wise(server_uuid, numbers, ":")

    def gtid_set(self, at: Entries, server_uuid: str, *, before: int = 0) -> pa.Array:
        """The set of GTIDs executed with each transaction: `3e11fa47-…:1-7`; the first alone is `…:1`.

        `before` are so many of the server's transactions that were executed before the stream.
        """
        if at.executed is not None:
            sets = [_set(server_uuid, before + one.last, one.others) for one in at.executed]
            return pa.array(sets, pa.string())
        last = before + at.txn
        several = pc.binary_join_element_wise(f"{server_uuid}:1-", text(last), "")
        if last.min(initial=2) > 1:
            return several
        return pc.if_else(pa.array(last > 1), several, pc.if_else(pa.array(last == 1), f"{server_uuid}:1", ""))


def _set(server_uuid: str, last: int, others: str) -> str:
    """The set with GTIDs of other servers in it, which begin with a comma."""
    if not last:
        return others.removeprefix(",")
    return f"{server_uuid}:1{f'-{last}' if last > 1 else ''}{others}"
