"""Messages of several formats about the same changes: for each event, every format's messages, cut into members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from simulator.batch import MessageBatch
from simulator.compare.changes import ROWS, Happening, Place, happenings, place_of
from simulator.compare.members import cut, key_text, value_text
from simulator.errors import UsageError
from simulator.formats import FORMATS, find
from simulator.formats.documents import MEANINGS, described_as, members_of
from simulator.formats.format import Broker, Codec
from simulator.model import Message
from simulator.run.faults.renderer import FaultyRenderer
from simulator.run.faults.spec import parse
from simulator.run.job import SINGLE_TURNS, Job, Partitions, job_of, source_of
from simulator.run.plan import Limits, Plan
from simulator.run.request import Subject
from simulator.run.scenario import Draft, load

# Row changes compared by default, if the stream is endless.
CHANGES: Final = 5
# Appended to the name of a format for messages that come again.
AGAIN: Final = " again"
# Meaning of members that no table describes.
UNDESCRIBED: Final = "other"

# A message's address (topic, partition, key …) and its members: names with texts.
Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReadableMessage:
    """A message for people. `address`: topic, partition, key, tag and headers; `members`: those of the value, with
    their texts; `value`: the whole text, None for a tombstone; `binary`: the bytes of a value that is not text.
    `ordinal` is that of its first row change in the turn.
    """

    address: Pairs
    members: Pairs
    value: str | None
    ordinal: int
    binary: bytes | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A turn of the stream: its name ("UPDATE shop.orders"), the scenario's name of the step, the kinds of its changes,
    the changes in words, line by line, the source's statements that make them, and the messages of each format.

    DDL and heartbeats that come before the row changes of a turn are events of their own, and so is the DDL that comes
    before a snapshot.
    """

    name: str
    step: str | None
    kinds: tuple[str, ...]
    change: str
    statement: str
    messages: dict[str, list[ReadableMessage]]

    @property
    def title(self) -> str:
        """The step's name, then the event's."""
        return self.name if self.step is None else f"{self.step}: {self.name}"

    def side_by_side(self, formats: Iterable[str]) -> list[dict[str, ReadableMessage]]:
        """Rows of messages by format, in the order of the changes: a row has the messages that begin with the same
        change. A format that puts several rows into a message has none in the rows of the later ones.
        """
        rows: dict[tuple[int, int], dict[str, ReadableMessage]] = {}
        for format in formats:
            last, number = None, 0  # number among the messages about one change, such as a tombstone
            for message in self.messages[format]:
                last, number = message.ordinal, number + 1 if message.ordinal == last else 0
                rows.setdefault((last, number), {})[format] = message
        return [rows[row_number] for row_number in sorted(rows)]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Events of one source as these formats write them. `meanings` gives what each format's members mean, `failure` the
    error that ended a SQL script after these events."""

    scenario: str
    source: str
    formats: tuple[str, ...]
    events: tuple[Event, ...]
    meanings: dict[str, dict[str, str]]
    failure: UsageError | None = None

    def meaning(self, format: str, member: str) -> str:
        """Meaning of a format's member, which aligns it with members of other formats."""
        meanings = self.meanings[format]
        return meanings.get(described_as(member, meanings), UNDESCRIBED)

    def by_meaning(self, format: str, message: ReadableMessage) -> dict[str, Pairs]:
        """The members of a message by meaning, in the order of meanings."""
        members: dict[str, list[tuple[str, str]]] = {}
        for member, text in message.members:
            members.setdefault(self.meaning(format, member), []).append((member, text))
        return {meaning: tuple(members[meaning]) for meaning in MEANINGS if meaning in members}

    def facts(self) -> dict[str, Any]:
        """The comparison as data, for programs."""
        return {
            "scenario": self.scenario,
            "source": self.source,
            "formats": list(self.formats),
            "events": [
                {
                    "name": event.name,
                    "step": event.step,
                    "change": event.change,
                    "statement": event.statement,
                    "kinds": list(event.kinds),
                    "messages": {
                        format: [
                            {"address": dict(message.address), "value": message.value, "members": [
                                {"member": member, "meaning": self.meaning(format, member), "text": text}
                                for member, text in message.members
                            ]}
                            for message in messages
                        ]
                        for format, messages in event.messages.items()
                    },
                }
                for event in self.events
            ],
        }  # fmt: skip


