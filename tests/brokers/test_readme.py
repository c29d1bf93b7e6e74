"""The README's commands that need a broker, run against a real one."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import ONLINE, check

pytestmark = pytest.mark.broker("kafka")


@pytest.mark.parametrize(("command", "expected"), ONLINE, ids=[command for command, _ in ONLINE])
def test_console_block(command: str, expected: str, tmp_path: Path, kafka: str) -> None:
    check(command.replace("localhost:9092", kafka), expected.replace("localhost:9092", kafka), tmp_path)
