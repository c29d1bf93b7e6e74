#!/usr/bin/env python3
"""Start and stop one Apache Kafka broker from its Maven Central jars on this machine's JDK, without Docker.

    python docker/native/kafka.py start --port 9092 --dir /tmp/kafka     prints 127.0.0.1:9092 when the broker is ready
    python docker/native/kafka.py status --dir /tmp/kafka
    python docker/native/kafka.py stop --dir /tmp/kafka                  the data stays; start again to go on

A single KRaft node (broker and controller in one process) on the loopback address, for trying things out and for
tests. It makes no topic by itself (`auto.create.topics.enable=false`). Needs Java 17 or newer, and Maven for the first
start, which fetches 47 jars (44 MB) into `~/.cache/cdcsim`; the environment variable CDCSIM_CACHE names another folder.

Only the standard library, so that it runs before anything is installed. Tests use `Broker` as a context manager.
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
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jars import JavaError, cache_folder, jars, java_tool, run
from probe import ready

HOST: Final = "127.0.0.1"
# A loaded machine once took 13 s where an idle one takes 3.
READY_SECS: Final = 60
STOP_SECS: Final = 20
# Logins of the secured listeners; made for tests on the loopback address, and no secrets.
PLAIN_USERS: Final = {"alice": "alice-secret", "bob": "bob-secret"}
SCRAM_USERS: Final = {"carol": "carol-secret"}
STORE_PASSWORD: Final = "changeit"
LISTENERS: Final = ("PLAINTEXT", "CONTROLLER", "SASL_PLAINTEXT", "SSL", "SASL_SSL")

LOG_CONFIGURATION: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <Console name="console"><PatternLayout pattern="%d %p %c{1}: %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="WARN"><AppenderRef ref="console"/></Root></Loggers>
</Configuration>
"""