def compare(
    scenario: str | Draft,
    formats: Sequence[str] = (),
    *,
    source: str | None = None,
    seed: int | None = None,
    settings: Sequence[str] = (),
    start_at: int = 0,
    limit: int | None = None,
    snapshot: bool | None = None,
    kinds: Sequence[str] = (),
    partitions: int = 1,
    broker: Broker = "kafka",
    redelivered: bool = False,
) -> Comparison:
    """The events of a scenario in these formats (`canal-json,version=1.1.5`), or in all that the source can have.

    A script is compared from its snapshot to its end, another scenario for `limit` row changes. `kinds` (insert, ddl …)
    selects events. With `redelivered`, a further format such as `canal-json again` has the messages as they come again
    after a crash. Raises UsageError.
    """
    jobs: dict[str, Job] = {}
    if formats:
        system = source_of(Subject(scenario, formats[0], source, settings=tuple(settings)))
    else:
        system = load(scenario, source, settings=settings)[1]
    for format in formats or [name for name in FORMATS if system.id in find(name).sources]:
        if format in jobs:
            raise UsageError(f"-f {format} is given twice: leave one out.")
        job = job_of(Subject(scenario, format, str(system), seed, tuple(settings), broker=broker, faults="none"))
        jobs[format] = job.addressed(partitions=Partitions(partitions))
    first = next(iter(jobs.values()))
    endless = first.stream.turns is None
    limits = Limits(start_at, CHANGES if endless and limit is None else limit)
    with_snapshot = not endless if snapshot is None else snapshot
    plans = {
        format: job.plan(limits, snapshot=with_snapshot, most_turns=SINGLE_TURNS).counted()
        for format, job in jobs.items()
    }
    happened = happenings(next(iter(plans.values())))
    rows = {(phase, turn) for (phase, turn, _), event in happened.items() if event.changes_rows}
    sent = {}
    for format, job in jobs.items():
        sent[format] = dict(_messages(job, plans[format], rows))
        if redelivered:
            sent[format + AGAIN] = dict(_messages(job, plans[format], rows, again=True))
    sending = {place for of_format in sent.values() for place in of_format}
    events = []
    for place in sorted({*happened, *sending}):
        event = happened.get(place, Happening())
        # DDL before a snapshot is an event only if a format sends it
        if (place in sending or place[0] or place[2] == ROWS) and (not kinds or set(kinds) & event.kinds):
            messages = {format: of_format.get(place, []) for format, of_format in sent.items()}
            kinds_of = tuple(sorted(event.kinds))
            events.append(Event(event.name, event.step, kinds_of, event.change, event.statement, messages))
    meanings = {
        format: {
            name: member.meaning for name, member in members_of(jobs[format.removesuffix(AGAIN)].codec.format).items()
        }
        for format in sent
    }
    return Comparison(first.stream.file, str(first.stream.source), tuple(sent), tuple(events), meanings, first.failure)


def _messages(
    job: Job, plan: Plan, with_rows: set[tuple[int, int]], *, again: bool = False
) -> Iterator[tuple[Place, list[ReadableMessage]]]:
    """The messages by place; with `again`, those of changes as they come again."""
    by_place: dict[Place, list[ReadableMessage]] = {}
    members = members_of(job.codec.format)
    for batch in _again(job, plan) if again else _batches(job, plan):
        for message in batch.messages():
            place = place_of(message.order, message.kind, with_rows)
            by_place.setdefault(place, []).append(readable_message(message, job.codec, tuple(members)))
    yield from by_place.items()


def _batches(job: Job, plan: Plan) -> Iterator[MessageBatch]:
    renderer = job.renderer()
    for where in plan.all_blocks():
        if (batch := renderer.render_block(where)) is not None:
            yield batch


def _again(job: Job, plan: Plan) -> Iterator[MessageBatch]:
    renderer = replace(job, faults=parse("crash")).renderer()
    assert isinstance(renderer, FaultyRenderer)
    for block in plan.blocks():
        yield from renderer.again(block.first, block.stop)


def readable_message(message: Message, codec: Codec, known: Sequence[str]) -> ReadableMessage:
    """A message for people; objects are cut into their members if these are `known` by path."""
    address = [
        ("topic", message.topic),
        ("partition", "by key" if message.partition is None else str(message.partition)),
        ("key", "none" if message.key is None else key_text(message.key, codec)),
    ]
    if message.tag is not None:
        address.append(("tag", message.tag))
    address += [
        (f"header {name}", "" if value is None else value.decode(errors="backslashreplace"))
        for name, value in message.headers
    ]
    if message.value is None:
        return ReadableMessage(tuple(address), (), None, message.order.ordinal)
    text = value_text(message.value, codec)
    binary = None if codec.layout.container is None else message.value
    return ReadableMessage(tuple(address), tuple(cut(text, known)), text, message.order.ordinal, binary)
