"""Statements of PostgreSQL, Oracle and SQL Server as words, with the text that was typed.

Only what defines tables is read, and trees of it would lose the spelling of types, which the sources read themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulator.errors import UsageError, short

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


@dataclass(frozen=True, slots=True)
class Word:
    """`kind` is word, name (in quotes), text, or mark; `value` is a name without quotes, a text with them."""

    kind: str
    value: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        return self.value.upper() if self.kind in ("word", "mark") else ""


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
        depth += (word.value == "(") - (word.value == ")") if word.kind == "mark" else 0
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
    at, end, pattern = 0, len(text), _PATTERNS[dialect]
    while at < end:
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
        elif text.startswith("/*", at):
            at = _after_comment(text, at)
        elif match := pattern.match(text, at):
            at = match.end()
            kind = "text" if match.lastgroup == "tag" else match.lastgroup or "mark"
            value = match[0]
            if kind == "name":
                value = value[1:-1].replace(value[-1] * 2, value[-1])
            yield Word(kind, value, match.start(), at)


def _after_comment(text: str, at: int) -> int:
    """The end of a comment, which may have others inside."""
    depth = 0
    for mark in _BLOCK.finditer(text, at):
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


class Reader:
    """A position in the words of a statement, or of a part of it."""

    def __init__(self, file: str, words: list[Word]) -> None:
        self.file, self.words, self.at = file, words, 0

    @property
    def next(self) -> Word | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def is_next(self, *upper: str) -> bool:
        """Whether these words follow."""
        following = self.words[self.at : self.at + len(upper)]
        return len(following) == len(upper) and all(
            word.upper == one for word, one in zip(following, upper, strict=True)
        )

    def take(self, *upper: str) -> bool:
        """Goes on behind these words, if they follow."""
        if not self.is_next(*upper):
            return False
        self.at += len(upper)
        return True

    def take_one_of(self, *upper: str) -> str:
        """Goes on behind one of these words, "" if none follows."""
        return next((word for word in upper if self.take(word)), "")

    def skip_to(self, *upper: str) -> bool:
        """Goes on to one of these words outside of brackets; to the end if there is none."""
        while self.next is not None and self.next.upper not in upper:
            self.group() if self.is_next("(") else self.skip()
        return self.next is not None

    def skip(self) -> Word | None:
        word = self.next
        self.at += 1
        return word

    def group(self) -> Reader:
        """The words between brackets that begin here. Raises UsageError if they do not end."""
        self.at += 1
        start, depth = self.at, 1
        while self.next is not None:
            depth += {"(": 1, ")": -1}.get(self.next.upper, 0)
            self.at += 1
            if not depth:
                return Reader(self.file, self.words[start : self.at - 1])
        raise UsageError("its brackets do not end")

    def parts(self) -> Iterator[Reader]:
        """What stands between the commas outside of brackets."""
        while self.next is not None:
            start = self.at
            self.skip_to(",")
            yield Reader(self.file, self.words[start : self.at])
            self.at += 1

    def until(self, stops: frozenset[str]) -> str:
        """The text of the next word and all behind it up to one of `stops` outside of brackets."""
        start = self.at
        self.group() if self.is_next("(") else self.skip()
        while self.next is not None and self.next.upper not in stops:
            self.group() if self.is_next("(") else self.skip()
        return self.text(start)

    def text(self, start: int = 0) -> str:
        """The text of the words from `start` to here, or of all."""
        words = self.words[start : self.at] if self.at > start else self.words[start:]
        return " ".join(self.file[words[0].start : words[-1].end].split()) if words else ""
