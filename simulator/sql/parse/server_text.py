"""A statement's text as the server's parser reads it: version comments opened, bytes that are not UTF-8 as literals.

Removed text becomes blanks, so offsets in the text stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from simulator.sources.mysql.types import unquote
from simulator.sql.catalog.servers import Server

_QUOTED: Final = r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`"
_COMMENT: Final = r"/\*(M?!)(\d{5,6})?(.*?)\*/"
_OPENED: Final = re.compile(f"{_QUOTED}|{_COMMENT}", re.DOTALL)
_LITERAL: Final = re.compile(r"(?:\b_\w+\s*)?('(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\")", re.DOTALL)
# Bytes that are not UTF-8, as a script is decoded.
NO_TEXT: Final = re.compile("[\udc80-\udcff]")
# MariaDB skips comments for versions that MySQL reached after the fork.
_MYSQL_ONLY: Final = range(50_700, 100_000)


def with_version_comments(sql: str, server: Server) -> str:
    """Open version comments: the text of `/*!50100 … */` belongs to the statement on servers of that version and
    later."""
    if "/*!" not in sql and "/*M!" not in sql:
        return sql

    def opened(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        version = int(match[2] or 0)
        runs = version <= server.version
        if server.mariadb:
            runs = runs and (match[1] == "M!" or version not in _MYSQL_ONLY)
        elif match[1] == "M!":
            runs = False
        content = match[3] if runs else re.sub(r"[^\n]", " ", match[3])
        return " " * (len(match[0]) - len(content) - 2) + content + "  "

    return _OPENED.sub(opened, sql)


def with_literal_bytes(sql: str) -> str:
    """Replace strings with bytes that are not UTF-8, as in dumps, by `x'…'`."""
    if NO_TEXT.search(sql) is None:
        return sql

    def literal(match: re.Match[str]) -> str:
        if NO_TEXT.search(match[1]) is None:
            return match[0]
        return f"x'{raw_bytes(unquote(match[1])).hex()}'"

    return _LITERAL.sub(literal, sql)


_STRING: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`", re.DOTALL)


def by_mode(sql: str, modes: Set[str]) -> str:
    """Rewrite a statement typed under NO_BACKSLASH_ESCAPES or ANSI_QUOTES for the default mode."""
    if "NO_BACKSLASH_ESCAPES" in modes and "\\" in sql:
        sql = _STRING.sub(lambda match: match[0] if match[0][0] == "`" else match[0].replace("\\", "\\\\"), sql)
    if "ANSI_QUOTES" in modes and '"' in sql:
        sql = re.sub(_QUOTED, _as_name, sql, flags=re.DOTALL)
    return sql


def _as_name(match: re.Match[str]) -> str:
    if match[0][0] != '"':
        return match[0]
    return "`" + match[0][1:-1].replace('""', '"').replace("`", "``") + "`"


def raw_bytes(text: str) -> bytes:
    """The bytes of the file behind a decoded text."""
    return text.encode("utf-8", "surrogateescape")
