"""Texts of values by family of types, as most type libraries have them; and the settings of a library.

Pages: release notes: binaries are hexadecimal "to unify" (5.2.1.0), BIT with more than one bit too (4.6.0.0), the full
load prints times with three digits of a fraction (4.7.1.0). Decisions: upper-case digits, numbers as Java prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.model import ColumnType
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.columns import distinct_text

Text: TypeAlias = Callable[[pa.Array, ColumnType], pa.Array]


class ZonedText(Protocol):
    """Timestamps as text: as they are stored, or in a zone."""

    def __call__(self, array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array: ...


TEXT: Final[Mapping[str, Text]] = {
    "integer": binlog_text.integer,
    "decimal": decimal_text.decimal_plain,
    "bit": binlog_text.bit_hex,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "binary": binlog_text.hex_bytes,
    "enum": binlog_text.enum_label,
    "set": binlog_text.set_labels,
    **dict.fromkeys(
        ("text", "json", "xml", "interval", "zoned", "array", "range", "document", "uuid"), binlog_text.text
    ),
}
# Families whose texts have no character that JSON escapes.
SAFE: Final = frozenset({"integer", "bit", "time", "year", "binary", "boolean", "objectid"})


def carrier(array: pa.Array) -> pa.DataType:
    return array.type.value_type if pa.types.is_dictionary(array.type) else array.type


def as_logged(array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array:
    """A timestamp with the column's fraction digits; with more than six digits only whole seconds are converted."""
    if not pa.types.is_string(carrier(array)):
        return binlog_text.datetime_fixed(array, type, zone=zone)
    return array if zone is None else distinct_text(array, lambda text: _moved(text, zone))


def _moved(text: str, zone: str) -> str:
    whole, _, fraction = text.partition(".")
    seconds = pa.array([whole]).cast(pa.timestamp("us"))
    return f"{binlog_text.datetime_fixed(seconds, ColumnType('datetime'), zone=zone)[0]}.{fraction}"


def with_millis(array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array:
    """A timestamp with three fraction digits."""
    texts = as_logged(array, replace(type, length=3), zone)
    return pc.utf8_slice_codeunits(decoded(texts), 0, 23) if pa.types.is_string(carrier(array)) else texts


@dataclass(frozen=True)
class Values:
    """Texts of the values of a type library.

    `texts`: by family of types. `timestamp`: in changes; `scanned`: in the full load; types of the family timestamptz
    and those in `local` are shown in `srcTimeZone`. `geometry`: reads (SRID, well-known text) from a stored geometry.
    `digits`: fraction digits of a timestamp. `finite`: floats are never NaN or infinite, so they may be JSON numbers.
    """

    texts: Mapping[str, Text]
    date: Text = binlog_text.date
    timestamp: ZonedText = as_logged
    scanned: ZonedText = with_millis
    local: frozenset[str] = frozenset()
    geometry: Callable[[bytes, ColumnType], tuple[int, str]] | None = None
    finite: bool = False
    digits: Callable[[ColumnType], int] = lambda type: type.length or 0
