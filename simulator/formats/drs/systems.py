"""Which type systems DRS reads, by id of a source."""

from __future__ import annotations

from simulator.errors import NotOffered
from simulator.formats.drs import mysql as drs_mysql
from simulator.formats.drs import oracle as drs_oracle
from simulator.formats.drs import postgresql as drs_postgresql
from simulator.formats.drs import sqlserver as drs_sqlserver
from simulator.formats.drs.envelope import DrsSettings, System
from simulator.sources import mysql


def system_of(settings: DrsSettings, format: str) -> System:
    """What DRS says of the settings' source. Raises NotOffered where it has no such messages at all."""
    source = settings.source
    if source.types is mysql:
        return drs_mysql.SYSTEM
    match source.id:
        case "oracle" | "oceanbase-oracle":
            return drs_oracle.SYSTEM
        case "postgresql":
            return drs_postgresql.SYSTEM
        case "gaussdb":
            return drs_postgresql.DISTRIBUTED if settings.options.gaussdb == "distributed" else drs_postgresql.GAUSSDB
        case "sqlserver":
            return drs_sqlserver.SYSTEM
    raise NotOffered(f"-f {format}: DRS has no such messages about {source.title}; drs-json has others.")
