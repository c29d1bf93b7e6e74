"""Columns of PostgreSQL as Kafka Connect's types (`PostgresValueConverter`); rows lack columns without such a type.

Snapshots and the log look alike here, except for dates before Christ and infinite dates.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, INFINITE_US, numbers, primitive
from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.connectors.postgresql import defaults
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import Schema, array, optional, semantic
from simulator.formats.debezium.values import cells, temporal
from simulator.formats.debezium.values.cells import Converted, number_cell, text_cell, value_cell
from simulator.model import Column, ColumnType
from simulator.sources.postgresql import type_table
from simulator.sources.postgresql.literals.numbers import plain_decimal
from simulator.sources.postgresql.times import civil, day_number, interval_parts
from simulator.sources.source import Source
from simulator.text.columns import LAST_US, distinct_text, nulls_of
from simulator.text.java.numbers import double_string
from simulator.text.json_style import JACKSON_BYTES, escape, quote
from simulator.text.mysql import enum_label
from simulator.wire.fields import Cell

Typed = tuple[Schema, Cell]
# Microseconds of a month of 30.4375 days, and of a day.
MONTH_US: Final = 2_629_800_000_000
DAY_US: Final = 86_400_000_000
MOST: Final = 2**63 - 1
# The driver's values for infinite timestamps.
INFINITE: Final = {INFINITE_US: 9223372036825200000, -INFINITE_US: -9223372036832400000}
UNBOUNDED: Final = 2147483647
# Days of infinite dates in the log, by sign; a carrier's are at the ends of its range.
LOGGED_INFINITE_DATES: Final = {1: -2_147_472_692, -1: -2_147_472_691}
SNAPSHOT_INFINITE_DATES: Final = {1: -622_191_234, -1: -170_999_002}
INFINITE_DAYS: Final = 2**31 - 1
_PLAIN: Final = ("inet", "cidr", "macaddr", "macaddr8")
_NAMED: Final = {
    "json": connect.JSON,
    "jsonb": connect.JSON,
    "xml": connect.XML,
    "uuid": connect.UUID,
    "ltree": semantic(connect.STRING, "io.debezium.data.Ltree"),
    "tsvector": semantic(connect.STRING, "io.debezium.data.Tsvector"),
}
_RANGES: Final = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")
_NO_ARRAYS: Final = frozenset(("money", "interval", "bit varying", "xml", "point", "box"))
_WORDS: Final = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|NULL)')
_NUMBER: Final = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)|NaN", re.IGNORECASE)
_ITEM: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)')
# Replacements for required values that are missing.
ABSENT: Final = {
    "boolean": "false", "int16": "0", "int32": "0", "int64": "0", "float": "0.0", "double": "0.0", "string": '""',
    "bytes": '""', "array": "[]",
}  # fmt: skip
ABSENT_NAMED: Final = {
    connect.ZONED_TIME.name: '"00:00:00Z"',
    connect.ZONED_TIMESTAMP.name: '"1970-01-01T00:00:00Z"',
    connect.VARIABLE_SCALE.name: '{"scale":0,"value":"AA=="}',
    "org.apache.kafka.connect.data.Decimal": '"AA=="',
    connect.POINT.name: '{"x":0.0,"y":0.0,"wkb":null,"srid":null}',
}


class Converters:
    """Chooses the schema and the cell of each column."""

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool = False) -> None:
        self.options, self.source, self.numeric = options, source, numeric
        self.times = options.time_precision or "adaptive"

    def column(self, column: Column, *, snapshot: bool = False) -> Converted | None:
        """The converted column; None if the connector leaves out the type."""
        typed = self._date(snapshot) if column.type.name == "date" else self.typed(column.type)
        if typed is None:
            return None
        schema, cell = typed
        absent = ABSENT_NAMED.get(schema.name) or ABSENT.get(schema.type, "null")
        if column.type.name == "hstore":
            absent = '"{}"'
        default = defaults.json(column, Converted(schema, cell), self.source)
        return cells.finished(schema, cell, nullable=column.nullable, default=default, absent=absent)

    def typed(self, type: ColumnType) -> Typed | None:
        """The schema and cell of a type; None: rows lack its columns."""
        return self._known(type) or self._unknown(type)

    def _known(self, type: ColumnType) -> Typed | None:
        name, family = type.name, type_table.family(type)
        digits = 6 if type.length is None else type.length
        match family:
            case "boolean":
                return connect.BOOLEAN, cells.BOOLEAN
            case "integer":
                return _integer(type)
            case "decimal":
                return self._decimal(type)
            case "float":
                return (connect.FLOAT, cells.FLOAT) if name == "real" else (connect.DOUBLE, cells.DOUBLE)
            case "text":
                return connect.STRING, cells.STRING
            case "binary":
                mode = self.options.binary_handling
                return cells.binary_schema(mode), cells.binary_cell(mode)
            case "date":
                return self._date(snapshot=False)
            case "time":
                return temporal.time(self.times, digits)
            case "datetime":
                return self._timestamp(digits)
            case "timestamptz":
                return connect.ZONED_TIMESTAMP, _zoned(digits)
            case "interval":
                if self.options.interval_handling == "string":
                    return connect.INTERVAL, value_cell(_iso_interval)
                return connect.MICRO_DURATION, value_cell(_interval_us, quoted=False)
            case "bit":
                if name == "bit" and (type.length or 1) == 1:
                    return connect.BOOLEAN, value_cell(lambda text: str(text == "1").lower(), quoted=False)
                length = UNBOUNDED if type.length is None else type.length
                return connect.bits(length), value_cell(_bits)
            case "enum":
                return connect.labels("Enum", type.labels), text_cell(lambda a: enum_label(a, type), escaped=True)
            case "array":
                return self._array(type)
        if name == "hstore":
            return self._hstore()
        if name == "money":
            return self._money()
        if name == "time with time zone":
            return connect.ZONED_TIME, value_cell(_time_in_utc)
        if name == "point":
            return connect.POINT, value_cell(_point, quoted=False)
        if name in _NAMED:
            return _NAMED[name], cells.STRING
        if name in _PLAIN or name in _RANGES:
            return connect.STRING, cells.STRING
        return None

    def _unknown(self, type: ColumnType) -> Typed | None:
        """A type that the connector does not know: the bytes of its text, if they are asked for. Arrays that it leaves
        out it always leaves out."""
        if not self.options.unknown_types or type_table.family(type) == "array":
            return None
        mode = self.options.binary_handling
        shown = _java_geometry if type_table.family(type) == "geometry" else str
        return cells.binary_schema(mode), cells.binary_cell(
            mode, lambda array: distinct_text(array, shown).cast(pa.binary())
        )

    def _decimal(self, type: ColumnType) -> Typed:
        mode = self.options.decimal_handling
        if mode == "double":
            return connect.DOUBLE, text_cell(_double_of, quoted=False)
        if mode == "string":
            return connect.STRING, text_cell(_plain_text)
        if type.length is None:
            return connect.VARIABLE_SCALE, text_cell(_variable, quoted=False)
        schema = connect.decimal(type.length, type.scale or 0)
        if pa.types.is_string(self.source.arrow_type(type)):
            scale = type.scale or 0
            return schema, text_cell(lambda array: _fixed(array, scale))
        return schema, cells.decimal_cell(mode, numeric=self.numeric)

    def _money(self) -> Typed:
        def amount(text: str) -> Decimal:
            number = Decimal(re.sub(r"[^\d.]", "", text))
            return -number if "-" in text or "(" in text else number

        mode = self.options.decimal_handling
        if mode == "double":
            return connect.DOUBLE, value_cell(lambda text: double_string(float(amount(text))), quoted=False)
        if mode == "string":
            return connect.STRING, value_cell(lambda text: format(amount(text), "f"))
        scale = self.options.money_digits
        return connect.decimal(None, scale), value_cell(
            lambda text: cells.base64_of(cells.unscaled_bytes(amount(text), scale))
        )

    def _date(self, snapshot: bool) -> Typed:
        schema, cell = temporal.date(self.times)
        if schema.type == "string":
            return schema, cell
        return schema, number_cell(lambda array: _days(array, snapshot))

    def _timestamp(self, digits: int) -> Typed:
        schema, cell = temporal.timestamp(self.times, digits)
        if schema.type == "string":
            return schema, text_cell(lambda array: cell.text(_ordinary(array)))
        if schema == connect.NANO_TIMESTAMP:
            return schema, number_cell(lambda array: temporal.nanoseconds(_finite(array)))
        divisor = 1000 if schema in (connect.TIMESTAMP, connect.CONNECT_TIMESTAMP) else 1
        return schema, number_cell(lambda array: cells.scaled(_finite(array), divisor=divisor))

    def _hstore(self) -> Typed:
        if self.options.hstore_handling == "map":
            return Schema("map", values=optional(connect.STRING)), value_cell(_hstore, quoted=False)
        return connect.JSON, value_cell(_hstore, escaped=True)

    def _array(self, type: ColumnType) -> Typed | None:
        element = type_table.element(type)
        if element.name in _NO_ARRAYS or (typed := self._known(element)) is None:
            return None
        schema, cell = typed

        def text(literal: str) -> str:
            if literal.startswith("{{"):  # several dimensions: the reader sees one null per inner array
                return "[" + ",".join(["null"] * len(re.findall(r"(?<=[{,])\{", literal))) + "]"
            items = [
                re.sub(r"\\(.)", r"\1", quoted) if bare == "" else None if bare.upper() == "NULL" else bare
                for quoted, bare in _ITEM.findall(literal[literal.index("{") :])
            ]
            return "[" + ",".join(_json_values(self.source.parse_values(items, element), cell)) + "]"

        return array(optional(schema)), value_cell(text, quoted=False)


def _days(array: pa.Array, snapshot: bool) -> pa.Array:
    """Days since 1970. Infinite dates are those of the driver; a snapshot loses that a year is before Christ."""
    days = numbers(array.view(pa.int32()).cast(pa.int64())).copy()
    infinite = np.abs(days) >= INFINITE_DAYS
    odd = infinite | (days < FIRST_DAY) if snapshot else infinite
    if odd.any():
        known = SNAPSHOT_INFINITE_DATES if snapshot else (LOGGED_INFINITE_DATES)
        for row in np.flatnonzero(odd).tolist():
            sign = 1 if days[row] > 0 else -1
            days[row] = known[sign] if infinite[row] else _without_era(int(days[row]))
    return primitive(days, pa.int64(), nulls_of(array))


def _without_era(days: int) -> int:
    """The day of the year after Christ whose number a year before Christ has.

    >>> _without_era(-719_528)
    -719162
    """
    year, month, day = civil(days)
    return day_number(1 - year, month, 1) + day - 1


def _json_values(values: pa.Array, cell: Cell) -> list[str]:
    texts = cell.text(values)
    texts = escape(texts, JACKSON_BYTES) if cell.escaped else texts
    mark = '"' if cell.quoted else ""
    return ["null" if text is None else f"{mark}{text}{mark}" for text in texts.to_pylist()]


def _integer(type: ColumnType) -> Typed:
    row = type_table.EVERY_TYPE[type.name]
    return Schema("int64" if row.unsigned and row.bits >= 32 else f"int{max(row.bits, 16)}"), cells.WHOLE


# ------------------------------------------------------------------------------------------------------------- numbers


def _real(array: pa.Array) -> list[Decimal | None]:
    values = [None if value is None else Decimal(value) for value in array.to_pylist()]
    return [value if value is not None and value.is_finite() else None for value in values]


def _variable(array: pa.Array) -> pa.Array:
    """Numbers of any scale, without trailing zeros; NaN and infinity are null."""

    texts = [None if value is None else cells.variable_scale(value) for value in _real(array)]
    return pa.array(texts, pa.string())


def _fixed(array: pa.Array, scale: int) -> pa.Array:
    """Numbers carried as text, at a scale; NaN and infinity are null."""
    values = (None if v is None else cells.base64_of(cells.unscaled_bytes(v, scale)) for v in _real(array))
    return pa.array(list(values), pa.string())


def _plain_text(array: pa.Array) -> pa.Array:
    """Plain digits with the scale kept; `NAN` if it is no number."""
    if not pa.types.is_string(array.type):
        return cells.decimal_cell("string").text(array)
    words = {"NaN": "NAN", "Infinity": "POSITIVE_INFINITY", "-Infinity": "NEGATIVE_INFINITY"}
    return distinct_text(array, lambda text: words.get(text) or plain_decimal(Decimal(text)))


def _double_of(array: pa.Array) -> pa.Array:
    values = [None if value is None else float(value) for value in array.to_pylist()]
    return cells.double_text(pa.array(values, pa.float64()))


def _bits(text: str) -> str:
    """Bits as bytes, the lowest first, without trailing zeros."""
    value = int(text or "0", 2)
    return cells.base64_of(value.to_bytes((value.bit_length() + 7) // 8, "little"))


# ----------------------------------------------------------------------------------------------------- dates and times


def _finite(array: pa.Array) -> pa.Array:
    """Microseconds since 1970; infinity as the driver's value."""
    us = numbers(array)
    infinite = np.abs(us) == INFINITE_US
    if infinite.any():
        us = np.where(us == INFINITE_US, INFINITE[INFINITE_US], np.where(infinite, INFINITE[-INFINITE_US], us))
    return primitive(np.ascontiguousarray(us), pa.int64(), nulls_of(array))


