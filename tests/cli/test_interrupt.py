"""A run that ends early, by Ctrl-C or by the clock: in order, at a transaction border, and all is accounted for."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from command import Command, start, summary
from waiting import PATIENCE_SECS

from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink

SIGNAL_SECONDS = 0.1


def lines_of(folder: Path) -> int:
    """Lines of all files of a folder, each of which ends with a whole one."""
    count = 0
    for path in folder.glob("*.jsonl"):
        data = path.read_bytes()
        assert data.endswith(b"}\n")
        count += data.count(b"\n")
    return count


def begun(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until messages are written."""
    while not any(path.stat().st_size for path in folder.glob("*.jsonl")):
        if process.poll() is not None:
            pytest.fail(f"the run ended by itself: {process.communicate()[1].decode()}")
        time.sleep(0.01)


def interrupted(
    command: Command,
    tmp_path: Path,
    *arguments: str,
    sign: bytes = b"{",
    seconds: float = SIGNAL_SECONDS,
) -> dict[str, Any]:
    """Run in this process until Ctrl-C, some time after a message with this text; gives the summary."""
    folder, facts = tmp_path / "messages", tmp_path / "summary.json"
    ended = threading.Event()

    def press() -> None:
        while not any(sign in path.read_bytes() for path in folder.glob("*.jsonl")):
            if ended.wait(0.01):
                return
        if not ended.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)

    # where the tests run in the background, they ignore Ctrl-C, and the run would, too; after its end it is harmless
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    sender = threading.Thread(target=press)
    sender.start()
    try:
        done = command("run", *arguments, "--to", f"file:{folder}?partitions=2", "--summary-to", facts)
    finally:
        ended.set()
        sender.join()
        signal.signal(signal.SIGINT, before)
    return accounted(tmp_path, *done)


def accounted(tmp_path: Path, status: int, out: str, err: str) -> dict[str, Any]:
    """The summary of an interrupted run, which says what is in its files and on stderr."""
    assert status == 130, err
    assert out == ""
    told = summary(tmp_path / "summary.json")
    assert told["interrupted"]
    assert told["failed"] == 0
    assert lines_of(tmp_path / "messages") == told["messages"] == told["delivered"] > 0
    line = next(line for line in err.splitlines() if line.startswith("interrupted: "))
    assert line.startswith(f"interrupted: {told['delivered']:,} message")
    assert line.endswith(f"next turn {told['next_turn']}")
    return told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_to_several_processes(tmp_path: Path, number: signal.Signals) -> None:
    """…: the end of a session is that of a run, and so is the end of a terminal."""
    folder, facts = tmp_path / "messages", tmp_path / "summary.json"
    to = ("--to", f"file:{folder}?partitions=2", "--summary-to", facts)
    before = signal.signal(number, signal.SIG_DFL)  # under nohup the run would ignore it, too
    try:
        process = start("run", "crud", "-f", "canal-json", "--workers", "2", *to)
    finally:
        signal.signal(number, before)
    with process:
        begun(folder, process)
        time.sleep(SIGNAL_SECONDS)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_SECS)
    told = accounted(tmp_path, process.returncode, out.decode(), err.decode())
    assert told["changes"] == told["messages"], "crud has one row in a message"
    assert told["next_turn"] - told["first_turn"] == told["changes"]


def test_ctrl_c_ends_at_a_transaction_border(command: Command, tmp_path: Path) -> None:
    """Paced, so that the signal comes in the middle of a block: the messages are those before the turn it names."""
    arguments = ["orders", "-f", "dts-canal-json", "--snapshot", "--route", "single", "--rate", "5000/s"]
    told = interrupted(command, tmp_path, *arguments, sign=b'"type":"UPDATE"', seconds=0.3)
    assert told["changes"] > 0
    border(told)
    with MemorySink() as sink:
        local_run(open_job("orders", "dts-canal-json"), sink, limits=Limits(turns=told["next_turn"]), snapshot=True)()
    assert (tmp_path / "messages" / "dts-0.jsonl").read_bytes().splitlines() == sink.values()


