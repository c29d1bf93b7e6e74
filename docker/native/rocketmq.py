#!/usr/bin/env python3
"""Start and stop one RocketMQ name server and broker from their Maven Central jars on this machine's JDK.

    python docker/native/rocketmq.py start --port 9876 --dir /tmp/rocketmq     prints 127.0.0.1:9876, the name server
    python docker/native/rocketmq.py status --dir /tmp/rocketmq
    python docker/native/rocketmq.py stop --dir /tmp/rocketmq                  the data stays; start again to go on

On the loopback address, except for the port for replicas, which RocketMQ binds to all. It makes no topic by itself
(`autoCreateTopicEnable=false`). Needs Java 17 or newer, and Maven for the first start, which fetches 140 jars (95 MB)
into `~/.cache/cdcsim`; the environment variable CDCSIM_CACHE names another folder.

Only the standard library, so that it runs before anything is installed. Tests use `Broker` as a context manager, and
`library` for the native client library.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from fetching import NativeError, fetched, java_tool, kept, run, tried
from rocketmq_probe import brokers
from server import HOST, Server, answers, main

POM: Final = Path(__file__).with_name("rocketmq.xml")
VERSION: Final[str] = ElementTree.parse(POM).findtext(".//{*}rocketmq.version", "")
NAME: Final = "broker-a"
# Logins of a secured broker; made for tests on the loopback address, and no secrets.
ADMIN: Final = ("admin", "admin12345678")

# The only build of librocketmq for this Python client that a package registry has: unofficial, good enough for tests.
LIBRARY: Final = "rocketmq-python-cvs==2.1.0.3"
LIBRARY_SHA256: Final = "ed3fce39f2b926637637a2b8b9122799f207b0cdf98dbd9110505bf43170fa30"


def jars() -> Path:
    """The folder with the jars of name server and broker."""
    return fetched(f"rocketmq-{VERSION}", POM.read_text(encoding="utf-8"), title=f"RocketMQ {VERSION}")


def library() -> Path:
    """The file librocketmq.so, for tests. Raises NativeError."""

    def fill(scratch: Path, folder: Path) -> None:
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise NativeError(
                f"there is no librocketmq for tests on {sys.platform} {platform.machine()}: build it as the README of"
                " apache/rocketmq-client-cpp says, and name the file in CDCSIM_ROCKETMQ_LIBRARY."
            )
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "rocketmq-python-cvs"]
        tried(lambda: run(f"pip could not fetch {LIBRARY}", *pip, "-d", str(scratch), LIBRARY))
        (archive,) = scratch.glob("rocketmq*.tar.gz")
        folder.mkdir()
        with tarfile.open(archive) as files:
            member = next(name for name in files.getnames() if name.endswith("/librocketmq.so"))
            data = files.extractfile(member)
            assert data is not None
            content = data.read()
        if hashlib.sha256(content).hexdigest() != LIBRARY_SHA256:
            raise NativeError(f"{LIBRARY} has another librocketmq.so than the one that was tested.")
        (folder / "librocketmq.so").write_bytes(content)

    return kept("rocketmq-library", fill) / "librocketmq.so"


class Broker(Server):
    """A name server and a broker. `address` is the name server's. `settings` are further lines of broker.conf;
    `secure` asks clients for the login ADMIN; `heap` is the broker's Java heap."""

    title = "RocketMQ"
    default_port = 9876
    listeners = ("names", "broker", "fast", "replicas")
    processes = ("names", "broker")

    def __init__(
        self,
        folder: Path | str,
        *,
        port: int | None = None,
        secure: bool = False,
        settings: Mapping[str, str] | None = None,
        heap: str = "256m",
        with_parent: bool = False,
    ) -> None:
        super().__init__(folder, port=port, with_parent=with_parent)
        self.secure = secure
        self.settings = dict(settings or {})
        self.heap = heap

    def prepare(self) -> None:
        (self.folder / "home" / "conf").mkdir(parents=True, exist_ok=True)
        # It logs some hundred lines a minute; what matters of its start is printed all the same.
        (self.folder / "logback.xml").write_text('<configuration><root level="OFF"/></configuration>\n')
        names = f"listenPort={self._ports['names']}\nbindAddress={HOST}\n"
        (self.folder / "names.conf").write_text(names)
        lines = {
            "brokerClusterName": "DefaultCluster",
            "brokerName": NAME,
            "brokerId": "0",
            "brokerIP1": HOST,
            "brokerIP2": HOST,
            "bindAddress": HOST,
            "listenPort": str(self._ports["broker"]),
            "fastListenPort": str(self._ports["fast"]),
            "haListenPort": str(self._ports["replicas"]),
            "storePathRootDir": str(self.folder / "store"),
            "storePathCommitLog": str(self.folder / "store" / "commitlog"),
            "mappedFileSizeCommitLog": "67108864",
            "mappedFileSizeConsumeQueue": "600000",
            "brokerRole": "ASYNC_MASTER",
            "flushDiskType": "ASYNC_FLUSH",
            "autoCreateTopicEnable": "false",
            "maxMessageSize": "4194304",
            # With the default of 200 ms a busy machine refuses messages.
            "waitTimeMillsInSendQueue": "10000",
            # Each time, with a third of a second's work, it looks for changes in 38 MB of timers that nobody sets.
            "timerFlushIntervalMs": "3600000",
            # It begins with a busy loop of this length.
            "transactionMetricFlushInterval": "500",
        }
        if self.secure:
            lines |= self._secured()
        text = "".join(f"{name}={value}\n" for name, value in (lines | self.settings).items())
        (self.folder / "broker.conf").write_text(text)

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        java = [java_tool("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Duser.home={self.folder / 'home'}"]
        # With TLS each process makes up a certificate first.
        java += ["-Dtls.server.mode=disabled", f"-Drmq.logback.configurationFile={self.folder / 'logback.xml'}"]
        java += ["-cp", f"{jars()}/*"]
        environment = {"ROCKETMQ_HOME": str(self.folder / "home")}
        if process == "names":
            start = ["-Xms64m", "-Xmx64m", "org.apache.rocketmq.namesrv.NamesrvStartup"]
            return [*java, *start, "-c", str(self.folder / "names.conf")], environment
        start = [
            f"-Xms{self.heap}",
            f"-Xmx{self.heap}",
            f"-XX:MaxDirectMemorySize={self.heap}",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
            "org.apache.rocketmq.broker.BrokerStartup",
        ]
        return [*java, *start, "-n", self.address, "-c", str(self.folder / "broker.conf")], environment

    def has_started(self, process: str) -> bool:
        return process != "names" or answers(self._ports["names"])

    def is_ready(self) -> bool:
        """The broker is registered at the name server, which can take ten seconds more than its start."""
        try:
            return NAME in brokers(HOST, self._ports["names"]) and answers(self._ports["broker"])
        except (OSError, EOFError, ValueError):
            return False

    def stop(self) -> None:
        """SIGKILL: SIGTERM takes ten seconds, and the data is as safe either way while the machine lives."""
        self.kill()

    def hint(self, log: str) -> str:
        return "RocketMQ needs Java 17 or newer here. " if "UnsupportedClassVersionError" in log else ""

    def _secured(self) -> dict[str, str]:
        user, password = ADMIN
        auth = "org.apache.rocketmq.auth"
        return {
            "authenticationEnabled": "true",
            "authenticationProvider": f"{auth}.authentication.provider.DefaultAuthenticationProvider",
            "authenticationMetadataProvider": f"{auth}.authentication.provider.LocalAuthenticationMetadataProvider",
            "initAuthenticationUser": f'{{"username":"{user}","password":"{password}"}}',
            "innerClientAuthenticationCredentials": f'{{"accessKey":"{user}","secretKey":"{password}"}}',
            "authorizationEnabled": "true",
            "authorizationProvider": f"{auth}.authorization.provider.DefaultAuthorizationProvider",
            "authorizationMetadataProvider": f"{auth}.authorization.provider.LocalAuthorizationMetadataProvider",
        }


if __name__ == "__main__":
    options = {
        "secure": {"action": "store_true", "help": f"ask for a login: {ADMIN[0]}, {ADMIN[1]}"},
        "heap": {"default": "256m", "help": "the broker's Java heap, default 256m"},
    }
    sys.exit(main(Broker, jars, options))
