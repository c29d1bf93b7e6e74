"""Random scenarios for property tests: every lifecycle that the language can say, small enough to replay."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st

from simulator import sources
from simulator.delivery.router import parse_route
from simulator.formats import open_codec
from simulator.run.render import Renderer
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import Loaded, read
from simulator.stream.scenario.resolve import resolve
from simulator.stream.scenario.shipped import shipped


def loaded(scenario: dict[str, Any]) -> Loaded:
    """A scenario's data as a loaded file."""
    return read(yaml.safe_dump(scenario, sort_keys=False, allow_unicode=True), "random.yaml")


def streamed(scenario: dict[str, Any], format: str, source: str) -> tuple[ChangeStream, Renderer]:
    """A scenario's stream on a source, and what makes a format's messages of it, for three partitions a topic."""
    found = sources.find(source)
    stream = ChangeStream(resolve(loaded(scenario), found))
    return stream, rendered(stream, format)


def rendered(stream: ChangeStream, format: str) -> Renderer:
    """What makes a format's messages of a stream, for three partitions a topic."""
    codec = open_codec(format, stream.source)
    return Renderer(stream, codec, parse_route(None, codec.layout.routing), None, lambda topic: 3)


def shrunk(name: str, rows: int) -> dict[str, Any]:
    """A shipped scenario with no more than so many rows of a table."""
    scenario: dict[str, Any] = yaml.safe_load(shipped()[name].read_text("utf-8"))
    for each in [*scenario["tables"].values(), *scenario.get("lifecycles", {}).values()]:
        each |= {size: min(rows, each[size]) for size in ("rows", "slots") if size in each}
    return scenario


# Most of what a stream can have, in few rows.
SMALL: dict[str, Any] = {
    "rate": 7,
    "heartbeat": "1s",
    "transactions": {1: 3, "2..4": 1},
    "tables": {
        "t": {
            "columns": {
                "id": {"type": "int64", "values": "sequence"},
                "name": {"type": "string(30)", "nulls": 0.3, "values": {"text": {"length": "0..12"}}},
                "price": {"type": "decimal(8,2)", "values": {"range": ["0.00", "99.99"]}},
                "seen": {"type": "timestamp(3)", "values": "commit_time"},
                "share": {"type": "float64"},
                "open": {"type": "bool"},
                "day": {"type": "date"},
                "data": {"type": "bytes(8)", "nulls": 0.2, "values": {"bytes": {"length": "0..8"}}},
            },
            "key": "id",
            "rows": 30,
            "mix": {"insert": 1, "update": 5, "delete": 1},
            "key_updates": 0.2,
        }
    },
    "schema_changes": [
        {
            "at": 60,
            "table": "t",
            "add_column": {
                "name": "extra",
                "column": {"type": "string(10)", "values": {"choices": ["p", "q", "r"]}},
                "default": "none",
            },
        },
        {"at": 60, "table": "t", "widen": {"column": "name", "type": "string(40)"}},
        {"at": 100, "table": "t", "rename_column": {"column": "share", "to": "part"}},
        {"at": 100, "table": "t", "drop_column": {"column": "open"}},
    ],
}

