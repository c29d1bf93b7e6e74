"""A structured-streaming query that writes its batches as files, and may die with its process in the second."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from typing import Any

from simulator.spark import CdcSimDataSource


def start(spark: Any, scenario: str, folder: Path, *, dies: bool = False) -> Any:
    """The query; batch 1 as `FOLDER/1`. It dies with this process when that is written and not yet committed."""

    def keep(frame: Any, number: int) -> None:
        rows = frame.select("position", "value").toArrow().to_pylist()  # sorted by Spark they would cost it a job more
        rows.sort(key=lambda row: tuple(row["position"].values()))
        (folder / str(number)).write_bytes(pickle.dumps([row["value"] for row in rows]))
        if dies and number == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    spark.dataSource.register(CdcSimDataSource)
    options = {"scenario": scenario, "format": "dts-canal-json", "turns": 500, "turns_per_batch": 150}
    frame = spark.readStream.format("cdcsim").options(**options, snapshot="true").load()
    writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(availableNow=True).start()
