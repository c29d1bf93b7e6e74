"""MySQL's values: as in Canal's messages, except decimals, fractions of seconds and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from simulator.formats.canal import cells as canal
from simulator.formats.dts.options import TextOptions
from simulator.formats.format import Settings
from simulator.model import Column
from simulator.sources import mysql
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell

TEXT: Final[Mapping[str, Any]] = {
    **canal.TEXT,
    "decimal": decimal_text.decimal_plain,
    "datetime": binlog_text.datetime_trimmed,
    "time": binlog_text.time_trimmed,
    "enum": binlog_text.enum_label,
    "set": binlog_text.set_labels,
}
ESCAPED: Final = canal.ESCAPED | {"enum", "set"}


def cell(column: Column, settings: Settings[TextOptions]) -> Cell:
    """A column's values: always strings."""
    options, type, family = settings.options, column.type, mysql.family(column.type)
    padded = options.frac == "pad"
    if type.name == "timestamp":
        datetime = binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed
        return Cell(lambda array: datetime(array, type, zone=options.timestamp_zone))
    if padded and family in ("datetime", "time"):
        return Cell(lambda array: canal.TEXT[family](array, type))
    if options.binary == "hex" and family in ("binary", "geometry"):
        return Cell(lambda array: binlog_text.hex_bytes(array, type))
    render = TEXT[family]
    parts = (lambda array: decimal_text.decimal_parts(array, grouped=False)) if family == "decimal" else None
    return Cell(lambda array: render(array, type), escaped=family in ESCAPED, parts=parts)
