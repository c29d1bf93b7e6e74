"""First and last names, cities and e-mail domains by language; names are combined, so that many people differ."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

from simulator.tables import document

LANGUAGES: Final = ("de", "en", "es", "zh")
_GERMAN: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


@dataclass(frozen=True)
class People:
    """First and last names, also in letters allowed in e-mail addresses; cities; domains of addresses. `family_first`:
    the last name comes first, without a separator. `two_last`: people have two last names.
    """

    first: tuple[str, ...]
    last: tuple[str, ...]
    first_plain: tuple[str, ...]
    last_plain: tuple[str, ...]
    cities: tuple[str, ...]
    domains: tuple[str, ...]
    family_first: bool
    two_last: bool


@cache
def people(language: str) -> People:
    """The people of one of LANGUAGES."""
    facts = document(__file__, f"{language}.yaml")
    first, last = (facts[name].split() for name in ("first", "last"))
    return People(
        tuple(map(_spelling, first)),
        tuple(map(_spelling, last)),
        tuple(map(plain, first)),
        tuple(map(plain, last)),
        tuple(facts["cities"]),
        tuple(facts["domains"].split()),
        family_first=language == "zh",
        two_last=language == "es",
    )


def _spelling(word: str) -> str:
    """The word as written: 王 for `王wang`."""
    return re.sub(r"(?<=[^\x00-\u024F])[a-z]+$", "", word)


def plain(word: str) -> str:
    """
    >>> plain("Müller"), plain("Núñez"), plain("王wang"), plain("O'Brien")
    ('mueller', 'nunez', 'wang', 'obrien')
    """
    letters = unicodedata.normalize("NFD", word.translate(_GERMAN))
    return re.sub(r"[^a-z]", "", letters.encode("ascii", "ignore").decode().lower())
