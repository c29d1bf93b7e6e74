"""Runs of the command whose broker goes away, and that are killed: nothing is lost, and what is repeated is counted.

What becomes of runs that are killed is above all in `test_schedules.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
import uuid
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import cdcsim, start, summary
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka_client import asked
from test_kafka import read
from test_rabbitmq import bodies as queue_bodies
from test_rabbitmq import connection
from test_rocketmq import bodies as topic_bodies
from waiting import wait_until

import simulator
from simulator.errors import UsageError
from simulator.model import Message
from simulator.run import bookmark
from simulator.run.job import Partitions, open_job
from simulator.run.plan import Limits
from simulator.sinks.rocketmq.cluster import Cluster
from simulator.sinks.rocketmq.remoting import Connection
from simulator.sinks.rocketmq.url import parse_url

OUTAGES = int(os.environ.get("CDCSIM_OUTAGES", "1"))
OUTAGE_SECS = float(os.environ.get("CDCSIM_OUTAGE_SECS", "2"))
RATE = 1000  # changes a second
# From the start of one outage to the next: a broker takes a while to start on a busy machine. The last one begins well
# before the end of the run, which it then makes longer.
OUTAGE_TURN_SECS = OUTAGE_SECS + 20
LAST_SECS = 8
PARTITIONS = 3
# What is on its way to RabbitMQ or, with a request of each queue, to RocketMQ.
MOST_AGAIN = 2000
# Requests of RocketMQ's administrators (RequestCode.java).
DELETE_TOPIC_IN_BROKER, DELETE_TOPIC_IN_NAMESRV = 215, 216


def kinds(*names: str) -> list[Any]:
    """The first word is the kind of broker."""
    return [pytest.param(name, marks=pytest.mark.broker(name.split()[0])) for name in names]


BROKERS = ("kafka", "rabbitmq", "rocketmq")


def destination(kind: str, address: str, topic: str, *, seconds: int = 300) -> str:
    """With as much time to connect as there is for an outage: a busy broker may need more than five seconds."""
    broker, _, how = kind.partition(" ")
    if broker == "rabbitmq":
        more = f"&timeout_secs={seconds}" + ("&queue_type=quorum" if how == "quorum" else "")
        return f"amqp://{address}/?topic={topic}&queue={{topic}}&partitions={PARTITIONS}&exchange=amq.direct{more}"
    more = f"&timeout_secs={seconds}" + ("&client=native" if kind == "rocketmq" else "")
    return f"{broker}://{address}/{topic}?partitions={PARTITIONS}{more}"


def contents(kind: str, address: str, topic: str, request: pytest.FixtureRequest) -> dict[int, list[bytes]]:
    broker, _, how = kind.partition(" ")
    if broker == "kafka":
        return {number: [message.value() for message in found] for number, found in read(address, topic).items()}
    if broker == "rabbitmq":
        queue = "quorum" if how == "quorum" else "classic"
        return {n: queue_bodies(address, f"{topic}.{n}", queue) for n in range(PARTITIONS)}
    return topic_bodies(request.getfixturevalue("java"), address, topic)


def sent(kind: str, changes: int) -> list[Message]:
    """What a run of `orders` sends."""
    job = open_job("orders", "canal-json", broker=kind.split()[0])  # type: ignore[arg-type]
    return [*job.addressed(route="key", partitions=Partitions(PARTITIONS)).messages(Limits(changes=changes))]


def by_partition(messages: list[Message]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    for message in messages:
        found[message.partition or 0].append(message.value or b"")
    return found


def command(kind: str, address: str, topic: str, changes: int, file: Path) -> list[str]:
    """A run of `orders` at a rate, which can be resumed."""
    found = ["run", "orders", "-f", "canal-json", "--route", "key", "--limit", str(changes), "--rate", f"{RATE}/s"]
    return [*found, "--allow-undocumented", "--resume", str(file), "--to", destination(kind, address, topic)]


def wait_for_progress(process: subprocess.Popen[bytes], file: Path) -> None:
    """Until more has been acknowledged than now; the run must not end before."""
    begun = position(file)
    while position(file) == begun:
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.02)


def position(file: Path) -> Any:
    found = bookmark.read(file)
    return found and (found.position.acknowledged or None)


@pytest.mark.parametrize("kind", kinds(*BROKERS, "rabbitmq quorum", "rocketmq library"))
def test_a_broker_that_stops_and_starts_again_only_costs_time(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Another run does not wait for the first outage to end. CDCSIM_OUTAGES says how many there are, CDCSIM_OUTAGE_SECS
    how long the others take: the broker is killed the first time, then stopped, and so on. RabbitMQ is stopped first:
    killed right after a quorum queue or a binding was declared, 3.10 itself loses it."""
    broker, topic = request.getfixturevalue(f"{kind.split()[0]}_broker"), f"test_{uuid.uuid4().hex}"
    if kind == "rocketmq library":
        request.getfixturevalue("rocketmq_library")
    file, record = tmp_path / "position", tmp_path / "record.json"
    changes = int(RATE * (LAST_SECS + (OUTAGES - 1) * OUTAGE_TURN_SECS))
    ends = [partial(broker.kill, "broker"), broker.stop]
    if kind.startswith("rabbitmq"):
        ends.reverse()
    arguments = command(kind, broker.address, topic, changes, file)
    url = destination(kind, broker.address, f"{topic}_hasty", seconds=15)
    hasty = ["run", "crud", "-f", "canal-json", "--limit", "100000", "--rate", "500/s", "--allow-undocumented"]
    hasty += ["--to", url, "--resume", str(tmp_path / "hasty"), "--summary-to", str(tmp_path / "facts")]
    with start(*hasty) as gives_up:
        wait_for_progress(gives_up, tmp_path / "hasty")
        with start(*arguments, "--record", record) as process:
            for number in range(OUTAGES):
                wait_for_progress(process, file)
                ends[number % 2]()
                if number == 0:
                    reported(gives_up, tmp_path / "facts")
                else:
                    time.sleep(OUTAGE_SECS)
                broker.start()
            _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err.decode()
    reports = [line for line in err.decode().splitlines() if line.startswith("waiting: no message was acknowledged")]
    assert len(reports) >= OUTAGES
    told = summary(record)
    assert (told["failed"], told["delivered"]) == (0, told["messages"])
    assert told["latency_ms"]["max"] >= 1000 * OUTAGE_SECS
    found, wanted = contents(kind, broker.address, topic, request), by_partition(sent(kind, changes))
    # in order, and only what was on its way comes again; Kafka knows it
    assert {number: list(dict.fromkeys(values)) for number, values in found.items()} == wanted
    assert kind != "kafka" or found == wanted
    counted = {each["partition"]: each["messages"] for each in told["repeated_in"]}
    again = {number: len(values) - len(wanted[number]) for number, values in found.items()}
    assert [number for number in again if again[number] > counted.get(number, 0)] == [], (again, counted)
    assert sum(again.values()) <= OUTAGES * MOST_AGAIN


