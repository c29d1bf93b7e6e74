"""Splits a script as the `mysql` client does: statements with the bytes that reach the server, and their lines.

The client cuts at `;` outside quotes and comments, sends a comment line before a statement separately (it is no part of
the statement), keeps comments inside a statement and the one after its `;`, and inserts a blank after an inline comment
that is not followed by one (client/mysql.cc, add_line, with comments kept). The server then strips blanks and
semicolons from both ends. `DELIMITER` is a command of the client: it sets the delimiter from the next line on.

Comment lines that begin with `-- @` and a word are meta-comments for the simulator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.errors import closest

META: Final = re.compile(r"--\s*@(\w+)\b[ \t]*(.*?)\s*\Z", re.DOTALL)
_BLANK: Final = " \t\n\r\v\f"
_DELIMITER: Final = re.compile(r"delimiter[ \t]+(\S+)", re.IGNORECASE)
_IN_QUOTES: Final = {quote: re.compile(rf"[{quote}\\]" if quote != "`" else "`") for quote in "'\"`"}
# Text without special characters, and quoted texts that end on their line.
_PLAIN: Final = re.compile(
    r"""(?:[^'"`#\\\-/;dD]++|'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|`[^`]*+`)++"""
)
# The words of meta-comments; after `-- @` any other word makes a plain comment.
WORDS: Final = ("at", "engine", "heartbeat", "snapshot", "step", "source", "user")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as the server receives it, and the line (from 1) of its first word. The text is kept encoded: one
    emoji would make every character of a dump take four bytes in memory."""

    encoded: bytes
    line: int

    @classmethod
    def of(cls, text: str, line: int) -> Statement:
        return cls(text.encode("utf-8", "surrogateescape"), line)

    @property
    def text(self) -> str:
        return self.encoded.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Meta:
    """A meta-comment: `-- @at 2024-05-01T10:00:00Z` is the word `at` with its argument."""

    word: str
    argument: str
    line: int


class _Splitter:
    def __init__(self) -> None:
        self.buffer: list[str] = []
        self.line = 0  # of the current statement
        self.quote = ""
        self.comment = False  # inside /* */
        self.cut_at(";")

    def cut_at(self, delimiter: str) -> None:
        self.delimiter = delimiter
        # Where a line needs a closer look: quotes, comments, escapes, the delimiter.
        self.mark = re.compile(rf"{re.escape(delimiter)}|['\"`#\\]|--|/\*|\bdelimiter[ \t]", re.IGNORECASE)

    def add(self, text: str, number: int) -> None:
        if text:
            if not self.line and text.strip(_BLANK):
                self.line = number
            self.buffer.append(text)

    def flush(self) -> Statement | None:
        text = "".join(self.buffer).strip(_BLANK + ";")
        line, self.line = self.line, 0
        self.buffer.clear()
        return Statement.of(text, line) if text else None


def is_meta(word: str) -> bool:
    """Whether the word belongs to a meta-comment, or to a misspelt one, which is reported later."""
    return word in WORDS or closest(word, WORDS) is not None


def split(script: str | bytes) -> Iterator[Statement | Meta]:
    """The statements and meta-comments of a script in order."""
    state = _Splitter()
    content = script.encode("utf-8", "surrogateescape") if isinstance(script, str) else script
    for number, line in enumerate(_lines(content), 1):
        yield from _line(state, line.removesuffix("\r"), number)
    statement = state.flush()
    if statement is not None:
        yield statement


def _lines(content: bytes) -> Iterator[str]:
    """The lines, decoded one by one; a dump may contain raw bytes of BLOBs."""
    position = 0
    while position <= len(content):
        end = content.find(b"\n", position)
        end = len(content) if end < 0 else end
        yield content[position:end].decode("utf-8", "surrogateescape")
        position = end + 1


def _line(state: _Splitter, line: str, number: int) -> Iterator[Statement | Meta]:
    if not line and not state.buffer:
        return
    position, end, blank_due = 0, len(line), False
    while position < end:
        if blank_due:
            if line[position] not in _BLANK:
                state.add(" ", number)
            blank_due = False
        if state.comment:
            close = line.find("*/", position)
            stop = end if close < 0 else close + 2
            state.add(line[position:stop], number)
            position = stop
            if close >= 0:
                state.comment, blank_due = False, True
            continue
        if not state.quote and state.delimiter == ";" and (unmarked := _PLAIN.match(line, position, end)):
            state.add(unmarked[0], number)
            position = unmarked.end()
            if position == end:
                break
        pattern = _IN_QUOTES[state.quote] if state.quote else state.mark
        match = pattern.search(line, position)
        if match is None:
            state.add(line[position:], number)
            break
        mark = match.start()
        state.add(line[position:mark], number)
        text = match[0]
        position = match.end()
        if text == "\\":
            state.add(line[mark : mark + 2], number)
            position = mark + 2
        elif state.quote:
            state.add(text, number)
            state.quote = ""
        elif text == state.delimiter:
            while position < end and line[position] in _BLANK:
                position += 1
            if line.startswith("#", position) or re.match(r"--(?:\s|\Z)", line[position:]):
                meta = META.match(line[position:])
                if meta and is_meta(meta[1]):
                    statement = state.flush()
                    if statement is not None:
                        yield statement
                    yield Meta(meta[1], meta[2], number)
                    return
                state.add(" " + line[position:], number)
                position = end
            statement = state.flush()
            if statement is not None:
                yield statement
        elif text in "'\"`":
            state.add(text, number)
            state.quote = text
        elif command := _DELIMITER.match(line, mark):
            statement = state.flush()
            if statement is not None:
                yield statement
            state.cut_at(command[1])
            return
        elif text == "#" or (text == "--" and (mark + 2 >= end or line[mark + 2] in _BLANK or not state.buffer)):
            if not "".join(state.buffer).strip(_BLANK):
                # a separate comment is sent on its own, so it is no part of the next statement
                state.flush()
                meta = META.match(line[mark:])
                if meta and is_meta(meta[1]):
                    yield Meta(meta[1], meta[2], number)
                return
            state.add(line[mark:], number)
            break
        elif text == "/*" and line[mark + 2 : mark + 3] not in ("!", "+"):
            state.comment = True
            state.add(text, number)
        else:
            state.add(text, number)
    if state.buffer:
        state.add("\n", number)
