"""How long messages took from when they were due to their acknowledgement."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

# Seconds from a microsecond to twelve days, sixteen buckets for each doubling.
EDGES: Final = np.concatenate([[0.0], 1e-6 * 2.0 ** (np.arange(40 * 16) / 16)])


class Latencies:
    """Counts in buckets of a twentieth of their size, as an HdrHistogram has them."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(EDGES), dtype=np.int64)
        self.most = 0.0

    def __call__(self, seconds: Any) -> None:
        if len(seconds):
            at = np.searchsorted(EDGES, seconds, side="right") - 1
            self._counts += np.bincount(np.maximum(at, 0), minlength=len(EDGES))
            self.most = max(self.most, float(seconds.max()))

    def percentiles(self) -> dict[str, float]:
        """Milliseconds: no more than so many percent of messages took longer than this."""
        total = int(self._counts.sum())
        if not total:
            return {}
        done = np.cumsum(self._counts)
        found = {}
        for percent in (50, 90, 99, 99.9):
            at = int(np.searchsorted(done, total * percent / 100))
            edge = EDGES[min(at + 1, len(EDGES) - 1)]
            found[f"p{percent:g}"] = round(min(float(edge), self.most) * 1000, 3)
        return {**found, "max": round(self.most * 1000, 3)}
