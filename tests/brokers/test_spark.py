"""Runs on Spark into a real Kafka: each partition in the order of a local run; what a task that died leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Command, summary
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition
from spark_faults import Deadly

from simulator.run.job import Job, open_job
from simulator.run.plan import Limits
from simulator.sinks.memory import MemorySink
from simulator.spark.sending import BrokerRun

pytestmark = [pytest.mark.spark, pytest.mark.broker("kafka")]
PARTITIONS = 3
LIMITS = Limits(changes=5000)


def messages(address: str, topic: str) -> dict[int, list[tuple[bytes | None, bytes | None]]]:
    """Keys and values of each partition, as another client reads them."""
    found: dict[int, list[tuple[bytes | None, bytes | None]]] = {number: [] for number in range(PARTITIONS)}
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "spark", "enable.partition.eof": True, "log_level": 0}
    )
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in found])
    left = set(found)
    while left:
        for message in consumer.consume(1000, timeout=1):
            if message.error() is None:
                found[message.partition()].append((message.key(), message.value()))
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF
                left.discard(message.partition())
    consumer.close()
    return found


def local(job: Job, *, snapshot: bool = True) -> dict[int, list[tuple[bytes | None, bytes | None]]]:
    """The same of a local run."""
    sink = MemorySink(partitions=PARTITIONS)
    job.run(sink, limits=LIMITS, snapshot=snapshot)()
    found: dict[int, list[tuple[bytes | None, bytes | None]]] = {number: [] for number in range(PARTITIONS)}
    for message in sink.messages():
        assert message.partition is not None
        found[message.partition].append((message.key, message.value))
    return found


def test_order_within_partitions(spark: Any, kafka: str, command: Command, tmp_path: Path) -> None:
    """Several windows of tasks; each partition is that of a local run."""
    job = open_job("bank", "dts-canal-json").addressed(topic="spark-lives")
    url = f"kafka://{kafka}/spark-lives?partitions={PARTITIONS}"
    facts, record = tmp_path / "summary.json", tmp_path / "record.json"
    command(
        "run", "bank", "-f", "dts-canal-json", "--limit", "5000", "--snapshot", "--engine", "spark", "--tasks", "7",
        "--to", url, "--summary-to", facts, "--record", record, status=0,
    )  # fmt: skip
    wanted, done = local(job), summary(facts)
    assert messages(kafka, "spark-lives") == wanted
    assert done["messages"] == done["delivered"] == sum(map(len, wanted.values()))
    assert done["repeated"] == done["failed"] == 0
    assert [each["delivered"] for each in summary(record)["partitions"]] == [len(each) for each in wanted.values()]


def test_the_example_of_a_full_topic(spark: Any, kafka: str) -> None:
    from simulator.spark.examples import preload

    url = f"kafka://{kafka}/spark-preload?partitions={PARTITIONS}"
    done = preload.fill(spark, "bank", "canal-json", 900, url)
    there = messages(kafka, "spark-preload")
    assert done.delivered == sum(map(len, there.values())) > done.changes > 0
    (same,) = {len(set(each)) == len(each) for each in there.values()}
    assert same


def test_a_sender_that_dies(spark: Any, kafka: str) -> None:
    """What it has sent is there twice, and counted; nothing is lost, and the first of each are in order."""
    job = open_job("bank", "dts-canal-json").addressed(topic="spark-dies")
    broker = Deadly(f"kafka://{kafka}/spark-dies?partitions={PARTITIONS}")
    done = BrokerRun(spark, job, broker, limits=LIMITS, tasks=7)()
    wanted, there = local(job, snapshot=False), messages(kafka, "spark-dies")
    assert done.messages == done.delivered == sum(map(len, wanted.values()))
    assert 0 < sum(map(len, there.values())) - done.messages <= done.repeated
    for number, each in there.items():
        assert list(dict.fromkeys(each)) == wanted[number]
