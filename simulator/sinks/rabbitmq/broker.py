"""A RabbitMQ node: connecting, declaring exchanges and queues, and what went wrong in words."""

from __future__ import annotations

import logging
import re
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from simulator.errors import MissingPackage, OptionError, SinkError
from simulator.sinks.rabbitmq.url import CONSISTENT_HASH, RabbitmqUrl

T = TypeVar("T")

# Why a broker closes connections that stops or starts: CONNECTION_FORCED, INTERNAL_ERROR.
GOING: Final = (320, 541)


class Broker:
    """Connects and declares. Raises MissingPackage, OptionError, SinkError."""

    def __init__(self, url: RabbitmqUrl) -> None:
        try:
            import pika
            from pika.adapters.utils.connection_workflow import AMQPConnectorException
        except ImportError:
            pika = None
        # Its private names make the fast path; they may change with any minor version.
        if pika is None or not pika.__version__.startswith("1.4."):
            raise MissingPackage("the rabbitmq sink needs pika 1.4: pip install 'cdc-simulator[rabbitmq]'.")
        logging.getLogger("pika").addHandler(logging.NullHandler())
        self.pika: Any = pika
        self.url = url
        # What a connection may raise; the connector's exception is no AMQPError.
        self.troubles: tuple[type[Exception], ...] = (pika.exceptions.AMQPError, AMQPConnectorException, OSError)
        self._parameters = pika.ConnectionParameters(
            host=url.host,
            port=url.port,
            virtual_host=url.vhost,
            credentials=pika.PlainCredentials(url.user, url.password, erase_on_connect=False),
            heartbeat=url.heartbeat_secs,
            blocked_connection_timeout=url.outage_secs,
            socket_timeout=url.connect_secs,
            stack_timeout=url.connect_secs,
            ssl_options=self._tls() if url.tls else None,
            client_properties={"connection_name": "cdcsim"},
        )

    def __str__(self) -> str:
        return str(self.url)

    def connect(self, connect: Callable[[], T]) -> T:
        """The connection of `connect`, tried for `connect_secs`. Raises SinkError."""
        deadline = time.monotonic() + self.url.connect_secs
        while True:
            try:
                return connect()
            except self.troubles as error:
                reason = self.unusable(error)
                # Repeating helps only where nobody listens yet.
                if not isinstance(_cause(error), ConnectionRefusedError) or time.monotonic() > deadline:
                    raise SinkError(reason) from None
            time.sleep(0.1)

    def connect_once(self) -> Any:
        """pika's connection. Raises one of `troubles`."""
        return self.pika.BlockingConnection(self._parameters)

    def unusable(self, error: Exception) -> str:
        """Why the broker cannot be used, and what to do."""
        exceptions, url, cause = self.pika.exceptions, self.url, _cause(error)
        if isinstance(error, exceptions.ProbableAuthenticationError):
            return f"{self} refused the login of {url.user!r}: check the user, and password_env= or password_file=."
        if isinstance(error, exceptions.ProbableAccessDeniedError):
            return f"{self} does not let {url.user!r} into the vhost {url.vhost!r}: {self.words(error)}."
        if isinstance(cause, socket.gaierror):
            return f"{self} was not found: {cause.strerror}. Check the host's name."
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "verify_message", None) or cause.reason or cause.strerror
            return f"TLS with {self} failed: {reason}. The authority's file is ca= in the URL."
        if isinstance(cause, OSError) and cause.strerror:
            return f"{self} could not be reached in {url.connect_secs:g} s: {cause.strerror}. Is the broker running?"
        return (
            f"{self} did not speak AMQP for {url.connect_secs:g} s."
            f" Does the port want {'plain amqp://' if url.tls else 'TLS (amqps://)'}?"
        )

    def words(self, error: Exception) -> str:
        """The broker's reason in an error: `NOT_FOUND - no exchange 'x' in vhost '/'`."""
        match = re.search(r"\(\d+\)?[,:]? ['\"](.*?)['\"]\)*$", str(error) or repr(error), re.DOTALL)
        cause = _cause(error)
        reason = cause.strerror if isinstance(cause, OSError) else ""
        text = match[1] if match else reason or str(cause) or repr(cause)
        return " ".join(text.split()).rstrip(".")

    def declare_exchange(self, connection: Any) -> None:
        """Declare the exchange, or see that it is there. Raises SinkError."""
        url = self.url
        if not url.exchange:
            return
        channel = connection.channel()
        try:
            if url.exchange_type is None:
                channel.exchange_declare(url.exchange, passive=True)
            else:
                channel.exchange_declare(url.exchange, url.exchange_type, durable=True)
        except self.pika.exceptions.ChannelClosedByBroker as error:
            hint = ""
            if error.reply_code == 404:
                hint = ": add exchange_type=direct to the URL to have it made"
            raise SinkError(f"{self}: {self.words(error)}{hint}.") from None
        except self.pika.exceptions.ConnectionClosedByBroker as error:  # an unknown type ends the connection
            raise SinkError(f"{self}: {self.words(error)}: does it have the plug-in of exchange_type=?") from None
        channel.close()

    def declare_queue(self, connection: Any, queue: str, routing_key: str) -> None:
        """Declare a queue and bind it, or see that one is there where the default exchange leads. Raises SinkError."""
        url = self.url
        channel = connection.channel()
        try:
            if url.queue is None:
                channel.queue_declare(routing_key, passive=True)
            else:
                arguments = None if url.queue_type == "classic" else {"x-queue-type": url.queue_type}
                channel.queue_declare(queue, durable=True, arguments=arguments)
                if url.exchange:
                    key = "1" if url.exchange_type == CONSISTENT_HASH else routing_key
                    channel.queue_bind(queue, url.exchange, key)
        except self.pika.exceptions.ChannelClosedByBroker as error:
            hint = ""
            if error.reply_code == 404:
                hint = ": add queue={topic} to the URL to have queues made, or name an exchange"
            raise SinkError(f"{self}: {self.words(error)}{hint}.") from None
        except self.pika.exceptions.ConnectionClosedByBroker as error:
            if error.reply_code in GOING:
                raise
            raise SinkError(f"{self}: {self.words(error)}.") from None
        channel.close()

    def has_queue(self, connection: Any, queue: str) -> bool:
        """Whether there is a queue of this name. Raises SinkError."""
        channel = connection.channel()
        try:
            channel.queue_declare(queue, passive=True)
        except self.pika.exceptions.ChannelClosedByBroker as error:
            if error.reply_code == 404:
                return False
            raise SinkError(f"{self}: queue {queue!r}: {self.words(error)}.") from None
        except self.troubles as error:
            raise SinkError(f"{self}: queue {queue!r}: {self.words(error)}.") from None
        channel.close()
        return True

    def _tls(self) -> Any:
        url = self.url
        try:
            context = ssl.create_default_context(cafile=None if url.ca is None else str(url.ca))
            if url.cert is not None:
                context.load_cert_chain(str(url.cert), str(url.key))
        except (OSError, ssl.SSLError) as error:
            raise OptionError(
                f"the RabbitMQ URL's ca, cert or key cannot be used: {error.strerror or error}."
            ) from None
        return self.pika.SSLOptions(context, url.host)


def _cause(error: BaseException) -> BaseException:
    """The exception at the bottom: pika wraps what the socket raised, in attributes and arguments."""
    while True:
        inner = getattr(error, "exception", None) or (error.args[0] if error.args else None)
        if not isinstance(inner, BaseException):
            return error
        error = inner
