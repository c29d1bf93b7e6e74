"""`cdcsim run` to a file, all its processes, against a loop of orjson that writes the same bytes to a file."""

from __future__ import annotations

import itertools
import shutil
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import orjson
from measure import cdcsim, in_turns, process, spread, table
from rowwise import dicts

# Messages of which the loop has dicts ready; it writes them over and over. All of them would take 10 GB.
READY = 20_000


def run(scenario: str, format: str, folder: Path, changes: int | None, *, quick: bool) -> None:
    changes = changes or (200_000 if quick else 2_000_000)
    command = cdcsim("run", scenario, "-f", format, "-q", "--limit")
    target, lines = folder / "run", folder / "lines"
    cpu: dict[str, list[float]] = defaultdict(list)
    peak: dict[str, int] = defaultdict(int)

    process([*command, str(changes)], output=lines)
    with lines.open("rb") as file:
        made = dicts([line.rstrip(b"\n") for line in itertools.islice(file, READY)])
        messages = len(made) + sum(1 for _ in file)
    size = lines.stat().st_size / messages
    lines.unlink()

    def whole(name: str, limit: int, workers: int, *, one_core: bool = False) -> float:
        lead = ["taskset", "-c", "0"] if one_core else []
        used = process([*lead, *command, str(limit), "--to", f"file:{target}", "--workers", str(workers)])
        shutil.rmtree(target)
        cpu[name].append(used.cpu_seconds)
        peak[name] = max(peak[name], used.peak_bytes)
        return used.seconds

    def row_by_row() -> float:
        dumps, option = orjson.dumps, orjson.OPT_APPEND_NEWLINE
        begin, cpu_begin = time.perf_counter(), time.process_time()
        with lines.open("wb", buffering=1 << 20) as file:
            for message in itertools.islice(itertools.cycle(made), messages):
                file.write(dumps(message, None, option))
        seconds = time.perf_counter() - begin
        cpu["orjson"].append(time.process_time() - cpu_begin)
        lines.unlink()
        return seconds

    found = in_turns(
        3,
        {
            "1 worker": lambda: whole("1 worker", changes, 1),
            **({"one core": lambda: whole("one core", changes, 1, one_core=True)} if shutil.which("taskset") else {}),
            "2 workers": lambda: whole("2 workers", changes, 2),
            "4 workers": lambda: whole("4 workers", changes, 4),
            "start-up": lambda: whole("start-up", 1, 1),
            "orjson": row_by_row,
        },
    )
    took = {name: (median(found[name]), median(cpu[name])) for name in found}
    start, start_cpu = took.pop("start-up")
    one, (theirs, theirs_cpu) = took["1 worker"][0], took["orjson"]
    took["1 worker, less the start"] = one - start, took["1 worker"][1] - start_cpu
    rows = []
    for name, (seconds, cpu_seconds) in took.items():
        rate = f"{messages / seconds:,.0f} {spread(found[name.partition(',')[0]])}"
        throughput = f"{messages * size / seconds / 1e6:,.0f}"
        per_million = f"{cpu_seconds / messages * 1e6:.2f}"
        ratios = f"{one / seconds:.2f}", f"{theirs / seconds:.2f}", f"{theirs_cpu / cpu_seconds:.2f}"
        rows.append([name, rate, throughput, per_million, *ratios, f"{peak[name] / 2**20:,.0f}" if peak[name] else ""])
    table(
        f"run: {scenario}, {format}, {changes:,} changes to a file",
        ("", "messages/s", "MB/s", "CPU s/million", "to 1 worker", "to orjson", "by CPU", "MiB of the largest process"),
        rows,
        "1 worker is one process of three threads (one core: with `taskset`), 2 and 4 are as many processes that render"
        " and one that sends. `cdcsim` makes up the changes, too; the loop of orjson writes dicts that are ready. The"
        f" start is a run of one change: {start:.2f} s.",
    )
