"""formats/README.md is followed to the letter: its example becomes a format that the whole program knows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

import pytest

import simulator
from simulator import formats
from simulator.errors import UsageError
from simulator.model import DDL, DELETE
from simulator.run.job import open_job
from simulator.run.plan import Limits

README: Final = (Path(simulator.__file__).parent / "formats" / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example in a package of its own, named as the page says."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    package = tmp_path / "toy_product"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "json.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    known = {**formats.FORMATS, "toy-json": "toy_product.json:FORMAT"}
    monkeypatch.setattr(formats, "FORMATS", known)
    yield
    for name in ("toy_product.json", "toy_product"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("toy")
def test_the_example_is_a_format() -> None:
    messages = list(simulator.messages("crud", "toy-json", limit=30))
    values = [json.loads(message.value) for message in messages if message.value is not None]
    ops = {value["op"] for value in values}
    assert ops == {"c", "u", "d"}
    for value in values:
        assert value["table"] == "users"
        assert ("after" in value) == (value["op"] != "d")
        assert ("before" in value) == (value["op"] != "c")
    values = [m.value or b"" for m in simulator.messages("crud", "toy-json,before=off", limit=30)]
    updates = [value for value in values if b'"op":"u"' in value]
    assert updates
    assert all(b'"before":null' in value for value in updates)


SCENARIOS: Final = sorted(path.stem for path in (Path(simulator.__file__).parent.parent / "scenarios").glob("*.yaml"))


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_writes_every_shipped_scenario_of_every_source_that_it_names(scenario: str) -> None:
    """Tombstones have the delete's key and follow it; the client chooses the partition; DDL has its own topic."""
    refused = 0
    for source in formats.find("toy-json").sources:
        try:
            job = open_job(scenario, "toy-json", source=source)
        except UsageError:  # its types are another source's
            refused += 1
            continue
        renderer, previous = job.renderer(), None
        blocks = islice(job.plan(Limits(changes=0), snapshot=True).snapshot_blocks(), 2)
        rendered = [renderer.render_block(replace(block, rows=min(block.rows, 30))) for block in blocks]
        snapshot = (message for batch in rendered if batch is not None for message in batch.messages())
        for message in chain(snapshot, job.messages(Limits(changes=60))):
            if message.value is None:
                assert previous is not None
                assert (message.key, message.topic) == (previous.key, previous.topic)
                assert (message.kind, previous.kind, message.changes) == (DELETE, DELETE, 0)
            elif message.kind is DDL:
                assert (message.topic, message.partition) == ("ddl", 0)
            else:
                value = json.loads(message.value)
                assert message.topic == value["table"]
                assert message.partition is None
            previous = message
    assert refused < len(formats.find("toy-json").sources)


@pytest.mark.usefixtures("toy")
def test_its_files_hold_null_values_and_two_topics(tmp_path: Path) -> None:
    simulator.publish("tour", "toy-json", f"file:{tmp_path}?partitions=2", envelope=True)
    lines = [json.loads(line) for path in sorted(tmp_path.rglob("*.jsonl")) for line in path.read_bytes().splitlines()]
    assert {line["partition"] for line in lines} == {0, 1}
    assert len({line["topic"] for line in lines} - {"ddl"}) > 0
    assert any(line["topic"] == "ddl" for line in lines)
    deleted = [line["key"] for line in lines if line["value"] is not None and json.loads(line["value"])["op"] == "d"]
    assert deleted
    assert sorted(deleted) == sorted(line["key"] for line in lines if line["value"] is None)


@pytest.mark.usefixtures("toy")
def test_its_options_are_described() -> None:
    (option,) = formats.find("toy-json").options
    assert (option.name, option.default, option.doc) == ("before", "on", "off: updates have no row before them.")
