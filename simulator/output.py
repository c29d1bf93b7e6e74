"""Files that a command writes in one piece: whole, or not there."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.errors import SinkError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name, and give it its own at the end: a full disk leaves what was there before.

    Something else than a file (a pipe, a terminal) is written to directly. Raises SinkError, which names the file.
    """
    place = Path(os.path.realpath(path))
    unfinished = place if place.exists() and not place.is_file() else place.with_name(f".{place.name}.unfinished")
    try:
        try:
            unfinished.write_bytes(content)
            if unfinished != place:
                os.replace(unfinished, place)
        except BaseException:
            if unfinished != place:
                unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SinkError(f"{path}: it cannot be written: {error.strerror or error}.") from None


def words_of_the_system(error: OSError) -> str:
    """The system's words for an error; Arrow puts them into a sentence of its own."""
    return os.strerror(error.errno) if error.errno else str(error)


def sync_folder(folder: Path) -> None:
    """Syncs a folder: the names of new and renamed files are then on disk, too. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
