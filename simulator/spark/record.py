"""The record of a run on Spark: that of a local run, with the files of each partition, which have a digest each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from simulator.model import OrderKey
from simulator.run import record
from simulator.sinks.ledger import Place
from simulator.spark.files import Done, File


def document(facts: dict[str, Any], done: Iterable[Done], failure: Exception | None) -> dict[str, Any]:
    """`facts` are those of the summary, `done` what the tasks did, in their order."""
    places: dict[Place, list[File]] = {}
    for task in done:
        for file in task.files:
            places.setdefault((file.progress.topic, file.progress.partition), []).append(file)
    partitions = [_partition(files) for _, files in sorted(places.items())]
    last = max((file.progress.last for files in places.values() for file in files), default=None)
    position = None if last is None else OrderKey(last.phase, last.turn, last.ordinal + 1)
    return record.document(facts, position, partitions, failure)


def _partition(files: Sequence[File]) -> dict[str, Any]:
    each = [file.progress for file in files]
    whole = replace(
        each[-1],
        first=each[0].first,
        sent=sum(progress.sent for progress in each),
        delivered=sum(progress.delivered for progress in each),
        failed=sum(progress.failed for progress in each),
    )
    listed = [{"file": file.name, "bytes": file.bytes, "sha256": file.sha256} for file in files]
    return {**record.partition(whole), "files": listed}
