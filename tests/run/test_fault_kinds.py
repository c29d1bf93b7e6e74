"""Each kind of fault: what it changes, exactly, and what a correct consumer then holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Final

import pytest

from simulator.errors import UsageError
from simulator.formats import FORMATS, find
from simulator.formats.options import parse_format
from simulator.model import BEGIN, COMMIT, DDL, DELETE, HEARTBEAT, READ, ROW_KINDS, Message, OrderKey
from simulator.run.faults.apply import unfit
from simulator.run.faults.edits import OVERSIZED_BYTES, PLACEHOLDER, UNREGISTERED, compact, edits
from simulator.run.faults.flow import Occurrence
from simulator.run.faults.spec import BY_NAME, KINDS, Kind, parse
from simulator.run.job import Job, Partitions, open_job
from simulator.run.pacing import StalledPace, parse_pace
from simulator.run.plan import Limits
from simulator.truth import decoders
from simulator.truth.decoders.change import Change, Statement

SCENARIO: Final = """
database: shop
rate: 5
heartbeat: 1s
transactions: {1: 60, 2..3: 40}
tables:
  users:
    key: id
    columns:
      id: {type: int64, values: sequence}
      name: {type: string(60), nullable: no, values: {faker: name}}
      city: {type: string(60), nullable: no, values: {faker: city}}
      revision: {type: int32, nullable: no, values: version}
    rows: 20
    mix: {insert: 25, update: 50, delete: 25}
    key_updates: 0.3
  items:
    key: id
    columns:
      id: {type: int64, values: sequence}
      title: {type: string(60), nullable: no, values: {faker: city}}
      revision: {type: int32, nullable: no, values: version}
    rows: 20
    mix: {insert: 30, update: 40, delete: 30}
schema_changes:
  - at: 30
    table: users
    add_column: {name: status, column: {type: string(10), values: {choices: [a, b]}}, default: new, after: city}
  - {at: 90, table: users, drop_column: {column: city}}
