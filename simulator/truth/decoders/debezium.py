"""Debezium: the envelope of its connectors in JSON, read from its documentation and Kafka Connect's converter."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from simulator.carriers import FIRST_DAY, US_PER_DAY
from simulator.model import ColumnType
from simulator.truth.decoders.change import OPERATIONS, Change, Decoder, Item, Mark, Statement, text
from simulator.truth.decoders.cloudcanal import POSITIONS
from simulator.truth.decoders.json_text import read_object
from simulator.truth.decoders.values import LITERAL, Reading, in_base64


def items(message: Any) -> Iterator[Item]:
    """`before` and `after` of one row; a statement is in `ddl`, the begin or end of a transaction in `status`."""
    payload = message.get("payload", message)
    if "status" in payload:
        yield Mark(payload["status"])
    elif payload.keys() == {"ts_ms"}:
        yield Mark("HEARTBEAT")
    elif "ddl" in payload:
        yield Statement(payload["ddl"], int(payload["source"]["ts_ms"]))
    elif payload["op"] == "t":
        yield Statement(f"TRUNCATE TABLE {payload['source']['table']}", int(payload["source"]["ts_ms"]))
    else:
        source = payload["source"]
        position = ":".join(str(source[name]) for name in (*POSITIONS, "row") if source.get(name) is not None)
        transaction = payload["transaction"] or {}
        yield Change(
            OPERATIONS[payload["op"]],
            source["table"],
            payload["before"],
            payload["after"],
            event_ms=int(source["ts_ms"]),
            database=text(source["db"]),
            position=text(position),
            transaction=text(transaction.get("id")),
        )


def day(value: str, type: ColumnType) -> str:
    """Days since 1970."""
    return str(date(1970, 1, 1) + timedelta(days=int(value)))


def moment(value: str, type: ColumnType) -> str:
    """Milliseconds since 1970, of columns with more than three digits microseconds."""
    unit = 1000 if (type.length or 0) <= 3 else 1
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value) * unit)).replace(tzinfo=None))


def clock(value: str, type: ColumnType) -> str:
    """Microseconds of a time, which may be negative."""
    sign, us = ("-", -int(value)) if value.startswith("-") else ("", int(value))
    seconds, fraction = divmod(us, 1_000_000)
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def unscaled(value: str, type: ColumnType) -> str:
    """The unscaled number of a decimal in bytes."""
    number = int.from_bytes(base64.b64decode(value, validate=True), signed=True)
    digits = tuple(map(int, str(abs(number))))
    return str(Decimal((int(number < 0), digits, -(type.scale or 0))))


def bits(value: Any, type: ColumnType) -> str:
    """A boolean, or bytes from the lowest."""
    return str(int(value)) if isinstance(value, bool) else str(int.from_bytes(base64.b64decode(value), "little"))


def geometry(value: Any, type: ColumnType) -> bytes:
    """MySQL's four bytes of the reference system, and the well-known binary."""
    return int(value["srid"] or 0).to_bytes(4, "little") + base64.b64decode(value["wkb"])


def real_day(days: int) -> int | None:
    """Dates that are none are null; years below 100 are those of two digits."""
    if days < FIRST_DAY:
        return None
    if days >= HUNDREDTH_YEAR:
        return days
    found = date.fromordinal(days - FIRST_DAY + 1)
    found = found.replace(year=found.year + (2000 if found.year < 70 else 1900))
    return found.toordinal() + FIRST_DAY - 1


def real_moment(us: int) -> int | None:
    days, rest = divmod(us, US_PER_DAY)
    found = real_day(days)
    return None if found is None else found * US_PER_DAY + rest


HUNDREDTH_YEAR: Final = -683_003  # its first day
NO_DATES: Final = "dates that are none, years below 100"
_MYSQL: Final = {
    "mysql bigint": Reading(lambda value, type: str(int(value) % (1 << 64)) if type.unsigned else value),
    "mysql decimal": Reading(unscaled),
    "mysql bit": Reading(bits),
    "mysql year": Reading(lambda value, type: "0" if value == "1900" else value),
    "mysql date": Reading(day, real_day, lost=NO_DATES),
    "mysql timestamp": Reading(
        lambda value, type: value.replace("T", " ").removesuffix("Z"), real_moment, lost=NO_DATES
    ),
    "mysql datetime": Reading(moment, real_moment, lost=NO_DATES),
    "mysql time": Reading(clock),
    "mysql binary": Reading(in_base64),
    "mysql geometry": Reading(geometry),
    "mysql enum": Reading(lambda value, type: value.replace("\\,", ",")),
    "mysql json": LITERAL,  # numbers as Java prints them
    "mariadb json": Reading(),
}

JSON: Final = Decoder(
    parse=read_object,
    items=items,
    carries=frozenset(("event_ms", "position")),
    by_source=frozenset(("transaction",)),
    readings=_MYSQL,
)
