"""What spark-submit runs in a test: the command, with a task that gets stuck."""

import spark_faults as faults

import simulator.spark.files
from simulator.cli.commands import main

simulator.spark.files.Folder = faults.Stuck  # type: ignore[misc]
main()
