"""What must hold for every generator, and the recipe for a new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, get_type_hints

import numpy as np
import pytest
import yaml
from command import Command
from each import each

from simulator import sources
from simulator.batch import decoded
from simulator.errors import ScenarioError
from simulator.stream import generators
from simulator.stream.engine.history import State
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.generators.columns import CompiledColumn, Target
from simulator.stream.generators.draws import Draws
from simulator.stream.generators.generator import NEEDED, Generator
from simulator.stream.generators.reference import README, written
from simulator.stream.scenario.checks.column import ColumnCheck
from simulator.stream.scenario.language import ScenarioSpec
from simulator.stream.scenario.loader import read
from simulator.stream.scenario.resolve import resolve
from simulator.stream.scenario.scenario import Scenario

FOLDER: Final = Path(generators.__file__).parent
SHOP: Final = """\
tables:
  products:
    key: id
    columns: {id: {type: int64, values: sequence}, stock: {type: int32, values: {range: [0, 9]}}}
    rows: 20
    mix: {update: 1}
  orders:
    key: id
    columns:
      id: {type: int64, values: sequence}
      revision: {type: int32, values: version}
      it: EXAMPLE
  items:
    key: [order_id, line]
    columns:
      order_id: {type: int64, values: {of: orders.id}}
      line: {type: int32, values: row}
      quantity: {type: int32, values: {range: [1, 5]}}
      price: {type: "decimal(10,2)", values: {range: [1, 99]}}
lifecycles:
  order:
    slots: 30
    steps:
      - {name: place, do: [{insert: orders}, {insert: items, rows: 1..3}]}
      - {name: pay, times: TIMES, do: [{update: orders, set: [it, revision]}]}
      - {name: archive, do: [{delete: items}, {delete: orders}]}
