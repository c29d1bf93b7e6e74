"""PostgreSQL's text search types: `tsvector` and `tsquery` literals to the text that the server prints of them."""

from __future__ import annotations

import re
from typing import Final

from simulator.errors import short

_LAST_POSITION: Final = 16_383
_MOST_POSITIONS: Final = 255
_LEXEME: Final = re.compile(
    r"\s*(?:'((?:[^'\\]|''|\\.)*)'|((?:[^\s'\\:]|\\.)(?:[^\s\\:]|\\.)*))(?::([\dA-Da-d,*]*))?", re.DOTALL
)


def vector(text: str) -> str:
    """Distinct lexemes with their positions, in byte order.

    >>> vector("fat:1 cat:2"), vector("b:3,1A,2D a 'it''s':1")
    ("'cat':2 'fat':1", "'a' 'b':1A,2,3 'it''s':1")
    """
    lexemes: dict[str, dict[int, str]] = {}
    end = 0
    while match := _LEXEME.match(text, end):
        end = match.end()
        positions = lexemes.setdefault(_plain(match[1], match[2]), {})
        for word in match[3].split(",") if match[3] else ():
            position = re.fullmatch(r"(\d+)([A-Da-d]?)", word)
            if not position or not int(position[1]):
                raise _no_vector(text)
            number, weight = min(int(position[1]), _LAST_POSITION), (position[2] or "D").upper()
            positions[number] = min(positions.get(number, "D"), weight)
    if text[end:].strip():
        raise _no_vector(text)
    lexeme_texts = []
    for lexeme in sorted(lexemes, key=str.encode):
        positions = lexemes[lexeme]
        text_positions = ",".join(f"{n}{positions[n].replace('D', '')}" for n in sorted(positions)[:_MOST_POSITIONS])
        lexeme_texts.append(_quoted(lexeme) + (f":{text_positions}" if text_positions else ""))
    return " ".join(lexeme_texts)


def _no_vector(text: str) -> ValueError:
    return ValueError(f"{short(text)} is not a tsvector such as 'cat':2 'fat':1")


def _plain(quoted: str | None, unquoted: str | None) -> str:
    text = (quoted or "").replace("''", "'") if quoted is not None else unquoted or ""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


# ------------------------------------------------------------------------------------------------------------- queries

_TOKEN: Final = re.compile(
    r"\s*(?:([&|!()])|<(-|\d+)>|(?:'((?:[^'\\]|''|\\.)*)'|((?:[^\s'\\:&|!()<>]|\\.)+))(?::([A-Da-d*]*))?)", re.DOTALL
)
_OR, _AND, _PHRASE, _NOT, _VALUE = 1, 2, 3, 4, 5


class _Query:
    """A recursive parser; each method returns the text it has parsed and its binding strength."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.index = text, [], 0
        tokens: list[re.Match[str]] = []
        end = 0
        while match := _TOKEN.match(text, end):
            tokens.append(match)
            end = match.end()
        if text[end:].strip():
            raise self.problem()
        self.tokens = tokens

    def problem(self) -> ValueError:
        return ValueError(f"{short(self.text)} is not a tsquery such as 'fat' & !'cat'")

    def next(self) -> str | None:
        """The next operator: `&`, `<2>`; None for a word or the end."""
        if self.index == len(self.tokens):
            return None
        token = self.tokens[self.index]
        return token[1] or (f"<{token[2]}>" if token[2] else None)

    def binary(self, level: int) -> tuple[str, int]:
        if level == _NOT:
            return self.single()
        text, binding = self.binary(level + 1)
        while (operator := self.next()) and _level(operator) == level:
            self.index += 1
            right, tight = self.binary(level + 1)
            # a phrase on the right of a phrase is not the same as one on its left
            loose = tight < level or (level == _PHRASE and tight == _PHRASE)
            text = f"{_bracketed(text, binding < level)} {_named(operator)} {_bracketed(right, loose)}"
            binding = level
        return text, binding

    def single(self) -> tuple[str, int]:
        operator = self.next()
        if operator == "!":
            self.index += 1
            text, binding = self.single()
            return "!" + _bracketed(text, binding < _NOT), _NOT
        if operator == "(":
            self.index += 1
            text, binding = self.binary(_OR)
            if self.next() != ")":
                raise self.problem()
            self.index += 1
            return text, binding
        if operator is not None or self.index == len(self.tokens):
            raise self.problem()
        token = self.tokens[self.index]
        self.index += 1
        marks = (token[5] or "").upper()
        suffix = ("*" if "*" in marks else "") + "".join(weight for weight in "ABCD" if weight in marks)
        return _quoted(_plain(token[3], token[4])) + (f":{suffix}" if suffix else ""), _VALUE


def _level(operator: str) -> int:
    return {"|": _OR, "&": _AND}.get(operator, _PHRASE if operator.startswith("<") else 0)


def _named(operator: str) -> str:
    return "<->" if operator in ("<->", "<1>") else operator


def _bracketed(text: str, needed: bool) -> str:
    return f"( {text} )" if needed else text


def query(text: str) -> str:
    """A query with its words quoted and only the necessary brackets.

    >>> query("fat & (rat|cat)"), query("!!a:*ba <-> b"), query("a <-> (b <2> c)"), query("")
    ("'fat' & ( 'rat' | 'cat' )", "!!'a':*AB <-> 'b'", "'a' <-> ( 'b' <2> 'c' )", '')
    """
    reader = _Query(text)
    if not reader.tokens:
        return ""
    text_of_query, _ = reader.binary(_OR)
    if reader.index < len(reader.tokens):
        raise reader.problem()
    return text_of_query
