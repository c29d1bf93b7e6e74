r"""Splits a script as `psql` does: statements, the rows that follow COPY … FROM stdin, and meta-commands.

Statements end at `;` outside quotes, dollar quotes, comments, brackets and the body of BEGIN ATOMIC. Comments before a
statement are no part of it. Comment lines that begin with `-- @` and a word are meta-comments for the simulator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.sql.parse.client import META, Meta, Statement, is_meta

_TOKEN: Final = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\* )
    | (?P<quoted> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
        | \$(?P<tag>(?:[A-Za-z_\u0080-\uffff][\w]*)?)\$.*?\$(?P=tag)\$ )
    | (?P<word> [A-Za-z_\u0080-\uffff][\w$]* )
    | (?P<mark> [;()\\] )
    | (?P<blank> \s+ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_ENDS: Final = re.compile(r"/\*|\*/")
_COPY: Final = re.compile(r"copy\b.*\bfrom\s+stdin\b", re.IGNORECASE | re.DOTALL)
_ROUTINE: Final = re.compile(r"create\s+(or\s+replace\s+)?(function|procedure)\b", re.IGNORECASE)
_DATA_END: Final = re.compile(r"^\\\.[ \t]*\r?(\n|\Z)", re.MULTILINE)
# pg_dump writes these to stop psql from running injected meta-commands.
_PASSED_OVER: Final = re.compile(r"\\(un)?restrict\b")


@dataclass(frozen=True, slots=True)
class Copy(Statement):
    """COPY … FROM stdin with the lines of its rows."""

    data: str


@dataclass(frozen=True, slots=True)
class MetaCommand(Statement):
    r"""A meta-command of `psql`, such as `\connect shop`."""


def split(script: str) -> Iterator[Statement | Meta]:
    """The statements, meta-commands and meta-comments of a script in order."""
    position, line, start, start_line = 0, 1, -1, 0
    brackets = blocks = 0
    while match := _TOKEN.match(script, position):
        kind, text, begin = match.lastgroup, match[0], position
        kind = "quoted" if kind == "tag" else kind
        position, token_line = match.end(), line
        if text == "/*":
            position = _comment_end(script, position)
        if kind == "comment" and start < 0:
            meta = META.match(script[begin:position])
            if meta and is_meta(meta[1]):
                yield Meta(meta[1], meta[2], token_line)
        elif text == "\\" and kind == "mark":
            position = len(script) if (end := script.find("\n", position)) < 0 else end
            command = script[begin:position].strip()
            if not _PASSED_OVER.match(command):
                yield MetaCommand.of(command, token_line)
        elif kind not in ("blank", "comment") and not (start < 0 and text == ";"):
            if start < 0:
                start, start_line = begin, token_line
            if kind == "word" and text.lower() in ("begin", "case", "end") and _ROUTINE.match(script, start):
                blocks = max(0, blocks + (1 if text.lower() != "end" else -1))
            brackets = max(0, brackets + {"(": 1, ")": -1}.get(text, 0)) if kind == "mark" else brackets
            if text == ";" and not brackets and not blocks:
                statement = script[start:begin].strip()
                start = -1
                if _COPY.match(statement):
                    position, data = _data(script, position)
                    yield Copy(statement.encode("utf-8", "surrogateescape"), start_line, data)
                else:
                    yield Statement.of(statement, start_line)
        line += script.count("\n", begin, position)
    if start >= 0:
        yield Statement.of(script[start:].strip(), start_line)


def _comment_end(script: str, position: int) -> int:
    """The offset after a comment, which may contain nested comments."""
    depth = 1
    while depth and (match := _COMMENT_ENDS.search(script, position)):
        depth += 1 if match[0] == "/*" else -1
        position = match.end()
    return len(script) if depth else position


def _data(script: str, position: int) -> tuple[int, str]:
    r"""The lines after a COPY up to `\.`, and the offset after them."""
    begin = len(script) if (end := script.find("\n", position)) < 0 else end + 1
    end_mark = _DATA_END.search(script, begin)
    return (len(script), script[begin:]) if end_mark is None else (end_mark.end(), script[begin : end_mark.start()])
