"""A topic that is full before a load test begins.

spark-submit preload.py orders canal-json 10000000 'kafka://host:9092/orders?partitions=12'
"""

from __future__ import annotations

import sys
from typing import Any

from simulator.run.request import About, Sending, Span, Subject
from simulator.run.session import open_session
from simulator.run.summary import Summary
from simulator.spark.run import spark_run


def fill(spark: Any, scenario: str, format: str, changes: int, url: str) -> Summary:
    """Sends a snapshot and `changes` row changes; each partition has them in stream order."""
    span = Span(limit=changes, snapshot=True)
    session = open_session(Subject(scenario, format), span, Sending(url), About())
    return spark_run(session)(spark)()


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    print(fill(SparkSession.builder.getOrCreate(), sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]).as_dict())
