"""Changes made and written in one thread, with a C loop written for one table and format (`bound.c`), and with a loop
of `orjson.dumps` over ready-made dicts of the same messages."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from measure import in_turns, spread, table
from rowwise import rowwise

from simulator.run.job import open_job

SOURCE: Final = Path(__file__).with_name("bound.c")


def run(*, quick: bool) -> None:
    job = open_job("crud", "canal-json")
    renderer, turns = job.renderer(lambda topic: 1), job.stream.block_turns
    command = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bound"
        subprocess.run([*command, "-O3", "-o", str(program), str(SOURCE)], check=True)
        number = 0

        def ours() -> float:
            nonlocal number
            number += 1
            first, stop = (job.stream.border(each * turns) for each in (number, number + 1))
            begin = time.thread_time()
            messages = renderer.render(job.stream.read(first, stop, renderer.needed))
            seconds = time.thread_time() - begin
            assert messages is not None
            return seconds / len(messages) * 1e9

        def bound() -> float:
            printed = subprocess.run([str(program), "3"], check=True, capture_output=True, text=True).stdout
            return median(float(line.split()[0]) for line in printed.splitlines())

        messages = renderer.render(job.stream.read(0, job.stream.border(turns), renderer.needed))
        assert messages is not None
        loop = rowwise(messages["value"].to_pylist(), None)

        def ready() -> float:
            begin = time.thread_time()
            loop.write(loop.messages)
            return (time.thread_time() - begin) / len(loop.messages) * 1e9

        found = in_turns(3 if quick else 11, {"cdcsim": ours, "bound.c": bound, "orjson": ready})
    what = {
        "cdcsim": "crud as canal-json, from turns to bytes",
        "bound.c": "a loop written for this one format and table",
        "orjson": "values and dicts are there; bytes only",
    }
    ns = {name: median(each) for name, each in found.items()}
    lowest = ns["bound.c"]
    table(
        "bound: one thread",
        ("", "what it does", "ns a message", "messages/s", "times the bound"),
        [
            [
                name,
                what[name],
                f"{ns[name]:,.0f} {spread(each)}",
                f"{1e9 / ns[name]:,.0f}",
                f"{ns[name] / lowest:.1f}",
            ]
            for name, each in found.items()
        ],
        "In processor time. The bound is what this machine's core can do, not what a program for all formats can.",
    )
