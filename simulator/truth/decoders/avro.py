"""Avro datums, decoded by fastavro with the branch names of unions: `("….Integer", {"precision": 4, "value": "7"})`.

The vendors' value classes are: Integer, Character, Decimal, Float, Timestamp, DateTime,
TimestampWithTimeZone, BinaryGeometry, TextGeometry, BinaryObject, TextObject, EmptyObject.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final

from simulator.model import ColumnType
from simulator.truth.decoders.values import epoch, filled


def read_avro(schema: Any, value: bytes) -> Any:
    """Decodes a datum of a parsed schema. Raises ValueError unless fastavro writes the same bytes for it."""
    import fastavro

    file = BytesIO(value)
    try:
        decoded = fastavro.schemaless_reader(file, schema, None, return_record_name=True)
    except (EOFError, IndexError, KeyError, TypeError, OverflowError, MemoryError):
        raise ValueError("no Avro record of this schema") from None
    if file.read():
        raise ValueError("bytes behind the record")
    again = BytesIO()
    fastavro.schemaless_writer(again, schema, decoded)
    if again.getvalue() != value:
        raise ValueError("fastavro writes other bytes")
    return decoded


def parse_schema(schema: Any) -> Any:
    """Parses a schema for `read_avro`."""
    import fastavro

    return fastavro.parse_schema(schema)


# Java's names of charsets that have another name in Python.
CHARSETS: Final = {"utf8mb4": "utf-8", "utf8": "utf-8", "latin1": "latin-1", "gbk": "gbk"}
FLOATS: Final = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
CLOCK: Final = ("year", "month", "day", "hour", "minute", "second", "millis")
# Years of the last and first time in Java's milliseconds; they represent infinity.
INFINITE: Final = (292_278_994, 292_269_055)


def is_member(value: Any) -> bool:
    """Tests whether a value is a member of a union of records."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def member(value: Any, type: ColumnType | None, *, digits: int = 6) -> Any:
    """The literal, text or bytes of a union's member.

    `digits`: the number of digits in `millis`, the fraction of a second.
    """
    name, fields = value
    match name.rpartition(".")[2]:
        case "Character":
            try:
                return fields["value"].decode(CHARSETS.get(fields["charset"].lower(), fields["charset"]))
            except LookupError:
                raise ValueError(f"there is no charset {fields['charset']!r}") from None
        case "Float":
            return FLOATS.get(repr(fields["value"]), repr(fields["value"]))
        case "Timestamp":
            return epoch(f"{fields['timestamp']}.{fields['millis']:0{digits}}", type)
        case "DateTime":
            return clock(fields, digits)
        case "TimestampWithTimeZone":
            return clock(fields["value"], digits, f" {fields['timezone']}")
        case "BinaryObject":
            return filled(fields["value"], type)
        case _:
            return fields["value"]


def clock(fields: Mapping[str, int | None], digits: int, zone: str = "") -> str:
    """Prints a date, a time, both, or an interval, from the parts that are not null; one negative part makes all
    negative."""
    year, month, day, hour, minute, second, fraction = (
        None if part is None else abs(part) for part in (fields[name] for name in CLOCK)
    )
    sign = "-" if any(part is not None and part < 0 for part in fields.values()) else ""
    if year in INFINITE:
        return f"{sign}infinity"
    time = (
        f"{hour:02}:{minute:02}:{second:02}.{fraction or 0:0{digits}}".rstrip("0").rstrip(".")
        if hour is not None
        else ""
    )
    if year is None:
        return f"{sign}{day} {time}" if day is not None else f"{sign}{time}{zone}"
    if month is None:
        return f"{year:04}"
    if day is None:
        return f"{sign}{year}-{month}"
    return f"{year:04}-{month:02}-{day:02} {time}".rstrip() + zone + (" BC" if sign else "")
