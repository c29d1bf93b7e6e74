"""Numbers and times of any size in a scenario: it runs, or one sentence names the file, the line and the key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from simulator import sources
from simulator.errors import UsageError
from simulator.stream import open_stream
from simulator.stream.scenario.loader import read
from simulator.stream.scenario.resolve import resolve

MYSQL: Final = sources.find("mysql")
# What stands between ‹ and › is replaced.
GENERATED: Final = """\
seed: ‹1›
start: ‹2024-05-01›
rate: ‹100›
heartbeat: ‹10s›
transactions: {‹2..5›: ‹3›, 1: 1}
tables:
  products:
    key: id
    columns:
      id: {type: int64, values: {sequence: {start: ‹1›}}}
      stock: {type: int32, values: {range: [‹0›, ‹9›]}}
    rows: ‹50›
    every: ‹1›
    mix: {insert: ‹10›, update: ‹80›, delete: ‹10›}
    hot: {share: ‹0.1›, times: ‹4›}
    key_updates: ‹0.1›
    columns_per_update: ‹1..2›
    rows_per_statement: ‹1›
  fixed:
    key: id
    columns: {id: {type: int64, values: sequence}, stock: {type: int32, values: {range: [0, 9]}}}
    rows: 20
    mix: {update: 1}
  orders:
    key: id
    columns:
      id: {type: int64, values: sequence}
      revision: {type: int32, nulls: ‹0›, values: version}
      product: {type: int64, values: {references: {table: fixed, skew: ‹2›}}}
      text: {type: text, values: {text: {length: ‹1..20›}}}
      blob: {type: blob, values: {bytes: {length: ‹1..20›}}}
      weighted: {type: string(9), values: {choices: {a: ‹5›, b: 1}}}
      money: {type: "decimal(‹10›,2)", values: {range: [‹0›, ‹9›]}}
      wide: {type: "decimal(38,‹2›)", values: {range: [‹0›, ‹9›]}}
      float: {type: float64, values: {range: [‹0›, ‹9›]}}
      day: {type: date, values: {range: [‹2024-01-01›, ‹2024-12-31›]}}
      time: {type: timestamp(‹6›), values: {range: [‹2024-01-01›, ‹2024-12-31›]}}
      clock: {type: time(3), values: {range: ['‹00:00:00›', '‹12:00:00›']}}
      json:
        type: json
        values: {document: {a: {range: [‹1›, ‹9›]}, b: {text: {length: ‹1..5›}}, c: {choices: {x: ‹1›}}}}
      total: {type: "decimal(12,2)", values: {derived: sum(items.price) + ‹1›}}
      name: {type: string(‹10›)}
  items:
    key: [order_id, line]
    columns:
      order_id: {type: int64, values: {of: orders.id}}
      line: {type: int32, values: row}
      price: {type: "decimal(10,2)", values: {range: [1, 9]}}
lifecycles:
  order:
    slots: ‹30›
    every: ‹1›
    steps:
      - {name: place, do: [{insert: orders}, {insert: items, rows: ‹1..3›}]}
      - {name: pay, times: ‹1›, do: [{update: orders, set: [revision, money, total]}]}
      - {name: archive, do: [{delete: items}, {delete: orders}]}
schema_changes:
  - {at: ‹9›, table: products, widen: {column: stock, type: int64}}
  - {at: 5, table: products, add_column: {name: extra, column: int32, default: ‹3›}}
"""
SCRIPT: Final = """\
start: ‹2024-05-01›
tables:
  t:
    columns:
      a: int32
      b: "decimal(10,2)"
      c: float64
      d: date
      e: timestamp(3)
      f: time(3)
      g: uint64
script:
  - at: ‹2024-05-01›
    transaction:
      - {insert: t, rows: [{a: ‹1›, b: ‹1›, c: ‹1›, d: ‹2024-01-01›, e: ‹2024-01-01›, f: '‹01:00:00›', g: ‹1›}]}
"""
PLACES: Final = [(text, match.start()) for text in (GENERATED, SCRIPT) for match in re.finditer("‹", text)]
LARGE: Final = (
    *(str(2**63), str(-(2**63) - 1), str(10**30), "1e308", "-1e308", "5e-324", "1e400", "0", "-1", "9" * 5000),
    *(f"1..{2**63}", "0ms", "9" * 30 + "d", "9" * 400 + "h", "9999-12-31T23:59:59Z", "99999-01-01", "999999:00:00"),
)


@contextmanager
def ends_in_a_sentence() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if not re.match(r"f\.yaml:\d+: [a-z]", str(error)) or len(str(error)) > 400:
            raise


@pytest.mark.parametrize(("text", "place"), PLACES, ids=[f"{t[p - 30 : p + 9]!r}" for t, p in PLACES])
def test_no_number_is_a_stack_trace(text: str, place: int) -> None:
    """In each place every other of them, in turn."""
    end = text.index("›", place)
    for value in LARGE[PLACES.index((text, place)) % 2 :: 2]:
        scenario = re.sub("[‹›]", "", text[:place] + value + text[end + 1 :])
        with ends_in_a_sentence():
            stream = open_stream(resolve(read(scenario, "f.yaml"), MYSQL))
            stream.read(0, stream.border(50) if stream.turns is None else stream.turns)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("seed: ‹1›", f"seed: {2**63}", f"1: seed: '{2**63}' is not below {2**63}."),
        ("rate: ‹100›", "rate: 1e308", "3: rate: '1e308' is above 1000000000."),
        ("rate: ‹100›", "rate: 1e-9", "3: rate: '1e-9' is below 1e-06."),
        ("heartbeat: ‹10s›", f"heartbeat: {10**30}d", f"4: heartbeat: '{10**30}d' is not a duration such as "
            "'500ms', '10s', '5m', '2h' or '1d'."),
        ("heartbeat: ‹10s›", "heartbeat: 99999d", "4: heartbeat: '99999d' is not between 1ms and 36500d."),
        ("rate: ‹100›\nheartbeat: ‹10s›", "rate: 0.01\nheartbeat: 10ms", "4: heartbeat: at this rate up to 563272 "
            "heartbeats would come between two transactions, more than 1000; take a longer time, or a higher rate."),
        ("‹2..5›: ‹3›", "‹2..5›: 1e308", "5: transactions: '2..5': the weight '1e308' is not above 0 and up to 1e+15."),
        ("delete: ‹10›", "delete: 1e-6", "14: tables.products.mix: a row would be updated 8e+07 times before its "
            "delete, more than 10000: raise delete or lower update."),
        ("+ ‹1›", f"+ {2**63}", f"42: tables.orders.columns.total.values.derived: {2**63} is too long: expressions "
            "support at most 18 digits."),
        ("at: ‹9›", f"at: {2**63}", f"59: schema_changes[0].at: '{2**63}' is above {2**50}."),
        ("stock: {type: int32, values: {range: [‹0›", "stock: {type: int32, values: {range: [" + "9" * 5000,
            "11: tables.products.columns.stock.values.range[0]: a number of 5000 digits is too long."),
        ("string(‹10›)", f"string({'9' * 5000})", "43: tables.orders.columns.name.type: a number of 5000 digits is too "
            "long."),
    ],
)  # fmt: skip
def test_the_sentence(old: str, new: str, sentence: str) -> None:
    assert GENERATED.count(old) == 1
    with pytest.raises(UsageError) as error:
        open_stream(resolve(read(re.sub("[‹›]", "", GENERATED.replace(old, new)), "f.yaml"), MYSQL))
    assert str(error.value) == f"f.yaml:{sentence}"
