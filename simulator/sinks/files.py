"""Standard output and folders: one message value a line, or whole messages with `--envelope`.

`file:DIR?partitions=N` writes `TOPIC-PARTITION.jsonl` for each topic and partition, or `.avro`, an object container, of
values that are Avro; `file:NAME.jsonl` (or `.avro`) writes one file, in stream order. Nothing is overwritten: a file
that is already there is an error before the first byte is written.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, ClassVar, Final

import pyarrow as pa

from simulator.batch import MessageBatch
from simulator.errors import OptionError, SinkError, UsageError
from simulator.output import sync_folder
from simulator.sinks.framing import Framing, framing
from simulator.sinks.ledger import Parcel, Place, by_partition
from simulator.sinks.sink import FileState, Sink
from simulator.sinks.target import Contents, Transport
from simulator.sinks.url import MOST_PARTITIONS, parse_options, whole_number

# Bytes at the end of each file that a resumed run compares with those that it wrote.
TAIL_BYTES: Final = 1 << 16
OPTIONS: Final = {"partitions": whole_number(1, MOST_PARTITIONS)}
# Place of the one file of all topics and partitions.
WHOLE_STREAM: Final[Place] = ("", 0)


@dataclass(frozen=True, slots=True)
class FolderUrl:
    """A folder or one file, and the partitions of each topic."""

    scheme: str
    path: Path
    partitions: int = 1

    @property
    def is_file(self) -> bool:
        """Whether the path names one file, by its suffix. Parquet is always a folder."""
        return self.scheme == "file" and self.path.suffix in (".jsonl", ".avro") and not self.path.is_dir()


def open_stdout(url: str, contents: Contents) -> StreamSink:
    """`-`: all messages in stream order, whatever their topic."""
    if sys.stdout is None:
        raise SinkError("--to -: there is no standard output.")
    return StreamSink(sys.stdout.buffer, framing(envelope=contents.envelope))


def open_files(url: FolderUrl, contents: Contents) -> FolderSink:
    """`file:DIR`, `file:DIR?partitions=6` or `file:NAME.jsonl`. Raises OptionError, SinkError, and UsageError for files
    that are not as the resumed run left them."""
    form = framing(envelope=contents.envelope, container=contents.container)
    if not url.is_file:
        return FolderSink(url.path, url.partitions, form, contents.files)
    if url.path.suffix != f".{form.suffix}":
        raise OptionError(f"--to file:{url.path}: the messages make a .{form.suffix} file; name it so.")
    return FileSink(url.path, url.partitions, form, contents.files)


def open_part(folder: Path, partitions: int, part: int, contents: Contents) -> FolderSink:
    """The files of one part of a run."""
    return FolderSink(folder, partitions, framing(envelope=contents.envelope, container=contents.container), part=part)


def parse_folder(url: str) -> FolderUrl:
    """A folder or file, `file:DIR?partitions=6`. Raises OptionError."""
    scheme, _, rest = url.partition(":")
    folder, _, query = rest.partition("?")
    folder = folder.removeprefix("//")
    if not folder:
        raise OptionError(f"--to {url}: it names no folder; write {scheme}:DIR.")
    if placeholder := next((word for word in ("{database}", "{schema}", "{table}") if word in folder), None):
        raise OptionError(
            f"--to {url}: {placeholder} is for topics of brokers; files are named by the product's topics: "
            f"write to {scheme}:DIR, and choose topics in the format's options."
        )
    return FolderUrl(scheme, Path(folder).expanduser(), **parse_options(query, OPTIONS, f"a {scheme} URL"))


class StreamSink(Sink):
    """All messages in one stream of bytes."""

    def __init__(self, stream: IO[bytes], framing: Framing) -> None:
        super().__init__()
        self._stream, self._framing = stream, framing

    def partitions(self, topic: str) -> int:
        return 1

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        self._stream.writelines(self._framing.frame(batch))
        self._stream.flush()
        self.ledger.acknowledge_all()


class FolderSink(Sink):
    """One file for each topic and partition. With `files`, those of a resumed run, these are truncated to their
    recorded sizes and continued once the run writes or ends; no other file is touched.

    With a `part`, files hold one part of a run, in a folder for each topic and partition.
    """

    SCHEME: ClassVar[str] = "file"
    ADVICE: ClassVar[str] = "name an empty folder"

    def __init__(
        self,
        folder: Path,
        partitions: int,
        framing: Framing,
        files: Mapping[str, FileState] | None = None,
        *,
        part: int | None = None,
    ) -> None:
        super().__init__()
        self._known = files
        self._uncut = dict(files or {})
        self._removed: dict[str, FileState] = {}
        self._folder, self._partitions, self._framing, self._part = folder, partitions, framing, part
        self._files: dict[Place, IO[bytes]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SinkError(f"{self.SCHEME}:{folder}: the folder cannot be made: {error.strerror}.") from None
        if files is None and (existing := sorted(folder.glob(self._pattern_of_files()))):
            raise SinkError(f"{self._named(existing[0])} is already there; {self.ADVICE}, or remove it.")
        for name, state in (files or {}).items():
            _check_state(folder / name, state)

    def _named(self, file: Path) -> str:
        return f"{self.SCHEME}:{self._folder}: {file.name}"

    def _pattern_of_files(self) -> str:
        """Pattern of the files that must not exist."""
        return f"*.{self._framing.suffix}"

    def partitions(self, topic: str) -> int:
        return self._partitions

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        for parcel in parcels:
            rows = batch if len(parcel) == len(batch) else MessageBatch(batch.columns.take(pa.array(parcel.rows)))
            self._write_to((parcel.topic, parcel.partition), rows, parcel)
            self.ledger.acknowledge_parcel(parcel)

    def _write_to(self, place: Place, batch: MessageBatch, parcel: Parcel) -> None:
        """Writes to a file. Raises DeliveryFailed if a write fails; the file is then truncated to the messages before
        the batch."""
        file = self._file(*place)
        size = file.tell()
        try:
            self._append(file, batch)
        except OSError as error:
            cut = "" if self._cut(place, size) else "; the file ends within a message"
            is_empty = not cut and size == len(self._framing.header())
            if is_empty:  # the next run would find a file that is already there
                self._files.pop(place).close()
                self._remove(self.file_name(*place))
            self.ledger.fail(parcel, parcel.first, f"writing to {file.name} stopped: {error.strerror}{cut}")
            self.ledger.fail_open()
            self.ledger.check()

    def _cut(self, place: Place, size: int) -> bool:
        """Truncates a file and discards buffered bytes. False if it cannot be truncated."""
        file = self._files[place]
        try:
            os.ftruncate(file.fileno(), size)
            file.raw.close()  # type: ignore[attr-defined]
            self._files[place] = Path(file.name).open("a+b")  # noqa: SIM115 - close() closes it
        except OSError:
            return False
        return True

    def _append(self, file: IO[bytes], batch: MessageBatch) -> None:
        file.writelines(self._framing.frame(batch))
        file.flush()

    def file_name(self, topic: str, partition: int) -> str:
        """File name of a topic and partition: `orders-0.jsonl`, for a part `orders-0/part-0000000.jsonl`."""
        name = f"{in_file_names(topic)}-{partition}"
        return f"{name if self._part is None else part_name(name, self._part)}.{self._framing.suffix}"

    def _file(self, topic: str, partition: int) -> IO[bytes]:
        """The file of a topic and partition, created on first use."""
        self._cut_known()
        if (topic, partition) not in self._files:
            path = self._folder / self.file_name(topic, partition)
            try:
                self._files[topic, partition] = self._opened(path)
            except OSError as error:
                raise SinkError(f"{self.SCHEME}:{self._folder}: {path.name}: {error.strerror}.") from None
        return self._files[topic, partition]

    def _opened(self, path: Path) -> IO[bytes]:
        state = (self._known or {}).get(path.name)
        if state is not None and state.tail:
            return path.open("a+b")
        path.parent.mkdir(parents=True, exist_ok=True)
        # an earlier part that was about to create it may have been killed behind that: it is empty then
        is_ours = state is not None and path.exists() and not path.stat().st_size
        file = path.open("a+b" if is_ours else "x+b")
        file.write(self._framing.header())
        return file

    def _cut_known(self) -> None:
        """Cuts off what an earlier part of the run wrote behind its position. Raises SinkError."""
        while self._uncut:
            name, state = self._uncut.popitem()
            path = self._folder / name
            try:
                if state.tail and (state.size or path.exists()) and path.stat().st_size > state.size:
                    with path.open("r+b") as file:
                        os.truncate(file.fileno(), state.size)
                        os.fsync(file.fileno())
            except OSError as error:
                raise SinkError(f"{self._named(path)} cannot be cut to the position: {error.strerror}.") from None

    def flush(self) -> None:
        self._cut_known()
        self._remove_empty()
        super().flush()

    def _remove_empty(self) -> None:
        """Removes files that got no message: a resumed run creates them before it sends."""
        empty = len(self._framing.header())
        for place in [place for place, file in self._files.items() if file.tell() <= empty]:
            self._files.pop(place).close()
            self._remove(self.file_name(*place))
        opened = {self.file_name(*place) for place in self._files}
        for name, state in (self._known or {}).items():
            if state.tail and state.size <= empty and name not in opened:
                self._remove(name)

    def _remove(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
        self._removed[name] = FileState(0, "")

    def sizes(self) -> Mapping[str, int]:
        """Size of each file in bytes."""
        return {self.file_name(*place): file.tell() for place, file in self._files.items()}

    def files(self) -> Mapping[str, FileState]:
        """State of each file, after syncing them to disk. Raises SinkError."""
        states = dict(self._removed)
        try:
            for place, file in self._files.items():
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
                states[self.file_name(*place)] = FileState(size, _tail(file.fileno(), size))
            if states:
                sync_folder(self._folder)
        except OSError as error:
            raise SinkError(f"{self.SCHEME}:{self._folder} cannot be put on the disk: {error.strerror}.") from None
        return states

    def new_files(self, batch: MessageBatch) -> Collection[str]:
        known = self._known or {}
        names = {self.file_name(*place) for place in self._places(batch) if place not in self._files}
        names -= {name for name, state in known.items() if state.tail}
        for name in sorted(names):
            if (self._folder / name).exists() and name not in known:  # the state of known ones is checked
                raise SinkError(
                    f"{self._named(self._folder / name)} is already there, and the run that is resumed did not write"
                    " it; move it away."
                )
        return names

    def make_files(self, batch: MessageBatch) -> None:
        for place in self._places(batch):
            self._file(*place)

    def _places(self, batch: MessageBatch) -> Collection[Place]:
        """Topic and partition of each file that a batch goes to."""
        return [place for place, _ in by_partition(batch)] if len(batch) else []

    def close(self) -> None:
        self.ledger.fail_open()
        for file in self._files.values():
            with suppress(OSError):  # messages that could not be written are counted already
                file.close()


def _check_state(path: Path, state: FileState) -> None:
    """Raises UsageError for a file that does not begin with the bytes that the run wrote, and for one that has more
    than the run can have written. A file that the run had not created yet has no bytes."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < state.size or (size > state.size and not (state.may_grow and state.tail)):
                content = f"{size:,} bytes"
            elif state.size and _tail(file.fileno(), state.size) != state.tail:
                content = "other bytes before that"
            else:
                return
    except FileNotFoundError:
        if not state.size:
            return
        content = "no such file"
    except OSError as error:
        content = str(error.strerror)
    raise UsageError(
        f"--resume: the run had written {state.size:,} bytes of {path}, and there is {content}: put the file back as it"
        " was, or begin anew with another resume file and an empty folder."
    )


