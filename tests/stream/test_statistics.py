"""I7 from decoded messages: what comes out is distributed as the scenario asks.

The checker reads Canal messages and knows nothing of how they were made. Bounds are those that chance would break once
in a thousand times; seeds are fixed, so a test that passes goes on to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
import pytest
from random_scenarios import streamed

from simulator.stream import outlook

# Of a Kolmogorov-Smirnov distance times the root of the sample's size, and of a normal deviate, once in a thousand.
KS: Final = 1.95
NORMAL: Final = 3.29
ID: Final = {"type": "int64", "values": "sequence"}
NUMBER: Final = {"type": "int32", "nullable": "no", "values": {"range": [0, 10**6]}}


class Change(NamedTuple):
    """A row's change: its operation, table, key, row, changed columns, transaction and time."""

    op: str
    table: str
    key: int
    row: Mapping[str, Any]
    old: frozenset[str]
    txn: str
    ms: int


def changes(scenario: dict[str, Any], turns: int, format: str = "canal-json,gtid=on") -> list[Change]:
    stream, renderer = streamed(scenario, format, "mysql-8.0")
    stop, at = stream.border(turns), 0
    out: list[Change] = []
    while at < stop:
        end = min(stream.border(at + stream.block_turns), stop)
        batch = renderer.render(stream.read(at, end))
        for value in [] if batch is None else batch["value"].to_pylist():
            said = orjson.loads(value)
            for i, row in enumerate(said["data"]):
                old = frozenset((said["old"] or [{}] * (i + 1))[i])
                txn, ms = said.get("gtid", ""), said["es"]
                out.append(Change(said["type"], said["table"], int(row["id"]), row, old, txn, ms))
        at = end
    return out


def table(rows: int, mix: dict[str, float], **more: Any) -> dict[str, Any]:
    return {"columns": {"id": ID, "n": NUMBER}, "key": "id", "rows": rows, "mix": mix, **more}


def chi_square(observed: Mapping[Any, int], weights: Mapping[Any, float]) -> None:
    """The counts are as the weights say; classes of which fewer than eight are expected are one."""
    total, whole = sum(observed.values()), sum(weights.values())
    assert set(observed) <= set(weights)
    classes: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each, weight in weights.items():
        expected = total * weight / whole
        classes[each if expected >= 8 else None][0] += observed.get(each, 0)
        classes[each if expected >= 8 else None][1] += expected
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in classes.values())
    free = len(classes) - 1
    assert statistic < free * (1 - 2 / (9 * free) + 3.09 * sqrt(2 / (9 * free))) ** 3


def ks_exponential(sample: Sequence[float], mean: float) -> float:
    ordered = np.sort(np.asarray(sample, dtype=float))
    law = 1 - np.exp(-ordered / mean)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return float(max(np.abs(law - steps[1:]).max(), np.abs(law - steps[:-1]).max()))


