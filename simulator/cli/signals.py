"""Ctrl-C, SIGTERM and SIGHUP: they end a run in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The exit status after Ctrl-C.
INTERRUPTED = 130
ENDING = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))


@contextmanager
def stopped_by_signals(run: Any) -> Iterator[None]:
    """The first of these signals sets the run's `stop`, so that it ends in order; the second ends it at once. One that
    whoever started this ignores (nohup) stays ignored."""

    def handle(number: int, frame: object) -> None:
        if run.stop:
            raise KeyboardInterrupt
        run.stop = True

    try:
        before = {
            number: signal.signal(number, handle) for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN
        }
    except ValueError:  # not in the main thread: the caller handles signals there
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
