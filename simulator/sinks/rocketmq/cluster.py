"""A RocketMQ cluster: name servers, the queues of topics, topics that are made, and what went wrong in words."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from simulator.errors import SinkError
from simulator.sinks.rocketmq.remoting import (
    CLUSTER_INFO,
    TOPIC_NOT_EXIST,
    TOPIC_ROUTE,
    UPDATE_TOPIC,
    Connection,
    Refusal,
    json_of,
    patiently,
    words,
)
from simulator.sinks.rocketmq.url import RocketmqUrl, check_topic

T = TypeVar("T")

# A new topic is known to the name server after some 25 ms, a broker that has just started after up to 10 s.
TOPIC_SECS: Final = 30
MASTER: Final = "0"
WRITE: Final = 2  # the bit of a queue's permissions


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a topic: `index` among all of the topic's, `number` at its broker, whose master has this address."""

    topic: str
    index: int
    broker: str
    number: int
    address: str


class Cluster:
    """Asks the name servers and, for new topics, the brokers. Raises SinkError."""

    def __init__(self, url: RocketmqUrl) -> None:
        self.url = url
        self._queues: dict[str, list[Queue]] = {}

    def __str__(self) -> str:
        return str(self.url)

    def connect(self) -> None:
        """See that a name server knows a broker; tried for `connect_secs`."""
        deadline = time.monotonic() + self.url.connect_secs
        while True:
            try:
                if self._brokers():
                    return
                reason = f"{self} knows no broker: is it running, and does it name this name server?"
            except socket.gaierror as error:
                raise SinkError(f"{self} was not found: {error.strerror}. Check the host's name.") from None
            except OSError as error:
                reason = f"{self} could not be reached in {self.url.connect_secs:g} s: {words(error)}. Is it running?"
            except Refusal as refusal:
                raise SinkError(f"{self} refused a request: {refusal}.") from None
            if time.monotonic() > deadline:
                raise SinkError(reason)
            time.sleep(0.1)

    def queues(self, topic: str) -> list[Queue]:
        """The topic's queues in the order of Java's client; a missing topic is made when the URL says how many it
        shall have. Raises UsageError for a name that RocketMQ does not take, SinkError."""
        if topic in self._queues:
            return self._queues[topic]
        count, queues = self.url.partitions, self.existing(topic)
        if not queues:
            if count is None:
                raise SinkError(
                    f"there is no topic {topic!r} at {self}: add partitions=N to the URL to have it made with N queues."
                )
            self._create(topic, count)
            queues = self._wait_for(topic, count)
        if count not in (None, len(queues)):
            raise SinkError(
                f"topic {topic!r} at {self} has {len(queues)} queues, and the URL asks for {count}: leave partitions="
                " out, or take another topic."
            )
        self._queues[topic] = queues
        return queues

    def existing(self, topic: str) -> list[Queue]:
        """The topic's queues; none if there is no such topic. Raises UsageError, SinkError."""
        check_topic(topic)
        return self._asked(lambda: self._route(topic))

    def found_again(self, queue: Queue) -> Queue:
        """The queue where its broker is now: one that comes back may have another address."""
        try:
            queues = self._route(queue.topic)
        except (OSError, Refusal):
            return queue
        return next(
            (current for current in queues if (current.broker, current.number) == (queue.broker, queue.number)), queue
        )

    def _route(self, topic: str) -> list[Queue]:
        """As Java's client: brokers by their names, or as an administrator has put them in order."""
        try:
            _, body = self._ask(TOPIC_ROUTE, {"topic": topic})
        except Refusal as refusal:
            if refusal.code == TOPIC_NOT_EXIST:
                return []
            raise
        route = json_of(body)
        if order := route.get("orderTopicConf"):  # broker-b:4;broker-a:4
            shares = [(name, int(count)) for name, _, count in (share.partition(":") for share in order.split(";"))]
        else:
            writable = (share for share in route["queueDatas"] if share["perm"] & WRITE)
            shares = sorted((share["brokerName"], share["writeQueueNums"]) for share in writable)
        addresses = {broker["brokerName"]: broker["brokerAddrs"].get(MASTER) for broker in route["brokerDatas"]}
        queues: list[Queue] = []
        for broker, count in shares:
            if (address := addresses.get(broker)) is not None:
                queues += [Queue(topic, len(queues) + number, broker, number, address) for number in range(count)]
        return queues

    def _create(self, topic: str, count: int) -> None:
        """All queues at one broker, so that there are as many as asked for."""
        fields = {
            "topic": topic,
            "defaultTopic": "TBW102",
            "readQueueNums": str(count),
            "writeQueueNums": str(count),
            "perm": "6",
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "0",
            "order": "false",
            "attributes": f"+message.type={self.url.topic_type.upper()}",
        }

        def make() -> None:
            if not (brokers := self._brokers()):
                raise ConnectionError("the name server knows no broker")
            self._once(min(brokers.items())[1], UPDATE_TOPIC, fields)

        try:
            patiently(make, self._patience_secs)
        except Refusal as refusal:
            raise SinkError(f"topic {topic!r} at {self} cannot be made: {refusal}.") from None
        except OSError as error:
            raise SinkError(f"topic {topic!r} at {self} cannot be made: {words(error)}.") from None

    def _wait_for(self, topic: str, count: int) -> list[Queue]:
        deadline = time.monotonic() + TOPIC_SECS
        while len(queues := self._asked(lambda: self._route(topic))) < count:
            if time.monotonic() > deadline:
                raise SinkError(f"topic {topic!r} at {self} has no route {TOPIC_SECS} s after it was made.")
            time.sleep(0.02)
        return queues

    def _brokers(self) -> Mapping[str, str]:
        """Names of brokers and their masters' addresses."""
        _, body = self._ask(CLUSTER_INFO, {})
        brokers = json_of(body).get("brokerAddrTable") or {}
        addresses = {name: broker["brokerAddrs"] for name, broker in brokers.items()}
        return {name: masters[MASTER] for name, masters in addresses.items() if MASTER in masters}

    @property
    def _patience_secs(self) -> float:
        """Seconds to repeat a request: in mid-run, as long as brokers may be away."""
        return self.url.outage_secs if self._queues else TOPIC_SECS

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return patiently(ask, self._patience_secs)
        except Refusal as refusal:
            raise SinkError(f"{self} refused a request: {refusal}.") from None
        except OSError as error:
            raise SinkError(f"{self} could not be reached: {words(error)}. Is it running?") from None

    def _ask(self, code: int, fields: Mapping[str, str]) -> tuple[dict[str, Any], bytes]:
        """The answer of the first name server that has one. Raises OSError, Refusal."""
        *others, last = self.url.name_servers.split(";")
        for address in others:
            try:
                return self._once(address, code, fields)
            except OSError:
                continue
        return self._once(last, code, fields)

    def _once(self, address: str, code: int, fields: Mapping[str, str]) -> tuple[dict[str, Any], bytes]:
        connection = Connection(address, self.url.login, self.url.connect_secs)
        try:
            return connection.request(code, fields)
        finally:
            connection.close()
