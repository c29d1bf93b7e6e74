"""The examples in docstrings are run, of every module that has any."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import simulator

ROOT = Path(simulator.__file__).parent
WITH_EXAMPLES = [path for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def test_there_are_examples() -> None:
    assert len(WITH_EXAMPLES) > 20


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples(path: Path) -> None:
    name = ".".join(("simulator", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
