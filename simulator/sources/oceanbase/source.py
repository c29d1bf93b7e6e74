"""OceanBase as a source, in both modes: MySQL's and Oracle's systems with OceanBase's log."""

from __future__ import annotations

from typing import ClassVar

from simulator.batch import ChangeBatch
from simulator.sources.mysql.row_image import as_logged
from simulator.sources.mysql.source import MysqlSource
from simulator.sources.oceanbase.log import OceanbaseMysqlLog, OceanbaseOracleLog
from simulator.sources.oracle.source import OracleSource


class OceanbaseMysqlSource(MysqlSource):
    """OceanBase in MySQL mode. In both modes the log records a change of a primary key as a delete and an insert."""

    key_is_fixed = True
    type_style = "show_create_57"
    row_images = ("full", "minimal")
    logs_statement_times = False
    log: ClassVar[OceanbaseMysqlLog] = OceanbaseMysqlLog()


class OceanbaseOracleSource(OracleSource):
    """OceanBase in Oracle mode. A tenant takes the role of a pluggable database in Oracle."""

    key_is_fixed = True
    logs_equal_updates = False
    row_image_setting = "row_image"
    row_images = ("full", "minimal")
    log: ClassVar[OceanbaseOracleLog] = OceanbaseOracleLog()

    def logged(self, batch: ChangeBatch, row_image: str, /) -> list[ChangeBatch]:
        return as_logged(batch, row_image)
