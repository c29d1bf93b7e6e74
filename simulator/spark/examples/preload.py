"""A topic that is full before a load test begins.

spark-submit preload.py orders canal-json 10000000 'kafka://host:9092/orders?partitions=12'
"""

from __future__ import annotations

import sys
from typing import Any

from simulator.run.job import open_job
from simulator.run.pipeline import Summary
from simulator.run.plan import Limits
from simulator.spark.brokers import Broker, BrokerRun


def fill(spark: Any, scenario: str, format: str, changes: int, url: str) -> Summary:
    """Sends a snapshot and so many row changes; each partition has them in stream order."""
    broker = Broker(url)
    with broker.open() as sink:
        job = open_job(scenario, format).addressed(topic=sink.topic_pattern)
    return BrokerRun(spark, job, broker, limits=Limits(changes=changes), snapshot=True)()


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    print(fill(SparkSession.builder.getOrCreate(), sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]).as_dict())
