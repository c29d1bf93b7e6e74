"""Statements of PostgreSQL, Oracle and SQL Server as words, with the text that was typed.

Only what defines tables is read, and trees of it would lose the spelling of types, which the sources read themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simulator.errors import UsageError, short
from simulator.sql.parse.cursor import Cursor, Word

POSTGRESQL: Final = "postgresql"
ORACLE: Final = "oracle"
SQLSERVER: Final = "sqlserver"

_BLANKS: Final = r"\s+|--[^\n]*"
_BLOCK: Final = re.compile(r"/\*|\*/")
_PARTS: Final = (
    r"(?P<text>[eE]'(?:[^'\\]|\\.|'')*'|[qQ]'\[.*?\]'|[qQ]'\{.*?\}'|[qQ]'\(.*?\)'|(?:[nNbBxX]|[uU]&)?'(?:[^']|'')*'"
    r"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"
)
_REST: Final = r"|(?P<word>[\w$#@\u0080-\uffff]+)|(?P<mark>::|.)"
_PATTERNS: Final = {
    dialect: re.compile(_PARTS + rf"|(?P<name>{names})" + _REST, re.DOTALL)
    for dialect, names in {
        POSTGRESQL: r'"(?:[^"]|"")+"',
        ORACLE: r'"(?:[^"]|"")+"',
        SQLSERVER: r'"(?:[^"]|"")+"|\[(?:[^\]]|\]\])+\]',
    }.items()
}
_SKIPPED: Final = re.compile(_BLANKS)
# Lines for the client: psql's backslash commands, the slash of SQL*Plus, GO of sqlcmd.
_CLIENT: Final = {
    POSTGRESQL: re.compile(r"^\\.*$", re.MULTILINE),
    ORACLE: re.compile(r"^[ \t]*/[ \t]*$", re.MULTILINE),
    SQLSERVER: re.compile(r"^[ \t]*GO[ \t]*\d*[ \t]*;?[ \t]*$", re.MULTILINE | re.IGNORECASE),
}
# Statements of SQL Server need no semicolon: one begins on a line of its own.
_BEGINS: Final = (
    "CREATE", "ALTER", "INSERT", "SET", "USE", "EXEC", "EXECUTE", "PRINT", "IF", "GRANT", "DROP", "COMMIT",
    "DECLARE",
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """The words of a statement of a file; `line` is that of its first word, from 1."""

    file: str
    words: list[Word]
    line: int

    @property
    def text(self) -> str:
        return short(" ".join(self.file[self.words[0].start : self.words[-1].end].split()))


def statements(text: str, dialect: str) -> Iterator[Statement]:
    """The statements of a file; lines for the client end one."""
    text = _CLIENT[dialect].sub(lambda line: ";".ljust(len(line[0])), text)
    words: list[Word] = []
    depth = line = counted = 0
    for word in _words(text, dialect):
        depth += word.brackets_opened
        alone = dialect == SQLSERVER and depth == 0 and word.upper in _BEGINS and _is_first(text, word.start)
        if words and (alone or word.upper == ";"):
            line += text.count("\n", counted, words[0].start)
            counted = words[0].start
            yield Statement(text, words, line + 1)
            words, depth = [], 0
        if word.upper != ";":
            words.append(word)
    if words:
        yield Statement(text, words, line + 1 + text.count("\n", counted, words[0].start))


def _is_first(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _words(text: str, dialect: str) -> Iterator[Word]:
    position, end, pattern = 0, len(text), _PATTERNS[dialect]
    while position < end:
        if skipped := _SKIPPED.match(text, position):
            position = skipped.end()
        elif text.startswith("/*", position):
            position = _after_comment(text, position)
        elif match := pattern.match(text, position):
            position = match.end()
            kind = "text" if match.lastgroup == "tag" else match.lastgroup or "mark"
            value = match[0]
            if kind == "name":
                value = value[1:-1].replace(value[-1] * 2, value[-1])
            yield Word(kind, value, match.start(), position)


def _after_comment(text: str, start: int) -> int:
    """The end of a comment, which may have others inside."""
    depth = 0
    for mark in _BLOCK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    return len(text)


def plain_text(value: str) -> str:
    """The characters of a text in quotes.

    >>> plain_text("N'it''s'"), plain_text("'a'")
    ("it's", 'a')
    """
    return value[value.find("'") + 1 : -1].replace("''", "'")


class Reader(Cursor):
    """A position in the words of a statement, or of a part of it."""

    def __init__(self, file: str, words: Sequence[Word]) -> None:
        super().__init__(words)
        self.file = file

    @property
    def next(self) -> Word | None:
        return None if self.done else self.words[self.position]

    def skip_to(self, *upper: str) -> bool:
        """Goes on to one of these words outside of brackets; to the end if there is none."""
        while not self.done and self.upper not in upper:
            self.group() if self.peek("(") else self.skip()
        return not self.done

    def skip(self) -> Word | None:
        word = self.next
        self.position += 1
        return word

    def group(self) -> Reader:
        """The words between brackets that begin here. Raises UsageError if they do not end."""
        self.position += 1
        start, depth = self.position, 1
        while not self.done:
            depth += {"(": 1, ")": -1}.get(self.upper, 0)
            self.position += 1
            if not depth:
                return Reader(self.file, self.words[start : self.position - 1])
        raise UsageError("its brackets do not end")

    def parts(self) -> Iterator[Reader]:
        """The parts between commas outside of brackets."""
        while not self.done:
            start = self.position
            self.skip_to(",")
            yield Reader(self.file, self.words[start : self.position])
            self.position += 1

    def until(self, stops: frozenset[str]) -> str:
        """The text of the next word and all behind it up to one of `stops` outside of brackets."""
        start = self.position
        self.group() if self.peek("(") else self.skip()
        while not self.done and self.upper not in stops:
            self.group() if self.peek("(") else self.skip()
        return self.text(start)

    def text(self, start: int = 0) -> str:
        """The text of the words from `start` to here, or of all."""
        words = self.words[start : self.position] if self.position > start else self.words[start:]
        return " ".join(self.file[words[0].start : words[-1].end].split()) if words else ""
