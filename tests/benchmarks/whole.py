"""`cdcsim run` to a file as a whole process, against a loop of orjson that writes the same bytes to a file."""

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


def run(scenario: str, format: str, folder: Path, *, quick: bool) -> None:
    changes = 200_000 if quick else 2_000_000
    command = cdcsim("run", scenario, "-f", format, "-q", "--limit")
    target, lines = folder / "run", folder / "lines"
    cpu: dict[str, list[float]] = defaultdict(list)

    process([*command, str(changes)], output=lines)
    with lines.open("rb") as file:
        made = dicts([line.rstrip(b"\n") for line in itertools.islice(file, READY)])
        messages = len(made) + sum(1 for _ in file)
    size = lines.stat().st_size / messages
    lines.unlink()

    def whole(name: str, limit: int, *options: str, one_core: bool = False) -> float:
        lead = ["taskset", "-c", "0"] if one_core else []
        used = process([*lead, *command, str(limit), "--to", f"file:{target}", *options])
        shutil.rmtree(target)
        cpu[name].append(used.cpu_seconds)
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
            "cdcsim": lambda: whole("cdcsim", changes),
            **({"one core": lambda: whole("one core", changes, one_core=True)} if shutil.which("taskset") else {}),
            "2 workers": lambda: whole("2 workers", changes, "--workers", "2"),
            "4 workers": lambda: whole("4 workers", changes, "--workers", "4"),
            "start-up": lambda: whole("start-up", 1),
            "orjson": row_by_row,
        },
    )
    took = {name: (median(found[name]), median(cpu[name])) for name in found}
    start, start_cpu = took["start-up"]
    theirs, theirs_cpu = took["orjson"]
    rows = []
    for text, name, seconds, cpu_seconds in (
        ("cdcsim run, whole process", "cdcsim", *took["cdcsim"]),
        *([("cdcsim run, on one core", "one core", *took["one core"])] if "one core" in took else []),
        ("cdcsim run --workers 2, all processes", "2 workers", *took["2 workers"]),
        ("cdcsim run --workers 4, all processes", "4 workers", *took["4 workers"]),
        ("cdcsim run, less the start", "cdcsim", took["cdcsim"][0] - start, took["cdcsim"][1] - start_cpu),
        ("orjson over ready-made dicts", "orjson", theirs, theirs_cpu),
    ):
        rate = f"{messages / seconds:,.0f} {spread(found[name])}"
        throughput = f"{messages * size / seconds / 1e6:,.0f}"
        per_million = f"{cpu_seconds / messages * 1e6:.2f}"
        ratios = f"{theirs / seconds:.2f}", f"{theirs_cpu / cpu_seconds:.2f}"
        rows.append([text, rate, throughput, per_million, *ratios])
    table(
        f"run: {scenario}, {format}, {changes:,} changes to a file",
        ("", "messages/s", "MB/s", "CPU s/million", "ratio", "ratio by CPU"),
        rows,
        f"`cdcsim` makes up the changes, too; the loop only writes. The start is a run of one change: {start:.2f} s.",
    )
