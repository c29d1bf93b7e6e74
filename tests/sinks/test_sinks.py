"""The contract of sinks, held by those that need no broker, and by one made as `sinks/README.md` says."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from sinks_contract import Received, SinkContract, batch

import simulator.sinks
from simulator.errors import DeliveryFailed, OptionError, SinkError, UsageError
from simulator.sinks import open_sink


class TestMemory(SinkContract):
    @pytest.fixture(autouse=True)
    def _kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from simulator.sinks.memory import MemorySink

        self.sinks: list[MemorySink] = []
        made = MemorySink.__init__

        def keep(sink: MemorySink, **options: Any) -> None:
            made(sink, **options)
            self.sinks.append(sink)

        monkeypatch.setattr(MemorySink, "__init__", keep)

    def url(self, topic: str) -> str:
        return "memory:?partitions=5"

    def read(self, topic: str) -> dict[int, list[Received]]:
        found = defaultdict(list)
        for sink in self.sinks:
            for message in sink.messages():
                assert message.partition is not None
                received = Received(message.value, message.key, message.headers, message.timestamp_ms)
                found[message.partition].append(received)
        return found


class TestFiles(SinkContract):
    keys = headers = timestamps = tombstones = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "messages"

    def url(self, topic: str) -> str:
        return f"file:{self.folder}?partitions=5"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {
            int(path.stem.rpartition("-")[2]): [Received(line) for line in path.read_bytes().splitlines()]
            for path in self.folder.iterdir()
        }


class TestParquet(SinkContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "messages"

    def url(self, topic: str) -> str:
        return f"parquet:{self.folder}?partitions=5"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {
            int(path.parent.name.removeprefix("partition=")): [
                Received(row["value"], row["key"], headers_of(row), stamp_of(row))
                for row in parquet.ParquetFile(path).read().to_pylist()
            ]
            for path in self.folder.glob(f"topic={topic}/*/part-0000000.parquet")
        }


def headers_of(row: dict[str, Any]) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((each["name"], each["value"]) for each in row["headers"] or ())


def stamp_of(row: dict[str, Any]) -> int | None:
    return None if row["timestamp"] is None else round(row["timestamp"].timestamp() * 1000)


def test_parquet_whose_end_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close = parquet.ParquetWriter.close

    def full(writer: parquet.ParquetWriter) -> None:
        close(writer)
        raise OSError(28, "No space left on device")

    with open_sink(f"parquet:{tmp_path}") as sink:
        sink.send(batch("t", [b"{}"]))
        monkeypatch.setattr(parquet.ParquetWriter, "close", full)
        with pytest.raises(SinkError, match=r"part-0000000\.parquet: its end cannot be written: No space"):
            sink.flush()
    assert not list(tmp_path.rglob("*.parquet"))


def test_parquet_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose first rows cannot be written is not left behind."""

    def full(writer: parquet.ParquetWriter, table: pa.Table) -> None:
        raise OSError(28, "No space left on device")

    with open_sink(f"parquet:{tmp_path}") as sink:
        monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
        with pytest.raises(DeliveryFailed, match=r"part-0000000\.parquet stopped: No space left on device"):
            sink.send(batch("t", [b"{}"]))
    assert not list(tmp_path.rglob("*.parquet"))


