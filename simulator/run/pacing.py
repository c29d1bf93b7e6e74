"""Pacing of a run on the wall clock: a constant rate, or one that changes over time.

50000/s              constant: row changes a second; k and m stand for thousands and millions
ramp:1k..50k/10m     from 1,000 to 50,000 in ten minutes, then 50,000
sine:1k..50k/10m     between the two, one wave in ten minutes
spike:1k..50k/10m    1,000, and 50,000 in the first tenth of each ten minutes
steps:1k,5k,2k/10m   each for ten minutes; the last goes on
curve:load.csv       lines of `seconds,rate`: straight from one to the next; the last rate goes on

Each rate may also be of messages or of bytes of their values: `2000messages/s`, `steps:1MB,20MB/10m`.

Several follow one another: `ramp:1k..50k/10m then 50k/s for 5m then spike:1k..50k/1m for 1h then 2k/s`. Each lasts as
long as `for` says, or once through its shape; the last goes on.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

from simulator.errors import OptionError, short
from simulator.sinks.ledger import Ints, Seconds
from simulator.values.draw import bits, chance, key

Unit: TypeAlias = Literal["changes", "messages", "bytes"]

_RATE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)\s*(messages|b|)", re.IGNORECASE)
_SCALES: Final = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_UNITS: Final[dict[str, Unit]] = {"": "changes", "messages": "messages", "b": "bytes"}
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
# Highest rate, and longest time in seconds.
MOST: Final = 1e12
# Share of a period during which a spike has its high rate.
SPIKE_SHARE: Final = 0.1
# Approximate bytes of a row change as a message.
CHANGE_BYTES: Final = 500


@dataclass(frozen=True)
class Pace(ABC):
    """Rates over time, all in one unit."""

    unit: Unit

    @property
    @abstractmethod
    def high(self) -> float:
        """The highest rate."""

    @abstractmethod
    def due(self, seconds: float) -> float:
        """Row changes, messages or bytes that may have been sent this long after the start."""

    @property
    def high_changes(self) -> float:
        """Approximate row changes a second at the highest rate."""
        return self.high / CHANGE_BYTES if self.unit == "bytes" else self.high

    def seconds(self, count: int) -> float:
        """Seconds after which `count` are due, to a thousandth."""
        low, high = 0.0, 1.0
        while self.due(high) < count:
            low, high = high, 2 * high
        while high - low > 0.001 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.due(middle) >= count else (middle, high)
        return high


@dataclass(frozen=True)
class Shape(Pace):
    """`points` are (seconds, rate): the rate is linear between two points, and the last rate goes on. A wave has two
    points: its low rate at 0, and its high rate after one period.
    """

    points: tuple[tuple[float, float], ...]
    wave: Literal["sine", "spike"] | None = None

    @property
    def high(self) -> float:
        return max(rate for _, rate in self.points)

    @property
    def length(self) -> float:
        """Seconds of the shape, or of one period; 0 of a constant rate."""
        return self.points[-1][0]

    def due(self, seconds: float) -> float:
        if self.wave is None:
            return self._area(seconds)
        (_, low), (period, high) = self.points
        if self.wave == "sine":
            middle, swing = (low + high) / 2, (high - low) / 2
            turns = 2 * math.pi / period
            return middle * seconds + swing / turns * (1 - math.cos(turns * seconds))
        periods, within_period = divmod(seconds, period)
        up = period * SPIKE_SHARE
        return low * seconds + (high - low) * (periods * up + min(within_period, up))

    @cached_property
    def _areas(self) -> list[float]:
        """Amount due at each point."""
        areas = [self.points[0][0] * self.points[0][1]]
        for (begin, low), (end, high) in pairwise(self.points):
            areas.append(areas[-1] + (end - begin) * (low + high) / 2)
        return areas

    @cached_property
    def _times(self) -> Seconds:
        return np.array([seconds for seconds, _ in self.points])

    def _area(self, seconds: float) -> float:
        index = int(np.searchsorted(self._times, seconds, side="right")) - 1
        if index < 0:
            return seconds * self.points[0][1]
        begin, rate = self.points[index]
        passed = seconds - begin
        slope = 0.0
        if index + 1 < len(self.points):
            end, following = self.points[index + 1]
            slope = (following - rate) / (end - begin)
        return self._areas[index] + rate * passed + slope * passed * passed / 2


@dataclass(frozen=True)
class Phases(Pace):
    """Consecutive paces: each lasts a number of seconds, and the last goes on."""

    phases: tuple[tuple[float, Pace], ...]

    @property
    def high(self) -> float:
        return max(pace.high for _, pace in self.phases)

    def due(self, seconds: float) -> float:
        due = 0.0
        for length, pace in self.phases[:-1]:
            if seconds <= length:
                return due + pace.due(seconds)
            due += pace.due(length)
            seconds -= length
        return due + self.phases[-1][1].due(seconds)


# Seconds of a period in which a pace may stand still; it catches up in the second half.
STALL_SECONDS: Final = 10.0


@dataclass(frozen=True)
class StalledPace(Pace):
    """A pace that stands still in the first half of a share of its periods."""

    pace: Pace
    share: float
    seed: int

    @property
    def high(self) -> float:
        return self.pace.high

    def due(self, seconds: float) -> float:
        period, within_period = divmod(seconds, STALL_SECONDS)
        struck = chance(bits(key(self.seed, "stall"), np.array([int(period)])), self.share)[0]
        if struck:
            seconds = period * STALL_SECONDS + max(0.0, 2 * within_period - STALL_SECONDS)
        return self.pace.due(seconds)


class Schedule:
    """A pace on the wall clock: the amount allowed by now, the due time of each item, and the lag of a run.

    All counts are in the pace's unit. Between two calls of `allowed` the rate counts as constant: calls are close
    enough together that this is exact enough for each shape. `seconds` count from the start of the pace.
    """

    def __init__(self, pace: Pace, before: float = 0.0) -> None:
        """`before`: seconds of the pace that earlier parts of a resumed run have used; this part continues after
        them."""
        self.pace = pace
        self._before = before
        self._began = 0.0
        self.has_begun = False
        self._times, self._allowed = [0.0], [0.0]
        self.sent = 0
        self._last = 0.0  # time of the last send

    def begin(self, began: float) -> None:
        """Sets the start of the pace, on the monotonic clock."""
        self._began, self.has_begun = began, True

    def wanted(self, seconds: float) -> float:
        """Amount that the pace asks for by then."""
        return self.pace.due(self._before + seconds) - self.pace.due(self._before)

    def allowed(self, seconds: float) -> float:
        """Amount that may have been sent by now."""
        allowed = self.wanted(seconds)
        # due times of sent items are no longer needed
        while len(self._allowed) > 1 and self._allowed[1] <= self.sent:
            del self._allowed[0], self._times[0]
        self._times.append(seconds)
        self._allowed.append(allowed)
        return allowed

    def send(self, sent: int, seconds: float) -> None:
        """Records that `sent` items are sent by now."""
        self.sent, self._last = sent, seconds

    def due(self, numbers: Ints) -> Seconds:
        """Due time of each item, numbered from the start: seconds of the monotonic clock."""
        return self._began + np.interp(numbers, self._allowed, self._times)

    def behind(self, seconds: float) -> float:
        """Amount that is due by now but not sent."""
        return max(0.0, self.wanted(seconds) - self.sent)

    def rates(self) -> tuple[float, float]:
        """Average rates per second until the last item was sent: the requested one, and the reached one."""
        return (self.wanted(self._last) / self._last, self.sent / self._last) if self._last else (0.0, 0.0)


def parse_pace(text: str) -> Pace:
    """The pace of a `--rate` text. Raises OptionError for anything but the forms above."""
    parts = re.split(r"\s+then\s+", text.strip())
    if len(parts) == 1:
        return _shape(text, text)
    phases: list[tuple[float, Pace]] = []
    for number, part in enumerate(parts, 1):
        form, _, time = part.partition(" for ")
        shape = _shape(form, text)
        if time and number == len(parts):
            raise OptionError(f"--rate {short(text)}: the last part goes on: leave out for {time}, and add --duration.")
        length = parse_duration(time, f"--rate {short(part)}: for") if time else shape.length
        if not length and number < len(parts):
            raise OptionError(f"--rate {short(text)}: {part} never ends: write how long it lasts, {part} for 10m.")
        phases.append((length, shape))
    units = {pace.unit for _, pace in phases}
    if len(units) > 1:
        raise OptionError(f"--rate {short(text)}: write all its rates in row changes, in messages or in bytes.")
    return Phases(units.pop(), tuple(phases))


def _shape(form: str, text: str) -> Shape:
    """The shape of a part of a `--rate` text. Raises OptionError."""
    shape, colon, rates_text = form.strip().partition(":")
    if shape.lower() == "curve":
        return _read_curve(Path(rates_text), text)
    try:
        if not colon:
            return _pace([(0.0, shape.lower().removesuffix("/s"))])
        rates, _, time = rates_text.rpartition("/")
        period = parse_time(time)
        if shape.lower() == "steps":
            steps = list(enumerate(rates.split(",")))
            return _pace([(index * period, rate) for number, rate in steps for index in (number, number + 1)])
        low, high = rates.split("..")
        pace = _pace([(0.0, low), (period, high)])
        if pace.points[0][1] <= pace.points[1][1]:
            match shape.lower():
                case "ramp":
                    return pace
                case "sine" | "spike" as wave:
                    return Shape(pace.unit, pace.points, wave)
    except ValueError:
        pass
    raise OptionError(
        f"--rate {short(text)}: write row changes, messages or bytes a second such as 50000/s, 2000messages/s, 20MB/s,"
        " or ramp:1k..50k/10m, sine:1k..50k/10m, spike:1k..50k/10m, steps:1k,5k,2k/10m, curve:FILE, and `then` between"
        " two of them."
    )


def _pace(points: Sequence[tuple[float, str]]) -> Shape:
    """A pace through these points of seconds and rates. Raises ValueError for a text that is not a rate, for rates in
    several units, and for a last rate of 0."""
    rates, units = [], set()
    for _, text in points:
        match = _RATE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a rate")
        rates.append(float(match[1]) * _SCALES[match[2].lower()])
        units.add(_UNITS[match[3].lower()])
    if len(units) > 1:
        raise ValueError("its rates have different units: write all in row changes, in messages or in bytes")
    if not 0 < rates[-1] <= MOST or max(rates) > MOST:
        raise ValueError(f"the last rate must be above 0, and none above {MOST:,.0f}")
    return Shape(units.pop(), tuple((seconds, rate) for (seconds, _), rate in zip(points, rates, strict=True)))


def _read_curve(file: Path, text: str) -> Shape:
    """The pace of a CSV file; its first line may name the columns. Raises OptionError."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        raise OptionError(f"--rate {short(text)}: {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise OptionError(f"--rate {short(text)}: {file} is no text in UTF-8; write lines of seconds,rate.") from None
    rows = [(number, *line.partition(",")[::2]) for number, line in enumerate(lines, 1) if line.strip()]
    if rows and not re.match(r"\s*[\d.]", rows[0][1]):
        del rows[0]
    points: list[tuple[float, str]] = []
    for number, seconds, rate in rows:
        if not re.fullmatch(r"\s*\d+(\.\d+)?\s*", seconds) or not _RATE.fullmatch(rate.strip()):
            raise OptionError(f"{file}:{number}: write seconds,rate, as in 60,5000.")
        if points and float(seconds) < points[-1][0]:
            raise OptionError(
                f"{file}:{number}: {seconds.strip()} s are before the line above: sort the lines by time."
            )
        points.append((float(seconds), rate))
    if not points:
        raise OptionError(f"{file}: there is no line of seconds,rate, such as 60,5000.")
    try:
        return _pace(points)
    except ValueError as error:
        raise OptionError(f"{file}: {error}.") from None


def parse_time(text: str) -> float:
    """`10m` in seconds. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)", text.strip().lower())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0 < seconds <= MOST:
        raise ValueError(f"{text!r} is not a time")
    return seconds


def parse_duration(text: str, option: str = "--duration") -> float:
    """`10m` in seconds. Raises OptionError."""
    try:
        return parse_time(text)
    except ValueError:
        raise OptionError(f"{option} {short(text)}: write a time such as 90s, 10m or 1h.") from None
