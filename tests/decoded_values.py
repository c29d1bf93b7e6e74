"""Values as messages hold them, read back: what a consumer of a format must know of them, and no more.

`read(format, source, type, value)` is a literal of the source system, or, where that has no literal for it, what the
column's carrier holds. A value without a row in `READINGS` is a literal already: text, or a number as it is written.
`seen` is how much of a value a format carries: both sides of a comparison go through it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from decoding import Number

from simulator import sources
from simulator.batch import decoded
from simulator.model import ColumnType
from simulator.sources.mysql.geometry import to_text

Read = Callable[[Any, ColumnType], Any]


class Carried(str):
    """A value as the carrier has it, and not a literal."""

    __slots__ = ()


@dataclass(frozen=True)
class Reading:
    """How a format's values of a type are read, and how much of them it carries. `left_out`: it has no such member."""

    read: Read = lambda value, type: value
    seen: Callable[[Any], Any] = lambda value: value
    left_out: bool = False

    def told(self, source: str, type: ColumnType, value: Any) -> Any:
        """A value of a message, as much of it as the format carries."""
        got = self.read(value, type)
        return self.seen(parsed(source, type, got) if isinstance(got, str) and not isinstance(got, Carried) else got)


# ---------------------------------------------------------------------------------------------- what values look like


def latin1(value: str, type: ColumnType) -> bytes:
    """Bytes as the text that they are in ISO-8859-1; a BINARY without the zeros that fill it up."""
    return filled(value.encode("latin1"), type)


def filled(data: bytes, type: ColumnType) -> bytes:
    return data.ljust(type.length or 1, b"\0") if type.name == "binary" else data


def hexadecimal(value: str, type: ColumnType) -> bytes:
    return bytes.fromhex(value)


def signed_bytes(value: str, type: ColumnType) -> bytes:
    """`[0, -1]`: bytes as Java prints them."""
    return filled(bytes(int(part) & 255 for part in value.strip("[]").split(",") if part), type)


def in_base64(value: str, type: ColumnType) -> bytes:
    return base64.b64decode(value, validate=True)


def number(read: Read) -> Read:
    """Bytes that are a number."""
    return lambda value, type: str(int.from_bytes(read(value, type)))


def moved(text: str, seconds: float) -> str:
    """A date and time with another so many seconds later, of any year."""
    match = re.fullmatch(r"(-?\d+)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)?", text)
    assert match, text
    year, *rest = map(int, match.groups()[:6])
    moment = datetime(2000 + year % 400, *rest, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment.year - 2000 - year % 400 + year:04}{moment:-%m-%d %H:%M:%S}{match[7] or ''}"


def east(hours: int) -> Read:
    """A moment printed in a zone so far east of UTC; MySQL's zero is the same everywhere."""
    return lambda value, type: value if value.startswith("0000") else moved(value, -3600 * hours)


def named_zone(value: str, type: ColumnType) -> str:
    """A moment behind which the name of its zone stands."""
    text, _, zone = value.rpartition(" ")
    whole, _, fraction = text.partition(".")
    utc = datetime.fromisoformat(whole).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(' ')}.{fraction or 0}"


def interval_of_parts(value: str, type: ColumnType) -> str:
    """`-1 2:3:4.05`, of numbers without leading zeros."""
    return re.sub(r"(?<=[ :])\d\b", lambda digit: f"0{digit[0]}", value) if ":" in value else value


def interval_literal(value: str, type: ColumnType) -> str:
    """`INTERVAL '-1 02:03:04' DAY TO SECOND`, `INTERVAL '1' MONTH`."""
    match = re.fullmatch(r"INTERVAL '(-?)(.+)' (\w+)(?: TO \w+)?", value)
    assert match, value
    short = {"MONTH": "0-{}", "DAY": "{} 00:00:00", "YEAR": "{}-0"}
    return match[1] + (match[2] if " TO " in value else short[match[3]].format(match[2]))


def epoch(value: str, type: ColumnType) -> str:
    """Seconds since 1970, with a fraction; zero is MySQL's 0000-00-00."""
    if value.startswith("0000"):
        return value
    seconds, _, fraction = value.partition(".")
    if not int(seconds) and not fraction.strip("0"):
        return "0000-00-00 00:00:00"
    return moved(f"1970-01-01 00:00:00{'.' if fraction else ''}{fraction}", int(seconds))


