"""The main job, as a user runs it: `cdcsim run orders -f dts-canal-json --to kafka://…`, read back by another client.

CDCSIM_MAIN_JOB_CHANGES says how many row changes, 60,000 where it says nothing: more than the queue holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from command import cdcsim, summary
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka_client import asked

from simulator.run.job import open_job
from simulator.run.plan import Limits

CHANGES = int(os.environ.get("CDCSIM_MAIN_JOB_CHANGES", "60000"))
# A minute for each half million changes beside the twenty that every test has.
pytestmark = [pytest.mark.broker("kafka"), pytest.mark.timeout(1200 + CHANGES // 8000)]

SCENARIO, FORMAT = "orders", "dts-canal-json"
SILENCE_SECONDS = 120


def read(address: str, topic: str) -> Iterator[tuple[int, bytes]]:
    """(partition, value) of all messages of a topic that nobody writes to, each partition in its order."""
    settings = {"bootstrap.servers": address, "group.id": "main-job", "enable.partition.eof": True, "log_level": 0}
    with closing(Consumer({**settings, "enable.auto.commit": False})) as consumer:
        partitions = list(asked(lambda: consumer.list_topics(topic, timeout=10)).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
        unfinished = set(partitions)
        heard = time.monotonic()
        while unfinished:
            for message in consumer.consume(5000, timeout=0.5):
                error = message.error()
                if error is None:
                    heard = time.monotonic()
                    yield message.partition(), message.value()
                elif error.code() == KafkaError._PARTITION_EOF:
                    unfinished.discard(message.partition())
                # Others pass: the reader connects again by itself.
            assert time.monotonic() - heard < SILENCE_SECONDS, f"partitions {unfinished} have no end"


@dataclass
class Tally:
    """What a topic holds. `prints` is a sum over all messages: equal for equal messages in whatever order."""

    messages: int = 0
    types: Counter[str] = field(default_factory=Counter)
    by_partition: Counter[int] = field(default_factory=Counter)
    prints: int = 0
    last_ids: dict[int, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)

    def add(self, partition: int, value: bytes, message: dict[str, Any]) -> None:
        self.messages += 1
        self.types[message["type"]] += len(message.get("data", [None]))
        self.by_partition[partition] += 1
        self.prints = (self.prints + int.from_bytes(hashlib.blake2b(value, digest_size=16).digest(), "big")) % 2**128
        number = message["id"]
        assert number > self.last_ids.get(partition, -1), f"partition {partition} is out of order at id {number}"
        self.last_ids[partition] = number
        self.ids.append(number)

    def check(self, told: dict[str, Any]) -> None:
        """Exactly what the summary of the run names: nothing is missing and nothing is there twice."""
        assert (told["failed"], told["interrupted"]) == (0, False)
        assert told["changes"] >= CHANGES
        assert self.messages == told["messages"] == told["delivered"] == sum(told["topics"].values())
        assert self.types["INIT"] == told["snapshot_rows"]
        assert self.types["DDL"] == told["ddl"]
        assert sum(self.types[type] for type in ("INSERT", "UPDATE", "DELETE")) == told["changes"]
        assert set(self.types) <= {"INIT", "DDL", "INSERT", "UPDATE", "DELETE"}
        assert len(np.unique(np.array(self.ids, dtype=np.int64))) == self.messages


Job = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture(scope="module")
def job(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Runs the command; gives its summary and the topic. The topics go when the module ends."""
    topics = []

    def run(partitions: int, *arguments: str) -> tuple[dict[str, Any], str]:
        topic = f"main-job.{uuid.uuid4().hex}"
        topics.append(topic)
        facts = tmp_path_factory.mktemp("main-job") / "summary.json"
        url = f"kafka://{kafka}/{topic}?partitions={partitions}&timeout_secs=300"
        limit = ["--limit", str(CHANGES), "--summary-to", str(facts)]
        done = cdcsim("run", SCENARIO, "-f", FORMAT, "--snapshot", "--to", url, *limit, *arguments)
        assert done.stdout == ""
        told = summary(facts)
        assert f"{told['delivered']:,} messages delivered to kafka://{kafka}/{topic}" in done.stderr
        assert told["topics"] == {topic: told["messages"]}
        return told, topic

    yield run
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    for topic in topics:
        with suppress(KafkaException, TimeoutError):  # what stays on the disk is no mistake of the run
            admin.delete_topics([topic])[topic].result(30)


@pytest.fixture(scope="module")
def whole(kafka: str, job: Job) -> tuple[dict[str, Any], Tally, str]:
    """The job with one partition: its summary, and what the topic holds: all in all, and a digest of it in order."""
    told, topic = job(1)
    tally, digest = Tally(), hashlib.sha256()
    for partition, value in read(kafka, topic):
        tally.add(partition, value, json.loads(value))
        digest.update(value)
    return told, tally, digest.hexdigest()


def test_one_partition_holds_every_message_once_and_in_order(whole: tuple[dict[str, Any], Tally, str]) -> None:
    told, tally, digest = whole
    tally.check(told)
    expected = hashlib.sha256()
    for message in open_job(SCENARIO, FORMAT).messages(Limits(changes=CHANGES), snapshot=True):
        expected.update(message.value or b"")
    assert digest == expected.hexdigest()


@pytest.mark.parametrize("route", ["key", "table"])
def test_six_partitions_hold_the_same_messages(
    kafka: str, job: Job, whole: tuple[dict[str, Any], Tally, str], route: str
) -> None:
    one, all_in_one, _ = whole
    told, topic = job(6, "--route", route)
    tally = Tally()
    for partition, value in read(kafka, topic):
        tally.add(partition, value, json.loads(value))
    tally.check(told)
    assert tally.prints == all_in_one.prints
    assert tally.types == all_in_one.types
    same = ("first_turn", "next_turn", "changes", "snapshot_rows", "ddl", "heartbeats", "messages", "bytes")
    assert [told[name] for name in same] == [one[name] for name in same]
    assert len(tally.by_partition) >= (6 if route == "key" else 3), tally.by_partition
