"""One Spark session for all tests, small and on the loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import environment

HERE = Path(__file__).parent
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "OFF",  # of tasks that fail on purpose
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two tasks at once, each tried three times. Without Spark or Java this fails."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join((str(HERE), environment()["PYTHONPATH"])))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2,3]").appName("cdcsim tests")
        for name, value in {**SETTINGS, "spark.local.dir": str(tmp_path_factory.mktemp("spark"))}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
