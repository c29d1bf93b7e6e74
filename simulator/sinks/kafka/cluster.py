"""A Kafka cluster as librdkafka sees it: connecting, topics, and what went wrong in words."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from simulator.errors import OptionError, SinkError
from simulator.sinks.kafka import library
from simulator.sinks.kafka.producer import Producer
from simulator.sinks.kafka.url import OPEN_WORDS, KafkaUrl, check_topic, client_settings

# A broker that elects leaders for a new topic takes well under a second; one that has just started may take some.
TOPIC_SECS: Final = 30
# Timeouts in seconds: the first request's, the increase per repetition (brokers may be busy), and the maximum, which
# Ctrl-C has to wait for.
FIRST_SECS: Final = 1.0
LONGER: Final = 1.5
LAST_SECS: Final = 8.0
# Errors of a cluster that is about to change, and of lost requests: the same request may well succeed later.
# librdkafka drops (`_DESTROY_BROKER`) what waits at a broker that the cluster no longer names, as one does that is shut
# out for a moment because it was too busy to say that it lives.
PASSING: Final = (
    *("_DESTROY_BROKER", "_TRANSPORT", "_TIMED_OUT", "_TIMED_OUT_QUEUE", "_ALL_BROKERS_DOWN", "_WAIT_COORD"),
    *("BROKER_NOT_AVAILABLE", "LEADER_NOT_AVAILABLE", "NETWORK_EXCEPTION", "NOT_CONTROLLER", "REQUEST_TIMED_OUT"),
    *("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"),
)
# A topic that was made just now is known to its controller a little sooner than to brokers.
NEW_TOPIC_SECS: Final = 1

Answer = TypeVar("Answer")


def _silent() -> logging.Logger:
    logger = logging.getLogger("simulator.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def offsets(client: Any, topic: str, count: int, which: str = "latest", **options: Any) -> list[int]:
    """The `latest` (end) or `earliest` offset of each partition, as the brokers tell an admin client. Raises the
    client's KafkaException."""
    from confluent_kafka import TopicPartition, admin

    new: Any = admin
    spec = getattr(new.OffsetSpec, which)
    specs = {TopicPartition(topic, number): spec() for number in range(count)}
    answers = client.list_offsets(specs, **options)
    return [answers[partition].result().offset for partition in specs]


