#!/usr/bin/env python3
"""Start and stop one RabbitMQ broker from Debian's packages, without Docker and without root.

    python docker/native/rabbitmq.py start --port 5672 --dir /tmp/rabbitmq     prints 127.0.0.1:5672 when it is ready
    python docker/native/rabbitmq.py status --dir /tmp/rabbitmq
    python docker/native/rabbitmq.py stop --dir /tmp/rabbitmq                  the data stays; start again to go on

A single node on the loopback address; user and password are `guest`. The first start unpacks Debian's rabbitmq-server
and Erlang (34 MB) into `~/.cache/cdcsim`; the environment variable CDCSIM_CACHE names another folder. An installed
rabbitmq-server is used instead. The plug-ins for consistent hashing and streams are on.

Only the standard library, so that it runs before anything is installed. Tests use `Broker` as a context manager.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import certificate
from fetching import debian, run
from server import HOST, Server, answers, main

INSTEAD: Final = "install rabbitmq-server, or name a running broker in CDCSIM_RABBITMQ=host:port."
PLUGINS: Final = ("rabbitmq_consistent_hash_exchange", "rabbitmq_stream")


def root() -> Path:
    """The folder under which `usr/lib/rabbitmq` and `usr/lib/erlang` are."""
    if Path("/usr/lib/rabbitmq/bin/rabbitmq-server").exists() and Path("/usr/lib/erlang/bin/erl").exists():
        return Path("/")
    folder = debian("rabbitmq-server", instead=INSTEAD)
    for erl in (folder / "usr/lib/erlang").glob("**/bin/erl"):
        # Debian writes the final place into it, over what Erlang itself would find out.
        text = erl.read_text()
        if "ROOTDIR=/usr/lib/erlang" in text:
            erl.write_text(text.replace("ROOTDIR=/usr/lib/erlang", f"ROOTDIR={folder}/usr/lib/erlang"))
    return folder


class Broker(Server):
    """A single node. `settings` are further lines of rabbitmq.conf; `secure` adds a TLS listener (port `tls`), whose
    `certificate` clients must trust."""

    title = "RabbitMQ"
    default_port = 5672
    processes = ("epmd", "broker")

    def __init__(
        self,
        folder: Path | str,
        *,
        port: int | None = None,
        secure: bool = False,
        settings: Mapping[str, str] | None = None,
        with_parent: bool = False,
    ) -> None:
        self.listeners: Sequence[str] = ("amqp", "distribution", "epmd", "stream", *(["tls"] if secure else []))
        super().__init__(folder, port=port, with_parent=with_parent)
        self.secure = secure
        self.settings = dict(settings or {})

    @property
    def certificate(self) -> Path:
        """The certificate of the TLS listener, as PEM; it signs itself."""
        return self.folder / "certificate.pem"

    def report(self) -> Sequence[str]:
        return [*([f"TLS {HOST}:{self._ports['tls']}"] if self.secure else []), self.address]

    @property
    def node(self) -> str:
        return f"cdcsim{self._ports['amqp']}@localhost"

    def prepare(self) -> None:
        root()
        lines = {
            "listeners.tcp.1": f"{HOST}:{self._ports['amqp']}",
            "stream.listeners.tcp.1": f"{HOST}:{self._ports['stream']}",
            "vm_memory_high_watermark.absolute": "1GB",
            "disk_free_limit.absolute": "200MB",
        }
        if self.secure:
            if not self.certificate.exists():
                certificate.make(self.folder / "key.pem", self.certificate)
            lines |= {
                "listeners.ssl.1": f"{HOST}:{self._ports['tls']}",
                "ssl_options.cacertfile": str(self.certificate),
                "ssl_options.certfile": str(self.certificate),
                "ssl_options.keyfile": str(self.folder / "key.pem"),
                "ssl_options.verify": "verify_none",
            }
        text = "".join(f"{name} = {value}\n" for name, value in (lines | self.settings).items())
        (self.folder / "rabbitmq.conf").write_text(text)
        (self.folder / "enabled_plugins").write_text(f"[{','.join(PLUGINS)}].\n")

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        erlang, environment = root() / "usr/lib/erlang", self._environment()
        if process == "epmd":
            # Started here it ends with the broker; Erlang would leave one behind. The link's name tells whose it is.
            (epmd,) = erlang.glob("erts-*/bin/epmd")
            link = self.folder / "epmd"
            link.unlink(missing_ok=True)
            link.symlink_to(epmd)
            return [str(link), "-address", HOST], environment
        return [self._program("rabbitmq-server"), "-cdcsim_folder", str(self.folder)], environment

    def has_started(self, process: str) -> bool:
        return process != "epmd" or answers(self._ports["epmd"])

    def is_ready(self) -> bool:
        """It answers the header of AMQP 0-9-1 with a method frame (Connection.Start)."""
        try:
            with socket.create_connection((HOST, self._ports["amqp"]), timeout=5) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return connection.recv(1) == b"\x01"
        except OSError:
            return False

    def control(self, *words: str) -> str:
        """Run `rabbitmqctl`: `control("set_disk_free_limit", "200MB")`. Takes some seconds."""
        command = [self._program("rabbitmqctl"), "-q", "-n", self.node, *words]
        return run(f"rabbitmqctl {words[0]} failed", *command, environment=self._environment())

    def _program(self, name: str) -> str:
        return str(root() / "usr/lib/rabbitmq/bin" / name)

    def _environment(self) -> Mapping[str, str]:
        erlang, ports = root() / "usr/lib/erlang", self._ports
        return {
            "PATH": f"{erlang}/bin:{os.environ.get('PATH', '')}",
            "HOME": str(self.folder),  # of the cookie, which rabbitmqctl needs too
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_DIST_PORT": str(ports["distribution"]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_PORT": str(ports["epmd"]),
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_CRASH_DUMP_SECONDS": "0",
            # The script then becomes the broker instead of waiting for it as a parent.
            "detached": "1",
        }


if __name__ == "__main__":
    sys.exit(main(Broker, root, {"secure": {"action": "store_true", "help": "with a TLS listener too"}}))
