"""What spark-submit runs in a test: the command, with a task that gets stuck; then a query that is killed.

submitted.py SCENARIO FOLDER the command's words
"""

import sys
from pathlib import Path

import killed_query
import spark_faults as faults
from pyspark.sql import SparkSession

import simulator.spark.run
from simulator.cli.commands import main

scenario, folder = sys.argv[1:3]
del sys.argv[1:3]
simulator.spark.run.Folder = faults.Stuck  # type: ignore[misc]
SparkSession.stop = lambda session: None  # type: ignore[method-assign]  # the query goes on with it
try:
    main()
except SystemExit as end:
    if end.code:
        raise
killed_query.start(SparkSession.builder.getOrCreate(), scenario, Path(folder), dies=True).awaitTermination()
