"""Commands of the README and of the load test's tutorial that need a broker, run against a real one."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from command import cdcsim
from test_docs import ONLINE, ROOT, assert_printed, follow, without_passing, words_of, write_files

pytestmark = pytest.mark.broker("kafka")


def run(words: list[str], folder: Path) -> str:
    """What a command prints, without what it reports of a slow machine."""
    done = cdcsim(*words, cwd=folder)
    return done.stdout + without_passing(done.stderr)


@pytest.mark.parametrize(("line", "expected"), ONLINE, ids=[line for line, _ in ONLINE])
def test_console_block(line: str, expected: str, tmp_path: Path, kafka: str) -> None:
    write_files(tmp_path)
    printed = run(words_of(line.replace("localhost:9092", kafka)), tmp_path)
    assert_printed(expected.replace("localhost:9092", kafka), printed)


def test_the_load_test(tmp_path: Path, kafka: str) -> None:
    """The tutorial's topic is sent and read back, under a name that no other run has."""
    page = (ROOT / "scenarios" / "LOAD-TEST.md").read_text("utf-8")
    page = page.replace("localhost:9092", kafka).replace("shop-load", f"shop-load-{uuid.uuid4().hex}")
    steps = follow(
        page, tmp_path, lambda words: (0, run(words[1:], tmp_path)), lambda line: "kafka://" in line or " init " in line
    )
    assert steps == 3
