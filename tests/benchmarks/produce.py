"""`cdcsim run` to a real Kafka against Kafka's own load tool, on one broker, with messages of the same size."""

from __future__ import annotations

import importlib
import itertools
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from measure import ROOT, cdcsim, in_turns, process, spread, table

PARTITIONS = 12
# Messages that the load tool picks from at random.
PAYLOADS = 20_000
# The load tool's best on two cores; its default batch of 16 KB halves its rate.
JAVA = ("batch.size=262144", "linger.ms=50", "buffer.memory=134217728", "acks=all", "enable.idempotence=true")

# Deleted topics leave the disk at once, not after a minute.
SETTINGS = {"log.segment.delete.delay.ms": "0"}


def run(scenario: str, format: str, folder: Path, *, quick: bool) -> None:
    sys.path.insert(0, str(ROOT / "docker" / "native"))
    native: Any = importlib.import_module("kafka")
    count, rounds = (100_000, 1) if quick else (1_000_000, 3)
    payload = folder / "payload"
    process(cdcsim("run", scenario, "-f", format, "-q", "--limit", PAYLOADS), output=payload)
    lines = payload.read_bytes().splitlines()
    size = sum(map(len, lines)) / len(lines)
    rows = []
    with native.Broker(folder / "broker", settings=SETTINGS, heap="1g", with_parent=True) as broker:
        for compression in ("none", "lz4"):
            bench = Bench(broker.address, f"{native.jars()}/*", native.java_tool("java"), compression)
            ours, theirs = bench.cdcsim(scenario, format, count, folder), bench.java(count, payload, folder)
            found = in_turns(rounds, {"cdcsim": ours, "java": theirs})
            rates = {name: median(values) for name, values in found.items()}
            cpu = {name: f"{median(bench.cpu[name]) / count * 1e6:.1f}" for name in found}
            rows.append(
                [
                    compression,
                    *itertools.chain(*((f"{rates[n]:,.0f} {spread(found[n])}", cpu[n]) for n in found)),
                    f"{rates['cdcsim'] / rates['java']:.2f}",
                ]
            )
    table(
        f"produce: {scenario}, {format}, {count:,} messages of {size:.0f} bytes, {PARTITIONS} partitions, acks=all",
        ("compression", "cdcsim: messages/s", "CPU s/million", "load tool: messages/s", "CPU s/million", "ratio"),
        rows,
        "Both count from the first message to the last acknowledgement; the CPU seconds are those of the whole process."
        " `cdcsim` makes up and encodes what it sends, the load tool picks ready-made records at random.",
    )


class Bench:
    """Both programs on one broker with one compression; each run writes to a topic of its own, deleted afterwards."""

    def __init__(self, address: str, classpath: str, java: str, compression: str) -> None:
        from confluent_kafka import admin

        self.address, self.classpath, self.java_path, self.compression = address, classpath, java, compression
        self.cpu: dict[str, list[float]] = {"cdcsim": [], "java": []}
        self._admin = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
        self._new: Callable[[str], Any] = lambda name: admin.NewTopic(name, PARTITIONS, 1)
        self._numbers = itertools.count()

    def topic(self) -> str:
        name = f"bench-{self.compression}-{next(self._numbers)}"
        self._admin.create_topics([self._new(name)])[name].result(30)
        return name

    def delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(30)

    def cdcsim(self, scenario: str, format: str, count: int, folder: Path) -> Callable[[], float]:
        summary = folder / "summary.json"

        def rate() -> float:
            topic = self.topic()
            url = f"kafka://{self.address}/{topic}?compression={self.compression}"
            command = cdcsim("run", scenario, "-f", format, "-q", "--limit", count, "--to", url)
            self.cpu["cdcsim"].append(process([*command, "--summary-to", str(summary)]).cpu_seconds)
            self.delete(topic)
            facts = json.loads(summary.read_text())
            return float(facts["delivered"] / facts["seconds"])

        return rate

    def java(self, count: int, payload: Path, folder: Path) -> Callable[[], float]:
        output = folder / "java.txt"

        def rate() -> float:
            topic = self.topic()
            command = [
                self.java_path, "-Xms512m", "-Xmx512m", "-cp", self.classpath,
                "org.apache.kafka.tools.ProducerPerformance", "--bootstrap-server", self.address, "--topic", topic,
                "--num-records", str(count), "--throughput", "-1", "--payload-file", str(payload),
                "--command-property", *JAVA, f"compression.type={self.compression}",
            ]  # fmt: skip
            self.cpu["java"].append(process(command, output=output).cpu_seconds)
            self.delete(topic)
            # "500000 records sent, 147200.4 records/sec (114.11 MB/sec), 65.02 ms avg latency, …"
            return float(re.findall(r"^\d+ records sent, ([\d.]+) records/sec", output.read_text(), re.M)[-1])

        return rate
