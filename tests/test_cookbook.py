"""The recipes of the cookbook: each scenario is saved, and each command run, as the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import ROOT, Command

PAGE = (ROOT / "scenarios" / "COOKBOOK.md").read_text(encoding="utf-8")
RECIPES = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe(title: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```(?:yaml|sql)\n# (\S+)\n(.*?)```", RECIPES[title], re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    saved = set(tmp_path.iterdir())
    (line,) = re.findall(r"```sh\ncdcsim (.*?)\n```", RECIPES[title])
    done = command(*shlex.split(line), status=0)
    assert done.out or set(tmp_path.iterdir()) - saved, "nothing was written"


def test_there_are_recipes() -> None:
    assert len(RECIPES) >= 20
