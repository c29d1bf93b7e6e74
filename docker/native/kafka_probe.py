"""Whether a Kafka can be used, asked over its own protocol: a client library may not be installed yet."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def ready(host: str, port: int) -> bool:
    """Whether the Kafka at this address lists a broker and a controller, and a leader for each partition.

    Asked with a Metadata request, version 1, for all topics: the only part of Kafka's protocol that is needed here. A
    broker is listed once its controller lets it take part, so topics can then be made. Raises OSError, EOFError.
    """
    with socket.create_connection((host, port), timeout=5) as connection:
        request = struct.pack(">hhih", 3, 1, 1, 6) + b"cdcsim" + struct.pack(">i", -1)
        connection.sendall(struct.pack(">i", len(request)) + request)
        reader = connection.makefile("rb")

        def exactly(count: int) -> bytes:
            if len(data := reader.read(count)) < count:
                raise EOFError
            return data

        (size,) = struct.unpack(">i", exactly(4))
        answer = Answer(exactly(size))
    answer.number("i")  # correlation
    brokers = answer.array(lambda: (answer.number("i"), answer.text(), answer.number("i"), answer.text()))
    controller = answer.number("i")

    def partition() -> bool:
        error, _, leader = answer.number("h"), answer.number("i"), answer.number("i")
        for _ in ("replicas", "in sync"):
            answer.array(lambda: answer.number("i"))
        return error == 0 and leader >= 0

    topics = answer.array(
        lambda: (answer.number("h") == 0, answer.text(), answer.number("b"), answer.array(partition)),
    )
    return bool(brokers) and controller >= 0 and all(fine and all(leaders) for fine, _, _, leaders in topics)


class Answer:
    """Reads the parts of a Kafka response one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from(f">{code}", self.data, self.place)
        self.place += struct.calcsize(code)
        return int(value)

    def text(self) -> str | None:
        size = self.number("h")
        if size < 0:
            return None
        self.place += size
        return self.data[self.place - size : self.place].decode()

    def array(self, item: Callable[[], T]) -> list[T]:
        return [item() for _ in range(self.number("i"))]
