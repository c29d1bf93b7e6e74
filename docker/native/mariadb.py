#!/usr/bin/env python3
"""Start and stop one MariaDB server from Debian's packages, without Docker and without root.

    python docker/native/mariadb.py start --port 3306 --dir /tmp/mariadb     prints 127.0.0.1:3306 when it is ready
    python docker/native/mariadb.py status --dir /tmp/mariadb
    python docker/native/mariadb.py stop --dir /tmp/mariadb                  the data stays; start again to go on

A single server on the loopback address with a row binlog, for `--sql-engine mariadb://root@127.0.0.1:3306`; root has no
password. The first start unpacks Debian's mariadb-server (30 MB) into `~/.cache/cdcsim`; the environment variable
CDCSIM_CACHE names another folder. An installed mariadb-server is used instead.

Only the standard library, so that it runs before anything is installed. Tests use `Mariadb` as a context manager.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from database import Database
from server import main

from simulator.sql.server.mysql import programs


def root() -> Path:
    """The server's program."""
    return programs.program_of("mariadb-10.11").path


class Mariadb(Database):
    """A single server."""

    title = "MariaDB"

    @property
    def program(self) -> programs.Program:
        return programs.program_of("mariadb-10.11")

    def prepare(self) -> None:
        if not (self.folder / "data").exists():
            self.program.initialize(self.folder / "data")

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        return [str(self.program.path), *self.arguments(), "--skip-name-resolve"], self.program.environment


if __name__ == "__main__":
    sys.exit(main(Mariadb, root, {}))
