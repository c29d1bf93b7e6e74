"""The stream's promises I1 to I7 over random scenarios, held by a replay that keeps rows in a dict.

The replay knows nothing of slots, ticks or histories: it takes changes one by one, in order, and looks for
contradictions.
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import loaded, pairs, scenarios

from simulator import sources
from simulator.batch import Border, ChangeBatch
from simulator.model import DELETE, INSERT, READ, UPDATE, SchemaChange, TableId, UniqueKey
from simulator.stream.engine.block import Block
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.resolve import resolve

# MongoDB, whose tables change without statements, has a replay of its own in `test_stream_mongodb.py`.
SYSTEMS = ("mysql", "mariadb", "oracle", "oracle-21c", "postgresql", "gaussdb", "sqlserver", "oceanbase-oracle")
quick = settings(max_examples=7, deadline=None, suppress_health_check=list(HealthCheck))
# where each source tries some
few = settings(quick, max_examples=2)

Row = tuple[Any, ...]


def stream_of(scenario: dict[str, Any], source: str = "mysql", **options: Any) -> ChangeStream:
    return ChangeStream(resolve(loaded(scenario), sources.find(source), **options))


def rows_of(columns: Any) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def changes_of(block: Block) -> list[tuple[tuple[int, int, int], ChangeBatch, Row | None, Row | None]]:
    """(order, batch, before, after) of every change of a block, in stream order."""
    out = []
    for batch in block.batches:
        envelope = batch.envelope
        keys = zip(itertools.repeat(envelope.phase), envelope.turn.tolist(), envelope.ordinal.tolist())
        after = rows_of(batch.after) if batch.after is not None else [None] * len(batch)
        if batch.before is None:
            before: list[Row | None] = [None] * len(batch)
        else:
            before = list(rows_of([batch.full_before(i) for i in range(len(batch.table.columns))]))
        out += [(key, batch, b, a) for key, b, a in zip(keys, before, after, strict=True)]
    return sorted(out, key=lambda change: change[0])


class Replay:
    """Tables as dicts from key to row. Raises AssertionError at the first contradiction."""

    def __init__(self, stream: ChangeStream, turn: int) -> None:
        """Begins with the rows that are there before a turn."""
        self.tables: dict[str, dict[Row, Row]] = {table.id.name: {} for table in stream.first_tables}
        self.versions = {table.id.name: table for table in stream.tables_at(turn)}
        self.unique: dict[tuple[TableId, UniqueKey], set[Row]] = {}
        for block in stream.snapshot(turn):
            for _, batch, before, after in changes_of(block):
                assert batch.kind is READ
                assert before is None
                self.insert(batch, after)

    def block(self, block: Block) -> None:
        events = [((e.order.phase, e.order.turn, e.order.ordinal), e, None, None) for e in block.events]
        for _, what, before, after in sorted([*events, *changes_of(block)], key=lambda item: item[0]):
            if isinstance(what, SchemaChange):
                self.alter(what)
            elif isinstance(what, ChangeBatch):
                assert what.table == self.versions[what.table.id.name], "a change of another table version"
                {INSERT: self.insert, DELETE: self.delete, UPDATE: self.update}[what.kind](
                    what, *(image for image in (before, after) if image is not None)
                )

    def key(self, batch: ChangeBatch, row: Row) -> Row:
        return tuple(row[i] for i in batch.table.key_positions)

    def unique_values(self, batch: ChangeBatch, row: Row) -> Iterator[tuple[set[Row], Row]]:
        """The values that rows have in each unique key, and this row's; with a null it is in none."""
        table = batch.table
        for key in table.unique_keys:
            places = [table.positions[name] for name in key.columns]
            if (table.id, key) not in self.unique:
                rows = self.tables[table.id.name].values()
                self.unique[table.id, key] = {tuple(each[i] for i in places) for each in rows}
            values = tuple(row[i] for i in places)
            if None not in values:
                yield self.unique[table.id, key], values

    def insert(self, batch: ChangeBatch, row: Row | None) -> None:
        assert row is not None
        rows = self.tables[batch.table.id.name]
        assert self.key(batch, row) not in rows, f"{batch.table.id} has {self.key(batch, row)} already"
        for value, column in zip(row, batch.table.columns, strict=True):
            assert value is not None or column.nullable, f"null in {column.name}"
        for held, values in self.unique_values(batch, row):
            assert values not in held, f"{batch.table.id} has {values} already"
            held.add(values)
        rows[self.key(batch, row)] = row

    def delete(self, batch: ChangeBatch, row: Row) -> None:
        for held, values in self.unique_values(batch, row):
            held.remove(values)
        assert self.tables[batch.table.id.name].pop(self.key(batch, row)) == row

    def update(self, batch: ChangeBatch, old: Row, new: Row) -> None:
        self.delete(batch, old)
        assert old != new, "an update that changes nothing"
        self.insert(batch, new)

    def alter(self, change: SchemaChange) -> None:
        assert change.before is not None
        assert change.after is not None
        name = change.before.id.name
        assert self.versions[name] == change.before
        new = [c for c in change.after.columns if c.field not in {b.field for b in change.before.columns}]
        if new:
            (column,) = new
            place = change.after.positions[column.name]
            # the scenarios here add one kind of column, with this default
            self.tables[name] = {k: (*r[:place], "none", *r[place:]) for k, r in self.tables[name].items()}
        self.versions[name] = change.after


