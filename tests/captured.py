"""Captures of a real Canal: their scripts run here, and our messages set beside theirs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from simulator import sources
from simulator.run.job import Job, Partitions
from simulator.run.plan import Limits
from simulator.sql.parse.client import Meta, Statement
from simulator.sql.script import Script, script_of

FOLDER: Final = Path(__file__).parent / "captures" / "canal"
APPS: Final = Path(__file__).parent / "captures" / "canal-apps"
# A clock of a first run by which each message tells the statement that it comes from.
_BASE: Final = 1_900_000_000
_STEP: Final = 10_000


@dataclass(frozen=True)
class Capture:
    """A recorded run: the format and the source that make the same bytes, and how Canal and the session were set up."""

    name: str
    format: str
    source: str
    partitions: int = 1
    user: str = "root@localhost"
    engine: str = ""  # the server that runs the script

    @property
    def script(self) -> str:
        run = self.name.split("-", 2)[2]
        return {"partition-regex": "partition", "rabbitmq": "mq", "rocketmq": "mq"}.get(run, run)


@dataclass(frozen=True)
class Ours:
    """A message of ours: its bytes and where it goes."""

    topic: str
    partition: int | None
    value: bytes


def unpacked(name: str, folder: Path = FOLDER) -> bytes:
    return gzip.decompress((folder / f"{name}.gz").read_bytes())


@cache
def theirs(name: str, folder: Path = FOLDER) -> list[bytes]:
    """The messages of a capture; lines end at 0x0A only, since old versions write other control characters raw."""
    lines = unpacked(f"{name}.jsonl", folder).split(b"\n")
    assert lines.pop() == b""
    return lines


@cache
def places(name: str) -> list[tuple[str, int | None]]:
    """Topic and partition of each message; RabbitMQ has a routing key and no partition, RocketMQ a queue."""
    found: list[tuple[str, int | None]] = []
    for line in unpacked(f"{name}.meta.jsonl").decode().splitlines():
        fact = json.loads(line)
        if "routing_key" in fact:
            found.append((fact["routing_key"], None))
        elif "queue" in fact:
            selector = re.fullmatch(r"(?:selector|queue):(\d+)(?:/arg:.*)?", str(fact["queue"]))
            found.append((fact["topic"], int(selector[1]) if selector else None))
        else:
            found.append((fact["topic"], fact["partition"]))
    return found


def made(capture: Capture, clock: Mapping[int, int], folder: Path = FOLDER) -> list[Ours]:
    """Our messages of a capture's script; `clock` sets the time (epoch seconds) before statements, by their number."""
    script = script_of(unpacked(f"{capture.script}.sql", folder), f"{capture.script}.sql")
    parts: list[Statement | Meta] = [Meta("user", capture.user, 0)]
    for number, part in enumerate(script.parts):
        if isinstance(part, Statement) and number in clock:
            parts.append(Meta("at", datetime.fromtimestamp(clock[number], UTC).isoformat(), part.line))
        parts.append(part)
    source = sources.find(capture.source)
    timed = replace(script, parts=tuple(parts), engine=capture.engine)
    job = Job(timed, source, capture.format, force=True).addressed(partitions=Partitions(capture.partitions))
    messages = job.messages(Limits())
    return [Ours(message.topic, message.partition, message.value or b"") for message in messages]


def numbered(script: Script) -> Iterator[int]:
    return (number for number, part in enumerate(script.parts) if isinstance(part, Statement))


def es_of(message: bytes) -> int:
    """`es` in seconds: the first after the images, which hold none."""
    found = re.search(rb'"database":"(?:[^"\\]|\\.)*","es":(\d+),', message)
    assert found
    return int(found[1]) // 1000


def pairs(capture: Capture) -> list[tuple[int, Ours | None, bytes | None]]:
    """Our messages beside theirs, (number in the capture, ours, theirs): in order within each topic and partition."""
    wanted = theirs(capture.name)
    at = places(capture.name)
    script = script_of(unpacked(f"{capture.script}.sql"), f"{capture.script}.sql")
    first = made(capture, {number: _BASE + number * _STEP for number in numbered(script)})
    clock: dict[int, int] = {}
    for _, mine, message in _beside(first, wanted, at):
        if mine is not None and message is not None:
            number = (es_of(mine.value) - _BASE) // _STEP
            clock[number] = max(clock.get(number, 0), es_of(message))
    now = min(map(es_of, wanted))
    for number in numbered(script):  # what gave no message happened when the last one did
        now = clock[number] = max(now, clock.get(number, now))
    second = made(capture, clock)
    return _beside(second, wanted, at)


def _beside(
    mine: list[Ours], wanted: list[bytes], at: list[tuple[str, int | None]]
) -> list[tuple[int, Ours | None, bytes | None]]:
    lanes: dict[Any, tuple[list[Ours], list[int]]] = {}
    routed = any(partition is not None for _, partition in at)
    for one in mine:
        lanes.setdefault((one.topic, one.partition if routed else None), ([], []))[0].append(one)
    for number, lane in enumerate(at):
        lanes.setdefault(lane, ([], []))[1].append(number)
    found: list[tuple[int, Ours | None, bytes | None]] = []
    for ours, numbers in lanes.values():
        for i in range(max(len(ours), len(numbers))):
            number = numbers[i] if i < len(numbers) else len(wanted)
            found.append((number, ours[i] if i < len(ours) else None, wanted[number] if number < len(wanted) else None))
    return sorted(found, key=lambda each: each[0])


# ------------------------------------------------------------------------------------------- scripts of applications

# What a message has of its own run: its number, its times, and values of the clock.
_OF_THE_RUN: Final = re.compile(rb'"id":\d+,(?="isDdl")|"es":\d+,|,"ts":\d+(?=,"type":"[A-Z]+"\}$)')
_CLOCK: Final = re.compile(rb"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?)?")


def without_run(message: bytes) -> bytes:
    return _OF_THE_RUN.sub(b"", message)


def aligned(capture: Capture) -> Iterator[tuple[bytes | None, bytes | None]]:
    """(ours, theirs) of a script of an application; messages that only one side has stand alone. The embedded engine
    tells when each statement ran, so a server runs the script once."""
    wanted = theirs(capture.name, APPS)
    script = script_of(unpacked(f"{capture.script}.sql", APPS), f"{capture.script}.sql")
    embedded = replace(capture, engine="")
    first = made(embedded, {number: _BASE + number * _STEP for number in numbered(script)}, APPS)
    clock: dict[int, int] = {}
    for mine, message in _matched([one.value for one in first], wanted):
        if mine is not None and message is not None:
            number = (es_of(mine) - _BASE) // _STEP
            clock[number] = max(clock.get(number, 0), es_of(message))
    # here a statement that calls a procedure makes several transactions a second apart, on a server at once
    passed: dict[int, int] = {}
    for one in first if not capture.engine else ():
        number, seconds = divmod(es_of(one.value) - _BASE, _STEP)
        passed[number] = max(passed.get(number, 0), seconds)
    now = min(map(es_of, wanted))
    for number in numbered(script):
        clock[number] = max(now, clock.get(number, now))
        now = clock[number] + passed.get(number, 0)
    return _matched([one.value for one in made(capture, clock, APPS)], wanted)


def _matched(mine: list[bytes], wanted: list[bytes]) -> Iterator[tuple[bytes | None, bytes | None]]:
    keys = [[_CLOCK.sub(b"", without_run(message)) for message in side] for side in (mine, wanted)]
    for tag, a, b, c, d in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(mine[a:b], wanted[c:d], strict=True)
        else:
            yield from zip_longest(mine[a:b], wanted[c:d])