# Columns that an update always changes, and others.
SURE = [
    {"type": "int32", "values": {"range": [0, 500]}},
    {"type": "decimal(8,2)", "values": {"range": ["0.00", "99.99"]}},
    {"type": "string(20)", "values": {"choices": ["red", "green", "blue"]}},
    {"type": "int64", "values": "version"},
    {"type": "string(40)", "values": "uuid"},
    {"type": "date", "values": {"range": ["2020-01-01", "2020-03-01"]}},
    {"type": "string(10)", "nulls": 0.3, "values": {"choices": {"a": 5, "b": 1, "c": 0.001}}},
    {"type": "string(8)", "values": {"pattern": "#-??"}},
    {"type": "decimal(8,2)", "values": {"walk": {"range": ["5", "500"], "step": "3%", "endings": ["0.99"]}}},
    {"type": "int32", "values": {"walk": {"range": [0, 70], "step": 3, "law": "normal", "trend": -1}}},
    {"type": "decimal(8,2)", "values": {"lognormal": {"median": 20, "spread": 2, "range": [1, 900]}}},
    {"type": "string(90)", "values": {"person": {"part": "email", "languages": {"de": 2, "zh": 1}}}},
    {"type": "string(40)", "values": {"sentence": ["Ring {once|twice}.", "No {rush|hurry}."]}},
]
MAYBE = [
    {"type": "string(30)", "nulls": 0.3, "values": {"text": {"length": "0..12", "alphabet": "mixed"}}},
    {"type": "int16", "nulls": 0.2},
    {"type": "timestamp(3)", "values": "commit_time"},
    {"type": "timestamp(3)", "values": "statement_time"},
    {"type": "string(10)", "nulls": 0.8, "values": {"choices": {"a": 5, "b": 1}}},
    {"type": "json", "values": {"document": {"n": {"range": [1, 9]}, "word": {"choices": ["x", "y"]}}}},
    {"type": "float64", "values": {"range": [0, 100]}},
    {"type": "bytes(8)", "values": {"bytes": {"length": "0..8"}}},
    {"type": "bool"},
    {"type": "int32", "values": {"constant": "7"}},
    {"type": "string(60)", "values": {"person": {"part": "name", "languages": {"de": 2, "zh": 1}}}},
    {"type": "string(24)", "nulls": 0.1, "values": {"iban": {"country": "ES"}}},
    {"type": "string(16)", "values": "luhn"},
    {"type": "string(16)", "values": "ean"},
    {"type": "string(20)", "values": {"phone_number": {"country": "CN"}}},
]


gaps = st.sampled_from(["independent", "steady", "bursts"])


