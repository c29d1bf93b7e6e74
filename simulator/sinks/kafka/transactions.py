"""Messages to Kafka in transactions: a reader of committed messages sees each exactly once, also after a crash.

A transaction holds whole source transactions. Of a run that can be resumed it holds the position behind them, too: as
the metadata of an offset that a consumer group commits with it. The group belongs to one run (`TRANSACTIONAL_ID.RUN`,
the run's id from its resume file), so that no run finds the position of another, or of its own former beginning. Kafka
lets one producer of an id write, the latest; what an earlier one had open is aborted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

from simulator.batch import MessageBatch
from simulator.errors import DeliveryFailed, SinkError
from simulator.model import OrderKey
from simulator.sinks.kafka.sink import LEAVE_SECS, KafkaSink
from simulator.sinks.kafka.url import KafkaUrl
from simulator.sinks.ledger import Parcel

# Seconds between commits: one takes about 30 ms, so source transactions share it.
COMMIT_SECS: Final = 0.1
# How long a call to the coordinator blocks; in between Ctrl-C gets through.
CALL_SECS: Final = 1.0
NOT_COMMITTED: Final = "its transaction was not committed"


class TransactionalSink(KafkaSink):
    """Acknowledges messages when their transaction is committed. One that fails ends the run: its transaction is
    aborted."""

    acknowledges_sent = False
    # The position that a transaction stores is that of a batch's end.
    reads_parcels_alone = False

    def __init__(self, url: KafkaUrl, file: Mapping[str, str] | None = None) -> None:
        assert url.transactional_id is not None
        self._id = url.transactional_id
        self._patience_secs = url.outage_secs
        self._hopeless = False  # whether repeating the last call cannot help
        self._began: float | None = None
        self._last: tuple[str, OrderKey] | None = None
        self._whole = True
        self._group: str | None = None
        super().__init__(url, file)
        try:
            deadline = time.monotonic() + max(url.connect_secs, 30.0)
            while (reason := self._failed(self._producer.init_transactions, CALL_SECS)) is not None:
                if self.cluster.fatal or time.monotonic() > deadline:
                    raise SinkError(f"{self.cluster} lets nobody write transactions as {self._id!r}: {reason}.")
        except BaseException:
            self.close()
            raise

    def stored(self, run_id: str, topics: Collection[str]) -> OrderKey | Literal["nowhere"] | None:
        """The position of the run's last committed transaction; each transaction stores it under one of its topics."""
        self._group = f"{self._id}.{run_id}"
        if not topics:
            return None
        reader = self.cluster.client.Consumer(_reader_settings({**self.settings, "log_level": 0}, self._group))
        try:
            asked = [self.cluster.client.TopicPartition(topic, 0) for topic in topics]
            answers = self.cluster.ask(lambda: reader.committed(asked, timeout=self.cluster.url.connect_secs))
        except self.cluster.exception as error:
            raise SinkError(
                f"{self.cluster} does not say where {self._id!r} is: {self.cluster.words(error)}."
            ) from None
        finally:
            reader.close()
        keys = [OrderKey(*map(int, answer.metadata.split("."))) for answer in answers if answer.metadata]
        return max(keys, default=None)

    def write(self, batch: MessageBatch, parcels: Sequence[Parcel], *, whole: bool) -> None:
        if self._began is None:
            self._try(self._producer.begin_transaction)
            self._began = time.monotonic()
        super().write(batch, parcels, whole=whole)
        self._last, self._whole = (parcels[0].topic, batch.order_key(len(batch) - 1)), whole
        self._commit_if_due()

    def poll(self) -> None:
        self._commit_if_due()

    def flush(self) -> None:
        self._commit()
        self.check()

    def check(self) -> None:
        if self.ledger.has_failed:
            self._abort()
            self.ledger.check()

    def close(self) -> None:
        """Commits if that takes less than five seconds; otherwise open messages count as failed."""
        if self._began is not None and self._whole and not self.ledger.has_failed:
            self._patience_secs = LEAVE_SECS
            with suppress(DeliveryFailed):
                self._commit()
        self._abort()
        super().close()

    def _commit_if_due(self) -> None:
        if self._began is not None and self._whole and time.monotonic() - self._began >= COMMIT_SECS:
            self._commit()

    def _commit(self) -> None:
        if self._began is None or self._last is None:
            return
        deadline = time.monotonic() + self._patience_secs
        self._drain(lambda: self.ledger.has_failed or time.monotonic() > deadline)
        self.check()
        topic, key = self._last
        position = f"{key.phase}.{key.turn}.{key.ordinal}"
        if self._group is not None:
            self._try(self._producer.send_position, self._group, topic, position, CALL_SECS)
        self._try(self._producer.commit_transaction, CALL_SECS)
        self._began = None
        self.ledger.acknowledge_all()

    def _try(self, call: Callable[..., None], *arguments: Any) -> None:
        """Makes a call, and repeats it while that may help. Raises DeliveryFailed."""
        deadline = time.monotonic() + self._patience_secs
        while (reason := self._failed(call, *arguments)) is not None:
            if self._hopeless or time.monotonic() > deadline:
                self.ledger.give_up(reason)
                self.check()

    def _failed(self, call: Callable[..., None], *arguments: Any) -> str | None:
        """Reason why a call failed; None if it succeeded."""
        self._hopeless = False
        try:
            call(*arguments)
        except self.cluster.exception as problem:
            error = problem.args[0]
            self._hopeless = error.fatal() or error.txn_requires_abort() or not error.retriable()
            if error.code() == self.cluster.codes._TIMED_OUT and self.cluster.last_error:
                return self.cluster.last_error[1]
            return self.cluster.reason(error)
        return None

    def _abort(self) -> None:
        """Aborts the open transaction: readers of committed messages do not see it."""
        if self._began is not None:
            self._began = None
            with suppress(self.cluster.exception):
                self._producer.abort_transaction(LEAVE_SECS)
            self.ledger.fail_open(NOT_COMMITTED)


def _reader_settings(settings: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Settings of a consumer that connects as the producer does."""
    connection_settings = ("bootstrap.servers", "client.id", "log_level")
    ways = ("security.", "sasl.", "ssl.", "socket.", "broker.", "enable.ssl.", "enable.sasl.")
    reader_settings = {
        name: value for name, value in settings.items() if name in connection_settings or name.startswith(ways)
    }
    return {**reader_settings, "group.id": group, "enable.auto.commit": False}
