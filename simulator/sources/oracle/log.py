"""Oracle's redo log: SCNs and transaction ids."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints
from simulator.sources.log import Entries, Log
from simulator.text.bytewise import HEX, mapped
from simulator.text.template import join

# The SCN at which the log begins, and the SCNs of a transaction. An SCN is a time, not a change: those of a long
# transaction share the last one before its commit.
FIRST_SCN: Final = 14_589_000_000_000
SCN_PER_TRANSACTION: Final = 64
# Undo segments, slots per segment, and how often the first slot was used before the stream.
UNDO_SEGMENTS: Final = 10
UNDO_SLOTS: Final = 34
FIRST_SEQUENCE: Final = 411_499


class OracleLog(Log):
    """SCNs: a transaction's changes follow its start, and its commit has the last SCN of its share."""

    def number(self, entries: Entries) -> Ints:
        """The SCN of each entry.

        >>> zero = np.zeros(4, dtype=np.int64)
        >>> OracleLog().number(Entries(zero, np.array([0, 1, 100, 101]), zero + 100, zero, zero)).tolist()
        [14589000000000, 14589000000001, 14589000000062, 14589000000063]
        """
        last = SCN_PER_TRANSACTION - 1
        scn_in_transaction = np.where(
            (entries.seq > entries.size) & (entries.seq > 0), last, np.clip(entries.seq, 0, last - 1)
        )
        scn: Ints = FIRST_SCN + entries.txn * SCN_PER_TRANSACTION + scn_in_transaction
        return scn

    def transaction_id(self, entries: Entries) -> pa.Array:
        """`usn.slot.sequence`, as V$TRANSACTION counts them: `7.0.411499`."""
        usn, slot, sequence = map(pa.array, _transaction(entries.txn))
        return join([usn, ".", slot, ".", sequence], len(entries.txn))

    def xid(self, entries: Entries) -> pa.Array:
        """The same as 16 hexadecimal digits in lower case, the RAW(8) that LogMiner shows as XID: usn and slot in two
        bytes each, the sequence in four, low bytes first."""
        usn, slot, sequence = _transaction(entries.txn)
        number = (usn << 48) | (slot << 32) | sequence
        raw = number.astype(np.int64).view(np.uint8).reshape(-1, 8)[:, [6, 7, 4, 5, 0, 1, 2, 3]]
        octets = pa.Array.from_buffers(pa.binary(8), len(raw), [None, pa.py_buffer(np.ascontiguousarray(raw))])
        return pc.ascii_lower(mapped(octets.cast(pa.binary()), HEX))


def _transaction(txn: Ints) -> tuple[Ints, Ints, Ints]:
    """(undo segment, slot, sequence) of each transaction; no two have all three in common."""
    usn = txn % UNDO_SEGMENTS + 1
    slot = txn // UNDO_SEGMENTS % UNDO_SLOTS
    return usn, slot, FIRST_SEQUENCE + txn // (UNDO_SEGMENTS * UNDO_SLOTS)
