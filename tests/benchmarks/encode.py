"""The encoder alone, in one thread, against a loop over ready-made dicts of the same messages: `orjson.dumps`, or
fastavro's writer where the format is Avro."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from measure import in_turns, progress, spread, table
from rowwise import rowwise

from simulator.api import open_job
from simulator.batch import PackedBatch
from simulator.delivery.router import parse_route
from simulator.render import Renderer


def run(scenario: str, formats: Sequence[str], *, quick: bool) -> None:
    rows = [measure(scenario, format, rounds=3 if quick else 11) for format in formats]
    table(
        f"encode: {scenario}, one thread",
        ("format", "bytes", "columns: messages/s", "MB/s", "row by row: messages/s", "MB/s", "ratio"),
        rows,
        "In processor time. `columns` turns values into text, too; orjson and fastavro find it in their dicts.",
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
    name, made, write = rowwise(values, job.codec.layout.container)
    progress(f"{format}: {len(values):,} messages in {len(packed)} batches")

    def columns() -> float:
        begin = time.process_time()
        for batch in packed:
            encode(batch)
        return time.process_time() - begin

    def row_by_row() -> float:
        begin = time.process_time()
        write(made)
        return time.process_time() - begin

    found = in_turns(rounds, {"columns": columns, name: row_by_row})
    size = sum(map(len, values)) / len(values)
    rates = {name: len(values) / median(seconds) for name, seconds in found.items()}
    cells = [format, f"{size:.0f}"]
    for each, rate in rates.items():
        rated = f"{rate:,.0f} {spread(found[each])}"
        cells += [rated if each == "columns" else f"{name} {rated}", f"{rate * size / 1e6:,.0f}"]
    return [*cells, f"{rates['columns'] / rates[name]:.2f}"]
