"""Ledgers of keys, held against a replay of the changes; of partitions, against the messages."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
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


def digest(values: list[bytes | None]) -> str:
    """As a reader of a partition computes it."""
    number = 0
    for value in values:
        number = (number * 31 + int.from_bytes(hashlib.sha256(value or b"").digest()[:8])) % 2**64
    return f"{number:016x}"


@pytest.mark.parametrize(
    ("format", "partitions", "snapshot"), [("debezium-json", 3, True), ("canal-json", 1, False), ("dts-avro", 2, False)]
)
def test_a_ledger_of_messages(format: str, partitions: int, snapshot: bool, tmp_path: Path, command: Command) -> None:
    """Tombstones, snapshots, and messages of several rows: as they are read from what a run wrote."""
    settings: dict[str, object] = {"tables.users.rows": 100}
    lake = f"parquet:{tmp_path}/lake?partitions={partitions}"
    simulator.publish("crud", format, lake, turns=700, snapshot=snapshot, settings=settings)
    options = ["--at", "700", "-f", format, "--partitions", str(partitions), *(["--snapshot"] if snapshot else [])]
    command(
        "expected", "crud", *options, "--set", "tables.users.rows=100", "--to", f"{tmp_path}/rows", "--as", "jsonl",
        "--ledger",
    )  # fmt: skip
    entries = list(map(json.loads, (tmp_path / "rows" / "partitions.ledger.jsonl").read_bytes().splitlines()))
    folders = {f"topic={each['topic']}/partition={each['partition']}": each for each in entries}
    files = {str(file.parent.relative_to(tmp_path / "lake")): file for file in (tmp_path / "lake").rglob("*.parquet")}
    assert folders.keys() == files.keys()
    assert len(files) >= partitions
    for name, entry in folders.items():
        messages = parquet.ParquetFile(files[name]).read()
        last = messages["position"][-1].as_py()
        assert entry["messages"] == len(messages)
        assert entry["changes"] == sum(messages["changes"].to_pylist())
        assert (entry["last_turn"], entry["last_ordinal"]) == (last["turn"], last["ordinal"])
        assert entry["digest"] == digest(messages["value"].to_pylist())


def test_options_of_the_ledger_of_messages(command: Command, tmp_path: Path) -> None:
    done = command(
        "expected", "crud", "--at", "9", "--to", str(tmp_path / "new"), "--ledger", "--partitions", "2", status=2
    )
    assert "--route, --partitions and --snapshot are about the ledger of messages: add -f and --ledger." in done.err
    assert not (tmp_path / "new").exists()
