"""Which type systems DRS reads, by id of a source."""

from __future__ import annotations

from simulator.errors import NotOffered
from simulator.formats import drs_mysql
from simulator.formats.drs import System
from simulator.sources import find, mysql


def system_of(source: str, format: str) -> System:
    """What DRS says of a source, written `mysql-8.0`. Raises NotOffered where it has no layout for it at all."""
    found = find(source)
    if found.types is mysql:
        return drs_mysql.SYSTEM
    raise NotOffered(f"-f {format}: DRS says nothing of how messages about {found.title} look.")
