"""Scenario files: each mistake is one sentence with file, line and key; YAML guesses nothing; the docs are true."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
import yaml
from each import each

import simulator
from simulator.errors import ScenarioError, UnknownName, UsageError
from simulator.model import Column, ColumnType, SchemaChangeKind
from simulator.sources import find
from simulator.stream import open_stream
from simulator.stream.engine.compiled import highest
from simulator.stream.literal.script import ScriptStream
from simulator.stream.scenario import tables
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.language.changes import TableChange
from simulator.stream.scenario.loader import load, read
from simulator.stream.scenario.resolve import resolve
from simulator.stream.scenario.scenario import Scenario
from simulator.stream.scenario.shipped import about, shipped

MYSQL: Final = find("mysql")

MYSQL = find("mysql")
SCENARIOS = Path(__file__).parents[2] / "scenarios"

BASE = """\
source: mysql
tables:
  users:
    key: id
    columns:
      id: {type: bigint, values: sequence}
      name: {type: varchar(10), nullable: no}
      age: {type: int, values: {range: [1, 99]}}
    rows: 10
    mix: {update: 1}
  orders:
    key: id
    columns:
      id: {type: bigint, values: sequence}
      user_id: {type: bigint, values: {references: users}}
      state: {type: varchar(8), values: {states: {place: NEW, pay: PAID}}}
      total: {type: "decimal(12,2)", values: {derived: sum(items.price)}}
      revision: {type: int, values: version}
  items:
    key: [order_id, line]
    columns:
      order_id: {type: bigint, values: {of: orders.id}}
      line: {type: int, values: row}
      price: {type: "decimal(10,2)", values: {range: [1, 9]}}
lifecycles:
  order:
    slots: 10
    steps:
      - name: place
        do:
          - {insert: orders}
          - {insert: items, rows: 1..3}
      - name: pay
        do:
          - {update: orders, set: [state, total, revision]}
      - name: archive
        do:
          - {delete: items}
          - {delete: orders}
schema_changes:
  - {at: 9, table: users, widen: {column: age, type: bigint}}
