"""A structured-streaming query that writes its batches as files; as a program of its own it is killed in the third.

killed_query.py SCENARIO FOLDER
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

from simulator.spark import CdcSimDataSource


def start(spark: Any, scenario: str, folder: Path, *, dies: bool = False) -> Any:
    """The query; batch 2 as `FOLDER/2`. It dies with this process when that is written and not yet committed."""

    def keep(frame: Any, number: int) -> None:
        (folder / str(number)).write_bytes(pickle.dumps(frame.orderBy("position").toArrow()["value"].to_pylist()))
        if dies and number == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    spark.dataSource.register(CdcSimDataSource)
    options = {"scenario": scenario, "format": "dts-canal-json", "turns": 1000, "turns_per_batch": 150}
    frame = spark.readStream.format("cdcsim").options(**options, snapshot="true").load()
    writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(availableNow=True).start()


if __name__ == "__main__":
    from simulator.spark.session import open_session

    session, _ = open_session("local[2]", {})
    start(session, sys.argv[1], Path(sys.argv[2]), dies=True).awaitTermination()
