"""A scripted RocketMQ cluster: a name server and brokers that answer what a test says, and no JVM."""

from __future__ import annotations

import json
import socketserver
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

# Code, remark, body and perhaps further fields of the header; None: the connection is closed instead.
Answer: TypeAlias = tuple[int, str, bytes] | tuple[int, str, bytes, dict[str, str]] | None
SUCCESS, BROKER_STATE, MAX_OFFSET, MIN_OFFSET, TOPIC_ROUTE, CLUSTER_INFO, SENDS = 0, 28, 30, 31, 105, 106, (310, 320)


class Cluster:
    """Every topic has `queues[broker]` queues at each broker; `stored` counts requests by broker and its queue, each
    with one message. `behind` is how often brokers say that their queues do not have them yet.

    `refusal` is what brokers answer to each message instead, `answers` what they answer to the next requests that they
    store; `more` are further members of a topic's route, and `first` is what the name server answers to the next
    requests instead.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.brokers: dict[str, str] = {}
        self.queues: dict[str, int] = {}
        self.more: dict[str, Any] = {}
        self.stored: Counter[tuple[str, int]] = Counter()
        self.refusal: Answer = None
        self.first: list[Answer] = []
        self.answers: list[Answer] = []
        self.behind = 0
        self.names = stack.enter_context(server(self._name_server))

    def start(self, broker: str, queues: int) -> None:
        def answer(code: int, fields: dict[str, str]) -> Answer:
            if code in SENDS:
                if self.refusal is not None:
                    return self.refusal
                self.stored[broker, int(fields["e"])] += 1
                if self.answers:
                    return self.answers.pop(0)
            if code == BROKER_STATE:
                self.behind = max(0, self.behind - 1)
                return SUCCESS, "", json.dumps({"table": {"dispatchBehindBytes": str(self.behind)}}).encode()
            if code == MAX_OFFSET:
                count = 0 if self.behind else self.stored[broker, int(fields["queueId"])]
                return SUCCESS, "", b"", {"offset": str(count)}
            if code == MIN_OFFSET:
                return SUCCESS, "", b"", {"offset": "0"}
            return SUCCESS, "", b""

        self.brokers[broker], self.queues[broker] = self._stack.enter_context(server(answer)), queues

    def _name_server(self, code: int, fields: dict[str, str]) -> Answer:
        if self.first:
            return self.first.pop(0)
        masters = {name: {"0": address} for name, address in self.brokers.items()}
        if code == CLUSTER_INFO:
            table = {name: {"brokerAddrs": addresses} for name, addresses in masters.items()}
            return SUCCESS, "", json.dumps({"brokerAddrTable": table}).encode()
        assert code == TOPIC_ROUTE
        queues = [
            {"brokerName": name, "perm": 6, "readQueueNums": count, "writeQueueNums": count, "topicSysFlag": 0}
            for name, count in self.queues.items()
        ]
        brokers = [
            {"brokerName": name, "cluster": "c", "brokerAddrs": addresses} for name, addresses in masters.items()
        ]
        document = {"queueDatas": queues, "brokerDatas": brokers, "filterServerTable": {}, **self.more}
        return SUCCESS, "", json.dumps(document).encode()


@contextmanager
def server(answer: Callable[[int, dict[str, str]], Answer]) -> Iterator[str]:
    """A server that answers requests, given as their code and fields; gives its address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while start := self.rfile.read(8):
                length, header_length = struct.unpack(">ii", start)
                request = json.loads(self.rfile.read(length - 4)[: header_length & 0xFFFFFF])
                fields = request.get("extFields") or {}
                answered = answer(request["code"], fields)
                if answered is None:
                    return
                code, remark, body, *more = answered
                header = json.dumps(
                    {
                        "code": code,
                        "extFields": {"msgId": "0", "queueId": fields.get("e", "0"), "queueOffset": "0", **dict(*more)},
                        "flag": 1,
                        "language": "JAVA",
                        "opaque": request["opaque"],
                        "remark": remark,
                        "serializeTypeCurrentRPC": "JSON",
                        "version": 0,
                    }
                ).encode()
                self.wfile.write(struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()
