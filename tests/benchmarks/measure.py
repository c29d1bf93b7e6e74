"""What the benchmarks share: contenders in turns, child processes with their time and memory, and tables."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[2]

# Linux counts towards a process's peak what its parent held when it was forked: so a small parent starts each one.
SMALL_PARENT: Final = """\
import json, os, sys, time
begin = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(json.dumps([time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]), file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Used:
    """What a process took: seconds on the clock and on the processors, and the most memory that it held at once."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def cdcsim(*arguments: object) -> list[str]:
    """The command line of a `cdcsim` command, with this Python and this source tree."""
    return [sys.executable, "-m", "simulator", *map(str, arguments)]


def process(command: Sequence[str], output: Path | None = None) -> Used:
    """Run a process to its end; what it prints is dropped or goes to a file. Raises SystemExit with its last words."""
    with (output or Path(os.devnull)).open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-S", "-c", SMALL_PARENT, *command],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, cwd=ROOT, check=False,
        )  # fmt: skip
    *words, used = done.stderr.decode(errors="replace").splitlines()
    if done.returncode:
        raise SystemExit("\n".join([f"exit status {done.returncode} of {' '.join(command)}", *words[-20:]]))
    return Used(*json.loads(used))


def in_turns(rounds: int, contenders: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """What each contender returns in each round; every second round goes backwards, so that a drift hits all alike."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds):
        for name in contenders if number % 2 == 0 else reversed(contenders):
            found[name].append(contenders[name]())
            progress(f"round {number + 1} of {rounds}, {name}")
    return found


def spread(values: Sequence[float]) -> str:
    """`±3 %`: half the way from the lowest to the highest, as a share of the median."""
    return f"±{(max(values) - min(values)) / 2 / median(values):.0%}"


def progress(text: str) -> None:
    """A line on stderr that the next one takes the place of."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> None:
    """Print a Markdown table and the sentence that says how to read it."""
    progress("")
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    print(f"\n### {title}\n")
    for row in (columns, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    print(f"\n{note}", flush=True)


# Processor seconds of processes for which nobody waited.
UNCOUNTED: Final[list[float]] = []


@contextmanager
def others() -> Iterator[None]:
    """Print what share of the machine other programs took meanwhile (Linux); rates are too low by about that much."""
    before = processors()
    yield
    if before and (after := processors()):
        busy, all, ours = (b - a for a, b in zip(before, after, strict=True))
        print(f"Other programs took {max(0.0, busy - ours) / all:.0%} of the processors meanwhile.", flush=True)


def processors() -> tuple[float, float, float] | None:
    """Processor seconds since the start of the machine: busy, all there were, and those of this program's processes."""
    try:
        ticks = [int(number) for number in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return None
    second = os.sysconf("SC_CLK_TCK")
    idle = ticks[3] + ticks[4]  # idle, and waiting for a disk
    return (sum(ticks) - idle) / second, sum(ticks) / second, seconds_of_processes() + sum(UNCOUNTED)


def seconds_of_processes() -> float:
    """Processor seconds of this program and of the processes that were waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def machine() -> str:
    """`2 cores, 24 GiB, Linux x86_64, CPython 3.11.7; load 0.3` and what the numbers depend on."""
    import numpy
    import orjson
    import pyarrow

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()},"
        f" {platform.python_implementation()} {platform.python_version()}, numpy {numpy.__version__},"
        f" pyarrow {pyarrow.__version__}, orjson {orjson.__version__}; load at the start {os.getloadavg()[0]:.1f}"
    )
