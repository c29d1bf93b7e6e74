"""The memory of `cdcsim run` over millions of messages to each broker, killed in mid-run: it must stay flat."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from urllib.request import urlopen

from load_tools import LoadTool
from measure import ROOT, cdcsim, progress, table

MESSAGES, DOWN_SECS = 2_000_000, 60.0
QUICK_MESSAGES, QUICK_DOWN_SECS = 60_000, 5.0
SAMPLE_SECS = 0.2
# What a run has when it has sent a tenth is what it needs.
PHASES = ("first tenth", "until the outage", "while it is away", "after it")


def run(scenario: str, format: str, folder: Path, *, brokers: Mapping[str, type[LoadTool]], quick: bool) -> None:
    count, down_secs = (QUICK_MESSAGES, QUICK_DOWN_SECS) if quick else (MESSAGES, DOWN_SECS)
    rows = []
    for kind, tool in brokers.items():
        with tool.start(folder) as broker:
            bench = tool(broker, folder)
            for name, way in list(tool.rows.values())[-1].items():
                to = bench.name()
                command = cdcsim("run", scenario, "-f", format, "--allow-undocumented", "--limit", count)
                peaks = sampled([*command, "--to", bench.url(to, way)], count, broker, down_secs, f"{kind} {name}")
                bench.delete(to)
                mib = [peaks[phase] / 1024 for phase in PHASES]
                cells = [f"{peak:.0f} MiB" for peak in mib]
                rows.append([kind, name, *cells, f"{max(mib[1:]) / mib[0]:.2f}"])
    table(
        f"steady: {scenario}, {format}, {count:,} row changes, the broker away for {down_secs:g} s in the middle",
        ("broker", "client", *PHASES, "most to the first"),
        rows,
        "The most memory (resident set) that the process held in each part of the run. It must be flat: about 1.",
    )


def sampled(command: list[str], count: int, broker: object, down_secs: float, name: str) -> dict[str, int]:
    """Peaks in KiB, by phase. The broker is killed when half is delivered, and started again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    peaks: dict[str, int] = defaultdict(int)
    back_at: float | None = None
    up = True
    with subprocess.Popen([*command, "--metrics", f"127.0.0.1:{port}"], cwd=ROOT, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            done = delivered(port)
            if back_at is None and done >= count / 2:
                broker.kill()  # type: ignore[attr-defined]
                back_at, up = time.monotonic() + down_secs, False
            if back_at is not None and not up and time.monotonic() > back_at:
                broker.start()  # type: ignore[attr-defined]
                up = True
            away = 0 if back_at is None else 1 if not up else 2
            phase = PHASES[away + 1] if away or done >= count / 10 else PHASES[0]
            peaks[phase] = max(peaks[phase], resident_kib(process.pid))
            progress(f"{name}: {done:,} delivered, {phase}")
            time.sleep(SAMPLE_SECS)
        assert process.stderr is not None
        words = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode} of {' '.join(command)}\n{words}")
    return peaks


def delivered(port: int) -> int:
    """Messages that were acknowledged; 0 before the run begins to answer."""
    try:
        text = urlopen(f"http://127.0.0.1:{port}/", timeout=5).read().decode()
    except OSError:
        return 0
    return int(re.findall(r"^cdcsim_messages_delivered_total (\d+)", text, re.M)[0])


def resident_kib(pid: int) -> int:
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0
