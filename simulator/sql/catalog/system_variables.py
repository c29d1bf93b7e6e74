"""System variables of each server: names, scopes and default values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from simulator.sql.catalog.servers import Server
from simulator.tables import rows

# Stands for a value that is not listed here.
_UNKNOWN: Final = "-"


@dataclass(frozen=True, slots=True)
class SystemVariable:
    """`scope` is session, global or readonly; `value` is its default, None where it is not listed here."""

    scope: str
    value: str | int | None


@cache
def system_variables(server: Server) -> Mapping[str, SystemVariable]:
    """The system variables of a server by name."""
    listed = rows(__file__, "system_variables.csv")
    return {row["name"]: SystemVariable(row["scope"], _value(row[server.id])) for row in listed if row[server.id]}


def _value(text: str) -> str | int | None:
    if text == _UNKNOWN:
        return None
    if text in ("ON", "OFF"):
        return int(text == "ON")
    return int(text) if text.isdecimal() else text
