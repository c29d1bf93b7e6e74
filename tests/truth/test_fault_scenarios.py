"""Faults of the shipped scenarios: the verdict on their messages, and the rows of a consumer that is correct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import simulator
from simulator.model import Message
from simulator.run.faults.spec import OCCURRING
from simulator.truth.verify.findings import Wrong

# What happens to messages in each scenario.
SCENARIOS: Final[dict[str, set[str]]] = {
    "at-least-once": {"crash", "duplicates"},
    "failover": {"failover", "late", "clock-step", "heartbeat-silence"},
    "schema-drift": {"ddl-twice", "ddl-late", "unknown-column", "unknown-type"},
    "poison": {"poison", "tombstones", "oversized", "truncated", "malformed"},
    "hot-key-storm": {"duplicates", "late", "early"},
    "long-transaction": {"crash"},
    "lost-offset": {"second-snapshot"},
    "failed-connector": {"task-failure"},
}
DEBEZIUM: Final = ("lost-offset", "failed-connector")
TURNS: Final = 3000


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_shipped_scenarios(scenario: str, tmp_path: Path) -> None:
    wanted, format = SCENARIOS[scenario], format_of(scenario)
    to = f"file:{tmp_path / 'out'}?partitions=3"
    done = simulator.publish(scenario, format, to, turns=TURNS, route="key")
    verdicts = [
        simulator.verify(scenario, format, to, turns=TURNS, route="key", at_least_once=once) for once in (True, False)
    ]
    assert all(verdict.right == verdict.expected == verdict.read == done.messages for verdict in verdicts)
    lenient, strict = verdicts
    fatal = {name: count for name, count in done.faults.items() if not OCCURRING[name].survivable}
    assert lenient.ok == (not fatal)
    if scenario in DEBEZIUM:
        assert lenient.counts.keys() == {Wrong.MISSING}
    else:
        assert lenient.counts == ({Wrong.UNDECODABLE: sum(fatal.values())} if fatal else {})
    again = {"crash", "stop", "failover", "duplicates", "ddl-twice"} & done.faults.keys()
    assert bool(lenient.redelivered) == bool(again)
    assert strict.counts[Wrong.DOUBLED] == lenient.redelivered
    assert done.faults.keys() <= wanted
    assert done.faults


def format_of(scenario: str) -> str:
    return "debezium-json" if scenario in DEBEZIUM else "canal-json"


class Consumer:
    """A correct consumer: rows by key, of each partition in its order; what cannot be read is put aside."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.unread = 0

    def take(self, message: Message) -> None:
        if message.value is None:
            return
        try:
            at = json.loads(message.value)
        except ValueError:
            self.unread += 1
            return
        if at.get("isDdl"):
            return
        for row in at["data"]:
            if at["type"] == "DELETE":
                self.rows.pop(row["id"], None)
            else:
                self.rows[row["id"]] = row


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in ("poison", *DEBEZIUM)])
def test_a_correct_consumer_has_the_expected_rows(scenario: str) -> None:
    run = simulator.simulate(scenario, "canal-json", turns=TURNS, snapshot=True, route="key", partitions=3)
    consumer = Consumer()
    for message in sorted(run.messages, key=lambda message: (message.order.phase, message.partition or 0)):
        consumer.take(message)
    # a row counts its changes
    number = "clicks" if scenario == "hot-key-storm" else "revision"
    expected = {row["id"]: row[number] for row in run.expected["shop.users"]}
    assert {key: row[number] for key, row in consumer.rows.items()} == expected
    assert consumer.unread == 0
