"""The verdict on what runs write: findings in words, other input in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from command import Command, cdcsim

import simulator
from simulator.errors import UsageError
from simulator.run.job import open_job
from simulator.run.processes.workers import Workers
from simulator.run.request import Span, Subject
from simulator.truth.verify.findings import Wrong
from simulator.truth.verify.verify import recorded, verify_job

BINARY = ("cloudcanal-dts-avro", "debezium-avro", "drs-avro", "dts-avro")


def publish(scenario: str, format: str, to: str, **options: Any) -> None:
    simulator.publish(scenario, format, to, **options)


@pytest.mark.parametrize("format", ["canal-json", "dts-avro"])
def test_one_stream(format: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file in stream order, and standard input."""
    binary = format in BINARY
    path = tmp_path / f"all.{'avro' if binary else 'jsonl'}"
    publish("crud", format, f"file:{path}", limit=100)
    assert simulator.verify("crud", format, path, limit=100).ok
    arguments = ["crud", "-f", format, "--limit", "100"]
    if binary:
        arguments += ["--envelope"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(cdcsim("run", *arguments, "-q").stdout.encode())))
    done = command("verify", *arguments[:5], "--from", "-")
    assert "100 of 100 messages are right (100 read)" in done.out


def test_folders_of_parts(tmp_path: Path) -> None:
    """As tasks of Spark write them: a folder for each topic and partition."""
    publish("crud", "canal-json", f"file:{tmp_path}?partitions=2", limit=90, route="key")
    for file in list(tmp_path.glob("*.jsonl")):
        lines = lines_of(file)
        file.unlink()
        (tmp_path / file.stem).mkdir()
        (tmp_path / file.stem / "part-0000000.jsonl").write_bytes(b"".join(lines[:20]))
        (tmp_path / file.stem / "part-0000001.jsonl").write_bytes(b"".join(lines[20:]))
    assert simulator.verify("crud", "canal-json", f"file:{tmp_path}?partitions=2", limit=90, route="key").ok


def test_a_record_says_what_was_sent(tmp_path: Path, command: Command) -> None:
    to, record, report = f"file:{tmp_path / 'out'}?partitions=3", str(tmp_path / "run.json"), tmp_path / "report.json"
    run = ["orders", "-f", "dts-canal-json"]
    command("run", *run, "--seed", "9", "--start-at", "500", "--limit", "80", "--to", to, "--record", record)
    done = command("verify", *run, "--from", to, "--record", record, "--report", str(report))
    assert "messages are right" in done.out
    assert json.loads(report.read_bytes())["ok"] is True
    failed = command("verify", *run, "--from", to, "--record", record, "--seed", "8", status=2)
    assert "--seed 8" in failed.err
    assert "--seed 9" in failed.err
    for wrong, words in (
        (["--route", "table"], "--route table: "),
        (["--snapshot"], "of a run with --snapshot false"),
        (["--limit", "80"], "leave out --limit, --turns and --start-at"),
        (["--start-at", "500"], "leave out --limit, --turns and --start-at"),
        (["--set", "tables.customers.rows=9"], "is not as it was for the run that --record is of"),
    ):
        assert words in command("verify", *run, "--from", to, "--record", record, *wrong, status=2).err


