"""Texts and bytes made from hashes, column-wise: no Python per row."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.native.program import Cells, Program, cells, compiled, write
from simulator.values.draw import GOLDEN, Bits, Ints, below, mix
from simulator.values.groups import numbered

Bytes = npt.NDArray[np.uint8]

LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABETS: Final = {
    "ascii": "".join(map(chr, range(0x20, 0x7F))),
    "letters": LETTERS,
    "digits": "0123456789",
    "hex": "0123456789abcdef",
    "latin": LETTERS + "àâäçéèêëîïôöùûüÿñßÀÉÖÜ",
    "cjk": "".join(map(chr, range(0x4E00, 0x4E00 + 512))),
    "emoji": "".join(map(chr, range(0x1F600, 0x1F640))),
    "mixed": LETTERS + "éßñ" + "中文数据同步变更事务日志" + "😀🚀🎉👍" + " -_.,'\"\\/<>&=",
    "controls": "ab\t\n\r\b\f\x00\x01\x0b\x1f\x7f\x80\u2028",
}
TOO_LARGE: Final = "a column of this block holds more than 2 GiB"
_HEX: Final = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


_OCTETS: Final = cells(bytes([octet]) for octet in range(256))


@lru_cache(maxsize=64)
def _table(alphabet: str) -> Cells:
    return cells(alphabet)


def _written(draws: Bits, lengths: Ints, table: Cells, type: pa.DataType) -> pa.Array:
    """Texts written by the compiled library: the table's entries at the indexes that `_stream` draws."""
    program = Program()
    program.drawn(draws, lengths, table)
    return write([program], len(draws), type=type)


def _stream(draws: Bits, lengths: Ints) -> Bits:
    """One hash per character; row i has `lengths[i]` of them."""
    return mix(np.repeat(draws, lengths) + numbered(lengths).view(np.uint64) * GOLDEN)


def _strings(data: Bytes, sizes: Ints, type: pa.DataType) -> pa.Array:
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if offsets[-1] >= 1 << 31:
        raise OverflowError(TOO_LARGE)
    return pa.Array.from_buffers(
        type, len(sizes), [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))], 0
    )


def strings(characters: Bytes) -> pa.Array:
    """Texts of the same length: a row of ASCII characters each."""
    rows, length = characters.shape
    return _strings(characters.ravel(), np.full(rows, length, dtype=np.int64), pa.string())


def text(draws: Bits, lengths: Ints, alphabet: str) -> pa.Array:
    """Random text: `lengths` characters of `alphabet` (a name of ALPHABETS, or the characters) for each draw."""
    letters = ALPHABETS.get(alphabet, alphabet)
    if compiled():
        return _written(draws, lengths, _table(letters), pa.string())
    characters = pa.array(list(letters), pa.string())
    try:
        drawn = characters.take(pa.array(below(_stream(draws, lengths), len(characters))))
    except pa.ArrowInvalid:
        raise OverflowError(TOO_LARGE) from None
    _, ends, data = drawn.buffers()
    # a row's last character ends the row
    chosen = np.frombuffer(ends, np.int32, len(drawn) + 1)[np.concatenate(([0], np.cumsum(lengths)))]
    return pa.Array.from_buffers(pa.string(), len(draws), [None, pa.py_buffer(chosen), data])


def blob(draws: Bits, lengths: Ints) -> pa.Array:
    """Random bytes."""
    if compiled():
        return _written(draws, lengths, _OCTETS, pa.binary())
    stream = _stream(draws, lengths)
    return _strings((stream >> np.uint64(56)).astype(np.uint8), lengths, pa.binary())


def pattern(draws: Bits, shape: str) -> pa.Array:
    """`SKU-####-??`: `#` becomes a digit, `?` a capital letter, `*` either; the rest stands for itself."""
    encoded = np.frombuffer(shape.encode(), dtype=np.uint8)
    characters = np.tile(encoded, (len(draws), 1))
    for column in np.flatnonzero(np.isin(encoded, np.frombuffer(b"#?*", dtype=np.uint8))):
        choices = {35: b"0123456789", 63: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}.get(
            int(encoded[column]), b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        )
        stream = mix(draws + np.uint64((int(column) + 1) * int(GOLDEN) & 0xFFFFFFFFFFFFFFFF))
        characters[:, column] = np.frombuffer(choices, dtype=np.uint8)[below(stream, len(choices))]
    return _strings(characters.ravel(), np.full(len(draws), len(encoded), dtype=np.int64), pa.string())


def uuid(draws: Bits) -> pa.Array:
    """Random (version 4) UUIDs as text: `3f1c7a52-9d3b-4c11-8a07-5b1c2d9e4f60`."""
    high, low = draws, mix(draws + GOLDEN)
    high = (high & np.uint64(0xFFFFFFFFFFFF0FFF)) | np.uint64(0x4000)
    low = (low & np.uint64(0x3FFFFFFFFFFFFFFF)) | np.uint64(0x8000000000000000)
    octets = np.concatenate([high[:, None], low[:, None]], axis=1).astype(">u8").view(np.uint8).reshape(-1, 16)
    digits = np.empty((len(draws), 32), dtype=np.uint8)
    digits[:, 0::2], digits[:, 1::2] = _HEX[octets >> 4], _HEX[octets & 15]
    characters = np.full((len(draws), 36), ord("-"), dtype=np.uint8)
    for start, end, position in ((0, 8, 0), (8, 12, 9), (12, 16, 14), (16, 20, 19), (20, 32, 24)):
        characters[:, position : position + end - start] = digits[:, start:end]
    return _strings(characters.ravel(), np.full(len(draws), 36, dtype=np.int64), pa.string())
