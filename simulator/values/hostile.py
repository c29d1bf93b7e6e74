"""Nasty texts: what breaks consumers that quote, cut, print or compare without care."""

from __future__ import annotations

from functools import cache

from simulator.tables import lists


@cache
def hostile(room: int | None) -> tuple[str, ...]:
    """Texts for a column with room for so many characters: cut to it, each once; and one that fills it."""
    texts = lists(__file__, "hostile.yaml")["texts"]
    if room is None:
        return texts
    full = ("W" + "x" * (min(room, LONGEST) - 2) + "!",) if room > 1 else ()
    return tuple(dict.fromkeys((*(text[:room] for text in texts), *full)))


# Characters of the longest text.
LONGEST = 4000
