"""Delay between a commit and the product's write of the change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.values.draw import Ints, below, bits, key

_KEY: Final = key("delay")


@dataclass(frozen=True, slots=True)
class Delay:
    """Write times from `low_ms` to `high_ms` after the commit. They never decrease: the product collects changes and
    writes them together. One write time is drawn in each half of the span.
    """

    low_ms: int
    high_ms: int

    def write_ms(self, event_ms: Ints) -> Ints:
        """Write times of changes committed at `event_ms`, epoch milliseconds."""
        soonest = event_ms + self.low_ms
        span = (self.high_ms - self.low_ms) // 2
        if not span:
            return soonest
        window = soonest // span
        missed = soonest > self._write(window, span)
        return self._write(window + missed, span)

    def _write(self, window: Ints, span: int) -> Ints:
        """The product's write time in a window."""
        written: Ints = window * span + below(bits(_KEY, window), span)
        return written
