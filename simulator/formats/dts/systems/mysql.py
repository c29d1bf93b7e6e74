"""MySQL, MariaDB and OceanBase in MySQL mode. Values have the text of Canal's messages, except decimals, fractions of
seconds and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from simulator.formats.canal import cells as canal
from simulator.formats.dts.options import TextOptions
from simulator.formats.dts.record.values import Values, characters, values_of
from simulator.formats.dts.systems.system import System
from simulator.formats.dts.types import DtsType, types_of
from simulator.formats.format import Settings
from simulator.model import Column, ColumnType
from simulator.sources.mysql import type_table as mysql_table
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.wire.fields import Cell, rendered

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
    options, type, family = settings.options, column.type, mysql_table.family(column.type)
    padded = options.frac == "pad"
    if type.name == "timestamp":
        datetime = binlog_text.datetime_fixed if padded else binlog_text.datetime_trimmed
        return rendered(datetime, type, zone=options.timestamp_zone)
    if padded and family in ("datetime", "time"):
        return rendered(canal.TEXT[family], type)
    if options.binary == "hex" and family in ("binary", "geometry"):
        return rendered(binlog_text.hex_bytes, type)
    return rendered(TEXT[family], type, escaped=family in ESCAPED)


def values(dts: DtsType, type: ColumnType, fraction: int) -> Values:
    """Texts are in the column's character set, whose name readers know."""
    if dts.record == "Character":
        charset = type.charset or mysql_table.DEFAULT_CHARSET
        return lambda array: characters(array, charset)
    return values_of(dts, type, fraction)


def charset(name: str, version: str) -> str:
    """MySQL calls utf8 `utf8mb3` from 8.0.28 on (printed messages of 8.0.28 and 8.0.34), MariaDB from 10.6 on.

    >>> charset("utf8", "8.0.28"), charset("utf8mb3", "5.7.26-log"), charset("utf8", "10.11.19-MariaDB-log")
    ('utf8mb3', 'utf8', 'utf8mb3')
    """
    if name not in ("utf8", "utf8mb3"):
        return name
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    return "utf8mb3" if numbers >= ((10, 6) if "MariaDB" in version else (8, 0, 28)) else "utf8"


MYSQL: Final = System(
    source_types=("MySQL", "DRDS"),
    versions={"8.0": "8.0.28", "5.7": "5.7.26-log"},
    types=cache(lambda: types_of("mysql")),
    values=values,
    fraction=1,
    cell=cell,
    names=lambda id: (id.database, id.name),
    mysql=True,
    gtids=True,
    hidden_key=True,
    drds=True,
    charset=charset,
)
OCEANBASE: Final = replace(
    MYSQL,
    source_types=("MySQL",),
    versions={"4.3": "5.7.25-OceanBase-v4.3"},
    gtids=False,
    hidden_key=False,
    drds=False,
)
# A JSON column is a LONGTEXT that the server checks.
MARIADB: Final = replace(
    OCEANBASE,
    versions={"10.11": "10.11.19-MariaDB-log"},
    types=cache(lambda: {**MYSQL.types(), "json": MYSQL.types()["longtext"]}),
    logged_as={"json": ColumnType("longtext")},
)
