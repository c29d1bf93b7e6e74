"""A process and all that it starts: time on the processors, Java's share of it, memory of all together (Linux)."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

from measure import ROOT, UNCOUNTED, progress, seconds_of_processes

# Orphans become children of this process, which can then wait for them.
PR_SET_CHILD_SUBREAPER: Final = 36
# What a process takes behind the last sample is not counted: some of Spark's are waited for by nobody.
SAMPLE_SECONDS: Final = 0.2
MEMORY_EVERY: Final = 10
TICK: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Family:
    """What a process and its descendants took. `peak_bytes` is the most that all of them held at once, what they share
    counted once."""

    seconds: float
    cpu_seconds: float
    java_seconds: float
    peak_bytes: int


def family(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Family:
    """Run a command to the end of its last descendant. Raises SystemExit with its last words."""
    before = seconds_of_processes()
    done = subprocess.run(
        [sys.executable, __file__, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT, check=False,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"exit status {done.returncode} of {' '.join(command)}")
    found = Family(*json.loads(done.stdout))
    # the system counts as this program's only what was waited for, which some of Spark's processes are by nobody
    UNCOUNTED.append(max(0.0, found.cpu_seconds - (seconds_of_processes() - before)))
    return found


def watched(command: Sequence[str]) -> Family:
    """The same, in a process that starts nothing else."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin, ended, peak, used = time.perf_counter(), threading.Event(), [0], dict[tuple[str, int], float]()
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdout=words, stderr=words)

        def sample() -> None:
            number = 0
            while not ended.wait(SAMPLE_SECONDS):
                pids = descendants(os.getpid())
                times = {(name_of(pid), pid): processor_seconds(pid) for pid in pids}
                used.update({key: seconds for key, seconds in times.items() if seconds})  # 0 of one that has ended
                if number % MEMORY_EVERY == 0:
                    peak[0] = max(peak[0], sum(map(memory, pids)))
                    progress(f"{time.perf_counter() - begin:,.0f} s, {peak[0] / 1e9:.1f} GB at the most")
                number += 1

        sampling = threading.Thread(target=sample, daemon=True)
        sampling.start()
        status = process.wait()
        seconds = time.perf_counter() - begin
        while True:  # Java ends behind its program
            try:
                os.wait()
            except ChildProcessError:
                break
        ended.set()
        sampling.join()
        if status:
            words.seek(0)
            print(words.read().decode(errors="replace")[-3000:], file=sys.stderr)
            raise SystemExit(status)
    java = sum(each for (name, _), each in used.items() if name == "java")
    return Family(seconds, sum(used.values()), java, peak[0])


def descendants(root: int) -> list[int]:
    """All processes below one."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := stat(int(entry))):
            children.setdefault(int(fields[1]), []).append(int(entry))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def stat(pid: int) -> list[str]:
    """The fields of a process behind its name: state, parent, …; none when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def name_of(pid: int) -> str:
    """`java`, `python`."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def processor_seconds(pid: int) -> float:
    """Of the process alone."""
    fields = stat(pid)
    return (int(fields[11]) + int(fields[12])) / TICK if fields else 0.0


def memory(pid: int) -> int:
    """Bytes that a process holds; pages that several share are divided among them."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    print(json.dumps(astuple(watched(sys.argv[1:]))))
