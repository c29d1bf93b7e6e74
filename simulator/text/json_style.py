"""JSON flavours: which characters a writer escapes, and how. Applied to whole columns, never row by row.

| flavour | U+0000–U+001F | U+007F–U+009F | U+2028, U+2029 | `<` `>` `&` `=` `'` |
| --- | --- | --- | --- | --- |
| FASTJSON2 | `\\b \\t \\n \\f \\r`, `\\u000b` | raw | raw | raw |
| FASTJSON2_RAW_CONTROLS | `\\b \\t \\n \\f \\r`, the rest raw | raw | raw | raw |
| FASTJSON1 | `\\b \\t \\n \\f \\r`, `\\u000B` | `\\u007F` | `\\u2028` | raw |
| JACKSON | `\\b \\t \\n \\f \\r`, `\\u000B` | raw | raw | raw |
| HTML_SAFE | `\\b \\t \\n \\f \\r`, `\\u000b` | raw | `\\u2028` | `\\u003c` |

All escape `"` and `\\`, none escapes `/`, and everything else is raw UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import validity

SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _codes(*ranges: tuple[int, int], upper: bool = False) -> dict[str, str]:
    form = "\\u{:04X}" if upper else "\\u{:04x}"
    return {chr(code): form.format(code) for low, high in ranges for code in range(low, high + 1)}


@dataclass(frozen=True)
class Style:
    """A flavour: `escapes` maps a character to what is written for it."""

    name: str
    escapes: Mapping[str, str]
    table: Mapping[int, str] = field(init=False, repr=False, compare=False)
    # First bytes of escaped characters, but for the controls, which are looked for as one range.
    first_bytes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    # What is written for each ASCII byte, as rows of six bytes, and how many of them count (0: itself).
    cells: npt.NDArray[np.uint8] = field(init=False, repr=False, compare=False)
    sizes: npt.NDArray[np.uint8] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        cells, sizes = np.zeros((256, 6), dtype=np.uint8), np.zeros(256, dtype=np.uint8)
        for character, text in self.escapes.items():
            if character.isascii():
                cells[ord(character), : len(text)] = np.frombuffer(text.encode(), dtype=np.uint8)
                sizes[ord(character)] = len(text)
        firsts = {character.encode()[0] for character in self.escapes}
        object.__setattr__(self, "table", {ord(character): text for character, text in self.escapes.items()})
        object.__setattr__(self, "first_bytes", tuple(sorted(byte for byte in firsts if byte >= 0x20)))
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "sizes", sizes)

    def suspects(self, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Where the bytes of UTF-8 text may begin a character to be escaped."""
        found = data < 0x20
        for byte in self.first_bytes:
            found |= data == byte
        return found


_CONTROLS: Final = _codes((0, 0x1F))
# What MySQL (double_quote) and PostgreSQL (escape_json) escape in documents, as `str.translate` takes it.
ESCAPES: Final = {ord(character): text for character, text in (_CONTROLS | SHORT).items()}
# fastjson2 2.0.31
FASTJSON2: Final = Style("fastjson2", _CONTROLS | SHORT)
# fastjson2 2.0.4: its messages with other controls are not JSON
FASTJSON2_RAW_CONTROLS: Final = Style("fastjson2-raw-controls", SHORT)
# fastjson 1.2.58
FASTJSON1: Final = Style("fastjson1", _codes((0, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), upper=True) | SHORT)
# Jackson with its default settings
JACKSON: Final = Style("jackson", _codes((0, 0x1F), upper=True) | SHORT)
# Gson with its default HTML-safe escaping
HTML_SAFE: Final = Style(
    "html-safe", _CONTROLS | _codes((0x2028, 0x2029)) | {c: f"\\u{ord(c):04x}" for c in "<>&='"} | SHORT
)
STYLES: Final[Mapping[str, Style]] = {
    style.name: style for style in (FASTJSON2, FASTJSON2_RAW_CONTROLS, FASTJSON1, JACKSON, HTML_SAFE)
}


# Up to so many different characters are quicker replaced by Arrow, one after the other.
_ONE_BY_ONE: Final = 2
_BACKSLASH: Final = ord("\\")
_TOO_LONG: Final = "a column of this block holds more than 2 GiB once it is escaped"