"""


def checked(text: str) -> Scenario:
    return resolve(read(text, "f.yaml"), MYSQL)


def test_the_base_of_these_cases_is_right() -> None:
    checked(BASE)


# (what to replace in BASE, by what, the sentence)
MISTAKES = [
    # ------------------------------------------------------------------------------------------------ one key
    ("rows: 10", "rows: ten", "9: tables.users.rows: 'ten' is not a whole number."),
    ("rows: 10", "rows: 0", "9: tables.users.rows: '0' is below 1."),
    ("rows: 10", "rosw: 10", "9: tables.users.rosw: unknown key 'rosw'. Did you mean 'rows'?"),
    ("    slots: 10\n", "", "26: lifecycles.order.slots: slots is missing."),
    ("name: pay\n", "nme: pay\n", "33: lifecycles.order.steps[1].nme: unknown key 'nme'. Did you mean 'name'?"),
    (
        "sequence}\n      name",
        "sequenz}\n      name",
        "6: tables.users.columns.id.values: 'sequenz' is not a generator that stands alone. Did you mean 'sequence'?",
    ),
    ("{range: [1, 99]}", "{range: [1]}", "8: tables.users.columns.age.values.range: this list needs one more item."),
    (
        "{range: [1, 99]}",
        "{rnage: [1, 9]}",
        "8: tables.users.columns.age.values.rnage: unknown key 'rnage'. Did you mean 'range'?",
    ),
    (
        "{range: [1, 99]}",
        "{range: [1, 9], row: yes}",
        "8: tables.users.columns.age.values: needs exactly one generator, not range and row.",
    ),
    ("nullable: no", "nullable: maybe", "7: tables.users.columns.name.nullable: 'maybe' is not yes or no."),
    ("mix: {update: 1}", "mix: {update: -1}", "10: tables.users.mix.update: '-1' is below 0."),
    ("mix: {update: 1}", "hot: {share: 0.1, times: 1}", "10: tables.users.hot.times: '1' is not above 1."),
    ("mix: {update: 1}", "zipf: 1", "10: tables.users.zipf: rows must stay to be hot: set `mix` to no deletes."),
    ("rows: 1..3", "rows: 3..1", "32: lifecycles.order.steps[0].do[1]: '3..1' has the higher number first."),
    (
        "{delete: items}",
        "{delete: items, set: [price]}",
        "38: lifecycles.order.steps[2].do[0]: only an update has set.",
    ),
    (
        "      id: {type: bigint, values: sequence}\n      name",
        "      a.b: {type: bigint}\n      name",
        "6: tables.users.columns.a.b: 'a.b' is not a valid name: use 1 to 64 characters, no dot, no "
        "back-quote, no space at the ends.",
    ),
    ("  users:", "  users: 3\n  users:", "4: duplicate key 'users', first used on line 3."),
    (
        "source: mysql",
        "source: &x mysql\nstart: 2024-13-01",
        "2: start: '2024-13-01' is not a point in time such as '2024-05-01T10:00:00Z'.",
    ),
    ("source: mysql", "source: !!str mysql", "1: YAML tags such as 'tag:yaml.org,2002:str' are not supported."),
    ("source: mysql", "source: *x", "1: there is no anchor &x above."),
    ("source: mysql", "transactions: {2..5: many}", "1: transactions: '2..5': the weight 'many' is not a number."),
    (
        "source: mysql",
        "heartbeat: 10",
        "1: heartbeat: '10' is not a duration such as '500ms', '10s', '5m', '2h' or '1d'.",
    ),
    ("source: mysql", "rate: .inf", "1: rate: '.inf' is not a number."),
    # ------------------------------------------------------------------------------------------------ several keys
    (
        "source: mysql",
        "source: mysq",
        "1: source: no source 'mysq'. Did you mean 'mysql'? `cdcsim sources` lists them all.",
    ),
    (
        "source: mysql",
        "database: x",
        "6: tables.users.columns.id.type: 'bigint' is not a portable type. It is a type of MySQL: add "
        "`source: mysql` at the top to use it.",
    ),
    (
        "varchar(10)",
        "varchr(10)",
        "7: tables.users.columns.name.type: 'varchr' is not a MySQL type. Did you mean 'varchar'?",
    ),
    (
        "      age:",
        "      Name: int\n      age:",
        "8: tables.users.columns.Name: duplicate column 'name': upper and lower case are the same.",
    ),
    (
        "key: id\n    columns:\n      id: {type: bigint, values: sequence}\n      name",
        "key: idd\n    columns:\n      id: {type: bigint, values: sequence}\n      name",
        "4: tables.users.key[0]: no column 'idd'. Did you mean 'id'?",
    ),
    (
        "values: sequence}\n      name",
        "nullable: yes, values: sequence}\n      name",
        "6: tables.users.columns.id.nullable: a key column cannot be null.",
    ),
    (
        "values: sequence}\n      name",
        "nulls: 0.5, values: sequence}\n      name",
        "6: tables.users.columns.id.nulls: id cannot be null.",
    ),
    (
        "values: sequence}\n      name",
        "values: {range: [1, 5]}}\n      name",
        "6: tables.users.columns.id: a key needs unique values, and range may repeat one: use sequence, uuid,"
        " of, or row with another column.",
    ),
    (
        "mix: {update: 1}",
        "mix: {update: 1, delete: 1}",
        "10: tables.users.mix: delete (1) is above insert (0), so rows would run out.",
    ),
    ("mix: {update: 1}", "mix: {}", "10: tables.users.mix: set insert, update or delete above 0."),
    (
        "mix: {update: 1}",
        "hot: [{share: 0.5, times: 2}, {share: 0.6, times: 4}]",
        "10: tables.users.hot: the hot shares add up to 1.1; keep the sum below 1.",
    ),
    (
        "mix: {update: 1}",
        "hot: {share: 0.1, times: 2, moves: 1m}",
        "10: tables.users.hot: rows must stay to be hot: set `mix` to no deletes.",
    ),
    (
        "mix: {update: 1}",
        "mix: {update: 1}\n    hot: {share: 0.6, times: 2, moves: 1m}",
        "11: tables.users.hot: only one hot share can move, of half of the rows at the most.",
    ),
    (
        "source: mysql",
        "source: mysql\nsurges: [{at: 5, lasts: 1m, of: user, times: 9}]",
        "2: surges[0].of: no table with rows, or lifecycle, 'user'. Did you mean 'users'?",
    ),
    (
        "{of: orders.id}}\n      line: {type: int, values: row}",
        "{references: users}}\n      line: {type: bigint, values: {references: {table: users, skew: 2}}}",
        "23: tables.items.columns.line.values.references: references that are unique together with others are drawn "
        "evenly: leave out skew, recent.",
    ),
    (
        "source: mysql",
        "source: mysql\ndurations: {5s..1s: 1}",
        "2: durations: '5s..1s': write the shorter time first, and a day at the most.",
    ),
    (
        "source: mysql",
        "source: mysql\nsurges: [{at: 5, lasts: 9, of: order, share: 0.5, times: 9}]",
        "2: surges[0].share: rows must stay to be hot: add `then: repeat`, or leave the share out.",
    ),
    ("[1, 99]", "[99, 1]", "8: tables.users.columns.age.values.range: '99' is above '1'."),
    ("[1, 99]", "[1, 99x]", "8: tables.users.columns.age.values.range[1]: '99x' is not a whole number."),
    (
        "nullable: no}",
        "nullable: no, values: {choices: [a, null]}}",
        "7: tables.users.columns.name.values.choices[1]: name cannot be null.",
    ),
    (
        "nullable: no}",
        "values: {text: {length: 5..11}}}",
        "7: tables.users.columns.name.values.text.length: 11 characters do not fit into varchar(10).",
    ),
    (
        "nullable: no}",
        "values: {range: [a, b]}}",
        "7: tables.users.columns.name.values.range: range has no values for varchar, which holds text.",
    ),
    (
        "nullable: no}",
        "values: {faker: nmae}}",
        "7: tables.users.columns.name.values.faker: Faker has no provider 'nmae'; see its list of standard providers.",
    ),
    (
        "nullable: no}",
        "values: {faker: {provider: name, locale: en_XX}}}",
        "7: tables.users.columns.name.values.faker: Faker has no locale 'en_XX'; one looks like 'en_US' or 'zh_CN'.",
    ),
    (
        "nullable: no}",
        "values: {faker: name}}",
        "7: tables.users.columns.name.values.faker: 'Madeline Hayes' has 14 characters, and varchar(10) holds fewer.",
    ),
    (
        "references: users",
        "references: user",
        "15: tables.orders.columns.user_id.values.references.table: no table 'user'. Did you mean 'users'?",
    ),
    (
        "mix: {update: 1}\n  orders:\n    key: id\n    columns:\n      id: {type: bigint, values: sequence}\n"
        "      user_id: {type: bigint,",
        "mix: {insert: 1}\n  orders:\n    key: id\n    columns:\n      id: {type: bigint, values: sequence}\n"
        "      user_id: {nullable: no, type: bigint,",
        "15: tables.orders.columns.user_id.values.references.table: users has no permanent rows, so there may be "
        "none to refer to: leave out `nullable: no`, or insert users in the first step of a lifecycle that repeats.",
    ),
    (
        "mix: {update: 1}",
        "mix: {update: 1}\n    key_updates: 0.5",
        "16: tables.orders.columns.user_id.values.references.table: the key of users changes, so nothing can "
        "refer to it.",
    ),
    (
        "pay: PAID",
        "pays: PAID",
        "16: tables.orders.columns.state.values.states.pays: no step 'pays'. Did you mean 'pay'?",
    ),
    (
        "pay: PAID",
        "archive: OLD",
        "16: tables.orders.columns.state.values.states.archive: step 'archive' has no update of orders that "
        "sets state.",
    ),
    (
        "pay: PAID",
        "pay: PAID AND SENT",
        "16: tables.orders.columns.state.values.states.pay: 'PAID AND SENT' has 13 characters, and "
        "varchar(8) holds fewer.",
    ),
    (
        "sum(items.price)",
        "sum(items.prise)",
        "17: tables.orders.columns.total.values.derived: no column of items 'prise'. Did you mean 'price'?",
    ),
    (
        "sum(items.price)",
        "items.price * 2",
        "17: tables.orders.columns.total.values.derived: an entity has several rows of items; use sum(…), "
        "min(…) or max(…).",
    ),
    (
        "sum(items.price)",
        "sum(1)",
        "17: tables.orders.columns.total.values.derived: sum(…) needs columns of one table, written table.column.",
    ),
    (
        "sum(items.price)",
        "total + 1",
        "17: tables.orders.columns.total.values.derived: these columns depend on each other: orders.total -> "
        "orders.total.",
    ),
    (
        "of: orders.id",
        "of: users.id",
        "22: tables.items.columns.order_id.values.of: users is not in the lifecycle of items; for other "
        "entities use references.",
    ),
    (
        "order_id: {type: bigint",
        "order_id: {type: int",
        "22: tables.items.columns.order_id.values.of: orders.id is bigint, which does not fit into int.",
    ),
    (
        "key: [order_id, line]",
        "key: [line]",
        "20: tables.items.key: these columns do not make rows unique: use sequence, uuid, or of another "
        "table's key with row.",
    ),
    (
        "{insert: orders}\n",
        "{insert: order}\n",
        "31: lifecycles.order.steps[0].do[0].insert: no table 'order'. Did you mean 'orders'?",
    ),
    (
        "{insert: orders}\n",
        "{update: orders, set: id}\n",
        "31: lifecycles.order.steps[0].do[0].update: 'orders' has no rows yet: insert it in an earlier statement.",
    ),
    (
        "{delete: items}\n",
        "{delete: orders}\n",
        "39: lifecycles.order.steps[2].do[1].delete: the rows of 'orders' are deleted already.",
    ),
    (
        "{delete: items}\n",
        "{insert: items}\n",
        "38: lifecycles.order.steps[2].do[0].insert: 'items' is inserted already; use rows to insert several rows.",
    ),
    (
        "{delete: items}\n",
        "{delete: users}\n",
        "38: lifecycles.order.steps[2].do[0].delete: 'users' is changed by its short form (rows); a table has"
        " one lifecycle.",
    ),
    (
        "set: [state, total",
        "set: [state, totl",
        "35: lifecycles.order.steps[1].do[0].set[1]: no column of orders 'totl'. Did you mean 'total'?",
    ),
    (
        "slots: 10",
        "slots: 10\n    hot: {share: 0.1, times: 2}",
        "28: lifecycles.order.hot: hot entities are permanent: add `then: repeat`.",
    ),
    (
        "name: pay\n        do:",
        "name: pay\n        either: [{steps: []}]\n        do:",
        "33: lifecycles.order.steps[1]: expected exactly one of do, either.",
    ),
    (
        "name: place\n        do:",
        "name: place\n        chance: 0.5\n        do:",
        "29: lifecycles.order.steps[0]: each entity takes the first step, once.",
    ),
    (
        "name: archive\n        do:",
        "name: archive\n        times: 1..2\n        do:",
        "39: lifecycles.order.steps[2].do[0].delete: a step that may happen several times can only update.",
    ),
    (
        "slots: 10",
        "slots: 10\n    then: repeat",
        "39: lifecycles.order.steps[2].do[0].delete: the rows of 'items' are permanent, since the lifecycle repeats.",
    ),
    (
        "table: users, widen",
        "table: user, widen",
        "41: schema_changes[0].table: no table 'user'. Did you mean 'users'?",
    ),
    (
        "type: bigint}}\n",
        "type: smallint}}\n",
        "41: schema_changes[0].widen.type: smallint does not widen int: the new type must hold all values of "
        "the old one, and more.",
    ),
    (
        "widen: {column: age, type: bigint}",
        "drop_column: {column: id}",
        "41: schema_changes[0].drop_column.column: 'id' belongs to the key of users, which cannot be dropped.",
    ),
    (
        "    rows: 10",
        "    unique: nmae\n    rows: 10",
        "9: tables.users.unique: no column 'nmae'. Did you mean 'name'?",
    ),
    (
        "    rows: 10",
        "    unique: [age, age]\n    rows: 10",
        "9: tables.users.unique: the unique key 'uk_age_age' has a column twice.",
    ),
    (
        "    rows: 10",
        "    unique: {primary: age}\n    rows: 10",
        "9: tables.users.unique: PRIMARY is the name of the primary key; choose another name.",
    ),
    (
        "    rows: 10",
        "    unique: {uk: [name, age]}\n    rows: 10",
        "9: tables.users.unique: the columns of the unique key 'uk' may repeat values: give one of them a sequence or "
        "a uuid, without nulls, or write `of` another table's key with row.",
    ),
    (
        "widen: {column: age, type: bigint}",
        "create_index: {name: uk, columns: age, unique: yes}",
        "41: schema_changes[0].create_index: the columns of the unique key 'uk' may repeat values: give one of them a "
        "sequence or a uuid, without nulls, or write `of` another table's key with row.",
    ),
    (
        "widen: {column: age, type: bigint}",
        "add_column: {name: level, column: int, default: low}",
        "41: schema_changes[0].add_column.default: 'low' is not a whole number.",
    ),
    (
        "widen: {column: age, type: bigint}",
        "add_column: {name: age, column: int}",
        "41: schema_changes[0].add_column.name: there is a column 'age' already.",
    ),
]


@each(MISTAKES)
def test_a_mistake_is_told_in_one_sentence(old: str, new: str, sentence: str) -> None:
    assert BASE.count(old) >= 1
    with pytest.raises(ScenarioError) as error:
        checked(BASE.replace(old, new, 1))
    assert str(error.value).splitlines()[0] == f"f.yaml:{sentence}"
    assert not error.value.others or "is not a portable type" in sentence  # no column has one without the source


ALL_PROBLEMS: Final = {
    "shapes": (
        {"{range: [1, 99]}": "{rnge: [1, 99]}", "mix: {update: 1}": "mix: {update: x}", "values: row": "values: rwo"},
        [
            "8: tables.users.columns.age.values.rnge: unknown key 'rnge'. Did you mean 'range'?",
            "10: tables.users.mix.update: 'x' is not a number.",
            "23: tables.items.columns.line.values: 'rwo' is not a generator that stands alone. Did you mean 'row'?",
        ],
    ),
    "tables": (
        {"key: id": "key: idd", "type: int,": "type: itn,", "line]": "lines]", "decimal(10,2)": "decimal(99,2)"},
        [
            "4: tables.users.key[0]: no column 'idd'. Did you mean 'id'?",
            "8: tables.users.columns.age.type: 'itn' is not a MySQL type. Did you mean 'int'?",
            "20: tables.items.key[1]: no column 'lines'. Did you mean 'line'?",
            "24: tables.items.columns.price.type: 'decimal(99,2)': the precision must be 0 to 65.",
        ],
    ),
    "columns": (
        {
            "range: [1, 99]": "range: [9, 1]",
            "references: users": "references: user",
            "derived: sum(items.price)": "derived: sum(items.prise)",
        },
        [
            "8: tables.users.columns.age.values.range: '9' is above '1'.",
            "15: tables.orders.columns.user_id.values.references.table: no table 'user'. Did you mean 'users'?",
            "17: tables.orders.columns.total.values.derived: no column of items 'prise'. Did you mean 'price'?",
        ],
    ),
}


@each(ALL_PROBLEMS)
def test_all_problems_of_a_file_are_reported_at_once(mistakes: str) -> None:
    replaced, sentences = ALL_PROBLEMS[mistakes]
    text = BASE
    for old, new in replaced.items():
        text = text.replace(old, new, 1)
    with pytest.raises(ScenarioError) as error:
        checked(text)
    assert str(error.value).splitlines() == [f"f.yaml:{sentence}" for sentence in sentences]


def test_all_problems_of_a_script_are_reported_at_once() -> None:
    script = """\
