"""Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130


@contextmanager
def stopped_by_signals(this: Any) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run in order, the second at once."""

    def handle(number: int, frame: object) -> None:
        if this.stop:
            raise KeyboardInterrupt
        this.stop = True

    try:
        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: the caller handles signals there
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
