"""From the start of the process to the first message, at turn 0 and at turn 1,000,000,000: it must be the same."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from statistics import median

from measure import ROOT, cdcsim, in_turns, spread, table

TURNS = (0, 1_000_000_000)


def run(scenario: str, format: str, *, quick: bool) -> None:
    rounds = 3 if quick else 7
    rows = []
    for text, limit in (("a run of one change", ("--limit", "1")), ("a run without end", ())):
        contenders = {f"{turn:,}": first_line(scenario, format, turn, limit) for turn in TURNS}
        found = in_turns(rounds, contenders)
        middle = [median(seconds) for seconds in found.values()]
        cells = [f"{seconds:.2f} s {spread(all)}" for seconds, all in zip(middle, found.values(), strict=True)]
        rows.append([text, *cells, f"{middle[1] / middle[0]:.2f}"])
    table(
        f"latency: {scenario}, {format}, to the first line on standard output",
        ("", *(f"from turn {turn:,}" for turn in TURNS), "ratio"),
        rows,
        "The start of Python and its imports included. A run without end makes a whole block before its first line.",
    )


def first_line(scenario: str, format: str, turn: int, limit: tuple[str, ...]) -> Callable[[], float]:
    command = cdcsim("run", scenario, "-f", format, "-q", "--start-at", turn, *limit)

    def seconds() -> float:
        begin = time.perf_counter()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT) as child:
            assert child.stdout is not None
            try:
                line = child.stdout.readline()
                taken = time.perf_counter() - begin
            finally:
                child.kill()
        if not line:
            raise SystemExit(f"no message came of {' '.join(command)}")
        return taken

    return seconds