class TestStdout(SinkContract):
    count = 1
    keys = headers = timestamps = tombstones = False

    @pytest.fixture(autouse=True)
    def _captured(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self.capture = capfdbinary

    def url(self, topic: str) -> str:
        return "-"

    def read(self, topic: str) -> dict[int, list[Received]]:
        return {0: [Received(line) for line in self.capture.readouterr().out.splitlines()]}

    test_an_unknown_option_is_refused = None  # type: ignore[assignment]  # it has no options


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:x?partitions=0", "the file URL's option 'partitions' is a number from 1 to 10000, not '0'."),
        ("file:?partitions=2", "--to file:?partitions=2: it names no folder; write file:DIR."),
        ("memory:?partitions=x", "the memory URL's option 'partitions' is a number from 1 to 10000, not 'x'."),
    ],
)
def test_bad_urls(url: str, sentence: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_sink(url)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("to", ["memory:", "parquet:nowhere", "kafka://127.0.0.1:1/t"])
def test_envelopes_are_for_lines_only(to: str) -> None:
    with pytest.raises(UsageError, match="--envelope writes JSON lines"):
        simulator.publish("crud", "canal-json", to, limit=1, envelope=True)


@pytest.mark.parametrize(
    "send",
    [
        lambda: simulator.publish("crud", "dts-avro", "-", limit=1),
        lambda: simulator.simulate("crud", "dts-avro", limit=1).send("-"),
    ],
)
def test_bytes_are_no_lines_of_text(send: Callable[[], object], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(UsageError, match="-f dts-avro is binary, not lines of text"):
        send()
    assert capfdbinary.readouterr().out == b""


def test_an_envelope_holds_the_whole_message(tmp_path: Path) -> None:
    with open_sink(f"file:{tmp_path}", envelope=True) as sink:
        sink.send(batch("t", [b"{}", None], [b"k", b"\xff"], headers=[[("h", b"v")], None], timestamps_ms=[7, None]))
        sink.send(batch("t", [b"{}"], tags=["shop.t"], first_turn=2))
    one, two, three = map(orjson.loads, (tmp_path / "t-0.jsonl").read_bytes().splitlines())
    assert one == {"topic": "t", "partition": 0, "key": "k", "headers": [["h", "v"]], "timestamp": 7, "value": "{}"}
    assert three["tag"] == "shop.t"
    assert (two["key"], two["value"]) == ({"base64": "/w=="}, None)


def test_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "t-0.jsonl").touch()
    with pytest.raises(SinkError, match=r"t-0\.jsonl is already there"):
        open_sink(f"file:{tmp_path}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is a Linux thing")
def test_a_full_disk(tmp_path: Path) -> None:
    with open_sink(f"file:{tmp_path}?partitions=2") as sink:
        sink.send(batch("t", [b"1"], None, [1]))
        (tmp_path / "t-0.jsonl").unlink(missing_ok=True)
        full = open("/dev/full", "wb")  # noqa: SIM115 - the sink closes it
        sink._files["t", 0] = full  # type: ignore[attr-defined]
        with pytest.raises(DeliveryFailed) as caught:
            sink.send(batch("t", [b"2", b"3", b"4"], None, [1, 0, 1], first_turn=1))
        assert str(caught.value) == (
            "3 of 4 messages were not delivered; the first was turn 2.0 for topic 't' partition 0 (1 bytes):"
            " writing to /dev/full stopped: No space left on device; the file ends within a message."
        )


def test_a_disk_that_becomes_full_leaves_whole_lines(tmp_path: Path) -> None:
    """A limit of the file's size stands for the disk."""
    code = """
import resource, signal, sys
from simulator.errors import DeliveryFailed
from simulator.sinks import open_sink
from sinks_contract import batch
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_sink(f"file:{sys.argv[1]}") as sink:
    sink.send(batch("t", [b"1" * 3000]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
    try:
        sink.send(batch("t", [b"2" * 9000], first_turn=1))
    except DeliveryFailed as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(sink.sizes())
"""
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True
    )
    assert b"1 of 2 messages were not delivered" in done.stdout
    assert done.stdout.splitlines()[-1] == b"{'t-0.jsonl': 3001}"
    assert (tmp_path / "t-0.jsonl").read_bytes() == b"1" * 3000 + b"\n"


# A sink made as the page says.

RECIPE = Path(simulator.sinks.__file__).with_name("README.md")


class TestRecipe(SinkContract):
    """The example of the page, written into a module of its own and registered as an entry point."""

    total = 600  # a file each
    keys = headers = timestamps = tombstones = False

    @pytest.fixture(autouse=True)
    def _installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (code,) = re.findall(r"```python\n(.*?)```", RECIPE.read_text("utf-8"), re.DOTALL)
        (tmp_path / "cdcsim_spool.py").write_text(code)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "cdcsim_spool", raising=False)
        (entry,) = re.findall(r'\[project\.entry-points\."simulator\.sinks"\]\n(\w+) = "(.*?)"', RECIPE.read_text())
        point = importlib.metadata.EntryPoint(*entry, "simulator.sinks")
        found = lambda *, group: [point] if group == "simulator.sinks" else []  # noqa: E731
        monkeypatch.setattr("simulator.registry.entry_points", found)
        self.folder = tmp_path / "spool"
        self.folder.mkdir()

    def url(self, topic: str) -> str:
        return f"spool:{self.folder}?partitions=5"

    def read(self, topic: str) -> dict[int, list[Received]]:
        found = defaultdict(list)
        for path in sorted(self.folder.iterdir(), key=lambda path: int(path.name.rpartition(".")[2])):
            found[int(path.name.split(".")[1])].append(Received(path.read_bytes()))
        return found
