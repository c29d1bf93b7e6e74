"""Messages of every format, replayed by a consumer that knows only them, against the rows in closed form."""

from __future__ import annotations

import heapq
import json
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from command import Command
from random_scenarios import SMALL, loaded, rendered, shrunk, streamed
from replay import Contradiction, Replay, rows_at

from simulator import formats, registry, sources
from simulator.model import DDL, DELETE, INSERT, READ, UPDATE, Kind
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.stream.engine.block import Block
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.resolve import resolve
from simulator.truth.decoders import changes
from simulator.truth.decoders.change import Change

FORMATS: Final = list(registry.names("format", formats.FORMATS))


@pytest.mark.parametrize("format", FORMATS)
def test_the_tour(format: str) -> None:
    """Every kind of event once: rows of a snapshot, statements of several rows, schema changes, a truncated table."""
    job = open_job("tour", format)
    replay = Replay(format, str(job.source), job.stream.first_tables)
    plan = job.plan(Limits(), snapshot=True)
    replay.play(job.renderer(), map(job.stream.read_block, plan.all_blocks()))
    assert job.stream.turns is not None
    assert replay.state() == rows_at(job.stream, job.stream.turns, format)


FIRST, STOP = 40, 160


@cache
def small(source: str) -> tuple[ChangeStream, list[Block], Block]:
    """A stream on a source, a snapshot before a turn, and the turns from there."""
    # nobody is told that documents get or lose a field, or have one with another name
    changes = SMALL["schema_changes"][: 2 if source == "mongodb" else None]
    stream = ChangeStream(resolve(loaded({**SMALL, "schema_changes": changes}), sources.find(source)))
    first = stream.border(FIRST)
    return stream, list(stream.snapshot(first)), stream.read(first, stream.border(STOP))


@pytest.mark.parametrize(
    ("format", "source"), [(format, id) for format in FORMATS for id in formats.find(format).sources]
)
def test_a_stream(format: str, source: str) -> None:
    """With key updates, which some products split, schema changes, transactions and a snapshot before."""
    stream, snapshot, block = small(source)
    renderer = rendered(stream, format)
    replay = Replay(format, str(stream.source), stream.first_tables)
    replay.begin(stream, renderer, stream.border(FIRST), snapshot)
    replay.play(renderer, [block])
    assert replay.state() == rows_at(stream, stream.border(STOP), format)
    assert {*replay.changes, READ} >= {INSERT, UPDATE, DELETE}


def test_the_ledger_of_the_bank_is_even_after_every_transaction() -> None:
    """What one account loses another one gets."""
    format = "dts-avro"
    bank = shrunk("bank", rows=30)
    bank["transactions"] = {"1": 9, "2..4": 1}
    stream, renderer = streamed(bank, format, "mysql")
    replay = Replay(format, str(stream.source), stream.first_tables)
    replay.rows |= rows_at(stream, 0, format)
    at = 0
    for _ in range(30):
        stop = stream.border(at + 1)
        replay.play(renderer, [stream.read(at, stop)])
        assert sum(Decimal(str(row["amount"])) for row in replay.rows["entries"].values()) == 0
        at = stop
    assert len(replay.rows["entries"]) > 20
    assert replay.changes[INSERT] > 20


def test_far_away() -> None:
    stream, renderer = streamed(SMALL, "canal-json", "mysql")
    first, stop = stream.border(10**9), stream.border(10**9 + 300)
    replay = Replay("canal-json", "mysql-8.0", stream.first_tables)
    replay.begin(stream, renderer, first, stream.snapshot(first))
    replay.play(renderer, [stream.read(first, stop)])
    assert replay.state() == rows_at(stream, stop, "canal-json")


@pytest.mark.parametrize("route", ["table", "key"])
def test_partitions_are_files_of_the_same_messages(tmp_path: Path, command: Command, route: str) -> None:
    """Put together by their ids, which rise in each file, they are the messages of one partition."""
    numbers = ["--start-at", "19990", "--limit", "300"]
    for count in (1, 6):
        place = f"file:{tmp_path / str(count)}?partitions={count}"
        command("run", "orders", "-f", "dts-canal-json", "--route", route, "--to", place, *numbers)
    one, six = ([read(path) for path in sorted((tmp_path / str(count)).glob("*.jsonl"))] for count in (1, 6))
    assert len(six) > 1
    assert list(heapq.merge(*six)) == one[0]


def read(path: Path) -> list[tuple[int, bytes]]:
    return [(json.loads(line)["id"], line) for line in path.read_bytes().splitlines()]


# ------------------------------------------------------------------------------------------- the consumer is strict


@pytest.fixture(scope="module")
def tour() -> list[list[Change]]:
    """The changes of the tour's messages up to its first schema change."""
    job = open_job("tour", "canal-json")
    told: list[list[Change]] = []
    for message in job.messages(Limits(), snapshot=True):
        if message.kind is DDL:
            break
        told.append(changes("canal-json", message.value or b""))
    return told


def replayed(told: list[list[Change]]) -> None:
    replay = Replay("canal-json", "mysql-8.0", open_job("tour", "canal-json").stream.first_tables)
    for message in told:
        replay.apply(message)


def first(tour: list[list[Change]], kind: Kind) -> int:
    return next(place for place, message in enumerate(tour) if message[0].op is kind)


def test_a_lost_insert_is_seen(tour: list[list[Change]]) -> None:
    replayed(tour)
    at = first(tour, UPDATE) - 1
    with pytest.raises(Contradiction, match="there is no row"):
        replayed(tour[:at] + tour[at + 1 :])


@pytest.mark.parametrize("kind", [INSERT, UPDATE, DELETE], ids=lambda kind: kind.name)
def test_a_doubled_message_is_seen(tour: list[list[Change]], kind: Kind) -> None:
    at = first(tour, kind)
    with pytest.raises(Contradiction, match=r"already|is another|there is no row"):
        replayed(tour[: at + 1] + tour[at:])


def test_a_lost_update_is_seen(tour: list[list[Change]]) -> None:
    at = first(tour, UPDATE)
    with pytest.raises(Contradiction, match=r"is another.*balance"):
        replayed(tour[:at] + tour[at + 1 :])


def test_a_changed_value_is_seen(tour: list[list[Change]]) -> None:
    at = first(tour, UPDATE)
    change = tour[at][0]
    false = replace(change, after={**(change.after or {}), "name": "Linux"})
    with pytest.raises(Contradiction, match="is another"):
        replayed([*tour[:at], [false], *tour[at + 1 :]])
