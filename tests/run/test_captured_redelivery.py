"""Runs of real products that were killed and started again, beside ours that are killed at the same message."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
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
TIMES: Final = {"ts_ms", "ts_us", "ts_ns", "__debezium.context.runId"}
# The format, the messages that came again in each life after the first by kind, and the members that differed in them.
# A life with rows of a snapshot (`r`) began with that many messages of a new one.
CASES: Final[dict[str, tuple[str, list[dict[str, int]], set[str]]]] = {
    "canal-1.1.8-A": (CANAL, [], set()),
    "canal-1.1.8-kill-behind": (CANAL, [{"INSERT": 8, "UPDATE": 2}], {"id", "ts"}),
    "canal-1.1.8-kill-ddl-far": (CANAL, [{"UPDATE": 2, "INSERT": 36, "DELETE": 3, "ALTER": 1}], {"id", "ts"}),
    "canal-1.1.8-kill-long": (CANAL, [{"INSERT": 16}], {"id", "ts"}),
    "canal-1.1.8-stop-restart": (CANAL, [{"INSERT": 30}, {}], {"id", "ts"}),
    "debezium-mysql-A": (DEBEZIUM, [], set()),
    "debezium-mysql-kill-before-first-flush": (DEBEZIUM, [{"schema": 8, "r": 33}], set()),
    "debezium-mysql-kill-between": (DEBEZIUM, [{"END": 1}], set()),
    "debezium-mysql-stop-restart": (DEBEZIUM, [{"schema": 8, "r": 539}, {"END": 1}], set()),
    "debezium-postgresql-A": (DEBEZIUM, [], set()),
    "debezium-postgresql-kill-before-first-flush": (DEBEZIUM, [{"r": 33}], set()),
    "debezium-mysql-kill-long-flushed": (
        DEBEZIUM,
        [{"u": 4, "END": 16, "BEGIN": 16, "c": 312, "d": 4, "tombstone": 4}],
        TIMES,
    ),
    "debezium-mysql-kill-ddl-close": (
        DEBEZIUM, [{"END": 1, "schema": 1, "BEGIN": 1}], {"ts_ms", "__debezium.context.runId"},
    ),
    "debezium-mysql-embedded-kill-long": (
        DEBEZIUM, [{"END": 1, "BEGIN": 1, "c": 300}], TIMES,
    ),
    "debezium-postgresql-embedded-default-stop": (DEBEZIUM, [{}, {}], set()),
    "debezium-postgresql-kill-behind": (
        DEBEZIUM,
        [{"BEGIN": 7, "c": 6, "END": 7, "u": 2}],
        TIMES,
    ),
    "debezium-postgresql-kill-long-flushed": (
        DEBEZIUM,
        [{"c": 318, "END": 18, "BEGIN": 18, "u": 8, "d": 4, "tombstone": 4}],
        TIMES,
    ),
    "maxwell-1.44.0-A": (MAXWELL, [], set()),
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
            row = _row(at["after"]) if at["after"] else _row(at["before"], ("id", "order_id", "line"))
            self.identity = (at["op"], row)
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
    faults = ",".join(_restarts(whole, lives, counts)) or "none"
    mine = [each for each in ours(format, faults) if _occurs(each, run)]
    firsts = [0, *accumulate(map(len, lives))]
    parts = [mine[first:stop] for first, stop in pairwise(firsts)]
    assert len(mine) == firsts[-1]
    # the real product's messages: each life sends what ours does
    complete = int(bool(counts))
    assert [_by_partition(part) for part in parts[complete:]] == [_by_partition(life) for life in lives[complete:]]
    # which of its messages a process has sent when it dies within a statement is chance between partitions
    assert Counter(each.kind for each in parts[0]) == Counter(each.kind for each in lives[0])
    for sent in (lives, parts):
        differing = set[str]()
        for number, count in enumerate(counts, 1):
            stretch = list(_again(sent[:number], sent[number], count))
            assert Counter(again.kind for _, again in stretch) == count
            differing.update(*(first.renewed(again) for first, again in stretch if first is not again))
        assert differing == members


def test_a_task_fails_at_a_ddl_statement_that_comes_again() -> None:
    """The stored position lies before the END of the long transaction, and rows older than the ALTER come after it."""
    (life,) = captured("debezium-mysql-kill-ddl")
    whole = ours(DEBEZIUM)
    stored = next(n for n, sent in enumerate(whole) if sent.identity == ("END", "500"))
    again = whole[stored : len(life)]
    assert Counter(sent.kind for sent in again) == {"BEGIN": 8, "END": 8, "c": 6, "d": 3, "tombstone": 3, "schema": 1}
    places = f"={_place(whole[len(life)])}@{_place(whole[stored])}"
    failed = ours(DEBEZIUM, f"task-failure-at{places}")
    assert _by_partition(failed) == _by_partition(life)
    # with GTIDs the rows come again in their old shape, the statement, and what follows
    repeated = ours(DEBEZIUM, f"crash-at{places}")
    assert [sent.identity for sent in repeated[len(life) :]] == [sent.identity for sent in whole[stored:]]
    # no such row lies between: the connector goes on
    at = next(n for n, sent in enumerate(whole) if sent.kind == "schema")
    close = f"={_place(whole[len(life)])}@{_place(whole[at])}"
    assert [sent.text for sent in ours(DEBEZIUM, f"task-failure-at{close}")] == [
        sent.text for sent in ours(DEBEZIUM, f"crash-at{close}")
    ]


def _restarts(whole: Sequence[Sent], lives: Sequence[list[Sent]], counts: Sequence[dict[str, int]]) -> Iterator[str]:
    """The restarts of a run as `--faults` names them."""
    position = len(lives[0])
    for number, (life, count) in enumerate(zip(lives[1:], counts, strict=True), 1):
        kind, first = "crash", position - sum(count.values())
        begun = 0
        if "r" in count:
            # the changes behind a new snapshot are those up to the end
            left = zip(lives[number:], counts[number - 1 :], strict=True)
            kind, first = "second-snapshot", len(whole) - sum(len(later) - sum(again.values()) for later, again in left)
            begun = sum(count.values())
        if position < len(whole):
            yield f"{kind}-at={_place(whole[position])}@{_place(whole[first])}"
        position = first + len(life) - begun


def _occurs(sent: Sent, run: str) -> bool:
    """Whether a message of MySQL's connector is one of PostgreSQL's, too, which has no topic of schema changes."""
    return sent.kind != "schema" or "postgresql" not in run


def _again(before: Sequence[list[Sent]], life: list[Sent], count: dict[str, int]) -> Iterator[tuple[Sent, Sent]]:
    """The messages that a life repeats, each with its first delivery: of each partition the end of what was sent. Those
    of a new snapshot have none."""
    total = sum(count.values())
    if "r" in count:
        yield from zip(life[:total], life[:total], strict=True)
        return
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
    """What was sent, by partition. Rows of a snapshot are sorted: PostgreSQL reads them as they lie in its files."""
    found: dict[tuple[str, int], list[Any]] = {}
    for partition, messages in _parted(sent).items():
        rows = iter(sorted(each.identity for each in messages if each.kind == "r"))
        marks = [each.value["source"]["snapshot"] for each in messages if each.kind == "r"]
        found[partition] = [marks, *(next(rows) if each.kind == "r" else each.identity for each in messages)]
    return found


def _place(sent: Sent) -> str:
    return f"{sent.order.turn}.{sent.order.ordinal}"
