"""Waiting for what will happen, Ctrl-C while something is at work, processes that stand still.

A machine that many share may stop a process for seconds. So a test waits for what it needs, not for a time, and gives
up so late that only a hang is meant.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

# Long enough for anything but a hang.
PATIENCE_SECS: Final = 120.0


def wait_until(ready: Callable[[], object], what: str) -> None:
    """Wait until it is so; `what` is told where it never is."""
    deadline = time.monotonic() + PATIENCE_SECS
    while not ready():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECS:g} s: {what}"
        time.sleep(0.01)


def freeze(pid: int) -> None:
    """Stop a process; on Linux when this returns each of its threads stands still."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    if threads.exists():
        wait_until(lambda: all(map(_stands_still, threads.iterdir())), f"process {pid} stands still")


def _stands_still(thread: Path) -> bool:
    try:
        return (thread / "stat").read_text().rpartition(") ")[2][0] in "TZ"
    except OSError:
        return True


def interrupt_in(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Ctrl-C, soon after this method is called for the first time: never before or behind what shall be interrupted."""
    work, begun = getattr(owner, name), False
    # a shell starts what runs in its background with SIGINT ignored: nothing would be interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        nonlocal begun
        if not begun:
            begun = True
            timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
            timer.daemon = True
            timer.start()
        return work(*arguments, **named)

    monkeypatch.setattr(owner, name, interrupted)


def patient(patch: pytest.MonkeyPatch) -> None:
    """For the sinks of this process no broker is away, and nothing is sent twice, because the machine is busy."""
    patch.setattr("simulator.sinks.url.CONNECT_SECS", 60.0)
    patch.setattr("simulator.sinks.rabbitmq.sink.STALL_SECS", PATIENCE_SECS)
    patch.setattr("simulator.sinks.rocketmq.native.ANSWER_SECS", PATIENCE_SECS)
    patch.setattr("simulator.sinks.rocketmq.library.SEND_MS", int(1000 * PATIENCE_SECS))
