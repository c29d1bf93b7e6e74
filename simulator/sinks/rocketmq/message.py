"""A message as RocketMQ stores it: body, tag, keys and properties; and what it cannot store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.errors import DeliveryFailed

NAME_END, VALUE_END = b"\x01", b"\x02"
MOST_PROPERTIES = 32767


class NotStorable(DeliveryFailed):
    """RocketMQ has no form for the message."""


class Unexplained(Exception):
    """The client did not store a message, or does not know; the next attempt has the reason."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    body: bytes
    properties: Mapping[bytes, bytes]  # TAGS and KEYS among them

    @property
    def text(self) -> bytes:
        """The properties as they are stored: sorted, with one byte behind each name and each value."""
        return b"".join([name + NAME_END + value + VALUE_END for name, value in sorted(self.properties.items())])

    def check(self, most_body: int) -> None:
        """Raises NotStorable, with the reason, for a message that the broker cannot store."""
        if not self.body:
            raise NotStorable("RocketMQ stores no empty body")
        if len(self.body) > most_body:
            raise NotStorable(
                f"it is above this client's limit of {most_body} bytes; raise max_message_bytes in the URL, and"
                " maxMessageSize of the broker"
            )
        size = 0
        for name, value in self.properties.items():
            size += len(name) + len(value) + 2
            if any(end in part for end in (NAME_END, VALUE_END, b"\0") for part in (name, value)):
                raise NotStorable(f"the property {name.decode(errors='replace')!r} has a byte 0, 1 or 2, which ends it")
            if name == b"TAGS" and b"|" in value:
                raise NotStorable(f"the tag {value.decode(errors='replace')!r} has a |, which stands between tags")
        if size > MOST_PROPERTIES - 200:  # the client adds some
            raise NotStorable(f"its tag, keys and properties have {size} bytes, and RocketMQ stores {MOST_PROPERTIES}")
