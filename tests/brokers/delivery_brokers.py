"""The model of delivery on real brokers: each life is a process, which is killed by SIGKILL; connections that break are
broken, messages that are refused are too large, and in transactions another producer has the id.

What a life is told happens some milliseconds after a batch is given to the sink, so it finds messages on their way.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from delivery_model import PARTITIONS, Killed, Life, Machine, job, wanted
from forks import Forks
from waiting import patient

from simulator.batch import MessageBatch
from simulator.run.render import Renderer
from simulator.run.resume import Resumed
from simulator.run.session import contents_of
from simulator.run.summary import Summary
from simulator.sinks import parse_target
from simulator.sinks.ledger import Parcel, Place
from simulator.sinks.sink import Sink
from simulator.sinks.target import Target

Kind = Literal["kafka", "kafka exactly-once", "rabbitmq", "rocketmq"]
KINDS: Final[tuple[Kind, ...]] = ("kafka", "kafka exactly-once", "rabbitmq", "rocketmq")
# Patient: a busy broker may take long to answer.
OPTIONS: Final = {"partitions": str(PARTITIONS), "timeout_secs": "800"}
ID: Final = "transactional-id"
MORE: Final[dict[Kind, dict[str, str]]] = {
    "kafka": {"max_message_bytes": "100000"},
    "kafka exactly-once": {"max_message_bytes": "100000", "exactly-once": "true", ID: "delivery"},
    "rabbitmq": {"exchange": "amq.direct", "queue": "{topic}"},
    "rocketmq": {"client": "native", "max_message_bytes": "100000"},
}
OTHER: Final[dict[Kind, tuple[str, str]]] = {
    "kafka": ("exactly-once", "true"),
    "kafka exactly-once": (ID, "another"),
    "rabbitmq": ("persistent", "false"),
    "rocketmq": ("tag", "other"),
}
CLIENTS: Final = (
    "confluent_kafka.admin", "simulator.sinks.kafka.transactions", "pika.adapters", "simulator.sinks.rabbitmq.sink",
    "simulator.sinks.rocketmq.native", "simulator.sinks.rocketmq.sink",
)  # fmt: skip
# More than a client or the tests' broker takes.
TOO_LARGE: Final = 1_500_000


class Brokers(Machine):
    """A run to a broker, to one topic or to one of each table. `read` returns the values of a topic by partition."""

    def __init__(
        self,
        folder: Path,
        kind: Kind,
        address: str,
        *,
        by_table: bool,
        forks: Forks | None = None,
        read: Callable[[str], dict[int, list[bytes]]] = lambda topic: {},
    ) -> None:
        super().__init__(folder)
        self.kind, self.address, self.by_table = kind, address, by_table
        self.name = f"test_{uuid.uuid4().hex}"
        self.other = OTHER[kind]
        self.sends_again = kind != "kafka exactly-once"
        self.breaks = 0
        self._forks, self._read = forks, read
        self._contents: dict[str, dict[int, list[bytes]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_forks": None, "_read": None}

    def topic(self, name: str) -> str:
        return f"{self.name}_{name}" + ("_{table}" if self.by_table else "")

    def target(self, name: str, **more: str) -> Target:
        query = {**OPTIONS, **MORE[self.kind], **more}
        scheme, path = self.kind.partition(" ")[0], self.topic(name)
        if scheme == "rabbitmq":
            scheme, path = "amqp", ""
            query["topic"] = self.topic(name)
        options = "&".join(f"{option}={text}" for option, text in query.items())
        return parse_target(f"{scheme}://{self.address}/{path}?{options}")

    def live(self, name: str, life: Life, **options: Any) -> Summary:
        # RabbitMQ closes the channel for a message that it refuses
        self.breaks += sum(answer.kind.startswith(("broken", "refused")) for answer in life.answers)
        assert self._forks is not None
        return self._forks(Killed, _life, self, name, life, **options)

    def renderer(self, name: str, sink: Sink) -> Renderer:
        return job(self.topic(name)).renderer(sink.partitions)

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def opened(self, name: str, life: Life, resumed: Resumed) -> Sink:
        sink = self.target(name).open(contents_of(job(self.topic(name)), resumed=resumed))
        send, answers = sink.write, iter(life.answers)

        def answered(batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
            answer = next(answers, None)
            match answer and answer.kind:
                case "killed":
                    after(answer.stored, self.die)
                case "broken":
                    after(answer.stored, break_connections)
                case "broken and killed":
                    after(answer.stored, break_connections)
                    after(answer.stored + answer.again, self.die)
                case "refused" if self.kind == "kafka exactly-once" and answer.stored % 2:
                    self.fence()
                case "refused":
                    batch = with_large(batch, answer.stored % len(batch))
            send(batch, parcels, whole=whole)
            if answer is None or answer.kind == "at once":
                sink.flush()

        sink.write = answered  # type: ignore[method-assign]
        return sink

    def fence(self) -> None:
        """Another producer has the transactional id from now on."""
        producer = Producer({"bootstrap.servers": self.address, "transactional.id": "delivery", "log_level": 0})
        producer.init_transactions(60)

    def held(self, name: str, place: Place) -> Sequence[bytes]:
        topic, partition = place
        if topic not in self._contents:
            self._contents[topic] = self._read(topic)
        return self._contents[topic].get(partition, [])

    def sent_again(self, place: Place) -> int:
        """librdkafka sends again without the broker's storing it twice; others may send all again after each break."""
        if self.kind.startswith("kafka"):
            return 0
        return self.breaks * len(wanted(self.topic("run"))[place])


def prepare() -> None:
    """Opens and computes what all lives have in common, and imports their clients."""
    for topic in ("prepared", "prepared_{table}"):
        wanted(topic)
    for module in CLIENTS:
        importlib.import_module(module)


def _life(machine: Machine, name: str, life: Life, **options: Any) -> Summary:
    with pytest.MonkeyPatch.context() as patch:
        patient(patch)
        return Machine.live(machine, name, life, **options)


def after(milliseconds: int, action: Callable[[], None]) -> None:
    timer = threading.Timer(milliseconds / 1000, action)
    timer.daemon = True
    timer.start()


def break_connections() -> None:
    """Ends each TCP connection of this process, whichever client it belongs to."""
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # of what is no socket
            connection = socket.socket(fileno=int(name))
            try:
                if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.type == socket.SOCK_STREAM:
                    connection.shutdown(socket.SHUT_RDWR)
            finally:
                connection.detach()


def with_large(batch: MessageBatch, row: int) -> MessageBatch:
    """The batch with a message that nobody takes."""
    values = batch["value"].to_pylist()
    values[row] = b" " * TOO_LARGE
    column = batch.columns.schema.get_field_index("value")
    field = batch.columns.schema.field(column)
    return MessageBatch(batch.columns.set_column(column, field, pa.array(values, field.type)))
