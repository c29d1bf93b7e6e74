"""Messages over the remoting protocol, many in a request.

A broker works on several requests of a connection at once, so a queue has one request on its way at a time; the
requests hold many messages instead. Each thread has a sender of its own.
"""

from __future__ import annotations

import secrets
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Final

from simulator.sinks.rocketmq.cluster import Queue
from simulator.sinks.rocketmq.message import Outgoing
from simulator.sinks.rocketmq.remoting import MESSAGE_ILLEGAL, SEND_BATCH, SEND_MESSAGE, Connection, Refusal
from simulator.sinks.rocketmq.url import RocketmqUrl

MOST_MESSAGES: Final = 200
# A broker takes 4 MiB in a request by default.
MOST_BYTES: Final = 1 << 20
CONNECT_SECS: Final = 3.0
# A request that is sent again may be stored twice, so a busy broker gets longer than the 3 s of Java's client.
ANSWER_SECS: Final = 30.0


class NativeSender:
    """A client for one thread."""

    def __init__(self, url: RocketmqUrl) -> None:
        self._url = url
        self._connections: dict[str, Connection] = {}
        # As Java's client marks messages: unique, by the process and a counter.
        self._mark, self._sent = secrets.token_hex(12).upper(), 0

    def count(self, messages: Sequence[Outgoing]) -> int:
        """Number of messages that fit into a request, at least one."""
        sizes = accumulate(len(message.body) for message in messages[:MOST_MESSAGES])
        return max(1, sum(size <= MOST_BYTES for size in sizes))

    def send(self, queue: Queue, messages: Sequence[Outgoing]) -> int:
        """Stores the messages that fit into a request; returns how many. Raises OSError, and Refusal of the first."""
        count = self.count(messages)
        if count > 1:
            try:
                self._request(queue, SEND_BATCH, b"", b"".join(map(self._encoded, messages[:count])))
            except Refusal as refusal:
                if refusal.code != MESSAGE_ILLEGAL:
                    raise
                count = 1  # one of them is refused, and the broker stored none
            else:
                return count
        self._request(queue, SEND_MESSAGE, self._properties(messages[0]), messages[0].body)
        return count

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    def _request(self, queue: Queue, code: int, properties: bytes, body: bytes) -> None:
        fields = {
            "a": self._url.group,
            "b": queue.topic,
            "c": "TBW102",
            "d": "4",
            "e": str(queue.number),
            "f": "0",
            "g": str(time.time_ns() // 1_000_000),
            "h": "0",
            "i": properties.decode("utf-8", "surrogateescape"),
            "j": "0",
            "k": "false",
            "l": "0",
            "m": "true" if code == SEND_BATCH else "false",
        }
        connection = self._connections.get(queue.address)
        try:
            if connection is None:
                connection = Connection(queue.address, self._url.login, CONNECT_SECS)
                connection.wait_for(min(ANSWER_SECS, self._url.outage_secs))
                self._connections[queue.address] = connection
            connection.request(code, fields, body)
        except OSError:
            if (broken := self._connections.pop(queue.address, None)) is not None:
                with suppress(OSError):
                    broken.close()
            raise

    def _properties(self, message: Outgoing) -> bytes:
        self._sent += 1
        return message.text + b"UNIQ_KEY\x01%s%08X\x02WAIT\x01true\x02" % (self._mark.encode(), self._sent)

    def _encoded(self, message: Outgoing) -> bytes:
        """As Java's MessageDecoder.encodeMessage: size, magic, checksum, flag, body, properties."""
        properties = self._properties(message)
        size = 22 + len(message.body) + len(properties)
        start = struct.pack(">iiiii", size, 0, 0, 0, len(message.body))
        return b"".join((start, message.body, struct.pack(">h", len(properties)), properties))
