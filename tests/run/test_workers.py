"""`--workers`: several processes give what one gives, and none of them is left behind."""

from __future__ import annotations

import os
import pickle
import re
import resource
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command import start

import simulator
from simulator.errors import UsageError
from simulator.run.job import Job, Partitions, open_job
from simulator.run.pipeline import Run
from simulator.run.plan import Limits
from simulator.run.processes.shared_memory import SharedMemory
from simulator.run.processes.workers import WorkerEnded, Workers, default_workers, work
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.stream.engine.block import TurnBlock


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_several_processes_write_what_one_writes(tmp_path: Path) -> None:
    """A snapshot, DDL, a limit within a block, whole messages, a rate, and another number of workers after going on."""

    def publish(name: str, limit: int, **more: Any) -> dict[str, Any]:
        return simulator.publish(
            "orders",
            "dts-canal-json",
            f"file:{tmp_path / name}?partitions=3",
            settings={"lifecycles.order.slots": 300, "tables.customers.rows": 400},
            start_at=19_000,
            limit=limit,
            snapshot=True,
            route="key",
            envelope=True,
            **more,
        ).as_dict()

    whole = publish("whole", 12_000)
    first = publish("again", 4000, workers=3, resume=tmp_path / "position", rate="20k/s")
    with ThreadPoolExecutor(1) as thread:  # beside another thread, workers are new processes
        more = {"workers": 2, "resume": tmp_path / "position", "rate": "20k/s"}
        second = thread.submit(publish, "again", 12_000, **more).result()
    assert whole["ddl"]
    assert whole["snapshot_rows"] == first["snapshot_rows"]
    assert first["delivered"] + second["delivered"] == whole["delivered"]
    assert second["next_turn"] == whole["next_turn"]
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


def test_a_worker_that_is_killed_ends_the_run() -> None:
    sink = MemorySink()

    def kill(run: Run) -> None:
        assert isinstance(run.rendering, Workers)
        if run.summary.messages:
            run.rendering.processes[1].kill()

    run = local_run(open_job("orders", "canal-json"), sink, limits=Limits(), workers=2, report=kill)
    with pytest.raises(WorkerEnded) as error:
        run()
    said = re.fullmatch(
        r"worker process \d+ was killed by SIGKILL; all messages up to turn (\d+) were delivered: go on with "
        r"--start-at (\d+), or with fewer --workers\.",
        str(error.value),
    )
    assert said is not None, str(error.value)
    assert int(said[2]) == int(said[1]) + 1 == run.summary.next_turn
    assert run.summary.delivered == run.summary.messages == sum(map(len, sink.batches))
    assert run.plan.stream.count(0, run.summary.next_turn).sum() == run.summary.changes
    assert isinstance(run.rendering, Workers)
    assert [process.wait() for process in run.rendering.processes] == [-9, -9]


def test_workers_end_when_the_run_is_killed(tmp_path: Path) -> None:
    with start("run", "crud", "-f", "canal-json", "--workers", "2", "--to", f"file:{tmp_path / 'to'}") as process:
        workers = list[str]()
        while len(workers) < 2:
            assert process.poll() is None
            workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    while any(alive(int(worker)) for worker in workers):
        time.sleep(0.01)


def alive(process: int) -> bool:
    """Whether there is such a process; one whose status nobody has asked for has ended, too."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


class Refusing(Job):
    """A job that has no block 1."""

    def renderer(self, *args: Any, **options: Any) -> Any:
        renderer = super().renderer(*args, **options)
        begin = renderer.begin

        def refuse(where: TurnBlock) -> Any:
            if where.number == 1:
                raise UsageError("no such block.")
            return begin(where)

        renderer.begin = refuse  # type: ignore[assignment,method-assign]
        return renderer


def test_a_worker_asks_for_partitions_and_answers_with_errors_in_turn() -> None:
    """Requests as they come in: the next blocks stand before the answer to a question about the first one."""
    job = open_job("crud", "canal-json", settings=["tables.users.rows=100"]).addressed(partitions=Partitions(3))
    plan = job.plan(Limits(turns=300), most_turns=100)
    refusing = Refusing(**{each.name: getattr(job, each.name) for each in fields(job)})
    memory, (run, worker) = SharedMemory(), socket.socketpair()
    slots = [memory.free_slot() for _ in range(3)]
    with run, worker, run.makefile("rwb") as file, worker.makefile("rwb") as requests:
        for request in (*zip(plan.blocks(), slots, strict=True), 3):
            pickle.dump(request, file)
        file.flush()
        run.shutdown(socket.SHUT_WR)
        with pytest.raises(EOFError):
            work(requests, memory, refusing)
        worker.shutdown(socket.SHUT_WR)
        assert pickle.load(file) == "example"
        first, error, last = (pickle.load(file) for _ in range(3))
    assert (type(error), str(error)) == (UsageError, "no such block.")
    for stored, block in ((first, 0), (last, 2)):
        rendered = memory.read(slots[block], stored)
        messages, expected = rendered.messages(), job.renderer().render_block(plan.block(block))
        assert messages is not None
        assert expected is not None
        assert messages.columns.equals(expected.columns)
    memory.close()


@pytest.mark.parametrize(
    ("limits", "several"),
    [
        (Limits(), True),
        (Limits(changes=1_000_000), True),
        (Limits(changes=999_999), False),
        (Limits(turns=999_999), False),
        (Limits(seconds=10, turns=1_000_000), True),
        (Limits(turns=1_000_000, changes=10), False),
    ],
)
def test_long_runs_use_the_cores_of_the_machine(limits: Limits, several: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    job = open_job("crud", "canal-json")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(3))
    assert default_workers(job.plan(limits)) == (3 if several else 1)
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1 << 30, 1 << 30))
    assert default_workers(job.plan(limits)) == 1
    with pytest.raises(UsageError, match=r"^--workers 2: .* a file have only 1,073,741,824 bytes: raise it, or leave"):
        Workers(2, job, lambda topic: 1)


def test_a_slot_is_free_when_nothing_refers_to_its_arrays() -> None:
    memory = SharedMemory()
    first = memory.read(memory.free_slot(), memory.write(0, [pa.array([1, 2]), pa.array(["a"])]))
    assert memory.free_slot() == 1
    part = first[0].slice(1)
    del first
    assert memory.free_slot() == 2
    del part
    assert memory.free_slot() == 0
    there = pa.Array.from_buffers(pa.int64(), 1 << 22, [None, memory.room(0, 8 << 22)])  # more than was mapped
    stored = memory.write(0, [pa.array([1]), there])
    assert [end - begin for begin, end in stored.arrays] == [8, 8 << 22]
    assert stored.arrays[1][0] == 0, "it is not copied"
    assert memory.read(0, stored)[0].to_pylist() == [1]
    memory.close()


def test_a_script_that_a_server_runs_has_one_process(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    job = open_job(str(script), "canal-json")
    job = replace(job, scenario=replace(job.scenario, engine="mysql://localhost"))  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"--workers 2: a server runs .*script\.sql, and each worker"):
        local_run(job, MemorySink(), limits=Limits(), workers=2)
