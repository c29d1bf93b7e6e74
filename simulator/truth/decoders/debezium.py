"""Decoder of Debezium: the connectors' envelope in JSON, by its documentation and Kafka Connect's converter."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import MAX_PREC, Context, Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from simulator.carriers import FIRST_DAY, INFINITE_US, US_PER_DAY
from simulator.model import DELETE, UPDATE, ColumnType
from simulator.sources.postgresql.times import civil, day_number, interval_parts
from simulator.subjects import ids
from simulator.subjects.registered import Origin
from simulator.truth.decoders.avro import FLOATS, parse_schema, read_avro
from simulator.truth.decoders.change import NOTHING, OPERATIONS, Change, Decoder, Item, Mark, Statement, text
from simulator.truth.decoders.cloudcanal import POSITIONS
from simulator.truth.decoders.documents import RELAXED, bson, relaxed, strict_json
from simulator.truth.decoders.json_text import Number, read_object
from simulator.truth.decoders.values import LEFT_OUT, LITERAL, Carried, Reading, in_base64


def items(message: Any) -> Iterator[Item]:
    """Reads `before` and `after` of one row; a statement is in `ddl`, the begin or end of a transaction in `status`."""
    payload = message.get("payload", message)
    if "status" in payload:
        yield Mark(payload["status"])
    elif payload.keys() == {"ts_ms"}:
        yield Mark("HEARTBEAT")
    elif "ddl" in payload:
        yield Statement(payload["ddl"] or "", int(payload["source"]["ts_ms"]))
    elif payload["op"] == "t":
        yield Statement(f"TRUNCATE TABLE {payload['source']['table']}", int(payload["source"]["ts_ms"]))
    else:
        source = payload["source"]
        if "collection" in source:
            yield document_change(payload)
            return
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


def document_change(payload: Any) -> Change:
    """A change of a document of MongoDB, whose images are texts."""
    source = payload["source"]
    before, after = (None if payload[side] is None else strict_json(payload[side]) for side in ("before", "after"))
    return Change(
        OPERATIONS[payload["op"]],
        source["collection"],
        before,
        after,
        event_ms=int(source["ts_ms"]),
        database=text(source["db"]),
        position=f"{int(source['ts_ms']) // 1000}:{source['ord']}",
        transaction=text((payload["transaction"] or {}).get("id")),
    )


def day(value: str, type: ColumnType) -> str:
    """Days since 1970."""
    return str(date(1970, 1, 1) + timedelta(days=int(value)))


def moment(value: str, type: ColumnType) -> str:
    """Milliseconds since 1970; microseconds for columns with more than three fraction digits."""
    unit = 1000 if (type.length or 0) <= 3 else 1
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value) * unit)).replace(tzinfo=None))


def clock(value: str, type: ColumnType) -> str:
    """Microseconds of a time, which may be negative."""
    sign, us = ("-", -int(value)) if value.startswith("-") else ("", int(value))
    seconds, fraction = divmod(us, 1_000_000)
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def unscaled(value: str, type: ColumnType) -> str:
    """A decimal from the bytes of its unscaled number."""
    number = int.from_bytes(base64.b64decode(value, validate=True), signed=True)
    digits = tuple(map(int, str(abs(number))))
    return str(Decimal((int(number < 0), digits, -(type.scale or 0))))


def bits(value: Any, type: ColumnType) -> str:
    """Bits from a boolean, or from bytes with the lowest first."""
    return str(int(value)) if isinstance(value, bool) else str(int.from_bytes(base64.b64decode(value), "little"))


def geometry(value: Any, type: ColumnType) -> bytes:
    """MySQL's stored geometry: four bytes of the SRID, then the well-known binary."""
    return int(value["srid"] or 0).to_bytes(4, "little") + base64.b64decode(value["wkb"])


def real_day(days: int, type: ColumnType) -> int | None:
    """Invalid dates become null; years below 100 are read as years of two digits."""
    if days < FIRST_DAY:
        return None
    if days >= HUNDREDTH_YEAR:
        return days
    found = date.fromordinal(days - FIRST_DAY + 1)
    found = found.replace(year=found.year + (2000 if found.year < 70 else 1900))
    return found.toordinal() + FIRST_DAY - 1


def real_moment(us: int, type: ColumnType) -> int | None:
    days, rest = divmod(us, US_PER_DAY)
    found = real_day(days, type)
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

# Types whose values look the same inside arrays.
_PLAIN_ARRAYS: Final = (
    "smallint[]", "integer[]", "bigint[]", "oid[]", "real[]", "double precision[]", "text[]", "character[]",
    "character varying[]", "uuid[]", "json[]", "jsonb[]", "inet[]", "cidr[]", "macaddr[]", "int4range[]",
)  # fmt: skip


