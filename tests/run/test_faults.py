"""Faults: the same bytes however they are made, lists of what occurred, and what each product sends again."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from command import Command, summary
from each import each

import simulator
from simulator.batch import MessageBatch
from simulator.errors import UsageError
from simulator.model import Message
from simulator.run import bookmark
from simulator.run.bookmark import Bookmark
from simulator.run.faults.spec import BY_NAME, KINDS, of_section, parse
from simulator.run.job import Partitions, open_job
from simulator.run.plan import Limits
from simulator.run.resume import Resumed, rest
from simulator.sinks.kafka.mock import MockCluster
from simulator.sinks.ledger import Position
from simulator.sinks.memory import MemorySink
from simulator.truth.verify.opening import open_reader

# Every fault of messages in JSON, with a restart in a thousand turns.
ALL: Final = (
    "redelivery=4000,flush=2000,duplicates,late=0.5,early=0.2,gap,loss,ddl-late,ddl-twice=0.5,poison,truncated,malformed,"
    "oversized,unknown-column,unknown-type,missing-old,unavailable,clock-step,tombstones"
)
FORMAT: Final = (
    "debezium-json,heartbeat.interval.ms=1000,value.converter.schemas.enable=false,key.converter.schemas.enable=false"
)
RUN: Final = ["run", "orders", "-f", FORMAT, "--limit", "2500", "--faults", f"{ALL},heartbeat-silence"]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of a run in one process."""
    folder = tmp_path_factory.mktemp("faults") / "messages"
    simulator.publish("orders", FORMAT, f"file:{folder}?partitions=3", limit=2500, faults=RUN[-1])
    return contents(folder)


@pytest.mark.parametrize("workers", [2, 7])
def test_workers_write_the_same_bytes(command: Command, tmp_path: Path, whole: dict[str, str], workers: int) -> None:
    to, file = tmp_path / "messages", tmp_path / "summary.json"
    command(*RUN, "--to", f"file:{to}?partitions=3", "--workers", str(workers), "--summary-to", file, status=0)
    assert contents(to) == whole
    done = summary(file)
    assert done["faults"] == dict(Counter(fault["fault"] for fault in done["occurrences"]))
    assert {"late", "duplicates", "poison", "unknown-column", "tombstones"} <= done["faults"].keys()
    assert done["faults"].keys() & {"crash", "stop", "failover"}


def test_resumed_runs_write_the_same_bytes(command: Command, tmp_path: Path, whole: dict[str, str]) -> None:
    """A first part ends somewhere in a window of faults."""
    to, file = tmp_path / "messages", tmp_path / "position"
    run = [*RUN, "-q", "--to", f"file:{to}?partitions=3", "--resume", file]
    for limit in ("777", "1555", "2500"):
        command(*(limit if each == "2500" else each for each in run), status=0)
    assert contents(to) == whole
    error = command(*(each if each != RUN[-1] else "poison" for each in run), status=2).err
    assert "that run had --faults" in error


def test_resumed_runs_send_the_same_messages(tmp_path: Path) -> None:
    """To Kafka, whose partitions have keys and tombstones; a part ends where messages are late, and after a restart."""
    cluster = MockCluster()
    cluster.create("__debezium-heartbeat.dbserver1")  # the cluster makes no topic that a run asks it to make
    options: dict[str, Any] = {"faults": RUN[-1], "route": "key"}
    for topic, limits in (("whole", [900]), ("parts", [137, 400, 401, 777, 900])):
        cluster.create(topic)
        for limit in limits:
            resume = tmp_path / "position" if topic == "parts" else None
            to = f"kafka://{cluster.servers}/{topic}?partitions=4"
            simulator.publish("orders", FORMAT, to, limit=limit, resume=resume, **options)
    whole, parts = (read(cluster.servers, topic) for topic in ("whole", "parts"))
    assert parts == whole
    assert sum(map(len, whole.values())) > len({pair for own in whole.values() for pair in own}) + 10
    assert any(value is None for own in whole.values() for _, value in own)


def read(servers: str, topic: str) -> dict[int, list[tuple[bytes | None, bytes | None]]]:
    """Keys and values of each partition."""
    with closing(open_reader(f"kafka://{servers}/{topic}")) as reader:
        found: dict[int, list[tuple[bytes | None, bytes | None]]] = {}
        for number in range(reader.partitions(topic)):
            own = found.setdefault(number, [])
            while (records := reader.take((topic, number), 5000)) is not None:
                own += zip(*(records.column(name).to_pylist() for name in ("key", "value")), strict=True)
        return found


@pytest.mark.parametrize("scenario", ["lost-offset", "failed-connector"])
def test_new_snapshots_and_failed_tasks_are_the_same_in_any_process(
    command: Command, tmp_path: Path, scenario: str
) -> None:
    """Workers, and runs that go on where the messages of a snapshot, or none, are sent."""
    run = ["run", scenario, "-f", FORMAT, "-q", "--to"]
    for name, parts in (("one", ["4000"]), ("parts", ["1030", "1900", "4000"]), ("workers", ["4000"])):
        more = {"one": [], "parts": ["--resume", tmp_path / "position"], "workers": ["--workers", "2"]}[name]
        for turns in parts:
            command(*run, f"file:{tmp_path / name}?partitions=3", "--turns", turns, *more, status=0)
    assert contents(tmp_path / "parts") == contents(tmp_path / "workers") == contents(tmp_path / "one")


