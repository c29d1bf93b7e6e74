"""A resolved scenario: it is the same in every process, and its fingerprint changes with whatever changes a byte."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import loaded, scenarios

from simulator import sources
from simulator.stream import open_stream
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.loader import load, read
from simulator.stream.scenario.resolve import resolve
from simulator.stream.scenario.scenario import Scenario
from simulator.stream.scenario.shipped import shipped
from simulator.values import pools

MYSQL: Final = sources.find("mysql")
few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))

TEXT: Final = """\
database: shop
tables:
  users:
    key: id
    columns:
      id: {type: int64, values: sequence}
      name: {type: string(60), values: {faker: {provider: name, size: 50}}}
      title: {type: string(60), values: {faker: {provider: job, locale: en_GB, size: 20}}}
      note: {type: json, values: {document: {word: {faker: {provider: color_name, size: 9}}}}}
      age: {type: int32, values: {range: [18, 99]}}
    rows: 100
schema_changes:
  - {at: 50, table: users, add_column: {name: level, column: {type: string(8), values: {choices: [a, b]}}}}
"""


def of(text: str, source: str = "mysql", **options: Any) -> Scenario:
    return resolve(read(text, "a.yaml"), sources.find(source), **options)


def rows(scenario: Scenario) -> list[Any]:
    """The values of some turns and of the rows before them."""
    stream = open_stream(scenario)
    first, stop = stream.border(0), stream.border(150) if stream.turns is None else stream.turns
    images = [image for batch in stream.read(first, stop).batches for image in (batch.after or ())]
    images += [image for _, columns in stream.rows_at(first) for image in columns]
    return [image.to_pylist() for image in images]


def test_comments_and_form_do_not_count() -> None:
    same = "# a comment\n" + TEXT.replace("{type: int32, values: {range: [18, 99]}}", '\n        type: "int32"\n'
        "        values:\n          range:\n          - '18'\n          - 99 # years\n")  # fmt: skip
    assert of(same).fingerprint == of(TEXT).fingerprint
    assert read(same, "b.yaml").spec == read(TEXT, "a.yaml").spec
    assert of(TEXT + "seed: 1\nrate: 1e3\n").fingerprint == of(TEXT).fingerprint  # the defaults


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[18, 99]", "[18, 98]"),
        ("size: 50", "size: 51"),
        ("en_GB", "en_US"),
        ("provider: color_name", "provider: safe_color_name"),
        ("word:", "term:"),
        ("rows: 100", "rows: 101"),
        ("database: shop", "seed: 2"),
        ("database: shop", "database: shops"),
        ("database: shop", "database: shop\nrate: 999"),
        ("database: shop", "database: shop\nstart: 2024-05-01T00:00:01Z"),
        ("database: shop", "database: shop\nheartbeat: 10s"),
        ("database: shop", "database: shop\ntransactions: {1: 2, 2: 1}"),
        ("[a, b]", "[b, a]"),
        ("at: 50", "at: 51"),
        ("level", "levels"),
        ("      age", "      aged: int32\n      age"),
    ],
)
def test_what_changes_a_byte_changes_the_fingerprint(old: str, new: str) -> None:
    assert TEXT.count(old) >= 1
    assert of(TEXT.replace(old, new)).fingerprint != of(TEXT).fingerprint


def test_seed_source_and_version_count() -> None:
    prints = [
        of(TEXT).fingerprint,
        of(TEXT, seed=2).fingerprint,
        of(TEXT, "mysql-5.7").fingerprint,
        of(TEXT, "oracle").fingerprint,
    ]
    assert len(set(prints)) == 4
    assert of(TEXT, seed=2).fingerprint == of(TEXT + "seed: 2\n", seed=2).fingerprint


def test_pools_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    here = of(TEXT)
    sent = pickle.dumps(here)
    assert b"Engineer" in sent, "a pool that Faker made"
    assert not any(text.encode() in sent for text in pools.shipped(pools.Pool("name", "en_US", 50)) or ())

    def other_faker(pool: pools.Pool) -> tuple[str, ...]:
        return tuple(f"{pool.provider} {n}" for n in range(pool.size))

    monkeypatch.setattr("simulator.stream.scenario.resolve.ask_faker", other_faker)
    there = pickle.loads(sent)
    assert there == here
    assert rows(there) == rows(here)
    assert of(TEXT).fingerprint != here.fingerprint


@pytest.mark.parametrize("name", list(shipped()))
def test_shipped_scenarios_draw_no_pool_of_the_installed_faker(name: str) -> None:
    spec = load(name).spec
    assert set(resolve(load(name), sources.find(spec.source or "mysql")).pools.values()) <= {None}


@few
@given(scenarios(), st.sampled_from(["mysql-5.7", "oracle", "mongodb", "postgresql"]))
def test_a_copy_is_the_same_scenario(scenario: dict[str, Any], source: str) -> None:
    here = resolve(loaded(scenario), sources.find(source))
    sent = pickle.dumps(here)
    there = pickle.loads(sent)
    assert len(sent) < 40_000
    assert (there, there.fingerprint, str(there.source)) == (here, here.fingerprint, str(here.source))
    assert pickle.loads(pickle.dumps(there)).fingerprint == here.fingerprint
    assert rows(there) == rows(here)


def test_another_process_with_another_hash_seed_has_the_same_fingerprints(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(TEXT)
    names = [str(file), "orders", "boundary", "tour"]
    program = (
        "import pickle, sys\nfrom simulator.sources import find\nfrom simulator.stream.scenario.loader import load\n"
        "from simulator.stream.scenario.resolve import resolve\n"
        f"print(pickle.load(open({str(tmp_path / 'sent')!r}, 'rb')).fingerprint)\n"
        f"for name in {names}: print(resolve(load(name), find('mysql')).fingerprint)"
    )
    here = [resolve(load(name), MYSQL) for name in names]
    (tmp_path / "sent").write_bytes(pickle.dumps(here[0]))
    hash_seed = "1" if os.environ.get("PYTHONHASHSEED") == "77" else "77"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [here[0].fingerprint, *(scenario.fingerprint for scenario in here)]


def test_a_script_has_a_fingerprint_too() -> None:
    here = resolve(load("tour"), MYSQL)
    there = pickle.loads(pickle.dumps(here))
    assert there == here
    assert rows(there) == rows(here)
    assert here.fingerprint != resolve(load("tour"), sources.find("oracle")).fingerprint


def test_a_scenario_is_compiled_once() -> None:
    """…, by its fingerprint; streams that share it read what a stream alone reads."""
    one, same, other = (open_stream(resolve(load("orders"), MYSQL, seed=seed)) for seed in (1, 1, 2))
    assert isinstance(one, ChangeStream)
    assert isinstance(same, ChangeStream)
    assert isinstance(other, ChangeStream)
    assert one.compiled is same.compiled is not other.compiled
    alone = ChangeStream(one.scenario)
    assert alone.compiled is not one.compiled
    middle, stop = one.border(500), one.border(1000)
    for first, last in ((middle, stop), (0, middle)):
        read = [[batch.image() for batch in stream.read(first, last).batches] for stream in (one, same, alone)]
        assert read[0] == read[1] == read[2]
