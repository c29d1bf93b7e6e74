"""Bytes of files: lines, whole messages as lines, and Avro object containers that an independent reader opens."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import numpy as np
import pyarrow as pa
import pytest

from simulator.batch import MESSAGE_SCHEMA, MessageBatch
from simulator.errors import SinkError
from simulator.sinks import framing, open_sink
from simulator.wire.avro import Container, Longs, join

SCHEMA = json.dumps({"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]})


VALUES = [b"{}", b"", '{"名":1}'.encode(), None, b"x" * 300]


def messages(values: list[bytes | None]) -> MessageBatch:
    topics = pa.DictionaryArray.from_arrays(pa.array([0] * len(values), pa.int32()), pa.array(["t"], pa.string()))
    numbers = {name: pa.array([0] * len(values)) for name in ("phase", "turn", "ordinal", "kind", "changes")}
    numbers = {name: array.cast(MESSAGE_SCHEMA.field(name).type) for name, array in numbers.items()}
    return MessageBatch.of(len(values), **numbers, topic=topics, value=pa.array(values, pa.binary()))


@pytest.mark.parametrize("slice_bytes", [1, 100, 1 << 20])
@pytest.mark.parametrize(("first", "last"), [(0, 5), (1, 3), (2, 2), (4, 5)])
def test_lines(first: int, last: int, slice_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "SLICE_BYTES", slice_bytes)
    data = b"".join(framing.Lines().frame(messages(VALUES).slice(first, last - first)))
    assert data == b"".join((b"null" if value is None else value) + b"\n" for value in VALUES[first:last])


def test_a_container_holds_no_tombstone() -> None:
    with pytest.raises(SinkError, match="cannot hold tombstones"):
        b"".join(framing.ObjectContainer(Container(SCHEMA)).frame(messages(VALUES)))


def batch_of(numbers: list[int], partition: int, frame: bytes = b"") -> MessageBatch:
    values = join([frame, Longs(np.array(numbers))], len(numbers))
    columns = messages(values.to_pylist()).columns
    place = pa.array([partition] * len(numbers), pa.int32())
    return MessageBatch(columns.set_column(columns.schema.get_field_index("partition"), "partition", place))


@pytest.mark.parametrize("frame", [b"", b"\xc3\x01abcdefgh"])
def test_a_file_per_partition_that_fastavro_reads(frame: bytes, tmp_path: Path) -> None:
    container = Container(SCHEMA, framing=len(frame))
    with open_sink(f"file:{tmp_path}?partitions=2", container=container) as sink:
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
