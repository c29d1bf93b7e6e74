"""Constants and columns of text, joined: the one place that assembles messages.

A message is a row of pieces, `'{"id":'`, [7, 8], `',"name":"'`, ['a', 'b'], `'"}'`; adjacent constants are merged once
and the columns are joined by one vectorised call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Piece: TypeAlias = str | pa.Array


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with neighbouring constants made one and empty ones left out."""
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            if not piece:
                continue
            if out and isinstance(out[-1], str):
                out[-1] += piece
                continue
        out.append(piece)
    return out


def join(pieces: Iterable[Piece], count: int) -> pa.Array:
    """`count` texts: each the pieces of its row put together; null where a column is."""
    parts = merged(pieces)
    if not any(isinstance(part, pa.Array) for part in parts):
        return repeat("".join(part for part in parts if isinstance(part, str)), count)
    if len(parts) == 1:
        return parts[0]
    return pc.binary_join_element_wise(*(constant(p) if isinstance(p, str) else p for p in parts), constant(""))


@lru_cache(maxsize=4096)
def constant(text: str) -> pa.Scalar:
    """A text scalar. Given a plain str, Arrow looks for the optional package dateutil on disk, every time."""
    return pa.scalar(text, pa.string())


def repeat(text: str, count: int) -> pa.Array:
    """The same text `count` times."""
    return pa.array([text], pa.string()).take(pa.array(np.zeros(count, dtype=np.int64)))


def join_runs(texts: pa.Array, starts: Ints, separator: str) -> pa.Array:
    """Texts of consecutive rows put together: message i has the rows starts[i] to starts[i + 1]."""
    lists = pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), texts)
    return pc.binary_join(lists, constant(separator))


def spread(texts: pa.Array, rows: Ints, count: int) -> pa.Array:
    """`count` texts: these at these (ascending) rows, empty ones elsewhere.

    Only the offsets are new: an empty text takes no place in the bytes.
    """
    lengths = np.zeros(count + 1, dtype=np.int32)
    if texts.offset:
        texts = pa.concat_arrays([texts])
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32, count=len(texts) + 1)
    lengths[rows + 1] = np.diff(offsets)
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(np.cumsum(lengths, dtype=np.int32)), texts.buffers()[2]], 0
    )


def object_pieces(names: Sequence[str], values: Sequence[Sequence[Piece]]) -> list[Piece]:
    """`{"a":…,"b":…}`: names are quoted JSON, each value is a list of pieces."""
    out: list[Piece] = ["{"]
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        out += ["," if i else "", name, ":", *value]
    out.append("}")
    return out