source: mysql
tables:
  t: {key: a, columns: {a: int, b: {type: date, nullable: no}}}
script:
  - transaction:
      - {insert: t, rows: [{a: x, b: 2024-05-01}]}
      - {insert: t, rows: [{a: 1}]}
  - transaction: [{insert: s, rows: [{a: 1}]}]
  - transaction: [{update: t, where: {a: 1}, set: {b: 2024-13-01}}]
"""
    with pytest.raises(ScenarioError) as error:
        ScriptStream(checked(script))
    places = [each.key for each in (error.value, *error.value.others)]
    assert places == [
        "script[0].transaction[0].rows[0].a",
        "script[0].transaction[1].rows[0]",
        "script[1].transaction[0].insert",
        "script[2].transaction[0].set.b",
    ]


def test_an_order_of_schema_changes_is_checked_as_it_happens() -> None:
    later = BASE + "  - {at: 20, table: users, rename_column: {column: age, to: years}}\n"
    checked(later)
    with pytest.raises(
        ScenarioError, match=r"f\.yaml:43: schema_changes\[2\]\.drop_column\.column: no column of users 'age'"
    ):
        checked(later + "  - {at: 30, table: users, drop_column: {column: age}}\n")
    checked(
        later + "  - {at: 10, table: users, drop_column: {column: age}}\n".replace("10", "30").replace("age", "years")
    )


@each(
    [
        (b"", "the file is empty; a scenario has at least tables."),
        (b"# nothing\n", "the file is empty; a scenario has at least tables."),
        (b"- a\n", "1: a scenario is a mapping of keys such as tables, lifecycles and script."),
        (b"a: 1\n\xff\xfe", "2: the file is not valid UTF-8."),
        (b"a: \x01", "1: invalid YAML: control characters are not allowed."),
        (b"a: b\n---\nc: d\n", "2: a second YAML document begins here; a scenario is one document."),
        (b"? [a]\n: b\n", "1: a key must be a text."),
        (b"~: b\n", "1: a key is missing; quote it if it is the text null."),
        (
            b"tables: {t: {columns: {id: bigint}}}",
            "nothing happens: add rows to a table, or lifecycles, or a script.",
        ),
        (
            b"script: []\nrate: 3\ntables: {t: {columns: {id: bigint}}}",
            "rate has no effect in a script; remove it.",
        ),
        (b"a: " + b"[" * 3000, "the file is nested too deeply."),
    ]
)
def test_what_is_no_scenario_at_all(content: bytes, sentence: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(content, "f.yaml")
    assert str(error.value).removeprefix("f.yaml:").strip() == sentence


def test_a_table_of_a_key_alone_has_no_updates() -> None:
    table = "tables:\n  t: {key: id, columns: {id: {type: int64, values: sequence}}, rows: 9"
    with pytest.raises(simulator.UsageError, match=r"the scenario:2: tables\.t: it has no column to update; add one"):
        simulator.simulate(table + "}\n", "canal-json", limit=9)
    assert simulator.simulate(table + ", mix: {insert: 1, delete: 1}}\n", "canal-json", limit=9).messages


def test_yaml_errors_name_the_line() -> None:
    # the words are those of the parser at hand
    with pytest.raises(ScenarioError, match=r"^f\.yaml:2: invalid YAML: mapping values are not allowed .*\.$"):
        read("source: mysql\ntables: a: b\n", "f.yaml")
    with pytest.raises(ScenarioError, match=r"^f\.yaml:2: invalid YAML: a tab indents the line; write spaces\.$"):
        read("tables:\n\tusers: {}\n", "f.yaml")


@pytest.mark.parametrize("columns", ["{id: int, total: decimal(10,2)}", "{total: {type: decimal(10,2), nullable: no}}"])
def test_a_type_with_a_comma_in_braces(columns: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(f"tables:\n  t:\n    columns: {columns}\n", "f.yaml")
    assert str(error.value) == 'f.yaml:3: quote types with a comma: "decimal(10,2)".'


def test_finding_files(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match=r"no scenario 'order'\. Did you mean 'orders'\? `cdcsim scenarios` lists them"
    ):
        load("order")
    (tmp_path / "mein.yaml").write_text(BASE)
    with pytest.raises(UsageError, match=r"^there is no scenario file '.*mine\.yaml'\. Did you mean '.*mein\.yaml'\?$"):
        load(str(tmp_path / "mine.yaml"))
    with pytest.raises(UsageError, match=r"is a directory; a scenario is a YAML file or a SQL script\.$"):
        load(str(tmp_path) + "/")
    loaded = load(str(tmp_path / "mein.yaml"))
    assert (loaded.name, loaded.file) == ("mein", str(tmp_path / "mein.yaml"))
    assert load("crud").file == "scenarios/crud.yaml"


# ------------------------------------------------------------------------------------------------------- YAML's guesses


def rows_of(script: str, column_types: str) -> dict[str, list[Any]]:
    text = (
        f"source: mysql\ntables:\n  t:\n    columns: {{{column_types}}}\nscript:\n  - transaction:\n      - {script}\n"
    )
    stream = ScriptStream(resolve(read(text, "f.yaml"), MYSQL))
    ((table, columns),) = stream.rows_at(1)
    return {column.name: array.to_pylist() for column, array in zip(table.columns, columns, strict=True)}


def test_literals_mean_what_their_column_says() -> None:
    rows = rows_of(
        "{insert: t, rows: [{text: no, number: 007, double: 1e3, day: 2024-05-01, time: 12:30:00, exact: 1.10},"
        " {text: 007}, {text: 1e3}, {text: 2024-05-01}, {text: 12:30:00}, {text: 'null'}, {text: ~}, {text: 0x1F},"
        " {text: yes}, {text: 1_000}, {text: .inf}, {text: ''}]}",
        "text: varchar(20), number: int, double: double, day: date, time: time, exact: 'decimal(10,2)'",
    )
    assert rows["text"] == [
        "no", "007", "1e3", "2024-05-01", "12:30:00", "null", None, "0x1F", "yes", "1_000", ".inf", ""
    ]  # fmt: skip
    first = {name: values[0] for name, values in rows.items() if name != "text"}
    assert first == {
        "number": 7,
        "double": 1000.0,
        "day": dt.date(2024, 5, 1),
        "time": dt.timedelta(hours=12, minutes=30),
        "exact": Decimal("1.10"),
    }


def test_anchors_and_merge_keys() -> None:
    rows = rows_of("{insert: t, rows: [&first {a: 1, b: x}, {<<: *first, a: 2}, *first]}", "a: int, b: text")
    assert rows == {"a": [1, 2, 1], "b": ["x", "x", "x"]}


def test_an_error_in_a_merged_row_is_told_where_it_stands() -> None:
    with pytest.raises(ScenarioError, match=r"^f\.yaml:7: .*rows\[1\]\.b: 'x' is not a whole number\.$"):
        rows_of("{insert: t, rows: [{a: 1}, {<<: {b: x}, a: 2}]}", "a: int, b: int")


def test_aliases_do_not_explode() -> None:
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(ScenarioError, match="more than 2,000,000 keys and values, aliases expanded"):
        read(text, "f.yaml")


def test_a_script_of_a_hundred_megabytes_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """…, as soon as it has too many values; here of some, for the sake of speed."""
    monkeypatch.setattr("simulator.stream.scenario.yaml_text.MOST_NODES", 1000)
    rows = "  - transaction: [{insert: t, rows: [{id: 1}]}]\n" * 200
    with pytest.raises(ScenarioError, match=r"f.yaml:\d+: the file has more than 1,000 keys and values.*in SQL"):
        read(f"tables: {{t: {{columns: {{id: int64}}, key: id}}}}\nscript:\n{rows}", "f.yaml")


# ----------------------------------------------------------------------------------------------------------- documents


def editor_view(node: Any) -> Any:
    """A file as an editor's YAML plug-in sees it: typed scalars, text keys."""
    if isinstance(node, dict):
        return {str(key): editor_view(value) for key, value in node.items()}
    if isinstance(node, list):
        return [editor_view(item) for item in node]
    return node.isoformat() if isinstance(node, dt.date) else node


