"""Times that are carried as text: with more than six fraction digits, or with a zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from simulator.carriers import text_us
from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values.cells import value_cell
from simulator.wire.fields import Cell

# The least number of nanoseconds that the connector makes: it checks whole seconds (`NanoTimestamp.toEpochNanos`).
LEAST: Final = -9_223_372_036 * 10**9
_ZONED: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))? (\S+)")


def nanoseconds(text: str) -> int:
    """Nanoseconds since 1970 in UTC, or since midnight.

    >>> nanoseconds("1970-01-01 00:00:01.1234567"), nanoseconds("00:00:00.0000001")
    (1123456700, 100)
    """
    whole, _, fraction = text.partition(".")
    return text_us(whole) * 1000 + int(fraction.ljust(9, "0")[:9] or 0)


def _scaled(divisor: int) -> Cell:
    def number(text: str) -> str | None:
        value = nanoseconds(text)
        return str(value // divisor) if divisor > 1 or LEAST <= value < 2**63 else None

    return value_cell(number, quoted=False)


def _iso(text: str) -> str:
    whole, _, fraction = text.replace(" ", "T").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{'.' if fraction else ''}{fraction}Z"


def timestamp(mode: str) -> tuple[Schema, Cell]:
    """A timestamp of seven to nine digits by `time.precision.mode`."""
    match mode:
        case "connect":
            return connect.CONNECT_TIMESTAMP, _scaled(1_000_000)
        case "isostring":
            return connect.ISO_TIMESTAMP, value_cell(_iso)
        case "microseconds":
            return connect.MICRO_TIMESTAMP, _scaled(1000)
    return connect.NANO_TIMESTAMP, _scaled(1)


def time(mode: str) -> tuple[Schema, Cell]:
    """A time of day of seven to nine digits."""
    match mode:
        case "connect":
            return connect.CONNECT_TIME, _scaled(1_000_000)
        case "isostring":
            return connect.ISO_TIME, value_cell(_iso)
        case "microseconds" | "adaptive_time_microseconds":
            return connect.MICRO_TIME, _scaled(1000)
    return connect.NANO_TIME, _scaled(1)


def with_offset(text: str) -> str:
    """A timestamp with its offset (a zone's name becomes one): `2018-03-27T01:34:56.007891-11:00`.

    >>> with_offset("2024-05-01 10:00:00.1200000 +08:00"), with_offset("2024-05-01 10:00:00 Asia/Shanghai")
    ('2024-05-01T10:00:00.12+08:00', '2024-05-01T10:00:00+08:00')
    """
    match = _ZONED.fullmatch(text)
    assert match, text
    day, clock, fraction, zone = match.groups()
    point = f".{fraction.rstrip('0')}" if fraction and fraction.strip("0") else ""
    if zone[0] not in "+-":
        local = datetime.fromisoformat(f"{day} {clock}").replace(tzinfo=UTC if zone in ("UTC", "Z") else ZoneInfo(zone))
        zone = local.isoformat()[19:]
    return f"{day}T{clock}{point}{'Z' if zone in ('+00:00', '-00:00') else zone}"


ZONED: Final[Callable[[], Cell]] = lambda: value_cell(with_offset)  # noqa: E731
