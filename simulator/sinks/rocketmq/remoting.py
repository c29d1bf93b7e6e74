"""RocketMQ's remoting protocol: requests over one connection, answered one after the other.

A frame is its length, the length of its header (the top byte 0 says JSON), the header, and the body. A login signs each
request: HMAC-SHA1 over the values of the header's fields, sorted by name, and the body.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import re
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import orjson

from simulator.sinks.rocketmq.url import Login

T = TypeVar("T")

TOPIC_ROUTE: Final = 105
CLUSTER_INFO: Final = 106
UPDATE_TOPIC: Final = 17
PULL: Final = 11
BROKER_STATE: Final = 28
MAX_OFFSET: Final = 30
MIN_OFFSET: Final = 31
SEND_MESSAGE: Final = 310
SEND_BATCH: Final = 320

SUCCESS: Final = 0
MESSAGE_ILLEGAL: Final = 13
NO_PERMISSION: Final = 16
TOPIC_NOT_EXIST: Final = 17
# Answers of a pull without messages: PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY.
NO_MESSAGE: Final = 19
PULL_AGAIN: Final = 20
# Stored, but not (yet) on disk or on a replica: FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT.
STORED: Final = frozenset({SUCCESS, 10, 11, 12})
# Refusals of the moment: SYSTEM_BUSY, SERVICE_NOT_AVAILABLE.
BUSY: Final = frozenset({2, 14})
MOST_BYTES: Final = 64 << 20
# Pause before the first repetition of a request; each further one doubles it, up to a second.
PAUSE_SECS: Final = 0.05


class Refusal(Exception):
    """The server answered, and refused: its code, and its words."""

    def __init__(self, code: int, remark: str) -> None:
        self.code = code
        # `CODE: 13  DESC: the message is illegal, maybe … \nFor more information, please visit the url, …`
        remark = re.sub(r"^CODE: \d+\s+DESC: ", "", remark).partition("\n")[0]
        self.remark = " ".join(remark.partition("For more information")[0].split()).rstrip(".,: ")
        super().__init__(f"{self.remark or 'no reason given'} (code {code})")


class Connection:
    """One connection. Raises OSError (a timeout too) when it broke; it must be thrown away then."""

    def __init__(self, address: str, login: Login | None, seconds: float) -> None:
        host, _, port = address.rpartition(":")
        self._login = login
        self._numbers = itertools.count(1)
        self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout=seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")

    def wait_for(self, seconds: float) -> None:
        """Sets the timeout of answers from now on; at first it is that of connecting."""
        self._socket.settimeout(seconds)

    def request(self, code: int, fields: Mapping[str, str], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """The header's fields and the body of the answer. Raises Refusal."""
        if self._login is not None:
            fields = {**fields, "AccessKey": self._login.access_key}
            content = "".join(fields[name] for name in sorted(fields)).encode() + body
            digest = hmac.new(self._login.secret_key.encode(), content, hashlib.sha1).digest()
            fields = {**fields, "Signature": base64.b64encode(digest).decode()}
        number = next(self._numbers)
        header = orjson.dumps(
            {
                "code": code,
                "extFields": fields,
                "flag": 0,
                "language": "PYTHON",
                "opaque": number,
                "serializeTypeCurrentRPC": "JSON",
                "version": 0,
            }
        )
        self._socket.sendall(struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body)
        while True:
            answer, content = self._answer()
            # The server may ask something of its own in between; only answers have the lowest bit of `flag`.
            if answer["flag"] & 1 and answer["opaque"] == number:
                break
        if answer["code"] not in STORED:
            raise Refusal(answer["code"], answer.get("remark") or "")
        return answer.get("extFields") or {}, content

    def _answer(self) -> tuple[dict[str, Any], bytes]:
        start = self._read(8)
        length, header_length = struct.unpack(">ii", start)
        if header_length >> 24 or not 0 <= length - 4 <= MOST_BYTES:
            raise ConnectionError("it does not speak RocketMQ's remoting protocol")
        answer = self._read(length - 4)
        return orjson.loads(answer[:header_length]), answer[header_length:]

    def _read(self, count: int) -> bytes:
        data = self._reader.read(count)
        if len(data) < count:
            raise ConnectionResetError("the connection was closed")
        return data

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


def patiently(ask: Callable[[], T], seconds: float) -> T:
    """The answer; repeats the request for some seconds while the server is busy or away. Raises OSError, Refusal."""
    deadline = time.monotonic() + seconds
    pause = PAUSE_SECS
    while True:
        try:
            return ask()
        except (OSError, Refusal) as error:
            passes = isinstance(error, OSError) or error.code in BUSY
            if not passes or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(1.0, 2 * pause)


def json_of(body: bytes) -> Any:
    """The JSON that RocketMQ's Java writes: numbers that are names of members have no quotes."""
    return orjson.loads(re.sub(rb"([{,])(\d+):", rb'\1"\2":', body))


def words(error: OSError) -> str:
    """Text of a connection's error."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return (error.strerror or str(error) or type(error).__name__).rstrip(".")
