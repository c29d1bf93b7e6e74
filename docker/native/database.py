"""MySQL's and MariaDB's servers: one listener, settings on the command line, a greeting."""

from __future__ import annotations

import socket
from abc import abstractmethod
from collections.abc import Sequence

import fetching  # noqa: F401  # finds the package
from server import HOST, Server

from simulator.sql.server.mysql.programs import Program


class Database(Server):
    """A single server with a row binlog. The command line holds its folder."""

    default_port = 3306
    listeners = ("mysql",)

    @property
    @abstractmethod
    def program(self) -> Program:
        """The server's program, fetched if need be."""

    def arguments(self) -> Sequence[str]:
        settings = {
            **self.program.settings(self.folder),
            "port": str(self._ports["mysql"]),
            "bind-address": HOST,
        }
        return ["--no-defaults", *(f"--{name}={value}" for name, value in settings.items())]

    def is_ready(self) -> bool:
        """It greets: a packet that begins with the version of the protocol."""
        try:
            with socket.create_connection((HOST, self._ports["mysql"]), timeout=5) as connection:
                return connection.recv(5)[4:] == b"\x0a"
        except OSError:
            return False
