"""Runs on Spark: the same blocks, rendered by the same functions, in tasks. README.md tells how to run them.

`work` cuts a run into the shares of tasks. `engine` is the run that is led from here: into files (`files`) or a broker
(`brokers`). `session` opens Spark, and `jobs` runs functions in its tasks: of a driver in this process (`classic`), or
through Spark Connect (`connect`). `source` is the data source, `options` and `rows` its options and columns:

    from simulator.spark import CdcSimDataSource

Nothing here is imported before Spark is asked for, and Spark not before the data source is. Asking for it names this
process's Python to Spark's executors, as the command does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.spark.source import CdcSimDataSource

__all__ = ["CdcSimDataSource"]


def __getattr__(name: str) -> Any:
    if name == "CdcSimDataSource":
        import_module("simulator.spark.session").set_executors_python()
        return import_module("simulator.spark.source").CdcSimDataSource
    raise AttributeError(f"module 'simulator.spark' has no attribute {name!r}")
