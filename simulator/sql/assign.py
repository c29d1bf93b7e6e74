"""A value made into what a column stores, as MySQL does on assignment: rounded, cut, padded or refused.

What comes out is the carrier's value (the table of `simulator.carriers`). Strict mode refuses; without it, and with
IGNORE, the nearest value that the column can hold is stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, Final

import numpy as np

from simulator.carriers import PARTIAL_DAYS
from simulator.model import ColumnType
from simulator.sources import mysql
from simulator.sources.mysql_values import MAX_TIME_US, TIMESTAMP_US
from simulator.sql import documents, moments
from simulator.sql.catalog import Field
from simulator.sql.documents import Document
from simulator.sql.errors import SqlError
from simulator.sql.moments import Moment, Zone
from simulator.sql.values import Bits, Label, Shape, bytes_of, number_of, text_of

_NUMBER: Final = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")
_LAST_US: Final = 253_402_300_800_000_000 - 1
ZERO_US: Final = moments.us_of(Moment("datetime", PARTIAL_DAYS))


@dataclass(frozen=True)
class Rules:
    """How a session stores: strict or not, which zero dates it takes, its time zone, and the server's ways."""

    strict: bool
    no_zero_date: bool
    no_zero_in_date: bool
    zone: Zone
    json_duplicates: str
    json_is_text: bool
    truncates_fractions: bool = False
    swaps_axes: bool = False


def assign(value: Any, field: Field, row: int, rules: Rules) -> Any:
    """The stored form of a value that is not NULL. Raises SqlError."""
    return _STORE[mysql.family(field.type)](value, field, row, rules)


def _integer(value: Any, field: Field, row: int, rules: Rules) -> int:
    number = int(value) if type(value) is int or isinstance(value, bool) else _whole(value, field, row, rules)
    low, high = mysql.bounds(field.type)
    if low <= number <= high:
        if isinstance(value, str) and rules.strict:
            _whole_text(value, field, row)
        return number
    if rules.strict:
        raise SqlError(1264, field.name, row)
    return low if number < low else high


def _whole_text(value: str, field: Field, row: int) -> None:
    """Refuse what stands behind a number."""
    match = _NUMBER.match(value)
    if not isinstance(value, Label) and match and match.end() < len(value):
        raise SqlError(1265, field.name, row)


