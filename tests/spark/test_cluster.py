"""A cluster of a master and two workers on the loopback: spark-submit runs the command there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from command import cdcsim, environment
from written import digests

pytestmark = pytest.mark.spark

HERE: Final = Path(__file__).parent
SECONDS: Final = 500
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
def master(tmp_path: Path) -> Iterator[str]:
    """Its URL. The workers have an address each, since Spark repeats a slow task on another host only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, deploy = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    share = ["--webui-port", "0", "-c", "1", "-m", "600M", "-d", str(tmp_path)]
    commands = [
        [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"],
        [f"{deploy}.worker.Worker", url, "--host", "127.0.0.1", *share],
        [f"{deploy}.worker.Worker", url, "--host", "127.0.0.2", *share],
    ]
    more = {"SPARK_DAEMON_MEMORY": "128m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    with ExitStack() as stack:
        for number, command in enumerate(commands):
            log = stack.enter_context((tmp_path / f"daemon-{number}.log").open("wb"))
            process = subprocess.Popen(
                [str(spark_home() / "bin" / "spark-class"), *command],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**variables(), **more},
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.terminate)
            if number == 0:
                wait_for(port)
        yield url


def wait_for(port: int) -> None:
    ends = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < ends, "the master does not answer"
            time.sleep(0.1)


def test_a_stuck_task_is_done_by_the_other_worker(master: str, tmp_path: Path) -> None:
    """Two attempts of a task: one file of each partition, that of the local engine."""
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
        "spark.log.level": "ERROR",
    }
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", master]
    submit += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    submit += [str(HERE / "stuck_task.py"), *run, "--engine", "spark", "--tasks", "9", "--to", f"file:{tmp_path}/out"]
    done = subprocess.run(submit, env=variables(), capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    cdcsim(*run, "-q", "--to", f"file:{tmp_path}/local")
    assert digests(tmp_path / "out") == digests(tmp_path / "local")
    assert {path.name for path in tmp_path.glob("8.*")} == {"8.0", "8.1"}
