"""What MySQL's and MariaDB's servers have in common: one listener, settings on the command line, a greeting."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping, Sequence

from server import HOST, Server


class Database(Server):
    """A single server with a row binlog. The command line holds its folder."""

    default_port = 3306
    listeners = ("mysql",)

    def settings(self) -> Mapping[str, str]:
        return {
            "datadir": str(self.folder / "data"),
            "port": str(self._ports["mysql"]),
            "bind-address": HOST,
            "socket": str(self.folder / "socket"),
            "pid-file": str(self.folder / "pid"),
            "character-set-server": "utf8mb4",
            "default-time-zone": "+00:00",
            "log-bin": "binlog",
            "binlog-format": "ROW",
            "server-id": "1",
            "local-infile": "1",
            "innodb-buffer-pool-size": "32M",
            # For trying things out: what a crash of the machine loses is no loss.
            "innodb-flush-log-at-trx-commit": "0",
            "sync-binlog": "0",
            "user": getpass.getuser(),
        }

    def arguments(self) -> Sequence[str]:
        return ["--no-defaults", *(f"--{k}={value}" for k, value in self.settings().items())]

    def is_ready(self) -> bool:
        """It greets: a packet that begins with the version of the protocol."""
        try:
            with socket.create_connection((HOST, self._ports["mysql"]), timeout=5) as connection:
                return connection.recv(5)[4:] == b"\x0a"
        except OSError:
            return False
