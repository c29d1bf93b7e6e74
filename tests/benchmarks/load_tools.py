"""The load tools that the brokers' makers offer, on brokers started here: what `cdcsim run` is measured with."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Final

from measure import ROOT, Used, process

sys.path.insert(0, str(ROOT / "docker" / "native"))

PARTITIONS: Final = 12
# RocketMQ's tool has so many threads, each with one message on its way; as many queues keep ours as busy.
THREADS: Final = 16
# Messages without a confirm, as many as in ours.
WINDOW: Final = 2000
# The first seconds of a JVM are slow.
WARM_SECS: Final = 3

PERF_TEST: Final = "2.22.1"
PERF_TEST_POM: Final = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>cdcsim</groupId>'
    "<artifactId>perf-test-jars</artifactId><version>1</version><packaging>pom</packaging><dependencies><dependency>"
    f"<groupId>com.rabbitmq</groupId><artifactId>perf-test</artifactId><version>{PERF_TEST}</version></dependency>"
    "</dependencies></project>"
)


class LoadTool(ABC):
    """A broker with the tool that its makers measure it with. Each run has a topic or queue of its own, then deleted.

    `rows` has for each row of the table, which is a setting of the tool, the ways that `cdcsim` sends, by name: options
    of its URL. `count` is how many messages a run has.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    note: ClassVar[str]
    count: ClassVar[int]
    rows: ClassVar[Mapping[str, Mapping[str, str]]]
    options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, broker: Any, folder: Path) -> None:
        self.broker, self.folder = broker, folder
        self.payload = folder / "payload"  # lines of messages, which the tools send or whose size they take
        self._numbers = itertools.count()

    @classmethod
    def native(cls) -> Any:
        return importlib.import_module(cls.kind)

    @classmethod
    def start(cls, folder: Path) -> AbstractContextManager[Any]:
        broker: AbstractContextManager[Any] = cls.native().Broker(folder / cls.kind, with_parent=True, **cls.options)
        return broker

    def name(self) -> str:
        """Of a new topic or queue."""
        return f"bench-{next(self._numbers)}"

    @abstractmethod
    def url(self, name: str, way: str) -> str:
        """Where `cdcsim` sends to; what it does not make itself is made."""

    @abstractmethod
    def command(self, name: str, row: str, count: int) -> Sequence[str]:
        """The tool's command, which ends by itself."""

    @abstractmethod
    def rate(self, output: str) -> float:
        """Messages a second, from what the tool prints."""

    def delete(self, name: str) -> None:  # noqa: B027 - RocketMQ's topics stay
        """What a run has left."""

    def run(self, row: str, count: int) -> tuple[float, Used]:
        """The tool's rate, and what it took."""
        name, output = self.name(), self.folder / "tool.txt"
        used = process(self.command(name, row, count), output=output)
        self.delete(name)
        return self.rate(output.read_text(errors="replace")), used


def java(classpath: Path, *arguments: str) -> list[str]:
    from fetching import java_tool  # type: ignore[import-not-found]

    return [java_tool("java"), "-Xms512m", "-Xmx512m", "-cp", f"{classpath}/*", *arguments]


def warm(rates: Sequence[str]) -> float:
    """The median of a tool's rates of each second, without the first ones."""
    return median(map(float, rates[WARM_SECS:-1] or rates))


class Kafka(LoadTool):
    kind, title = "kafka", "kafka-producer-perf-test"
    note = f"Kafka: {PARTITIONS} partitions, acks=all, idempotent; the tool picks ready-made records at random."
    count = 1_000_000
    rows: ClassVar = {name: {"cdcsim": f"&compression={name}"} for name in ("none", "lz4")}
    # Deleted topics leave the disk at once, not after a minute.
    options: ClassVar = {"settings": {"log.segment.delete.delay.ms": "0"}, "heap": "1g"}
    # The tool's best on two cores; its default batch of 16 KB halves its rate.
    best = ("batch.size=262144", "linger.ms=50", "buffer.memory=134217728", "acks=all", "enable.idempotence=true")

    def __init__(self, broker: Any, folder: Path) -> None:
        from confluent_kafka import admin

        super().__init__(broker, folder)
        self._admin = admin.AdminClient({"bootstrap.servers": self.broker.address, "log_level": 0})
        self._new = admin.NewTopic

    def url(self, name: str, way: str) -> str:
        return f"kafka://{self.broker.address}/{name}?partitions={PARTITIONS}{way}"

    def command(self, name: str, row: str, count: int) -> Sequence[str]:
        self._admin.create_topics([self._new(name, PARTITIONS, 1)])[name].result(30)
        return java(
            self.native().jars(), "org.apache.kafka.tools.ProducerPerformance", "--bootstrap-server",
            self.broker.address, "--topic", name, "--num-records", str(count), "--throughput", "-1", "--payload-file",
            str(self.payload), "--command-property", *self.best, f"compression.type={row}",
        )  # fmt: skip

    def rate(self, output: str) -> float:
        # "500000 records sent, 147200.4 records/sec (114.11 MB/sec), 65.02 ms avg latency, …": the last is of the run
        return float(re.findall(r"^\d+ records sent, ([\d.]+) records/sec", output, re.M)[-1])

    def delete(self, name: str) -> None:
        self._admin.delete_topics([name])[name].result(30)


