"""A consumer of canal-json that applies changes by their key, with one mistake: a function, and a command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

# Each mistake, the kinds of failures by which it shows, and the most changes that it takes.
MISTAKES: Final = {
    "ignores deletes": ("extra", 2),
    "takes old for the row": ("different|missing", 2),
    "drops key updates": ("extra", 2),
    "loses microseconds": ("different", 1),
    "turns unsigned to signed": ("different", 1),
    "applies by the product's time": ("extra|different|missing", 3),
    "applies nothing behind a newer change of any partition": ("extra|different|missing", 3),
    "raises at a null": ("ended", 1),
    "adds on redelivery": ("ended", 1),
}


def tables_of(values: Iterable[bytes], mistake: str) -> dict[str, list[dict[str, Any]]]:
    """Rows by table after all messages. Raises ValueError, as some mistakes do."""
    tables = dict[str, dict[tuple[str, ...], dict[str, Any]]]()
    newest = dict[tuple[str, ...], int]()
    last_id = 0
    for value in values:
        batch = json.loads(value)
        if batch["isDdl"]:
            continue
        if mistake == "applies nothing behind a newer change of any partition":
            if batch["id"] < last_id:
                continue
            last_id = batch["id"]
        rows = tables.setdefault(batch["table"], {})
        for number, row in enumerate(batch["data"]):
            _apply(batch, number, row, rows, newest, mistake)
    return {table: list(rows.values()) for table, rows in tables.items()}


def _apply(
    batch: dict[str, Any],
    number: int,
    row: dict[str, Any],
    rows: dict[tuple[str, ...], dict[str, Any]],
    newest: dict[tuple[str, ...], int],
    mistake: str,
) -> None:
    names = batch["pkNames"]
    key = tuple(row[name] for name in names)
    if mistake == "adds on redelivery" and batch["type"] == "INSERT" and key in rows:
        raise ValueError(f"duplicate key {key}")
    if mistake == "applies by the product's time" and newest.setdefault(key, 0) >= batch["ts"]:
        return
    newest[key] = batch["ts"]
    if batch["type"] == "DELETE":
        if mistake != "ignores deletes":
            rows.pop(key, None)
        return
    old = {**row, **((batch["old"] or [{}] * len(batch["data"]))[number] or {})}
    if mistake == "takes old for the row":
        row = old
    if mistake != "drops key updates" and batch["old"]:
        rows.pop(tuple(old[name] for name in names), None)
    if mistake == "loses microseconds" and "seen_at" in row:
        row["seen_at"] = row["seen_at"][:19]
    if mistake == "turns unsigned to signed" and "flags" in row:
        flags = int(row["flags"])
        row["flags"] = str(flags - (1 << 32) if flags >= 1 << 31 else flags)
    if mistake == "raises at a null" and None in row.values():
        raise ValueError("unexpected null")
    rows[key] = row


if __name__ == "__main__":
    for table, own in tables_of(Path(sys.argv[2]).read_bytes().splitlines(), sys.argv[1]).items():
        Path(sys.argv[3], f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
