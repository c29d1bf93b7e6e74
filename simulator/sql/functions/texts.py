"""Functions on texts and bytes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from simulator.sql.functions.arguments import whole
from simulator.sql.values.documents import MISSING
from simulator.sql.values.kinds import bytes_of, text_of


def sql_like(first: Any, made: Callable[[Any], Any]) -> Any:
    """Bytes for bytes, text for all else."""
    return made(bytes_of(first)) if isinstance(first, bytes) else made(text_of(first))


def concat(session: Any, *values: Any) -> Any:
    if any(isinstance(value, bytes) for value in values):
        return b"".join(bytes_of(value) for value in values)
    return "".join(text_of(value) for value in values)


def sql_concat_ws(session: Any, separator: Any, *values: Any) -> Any:
    return None if separator is None else text_of(separator).join(text_of(v) for v in values if v is not None)


def sql_repeat(session: Any, value: Any, times: Any) -> Any:
    count = max(0, whole(times))
    if count * len(text_of(value)) > 1 << 26:
        return None
    return sql_like(value, lambda text: text * count)


def sql_substring(session: Any, value: Any, start: Any, length: Any = MISSING) -> Any:
    def cut(text: Any) -> Any:
        first = whole(start)
        begin = first - 1 if first > 0 else len(text) + first if first < 0 else len(text)
        if begin < 0:
            return text[:0]
        return text[begin:] if length is MISSING else text[begin : begin + max(0, whole(length))]

    return sql_like(value, cut)


def sql_trim(session: Any, value: Any, characters: Any = " ", position: str = "BOTH") -> Any:
    text, blank = text_of(value), text_of(characters)
    while position in ("BOTH", "LEADING") and blank and text.startswith(blank):
        text = text[len(blank) :]
    while position in ("BOTH", "TRAILING") and blank and text.endswith(blank):
        text = text[: -len(blank)]
    return text


def pad(session: Any, value: Any, length: Any, fill: Any, left: bool) -> Any:
    text, wanted, filler = text_of(value), whole(length), text_of(fill)
    if wanted <= len(text):
        return text[: max(0, wanted)]
    if not filler:
        return ""
    more = (filler * (wanted // len(filler) + 1))[: wanted - len(text)]
    return more + text if left else text + more


def sql_hex(session: Any, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bytes):
        return f"{value & (1 << 64) - 1:X}"
    if isinstance(value, float | Decimal):
        return f"{whole(value) & (1 << 64) - 1:X}"
    return bytes_of(value).hex().upper()


def sql_unhex(session: Any, value: Any) -> Any:
    text = text_of(value)
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text)
    except ValueError:
        return None


def sql_char(session: Any, *values: Any) -> bytes:
    out = b""
    for value in values:
        if value is not None:
            number = whole(value) & 0xFFFFFFFF
            out += number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return out


def sql_locate(session: Any, needle: Any, text: Any, start: Any = 1) -> int:
    return text_of(text).upper().find(text_of(needle).upper(), whole(start) - 1) + 1