def _ordinary(array: pa.Array) -> pa.Array:
    """Replaces infinity and years outside 1 to 9999 with 1970; other texts are written for them."""
    us = numbers(array)
    far = (us > LAST_US) | (us < FIRST_DAY * DAY_US)
    return primitive(np.where(far, 0, us), array.type, nulls_of(array)) if far.any() else array


def far_text(us: int, digits: int) -> str:
    """Text of a timestamp that is outside the years 1 to 9999, or infinite.

    >>> far_text(-62198755200000000, 6), far_text(253402300800000000, 0)
    ('-0001-01-01T00:00:00.000000Z', '+10000-01-01T00:00:00Z')
    """
    if abs(us) == INFINITE_US:
        return "infinity" if us > 0 else "-infinity"
    day, clock = divmod(us, DAY_US)
    year, month, of_month = civil(day)
    seconds, fraction = divmod(clock, 1_000_000)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    point = f".{fraction:06}"[: digits + 1] if digits else ""
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}"
    return f"{sign}{abs(year):04}-{month:02}-{of_month:02}T{time}Z"


def _zoned(digits: int) -> Cell:
    cell = temporal.zoned(digits)

    def text(array: pa.Array) -> pa.Array:
        us = numbers(array)
        texts = cell.text(_ordinary(array))
        rows = (us > LAST_US) | (us < FIRST_DAY * DAY_US)
        if not rows.any():
            return texts
        far = pa.array([far_text(int(value), digits) for value in us[rows]], pa.string())
        texts = pc.replace_with_mask(texts, pa.array(rows), far)
        return pc.if_else(array.is_valid(), texts, pa.scalar(None, pa.string()))

    return text_cell(text)


