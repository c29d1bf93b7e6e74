"""MongoDB's oplog: cluster times as positions, and how many bytes a field takes in BSON."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import SECOND_NUMBERS, Column
from simulator.sources.log import Entries, Log, text
from simulator.sources.mongodb.type_table import family

Ints = npt.NDArray[np.int64]


class MongodbLog(Log):
    """Cluster times: seconds, and an ordinal in the second. (A server gives all changes of a transaction of several
    documents one cluster time; here each has its own.)"""

    def cluster_times(self, at: Entries) -> tuple[Ints, Ints]:
        """(seconds, ordinal) of each entry in the oplog, from the commit time and the number in its second.

        Ordinals begin with 1 in each second and have gaps; a second that has more changes than numbers runs over into
        the next, as `simulator.batch.Envelope` says.

        >>> zero = np.zeros(2, dtype=np.int64)
        >>> at = Entries(zero, zero, zero, zero + 1_714_557_600_350, np.array([0, 2]))
        >>> [numbers.tolist() for numbers in MongodbLog().cluster_times(at)]
        [[1714557600, 1714557600], [1, 3]]
        """
        places = at.event_ms // 1000 * SECOND_NUMBERS + at.in_second
        return places // SECOND_NUMBERS, places % SECOND_NUMBERS + 1

    def number(self, at: Entries) -> Ints:
        """The cluster time as BSON keeps it: seconds in the upper 32 bits, the ordinal in the lower ones."""
        seconds, ordinals = self.cluster_times(at)
        return (seconds << 32) + ordinals

    def position(self, at: Entries) -> pa.Array:
        """`1714557600:8`."""
        return pc.binary_join_element_wise(*map(text, self.cluster_times(at)), ":")

    def commit_number(self, at: Entries) -> Ints:
        """The number of the transaction: no cluster time is that of all its changes."""
        return at.txn


_FIXED: Final = {
    "double": 8,
    "objectId": 12,
    "bool": 1,
    "date": 8,
    "int": 4,
    "long": 8,
    "timestamp": 8,
    "decimal": 16,
}


def packed_bytes(column: Column, array: pa.Array) -> Ints:
    """Bytes of each field in its document: the type's byte, the name, and the value; 0 where the field is not there.

    Values of fixed size take 1 to 16 bytes, strings and bytes 5 more than they have; objects, arrays and what is rare
    are estimated at the length of their text.
    """
    name = 2 + len(column.name.encode())
    if column.type.name in _FIXED:
        sizes = np.full(len(array), name + _FIXED[column.type.name], dtype=np.int64)
    else:
        plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        more = 5 if family(column.type) in ("text", "binary") else 0
        sizes = name + more + np.asarray(pc.fill_null(pc.binary_length(plain), 0)).astype(np.int64)
    if array.null_count:
        sizes[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return sizes
