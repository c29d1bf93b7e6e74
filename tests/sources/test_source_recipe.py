"""sources/README.md is followed to the letter: its example becomes a source that the whole program knows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

import simulator
from simulator import registry, sources
from simulator.cli.commands import cli
from simulator.errors import NotOffered

README: Final = (Path(simulator.__file__).parent / "sources" / "README.md").read_text(encoding="utf-8")
SCENARIO: Final = """
tables:
  users:
    columns:
      id: {type: int64, values: {sequence: {start: 1}}}
      name: {type: string(20)}
      state: {type: "enum('new','paid')"}
      seen: {type: timestamp(3), values: commit_time}
    key: id
    rows: 5
    mix: {insert: 1, update: 3, delete: 1}
schema_changes:
  - {at: 4, table: users, add_column: {name: note, column: {type: text, nulls: 0.5}}}
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A scenario, with the example installed as a package of its own."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "toydb").mkdir()
    (tmp_path / "toydb" / "source.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    installed = EntryPoint("toydb", "toydb.source:ToySource", "simulator.sources")
    monkeypatch.setattr(registry, "entry_points", lambda group: [installed] if group == installed.group else [])
    path = tmp_path / "users.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    yield str(path)
    sources.find.cache_clear()
    for name in ("toydb.source", "toydb"):
        sys.modules.pop(name, None)


def test_the_example_is_a_source(scenario: str) -> None:
    """End to end into a format that goes by families; its positions are those of its log."""
    options = {"source": "toydb-1", "limit": 30, "snapshot": True, "allow_undocumented": True}
    messages = list(simulator.messages(scenario, "oms-default,extended_meta=on", **options))
    values = [json.loads(message.value or b"") for message in messages]
    assert {value["recordType"] for value in values} == {"ROW", "INSERT", "UPDATE", "DELETE", "DDL"}
    (ddl,) = (value["postStruct"]["ddl"] for value in values if value["recordType"] == "DDL")
    assert ddl == 'ALTER TABLE "users" ADD COLUMN "note" text'
    positions = []
    for value in values:
        meta = value["allMetaData"]
        if value["recordType"] in ("INSERT", "UPDATE", "DELETE"):
            transaction, position, row = map(int, meta["uniqueId"].split("_"))
            assert position == transaction * 1000 + row + 1
            assert meta["transId"] == str(transaction)
            positions.append(position)
    assert positions == sorted(set(positions))


def test_it_is_listed_with_its_versions(scenario: str) -> None:
    listed = CliRunner().invoke(cli, ["sources", "--json"])
    assert {"id": "toydb", "title": "ToyDB", "versions": ["2", "1"]} in json.loads(listed.stdout)
    assert str(sources.find("toydb")) == "toydb-2"


def test_a_product_that_does_not_know_it_says_so(scenario: str) -> None:
    with pytest.raises(NotOffered, match="not toydb"):
        list(simulator.messages(scenario, "oms-default", source="toydb"))
    with pytest.raises(NotOffered, match="has no types for"):
        list(simulator.messages(scenario, "dts-canal-json", source="toydb", allow_undocumented=True))