def _whole(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if not match:
            if rules.strict:
                raise SqlError(1366, "integer", value[:64], field.name, row)
            return 0
        value = Decimal(match[1])
    number = number_of(value)
    if isinstance(number, int):
        return int(number)
    if isinstance(number, float):
        if math.isinf(number):
            return (1 << 70) if number > 0 else -(1 << 70)
        return round(number)  # half to even, as rint
    with localcontext(prec=200):
        return int(number.to_integral_value(ROUND_HALF_UP))


def _decimal(value: Any, field: Field, row: int, rules: Rules) -> Decimal:
    precision, scale = mysql.precision_scale(field.type)
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if not match:
            if rules.strict:
                raise SqlError(1366, "decimal", value[:64], field.name, row)
            return Decimal(0).scaleb(-scale)
        if match.end() < len(value) and rules.strict:
            raise SqlError(1366 if rules.strict else 1265, "decimal", value[:64], field.name, row)
        number: Any = Decimal(match[1])
    else:
        number = number_of(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    with localcontext(prec=200) as context:
        try:
            fitted = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=context)
        except InvalidOperation:
            fitted = Decimal(10) ** 100
        limit = Decimal(10) ** (precision - scale)
        low_broken = field.type.unsigned and fitted < 0
        if abs(fitted) >= limit or low_broken:
            if rules.strict:
                raise SqlError(1264, field.name, row)
            most = limit - Decimal(1).scaleb(-scale)
            fitted = Decimal(0).scaleb(-scale) if low_broken else most if fitted > 0 else -most
        return fitted if fitted else abs(fitted)


def _float(value: Any, field: Field, row: int, rules: Rules) -> float:
    if isinstance(value, str) and not isinstance(value, Label):
        match = _NUMBER.match(value)
        if (not match or match.end() < len(value)) and rules.strict:
            raise SqlError(1265, field.name, row)
        number = float(match[1]) if match else 0.0
    else:
        number = float(number_of(value))
    type = field.type
    if type.unsigned and number < 0:
        if rules.strict:
            raise SqlError(1264, field.name, row)
        return 0.0
    if type.scale is not None and type.length is not None and math.isfinite(number):
        number = mysql.cut(number, type.scale)
        most = 10.0 ** (type.length - type.scale) - 10.0**-type.scale
        if abs(number) > most:
            if rules.strict:
                raise SqlError(1264, field.name, row)
            number = math.copysign(most, number)
    limit = float(np.finfo(np.float32).max) if type.name == "float" else 1.7976931348623157e308
    if abs(number) > limit:
        if rules.strict:
            raise SqlError(1264, field.name, row)
        number = math.copysign(limit, number)
    # the server of MariaDB stores no negative zero
    return float(np.float32(number)) if type.name == "float" else number


def _bit(value: Any, field: Field, row: int, rules: Rules) -> int:
    bits = field.type.length or 1
    if isinstance(value, str) and not isinstance(value, Label):
        number = int.from_bytes(value.encode(), "big")
    elif isinstance(value, bytes):
        number = int.from_bytes(value, "big")
    else:
        number = _whole(value, field, row, rules)
    if number < 0:
        number += 1 << 64
    if number >> bits:
        if rules.strict:
            raise SqlError(1406, field.name, row)
        return (1 << bits) - 1
    return number


def _year(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, Moment) and value.kind != "time":
        value = moments.parts_of(value.day)[0]
    text = isinstance(value, str) and not isinstance(value, Label)
    if text:
        match = re.match(r"\s*(\d+)\s*", value)
        if not match or (rules.strict and match.end() < len(value)):
            if rules.strict:
                raise SqlError(1265 if match else 1366, *(() if match else ("integer", value[:64])), field.name, row)
            return 0
        value = match[1]
    if isinstance(value, float):
        value = int(value)
    number = _whole(value, field, row, rules)
    short = number < 100 and (not text or len(value.strip()) < 4)
    if short and number >= 0:
        if number == 0:
            return 2000 if text else 0
        number += 2000 if number < 70 else 1900
    if number == 0 or 1901 <= number <= 2155:
        return number
    if rules.strict:
        raise SqlError(1264, field.name, row)
    return 0


# ------------------------------------------------------------------------------------------------------------ moments


def _moment(value: Any, field: Field, row: int, rules: Rules, what: str) -> Moment | None:
    """The date (with time) that a value says; None where it says none and the session is not strict."""
    found: Moment | None
    whole = True
    if isinstance(value, Moment):
        found = value if value.kind != "time" else None
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = moments.number_datetime(int(value))
        if found is not None and isinstance(value, Decimal) and value >= 100_000_000:
            found = Moment("datetime", found.day, found.us + int(value % 1 * 1_000_000), 6)
    else:
        parsed = moments.parse_datetime(text_of(value))
        found, whole = parsed if parsed else (None, True)
    if found is None or not whole or not _allowed(found, rules):
        if rules.strict:
            raise SqlError(1292, what, text_of(value)[:64], field.name, row)
        if found is None or (found is not None and not _allowed(found, rules)):
            return None
    return found


def _allowed(moment: Moment, rules: Rules) -> bool:
    if moments.is_zero(moment.day):
        return not rules.no_zero_date or (moment.us != 0)
    return not (moments.is_partial(moment.day) and rules.no_zero_in_date)


def _date(value: Any, field: Field, row: int, rules: Rules) -> int:
    found = _moment(value, field, row, rules, "date")
    return PARTIAL_DAYS if found is None else found.day


def _datetime(value: Any, field: Field, row: int, rules: Rules) -> int:
    found = _moment(value, field, row, rules, "datetime")
    if found is None:
        return ZERO_US
    digits = field.type.length or 0
    time_us = moments.rounded(found.us, digits, truncate=rules.truncates_fractions)
    us = moments.us_of(Moment("datetime", found.day, 0)) + time_us
    partial = moments.is_partial(found.day)
    stamp = field.type.name == "timestamp"
    if partial:
        wrong = time_us >= moments.DAY_US or (stamp and (not moments.is_zero(found.day) or time_us > 0))
    elif stamp:
        us = rules.zone.to_utc(us)
        wrong = not TIMESTAMP_US[0] <= us <= TIMESTAMP_US[1]
    else:
        wrong = us > _LAST_US
    if wrong:
        if rules.strict:
            raise SqlError(1292, "datetime", text_of(value)[:64], field.name, row)
        return ZERO_US
    return us


def _time(value: Any, field: Field, row: int, rules: Rules) -> int:
    if isinstance(value, Moment):
        us = value.us if value.kind != "date" else 0
    else:
        parsed = moments.parse_time(text_of(value))
        if parsed is None or (not parsed[2] and rules.strict):
            if rules.strict:
                raise SqlError(1292, "time", text_of(value)[:64], field.name, row)
            return 0
        us = parsed[0]
    us = moments.rounded(us, field.type.length or 0, truncate=rules.truncates_fractions)
    if abs(us) > MAX_TIME_US:
        if rules.strict:
            raise SqlError(1292, "time", text_of(value)[:64], field.name, row)
        us = MAX_TIME_US if us > 0 else -MAX_TIME_US
    return us


# ------------------------------------------------------------------------------------------------------ texts and bytes


def _text(value: Any, field: Field, row: int, rules: Rules) -> str:
    type = field.type
    charset = type.charset or "utf8mb4"
    width, codec = mysql.CHARSETS.get(charset, (4, "utf-8"))
    if isinstance(value, bytes) and not isinstance(value, Shape):
        text = _decoded(bytes(value), codec, field, row, rules)
    else:
        told = _fitted(value, type.length or 0) if isinstance(value, float) and type.length else text_of(value)
        text = _encodable(told, width, codec, field, row, rules)
    if type.name in ("char", "varchar"):
        most = type.length or 0
        if len(text) > most:
            if text[most:].strip(" ") and rules.strict:
                raise SqlError(1406, field.name, row)
            text = text[:most]
        return text.rstrip(" ") if type.name == "char" else text
    most = mysql.TYPES[type.name].max_bytes
    if len(text) * width > most and len(text.encode(codec, "replace")) > most:
        if rules.strict:
            raise SqlError(1406, field.name, row)
        text = text.encode(codec, "replace")[:most].decode(codec, "ignore")
    return text


def _fitted(value: float, width: int) -> str:
    """A double in a column of so many characters: with an exponent, or fewer digits, where it would not fit."""
    text = text_of(value)
    digits = 17
    while len(text) > width and digits:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
        digits -= 1
    return text


def _decoded(raw: bytes, codec: str, field: Field, row: int, rules: Rules) -> str:
    """Bytes taken as the column's character set."""
    try:
        return raw.decode(codec)
    except UnicodeDecodeError as error:
        if codec == "cp1252":  # latin1 of MySQL has all bytes
            return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in raw)
        if rules.strict:
            raise SqlError(1366, "string", _escaped(raw[error.start :]), field.name, row) from None
        return raw[: error.start].decode(codec)


