"""`cdcsim verify` of a topic of Kafka against `cdcsim run` that filled it, and against Kafka's own consumer tool."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from family import Family, family
from load_tools import Kafka, java
from measure import cdcsim, progress, spread, table

RUN, VERIFY, TOOL = "cdcsim run", "cdcsim verify", "kafka-consumer-perf-test"


def run(scenario: str, format: str, folder: Path, *, count: int | None, quick: bool) -> None:
    count = count or (1_000_000 if quick else 10_000_000)
    took: dict[str, list[Family]] = {RUN: [], VERIFY: [], TOOL: []}
    with Kafka.start(folder) as broker:
        tool = Kafka(broker, folder)
        for number in range(1 if quick else 3):
            topic = tool.name()
            job = [scenario, "-f", format, "--route", "key", "--allow-undocumented", "--limit", count]
            for name, command in (
                (RUN, cdcsim("run", *job, "-q", "--to", tool.url(topic, "&compression=lz4"))),
                (VERIFY, cdcsim("verify", *job, "--from", f"kafka://{broker.address}/{topic}")),
                (TOOL, consumer(tool, topic, count)),
            ):
                progress(f"round {number + 1}, {name}")
                took[name].append(family(command))
            tool.delete(topic)
    produced = median(each.seconds for each in took[RUN])
    rows = []
    for name, times in took.items():
        seconds = [each.seconds for each in times]
        cpu, peak = median(each.cpu_seconds for each in times), median(each.peak_bytes for each in times)
        ratio = "" if name == RUN else f"{produced / median(seconds):.2f}"
        rate = f"{count / median(seconds):,.0f} {spread(seconds)}"
        rows.append([name, f"{median(seconds):.1f}", rate, f"{cpu / count * 1e6:.2f}", f"{peak / 2**20:,.0f}", ratio])
    table(
        f"verify: {count:,} row changes of {scenario}, {format}, a topic of Kafka, lz4",
        ("", "seconds", "changes/s", "CPU s/million", "MiB", "rate to run"),
        rows,
        "Start and end of each program count, and all of its processes. The broker runs on the same cores and is not"
        " counted. The tool takes messages and drops them.",
    )


def consumer(tool: Kafka, topic: str, count: int) -> list[str]:
    """Command of the tool, which ends when it has read as many messages."""
    return java(
        tool.native().jars(), "org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", tool.broker.address,
        "--topic", topic, "--num-records", str(count), "--timeout", "60000",
    )  # fmt: skip