"""
COLUMNS: Final = {"users": ("id", "name", "city", "revision"), "items": ("id", "title", "revision")}
TURNS: Final = 120
CANAL = "canal-json"
DEBEZIUM: Final = (
    "debezium-json,value.converter.schemas.enable=false,key.converter.schemas.enable=false,"
    "provide.transaction.metadata=true,heartbeat.interval.ms=1000"
)
SPLITTING: Final = "cloudcanal-canal-json,split_pk_update=on"
# Members that differ in a second delivery.
RENEWED: Final = {"id", "ts", "ts_ms", "ts_us", "ts_ns"}


@dataclass(frozen=True)
class Run:
    """The messages of a run without faults and with them, and what occurred."""

    job: Job
    plain: Sequence[Message]
    faulty: Sequence[Message]
    occurrences: Sequence[Occurrence]

    @property
    def struck(self) -> list[int]:
        """The positions of the messages concerned in the run without faults."""
        places = {(message.order, message.topic): n for n, message in reversed([*enumerate(self.plain)])}
        return [places[at.order, at.topic] for at in self.occurrences]

    def position(self, key: OrderKey) -> int:
        """The position of the first message at or after a key."""
        return next((n for n, message in enumerate(self.plain) if message.order >= key), len(self.plain))


def contents(messages: Sequence[Message]) -> list[Any]:
    """All of each message but its order key."""
    return [(m.kind, m.topic, m.partition, m.key, m.value, m.headers, m.tag) for m in messages]


def kept(messages: Sequence[Message]) -> list[Any]:
    """Messages without what a second delivery renews."""

    def value(message: Message) -> Any:
        at = json.loads(message.value or b"null")
        return {name: member for name, member in at.items() if name not in RENEWED} if at else at

    return [(m.kind, m.topic, m.partition, m.key, value(m)) for m in messages]


# -------------------------------------------------------------------------------------------------------------- effects


def again(run: Run) -> None:
    """Each restart sends a stretch again, in the old order, then the stream goes on."""
    wanted, sent = list[Message](), 0
    for restart in run.occurrences:
        end, stored = run.position(restart.order), re.fullmatch(r"reads on from turn (\d+)\.(-?\d+)", restart.detail)
        assert stored
        wanted += run.plain[sent:end]
        sent = run.position(OrderKey(1, int(stored[1]), int(stored[2])))
        assert restart.messages == end - sent
    assert kept(run.faulty) == kept([*wanted, *run.plain[sent:]])
    assert run.occurrences


def renewed(run: Run) -> None:
    """As `again`, once: ids count from 1, and the clock is later than before."""
    again(run)
    first, (restart,) = [json.loads(m.value or b"") for m in run.faulty], run.occurrences
    end = run.position(restart.order)
    seconds = {"crash": 2, "stop": 2, "failover": 30}[restart.fault]
    assert first[end]["id"] == 1
    assert first[end]["ts"] >= max(at["ts"] for at in first[:end]) + 1000 * seconds


def often(run: Run) -> None:
    """Positions that are stored more often make the stretches shorter."""
    again(run)
    rarely = messages_of(CANAL, "crash=10000,flush=60000").occurrences
    assert [at.order for at in rarely] == [at.order for at in run.occurrences]
    assert sum(at.messages for at in rarely) > sum(at.messages for at in run.occurrences)


def new_snapshot(run: Run) -> None:
    """At each restart the snapshot of a later turn, then the stream from there."""
    wanted, sent = list[Any](), 0
    for restart in run.occurrences:
        end, before = run.position(restart.order), re.fullmatch(r"takes a snapshot before turn (\d+)", restart.detail)
        assert before
        turn = int(before[1])
        opening = run.job.starting(Limits(turn)).messages(Limits(turn, turns=1), snapshot=True)
        wanted += [*run.plain[sent:end], *(m for m in opening if not m.order.phase)]
        sent = run.position(OrderKey(1, turn, -(1 << 40)))
        missing = [m for m in run.plain[end:sent] if m.kind in ROW_KINDS and m.value is not None]
        assert restart.messages <= len(missing)  # changes: an update of the key has two messages
    wanted += run.plain[sent:]
    assert run.occurrences

    def shown(message: Message) -> Any:
        value = json.loads(message.value or b"{}")
        # those of a snapshot have the log's position and time
        return (message.key, value.get("after")) if message.kind in (READ, DDL) else kept([message])

    assert [shown(m) for m in run.faulty] == [shown(m) for m in wanted]


def ends(run: Run) -> None:
    (failure,) = run.occurrences
    assert contents(run.faulty) == contents(run.plain[: run.position(failure.order)])


def repeated(run: Run) -> None:
    twice = [m for n, message in enumerate(run.plain) for m in [message] * (2 if n in run.struck else 1)]
    assert contents(run.faulty) == contents(twice)


def without(run: Run) -> None:
    struck = {*run.struck}
    assert contents(run.faulty) == contents([m for n, m in enumerate(run.plain) if n not in struck])


def without_transactions(run: Run) -> None:
    """Each transaction goes with its marks; statements and heartbeats stay."""
    gone = set[int]()
    for at, occurrence in zip(run.struck, run.occurrences, strict=True):
        stop = next(n for n in range(at, len(run.plain)) if run.plain[n].kind is COMMIT) + 1
        own = [n for n in range(at, stop) if run.plain[n].kind not in (DDL, HEARTBEAT)]
        assert run.plain[at].kind is BEGIN
        assert occurrence.messages == len(own)
        gone |= {*own}
    assert contents(run.faulty) == contents([m for n, m in enumerate(run.plain) if n not in gone])


def without_heartbeats(run: Run) -> None:
    assert contents(run.faulty) == contents([m for m in run.plain if m.kind is not HEARTBEAT])
    assert any(m.kind is HEARTBEAT for m in run.plain)


def lanes_first(run: Run, *, last: bool) -> None:
    """In each window that is struck, one partition comes first, or last; only the last message stays in its place."""
    borders = [run.job.stream.border(64 * n) for n in range(TURNS // 64 + 2)]
    wanted, lanes = list[Message](), {at.order: (at.topic, at.partition) for at in run.occurrences}
    for low, high in pairwise(borders):
        window = [m for m in run.plain if low <= m.order.turn < high]
        lane = next((lane for order, lane in lanes.items() if low <= order.turn < high), None)
        own = [m for m in window[:-1] if (m.topic, m.partition) == lane]
        others = [m for m in window[:-1] if (m.topic, m.partition) != lane]
        wanted += [*(others + own if last else own + others), *window[-1:]]
    assert contents(run.faulty) == contents(wanted)
    assert contents(wanted) != contents(run.plain)


def late(run: Run) -> None:
    lanes_first(run, last=True)


def early(run: Run) -> None:
    lanes_first(run, last=False)


def halves(run: Run) -> None:
    """The lane of a delete half comes last, so the insert half of another partition is before it."""
    late(run)
    deletes = {(m.topic, m.partition) for m in run.plain if m.kind is DELETE and m.order.ordinal % 2 == 0}
    assert {(at.topic, at.partition) for at in run.occurrences} <= deletes


def moved(run: Run, turns: int) -> None:
    """A statement stands before all of a turn so much later or earlier."""
    wanted = [m for n, m in enumerate(run.plain) if n not in run.struck]
    for n in run.struck:
        turn = run.plain[n].order.turn + turns
        wanted.insert(next(i for i, m in enumerate(wanted) if m.order.turn >= turn), run.plain[n])
    assert contents(run.faulty) == contents(wanted)


def ddl_late(run: Run) -> None:
    moved(run, 8)


def ddl_early(run: Run) -> None:
    moved(run, -8)


def snapshot_later(run: Run) -> None:
    stream = [m for m in run.plain if m.order.phase]
    later = run.job.starting(Limits(20)).messages(Limits(20, turns=1), snapshot=True)
    assert contents(run.faulty) == contents([*(m for m in later if not m.order.phase), *stream])


def poisoned(run: Run) -> None:
    faulty = list(run.faulty)
    for n in run.struck:
        bad, good = faulty[n : n + 2]
        assert contents([replace(bad, value=good.value)]) == contents([good])
        assert bad.value
        assert good.value
        assert good.value.startswith(bad.value)
        assert len(bad.value) < len(good.value)
        del faulty[n]
    assert contents(faulty) == contents(run.plain)


def tombstones(run: Run) -> None:
    struck = {*run.struck}
    wanted = [
        m for n, message in enumerate(run.plain) for m in [message, replace(message, value=None)][: 1 + (n in struck)]
    ]
    assert contents(run.faulty) == contents(wanted)
    assert all(run.plain[n].key for n in struck)


def edited(run: Run) -> None:
    """The values of the messages concerned differ as `test_edits_of_every_format` says, and nothing else."""
    struck = {*run.struck}
    for n, (one, other) in enumerate(zip(run.plain, run.faulty, strict=True)):
        assert (one.value != other.value) == (n in struck)
        assert contents([replace(one, value=None)]) == contents([replace(other, value=None)])


def clocks(run: Run) -> Iterator[tuple[int, int]]:
    """The turn of each message, and by how much its clock is ahead; all else is the same."""
    for one, other in zip(run.plain, run.faulty, strict=True):
        old, new = json.loads(one.value or b""), json.loads(other.value or b"")
        assert {**old, "ts": 0} == {**new, "ts": 0}
        yield one.order.turn, new["ts"] - old["ts"]


def skewed(run: Run) -> None:
    assert {ahead for _, ahead in clocks(run)} == {1500}


def stepped(run: Run) -> None:
    steps: dict[int, set[int]] = {}
    for turn, ahead in clocks(run):
        steps.setdefault(turn // 64, set()).add(ahead)
    assert all(len(step) == 1 and abs(min(step)) <= 60_000 for step in steps.values())
    assert len({min(step) for step in steps.values()}) == len(steps)


def stalling(run: Run) -> None:
    """The same messages; the pace stands still for half of each period, and is level with the wanted one at its end."""
    assert contents(run.faulty) == contents(run.plain)
    plain = parse_pace("100")
    pace = StalledPace(plain.unit, plain, 1.0, 1)
    due = [round(pace.due(second)) for second in range(31)]
    assert [due[second] for second in (10, 20, 30)] == [1000, 2000, 3000]
    assert all(sum(due[n] == due[n + 1] for n in range(first, first + 10)) == 5 for first in (0, 10, 20))


# ---------------------------------------------------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class Case:
    """`faults` of a format, and their effect on the messages. `undefined`: the rows, as (table, key), whose values a
    consumer cannot know, or the columns that it cannot know; for kinds that it cannot survive."""

    format: str
    faults: str
    effect: Callable[[Run], None]
    undefined: Callable[[Run], set[Any]] | None = None
    snapshot: bool = False


def rows_of(messages: Sequence[Message], format: str) -> set[Any]:
    """The rows that messages change."""
    return {
        (item.table, str(image["id"]))
        for message in messages
        for item in items(message, format)
        if isinstance(item, Change)
        for image in (item.before, item.after)
        if image and "id" in image
    }


def undefined(messages: Sequence[Message], format: str) -> set[Any]:
    """The rows that messages change, and the columns of statements."""
    columns = {"city", "status"} if any(m.kind is DDL for m in messages) else set()
    return rows_of(messages, format) | columns


def concerned(run: Run) -> set[Any]:
    return undefined([run.plain[n] for n in run.struck], run.job.format)


def unread(run: Run) -> set[Any]:
    """Those of messages that did not come."""
    sent, plain = {str(at) for at in kept(run.faulty)}, zip(run.plain, kept(run.plain), strict=True)
    return undefined([message for message, at in plain if str(at) not in sent], run.job.format)


CASES: Final[Mapping[str, Case]] = {
    "redelivery": Case(CANAL, "redelivery=10000,flush=60000", again),
    "crash": Case(CANAL, "crash=10000,flush=60000", again),
    "stop": Case(CANAL, "stop=10000", again),
    "failover": Case(CANAL, "failover=10000,flush=60000", again),
    "flush": Case(CANAL, "crash=10000,flush=20", often),
    "crash-at": Case(CANAL, "crash-at=60.0@40.0", renewed),
    "stop-at": Case(CANAL, "stop-at=60.0", renewed),
    "failover-at": Case(CANAL, "failover-at=60.0@40.0", renewed),
    "second-snapshot": Case(DEBEZIUM, "second-snapshot=9500", new_snapshot, unread),
    "second-snapshot-at": Case(DEBEZIUM, "second-snapshot-at=50.0@70.0", new_snapshot, unread),
    "task-failure-at": Case(DEBEZIUM, "task-failure-at=60.0@10.0", ends, unread),
    "duplicates": Case(CANAL, "duplicates=0.2", repeated),
    "late": Case(CANAL, "late=1", late),
    "early": Case(CANAL, "early=1", early),
    "halves": Case(SPLITTING, "halves=1", halves),
    "overlap": Case(DEBEZIUM, "overlap=20", snapshot_later, snapshot=True),
    "gap": Case(DEBEZIUM, "gap=0.1", without_transactions, unread),
    "loss": Case(CANAL, "loss=0.1", without, concerned),
    "ddl-late": Case(CANAL, "ddl-late", ddl_late),
    "ddl-early": Case(CANAL, "ddl-early", ddl_early),
    "ddl-twice": Case(CANAL, "ddl-twice", repeated),
    "ddl-missing": Case(CANAL, "ddl-missing", without, lambda run: {"city", "status"}),
    "poison": Case(CANAL, "poison=0.1", poisoned),
    "truncated": Case(CANAL, "truncated=0.1", edited, concerned),
    "malformed": Case(CANAL, "malformed=0.1", edited, concerned),
    "oversized": Case(CANAL, "oversized=0.05", edited),
    "unknown-column": Case(CANAL, "unknown-column=0.2", edited),
    "unknown-type": Case(CANAL, "unknown-type=0.2", edited),
    "missing-old": Case(CANAL, "missing-old=0.5", edited, concerned),
    "unavailable": Case(CANAL, "unavailable=0.2", edited, lambda run: {"name", "city", "title", "status"}),
    "heartbeat-silence": Case(DEBEZIUM, "heartbeat-silence=1", without_heartbeats),
    "clock-skew": Case(CANAL, "clock-skew=1500", skewed),
    "clock-step": Case(CANAL, "clock-step=1", stepped),
    "stall": Case(CANAL, "stall=1", stalling),
    "tombstones": Case("maxwell-json", "tombstones=0.2", tombstones),
    "wrong-schema-id": Case("debezium-avro", "wrong-schema-id=0.1", edited, concerned),
}  # fmt: skip


@cache
def job_of(format: str) -> Job:
    source = {"source": "mysql"} if "mysql" in find(parse_format(format)[0]).sources else {}
    job = open_job(SCENARIO, format, faults="none", **source)
    return job.addressed(route="key", partitions=Partitions(3))


@cache
def messages_of(format: str, faults: str, *, snapshot: bool = False) -> Run:
    job = job_of(format)
    faulty = replace(job, faults=parse(faults)).starting(Limits())
    renderer, plan = faulty.renderer(), faulty.plan(Limits(turns=TURNS), snapshot=snapshot)
    rendered = [renderer.finish(renderer.begin(block)) for block in plan.all_blocks()]
    batches = [batch for block in rendered if (batch := block.messages()) is not None]
    return Run(
        job,
        list(job.messages(Limits(turns=TURNS), snapshot=snapshot)),
        [message for batch in batches for message in faulty.single(batch)],
        [fault for block in rendered for fault in block.faults],
    )


@pytest.mark.parametrize("kind", BY_NAME)
def test_what_a_fault_changes(kind: str) -> None:
    case = CASES[kind]
    run = messages_of(case.format, case.faults, snapshot=case.snapshot)
    case.effect(run)
    occurring = {at.fault for at in run.occurrences}
    assert occurring <= {kind, kind.removesuffix("-at")} | (
        {"crash", "stop", "failover"} if case.effect in (again, often) else set()
    )


@pytest.mark.parametrize("format", ["oms-default,split_key_update=on", "drs-json,pk_update=split"])
def test_halves_of_other_products(format: str) -> None:
    halves(messages_of(format, "halves"))


# ------------------------------------------------------------------------------------------------------------- consumer


def items(message: Message, format: str) -> Iterator[Any]:
    decoder = decoders.find(format)
    if message.value is not None:
        yield from decoders.items_of(decoder, decoder.parse(compact(message.value), parse_format(format)[1]))


def consumed(messages: Sequence[Message], format: str) -> tuple[dict[str, dict[str, Any]], dict[Any, dict[str, Any]]]:
    """A correct consumer: rows by key, in the order of arrival; messages that it cannot read are put aside. Returns the
    defaults of the columns of each table, and its rows."""
    rows = dict[Any, dict[str, Any]]()
    columns: dict[str, dict[str, Any]] = {name: dict.fromkeys(names) for name, names in COLUMNS.items()}
    for message in messages:
        try:
            changes = list(items(message, format))
        except (ValueError, UsageError):
            continue
        for item in changes:
            if isinstance(item, Statement):
                if added := re.search(r"(\w+) add column (\w+) .*default '(\w+)'", item.sql.replace("`", ""), re.I):
                    columns[added[1]][added[2]] = added[3]
                elif dropped := re.search(r"(\w+) drop column (\w+)", item.sql.replace("`", ""), re.I):
                    columns[dropped[1]].pop(dropped[2], None)
            elif isinstance(item, Change):
                if item.before:
                    rows.pop((item.table, str({**(item.after or {}), **item.before}["id"])), None)
                if item.after and item.op is not DELETE:
                    rows[item.table, str(item.after["id"])] = dict(item.after)
    return columns, {
        (table, key): {name: row.get(name, default) for name, default in columns[table].items()}
        for (table, key), row in rows.items()
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_correct_consumer_survives_what_it_can(kind: Kind) -> None:
    """It ends with the rows of a run without faults; what it cannot survive leaves the rest of them defined."""
    case = CASES[kind.name]
    run = messages_of(case.format, case.faults, snapshot=case.snapshot)
    assert (case.undefined is None) == kind.survivable == (not kind.then)
    (_, wanted), (_, rows) = (consumed(messages, case.format) for messages in (run.plain, run.faulty))
    if case.undefined is None:
        assert rows == wanted
        return
    assert rows != wanted
    unknown = case.undefined(run)
    assert unknown
    for row in rows_of(run.plain, case.format) - unknown:
        one, other = ({c: v for c, v in of.get(row, {}).items() if c not in unknown} for of in (rows, wanted))
        assert one == other


# -------------------------------------------------------------------------------------------------------------- formats


def _json(value: bytes) -> Any:
    return json.loads(value)


def _unknown(form: bytes) -> Callable[[bytes, bytes], bool]:
    member = re.compile(rb'"cdcsim_unknown":' + form + rb",?")
    return lambda old, new: member.sub(b"", new, count=1) == old


def _is_shorter(old: bytes, new: bytes) -> bool:
    new.decode()  # no character is cut
    return old.startswith(new) and 0 < len(new) < len(old) and not _reads(new)


def _reads(value: bytes) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _lacks_a_quote(old: bytes, new: bytes) -> bool:
    gone = next((n for n in range(len(new)) if old[n] != new[n]), len(new))
    return old[gone : gone + 1] == b'"' and old[:gone] + old[gone + 1 :] == new and not _reads(new)


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The members in which two values differ: path, old, new."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for name in old:
            yield from differences(old[name], new[name], f"{path}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from differences(one, other, path)
    elif old != new:
        yield path, old, new


def _old_is_null(old: bytes, new: bytes) -> bool:
    ((path, before, after),) = differences(_json(old), _json(new))
    return after is None and bool(before) and path.rpartition(".")[2] in ("old", "before", "prevStruct", "beforeImage")


def _has_placeholder(old: bytes, new: bytes) -> bool:
    ((_, before, after),) = differences(_json(old), _json(new))
    return after == PLACEHOLDER and isinstance(before, str)


EDITS: Final[Mapping[str, Callable[[bytes, bytes], bool]]] = {
    "truncated": _is_shorter,
    "malformed": _lacks_a_quote,
    "oversized": lambda old, new: len(new) == OVERSIZED_BYTES and _json(new) == _json(old),
    "unknown-column": _unknown(rb'"\d+"'),
    "unknown-type": _unknown(rb'\{"a":\[\d+\]\}'),
    "missing-old": _old_is_null,
    "unavailable": _has_placeholder,
}
BINARY_EDITS: Final[Mapping[str, Callable[[bytes, bytes], bool]]] = {
    "truncated": lambda old, new: old.startswith(new) and 0 < len(new) < len(old),
    "malformed": lambda old, new: (
        len(old) == len(new) and 1 <= sum(a ^ b == 255 for a, b in zip(old, new, strict=True)) <= 8
    ),
    "wrong-schema-id": lambda old, new: (
        old[:1] + old[5:] == new[:1] + new[5:] and UNREGISTERED - 1000 < int.from_bytes(new[1:5]) <= UNREGISTERED
    ),
}
# Formats without what a fault would change: the row before an update is no object in them.
NOT_STRUCK: Final = {"dts-shareplex-json": {"missing-old"}, "oms-shareplex": {"missing-old"}}


@pytest.mark.parametrize("format", FORMATS)
def test_edits_of_every_format(format: str) -> None:
    """Each edit that a format can have strikes some of its messages, and changes what its name says."""
    job = job_of(format)
    binary = find(format).binary
    checks = BINARY_EDITS if binary else EDITS
    assert edits(binary=binary).keys() == checks.keys()
    refused = {name for name, _ in unfit(parse(",".join(checks)), job.codec)}
    values = [m.value for m in job.messages(Limits(turns=40)) if m.kind in ROW_KINDS and m.value is not None]
    struck = set[str]()
    for name, edit in edits(binary=binary).items():
        for draw, value in enumerate(values, 1):
            if name not in refused and (new := edit(value, draw * 7919)) is not None:
                assert checks[name](value, new), (name, value, new)
                struck.add(name)
    assert struck == checks.keys() - refused - NOT_STRUCK.get(format, set())


def _text(kind: Kind) -> str:
    return f"{kind.name}=9.0" if kind.unit == "places" else kind.name


def test_faults_that_a_format_cannot_have_are_refused() -> None:
    """Every other fault strikes in `test_edits_of_every_format`, or is about messages of any format."""
    reasons = {
        name: {kind.name for kind in KINDS if kind.name != "flush" and [*unfit(parse(_text(kind)), job_of(name).codec)]}
        for name in FORMATS
    }
    shared = {"halves", "heartbeat-silence"}
    snapshots = {"second-snapshot", "second-snapshot-at", "task-failure-at"}
    text, binary = {"wrong-schema-id"}, {"oversized", "unknown-column", "unknown-type", "missing-old", "unavailable"}
    ddl = {"ddl-late", "ddl-early", "ddl-twice", "ddl-missing"}
    assert reasons == {
        name: shared
        | (set() if name.startswith("debezium") else snapshots)
        | (binary if find(name).binary else text)
        | (text if name in ("cloudcanal-dts-avro", "drs-avro", "dts-avro") else set())
        | (ddl if name in ("dts-shareplex-json", "maxwell-json", "oms-canal-json", "oms-shareplex") else set())
        for name in FORMATS
    }
    for text_of, sentence in (
        ("halves", "--faults halves: -f canal-json splits no update with these options; leave it out."),
        ("task-failure-at=9.0", "--faults task-failure-at: no task of Alibaba Canal fails at DDL with these options;"),
    ):
        with pytest.raises(UsageError) as caught:
            open_job(SCENARIO, CANAL, source="mysql", faults=text_of)
        assert str(caught.value).startswith(sentence)
