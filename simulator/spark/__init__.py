"""Runs on Spark: the same blocks, rendered by the same functions, in tasks. README.md tells how to run them.

`work` cuts a run into the shares of tasks; `session` opens Spark and `jobs` runs functions in tasks; `engine` is the
run that the driver leads: into files (`files`, `writing`) or a broker (`brokers`, `sending`). `source` is the data
source, `rows` its columns:

    from simulator.spark import CdcSimDataSource

Nothing here is imported before Spark is asked for, and Spark not before the data source is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.spark.source import CdcSimDataSource

__all__ = ["CdcSimDataSource"]


def __getattr__(name: str) -> Any:
    if name == "CdcSimDataSource":
        return import_module("simulator.spark.source").CdcSimDataSource
    raise AttributeError(f"module 'simulator.spark' has no attribute {name!r}")
