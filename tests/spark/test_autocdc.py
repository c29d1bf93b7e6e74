"""AutoCDC of Spark's declarative pipelines: right over crashes and failovers of the product where the place in the log,
or in the partition, orders the changes; wrong, with the cause in the verdict, where a clock does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, Final

import pytest
from command import environment

import simulator
from simulator.library import Simulation
from simulator.truth.verify.tables.comparer import TableVerdict, WrongRow

pytestmark = pytest.mark.spark

HERE: Final = Path(__file__).parent
SECONDS: Final = 900
CATALOG: Final = "copies"
# Plans of a few rows: compiling them would take longer than it gives.
SETTINGS: Final = {
    f"spark.sql.catalog.{CATALOG}": "MergeCatalog",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
CLASSES: Final = "spark.driver.extraClassPath"
PAGE: Final = Path(simulator.__file__).parent / "spark" / "README.md"
PLAIN: Final = "value.converter.schemas.enable=false,key.converter.schemas.enable=false"
DEBEZIUM: Final = f"debezium-json,{PLAIN},decimal.handling.mode=string,time.precision.mode=isostring"
ROWS: Final = {"tables.users.rows": 40}
CRASHES: Final = {"faults.redelivery": 8000}
FAILOVERS: Final = {"faults.failover": 8000, "faults.clock-step": 0.3}
# Rows come back after their DELETE; then the product crashes, and both come again. At the end a row gets another key.
BACK: Final = """\
database: shop
tables:
  users:
    key: id
    columns: {id: {type: int64}, name: {type: string(20)}}
script:
  - transaction: [{insert: users, rows: [{id: 1, name: Ada}, {id: 2, name: Grace}, {id: 3, name: Linus}]}]
  - transaction: [{delete: users, where: [{id: 1}, {id: 2}]}]
  - transaction: [{insert: users, rows: [{id: 1, name: Ada}, {id: 2, name: Grace}]}]
  - transaction: [{update: users, where: {id: 3}, set: {name: Barbara}}]
  - transaction: [{update: users, where: {id: 3}, set: {id: 4}}]
faults: {crash-at: "3.0"}
"""


@dataclass(frozen=True)
class Case:
    """A run, which is a topic, and the consumer of `autocdc_flows.py` that reads it."""

    consumer: str
    scenario: str
    settings: Mapping[str, Any]
    format: str = DEBEZIUM
    source: str | None = None
    partitions: int = 3

    def simulated(self, folder: Path) -> Simulation:
        """The run; a scenario that is a file lies in the folder."""
        file = folder / self.scenario
        generated = not file.exists()
        return simulator.simulate(
            self.scenario if generated else file, self.format, source=self.source, settings=self.settings,
            turns=600 if generated else None, snapshot=generated, route=None, partitions=self.partitions,
        )  # fmt: skip


CASES: Final = {
    "clean": Case("debezium", "at-least-once", ROWS | {"faults": {}}),
    "crashes": Case("debezium", "at-least-once", ROWS | CRASHES),
    "failovers": Case("debezium", "failover", ROWS | FAILOVERS),
    "canal_crashes": Case("canal", "at-least-once", ROWS | CRASHES, "canal-json"),
    "canal_failovers": Case("canal", "failover", ROWS | FAILOVERS, "canal-json"),
    "back": Case("debezium", "back.yaml", {}),
    # offsets of two partitions cannot be compared, and another key may be in another one
    "canal_back": Case("canal", "back.yaml", {}, "canal-json", partitions=1),
    "clock": Case("by_clock", "failover", ROWS | FAILOVERS),
    "tombstones": Case("by_tombstones", "back.yaml", {}),
}


def records_of(run: Simulation) -> Iterator[dict[str, Any]]:
    """The messages about the table as records of Kafka; a tombstone is as late as the delete before it."""
    offsets, clock = dict[int, int](), 0
    for message in run.messages:
        value = message.value and message.value.decode()
        if value is not None:
            document = json.loads(value)
            if "users" not in (document.get("table"), (document.get("source") or {}).get("table")):
                continue
            clock = document.get("ts", document.get("ts_ms"))
        partition = zlib.crc32(message.key or b"") % 3 if message.partition is None else message.partition
        offsets[partition] = offsets.get(partition, -1) + 1
        key = message.key and message.key.decode()
        yield {"key": key, "value": value, "offset": offsets[partition], "timestamp": clock}


def write(topics: Mapping[str, Simulation], folder: Path) -> None:
    """Two files with a half of each topic, each of which is read as a batch."""
    folder.mkdir()
    for name, run in topics.items():
        lines = [json.dumps({"topic": name, **record}) + "\n" for record in records_of(run)]
        for file, half in (("0.json", lines[: len(lines) // 2]), ("1.json", lines[len(lines) // 2 :])):
            with (folder / file).open("a", encoding="utf-8") as output:
                output.writelines(half)


def compile_catalog(spark: Any) -> None:
    """Compile the catalog, by the session's Java, into the folder that this Java has on its classpath."""
    java = spark.sparkContext._jvm
    classpath, folder = java.java.lang.System.getProperty("java.class.path"), spark.conf.get(CLASSES)
    words = ["-proc:none", "-nowarn", "-cp", classpath, "-d", folder, str(HERE / "MergeCatalog.java")]
    arguments = spark.sparkContext._gateway.new_array(java.java.lang.String, len(words))
    for number, word in enumerate(words):
        arguments[number] = word
    errors = java.java.io.StringWriter()
    status = java.com.sun.tools.javac.Main.compile(arguments, java.java.io.PrintWriter(errors))
    assert status == 0, errors.toString()


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """Times of Debezium's are ISO's."""
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    for row in rows:
        if row.get("updated_at"):
            row["updated_at"] = row["updated_at"].removesuffix("Z").replace("T", " ")
    return rows


