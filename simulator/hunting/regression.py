"""Findings of a hunt as a file that replays them and a test for pytest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulator.errors import SinkError
from simulator.hunting.hunt import Found
from simulator.output import write_whole

TEST: Final = '''"""Found by cdcsim hunt."""

from pathlib import Path

import simulator


def test_{name}() -> None:
    """{sentence}"""
    found = simulator.replay(Path(__file__).with_name("{file}"))
    assert found.ok, str(found)
'''


def write_regression(found: Found, folder: Path, command: tuple[str, ...]) -> Path:
    """Writes the case and its test, under names that are still free; the path of the case. Raises SinkError."""
    assert found.case is not None
    assert found.failure is not None
    scenario = found.case.scenario
    name = found.case.format.partition(",")[0] if "\n" in scenario else Path(scenario).stem
    stem = re.sub(r"[^a-z0-9]+", "_", f"{name}_{found.failure.kind}".lower())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while (path := folder / f"{stem}_{number}.yaml").exists():
            number += 1
        write_whole(path, found.case.as_yaml(found.sentence, command).encode())
        sentence = found.sentence.replace("\\", "\\\\").replace('"""', "'''")
        text = TEST.format(name=path.stem, file=path.name, sentence=sentence)
        write_whole(folder / f"test_{path.stem}.py", text.encode())
    except OSError as error:
        raise SinkError(f"--to {folder}: {error.strerror or error}.") from None
    return path
