"""One broker in one folder, without Docker: start, wait until it is ready, stop, kill; and the command line for it.

The folder keeps the ports and the process ids (`broker.json`), so that another process finds a broker that runs, and
the data, so that a stopped one goes on. Everything listens on the loopback address. Only the standard library.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from fetching import NativeError, cache_folder

HOST: Final = "127.0.0.1"
# An idle machine takes 3 s; one that many share took 13, and may take longer.
READY_SECS: Final = 240
STOP_SECS: Final = 60

# Becomes the broker: on Linux that is then killed when the thread that started it ends, in whatever way.
WITH_PARENT: Final = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class Server(ABC):
    """One broker in one folder. As a context manager it is started, and at the end stopped.

    In a used folder its data and ports are used again. `port` is that of `address` (default: a free one);
    `with_parent` makes the broker die with the thread that started it (Linux only).
    """

    title: ClassVar[str]
    default_port: ClassVar[int]
    # The ports by name; the first is that of `address`.
    listeners: Sequence[str]
    # The processes, in the order in which they start. Their command lines hold the broker's folder.
    processes: ClassVar[Sequence[str]] = ("broker",)

    def __init__(self, folder: Path | str, *, port: int | None = None, with_parent: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.with_parent = with_parent
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self._log_start = 0
        self._wanted_port = port
        self._ports: dict[str, int] = dict(self._stored().get("ports", {}))
        if port is not None:
            self._ports[self.listeners[0]] = port

    # What a broker of a kind knows

    @abstractmethod
    def prepare(self) -> None:
        """Fetch what is needed, and write the configuration. The ports are chosen."""

    @abstractmethod
    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        """The command of a process, and what its environment has besides."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the broker can be used now, asked over its own protocol."""

    def has_started(self, process: str) -> bool:
        """Whether the next process may start."""
        return True

    def report(self) -> Sequence[str]:
        """What `start` prints; the address is last."""
        return [self.address]

    def hint(self, log: str) -> str:
        """What helps against an error that the log shows."""
        return ""

    # What all have

    @property
    def log(self) -> Path:
        """What the broker prints, over all starts."""
        return self.folder / "broker.log"

    @property
    def ports(self) -> Mapping[str, int]:
        return self._ports

    @property
    def address(self) -> str:
        return f"{HOST}:{self._ports[self.listeners[0]]}"

    @property
    def pid(self) -> int | None:
        """The broker's process, or None when it does not run. Also finds one that another process started."""
        return self._pid(self.processes[-1])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> str:
        """Start, wait until the broker is ready, return `address`; a running one is left alone. Raises NativeError."""
        if self.pid is not None:
            return self.address
        for attempt in range(3):
            self.launch()
            try:
                self.wait_ready()
                break
            except NativeError as error:
                self.kill()
                # Between choosing a port and listening on it somebody else may have taken it.
                taken = "Address already in use" in str(error) or "eaddrinuse" in str(error)
                if not taken or self._wanted_port or attempt == 2:
                    raise
                self._ports.clear()
        return self.address

    def launch(self) -> None:
        """Start without waiting (preparing the folder first if it is new)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._wanted_port and not is_free(self._wanted_port):
            raise NativeError(f"port {self._wanted_port} of {HOST} is taken: choose another one.")
        for name in self.listeners:
            if name not in self._ports:
                self._ports[name] = free_port(set(self._ports.values()))
        self.prepare()
        self._started = {name: child for name, child in self._started.items() if child.poll() is None}
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        for process in self.processes:
            if self._pid(process) is None:
                self._spawn(process)
                self._wait(lambda process=process: self.has_started(process), READY_SECS)  # type: ignore[misc]

    def wait_ready(self, seconds: float = READY_SECS) -> None:
        """Wait until the broker can be used. Raises NativeError."""
        self._wait(self.is_ready, seconds)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after a minute. Data and ports stay for the next start."""
        for process in reversed(self.processes):
            if (pid := self._pid(process)) is not None:
                self._end(process, pid, signal.SIGTERM) or self._end(process, pid, signal.SIGKILL)

    def kill(self, *processes: str) -> None:
        """SIGKILL to these, or to all: what a crash looks like."""
        for process in reversed(processes or self.processes):
            if (pid := self._pid(process)) is not None:
                self._end(process, pid, signal.SIGKILL)

    def _spawn(self, process: str) -> None:
        command, environment = self.command(process)
        if self.with_parent and sys.platform == "linux":
            command = [sys.executable, "-S", "-c", WITH_PARENT, str(os.getpid()), *command]
        with self.log.open("ab") as log:
            self._started[process] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **environment},
                cwd=self.folder,
                # Ctrl-C in the terminal is for the program that talks to the broker.
                start_new_session=True,
            )
        pids = {**self._stored().get("pids", {}), **{name: child.pid for name, child in self._started.items()}}
        (self.folder / "broker.json").write_text(json.dumps({"pids": pids, "ports": self._ports}))

    def _wait(self, ready: object, seconds: float) -> None:
        assert callable(ready)
        deadline = time.monotonic() + seconds
        while not ready():
            for process, child in self._started.items():
                if child.poll() is not None:
                    status = f"exit status {child.returncode}"
                    raise NativeError(f"{self.title}'s {process} ended while starting ({status}). {self._tail()}")
            if time.monotonic() > deadline:
                raise NativeError(f"{self.title} was not ready after {seconds:g} s. {self._tail()}")
            time.sleep(0.1)

    def _stored(self) -> dict[str, dict[str, int]]:
        try:
            stored: dict[str, dict[str, int]] = json.loads((self.folder / "broker.json").read_text())
        except FileNotFoundError:
            return {}
        return stored

    def _pid(self, process: str) -> int | None:
        if (child := self._started.get(process)) is not None:
            return child.pid if child.poll() is None else None
        pid = self._stored().get("pids", {}).get(process)
        # The number may long belong to somebody else: ours has the folder in its command line.
        return pid if pid is not None and str(self.folder) in command_line(pid) else None

    def _end(self, process: str, pid: int, number: signal.Signals) -> bool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + STOP_SECS
        while self._pid(process) is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _tail(self) -> str:
        text = self.log.read_bytes()[self._log_start :].decode(errors="replace")
        # A Java stack trace of forty lines has its reason in the first.
        last = "\n".join([line for line in text.splitlines() if not re.match(r"\s+(at |\.\.\. )", line)][-30:])
        return f"{self.hint(text)}The end of {self.log}:\n{last}" if last else f"It logged nothing to {self.log}."