def _time_in_utc(text: str) -> str:
    """`12:34:56.5+02` is `10:34:56.5Z`."""
    match = re.fullmatch(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?", text)
    assert match, text
    hours, minutes, seconds = map(int, match.groups()[:3])
    ahead = int(match[6]) * 3600 + int(match[7] or 0) * 60 + int(match[8] or 0)
    clock = (hours * 3600 + minutes * 60 + seconds - (ahead if match[5] == "+" else -ahead)) % 86400
    fraction = (match[4] or "").rstrip("0")
    point = f".{fraction}" if fraction else ""
    return f"{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}{point}Z"


def _interval_us(text: str) -> str:
    months, days, us = interval_parts(text)
    return str(max(-MOST - 1, min(MOST, months * MONTH_US + days * DAY_US + us)))


def _iso_interval(text: str) -> str:
    """`P1Y2M3DT4H5M6.789S`, always with all parts."""
    months, days, us = interval_parts(text)
    sign = -1 if us < 0 else 1
    seconds, fraction = divmod(abs(us), 1_000_000)
    years, rest = (abs(months) // 12, abs(months) % 12)
    if months < 0:
        years, rest = -years, -rest
    hours, minutes, whole = (sign * part for part in (seconds // 3600, seconds // 60 % 60, seconds % 60))
    point = f".{fraction:06}".rstrip("0") if fraction else ""
    minus = "-" if sign < 0 and not whole and fraction else ""
    return f"P{years}Y{rest}M{days}DT{hours}H{minutes}M{minus}{whole}{point}S"


# --------------------------------------------------------------------------------------------------------------- other


def _point(text: str) -> str:
    x, y = map(float, text.strip("()").split(","))
    wkb = cells.base64_of(struct.pack("<BIdd", 1, 1, x, y))
    return f'{{"x":{_double(x)},"y":{_double(y)},"wkb":"{wkb}","srid":null}}'


def _java_geometry(text: str) -> str:
    """A geometric value with its numbers as Java's doubles, as the driver prints it.

    >>> _java_geometry("<(1,-2e+20),0.5>"), _java_geometry("{1,Infinity,3}")
    ('<(1.0,-2.0E20),0.5>', '{1.0,Infinity,3.0}')
    """
    return _NUMBER.sub(lambda match: double_string(float(match[0])), text)


def _double(value: float) -> str:
    text = double_string(value)
    return text if text[-1].isdigit() else f'"{text}"'


def _hstore(text: str) -> str:
    """`"a"=>"1", "b"=>NULL` as a JSON object."""
    unescaped: Callable[[str], str] = lambda word: re.sub(r"\\(.)", r"\1", word)  # noqa: E731
    members = {
        unescaped(match[1]): None if match[2] is None else unescaped(match[2]) for match in _WORDS.finditer(text)
    }
    return (
        "{"
        + ",".join(
            f"{quote(key, JACKSON_BYTES)}:{json.dumps(None) if value is None else quote(value, JACKSON_BYTES)}"
            for key, value in members.items()
        )
        + "}"
    )