def _encodable(text: str, width: int, codec: str, field: Field, row: int, rules: Rules) -> str:
    """A text in characters that the column's character set has; others become question marks."""
    if codec == "utf-8" and (width == 4 or text.isascii() or max(text) <= "\uffff"):
        return text
    if codec == "utf-8":
        lacking = [character > "\uffff" for character in text]
    else:
        try:
            text.encode(codec)
            return text
        except UnicodeEncodeError:
            lacking = [_lacks(character, codec) for character in text]
    if rules.strict and any(lacking):
        raise SqlError(1366, "string", _escaped(text[lacking.index(True) :].encode()), field.name, row)
    return "".join("?" if wrong else character for character, wrong in zip(text, lacking, strict=True))


def _lacks(character: str, codec: str) -> bool:
    if codec == "cp1252" and character in "\x81\x8d\x8f\x90\x9d":
        return False
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return True
    return False


def _escaped(raw: bytes) -> str:
    shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02X}" for byte in raw[:6])
    return shown + ("..." if len(raw) > 6 else "")


def _binary(value: Any, field: Field, row: int, rules: Rules) -> bytes:
    raw = bytes_of(value)
    type = field.type
    most = type.length if type.length is not None else mysql.TYPES[type.name].max_bytes
    if len(raw) > most:
        if rules.strict:
            raise SqlError(1406, field.name, row)
        raw = raw[:most]
    return raw.ljust(most, b"\0") if type.name == "binary" else raw


def _label_place(text: str, labels: tuple[str, ...]) -> int | None:
    if text in labels:
        return labels.index(text)
    folded = text.rstrip(" ").casefold()
    return next((i for i, label in enumerate(labels) if label.casefold() == folded), None)