def reported(process: subprocess.Popen[bytes], facts: Path) -> None:
    """A run that does not wait for its broker for long: it says so, and what was delivered."""
    _, err = process.communicate(timeout=600)
    assert process.returncode == 1, err.decode()
    lines = err.decode().splitlines()
    assert any(re.match(r"waiting: no message was acknowledged for \d+ s: ", line) for line in lines), lines
    told = summary(facts)
    assert lines[-1].startswith(f"cdcsim: {told['failed']} of ")
    assert told["delivered"] > 0
    assert told["delivered"] + told["failed"] == told["messages"]


def kill_and_resume(arguments: list[str], file: Path) -> None:
    """A paced run, killed once some of its messages are acknowledged, then run to its end."""
    with start(*arguments, "--rate", "3000/s", "-q") as process:
        wait_for_progress(process, file)
        process.kill()
    cdcsim(*arguments, "-q")


@pytest.mark.broker("kafka")
def test_a_run_in_transactions_takes_the_position_of_no_other_run(kafka: str, tmp_path: Path) -> None:
    """Two topics and one transactional id, and a run that begins anew: each has every message once."""
    name = f"test_{uuid.uuid4().hex}"
    wanted = [message.value for message in simulator.messages("crud", "canal-json", limit=6000)]

    def arguments(topic: str, file: Path) -> list[str]:
        to = f"kafka://{kafka}/{name}.{topic}?partitions=1&exactly-once=true&transactional-id={name}"
        return ["run", "crud", "-f", "canal-json", "--limit", "6000", "--to", to, "--resume", str(file)]

    def values(topic: str) -> list[bytes | None]:
        return [message.value() for message in read(kafka, f"{name}.{topic}")[0]]

    cdcsim(*arguments("one", tmp_path / "one"), "-q")
    kill_and_resume(arguments("two", tmp_path / "two"), tmp_path / "two")
    assert values("two") == wanted
    kill_and_resume(arguments("one", tmp_path / "anew"), tmp_path / "anew")
    assert values("one") == 2 * wanted


