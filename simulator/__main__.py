"""`cdcsim`, and `python -m simulator`: from the first moment on Ctrl-C ends it silently, with status 130.

An exception would run through half imported extension modules, which now and then do not survive it. Commands that have
something to end in order take the signal over once they have begun it.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # importing `typing` would take as long as all that is before it
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run a command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # whoever started this may have it ignored
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    from simulator.cli import commands

    commands.main()


if __name__ == "__main__":
    main()
