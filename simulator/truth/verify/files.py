"""Readers of messages in files and on standard input: lines of values, envelopes, Avro containers, Parquet.

A folder has the files that `--to file:DIR` or `parquet:DIR` wrote, or Spark's folders of parts. They are read in
pieces, each only as far as its partition is requested.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import unquote

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as parquet

from simulator.errors import SinkError, UsageError
from simulator.sinks.files import in_file_names
from simulator.sinks.reading import HEADERS, Place, Records

CHUNK_BYTES: Final = 4 << 20
# Limit of buffered envelopes of other partitions while one partition is requested; beyond it, none is returned for now.
MOST_WAITING: Final = 200_000
ENVELOPE: Final = frozenset(("topic", "partition", "key", "headers", "timestamp", "value"))
SCHEMA: Final = pa.schema(
    [
        ("value", pa.binary()),
        ("key", pa.binary()),
        ("tag", pa.string()),
        ("timestamp_ms", pa.int64()),
        ("headers", HEADERS),
    ]
)
# First bytes of compressed files.
COMPRESSED: Final = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bzip2": b"BZh", "zip": b"PK\x03\x04"}
VALUES: Final = pa.schema([("value", pa.binary())])
# Place of all messages of a stream without topics.
ALL: Final = ("", 0)


# ----------------------------------------------------------------------------------------------------- pieces of files


def lines(file: IO[bytes], name: str, rest: bytes = b"") -> Generator[Records, None, None]:
    """Values, one per line; a line `null` is a tombstone. `rest`: bytes that were read from the file before. Raises
    SinkError for a compressed file, and for one that ends within a value."""
    rest = rest or file.readline()
    if kind := compression(rest):
        raise SinkError(f"{name}: it is compressed with {kind}, not lines of messages: decompress it first.")
    while chunk := file.read(CHUNK_BYTES):
        data = rest + chunk
        stop = data.rfind(b"\n") + 1
        rest = data[stop:]
        if stop:
            yield _split(data[:stop])
    if rest.endswith(b"\n"):  # a file of one line, which was read before
        yield _split(rest)
    elif rest:
        try:
            orjson.loads(rest)
        except orjson.JSONDecodeError:
            raise SinkError(f"{name}: it ends within a message: it was cut off, or is still being written.") from None
        yield _split(rest + b"\n")


def compression(begin: bytes) -> str | None:
    """The program that compressed a file, by its first bytes; None if none did."""
    return next((kind for kind, magic in COMPRESSED.items() if begin.startswith(magic)), None)


def _split(data: bytes) -> Records:
    """Lines as an array: each line and its terminator are taken as two values, and the terminators are dropped."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")).astype(np.int32)
    offsets = np.zeros(2 * len(ends) + 1, dtype=np.int32)
    offsets[1::2], offsets[2::2] = ends, ends + 1
    halves = pa.Array.from_buffers(pa.binary(), 2 * len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    values = halves.take(pa.array(np.arange(0, 2 * len(ends), 2)))
    lengths = np.diff(offsets)[::2]
    for row in np.flatnonzero(lengths == len(b"null")).tolist():
        if values[row].as_py() == b"null":
            return pa.record_batch(
                [pa.array([None if v == b"null" else v for v in values.to_pylist()], pa.binary())], VALUES
            )
    return pa.record_batch([values], VALUES)


# The schema of files of whole messages, a tombstone being null.
MESSAGES: Final = ["null", "bytes"]


def avro_records(file: IO[bytes]) -> Generator[Records, None, None]:
    """Records of an Avro object container. Raises SinkError."""
    import fastavro

    try:
        container = fastavro.block_reader(file)
        schema = container.writer_schema
        for block in container:
            stream: Any = block.bytes_  # type: ignore[attr-defined]
            data, values = stream.getvalue(), []
            stream.seek(0)
            for _ in range(block.num_records):
                start = stream.tell()
                datum = fastavro.schemaless_reader(stream, schema, None)
                values.append(datum if schema == MESSAGES else data[start : stream.tell()])
            yield pa.record_batch([pa.array(values, pa.binary())], VALUES)
    except (ValueError, EOFError, IndexError, KeyError, TypeError) as error:
        raise SinkError(f"{file.name}: it is no Avro container, or ends within a block: {error}.") from None


def envelopes(file: Iterable[bytes], name: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Envelopes (messages with topic, partition and key), one per line. Raises UsageError for any other line."""
    for number, line in enumerate(file, 1):
        try:
            envelope = orjson.loads(line)
            yield _place(envelope), _message(envelope)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{name}:{number}: no envelope as --envelope writes them: {error}.") from None


def _place(envelope: Mapping[str, Any]) -> Place:
    partition = envelope["partition"]
    return envelope["topic"], 0 if partition is None else int(partition)


def _message(envelope: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "value": _bytes(envelope["value"]),
        "key": _bytes(envelope["key"]),
        "tag": envelope.get("tag"),
        "timestamp_ms": envelope["timestamp"],
        "headers": [{"name": header, "value": _bytes(value)} for header, value in envelope["headers"]],
    }


def _bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)


def parquet_rows(path: Path) -> Iterator[Records]:
    """Messages of a Parquet file, as `--to parquet:DIR` writes them. Raises SinkError."""
    try:
        with parquet.ParquetFile(path) as file:
            names = set(file.schema_arrow.names)
            if not {"value", "key", "timestamp", "headers", "tag"} <= names:
                raise UsageError(f"{path}: it has no columns value, key, headers, tag and timestamp: no messages.")
            for batch in file.iter_batches(columns=["value", "key", "tag", "timestamp", "headers"]):
                stamps = batch.column("timestamp").cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
                columns = [batch.column("value"), batch.column("key"), batch.column("tag"), stamps]
                yield pa.record_batch([*columns, batch.column("headers").cast(HEADERS)], SCHEMA)
    except pa.ArrowInvalid as error:
        raise SinkError(f"{path}: it is no whole file of Parquet: {str(error).rstrip('.')}.") from None


# -------------------------------------------------------------------------------------------------------------- readers


class _Buffered:
    """Buffered pieces of one partition, returned in the requested counts."""

    def __init__(self, pieces: Generator[Records, None, None]) -> None:
        self._pieces = pieces
        self._rest: Records | None = None

    def take(self, count: int) -> Records | None:
        rest = self._rest if self._rest is not None and self._rest.num_rows else next(self._pieces, None)
        if rest is None:
            return None
        self._rest = rest.slice(count)
        return rest.slice(0, count)

    def close(self) -> None:
        self._pieces.close()


class FolderReader:
    """Reader of a folder with files for each topic and partition."""

    topic_pattern: str | None = None

    def __init__(self, url: str, folder: Path, partitions: int | None, prefix_bytes: int) -> None:
        self.name = url
        self._files = _files_by_place(folder)
        if not self._files:
            raise UsageError(f"{url}: there are no files TOPIC-PARTITION.jsonl, .avro or .parquet.")
        self._open: dict[str, _Buffered] = {}
        self._used: set[str] = set()
        if partitions is None and any(int(name.rpartition("-")[2]) for name in self._files):
            raise UsageError(f"{url}: say how many partitions its topics have, as in {url}?partitions=6.")
        self._partitions = partitions or 1
        for name in self._files:
            if int(name.rpartition("-")[2]) >= self._partitions:
                raise UsageError(f"{url}: {name} is beyond partitions={self._partitions}: give those of the run.")
        first = next(iter(self._files.values()))[0]
        self.prefix_bytes = prefix_bytes if first.suffix == ".avro" else 0
        self._envelope = first.suffix == ".jsonl" and _is_envelope(first)
        self.columns: Sequence[str] = SCHEMA.names if self._envelope or first.suffix == ".parquet" else VALUES.names

    def topic(self) -> str | None:
        return None

    def place(self, topic: str, partition: int) -> Place:
        return topic, partition

    def partitions(self, topic: str) -> int:
        return self._partitions

    def take(self, place: Place, count: int) -> Records | None:
        name = f"{in_file_names(place[0])}-{place[1]}"
        if name not in self._open:
            self._used.add(name)
            self._open[name] = _Buffered(self._pieces(self._files.get(name, [])))
        return self._open[name].take(count)

    def _pieces(self, paths: Sequence[Path]) -> Generator[Records, None, None]:
        for path in paths:
            if path.suffix == ".parquet":
                yield from parquet_rows(path)
                continue
            try:
                file = path.open("rb")
            except OSError as error:
                raise SinkError(f"{path}: {error.strerror}.") from None
            with file:
                if path.suffix == ".avro":
                    yield from avro_records(file)
                elif self._envelope:
                    yield from _batches(message for _, message in envelopes(file, str(path)))
                else:
                    yield from lines(file, str(path))

    def others(self) -> Iterator[tuple[Place, Records]]:
        for name in self._files.keys() - self._used:
            topic, _, partition = name.rpartition("-")
            for records in self._pieces(self._files[name]):
                yield (unquote(topic), int(partition)), records

    def close(self) -> None:
        for buffered in self._open.values():
            buffered.close()


def _files_by_place(folder: Path) -> dict[str, list[Path]]:
    """The files of each `TOPIC-PARTITION`, in order: one, or parts in a folder."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".jsonl", ".avro", ".parquet") or path.name.startswith(("_", ".")) or not path.is_file():
            continue
        outer = path.parent.relative_to(folder).parts
        if len(outer) == 2 and outer[0].startswith("topic=") and outer[1].startswith("partition="):
            name = f"{outer[0].removeprefix('topic=')}-{outer[1].removeprefix('partition=')}"
        else:
            name = outer[0] if len(outer) == 1 else path.stem
        if name.rpartition("-")[2].isdigit():
            found.setdefault(name, []).append(path)
    return found


def _is_envelope(path: Path) -> bool:
    with path.open("rb") as file:
        return is_envelope(file.readline())


def is_envelope(line: bytes) -> bool:
    """Tests whether a line is an envelope rather than a value."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.keys() >= ENVELOPE


def _batches(messages: Iterator[dict[str, Any]]) -> Iterator[Records]:
    waiting: list[dict[str, Any]] = []
    for message in messages:
        waiting.append(message)
        if len(waiting) == 1000:
            yield pa.RecordBatch.from_pylist(waiting, schema=SCHEMA)
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema=SCHEMA)


class StreamReader:
    """Reader of values of all partitions in one stream of lines, or one Avro container: `-`, `file:NAME.jsonl`."""

    topic_pattern: str | None = None
    columns: Sequence[str] = VALUES.names

    def __init__(
        self, name: str, file: IO[bytes], pieces: Generator[Records, None, None], partitions: int, prefix_bytes: int = 0
    ) -> None:
        self.name, self._file, self._partitions, self.prefix_bytes = name, file, partitions, prefix_bytes
        self._pieces = _Buffered(pieces)

    def topic(self) -> str | None:
        return None

    def place(self, topic: str, partition: int) -> Place:
        return ALL

    def partitions(self, topic: str) -> int:
        return self._partitions

    def take(self, place: Place, count: int) -> Records | None:
        return self._pieces.take(count)

    def others(self) -> Iterator[tuple[Place, Records]]:
        while (records := self._pieces.take(CHUNK_BYTES)) is not None:
            yield ALL, records

    def close(self) -> None:
        self._file.close()


class EnvelopeReader:
    """Reader of envelopes of all partitions in one stream of lines."""

    topic_pattern: str | None = None
    prefix_bytes = 0
    columns: Sequence[str] = SCHEMA.names

    def __init__(
        self, name: str, file: IO[bytes], messages: Iterator[tuple[Place, dict[str, Any]]], partitions: int
    ) -> None:
        self.name, self._file, self._messages, self._partitions = name, file, messages, partitions
        self._waiting: dict[Place, deque[dict[str, Any]]] = {}
        self._count = 0
        self._ended = False

    def topic(self) -> str | None:
        return None

    def place(self, topic: str, partition: int) -> Place:
        return topic, partition

    def partitions(self, topic: str) -> int:
        return self._partitions

    def take(self, place: Place, count: int) -> Records | None:
        own = self._waiting.setdefault(place, deque())
        while not own and not self._ended and self._count < MOST_WAITING:
            self._read()
        if not own:
            return None if self._ended else pa.RecordBatch.from_pylist([], schema=SCHEMA)
        taken = [own.popleft() for _ in range(min(count, len(own)))]
        self._count -= len(taken)
        return pa.RecordBatch.from_pylist(taken, schema=SCHEMA)

    def _read(self) -> None:
        """Reads and buffers the next messages."""
        for _ in range(1000):
            if (item := next(self._messages, None)) is None:
                self._ended = True
                return
            self._waiting.setdefault(item[0], deque()).append(item[1])
            self._count += 1

    def others(self) -> Iterator[tuple[Place, Records]]:
        while not self._ended or self._count:
            if not self._ended:
                self._read()
            for place, waiting in self._waiting.items():
                if waiting:
                    self._count -= len(waiting)
                    taken = list(waiting)
                    waiting.clear()
                    yield place, pa.RecordBatch.from_pylist(taken, schema=SCHEMA)

    def close(self) -> None:
        self._file.close()
