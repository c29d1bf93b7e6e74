"""The command line as a user has it: its output and its exit status, of a process of its own or in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "simulator")


class Done(NamedTuple):
    """A command that was run in this process."""

    status: int
    out: str
    err: str


# The fixture `command`: `command("check", file)`, or with the exit status that is expected, `status=2`.
Command = Callable[..., Done]


def environment() -> dict[str, str]:
    """That of this process; the package is the one of this checkout, in whatever folder the command runs."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "120"}


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[bytes]:
    """The command, running."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        **options,
    )


def cdcsim(*arguments: str | Path, status: int = 0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, run to its end, which must be with this exit status."""
    with start(*arguments, cwd=cwd) as process:
        out, err = process.communicate()
    done = subprocess.CompletedProcess(process.args, process.returncode, out.decode(), err.decode())
    assert done.returncode == status, f"{arguments}: exit status {done.returncode}\n{done.stderr}"
    return done


def summary(path: Path) -> dict[str, Any]:
    """What `--summary-to` wrote."""
    facts: dict[str, Any] = json.loads(path.read_bytes())
    return facts