"""


def resolved(text: str, source: str = "mysql") -> Scenario:
    return resolve(read(text.replace("TIMES", "3"), "shop.yaml"), sources.find(source))


def stream_of(example: str) -> ChangeStream:
    return ChangeStream(resolved(SHOP.replace("EXAMPLE", example)))


def every_example(source: str, times: int = 3) -> ChangeStream:
    """Orders with a column for each generator: its example."""
    examples = {f"it_{name}": generators.find(name).example for name in generators.GENERATORS}
    if source == "mongodb":  # its documents are objects, not JSON texts
        del examples["it_document"]
    text = SHOP.replace("it: EXAMPLE", "\n      ".join(f"{name}: {example}" for name, example in examples.items()))
    text = text.replace("set: [it,", f"set: [{', '.join(examples)},").replace("TIMES", str(times))
    return ChangeStream(resolved(text, source))


# For what reads a stream in many ways.
stream_of_examples: Final = cache(every_example)


@pytest.fixture(params=list(generators.GENERATORS))
def generator(request: pytest.FixtureRequest) -> Generator:
    return generators.find(request.param)


def images(stream: ChangeStream, generator: str) -> tuple[State, State, CompiledColumn]:
    """States of orders that are updated, those before them, and the column of a generator."""
    columns = [each for each in stream.compiled.versions["orders"][0].columns if isinstance(each, CompiledColumn)]
    (column,) = (each for each in columns if each.field.name == f"it_{generator}")
    what = stream.structure(0, stream.border(200))
    statement, turn = np.nonzero(what.tick >= 0)
    tick = what.tick[statement, turn]
    updates = np.flatnonzero(stream.compiled.group[tick] == list(stream.compiled.names).index("orders") * 4 + 2)
    state = State(
        stream.compiled.ticks,
        "orders",
        cohort=what.cohort[turn[updates]],
        slot=what.slot[turn[updates]],
        cycle=what.cycle[turn[updates]],
        tick=tick[updates],
        row=np.zeros(len(updates), dtype=np.int64),
    )
    return state, state.before(np.arange(len(state))), column


# ------------------------------------------------------------------------------------------------------ every generator


def test_the_table_is_sorted_and_whole(generator: Generator) -> None:
    assert list(generators.GENERATORS) == sorted(generators.GENERATORS)
    names = {path.stem for kind in ("drawn", "checked", "computed") for path in (FOLDER / kind).glob("*.py")}
    assert names - {"__init__", "expressions"} == set(generators.GENERATORS)
    module, _, _ = generators.GENERATORS[generator.name].partition(":")
    assert module.endswith(f".{generator.name}")


def test_the_functions_take_a_column() -> None:
    """The description itself does not name these types: the language is made of it, and they know the language."""
    for generator in generators.everything():
        draw = get_type_hints(generator.draw)
        assert next(iter(draw.values())) is Target, generator.name
        assert issubclass(draw["return"], Draws), generator.name
        if generator.check.__name__ != "<lambda>":
            assert next(iter(get_type_hints(generator.check).values())) is ColumnCheck, generator.name


@each(["mysql", "oracle", "postgresql", "sqlserver", "mongodb"])
def test_the_examples_run(source: str) -> None:
    stream = stream_of_examples(source)
    assert stream.read(0, stream.border(100)).changes > 100


def test_values_are_functions_of_the_row() -> None:
    """A value is the same whichever other rows are drawn with it, and by an object of its own."""
    stream, other_stream = stream_of_examples("mysql"), every_example("mysql")
    for name in generators.GENERATORS:
        state, _, column = images(stream, name)
        again, _, other = images(other_stream, name)
        whole = decoded(column.array(state)).to_pylist()
        some = np.arange(len(state))[::-3]
        assert decoded(column.array(state.take(some))).to_pylist() == [whole[i] for i in some], name
        assert decoded(other.array(again)).to_pylist() == whole, name


def test_what_always_changes_does() -> None:
    for name in generators.GENERATORS:
        state, before, column = images(stream_of_examples("mysql", times=1 if name == "states" else 3), name)
        pairs = zip(decoded(column.array(state)).to_pylist(), decoded(column.array(before)).to_pylist(), strict=True)
        if column.generator.always and not column.field.spec.nulls:
            assert all(new != old for new, old in pairs), name


def test_columns_that_it_does_not_fit(generator: Generator) -> None:
    if generator.fits:
        wrong = yaml.safe_load(generator.example) | {"type": "enum('a','b')"}
        with pytest.raises(
            ScenarioError, match=rf"^shop\.yaml:12: tables\.orders\.columns\.it\.values\.{generator.name}: "
        ):
            stream_of(json.dumps(wrong))


def test_a_name_that_needs_arguments_does_not_stand_alone(generator: Generator) -> None:
    column = yaml.safe_load(generator.example) | {"values": generator.name}
    if generator.alone is NEEDED:
        with pytest.raises(ScenarioError, match=rf"\.values: '{generator.name}' is not a generator that stands alone"):
            stream_of(json.dumps(column))
    else:
        resolved(SHOP.replace("EXAMPLE", json.dumps(column)))


def test_the_reference_is_written_from_the_generators() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == written(text), "run `python -m simulator.stream.generators.reference`"


# ----------------------------------------------------------------------------------------------------------- the recipe


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The recipe followed: its file in a folder of one's own, its line in the table."""
    recipe = (FOLDER / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^   ```python\n(.*?)^   ```", recipe, re.DOTALL | re.MULTILINE)
    (tmp_path / "phone.py").write_text(re.sub(r"^   ", "", code, flags=re.MULTILINE), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(generators.GENERATORS, "phone", "phone:GENERATOR")
    yield
    generators.find.cache_clear()


@pytest.mark.usefixtures("phone")
def test_the_recipe(tmp_path: Path, command: Command) -> None:
    scenario = tmp_path / "shop.yaml"
    scenario.write_text(
        SHOP.replace("EXAMPLE", generators.find("phone").example).replace("TIMES", "2").replace("+1", '"+1"')
    )
    done = command("run", scenario, "-f", "canal-json", "--limit", "50", status=0)
    assert re.search(r'"it":"\+1 \d{3} \d{7}"', done.out)
    assert json.loads(command("schema", status=0).out)["$defs"]["Phone"]["properties"]["prefix"]["default"] == "+49"
    assert "| `phone` | a telephone number; `prefix` is the country's (+49) | text |" in written(README.read_text())
    properties = ScenarioSpec.model_json_schema()["$defs"]["ColumnSpec"]
    assert '"phone"' in json.dumps(properties)


@pytest.mark.usefixtures("phone")
@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ("{type: string(20), values: {phone: {prefix: 49}}}", "values.phone.prefix: '49' does not begin with +."),
        ("{type: string(9), values: phone}", "values.phone: 15 characters do not fit into varchar(9)."),
        ("{type: int32, values: phone}", "values.phone: phone has no values for int, which holds whole numbers."),
        (
            "{type: string(20), values: {phone: {prefx: +1}}}",
            "values.phone.prefx: unknown key 'prefx'. Did you mean 'prefix'?",
        ),
        ("{type: string(20), values: {phon: {}}}", "values.phon: unknown key 'phon'. Did you mean 'phone'?"),
        (
            "{type: json, values: {document: {a: {phone: {prefix: 1}}}}}",
            "values.document.a.phone.prefix: '1' does not begin with +.",
        ),
    ],
)
def test_mistakes_with_the_recipe(column: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as error:
        stream_of(column)
    assert str(error.value) == f"shop.yaml:12: tables.orders.columns.it.{sentence}"
