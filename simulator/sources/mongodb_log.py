"""MongoDB's oplog: cluster times as positions, and how many bytes a field takes in BSON."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column
from simulator.sources.mongodb_table import family

Ints = npt.NDArray[np.int64]

# Ordinals are signed 32-bit numbers from 1 at some readers.
ORDINALS: Final = (1 << 31) - 1


def cluster_times(txn: Ints, event_ms: Ints) -> tuple[Ints, Ints]:
    """(seconds, ordinal) of each transaction's entry in the oplog; all its changes have the same.

    A server counts ordinals from 1 in each second, which cannot be known of one transaction alone. Here they go on
    through the seconds, and where they begin again, the seconds go one ahead; so cluster times rise strictly with
    transactions, as they must.

    >>> [numbers.tolist() for numbers in cluster_times(np.array([7, 8]), np.array([1_714_557_600_350] * 2))]
    [[1714557600, 1714557600], [8, 9]]
    """
    return event_ms // 1000 + txn // ORDINALS, txn % ORDINALS + 1


def cluster_time(txn: Ints, event_ms: Ints) -> pa.Array:
    """The same as text: `1714557600:8`."""
    seconds, ordinals = (pa.array(numbers).cast(pa.string()) for numbers in cluster_times(txn, event_ms))
    return pc.binary_join_element_wise(seconds, ordinals, ":")


def cluster_time_text(txn: int, event_ms: int) -> str:
    """`cluster_time` of a single event."""
    return str(cluster_time(np.array([txn], dtype=np.int64), np.array([event_ms], dtype=np.int64))[0].as_py())


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
