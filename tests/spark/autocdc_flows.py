"""Definitions of a pipeline that `test_autocdc.py` runs: a table for each consumer, of several topics.

`columns.json` beside it has Spark's types by column; a consumer's messages are in `NAME/*.json`, with columns that
Spark's source of Kafka has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from simulator.spark.examples import autocdc

KAFKA: Final = "topic string, key string, value string, offset bigint, timestamp bigint"
TOPIC: Final = ["topic"]


def by_clock(messages: Any, columns: Mapping[str, str]) -> Any:
    """Wrong: when Debezium wrote a message orders the changes."""
    return autocdc.debezium(messages, columns, ["ts_ms"], kept=TOPIC)


def by_tombstones(messages: Any, columns: Mapping[str, str]) -> Any:
    """Wrong: rows have the time of their commit, and deletes, known from tombstones alone, that of their delivery."""
    rows = autocdc.debezium(messages, columns, ["source.ts_ms"], kept=TOPIC).where("not deleted")
    key = f.get_json_object("key", "$.id").cast(columns["id"]).alias("id")
    sequence = f.struct(f.col("timestamp").alias("ts_ms")).alias("sequence")
    tombstones = messages.where("value is null").select("topic", key, f.lit(True).alias("deleted"), sequence)
    return rows.unionByName(tombstones, allowMissingColumns=True)


CONSUMERS: Final[dict[str, Callable[[Any, Mapping[str, str]], Any]]] = {
    "debezium": partial(autocdc.debezium, kept=TOPIC),
    "canal": partial(autocdc.canal, key=["id"], kept=TOPIC),
    "by_clock": by_clock,
    "by_tombstones": by_tombstones,
}


def changes(name: str) -> Any:
    files = SparkSession.active().readStream.schema(KAFKA).option("maxFilesPerTrigger", 1)
    return CONSUMERS[name](files.json(str(Path.cwd() / name)), json.loads(Path("columns.json").read_bytes()))


for name in CONSUMERS:
    autocdc.keep(name, partial(changes, name), ["topic", "id"])