def _tail(descriptor: int, size: int) -> str:
    """The SHA-256 of the last bytes of a file of this size."""
    first = max(0, size - TAIL_BYTES)
    return sha256(os.pread(descriptor, size - first, first)).hexdigest()


def in_file_names(topic: str) -> str:
    """The topic as part of a file name: characters that file names cannot hold are written as their code."""
    return re.sub(r"[^\w.-]", lambda match: f"%{ord(match[0]):02X}", topic)


def part_name(folder: str, part: int) -> str:
    """Name of a part in its folder; names sort in the order of parts."""
    return f"{folder}/part-{part:07d}"


class FileSink(FolderSink):
    """One file of all messages in stream order, whatever their topic."""

    ADVICE = "name another file"

    def __init__(
        self, path: Path, partitions: int, framing: Framing, files: Mapping[str, FileState] | None = None
    ) -> None:
        self._path = path
        super().__init__(path.parent, partitions, framing, files)

    def _pattern_of_files(self) -> str:
        return glob.escape(self._path.name)

    def _named(self, file: Path) -> str:
        return f"{self.SCHEME}:{self._path}"

    def file_name(self, topic: str, partition: int) -> str:
        return self._path.name

    def _places(self, batch: MessageBatch) -> Collection[Place]:
        return [WHOLE_STREAM]

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        self._write_to(WHOLE_STREAM, batch, parcels[0])
        self.ledger.acknowledge_all()


STDOUT: Final = Transport(form="-", parse=str, open=open_stdout, lines=True, binary=False)
FILES: Final = Transport(
    form="file:DIR", parse=parse_folder, open=open_files, resumes=True, lines=True, options=OPTIONS,
    may_change=("partitions",), parts=open_part,
)  # fmt: skip
