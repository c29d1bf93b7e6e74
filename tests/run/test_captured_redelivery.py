"""Runs of real products that were killed and started again, beside ours that are killed at the same message."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from simulator.model import Message
from simulator.run.faults.spec import parse
from simulator.run.job import Job, Partitions, open_job
from simulator.run.plan import Limits

RUNS: Final = Path(__file__).parents[1] / "captures" / "redelivery"
WORKLOAD: Final = RUNS / "workload.sql"
CANAL, MAXWELL = "canal-json", "maxwell-json,output_ddl=on"
DEBEZIUM: Final = (
    "debezium-json,provide.transaction.metadata=true,value.converter.schemas.enable=false,"
    "key.converter.schemas.enable=false"
)
# The format, the messages that came again in each life after the first by kind, and the members that differed in them.
CASES: Final[dict[str, tuple[str, list[dict[str, int]], set[str]]]] = {
    "canal-1.1.8-kill-behind": (CANAL, [{"INSERT": 8, "UPDATE": 2}], {"id", "ts"}),
    "canal-1.1.8-kill-ddl-far": (CANAL, [{"UPDATE": 2, "INSERT": 36, "DELETE": 3, "ALTER": 1}], {"id", "ts"}),
    "canal-1.1.8-kill-long": (CANAL, [{"INSERT": 16}], {"id", "ts"}),
    "canal-1.1.8-stop-restart": (CANAL, [{"INSERT": 30}, {}], {"id", "ts"}),
    "debezium-mysql-kill-between": (DEBEZIUM, [{"END": 1}], set()),
    "debezium-mysql-kill-long-flushed": (
        DEBEZIUM,
        [{"u": 4, "END": 16, "BEGIN": 16, "c": 312, "d": 4, "tombstone": 4}],
        {"ts_ms", "ts_us", "ts_ns", "__debezium.context.runId"},
    ),
    "debezium-mysql-kill-ddl-close": (
        DEBEZIUM, [{"END": 1, "schema": 1, "BEGIN": 1}], {"ts_ms", "__debezium.context.runId"},
    ),
    "debezium-mysql-embedded-kill-long": (
        DEBEZIUM, [{"END": 1, "BEGIN": 1, "c": 300}], {"ts_ms", "ts_us", "ts_ns", "__debezium.context.runId"},
    ),
    "debezium-postgresql-embedded-default-stop": (DEBEZIUM, [{}, {}], set()),
    "debezium-postgresql-kill-behind": (
        DEBEZIUM,
        [{"BEGIN": 7, "c": 6, "END": 7, "u": 2}],
        {"ts_ms", "ts_us", "ts_ns", "__debezium.context.runId"},
    ),
    "debezium-postgresql-kill-long-flushed": (
        DEBEZIUM,
        [{"c": 318, "END": 18, "BEGIN": 18, "u": 8, "d": 4, "tombstone": 4}],
        {"ts_ms", "ts_us", "ts_ns", "__debezium.context.runId"},
    ),
    "maxwell-1.44.0-kill-ddl": (MAXWELL, [{"table-alter": 1}], {"key", "order of members"}),
    "maxwell-1.44.0-kill-idle": (MAXWELL, [{}], set()),
    "maxwell-1.44.0-kill-long": (MAXWELL, [{"insert": 299}], set()),
}  # fmt: skip


class Sent:
    """A message: its kind, what identifies its change in every run, and its members."""

    def __init__(self, key: str | None, value: str | None, headers: dict[str, str], order: Any, partition: int) -> None:
        self.key, self.headers, self.order, self.text, self.partition = key, headers, order, value, partition
        self.value: dict[str, Any] = {} if value is None else json.loads(value)
        at = self.value
        if value is None:
            self.kind, self.identity = "tombstone", ("tombstone", _key(key))
        elif "status" in at:
            self.kind, self.identity = at["status"], (at["status"], str(at["event_count"]))
        elif "op" in at:
            self.kind = at["op"]
            self.identity = (
                at["op"],
                _row(at["after"]) if at["after"] else _row(at["before"], ("id", "order_id", "line")),
            )
        elif "tableChanges" in at:
            self.kind, self.identity = "schema", ("schema", at["ddl"].lower().split()[0])
        else:
            self.kind = at["type"]
            rows = json.dumps([at.get("data"), at.get("old") if "sql" not in at else None], sort_keys=True)
            self.identity = (self.kind, at.get("table"), rows)

    def renewed(self, again: Sent) -> set[str]:
        """The members that differ in a second delivery; `source` and others count as one member each."""
        found = {name for name in self.value | again.value if self.value.get(name) != again.value.get(name)}
        names = self.headers | again.headers
        found |= {name for name in names if self.headers.get(name) != again.headers.get(name)}
        if self.key != again.key:
            found.add("key")
        if not found - {"key"} and self.text != again.text:
            found.add("order of members")
        return found


def _key(key: str | None) -> str:
    return json.dumps(json.loads(key or "null"), sort_keys=True)


def _row(
    row: dict[str, Any], names: tuple[str, ...] = ("id", "order_id", "line", "customer", "state", "sku", "qty")
) -> str:
    """Columns of a row that both servers write alike; of a deleted one its key, which both logs hold."""
    return json.dumps({name: row[name] for name in names if name in row})


def captured(run: str) -> list[list[Sent]]:
    """The messages of each life about the workload's transactions, without the snapshot and the setup before them."""
    lives: dict[int, list[Sent]] = {}
    for line in gzip.decompress((RUNS / f"{run}.jsonl.gz").read_bytes()).splitlines():
        at = json.loads(line)
        sent = Sent(at["key"], at["value"], dict(at["headers"] or []), None, _partition(at["partition"], at["topic"]))
        lives.setdefault(at["life"], []).append(sent)
    first = lives[1]
    lives[1] = first[_begin(first) :]
    return [lives[life] for life in sorted(lives)]


