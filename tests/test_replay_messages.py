"""What a run writes to files, replayed by a consumer that knows only the messages, against the rows in closed form."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from closed_form import rows_at
from command import cdcsim, summary
from replay import Contradiction, Replay, messages

FORMATS = ("canal-json", "dts-canal-json")
# DTS prints TIMESTAMP at +08:00, Canal in UTC.
ZONE_HOURS = {"canal-json": 0, "dts-canal-json": 8}


def written(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def merged(folder: Path) -> Iterator[dict[str, Any]]:
    """The messages of all files by their ids, which rise in each of them."""
    with ExitStack() as opened:
        files = [messages(opened.enter_context(path.open("rb"))) for path in written(folder)]
        yield from heapq.merge(*files, key=lambda message: message["id"])


def check(scenario: str, format: str, told: dict[str, Any], replay: Replay) -> None:
    """The replay counts what the summary says, and holds the rows of the turn that it ends before."""
    snapshot = replay.rows.pop("INIT", 0)
    assert replay.rows.total() + snapshot == told["changes"] + told["snapshot_rows"]
    if format == "dts-canal-json":
        assert snapshot == told["snapshot_rows"]
    assert replay.statements == told["ddl"]
    assert replay.state() == rows_at(scenario, told["next_turn"], zone_hours=ZONE_HOURS[format])


def run_and_replay(folder: Path, scenario: str, format: str, *arguments: str, partitions: int = 1) -> dict[str, Any]:
    facts = folder / "summary.json"
    place = f"file:{folder / 'messages'}?partitions={partitions}"
    cdcsim("run", scenario, "-f", format, "--snapshot", "--to", place, "--summary-to", facts, *arguments)
    told = summary(facts)
    assert told["messages"] == told["delivered"]
    assert told["failed"] == 0
    replay = Replay()
    if partitions == 1:
        (path,) = written(folder / "messages")
        with path.open("rb") as lines:
            replay.all(messages(lines))
    else:
        assert len(written(folder / "messages")) > 1
        replay.all(merged(folder / "messages"))
    check(scenario, format, told, replay)
    return told


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("scenario", "arguments", "statements"),
    [
        ("crud", ["--limit", "20000"], 0),
        ("orders", ["--limit", "5000", "--start-at", "1000"], 0),
        # an added column, a wider one, a renamed one
        ("orders", ["--limit", "4000", "--start-at", "19500"], 1),
        ("orders", ["--limit", "4000", "--start-at", "39500"], 1),
        ("orders", ["--turns", "1000", "--start-at", "59500"], 1),
        ("wide", ["--turns", "3000"], 0),
        ("tour", [], 12),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_one_partition(tmp_path: Path, scenario: str, arguments: list[str], statements: int, format: str) -> None:
    told = run_and_replay(tmp_path, scenario, format, *arguments)
    assert told["ddl"] == statements


def test_far_away(tmp_path: Path) -> None:
    run_and_replay(tmp_path, "crud", "canal-json", "--limit", "1000", "--start-at", "1000000000")


@pytest.mark.parametrize("format", FORMATS)
def test_by_table(tmp_path: Path, format: str) -> None:
    """All rows of a table go to one partition; the ids of both formats put the partitions together again."""
    route = ["--route", "table", "--start-at", "19500", "--limit", "4000"]
    assert run_and_replay(tmp_path, "orders", format, *route, partitions=6)["ddl"] == 1


def test_by_key(tmp_path: Path) -> None:
    """Rows of one table in six partitions: DTS numbers each message, so the order of all is known."""
    run_and_replay(tmp_path, "orders", "dts-canal-json", "--start-at", "19500", "--limit", "4000", partitions=6)


def test_by_key_with_split_updates(tmp_path: Path) -> None:
    """Updates of keys as DELETE and INSERT, in the partitions of the old and the new key."""
    folder, facts = tmp_path / "messages", tmp_path / "summary.json"
    arguments = ["--snapshot", "--limit", "20000", "--summary-to", facts, "--to", f"file:{folder}?partitions=6"]
    cdcsim("run", "orders", "-f", "dts-canal-json,split_on_key_update=on", *arguments)
    told, replay = summary(facts), Replay()
    replay.all(merged(folder))
    assert sum(replay.rows.values()) == told["messages"] - told["ddl"]
    moved = told["messages"] - told["changes"] - told["snapshot_rows"] - told["ddl"]
    assert moved > 0, "coupons change their keys now and then"
    assert replay.state() == rows_at("orders", told["next_turn"])


# ------------------------------------------------------------------------------------------- the consumer is strict


@pytest.fixture(scope="module")
def tour() -> list[dict[str, Any]]:
    lines = cdcsim("run", "tour", "-f", "canal-json", "--snapshot").stdout.splitlines()
    return [json.loads(line) for line in lines]


def place(tour: list[dict[str, Any]], type: str) -> int:
    """The first message of a type."""
    return next(i for i, message in enumerate(tour) if message["type"] == type)


def test_a_lost_insert_is_seen(tour: list[dict[str, Any]]) -> None:
    at = place(tour, "UPDATE") - 1
    with pytest.raises(Contradiction, match="there is no row"):
        Replay().all(tour[:at] + tour[at + 1 :])


@pytest.mark.parametrize("type", ["INSERT", "UPDATE", "DELETE"])
def test_a_doubled_message_is_seen(tour: list[dict[str, Any]], type: str) -> None:
    at = place(tour, type)
    with pytest.raises(Contradiction, match=r"there already|is another|there is no row"):
        Replay().all(tour[: at + 1] + tour[at:])


def test_a_lost_update_is_seen(tour: list[dict[str, Any]]) -> None:
    at = place(tour, "UPDATE")
    with pytest.raises(Contradiction, match=r"is another.*balance"):
        Replay().all(tour[:at] + tour[at + 1 :])


def test_a_lost_statement_is_seen(tour: list[dict[str, Any]]) -> None:
    for at in (i for i, message in enumerate(tour) if message["type"] == "ALTER" and "MODIFY" not in message["sql"]):
        rest = tour[:at] + tour[at + 1 :]
        with pytest.raises((Contradiction, ValueError, KeyError)):
            Replay().all(rest)


def test_a_changed_value_is_seen(tour: list[dict[str, Any]]) -> None:
    at = place(tour, "UPDATE")
    false = json.loads(json.dumps(tour[at]))
    false["data"][0]["name"] = "Linux"
    with pytest.raises(Contradiction, match="is another"):
        Replay().all([*tour[:at], false, *tour[at + 1 :]])
