"""Messages through rocketmq-client-python and its native library, one in a request.

What the client does badly is done here through its raw bindings: bodies keep their NUL bytes, messages are freed, the
queue is chosen by number, and nothing is sent to another queue after a failure. Its errors all read alike, so a message
that it could not send is sent by `native.py`, whose answer tells the cause.
"""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import itertools
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from simulator.errors import MissingPackage, OptionError, SinkError
from simulator.sinks.rocketmq.cluster import Queue
from simulator.sinks.rocketmq.message import Outgoing, Unexplained
from simulator.sinks.rocketmq.native import NativeSender
from simulator.sinks.rocketmq.url import RocketmqUrl

VARIABLE: Final = "CDCSIM_ROCKETMQ_LIBRARY"
RELEASES: Final = "https://github.com/apache/rocketmq-client-cpp/releases"
# As Java's client; a call into the library cannot be left earlier.
SEND_MS: Final = 3000
_instances: Final = itertools.count(1)


def load() -> Any:
    """The package's bindings. Raises MissingPackage, OptionError."""
    try:
        with _named_library():
            from rocketmq import ffi
    except ImportError as error:
        if "dynamic library" not in str(error):
            raise MissingPackage(
                "the rocketmq sink needs rocketmq-client-python: pip install 'cdc-simulator[rocketmq]', or add"
                " client=native to the URL."
            ) from None
        raise MissingPackage(missing(sys.platform, platform.machine())) from None
    except (OSError, AttributeError) as error:
        raise OptionError(
            f"librocketmq cannot be used: {error}; take version 2.0.0 or newer from {RELEASES}, or add client=native to"
            " the URL."
        ) from None
    pointer = ctypes.c_void_p
    ffi.dll.SendMessageOrderly.argtypes = [
        *(pointer, pointer, ffi.QUEUE_SELECTOR_CALLBACK, pointer, ctypes.c_int),
        ctypes.POINTER(ffi._CSendResult),
    ]
    ffi.dll.SendMessageOrderly.restype = ctypes.c_int
    return ffi


def missing(system: str, machine: str) -> str:
    """Instructions to install the library on a system."""
    how = f"build it as the README of apache/rocketmq-client-cpp says ({RELEASES})"
    if (system, machine) == ("linux", "x86_64"):
        how = f"install the .deb or .rpm of {RELEASES}/tag/2.0.0"
    elif (system, machine) == ("darwin", "x86_64"):
        how = f"unpack the darwin archive of {RELEASES}/tag/2.0.0"
    return (
        f"the rocketmq sink's client needs librocketmq: {how} and name the file in {VARIABLE}, or add client=native to"
        " the URL, which needs no library."
    )


@contextmanager
def _named_library() -> Iterator[None]:
    """Makes the package find the library file that the environment names while it is imported."""
    path, find = os.environ.get(VARIABLE), ctypes.util.find_library
    if path:
        ctypes.util.find_library = lambda name: path if name == "rocketmq" else find(name)
    try:
        yield
    finally:
        ctypes.util.find_library = find


class Producer:
    """The client's producer, for all threads."""

    def __init__(self, url: RocketmqUrl) -> None:
        self.ffi = load()
        self.url = url
        self._dll: Any = self.ffi.dll
        # Its log is of no use to anybody, and would go to the home folder.
        self._logs = tempfile.mkdtemp(prefix="cdcsim-rocketmq-")
        self._handle: Any = self._dll.CreateOrderlyProducer(url.group.encode())
        setup = [
            self._dll.SetProducerNameServerAddress(self._handle, url.name_servers.encode()),
            self._dll.SetProducerInstanceName(self._handle, f"cdcsim-{os.getpid()}-{next(_instances)}".encode()),
            self._dll.SetProducerLogPath(self._handle, self._logs.encode()),
            self._dll.SetProducerSendMsgTimeout(self._handle, SEND_MS),
            self._dll.SetProducerMaxMessageSize(self._handle, url.max_message_bytes),
        ]
        if url.login is not None:
            key, secret = url.login.access_key.encode(), url.login.secret_key.encode()
            setup.append(self._dll.SetProducerSessionCredentials(self._handle, key, secret, b""))
        self._open = True
        # Without this the interpreter never ends.
        atexit.register(self.close)
        setup.append(self._dll.StartProducer(self._handle))
        if any(setup):
            words = (self._dll.GetLatestErrorMessage() or b"").decode(errors="replace").splitlines()
            self.close()
            raise SinkError(f"{url}: the client did not start: {words[0] if words else 'no reason given'}.")
        # An exception or a number beyond the queues would crash the process inside of the client.
        self.select = self.ffi.QUEUE_SELECTOR_CALLBACK(lambda count, _, number: min(number, count) - 1)

    def send(self, queue: Queue, message: Outgoing) -> bool:
        """Sends a message; returns whether it was stored."""
        dll = self._dll
        handle = dll.CreateMessage(queue.topic.encode())
        try:
            dll.SetByteMessageBody(handle, message.body, len(message.body))
            for name, value in message.properties.items():
                if name == b"TAGS":
                    dll.SetMessageTags(handle, value)
                elif name == b"KEYS":
                    dll.SetMessageKeys(handle, value)
                else:
                    dll.SetMessageProperty(handle, name, value)
            result = self.ffi._CSendResult()
            return not dll.SendMessageOrderly(
                self._handle, handle, self.select, queue.index + 1, 0, ctypes.byref(result)
            )
        finally:
            dll.DestroyMessage(handle)

    def close(self) -> None:
        """Closes the producer; no thread may be sending."""
        if self._open:
            self._open = False
            atexit.unregister(self.close)
            self._dll.ShutdownProducer(self._handle)
            self._dll.DestroyProducer(self._handle)
            shutil.rmtree(self._logs, ignore_errors=True)


class LibrarySender:
    """A thread's sender, which uses the shared producer. A message that the client did not store goes to the native one
    until it is stored."""

    def __init__(self, producer: Producer, first: threading.Lock) -> None:
        self._producer, self._first = producer, first
        self._begun = self._falls_back = False
        self._fallback = NativeSender(producer.url)

    def count(self, messages: Sequence[Outgoing]) -> int:
        return 1

    def send(self, queue: Queue, messages: Sequence[Outgoing]) -> int:
        """Stores the first message. Raises Unexplained, and then OSError and Refusal."""
        if self._falls_back:
            self._fallback.send(queue, messages[:1])
            self._falls_back = False
        elif not self._send(queue, messages[0]):
            self._falls_back = True
            raise Unexplained
        return 1

    def _send(self, queue: Queue, message: Outgoing) -> bool:
        if self._begun:
            return self._producer.send(queue, message)
        # While the client opens a connection, all other threads' messages fail.
        with self._first:
            self._begun = True
            return self._producer.send(queue, message)

    def close(self) -> None:
        self._fallback.close()