def violations(value: Any, schema: Any, root: Any, path: str = "") -> Iterator[str]:
    """What a JSON Schema validator would say; the keywords that ours uses."""
    if schema is True:
        return
    if "$ref" in schema:
        yield from violations(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    if "anyOf" in schema and all(any(violations(value, branch, root, path)) for branch in schema["anyOf"]):
        yield f"{path}: {value!r} fits none of {json.dumps(schema['anyOf'])[:200]}"
    types = schema.get("type", [])
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}
    allowed = [types] if isinstance(types, str) else types
    fits = [
        value is None
        if name == "null"
        else isinstance(value, kinds[name]) and (name == "boolean") == (type(value) is bool)
        for name in allowed
    ]
    if allowed and not any(fits):
        yield f"{path}: {value!r} is not {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for i, item in enumerate(value):
            yield from violations(item, schema["items"], root, f"{path}[{i}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for pattern, inner in schema.get("patternProperties", {}).items():
            others = False
            properties = properties | {key: inner for key in value if re.search(pattern, key)}
        for key, item in value.items():
            if key in properties:
                yield from violations(item, properties[key], root, f"{path}.{key}")
            elif others is False:
                yield f"{path}.{key} is unknown"
            else:
                yield from violations(item, others, root, f"{path}.{key}")
        for key in schema.get("required", []):
            if key not in value:
                yield f"{path}.{key} is missing"


def snippets() -> list[Any]:
    text = (SCENARIOS / "README.md").read_text(encoding="utf-8")
    return [
        pytest.param(
            "\n" * text.count("\n", 0, match.start(1)) + match[1], id=f"line {text.count(chr(10), 0, match.start())}"
        )
        for match in re.finditer(r"```yaml\n(.*?)```", text, re.DOTALL)
    ]


@pytest.mark.parametrize(
    "text", [*snippets(), *[pytest.param(p.read_text("utf-8"), id=n) for n, p in shipped().items()]]
)
def test_json_schema_accepts_what_the_loader_accepts(text: str) -> None:
    schema = ScenarioSpec.model_json_schema()
    assert list(violations(editor_view(yaml.safe_load(text)), schema, schema)) == []


def test_json_schema_refuses_unknown_keys() -> None:
    schema = ScenarioSpec.model_json_schema()
    wrong = editor_view(yaml.safe_load(BASE.replace("rows: 10", "rosw: 10")))
    assert list(violations(wrong, schema, schema)) == [".tables.users.rosw is unknown"]


@pytest.mark.parametrize("text", snippets())
def test_snippets_of_the_language_reference_are_valid(text: str) -> None:
    loaded = checked(text)
    if loaded.spec.script is not None:
        ScriptStream(loaded)


def test_the_language_reference_names_every_key() -> None:
    text = (SCENARIOS / "README.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[a-z_]+", text))
    schema = ScenarioSpec.model_json_schema()
    assert {key for model in (schema, *schema["$defs"].values()) for key in properties(model)} <= words