def test_runs_go_on_from_any_message(tmp_path: Path) -> None:
    """Each partition is at another message when a run is killed; what is sent after it is the rest."""
    job = open_job("orders", "canal-json", faults=ALL).addressed(route="key", partitions=Partitions(3))
    sink, plan = MemorySink(partitions=3), job.plan(Limits(turns=600), most_turns=128).counted()
    render = cache(job.renderer().render_block)
    sent = lanes(batch for block in plan.blocks() if (batch := render(block)) is not None)
    assert len(sent) == 3
    for seed in range(6):
        draws = random.Random(seed)
        cuts = {place: draws.randrange(1, len(messages)) for place, messages in sent.items()}
        start = min(sent[place][cut].order for place, cut in cuts.items())
        done = {place: sent[place][cut - 1].order for place, cut in cuts.items()}
        file = tmp_path / f"{seed}"
        bookmark.write(file, Bookmark({}, Position(start, done), sent=max(done.values()), partitions={"example": 3}))
        with Resumed(file, {}) as resumed:
            blocks = list(rest(plan, start).blocks())
            batches = (batch for block in blocks if (batch := render(block)) is not None)
            after = lanes(resumed.missing(batch, sink) for batch in batches)
        assert after == {place: sent[place][cut:] for place, cut in cuts.items()}, seed


def lanes(batches: Iterable[MessageBatch]) -> dict[tuple[str, int], list[Message]]:
    """Messages by topic and partition."""
    found: dict[tuple[str, int], list[Message]] = {}
    for message in (message for batch in batches for message in batch.messages()):
        assert message.partition is not None
        found.setdefault((message.topic, message.partition), []).append(message)
    return found


def messages(format: str, faults: str, *, scenario: str = "orders", limit: int = 3000, **options: Any) -> list[Message]:
    job = open_job(scenario, format, faults=faults, **options)
    return list(job.addressed(partitions=Partitions(3)).messages(Limits(changes=limit)))


def test_blocks_of_any_size_have_the_same_messages() -> None:
    job = open_job("orders", "canal-json", faults=ALL).addressed(route="key", partitions=Partitions(3))
    limits = Limits(turns=600)
    wanted = None
    for turns in (128, 4096):
        plan = job.plan(limits, most_turns=turns)
        renderer = job.renderer()
        rendered = [batch for block in plan.blocks() if (batch := renderer.render_block(block)) is not None]
        sent = [message for batch in rendered for message in batch.messages()]
        for lane in lanes(rendered).values():
            assert all(one.order < other.order for one, other in pairwise(lane))
        wanted = wanted or sent
        assert sent == wanted, turns


def test_no_fault_is_a_plain_run() -> None:
    job = open_job("orders", "canal-json")
    assert type(job.renderer()).__name__ == "Renderer"
    assert messages("canal-json", "none", limit=500) == list(
        job.addressed(partitions=Partitions(3)).messages(Limits(changes=500))
    )


@each(
    [
        ("poisson", "--faults 'poisson': there is no such fault. Did you mean 'poison'?"),
        ("poison=2", "--faults poison='2': it is a share from 0 to 1, such as 0.001."),
        ("redelivery=x", "--faults redelivery='x': it is a number of restarts, from 0 on, such as 10."),
        ("redelivery=20000", "--faults redelivery: there are 10,000 restarts in a million turns at the most."),
        ("crash-at=x", "--faults crash-at='x': write an order key such as 30.12"),
        ("crash-at=3.0@4.0", "--faults crash-at='3.0@4.0': the stored position is not after the row."),
        ("flush=10", "--faults flush: it is about restarts; add redelivery, or leave it out."),
        ("crash-at=3.0,redelivery", "--faults crash-at: name places of restarts or their number, not both."),
        ("poison,poison", "--faults poison: write it once."),
        ("", "--faults: name faults, such as redelivery or poison=0.001, or write none."),
    ]
)
def test_errors(text: str, wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert str(caught.value).startswith(wanted), str(caught.value)


def test_texts_are_read_back() -> None:
    for text in ("redelivery,poison=0.5", "crash-at=3.0@2.0,stop-at=7.4", "late,early=0.25"):
        assert str(parse(text)) == text or parse(str(parse(text))) == parse(text)
    assert of_section({"redelivery": "yes", "poison": "0.001", "late": "no"}, "x.yaml") == parse(
        "redelivery,poison=0.001"
    )
    assert len(BY_NAME) == len(KINDS)


def test_faults_that_strike_nothing_are_named(command: Command) -> None:
    """There is one partition, and Canal's messages have no keys."""
    faults = "poison=0.1,tombstones,late,clock-step"
    done = command("run", "at-least-once", "-f", "canal-json", "--limit", "50", "--faults", faults, status=0)
    assert " × poison: a message that cannot be read" in done.err
    assert "struck nothing: late, tombstones\n" in done.err