@st.composite
def short_tables(draw: st.DrawFn) -> dict[str, Any]:
    """A table in the short form."""
    law = draw(
        st.sampled_from(
            [{}, {"step": 3}, {"concurrent": 5}, {"step": 2, "concurrent": 30}, {"gaps": 0.1, "concurrent": 3}]
        )
    )
    columns: dict[str, Any] = {
        "id": {"type": "int64", "values": {"sequence": {"start": draw(st.integers(0, 50)), **law}}}
    }
    for i, column in enumerate(draw(st.lists(st.sampled_from(SURE), min_size=1, max_size=3))):
        columns[f"s{i}"] = column
    for i, column in enumerate(draw(st.lists(st.sampled_from(MAYBE), max_size=4))):
        columns[f"m{i}"] = column
    unique = draw(st.sampled_from([None, {"type": "string(36)", "values": "uuid"}, {"type": "int64"}]))
    if unique is not None:
        columns["code"] = {"values": "sequence", "changes": draw(st.sampled_from(["yes", "no"])), **unique}
    if draw(st.booleans()):
        columns["born"] = {"type": "timestamp", "values": "commit_time", "changes": "no"}
    delete = draw(st.sampled_from([0, 0, 1, 5]))
    insert = delete + draw(st.sampled_from([0, 0, 2]))
    update = draw(st.integers(0 if insert else 1, 12))
    each = draw(st.sampled_from([1, 1, 1, 3]))
    table: dict[str, Any] = {
        "columns": columns,
        "key": "id",
        "rows": draw(st.integers(each, 120)),
        "mix": {"insert": insert, "update": update, "delete": delete},
        "columns_per_update": draw(st.sampled_from(["1", "1..2", "2"])),
        "rows_per_statement": each,
        "every": draw(st.sampled_from([1, 1, 0.7, 4])),
        "gaps": draw(gaps),
    }
    if unique is not None:
        table["unique"] = draw(st.sampled_from(["code", {"uk": ["s0", "code"]}]))
    if update and draw(st.booleans()):
        table["key_updates"] = draw(st.sampled_from([0.02, 0.3, 1.0]))
    if update > 9 * insert and draw(st.booleans()):
        table["hot"] = [{"share": 0.1, "times": draw(st.sampled_from([2.5, 4]))}]
    elif update and not delete and draw(st.booleans()):
        table["hot"] = {"share": 0.1, "times": 3, "moves": "20m"}
    elif update and not delete and draw(st.booleans()):
        table["zipf"] = 1.1
    return table


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """Customers for ever, and orders with items that live and die, references, derived totals, a ledger that grows."""
    upgrade = [{"update": "customers", "set": ["tier", "fee"]}]
    reference = {"table": "customers", "skew": 2, "recent": draw(st.sampled_from([0, 0.5]))}
    friend = {**reference, "distinct_from": "customer_id"}
    items = draw(st.sampled_from(["1", "3", "1..4", "2..2"]))
    key_update = draw(st.booleans())
    steps: list[dict[str, Any]] = [
        {
            "name": "place",
            "do": [
                {"insert": "orders"},
                {"insert": "items", "rows": items},
                {"update": "orders", "set": ["total", "touched"]},
                {"insert": "ledger", "rows": "items"},
            ],
        }
    ]
    if draw(st.booleans()):
        times = draw(st.sampled_from([1, 3, "0..2"]))
        steps.append({"name": "edit", "times": times, "do": [{"update": "items", "set": ["qty"]}]})
    pay: list[dict[str, Any]] = [{"update": "orders", "set": ["state", "touched"]}]
    if key_update:
        pay.append({"update": "orders", "set": ["id"]})
        pay += [{"update": table, "set": ["order_id"]} for table in ("items", "ledger")]
    goes_on: dict[str, Any] = {"name": "pay", "do": pay}
    ways = draw(st.sampled_from(["one", "either", "chance"]))
    if ways == "either":
        cancel = {"name": "cancel", "do": [{"delete": "items"}, {"delete": "orders"}]}
        goes_on = {"either": [{"weight": 3, "steps": [goes_on]}, {"steps": [cancel]}, {"weight": 0.5}]}
    steps.append(goes_on | ({"chance": 0.4} if ways == "chance" else {}))
    if draw(st.booleans()):
        steps.append({"name": "archive", "do": [{"delete": "items"}, {"delete": "orders"}]})
    return {
        "tables": {
            "customers": {
                "columns": {
                    "id": {"type": "int32", "values": {"sequence": {"start": 1}}},
                    "tier": {"type": "string(8)", "values": {"choices": ["basic", "plus", "gold"]}},
                    "fee": {"type": "decimal(8,2)", "values": {"walk": {"range": [1, 90], "step": "10%"}}},
                },
                "key": "id",
            },
            "orders": {
                "columns": {
                    "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
                    "customer_id": {"type": "int32", "values": {"references": reference}},
                    "state": {"type": "string(8)", "values": {"states": {"place": "NEW", "pay": "PAID"}}},
                    "total": {"type": "decimal(12,2)", "values": {"derived": "sum(items.qty * items.price)"}},
                    "touched": {"type": "int64", "values": "version"},
                    "fee": {"type": "decimal(8,2)", "values": {"of": "customers.fee", "via": "customer_id"}},
                    "friend_id": {"type": "int32", "values": {"references": friend}},
                },
                "key": "id",
            },
            "items": {
                "columns": {
                    "order_id": {"type": "int64", "values": {"of": "orders.id"}},
                    "line": {"type": "int32", "values": "row"},
                    "qty": {"type": "int32", "values": {"range": [1, 9]}},
                    "price": {"type": "decimal(8,2)", "values": {"range": ["1.00", "50.00"]}},
                },
                "key": ["order_id", "line"],
            },
            "ledger": {
                "columns": {
                    "id": {"type": "int64", "values": {"sequence": {"start": 1}}},
                    "order_id": {"type": "int64", "values": {"of": "orders.id"}},
                    "at": {"type": "timestamp(3)", "values": "commit_time"},
                },
                "key": "id",
            },
        },
        "lifecycles": {
            "customer": {
                "slots": draw(st.integers(1, 30)),
                "every": draw(st.sampled_from([1, 2.5])),
                "gaps": draw(gaps),
                **draw(st.sampled_from([{}, {"hot": {"share": 0.2, "times": 3.5}}, {"zipf": 1.2}])),
                "steps": [
                    {"name": "join", "do": [{"insert": "customers"}]},
                    {"name": "upgrade", "times": draw(st.sampled_from([1, "0..3"])), "do": upgrade},
                ],
            }
            if draw(st.booleans())
            else {
                "slots": draw(st.integers(5, 30)),
                "then": "restart",
                "steps": [
                    {"name": "join", "do": [{"insert": "customers"}]},
                    {"name": "upgrade", "times": "0..9", "do": upgrade},
                    {"name": "leave", "chance": draw(st.sampled_from([0.5, 1])), "do": [{"delete": "customers"}]},
                ],
            },
            "order": {"slots": draw(st.integers(1, 40)), "then": "restart", "gaps": draw(gaps), "steps": steps},
        },
    }


