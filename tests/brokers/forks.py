"""Functions in processes of their own, which may be killed: forks of one process that has imported everything.

A new process takes a second to import what a run needs; a fork takes a hundredth. This module is also the program of
the process that is forked.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Forks:
    """A process without threads, which is forked for each call. It calls `prepare` itself before."""

    def __init__(self, prepare: Callable[[], object]) -> None:
        root = Path(__file__).parents[2]
        paths = [str(root), str(root / "tests"), str(root / "tests" / "brokers"), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )
        self._send(prepare)

    def __call__(self, killed: type[BaseException], function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """What the function returns in a process of its own. Raises what it raises, and `killed` if it was killed."""
        self._send((function, arguments, named))
        assert self._process.stdout is not None
        status, answer = pickle.load(self._process.stdout)
        if status == -signal.SIGKILL:
            raise killed
        assert status == 0, f"the process ended with status {status}"
        outcome = pickle.loads(answer)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome  # type: ignore[no-any-return]

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()


def _called(function: Callable[..., Any], arguments: Any, named: Any) -> bytes:
    try:
        return pickle.dumps(function(*arguments, **named))
    except BaseException as error:
        error.add_note(traceback.format_exc())
        return pickle.dumps(error)


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a call prints is no answer
    pickle.load(sys.stdin.buffer)()
    while True:
        try:
            call = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        mine, theirs = os.pipe()
        if not (process := os.fork()):
            os.close(mine)
            with os.fdopen(theirs, "wb") as file:
                file.write(_called(*call))
            os._exit(0)
        os.close(theirs)
        with os.fdopen(mine, "rb") as file:
            answer = file.read()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        pickle.dump((status, answer), answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