def state_at(stream: ChangeStream, turn: int) -> dict[str, Counter[Row]]:
    state: dict[str, Counter[Row]] = {table.id.name: Counter() for table in stream.first_tables}
    for table, columns in stream.rows_at(turn):
        state[table.id.name].update(rows_of(columns))
    return state


def replayed(replay: Replay) -> dict[str, Counter[Row]]:
    return {name: Counter(rows.values()) for name, rows in replay.tables.items()}


def replay_all(stream: ChangeStream, start: int, lengths: Sequence[int] = (1, 150, 400)) -> None:
    """Replay pieces of these lengths, and compare the rows with those in closed form after each."""
    at = stream.border(start)
    replay = Replay(stream, at)
    assert replayed(replay) == state_at(stream, at)
    for length in lengths:
        stop = stream.border(at + length)
        replay.block(stream.read(at, stop))
        assert replayed(replay) == state_at(stream, stop)
        at = stop


def texts(block: Block) -> list[str]:
    """A block's changes as comparable text, envelope included."""
    out = []
    for batch in block.batches:
        for i, (order, _, before, after) in enumerate(changes_of(Block(0, 0, (batch,), (), 0))):
            envelope = [int(getattr(batch.envelope, name)[i]) for name in batch.envelope.ARRAYS]
            out.append(f"{order} {batch.kind.name} {batch.table.id} v{batch.table.version} {envelope} {before} {after}")
    return sorted(out) + [str(event) for event in block.events]


@pytest.mark.parametrize("source", SYSTEMS)
@few
@given(scenario=scenarios(), start=st.integers(0, 5000))
def test_history_has_no_contradiction_and_ends_in_the_closed_form(
    source: str, scenario: dict[str, Any], start: int
) -> None:
    """I2 and I5: every before image is the row as it was left; the rows computed for any turn are those replayed."""
    replay_all(stream_of(scenario, source), start)


@quick
@given(scenarios(), st.sampled_from([0, 700, 10**9]))
def test_a_row_keeps_its_number_and_shares_it_with_none(scenario: dict[str, Any], start: int) -> None:
    """Updates of keys and snapshots included; equal rows would have different ones. New rows have the next numbers,
    without gaps, wherever reading begins."""
    stream = stream_of(scenario)
    start, stop = stream.border(start), stream.border(start + 500)

    def numbered(blocks: Iterable[Block]) -> list[tuple[Any, ...]]:
        out: list[tuple[Any, ...]] = []
        for block in blocks:
            numbers: dict[tuple[int, int], int] = {}
            for batch in block.batches:
                assert batch.row_numbers is not None
                places = zip(batch.envelope.turn.tolist(), batch.envelope.ordinal.tolist(), strict=True)
                numbers |= dict(zip(places, batch.row_numbers().tolist(), strict=True))
            for order, batch, before, after in changes_of(block):
                out.append((batch.table.id.name, numbers[order[1], order[2]], before, after))
        return out

    new: dict[str, list[int]] = defaultdict(list)
    for name, number, before, after in numbered([stream.read(start, stop)]):
        if before is None and after is not None:
            new[name].append(number)
    weighted = {name for name, life in scenario.get("lifecycles", {}).items() if "zipf" in life}
    for name, numbers in new.items():
        steps = {b - a for a, b in itertools.pairwise(numbers)}
        assert steps <= {1} if not weighted else min(steps, default=1) > 0, name
    if start > 10**6:  # what only grows has too many rows by then
        return
    held: dict[tuple[str, int], Row] = {}
    for name, number, before, after in numbered([*stream.snapshot(start), stream.read(start, stop)]):
        known = held.pop((name, number), None)
        assert (known is None) == (before is None)
        if known is not None and len(known) == len(before):
            assert known == before
        if after is not None:
            held[name, number] = after
    assert held.keys() == {(name, number) for name, number, _, _ in numbered(stream.snapshot(stop))}