def quote(text: str, style: Style = FASTJSON2) -> str:
    r"""A single string as a JSON string.

    >>> print(quote('a"b\\c/\n\v'))
    "a\"b\\c/\n\u000b"
    """
    return f'"{text.translate(style.table)}"'


def escape(array: pa.Array, style: Style = FASTJSON2) -> pa.Array:
    r"""A column of text with what must be escaped escaped, without quotes around. Null stays null.

    Of a dictionary array only the dictionary is escaped, and it stays one.

    >>> escape(pa.array(["plain", 'a"b', None, "tab\t"])).to_pylist()
    ['plain', 'a\\"b', None, 'tab\\t']
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, escape(array.dictionary, style))
    data, offsets = _bytes_of(array)
    counts = {byte: int(np.count_nonzero(data == byte)) for byte in style.first_bytes}
    present = [byte for byte, count in counts.items() if count]
    if not (data < 0x20).any():
        if not present:
            return array
        if len(present) <= _ONE_BY_ONE and present[-1] < 0x80:
            grown = sum(counts[byte] * (int(style.sizes[byte]) - 1) for byte in present)
            return _replaced(array, present, len(data) + grown, style)
    suspects = np.flatnonzero(style.suspects(data))
    rare = _rare(data, suspects, style)
    places = suspects[style.sizes[data[suspects]] > 0]
    if len(places):
        array = _widened(array, data, offsets, places, style)
    for character in rare:
        array = pc.replace_substring(array, character, style.escapes[character])
    return array


def _replaced(array: pa.Array, present: list[int], size: int, style: Style) -> pa.Array:
    """The array with these ASCII characters escaped, one after the other, which makes so many bytes of it."""
    if size >= 1 << 31:
        raise OverflowError(_TOO_LONG)
    # the backslash first: it begins the escapes of the others
    for byte in sorted(present, key=lambda byte: byte != _BACKSLASH):
        array = pc.replace_substring(array, chr(byte), style.escapes[chr(byte)])
    return array


def _bytes_of(array: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an array's texts and where each begins and the last ends, from 0."""
    _, ends, values = array.buffers()
    if values is None or not len(array):
        return np.empty(0, dtype=np.uint8), np.zeros(len(array) + 1, dtype=np.int64)
    offsets = np.frombuffer(ends, dtype=np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.frombuffer(values, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return data, offsets - offsets[0]


def _rare(data: npt.NDArray[np.uint8], suspects: npt.NDArray[np.intp], style: Style) -> list[str]:
    """The characters of more than one byte that must be escaped and are there."""
    found = []
    for character in style.escapes:
        if not character.isascii():
            places = suspects
            for i, byte in enumerate(character.encode()):
                places = places[places + i < len(data)]
                places = places[data[places + i] == byte]
            if len(places):
                found.append(character)
    return found


def _widened(
    array: pa.Array,
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    places: npt.NDArray[np.intp],
    style: Style,
) -> pa.Array:
    """The array with the bytes at `places` replaced by their escapes, made at once for the whole column."""
    escaped = data[places]
    sizes = style.sizes[escaped].astype(np.int64)
    grown = np.zeros(len(places) + 1, dtype=np.int64)
    np.cumsum(sizes - 1, out=grown[1:])
    if len(data) + int(grown[-1]) >= 1 << 31:
        raise OverflowError(_TOO_LONG)
    starts = places + grown[:-1]
    out = np.empty(len(data) + int(grown[-1]), dtype=np.uint8)
    keep = np.ones(len(out), dtype=bool)
    for i in range(int(sizes.max())):
        longer = sizes > i
        at = starts[longer] + i
        keep[at] = False
        out[at] = style.cells[escaped[longer], i]
    unescaped = np.ones(len(data), dtype=bool)
    unescaped[places] = False
    out[keep] = data[unescaped]
    ends = (offsets + grown[np.searchsorted(places, offsets)]).astype(np.int32)
    nulls = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return pa.Array.from_buffers(array.type, len(array), [validity(nulls), pa.py_buffer(ends), pa.py_buffer(out)], -1)
