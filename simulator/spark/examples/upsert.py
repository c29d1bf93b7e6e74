"""A stream that keeps a table: each batch of changes is merged into the rows, as MERGE does it.

spark-submit upsert.py orders orders 30000 /tmp/orders
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from simulator.spark import CdcSimDataSource

# Statements that take all rows with them.
EMPTYING = ("TRUNCATE_TABLE", "DROP_TABLE", "DROP_DATABASE")


def start(spark: Any, options: dict[str, Any], key: str, folder: Path) -> Any:
    """The query, started. Batch N makes `FOLDER/version=N` of the version before it; done again, it makes the same."""
    from pyspark.sql import functions as f

    def merge(changes: Any, number: int) -> None:
        spark = changes.sparkSession
        emptied = changes.where(f.col("op").isin(*EMPTYING)).agg(f.max("position").alias("emptied"))
        # a change of the key leaves nothing under the old one, and what it leaves under the new one comes behind that
        old, new = (
            f.struct(
                f.col(f"{image}.{key}").alias("key"), after.alias("after"), f.struct("position", f.lit(i)).alias("at")
            )
            for i, (image, after) in enumerate({"before": f.lit(None), "after": f.col("after")}.items())
        )
        keyed = changes.select(f.explode(f.array(old, new)).alias("row")).select("row.*").where("key is not null")
        kept = keyed.crossJoin(emptied).where("emptied is null or at.position > emptied")
        last = kept.groupBy("key").agg(f.max_by("after", "at").alias("after"))
        rows = last.where("after is not null").select("after.*")
        if number:
            before = spark.read.parquet(str(folder / f"version={number - 1}"))
            before = before.crossJoin(emptied).where("emptied is null").drop("emptied")
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
