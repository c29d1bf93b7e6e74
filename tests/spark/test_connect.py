"""Spark Connect: a server on the loopback and a client of it, whose files are those of a driver in this process."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command, environment, summary
from runs import SCRIPT, SHOP

from simulator.errors import SinkError
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.summary import Summary
from simulator.spark.connect import Results

pytestmark = pytest.mark.spark

SECONDS: Final = 900
# Each kind of file, of a scenario in YAML and one in SQL.
RUNS: Final = {
    "lines": ("shop.yaml", "canal-json", "file:{}?partitions=3"),
    "containers": ("shop.yaml", "dts-avro", "file:{}?partitions=2"),
    "parquet": ("script.sql", "cloudcanal-json", "parquet:{}"),
}
SHORT: Final = ["run", "crud", "-f", "canal-json", "--limit", "500", "--tasks", "1", "-q", "--engine", "spark"]
# What goes wrong, if it is not the words alone, and how the command ends.
MISTAKES: Final = {
    "absent": (
        [*SHORT, "--master", "{server}", "--to", "file:{folder}/absent"], "Absent", 2,
        "the Python of Spark's executors has no package 'absent_package': install cdc-simulator there, or name a "
        "Python that has it in Spark's setting spark.pyspark.python.",
    ),
    "full": (
        [*SHORT, "--master", "{server}", "--to", "file:{folder}/lines"], None, 1,
        "file:{folder}/lines: _SUCCESS is already there; name an empty folder, or remove it.",
    ),
    "relative": (
        [*SHORT, "--master", "{server}", "--to", "file:orders"], None, 2,
        "--to file:orders: the server's executors write there, on their disks; write the whole path, as in "
        "file:/data/orders.",
    ),
    "setting": (
        [*SHORT, "--master", "{server}", "--to", "file:{folder}/setting", "--conf", "spark.executor.memory=1g"],
        None, 2,
        "--conf spark.executor.memory=1g: this is not a session's setting; give it to the server when it is started.",
    ),
    "nobody": (
        [*SHORT, "--master", "sc://127.0.0.1:1/;token=secret", "--to", "file:{folder}/nobody"], None, 1,
        "--master sc://127.0.0.1:1: no Spark Connect server answers there: Connection refused.",
    ),
    "package": (
        [*SHORT, "--master", "{server}", "--to", "file:{folder}/package"], "grpc", 2,
        "--master {server}: grpcio >= 1.48.1 must be installed; however, it was not found: pip install "
        "'cdc-simulator[connect]'.",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Client:
    """What a client found: how each command ended, and what it read."""

    server: str
    folder: Path
    ended: dict[str, tuple[int, str]]
    read: list[list[str]]


def words(name: str, folder: Path) -> list[str]:
    """A run whose files go to `FOLDER/NAME`, with summary and record."""
    scenario, format, to = RUNS[name]
    files = {option: str(folder / f"{name}.{option[2:]}") for option in ("--summary-to", "--record")}
    return [
        "run", str(folder.parent / scenario), "-f", format, "--limit", "700", "--snapshot", "--engine", "spark",
        "--tasks", "5", "-q", "--to", to.format(folder / name), *(word for pair in files.items() for word in pair),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def client(connect: str, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """All commands in one process of its own, since this one has a driver."""
    scenarios = tmp_path_factory.mktemp("connect")
    folder = scenarios / "client"
    for each in (folder, scenarios / "local"):
        each.mkdir()
    for name, text in (("shop.yaml", SHOP), ("script.sql", SCRIPT)):
        (scenarios / name).write_text(text)
    names = {"server": connect, "folder": str(folder)}
    mistakes = {
        name: ([word.format(**names) for word in arguments], wrong)
        for name, (arguments, wrong, _, _) in MISTAKES.items()
    }
    files = {name: ([*words(name, folder), "--master", connect], None) for name in RUNS}
    stopped = {"stopped": ([*SHORT, "--master", connect, "--to", f"file:{folder}/stopped"], "Stuck")}
    runs = {name: mistakes.pop(name) for name in ("package", "nobody", "setting")} | files | mistakes | stopped
    (folder / "runs.json").write_text(json.dumps(runs))
    program = [sys.executable, str(Path(__file__).with_name("connected.py")), connect, str(scenarios / "shop.yaml")]
    done = subprocess.run(
        [*program, str(folder)], env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Client(connect, folder, *pickle.loads((folder / "found.pickle").read_bytes()))


@pytest.mark.parametrize("name", RUNS)
def test_files_are_those_of_a_driver(client: Client, command: Command, name: str) -> None:
    """Byte for byte, and the summary and record of the run."""
    assert client.ended[name] == (0, "")
    local = client.folder.parent / "local"
    command(*words(name, local), status=0)
    files = [
        {path.relative_to(folder / name): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()}
        for folder in (local, client.folder)
    ]
    assert files[0] == files[1]
    assert len(files[0]) > 5
    for kind in ("summary-to", "record"):
        here, there = (summary(folder / f"{name}.{kind}") for folder in (local, client.folder))
        for facts in (here, there):
            for own in ("seconds", "to", "run"):
                facts.pop(own, None)
        assert here == there


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(client: Client, name: str) -> None:
    _, _, status, sentence = MISTAKES[name]
    said = sentence.format(server=client.server, folder=client.folder)
    assert client.ended[name] == (status, f"cdcsim: {said}\n")


def test_interrupted(client: Client) -> None:
    """Ctrl-C cancels the tasks on the server, also one that is stuck."""
    to = client.folder / "stopped"
    said = f"interrupted: file:{to} is not complete; remove what is there, then run again.\n"
    assert client.ended["stopped"] == (130, said)
    assert not (to / "_SUCCESS").exists()


def test_the_data_source(client: Client) -> None:
    job = open_job(str(client.folder.parent / "shop.yaml"), "dts-canal-json")
    wanted = [message.value for message in job.messages(Limits(turns=300), snapshot=True)]
    batch, stream = client.read
    assert batch == stream == wanted


def test_a_server_cannot_have_functions_called() -> None:
    """What a hostile server may return instead of a task's result."""
    read = []

    class Hostile:
        def __reduce__(self) -> Any:
            return read.append, (1,)

    class Command:
        def __reduce__(self) -> Any:
            return os.system, ("true",)

    for hostile in (Hostile(), Command(), Path("x")):
        with pytest.raises(SinkError, match="which no task of cdcsim does"):
            Results(io.BytesIO(pickle.dumps(hostile))).load()
    assert not read
    summary = Summary(topics={"t": 3})
    assert Results(io.BytesIO(pickle.dumps([1, "a", None, summary]))).load() == [1, "a", None, summary]
