"""Tasks of a window, as threads without Spark: they send in turns, in stream order, and end if something goes wrong."""

from __future__ import annotations

import itertools
import pickle
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from runs import CHANGES, PARTITIONS, job_of

from simulator.batch import MessageBatch
from simulator.errors import SinkError, UsageError
from simulator.run.job import Job, Partitions
from simulator.run.plan import Limits
from simulator.run.session import share_run
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.memory import MemorySink
from simulator.sinks.sink import Sink
from simulator.spark.brokers import Broker, BrokerRun, Sent, Window, deliver
from simulator.spark.ring import SECRET_BYTES, Ring
from simulator.spark.work import Work, work

pytestmark = pytest.mark.spark  # for its time: a fast test is about less
SECRET = b"s" * SECRET_BYTES


class Gather:
    """What Spark's barrier does: the words of all tasks, in their order."""

    def __init__(self, tasks: int) -> None:
        self.words = [""] * tasks
        self.here = threading.Barrier(tasks)

    def of(self, task: int) -> Callable[[str], list[str]]:
        def gather(word: str) -> list[str]:
            self.words[task] = word
            self.here.wait()
            return self.words

        return gather


@dataclass(frozen=True)
class Topics(Broker):
    """Topics that all tasks share. The message of number `refused` is refused, and all behind it in its batch."""

    url: str = "memory:"
    values: dict[Place, list[bytes]] = field(default_factory=dict)
    refused: int | None = None
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def open(self) -> Sink:
        return TopicsSink(self)


class TopicsSink(MemorySink):
    def __init__(self, topics: Topics) -> None:
        super().__init__(partitions=PARTITIONS)
        self.topics = topics

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for parcel in parcels:
            for value in batch["value"].take(parcel.rows).to_pylist():
                if next(self.topics.numbers) == self.topics.refused:
                    raise SinkError("the broker refuses it")
                self.topics.values.setdefault((parcel.topic, parcel.partition), []).append(value)
            self.ledger.acknowledge_parcel(parcel)


def delivered(topics: Topics, todo: Work, tasks: int, monkeypatch: pytest.MonkeyPatch) -> list[Sent]:
    """A window of all shares, in tasks at once."""
    window, gather = Window(range(todo.tasks), tasks, min(PARTITIONS, tasks), SECRET), Gather(tasks)
    place = threading.local()
    monkeypatch.setattr(
        "simulator.spark.brokers.ring", lambda secret: Ring("127.0.0.1", place.task, secret, gather.of(place.task))
    )

    def run(task: int) -> Sent:
        place.task = task
        return deliver(topics, todo, window, task)

    with ThreadPoolExecutor(tasks) as pool:
        return [*pool.map(run, range(tasks))]


def shares(job: Job, count: int) -> Work:
    plan = job.plan(Limits(changes=CHANGES), snapshot=True).counted()
    return work(pickle.dumps(job), plan, tuple(plan.snapshot_blocks()), tasks=count, cores=1, blocks_a_task=1)


def locally(job: Job) -> dict[Place, list[bytes]]:
    found: dict[Place, list[bytes]] = {}
    for message in job.messages(Limits(changes=CHANGES), snapshot=True):
        found.setdefault((message.topic, message.partition or 0), []).append(message.value or b"")
    return found


@pytest.mark.parametrize("scenario", ["shop.yaml", "tour", "script.sql"])
def test_order(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of tasks and of shares: each partition is that of a local run."""
    job = job_of(scenario, "canal-json", tmp_path).addressed(route="key", partitions=Partitions(PARTITIONS))
    wanted = locally(job)
    for tasks, count, alone in (
        (1, 1, False),
        (1, 5, True),
        (2, 7, False),
        (3, 3, True),
        (4, 30, False),
        (4, 30, True),
    ):
        monkeypatch.setattr(TopicsSink, "reads_parcels_alone", alone)
        topics, todo = Topics(), shares(job, count)
        sent = delivered(topics, todo, min(tasks, todo.tasks), monkeypatch)
        assert topics.values == wanted
        assert [one.failure for one in sent] == [None] * len(sent)
        assert sum(summary.messages for one in sent for summary in one.rendered) == sum(map(len, wanted.values()))


def test_a_refusal_ends_all_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition has a beginning of its messages, without a gap, and the account says how many."""
    job = job_of("shop.yaml", "canal-json", tmp_path).addressed(route="key", partitions=Partitions(PARTITIONS))
    wanted = locally(job)
    for tasks, refused in ((1, 0), (2, 300), (4, 500)):
        topics = Topics(refused=refused)
        sent = delivered(topics, shares(job, 20), tasks, monkeypatch)
        assert [str(one.failure) for one in sent if one.failure] == ["the broker refuses it"]
        for place, values in topics.values.items():
            assert values == wanted[place][: len(values)]
        assert refused <= sum(map(len, topics.values.values())) < sum(map(len, wanted.values()))


def test_an_error_in_rendering_is_of_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was rendered before it is sent, and the error says that the scenario is wrong."""
    job = job_of("shop.yaml", "canal-json", tmp_path).addressed(route="key", partitions=Partitions(PARTITIONS))
    numbers = itertools.count()

    def failing(*arguments: object) -> object:
        if next(numbers) == 6:
            raise UsageError("a value is too long")
        return share_run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("simulator.spark.brokers.share_run", failing)
    topics = Topics()
    failures = [one.failure for one in delivered(topics, shares(job, 20), 2, monkeypatch) if one.failure]
    assert [(type(failure), str(failure)) for failure in failures] == [(UsageError, "a value is too long")]
    wanted = locally(job)
    assert all(values == wanted[place][: len(values)] for place, values in topics.values.items())


def test_executors_that_come_and_go(tmp_path: Path) -> None:
    session = SimpleNamespace(conf={"spark.dynamicAllocation.enabled": "true"})
    with pytest.raises(UsageError, match=r"^spark\.dynamicAllocation\.enabled: .* set it to false\.$"):
        BrokerRun(session, job_of("tour", "canal-json", tmp_path), Topics(), limits=Limits(changes=CHANGES))


def test_a_neighbour_that_dies_and_a_stranger() -> None:
    """Who does not know the secret is sent away; who waits for a task that has died is told so."""
    gather = Gather(2)
    with Ring("127.0.0.1", 0, SECRET, gather.of(0)) as first:
        stranger = socket.create_connection(first.address)
        stranger.sendall(b"x" * SECRET_BYTES)
        with Ring("127.0.0.1", 1, SECRET, gather.of(1)) as second:
            second.tell(False, lambda: None)
            assert first.wait(lambda: None) is False
        assert stranger.recv(1) == b""
        stranger.close()
        with pytest.raises(OSError, match="has died"):
            first.wait(lambda: None)
