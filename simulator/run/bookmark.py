"""Going on where an earlier run ended, however it ended: a file of what arrived, and what the run was.

The file is written before and after each batch that is sent, under another name, and then takes its own, so that it is
whole at any moment. It names the last message that may have been sent: those up to it that were not acknowledged are
sent again, and counted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from simulator.errors import UsageError
from simulator.model import OrderKey
from simulator.sinks.ledger import Place, Position

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Where a run is: `identity` names what must not change, `partitions` counts those of each topic used so far,
    `sizes` are the bytes of files at this position, and `sent` is the last order key that may have been sent."""

    identity: Mapping[str, str]
    position: Position = field(default_factory=lambda: Position(None, {}))
    sent: OrderKey | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    done: bool = False

    def check(self, identity: Mapping[str, str], file: Path) -> None:
        """Raises UsageError for a run that is not this one, with the first difference."""
        for name, value in identity.items():
            if self.identity.get(name) != value:
                raise UsageError(
                    f"--resume {file}: that run had {name} {self.identity.get(name)!r}, and this one has {value!r};"
                    " give the same again, or another file."
                )


def read(file: Path) -> Bookmark | None:
    """None where there is no such file yet. Raises UsageError."""
    try:
        facts = orjson.loads(file.read_bytes())
        if facts["version"] != VERSION:
            raise UsageError(f"--resume {file}: another version of cdcsim wrote it; name another file.")
        key = OrderKey(*facts["next"]) if facts["next"] else None
        arrived = {(topic, partition): OrderKey(*at) for topic, partition, at in facts["acknowledged"]}
        return Bookmark(
            facts["run"],
            Position(key, arrived),
            OrderKey(*facts["sent"]) if facts["sent"] else None,
            facts["partitions"],
            facts["sizes"],
            facts["done"],
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"--resume {file}: it cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"--resume {file}: it is no file of a run; name another one.") from None


def write(file: Path, mark: Bookmark) -> None:
    """Put it in the file's place. Raises UsageError."""
    facts: dict[str, Any] = {
        "version": VERSION,
        "run": mark.identity,
        "next": mark.position.next and _numbers(mark.position.next),
        "acknowledged": [[*place, _numbers(key)] for place, key in sorted(mark.position.acknowledged.items())],
        "sent": mark.sent and _numbers(mark.sent),
        "partitions": mark.partitions,
        "sizes": mark.sizes,
        "done": mark.done,
    }
    other = file.with_name(f"{file.name}.new")
    try:
        other.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
        os.replace(other, file)
    except OSError as error:
        raise UsageError(f"--resume {file}: it cannot be written: {error.strerror}.") from None


def merged(before: Position, now: Position) -> Position:
    """Where a run is that went on from `before`."""
    arrived: dict[Place, OrderKey] = {**before.acknowledged, **now.acknowledged}
    return Position(now.next or before.next, arrived)


def _numbers(key: OrderKey) -> list[int]:
    return [key.phase, key.turn, key.ordinal]
