"""Estimate of a run from a sample of its messages: their number, sizes and topics, and the time that it takes."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from simulator.errors import UsageError
from simulator.model import Kind
from simulator.run.faults.report import described
from simulator.run.job import SINGLE_TURNS, Job
from simulator.run.pacing import Pace
from simulator.run.plan import Limits
from simulator.stream import MOST_IN_FULL

# Row changes rendered for the sample.
SAMPLE: Final = 5000


def estimate(job: Job, limits: Limits, *, snapshot: bool | None = None) -> dict[str, Any]:
    """Estimate of a run with these limits: sizes in the sample, scaled to the whole run. Raises UsageError."""
    sample = Limits(limits.start_at, min(SAMPLE, limits.changes or SAMPLE), limits.turns)
    plan = job.plan(sample, snapshot=False, most_turns=SINGLE_TURNS).counted()
    if plan.stop is None or plan.stop <= plan.first:
        raise UsageError(f"{job.scenario.file}: there is nothing to send from turn {limits.start_at} on.")
    renderer = job.renderer()
    changes = int(job.stream.count(plan.first, plan.stop).sum())
    batches = [batch for block in plan.blocks() if (batch := renderer.render_block(block)) is not None]
    lengths = [np.asarray(pc.binary_length(batch["value"]).fill_null(0)) for batch in batches]
    sizes = np.concatenate(lengths) if lengths else np.zeros(1, dtype=np.int64)
    topics, kinds = Counter[str](), Counter[str]()
    for batch in batches:
        for entry in batch["topic"].value_counts().to_pylist():
            topics[entry["values"]] += entry["counts"]
        for entry in batch["kind"].value_counts().to_pylist():
            kinds[Kind(entry["values"]).name] += entry["counts"]
    messages = sum(topics.values())
    seconds = (job.stream.snapshot_ms(plan.stop) - job.stream.snapshot_ms(plan.first)) / 1000
    facts: dict[str, Any] = {
        "scenario": job.scenario.file,
        "source": str(job.source),
        "format": job.format,
        "sample": {"changes": changes, "messages": messages, "bytes": int(sizes.sum()), "seconds": seconds},
        "bytes_per_message": {
            "mean": round(float(sizes.mean()), 1),
            **{f"p{p}": int(np.percentile(sizes, p)) for p in (50, 99)},
            "max": int(sizes.max()),
        },
        "topics": {topic: round(count / max(messages, 1), 4) for topic, count in topics.most_common()},
        "kinds": {kind: round(count / max(messages, 1), 4) for kind, count in kinds.most_common()},
    }
    if limits.changes and changes and job.stream.turns is None:
        factor = limits.changes / changes
        facts["run"] = {
            "changes": limits.changes,
            "messages": round(messages * factor),
            "bytes": round(float(sizes.sum()) * factor),
            "seconds": round(seconds * factor, 3),
        }
    if job.scenario.spec.snapshot if snapshot is None else snapshot:
        facts["snapshot"] = _snapshot(job, plan.first)
    if job.faults:
        facts["faults"] = list(described(job.faults, job.codec.layout.redelivery))
    return facts


def _snapshot(job: Job, turn: int) -> dict[str, int]:
    """Size of the snapshot before a turn: all rows counted, bytes estimated from the first rows of each table."""
    stream, renderer = job.stream, job.renderer()
    rows, size = 0, 0.0
    mean = dict[int, float]()
    for block in stream.snapshot_blocks(turn):
        if block.rows and block.part.table not in mean:
            batch = renderer.render_block(block)
            mean[block.part.table] = 0.0 if batch is None else batch.nbytes / block.rows
        rows += block.rows
        size += mean.get(block.part.table, 0.0) * block.rows
    return {"rows": rows, "bytes": round(size)}


def text(facts: dict[str, Any], pace: Pace | None) -> str:
    """The estimate for people; `pace` is that of `--rate`."""
    sample, sizes = facts["sample"], facts["bytes_per_message"]
    changes = max(sample["changes"], 1)
    lines = [f"{facts['scenario']} on {facts['source']} as {facts['format']}."]
    if "run" in facts:
        run = facts["run"]
        took = "" if pace is None else f", {pace.seconds(run[pace.unit]):,.0f} s at this rate"
        lines.append(
            f"This run: {run['changes']:,} row changes in about {run['messages']:,} messages,"
            f" {run['bytes'] / 1e6:,.1f} MB, {run['seconds']:,.0f} s of simulated time{took}."
        )
    if "snapshot" in facts:
        rows = facts["snapshot"]
        lines.append(f"Snapshot before it: {rows['rows']:,} rows, {rows['bytes'] / 1e6:,.1f} MB.")
    topics = list(facts["topics"].items())
    rest = topics[MOST_IN_FULL:]
    others = f", {len(rest)} more {sum(share for _, share in rest):.1%}" if rest else ""
    lines += [
        f"By its first {sample['changes']:,} row changes:",
        f"  1,000 row changes make {sample['messages'] / changes * 1000:,.0f} messages of {sizes['mean']:,.0f} bytes on"
        f" average ({sizes['p50']:,} in the median, {sizes['p99']:,} in 99 of 100, {sizes['max']:,} at most)",
        "  kinds: " + ", ".join(f"{kind} {share:.1%}" for kind, share in facts["kinds"].items()),
        "  topics: " + ", ".join(f"{topic} {share:.1%}" for topic, share in topics[:MOST_IN_FULL]) + others,
    ]
    if sample["seconds"]:
        rate, size = changes / sample["seconds"], sample["bytes"] / sample["seconds"] / 1e6
        lines.append(f"  by simulated time: {rate:,.0f} row changes/s, {size:,.2f} MB/s")
    if "faults" in facts:
        lines += ["Faults:", *(f"  {line}" for line in facts["faults"])]
    return "\n".join(lines)
