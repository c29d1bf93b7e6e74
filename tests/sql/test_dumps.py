"""A mysqldump becomes messages that hold its rows; `benchmarks/dump.py` measures one of 50 MB."""

from __future__ import annotations

import json
from pathlib import Path

from command import Command
from dumps import dump, rows


def test_messages_hold_the_dumped_rows(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "dump.sql"
    file.write_text("".join(dump(5000)))
    done = command("run", str(file), "-f", "canal-json", "-q", status=0)
    messages = map(json.loads, done.out.splitlines())
    held = [row for message in messages if message["type"] == "INSERT" for row in message["data"]]
    assert held == [row for _, row in rows(5000)]