def properties(model: Any) -> set[str]:
    return set(model.get("properties", {})).union(*(properties(branch) for branch in model.get("anyOf", [])))


@each(["bank", "crud", "flash-sale", "orders", "tour", "wide"])
def test_shipped_scenarios(name: str) -> None:
    loaded = load(name)
    resolve(loaded, MYSQL)
    assert len(about(shipped()[name])) > 80
    assert loaded.name == name


def test_wide_has_every_type() -> None:
    loaded = load("wide")
    table = tables.first_version(loaded, "everything", MYSQL)
    assert {column.type.name for column in table.columns} == set(MYSQL.types)


# ------------------------------------------------------------------------------------------------------ tables and DDL


def change(table: str, **keys: Any) -> TableChange:
    return TableChange.model_validate({"table": table, **keys})


def test_schema_changes_make_new_versions() -> None:
    loaded = read(BASE.replace("varchar(10)", "varchar(10) character set latin1"), "f.yaml")
    table = tables.first_version(loaded, "users", MYSQL)
    assert [(c.name, c.type.name, c.nullable) for c in table.columns] == [
        ("id", "bigint", False),
        ("name", "varchar", False),
        ("age", "int", True),
    ]
    steps = [
        (
            change("users", rename_column={"column": "id", "to": "order"}),
            SchemaChangeKind.RENAME_COLUMN,
            "ALTER TABLE users CHANGE COLUMN id `order` bigint NOT NULL",
        ),
        (
            change("users", add_column={"name": "id", "column": "int", "default": "5", "after": "order"}),
            SchemaChangeKind.ADD_COLUMN,
            "ALTER TABLE users ADD COLUMN id int DEFAULT 5 AFTER `order`",
        ),
        (
            change("users", widen={"column": "name", "type": "varchar(20) character set latin1"}),
            SchemaChangeKind.ALTER_COLUMN_TYPE,
            "ALTER TABLE users MODIFY COLUMN name varchar(20) character set latin1 NOT NULL",
        ),
        (
            change("users", create_index={"name": "by age", "columns": ["age"], "unique": "yes"}),
            SchemaChangeKind.CREATE_INDEX,
            "CREATE UNIQUE INDEX `by age` ON users (age)",
        ),
        (
            change("users", rename_column={"column": "age", "to": "years"}),
            SchemaChangeKind.RENAME_COLUMN,
            "ALTER TABLE users CHANGE COLUMN age years int",
        ),
        (
            change("users", create_index={"name": "uk", "columns": ["name"], "unique": "yes"}),
            SchemaChangeKind.CREATE_INDEX,
            "CREATE UNIQUE INDEX uk ON users (name)",
        ),
        (
            change("users", drop_index={"name": "uk"}),
            SchemaChangeKind.DROP_INDEX,
            "DROP INDEX uk ON users",
        ),
        (
            change("users", drop_column={"column": "years"}, sql="alter table users drop age"),
            SchemaChangeKind.DROP_COLUMN,
            "alter table users drop age",
        ),
    ]
    unique: list[list[tuple[str, ...]]] = []
    for version, (what, kind, sql) in enumerate(steps, start=1):
        applied = tables.apply(loaded, ("schema_changes", 0), table, what, MYSQL)
        assert applied.after is not None
        assert (applied.kind, applied.sql, applied.before, applied.after.version) == (kind, sql, table, version)
        table = applied.after
        unique.append([key.columns for key in table.unique_keys])
    assert unique == [[], [], [], [("age",)], [("years",)], [("years",), ("name",)], [("years",)], []]
    assert [(c.name, c.field) for c in table.columns] == [("order", "id"), ("id", "id@2"), ("name", "name")]
    assert table.primary_key == ("order",)


