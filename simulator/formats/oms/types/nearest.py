"""Types of systems that OMS does not read, written only where that is asked for: each in the nearest of its classes.

None of this is the vendor's. Names of types are the systems' own, in capitals with `_` for blanks; codes are those of
java.sql.Types.

| types | class |
| --- | --- |
| whole numbers, booleans, SQL Server's bit | Long |
| numeric, money | BigDecimal |
| real; double precision, float | Double |
| bytea, varbinary, image, rowversion; PostgreSQL's bit strings, in as few bytes as their number takes | Bytes |
| dates, times of day, timestamps without zone | Date, Time, DateTime |
| timestamptz, datetimeoffset, BSON dates | ZonedDateTime |
| everything else: text, uuid, JSON, documents, ObjectIds, arrays, ranges, addresses, intervals | String |

Times beyond the years 1 to 9999 are the system's own text, as invalid ones are: `infinity`; of BSON, milliseconds since
1970.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers, primitive
from simulator.formats.oms.types.classes import Class, Text, ValueStyle
from simulator.formats.oms.types.columns import OmsType, Types, types_of
from simulator.model import ColumnType
from simulator.sources.postgresql.values import show_value
from simulator.sources.source import Source
from simulator.text import postgresql as postgresql_text
from simulator.text.base64 import base64
from simulator.text.columns import nulls_of
from simulator.text.java.decimal import number_text
from simulator.text.template import Piece, join
from simulator.text.timestamps import chosen

# 9999-12-31
_LAST_DAY: Final = 2_932_896

# A system's own text of values.
OwnText = Callable[[pa.Array, ColumnType], pa.Array]


def nearest(source: Source) -> Types:
    """The rows `others` of the table by family, then by carrier."""

    def of(type: ColumnType) -> OmsType | None:
        family = source.family(type)
        row = types_of("others").get(family) or types_of("others").get(str(source.arrow_type(type)))
        return None if row is None else replace(row, name=type.name.upper().replace(" ", "_"))

    return of


def postgresql(source: Source) -> Types:
    """Bits and money have classes of their own; dates beyond the calendar are as the server prints them."""
    others = nearest(source)

    def server_text(array: pa.Array, type: ColumnType) -> pa.Array:
        return postgresql_text.column_text(array, type, source.family(type), show_value)

    own = {
        "money": (Class(money, quoted=False), 3),
        "bit": (Class(bit_string), -7),
        "enum": (Class(lambda array, type, style: server_text(array, type), escaped=True), 12),
    }

    def of(type: ColumnType) -> OmsType | None:
        row = others(type)
        if row is None:
            return None
        values, code = own.get("money" if type.name == "money" else source.family(type), (row.values, row.code))
        return replace(row, values=replace(values, text=in_calendar(values.text, server_text)), code=code)

    return of


def mongodb(source: Source) -> Types:
    others = nearest(source)

    def millis(array: pa.Array, type: ColumnType) -> pa.Array:
        return pc.divide(array.view(pa.int64()), 1000).cast(pa.string())

    def of(type: ColumnType) -> OmsType | None:
        row = others(type)
        if row is None or source.family(type) != "timestamptz":
            return row
        return replace(row, values=replace(row.values, text=in_calendar(row.values.text, millis)))

    return of


def money(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    """`-$1,234.50` is -1234.50."""
    return number_text(pc.replace_substring_regex(array, "[$,]", ""), plain=style.plain)


def bit_string(array: pa.Array, type: ColumnType, style: ValueStyle) -> pa.Array:
    """`101` is the byte 5; in full width in a full synchronization."""

    def bytes_of(bits: str) -> bytes:
        number = int(bits or "0", 2)
        return number.to_bytes((len(bits) if style.full else number.bit_length()) + 7 >> 3 or 1, "big")

    coded = array.dictionary_encode()
    values = [None if bits is None else bytes_of(bits) for bits in coded.dictionary.to_pylist()]
    return base64(pa.array(values, pa.binary())).take(coded.indices)


def in_calendar(text: Text, own: OwnText) -> Text:
    """The class's text for what is in the calendar, the system's own for the rest."""

    def written(array: pa.Array, type: ColumnType, style: ValueStyle) -> Piece:
        if not pa.types.is_date32(array.type) and not pa.types.is_timestamp(array.type):
            return text(array, type, style)
        unit = 1 if pa.types.is_date32(array.type) else US_PER_DAY
        raw = numbers(array)
        # a day from either end, so that no zone leads out of it
        rare = (raw < (FIRST_DAY + 1) * unit) | (raw >= _LAST_DAY * unit)
        if not rare.any():
            return text(array, type, style)
        clamped = primitive(raw * ~rare, array.type, nulls_of(array))
        return chosen(rare, own(array, type), join([text(clamped, type, style)], len(array)))

    return written