def free_port(taken: set[int]) -> int:
    """A free TCP port of the loopback address, below the range from which the system gives ports to clients.

    Inside that range a client that tries to reconnect to a stopped broker can be given the broker's own port.
    """
    for _ in range(200):
        port = random.randrange(15_000, 32_000)
        if port not in taken and is_free(port):
            return port
    raise NativeError(f"no free port between 15000 and 32000 on {HOST}.")


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback address now."""
    with socket.socket() as probe:
        # As Java does: connections of an earlier server that linger do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    """Whether something listens on this port of the loopback address."""
    try:
        with socket.create_connection((HOST, port), timeout=5):
            return True
    except OSError:
        return False


def command_line(pid: int) -> str:
    """The command of a process, or an empty text when there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if sys.platform == "linux":
            return ""
    listed = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    return listed.stdout


def main(server: type[Server], fetch: object, options: Mapping[str, Mapping[str, object]]) -> int:
    """The command line of a broker. `fetch` gets what it needs and returns where that is; `options` are those of
    `start`, handed to the server. Exit status 0 done or running, 1 failed, 3 (of `status`) not running."""
    assert callable(fetch)
    program = f"{server.title.lower()}.py"
    parser = argparse.ArgumentParser(prog=program, description=f"A single {server.title} broker without Docker.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("start", "start, wait until ready, print the address"),
        ("stop", "stop; the data stays"),
        ("status", "print the address if it runs; exit status 3 if not"),
        ("fetch", "only fetch what it needs; print where it is"),
    ):
        command = commands.add_parser(name, help=text)
        if name == "fetch":
            continue
        folder = cache_folder() / f"broker-{server.title.lower()}"
        command.add_argument("--dir", type=Path, default=folder, help=f"the broker's folder (default: {folder})")
        if name == "start":
            help = f"default {server.default_port}; 0: a free one"
            command.add_argument("--port", type=int, default=server.default_port, help=help)
            for option, details in options.items():
                command.add_argument(f"--{option}", **details)  # type: ignore[arg-type]
    chosen = parser.parse_args()
    try:
        if chosen.command == "fetch":
            print(fetch())
            return 0
        if chosen.command == "start":
            more = {option: getattr(chosen, option) for option in options}
            broker = server(chosen.dir, port=chosen.port or None, **more)
            broker.start()
            for line in broker.report():
                print(line)
            return 0
        broker = server(chosen.dir)
        if chosen.command == "stop":
            broker.stop()
            return 0
        print(broker.address if broker.pid else "not running")
        return 0 if broker.pid else 3
    except NativeError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
