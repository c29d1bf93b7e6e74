"""A stream that keeps a table: each batch of changes is merged into the rows, as MERGE does it.

spark-submit upsert.py crud users 1000000 /tmp/users
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from simulator.spark import CdcSimDataSource


def start(spark: Any, options: dict[str, Any], key: str, folder: Path) -> Any:
    """The query, started. Batch N makes `FOLDER/version=N` of the version before it; done again, it makes the same."""
    from pyspark.sql import functions as f

    def merge(changes: Any, number: int) -> None:
        spark = changes.sparkSession
        keyed = changes.select(f.coalesce(f"after.{key}", f"before.{key}").alias("key"), "after", "position")
        last = keyed.groupBy("key").agg(f.max_by(f.col("after"), "position").alias("after"))
        rows = last.where("after is not null").select("after.*")
        if number:
            before = spark.read.parquet(str(folder / f"version={number - 1}"))
            rows = before.join(last, before[key] == last["key"], "left_anti").unionByName(rows)
        rows.write.mode("overwrite").parquet(str(folder / f"version={number}"))

    spark.dataSource.register(CdcSimDataSource)
    frame = spark.readStream.format("cdcsim").options(view="changes", snapshot="true", **options).load()
    writer = frame.writeStream.foreachBatch(merge).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(availableNow=True).start()


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    scenario, table, turns, place = sys.argv[1:]
    asked = {"scenario": scenario, "table": table, "turns": turns}
    start(SparkSession.builder.getOrCreate(), asked, "id", Path(place)).awaitTermination()