@quick
@given(scenarios(), st.lists(st.integers(0, 700), min_size=2, max_size=5), st.sampled_from(SYSTEMS))
def test_any_range_is_that_range_of_a_full_read(scenario: dict[str, Any], cuts: list[int], source: str) -> None:
    """I1 and I4: pieces cut at transaction borders add up to the whole, in any order, from a fresh stream."""
    stream, other = stream_of(scenario, source), stream_of(scenario, source)
    borders = sorted({0, *(stream.border(cut) for cut in cuts)})
    pieces = [texts(other.read(a, b)) for a, b in reversed(list(itertools.pairwise(borders)))]
    whole = texts(stream.read(0, borders[-1])) if borders[-1] else []
    assert sorted(itertools.chain(*pieces)) == sorted(whole)


@quick
@given(scenarios(), st.integers(0, 5000), st.randoms(use_true_random=False))
def test_any_block_of_a_snapshot_is_that_block_of_all(scenario: dict[str, Any], start: int, random: Random) -> None:
    """I1 for snapshots: a block alone, of a fresh stream, is that block of all; pieces of it add up to it."""
    stream, other = stream_of(scenario), stream_of(scenario)
    blocks = list(stream.snapshot_blocks(stream.border(start)))
    whole = [texts(stream.read_snapshot(block)) for block in blocks]
    assert [block.first for block in blocks] == [sum(b.rows for b in blocks[:i]) for i in range(len(blocks))]
    for number in random.sample(range(len(blocks)), min(len(blocks), 3)):
        block = blocks[number]
        assert texts(other.read_snapshot(block)) == whole[number]
        if not block.rows:  # tables without rows
            continue
        cut = random.randint(1, block.rows)
        rest = replace(block, start=cut, first=block.first + cut, rows=block.rows - cut, opens=False)
        pieces = [texts(other.read_snapshot(piece)) for piece in (rest, replace(block, rows=cut)) if piece.rows]
        assert sorted(itertools.chain(*pieces)) == sorted(whole[number])


@quick
@given(scenarios(), st.integers(0, 500))
def test_rows_of_a_snapshot_know_its_borders(scenario: dict[str, Any], start: int) -> None:
    """The first and last row of all and of each table, whatever the blocks; tables without rows have none."""
    stream = stream_of(scenario)
    turn = stream.border(start)
    rows = [
        (batch.table.id.name, int(border))
        for block in stream.snapshot(turn)
        for batch in block.batches
        for border in (batch.envelope.borders if batch.envelope.borders is not None else ())
    ]
    names = [name for name, _ in rows]
    assert len(names) == sum(block.rows for block in stream.snapshot_blocks(turn))
    for number, (name, border) in enumerate(rows):
        assert bool(border & Border.FIRST) == (number == 0)
        assert bool(border & Border.LAST) == (number == len(rows) - 1)
        assert bool(border & Border.TABLE_FIRST) == (names.index(name) == number)
        assert bool(border & Border.TABLE_LAST) == (names[::-1].index(name) == len(rows) - 1 - number)
    block = stream.read(0, stream.border(20))
    assert all(batch.envelope.borders is None for batch in block.batches)


