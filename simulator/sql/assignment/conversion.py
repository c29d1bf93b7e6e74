"""Converts a value to what a column stores, as MySQL does on assignment: rounds, cuts, pads or refuses it.

The result is the carrier's value (the table of `simulator.carriers`). Strict mode refuses values that do not fit;
without it, and with IGNORE, the nearest value that the column can hold is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from simulator.model import ColumnType
from simulator.partial_dates import ZERO_DAY, ZERO_US
from simulator.sources.mysql import geometry as mysql_geometry
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import typed_json
from simulator.sql.assignment.numbers import store_bit, store_decimal, store_float, store_integer, store_year
from simulator.sql.assignment.rules import Rules
from simulator.sql.assignment.temporal import store_date, store_datetime, store_time
from simulator.sql.assignment.texts import store_binary, store_text
from simulator.sql.catalog.definitions import Field
from simulator.sql.errors import SqlError
from simulator.sql.values import documents, temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import Bits, Label, Padded, Shape, text_of
from simulator.sql.values.temporal import Temporal, Zone


def to_stored(value: Any, field: Field, row: int, rules: Rules) -> Any:
    """The stored form of a value that is not NULL. Raises SqlError."""
    return _STORE[mysql_table.family(field.type)](value, field, row, rules)


def _label_index(text: str, field: Field) -> int | None:
    labels = field.type.labels
    if text in labels:
        return labels.index(text)
    if field.collation.endswith("_bin"):
        return labels.index(text.rstrip(" ")) if text.rstrip(" ") in labels else None
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
        if rules.mariadb and isinstance(value, Label) and not value.number and not text:
            return 0  # the value 0 of a rejected label is copied as it is
        index = _label_index(text, field)
        if index is not None:
            return index + 1
        if re.fullmatch(r"\d+", text) and 1 <= int(text) <= len(labels):
            return int(text)
    rules.raise_if_strict(1265, field.name, row)
    return 0


def _set(value: Any, field: Field, row: int, rules: Rules) -> int:
    labels = field.type.labels
    if isinstance(value, int | float | Decimal):
        # a number beyond 64 bits sets all of them
        mask, all_bits = int(max(-(2**63), min(value, 2**64 - 1))), (1 << len(labels)) - 1
        if 0 <= mask <= all_bits:
            return mask
        rules.raise_if_strict(1265, field.name, row)
        return mask & all_bits
    text, mask, all_known = text_of(value), 0, True
    for part in text.split(",") if text else ():
        index = _label_index(part, field)
        if index is None:
            all_known = False
        else:
            mask |= 1 << index
    if not all_known:
        if re.fullmatch(r"\d+", text) and int(text) < 1 << len(labels):
            return int(text)
        rules.raise_if_strict(1265, field.name, row)
        if rules.mariadb and re.fullmatch(r"\d+", text):
            return int(text) & (1 << len(labels)) - 1
    return mask


def _json(value: Any, field: Field, row: int, rules: Rules) -> str:
    if rules.json_is_text:
        text = store_text(value, field, row, rules) if isinstance(value, bytes) else text_of(value)
        try:
            documents.parse(text, duplicates="last", spelled=True)
        except ValueError:
            raise SqlError(38190, field.name) from None
        return text
    if isinstance(value, Document):
        return value.stored()
    if isinstance(value, str):
        try:
            return documents.text_of(documents.parse(text_of(value), duplicates=rules.json_duplicates))
        except ValueError as error:
            raise SqlError(3140, error, field.name) from None
    if isinstance(value, bytes):
        raise SqlError(3144, "binary")
    raise SqlError(3140, '"not a JSON text, may need CAST" at position 0', field.name)


def _geometry(value: Any, field: Field, row: int, rules: Rules) -> bytes:
    raw = bytes(value) if isinstance(value, bytes) else b""
    kind = field.type.name
    if rules.mariadb and isinstance(value, int | float | Decimal):
        name = "int" if isinstance(value, int) else "double" if isinstance(value, float) else "decimal"
        raise SqlError(4078, name, kind, field.name)
    if len(raw) < 9 or (kind != "geometry" and mysql_geometry.NAMES.get(raw[5]) != kind):
        raise SqlError(1416)
    return raw


_STORE: Final[Mapping[str, Callable[[Any, Field, int, Rules], Any]]] = {
    "integer": store_integer,
    "decimal": store_decimal,
    "float": store_float,
    "bit": store_bit,
    "date": store_date,
    "datetime": store_datetime,
    "time": store_time,
    "year": store_year,
    "text": store_text,
    "binary": store_binary,
    "json": _json,
    "enum": _enum,
    "set": _set,
    "geometry": _geometry,
}


def implicit_default(type: ColumnType) -> Any:
    """Implicit default of a NOT NULL column: stored if the statement gives no value and no error is raised."""
    family = mysql_table.family(type)
    if family in ("date", "datetime"):
        return ZERO_DAY if family == "date" else ZERO_US
    if family == "decimal":
        return Decimal(0).scaleb(-mysql_table.precision_scale(type)[1])
    if family == "binary":
        return b"\0" * (type.length or 0) if type.name == "binary" else b""
    return {"float": 0.0, "text": "", "json": typed_json.EMPTY, "enum": 1, "geometry": b""}.get(family, 0)


# The width of integer types that are typed without one.
_DIGITS: Final = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}


def from_stored(stored: Any, type: ColumnType, zone: Zone, json_way: str = "printed") -> Any:
    """The value that expressions see of a stored value."""
    if stored is None:
        return None
    match mysql_table.family(type):
        case "date":
            return Temporal("date", stored)
        case "datetime":
            if type.name == "timestamp" and stored != ZERO_US:
                stored = zone.to_local(stored)
            return temporal.of_us(stored, type.length or 0)
        case "time":
            return Temporal("time", 0, stored, type.length or 0)
        case "enum":
            return Label(type.labels[stored - 1] if stored else "", stored)
        case "set":
            return Label(",".join(label for i, label in enumerate(type.labels) if stored >> i & 1), stored)
        case "integer" if type.zerofill:
            return Padded(stored, type.length or _DIGITS[type.name])
        case "bit":
            return Bits(stored, type.length or 1)
        case "json":
            return Document(documents.read(stored), way=json_way)
        case "geometry":
            return Shape(stored)
    return stored
