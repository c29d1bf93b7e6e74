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

import getpass
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from database import Database
from fetching import debian, run
from server import main

INSTEAD: Final = "install mariadb-server, or name a running server in CDCSIM_MARIADB=mariadb://root@host:port."


def root() -> Path:
    """The folder under which `usr/sbin/mariadbd` is."""
    if Path("/usr/sbin/mariadbd").exists() and Path("/usr/bin/mariadb-install-db").exists():
        return Path("/")
    return debian("mariadb-server", instead=INSTEAD)


class Mariadb(Database):
    """A single server."""

    title = "MariaDB"

    def prepare(self) -> None:
        data = self.folder / "data"
        if data.exists():
            return
        run(
            "mariadb-install-db failed",
            str(root() / "usr/bin/mariadb-install-db"),
            *("--no-defaults", f"--basedir={root() / 'usr'}", f"--datadir={data}", "--skip-test-db"),
            *("--auth-root-authentication-method=normal", f"--user={getpass.getuser()}"),
            environment=self._environment(),
        )

    def settings(self) -> Mapping[str, str]:
        share = root() / "usr/share/mysql"
        return {
            **super().settings(),
            "binlog-row-metadata": "FULL",
            "basedir": str(root() / "usr"),
            "lc-messages-dir": str(share),
            "character-sets-dir": str(share / "charsets"),
        }

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        return [str(root() / "usr/sbin/mariadbd"), *self.arguments(), "--skip-name-resolve"], self._environment()

    def _environment(self) -> Mapping[str, str]:
        libraries = [str(path) for path in (root() / "usr/lib").glob("*-linux-gnu")] if root() != Path("/") else []
        return {"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}


if __name__ == "__main__":
    sys.exit(main(Mariadb, root, {}))
