"""Readers of messages: of the URLs of `--to`, of folders and files, and of standard input."""

from __future__ import annotations

import sys
from itertools import chain
from typing import IO, Final

from simulator.errors import SinkError, UsageError, did_you_mean
from simulator.sinks import schemes, transport
from simulator.sinks.files import parse_folder
from simulator.sinks.reading import Reader
from simulator.truth.verify.files import (
    EnvelopeReader,
    FolderReader,
    StreamReader,
    avro_records,
    envelopes,
    is_envelope,
    lines,
)

FILES: Final = ("-", "file", "parquet")


def open_reader(url: str, *, prefix_bytes: int = 0, binary: bool = False) -> Reader:
    """Opens `-`, `file:DIR?partitions=6`, `parquet:DIR`, a path, or a broker's URL as `--to` takes it.

    `prefix_bytes`: bytes at the start of each value that Avro files omit. `binary`: values are not lines of text.
    Raises UsageError, SinkError.
    """
    scheme = url.partition(":")[0]
    if url == "-":
        if sys.stdin is None:
            raise SinkError("-: there is no standard input.")
        return _stream("standard input", sys.stdin.buffer, 1, prefix_bytes, binary=binary)
    if "://" in url:
        if scheme in schemes() and (read := transport(scheme).read) is not None:
            return read(transport(scheme).parse(url))
        readable = (*FILES, *(name for name in schemes() if transport(name).read is not None))
        hint = did_you_mean(scheme, readable)
        raise UsageError(f"{scheme}: messages are read from {', '.join(readable)}.{hint}")
    if scheme not in ("file", "parquet") or url == scheme:
        url = f"file:{url}"
    folder = parse_folder(url)
    path, partitions = folder.path, folder.partitions
    named = partitions if "partitions=" in url.partition("?")[2] else None
    if path.is_dir():
        return FolderReader(url, path, named, prefix_bytes)
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None
    try:
        return _stream(str(path), file, partitions, prefix_bytes, binary=binary, avro=path.suffix == ".avro")
    except BaseException:
        file.close()
        raise


def _stream(
    name: str, file: IO[bytes], partitions: int, prefix_bytes: int, *, binary: bool, avro: bool = False
) -> Reader:
    if avro:
        return StreamReader(name, file, avro_records(file), partitions, prefix_bytes)
    first = file.readline()
    if first and is_envelope(first):
        return EnvelopeReader(name, file, envelopes(chain([first], file), name), partitions)
    if binary:
        raise UsageError(f"{name}: the format is binary, and these are no lines of --envelope.")
    return StreamReader(name, file, lines(file, name, first), partitions)
