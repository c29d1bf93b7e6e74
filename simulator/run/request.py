"""Request for a run, as the command line, the library and Spark make it: plain values, each checked by itself.

`simulator.run.session` turns them into a run. Nothing here loads a scenario: a command can import these types before
it does anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.errors import UsageError

if TYPE_CHECKING:
    from simulator.run.scenario import Draft
    from simulator.sinks.sink import Sink

_SCALED = re.compile(r"([0-9]+)(?:\.([0-9]+))?(?:[eE]([0-9]{1,2})|([kmgKMG]))")
_ZEROS = {"k": 3, "m": 6, "g": 9}


@dataclass(frozen=True)
class Subject:
    """Subject of a run, the scenario and the format: options `-f`, `--source`, `--seed`, `--set`, `--start` …

    `scenario` is a file, the name of a shipped scenario, or a draft; `broker` is the kind of broker whose conventions
    apply if messages go to no broker; `faults` is the text of `--faults`, None: those of the scenario. Raises
    UsageError for arguments of a wrong type.
    """

    scenario: str | Path | Draft
    format: str
    source: str | None = None
    seed: int | None = None
    settings: tuple[str, ...] = ()
    start: str | None = None
    broker: str = "kafka"
    allow_undocumented: bool = False
    force: bool = False
    sql_engine: str | None = None
    faults: str | None = None

    def __post_init__(self) -> None:
        from simulator.run.scenario import Draft

        if not isinstance(self.scenario, str | Path | Draft):
            raise UsageError(
                f"scenario is {self.scenario!r}: it is a file, or the name of a shipped one such as 'orders'."
            )
        if not isinstance(self.format, str):
            raise UsageError(
                f"format is {self.format!r}: it is a text such as 'canal-json' or 'dts-canal-json,frac=pad'."
            )
        check_texts(source=self.source, broker=self.broker, sql_engine=self.sql_engine, faults=self.faults)
        check_whole("seed", self.seed)

    @cached_property
    def all_settings(self) -> tuple[str, ...]:
        """Changed values of the scenario, including its start; `now` is the same time in all uses."""
        from simulator.run.scenario import start_setting

        return self.settings if self.start is None else (*self.settings, start_setting(self.start))


@dataclass(frozen=True, slots=True)
class Span:
    """Part of the stream, and its routing. `snapshot` None: as the scenario says; `route` None: the
    product's default.
    """

    limit: int | None = None
    turns: int | None = None
    duration: str | None = None
    start_at: int = 0
    snapshot: bool | None = None
    route: str | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "turns", "start_at"):
            check_whole(name, getattr(self, name))
        check_texts(duration=self.duration, route=self.route)


@dataclass(frozen=True, slots=True)
class Sending:
    """Destination, form and pace of messages. `to` is a URL, the path of a folder or file, or an open sink."""

    to: str | Path | Sink = "-"
    envelope: bool = False
    rate: str | None = None
    clock: str = "simulated"

    def __post_init__(self) -> None:
        check_texts(rate=self.rate)
        if self.clock not in ("simulated", "wall"):
            raise UsageError(f"clock is {self.clock!r}: it is 'simulated' or 'wall'.")


@dataclass(frozen=True, slots=True)
class About:
    """Files and counters that a run writes about itself; None: not written."""

    summary_to: Path | None = None
    record: Path | None = None
    resume: Path | None = None
    metrics: str | None = None

    def __post_init__(self) -> None:
        check_texts(metrics=self.metrics)
        for option, path in (("summary-to", self.summary_to), ("record", self.record), ("resume", self.resume)):
            if path is not None and not path.absolute().parent.is_dir():
                raise UsageError(f"--{option} {path}: there is no folder {str(path.parent)!r}.")


@dataclass(frozen=True, slots=True)
class Engine:
    """Engine of a run: this process with `workers` more (None: as many as are worthwhile), or Spark."""

    engine: str = "local"
    workers: int | None = None
    master: str | None = None
    conf: tuple[str, ...] = ()
    tasks: int | None = None


def parse_whole(text: str, low: int, high: int) -> int:
    """A whole number within bounds, also as `250k` or `2.5e5`. Raises ValueError with what the text must be."""
    try:
        number = int(_written_out(text))
    except ValueError:
        raise ValueError("a whole number") from None
    if not low <= number <= high:
        raise ValueError(f"a number from {low} to {high}")
    return number


def _written_out(text: str) -> str:
    """`250000` for `250k`; other texts, and numbers that are not whole, are unchanged."""
    if not (match := _SCALED.fullmatch(text)):
        return text
    digits, fraction, power, letter = match.groups()
    fraction = (fraction or "").rstrip("0")
    zeros = (int(power) if power else _ZEROS[letter.lower()]) - len(fraction)
    return text if zeros < 0 else digits + fraction + "0" * zeros


def check_texts(**arguments: Any) -> None:
    """Raises UsageError for an argument that is neither a text nor None."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} is {value!r}: it is a text.")


def check_whole(name: str, value: Any, low: int = 0) -> None:
    """Raises UsageError for a value that is neither None nor a whole number of at least `low`."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < low):
        raise UsageError(f"{name} is {value!r}: it is a whole number from {low} on.")