@each(
    [
        ("mysql", "c varchar(36), PRIMARY KEY (id), UNIQUE KEY uk_c (c))"),
        ("oracle", "C VARCHAR2(36 CHAR), PRIMARY KEY (ID), CONSTRAINT UK_C UNIQUE (C))"),
    ]
)
def test_unique_keys_are_in_the_text_of_a_table(source: str, sql: str) -> None:
    spec = "tables: {t: {key: id, unique: c, columns: {id: int64, c: {type: string(36), values: uuid}}, rows: 9}}"
    spec = spec.replace("id: int64", "id: {type: int64, values: sequence}")
    (table,) = resolve(read(spec, "f.yaml"), find(source)).first_tables
    assert find(source).ddl.create_table(table).endswith(sql)


@each(
    [
        ("concat('user', id, '@example.com')", True),
        ("concat(id, id)", False),  # it is, but nobody needs it
        ("concat(n, id)", False),
        ("concat('n', n)", False),
        ("'user'", False),
    ]
)
def test_a_text_around_a_sequence_is_unique(text: str, differ: bool) -> None:
    columns = f'id: {{type: int64, values: sequence}}, n: int32, c: {{type: string(60), values: {{derived: "{text}"}}}}'
    loaded = read(f"tables: {{t: {{key: id, unique: c, columns: {{{columns}}}, rows: 9}}}}", "f.yaml")
    if differ:
        resolve(loaded, find("mysql"))
    else:
        with pytest.raises(ScenarioError, match="may repeat values"):
            resolve(loaded, find("mysql"))


