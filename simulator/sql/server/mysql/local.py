"""A MySQL or MariaDB server of this machine, started for one run in its own folder and removed at its end.

The data directory is created once and kept in the cache; each run copies it, so runs are independent and begin at the
same position of the log.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Final

from simulator.errors import UsageError
from simulator.fetching import kept
from simulator.sources.mysql.log import SERVER_UUID
from simulator.sql.server.kept import KeptProcess
from simulator.sql.server.mysql.programs import Program, program_of
from simulator.sql.server.url import Engine

# Small files: the data directory is copied for each run.
_SMALL: Final = {"innodb_log_file_size": "4M"}
_GREETING: Final = b"\x0a"


class LocalServer:
    """A running server of a source. Raises UsageError if it cannot be had or started."""

    def __init__(self, source: str) -> None:
        if sys.platform == "win32":
            raise UsageError("a server of this machine runs on Linux and macOS: name one with mysql://USER@HOST:PORT.")
        program = program_of(source)
        template = kept(f"mysql-data-{program.version}", lambda scratch, folder: _create(program, folder))
        self.folder = Path(tempfile.mkdtemp(prefix="cdcsim-mysql-"))
        try:
            shutil.copytree(template, self.folder / "data")
            settings = {name.replace("_", "-"): value for name, value in _SMALL.items()} | program.settings(self.folder)
            options = ["--no-defaults", *(f"--{name}={value}" for name, value in settings.items())]
            self._process = KeptProcess(
                self.folder,
                [str(program.path), *options, "--skip-networking"],
                signal="KILL",
                environment=program.environment,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        if not self._process.wait(self._is_ready, failure="[ERROR]"):
            line = self._process.last_line
            self.close()
            raise UsageError(f"{program.path} does not start: {line}")

    @property
    def engine(self) -> Engine:
        return Engine("mysql", str(self.folder / "socket"), 0, "root", "", keep=True)

    def _is_ready(self) -> bool:
        """Whether the server greets: with a packet that begins with the version of the protocol."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.folder / "socket"))
                return connection.recv(5)[4:] == _GREETING
            except OSError:
                return False

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self._process.close()


def _create(program: Program, folder: Path) -> None:
    program.initialize(folder, **_SMALL)
    if not program.is_mariadb:
        (folder / "auto.cnf").write_text(f"[auto]\nserver-uuid={SERVER_UUID}\n")
