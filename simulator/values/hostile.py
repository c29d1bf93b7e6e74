"""Hostile texts, which break consumers that quote, cut, print or compare carelessly."""

from __future__ import annotations

from functools import cache

from simulator.tables import lists


@cache
def hostile(room: int | None) -> tuple[str, ...]:
    """Distinct texts for a column of `room` characters, cut to fit, and one that fills it. None: no limit."""
    texts = lists(__file__, "hostile.yaml")["texts"]
    if room is None:
        return texts
    full = ("W" + "x" * (min(room, LONGEST) - 2) + "!",) if room > 1 else ()
    return tuple(dict.fromkeys((*(text[:room] for text in texts), *full)))


# Characters of the longest text.
LONGEST = 4000
