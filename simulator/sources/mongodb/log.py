"""MongoDB's oplog: cluster times as positions."""

from __future__ import annotations

from hashlib import sha256
from typing import Final
from uuid import UUID

import pyarrow as pa

from simulator.batch import Ints
from simulator.model import SECOND_NUMBERS
from simulator.sources.log import Entries, Log
from simulator.text.template import join

# The logical session that writes all transactions, and the digest of its user (zeros: no authentication).
SESSION: Final = UUID("6c1f3f5e-2f2b-4d0c-9a51-7d0f4b8e2a10")
USER: Final = sha256(b"").digest()


class MongodbLog(Log):
    """Cluster times: seconds, and an ordinal in the second; one for all changes of a transaction, which is one entry of
    the oplog."""

    one_a_transaction = True

    def cluster_times(self, entries: Entries) -> tuple[Ints, Ints]:
        """(seconds, ordinal) of each entry in the oplog, from the commit time and the number in its second.

        Ordinals begin with 1 in each second and have gaps; a second that has more changes than numbers runs over into
        the next, as `simulator.batch.Envelope` says.

        >>> import numpy as np
        >>> zero = np.zeros(2, dtype=np.int64)
        >>> at = Entries(zero, zero, zero, zero + 1_714_557_600_350, np.array([0, 2]))
        >>> [numbers.tolist() for numbers in MongodbLog().cluster_times(at)]
        [[1714557600, 1714557600], [1, 3]]
        """
        numbers = entries.event_ms // 1000 * SECOND_NUMBERS + entries.in_second
        return numbers // SECOND_NUMBERS, numbers % SECOND_NUMBERS + 1

    def number(self, entries: Entries) -> Ints:
        """The cluster time as BSON keeps it: seconds in the upper 32 bits, the ordinal in the lower ones."""
        seconds, ordinals = self.cluster_times(entries)
        return (seconds << 32) + ordinals

    def position(self, entries: Entries) -> pa.Array:
        """`1714557600:8`."""
        seconds, ordinals = self.cluster_times(entries)
        return join([pa.array(seconds), ":", pa.array(ordinals)], len(entries.txn))
