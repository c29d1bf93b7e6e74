"""Edits of single values: damage, unknown columns, missing members. Each is a function of the value and a draw."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import Final

OVERSIZED_BYTES: Final = 1_000_000
UNREGISTERED: Final = 0x7FFFFFFF
PLACEHOLDER: Final = "__debezium_unavailable_value"
# Begins of members that hold a row as an object, or rows as a list of objects; only of rows after the change.
_ROW: Final = re.compile(rb'(?<!\\)"(?:after|data|postStruct|afterImage|after_image)"\s*:\s*\[?\{')
_OLD: Final = re.compile(rb'(?<!\\)"(?:old|before|prevStruct|beforeImage)"\s*:\s*(?=\{[^}]|\[[^\]])')
_TEXT: Final = re.compile(rb'(?<!\\)"[^"\\]+":("(?:[^"\\]|\\.){8,}")')
_QUOTE: Final = re.compile(rb'(?<!\\)(?:\\\\)*"')
_DECODER: Final = JSONDecoder(strict=False)


def truncated(value: bytes, draw: int) -> bytes | None:
    """The value cut at a drawn byte, but not within a UTF-8 character."""
    if len(value) < 2:
        return None
    end = 1 + draw % (len(value) - 1)
    while end > 1 and value[end] & 0xC0 == 0x80:
        end -= 1
    return value[:end]


def malformed_text(value: bytes, draw: int) -> bytes | None:
    """JSON with one quote removed."""
    quotes = [match.end() - 1 for match in _QUOTE.finditer(value)]
    if not quotes:
        return None
    quote = quotes[draw % len(quotes)]
    return value[:quote] + value[quote + 1 :]


def malformed_bytes(value: bytes, draw: int) -> bytes | None:
    """The value with eight consecutive bytes inverted."""
    if not value:
        return None
    offset = draw % len(value)
    return value[:offset] + bytes(byte ^ 0xFF for byte in value[offset : offset + 8]) + value[offset + 8 :]


def oversized(value: bytes, draw: int) -> bytes | None:
    """JSON padded with blanks to `OVERSIZED_BYTES`."""
    missing = OVERSIZED_BYTES - len(value)
    return value[:1] + b" " * missing + value[1:] if missing > 0 and value[:1] == b"{" else None


def compact(value: bytes) -> bytes:
    """The value without the padding of `oversized`."""
    return value[:1] + value[1:].lstrip(b" ") if value[:1] == b"{" else value


def unknown_column(value: bytes, draw: int) -> bytes | None:
    return _with_column(value, b'"cdcsim_unknown":"%d"' % (draw % 1000))


def unknown_type(value: bytes, draw: int) -> bytes | None:
    return _with_column(value, b'"cdcsim_unknown":{"a":[%d]}' % (draw % 1000))


def _with_column(value: bytes, member: bytes) -> bytes | None:
    match = _ROW.search(value)
    if match is None:
        return None
    remainder = value[match.end() :]
    return value[: match.end()] + member + (b"" if remainder.startswith(b"}") else b",") + remainder


def missing_old(value: bytes, draw: int) -> bytes | None:
    """The value with null in place of the before image or the old values."""
    match = _OLD.search(value)
    end = None if match is None else _end(value, match.end())
    return None if match is None or end is None else value[: match.end()] + b"null" + value[end:]


def unavailable(value: bytes, draw: int) -> bytes | None:
    """The value with the placeholder in place of the longest text of a row."""
    row = _ROW.search(value)
    end = None if row is None else _end(value, row.end() - 1)
    if row is None or end is None:
        return None
    longest = max(_TEXT.finditer(value, row.end() - 1, end), key=lambda match: len(match[1]), default=None)
    if longest is None:
        return None
    return value[: longest.start(1)] + b'"%s"' % PLACEHOLDER.encode() + value[longest.end(1) :]


def _end(value: bytes, start: int) -> int | None:
    """The end of the JSON value that begins at a byte; None if it does not end."""
    text = value[start:].decode("utf-8", "surrogateescape")
    try:
        _, end = _DECODER.raw_decode(text)
    except JSONDecodeError:
        return None
    return start + len(text[:end].encode("utf-8", "surrogateescape"))


def wrong_schema_id(value: bytes, draw: int) -> bytes | None:
    """The framed value with another schema id."""
    return value[:1] + (UNREGISTERED - draw % 1000).to_bytes(4) + value[5:] if value[:1] == b"\0" else None


def edits(*, binary: bool) -> Mapping[str, Callable[[bytes, int], bytes | None]]:
    """Edits of values, by fault: for binary values, or for JSON."""
    if binary:
        return {"truncated": truncated, "malformed": malformed_bytes, "wrong-schema-id": wrong_schema_id}
    return {
        "truncated": truncated,
        "malformed": malformed_text,
        "oversized": oversized,
        "unknown-column": unknown_column,
        "unknown-type": unknown_type,
        "missing-old": missing_old,
        "unavailable": unavailable,
    }
