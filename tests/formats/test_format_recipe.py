"""formats/README.md is followed to the letter: its example becomes a format that the whole program knows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import simulator
from simulator import formats

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
    values = [json.loads(message.value or b"") for message in simulator.messages("crud", "toy-json", limit=30)]
    ops = {value["op"] for value in values}
    assert ops == {"c", "u", "d"}
    for value in values:
        assert value["table"] == "users"
        assert ("after" in value) == (value["op"] != "d")
        assert ("before" in value) == (value["op"] != "c")
    updates = [m.value for m in simulator.messages("crud", "toy-json,before=off", limit=30) if b'"op":"u"' in m.value]
    assert updates
    assert all(b'"before":null' in value for value in updates)


@pytest.mark.usefixtures("toy")
def test_its_options_are_described() -> None:
    (option,) = formats.find("toy-json").options
    assert (option.name, option.default, option.doc) == ("before", "on", "off: updates have no row before them.")
