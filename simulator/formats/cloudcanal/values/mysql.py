"""MySQL's values, and those of systems like it: TIMESTAMP in `srcTimeZone`, well-known text of geometries."""

from __future__ import annotations

from typing import Final

from simulator.formats.cloudcanal.values.families import TEXT, Values
from simulator.model import ColumnType
from simulator.sources.mysql.geometry import to_text


def geometry(stored: bytes, type: ColumnType) -> tuple[int, str]:
    return int.from_bytes(stored[:4], "little"), to_text(stored).rpartition(";")[2]


VALUES: Final = Values(TEXT, local=frozenset({"timestamp"}), geometry=geometry, finite=True)
