"""`cdcsim hunt`: wrong consumers are found and their cases made small; right ones pass."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest
from command import cdcsim
from wrong_consumer import MISTAKES, tables_of

import simulator
from simulator.errors import UsageError
from simulator.hunting.case import Case, read_case
from simulator.hunting.cases import cases
from simulator.hunting.consumer import Function, PythonConsumer
from simulator.hunting.history import arrivals, history_of
from simulator.hunting.hunt import search
from simulator.hunting.shrink import minimal
from simulator.model import Message

SMALL: Final = """
database: shop
transactions: {1: 60, 2..4: 40}
tables:
  orders:
    key: id
    columns:
      id: {type: int64, values: sequence}
      total: {type: "decimal(10,2)", nullable: no, values: {range: [1, 500]}}
      flags: {type: uint32, nullable: no, values: {range: [0, 4294967295]}}
      note: {type: string(40), nulls: 0.3, values: {faker: city}}
      seen_at: {type: timestamp(6), nullable: no, values: commit_time}
    rows: 20
    mix: {insert: 30, update: 50, delete: 20}
    key_updates: 0.3
  lines:
    key: number
    columns:
      number: {type: uuid, values: uuid}
      quantity: {type: int32, nullable: no, values: {range: [1, 9]}}
    rows: 20
    mix: {insert: 30, update: 50, delete: 20}
