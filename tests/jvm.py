"""Independent readers on a JVM: jars fetched once by Maven, a Java program run from its source, asked in lines.

A reader that cannot run fails its tests. It never skips them: a check that did not happen would look like one that
passed.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
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


class Reader:
    """A Java program that answers each line with some lines and one that says END; one JVM for all that it is asked."""

    def __init__(self, program: str, jars: Classpath, *options: str) -> None:
        self._program = program
        try:
            java, classpath = native("fetching").java_tool("java", wanted_by="an independent reader"), jars.classpath()
        except native("fetching").NativeError as error:
            pytest.fail(str(error), pytrace=False)
        command = [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *options]
        command += ["-cp", classpath, str(PROGRAMS / program)]
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
