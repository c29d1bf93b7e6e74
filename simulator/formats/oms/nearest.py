"""Systems that OMS does not read, written only where that is asked for: each type in the nearest of its classes.

None of this is the vendor's. Names of types are the systems' own, in capitals with `_` for blanks.

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

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import FIRST_DAY, US_PER_DAY, numbers, primitive
from simulator.formats.oms.values import (
    Shown,
    Text,
    Types,
    Writing,
    big_decimal,
    boolean,
    bytes_,
    date,
    datetime,
    double,
    interval,
    long,
    moment,
    string,
    time,
    zoned,
)
from simulator.model import ColumnType
from simulator.sources import Source
from simulator.text import postgresql as postgresql_text
from simulator.text.base64 import base64
from simulator.text.fixed_width import nulls_of
from simulator.text.java.decimal import number_text
from simulator.text.timestamps import chosen

# 9999-12-31
_LAST_DAY: Final = 2_932_896


def _number(text: Text, code: int, **more: Any) -> Shown:
    return Shown(text, "", code, quoted=False, **more)


_TEXT: Final = Shown(string, "", 12, escaped=True)

# By family of types; the codes are those of java.sql.Types.
FAMILIES: Final[Mapping[str, Shown]] = {
    "integer": _number(long, -5),
    "boolean": _number(boolean, -6),
    "year": _number(long, 4),
    "decimal": _number(big_decimal, 3),
    "float": _number(double, 8, lossy=True),
    **dict.fromkeys(("json", "xml"), replace(_TEXT, lob=True)),
    "date": Shown(date, "", 91),
    "time": Shown(time, "", 92),
    "datetime": Shown(datetime, "", 93),
    "timestamptz": Shown(moment, "", 2014),
    "zoned": Shown(zoned, "", 2014),
    "interval": Shown(interval, "", 12),
}


def by_carrier(carrier: pa.DataType) -> Shown | None:
    """The class of a type of no family that has one of its own, by how its values travel."""
    if pa.types.is_string(carrier):
        return _TEXT
    if pa.types.is_binary(carrier):
        return Shown(bytes_, "", 2004)
    return _number(long, -5) if pa.types.is_integer(carrier) else None


def money(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """`-$1,234.50` is -1234.50."""
    return number_text(pc.replace_substring_regex(array, "[$,]", ""), plain=how.plain)


def bit_string(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
    """`101` is the byte 5; in full width in a full synchronization."""

    def bytes_of(bits: str) -> bytes:
        number = int(bits or "0", 2)
        return number.to_bytes((len(bits) if how.full else number.bit_length()) + 7 >> 3 or 1, "big")

    coded = array.dictionary_encode()
    made = [None if bits is None else bytes_of(bits) for bits in coded.dictionary.to_pylist()]
    return base64(pa.array(made, pa.binary())).take(coded.indices)


def in_calendar(text: Text, own: Callable[[pa.Array, ColumnType], pa.Array]) -> Text:
    """The class's text for what is in the calendar, the system's own for the rest."""

    def written(array: pa.Array, type: ColumnType, how: Writing) -> pa.Array:
        if not pa.types.is_date32(array.type) and not pa.types.is_timestamp(array.type):
            return text(array, type, how)
        unit = 1 if pa.types.is_date32(array.type) else US_PER_DAY
        raw = numbers(array)
        # a day from either end, so that no zone leads out of it
        rare = (raw < (FIRST_DAY + 1) * unit) | (raw >= _LAST_DAY * unit)
        if not rare.any():
            return text(array, type, how)
        tame = primitive(raw * ~rare, array.type, nulls_of(array))
        return chosen(rare, own(array, type), text(tame, type, how))

    return written


def nearest(source: Source) -> Types:
    """How the columns of a source are shown."""
    types = source.types
    show = getattr(types, "show_value", None)  # of systems that are like PostgreSQL

    def own(array: pa.Array, type: ColumnType) -> pa.Array:
        if show is None:
            return pc.divide(array.view(pa.int64()), 1000).cast(pa.string())
        return postgresql_text.column_text(array, type, types.family(type), show)

    def shown(type: ColumnType) -> Shown | None:
        carrier, family = types.arrow_type(type), types.family(type)
        found = FAMILIES.get(family) or by_carrier(carrier)
        if show is not None:
            if type.name == "money":
                found = _number(money, 3)
            elif family == "bit":
                found = Shown(bit_string, "", -7)
            elif family == "enum":
                found = replace(_TEXT, text=lambda array, type, how: own(array, type))
        if found is not None and (show is not None or family == "timestamptz"):
            found = replace(found, text=in_calendar(found.text, own))
        return None if found is None else replace(found, name=type.name.upper().replace(" ", "_"))

    return shown
