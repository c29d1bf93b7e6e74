"""A lake: the changes of a table as Parquet, a folder for each day, and its current rows next to them.

spark-submit lake.py crud users 100000000 s3a://lake/users
"""

from __future__ import annotations

import sys
from typing import Any

from simulator.spark import CdcSimDataSource


def write(spark: Any, scenario: str, table: str, turns: int, folder: str) -> None:
    """Writes `FOLDER/changes/day=…` and `FOLDER/current`: the rows that the changes lead to."""
    from pyspark.sql.functions import to_date

    spark.dataSource.register(CdcSimDataSource)
    read = {"scenario": scenario, "table": table}
    changes = spark.read.format("cdcsim").options(**read, view="changes", turns=turns, snapshot="true").load()
    changes.withColumn("day", to_date("committed_at")).write.partitionBy("day").parquet(f"{folder}/changes")
    spark.read.format("cdcsim").options(**read, view="state", turn=turns).load().write.parquet(f"{folder}/current")


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    write(SparkSession.builder.getOrCreate(), sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
