"""The connector for Oracle, reading LogMiner (`OracleConnector`, `OracleValueConverters`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa

from simulator.formats.debezium import schema as connect
from simulator.formats.debezium.connectors.relational import KnownTypesConnector
from simulator.formats.debezium.images import placeholder
from simulator.formats.debezium.options import ConnectorOptions
from simulator.formats.debezium.schema import INT32, INT64, STRING, Schema, optional
from simulator.formats.debezium.values import cells, precise, temporal
from simulator.formats.debezium.values.cells import value_cell
from simulator.formats.members import TABLE, by_row, per_entry, whole_seconds
from simulator.model import DDL, READ, ROW_KINDS, Column, ColumnType
from simulator.sources.log import Entries, text
from simulator.sources.oracle.log import OracleLog
from simulator.sources.oracle.type_table import TYPES
from simulator.sources.source import Source
from simulator.text.java.numbers import double_string
from simulator.text.json_style import quote
from simulator.text.template import repeat
from simulator.wire.fields import Cell, Field, PerEvent, PerTable

Typed = tuple[Schema, Cell]
MONTH_US, DAY_US = 2_629_800_000_000, 86_400_000_000
LEFT_OUT = frozenset(("long", "long raw", "bfile", "urowid", "json"))


class OracleConnector(KnownTypesConnector):
    name: ClassVar[str] = "oracle"
    parts: ClassVar[str] = "{schema}.{table}"
    truncates: ClassVar[bool] = True

    def __init__(self, options: ConnectorOptions, source: Source, *, numeric: bool) -> None:
        super().__init__(options, source, numeric=numeric)
        self.numeric, self.times = numeric, options.time_precision or "adaptive"
        assert isinstance(source.log, OracleLog)
        self.log = source.log

    @property
    def source_schemas(self) -> Sequence[tuple[str, Schema]]:
        own = {
            "schema": STRING,
            "table": STRING,
            "txId": optional(STRING),
            "scn": optional(STRING),
            "commit_scn": optional(STRING),
            "lcr_position": optional(STRING),
            "rs_id": optional(STRING),
            "ssn": optional(INT64),
            "redo_thread": optional(INT32),
            "user_name": optional(STRING),
            "redo_sql": optional(STRING),
            "row_id": optional(STRING),
        }
        if self.options.version == "3.6":
            own |= {
                "commit_ts_ms": optional(INT64),
                "start_scn": optional(STRING),
                "start_ts_ms": optional(INT64),
                "txSeq": optional(INT64),
            }
        return tuple(own.items())

    def source_ms(self, event_ms: Any) -> Any:
        """Time at the source in whole seconds, like Oracle's DATE."""
        return whole_seconds(event_ms)

    def source_fields(self) -> Sequence[Field]:
        def logged(value: Any, ddl: Any = None) -> dict[Any, Any]:
            return {**dict.fromkeys(ROW_KINDS, value), READ: None, DDL: ddl}

        schema = PerTable(lambda table, style: quote(table.id.schema, style))
        scn = per_entry(self.log.position)
        own = [
            Field("schema", by_row(schema, PerEvent(lambda event: (event.after or event.before).id.schema))),
            Field("table", by_row(TABLE, PerEvent(lambda event: event.table_names))),
            Field("txId", logged(per_entry(self.log.xid))),
            Field("scn", by_row(scn, scn)),
            Field("commit_scn", logged(per_entry(lambda entries: text(self.log.commit_number(entries))))),
            Field("lcr_position", None),
            Field("rs_id", None),
            Field("ssn", 0),
            Field("redo_thread", logged(1)),
            Field("user_name", None),
            Field("redo_sql", None),
            Field("row_id", None),
        ]
        if self.options.version == "3.6":
            own += [
                Field("commit_ts_ms", None),
                Field("start_scn", logged(per_entry(lambda entries: text(self.log.number(entries.begin))))),
                Field("start_ts_ms", None),
                Field("txSeq", logged(per_entry(lambda entries: entries.seq))),
            ]
        return own

    def transaction_id(self, entries: Entries) -> pa.Array:
        return self.log.xid(entries)

    def described_type(self, column: Column) -> tuple[int, str, int | None, int | None]:
        type = column.type
        jdbc = 2 if type.name in ("number", "float") else TYPES[type.name].jdbc
        return jdbc, type.name.upper(), type.length, type.scale

    def typed(self, type: ColumnType) -> Typed | None:
        name, digits = type.name, 6 if type.length is None else type.length
        if name in LEFT_OUT:
            return None
        if name in ("clob", "nclob", "xmltype", "blob"):
            return self._large(name)
        match name:
            case "number" | "float":
                return self._number(type)
            case "binary_float":
                return connect.FLOAT, cells.FLOAT
            case "binary_double":
                return connect.DOUBLE, cells.DOUBLE
            case "date":
                return temporal.timestamp(self.times, 0)
            case "timestamp":
                return precise.timestamp(self.times) if digits > 6 else temporal.timestamp(self.times, digits)
            case "timestamp with time zone":
                return connect.ZONED_TIMESTAMP, precise.ZONED()
            case "timestamp with local time zone":
                if digits > 6:
                    return connect.ZONED_TIMESTAMP, value_cell(lambda t: precise.with_offset(t + " +00:00"))
                return connect.ZONED_TIMESTAMP, temporal.zoned(6)
            case "interval year to month" | "interval day to second":
                if self.options.interval_handling == "string":
                    return connect.INTERVAL, value_cell(iso_interval)
                return connect.MICRO_DURATION, value_cell(interval_us, quoted=False)
            case "raw":
                mode = self.options.binary_handling
                return cells.binary_schema(mode), cells.binary_cell(mode)
        return connect.STRING, cells.STRING

    def _large(self, name: str) -> Typed:
        """Large objects; a placeholder replaces them unless `lob.enabled` is set."""
        if name == "blob":
            mode = self.options.binary_handling
            schema, cell = cells.binary_schema(mode), cells.binary_cell(mode)
        else:
            schema, cell = connect.XML if name == "xmltype" else connect.STRING, cells.STRING
        if not self.options.lob:
            instead = placeholder(schema, self.placeholder)
            cell = Cell(lambda array: repeat(instead, len(array)), quoted=False)
        return schema, cell

    def _number(self, type: ColumnType) -> Typed:
        mode, scale = self.options.decimal_handling, type.scale or 0
        stay_whole = mode == "precise" or scale or self.options.legacy_decimals or self.options.version == "2.5"
        if stay_whole and type.name == "number" and type.length and scale <= 0 and type.length - scale < 19:
            digits = type.length - scale
            bits = 8 if digits < 3 else 16 if digits < 5 else 32 if digits < 10 else 64
            return Schema(f"int{bits}"), value_cell(lambda value: str(int(Decimal(value))), quoted=False)
        if mode == "double":
            return connect.DOUBLE, value_cell(lambda value: double_string(float(value)), quoted=False)
        if mode == "string":
            return connect.STRING, value_cell(lambda value: format(Decimal(value), "f"))
        if type.name == "float" or type.length is None:
            return connect.VARIABLE_SCALE, value_cell(lambda value: cells.variable_scale(Decimal(value)), quoted=False)
        schema = connect.decimal(type.length, scale)
        return schema, value_cell(lambda value: cells.base64_of(cells.unscaled_bytes(Decimal(value), scale)))


