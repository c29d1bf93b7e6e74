#!/usr/bin/env python3
"""Runs of the size that Spark is for, each compared in one go; needs Java, 15 GB of disk and a quarter of an hour.

python tests/benchmarks/volume.py files --dbldatagen PYTHON     100 million messages to Parquet
python tests/benchmarks/volume.py kafka                         10 million into 12 partitions of a real Kafka
python tests/benchmarks/volume.py flink                         3 million as lines, beside Flink's datagen

`files` compares `cdcsim run --engine spark` with the local engine, and with dbldatagen and `to_json` for the same
columns: of fewer messages, since rates are what is compared. `kafka` compares with the local engine, whose digest of
each partition is what a consumer of its own must find. `flink` has the local engine write text, and Flink's datagen
with its canal-json.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

# As the command sets it for itself, before Arrow is loaded.
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "5000")

from family import Family, family
from measure import ROOT, cdcsim, machine, others, progress, table

SCENARIO: Final = "crud"
PARTITIONS: Final = 12
COLUMNS: Final = ("", "messages", "seconds", "messages/s", "CPU s/million", "of it Java", "memory", "bytes written")


def main() -> None:
    parser = argparse.ArgumentParser(description="Spark at its size: see the first lines of this file.")
    parser.add_argument("name", choices=["files", "kafka", "flink"])
    parser.add_argument(
        "--messages", type=int, help="default: 100,000,000 to files, 10,000,000 to Kafka, 3,000,000 of Flink"
    )
    parser.add_argument("--dbldatagen", metavar="PYTHON", help="a Python that has dbldatagen, pyspark and pandas<3")
    parser.add_argument("--folder", help="where scratch files go; default: the system's temporary folder")
    options = parser.parse_args()
    print(machine())
    with others(), tempfile.TemporaryDirectory(prefix="cdcsim-bench-", dir=options.folder) as scratch:
        if options.name == "files":
            files(options.messages or 100_000_000, Path(scratch), options.dbldatagen)
        elif options.name == "flink":
            flink(options.messages or 3_000_000, Path(scratch))
        else:
            kafka(options.messages or 10_000_000, Path(scratch))


# ---------------------------------------------------------------------------------------------------------------- files


def files(messages: int, scratch: Path, dbldatagen: str | None) -> None:
    """Whole processes, start included. A message takes some 120 bytes of Parquet, or 800 as text."""
    room = shutil.disk_usage(scratch).free
    if room < (need := messages * 140):
        raise SystemExit(f"{need / 1e9:.0f} GB are needed in {scratch}, and {room / 1e9:.0f} GB are free.")
    rows, fewer = [], max(messages // 10, 1_000_000)
    used: dict[str, tuple[int, Family]] = {}
    for engine, count in (("local", fewer), ("spark", messages)):
        progress(f"{engine}: {count:,} messages")
        folder = scratch / engine
        command = cdcsim("run", SCENARIO, "-f", "canal-json", "-q", "--limit", count, "--to", f"parquet:{folder}")
        used[engine] = count, family([*command, "--engine", engine])
        rows.append(row(f"cdcsim, {engine} engine", *used[engine], size_of(folder)))
        shutil.rmtree(folder)
    if dbldatagen is not None:
        count, folder = max(messages // 50, 200_000), scratch / "dbldatagen"
        progress(f"dbldatagen: {count:,} rows")
        program = str(Path(__file__).with_name("dbldatagen_rows.py"))
        alone = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": dbldatagen, "PYTHONPATH": ""}
        used["dbldatagen"] = count, family([dbldatagen, program, str(count), str(folder)], alone)
        rows.append(row("dbldatagen, to_json", *used["dbldatagen"], size_of(folder)))
    table(f"files: {SCENARIO}, canal-json, Parquet compressed by zstd", COLUMNS, rows, ratios(used))


def ratios(used: dict[str, tuple[int, Family]]) -> str:
    count, spark = used["spark"]
    words = []
    for name, (other, took) in used.items():
        if name != "spark":
            by_clock = (count / spark.seconds) / (other / took.seconds)
            by_cpu = (count / spark.cpu_seconds) / (other / took.cpu_seconds)
            words.append(f"to {name} {by_cpu:.2f} by processor seconds and {by_clock:.2f} by the clock")
    return f"Messages/s of the Spark engine: {'; '.join(words)}. All processes, their start included."


def row(name: str, count: int, took: Family, size: int | None) -> list[str]:
    return [
        name,
        f"{count:,}",
        f"{took.seconds:,.0f}",
        f"{count / took.seconds:,.0f}",
        f"{took.cpu_seconds / count * 1e6:.2f}",
        f"{took.java_seconds / count * 1e6:.2f}",
        f"{took.peak_bytes / 1e6:,.0f} MB",
        "" if size is None else f"{size:,}",
    ]


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


# ---------------------------------------------------------------------------------------------------------------- Flink

FLINK: Final = "2.3.0"
PARTS: Final = (
    "clients", "table-planner-loader", "table-runtime", "table-api-java-bridge", "connector-files", "connector-datagen",
    "json",
)  # fmt: skip
# Flink's own list for Java 17 (conf/config.yaml), of it what a batch job needs.
OPENED: Final = ("java.lang", "java.net", "java.util", "java.util.concurrent", "java.time", "java.io", "java.nio")


def flink(messages: int, scratch: Path) -> None:
    """Whole processes, start included; both write lines of JSON."""
    sys.path.insert(0, str(ROOT / "docker" / "native"))
    native: Any = importlib.import_module("fetching")
    dependencies = "".join(
        f"<dependency><groupId>org.apache.flink</groupId><artifactId>flink-{part}</artifactId><version>{FLINK}</version>"
        "</dependency>"
        for part in PARTS
    )
    pom = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>cdcsim</groupId>'
        f"<artifactId>flink-datagen</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    jars, java = (
        native.fetched(f"flink-datagen-{FLINK}", pom, title="Flink"),
        native.java_tool("java", wanted_by="Flink"),
    )
    opened = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in OPENED]
    program = Path(__file__).with_name("FlinkRows.java")
    own = ["run", SCENARIO, "-f", "canal-json", "-q", "--limit", messages, "--to", f"file:{scratch}/own.jsonl"]
    contenders = {"cdcsim, canal-json": cdcsim(*own)}
    for each in (1, 2):
        arguments = [str(program), str(messages), str(scratch / f"flink-{each}"), str(each)]
        contenders[f"Flink, {each} at once"] = [java, *opened, "-cp", f"{jars}/*", *arguments]
    rows, took = [], list[Family]()
    for name, command in contenders.items():
        progress(name)
        took.append(family(command))
        written = [path for path in scratch.rglob("*") if path.is_file()]
        rows.append(row(name, messages, took[-1], sum(path.stat().st_size for path in written)))
        for path in written:
            path.unlink()
    cpu = [other.cpu_seconds / took[0].cpu_seconds for other in took[1:]]
    clock = [other.seconds / took[0].seconds for other in took[1:]]
    table(
        f"flink: columns of {SCENARIO} as lines of canal-json", COLUMNS, rows,
        f"Messages/s of cdcsim to those of Flink {FLINK}, the better of the two: {min(cpu):.1f} by processor seconds, "
        f"{min(clock):.1f} by the clock. All processes, their start included. Flink's messages are inserts alone, "
        "without types, positions and keys.",
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- Kafka


def kafka(messages: int, scratch: Path) -> None:
    sys.path.insert(0, str(ROOT / "docker" / "native"))
    native: Any = importlib.import_module("kafka")
    rows, used = [], dict[str, tuple[int, Family]]()
    settings = {"log.segment.delete.delay.ms": "0"}
    with native.Broker(scratch / "broker", settings=settings, heap="1g", with_parent=True) as broker:
        for engine in ("local", "spark"):
            progress(f"{engine}: {messages:,} messages")
            url = f"kafka://{broker.address}/{engine}?partitions={PARTITIONS}&compression=lz4"
            record = ["--record", str(scratch / "record.json")] if engine == "local" else []
            command = cdcsim(
                "run", SCENARIO, "-f", "canal-json", "--route", "key", "-q", "--limit", messages, "--to", url
            )
            used[engine] = messages, family([*command, *record, "--engine", engine])
            rows.append(row(f"cdcsim, {engine} engine", *used[engine], None))
            if engine == "local":
                delete(broker.address, engine)
        progress("a consumer reads")
        wanted = {
            each["partition"]: (each["delivered"], each["sha256"])
            for each in json.loads((scratch / "record.json").read_text())["partitions"]
        }
        there = consumed(broker.address, "spark")
    same = sum(there[number] == wanted[number] for number in wanted)
    table(
        f"kafka: {SCENARIO}, canal-json, {PARTITIONS} partitions, lz4, acks=all", COLUMNS[:-1], [r[:-1] for r in rows],
        f"A consumer found {sum(count for count, _ in there.values()):,} messages; {same} of {PARTITIONS} partitions "
        f"have the SHA-256 of the local engine's: all its messages, in its order. {ratios(used)}",
    )  # fmt: skip
    if there != wanted:
        raise SystemExit("the partitions differ")


def delete(address: str, topic: str) -> None:
    from confluent_kafka import admin

    client = admin.AdminClient({"bootstrap.servers": address, "log_level": 0})
    client.delete_topics([topic])[topic].result(30)


def consumed(address: str, topic: str) -> dict[int, tuple[int, str]]:
    """How many messages each partition has, and the SHA-256 of their values, each with a newline behind it."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    options = {"bootstrap.servers": address, "group.id": "bench", "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer(options)
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(PARTITIONS)])
    counts, digests = [0] * PARTITIONS, [hashlib.sha256() for _ in range(PARTITIONS)]
    left = set(range(PARTITIONS))
    while left:
        for message in consumer.consume(10_000, timeout=1):
            number = message.partition()
            if message.error() is None:
                counts[number] += 1
                digests[number].update(message.value())
                digests[number].update(b"\n")
            elif message.error().code() == KafkaError._PARTITION_EOF:
                left.discard(number)
            else:
                raise SystemExit(message.error().str())
    consumer.close()
    return {number: (counts[number], digests[number].hexdigest()) for number in range(PARTITIONS)}


if __name__ == "__main__":
    main()