def number(value: Any, type: ColumnType) -> str:
    """A decimal with its column's scale, or with its own."""
    if isinstance(value, str):
        return unscaled(value, type)
    return unscaled(value["value"], replace(type, scale=int(value["scale"])))


def plain(number: Any, type: ColumnType) -> str | None:
    """A number without trailing zeros; null for NaN and infinity."""
    value = Decimal(number)
    if not value.is_finite():
        return None
    return str(Context(prec=MAX_PREC).normalize(value)) if value else "0"


def instant_text(value: str, type: ColumnType) -> str:
    """`2024-02-29T12:34:56.5Z` as PostgreSQL writes it, also in years before Christ."""
    text = value.replace("T", " ").replace("Z", "+00").lstrip("+")
    if (value[0] == "-" and value[1].isdigit()) or value.startswith("0000"):
        year, rest = text.lstrip("-").split("-", 1)
        return f"{int(year) + 1:04}-{rest} BC"
    return text


MOST_DAYS: Final = 2**31 - 1
# The driver's value for infinity, in microseconds.
INFINITE: Final = {9223372036825200000: INFINITE_US, -9223372036832400000: -INFINITE_US}


# The driver's values for infinite dates: in the log, and in a snapshot.
INFINITE_DAYS: Final = {-2_147_472_692: MOST_DAYS, -2_147_472_691: -MOST_DAYS, -622_191_234: MOST_DAYS,
                        -170_999_002: -MOST_DAYS}  # fmt: skip


def pg_day(value: str, type: ColumnType) -> int:
    """Days since 1970."""
    return INFINITE_DAYS.get(int(value), int(value))


def without_era(days: Any, type: ColumnType) -> int:
    """The day in the year after Christ of the same number: snapshots lose which one it is."""
    if int(days) >= FIRST_DAY or int(days) <= -MOST_DAYS:
        return int(days)
    year, month, day = civil(int(days))
    return day_number(1 - year, month, 1) + day - 1


def instant(value: str, type: ColumnType) -> int:
    """Milliseconds since 1970; microseconds for columns with more than three fraction digits."""
    us = int(value) * (1000 if type.length is not None and type.length <= 3 else 1)
    return INFINITE.get(us, us)


def utc_time(text: str, type: ColumnType) -> str:
    """A time with a zone in UTC."""
    match = re.fullmatch(r"(\d\d):(\d\d):([\d.]+)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?", text)
    if match is None:
        raise ValueError(f"{text!r} is no time with a zone")
    ahead = int(match[5]) * 3600 + int(match[6] or 0) * 60 + int(match[7] or 0)
    clock = int(match[1]) * 3600 + int(match[2]) * 60 + Decimal(match[3]) - (ahead if match[4] == "+" else -ahead)
    return str(((clock + 2 * 86400) % 86400).normalize())


def duration(text: str) -> int:
    """An interval in microseconds, within 64 bits; a month has 30.4375 days."""
    months, days, us = interval_parts(text)
    total = months * 2_629_800_000_000 + days * US_PER_DAY + us
    return max(-(2**63), min(2**63 - 1, total))


def bit_string(value: Any, type: ColumnType) -> str:
    if isinstance(value, bool):
        return str(int(value))
    bits = int.from_bytes(base64.b64decode(value), "little")
    return format(bits, f"0{type.length or 1}b") if type.name == "bit" else format(bits, "b")


def hstore(value: str, type: ColumnType) -> str:
    members = json.loads(value)
    quoted = {key: None if text is None else json.dumps(text, ensure_ascii=False) for key, text in members.items()}
    return ", ".join(f"{json.dumps(key, ensure_ascii=False)}=>{text or 'NULL'}" for key, text in quoted.items())


def array(value: Any, type: ColumnType) -> str:
    """The literal of an array."""
    items = ["NULL" if item is None else '"' + re.sub(r'(["\\\\])', r"\\\1", str(item)) + '"' for item in value]
    return "{" + ",".join(items) + "}"


def one_dimension(text: str, type: ColumnType) -> str:
    """Arrays of several dimensions become one null per inner array; bounds are lost."""
    text = re.sub(r"^(\[-?\d+:-?\d+\])+=", "", text)
    return "{" + ",".join(["NULL"] * text.count(",{", 1) + ["NULL"]) + "}" if text.startswith("{{") else text


