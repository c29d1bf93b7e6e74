"""`cdcsim run` to real brokers against their own load tools, on one broker, with messages of the same size."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from load_tools import LoadTool
from measure import Used, cdcsim, in_turns, process, spread, table

# Messages that the load tools pick from.
PAYLOADS = 20_000


def run(scenario: str, format: str, folder: Path, *, brokers: Mapping[str, type[LoadTool]], quick: bool) -> None:
    process(cdcsim("run", scenario, "-f", format, "-q", "--limit", PAYLOADS), output=folder / "payload")
    lines = (folder / "payload").read_bytes().splitlines()
    rows = []
    for kind, tool in brokers.items():
        with tool.start(folder) as broker:
            count = tool.count // 10 if quick else tool.count
            bench = Bench(tool(broker, folder), scenario, format, count, folder)
            for row in tool.rows:
                found = in_turns(1 if quick else 3, bench.contenders(row))
                theirs = median(found[tool.title])
                for name, rates in found.items():
                    ratio = "" if name == tool.title else f"{median(rates) / theirs:.2f}"
                    cpu = median(bench.cpu[row, name]) / count * 1e6
                    rows.append([kind, row, name, f"{median(rates):,.0f} {spread(rates)}", f"{cpu:.1f}", ratio])
    table(
        f"produce: {scenario}, {format}, messages of {sum(map(len, lines)) / len(lines):.0f} bytes",
        ("broker", "", "client", "messages/s", "CPU s/million", "ratio"),
        rows,
        "The rate of `cdcsim` counts from the first message to the last acknowledgement, and it makes up what it sends;"
        " those of the tools of RabbitMQ and RocketMQ are medians of their seconds from the fourth on. The CPU seconds"
        f" are those of the whole process. {' '.join(tool.note for tool in brokers.values())}",
    )


class Bench:
    """Both programs on one broker; `cpu` has what each run took, by row and name."""

    def __init__(self, tool: LoadTool, scenario: str, format: str, count: int, folder: Path) -> None:
        self._tool, self._count = tool, count
        self._summary = folder / "summary.json"
        command = cdcsim("run", scenario, "-f", format, "-q", "--allow-undocumented", "--limit", count)
        self._command = [*command, "--summary-to", str(self._summary)]
        self.cpu: dict[tuple[str, str], list[float]] = defaultdict(list)

    def contenders(self, row: str) -> dict[str, Callable[[], float]]:
        """What measures each one's rate."""
        ways = {name: partial(self._ours, way) for name, way in self._tool.rows[row].items()}
        theirs = {self._tool.title: partial(self._tool.run, row, self._count)}
        return {name: partial(self._rate, row, name, measure) for name, measure in (ways | theirs).items()}

    def _rate(self, row: str, name: str, measure: Callable[[], tuple[float, Used]]) -> float:
        rate, used = measure()
        self.cpu[row, name].append(used.cpu_seconds)
        return rate

    def _ours(self, way: str) -> tuple[float, Used]:
        name = self._tool.name()
        used = process([*self._command, "--to", self._tool.url(name, way)])
        self._tool.delete(name)
        facts = json.loads(self._summary.read_text())
        return float(facts["delivered"] / facts["seconds"]), used
