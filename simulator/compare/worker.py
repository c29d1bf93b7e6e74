"""A process that compares drafts, one at a time. A draft that takes too long ends it; the next one starts another.

Run as a module, it reads requests from standard input, one JSON line each, and answers each with a line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson

from simulator.compare.comparison import compare
from simulator.compare.page import events_of
from simulator.errors import ScenarioError, SimulatorError
from simulator.formats import find
from simulator.run.scenario import Draft, load

SECONDS: Final = 15
MOST_CHANGES: Final = 50
MOST_EVENTS: Final = 100
MOST_MESSAGES: Final = 20  # maximum messages per event and format


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the page. `source` None: the system that the scenario names."""

    draft: Draft
    source: str | None
    formats: tuple[str, ...]


class Worker:
    """The process that compares drafts. Any thread may send requests; of those waiting, only the newest is answered."""

    def __init__(self, seconds: int = SECONDS) -> None:
        self.seconds = seconds
        self._busy = threading.Lock()
        self._newest = 0
        self._process = self._start()

    def answer(self, request: Request) -> bytes | None:
        """Events with their messages, or an error, as JSON; None: a newer request has replaced this one."""
        self._newest += 1
        ticket = self._newest
        with self._busy:
            if ticket != self._newest:
                return None
            if self._process.poll() is not None:
                self._process = self._start()
            pipes = self._process
            assert pipes.stdin is not None
            assert pipes.stdout is not None
            try:
                pipes.stdin.write(orjson.dumps(request) + b"\n")
                pipes.stdin.flush()
                line = pipes.stdout.readline()
            except OSError:
                line = b""
            return line or orjson.dumps(self._ended())

    def _start(self) -> subprocess.Popen[bytes]:
        """Starts the process in its own session, so that Ctrl-C reaches only the server, which ends the process."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(self.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )

    def _ended(self) -> dict[str, Any]:
        """Error of a request that ended the process."""
        self._released()
        if self._process.returncode == -signal.SIGALRM:
            return failed(f"the scenario takes more than {self.seconds} s; make it smaller.")
        return failed("the process that makes the messages ended; try again with a smaller scenario.")

    def close(self) -> None:
        """Kills the process, busy or not."""
        self._process.terminate()
        self._released()

    def _released(self) -> None:
        """Waits for its end and closes its pipes; unread requests are lost."""
        with suppress(BrokenPipeError), self._process:
            pass


def answered(request: Request) -> dict[str, Any]:
    """Events for the page, the system, whether some events were left out, and the scenario's errors."""
    try:
        system = load(request.draft, request.source)[1].id
        # the page requests others separately
        formats = [name for name in request.formats if system in find(name).sources]
        if not formats:
            return {"system": system, "events": None, "cut": False, "error": None}
        comparison = compare(request.draft, formats, source=request.source, limit=MOST_CHANGES)
    except SimulatorError as error:
        return failed(error)
    answer = {"error": None} if comparison.failure is None else failed(comparison.failure)
    if not comparison.events and answer["error"]:
        return answer
    all_events = events_of(comparison)
    events = all_events[:MOST_EVENTS]
    cut = len(all_events) > MOST_EVENTS
    for event in events:
        cut = cut or any(len(messages) > MOST_MESSAGES for messages in event["messages"].values())
        event["messages"] = {format: messages[:MOST_MESSAGES] for format, messages in event["messages"].items()}
    return {"system": system, "events": events, "cut": cut, "error": answer["error"]}


def failed(error: SimulatorError | str) -> dict[str, Any]:
    """An answer without messages."""
    line = error.line if isinstance(error, ScenarioError) else None
    return {"system": None, "events": None, "cut": False, "error": {"text": str(error), "line": line}}


def main(seconds: int) -> None:
    """Answers requests until the other end closes. The alarm ends this process, also if no one waits for it."""
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        signal.alarm(seconds)
        answer = answered(Request(Draft(**request["draft"]), request["source"], tuple(request["formats"])))
        signal.alarm(0)
        sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
