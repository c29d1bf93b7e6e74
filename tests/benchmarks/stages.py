"""Where a message's time goes: nanoseconds of each stage in one thread, with the compiled core and without it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from statistics import median
from typing import Final

from measure import in_turns, progress, table

from simulator.delivery.parts import assembled
from simulator.errors import UsageError
from simulator.native import program
from simulator.run.job import Job, open_job
from simulator.sinks.framing import framing

STAGES: Final = ("stream", "pieces", "write and sort", "lines")
SHIPPED: Final = ("crud", "orders", "bank", "flash-sale", "documents", "wide", "boundary")
FORMATS: Final = (
    "canal-json", "dts-canal-json", "dts-avro", "oms-default", "drs-json", "drs-avro", "cloudcanal-json",
    "cloudcanal-debezium",
)  # fmt: skip


def run(scenarios: Sequence[str], formats: Sequence[str], *, quick: bool) -> None:
    rows = []
    for scenario in scenarios:
        for format in formats:
            try:
                job = open_job(scenario, format)
            except UsageError:  # the format is not offered for the scenario's source
                continue
            rows += measured(job, scenario, format, rounds=2 if quick else 5)
    table(
        "stages",
        ("scenario", "format", "core", *STAGES, "all: ns a message", "messages/s a core"),
        rows,
        "Medians of alternating rounds, in processor time of one thread: no thread of the line waits for another.",
    )


def measured(job: Job, scenario: str, format: str, *, rounds: int) -> list[list[str]]:
    """A row of the table with the compiled core, where it is there, and one without."""
    renderer = job.renderer(lambda topic: 1)
    spent: dict[str, list[list[float]]] = {}
    numbers = count()  # of blocks: a stream remembers the last one

    def once(core: str) -> float:
        number = next(numbers)
        first, stop = (job.stream.border(each * job.stream.block_turns) for each in (number, number + 1))
        with using(core):
            at = [time.thread_time()]
            block = job.stream.read(first, stop, renderer.needed)
            at.append(time.thread_time())
            parts = renderer.parts(block)
            at.append(time.thread_time())
            messages = assembled(parts)
            at.append(time.thread_time())
            for _ in framing(container=job.codec.layout.container).frame(messages):
                pass
            at.append(time.thread_time())
        each = [(end - begin) / len(messages) * 1e9 for begin, end in pairwise(at)]
        spent.setdefault(core, []).append(each)
        return sum(each)

    cores = ["compiled", "Arrow"] if program.compiled() else ["Arrow"]
    progress(f"{scenario} {format}")
    for core in cores:  # pools and tables are made
        once(core)
    spent.clear()
    totals = in_turns(rounds, {core: lambda core=core: once(core) for core in cores})  # type: ignore[misc]
    return [
        [
            scenario, format, core,
            *(f"{median(stage):,.0f}" for stage in zip(*spent[core], strict=True)),
            f"{median(totals[core]):,.0f}", f"{1e9 / median(totals[core]):,.0f}",
        ]
        for core in cores
    ]  # fmt: skip


@contextmanager
def using(core: str) -> Iterator[None]:
    """Whether the compiled core writes."""
    library = program.LIBRARY
    if core == "Arrow":
        program.LIBRARY = None  # type: ignore[misc]
    try:
        yield
    finally:
        program.LIBRARY = library  # type: ignore[misc]
