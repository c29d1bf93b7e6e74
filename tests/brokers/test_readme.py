"""The README's commands that need a broker, run against a real one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import cdcsim
from test_docs import ONLINE, assert_printed, words_of, write_files

pytestmark = pytest.mark.broker("kafka")


@pytest.mark.parametrize(("line", "expected"), ONLINE, ids=[line for line, _ in ONLINE])
def test_console_block(line: str, expected: str, tmp_path: Path, kafka: str) -> None:
    write_files(tmp_path)
    done = cdcsim(*words_of(line.replace("localhost:9092", kafka)), cwd=tmp_path)
    # a slow machine or broker is told about
    passing = re.compile(r"waiting: .*|messages are acknowledged again, .*|[\d,]+ row changes, .* delivered.*")
    told = "".join(line for line in done.stderr.splitlines(keepends=True) if not passing.fullmatch(line.strip()))
    assert_printed(expected.replace("localhost:9092", kafka), done.stdout + told)