def parts(text: str) -> tuple[int, int, int]:
    """Months, days and microseconds of an interval: `+04-03`, `-1 02:03:04.5`."""
    sign = -1 if text.startswith("-") else 1
    if match := re.fullmatch(r"[+-]?(\d+)-(\d+)", text):
        return sign * (int(match[1]) * 12 + int(match[2])), 0, 0
    match = re.fullmatch(r"[+-]?(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?", text)
    assert match, text
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
    return 0, sign * int(match[1]), sign * (seconds * 1_000_000 + int((match[5] or "0").ljust(6, "0")[:6]))


def interval_us(text: str) -> str:
    """Microseconds; Java's cast of a larger number gives the greatest of 64 bits."""
    months, days, us = parts(text)
    return str(max(-(2**63), min(2**63 - 1, months * MONTH_US + days * DAY_US + us)))


def iso_interval(text: str) -> str:
    """`P1Y2M3DT4H5M6.5S`, always with all parts."""
    months, days, us = parts(text)
    sign = -1 if min(months, days, us) < 0 else 1
    seconds, fraction = divmod(abs(us), 1_000_000)
    numbers = [abs(months) // 12, abs(months) % 12, abs(days), seconds // 3600, seconds // 60 % 60, seconds % 60]
    years, rest, day, hour, minute, second = (sign * number for number in numbers)
    point = f".{fraction:06}".rstrip("0") if fraction else ""
    minus = "-" if sign < 0 and not second and fraction else ""
    return f"P{years}Y{rest}M{day}DT{hour}H{minute}M{minus}{second}{point}S"
