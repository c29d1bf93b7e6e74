"""Standard output and folders: one message value a line, or whole messages with `--envelope`.

`file:DIR?partitions=N` writes `TOPIC-PARTITION.jsonl` for each topic and partition, or `.avro`, an object container, of
values that are Avro. Nothing is overwritten: a file that is already there is an error before the first byte is written.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.errors import OptionError, SinkError, closest
from simulator.sinks import Sink
from simulator.wire.avro import Container

SLICE_BYTES = 1 << 20


def open_stdout(url: str, *, envelope: bool = False) -> LineSink:
    """`-`: all messages in stream order, whatever their topic."""
    if sys.stdout is None:
        raise SinkError("--to -: there is no standard output.")
    return LineSink(sys.stdout.buffer, envelope=envelope)


def open_files(url: str, *, envelope: bool = False, container: Container | None = None) -> FolderSink:
    """`file:DIR` or `file:DIR?partitions=6`. Raises OptionError, SinkError."""
    place, _, query = url.removeprefix("file:").partition("?")
    if place.startswith("//"):
        place = place[2:]
    if not place:
        raise OptionError(f"--to {url}: it names no folder; write file:DIR.")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name != "partitions":
            guess = closest(name, ["partitions"])
            raise OptionError(
                f"--to {url}: there is no option {name!r}." + (f" Did you mean {guess!r}?" if guess else "")
            )
    count = options.get("partitions", "1")
    if not count.isdigit() or not 1 <= int(count) <= 10_000:
        raise OptionError(f"--to {url}: partitions={count} is not a number from 1 to 10000.")
    return FolderSink(Path(place), int(count), envelope=envelope, container=container)


def lines(batch: MessageBatch) -> pa.Buffer:
    """The values, which end with newlines, as they lie in memory. A tombstone is `null`."""
    values = batch["value"]
    if values.null_count:
        values = values.fill_null(b"null\n")
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32, count=len(values) + 1 + values.offset)[values.offset :]
    return values.buffers()[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def write(stream: IO[bytes], batch: MessageBatch, *, envelope: bool) -> None:
    """Write a batch's lines. In slices: Linux takes several times as long to make room in its cache for tens of
    megabytes at once."""
    data = memoryview(envelopes(batch) if envelope else lines(batch))
    for at in range(0, len(data), SLICE_BYTES):
        stream.write(data[at : at + SLICE_BYTES])


def envelopes(batch: MessageBatch) -> bytes:
    """One JSON object a line: topic, partition, key, headers, timestamp, value; bytes that are no text as base64."""
    out = []
    for message in batch.messages():
        out.append(
            orjson.dumps(
                {
                    "topic": message.topic,
                    "partition": message.partition,
                    "key": _text(message.key),
                    "headers": [[name, _text(value)] for name, value in message.headers],
                    "timestamp": message.timestamp_ms,
                    "value": _text(message.value),
                }
            )
        )
    return b"\n".join(out) + b"\n" if out else b""


def _text(data: bytes | None) -> str | dict[str, str] | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


class LineSink(Sink):
    """Messages as lines of one stream."""

    topic_pattern: str | None = None

    def __init__(self, stream: IO[bytes], *, envelope: bool = False) -> None:
        self._stream, self._envelope = stream, envelope
        self.line_end = "" if envelope else "\n"
        self.delivered = self.delivered_changes = self.failed = 0

    def partitions(self, topic: str) -> int:
        return 1

    def send(self, batch: MessageBatch) -> None:
        write(self._stream, batch, envelope=self._envelope)
        self.delivered += len(batch)
        self.delivered_changes += batch.changes

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        return


class FolderSink(Sink):
    """One file for each topic and partition: lines, or an Avro container."""

    topic_pattern: str | None = None

    def __init__(
        self, folder: Path, partitions: int, *, envelope: bool = False, container: Container | None = None
    ) -> None:
        self._folder, self._partitions, self._envelope, self._container = folder, partitions, envelope, container
        self._suffix = "jsonl" if container is None else "avro"
        self.line_end = "" if envelope or container else "\n"
        self._files: dict[tuple[str, int], IO[bytes]] = {}
        self.delivered = self.delivered_changes = self.failed = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SinkError(f"file:{folder}: the folder cannot be made: {error.strerror}.") from None
        there = next(iter(sorted(folder.glob(f"*.{self._suffix}"))), None)
        if there is not None:
            raise SinkError(f"file:{folder}: {there.name} is already there; name an empty folder, or remove it.")

    def partitions(self, topic: str) -> int:
        return self._partitions

    def send(self, batch: MessageBatch) -> None:
        topics = pc.unique(batch["topic"]).to_pylist()
        for topic in topics:
            part = batch if len(topics) == 1 else _where(batch, pc.equal(batch["topic"], topic))
            numbers = np.asarray(part["partition"])
            for number in np.unique(numbers).tolist():
                whole = bool((numbers == number).all())
                self._write(topic, number, part if whole else _where(part, pa.array(numbers == number)))
        self.delivered += len(batch)
        self.delivered_changes += batch.changes

    def _write(self, topic: str, partition: int, batch: MessageBatch) -> None:
        if (topic, partition) not in self._files:
            # a topic pattern's names come from tables: what a file name cannot hold is written as its code
            name = re.sub(r"[^\w.-]", lambda match: f"%{ord(match[0]):02X}", topic)
            try:
                file = (self._folder / f"{name}-{partition}.{self._suffix}").open("xb")
            except OSError as error:
                raise SinkError(f"file:{self._folder}: {name}-{partition}.{self._suffix}: {error.strerror}.") from None
            self._files[topic, partition] = file
            if self._container is not None:
                file.write(self._container.header())
        try:
            if self._container is not None:
                self._files[topic, partition].write(self._container.block(batch["value"]))
            else:
                write(self._files[topic, partition], batch, envelope=self._envelope)
        except OSError as error:
            raise SinkError(f"file:{self._folder}: writing stopped: {error.strerror}.") from None

    def flush(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def _where(batch: MessageBatch, mask: pa.Array) -> MessageBatch:
    return MessageBatch(batch.columns.filter(mask))
