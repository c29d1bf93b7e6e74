"""Words of a statement, read one by one: sqlglot's tokens with the text that was typed.

sqlglot's tree of a DDL statement does not keep the spelling of types, which products copy from the log. Definitions are
therefore parsed from the tokens; expressions and statements about rows from sqlglot's tree.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from simulator.sql.errors import SqlError
from simulator.sql.parse.cursor import Cursor, Word

_HEAD: Final = "SELECT "
# Digits of an integer: 64 bits have no more.
MAX_DIGITS: Final = 20


@lru_cache(maxsize=1)
def dialect() -> Any:
    from sqlglot import Dialect

    return Dialect.get_or_raise("mysql")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def words_of(sql: str) -> list[Word]:
    """All words of a statement without comments. Raises SqlError 1064."""
    from sqlglot.errors import TokenError

    try:
        # at the beginning sqlglot treats REPLACE, RENAME and others as commands with the rest as one text
        tokens = dialect().tokenize(_HEAD + sql)[1:]
    except TokenError:
        raise SqlError(1064, sql[:80]) from None
    words: list[Word] = []
    for token in tokens:
        start, end = token.start - len(_HEAD), token.end + 1 - len(_HEAD)
        name = token.token_type.name
        raw = sql[start:end]
        if name in ("STRING", "NATIONAL_STRING"):
            words.append(Word("text", token.text, start, end))
        elif name == "IDENTIFIER" and raw.startswith("`"):
            words.append(Word("name", token.text, start, end))
        elif name == "NUMBER":
            words.append(Word("number", raw, start, end))
        elif name in ("HEX_STRING", "BIT_STRING"):
            words.append(Word("bytes", raw, start, end))
        else:
            # a token of several words (`char varying`) is split
            for match in re.finditer(r"[\w$@]+|[^\w\s]+", raw):
                kind = "word" if re.match(r"[\w$@]", match[0]) else "mark"
                words.append(Word(kind, match[0], start + match.start(), start + match.end()))
    return words


class Reader(Cursor):
    """A position in the words of a statement; methods raise SqlError 1064 where it has other words."""

    def __init__(self, sql: str) -> None:
        super().__init__(words_of(sql))
        self.sql = sql

    def need(self, *expected: str) -> None:
        if not self.take(*expected):
            raise self.problem()

    def need_end(self) -> None:
        if not self.done:
            raise self.problem()

    def problem(self) -> SqlError:
        start = self.words[self.position].start if not self.done else len(self.sql)
        return SqlError(1064, self.sql[start : start + 80])

    def next(self) -> Word:
        if self.done:
            raise self.problem()
        self.position += 1
        return self.words[self.position - 1]

    def remaining(self, *, needed: bool = False) -> str:
        """The text from the next word on. Raises SqlError 1064 if it is `needed` and empty."""
        if needed and self.done:
            raise self.problem()
        return "" if self.done else self.sql[self.words[self.position].start :]

    def skip_all(self) -> None:
        self.position = len(self.words)

    def name(self) -> str:
        word = self.next()
        if word.kind == "name" or (word.kind == "word" and re.match(r"[\w$]", word.value)):
            return word.value
        self.position -= 1
        raise self.problem()

    def qualified(self) -> tuple[str, str]:
        """(database or "", name)."""
        name = self.name()
        if self.take("."):
            return name, self.name()
        # sqlglot reads `a.b` as words and a dot, but `a.1b` otherwise; names that begin with digits need back-quotes
        return "", name

    def text(self) -> str:
        word = self.next()
        if word.kind != "text":
            self.position -= 1
            raise self.problem()
        return word.value

    def literal(self) -> str:
        """A string as it was typed, with its quotes."""
        start = self.position
        self.text()
        return self.between(start, self.position)

    def integer(self) -> int:
        word = self.next()
        if word.kind != "number" or not word.value.isdecimal() or len(word.value) > MAX_DIGITS:
            self.position -= 1
            raise self.problem()
        return int(word.value)

    def brackets(self) -> str:
        """The text inside the brackets that come next."""
        self.need("(")
        start = self.words[self.position - 1].end
        depth = 1
        while depth:
            word = self.next()
            if word.kind == "mark":
                for character in word.value:
                    depth += (character == "(") - (character == ")")
                    if not depth:
                        return self.sql[start : word.start]
        raise self.problem()

    def names_in_brackets(self) -> list[tuple[str, int | None]]:
        """`(a, b(10) desc)` as names and prefix lengths; an expression is the name ""."""
        self.need("(")
        parts: list[tuple[str, int | None]] = []
        while True:
            if self.peek("("):
                self.brackets()
                parts.append(("", None))
            else:
                name = self.name()
                length = None
                if self.take("("):
                    length = self.integer()
                    self.need(")")
                parts.append((name, length))
            self.one_of("ASC", "DESC")
            if self.take(")"):
                return parts
            self.need(",")

    def between(self, start: int, stop: int) -> str:
        """The text of the words from number `start` up to `stop`."""
        return self.sql[self.words[start].start : self.words[stop - 1].end]
