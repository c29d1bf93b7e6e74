"""What `volume.py` compares with: rows with the columns of `crud`, made by dbldatagen, as JSON by `to_json`.

python dbldatagen_rows.py ROWS FOLDER
"""

from __future__ import annotations

import json
import sys
import time

import dbldatagen as dg
from pyspark.sql import SparkSession
from pyspark.sql.functions import struct, to_json

CITIES = [f"City {number}" for number in range(500)]


def main(rows: int, folder: str) -> None:
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    made = (
        dg.DataGenerator(spark, name="users", rows=rows, partitions=max(8, rows // 1_000_000))
        .withColumn("user_id", "long", uniqueValues=rows)
        .withColumn("name", "string", template=r"\w \w")
        .withColumn("email", "string", template=r"\w.\w@\w.com")
        .withColumn("city", "string", values=CITIES, random=True, percentNulls=0.02)
        .withColumn("age", "int", minValue=18, maxValue=99, random=True)
        .withColumn("balance", "decimal(10,2)", minValue=0, maxValue=99999.99, step=0.01, random=True)
        .withColumn("status", "string", values=["active", "paused", "closed"], random=True)
        .withColumn("score", "int", minValue=0, maxValue=1000, random=True)
        .withColumn("created_at", "timestamp", begin="2024-01-01 00:00:00", end="2024-12-31 00:00:00", random=True)
        .withColumn("updated_at", "timestamp", begin="2024-01-01 00:00:00", end="2024-12-31 00:00:00", random=True)
        .build()
    )
    frame = made.select(to_json(struct(*made.columns)).alias("value"))
    begin = time.perf_counter()
    frame.write.option("compression", "zstd").parquet(folder)
    print(json.dumps({"seconds": time.perf_counter() - begin}))
    spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
