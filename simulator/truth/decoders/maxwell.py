"""Decoder of Maxwell's messages, by docs/dataformat.md and Flink's maxwell-json format.

`ts` is in seconds, in DDL messages in milliseconds. `old` has only the changed columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from simulator.carriers import US_PER_DAY
from simulator.model import DELETE, INSERT, READ, UPDATE, ColumnType, Kind
from simulator.partial_dates import ZERO_DAY, ZERO_US, is_partial
from simulator.sources.mysql.type_table import bounds
from simulator.truth.decoders.change import CHANGED, Change, Decoder, Item, Mark, Statement, text
from simulator.truth.decoders.json_text import Number, read_object
from simulator.truth.decoders.values import AS_TEXT, NO_SRID, Reading, filled, in_base64, no_srid

ROWS: Final[dict[str, Kind]] = {"insert": INSERT, "update": UPDATE, "delete": DELETE, "bootstrap-insert": READ}
MARKS: Final = ("bootstrap-start", "bootstrap-complete")


def items(message: Any) -> Iterator[Item]:
    """The change of a row, a mark of a bootstrap, or a statement."""
    type = message["type"]
    if type in MARKS:
        yield Mark(type)
    elif type not in ROWS:
        yield Statement(message["sql"], int(message["ts"]))
    else:
        op, row, key = ROWS[type], message["data"], message.get("primary_key_columns")
        yield Change(
            op,
            message["table"],
            message.get("old", {}) if op is UPDATE else row if op is DELETE else None,
            None if op is DELETE else row,
            None if key is None else frozenset(key),
            int(message["ts"]) * 1000,
            message["database"],
            text(message.get("position")),
            text(message.get("xid")),
        )


def _integer(value: str, type: ColumnType) -> str:
    """Restores an unsigned integer that Maxwell printed as a negative signed one."""
    return str(int(value) + bounds(type)[1] + 1) if value.startswith("-") and type.unsigned else value


def _bits(value: str, type: ColumnType) -> str:
    """BIT: up to 32 bits are printed as a signed number."""
    return str(int(value) + (1 << 32)) if value.startswith("-") else value


def _year(value: str, type: ColumnType) -> str:
    return "0000" if value == "1900" else value


def _date(value: int, type: ColumnType) -> int:
    return ZERO_DAY if is_partial(value) else value


def _datetime(value: int, type: ColumnType) -> int:
    return ZERO_US if is_partial(value // US_PER_DAY) else value


def _time(value: int, type: ColumnType) -> int:
    """TIME as Maxwell prints it: always a time of day, also for longer times and for the bits of negative ones."""
    size = ((type.length or 0) + 1) // 2
    unit, cut = int(10 ** (6 - 2 * size)), int(10 ** (6 - (type.length or 0)))
    seconds, fraction = divmod(abs(value), 1_000_000)
    number = (seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60) << 8 * size | fraction // unit
    if value < 0:
        number = (1 << 22 + 8 * size) - number
    clock, fraction = number >> 8 * size, number & (1 << 8 * size) - 1
    seconds = (clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)
    return (seconds * 1_000_000 + fraction * unit) % US_PER_DAY // cut * cut


def _label(value: str, type: ColumnType) -> str:
    return value.replace("''", "'")


def _labels(value: list[str], type: ColumnType) -> str:
    return ",".join(_label(label, type) for label in value)


def _document(value: Any, type: ColumnType) -> str:
    """The text of an embedded document; numbers keep their spelling."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_document(member, type)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return f"[{','.join(_document(member, type) for member in value)}]"
    return json.dumps(value)


def _bytes(value: str, type: ColumnType) -> bytes:
    return filled(in_base64(value, type), type)


DECODER: Final = Decoder(
    parse=partial(read_object, blanks=True),  # a bootstrap has documents as the server prints them
    items=items,
    carries=frozenset(("event_ms",)),
    by_source=frozenset(("transaction",)),  # not of a bootstrap
    images={(UPDATE, "before"): CHANGED},
    readings={
        "mysql integer": Reading(_integer),
        "mysql bit": Reading(_bits),
        "mysql year": Reading(_year),
        "mysql date": Reading(seen=_date, lost="parts of dates with a zero"),
        "mysql datetime": Reading(seen=_datetime, lost="parts of dates with a zero"),
        "mysql time": Reading(seen=_time, lost="sign, days"),
        "mysql enum": Reading(_label, lambda value, type: value or None, lost="that a value is an error"),
        "mysql set": Reading(_labels),
        "mysql binary": Reading(_bytes),
        "mysql geometry": Reading(seen=no_srid, lost=NO_SRID),
        "mysql json": Reading(_document, lambda value, type: None if value == "null" else value, lost="null in JSON"),
        "mariadb json": AS_TEXT,
    },
)
