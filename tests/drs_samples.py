"""What the tests of Huawei Cloud DRS share: the samples of the vendor's page, and Kafka's partitions."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

from building import Case, Times, block_of, messages_of

from simulator.model import Message

AT: Final = Times(offset=11, event_ms=1_700_000_000_000, write_ms=1_700_000_000_123)


def compact(text: str) -> bytes:
    """A sample without the white space between its values, in the order in which its names are printed."""
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False).encode()


def sample(name: str) -> str:
    """A sample as the page prints it: "Kafka Message Format", 2024-03-28."""
    return (Path(__file__).parent / "samples" / "drs" / f"{name}.json").read_text(encoding="utf-8")


def one(format: str, case: Case, source: str = "mysql-8.0", **how: Any) -> Message:
    (message,) = messages_of(format, source, block_of(case), **how)
    return message


def values(format: str, case: Case, source: str = "mysql-8.0", **how: Any) -> list[dict[str, Any]]:
    return [json.loads(message.value or b"") for message in messages_of(format, source, block_of(case), **how)]


def kafka_partition(key: bytes, count: int) -> int:
    """Kafka's default partitioner, one step after the other."""
    h = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        k = word * 0x5BD1E995 & 0xFFFFFFFF
        k = (k ^ k >> 24) * 0x5BD1E995 & 0xFFFFFFFF
        h = (h * 0x5BD1E995 & 0xFFFFFFFF) ^ k
    if key[whole:]:
        h = (h ^ int.from_bytes(key[whole:], "little")) * 0x5BD1E995 & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0x5BD1E995 & 0xFFFFFFFF
    return ((h ^ h >> 15) & 0x7FFFFFFF) % count