_LOST_ARRAY: Final = Reading(lambda value, type: Carried(""), lambda text, type: "", lost="values")
_POSTGRESQL: Final = {
    "postgresql numeric": Reading(number, plain, lost="zeros at the end, numbers that are none"),
    "postgresql money": Reading(lambda value, type: unscaled(value, replace(type, scale=2))),
    "postgresql date": Reading(pg_day, without_era, lost="years before Christ"),
    "postgresql time": Reading(
        lambda value, type: int(value) * (1000 if type.length is not None and type.length <= 3 else 1)
    ),
    "postgresql time with time zone": Reading(
        lambda value, type: value.removesuffix("Z") + "+00", utc_time, lost="time zones"
    ),
    "postgresql datetime": Reading(instant),
    "postgresql timestamptz": Reading(instant_text),
    "postgresql interval": Reading(
        lambda value, type: int(value), lambda it, type: it if isinstance(it, int) else duration(it), lost="parts"
    ),
    "postgresql bit": Reading(bit_string),
    "postgresql bit varying": Reading(bit_string, lambda text, type: text.lstrip("0"), lost="zeros at the front"),
    "postgresql binary": Reading(in_base64),
    "postgresql point": Reading(lambda value, type: f"({value['x']},{value['y']})"),
    "postgresql geometry": LEFT_OUT,
    "postgresql hstore": Reading(hstore),
    "postgresql array": _LOST_ARRAY,
    **{f"postgresql {name}": Reading(array, one_dimension, lost="dimensions and bounds") for name in _PLAIN_ARRAYS},
    **{
        f"postgresql {name}": LEFT_OUT
        for name in (
            "xid", "tsquery", "pg_lsn", "txid_snapshot", "money[]", "interval[]", "bit varying[]", "xml[]", "point[]",
            "box[]", "int4multirange", "int8multirange", "nummultirange", "tsmultirange", "tstzmultirange",
            "datemultirange",
        )
    },
}  # fmt: skip


def fixed_point(value: Any, type: ColumnType) -> str:
    """Oracle's NUMBER: an integer, the unscaled number in bytes, or a number with its own scale."""
    if not isinstance(value, str) or type.length is None:
        return number(value, type)
    scale = type.scale or 0
    return value if scale <= 0 and type.length - scale < 19 else unscaled(value, type)


def clock_text(nanoseconds: int) -> str:
    seconds, fraction = divmod(nanoseconds, 10**9)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:09}"


def fine_time(value: str, type: ColumnType, default: int) -> str:
    """A time of day in milliseconds, microseconds or nanoseconds, by its fraction digits."""
    digits = default if type.length is None else type.length
    return _cut(clock_text(int(value) * (10**6 if digits <= 3 else 1000 if digits <= 6 else 1)), digits)


def fine_moment(value: str, type: ColumnType, default: int) -> str:
    """A timestamp in milliseconds, microseconds or nanoseconds, by its fraction digits."""
    digits = default if type.length is None else type.length
    unit = 10**6 if digits <= 3 else 1000 if digits <= 6 else 1
    days, clock = divmod(int(value) * unit, 86_400 * 10**9)
    year, month, day_of_month = civil(days)
    return _cut(f"{year:04}-{month:02}-{day_of_month:02} {clock_text(clock)}", digits)


def within_64_bits(value: Any, type: ColumnType) -> Any:
    """Timestamps whose nanoseconds exceed 64 bits become null."""
    if not isinstance(value, str):  # of six digits or fewer
        return value
    day, clock = date.fromisoformat(value[:10]), value[11:19].split(":")
    seconds = (day - date(1970, 1, 1)).days * 86_400 + int(clock[0]) * 3600 + int(clock[1]) * 60 + int(clock[2])
    return value if -9_223_372_036 <= seconds < 9_223_372_036 else None


def _cut(text: str, digits: int) -> str:
    return text[: len(text) - 9 + digits].rstrip(".")


def zoned(value: str, type: ColumnType) -> str:
    """`2018-03-27T01:34:56.007891-11:00` as the source writes it."""
    text = value.replace("T", " ").replace("Z", "+00:00")
    return f"{text[:-6]} {text[-6:]}"


def point_in_time(text: str, type: ColumnType) -> str:
    """A timestamp with a zone in UTC; the zone's name is lost."""
    match = re.fullmatch(r"(\S+ [\d:]+)(?:\.(\d+))? (\S+)", text)
    if match is None:
        raise ValueError(f"{text!r} has no zone")
    zone = match[3]
    if zone[0] in "+-":
        sign = -1 if zone[0] == "-" else 1
        ahead = timedelta(minutes=sign * (int(zone[1:3]) * 60 + int(zone[4:6])))
    else:
        ahead = datetime.fromisoformat(match[1]).replace(tzinfo=ZoneInfo(zone)).utcoffset() or timedelta()
    seconds = datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp() - ahead.total_seconds()
    return f"{seconds:.0f}.{(match[2] or '').rstrip('0')}"


