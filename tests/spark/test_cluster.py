"""A cluster of a master and two workers on the loopback: spark-submit runs the command there, and a streaming query."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import killed_query
import pytest
from command import Command, environment
from test_source import SCENARIO
from written import digests

from simulator.run.job import open_job
from simulator.run.plan import Limits

pytestmark = pytest.mark.spark

HERE: Final = Path(__file__).parent
SECONDS: Final = 900
# Programs of seconds: the optimizing compiler would take longer than it gives.
QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def variables() -> dict[str, str]:
    """The environment of all processes: executors find the package and `spark_faults`."""
    path = os.pathsep.join((str(HERE.parent), environment()["PYTHONPATH"]))
    return {**environment(), "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.fixture
def master(spark: Any, tmp_path: Path) -> Iterator[str]:
    """The URL of a master with two workers, which are in the Java of the session: three less of them have to start.

    The workers have an address each, since Spark repeats a slow task on another host only.
    """
    java = spark.sparkContext._jvm
    deploy, settings, nothing = java.org.apache.spark.deploy, java.org.apache.spark.SparkConf(False), java.scala.Option
    with ExitStack() as stack:

        def started(environment: Any) -> Any:
            stack.callback(environment.awaitTermination)
            stack.callback(environment.shutdown)
            return environment

        begun = started(deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, settings)._1())
        urls = spark.sparkContext._gateway.new_array(java.java.lang.String, 1)
        urls[0] = f"spark://127.0.0.1:{begun.address().port()}"
        for number in (1, 2):
            started(
                deploy.worker.Worker.startRpcEnvAndEndpoint(
                    f"127.0.0.{number}", 0, 0, 1, 600, urls, str(tmp_path), nothing.apply(number), settings,
                    nothing.empty(),
                )
            )  # fmt: skip
        yield urls[0]


def test_a_stuck_task_and_a_killed_query(spark: Any, master: str, command: Command, tmp_path: Path) -> None:
    """Two attempts of a task: one file of each partition, that of the local engine. Then a query dies with its driver,
    and another one, of this session, goes on from its checkpoint."""
    # most tasks find Python running and are quick, so that the slow one is soon seen as such
    run = ["run", "orders", "-f", "canal-json", "--limit", "1000"]
    settings = {
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1",
        "spark.speculation.minTaskRuntime": "1s",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.extraJavaOptions": QUICK,
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.python.authenticate.socketTimeout": "5min",
        "spark.log.level": "ERROR",
    }
    query, scenario = tmp_path / "query", tmp_path / "users.yaml"
    query.mkdir()
    scenario.write_text(SCENARIO)
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", master]
    submit += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    submit += [str(HERE / "submitted.py"), str(scenario), str(query)]
    submit += [*run, "--engine", "spark", "--tasks", "9", "--to", f"file:{tmp_path}/out"]
    done = subprocess.run(submit, env=variables(), capture_output=True, text=True, timeout=SECONDS)
    said = done.stdout + done.stderr
    command(*run, "-q", "--to", f"file:{tmp_path}/local", status=0)
    assert digests(tmp_path / "out") == digests(tmp_path / "local"), said
    assert {path.name for path in tmp_path.glob("8.*")} == {"8.0", "8.1"}

    assert done.returncode == 128 + signal.SIGKILL, said
    left = {name: (query / name).read_bytes() for name in ("0", "1")}
    (query / "0").unlink()
    killed_query.start(spark, str(scenario), query).awaitTermination()
    found = sorted(int(path.name) for path in query.iterdir() if path.name.isdigit())
    assert found == [1, 2, 3], "batches that were committed are not done again"
    assert (query / "1").read_bytes() == left["1"]
    batches = [left["0"], *((query / str(number)).read_bytes() for number in found)]
    job = open_job(str(scenario), "dts-canal-json")
    wanted = [message.value for message in job.messages(Limits(turns=500), snapshot=True)]
    assert [value for batch in batches for value in pickle.loads(batch)] == wanted
