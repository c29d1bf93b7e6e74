"""Functions on texts and bytes."""

from __future__ import annotations

import base64
import binascii
import re
import warnings
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.system_variables import system_variables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions.arguments import integer_of
from simulator.sql.values.documents import Document
from simulator.sql.values.json_paths import MISSING
from simulator.sql.values.kinds import bytes_of, is_number, text_of
from simulator.sql.values.temporal import Temporal

_UUID: Final = re.compile(r"\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?", re.I)


def on_text_or_bytes(value: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to the bytes of a binary string, to the text of any other value."""
    return function(bytes_of(value)) if isinstance(value, bytes) else function(text_of(value))


def joined(separator: Any, values: Iterable[Any]) -> Any:
    """The concatenated texts; bytes if one of the values is bytes."""
    parts = list(values)
    if any(isinstance(value, bytes) for value in (separator, *parts)):
        return bytes_of(separator).join(map(bytes_of, parts))
    return text_of(separator).join(map(text_of, parts))


def _too_long(session: Any, function: str, length: int) -> bool:
    """Whether a result exceeds max_allowed_packet, so it is NULL with a warning. Raises SqlError 1301 in a strict
    INSERT."""
    maximum = int(system_variables(session.server)["max_allowed_packet"].value or 0)
    if length > maximum and session.statement.refuses_texts:
        raise SqlError(1301, function, maximum)
    if length > maximum:
        session.statement.warnings.append(
            f"the result of {function}() is longer than max_allowed_packet ({maximum}), so it is NULL"
        )
    return length > maximum


def concat(session: Any, *values: Any) -> Any:
    text = joined("", values)
    if len(text) > 1 << 20 and _too_long(session, "concat", len(bytes_of(text))):
        return None
    return text


def concat_ws(session: Any, separator: Any, *values: Any) -> Any:
    return None if separator is None else joined(separator, [value for value in values if value is not None])


def repeat(session: Any, value: Any, times: Any) -> Any:
    count = max(0, integer_of(times))
    if _too_long(session, "repeat", count * len(bytes_of(value))):
        return None
    return on_text_or_bytes(value, lambda text: text * count)


def right(session: Any, value: Any, count: Any) -> Any:
    return on_text_or_bytes(value, lambda text: text[max(0, len(text) - integer_of(count)) :])


def substring(session: Any, value: Any, start: Any, length: Any = MISSING) -> Any:
    def cut(text: Any) -> Any:
        first = integer_of(start)
        begin = first - 1 if first > 0 else len(text) + first if first < 0 else len(text)
        if begin < 0:
            return text[:0]
        return text[begin:] if length is MISSING else text[begin : begin + max(0, integer_of(length))]

    return on_text_or_bytes(value, cut)


def substring_index(session: Any, value: Any, delimiter: Any, count: Any) -> str:
    text, mark, number = text_of(value), text_of(delimiter), integer_of(count)
    if not mark or not number:
        return ""
    parts = text.split(mark)
    return mark.join(parts[:number] if number > 0 else parts[number:])


def trim(session: Any, value: Any, characters: Any = " ", position: str = "BOTH") -> Any:
    text, blank = text_of(value), text_of(characters)
    while position in ("BOTH", "LEADING") and blank and text.startswith(blank):
        text = text[len(blank) :]
    while position in ("BOTH", "TRAILING") and blank and text.endswith(blank):
        text = text[: -len(blank)]
    return text


def pad(session: Any, value: Any, length: Any, fill: Any, left: bool) -> Any:
    text, size, filler = text_of(value), integer_of(length), text_of(fill)
    if size < 0 or _too_long(session, "lpad" if left else "rpad", size * (1 if isinstance(value, bytes) else 4)):
        return None
    if size <= len(text):
        return text[:size]
    if not filler:
        return "" if session.server.id == "mysql-8.0" else None
    padding = (filler * (size // len(filler) + 1))[: size - len(text)]
    return padding + text if left else text + padding


def replace(session: Any, value: Any, old: Any, new: Any) -> Any:
    if any(isinstance(argument, bytes) for argument in (value, old, new)):
        return bytes_of(value).replace(bytes_of(old), bytes_of(new)) if bytes_of(old) else bytes_of(value)
    return text_of(value).replace(text_of(old), text_of(new)) if text_of(old) else text_of(value)


def insert(session: Any, value: Any, position: Any, length: Any, new: Any) -> Any:
    text, first, count = text_of(value), integer_of(position), integer_of(length)
    if not 1 <= first <= len(text):
        return text
    end = first - 1 + count if 0 <= count <= len(text) - first else len(text)
    return text[: first - 1] + text_of(new) + text[end:]


def to_hex(session: Any, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bytes):
        return f"{value & (1 << 64) - 1:X}"
    if isinstance(value, float | Decimal):
        return f"{integer_of(value) & (1 << 64) - 1:X}"
    return bytes_of(value).hex().upper()


def unhex(session: Any, value: Any) -> Any:
    text = text_of(value)
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text)
    except ValueError:
        return None


def char(*values: Any) -> bytes:
    data = b""
    for value in values:
        if isinstance(value, Temporal | Document) or (isinstance(value, str) and not is_number(value)):
            raise Unsupported("CHAR() of a value that is no number")
        if value is not None:
            number = integer_of(value) & 0xFFFFFFFF
            data += number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return data


def locate(session: Any, needle: Any, text: Any, start: Any = 1) -> int:
    first = integer_of(start)
    if first < 1:
        return 0
    if isinstance(needle, bytes) or isinstance(text, bytes):
        return bytes_of(text).find(bytes_of(needle), first - 1) + 1
    return text_of(text).upper().find(text_of(needle).upper(), first - 1) + 1


def find_in_set(session: Any, needle: Any, members: Any) -> int:
    parts = [part.upper() for part in text_of(members).split(",")] if text_of(members) else []
    word = text_of(needle).upper()
    return parts.index(word) + 1 if word in parts else 0


def quote(session: Any, value: Any) -> str:
    if value is None:
        return "NULL"
    escapes = {"\\": "\\\\", "'": "\\'", "\0": "\\0", "\x1a": "\\Z"}
    return "'" + "".join(escapes.get(c, c) for c in text_of(value)) + "'"


def to_base64(session: Any, value: Any) -> str:
    text = base64.b64encode(bytes_of(value)).decode()
    return "\n".join(text[i : i + 76] for i in range(0, len(text), 76))


def from_base64(session: Any, value: Any) -> Any:
    try:
        return base64.b64decode(re.sub(r"\s", "", text_of(value)), validate=True)
    except binascii.Error:
        return None


def _uuid_parts(value: Any, function: str) -> tuple[str, ...]:
    match = _UUID.fullmatch(text_of(value))
    if match is None:
        raise SqlError(1411, "string", text_of(value), function)
    return match.groups()


def uuid_to_bin(session: Any, value: Any, swap: Any = 0) -> bytes:
    low, mid, high, *tail = _uuid_parts(value, "uuid_to_bin")
    return bytes.fromhex("".join((high, mid, low, *tail) if integer_of(swap) else (low, mid, high, *tail)))


def bin_to_uuid(session: Any, value: Any, swap: Any = 0) -> str:
    raw = bytes_of(value).hex()
    if len(raw) != 32:
        raise SqlError(1411, "string", text_of(value), "bin_to_uuid")
    if integer_of(swap):
        raw = raw[8:16] + raw[4:8] + raw[:4] + raw[16:]
    return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"


# ------------------------------------------------------------------------------------------------- regular expressions


def pattern_of(session: Any, pattern: Any, ignores_case: bool | None = None) -> re.Pattern[str]:
    """A pattern of ICU or PCRE as a Python pattern. Raises Unsupported if Python has no equivalent."""
    if ignores_case is None:
        ignores_case = not str(session.connection.collation).endswith("_bin")
    options = re.IGNORECASE if ignores_case else re.RegexFlag(0)
    return _compiled(text_of(pattern), options, session.server.id)


@lru_cache(maxsize=256)
def _compiled(pattern: str, options: re.RegexFlag, server: str) -> re.Pattern[str]:
    if re.search(r"(?:^|[^\w\])])\{|\{(?!\d+(?:,\d*)?\})", pattern):
        raise Unsupported(f"the regular expression {pattern!r}")
    text = re.sub(r"\[\[:(\w+):\]\]", lambda match: _CLASSES.get(match[1], match[0]), pattern)
    text = re.sub(r"\[:(\w+):\]", lambda match: _CLASSES.get(match[1], match[0]).strip("[]"), text)
    text = text.replace("[[:<:]]", r"\b").replace("[[:>:]]", r"\b")
    try:
        with warnings.catch_warnings():
            # nested sets, which ICU supports; in PCRE and Python they are plain characters
            warnings.simplefilter("error" if server == "mysql-8.0" else "ignore", FutureWarning)
            return re.compile(text, options)
    except (re.error, FutureWarning):
        raise Unsupported(f"the regular expression {pattern!r}") from None


_CLASSES: Final = {
    "alpha": "[A-Za-z]", "digit": "[0-9]", "alnum": "[A-Za-z0-9]", "upper": "[A-Z]", "lower": "[a-z]", "space": r"[\s]",
    "punct": r"[!-/:-@\[-`{-~]", "xdigit": "[0-9A-Fa-f]", "blank": r"[ \t]",
}  # fmt: skip


def regexp_like(session: Any, value: Any, pattern: Any) -> int:
    return int(pattern_of(session, pattern).search(text_of(value)) is not None)


def regexp_replace(session: Any, value: Any, pattern: Any, new: Any) -> str:
    template = text_of(new)
    template = template if session.server.mariadb else re.sub(r"\$(\d)", r"\\\1", template)
    return pattern_of(session, pattern).sub(template, text_of(value))


def in_charset(value: Any, charset: str) -> Any:
    """CONVERT(x USING charset)."""
    if charset == "binary":
        return bytes_of(value)
    codec = mysql_table.CHARSETS[charset][1]
    if isinstance(value, bytes):
        return bytes(value).decode(codec, "replace")
    text = text_of(value)
    return text.encode(codec, "replace").decode(codec) if not charset.startswith("utf8mb4") else text