def _begin(sent: list[Sent]) -> int:
    """The first message of the first transaction: the insert of order 101, with its BEGIN."""
    row = next(n for n, each in enumerate(sent) if "101" in each.identity[-1] and each.kind.lower() in ("c", "insert"))
    return row - 1 if sent[row - 1].kind == "BEGIN" else row


@cache
def job(format: str) -> Job:
    """The workload in a format; it is run once."""
    return open_job(str(WORKLOAD), format).addressed(route="key", partitions=Partitions(3))


@cache
def ours(format: str, faults: str = "none") -> list[Sent]:
    sent = [_sent(message) for message in replace(job(format), faults=parse(faults)).messages(Limits())]
    return sent[_begin(sent) :]


def _sent(message: Message) -> Sent:
    headers = {name: (value or b"").decode() for name, value in message.headers}
    key, value = (None if text is None else text.decode() for text in (message.key, message.value))
    return Sent(key, value, headers, message.order, _partition(message.partition, message.topic))


def _partition(partition: int | None, topic: str) -> int:
    """The partition of Canal's messages, which depends on rows alone; those of others count as one."""
    return 1 + partition if partition is not None and topic.startswith(("shop_", "example")) else 0


@pytest.mark.parametrize("run", CASES)
def test_the_same_messages_come_again(run: str) -> None:
    format, counts, members = CASES[run]
    lives = captured(run)
    whole = [each for each in ours(format) if _occurs(each, run)]
    position, places, firsts = len(lives[0]), [], [0, len(lives[0])]
    for life, count in zip(lives[1:], counts, strict=True):
        stored = position - sum(count.values())
        if position < len(whole):
            places.append(f"crash-at={_place(whole[position])}@{_place(whole[stored])}")
        position = stored + len(life)
        firsts.append(firsts[-1] + len(life))
    mine = [each for each in ours(format, ",".join(places) or "none") if _occurs(each, run)]
    parts = [mine[first:stop] for first, stop in pairwise(firsts)]
    assert len(mine) == firsts[-1]
    # the real product's messages: each life sends what ours does
    assert [_by_partition(part) for part in parts[1:]] == [_by_partition(life) for life in lives[1:]]
    # which of its messages a process has sent when it dies within a statement is chance between partitions
    assert Counter(each.kind for each in parts[0]) == Counter(each.kind for each in lives[0])
    for sent in (lives, parts):
        pairs = [list(_again(sent[:number], sent[number], count)) for number, count in enumerate(counts, 1)]
        assert [Counter(again.kind for _, again in stretch) for stretch in pairs] == counts
        assert set().union(*(first.renewed(again) for stretch in pairs for first, again in stretch)) == members


def _occurs(sent: Sent, run: str) -> bool:
    """Whether a message of MySQL's connector is one of PostgreSQL's, too, which has no topic of schema changes."""
    return sent.kind != "schema" or "postgresql" not in run


def _again(before: Sequence[list[Sent]], life: list[Sent], count: dict[str, int]) -> Iterator[tuple[Sent, Sent]]:
    """The messages that a life repeats, each with its first delivery: of each partition the end of what was sent."""
    total = sum(count.values())
    earlier, now = _parted([each for sent in before for each in sent]), _parted(life)
    for partition, messages in now.items():
        first = earlier.get(partition, [])
        sizes = [total] if len(now) == 1 else range(min(len(first), len(messages)), 0, -1)
        for size in sizes:
            ends = first[len(first) - size :]
            if [each.identity for each in ends] == [each.identity for each in messages[:size]]:
                yield from zip(ends, messages, strict=False)
                break


def _parted(sent: list[Sent]) -> dict[tuple[str, int], list[Sent]]:
    """Messages by table and partition where that depends on the row: between them the order is chance."""
    parted: dict[tuple[str, int], list[Sent]] = {}
    for each in sent:
        parted.setdefault((each.identity[1] if each.partition else "", each.partition), []).append(each)
    return parted


def _by_partition(sent: list[Sent]) -> dict[tuple[str, int], list[Any]]:
    return {partition: [each.identity for each in messages] for partition, messages in _parted(sent).items()}


def _place(sent: Sent) -> str:
    return f"{sent.order.turn}.{sent.order.ordinal}"
