"""How a session stores values."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.sql.moments import Zone


@dataclass(frozen=True)
class Rules:
    """How a session stores: strict or not, which zero dates it takes, its time zone, and the server's ways."""

    strict: bool
    no_zero_date: bool
    no_zero_in_date: bool
    zone: Zone
    json_duplicates: str
    json_is_text: bool
    truncates_fractions: bool = False
    swaps_axes: bool = False