def significant(digits: int) -> Reading:
    """Floating point numbers that are printed with so many digits of their shortest text, and no sign of zero."""

    def seen(value: str | Decimal) -> str:
        if not isinstance(value, Decimal):
            short = str(np.float32(float(value))) if digits < 10 else value
            value = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(short)
        return str((value + 0).normalize())

    return Reading(lambda value, type: Decimal(value), seen)


def epoch_microseconds(value: Any, type: ColumnType) -> int:
    """A Timestamp of DRS as the carrier has it, which can say infinity."""
    return int(value[1]["timestamp"]) * 1_000_000 + int(value[1]["millis"]) * 1000


def milliseconds(microseconds: int) -> int:
    return microseconds // 1000


def seconds(microseconds: int) -> int:
    return microseconds // 1_000_000


def no_srid(data: bytes) -> bytes:
    """A geometry of MySQL without its first four bytes, the number of its reference system."""
    return data[4:]


# ---------------------------------------------------------------------------------------- members of Avro's unions

EMPTY_LOB: Final = "empty_clob()"
CHARSETS: Final = {"utf8mb4": "utf-8", "utf8": "utf-8", "latin1": "latin-1", "gbk": "gbk"}


def member(value: Any, type: ColumnType, *, digits: int = 6) -> Any:
    """A value of DTS's or DRS's record, by the name of its class: `("….Integer", {"precision": 4, "value": "7"})`.

    `digits`: how many a fraction of a second has, which is called `millis`.
    """
    name, fields = value
    match name.rpartition(".")[2]:
        case "Character":
            return fields["value"].decode(CHARSETS.get(fields["charset"].lower(), fields["charset"]))
        case "Float":
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(
                repr(fields["value"]), repr(fields["value"])
            )
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


def cut_to_microseconds(value: Any) -> Any:
    """Texts of times with six digits of a fraction at most; nothing is left of less."""
    if not is_time(value):
        return value
    cut = re.sub(r"\.\d+", lambda match: match[0][:7].rstrip("0").rstrip("."), value)
    return cut if re.search(r"[1-9]", cut) else cut.replace("-", "+", 1)


def is_time(value: Any) -> bool:
    return isinstance(value, str) and re.search(r"\d:\d\d:\d\d\.", value) is not None


def nanoseconds(value: Any, type: ColumnType) -> Any:
    return member(value, type, digits=9)


def clock(fields: Mapping[str, int | None], digits: int, zone: str = "") -> str:
    """A date, a time, both, or an interval, of the parts that are there; all have the sign of the whole."""
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


CLOCK: Final = ("year", "month", "day", "hour", "minute", "second", "millis")
# Of the greatest and the least moment that Java's milliseconds can say, which stand for infinity.
INFINITE: Final = (292_278_994, 292_269_055)


# ------------------------------------------------------------------------------------------------ MongoDB's documents


def bson(value: Any, type: ColumnType) -> Any:
    """A value of extended JSON, numbers as they are written."""
    match value:
        case {"$binary": {"base64": text}}:
            return in_base64(text, type)
        case {"$date": {"$numberLong": text}} | {"$date": text} | {"$oid": text}:
            return text
        case {"$numberLong": text} | {"$numberDecimal": text} | {"$numberDouble": text} if len(value) == 1:
            return text
        case {"$timestamp": {"t": seconds, "i": number}}:
            return f"{int(seconds) & 0xFFFFFFFF}:{int(number) & 0xFFFFFFFF}"
        case bool():
            return str(value).lower()
        case str() if type.name not in ("object", "array"):
            return value
    return Carried(written(value))


