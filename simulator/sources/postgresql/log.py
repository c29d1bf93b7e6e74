"""PostgreSQL's write-ahead log: log sequence numbers and transaction ids."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints
from simulator.sources.log import Entries, Log, spread, text
from simulator.text.base64 import number_bytes
from simulator.text.bytewise import HEX, mapped
from simulator.text.template import constant, join

# First LSN of the stream, bytes of a transaction, and bytes of a change: a small row has a record of about 128 bytes.
FIRST_LSN: Final = 0x1_6B6C_50
RECORD_BYTES: Final = 128
TRANSACTION_BYTES: Final = 1024 * RECORD_BYTES
# The first transaction id for users, and the first one after the counter wraps around.
FIRST_XID: Final = 731
_LEAST_XID: Final = 3
_XIDS: Final = (1 << 32) - _LEAST_XID


class PostgresqlLog(Log):
    """Log sequence numbers; a transaction's commit has the last record of its share."""

    def number(self, entries: Entries) -> Ints:
        """The LSN of each entry as a number: the server's own if known."""
        if entries.header is not None:
            pairs = zip(entries.header, np.maximum(entries.seq, 0).tolist(), strict=True)
            return np.array([header.lsns[min(seq, len(header.lsns) - 1)] for header, seq in pairs], dtype=np.int64)
        commit = TRANSACTION_BYTES - RECORD_BYTES
        offset_in_transaction = spread(np.maximum(entries.seq, 0), step=RECORD_BYTES, share=TRANSACTION_BYTES)
        offset_in_transaction = np.where(
            (entries.seq > entries.size) & (entries.seq > 0), commit, np.minimum(offset_in_transaction, commit - 1)
        )
        lsn: Ints = FIRST_LSN + entries.txn * TRANSACTION_BYTES + offset_in_transaction
        return lsn

    def position(self, entries: Entries) -> pa.Array:
        """`16/B374D848`."""
        return lsn_text(self.number(entries))

    def xid(self, entries: Entries) -> Ints:
        """The id of each transaction, 32 bits wide: it wraps around to 3.

        >>> txn = np.array([0, 1, 4294966561, 4294966565])
        >>> PostgresqlLog().xid(Entries(txn, txn, txn, txn, txn)).tolist()
        [731, 732, 4294967292, 3]
        """
        if entries.header is not None:
            return np.array([header.xid for header in entries.header], dtype=np.int64)
        return _LEAST_XID + (FIRST_XID - _LEAST_XID + entries.txn) % _XIDS

    def transaction_id(self, entries: Entries) -> pa.Array:
        return text(self.xid(entries))


def lsn_text(numbers: Ints) -> pa.Array:
    """Log sequence numbers as PostgreSQL prints them.

    >>> lsn_text(np.array([0x16B374D848, FIRST_LSN])).to_pylist()
    ['16/B374D848', '0/16B6C50']
    """
    return join([_hexadecimal(numbers >> 32), "/", _hexadecimal(numbers & 0xFFFF_FFFF)], len(numbers))


def _hexadecimal(numbers: Ints) -> pa.Array:
    text = pc.ascii_ltrim(mapped(number_bytes(pa.array(numbers)), HEX), "0")
    return text if numbers.all() else pc.if_else(pa.array(numbers > 0), text, constant("0"))
