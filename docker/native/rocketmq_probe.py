"""One request of RocketMQ's remoting protocol: a client library may not be installed yet."""

from __future__ import annotations

import json
import re
import socket
import struct
from typing import Any

CLUSTER_INFO = 106


def request(host: str, port: int, code: int, **fields: str) -> tuple[dict[str, Any], bytes]:
    """The header and the body of the answer. Raises OSError, EOFError.

    A frame is its length, the length of the header (its top byte, 0, says JSON), the header, and the body.
    """
    header = json.dumps(
        {
            "code": code,
            "extFields": fields,
            "flag": 0,
            "language": "PYTHON",
            "opaque": 1,
            "serializeTypeCurrentRPC": "JSON",
            "version": 0,
        }
    ).encode()
    with socket.create_connection((host, port), timeout=5) as connection:
        connection.sendall(struct.pack(">ii", 4 + len(header), len(header)) + header)
        reader = connection.makefile("rb")
        start = reader.read(8)
        if len(start) < 8:
            raise EOFError
        length, header_length = struct.unpack(">ii", start)
        header_length &= 0xFFFFFF
        answer = reader.read(length - 4)
    return json.loads(answer[:header_length]), answer[header_length:]


def brokers(host: str, port: int) -> list[str]:
    """The names of the brokers that a name server knows. Raises OSError, EOFError."""
    _, body = request(host, port, CLUSTER_INFO)
    # Java writes the broker's id, a number, as the name of a member without quotes.
    return list(json.loads(re.sub(rb"([{,])(\d+):", rb'\1"\2":', body)).get("brokerAddrTable", {}))
