"""How fast a run goes on the wall clock: a constant rate, or one that changes over time.

50000/s              constant: row changes a second; k and m stand for thousands and millions
ramp:1k..50k/10m     from 1,000 to 50,000 in ten minutes, then 50,000
sine:1k..50k/10m     between the two, one wave in ten minutes
spike:1k..50k/10m    1,000, and 50,000 in the first tenth of each ten minutes
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator.errors import OptionError, short
from simulator.sinks.ledger import Ints, Seconds

_NUMBER = r"(\d+(?:\.\d+)?)([km]?)"
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
MOST = 1e12  # row changes a second, and seconds
SPIKE_SHARE = 0.1


@dataclass(frozen=True)
class Pace:
    """`changes(seconds)`: how many row changes may have been sent this long after the start."""

    shape: Literal["constant", "ramp", "sine", "spike"]
    low: float
    high: float
    period: float

    def changes(self, seconds: float) -> float:
        low, high, period = self.low, self.high, self.period
        match self.shape:
            case "constant":
                return high * seconds
            case "ramp":
                part = min(seconds, period)
                return low * part + (high - low) * part * part / (2 * period) + high * max(seconds - period, 0)
            case "sine":
                middle, swing = (low + high) / 2, (high - low) / 2
                wave = 2 * math.pi / period
                return middle * seconds + swing / wave * (1 - math.cos(wave * seconds))
            case "spike":
                whole, part = divmod(seconds, period)
                up = period * SPIKE_SHARE
                return low * seconds + (high - low) * (whole * up + min(part, up))

    def seconds(self, changes: int) -> float:
        """After how long so many row changes are due, to a thousandth."""
        low, high = 0.0, 1.0
        while self.changes(high) < changes:
            low, high = high, 2 * high
        while high - low > 0.001 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.changes(middle) >= changes else (middle, high)
        return high

    def rate(self, seconds: float) -> float:
        """Row changes a second, about this long after the start."""
        return self.changes(seconds + 1) - self.changes(seconds)


class Schedule:
    """A pace on the wall clock: what is allowed by now, when a change was due, and how far a run is behind.

    Between two looks at the clock the pace counts as even; so close to each other that is right for each shape.
    """

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._began = 0.0
        self.has_begun = False
        self._times, self._changes = [0.0], [0.0]
        self.sent = 0
        self._last = 0.0  # when the last of them were sent

    def begin(self, began: float) -> None:
        """When the pace began, on the monotonic clock."""
        self._began, self.has_begun = began, True

    def allowed(self, seconds: float) -> float:
        """Row changes that may have been sent by now."""
        allowed = self.pace.changes(seconds)
        # all that was sent before is due no more
        while len(self._changes) > 1 and self._changes[1] <= self.sent:
            del self._changes[0], self._times[0]
        self._times.append(seconds)
        self._changes.append(allowed)
        return allowed

    def send(self, sent: int, seconds: float) -> None:
        """So many row changes are sent by now."""
        self.sent, self._last = sent, seconds

    def due(self, changes: Ints) -> Seconds:
        """When each of these changes was due, counted from the start, on the monotonic clock."""
        return self._began + np.interp(changes, self._changes, self._times)

    def behind(self, seconds: float) -> float:
        return max(0.0, self.pace.changes(seconds) - self.sent)

    def rates(self) -> tuple[float, float]:
        """Row changes a second up to the last: as the pace wanted them on average, and as they were sent."""
        return (self.pace.changes(self._last) / self._last, self.sent / self._last) if self._last else (0.0, 0.0)


def parse_pace(text: str) -> Pace:
    """Raises OptionError for what is none of the shapes above."""
    if match := re.fullmatch(rf"{_NUMBER}(?:/s)?", text.strip(), re.IGNORECASE):
        rate = float(match[1]) * _UNITS[match[2].lower()]
        if 0 < rate <= MOST:
            return Pace("constant", rate, rate, 1)
    elif match := re.fullmatch(
        rf"(ramp|sine|spike):{_NUMBER}\.\.{_NUMBER}/(\d+(?:\.\d+)?)(ms|s|m|h)", text.strip(), re.IGNORECASE
    ):
        low = float(match[2]) * _UNITS[match[3].lower()]
        high = float(match[4]) * _UNITS[match[5].lower()]
        period = float(match[6]) * _SECONDS[match[7].lower()]
        if 0 <= low <= high <= MOST and high > 0 and 0 < period <= MOST:
            return Pace(match[1].lower(), low, high, period)  # type: ignore[arg-type]
    raise OptionError(
        f"--rate {short(text)}: write row changes a second such as 50000/s, or ramp:1k..50k/10m, sine:1k..50k/10m, "
        "spike:1k..50k/10m."
    )


def parse_duration(text: str) -> float:
    """`10m` in seconds. Raises OptionError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)", text.strip())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0 < seconds <= MOST:
        raise OptionError(f"--duration {short(text)}: write a time such as 90s, 10m or 1h.")
    return seconds
