"""Files of binary values: Avro object containers that a reader of somebody else's opens."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from simulator.batch import MessageBatch
from simulator.errors import SinkError
from simulator.sinks import open_sink
from simulator.wire.avro import Container, join, longs

SCHEMA = json.dumps({"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]})


def batch_of(numbers: list[int], partition: int, frame: bytes = b"") -> MessageBatch:
    count = len(numbers)
    topics = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["t"], pa.string()))
    return MessageBatch.of(
        count,
        phase=pa.array([1] * count, pa.int8()),
        turn=pa.array(range(count), pa.int64()),
        ordinal=pa.array([0] * count, pa.int64()),
        kind=pa.array([1] * count, pa.int8()),
        changes=pa.array([1] * count, pa.int32()),
        topic=topics,
        partition=pa.array([partition] * count, pa.int32()),
        value=join([frame, longs(pa.array(numbers, pa.int64()).to_numpy())], count),
    )


@pytest.mark.parametrize("frame", [b"", b"\xc3\x01abcdefgh"])
def test_a_file_per_partition_that_fastavro_reads(frame: bytes, tmp_path: Path) -> None:
    container = Container(SCHEMA, framing=len(frame))
    with open_sink(f"file:{tmp_path}?partitions=2", container=container) as sink:
        assert sink.line_end == ""
        for numbers, partition in (([1, -2], 0), ([1 << 40], 1), ([3], 0)):
            sink.send(batch_of(numbers, partition, frame))
        sink.flush()
        assert sink.delivered == 4
    found = {}
    for path in sorted(tmp_path.iterdir()):
        with path.open("rb") as file:
            found[path.name] = [row["n"] for row in fastavro.reader(file)]
    assert found == {"t-0.avro": [1, -2, 3], "t-1.avro": [1 << 40]}
    with pytest.raises(SinkError, match=r"t-0\.avro is already there"):
        open_sink(f"file:{tmp_path}", container=container)


def test_an_envelope_is_lines(tmp_path: Path) -> None:
    with open_sink(f"file:{tmp_path}", envelope=True, container=Container(SCHEMA)) as sink:
        sink.send(batch_of([300], 0))
    (line,) = (tmp_path / "t-0.jsonl").read_text().splitlines()
    assert json.loads(line)["value"] == {"base64": "2AQ="}
