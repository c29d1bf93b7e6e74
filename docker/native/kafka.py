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

import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import certificate
from fetching import NativeError, fetched, java_tool, run
from kafka_probe import ready
from server import HOST, Server, main

POM: Final = Path(__file__).with_name("kafka.xml")
VERSION: Final[str] = ElementTree.parse(POM).findtext(".//{*}kafka.version", "")
# Logins of the secured listeners; made for tests on the loopback address, and no secrets.
PLAIN_USERS: Final = {"alice": "alice-secret", "bob": "bob-secret"}
SCRAM_USERS: Final = {"carol": "carol-secret"}

LOG_CONFIGURATION: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <Console name="console"><PatternLayout pattern="%d %p %c{1}: %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="WARN"><AppenderRef ref="console"/></Root></Loggers>
</Configuration>
"""


def jars() -> Path:
    """The folder with the broker's jars."""
    return fetched(f"kafka-{VERSION}", POM.read_text(encoding="utf-8"), title=f"Kafka {VERSION}")


class Broker(Server):
    """A single KRaft node: broker and controller in one process.

    `address` is where plain clients connect; with `secure=True` `addresses` also has SASL_PLAINTEXT, SSL and SASL_SSL,
    and `certificate` is the file that TLS clients must trust. `settings` are further lines of server.properties;
    `heap` is Java's.
    """

    title = "Kafka"
    default_port = 9092

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
        self.listeners: Sequence[str] = ("PLAINTEXT", "CONTROLLER")
        super().__init__(folder, port=port, with_parent=with_parent)
        # The SCRAM users were made with the data.
        made_secure = "SASL_SSL" in self._ports
        if secure and self._ports.get("CONTROLLER") and not made_secure:
            raise NativeError(f"{str(self.folder)!r} was first started without secured listeners: use a new folder.")
        self.secure = secure or made_secure
        if self.secure:
            self.listeners = (*self.listeners, "SASL_PLAINTEXT", "SSL", "SASL_SSL")
        self.settings = dict(settings or {})
        self.heap = heap

    @property
    def certificate(self) -> Path:
        """The certificate of the TLS listeners, as PEM."""
        return self.folder / "ca.pem"

    @property
    def addresses(self) -> dict[str, str]:
        """`{"PLAINTEXT": "127.0.0.1:9092", …}`; empty before the first start."""
        return {name: f"{HOST}:{port}" for name, port in self._ports.items() if name != "CONTROLLER"}

    def report(self) -> Sequence[str]:
        secured = [f"{name} {address}" for name, address in self.addresses.items() if name != "PLAINTEXT"]
        return [*secured, self.address]

    def prepare(self) -> None:
        if self.secure and not self.certificate.exists():
            key = self.folder / "key.pem"
            certificate.make(key, self.certificate)
            (self.folder / "server.pem").write_text(key.read_text() + self.certificate.read_text())
        properties = self.folder / "server.properties"
        properties.write_text(self._configuration())
        (self.folder / "log4j2.xml").write_text(LOG_CONFIGURATION)
        if not (self.folder / "data" / "meta.properties").exists():
            # The cluster's id may be the same everywhere: 22 characters of base64.
            form = [*self._java(), "kafka.tools.StorageTool", "format", "-t", "A" * 22, "-c", str(properties)]
            for user, password in SCRAM_USERS.items() if self.secure else ():
                form += ["--add-scram", f"SCRAM-SHA-256=[name={user},password={password}]"]
            run("Kafka's storage could not be formatted", *form)

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.xml'}"
        java = self._java(f"-Xms{self.heap}", f"-Xmx{self.heap}", logging)
        return [*java, "kafka.Kafka", str(self.folder / "server.properties")], {}

    def is_ready(self) -> bool:
        try:
            return ready(HOST, self._ports["PLAINTEXT"])
        except (OSError, KeyError, struct.error, EOFError):
            return False

    def hint(self, log: str) -> str:
        return "Kafka needs Java 17 or newer. " if "UnsupportedClassVersionError" in log else ""

    def _java(self, *options: str) -> list[str]:
        return [java_tool("java"), "-XX:TieredStopAtLevel=1", *options, "-cp", f"{jars()}/*"]

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
            # Retention counts from the times of messages: those of a history of last year would go within minutes.
            "log.retention.ms": "-1",
            # After a crash the old registration must expire before the broker may come back: 9 s with the default. One
            # that is too busy to say that it lives is shut out as soon.
            "broker.session.timeout.ms": "6000",
            "broker.heartbeat.interval.ms": "500",
        }
        if self.secure:
            lines |= self._secured()
        return "".join(f"{name}={value}\n" for name, value in (lines | self.settings).items())

    def _secured(self) -> dict[str, str]:
        module = "org.apache.kafka.common.security"
        users = " ".join(f'user_{user}="{password}"' for user, password in PLAIN_USERS.items())
        lines = {
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.folder / "server.pem"),
        }
        for listener in ("sasl_plaintext", "sasl_ssl"):
            prefix = f"listener.name.{listener}"
            lines[f"{prefix}.plain.sasl.jaas.config"] = f"{module}.plain.PlainLoginModule required {users};"
            for mechanism in ("scram-sha-256", "scram-sha-512"):
                lines[f"{prefix}.{mechanism}.sasl.jaas.config"] = f"{module}.scram.ScramLoginModule required;"
            # takes tokens that nobody signed
            module_name = f"{module}.oauthbearer.OAuthBearerLoginModule"
            lines[f"{prefix}.oauthbearer.sasl.jaas.config"] = (
                f'{module_name} required unsecuredLoginStringClaim_sub="x";'
            )
        return lines


if __name__ == "__main__":
    options = {
        "secure": {"action": "store_true", "help": "with SASL (PLAIN, SCRAM, OAUTHBEARER) and TLS listeners too"},
        "heap": {"default": "512m", "help": "Java's heap, default 512m"},
    }
    sys.exit(main(Broker, jars, options))
