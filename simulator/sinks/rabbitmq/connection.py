"""One connection with one channel: bytes out, confirms and returned messages in.

pika's own blocking publications wait for each confirm, a tenth of the rate. This drives its I/O loop with bytes of our
own (see `frames.py`), through private names of pika 1.4: `BlockingConnection._impl`, `BlockingChannel._impl`,
`_output_marshaled_frames`, `_closed_result`, `_closing_reason`. Heartbeats, TLS and the closing of channels stay its
work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from simulator.sinks.rabbitmq.broker import Broker
from simulator.sinks.rabbitmq.frames import Confirms

# How often a wait looks at the clock.
WAKE_SECS: Final = 0.2
FRAME_OVERHEAD: Final = 8


class Connection:
    """Raises what pika raises: one of `Broker.troubles` when the connection broke, ChannelClosedByBroker."""

    def __init__(self, broker: Broker) -> None:
        from pika import spec

        self.confirms = Confirms()
        # Routing key, body and reason of messages that reached no queue.
        self.returned: list[tuple[str, bytes, str]] = []
        self.is_blocked = False
        self.is_open = True
        self.blocking: Any = broker.connect_once()
        self._channel: Any = self.blocking.channel()
        self._impl: Any = self.blocking._impl
        self._impl.add_on_connection_blocked_callback(lambda *_: self._block(True))
        self._impl.add_on_connection_unblocked_callback(lambda *_: self._block(False))
        channel = self._channel._impl
        selected: list[Any] = []

        def answered(frame: Any) -> None:
            method = frame.method
            refused = isinstance(method, spec.Basic.Nack)
            self.confirms.answer(method.delivery_tag, multiple=method.multiple, refused=refused)

        channel.add_on_return_callback(
            lambda _, method, properties, body: self.returned.append((method.routing_key, body, method.reply_text))
        )
        channel.confirm_delivery(answered, callback=selected.append)
        self.wait(lambda: bool(selected))

    @property
    def channel_number(self) -> int:
        return int(self._channel.channel_number)

    @property
    def most_body(self) -> int:
        """Bytes of a body that fit into a frame."""
        return int(self._impl.params.frame_max) - FRAME_OVERHEAD

    def publish(self, data: bytes, count: int) -> None:
        """Write the frames of some messages."""
        self.confirms.next += count
        if count:
            self._impl._output_marshaled_frames([data])

    def wait(self, ready: Callable[[], bool], seconds: float | None = None) -> None:
        """Read and write until it is ready or the time is up; at least once what is possible without waiting."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            late = deadline is not None and time.monotonic() >= deadline
            timer = self._impl._adapter_call_later(0 if late or ready() else WAKE_SECS, lambda: None)
            self._impl.ioloop.poll()
            self._impl.ioloop.process_timeouts()
            self._impl._adapter_remove_timeout(timer)
            if self.blocking._closed_result.ready:
                raise self.blocking._closed_result.value.error
            if self._channel.is_closed:
                raise self._channel._closing_reason
            if late or ready():
                return

    def close(self, *, abort: bool = False) -> None:
        """Say goodbye and wait for the answer; `abort`: do neither. Raises what pika raises when it was broken."""
        self.is_open = False
        try:
            if abort:
                self._impl._adapter_disconnect_stream()
                with suppress(Exception):  # why it ended
                    self.wait(lambda: False, WAKE_SECS)
            else:
                self.blocking.close()
        finally:
            self.blocking._cleanup()  # closes the sockets of the I/O loop, which nobody else does after a break

    def _block(self, blocked: bool) -> None:
        self.is_blocked = blocked
