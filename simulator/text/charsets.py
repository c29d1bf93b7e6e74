"""Columns of texts in another character set: encoded at once, not value by value."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.carriers import validity
from simulator.text.bytewise import bytes_of
from simulator.text.columns import nulls_of
from simulator.text.template import join

# Candidates for a separator that no text of the column holds: in no character set are they part of another character.
_CONTROLS: Final = range(1, 0x20)


def encoded(array: pa.Array, codec: str) -> pa.Array:
    """The bytes of texts in a character set of Python's name, `?` for what it lacks. Null stays null; of a dictionary
    array only the dictionary is encoded, and it stays one.

    >>> encoded(pa.array(["é€", None, "中"]), "cp1252").to_pylist()
    [b'\\xe9\\x80', None, b'?']
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, encoded(array.dictionary, codec))
    data, _ = bytes_of(array)
    unused = sorted(set(_CONTROLS) - set(np.flatnonzero(np.bincount(data, minlength=1)[:0x20]).tolist()))
    if not unused or not _holds_ascii(codec):
        values = (None if text is None else text.encode(codec, "replace") for text in array.to_pylist())
        return pa.array(list(values), pa.binary())
    if not (data >= 0x80).any():
        return array.cast(pa.binary())
    separated = join([array.fill_null(""), chr(unused[0])], len(array))
    text, _ = bytes_of(separated)
    written = np.frombuffer(text.tobytes().decode().encode(codec, "replace"), dtype=np.uint8)
    ends = np.flatnonzero(written == unused[0])
    offsets = np.append(0, ends - np.arange(len(ends))).astype(np.int32)
    used = written[written != unused[0]]
    buffers = [validity(nulls_of(array)), pa.py_buffer(offsets), pa.py_buffer(used)]
    return pa.Array.from_buffers(pa.binary(), len(array), buffers, -1)


@lru_cache(maxsize=64)
def _holds_ascii(codec: str) -> bool:
    """Whether the characters of ASCII have their own bytes, and no other character has one below 0x20."""
    ascii = bytes(range(128))
    return ascii.decode(codec, "replace") == ascii.decode("ascii")
