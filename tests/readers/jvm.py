"""Independent readers on a JVM: jars fetched once by Maven, a Java program run from its source, asked in lines.

A reader that cannot run fails its tests. It never skips them: a check that did not happen would look like one that
passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self
from xml.sax.saxutils import escape

import pytest

PROGRAMS: Final = Path(__file__).parent
# What ends an answer. No line of JSON looks like it.
END: Final = b"."


def cache_folder() -> Path:
    """Where the jars of the native Kafka broker are, too: CDCSIM_CACHE, else the user's cache folder."""
    if own := os.environ.get("CDCSIM_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdcsim"


def tool(name: str) -> str:
    """Path of `java` or `mvn`."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which(name)
    if not found:
        pytest.fail(f"independent readers need {name!r}: install a JDK, version 17 or newer, and Maven.", pytrace=False)
    return found


@dataclass(frozen=True)
class Jars:
    """The jars of one reader: `group:artifact:version` each, and nothing of what they depend on."""

    name: str
    artifacts: tuple[str, ...]

    def pom(self) -> str:
        """A project that depends on these and on nothing else."""
        parts = []
        for artifact in self.artifacts:
            group, name, version = map(escape, artifact.split(":"))
            parts.append(
                f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
                "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
                "</dependency>"
            )
        return (
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            f"<groupId>cdcsim</groupId><artifactId>{escape(self.name)}</artifactId><version>1</version>"
            f"<packaging>pom</packaging><dependencies>{''.join(parts)}</dependencies></project>"
        )

    def folder(self) -> Path:
        """The folder that holds them, filled by Maven at the first call; several processes may call at once."""
        folder = cache_folder() / self.name
        if folder.is_dir():
            return folder
        maven = tool("mvn")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=folder.parent) as scratch:
            pom, made = Path(scratch) / "pom.xml", Path(scratch) / "jars"
            pom.write_text(self.pom(), encoding="utf-8")
            done = subprocess.run(
                [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={made}"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                told = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
                pytest.fail(f"Maven could not fetch {self.name}:\n{told}", pytrace=False)
            count = len(list(made.glob("*.jar")))
            if count != len(self.artifacts):
                pytest.fail(f"Maven fetched {count} jars of {self.name}, not {len(self.artifacts)}.", pytrace=False)
            try:
                made.rename(folder)
            except OSError:
                # It is atomic and fails on a folder with contents: then another process was first, with the same jars.
                if not folder.is_dir():
                    raise
        return folder


class Reader:
    """A Java program that answers each line with some lines and one that says END; one JVM for all that it is asked."""

    def __init__(self, program: str, jars: Jars, *options: str) -> None:
        self._program = program
        command = [
            tool("java"),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            *options,
            *("-cp", f"{jars.folder()}/*", str(PROGRAMS / program)),
        ]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the reader)
        self._place = tempfile.TemporaryDirectory(prefix="reader-")  # some readers write logs where they stand
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=1 << 16,
            cwd=self._place.name,
        )

    def ask(self, lines: Sequence[bytes]) -> list[list[bytes]]:
        """The answers to some lines, in their order."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        # The program answers while it is asked: whoever only writes would wait for it for ever.
        writer = threading.Thread(target=self._write, args=(stdin, lines), daemon=True)
        writer.start()
        answers: list[list[bytes]] = []
        answer: list[bytes] = []
        while len(answers) < len(lines):
            line = stdout.readline()
            if not line:
                pytest.fail(f"{self._program} ended after {len(answers)} lines:\n{self._told()}", pytrace=False)
            if line.rstrip(b"\n") == END:
                answers.append(answer)
                answer = []
            else:
                answer.append(line.rstrip(b"\n"))
        writer.join()
        return answers

    @staticmethod
    def _write(stdin: IO[bytes], lines: Sequence[bytes]) -> None:
        try:
            for line in lines:
                stdin.write(line + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return  # it has ended: who reads its answers finds out

    def _told(self) -> str:
        self._errors.seek(0)
        return "\n".join(self._errors.read().decode(errors="replace").splitlines()[:20])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._place.cleanup()
