"""Runs of the command that are killed, and whose broker goes away: nothing is lost, and what is repeated is counted."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import cdcsim, start, summary
from test_kafka import read
from test_rabbitmq import bodies as queue_bodies
from test_rocketmq import bodies as topic_bodies

from simulator.run import bookmark
from simulator.run.job import Partitions, open_job
from simulator.run.plan import Limits

KILLS = int(os.environ.get("CDCSIM_KILLS", "2"))
CHANGES = 4000 * KILLS  # sent at twice that in a second, so a run takes about as long as it is killed
PARTITIONS = 3
BROKERS = [pytest.param(kind, marks=pytest.mark.broker(kind)) for kind in ("kafka", "rabbitmq", "rocketmq")]
EXACTLY_ONCE = pytest.param("exactly once", marks=pytest.mark.broker("kafka"))


def destination(kind: str, address: str, topic: str) -> str:
    if kind == "rabbitmq":
        return f"amqp://{address}/?topic={topic}&queue={{topic}}&partitions={PARTITIONS}&exchange=amq.direct"
    more = {"rocketmq": "&client=native", "exactly once": "&exactly-once=true"}.get(kind, "")
    return f"{'kafka' if kind == 'exactly once' else kind}://{address}/{topic}?partitions={PARTITIONS}{more}"


def contents(kind: str, address: str, topic: str, request: pytest.FixtureRequest) -> dict[int, list[bytes]]:
    if kind in ("kafka", "exactly once"):
        return {number: [message.value() for message in found] for number, found in read(address, topic).items()}
    if kind == "rabbitmq":
        return {number: queue_bodies(address, f"{topic}.{number}") for number in range(PARTITIONS)}
    return topic_bodies(request.getfixturevalue("java"), address, topic)


@pytest.mark.parametrize("kind", [*BROKERS, EXACTLY_ONCE])
def test_a_run_that_is_killed_goes_on(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """SIGKILL at any moment; CDCSIM_KILLS says how often."""
    broker = "kafka" if kind == "exactly once" else kind
    address, topic = request.getfixturevalue(broker), f"test_{uuid.uuid4().hex}"
    file, facts = tmp_path / "position", tmp_path / "summary.json"
    arguments = ["run", "orders", "-f", "canal-json", "--route", "key", "--limit", str(CHANGES), "-q"]
    arguments += ["--rate", "8000/s"]
    arguments += ["--allow-undocumented", "--resume", str(file), "--to", destination(kind, address, topic)]
    for number in range(KILLS):
        before = file.stat().st_mtime_ns if file.exists() else None
        with start(*arguments) as process:
            while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
                time.sleep(0.01)
            time.sleep(random.Random(number).random())
            process.kill()
    cdcsim(*arguments, "--summary-to", facts)
    expected: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    job = open_job("orders", "canal-json", broker=broker)  # type: ignore[arg-type]
    for message in job.addressed(route="key", partitions=Partitions(PARTITIONS)).messages(Limits(changes=CHANGES)):
        expected[message.partition or 0].append(message.value or b"")
    found = contents(kind, address, topic, request)
    assert {number: list(dict.fromkeys(values)) for number, values in found.items()} == expected
    times = Counter(value for values in found.values() for value in values)
    # a message comes again once for each kill at the most, and the last run counts those that it may have repeated
    assert max(times.values()) <= (1 if kind == "exactly once" else KILLS + 1)
    if KILLS == 1:
        assert len([value for value, count in times.items() if count > 1]) <= summary(facts)["repeated"]


@pytest.mark.parametrize("kind", BROKERS)
def test_a_broker_that_goes_away_is_reported(
    kind: str, start_kafka: Callable[..., Any], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    broker = start_kafka() if kind == "kafka" else request.getfixturevalue(f"breakable_{kind}")
    topic, facts, file = f"test_{uuid.uuid4().hex}", tmp_path / "summary.json", tmp_path / "position"
    url = f"{destination(kind, broker.address, topic)}&timeout_secs=4"
    arguments = ["run", "crud", "-f", "canal-json", "--rate", "2000/s", "--allow-undocumented", "--to", url]
    with start(*arguments, "--summary-to", facts, "--resume", file) as process:
        while process.poll() is None and not ((mark := bookmark.read(file)) and mark.position.acknowledged):
            time.sleep(0.05)
        broker.kill()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err.decode()
    lines = err.decode().splitlines()
    assert any(line.startswith("waiting: no message was acknowledged for 2 s: ") for line in lines), lines
    assert lines[-1].startswith(f"cdcsim: {summary(facts)['failed']} of ")
    told = summary(facts)
    assert told["delivered"] > 0
    assert told["delivered"] + told["failed"] == told["messages"]
