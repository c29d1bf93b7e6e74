"""JSON flavours: which characters a writer escapes, and how. Applied to whole columns, never row by row.

| flavour | U+0000–U+001F | U+007F–U+009F | U+2028, U+2029 | `<` `>` `&` `=` `'` |
| --- | --- | --- | --- | --- |
| FASTJSON2 | `\\b \\t \\n \\f \\r`, `\\u000b` | raw | raw | raw |
| FASTJSON2_RAW_CONTROLS | `\\b \\t \\n \\f \\r`, the rest raw | raw | raw | raw |
| FASTJSON1 | `\\b \\t \\n \\f \\r`, `\\u000B` | `\\u007F` | `\\u2028` | raw |
| JACKSON | `\\b \\t \\n \\f \\r`, `\\u000B` | raw | raw | raw |
| JACKSON_BYTES | as JACKSON; characters above U+FFFF are two escapes: `\\uD83D\\uDE00` | raw | raw | raw |
| HTML_SAFE | `\\b \\t \\n \\f \\r`, `\\u000b` | raw | `\\u2028` | `\\u003c` |

All escape `"` and `\\`, none escapes `/`, and everything else is raw UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.native.program import Cells, cells
from simulator.text.bytewise import Mapped, bytes_of, mapped
from simulator.text.template import Piece, join

SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _codes(*ranges: tuple[int, int], upper: bool = False) -> dict[str, str]:
    form = "\\u{:04X}" if upper else "\\u{:04x}"
    return {chr(code): form.format(code) for low, high in ranges for code in range(low, high + 1)}


def unit_pair(code: int) -> str:
    r"""A code point above U+FFFF as the escapes of its UTF-16 units.

    >>> print(unit_pair(0x1F600))
    \uD83D\uDE00
    """
    return f"\\u{0xD7C0 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"


class _PairsToo(dict[int, str]):
    """A table for `str.translate` that also escapes code points above U+FFFF. Others that it lacks are remembered as
    they are: an exception for each takes longer than all else."""

    def __missing__(self, code: int) -> str:
        if code > 0xFFFF:
            return unit_pair(code)
        self[code] = chr(code)
        return self[code]


@dataclass(frozen=True)
class Style:
    """A flavour: `escapes` maps a character to its escape. With `pairs` each character above U+FFFF is written as the
    escapes of its two UTF-16 units."""

    name: str
    escapes: Mapping[str, str]
    pairs: bool = False
    table: Mapping[int, str] = field(init=False, repr=False, compare=False)
    # First bytes of escaped characters, except controls, which are searched as one range.
    first_bytes: tuple[int, ...] = field(init=False, repr=False, compare=False)
    # Text for each byte of UTF-8, except in escaped characters of several bytes.
    bytes: Cells = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        firsts = {character.encode()[0] for character in self.escapes}
        texts = [self.escapes.get(chr(byte), chr(byte)).encode() for byte in range(128)]
        table = {ord(character): text for character, text in self.escapes.items()}
        object.__setattr__(self, "table", _PairsToo(table) if self.pairs else table)
        object.__setattr__(self, "first_bytes", tuple(sorted(byte for byte in firsts if byte >= 0x20)))
        object.__setattr__(self, "bytes", cells([*texts, *(bytes([byte]) for byte in range(128, 256))]))


_CONTROLS: Final = _codes((0, 0x1F))
# Escapes in documents of MySQL (double_quote) and PostgreSQL (escape_json), for `str.translate`.
ESCAPES: Final = {ord(character): text for character, text in (_CONTROLS | SHORT).items()}
# fastjson2 2.0.31
FASTJSON2: Final = Style("fastjson2", _CONTROLS | SHORT)
# fastjson2 2.0.4: its messages with other controls are not JSON
FASTJSON2_RAW_CONTROLS: Final = Style("fastjson2-raw-controls", SHORT)
# fastjson 1.2.58
FASTJSON1: Final = Style("fastjson1", _codes((0, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), upper=True) | SHORT)
# Jackson with its default settings
JACKSON: Final = Style("jackson", _codes((0, 0x1F), upper=True) | SHORT)
# Jackson where it writes bytes itself (UTF8JsonGenerator, before 2.18)
JACKSON_BYTES: Final = Style("jackson-bytes", JACKSON.escapes, pairs=True)
# Gson with its default HTML-safe escaping
HTML_SAFE: Final = Style(
    "html-safe", _CONTROLS | _codes((0x2028, 0x2029)) | {c: f"\\u{ord(c):04x}" for c in "<>&='"} | SHORT
)
STYLES: Final[Mapping[str, Style]] = {
    style.name: style for style in (FASTJSON2, FASTJSON2_RAW_CONTROLS, FASTJSON1, JACKSON, JACKSON_BYTES, HTML_SAFE)
}


def quote(text: str, style: Style = FASTJSON2) -> str:
    r"""A single string as a JSON string.

    >>> print(quote('a"b\\c/\n\v'))
    "a\"b\\c/\n\u000b"
    """
    return f'"{text.translate(style.table)}"'


def escape(array: pa.Array, style: Style = FASTJSON2) -> pa.Array:
    r"""A column of text, escaped, without surrounding quotes. Null stays null.

    Of a dictionary array only the dictionary is escaped, and it stays one.

    >>> escape(pa.array(["plain", 'a"b', None, "tab\t"])).to_pylist()
    ['plain', 'a\\"b', None, 'tab\\t']
    """
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, escape(array.dictionary, style))
    text = escaped(array, style)
    return join(text, len(array)) if isinstance(text, list) else text


def escaped(array: pa.Array, style: Style = FASTJSON2) -> pa.Array | list[Piece]:
    """The text of `escape`; as pieces if the library can write it."""
    if pa.types.is_dictionary(array.type):
        return escape(array, style)
    data, _ = bytes_of(array)
    raw = data.tobytes()  # in which C looks for a byte, three times as quick as comparing all of them
    present = [byte for byte in style.first_bytes if byte in raw]
    wide = _wide(data, style) if present and present[-1] >= 0x80 else {}
    if style.pairs and data.max(initial=0) >= 0xF0:
        wide |= {character: unit_pair(ord(character)) for character in _above_ffff(data)}
    if data.min(initial=0x20) < 0x20 or (present and present[0] < 0x80):
        if not wide:
            return [Mapped(array, style.bytes)]
        array = mapped(array, style.bytes)
    for character, text in wide.items():
        array = pc.replace_substring(array, character, text)
    return array


def escaped_piece(piece: Piece, style: Style) -> Piece:
    """A piece, escaped. Only pieces that are made byte by byte need it: the others are digits and times."""
    if not isinstance(piece, Mapped):
        return piece
    return replace(piece, table=_escaped_table(piece.table.tobytes(), style.name))


@lru_cache(maxsize=64)
def _escaped_table(table: bytes, style: str) -> Cells:
    rows = (table[start : start + 8] for start in range(0, len(table), 8))
    return cells(row[: row[7]].decode().translate(STYLES[style].table) for row in rows)


def _above_ffff(data: npt.NDArray[np.uint8]) -> list[str]:
    """The different characters of four bytes in UTF-8 text."""
    begins = np.flatnonzero(data >= 0xF0)
    characters = np.unique(data[begins[:, np.newaxis] + np.arange(4)], axis=0)
    return [row.tobytes().decode() for row in characters]


def _wide(data: npt.NDArray[np.uint8], style: Style) -> dict[str, str]:
    """Escapes of the multi-byte characters that occur and must be escaped."""
    begins = np.flatnonzero(np.isin(data, [byte for byte in style.first_bytes if byte >= 0x80]))
    escapes = {}
    for character, text in style.escapes.items():
        if not character.isascii():
            matches = begins
            for i, byte in enumerate(character.encode()):
                matches = matches[matches + i < len(data)]
                matches = matches[data[matches + i] == byte]
            if len(matches):
                escapes[character] = text
    return escapes