def _enum(value: Any, field: Field, row: int, rules: Rules) -> int:
    labels = field.type.labels
    if isinstance(value, int | float | Decimal):
        number = int(value)
        if 1 <= number <= len(labels):
            return number
    else:
        text = text_of(value)
        place = _label_place(text, labels)
        if place is not None:
            return place + 1
        if re.fullmatch(r"\d+", text) and 1 <= int(text) <= len(labels):
            return int(text)
    if rules.strict:
        raise SqlError(1265, field.name, row)
    return 0


def _set(value: Any, field: Field, row: int, rules: Rules) -> int:
    labels = field.type.labels
    if isinstance(value, int | float | Decimal):
        mask, all_bits = int(value), (1 << len(labels)) - 1
        if 0 <= mask <= all_bits:
            return mask
        if rules.strict:
            raise SqlError(1265, field.name, row)
        return mask & all_bits
    text, mask, known = text_of(value), 0, True
    for part in text.split(",") if text else ():
        place = _label_place(part, labels)
        if place is None:
            known = False
        else:
            mask |= 1 << place
    if not known:
        if re.fullmatch(r"\d+", text) and int(text) < 1 << len(labels):
            return int(text)
        if rules.strict:
            raise SqlError(1265, field.name, row)
    return mask


def _json(value: Any, field: Field, row: int, rules: Rules) -> str:
    if rules.json_is_text:
        text = text_of(value)
        try:
            documents.parse(text, duplicates="last")
        except ValueError:
            raise SqlError(3819, f"{field.name}") from None
        return text
    if isinstance(value, Document):
        return value.text()
    if isinstance(value, str):
        try:
            return documents.text_of(documents.parse(text_of(value), duplicates=rules.json_duplicates))
        except ValueError as error:
            raise SqlError(3140, f'"{str(error)[:100]}"', field.name) from None
    if isinstance(value, bytes):
        raise SqlError(3144, "binary")
    raise SqlError(3140, '"not a JSON text, may need CAST" at position 0 in value', field.name)


def _geometry(value: Any, field: Field, row: int, rules: Rules) -> bytes:
    raw = bytes(value) if isinstance(value, bytes) else b""
    kind = field.type.name
    if len(raw) < 9 or (kind != "geometry" and mysql.GEOMETRIES.get(raw[5]) != kind):
        raise SqlError(1416)
    return raw


_STORE: Final[Mapping[str, Callable[[Any, Field, int, Rules], Any]]] = {
    "integer": _integer,
    "decimal": _decimal,
    "float": _float,
    "bit": _bit,
    "date": _date,
    "datetime": _datetime,
    "time": _time,
    "year": _year,
    "text": _text,
    "binary": _binary,
    "json": _json,
    "enum": _enum,
    "set": _set,
    "geometry": _geometry,
}


def implicit(type: ColumnType) -> Any:
    """What a NOT NULL column without a default holds where nothing is said and nothing refuses."""
    family = mysql.family(type)
    if family in ("date", "datetime"):
        return PARTIAL_DAYS if family == "date" else ZERO_US
    if family == "decimal":
        return Decimal(0).scaleb(-mysql.precision_scale(type)[1])
    if family == "binary":
        return b"\0" * (type.length or 0) if type.name == "binary" else b""
    return {"float": 0.0, "text": "", "json": "null", "enum": 1, "geometry": b""}.get(family, 0)


def shown(stored: Any, type: ColumnType, zone: Zone) -> Any:
    """The value in expressions of what a column stores."""
    if stored is None:
        return None
    match mysql.family(type):
        case "date":
            return Moment("date", stored)
        case "datetime":
            if type.name == "timestamp" and stored != ZERO_US:
                stored = zone.to_local(stored)
            return moments.of_us(stored, type.length or 0)
        case "time":
            return Moment("time", 0, stored, type.length or 0)
        case "enum":
            return Label(type.labels[stored - 1] if stored else "", stored)
        case "set":
            return Label(",".join(label for i, label in enumerate(type.labels) if stored >> i & 1), stored)
        case "bit":
            return Bits(stored, type.length or 1)
        case "json":
            return Document(documents.read(stored))
        case "geometry":
            return Shape(stored)
    return stored
