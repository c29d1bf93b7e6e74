"""Resume files: the position of a run, and everything that a later run must have in common to continue from it.

The file is written before and after each batch: first under another name, then renamed, so it is complete at any
time. It names the last message that may have been sent: messages up to it without an acknowledgement are sent again,
and counted. A lock keeps the file to one run at a time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self
from uuid import uuid4

import orjson

from simulator.errors import UsageError
from simulator.model import OrderKey
from simulator.output import sync_folder
from simulator.sinks.ledger import Place, Position
from simulator.sinks.sink import FileState

VERSION: Final = 4
# Seconds to wait for the lock: the workers of a killed run hold it until they notice its end.
LOCK_SECS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Position of a run.

    `identity` holds the properties that must not change, `settings` those of them that only the open sink knows;
    `run_id` identifies the run at its destination. `partitions` is the partition count of each topic used so far,
    `files` the state of each file at this position, `sent` the last order key that may have been sent. `arrived` counts
    messages that were acknowledged, `repeated` those that may have been sent twice, `seconds` the time spent sending
    turns, all over all parts of the run; `parts` are the records of the earlier parts and of the current one so far.
    """

    identity: Mapping[str, str]
    position: Position = field(default_factory=lambda: Position(None, {}))
    sent: OrderKey | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, FileState] = field(default_factory=dict)
    arrived: Mapping[Place, int] = field(default_factory=dict)
    repeated: Mapping[Place, int] = field(default_factory=dict)
    parts: Sequence[dict[str, Any]] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    run_id: str = field(default_factory=lambda: uuid4().hex)
    done: bool = False


def check(file: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raises UsageError if the identity of the run differs from that of the earlier one."""
    if (changed := difference(before, now)) is not None:
        raise UsageError(f"--resume {file}: {changed}; give the same again, or another file.")


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """The first difference between the identities of two runs, in words."""
    for name in {**now, **before}:
        if before.get(name) != now.get(name):
            return f"that run had {name} {_shown(before.get(name))}, and this one has {_shown(now.get(name))}"
    return None


def _shown(value: str | None) -> str:
    return "not set" if value is None else repr(value)


def read(file: Path) -> Bookmark | None:
    """The bookmark in a file; None if the file does not exist. Raises UsageError, also for a damaged file."""
    if file.exists() and not file.is_file():  # a device may have no end
        raise UsageError(f"--resume {file}: it is no regular file; name another one.")
    try:
        facts = dict(orjson.loads(file.read_bytes()))
        if facts["version"] != VERSION:
            raise UsageError(f"--resume {file}: another version of cdcsim wrote it; name another file.")
        if facts.pop("digest") != _digest(facts):
            raise ValueError("it is not as a run wrote it")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"--resume {file}: it cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"--resume {file}: it is no file of a run, or damaged; name another one.") from None
    return Bookmark(
        identity=facts["run"],
        position=Position(
            _key(facts["next"]), {place: OrderKey(*key) for place, key in _by_place(facts["acknowledged"])}
        ),
        sent=_key(facts["sent"]),
        partitions=facts["partitions"],
        files={name: FileState(**state) for name, state in facts["files"].items()},
        arrived=dict(_by_place(facts["arrived"])),
        repeated=dict(_by_place(facts["repeated"])),
        parts=facts["parts"],
        settings=facts["settings"],
        seconds=facts["seconds"],
        run_id=facts["run_id"],
        done=facts["done"],
    )


def write(file: Path, mark: Bookmark) -> None:
    """Replaces the file atomically and syncs it to disk. Raises UsageError."""
    facts: dict[str, Any] = {
        "version": VERSION,
        "run_id": mark.run_id,
        "run": mark.identity,
        "settings": mark.settings,
        "next": mark.position.next and _numbers(mark.position.next),
        "acknowledged": [[*place, _numbers(key)] for place, key in sorted(mark.position.acknowledged.items())],
        "sent": mark.sent and _numbers(mark.sent),
        "partitions": mark.partitions,
        "files": {name: {"size": state.size, "tail": state.tail} for name, state in sorted(mark.files.items())},
        "arrived": [[*place, count] for place, count in sorted(mark.arrived.items())],
        "repeated": [[*place, count] for place, count in sorted(mark.repeated.items())],
        "parts": mark.parts,
        "seconds": mark.seconds,
        "done": mark.done,
    }
    facts["digest"] = _digest(facts)
    other = file.with_name(f"{file.name}.new")
    try:
        with other.open("wb") as new:
            new.write(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
            new.flush()
            os.fsync(new.fileno())
        os.replace(other, file)
        sync_folder(file.parent)
    except OSError as error:
        other.unlink(missing_ok=True)
        raise UsageError(f"--resume {file}: it cannot be written: {error.strerror}.") from None


def merged(before: Position, now: Position) -> Position:
    """Position of a run that resumed at `before` and reached `now`."""
    arrived: dict[Place, OrderKey] = {**before.acknowledged, **now.acknowledged}
    return Position(now.next or before.next, arrived)


class Lock:
    """Keeps other runs from a resume file by a lock on `FILE.lock`, which is removed when the run ends."""

    def __init__(self, file: Path) -> None:
        """Raises UsageError if another run holds the lock."""
        self._path = file.with_name(f"{file.name}.lock")
        self._descriptor: int | None = None
        if sys.platform == "win32":
            raise UsageError(f"--resume {file}: its lock needs a POSIX system; leave --resume out on Windows.")
        deadline = time.monotonic() + LOCK_SECS
        try:
            while (descriptor := self._try_lock()) is None:
                if time.monotonic() > deadline:
                    raise UsageError(
                        f"--resume {file}: another run that is not over keeps its position there; wait for its end, or"
                        " name another file."
                    )
                time.sleep(0.05)
        except OSError as error:
            raise UsageError(f"--resume {file}: it cannot be locked: {error.strerror}.") from None
        self._descriptor = descriptor

    def _try_lock(self) -> int | None:
        """Descriptor of the lock file, locked; None while another run holds the lock."""
        import fcntl

        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # the run that held the lock may have removed the file meanwhile
            if os.path.exists(self._path) and os.path.samestat(os.fstat(descriptor), os.stat(self._path)):
                return descriptor
        except BlockingIOError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def close(self) -> None:
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# ---------------------------------------------------------------------------------------------------- members of a file


def _digest(facts: Mapping[str, Any]) -> str:
    """The SHA-256 of all members but the digest: whatever else stands in a file, no run wrote it."""
    return sha256(orjson.dumps(facts)).hexdigest()


def _by_place(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[Place, Any]]:
    """Values with their topic and partition, of rows of these three."""
    return (((topic, partition), value) for topic, partition, value in rows)


def _key(numbers: Sequence[int] | None) -> OrderKey | None:
    return None if numbers is None else OrderKey(*numbers)


def _numbers(key: OrderKey) -> list[int]:
    return [key.phase, key.turn, key.ordinal]
