"""SQL Server's values: times with all stored digits, GUIDs in capitals; all of this is decided here."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.formats.cloudcanal.values.families import TEXT, Values, as_logged, carrier
from simulator.model import ColumnType
from simulator.sources.sqlserver.clr import node
from simulator.sources.sqlserver.shapes import well_known
from simulator.sources.sqlserver.type_table import digits
from simulator.text import mysql as binlog_text
from simulator.text.columns import distinct_text


def timestamp(array: pa.Array, type: ColumnType, zone: str | None) -> pa.Array:
    return as_logged(array, replace(type, length=digits(type)), zone)


def time(array: pa.Array, type: ColumnType) -> pa.Array:
    if pa.types.is_string(carrier(array)):
        return array
    return binlog_text.time_fixed(array, replace(type, length=digits(type)))


def uuid(array: pa.Array, type: ColumnType) -> pa.Array:
    return pc.utf8_upper(decoded(array))


def other(array: pa.Array, type: ColumnType) -> pa.Array:
    """A hierarchyid as its path, a sql_variant as its value's text."""
    return distinct_text(array, node) if type.name == "hierarchyid" else binlog_text.text(array, type)


VALUES: Final = Values(
    {**TEXT, "bit": binlog_text.integer, "time": time, "uuid": uuid, "other": other},
    timestamp=timestamp,
    geometry=lambda stored, type: well_known(stored, type.name),
    finite=True,
    digits=digits,
)