def test_a_small_key_of_rows_that_stay_is_never_full() -> None:
    columns = "id: {type: tinyint unsigned, values: sequence}, n: int"
    spec = f"{{source: mysql, tables: {{t: {{key: id, columns: {{{columns}}}, rows: 255, mix: {{update: 1}}}}}}}}"
    assert open_stream(resolve(read(spec, "f.yaml"), find("mysql"))).last_turn > 10**12
    full = open_stream(resolve(read(spec.replace("255", "256"), "f.yaml"), find("mysql")))
    with pytest.raises(UsageError, match=r"the key t\.id is full"):
        full.structure(0, 1)


@each([("mysql", "c", True), ("oracle", "c", True), ("oracle", "[c, n]", False), ("sqlserver", "c", False)])
def test_nulls_in_a_unique_key_are_as_the_system_takes_them(source: str, key: str, nulls: bool) -> None:
    columns = "id: {type: int64, values: sequence}, n: int32, c: {type: string(36), nulls: 0.1, values: uuid}"
    loaded = read(f"tables: {{t: {{key: id, unique: {key}, columns: {{{columns}}}, rows: 9}}}}", "f.yaml")
    if nulls:
        resolve(loaded, find(source))
    else:
        with pytest.raises(ScenarioError, match="may repeat values"):
            resolve(loaded, find(source))