@pytest.mark.broker("kafka")
def test_transactions_that_the_broker_has_forgotten_are_missed(kafka: str, tmp_path: Path) -> None:
    name, file = f"test_{uuid.uuid4().hex}", tmp_path / "position"
    to = f"kafka://{kafka}/{name}?partitions=1&exactly-once=true"
    arguments = ["run", "crud", "-f", "canal-json", "--to", to, "--resume", file, "--limit"]
    cdcsim(*arguments, "500")
    mark = bookmark.read(file)
    assert mark
    bookmark.write(file, replace(mark, run_id="forgotten"))
    done = cdcsim(*arguments, "1000", status=2)
    assert "were committed, and the broker knows of none: its topics were deleted" in done.stderr


def delete(kind: str, address: str, topic: str) -> None:
    """Deletes a topic, of RabbitMQ one of its queues."""
    if kind == "kafka":
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})

        def is_gone() -> bool:
            with suppress(KafkaException):  # of a topic that is gone, or an answer that is lost
                client.delete_topics([topic])[topic].result()
            return topic not in asked(lambda: client.list_topics(timeout=30)).topics

        wait_until(is_gone, "the topic is deleted")
    elif kind == "rabbitmq":
        with connection(address) as other:
            other.channel().queue_delete(f"{topic}.{PARTITIONS - 1}")
    else:
        url = parse_url(f"rocketmq://{address}/{topic}")
        broker = Cluster(url).queues(topic)[0].address
        for server, code in ((broker, DELETE_TOPIC_IN_BROKER), (address, DELETE_TOPIC_IN_NAMESRV)):
            with closing(Connection(server, None, 60)) as other:
                other.request(code, {"topic": topic})


@pytest.mark.parametrize("kind", kinds(*BROKERS))
def test_a_topic_that_was_deleted_is_missed(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Nobody would send again what had arrived there; also where another run has made the topic since. Of a queue of
    RabbitMQ that was made again nobody can tell."""
    address, topic = request.getfixturevalue(kind), f"test_{uuid.uuid4().hex}"
    to, file = destination(kind, address, topic), tmp_path / "position"

    def publish(limit: int, resume: Path | None = file) -> int:
        return simulator.publish("crud", "canal-json", to, limit=limit, resume=resume, allow_undocumented=True).messages

    publish(200)
    assert publish(400) == 200
    delete(kind, address, topic)
    missed = f"topic '{topic}', partition {2 if kind == 'rabbitmq' else 0}, and it cannot have as many now"
    with pytest.raises(UsageError, match=missed):
        publish(600)
    if kind != "rabbitmq":
        assert publish(200, resume=None) == 200
        with pytest.raises(UsageError, match=missed):
            publish(600)


@pytest.mark.broker("kafka")
def test_a_resumed_run_has_the_same_partitioner(kafka: str, tmp_path: Path) -> None:
    name, file, properties = f"test_{uuid.uuid4().hex}", tmp_path / "position", tmp_path / "client.properties"
    properties.write_text("linger.ms=5\n")
    to = f"kafka://{kafka}/{name}?partitions=3&properties={properties}"
    arguments = ["run", "crud", "-f", "canal-json", "--to", to, "--resume", file, "--limit"]
    cdcsim(*arguments, "500")
    properties.write_text("partitioner=consistent\n")
    done = cdcsim(*arguments, "1000", status=2)
    assert "that run had partitioner 'murmur2_random', and this one has 'consistent'" in done.stderr
