"""A server that runs for one script in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

_READY_SECS: Final = 120
# Its standard input is a pipe without a writer: it ends when this process ends, however that ends.
_KEEPER: Final = """\
folder=$1; signal=$2; shift 2
trap '' INT TERM HUP
"$@" & server=$!
read -r _
kill -"$signal" $server 2>/dev/null
wait $server 2>/dev/null
rm -rf -- "$folder"
"""


class KeptProcess:
    """A server process. A shell between this process and the server stops it with `signal` and removes its folder."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        *,
        signal: str,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._output = folder / "log"
        with self._output.open("wb") as log:
            self._keeper = subprocess.Popen(
                ["sh", "-c", _KEEPER, "sh", str(folder), signal, *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                user=user,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    def wait(self, ready: Callable[[], bool], *, failure: str) -> bool:
        """Wait until the server is ready; returns whether it is. `failure` is a word of its output that says no."""
        until = time.monotonic() + _READY_SECS
        while not ready():
            if time.monotonic() > until or self._keeper.poll() is not None or failure in self._text():
                return False
            time.sleep(0.01)
        return True

    def _text(self) -> str:
        return self._output.read_text(errors="replace")

    @property
    def last_line(self) -> str:
        """The last line of the server's output."""
        return self._text().strip().rpartition("\n")[2]

    def close(self) -> None:
        """Stop the server and remove its folder."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()