@pytest.mark.parametrize("rate", [["--workers", "1"], ["--rate", "1000/s"]], ids=["unpaced", "paced"])
def test_ctrl_c_in_the_snapshot(command: Command, tmp_path: Path, rate: list[str]) -> None:
    """Changes do not follow rows that were not all told."""
    scenario = tmp_path / "large.yaml"
    columns = "{id: {type: int64, values: sequence}, note: {type: int32, values: version}}"
    scenario.write_text(f"tables: {{notes: {{key: id, rows: 100000000, columns: {columns}}}}}")
    told = interrupted(command, tmp_path, str(scenario), "-f", "dts-canal-json", "--snapshot", *rate, seconds=0.2)
    assert told["changes"] == 0
    assert told["snapshot_rows"] == told["messages"]
    assert told["next_turn"] == told["first_turn"]


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "messages"
    with start("run", "crud", "-f", "canal-json", "--to", f"file:{folder}") as process:
        begun(folder, process)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        _, err = process.communicate(timeout=PATIENCE_SECS)
    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.parametrize("library", ["_multiarray_umath", "libarrow.so", "libarrow_compute.so"])
def test_ctrl_c_during_start_up_is_silent(library: str) -> None:
    """While a library is imported, just after the system has mapped it."""
    with start("run", "crud", "-f", "canal-json", "--quiet") as process:
        while process.poll() is None and library not in Path(f"/proc/{process.pid}/maps").read_text("utf-8"):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_SECS)
    assert (process.returncode, err) == (130, b"")


# -------------------------------------------------------------------------------------------------------- the clock


def border(told: dict[str, Any]) -> None:
    stream = open_job("orders", "canal-json").stream
    assert stream.border(told["next_turn"]) == told["next_turn"]


def run(command: Command, folder: Path, *arguments: str) -> tuple[dict[str, Any], bytes]:
    facts = folder.with_suffix(".json")
    command("run", *arguments, "--to", f"file:{folder}", "--summary-to", facts, status=0)
    (path,) = folder.glob("*.jsonl")
    return summary(facts), path.read_bytes()


def test_rate_and_duration(command: Command, tmp_path: Path) -> None:
    """No more changes than asked for, in no less than that time, and the same bytes as without a rate."""
    told, paced = run(command, tmp_path / "paced", "orders", "-f", "canal-json", "--rate", "5000/s", "--duration", "2s")
    assert not told["interrupted"]
    assert 0 < told["changes"] <= 5000 * told["seconds"] + 100
    assert told["seconds"] >= 2
    border(told)
    assert paced.count(b"\n") == told["messages"] == told["delivered"]

    turns = ["--turns", str(told["next_turn"])]
    same, plain = run(command, tmp_path / "plain", "orders", "-f", "canal-json", *turns)
    assert (same["next_turn"], same["changes"], same["messages"]) == (
        told["next_turn"], told["changes"], told["messages"],
    )  # fmt: skip
    assert plain == paced


def test_duration_without_a_rate(command: Command, tmp_path: Path) -> None:
    told, written = run(command, tmp_path / "fast", "orders", "-f", "canal-json", "--duration", "100ms")
    assert told["seconds"] >= 0.1
    border(told)
    assert written.count(b"\n") == told["messages"] == told["delivered"] > 0


def test_a_profile_keeps_to_the_bytes(command: Command, tmp_path: Path) -> None:
    limit = ["orders", "-f", "dts-canal-json", "--start-at", "19990", "--limit", "3000"]
    told, ramped = run(command, tmp_path / "ramp", *limit, "--rate", "ramp:2k..20k/1s")
    same, plain = run(command, tmp_path / "plain", *limit)
    assert ramped == plain
    assert told["next_turn"] == same["next_turn"]
    assert told["seconds"] > 0.25, "3,000 changes take a third of a second on this ramp"
