#!/usr/bin/env python3
"""Start and stop one PostgreSQL server from Debian's packages, without Docker and without root.

    python docker/native/postgresql.py start --port 5432 --dir /tmp/postgresql    prints 127.0.0.1:5432 when it is ready
    python docker/native/postgresql.py status --dir /tmp/postgresql
    python docker/native/postgresql.py stop --dir /tmp/postgresql                  the data stays; start again to go on

A single server on the loopback address with `wal_level = logical` and the extensions of PostgreSQL (citext, hstore, …,
which the server of the extra `postgresql` lacks), for `--sql-engine postgresql://postgres@127.0.0.1:5432`; postgres has
no password. The first start unpacks Debian's postgresql-15 (20 MB) into `~/.cache/cdcsim`; the environment variable
CDCSIM_CACHE names another folder. An installed postgresql-15 is used instead. PostgreSQL refuses to run as root:
started by root it runs as `nobody`, who must be able to reach the folder.

Only the standard library, so that it runs before anything is installed. Tests use `Postgresql` as a context manager.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fetching import check_reachable, debian, run
from server import HOST, Server, main

VERSION: Final = "15"
USER: Final = "nobody"
INSTEAD: Final = (
    f"install postgresql-{VERSION}, or name a running server in CDCSIM_POSTGRESQL=postgresql://postgres@host:port."
)
# A message that asks for TLS, which every server answers with S or N.
_SSL_REQUEST: Final = bytes.fromhex("0000000804d2162f")


def root() -> Path:
    """The folder in which `bin/postgres` is."""
    installed = Path(f"/usr/lib/postgresql/{VERSION}")
    if (installed / "bin/postgres").exists():
        return installed
    return debian(f"postgresql-{VERSION}", instead=INSTEAD) / installed.relative_to("/")


class Postgresql(Server):
    """A single server. The command line holds its folder."""

    title = "PostgreSQL"
    default_port = 5432
    listeners = ("postgresql",)

    def prepare(self) -> None:
        data = self.folder / "data"
        if data.exists():
            return
        if os.geteuid() == 0:
            check_reachable(root() / "bin", USER, "name a folder that others may enter in CDCSIM_CACHE.")
            shutil.chown(self.folder, USER)
        words = ("--no-locale", "--encoding=UTF8", "--auth=trust", "--no-sync", "--username=postgres")
        initdb = (str(root() / "bin/initdb"), "-D", str(data), *words)
        run("initdb failed", *_as_user(), *initdb, folder=self.folder, environment=self._environment())

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        settings = {
            "listen_addresses": HOST,
            "port": str(self._ports["postgresql"]),
            "unix_socket_directories": str(self.folder),
            "wal_level": "logical",
            # For trying things out: what a crash of the machine loses is no loss.
            "fsync": "off",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        server = [str(root() / "bin/postgres"), "-D", str(self.folder / "data"), *options]
        # to change the user undoes what `with_parent` asked of the system
        return [*_as_user(*(["--pdeathsig=KILL"] if self.with_parent else [])), *server], self._environment()

    def is_ready(self) -> bool:
        """It answers, and does not say that it is starting up."""
        try:
            with socket.create_connection((HOST, self._ports["postgresql"]), timeout=5) as connection:
                connection.sendall(_SSL_REQUEST)
                answered = connection.recv(1) in (b"S", b"N")
        except OSError:
            return False
        status = self.folder / "data/postmaster.pid"
        return answered and status.read_text().split()[-1:] == ["ready"]

    def _environment(self) -> Mapping[str, str]:
        return {"LD_LIBRARY_PATH": ":".join(map(str, root().parents[2].glob("lib/*-linux-gnu")))}


def _as_user(*options: str) -> Sequence[str]:
    """What stands before a command that root must not run."""
    return ("/usr/bin/setpriv", f"--reuid={USER}", "--clear-groups", *options) if os.geteuid() == 0 else ()


if __name__ == "__main__":
    sys.exit(main(Postgresql, root, {}))