@quick
@given(scenarios())
def test_numbers_rise_and_transactions_are_whole(scenario: dict[str, Any]) -> None:
    """Order keys and offsets rise strictly, times and transactions never fall; seq counts 1..size in each."""
    stream = stream_of(scenario)
    stop = stream.border(500)
    block = stream.read(0, stop)
    rows = []
    for batch in block.batches:
        e = batch.envelope
        rows += zip(e.turn, e.ordinal, e.offset, e.txn, e.event_ms, e.write_ms, e.seq, e.size, strict=True)
    rows.sort()
    offsets = [row[2] for row in rows]
    assert all(a < b for a, b in itertools.pairwise(offsets))
    for column in (3, 4, 5):
        assert all(a[column] <= b[column] for a, b in itertools.pairwise(rows))
    for _, group in itertools.groupby(rows, key=lambda row: row[3]):
        members = list(group)
        assert [int(row[6]) for row in members] == list(range(1, len(members) + 1))
        assert {int(row[7]) for row in members} == {len(members)}
        assert len({row[4] for row in members}) == 1
    assert block.changes == len(rows) == int(stream.count(0, stop).sum())
    snapshot = [int(n) for b in stream.snapshot(0) for batch in b.batches for n in batch.envelope.offset]
    assert snapshot == sorted(set(snapshot))
    assert not snapshot or not offsets or snapshot[-1] < offsets[0]
    beats = [event.event_ms for event in block.events if not isinstance(event, SchemaChange)]
    assert beats == sorted(beats)
    if scenario.get("heartbeat"):
        step = 10_000 if scenario["heartbeat"] == "10s" else 100
        assert all(b - a == step for a, b in itertools.pairwise(beats))


@quick
@given(scenarios())
def test_adding_a_column_changes_no_other(scenario: dict[str, Any]) -> None:
    """I4: the draws of a column depend on nothing but its own name."""
    name = next(iter(scenario["tables"]))
    wider = copy.deepcopy(scenario)
    wider["tables"][name]["columns"]["zz"] = {"type": "int32", "changes": "no", "values": {"range": [0, 9]}}
    stream, other = stream_of(scenario), stream_of(wider)
    stop = stream.border(200)
    plain = [(o, b.kind, x, y) for o, b, x, y in changes_of(stream.read(0, stop))]
    cut = []
    for order, batch, before, after in changes_of(other.read(0, stop)):
        place = batch.table.positions.get("zz")
        images = [row if row is None or place is None else (*row[:place], *row[place + 1 :]) for row in (before, after)]
        cut.append((order, batch.kind, *images))
    assert cut == plain


@quick
@given(scenarios())
def test_references_hold_at_every_transaction_end(scenario: dict[str, Any]) -> None:
    """I6: items point to their order, orders to a customer, whenever a transaction is over."""
    if "orders" not in scenario["tables"]:
        return
    stream = stream_of(scenario)
    replay = Replay(stream, 0)
    at = 0
    for _ in range(40):
        stop = stream.border(at + 1)
        replay.block(stream.read(at, stop))
        at = stop
        orders = replay.tables["orders"]
        assert all(row[1] is None or (row[1],) in replay.tables["customers"] for row in orders.values())
        assert all((row[0],) in orders for row in replay.tables["items"].values())
        for key, row in orders.items():
            items = [r for r in replay.tables["items"].values() if r[0] == key[0]]
            if "edit" not in str(scenario["lifecycles"]):  # nothing edits an item after the total
                assert row[3] == sum(r[2] * r[3] for r in items)


class Believing(Replay):
    """A replay that looks at each new order: what it copies of a customer, and whom it names besides."""

    orders = 0

    def insert(self, batch: ChangeBatch, row: Row | None) -> None:
        if batch.table.id.name == "orders" and batch.kind is INSERT:
            assert row is not None
            self.orders += 1
            place = batch.table.positions
            customer, fee, friend = (row[place[name]] for name in ("customer_id", "fee", "friend_id"))
            customers = self.tables["customers"]
            assert fee == (None if customer is None else customers[customer,][2])
            assert friend is None or ((friend,) in customers and friend != customer)
        super().insert(batch, row)


@quick
@given(scenarios())
def test_values_of_referenced_rows_are_those_of_the_time(scenario: dict[str, Any]) -> None:
    """A row's copy of a column of the row that it refers to is what replaying says; two references differ."""
    if "orders" not in scenario["tables"]:
        return
    scenario["schema_changes"] = []
    stream = stream_of(scenario)
    start = stream.border(700)
    replay = Believing(stream, start)
    replay.block(stream.read(start, stream.border(start + 500)))
    assert replay.orders


