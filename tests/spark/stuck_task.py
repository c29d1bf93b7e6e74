"""What spark-submit runs in a test: the command, with a task that gets stuck."""

import faults

import simulator.spark.files
from simulator.cli.commands import main

simulator.spark.files.Folder = faults.Stuck  # type: ignore[misc]
main()