# Becomes the broker: on Linux that is then killed when the thread that started it ends, in whatever way.
WITH_PARENT: Final = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class Broker:
    """One broker in one folder. As a context manager it is started, and at the end stopped.

    `address` is where plain clients connect; with `secure=True` `addresses` also has SASL_PLAINTEXT, SSL and SASL_SSL,
    and `certificate` is the file that TLS clients must trust. In a used folder its data and ports are used again.
    `port` is that of `address` (default: a free one); `settings` are further lines of server.properties;
    `heap` is Java's; `with_parent` makes the broker die with the thread that started it (Linux only).
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        port: int | None = None,
        secure: bool = False,
        settings: Mapping[str, str] | None = None,
        heap: str = "512m",
        with_parent: bool = False,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.secure = secure
        self.settings = dict(settings or {})
        self.heap = heap
        self.with_parent = with_parent
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted_port = port
        self._ports: dict[str, int] = {}
        with contextlib.suppress(FileNotFoundError):
            self._ports = json.loads(self._state.read_text())["ports"]
            # The SCRAM users were made with the data.
            made_secure = "SASL_SSL" in self._ports
            if secure and not made_secure:
                raise JavaError(f"{str(self.folder)!r} was first started without secured listeners: use a new folder.")
            self.secure = made_secure
        if port is not None:
            self._ports["PLAINTEXT"] = port

    @property
    def _state(self) -> Path:
        return self.folder / "broker.json"

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def log(self) -> Path:
        """What the broker prints, over all starts."""
        return self.folder / "broker.log"

    @property
    def certificate(self) -> Path:
        """The certificate of the TLS listeners, as PEM."""
        return self.folder / "ca.pem"

    @property
    def addresses(self) -> dict[str, str]:
        """`{"PLAINTEXT": "127.0.0.1:9092", …}`; empty before the first start."""
        return {name: f"{HOST}:{port}" for name, port in self._ports.items() if name != "CONTROLLER"}

    @property
    def address(self) -> str:
        return self.addresses["PLAINTEXT"]

    @property
    def pid(self) -> int | None:
        """The broker's process, or None when it does not run. Also finds one that another process started."""
        if self._process is not None:
            return self._process.pid if self._process.poll() is None else None
        try:
            pid = int(json.loads(self._state.read_text())["pid"])
        except (FileNotFoundError, KeyError, TypeError):
            return None
        # The number may long belong to somebody else: ours has the path of our properties file in its command line.
        return pid if str(self._properties) in command_line(pid) else None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> str:
        """Start, wait until the broker is ready, return `address`; a running one is left alone. Raises JavaError."""
        if self.pid is not None:
            return self.address
        for attempt in range(3):
            self.launch()
            try:
                self.wait_ready()
                break
            except JavaError as error:
                self.stop()
                # Between choosing a port and listening on it somebody else may have taken it.
                if "Address already in use" not in str(error) or self._wanted_port or attempt == 2:
                    raise
                self._ports.clear()
        return self.address

    def launch(self) -> None:
        """Start without waiting (preparing the folder first if it is new)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        classpath = f"{jars()}/*"
        java = [java_tool("java"), "-XX:TieredStopAtLevel=1", "-cp", classpath]
        self._choose_ports()
        if self.secure and not self.certificate.exists():
            self._make_certificate()
        self._properties.write_text(self._configuration())
        logging = self.folder / "log4j2.xml"
        logging.write_text(LOG_CONFIGURATION)
        if not (self.folder / "data" / "meta.properties").exists():
            # The cluster's id may be the same everywhere: 22 characters of base64.
            form = [*java, "kafka.tools.StorageTool", "format", "-t", "A" * 22, "-c", str(self._properties)]
            for user, password in SCRAM_USERS.items() if self.secure else ():
                form += ["--add-scram", f"SCRAM-SHA-256=[name={user},password={password}]"]
            run("Kafka's storage could not be formatted", *form)
        heap = [f"-Xms{self.heap}", f"-Xmx{self.heap}", f"-Dlog4j2.configurationFile={logging}"]
        command = [*java[:-2], *heap, *java[-2:], "kafka.Kafka", str(self._properties)]
        if self.with_parent and sys.platform == "linux":
            command = [sys.executable, "-S", "-c", WITH_PARENT, str(os.getpid()), *command]
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in the terminal is for the program that talks to the broker.
                start_new_session=True,
            )
        self._state.write_text(json.dumps({"pid": self._process.pid, "ports": self._ports}))

    def wait_ready(self, seconds: float = READY_SECS) -> None:
        """Wait until the broker takes part in its cluster and all partitions have leaders. Raises JavaError."""
        assert self._process is not None
        deadline = time.monotonic() + seconds
        while not self.is_ready():
            if self._process.poll() is not None:
                raise JavaError(f"Kafka ended while starting (exit status {self._process.returncode}). {self._tail()}")
            if time.monotonic() > deadline:
                raise JavaError(f"Kafka was not ready after {seconds:g} s. {self._tail()}")
            time.sleep(0.1)

    def is_ready(self) -> bool:
        """Whether the broker can be used now, asked over its own protocol."""
        try:
            return ready(HOST, self._ports["PLAINTEXT"])
        except (OSError, KeyError, struct.error, EOFError):
            return False

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after 20 seconds. Data and ports stay for the next start."""
        if (pid := self.pid) is None:
            return
        self._end(pid, signal.SIGTERM, STOP_SECS) or self._end(pid, signal.SIGKILL, STOP_SECS)

    def kill(self) -> None:
        """SIGKILL: what a crash looks like."""
        if (pid := self.pid) is not None:
            self._end(pid, signal.SIGKILL, STOP_SECS)

    def _end(self, pid: int, number: signal.Signals, seconds: float) -> bool:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while self.pid is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def _choose_ports(self) -> None:
        if self._wanted_port and not is_free(self._wanted_port):
            raise JavaError(f"port {self._wanted_port} of {HOST} is taken: choose another one.")
        for name in LISTENERS[: 5 if self.secure else 2]:
            if name not in self._ports:
                self._ports[name] = free_port(set(self._ports.values()))

    def _make_certificate(self) -> None:
        keytool, store = java_tool("keytool"), str(self.folder / "server.p12")
        common = ["-alias", "kafka", "-keystore", store, "-storepass", STORE_PASSWORD]
        Path(store).unlink(missing_ok=True)
        run(
            "keytool could not make a key",
            *(keytool, "-genkeypair", *common, "-storetype", "PKCS12", "-keyalg", "RSA", "-keysize", "2048"),
            *("-validity", "3650", "-dname", "CN=localhost", "-ext", f"SAN=DNS:localhost,IP:{HOST}"),
        )
        run(
            "keytool could not export a certificate",
            keytool,
            "-exportcert",
            "-rfc",
            *common,
            "-file",
            str(self.certificate),
        )

    def _configuration(self) -> str:
        """server.properties of a single KRaft node."""
        listeners = {name: f"{name}://{HOST}:{port}" for name, port in self._ports.items()}
        lines = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{HOST}:{self._ports['CONTROLLER']}",
            "listeners": ",".join(listeners.values()),
            "advertised.listeners": ",".join(text for name, text in listeners.items() if name != "CONTROLLER"),
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": ",".join(
                f"{name}:{'PLAINTEXT' if name == 'CONTROLLER' else name}" for name in listeners
            ),
            "log.dirs": str(self.folder / "data"),
            # The defaults of 3 need three nodes.
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "auto.create.topics.enable": "false",
            "message.max.bytes": "16777216",
            # After a crash the old registration must expire before the broker may come back: 11 s with the defaults.
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
        }
        if self.secure:
            lines |= self._secured()
        return "".join(f"{name}={value}\n" for name, value in (lines | self.settings).items())

    def _secured(self) -> dict[str, str]:
        module = "org.apache.kafka.common.security"
        users = " ".join(f'user_{user}="{password}"' for user, password in PLAIN_USERS.items())
        lines = {
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(self.folder / "server.p12"),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
        }
        for listener in ("sasl_plaintext", "sasl_ssl"):
            prefix = f"listener.name.{listener}"
            lines[f"{prefix}.plain.sasl.jaas.config"] = f"{module}.plain.PlainLoginModule required {users};"
            for mechanism in ("scram-sha-256", "scram-sha-512"):
                lines[f"{prefix}.{mechanism}.sasl.jaas.config"] = f"{module}.scram.ScramLoginModule required;"
        return lines

    def _tail(self) -> str:
        text = self.log.read_bytes()[self._log_start :].decode(errors="replace")
        hint = "Kafka needs Java 17 or newer. " if "UnsupportedClassVersionError" in text else ""
        # A Java stack trace of forty lines has its reason in the first.
        last = "\n".join([line for line in text.splitlines() if not re.match(r"\s+(at |\.\.\. )", line)][-30:])
        return f"{hint}The end of {self.log}:\n{last}" if last else f"{hint}It logged nothing to {self.log}."


