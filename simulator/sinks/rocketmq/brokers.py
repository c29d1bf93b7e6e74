"""Questions to the brokers of queues, asked again while one is busy or away: over one connection to each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from simulator.errors import SinkError
from simulator.sinks.rocketmq.cluster import Queue
from simulator.sinks.rocketmq.remoting import (
    BROKER_STATE,
    BUSY,
    MAX_OFFSET,
    MIN_OFFSET,
    PULL,
    Connection,
    Refusal,
    json_of,
    patiently,
    words,
)
from simulator.sinks.rocketmq.url import RocketmqUrl

# The longest wait for a broker that is busy or away, and for its queues to reach the end of its log.
PATIENCE_SECS: Final = 60.0
WAIT_SECS: Final = 0.05


class Brokers:
    """Connections to brokers, by address. Raises SinkError."""

    def __init__(self, url: RocketmqUrl) -> None:
        self._url = url
        self._connections: dict[str, Connection] = {}

    def offsets(self, queues: Sequence[Queue]) -> list[tuple[int, int]]:
        """Offsets of the first message of each queue, and behind its last one."""
        for address in {queue.address for queue in queues}:
            self._await_index(address)
        return [(self._offset(queue, MIN_OFFSET), self._offset(queue, MAX_OFFSET)) for queue in queues]

    def _offset(self, queue: Queue, code: int) -> int:
        fields, _ = self.ask(queue.address, code, {"topic": queue.topic, "queueId": str(queue.number)})
        return int(fields["offset"])

    def _await_index(self, address: str) -> None:
        """Waits until the broker's queues have what it acknowledged: it stores messages before it indexes them."""
        deadline = time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline:
            _, body = self.ask(address, BROKER_STATE, {})
            if int(json_of(body)["table"].get("dispatchBehindBytes", 0)) <= 0:
                return
            time.sleep(WAIT_SECS)

    def ask(self, address: str, code: int, fields: Mapping[str, str]) -> tuple[dict[str, Any], bytes]:
        """The answer of a broker. Raises Refusal of a pull, too."""
        try:
            return patiently(lambda: self._once(address, code, fields), PATIENCE_SECS)
        except Refusal as refusal:
            if code == PULL and refusal.code not in BUSY:
                raise
            reason = str(refusal)
        except OSError as error:
            reason = words(error)
        raise SinkError(f"{self._url}: reading stopped: {reason}.")

    def _once(self, address: str, code: int, fields: Mapping[str, str]) -> tuple[dict[str, Any], bytes]:
        try:
            if (connection := self._connections.get(address)) is None:
                connection = Connection(address, self._url.login, self._url.connect_secs)
                self._connections[address] = connection
                connection.wait_for(PATIENCE_SECS)
            return connection.request(code, fields)
        except OSError:
            if (broken := self._connections.pop(address, None)) is not None:
                with suppress(OSError):
                    broken.close()
            raise

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()