def relaxed(text: str) -> str:
    """A document without what products' texts leave out, which number is a long and what a pointer is; its dates as
    numbers."""

    def plain(value: Any) -> Any:
        match value:
            case {"$numberLong": number}:
                return Number(number)
            case {"$numberDouble": number}:
                return Number(number)
            case {"$date": str(text)}:
                return {"$date": Number(any_year(text.replace("T", " ").removesuffix("Z"), ColumnType("date")) // 1000)}
            case {"$dbPointer": pointer}:
                return plain(pointer)
            case dict():
                return {name: plain(part) for name, part in value.items()}
            case list():
                return [plain(part) for part in value]
        return value

    return written(plain(json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)))


def any_year(value: str, type: ColumnType) -> int:
    """A date and time in UTC, also before Christ and after the year 9999, in microseconds since 1970."""
    match = re.fullmatch(r"(\d+)(-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)( BC)?", value)
    assert match, value
    year = 1 - int(match[1]) if match[3] else int(match[1])
    moment = datetime.fromisoformat(f"{2000 + year % 400}{match[2]}Z") - datetime(1970, 1, 1, tzinfo=UTC)
    return moment // timedelta(microseconds=1) + (year - 2000 - year % 400) // 400 * 146_097 * 86_400_000_000


def written(value: Any) -> str:
    """Extended JSON as text."""
    match value:
        case Number():
            return value
        case dict():
            return (
                "{"
                + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {written(v)}" for name, v in value.items())
                + "}"
            )
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------------ the table

# What the systems of a family share is said once.
FAMILY: Final[Mapping[str, str]] = {
    **{id: "mysql" for id in ("mysql", "mariadb", "oceanbase-mysql")},
    **{id: "oracle" for id in ("oracle", "oceanbase-oracle")},
    **{id: "postgresql" for id in ("postgresql", "gaussdb")},
}

_LATIN1: Final = Reading(latin1)
_SHANGHAI: Final = Reading(east(8))
_LOB: Final = Reading(lambda value, type: value or EMPTY_LOB)
_LEFT_OUT: Final = Reading(left_out=True)
_DTS_TEXT: Final = {
    "mysql binary": _LATIN1,
    "mysql geometry": _LATIN1,
    "mysql timestamp": _SHANGHAI,
    "oracle interval": Reading(interval_of_parts),
    "oracle binary": Reading(hexadecimal),
    "oracle clob": _LOB,
    "oracle nclob": _LOB,
    "sqlserver binary": Reading(hexadecimal),
    "sqlserver hierarchyid": Reading(hexadecimal),
    "sqlserver geometry": Reading(hexadecimal),
}

_MEMBER: Final = Reading(member)
_DTS_AVRO: Final = {
    "mysql geometry": Reading(lambda value, type: bytes(4) + member(value, type), no_srid),
    "oracle clob": Reading(lambda value, type: member(value, type) or EMPTY_LOB),
    "oracle nclob": Reading(lambda value, type: member(value, type) or EMPTY_LOB),
    "oracle *": Reading(nanoseconds),
    "sqlserver hierarchyid": _MEMBER,
    "sqlserver geometry": Reading(lambda value, type: to_text(bytes(4) + value[1]["value"]), no_srid),
    "sqlserver *": Reading(nanoseconds),
    "mongodb null": _LEFT_OUT,
    "mongodb *": Reading(bson),
    "postgresql jsonb": Reading(lambda value, type: member(value, type).decode()),
    "*": _MEMBER,
}
_MICROSECONDS: Final = Reading(member, cut_to_microseconds)
_CLOUDCANAL_DTS_AVRO: Final = {**_DTS_AVRO, "oracle *": _MICROSECONDS, "sqlserver *": _MICROSECONDS}
_DRS_ORACLE: Final = {
    f"oracle {type}": _LEFT_OUT
    for type in ("interval", "binary", "bfile", "urowid", "xml", "long", "clob", "nclob", "json")
}
_MILLISECONDS: Final = Reading(epoch_microseconds, milliseconds)
_DRS_AVRO: Final = {
    "mysql timestamp": Reading(lambda value, type: member(value, type, digits=3), milliseconds),
    "oracle timestamptz": _MILLISECONDS,
    "postgresql timestamptz": _MILLISECONDS,
    "*": _MEMBER,
    **_DRS_ORACLE,
}
_DRS_JSON: Final = {
    "mongodb null": _LEFT_OUT,
    "mongodb document": Reading(bson, relaxed),
    "mongodb javascriptWithScope": Reading(bson, relaxed),
    "mongodb dbPointer": Reading(bson, relaxed),
    "mongodb *": Reading(bson),
    "mysql timestamp": Reading(epoch),
    "mysql binary": Reading(signed_bytes),
    "mysql geometry": Reading(signed_bytes),
    "sqlserver binary": Reading(signed_bytes),
    "sqlserver hierarchyid": Reading(signed_bytes),
    "postgresql binary": Reading(hexadecimal),
    "oracle timestamptz": _SHANGHAI,
    **_DRS_ORACLE,
}
_OMS: Final = {
    "mysql float": significant(7),
    "mysql double": significant(16),
    "mysql bit": Reading(number(in_base64)),
    "mysql binary": Reading(in_base64),
    "mysql timestamp": Reading(epoch),
    "oracle binary_float": significant(7),
    "oracle binary_double": significant(16),
    "oracle binary": Reading(in_base64),
    "oracle timestamptz": Reading(named_zone),
    "oracle interval": Reading(interval_literal),
    "oracle clob": _LOB,
    "oracle nclob": _LOB,
}
_CLOUDCANAL: Final = {
    "mysql bit": Reading(lambda value, type: str(int(value, 16))),
    "mysql geometry": Reading(seen=no_srid),
    "mysql binary": Reading(hexadecimal),
    "oracle raw": Reading(hexadecimal),
    "oracle long raw": Reading(hexadecimal),
    "oracle blob": _LEFT_OUT,
    "oracle clob": _LOB,
    "oracle nclob": _LOB,
    "oceanbase-oracle blob": Reading(hexadecimal),
    "postgresql binary": Reading(hexadecimal),
    "sqlserver binary": Reading(hexadecimal),
    "sqlserver geometry": Reading(seen=no_srid),
    "mongodb binary": Reading(hexadecimal),
    "mongodb date": Reading(any_year),
    "mongodb timestamp": Reading(lambda value, type: bson(json.loads(value), type)),
    "mongodb null": _LEFT_OUT,
    **{
        f"mongodb {type}": Reading(lambda value, type: Carried(value), relaxed)
        for type in ("document", "javascriptWithScope", "dbPointer")
    },
}

LITERAL: Final = Reading()
# Texts of which not a blank may differ, though a literal with another would be read as the same.
AS_TEXT: Final = Reading(lambda value, type: Carried(value))
TEXTS: Final = ("text", "json", "xml", "uuid")

# "SYSTEM TYPE" or "SYSTEM FAMILY" of a type, the system's own id or what it belongs to, by format.
READINGS: Final[Mapping[str, Mapping[str, Reading]]] = {
    "canal-json": {
        "mysql binary": _LATIN1,
        "mysql geometry": _LATIN1,
        "mysql json": LITERAL,  # numbers as Java prints them
        "mariadb json": Reading(lambda value, type: value.encode("latin1").decode()),
    },
    "dts-canal-json": _DTS_TEXT,
    "dts-shareplex-json": _DTS_TEXT,
    "dts-avro": _DTS_AVRO,
    "drs-avro": _DRS_AVRO,
    "drs-json": _DRS_JSON,
    "drs-json-c": {**_DRS_JSON, "mysql timestamp": Reading(east(8), seconds)},
    **dict.fromkeys(
        ("oms-canal-json", "oms-dataworks", "oms-default", "oms-default-extend-column-type", "oms-shareplex"), _OMS
    ),
    **dict.fromkeys(("cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-debezium"), _CLOUDCANAL),
    "cloudcanal-dts-avro": _CLOUDCANAL_DTS_AVRO,
}


def carried(array: pa.Array) -> list[Any]:
    """The values of a carrier, floats as their shortest text, so that NaN is NaN and -0.0 is not 0.0."""
    array = decoded(array)
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


@cache
def parsed(source: str, type: ColumnType, literal: str) -> Any:
    return carried(sources.find(source).parse_values([literal], type))[0]


@cache
def reading(format: str, source: str, type: ColumnType) -> Reading:
    """The row for a type."""
    table, system = READINGS.get(format.partition(",")[0], {}), sources.find(source)
    for id in (system.id, FAMILY.get(system.id, system.id)):
        for name in (type.name, system.family(type), "*"):
            if f"{id} {name}" in table:
                return table[f"{id} {name}"]
    return table.get("*") or (AS_TEXT if system.family(type) in TEXTS else LITERAL)
