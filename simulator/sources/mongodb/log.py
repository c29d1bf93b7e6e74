"""MongoDB's oplog: cluster times as positions, and how many bytes a field takes in BSON."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import SECOND_NUMBERS, Column
from simulator.sources.mongodb.type_table import family

Ints = npt.NDArray[np.int64]


def cluster_times(event_ms: Ints, in_second: Ints) -> tuple[Ints, Ints]:
    """(seconds, ordinal) of each change's entry in the oplog, from the commit time and the number in its second.

    Ordinals begin with 1 in each second and have gaps; a second that has more changes than numbers runs over into the
    next, as `simulator.batch.Envelope` says. Both together rise strictly along the stream. (A server gives all changes
    of a transaction of several documents one cluster time; here each has its own.)

    >>> [numbers.tolist() for numbers in cluster_times(np.array([1_714_557_600_350] * 2), np.array([0, 2]))]
    [[1714557600, 1714557600], [1, 3]]
    """
    places = event_ms // 1000 * SECOND_NUMBERS + in_second
    return places // SECOND_NUMBERS, places % SECOND_NUMBERS + 1


def cluster_time(event_ms: Ints, in_second: Ints) -> pa.Array:
    """The same as text: `1714557600:8`."""
    seconds, ordinals = (pa.array(numbers).cast(pa.string()) for numbers in cluster_times(event_ms, in_second))
    return pc.binary_join_element_wise(seconds, ordinals, ":")


def cluster_time_text(event_ms: int, in_second: int) -> str:
    """`cluster_time` of a single event."""
    one = (np.array([number], dtype=np.int64) for number in (event_ms, in_second))
    return str(cluster_time(*one)[0].as_py())


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