"""


def consumer(mistake: str = "") -> Function:
    """A consumer of canal-json that applies changes by their key, with one mistake."""
    return lambda messages: tables_of((message.value or b"" for message in messages), mistake)


def test_a_right_consumer_passes() -> None:
    found = simulator.hunt(SMALL, "canal-json", consumer(), rounds=20, minutes=60)
    assert found.ok, str(found)
    assert (found.tried, str(found)) == (20, "The consumer was right in 20 cases.")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_consumer_is_found_and_its_case_is_small(mistake: str, tmp_path: Path) -> None:
    kind, most = MISTAKES[mistake]
    found = simulator.hunt(SMALL, "canal-json", consumer(mistake), rounds=30, minutes=60)
    assert found.failure is not None, mistake
    assert found.failure.kind in kind.split("|"), str(found)
    assert found.case is not None
    changes = sum(map(len, history_of(found.case).changes))
    assert changes <= most, found.case.as_yaml(found.sentence)
    assert str(found).startswith(f"After {changes} change")

    # the file of the case holds all of it
    path = tmp_path / "case.yaml"
    path.write_text(found.case.as_yaml(found.sentence))
    again = simulator.replay(path, consumer(mistake))
    assert (again.case, again.sentence) == (found.case, found.sentence)
    assert simulator.replay(path, consumer()).ok


# ---------------------------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("wanted", [{3}, {0, 9}, {1, 4, 7}, set(range(10))])
def test_what_remains_is_what_it_takes(wanted: set[int]) -> None:
    asked = []

    def first(parts: Iterable[Sequence[int]]) -> int | None:
        for number, part in enumerate(parts):
            asked.append(part)
            if wanted <= {*part}:
                return number
        return None

    assert minimal(range(10), first) == sorted(wanted)
    assert len(asked) < 60


def test_cases_that_run_at_once_change_nothing() -> None:
    @dataclass(frozen=True)
    class Concurrent(PythonConsumer):
        concurrent: bool = field(default=True, init=False)

    base = [Case(SMALL, "canal-json")]
    one, four = (search(base, Concurrent(consumer("raises at a null")), minutes=60, jobs=jobs) for jobs in (1, 4))
    assert one == four
    assert not one.ok


def test_partitions_run_ahead_of_each_other_each_in_its_order() -> None:
    case = Case(SMALL, "canal-json", seed=3, turns=200, partitions=3, arrival=7)
    history = history_of(case)
    sent = list(history.sent.messages())
    order = arrivals(sent, 3, 7)
    assert sorted(order) == list(range(len(sent)))
    assert order != sorted(order)
    for partition in range(3):
        own = [position for position in order if sent[position].partition == partition]
        assert own == sorted(own)


def test_no_consumer_is_blamed_for_an_order_that_none_can_survive() -> None:
    """Canal sends an update of the key to one partition, so changes of the old key in another may overtake it."""
    case = Case(SMALL, "canal-json", seed=3, turns=200, partitions=3, arrival=7)
    assert not history_of(case).is_survivable
    assert history_of(replace(case, settings=("tables.orders.key_updates=0",))).is_survivable


def test_rows_of_a_case_are_all_that_is_sent() -> None:
    whole = history_of(Case(SMALL, "canal-json", turns=60))
    group = max(whole.groups, key=len)
    assert len(group) > 1, "an update of the key connects two rows"
    case = Case(SMALL, "canal-json", turns=60, rows=(("shop.orders", tuple(key for _, key in group)),))
    sent = [json.loads(message.value or b"") for message in history_of(case).sent.messages()]
    assert {message["table"] for message in sent} == {"orders"}
    images = [row for message in sent for row in (*message["data"], *(message["old"] or []))]
    assert {row["id"] for row in images if "id" in row} == {key[0] for _, key in group}


def test_the_same_seed_proposes_the_same_cases() -> None:
    base = [Case("orders", "canal-json"), Case("crud", "canal-json")]
    one, same, other = ([next(proposed) for _ in range(20)] for proposed in (
        cases(base, 1, snapshots=True), cases(base, 1, snapshots=True), cases(base, 2, snapshots=True)
    ))  # fmt: skip
    assert one == same != other
    assert {case.scenario for case in one} == {"orders", "crud"}
    assert any("tables.users.rows=3" in case.settings for case in one + other)


# -------------------------------------------------------------------------------------------------------------- command


@pytest.mark.parametrize("mistake", MISTAKES if os.environ.get("CDCSIM_HUNTS") == "all" else ["ignores deletes"])
def test_the_command_finds_writes_and_replays(mistake: str, tmp_path: Path) -> None:
    """The consumer is a program; what is found becomes a test that fails. With CDCSIM_HUNTS=all for each mistake, with
    the seconds that it took."""
    (tmp_path / "small.yaml").write_text(SMALL)
    words = [sys.executable, str(Path(__file__).with_name("wrong_consumer.py")), mistake, "{messages}", "{tables}"]
    begun = time.monotonic()
    done = cdcsim(
        "hunt", "-s", "small.yaml", "-f", "canal-json", "--rounds", "20", "--minutes", "60", "--to", "found", "--",
        *words, cwd=tmp_path, status=1,
    )  # fmt: skip
    print(f"{mistake}: {time.monotonic() - begun:.0f} s, {done.stdout}")
    changes = re.match(r"After (\d+) change", done.stdout)
    assert changes is not None
    assert int(changes[1]) <= MISTAKES[mistake][1]
    (case_file,) = (tmp_path / "found").glob("*.yaml")
    assert read_case(case_file)[1] == tuple(words)
    test = (tmp_path / "found" / f"test_{case_file.stem}.py").read_text()
    assert f'with_name("{case_file.name}")' in test
    compile(test, "found", "exec")
    again = cdcsim("hunt", "--replay", str(case_file), cwd=tmp_path, status=1)
    assert again.stdout == done.stdout.partition("written")[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-f", "canal-json"], "hunt needs a consumer: cdcsim hunt -f canal-json -- COMMAND {messages} {tables}."),
        (["--", "true"], "hunt needs -f FORMAT, the format of the messages."),
        (
            ["-s", "crud", "-f", "canal-json", "--rounds", "1", "--", "./nobody"],
            "./nobody: the consumer cannot be run: No such file or directory.",
        ),
        (["-s", "nosuch", "-f", "canal-json", "--", "true"], "no scenario 'nosuch'"),
        (["-s", "crud", "-f", "nosuch", "--", "true"], "no format 'nosuch'"),
        (["--replay", "case.yaml"], "case.yaml: it is no case, as `cdcsim hunt --to FOLDER` writes them."),
    ],
)
def test_mistakes(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text("tables: {}\n")
    done = cdcsim("hunt", *arguments, cwd=tmp_path, status=2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_consumer_without_a_column_is_a_mistake() -> None:
    def run(messages: Sequence[Message]) -> dict[str, list[dict[str, Any]]]:
        return {"orders": [{"id": 1}]}

    with pytest.raises(UsageError, match="has no column"):
        simulator.hunt(SMALL, "canal-json", run, rounds=5)


def test_tables_without_a_key_are_not_compared() -> None:
    """They are named; a hunt that has no other table is refused."""
    table = (
        "  log:\n    columns: {text: {type: string(9), values: {choices: [a, b]}}}\n    rows: 5\n    mix: {insert: 1}\n"
    )
    log = SMALL + table
    found = simulator.hunt(log, "canal-json", lambda messages: {**consumer()(keyed(messages)), "log": []}, rounds=2)
    assert str(found) == "The consumer was right in 2 cases. Not compared, without a primary key: shop.log."
    alone = "database: shop\ntables:\n" + table
    with pytest.raises(UsageError, match="no table has a primary key"):
        simulator.hunt(alone, "canal-json", consumer(), rounds=1)


def keyed(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if json.loads(message.value or b"")["table"] != "log"]


def test_a_consumer_that_chooses_the_order_of_partitions() -> None:
    """Canal sends both halves of an update of the key to one partition: read last, it brings back an old row."""
    case = Case(SMALL, "canal-json", seed=3, turns=200, partitions=3)
    assert history_of(case).is_survivable
    assert not history_of(case).is_survivable_in_any_order
    assert history_of(replace(case, settings=("tables.orders.key_updates=0",))).is_survivable_in_any_order
