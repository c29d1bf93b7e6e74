"""Words of a statement with their positions in its text, and a cursor over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """`kind` is `word`, `name` (in quotes), `text`, `number`, `bytes` or `mark`; `value` is a name without quotes."""

    kind: str
    value: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        return self.value.upper() if self.kind in ("word", "mark") else ""

    @property
    def brackets_opened(self) -> int:
        """The opening brackets of a mark minus its closing ones."""
        return self.value.count("(") - self.value.count(")") if self.kind == "mark" else 0


class Cursor:
    """A position in words."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words, self.position = words, 0

    @property
    def done(self) -> bool:
        return self.position >= len(self.words)

    @property
    def upper(self) -> str:
        """The next word in capitals, "" for names and texts, and at the end."""
        return "" if self.done else self.words[self.position].upper

    def peek(self, *expected: str) -> bool:
        """Whether these words come next."""
        next_words = self.words[self.position : self.position + len(expected)]
        return len(next_words) == len(expected) and all(
            word.upper == text for word, text in zip(next_words, expected, strict=True)
        )

    def take(self, *expected: str) -> bool:
        """Skip these words if they come next; returns whether they did."""
        if not self.peek(*expected):
            return False
        self.position += len(expected)
        return True

    def one_of(self, *alternatives: str) -> str:
        """Skip the first of these alternatives that comes next, and return it; "" if none does."""
        for alternative in alternatives:
            if self.take(*alternative.split()):
                return alternative
        return ""
