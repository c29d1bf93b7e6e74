"""Record of a run as one JSON document (`--record`): messages sent and their outcome, the input of a later check."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any, Final

import numpy as np
import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.model import OrderKey
from simulator.sinks.framing import Lines
from simulator.sinks.ledger import Parcel, Place, Progress
from simulator.sinks.sink import Sink

PACKAGES: Final = ("cdc-simulator", "confluent-kafka", "pika", "rocketmq-client-python", "pyarrow", "pyspark")

# Bucket edges in seconds, from a microsecond to twelve days: sixteen buckets for each doubling.
EDGES: Final = np.concatenate([[0.0], 1e-6 * 2.0 ** (np.arange(40 * 16) / 16)])


class Latencies:
    """Histogram of latencies: seconds from the due time of a message to its acknowledgement.

    Each bucket is about a twentieth of its value wide, like those of HdrHistogram.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(len(EDGES), dtype=np.int64)
        self.most = 0.0

    def __call__(self, seconds: Any) -> None:
        if len(seconds):
            index = np.searchsorted(EDGES, seconds, side="right") - 1
            self._counts += np.bincount(np.maximum(index, 0), minlength=len(EDGES))
            self.most = max(self.most, float(seconds.max()))

    def percentiles(self) -> dict[str, float]:
        """Percentiles of the latency, in milliseconds."""
        total = int(self._counts.sum())
        if not total:
            return {}
        done = np.cumsum(self._counts)
        edges = {}
        for percent in (50, 90, 99, 99.9):
            index = int(np.searchsorted(done, total * percent / 100))
            edge = EDGES[min(index + 1, len(EDGES) - 1)]
            edges[f"p{percent:g}"] = round(min(float(edge), self.most) * 1000, 3)
        return {**edges, "max": round(self.most * 1000, 3)}


class Recorder:
    """Watches a sink: its counts, and with `digests` a digest of each partition.

    A digest is the SHA-256 of the partition's values, each followed by a newline: that of the file that `file:DIR`
    would write.
    """

    def __init__(self, sink: Sink, latencies: Latencies, *, digests: bool = True) -> None:
        """A resumed run sets `resumed_from`, the first order key that may be missing, and `earlier`, the records of the
        run's earlier parts."""
        self._sink = sink
        self.resumed_from: OrderKey | None = None
        self.earlier: Sequence[dict[str, Any]] = ()
        self._digests: dict[Place, Any] = {}
        self._latencies = latencies
        if digests:
            sink.watch = self._add

    def _add(self, batch: MessageBatch, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            rows = batch if len(parcel) == len(batch) else MessageBatch(batch.columns.take(pa.array(parcel.rows)))
            digest = self._digests.setdefault((parcel.topic, parcel.partition), sha256())
            for part in Lines().frame(rows):
                digest.update(part)

    def digests(self) -> dict[Place, str]:
        """SHA-256 of each partition so far."""
        return {place: digest.hexdigest() for place, digest in self._digests.items()}

    def part(self) -> dict[str, Any]:
        """Record of this part of the run so far; the resume file keeps it for the record of the whole run."""
        ledger = self._sink.ledger
        return {
            "resumed_from": _text(self.resumed_from),
            "messages": ledger.sent,
            "delivered": ledger.delivered,
            "failed": ledger.failed,
            "next": _text(ledger.position().next or self.resumed_from),
            "partitions": self._partitions(),
            "latency_ms": self._latencies.percentiles(),
        }

    def document(self, facts: dict[str, Any], failure: Exception | None) -> dict[str, Any]:
        """The record; `facts` are those of the summary. `total` adds up the parts of a resumed run; messages that were
        sent again are counted in each part."""
        part = self.part()
        parts = [*self.earlier, part]
        total = {name: sum(counts[name] for counts in parts) for name in ("messages", "delivered", "failed")}
        return {
            **document(facts, self._sink.ledger.position().next, part["partitions"], failure),
            "latency_ms": part["latency_ms"],
            "resumed_from": part["resumed_from"],
            "earlier": self.earlier,
            "total": total,
        }

    def _partitions(self) -> list[dict[str, Any]]:
        digests = self.digests()
        return [
            {**partition(progress), "sha256": digests.get((progress.topic, progress.partition))}
            for progress in self._sink.ledger.progress()
        ]


def partition(progress: Progress) -> dict[str, Any]:
    """Record of one partition."""
    return {
        "topic": progress.topic,
        "partition": progress.partition,
        "sent": progress.sent,
        "delivered": progress.delivered,
        "failed": progress.failed,
        "first": _text(progress.first),
        "last": _text(progress.last),
        "acknowledged": _text(progress.acknowledged),
    }


def document(
    facts: dict[str, Any], position: OrderKey | None, partitions: Sequence[dict[str, Any]], failure: Exception | None
) -> dict[str, Any]:
    """The record of a run on any engine. `position`: where a resumed run would continue."""
    return {
        "version": 1,
        **facts,
        "next": _text(position),
        "partitions": partitions,
        "failure": None if failure is None else str(failure),
        "versions": {"python": python_version(), **_versions()},
    }


def _text(key: OrderKey | None) -> str | None:
    return None if key is None else str(key)


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
