"""Halves of split updates are changes of their own where the product counts rows of its log."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from each import each
from random_scenarios import SMALL, streamed

from simulator import sources
from simulator.run.job import Job
from simulator.run.plan import Limits
from simulator.stream.scenario.loader import read
from simulator.stream.scenario.resolve import resolve

SCRIPT = """
tables: {t: {key: a, columns: {a: int64, b: int64}}}
script:
  - transaction: [{insert: t, rows: [{a: 1}, {a: 2}]}]
  - transaction:
      - {update: t, where: {a: 1}, set: {b: 3}}
      - {update: t, where: {a: 1}, set: {a: 9}}
      - {update: t, where: {a: 2}, set: {a: 8}}
      - {delete: t, where: {a: 9}}
  - transaction: [{update: t, where: {a: 8}, set: {b: 4}}]
"""
ONE = [(1, 2), (2, 2), (1, 4), (2, 4), (3, 4), (4, 4), (1, 1)]
TWO = [(1, 2), (2, 2), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6), (1, 1)]


def records(format: str, source: str) -> list[dict[str, Any]]:
    system = sources.find(source)
    job = Job(resolve(read(SCRIPT, "f.yaml"), system), system, format)
    return [json.loads(message.value or b"") for message in job.messages(Limits())]


@each(
    [
        ("oms-shareplex", "oceanbase-mysql", TWO),
        ("oms-shareplex", "mysql", ONE),
        ("oms-shareplex,split_key_update=on", "mysql", TWO),
        ("dts-shareplex-json", "oracle", ONE),
        ("dts-shareplex-json,split_on_key_update=on", "oracle", TWO),
        # UPDATE BEFORE and UPDATE AFTER
        (
            "dts-shareplex-json,update_style=split",
            "oracle",
            [*ONE[:2], *(p for p in ONE[2:5] for _ in "ba"), (4, 4), (1, 1), (1, 1)],
        ),
    ]
)
def test_places_in_a_transaction(format: str, source: str, places: list[tuple[int, int]]) -> None:
    found = [record["meta"] for record in records(format, source)]
    assert [(meta["seq"], meta["size"]) for meta in found] == places
    assert [meta["idx"] for meta in found] == [f"{seq}/{size}" for seq, size in places]


def test_unique_ids_count_rows_of_the_log() -> None:
    ids = [record["allMetaData"]["uniqueId"] for record in records("oms-default", "oceanbase-mysql")]
    assert [int(id.rpartition("_")[2]) + 1 for id in ids] == [place for place, _ in TWO]
    assert len(set(ids)) == len(ids)


def test_generated_transactions_are_counted_whole() -> None:
    stream, renderer = streamed(SMALL, "oms-shareplex", "oceanbase-mysql")
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    batch = renderer.render(stream.read(0, stream.border(400)))
    assert batch is not None
    for message in batch.messages():
        meta = json.loads(message.value or b"")["meta"]
        found[meta["trans"]].append((meta["seq"], meta["size"]))
    assert all(places == [(i + 1, len(places)) for i in range(len(places))] for places in found.values())
