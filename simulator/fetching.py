"""Fetches servers, brokers and readers once into a cache: Maven's jars, Debian's packages.

Only the standard library: `docker/native` uses it where nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from simulator.errors import UsageError

# Seconds before each new attempt of a failed download: servers and networks have bad moments.
PAUSES_SECS: Final = (3, 15)


class NativeError(UsageError):
    """A program cannot be had or has failed; the message says what to do or holds the end of its output."""


def cache_folder() -> Path:
    """`~/.cache/cdcsim`, or the folder that CDCSIM_CACHE names (XDG_CACHE_HOME is heeded)."""
    if own := os.environ.get("CDCSIM_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdcsim"


def java_tool(name: str, *, wanted_by: str = "the native broker") -> str:
    """Path of `java`: that of JAVA_HOME, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    path = path or shutil.which(name)
    if not path:
        raise NativeError(f"{wanted_by} needs {name}: install a JDK, version 17 or newer, or set JAVA_HOME.")
    return path


def fetched(name: str, pom: str, *, title: str | None = None) -> Path:
    """The folder `name` of the cache, with the jars that a project (the text of a POM) needs at run time.

    Maven fills it at the first call. Raises NativeError.
    """
    title = title or name

    def fill(scratch: Path, folder: Path) -> None:
        maven = shutil.which("mvn")
        if not maven:
            final = str(cache_folder() / name)
            raise NativeError(f"fetching {title} needs Maven: install mvn, or put its jars into {final!r}.")
        java_tool("java", wanted_by=f"fetching {title}")
        # The dependency plugin writes next to the POM, and an installed project may be read-only.
        project = scratch / "pom.xml"
        project.write_text(pom, encoding="utf-8")
        words = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}")
        with alone("maven"):
            tried(lambda: run(f"Maven could not fetch {title}", maven, "-q", "-B", "-f", str(project), *words))

    return kept(name, fill)


@contextmanager
def alone(name: str) -> Iterator[None]:
    """One process at a time: those of Maven share a folder of downloads, in which a file may be half there."""
    import fcntl  # not available on Windows

    with (cache_folder() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def kept(name: str, fill: Callable[[Path, Path], None]) -> Path:
    """The folder `name` of the cache. `fill(scratch, folder)` makes it at the first call; several processes may call at
    once."""
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        fill(Path(scratch), made)
        try:
            made.rename(folder)
        except OSError:
            # It is atomic and fails on a folder with contents: then another process was first, with the same files.
            if not folder.is_dir():
                raise
    return folder


def debian(package: str, *, instead: str) -> Path:
    """Unpack a Debian package, with the packages that it needs and this machine lacks, into a folder; no root needed.

    `instead` says what to do where there is no Debian. Raises NativeError.
    """

    def fill(scratch: Path, folder: Path) -> None:
        for tool in ("apt-get", "dpkg"):
            if not shutil.which(tool):
                raise NativeError(f"this machine has no {tool}, so {package} cannot be fetched from Debian: {instead}")
        for part in ("lists/partial", "cache/archives/partial", "packages"):
            (scratch / part).mkdir(parents=True)
        apt = ["apt-get", "-q", "-o", f"Dir::State::Lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache"]
        failure = f"apt-get could not fetch {package}; {instead}"

        def fetch() -> None:
            run(failure, *apt, "update")
            plan = run(failure, *apt, "install", "--simulate", "--no-install-recommends", package)
            names = [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]
            run(failure, *apt, "download", *names, folder=scratch / "packages")

        tried(fetch)
        for archive in sorted((scratch / "packages").glob("*.deb")):
            run(f"{archive.name} could not be unpacked", "dpkg", "-x", str(archive), str(folder))

    return kept(f"debian-{package}", fill)


def check_reachable(programs: Path, user: str, remedy: str) -> None:
    """Raises NativeError if another user, whom root becomes for a server, cannot reach its programs: that user would
    only see that they are not there."""
    if not all(folder.stat().st_mode & stat.S_IXOTH for folder in (programs, *programs.parents)):
        raise NativeError(
            f"PostgreSQL refuses to run as root, and {user} cannot reach {programs}: run this as another user, or "
            f"{remedy}"
        )


def tried(fetch: Callable[[], object]) -> None:
    """Fetch something, with new attempts after failures. Raises NativeError."""
    for pause in PAUSES_SECS:
        try:
            fetch()
            return
        except NativeError:
            time.sleep(pause)
    fetch()


def run(failure: str, *command: str, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Run a command to its end and return what it prints. Raises NativeError with the last lines of its output."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )
    if done.returncode:
        output = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise NativeError(f"{failure} (exit status {done.returncode}):\n{output}")
    return done.stdout
