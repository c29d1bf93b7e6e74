"""Runs on Spark into real brokers: each partition in the order of a local run; what a task that died leaves."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from command import Command, environment, summary
from spark_faults import Deadly
from test_kafka import read
from test_runs import BROKERS, PARTITIONS, contents, destination, kinds

from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits
from simulator.spark.brokers import BrokerRun

pytestmark = pytest.mark.spark
EACH = pytest.mark.parametrize("kind", kinds(*BROKERS))
CHANGES = 3000
FAULTS = "redelivery=2000,flush=2000,duplicates=0.02,late=0.5,early=0.5,gap=0.02,poison=0.01,truncated=0.01"


def job_for(kind: str, faults: str = "none") -> Job:
    job = open_job("bank", "canal-json", broker=kind, faults=faults)  # type: ignore[arg-type]
    return job.addressed(route="key", partitions=Partitions(PARTITIONS))


def local(job: Job, *, snapshot: bool) -> dict[int, list[tuple[bytes | None, bytes]]]:
    """Keys and values of each partition, of a local run."""
    found: dict[int, list[tuple[bytes | None, bytes]]] = {number: [] for number in range(PARTITIONS)}
    for message in job.messages(Limits(changes=CHANGES), snapshot=snapshot):
        found[message.partition or 0].append((message.key, message.value or b""))
    return found


def values(pairs: dict[int, list[tuple[bytes | None, bytes]]]) -> dict[int, list[bytes]]:
    return {number: [value for _, value in each] for number, each in pairs.items()}


@EACH
def test_order_within_partitions(
    spark: Any, kind: str, request: pytest.FixtureRequest, command: Command, tmp_path: Path
) -> None:
    """Several windows of tasks; each partition is that of a local run, the snapshot before the changes, with faults."""
    address, topic = request.getfixturevalue(kind), f"test_{uuid.uuid4().hex}"
    facts, record = tmp_path / "summary.json", tmp_path / "record.json"
    command(
        "run", "bank", "-f", "canal-json", "--route", "key", "--limit", str(CHANGES), "--snapshot", "--engine", "spark",
        "--tasks", "11", "--to", destination(kind, address, topic), "--summary-to", facts, "--record", record,
        "--faults", FAULTS, status=0,
    )  # fmt: skip
    wanted, done = local(job_for(kind, FAULTS), snapshot=True), summary(facts)
    assert {"duplicates", "late", "early", "gap", "poison", "truncated"} < done["faults"].keys()
    assert contents(kind, address, topic, request) == values(wanted)
    if kind == "kafka":
        keys = {number: [message.key() for message in found] for number, found in read(address, topic).items()}
        assert keys == {number: [key for key, _ in each] for number, each in wanted.items()}
    assert done["messages"] == done["delivered"] == sum(map(len, wanted.values()))
    assert done["repeated"] == done["failed"] == 0
    assert [each["delivered"] for each in summary(record)["partitions"]] == [len(each) for each in wanted.values()]


@EACH
def test_a_sender_that_dies(spark: Any, kind: str, request: pytest.FixtureRequest) -> None:
    """What it has sent is there twice, and counted; nothing is lost, and the first of each are in order."""
    address, topic = request.getfixturevalue(kind), f"test_{uuid.uuid4().hex}"
    job, broker = job_for(kind), Deadly(destination(kind, address, topic))
    done = BrokerRun(spark, job.addressed(route="key", topic=topic), broker, limits=Limits(changes=CHANGES), tasks=7)()
    wanted, there = values(local(job, snapshot=False)), contents(kind, address, topic, request)
    assert done.messages == done.delivered == sum(map(len, wanted.values()))
    counted = {each["partition"]: each["messages"] for each in done.repeated_in}
    assert sum(map(len, there.values())) > done.messages
    for number, each in there.items():
        assert list(dict.fromkeys(each)) == wanted[number]
        assert len(each) - len(wanted[number]) <= counted.get(number, 0)
    assert done.repeated == sum(counted.values())


@pytest.mark.broker("kafka")
def test_through_spark_connect(connect: str, kafka: str, tmp_path: Path) -> None:
    """A client in a process of its own; senders that die are tried again on the server, as above."""
    topic, facts = f"test_{uuid.uuid4().hex}", tmp_path / "summary.json"
    program = "import spark_faults, simulator.spark.brokers as brokers; brokers.Broker = spark_faults.Deadly; "
    client = [sys.executable, "-c", program + "from simulator.cli.commands import main; main()"]
    words = [
        "run", "bank", "-f", "canal-json", "--route", "key", "--limit", str(CHANGES), "--snapshot", "--engine", "spark",
        "--master", connect, "--tasks", "7", "--to", destination("kafka", kafka, topic), "--summary-to", str(facts),
    ]  # fmt: skip
    subprocess.run([*client, *words], env=environment(), check=True, timeout=900)
    wanted, done = local(job_for("kafka"), snapshot=True), summary(facts)
    there = {number: [(each.key(), each.value()) for each in found] for number, found in read(kafka, topic).items()}
    assert {number: list(dict.fromkeys(found)) for number, found in there.items()} == wanted
    assert done["messages"] == done["delivered"] == sum(map(len, wanted.values()))
    assert 0 < sum(map(len, there.values())) - done["messages"] <= done["repeated"]


@pytest.mark.broker("kafka")
def test_the_example_of_a_full_topic(spark: Any, kafka: str) -> None:
    from simulator.spark.examples import preload

    topic = f"spark-preload-{uuid.uuid4().hex}"
    done = preload.fill(spark, "bank", "canal-json", 900, destination("kafka", kafka, topic))
    there = [message.value() for found in read(kafka, topic).values() for message in found]
    assert done.delivered == len(there) == len(set(there)) > done.changes > 0
