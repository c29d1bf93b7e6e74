"""The encoder alone, in one thread, in units of one loop: `orjson.dumps` over ready-made dicts of canal-json messages.

Beside it each format against such a loop over its own messages, of fastavro's writer where they are Avro.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

import pyarrow as pa
from measure import in_turns, progress, spread, table
from rowwise import Rowwise, rowwise

from simulator import formats as all_formats
from simulator.batch import PackedBatch
from simulator.delivery.parts import Part
from simulator.delivery.router import parse_route
from simulator.formats.writing import Writer
from simulator.run.job import Job, open_job
from simulator.run.render import Renderer
from simulator.text.template import join

UNIT: Final = "canal-json"


def run(scenario: str, formats: Sequence[str], source: str | None, *, quick: bool) -> None:
    offered = [name for name in formats if source is None or source in all_formats.find(name).sources]
    if not offered:
        raise SystemExit(f"{' '.join(formats)}: not offered for {source}.")
    _, values = cut_up(open_job(scenario, UNIT))
    unit = rowwise(values, None)
    rows = [measure(open_job(scenario, name, source=source), name, unit, rounds=3 if quick else 11) for name in offered]
    table(
        f"encode: {scenario}, one thread",
        ("format", "source", "bytes", "messages/s", "MB/s", "in units", "row by row: messages/s", "ratio"),
        rows,
        f"In processor time. The unit is the loop over {UNIT}. Our encoder turns values into text, too; orjson and "
        "fastavro find it in their dicts.",
    )


def cut_up(job: Job) -> tuple[list[PackedBatch], list[bytes]]:
    """One block, cut into messages beforehand, and the values of these."""
    packed: list[PackedBatch] = []
    codec, messages = job.codec, job.codec.messages

    def listen(batch: PackedBatch) -> Iterator[Part]:
        packed.append(batch)
        return messages(batch)

    renderer = Renderer(job.stream, codec, parse_route(None, codec.layout.routing), None, lambda topic: 1)
    block = job.stream.read(0, job.stream.border(job.stream.block_turns))
    codec.messages = listen  # type: ignore[method-assign]
    renderer.render(block)
    codec.messages = messages  # type: ignore[method-assign]
    writer = codec.layout.writer
    return packed, [value for batch in packed for array in values_of(writer, batch) for value in array.to_pylist()]


def values_of(writer: Writer, batch: PackedBatch) -> Iterator[pa.Array]:
    """The values of a batch's messages, with keys and headers beside them; tombstones have none."""
    for written in writer.messages(batch):
        if written.pieces is not None:
            yield join(written.pieces, len(batch) if written.packs is None else len(written.packs), pa.binary())


def measure(job: Job, format: str, unit: Rowwise, *, rounds: int) -> list[str]:
    """A format's row of the table: medians of alternating rounds."""
    packed, values = cut_up(job)
    writer, own = job.codec.layout.writer, rowwise(values, job.codec.layout.container)
    progress(f"{format}: {len(values):,} messages in {len(packed)} batches")

    def columns() -> float:
        begin = time.process_time()
        for batch in packed:
            for _ in values_of(writer, batch):
                pass
        return time.process_time() - begin

    def loop(rows: Rowwise) -> float:
        begin = time.process_time()
        rows.write(rows.messages)
        return time.process_time() - begin

    found = in_turns(rounds, {"columns": columns, "own": lambda: loop(own), "unit": lambda: loop(unit)})
    size = sum(map(len, values)) / len(values)
    counts = {"columns": len(values), "own": len(own.messages), "unit": len(unit.messages)}
    rates = {name: counts[name] / median(seconds) for name, seconds in found.items()}
    return [
        format,
        str(job.source),
        f"{size:.0f}",
        f"{rates['columns']:,.0f} {spread(found['columns'])}",
        f"{rates['columns'] * size / 1e6:,.0f}",
        f"{rates['columns'] / rates['unit']:.2f}",
        f"{own.name} {rates['own']:,.0f} {spread(found['own'])}",
        f"{rates['columns'] / rates['own']:.2f}",
    ]
