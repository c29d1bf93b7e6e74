"""Independent readers on a JVM: jars fetched once by Maven, a Java program run from its source, asked in lines.

A reader that cannot run fails its tests. It never skips them: a check that did not happen would look like one that
passed.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, Protocol, Self

import pytest
from native import native

PROGRAMS: Final = Path(__file__).parent / "readers"
# What ends an answer. No line of JSON looks like it.
END: Final = b"."


class Classpath(Protocol):
    """Jars on the disk."""

    def classpath(self) -> str:
        """What Java's -cp takes. Raises NativeError."""


class Program:
    """A Java program run from its source in a folder of its own, with some files there; ended with its test."""

    def __init__(
        self,
        source: str,
        jars: Classpath,
        *options: str,
        arguments: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        try:
            java, classpath = native("fetching").java_tool("java", wanted_by=source), jars.classpath()
        except native("fetching").NativeError as error:
            pytest.fail(str(error), pytrace=False)
        command = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *options]
        command += ["-cp", classpath, str(PROGRAMS / source), *arguments]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the program)
        self._folder = tempfile.TemporaryDirectory(prefix="java-")  # some programs write logs where they stand
        for name, text in (files or {}).items():
            (Path(self._folder.name) / name).write_text(text, encoding="utf-8")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=1 << 16,
            cwd=self._folder.name,
        )

    def told(self) -> str:
        """The first lines of its standard error."""
        self._errors.seek(0)
        return "\n".join(self._errors.read().decode(errors="replace").splitlines()[:30])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()


class Reader(Program):
    """A program that answers each line with some lines and one that says END; one JVM for all that it is asked."""

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
                pytest.fail(f"{self._source} ended after {len(answers)} lines:\n{self.told()}", pytrace=False)
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
