"""Ledgers of keys, held against a replay of the changes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command import Command

import simulator


def replayed(scenario: str, turns: int, settings: dict[str, object]) -> dict[str, tuple[Counter[Any], dict[Any, Any]]]:
    """Changes of each key by table, and where the last one stands."""
    found: dict[str, tuple[Counter[Any], dict[Any, Any]]] = {}
    run = simulator.simulate(scenario, "canal-json", turns=turns, settings=settings)
    for change in run.changes:
        counts, last = found.setdefault(str(change.table), (Counter(), {}))
        keys = {tuple(str(image[name]) for name in change.key) for image in (change.before, change.after) if image}
        for key in keys:
            counts[key] += 1
            last[key] = change.order.turn, change.order.ordinal
    return found


@pytest.mark.parametrize(
    ("scenario", "turns", "settings"), [("crud", 900, {"tables.users.rows": 200}), ("tour", 29, {})]
)
def test_a_ledger_is_that_of_a_replay(
    scenario: str, turns: int, settings: dict[str, object], tmp_path: Path, command: Command
) -> None:
    """Number of changes, the last one, and the digest of the row's texts."""
    options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    arguments = ["--at", str(turns), "--to", str(tmp_path), "--as", "jsonl", "--ledger"]
    command("expected", scenario, *options, *arguments)
    tables = json.loads((tmp_path / "tables.json").read_bytes())["tables"]
    replay, checked = replayed(scenario, turns, settings), 0
    for table in tables:
        file = tmp_path / table["file"].replace(".jsonl", ".ledger.jsonl")
        if not table["key"]:
            assert not file.exists()
            continue
        counts, last = replay.get(table["table"], (Counter(), {}))
        rows = {
            tuple(row[name] for name in table["key"]): row
            for row in map(json.loads, (tmp_path / table["file"]).read_bytes().splitlines())
        }
        entries = list(map(json.loads, file.read_bytes().splitlines()))
        assert {tuple(entry[name] for name in table["key"]) for entry in entries} == counts.keys() | rows.keys()
        for entry in entries:
            key = tuple(entry[name] for name in table["key"])
            checked += 1
            assert entry["changes"] == counts[key], entry
            assert (entry["last_turn"], entry["last_ordinal"]) == last.get(key, (None, None))
            cells = [] if key not in rows else ["\0" if cell is None else cell for cell in rows[key].values()]
            text = "".join(f"{cell}\x1f" for cell in cells)
            assert entry["digest"] == (hashlib.sha256(text.encode()).hexdigest() if cells else None)
    assert checked > 9