def free_port(taken: set[int]) -> int:
    """A free TCP port of the loopback address, below the range from which the system gives ports to clients.

    Inside that range a client that tries to reconnect to a stopped broker can be given the broker's own port.
    """
    for _ in range(200):
        port = random.randrange(15_000, 32_000)
        if port not in taken and is_free(port):
            return port
    raise JavaError(f"no free port between 15000 and 32000 on {HOST}.")


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


def command_line(pid: int) -> str:
    """The command of a process, or an empty text when there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if sys.platform == "linux":
            return ""
    listed = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    return listed.stdout


def main() -> int:
    """The command line. Exit status 0 done or running, 1 failed, 3 (of `status`) not running."""
    parser = argparse.ArgumentParser(description="A single Kafka broker from Maven Central's jars, without Docker.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("start", "start, wait until ready, print the address"),
        ("stop", "stop; the data stays"),
        ("status", "print the address if it runs; exit status 3 if not"),
        ("fetch", "only fetch the jars; print their folder"),
    ):
        command = commands.add_parser(name, help=text)
        if name == "fetch":
            continue
        command.add_argument("--dir", type=Path, default=None, help="the broker's folder (default: in ~/.cache/cdcsim)")
        if name == "start":
            command.add_argument("--port", type=int, default=9092, help="default 9092; 0: a free one")
            command.add_argument("--secure", action="store_true", help="with SASL (PLAIN, SCRAM) and TLS listeners too")
            command.add_argument("--heap", default="512m", help="Java's heap, default 512m")
    options = parser.parse_args()
    try:
        if options.command == "fetch":
            print(jars())
            return 0
        folder = options.dir or cache_folder() / "broker"
        if options.command == "start":
            broker = Broker(folder, port=options.port or None, secure=options.secure, heap=options.heap)
            print(broker.start())
            for name, address in broker.addresses.items():
                if name != "PLAINTEXT":
                    print(name, address)
            return 0
        broker = Broker(folder)
        if options.command == "stop":
            broker.stop()
            return 0
        print(broker.address if broker.pid else "not running")
        return 0 if broker.pid else 3
    except JavaError as error:
        print(f"kafka.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