@st.composite
def changes(draw: st.DrawFn, scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Schema changes of the scenario's first table."""
    table = next(iter(scenario["tables"]))
    out: list[dict[str, Any]] = []
    if draw(st.booleans()):
        added = {"type": "string(10)", "values": {"choices": ["p", "q", "r"]}}
        new = {"name": "extra", "column": added, "default": "none"}
        out.append({"at": draw(st.integers(0, 300)), "table": table, "add_column": new})
    if draw(st.booleans()):
        index = {"name": "ix", "columns": ["id"], "unique": draw(st.booleans())}
        out.append({"at": draw(st.integers(300, 500)), "table": table, "create_index": index})
    return out


def pairs(rows: int, number: bool) -> dict[str, Any]:
    """A table between t0 and t0, whose pairs are its key, or unique besides a number."""
    columns = {each: {"type": "int64", "changes": "no", "values": {"references": "t0"}} for each in ("a", "b")}
    mine = {"mix": {"insert": 3, "update": 1, "delete": 3}, "rows": max(1, rows**2 // 6)}
    more = {"id": {"type": "int64", "values": "sequence"}, "n": {"type": "int32", "values": "version"}}
    if number:
        return {"columns": {**more, **columns}, "key": "id", "unique": {"uk_ab": ["a", "b"]}, **mine}
    return {"columns": {**columns, "n": more["n"]}, "key": ["a", "b"], **mine}


def surges(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Two that overlap, of what changes in the scenario."""
    if "lifecycles" in scenario:
        whole, some = {"of": "order"}, {"of": "customer"}
        stay = scenario["lifecycles"]["customer"].get("then") != "restart"
    else:
        (name, table), *others = scenario["tables"].items()
        whole, some = {"of": others[0][0]} if others else {}, {"of": name}
        stay = not table["mix"]["delete"] and "moves" not in table.get("hot", {})
    out = [{"at": 60, "lasts": "1m", "times": 5, **whole}] if whole else []
    return out + ([{"at": 100, "lasts": 200, "share": 0.2, "times": 20, **some}] if stay else [])


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """A whole scenario."""
    scenario: dict[str, Any]
    if draw(st.booleans()):
        scenario = draw(orders())
    else:
        count = draw(st.integers(1, 2))
        scenario = {"tables": {f"t{i}": draw(short_tables()) for i in range(count)}}
        first = scenario["tables"]["t0"]
        permanent = first["mix"]["update"] > 2 and not first["mix"]["delete"] and not first.get("key_updates")
        if permanent and first["rows"] > 1:
            scenario["tables"]["pairs"] = pairs(first["rows"] // 4, draw(st.booleans()))
    scenario["seed"] = draw(st.integers(0, 1000))
    scenario["arrivals"] = draw(gaps)
    if draw(st.booleans()):
        scenario["curve"] = {"hours": [1, 3, 0.2] * 8, "days": [1, 1, 1, 1, 2, 0.5, 0.5]}
    scenario["rate"] = draw(st.sampled_from([1, 50, 1000]))
    scenario["transactions"] = draw(st.sampled_from([{"1": 1}, {"1": 70, "2..5": 30}, {"3": 1}, {"1": 10, "40": 1}]))
    if draw(st.booleans()):
        scenario["durations"] = {"0s": 2, "1s..5m": 1}
    if draw(st.booleans()):
        scenario["heartbeat"] = "10s" if scenario["rate"] == 1 else "100ms"
    if draw(st.booleans()):
        scenario["surges"] = surges(scenario)
    scenario["schema_changes"] = draw(changes(scenario))
    return scenario
