"""A client of a Spark Connect server, in a process of its own: one process has either a driver or a server.

connected.py SERVER SCENARIO FOLDER     runs commands of FOLDER/runs.json, then the data source; writes what came of it

A run is the command's words, and what goes wrong: a fault of `spark_faults` in its tasks (Stuck: Ctrl-C ends it), or a
package that is missing here. Behind the first that succeeds all share a session, since each has its own Python
processes on the server.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import spark_faults as faults

import simulator.spark.run as tasks
from simulator.cli.commands import main


def run(words: Sequence[str], wrong: str | None, folder: Path) -> tuple[Any, str]:
    """The exit status of a command, and what it said."""
    sys.argv = ["cdcsim", *words]
    said, whole = io.StringIO(), tasks.Folder
    if wrong in ("Absent", "Stuck"):
        tasks.Folder = {"Absent": faults.Absent, "Stuck": faults.Stuck}[wrong]  # type: ignore[misc]
    elif wrong is not None:
        sys.modules[wrong] = None  # type: ignore[assignment]
    if wrong == "Stuck":
        threading.Thread(target=interrupt, args=(folder,), daemon=True).start()
    try:
        with redirect_stderr(said):
            main()
    except SystemExit as end:
        return end.code, said.getvalue()
    finally:
        tasks.Folder = whole  # type: ignore[misc]
        if wrong in sys.modules and sys.modules[wrong] is None:
            del sys.modules[wrong]


def interrupt(folder: Path) -> None:
    """Ctrl-C, once the task that is stuck has begun."""
    while not (folder / "0.0").exists():
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def read(spark: Any, scenario: str, folder: Path) -> list[list[str]]:
    """Values of messages: of a batch, and of a stream that stops half way and goes on from its checkpoint."""
    from simulator.spark import CdcSimDataSource

    spark.dataSource.register(CdcSimDataSource)
    options = {"scenario": scenario, "format": "dts-canal-json", "snapshot": "true"}
    frames = [spark.read.format("cdcsim").options(**options, turns=300, partitions=3).load()]
    for turns in (150, 300):
        stream = spark.readStream.format("cdcsim").options(**options, turns=turns).load()
        writer = stream.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start(str(folder / "live")).awaitTermination()
    frames.append(spark.read.parquet(str(folder / "live")))
    return [frame.orderBy("position").toArrow()["value"].to_pylist() for frame in frames]


def everything(server: str, scenario: str, folder: Path) -> None:
    spark, ended = None, {}
    for name, (words, wrong) in json.loads((folder / "runs.json").read_bytes()).items():
        ended[name] = run(words, wrong, folder)
        if ended[name][0] == 0 and spark is None:
            from pyspark.sql import SparkSession

            spark = SparkSession.builder.remote(server).getOrCreate()
    (folder / "found.pickle").write_bytes(pickle.dumps((ended, read(spark, scenario, folder))))


if __name__ == "__main__":
    everything(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