@each(
    [
        ("int", "bigint", True),
        ("int unsigned", "bigint", True),
        ("int", "bigint unsigned", False),
        ("int", "int(11)", False),
        ("int", "decimal(20,0)", False),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(10,4)", False),
        ("float", "double", True),
        ("double", "float", False),
        ("varchar(10)", "varchar(20)", True),
        ("varchar(20)", "varchar(10)", False),
        ("varchar(20)", "text", True),
        ("varchar(20)", "varchar(40) character set latin1", False),
        ("char(8)", "varchar(8)", True),
        ("varchar(8)", "char(20)", False),
        ("blob", "longblob", True),
        ("varbinary(8)", "binary(16)", False),
        ("datetime", "datetime(6)", True),
        ("date", "datetime", False),
        ("enum('a','b')", "enum('a','b','c')", True),
        ("enum('a','b')", "enum('b','a','c')", False),
        ("json", "json", False),
    ]
)
def test_widening(old: str, new: str, widens: bool) -> None:
    assert MYSQL.ddl.widens(MYSQL.parse_type(old), MYSQL.parse_type(new)) is widens


def test_ddl_quotes_names_and_literals_where_they_need_it() -> None:
    text = ColumnType("varchar", 20)
    assert MYSQL.ddl.name("Group") == "`Group`"
    assert MYSQL.ddl.name("a`b") == "`a``b`"
    assert MYSQL.ddl.name("2nd") == "`2nd`"
    assert MYSQL.ddl.column(Column("note", text), "it's \\") == "note varchar(20) DEFAULT 'it''s \\\\'"
    assert MYSQL.ddl.column(Column("n", ColumnType("int")), "-1") == "n int DEFAULT -1"
    assert MYSQL.ddl.column(Column("at", ColumnType("timestamp"))) == "at timestamp NULL"


def test_portable_types_of_the_shipped_scenarios() -> None:
    table = tables.first_version(load("crud"), "users", MYSQL)
    assert [MYSQL.arrow_type(c.type) for c in table.columns[:2]] == [pa.int64(), pa.string()]


SEVERAL: Final = """
mix: {insert: 1, update: 9}
tables:
  a: {columns: {n: {type: int32, values: {range: [1, 9]}}}, rows: 5}
  b: {columns: {n: int32}, rows: 5, mix: {insert: 1}}
  c: {columns: {n: int32}}
lifecycles:
  life: {slots: 5, steps: [{name: s, do: [{insert: c}]}]}
"""


@pytest.mark.parametrize(
    ("settings", "rows", "updates"),
    [
        ([], (5, 5, None), (9, 0)),
        (["tables.*.rows=1e3"], (1000, 1000, None), (9, 0)),
        (["tables.*.rows=70", "tables.b.rows=8", "mix.update=4"], (70, 8, None), (4, 0)),
        (["tables.*.mix={insert: 2, update: 3}"], (5, 5, None), (3, 3)),
    ],
)
def test_settings_of_all_tables(settings: list[str], rows: tuple[int | None, ...], updates: tuple[int, ...]) -> None:
    spec = read(SEVERAL, "f", settings).spec
    assert tuple(table.rows for table in spec.tables.values()) == rows
    assert tuple(table.mix.update for table in spec.tables.values() if table.rows) == updates
    nulls = read(SEVERAL, "f", ["tables.a.columns.*.nulls=0.5", "lifecycles.*.steps.*.name=t"])
    assert (nulls.spec.tables["a"].columns["n"].nulls, nulls.spec.lifecycles["life"].steps[0].name) == (0.5, "t")


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("tables.*.rows=x", "--set tables.*.rows=x: 'x' is not a whole number."),
        ("tables.*.mix.update=2", "--set tables.*.mix.update=2: there is no tables.a.mix. It has columns, rows."),
        (
            "surges.*.times=2",
            "--set surges.*.times=2: `*` stands for nothing there; of tables it means those with rows.",
        ),
        ("seed.*=2", "--set seed.*=2: `*` stands for nothing there"),
    ],
)
def test_wrong_settings_of_all_tables(setting: str, error: str) -> None:
    with pytest.raises((ScenarioError, UsageError)) as raised:
        read(SEVERAL, "f", [setting])
    assert str(raised.value).startswith(error)


def test_a_mix_for_all_is_like_one_for_each() -> None:
    one = SEVERAL.replace("rows: 5}", "rows: 5, mix: {insert: 1, update: 9}}", 1).replace(
        "mix: {insert: 1, update: 9}", "", 1
    )
    texts = SEVERAL, one
    assert len({resolve(read(text, "f"), MYSQL).fingerprint for text in texts}) == 1


@each(
    [
        ("mysql", "tinyint", 127),
        ("mysql", "mediumint unsigned", 2**24 - 1),
        ("mysql", "decimal(4)", 9999),
        ("postgresql", "bigint", 2**63 - 1),
        ("postgresql", "numeric(9,2)", 9_999_999),
        ("oracle", "NUMBER(6)", 999_999),
        ("sqlserver", "tinyint", 255),
    ]
)
def test_the_highest_number_of_a_key(source: str, type: str, number: int) -> None:
    system = find(source)
    assert highest(system, system.parse_type(type)) == number