class Cluster:
    """A connected producer. Raises OptionError, MissingPackage, and SinkError when the cluster cannot be used.

    `give_up` is called with the text of an error that ends the client for good.
    """

    def __init__(self, url: KafkaUrl, file: Mapping[str, str], give_up: Callable[[str], None]) -> None:
        self.settings = client_settings(url, file)
        self.url = url
        self.fatal = ""
        self.last_error: tuple[int, str] | None = None
        self._give_up = give_up
        self._counts: dict[str, int] = {}
        self._hidden = sorted(set(file.values()) - OPEN_WORDS, key=len, reverse=True)
        library.load()
        import confluent_kafka
        from confluent_kafka import admin

        self.client: Any = confluent_kafka
        self.exception: Any = confluent_kafka.KafkaException
        self.codes: Any = confluent_kafka.KafkaError
        self._passing = {getattr(self.codes, name) for name in PASSING}
        self._new: Any = admin
        quiet: dict[str, Any] = self.settings | {"log_level": "0"}
        try:
            # The Python client asks about topics. What it logs even so, to stderr, is reported as an error, too.
            self._admin: Any = admin.AdminClient(quiet | {"error_cb": self.note, "logger": _silent()})
            self.producer = Producer(quiet | {"delivery.report.only.error": "false"})
        except (confluent_kafka.KafkaException, TypeError, ValueError) as error:
            where = f" or of {url.properties}" if url.properties else ""
            raise OptionError(f"librdkafka refuses a setting of the Kafka URL{where}: {self.words(error)}.") from None

    def __str__(self) -> str:
        return f"Kafka {self.url.servers}"

    def connect(self) -> None:
        """Requests metadata until it is there. Causes of errors only reach the error callback, never the exception."""
        deadline = time.monotonic() + self.url.connect_secs
        wait_secs = FIRST_SECS
        while (seconds_left := deadline - time.monotonic()) > 0:
            with suppress(self.exception):
                self._admin.list_topics(timeout=min(seconds_left, wait_secs))
                return
            wait_secs = min(wait_secs * LONGER, LAST_SECS)
            self.poll()  # why it failed
            # Repeating does not help these; a refused connection may be a broker that is just starting.
            if self.last_error and self.last_error[0] in (self.codes._AUTHENTICATION, self.codes._SSL):
                break
            if self.last_error and self.last_error[0] == self.codes._RESOLVE and "," not in self.url.servers:
                break
        raise SinkError(self.unusable())

    def close(self) -> None:
        """Disconnects the admin client, which would otherwise go on reconnecting."""
        self._admin = None

    def unusable(self, seconds: float | None = None) -> str:
        """Reason why the cluster cannot be used after `seconds` of trying (default: as long as connecting may take),
        and what to do."""
        code, words = self.last_error or (None, "")
        seconds = self.url.connect_secs if seconds is None else seconds
        file = str(self.url.properties) if self.url.properties else "a file and add properties=FILE to the URL"
        if code == self.codes._AUTHENTICATION:
            return f"{self} refused the login: {words}. Check sasl.username and sasl.password in {file}."
        if code == self.codes._SSL:
            return f"TLS with {self} failed: {words}. The authority's file is ssl.ca.location in {file}."
        if code == self.codes._RESOLVE:
            return f"{self} was not found: {words}. Check the host's name."
        if words.startswith("SSL handshake failed"):
            return f"TLS with {self} failed: {words}. Does the port take TLS? See security.protocol in {file}."
        if words:
            return f"{self} could not be reached in {seconds:g} s: {words}. Is the broker running?"
        return (
            f"{self} closed the connection without a word for {seconds:g} s."
            f" Does the port want TLS or a login? Write security.protocol into {file}."
        )

    # Topics

    def partitions(self, topic: str) -> int:
        """The topic's partition count; creates a missing topic if the URL has `partitions=`.

        Raises UsageError for a name that Kafka does not take, SinkError for a missing topic and for another count.
        """
        if topic in self._counts:
            return self._counts[topic]
        check_topic(topic)
        wanted = self.url.partitions
        leaders = self._leaders(topic)
        deadline = time.monotonic() + NEW_TOPIC_SECS
        while leaders is None and wanted is None and time.monotonic() < deadline:
            time.sleep(0.1)
            leaders = self._leaders(topic)
        if leaders is None:
            if wanted is None:
                raise SinkError(
                    f"there is no topic {topic!r} at {self}: add partitions=N to the URL to have it made with N."
                )
            self._create(topic, wanted)
            # Another process may have created it just before, with another count.
            leaders = self._wait_for_leaders(topic)
        if wanted not in (None, len(leaders)):
            raise SinkError(
                f"topic {topic!r} at {self} has {len(leaders)} partitions, and the URL asks for {wanted}:"
                " leave partitions= out, or take another topic."
            )
        self._counts[topic] = len(leaders)
        return len(leaders)

    def ends(self, topic: str) -> list[int]:
        """The end offset of each partition; none: no such topic. Retention deletes messages, and not their offsets."""
        if (leaders := self._leaders(topic)) is None:
            return []
        try:
            return self.ask(lambda: self._ends(topic, len(leaders)))
        except self.exception as error:
            raise SinkError(self._topic_error(topic, error)) from None

    def _ends(self, topic: str, count: int) -> list[int]:
        return offsets(self._admin, topic, count, request_timeout=TOPIC_SECS)

    def _leaders(self, topic: str) -> list[bool] | None:
        """Whether each partition has a leader; None: no such topic."""
        deadline = time.monotonic() + self.url.connect_secs
        while True:
            try:
                answer = self.ask(lambda: self._admin.list_topics(topic, timeout=self.url.connect_secs))
                metadata = answer.topics[topic]
            except self.exception as error:
                if self.last_error:
                    raise SinkError(self.unusable(self._patience_secs)) from None
                raise SinkError(self._topic_error(topic, error)) from None
            code = metadata.error.code() if metadata.error else None
            if code == self.codes.UNKNOWN_TOPIC_OR_PART:
                return None
            if code is None:
                return [metadata.partitions[number].leader >= 0 for number in range(len(metadata.partitions))]
            if code != self.codes.LEADER_NOT_AVAILABLE or time.monotonic() > deadline:
                raise SinkError(self._topic_error(topic, metadata.error))
            time.sleep(0.1)

    def _create(self, topic: str, count: int) -> None:
        settings = {} if self.url.max_message_bytes is None else {"max.message.bytes": str(self.url.max_message_bytes)}
        new = self._new.NewTopic(topic, count, self.url.replication or -1, config=settings)
        try:
            self.ask(lambda: self._admin.create_topics([new], request_timeout=TOPIC_SECS)[topic].result())
        except self.exception as error:
            # Another process created it, or an earlier request whose answer was lost.
            if error.args[0].code() != self.codes.TOPIC_ALREADY_EXISTS:
                raise SinkError(self._topic_error(topic, error)) from None

    def _wait_for_leaders(self, topic: str) -> list[bool]:
        """Waits until the leader of each partition confirms that it is the leader.

        Metadata names leaders a little earlier than the brokers know. A message with an explicit partition is refused
        until then as of an unknown partition, and a refused batch is sent again: without idempotence behind the next.
        """
        deadline = time.monotonic() + TOPIC_SECS
        while not ((leaders := self._leaders(topic)) and all(leaders) and self._answer(topic, len(leaders))):
            if time.monotonic() > deadline:
                raise SinkError(f"topic {topic!r} at {self} has partitions without a leader: see the broker's log.")
            time.sleep(0.05)
        return leaders

    def _answer(self, topic: str, count: int) -> bool:
        """Whether the leader of each partition answers a request for its last offset."""
        try:
            self._ends(topic, count)
        except self.exception:
            return False
        return True

    def ask(self, question: Callable[[], Answer]) -> Answer:
        """The cluster's answer; the request is repeated after errors that may pass."""
        deadline = time.monotonic() + self._patience_secs
        while True:
            try:
                return question()
            except self.exception as error:
                if not self._passes(error.args[0]) or time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    @property
    def _patience_secs(self) -> float:
        """Seconds to try again: in mid-run as long as brokers may be away; at first less, since the address may be
        wrong."""
        return self.url.outage_secs if self._counts else TOPIC_SECS

    def _passes(self, error: Any) -> bool:
        # of a topic that is made while its only brokers are shut out for a moment
        fenced = error.code() == self.codes.INVALID_REPLICATION_FACTOR and "fenced" in error.str()
        return fenced or error.code() in self._passing

    def _topic_error(self, topic: str, error: Any) -> str:
        return f"topic {topic!r} at {self} cannot be used: {self.words(error)}."

    def chooser(self) -> Callable[[bytes, int], int]:
        """The client's function from key to partition, by its setting `partitioner`."""
        name = self.settings["partitioner"].removesuffix("_random")
        client = self.client
        functions: dict[str, Callable[[bytes, int], int]]
        functions = {"murmur2": client.murmur2, "consistent": client.consistent, "fnv1a": client.fnv1a}
        if name not in functions:
            raise OptionError(f"partitioner={self.settings['partitioner']}: use murmur2, consistent or fnv1a.")
        return functions[name]

    # Errors

    def poll(self) -> None:
        """Lets the admin client work: it reports errors and renews logins."""
        if (client := self._admin) is not None:
            client.poll(0)

    def note(self, error: Any) -> None:
        """Notes an error that a client reported. librdkafka restores broken connections, which are only remembered."""
        if error.fatal() or error.code() in (self.codes._FATAL, self.codes._FENCED):
            self.fatal = self.reason(error) if self._is_fenced(error) else self.words(error)
            self._give_up(self.fatal)
        elif error.code() != self.codes._ALL_BROKERS_DOWN:
            words = self.words(error)
            # A bare "Disconnected" comes between two more telling ones.
            if self.last_error is None or not words.startswith("Disconnected"):
                self.last_error = error.code(), words

    def reason(self, error: Any) -> str:
        """Reason why a message was not delivered, and what to do."""
        code = error.code()
        if self._is_fenced(error):
            return (
                f"another run writes with the transactional id {self.url.transactional_id!r}; end one of them, or give"
                " each its own transactional-id in the URL"
            )
        if code == self.codes.MSG_SIZE_TOO_LARGE:
            return (
                f"{self.words(error)}; raise max.message.bytes of the topic,"
                " or lower batch_bytes in the URL if single messages are smaller"
            )
        if code == self.codes.INVALID_TIMESTAMP:
            return (
                f"{self.words(error)}; by default a topic takes no time more than an hour ahead,"
                " and message.timestamp.after.max.ms of the topic says how much more"
            )
        if code == self.codes._MSG_TIMED_OUT and self.last_error:
            return f"{self.words(error)}; the last trouble with a connection was: {self.last_error[1]}"
        if code in (self.codes._FATAL, self.codes._FENCED) and self.fatal:
            return self.fatal
        return self.words(error)

    def _is_fenced(self, error: Any) -> bool:
        fenced = (self.codes._FENCED, self.codes.INVALID_PRODUCER_EPOCH, self.codes.PRODUCER_FENCED)
        return self.url.transactional_id is not None and error.code() in fenced

    def words(self, error: Any) -> str:
        """librdkafka's text of an error, without its thread's name and without any value of the properties file."""
        if isinstance(error, self.exception):
            error = error.args[0]
        words = error.str() if isinstance(error, self.codes) else str(error)
        words = re.sub(
            r"^(?:\w+://)?\S+/\w+: | \(after \d+ms in state \w+(?:, \d+ identical error\(s\) \w+)?\)", "", words
        )
        words = " ".join(words.split()).rstrip(" .:?")
        for value in self._hidden:
            words = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "***", words)
        return words
