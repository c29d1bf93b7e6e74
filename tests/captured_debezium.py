"""Captures of a real Debezium: their scripts run here, and our messages beside theirs, topic by topic."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Final

from simulator import sources
from simulator.run.job import Job, Partitions
from simulator.run.plan import Limits
from simulator.sql.script import script_of

FOLDER: Final = Path(__file__).parent / "captures" / "debezium"
HEARTBEATS: Final = "__debezium-heartbeat"
# What differs from run to run: times, positions in the log, ids of transactions, the session, the start of the engine.
_RUN: Final = re.compile(
    rb'"ts_(?:ms|us|ns)":\d+|"(?:pos|thread)":\d+|"file":"[^"]*"|"gtid":"[^"]*"'
    rb'|"id":"(?:[0-9a-f-]{36}:\d+|\d+-\d+-\d+|file=[^"]*|\d+:\d+)"'
    rb'|"(?:lsn|txId)":\d+|"sequence":"\[[^]]*\]"'
)
# Statements that MariaDB makes of events that MySQL does not know.
_DUMMY: Final = b'"ddl":"# Dum'
_RUN_ID: Final = "__debezium.context.runId"


@dataclass(frozen=True)
class Capture:
    """A recorded run, and the format and source that make the same bytes."""

    name: str
    format: str
    source: str


@dataclass(frozen=True)
class Record:
    """A message: `headers` as the simple converter writes them."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    def masked(self) -> Record:
        """Without what differs from run to run."""
        headers = tuple((name, b"" if name == _RUN_ID else value) for name, value in self.headers)
        return replace(self, key=_masked(self.key), value=_masked(self.value), headers=headers)


def _masked(text: bytes | None) -> bytes | None:
    return None if text is None else _RUN.sub(lambda match: match[0].split(b":", 1)[0] + b":0", text)


def unpacked(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes()).decode()


@cache
def theirs(name: str) -> tuple[Record, ...]:
    records = []
    for line in unpacked(f"{name}.jsonl").rstrip("\n").split("\n"):
        each = json.loads(line)
        key, value = (None if each[part] is None else each[part].encode() for part in ("key", "value"))
        if value is not None and _DUMMY in value:
            continue
        headers = tuple((header[0], header[1].encode()) for header in each["headers"] or ())
        records.append(Record(each["dest"], each["part"], key, value, headers))
    return tuple(records)


# Scripts tell in words what their runner did.
_MYSQL: Final = "create database inventory character set utf8mb4;\nuse inventory;\n"
_EDITS: Final = {
    "mysql-operations": (
        (r"-- before the connector starts.*", _MYSQL),
        (r"(insert into customers[^;]*3001.*\n.*;)", r"begin;\n\1\ncommit;"),
    ),
    # the server ran the event once
    "my80-operations": ((r"(create event ev1 [^;]*;)", r"\1 delete from shop.comp;"),),
    "mysql-types": ((r"create database inventory.*", "set sql_mode='';\n" + _MYSQL),),
}


def script_text(name: str) -> str:
    """The script, with the snapshot where the connector starts."""
    text = re.sub(r"^-- (?:@stream|while it streams).*$", "-- @snapshot", unpacked(f"{name}.sql"), flags=re.M)
    for pattern, instead in _EDITS.get(name, ()):
        text, count = re.subn(pattern, instead, text)
        assert count == 1, pattern
    return text


@cache
def ours(capture: Capture) -> tuple[Record, ...]:
    name = f"{capture.name}.sql"
    job = Job(
        script_of(script_text(capture.name), name),
        sources.find(capture.source),
        capture.format,
        force=True,
    )
    return records(job)


def records(job: Job) -> tuple[Record, ...]:
    """The messages of a job."""
    messages = job.addressed(partitions=Partitions(3)).messages(Limits())
    return tuple(Record(m.topic, m.partition, m.key, m.value, m.headers) for m in messages)


def beside(capture: Capture) -> Iterator[tuple[int | None, Record | None, Record | None]]:
    """(number in the capture, ours, theirs), masked: in order within each topic."""
    return compared(ours(capture), theirs(capture.name))


def compared(
    made: Iterable[Record], wanted: Sequence[Record]
) -> Iterator[tuple[int | None, Record | None, Record | None]]:
    lanes: dict[str, tuple[list[Record], list[int]]] = {}
    for record in made:
        lanes.setdefault(record.topic, ([], []))[0].append(record)
    for number, record in enumerate(wanted):
        lanes.setdefault(record.topic, ([], []))[1].append(number)
    for topic, (mine, numbers) in lanes.items():
        if topic.startswith(HEARTBEATS):
            continue
        left, right = [record.masked() for record in mine], [wanted[number].masked() for number in numbers]
        for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            for record, number in zip_longest(left[a:b], numbers[c:d]):
                if tag != "equal" or record is None or number is None:
                    yield number, record, None if number is None else wanted[number].masked()
                else:
                    yield number, record, record
