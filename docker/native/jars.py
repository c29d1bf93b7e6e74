"""Jars fetched once from Maven Central into a cache, and the Java programs of this machine that use them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

POM: Final = Path(__file__).with_name("pom.xml")
VERSION: Final[str] = ElementTree.parse(POM).findtext(".//{*}kafka.version", "")


class JavaError(Exception):
    """A Java program cannot be had or has failed; the message says what to do or holds the end of its output."""


def cache_folder() -> Path:
    """`~/.cache/cdcsim`, or what CDCSIM_CACHE says (XDG_CACHE_HOME is heeded)."""
    if own := os.environ.get("CDCSIM_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdcsim"


def java_tool(name: str, *, wanted_by: str = "the native Kafka broker") -> str:
    """Path of `java` or `keytool`: that of JAVA_HOME, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which(name)
    if not found:
        raise JavaError(f"{wanted_by} needs {name}: install a JDK, version 17 or newer, or set JAVA_HOME.")
    return found


def jars() -> Path:
    """The folder with the broker's jars."""
    return fetched(f"kafka-{VERSION}", POM.read_text(encoding="utf-8"), title=f"Kafka {VERSION}")


def fetched(name: str, pom: str, *, title: str | None = None) -> Path:
    """The folder `name` of the cache, with the jars that a project (the text of a POM) needs at run time.

    Maven fills it at the first call; several processes may call at once. Raises JavaError.
    """
    folder, title = cache_folder() / name, title or name
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if not maven:
        raise JavaError(f"fetching {title} needs Maven: install mvn, or put its jars into {str(folder)!r}.")
    java_tool("java", wanted_by=f"fetching {title}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=folder.parent) as scratch:
        # The dependency plugin writes beside the POM, and an installed project may be read-only.
        project, made = Path(scratch) / "pom.xml", Path(scratch) / "jars"
        project.write_text(pom, encoding="utf-8")
        run(
            f"Maven could not fetch {title}",
            *(maven, "-q", "-B", "-f", str(project), "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={made}"),
        )
        try:
            made.rename(folder)
        except OSError:
            # It is atomic and fails on a folder with contents: then another process was first, with the same jars.
            if not folder.is_dir():
                raise
    return folder


def run(failure: str, *command: str) -> None:
    """Run a command to its end. Raises JavaError with the last lines of its output."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        output = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise JavaError(f"{failure} (exit status {done.returncode}):\n{output}")
