"""A message for people: where it goes, and its value, indented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.compare.members import key_text, readable, value_text

if TYPE_CHECKING:
    from simulator.formats.format import Codec
    from simulator.model import Message


def message_text(message: Message, codec: Codec) -> str:
    """A message for people: a line that says where it goes, then its value, indented; Avro is decoded."""
    head = [
        f"-- {message.order}{'' if message.step is None else f', step {message.step}'}: {message.kind.name}",
        f"topic {message.topic}",
        f"partition {'by key' if message.partition is None else message.partition}",
        f"key {'none' if message.key is None else key_text(message.key, codec)}",
    ]
    if message.tag is not None:
        head.append(f"tag {message.tag}")
    for name, value in message.headers:
        head.append(f"header {name}={'' if value is None else value.decode(errors='replace')}")
    text = "(no value: a tombstone)" if message.value is None else readable(value_text(message.value, codec))
    return ", ".join(head) + "\n" + text
