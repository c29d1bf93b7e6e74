"""Resume files: the position of a run, and everything that a later run must have in common to continue from it.

The file is written before and after each batch: first under another name, then renamed, so it is complete at any
time. It names the last message that may have been sent: messages up to it without an acknowledgement are sent again,
and counted. A lock keeps the file to one run at a time.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from uuid import uuid4

import orjson

from simulator.errors import UsageError
from simulator.model import OrderKey
from simulator.output import sync_folder
from simulator.sinks.ledger import Place, Position
from simulator.sinks.sink import FileState

T = TypeVar("T")

VERSION: Final = 3
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
    """The bookmark in a file; None if the file does not exist. Raises UsageError, also for an inconsistent file."""
    try:
        facts = _typed(orjson.loads(file.read_bytes()), dict)
        if facts["version"] != VERSION:
            raise UsageError(f"--resume {file}: another version of cdcsim wrote it; name another file.")
        return _checked(
            Bookmark(
                identity=_mapping(facts["run"], str),
                position=Position(_key_or_none(facts["next"]), _by_place(facts["acknowledged"], _key)),
                sent=_key_or_none(facts["sent"]),
                partitions=_mapping(facts["partitions"], int, least=1),
                files={
                    name: FileState(_typed(state["size"], int), _typed(state["tail"], str))
                    for name, state in _mapping(facts["files"], dict).items()
                },
                arrived=_by_place(facts["arrived"], _count),
                repeated=_by_place(facts["repeated"], _count),
                parts=[_typed(part, dict) for part in _typed(facts["parts"], list)],
                settings=_mapping(facts["settings"], str),
                seconds=float(_typed(facts["seconds"], float, int)),
                run_id=_typed(facts["run_id"], str),
                done=_typed(facts["done"], bool),
            )
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"--resume {file}: it cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"--resume {file}: it is no file of a run, or damaged; name another one.") from None


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
            while (descriptor := self._taken()) is None:
                if time.monotonic() > deadline:
                    raise UsageError(
                        f"--resume {file}: another run that is not over keeps its position there; wait for its end, or"
                        " name another file."
                    )
                time.sleep(0.05)
        except OSError as error:
            raise UsageError(f"--resume {file}: it cannot be locked: {error.strerror}.") from None
        self._descriptor = descriptor

    def _taken(self) -> int | None:
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


def _checked(mark: Bookmark) -> Bookmark:
    """The bookmark itself. Raises ValueError for a position that no run can have written."""
    keys = [*mark.position.acknowledged.values(), *([mark.position.next] if mark.position.next else [])]
    if mark.sent is not None and any((key.phase, key.turn) > (mark.sent.phase, mark.sent.turn) for key in keys):
        raise ValueError("more is acknowledged than was sent")
    if mark.sent is None and mark.position.acknowledged:
        raise ValueError("messages are acknowledged of which none was sent")
    return mark


def _typed(value: Any, *kinds: type, least: float = 0) -> Any:
    """The value itself. Raises ValueError if it is of another type, or a number below the least."""
    if type(value) not in kinds or (type(value) in (int, float) and value < least):
        raise ValueError(f"{value!r} is no {kinds[0].__name__} from {least} on")
    return value


def _mapping(value: Any, kind: type, least: float = 0) -> dict[str, Any]:
    return {name: _typed(member, kind, least=least) for name, member in _typed(value, dict).items()}


def _by_place(rows: Any, parse: Callable[[Any], T]) -> dict[Place, T]:
    """Parsed values by topic and partition, of rows of these three."""
    return {(_typed(topic, str), _typed(partition, int)): parse(value) for topic, partition, value in rows}


def _count(value: Any) -> int:
    return int(_typed(value, int))


def _key(value: Any) -> OrderKey:
    phase, turn, ordinal = (_typed(number, int, least=-math.inf) for number in _typed(value, list))
    if phase not in (0, 1):
        raise ValueError(f"{value!r} is no order key")
    return OrderKey(phase, turn, ordinal)


def _key_or_none(value: Any) -> OrderKey | None:
    return None if value is None else _key(value)


def _numbers(key: OrderKey) -> list[int]:
    return [key.phase, key.turn, key.ordinal]
