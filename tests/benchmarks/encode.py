"""The encoder alone, in one thread, against a loop of `orjson.dumps` over ready-made dicts of the same messages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import orjson
from measure import in_turns, progress, spread, table
from rowwise import dicts

from simulator.api import open_job
from simulator.batch import PackedBatch
from simulator.delivery.router import parse_route
from simulator.render import Renderer


def run(scenario: str, formats: Sequence[str], *, quick: bool) -> None:
    rows = [measure(scenario, format, rounds=3 if quick else 11) for format in formats]
    table(
        f"encode: {scenario}, one thread",
        ("format", "bytes", "columns: messages/s", "MB/s", "orjson: messages/s", "MB/s", "ratio"),
        rows,
        "In processor time. `columns` turns values into text, too; `orjson` finds its dicts with the text in them.",
    )


def measure(scenario: str, format: str, *, rounds: int) -> list[str]:
    """One block, cut into messages beforehand: medians of alternating rounds."""
    packed, job = [], open_job(scenario, format)
    encode = job.codec.encode

    def listen(batch: PackedBatch, end: str) -> Any:
        packed.append(batch)
        return encode(batch, end)

    renderer = Renderer(job.stream, job.codec, parse_route(None, job.codec.layout.routing), None, lambda topic: 1)
    block = job.stream.read(0, job.stream.border(job.stream.block_turns))
    job.codec.encode = listen  # type: ignore[method-assign]
    renderer.render(block)
    values = [value for batch in packed for value in encode(batch).cast("binary").to_pylist()]
    made = dicts(values)
    progress(f"{format}: {len(values):,} messages in {len(packed)} batches")

    def columns() -> float:
        begin = time.process_time()
        for batch in packed:
            encode(batch)
        return time.process_time() - begin

    def row_by_row() -> float:
        dumps = orjson.dumps
        begin = time.process_time()
        for message in made:
            dumps(message)
        return time.process_time() - begin

    found = in_turns(rounds, {"columns": columns, "orjson": row_by_row})
    size = sum(map(len, values)) / len(values)
    rates = {name: len(values) / median(seconds) for name, seconds in found.items()}
    cells = [format, f"{size:.0f}"]
    for name, rate in rates.items():
        cells += [f"{rate:,.0f} {spread(found[name])}", f"{rate * size / 1e6:,.0f}"]
    return [*cells, f"{rates['columns'] / rates['orjson']:.2f}"]
