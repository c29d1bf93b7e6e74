"""Standard output and folders: one message value a line, or whole messages with `--envelope`.

`file:DIR?partitions=N` writes `TOPIC-PARTITION.jsonl` for each topic and partition, or `.avro`, an object container, of
values that are Avro. Nothing is overwritten: a file that is already there is an error before the first byte is written.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MessageBatch
from simulator.errors import OptionError, SinkError, closest
from simulator.sinks.framing import Framing, framing
from simulator.sinks.sink import Sink
from simulator.wire.avro import Container


def open_stdout(url: str, *, envelope: bool = False) -> StreamSink:
    """`-`: all messages in stream order, whatever their topic."""
    if sys.stdout is None:
        raise SinkError("--to -: there is no standard output.")
    return StreamSink(sys.stdout.buffer, framing(envelope=envelope))


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
    return FolderSink(Path(place), int(count), framing(envelope=envelope, container=container))


class StreamSink(Sink):
    """All messages in one stream of bytes."""

    def __init__(self, stream: IO[bytes], framing: Framing) -> None:
        super().__init__()
        self._stream, self._framing = stream, framing

    def partitions(self, topic: str) -> int:
        return 1

    def send(self, batch: MessageBatch) -> None:
        self._stream.writelines(self._framing.frame(batch))
        self.delivered += len(batch)
        self.delivered_changes += batch.changes

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        return


class FolderSink(Sink):
    """One file for each topic and partition."""

    def __init__(self, folder: Path, partitions: int, framing: Framing) -> None:
        super().__init__()
        self._folder, self._partitions, self._framing = folder, partitions, framing
        self._files: dict[tuple[str, int], IO[bytes]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SinkError(f"file:{folder}: the folder cannot be made: {error.strerror}.") from None
        there = next(iter(sorted(folder.glob(f"*.{framing.suffix}"))), None)
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
        try:
            self._file(topic, partition).writelines(self._framing.frame(batch))
        except OSError as error:
            raise SinkError(f"file:{self._folder}: writing stopped: {error.strerror}.") from None

    def _file(self, topic: str, partition: int) -> IO[bytes]:
        """The file of a topic and partition, begun when it is first asked for."""
        if (topic, partition) not in self._files:
            # a topic pattern's names come from tables: what a file name cannot hold is written as its code
            name = re.sub(r"[^\w.-]", lambda match: f"%{ord(match[0]):02X}", topic)
            try:
                file = (self._folder / f"{name}-{partition}.{self._framing.suffix}").open("xb")
            except OSError as error:
                raise SinkError(
                    f"file:{self._folder}: {name}-{partition}.{self._framing.suffix}: {error.strerror}."
                ) from None
            file.write(self._framing.header())
            self._files[topic, partition] = file
        return self._files[topic, partition]

    def flush(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def _where(batch: MessageBatch, mask: pa.Array) -> MessageBatch:
    return MessageBatch(batch.columns.filter(mask))
