"""Column values in CloudCanal's JSON formats: strings for every type.

Pages: "Message Format" (its examples hold strings only) and release notes: zero dates may be replaced
(`defaultZeroDate`), TIMESTAMP is shown in the source's zone (`srcTimeZone`), LogMiner shows no BLOB (`oraLmLobEnable`,
5.5.0.0). Decided here: all other values are written in the source's own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator import registry
from simulator.errors import UnsupportedType
from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.systems import system_of
from simulator.formats.cloudcanal.values.families import SAFE, Values, as_logged, carrier
from simulator.formats.format import Settings
from simulator.formats.known import Known, nothing, without_srid
from simulator.model import READ, Column, ColumnType, Table
from simulator.text import mysql as binlog_text
from simulator.text.columns import distinct_text
from simulator.text.json_style import FASTJSON2
from simulator.text.pieces import PIECES
from simulator.text.template import Piece
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, rendered

# Fraction digits that the full load prints.
MILLISECONDS: Final = 3

# Modules by the library names in `types.csv`; imported when a run needs them.
_HERE: Final = "simulator.formats.cloudcanal.values"
LIBRARIES: Final[Mapping[str, str]] = {
    "mongodb": f"{_HERE}.mongodb:VALUES",
    "mysql": f"{_HERE}.mysql:VALUES",
    "oracle": f"{_HERE}.oracle:VALUES",
    "postgresql": f"{_HERE}.postgresql:VALUES",
    "sqlserver": f"{_HERE}.sqlserver:VALUES",
}


def cell(column: Column, settings: Settings[CommonOptions], *, scanned: bool = False) -> Cell:
    """Writer of a column's values; `scanned`: of the full load. Raises UnsupportedType."""
    options, type, system = settings.options, column.type, system_of(settings)
    family = settings.source.family(type)
    values: Values = registry.load("type library", LIBRARIES, system.library.types)
    if family in ("datetime", "timestamptz"):
        timestamp = values.scanned if scanned and options.full_datetime == "millis" else values.timestamp
        zone = options.timestamp_zone if family == "timestamptz" or type.name in values.local else None
        text = zero_dates(lambda array: timestamp(array, type, zone), options.zero_date)
        return Cell(text, piece=calendar_piece(timestamp, text, type, zone=zone))
    if family == "date":
        text = zero_dates(lambda array: values.date(array, type), options.zero_date[:10])
        return Cell(text, piece=calendar_piece(values.date, text, type))
    if family == "float":
        float_text = plain_float if options.float_text == "plain" else binlog_text.float_
        return Cell(
            lambda array: float_text(array, type), quoted=not (options.value_types == "native" and values.finite)
        )
    if family == "geometry" and values.geometry is not None:
        return Cell(well_known(values.geometry, type, keep_srid=options.geometry_srid == "keep"))
    if type.name == "blob" and not (system.log_blobs or scanned or options.oracle_lob):
        return Cell(lambda array: pa.nulls(len(array), pa.string()))
    if family not in values.texts:
        raise UnsupportedType(f"{type.name} of column {column.name} has no rendering")
    native = family == "integer" and options.value_types == "native"
    return rendered(values.texts[family], type, quoted=not native, escaped=family not in SAFE)


def known(settings: Settings[CommonOptions], column: Column) -> Known | None:
    """The known part of a column: geometries lack their SRID; only rows of the full load have Oracle's BLOBs."""
    options, type, system = settings.options, column.type, system_of(settings)
    values: Values = registry.load("type library", LIBRARIES, system.library.types)
    if settings.source.family(type) == "geometry" and values.geometry is not None:
        return None if options.geometry_srid == "keep" else without_srid
    return nothing if type.name == "blob" and not (system.log_blobs or options.oracle_lob) else None


def is_cut_by_snapshot(settings: Settings[CommonOptions], column: Column) -> bool:
    """Tests whether the full load cuts a column's values to milliseconds; `full_datetime=log` prevents it."""
    is_time = settings.source.family(column.type) in ("datetime", "timestamptz")
    values: Values = registry.load("type library", LIBRARIES, system_of(settings).library.types)
    return (
        settings.options.full_datetime == "millis"
        and is_time
        and values.scanned is not values.timestamp
        and values.digits(column.type) > MILLISECONDS
    )


def zero_dates(text: Callable[[pa.Array], pa.Array], instead: str) -> Callable[[pa.Array], pa.Array]:
    """The texts with `defaultZeroDate` in place of zero dates."""
    if not instead:
        return text

    def replaced(array: pa.Array) -> pa.Array:
        texts = text(array)
        return pc.if_else(pc.starts_with(texts, "0000-00-00"), instead, texts)

    return replaced


def calendar_piece(
    render: Any, text: Callable[[pa.Array], pa.Array], type: ColumnType, **options: Any
) -> Callable[[pa.Array], Piece] | None:
    """Dates and times of the calendar as pieces; the others by `text`, which replaces zero dates."""
    piece = PIECES.get(binlog_text.datetime_fixed if render is as_logged else render)
    if piece is None:
        return None

    def written(array: pa.Array) -> Piece:
        if pa.types.is_string(carrier(array)):
            return text(array)
        calendar = piece(array, type, **options)
        return text(array) if isinstance(calendar, pa.Array) else calendar

    return written


def well_known(
    shape: Callable[[bytes, ColumnType], tuple[int, str]], type: ColumnType, *, keep_srid: bool
) -> Callable[[pa.Array], pa.Array]:
    """`POINT(1 2)`; with its reference system `SRID=4326;POINT(1 2)`."""

    def text(stored: bytes) -> str:
        srid, points = shape(stored, type)
        return f"SRID={srid};{points}" if keep_srid and srid else points

    return lambda array: distinct_text(array, text)


def plain_float(array: pa.Array, type: ColumnType) -> pa.Array:
    """Java's digits without an exponent: `10000000000`, `0.0001`; whole numbers below ten million keep their `.0`."""
    return distinct_text(binlog_text.float_(array, type), lambda text: format(Decimal(text), "f"))


def writer(fields: tuple[Field, ...], settings: Settings[CommonOptions]) -> ByKind:
    """An encoder of changes, and one of full-load rows, whose timestamps look different. The texts that are hashed are
    the same in both phases (release 3.4.1.0)."""

    def check(table: Table) -> None:
        for column in table.columns:
            try:
                cell(column, settings)
            except UnsupportedType:
                raise UnsupportedType(
                    f"CloudCanal has no known text for {column.type.name} ({table.id}.{column.name}). "
                    "Drop the column or use another format."
                ) from None

    def encoder(*, scanned: bool) -> Encoder:
        return Encoder(fields, lambda column: cell(column, settings, scanned=scanned), FASTJSON2)

    return ByKind(encoder(scanned=False), {READ: encoder(scanned=True)}, check)