class Rabbitmq(LoadTool):
    kind, title = "rabbitmq", "PerfTest"
    note = f"RabbitMQ: one connection, one queue, persistent, {WINDOW} messages without a confirm, no consumer."
    count = 200_000
    rows: ClassVar = {name: {"cdcsim": f"&queue_type={name}"} for name in ("classic", "quorum", "stream")}

    def __init__(self, broker: Any, folder: Path) -> None:
        from fetching import fetched

        super().__init__(broker, folder)
        self._jars = fetched(f"perf-test-{PERF_TEST}", PERF_TEST_POM, title=f"RabbitMQ's PerfTest {PERF_TEST}")

    def url(self, name: str, way: str) -> str:
        return f"amqp://{self.broker.address}/?queue={name}&window={WINDOW}{way}"

    def command(self, name: str, row: str, count: int) -> Sequence[str]:
        with self._channel() as channel:
            channel.queue_declare(name, durable=True, arguments={"x-queue-type": row})
        lines = sorted(self.payload.read_bytes().splitlines(), key=len)
        body = self.folder / "body"  # the one of the middle size: the tool sends it again and again
        body.write_bytes(lines[len(lines) // 2])
        return java(
            self._jars, "com.rabbitmq.perf.PerfTest", "-h", f"amqp://guest:guest@{self.broker.address}/%2f", "-x", "1",
            "-y", "0", "-p", "-u", name, "-B", str(body), "-T", "application/json", "-f", "persistent", "-c",
            str(WINDOW), "-C", str(count), "-i", "1",
        )  # fmt: skip

    def rate(self, output: str) -> float:
        return warm(re.findall(r"confirmed: ([\d.]+) msg/s", output))

    def delete(self, name: str) -> None:
        with self._channel() as channel:
            channel.queue_delete(name)

    def _channel(self) -> Any:
        import pika

        host, port = self.broker.address.split(":")
        return pika.BlockingConnection(pika.ConnectionParameters(host, int(port))).channel()


class Rocketmq(LoadTool):
    kind, title = "rocketmq", "benchmark.Producer"
    note = f"RocketMQ: {THREADS} threads, {THREADS} queues, one message of a queue on its way (native: one request)."
    count = 100_000
    rows: ClassVar = {f"{THREADS} threads": {"library": "&client=library", "native": "&client=native"}}
    options: ClassVar = {"heap": "512m"}

    def __init__(self, broker: Any, folder: Path) -> None:
        super().__init__(broker, folder)
        os.environ.setdefault("CDCSIM_ROCKETMQ_LIBRARY", str(self.native().library()))

    def url(self, name: str, way: str) -> str:
        return f"rocketmq://{self.broker.address}/{name}?partitions={THREADS}&threads={THREADS}{way}"

    def command(self, name: str, row: str, count: int) -> Sequence[str]:
        from simulator.sinks import open_sink

        with open_sink(self.url(name, "&client=native")) as sink:
            sink.partitions(name)
        lines = self.payload.read_bytes().splitlines()
        return java(
            self.native().jars(), "org.apache.rocketmq.example.benchmark.Producer", "-n", self.broker.address, "-t",
            name, "-s", str(sum(map(len, lines)) // len(lines)), "-w", str(THREADS), "-q", str(count), "-ri", "1000",
        )  # fmt: skip

    def rate(self, output: str) -> float:
        return warm(re.findall(r"Send TPS: (\d+)", output))


TOOLS: Final[Mapping[str, type[LoadTool]]] = {tool.kind: tool for tool in (Kafka, Rabbitmq, Rocketmq)}
