"""Oracle's values: a NUMBER without trailing zeros, since the redo log has no scale (a decision)."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from simulator.formats.cloudcanal.values.families import TEXT, Values
from simulator.model import ColumnType
from simulator.sources.oracle.values import number_text
from simulator.text import mysql as binlog_text


def number(array: pa.Array, type: ColumnType) -> pa.Array:
    return binlog_text.integer(array, type) if pa.types.is_int64(array.type) else number_text(array)


VALUES: Final = Values({**TEXT, "decimal": number, "other": binlog_text.text})