def test_damaged_records(tmp_path: Path, command: Command) -> None:
    """Cut, of another version, nested without end, members missing or of another type: one sentence."""
    file = tmp_path / "run.json"
    run = ["crud", "-f", "canal-json", "--limit", "9", "--to", f"file:{tmp_path}/out"]
    command("run", *run, "--record", file, status=0)
    text = file.read_bytes()
    facts = json.loads(text)
    subject, span = Subject("crud", "canal-json"), Span()
    assert recorded(file, subject, span)[1].turns == 9
    needed = ("version", "run", "scenario", "format", "source", "seed", "first_turn", "next_turn")
    damaged = [{**facts, name: other} for name in needed for other in (None, [], {}, True, 0.5)]
    damaged += [
        {**facts, "next_turn": -1},
        {**facts, "first_turn": 10},
        {**facts, "seed": "1"},
        {**facts, "version": 2},
    ]
    damaged += [{**facts, "run": {**facts["run"], name: other}} for name in facts["run"] for other in (None, 7, [])]
    damaged += [{name: facts[name] for name in facts if name != left_out} for left_out in needed]
    documents = [json.dumps(document).encode() for document in damaged if document != facts]
    documents += [text[: len(text) * part // 9] for part in range(9)]
    for document in (*documents, b"[" * 100_000, b"[]", b"7", b"null", b"\xff"):
        file.write_bytes(document)
        with pytest.raises(UsageError, match=r"run\.json: it is no record of a run, as `cdcsim run --record` writes"):
            recorded(file, subject, span)
    done = command("verify", *run[:3], "--from", f"file:{tmp_path}/out", "--record", file, status=2)
    assert done.err == f"cdcsim: --record {file}: it is no record of a run, as `cdcsim run --record` writes them.\n"


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_findings_in_words(workers: list[str], tmp_path: Path, command: Command) -> None:
    """Of one file: what was expected, what came, at which turn; also where other processes render."""
    publish("crud", "canal-json", f"file:{tmp_path / 'out'}", limit=40)
    path = tmp_path / "out" / "example-0.jsonl"
    lines = lines_of(path)
    lines[20] = lines[20].replace(b'"name":"', b'"name":"x', 1)
    foreign = b'{"data":[{"id":"1"}],"database":"d","es":1,"id":1,"isDdl":false,"old":null,"pkNames":["id"],"sql":"",'
    foreign += b'"table":"t","ts":1,"type":"INSERT"}\n'
    lines[30:30] = [foreign]
    lines[10] = lines[10][:50] + b"\n"
    del lines[5]
    path.write_bytes(b"".join(lines))
    read = ["--from", f"file:{tmp_path / 'out'}", *workers]
    done = command("verify", "crud", "-f", "canal-json", "--limit", "40", *read, status=1)
    for words in (
        "37 of 40 messages are right (40 read)",
        "1 missing\n  example-0: ",
        "(turn 5.0) is missing",
        "1 altered\n  example-0: ",
        "(turn 20.0) is altered: data[0].name is 'x",
        "1 foreign\n  example-0: INSERT t id='1' is not of this stream",
        "1 undecodable\n  example-0: ",
        "(turn 10.0) came as a message of 50 bytes that cannot be read",
    ):
        assert words in done.out, done.out


def test_a_worker_that_is_killed_leaves_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages after the last block that was rendered are neither missing nor foreign."""
    publish("crud", "canal-json", tmp_path, limit=500)
    finish = Workers.finish

    def killed(workers: Workers, begun: Any) -> Any:
        rendered = finish(workers, begun)
        workers.processes[1].kill()
        return rendered

    monkeypatch.setattr(Workers, "finish", killed)
    job = open_job("crud", "canal-json")
    words = r"^worker process \d+ was killed by SIGKILL; there is no verdict: verify again, with fewer --workers\.$"
    with pytest.raises(simulator.UsageError, match=words):
        verify_job(job, f"file:{tmp_path}", Span(limit=200_000), workers=2)


def at_least_once(folder: Path, first: int, stop: int, *, behind: int) -> None:
    """A stretch of the only file again, behind one of its messages."""
    path = folder / "example-0.jsonl"
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:behind], *lines[first:stop], *lines[behind:]]))


@pytest.mark.parametrize(
    ("options", "counts", "hint"),
    [
        ({"limit": 200}, {Wrong.FOREIGN: 100}, "come after the last that is expected"),
        ({"limit": 400}, {Wrong.MISSING: 100}, "are ends of partitions"),
        ({"limit": 250, "start_at": 50}, {Wrong.FOREIGN: 50}, "come before the first that is expected"),
        ({"limit": 300, "snapshot": True}, {Wrong.MISSING: 99}, "is of the snapshot"),
        (
            {"limit": 300, "start_at": 50},
            {Wrong.MISSING: 50, Wrong.FOREIGN: 50},
            "ends of partitions.*before the first",
        ),
    ],
)
def test_findings_that_share_a_cause(
    options: dict[str, Any], counts: dict[Wrong, int], hint: str, tmp_path: Path
) -> None:
    """Another begin or end than the run's."""
    settings: dict[str, object] = {"tables.users.rows": 100}
    publish("crud", "canal-json", f"file:{tmp_path}?partitions=3", limit=300, route="key", settings=settings)
    origin = f"file:{tmp_path}?partitions=3"
    verdict = simulator.verify("crud", "canal-json", origin, route="key", settings=settings, **options)
    assert verdict.counts == counts, str(verdict)
    assert re.search(hint, verdict.hint)
    assert str(verdict).endswith(verdict.hint)


def test_what_a_fault_repeats_is_named_by_its_turn(tmp_path: Path) -> None:
    path, options = tmp_path / "out.jsonl", {"limit": 300, "faults": "crash-at=200.0"}
    publish("crud", "canal-json", path, **options)
    lines = lines_of(path)
    assert len(lines) > 300
    assert simulator.verify("crud", "canal-json", path, at_least_once=True, **options).ok
    del lines[201], lines[7]
    path.write_bytes(b"".join(lines))
    text = str(simulator.verify("crud", "canal-json", path, at_least_once=True, **options))
    assert "(turn 7.0) is missing" in text
    assert "(sent again before turn 200) is missing" in text


@pytest.mark.parametrize(("first", "stop", "behind"), [(20, 60, 60), (0, 300, 300), (99, 100, 100), (300, 900, 900)])
def test_redelivery_is_told_from_doubling(first: int, stop: int, behind: int, tmp_path: Path) -> None:
    """Back to an earlier place, and from there on in the old order."""
    publish("crud", "canal-json", f"file:{tmp_path}", limit=1000)
    at_least_once(tmp_path, first, stop, behind=behind)
    strict = simulator.verify("crud", "canal-json", tmp_path, limit=1000)
    assert strict.counts == {Wrong.DOUBLED: stop - first}, str(strict)
    assert strict.right == 1000
    allowed = simulator.verify("crud", "canal-json", tmp_path, limit=1000, at_least_once=True)
    assert allowed.ok, str(allowed)
    assert allowed.redelivered == stop - first


@pytest.mark.parametrize(
    ("format", "renewed"),
    [("canal-json", ("id", "ts")), ("debezium-json", ("ts_ms", "ts_us", "ts_ns")),
     ("debezium-json,value.converter.schemas.enable=true", ("ts_ms", "ts_us", "ts_ns"))],
)  # fmt: skip
@pytest.mark.parametrize("lives", [False, True])
def test_what_comes_again_may_have_renewed_members(
    format: str, renewed: tuple[str, ...], lives: bool, tmp_path: Path
) -> None:
    """Numbers and times of writing, of the stretch alone or of all that the second process writes; any other member is
    altered."""

    def again(line: bytes) -> bytes:
        if (message := json.loads(line)) is None:
            return line
        owner = message.get("payload", message)
        owner.update({name: owner[name] + 77_000 for name in renewed})
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    publish("crud", format, f"file:{tmp_path}", limit=500)
    (path,) = tmp_path.glob("*.jsonl")
    lines = lines_of(path)
    rest = list(map(again, lines[300:])) if lives else lines[300:]
    path.write_bytes(b"".join([*lines[:300], *map(again, lines[220:300]), *rest]))
    allowed = simulator.verify("crud", format, tmp_path, limit=500, at_least_once=True)
    assert allowed.ok, str(allowed)
    assert allowed.redelivered == 80
    strict = simulator.verify("crud", format, tmp_path, limit=500)
    assert strict.counts == {Wrong.DOUBLED: 80}, str(strict)
    wrong = again(lines[250]).replace(b"active", b"passive").replace(b"paused", b"passive").replace(b"closed", b"x")
    path.write_bytes(b"".join([*lines[:300], *map(again, lines[220:250]), wrong, *map(again, lines[251:300]), *rest]))
    verdict = simulator.verify("crud", format, tmp_path, limit=500, at_least_once=True)
    assert not verdict.ok


def test_a_stretch_that_stops_short_is_no_redelivery(tmp_path: Path) -> None:
    publish("crud", "canal-json", f"file:{tmp_path}", limit=1000)
    at_least_once(tmp_path, 200, 230, behind=400)
    verdict = simulator.verify("crud", "canal-json", tmp_path, limit=1000, at_least_once=True)
    assert verdict.counts == {Wrong.DOUBLED: 30}
    assert "and the 29 after it" in str(verdict)


@pytest.mark.parametrize("count", [3, 700, 5_000])
def test_long_gaps_and_long_insertions(count: int, tmp_path: Path) -> None:
    """Longer than what is looked at ahead: one finding, and nothing behind it."""
    publish("crud", "canal-json", f"file:{tmp_path}", limit=12_000)
    path = tmp_path / "example-0.jsonl"
    lines = lines_of(path)
    path.write_bytes(b"".join(lines[:2000] + lines[2000 + count :]))
    verdict = simulator.verify("crud", "canal-json", tmp_path, limit=12_000)
    assert verdict.counts == {Wrong.MISSING: count}, str(verdict)
    foreign = [
        b'{"data":[{"id":"%d"}],"es":1,"table":"t","type":"INSERT","pkNames":["id"]}\n' % i for i in range(count)
    ]
    path.write_bytes(b"".join([*lines[:2000], *foreign, *lines[2000:]]))
    verdict = simulator.verify("crud", "canal-json", tmp_path, limit=12_000)
    assert verdict.counts == {Wrong.FOREIGN: count}, str(verdict)


def test_a_shuffled_file_loses_nothing(tmp_path: Path) -> None:
    publish("crud", "canal-json", f"file:{tmp_path}", limit=400)
    path = tmp_path / "example-0.jsonl"
    lines = lines_of(path)
    random.Random(3).shuffle(lines)
    path.write_bytes(b"".join(lines))
    verdict = simulator.verify("crud", "canal-json", tmp_path, limit=400)
    assert set(verdict.counts) <= {Wrong.REORDERED, Wrong.REORDERED_IN_KEY}
    assert verdict.right == verdict.read == 400


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Messages that were sent, and files that end too early."""
    sent, other = tmp_path_factory.mktemp("sent"), tmp_path_factory.mktemp("other")
    publish("crud", "canal-json", f"file:{sent}?partitions=3", limit=3000, route="key")
    publish("crud", "dts-avro", f"file:{other}/cut.avro", limit=30)
    publish("crud", "dts-avro", f"parquet:{other}/cut", limit=30)
    for file in (other / "cut.avro", *(other / "cut").rglob("*.parquet")):
        file.write_bytes(file.read_bytes()[:-40])
    (other / "empty.jsonl").touch()
    publish("orders", "debezium-json", other / "heartbeats.jsonl", turns=900)
    publish("crud", "canal-json", other / "cut.jsonl", limit=3000)
    lines = (other / "cut.jsonl").read_bytes()
    (other / "packed.jsonl").write_bytes(gzip.compress(lines))
    (other / "windows.jsonl").write_bytes(lines.replace(b"\n", b"\r\n"))
    (other / "cut.jsonl").write_bytes(lines[:-40])
    publish("crud", "canal-json", other / "envelopes.jsonl", limit=3000, envelope=True)
    lines = (other / "envelopes.jsonl").read_bytes()
    (other / "strange.jsonl").write_bytes(b"{}\n".join(lines.rpartition(b"{")[::2]))
    (other / "strange first.jsonl").write_bytes(lines[: lines.index(b"\n") + 1] + b"{}\n")
    return {"sent": sent, "other": other}


# Heartbeats and tombstones are the same in a run of another seed.
HEARTBEATS: dict[str, Any] = {
    "scenario": "orders",
    "format": "debezium-json",
    "limit": None,
    "turns": 900,
    "route": None,
    "from": "file:{other}/heartbeats.jsonl",
}
SAME: dict[str, Any] = {"scenario": "crud", "format": "canal-json", "limit": 3000, "route": "key"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 5}, "none of the first .* is one that is expected: they read as canal-json"),
        ({"format": "oms-default"}, "they are not oms-default"),
        ({"format": "dts-avro", "route": None}, "is binary, and these are no lines|they are not dts-avro"),
        ({"scenario": "orders"}, "of another scenario"),
        (
            {**HEARTBEATS, "seed": 3},
            "most of the [0-9,]+ messages of .* are not those that are expected, and [0-9]+ are",
        ),
        ({"faults": "crash=5000"}, "a run with --clock wall or other --faults. The first difference: "),
        ({"limit": None}, "has no end: say how much was sent"),
        ({"start-at": 5000}, "none of the first"),
        ({"from": "file:{sent}?partitions=1"}, "is beyond partitions=1"),
        ({"from": "file:{sent}"}, "say how many partitions"),
        ({"from": "file:{sent}?partitions=5"}, "are in other partitions than expected|none of the first"),
        ({"from": "file:{sent}/nothing"}, "No such file"),
        ({"from": "redis://x/y"}, "messages are read from -, file, parquet, amqp, amqps, kafka, rocketmq"),
        ({"from": "kafka://127.0.0.1:1/x?timeout_secs=0.1"}, "could not be reached"),
        ({"from": "rocketmq://127.0.0.1:1/x?timeout_secs=0.1"}, "could not be reached"),
        ({"from": "amqp://127.0.0.1:1/?queue=x&timeout_secs=0.1"}, "could not be reached"),
        ({"from": "amqp://127.0.0.1:1/?exchange=x"}, "the URL does not tell which messages a queue must have"),
        ({"from": "parquet:{other}/cut?partitions=1"}, "no whole file of Parquet"),
        (
            {"from": "file:{other}/cut.jsonl", "route": None},
            "cut.jsonl: it ends within a message: it was cut off, or is",
        ),
        ({"from": "file:{other}/strange.jsonl"}, "strange.jsonl:3000: no envelope as --envelope writes them"),
        ({"from": "file:{other}/strange first.jsonl"}, "strange first.jsonl:2: no envelope as --envelope writes them"),
        (
            {"from": "file:{other}/packed.jsonl", "route": None},
            "is compressed with gzip, not lines .* decompress it first",
        ),
        (
            {"from": "file:{other}/windows.jsonl", "route": None},
            "a carriage return at its end, which the product does not",
        ),
        ({"from": "file:{other}/empty.jsonl"}, "has no messages, and [0-9,]+ are expected there"),
        ({"from": "file:{other}/cut.avro", "format": "dts-avro", "route": None}, "no Avro container, or ends within"),
    ],
)
def test_other_input_is_one_sentence(
    options: dict[str, Any], words: str, places: dict[str, Path], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And exit status 2, never a verdict."""
    monkeypatch.setattr("simulator.sinks.kafka.reader.ANSWER_SECS", 0.1)
    given = {"from": "file:{sent}?partitions=3", **SAME, **options}
    scenario = given.pop("scenario")
    arguments = [f"--{name}={str(value).format(**places)}" for name, value in given.items() if value is not None]
    done = command("verify", scenario, *arguments, status=2)
    assert re.search(words, done.err), done.err
    assert sum(line.startswith("cdcsim: ") for line in done.err.splitlines()) == 1
    assert not done.out


def test_an_empty_place_and_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(simulator.UsageError, match="there are no files"):
        simulator.verify("crud", "canal-json", tmp_path, limit=3)
    (tmp_path / "example-0.jsonl").touch()
    with pytest.raises(simulator.UsageError, match="has no messages, and 3 are expected"):
        simulator.verify("crud", "canal-json", tmp_path, limit=3)
    (tmp_path / "example-0.jsonl").rename(tmp_path / "example-0.parquet")
    with pytest.raises(simulator.SinkError, match="no whole file of Parquet"):
        simulator.verify("crud", "canal-json", tmp_path, limit=3)


def test_kafka(tmp_path: Path) -> None:
    """The broker in this process: four partitions, keys and headers."""
    from confluent_kafka import Producer

    from simulator.sinks.kafka.mock import MockCluster

    cluster = MockCluster()
    cluster.create("verified")
    url = f"kafka://{cluster.servers}/verified"
    publish("orders", "dts-canal-json", url, limit=600, route="key")
    verdict = simulator.verify("orders", "dts-canal-json", url, limit=600, route="key")
    assert verdict.ok, str(verdict)
    producer = Producer({"bootstrap.servers": cluster.servers, "log_level": 0})
    producer.produce("verified", b"{}", partition=1)
    producer.flush()
    verdict = simulator.verify("orders", "dts-canal-json", url, limit=600, route="key")
    assert verdict.counts == {Wrong.UNDECODABLE: 1}, str(verdict)
