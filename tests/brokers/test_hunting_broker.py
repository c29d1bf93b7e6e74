"""A hunt whose consumer reads a topic of a real broker."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from simulator.hunting.case import Case
from simulator.hunting.consumer import Command
from simulator.hunting.hunt import replay_case

SCENARIO: Final = """
database: shop
tables:
  orders:
    key: id
    columns:
      id: {type: int64, values: sequence}
      note: {type: string(40), nulls: 0.3, values: {faker: city}}
    rows: 20
    mix: {insert: 30, update: 40, delete: 30}
"""
# Reads each partition to its end; the mistake is a word behind the topic.
CONSUMER: Final = """
import json, pathlib, sys
from confluent_kafka import Consumer, TopicPartition

server, topic, tables, mistake = sys.argv[1:]
client = Consumer({"bootstrap.servers": server, "group.id": "hunt", "enable.auto.commit": False})
rows = {}
for number in client.list_topics(topic, timeout=120).topics[topic].partitions:
    partition = TopicPartition(topic, number, 0)
    _, end = client.get_watermark_offsets(partition, timeout=120)
    client.assign([partition])
    while partition.offset < end:
        message = client.poll(1)
        if message is None:
            continue
        assert message.error() is None, message.error()
        partition.offset = message.offset() + 1
        change = json.loads(message.value())
        for row in change["data"] or []:
            if change["type"] != "DELETE":
                rows[row["id"]] = row
            elif mistake != "ignores-deletes":
                rows.pop(row["id"], None)
client.close()
pathlib.Path(tables, "orders.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows.values()))
"""


@pytest.mark.broker("kafka")
def test_a_consumer_of_a_topic(kafka: str, tmp_path: Path) -> None:
    """Three partitions, with messages that come again: the right one passes, the wrong one keeps a deleted row."""
    (tmp_path / "consumer.py").write_text(CONSUMER)
    case = Case(SCENARIO, "canal-json", turns=100, partitions=3, faults="redelivery=10000,flush=60000")
    through = f"kafka://{kafka}/hunt-{{case}}?partitions={{partitions}}"
    for mistake, kind in (("none", None), ("ignores-deletes", "extra")):
        words = (sys.executable, str(tmp_path / "consumer.py"), kafka, "hunt-{case}", "{tables}", mistake)
        found = replay_case(case, Command(words, through=through, seconds=600))
        assert (found.failure and found.failure.kind) == kind, str(found)
