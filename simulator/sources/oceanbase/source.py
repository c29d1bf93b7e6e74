"""OceanBase as a source, in both modes: MySQL's and Oracle's systems with OceanBase's log."""

from __future__ import annotations

from typing import ClassVar

from simulator.sources.mysql.source import MysqlSource
from simulator.sources.oceanbase.log import OceanbaseMysqlLog, OceanbaseOracleLog
from simulator.sources.oracle.source import OracleSource


class OceanbaseMysqlSource(MysqlSource):
    type_style = "show_create_57"
    logs_statement_times = False
    log: ClassVar[OceanbaseMysqlLog] = OceanbaseMysqlLog()


class OceanbaseOracleSource(OracleSource):
    """A tenant stands where Oracle has a pluggable database."""

    logs_equal_updates = False
    log: ClassVar[OceanbaseOracleLog] = OceanbaseOracleLog()