def oracle_duration(text: str) -> int:
    """An interval in microseconds, within 64 bits; a month has 30.4375 days."""
    sign = -1 if text.startswith("-") else 1
    if match := re.fullmatch(r"[+-]?(\d+)-(\d+)", text):
        return sign * (int(match[1]) * 12 + int(match[2])) * 2_629_800_000_000
    match = re.fullmatch(r"[+-]?(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(f"{text!r} is no interval")
    seconds = int(match[1]) * 86_400 + int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
    us = sign * (seconds * 1_000_000 + int((match[5] or "0").ljust(6, "0")[:6]))
    return max(-(2**63), min(2**63 - 1, us))


FAR_YEARS: Final = "nanoseconds before 1677 and after 2262"
_ZONED: Final = Reading(zoned, point_in_time, lost="names of time zones")
_INTERVAL: Final = Reading(
    lambda value, type: int(value), lambda it, type: it if isinstance(it, int) else oracle_duration(it), lost="parts"
)
# The connector replaces their values with a placeholder, unless it reads large objects.
_LARGE: Final = Reading(lambda value, type: Carried(""), lambda value, type: "", left_out=True, lost="values")
_ORACLE: Final = {
    "oracle binary_float": Reading(),
    "oracle binary_double": Reading(),
    **{f"oracle {name}": _LARGE for name in ("clob", "nclob", "blob", "xmltype")},
    "oracle number": Reading(fixed_point, plain),
    "oracle float": Reading(fixed_point, plain),
    "oracle date": Reading(lambda value, type: fine_moment(value, type, 0)),
    "oracle timestamp": Reading(lambda value, type: fine_moment(value, type, 6), within_64_bits, lost=FAR_YEARS),
    "oracle timestamp with time zone": _ZONED,
    "oracle timestamp with local time zone": Reading(lambda value, type: value.replace("T", " ").removesuffix("Z")),
    "oracle interval": _INTERVAL,
    "oracle raw": Reading(in_base64),
    **{f"oracle {name}": LEFT_OUT for name in ("long", "long raw", "bfile", "urowid", "json")},
}
_SQLSERVER: Final = {
    "sqlserver bit": Reading(bits),
    "sqlserver decimal": Reading(unscaled),
    "sqlserver money": Reading(lambda value, type: unscaled(value, replace(type, scale=4))),
    "sqlserver smallmoney": Reading(lambda value, type: unscaled(value, replace(type, scale=4))),
    "sqlserver date": Reading(day),
    "sqlserver time": Reading(lambda value, type: fine_time(value, type, 7)),
    "sqlserver datetime": Reading(lambda value, type: fine_moment(value, type, 3)),
    "sqlserver smalldatetime": Reading(lambda value, type: fine_moment(value, type, 3)),
    "sqlserver datetime2": Reading(lambda value, type: fine_moment(value, type, 7), within_64_bits, lost=FAR_YEARS),
    "sqlserver datetimeoffset": _ZONED,
    "sqlserver binary": Reading(in_base64),
    "sqlserver geometry": LEFT_OUT,
    "sqlserver hierarchyid": LEFT_OUT,
    "sqlserver sql_variant": LEFT_OUT,
}

_DOCUMENT: Final = Reading(bson, relaxed, lost=RELAXED)
_MONGODB: Final = {
    "mongodb null": LEFT_OUT,
    "mongodb document": _DOCUMENT,
    "mongodb javascriptWithScope": _DOCUMENT,
    "mongodb dbPointer": _DOCUMENT,
    "mongodb *": Reading(bson),
}

JSON: Final = Decoder(
    parse=read_object,
    items=items,
    carries=frozenset(("event_ms", "position")),
    by_source=frozenset(("transaction",)),
    renewed=frozenset(("ts_ms", "ts_us", "ts_ns")),  # of reading; those in `source` stay (seen of Debezium 3.6)
    images_of={"mongodb": {(UPDATE, "before"): NOTHING, (DELETE, "before"): NOTHING}},
    readings={**_MYSQL, **_POSTGRESQL, **_ORACLE, **_SQLSERVER, **_MONGODB},
)


def read_registered(value: bytes, options: Mapping[str, str] | None = None) -> Any:
    """Reads a message in Confluent's wire format to what its JSON would be. Raises ValueError."""
    given = options or {}
    file = given.get("schema.ids")
    origin = Origin(given.get("schema.registry.url", "").rstrip("/") or None, file=Path(file) if file else None)
    return as_json(read_avro(parsed_schema(ids.schema_of(value, origin)), value[ids.PREFIX_BYTES :]))


@cache
def parsed_schema(text: str) -> Any:
    return parse_schema(json.loads(ids.bare(text)))


def as_json(value: Any) -> Any:
    """A datum as the JSON converter writes it: numbers in their spelling, bytes in Base64; records of unions plain."""
    match value:
        case tuple():
            return as_json(value[1])
        case dict():
            return {name: as_json(member) for name, member in value.items()}
        case list():
            return [as_json(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case float():
            return FLOATS.get(repr(value)) or Number(repr(value))
        case int() if not isinstance(value, bool):
            return Number(value)
    return value


AVRO: Final = replace(JSON, parse=read_registered)
