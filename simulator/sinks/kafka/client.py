"""A client of librdkafka whose functions are called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Final

from simulator.sinks.kafka import library

ERROR_BYTES: Final = 1024


class Client:
    """A handle of librdkafka, a producer or a consumer, which logs nothing.

    Raises MissingPackage, and ValueError with librdkafka's words for a setting.
    """

    def __init__(self, kind: int, settings: Mapping[str, str], events: int = 0) -> None:
        """`kind`: `library.PRODUCER` or `library.CONSUMER`; `events`: the kinds of events that are polled."""
        self._lib = lib = library.load()
        self._handle: int | None = None
        self._topics: dict[str, int] = {}
        words = ctypes.create_string_buffer(ERROR_BYTES)
        conf = lib.rd_kafka_conf_new()
        for name, value in settings.items():
            if lib.rd_kafka_conf_set(conf, name.encode(), value.encode(), words, ERROR_BYTES):
                lib.rd_kafka_conf_destroy(conf)
                raise ValueError(words.value.decode())
        lib.rd_kafka_conf_set_log_cb(conf, None)
        lib.rd_kafka_conf_set_events(conf, events)
        lib.rd_kafka_conf_enable_sasl_queue(conf, 1)
        self._handle = lib.rd_kafka_new(kind, conf, words, ERROR_BYTES)
        if not self._handle:
            lib.rd_kafka_conf_destroy(conf)
            raise ValueError(words.value.decode())
        # librdkafka renews tokens of OAUTHBEARER by itself; for other logins there is nothing to enable
        if refused := lib.rd_kafka_sasl_background_callbacks_enable(self._handle):
            lib.rd_kafka_error_destroy(refused)

    def topic(self, name: str) -> int:
        """librdkafka's handle of a topic."""
        if name not in self._topics:
            self._topics[name] = self._lib.rd_kafka_topic_new(self._handle, name.encode(), None)
        return self._topics[name]

    def close(self) -> None:
        """Ends the client; no other thread may use it any more."""
        if self._handle:
            for topic in self._topics.values():
                self._lib.rd_kafka_topic_destroy(topic)
            self._lib.rd_kafka_destroy(self._handle)
            self._handle = None
