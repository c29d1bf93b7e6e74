"""Ring of tasks that run at once: each tells the next one when it may go on, the last one the first.

Spark's own barrier is not enough: a task that waits in it asks once a second whether the others have come.
"""

from __future__ import annotations

import hmac
import select
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Self

SECRET_BYTES: Final = 16
# Seconds for the neighbours to connect, which all of them do at about the same time.
CONNECT_SECONDS: Final = 300
# Seconds between two polls of whoever waits.
POLL_SECONDS: Final = 0.1
GO: Final = b"+"
STOP: Final = b"-"


class Ring:
    """One task's place in the ring. Its neighbours know it by a secret, and tell it one byte at a time.

    `gather` returns the addresses of all tasks, in their order, when each has given its own. It runs in a thread: the
    task can work until the others are here.
    """

    def __init__(self, host: str, number: int, secret: bytes, gather: Callable[[str], list[str]]) -> None:
        self._number, self._secret = number, secret
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._server = socket.create_server((host, 0), family=family)
        self._server.settimeout(CONNECT_SECONDS)
        self._thread = ThreadPoolExecutor(1)
        self.address: tuple[str, int] = (host, self._server.getsockname()[1])
        self._neighbours = self._thread.submit(lambda: self._connect(gather("{} {}".format(*self.address))))

    def _connect(self, addresses: list[str]) -> tuple[socket.socket, socket.socket]:
        """Connections from the task before and to the next one."""
        host, _, port = addresses[(self._number + 1) % len(addresses)].rpartition(" ")
        following = socket.create_connection((host, int(port)), CONNECT_SECONDS)
        following.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        following.sendall(self._secret)
        while True:
            before, _ = self._server.accept()
            before.settimeout(CONNECT_SECONDS)
            if hmac.compare_digest(before.recv(SECRET_BYTES, socket.MSG_WAITALL), self._secret):
                return before, following
            before.close()

    def wait(self, poll: Callable[[], None]) -> bool:
        """Waits for the task before, and returns whether it says to go on; calls `poll` meanwhile. Raises OSError if
        it has died."""
        before, _ = self._linked(poll)
        while not select.select([before], [], [], POLL_SECONDS)[0]:
            poll()
        if not (word := before.recv(1)):
            raise ConnectionError("the task before this one has died")
        return word == GO

    def tell(self, go: bool, poll: Callable[[], None]) -> None:
        """Tells the next task to go on, or to stop. One that has died is Spark's to notice."""
        _, following = self._linked(poll)
        with suppress(OSError):
            following.sendall(GO if go else STOP)

    def _linked(self, poll: Callable[[], None]) -> tuple[socket.socket, socket.socket]:
        while True:
            try:
                return self._neighbours.result(POLL_SECONDS)
            except TimeoutError:
                if self._neighbours.done():
                    raise
                poll()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.close()
        self._thread.shutdown(wait=False)
        if self._neighbours.done() and self._neighbours.exception() is None:
            for connection in self._neighbours.result():
                connection.close()