@pytest.mark.parametrize(
    ("sizes", "classes"),
    [({"1": 95, "50..100": 5}, 16), ({"1": 90, "10..300": 10}, 16), ({"1..1000": 1}, 4), ({"1": 80, "2..4": 20}, 5)],
    ids=str,
)
def test_transaction_sizes(sizes: dict[str, float], classes: int) -> None:
    told = changes({"transactions": sizes, "tables": {"t": table(50, {"update": 1})}}, 20_000)
    width = int(list(sizes)[-1].partition("..")[2]) + 1
    seen = Counter(len(list(rows)) * classes // width for _, rows in groupby(told, key=lambda change: change.txn))
    weights: dict[int, float] = defaultdict(float)
    for span, weight in sizes.items():
        low, _, high = span.partition("..")
        for size in range(int(low), int(high or low) + 1):
            weights[size * classes // width] += weight / (int(high or low) - int(low) + 1)
    chi_square(seen, weights)


@pytest.mark.parametrize(("low", "high"), [(1, 3), (2, 4)])
def test_columns_of_an_update(low: int, high: int) -> None:
    """As many as asked, all of them alike, among them columns with nulls, weights and patterns."""
    columns = {
        "a": NUMBER,
        "b": {"type": "string(9)", "nulls": 0.2, "values": {"faker": "city"}},
        "c": {"type": "string(9)", "values": {"choices": {"x": 80, "y": 15, "z": 5}}},
        "d": {"type": "string(20)", "values": {"pattern": "??-########-********"}},
        "e": {"type": "string(9)", "values": {"choices": ["on", "off"]}},
    }
    columns["b"]["type"] = "string(60)"
    spec = table(3000, {"insert": 30, "update": 40, "delete": 30}, columns_per_update=f"{low}..{high}")
    told = changes({"tables": {"t": {**spec, "columns": {"id": ID, **columns}}}}, 15_000)
    updates = [change for change in told if change.op == "UPDATE"]
    chi_square(Counter(len(change.old) for change in updates), dict.fromkeys(range(low, high + 1), 1))
    chi_square(Counter(name for change in updates for name in change.old), dict.fromkeys(columns, 1))


def gaps_of_rows(told: Sequence[Change]) -> list[int]:
    last: dict[int, int] = {}
    gaps = []
    for at, change in enumerate(told):
        if change.key in last:
            gaps.append(at - last[change.key])
        last[change.key] = at
    return gaps


@pytest.mark.parametrize("gaps", ["independent", "steady", "bursts"])
def test_gaps_between_changes_of_a_row(gaps: str) -> None:
    told = changes({"tables": {"t": table(400, {"update": 1}, gaps=gaps)}}, 20_000)
    between = gaps_of_rows(told)
    if gaps == "independent":
        # the gaps of a row add up to the stream, so a little is missing from an exponential law: 0.02
        assert ks_exponential(between, 400) < 0.02 + KS / sqrt(len(between))
    spread = np.std(between) / np.mean(between)
    assert {"independent": 0.9 < spread < 1.05, "steady": spread < 0.5, "bursts": spread > 1.5}[gaps]
    soon = sum(gap <= 100 for gap in between) / len(told)
    law = 1 - np.exp(-100 / 400)
    expected = {"independent": (law - 0.02, law + 0.02), "steady": (0, 0.06), "bursts": (0.7, 1)}[gaps]
    assert expected[0] <= soon <= expected[1]


def test_zipf() -> None:
    told = changes({"tables": {"t": table(2000, {"update": 1}, zipf=1.1)}}, 50_000)
    counts = np.sort(list(Counter(change.key for change in told).values()))[::-1][:100]
    slope, _ = np.polyfit(np.log(np.arange(1, 101)), np.log(counts), 1, w=np.sqrt(counts))
    assert -slope == pytest.approx(1.1, rel=0.05)


def test_hot_rows_and_cold_ones_are_anywhere() -> None:
    """Runs above and below the median, of the ids of cold rows in the order of their changes, and of hot rows."""
    told = changes({"tables": {"t": table(5000, {"update": 1}, hot={"share": 0.02, "times": 12.5}, every=3)}}, 20_000)
    counts = Counter(change.key for change in told)
    hot = {key for key, _ in counts.most_common(100)}
    assert sum(counts[key] for key in hot) / len(told) == pytest.approx(0.02 * 12.5 / (0.02 * 12.5 + 0.98), rel=0.05)
    for keys in ([change.key for change in told if change.key not in hot], [key in hot for key in range(1, 5001)]):
        middle = np.median(keys) if not isinstance(keys[0], bool) else 0.5
        signs = np.array(keys) > middle
        above, below = int(signs.sum()), int((~signs).sum())
        runs = 1 + int((signs[1:] != signs[:-1]).sum())
        mean = 1 + 2 * above * below / (above + below)
        assert abs(runs - mean) < NORMAL * (mean - 1) / sqrt(above + below)


def test_a_hot_set_that_moves() -> None:
    """At any time ten of 400 rows take half of the changes; some time later they are as cold as others."""
    hot = {"share": 0.025, "times": 40, "moves": "50s"}
    told = changes({"rate": 100, "tables": {"t": table(400, {"update": 1}, hot=hot)}}, 40_000)
    counts = [Counter(change.key for change in told[at : at + 500]) for at in range(0, 40_000, 500)]
    hottest = [{key for key, _ in count.most_common(10)} for count in counts]
    shares = [sum(count[key] for key in keys) / 500 for count, keys in zip(counts, hottest, strict=True)]
    assert np.mean(shares) == pytest.approx(0.025 * 40 / (0.025 * 40 + 0.975), rel=0.06)
    alike = [np.mean([len(a & b) / 10 for a, b in zip(hottest[:-gap], hottest[gap:], strict=True)]) for gap in (1, 12)]
    assert alike[0] > 0.7
    assert alike[1] < 0.1
    assert len(set().union(*hottest)) > 60


def test_surges() -> None:
    """Of some rows, and of a table: before and after, nothing is hot."""
    surges = [
        {"at": 10_000, "lasts": 5000, "of": "t", "share": 0.01, "times": 200},
        {"at": "2024-05-01T00:04:00Z", "lasts": "30s", "of": "u", "times": 4},
    ]
    tables = {name: table(500, {"update": 1}, every=every) for name, every in (("t", 1), ("u", 2))}
    told = changes({"rate": 100, "surges": surges, "tables": tables}, 30_000)
    five = 5 * 200 / (5 * 200 + 495 + 250)
    for first, stop, hot, u in ((0, 10_000, 0, 1 / 3), (10_000, 15_000, five, 0.1433), (24_000, 27_000, 0, 2 / 3)):
        part = told[first + 150 : stop - 150]
        counts = Counter(change.key for change in part if change.table == "t")
        assert sum(count for _, count in counts.most_common(5)) / len(part) == pytest.approx(hot, abs=0.03)
        assert sum(change.table == "u" for change in part) / len(part) == pytest.approx(u, abs=0.03)


@pytest.mark.parametrize(("law", "step"), [({}, 1), ({"step": 10, "start": 3}, 10), ({"concurrent": 8}, 1)], ids=str)
def test_numbers_of_new_rows(law: dict[str, int], step: int) -> None:
    """Rising without gaps but of the step, also where rows are deleted, in lifecycles and between other tables; those
    of concurrent writers out of order."""
    columns = {"id": {"type": "int64", "values": {"sequence": law}}, "n": NUMBER}
    short = {**table(300, {"insert": 2, "update": 5, "delete": 1}, hot={"share": 0.1, "times": 4}), "columns": columns}
    new = [{"insert": "parents"}, {"insert": "children", "rows": "1..4"}]
    steps = [
        {"name": "open", "do": new},
        {"name": "more", "chance": 0.6, "do": [{"insert": "notes"}]},
        {"name": "end", "do": [{"delete": "children"}, {"delete": "parents"}]},
    ]
    living = {name: {"columns": columns, "key": "id"} for name in ("parents", "children", "notes")}
    told = changes(
        {"tables": {"t": short, **living}, "lifecycles": {"life": {"slots": 9000, "every": 30, "steps": steps}}}, 10_000
    )
    for name in ("t", *living):
        keys = [change.key for change in told if change.table == name and change.op == "INSERT"]
        assert len(keys) > 300
        assert {b - a for a, b in pairwise(sorted(keys)[8:-8])} == {step}
        if name == "children":  # those of a statement are in messages by partition
            continue
        late = [place - rank for rank, place in enumerate(np.argsort(keys).tolist())]
        assert (keys == sorted(keys)) == ("concurrent" not in law)
        assert max(map(abs, late)) < law.get("concurrent", 1)


def test_lives() -> None:
    """Ways, chances, repetitions, states and references come in the shares asked for."""
    update = [{"update": "t", "set": ["state", "n"]}]
    steps = [
        {"name": "open", "do": [{"insert": "t"}]},
        {
            "either": [
                {
                    "weight": 7,
                    "steps": [{"name": "pay", "times": "1..4", "do": [{"update": "t", "set": ["state", "n"]}]}],
                },
                {"weight": 3, "steps": [{"name": "drop", "do": [{"update": "t", "set": ["state", "n"]}]}]},
            ]
        },
        {"name": "back", "chance": 0.25, "do": update},
        {"name": "close", "do": [{"delete": "t"}]},
    ]
    states = {"open": "NEW", "pay": "PAID", "drop": "DROPPED", "back": "BACK"}
    columns = {"id": ID, "n": NUMBER, "state": {"type": "string(9)", "values": {"states": states}}}
    told = changes(
        {"tables": {"t": {"columns": columns, "key": "id"}}, "lifecycles": {"life": {"slots": 300, "steps": steps}}},
        20_000,
    )
    lives: dict[int, list[str]] = defaultdict(list)
    for at, change in enumerate(told):
        if (change.op == "INSERT" and at < 15_000) or change.key in lives:
            lives[change.key].append(change.row["state"])
    ended = {change.key for change in told if change.op == "DELETE"}
    assert sum(key not in ended for key in lives) < len(lives) / 100
    whole = [states for key, states in lives.items() if key in ended]
    chi_square(Counter(states[1] for states in whole), {"PAID": 7, "DROPPED": 3})
    chi_square(Counter(states.count("PAID") for states in whole if "DROPPED" not in states[:2]), paid_times())
    chi_square(Counter("BACK" in states[:-1] for states in whole), {True: 1, False: 3})


def paid_times() -> dict[int, float]:
    """How often PAID is seen: once to four times, and once more with the delete unless it came BACK."""
    times: Counter[int] = Counter()
    for often in range(1, 5):
        times[often] += 0.25
        times[often + 1] += 0.75
    return dict(times)


def test_the_outlook_is_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `check` prints of tables and lifecycles, counted in decoded messages."""
    monkeypatch.setattr(outlook, "TURNS", 4000)
    hot = {"share": 0.02, "times": 20}
    scenario = {"tables": {"t": table(200, {"insert": 1, "update": 8, "delete": 1}, hot=hot)}}
    stream, _ = streamed(scenario, "canal-json", "mysql-8.0")
    (facts,) = outlook.outlook(stream)["tables"]
    told = changes(scenario, 4000)
    ops = Counter(change.op for change in told)
    assert [facts[op] for op in ("insert", "update", "delete")] == [ops[op] for op in ("INSERT", "UPDATE", "DELETE")]
    between, counts = gaps_of_rows(told), Counter(change.key for change in told).most_common(10)
    assert facts["changes_between"] == {f"p{p}": int(np.percentile(between, p)) for p in (10, 50, 90)}
    assert facts["again_within_100_changes"] == pytest.approx(sum(gap <= 100 for gap in between) / len(told), abs=1e-4)
    assert facts["hottest_row"] == pytest.approx(counts[0][1] / len(told), abs=1e-5)
    assert facts["ten_hottest_rows"] == pytest.approx(sum(count for _, count in counts) / len(told), abs=1e-5)
    windows = [len({change.key for change in told[at : at + 1000]}) for at in range(0, 4000, 1000)]
    assert facts["rows_per_1000_changes"] == round(float(np.mean(windows)))


@pytest.mark.parametrize("arrivals", ["independent", "steady", "bursts"])
def test_arrivals(arrivals: str) -> None:
    told = changes({"rate": 0.01, "arrivals": arrivals, "tables": {"t": table(50, {"update": 1})}}, 20_000)
    waits = [(b.ms - a.ms) / 100_000 for a, b in pairwise(told)]
    assert np.mean(waits) == pytest.approx(1, rel=0.05)
    if arrivals == "independent":
        assert ks_exponential(waits, 1) < KS / sqrt(len(waits)) + 0.005
    spread = np.std(waits)
    assert {"independent": 0.95 < spread < 1.05, "steady": spread < 0.5, "bursts": spread > 2}[arrivals]


def test_long_transactions_have_late_event_times() -> None:
    """In logs with the times of statements, and in a column; what has the time of the commit never goes back."""
    columns = {"id": ID, "said": {"type": "int64", "values": "statement_time"}, "n": {"type": "int64"}}
    columns["n"]["values"] = "commit_time"
    spec = {**table(200, {"update": 1}), "columns": {**columns, "v": NUMBER}}
    sizes = {"transactions": {"1": 80, "5..40": 20}, "durations": {"0s..10ms": 3, "20s..60s": 1}}
    told = changes({"rate": 20, **sizes, "tables": {"t": spec}}, 6000)
    assert [change.ms for change in told] == [int(change.row["said"]) // 1000 * 1000 for change in told]
    committed = [int(change.row["n"]) for change in told]
    assert committed == sorted(committed)
    transactions = [list(rows) for _, rows in groupby(told, key=lambda change: change.txn)]
    for rows in transactions:
        assert [change.ms for change in rows] == sorted(change.ms for change in rows)
        assert len({change.row["n"] for change in rows}) == 1
    open_for = [(int(rows[0].row["n"]) - int(rows[0].row["said"])) / 1000 for rows in transactions]
    chi_square(Counter(time > 1 for time in open_for), {False: 3, True: 1})
    assert np.mean([time for time in open_for if time > 1]) == pytest.approx(40, rel=0.05)
    assert sum(b.ms < a.ms for a, b in pairwise(told)) > len(transactions) / 10
    commits = [change.ms for change in changes({"rate": 20, **sizes, "tables": {"t": spec}}, 600, "oms-canal-json")]
    assert commits == [ms // 1000 * 1000 for ms in committed[: len(commits)]]


def test_busy_hours_and_days() -> None:
    hours, days = [1.0, 2.0, 3.0, 6.0] * 6, [1.0] * 5 + [4.0, 2.0]
    curve = {"hours": hours, "days": days}
    start = "2024-04-29T00:00:00Z"  # a Monday
    told = changes({"rate": 0.05, "start": start, "curve": curve, "tables": {"t": table(50, {"update": 1})}}, 30_240)
    seen = Counter((change.ms // 86_400_000 - 4) % 7 for change in told)
    chi_square(seen, dict(enumerate(days)))
    chi_square(Counter(change.ms // 3_600_000 % 24 for change in told), dict(enumerate(hours)))


def test_values_differ_and_are_spread() -> None:
    """An update's value is not the last one, and any of the others as often."""
    columns = {"id": ID, "c": {"type": "string(2)", "values": {"choices": ["a", "b", "c", "d", "e", "f"]}}}
    told = changes({"tables": {"t": {**table(40, {"update": 1}), "columns": columns}}}, 20_000)
    last: dict[int, str] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    seen: dict[int, set[str]] = defaultdict(set)
    for change in told:
        value = change.row["c"]
        if change.key in last:
            pairs[last[change.key], value] += 1
        last[change.key] = value
        seen[change.key].add(value)
    chi_square(pairs, {(a, b): 1 for a in "abcdef" for b in "abcdef" if a != b})
    assert all(len(values) == 6 for values in seen.values())


def test_references_are_to_new_rows_too() -> None:
    """And evenly to all: the share of references to rows that came later is that of those rows."""
    scenario = {
        "tables": {
            "people": table(500, {"insert": 20, "update": 80}),
            "visits": {
                **table(2000, {"insert": 1}),
                "columns": {"id": ID, "who": {"type": "int64", "nullable": "no", "values": {"references": "people"}}},
            },
        }
    }
    told = changes(scenario, 15_000)
    people, born, to_later = 500, 0, []
    later: set[int] = set()
    for change in told:
        if change.table == "people" and change.op == "INSERT":
            later.add(change.key)
            born += 1
        elif change.table == "visits":
            assert int(change.row["who"]) in later or int(change.row["who"]) <= people
            to_later.append((int(change.row["who"]) in later, born / (people + born)))
    assert sum(hit for hit, _ in to_later) == pytest.approx(sum(share for _, share in to_later), rel=0.1)
    assert born > 100