@pytest.mark.parametrize("number", [False, True], ids=["primary", "unique"])
def test_pairs_of_references_are_unique(number: bool) -> None:
    """Of 144 pairs most come, and come again, but never twice at a time: what replaying asserts."""
    few = {"columns": {"id": {"type": "int64", "values": "sequence"}, "n": {"type": "int32", "values": "version"}}}
    parent = {**few, "key": "id", "rows": 12, "mix": {"update": 1}}
    stream = stream_of({"tables": {"t0": parent, "pairs": {**pairs(12, number), "rows": 80}}})
    replay_all(stream, 10**9)
    seen: list[Row] = []
    for batch in stream.read(0, 4000).batches:
        if batch.table.id.name == "pairs" and batch.kind is INSERT:
            places = [batch.table.positions[name] for name in ("a", "b")]
            assert batch.after is not None
            seen += zip(*(batch.after[place].to_pylist() for place in places), strict=True)
    assert len(set(seen)) > 130 < len(seen) / 5
    assert {number for pair in seen for number in pair} == set(range(1, 13))


def test_seeds_differ_and_do_not() -> None:
    scenario = {
        "tables": {"t": {"columns": {"id": {"type": "int64", "values": "sequence"}}, "key": "id", "rows": 5}},
    }
    scenario["tables"]["t"]["columns"] = {  # type: ignore[index]
        "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
        "n": {"type": "int32", "values": {"range": [0, 10**6]}},
    }
    one, two = (texts(stream_of(scenario, seed=seed).read(0, 50)) for seed in (1, 2))
    assert one != two
    assert one == texts(stream_of(scenario, seed=1).read(0, 50))


@pytest.mark.parametrize(
    ("mix", "rows"), [((20, 60, 20), 20_000), ((10, 80, 5), 20_000), ((1, 0, 0), 1000), ((0, 1, 0), 1000)]
)
def test_shares_come_out_as_asked(mix: tuple[int, int, int], rows: int) -> None:
    """I7: shares of the mix, within one in two hundred; key updates and nulls likewise."""
    insert, update, delete = mix
    stream = stream_of(
        {
            "tables": {
                "t": {
                    "columns": {
                        "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
                        "n": {"type": "int32", "values": {"range": [0, 9]}},
                        "m": {"type": "int32", "nulls": 0.25, "values": {"range": [0, 9]}},
                    },
                    "key": "id",
                    "rows": rows,
                    "mix": {"insert": insert, "update": update, "delete": delete},
                    "key_updates": 0.1 if update else 0,
                }
            }
        }
    )
    block = stream.read(0, stream.border(200_000))
    total = sum(mix)
    counts = {batch.kind: len(batch) for batch in block.batches}
    for kind, share in zip((INSERT, UPDATE, DELETE), mix, strict=True):
        assert counts.get(kind, 0) / block.changes == pytest.approx(share / total, abs=0.005)
    for batch in block.batches:
        if batch.kind is INSERT:
            assert batch.image()[2].null_count / len(batch) == pytest.approx(0.25, abs=0.02)
        if batch.kind is UPDATE:
            keys = np.asarray(batch.full_before(0)) != np.asarray(batch.image()[0])
            assert keys.mean() == pytest.approx(0.1, abs=0.02)


def test_hot_rows_change_as_much_more_as_asked() -> None:
    """I7: one row in a hundred takes sixteen times the updates of the others."""
    stream = stream_of(
        {
            "tables": {
                "t": {
                    "columns": {
                        "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
                        "n": {"type": "int32", "values": {"range": [0, 9]}},
                    },
                    "key": "id",
                    "rows": 3200,
                    "mix": {"update": 1},
                    "hot": {"share": 0.01, "times": 16},
                }
            }
        }
    )
    block = stream.read(0, stream.border(3200 * 64))
    (batch,) = block.batches
    counts = np.sort(np.bincount(np.asarray(batch.image()[0]) - 1, minlength=3200))
    cold, hot = counts[:-32].mean(), counts[-32:].mean()
    assert hot / cold == pytest.approx(16, rel=0.03)


def test_turn_a_billion_is_like_any_other() -> None:
    stream = stream_of({"tables": {"t": _plain_table()}})
    first = stream.border(10**9)
    replay = Replay(stream, first)
    stop = stream.border(first + 500)
    replay.block(stream.read(first, stop))
    assert replayed(replay) == state_at(stream, stop)


def _plain_table() -> dict[str, Any]:
    return {
        "columns": {
            "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
            "n": {"type": "int32", "values": {"range": [0, 9]}},
            "at": {"type": "timestamp(3)", "values": "commit_time"},
        },
        "key": "id",
        "rows": 500,
        "mix": {"insert": 1, "update": 3, "delete": 1},
    }