@pytest.fixture(scope="module")
def verdicts(spark: Any, connect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, TableVerdict]:
    """All cases are of one pipeline, which Spark's own command runs on the server."""
    folder = tmp_path_factory.mktemp("autocdc")
    (folder / "back.yaml").write_text(BACK)
    runs = {name: case.simulated(folder) for name, case in CASES.items()}
    columns = {name: list(next(iter(run.expected.values()))[0]) for name, run in runs.items()}
    for consumer in {case.consumer for case in CASES.values()}:
        write({name: run for name, run in runs.items() if CASES[name].consumer == consumer}, folder / consumer)
    types = {name: "bigint" if name == "id" else "string" for names in columns.values() for name in names}
    (folder / "columns.json").write_text(json.dumps(types))
    shutil.copy(HERE / "autocdc_flows.py", folder)
    spec = {
        "name": "copies",
        "storage": (folder / "storage").as_uri(),
        "catalog": CATALOG,
        "database": "shop",
        "configuration": SETTINGS,
        "libraries": [{"glob": {"include": "autocdc_flows.py"}}],
    }
    (folder / "spark-pipeline.yml").write_text(json.dumps(spec))
    compile_catalog(spark)
    done = subprocess.run(
        [sys.executable, "-m", "pyspark.pipelines.cli", "run", "--spec", str(folder / "spark-pipeline.yml")],
        env={**environment(), "SPARK_REMOTE": connect}, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found, session = {}, spark.newSession()
    session.conf.set(f"spark.sql.catalog.{CATALOG}", SETTINGS[f"spark.sql.catalog.{CATALOG}"])
    for name, run in runs.items():
        table = session.table(f"{CATALOG}.shop.{CASES[name].consumer}")
        frame = table.where(table.topic == name).select(*columns[name])
        (found[name],) = run.verify({"users": rows_of(frame)})
    return found


@pytest.mark.parametrize("name", ["crashes", "failovers", "canal_crashes", "canal_failovers"])
def test_much_comes_again(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    plain = replace(case, settings=ROWS | {"faults": {}})
    assert len(case.simulated(tmp_path).messages) > 1.2 * len(plain.simulated(tmp_path).messages)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.consumer.startswith("by_")])
def test_a_place_orders_the_changes(verdicts: dict[str, TableVerdict], name: str) -> None:
    assert verdicts[name].ok, str(verdicts[name])
    assert verdicts[name].found == verdicts[name].expected > 2


@pytest.mark.parametrize(
    ("name", "counts", "words"),
    [
        # written after a clock went back, or in one millisecond with the change before
        (
            "clock",
            {WrongRow.EXTRA, WrongRow.DIFFERENT},
            (r"it has the state after turn \d+\.0; it was deleted at turn \d+\.0, which was not applied",
             r"it has the state after turn \d+\.0; UPDATE at turn \d+\.0 is missing",
             "the consumer may let older changes win, since it orders them by a clock"),
        ),
        # lost for ever: the DELETE that came again is later than the commit of the INSERT
        (
            "tombstones",
            {WrongRow.MISSING},
            (r"it was deleted at turn 1\.0 and inserted again; its last change is INSERT at turn 2\.0",
             "the consumer may let an old DELETE win, such as one that came again and has a newer time"),
        ),
    ],
)  # fmt: skip
def test_a_clock_does_not(
    verdicts: dict[str, TableVerdict], name: str, counts: set[WrongRow], words: tuple[str, ...]
) -> None:
    verdict = verdicts[name]
    assert set(verdict.counts) == counts, str(verdict)
    for pattern in words:
        assert re.search(pattern, str(verdict)), str(verdict)


def sequences() -> Iterator[tuple[str, str, str, list[str]]]:
    """Format, source, the members that order the changes, and such as do not: the table of the page."""
    table = PAGE.read_text(encoding="utf-8").partition("<!-- sequences -->")[2].partition("<!-- end -->")[0]
    for line in table.strip().splitlines()[2:]:
        (format,), sources, right, wrong = (re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|"))
        yield from ((format, source, ",".join(right), wrong) for source in sources)


def winners(records: Iterable[dict[str, Any]], members: str) -> Iterator[tuple[set[str], str]]:
    """What each row's changes with the greatest value of the members leave, and what its last change does."""
    seen: dict[str, list[tuple[list[Any], str]]] = {}
    for record in records:
        document = json.loads(record["value"] or "{}") | {"offset": record["offset"]}
        deleted = document.get("op", document.get("type", "")).lower() in ("d", "delete")
        rows = document.get("data") or document.get("after") or document.get("before") or []
        for row in rows if isinstance(rows, list) else [rows]:
            value = [reduce(dict.__getitem__, path.split("."), document) for path in members.split(",")]
            seen.setdefault(str(row["id"]), []).append((value, json.dumps(None if deleted else row)))
    for changes in seen.values():
        greatest = max(value for value, _ in changes)
        yield {left for value, left in changes if value == greatest}, changes[-1][1]


@pytest.mark.parametrize(("format", "source", "right", "wrong"), sequences())
@pytest.mark.parametrize("crash", [True, False])
def test_members_that_order_changes(
    format: str, source: str, right: str, wrong: list[str], crash: bool, tmp_path: Path
) -> None:
    scenario, faults = ("at-least-once", CRASHES) if crash else ("failover", FAILOVERS)
    options = f",{PLAIN}" if format.startswith("debezium") else ""
    records = list(records_of(Case("", scenario, ROWS | faults, format + options, source).simulated(tmp_path)))
    for members in (right, *wrong):
        rows = list(winners(records, members))
        assert len(rows) > 100
        assert all(left == {last} for left, last in rows) == (members == right), members
