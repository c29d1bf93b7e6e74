"""Options of the test run, and what many tests use."""

from __future__ import annotations

import atexit
import gc
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command, Done, environment
from hypothesis import settings

from simulator.cli import commands as cli

# What is imported now stays: looking through it again and again would take a tenth of the time.
gc.disable()

# Groups of tests, each of which runs in one process, the longest first: those that share a broker, Spark or the JVMs of
# readers; and folders of small cases, which make once what many need: streams, codecs, values, what a format refuses.
GROUPS: Final = (
    *("spark", "rocketmq", "kafka", "rabbitmq", "mysql", "postgresql", "jvm"),
    *("formats", "stream", "run", "sources", "sql", "compare", "wire", "truth"),
)

# In CI a property is tried with the same examples each time: a new counterexample is found at a desk, where someone
# can look at it, not by a change that has nothing to do with it.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("desk", deadline=None, max_examples=30)  # others in each run
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command in this process, which is faster than one of its own."""

    def run(*arguments: str | Path, status: int | None = None) -> Done:
        monkeypatch.setattr(sys, "argv", ["cdcsim", *map(str, arguments)])
        # a slow machine reports progress in between
        monkeypatch.setattr("simulator.cli.progress.PLAIN_SECONDS", math.inf)
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        sys.stdout.flush()
        out, err = capfd.readouterr()
        assert isinstance(leaving.value.code, int)
        assert status in (None, leaving.value.code), err
        return Done(leaving.value.code, out, err)

    return run


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The one Spark session: two tasks at once, each tried three times. Without Spark or Java this fails."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraClassPath": str(tmp_path_factory.mktemp("classes")),  # of tests that compile some
        # Jobs of seconds: the optimizing compiler would take longer than it gives.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.log.level": "OFF",  # of tasks that fail on purpose
        "spark.sql.shuffle.partitions": "2",
        "spark.python.authenticate.socketTimeout": "5min",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
    }
    with pytest.MonkeyPatch.context() as patch:
        path = os.pathsep.join((str(Path(__file__).parent), environment()["PYTHONPATH"]))
        for name, value in {
            "PYTHONPATH": path,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }.items():
            patch.setenv(name, value)
        builder = SparkSession.builder.master("local[2,3]").appName("cdcsim tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def connect(spark: Any) -> Iterator[str]:
    """The URL of a Spark Connect server, which is in the Java of the session and ends with it."""
    java = spark.sparkContext._jvm
    service = getattr(getattr(java.org.apache.spark.sql.connect.service, "SparkConnectService$"), "MODULE$")
    service.start(spark.sparkContext._jsc.sc())
    yield f"sc://127.0.0.1:{service.localPort()}"
    service.stop(java.scala.Option.empty(), java.scala.Option.empty())


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()
    if sys.dont_write_bytecode:
        # a third of the time in which a command starts it would compile: those of this run keep what they compile
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
        folder = str(Path(tempfile.gettempdir()) / f"cdcsim-tests-{run}")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ.update(PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=folder)


def group_of(item: pytest.Item) -> str:
    """The group of a test, "" for one that runs alone. One of two groups would be of a third one, with a broker of its
    own: so the JVMs and Spark that tests of brokers use are theirs."""
    markers = {marker.name: marker for marker in reversed([*item.iter_markers()])}  # the closest one last
    if "broker" in markers:
        return str(markers["broker"].args[0])
    marked = [name for name in ("jvm", "spark") if name in markers]
    folder = item.path.parent.name
    return marked[0] if marked else folder if folder in GROUPS else ""


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # pytest-xdist would begin with the groups of most tests


def pytest_itemcollected(item: pytest.Item) -> None:
    if group := group_of(item):
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long groups first; single tests fill up what is left of the time."""
    items.sort(key=lambda item: GROUPS.index(group) if (group := group_of(item)) in GROUPS else len(GROUPS))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write the goldens of the selected tests anew; then read them"
    )
