"""First lines of docstrings, and their examples, which are run."""

from __future__ import annotations

import ast
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


def test_first_lines_are_no_riddles() -> None:
    """A noun phrase or a verb comes first."""
    riddles = ("How ", "So many ", "What ", "Where ", "Which ", "Who ")
    wrong = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {line}"
        for path in sorted(ROOT.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for line in (ast.get_docstring(node) or "").splitlines()[:1]
        if line.startswith(riddles)
    ]
    assert not wrong, "\n".join(wrong)
