"""A source, a sink and a format from a package of their own, as pip would have installed it, in every kind of run.

The source is the example of `simulator/sources/README.md`; `cdcsim_pigeon.py` has the others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from command import COMMAND, Command, environment

import simulator
from simulator import registry, sources

README: Final = Path(simulator.__file__).parent / "sources" / "README.md"
ENTRY_POINTS: Final = """\
[simulator.sources]
toydb = cdcsim_toydb:ToySource
[simulator.sinks]
pigeon = cdcsim_pigeon:PIGEON
old = cdcsim_pigeon:PigeonSink
[simulator.formats]
toy = cdcsim_pigeon:FORMAT
"""
SCENARIO: Final = """\
tables:
  users:
    columns:
      id: {type: int64, values: {sequence: {start: 1}}}
      name: {type: string(20)}
      n: {type: int32, values: version}
    key: id
    rows: 20
"""
PARTITIONS: Final = 3
LIMIT: Final = 400


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages, with one more distribution in it."""
    folder = tmp_path / "site"
    info = folder / "cdcsim_toys-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cdcsim-toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (folder / "cdcsim_toydb.py").write_text(example, "utf-8")
    shutil.copy(Path(__file__).with_name("cdcsim_pigeon.py"), folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sources.find.cache_clear()
    for name in ("cdcsim_toydb", "cdcsim_pigeon"):
        sys.modules.pop(name, None)


@pytest.fixture
def scenario(site: Path, tmp_path: Path) -> str:
    (tmp_path / "users.yaml").write_text(SCENARIO)
    return str(tmp_path / "users.yaml")


@pytest.fixture
def loft(tmp_path: Path) -> Path:
    (tmp_path / "loft").mkdir()
    return tmp_path / "loft"


def arrived(loft: Path) -> dict[str, list[Any]]:
    return {path.name: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in loft.iterdir()}


def wanted(scenario: str, limit: int = LIMIT, **options: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    options = {"format": "toy", "broker": "pigeon", "partitions": PARTITIONS, "route": "key", **options}
    for message in simulator.messages(scenario, limit=limit, **options):
        row = [message.key and message.key.decode(), message.value and message.value.decode()]
        found.setdefault(f"{message.topic}.{message.partition}", []).append(row)
    return found


def run_of(scenario: str, loft: Path, *more: object) -> list[str]:
    to = f"pigeon:{loft}?partitions={PARTITIONS}"
    return [*map(str, ("run", scenario, "-f", "toy", "--route", "key", "--limit", LIMIT, "--to", to, *more))]


def test_a_run_and_its_summary(command: Command, scenario: str, loft: Path, tmp_path: Path) -> None:
    done = command(*run_of(scenario, loft, "--record", tmp_path / "record"), status=0)
    assert len(arrived(loft)) == PARTITIONS
    assert arrived(loft) == wanted(scenario)
    assert f"messages delivered to pigeon:{loft}?partitions=3" in done.err
    assert "not its bytes" not in done.err
    assert json.loads((tmp_path / "record").read_bytes())["run"]["broker"] == "pigeon"


def test_publish(scenario: str, loft: Path) -> None:
    to = f"pigeon:{loft}?partitions={PARTITIONS}"
    simulator.publish(scenario, "toy", to, limit=LIMIT, route="key", workers=2)
    assert arrived(loft) == wanted(scenario)


def test_resume(command: Command, scenario: str, loft: Path, tmp_path: Path) -> None:
    for limit, more in ((LIMIT, ""), (2 * LIMIT, "&colour=grey")):
        to = ["--to", f"pigeon:{loft}?partitions={PARTITIONS}{more}"]
        run = ["run", scenario, "-f", "toy", "--route", "key", "--limit", str(limit), *to]
        command(*run, "--resume", tmp_path / "position", status=0)
    assert arrived(loft) == wanted(scenario, 2 * LIMIT)


@pytest.mark.spark
def test_spark(site: Path, scenario: str, loft: Path) -> None:
    """In a session of its own, whose processes find the packages as those of a cluster would."""
    path = os.pathsep.join([str(site), environment()["PYTHONPATH"]])
    arguments = run_of(scenario, loft, "--engine", "spark", "--master", "local[1]", "--tasks", "2")
    settings = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([*COMMAND, *arguments], env={**environment(), **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert arrived(loft) == wanted(scenario)


def test_a_product_that_does_not_write_to_pigeons(command: Command, scenario: str, loft: Path) -> None:
    run = [word if word != "toy" else "oms-default" for word in run_of(scenario, loft)]
    refused = command(*run, "--source", "toydb", status=2)
    assert "reads" in refused.err
    done = command(*run, "--allow-undocumented", status=0)
    assert "OceanBase Migration Service does not write oms-default to pigeon: these are not its bytes." in done.err
    assert arrived(loft) == wanted(scenario, format="oms-default", allow_undocumented=True)
    refused = command("run", "crud", "-f", "oms-default", "--to", f"pigeon:{loft}", status=2)
    assert re.search(r"writes .* to kafka, rocketmq, not to pigeon; --allow-undocumented", refused.err)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--to", "pigeon:nowhere"], "--to pigeon:nowhere: there is no loft 'nowhere'."),
        (["run", "--to", "pigeon:{loft}?color=red"], "a pigeon URL has no option 'color'. Did you mean 'colour'?"),
        (["run", "--to", "pigeon:{loft}", "--envelope"], "--envelope writes JSON lines: it goes with --to - or"),
        (["run", "--to", "pidgeon:{loft}"], "no sink 'pidgeon'. Did you mean 'pigeon'?"),
        (["run", "--to", "old:{loft}"], "which is no Transport; install a version of it for this cdcsim."),
        (["show", "--broker", "pidgeon"], "no kind of broker 'pidgeon'. Did you mean 'pigeon'?"),
    ],
)
def test_mistakes(command: Command, scenario: str, loft: Path, arguments: list[str], sentence: str) -> None:
    first, *more = (word.format(loft=loft) for word in arguments)
    assert sentence in command(first, scenario, "-f", "toy", *more, status=2).err
    assert not list(loft.iterdir())


def test_its_names_are_completed(site: Path) -> None:
    from simulator.sinks import schemes

    assert "pigeon" in schemes()
    assert {"toy", "pigeon", "toydb"} <= {
        name for kind in ("format", "sink", "source") for name in registry.names(kind, {})
    }
