"""Column values as CloudCanal writes them: strings, whatever the type, in all of its JSON formats.

Pages: "Message Format" (its examples hold strings only) and release notes: binaries are hexadecimal "to unify"
(5.2.1.0), BIT with more than one bit too (4.6.0.0), full-load moments have three digits of a fraction (4.7.1.0), zero
dates may be replaced (`defaultZeroDate`), TIMESTAMP is shown in the source's zone (`srcTimeZone`), LogMiner shows no
BLOB (`oraLmLobEnable`, 5.5.0.0). Decisions: numbers as Java prints them, upper-case digits, plain well-known text,
Oracle's numbers without zeros at their end and its moments of the local zone in `srcTimeZone`, SQL Server's moments
with as many digits as it stores and its GUIDs in capitals; whatever else a source has, in its own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.errors import UnsupportedType
from simulator.formats.cloudcanal import mongodb as cloudcanal_mongodb
from simulator.formats.cloudcanal import postgresql as cloudcanal_postgresql
from simulator.formats.cloudcanal.options import CommonOptions
from simulator.formats.cloudcanal.types import is_mysql, library, source_id
from simulator.formats.format import Settings
from simulator.model import READ, Column, ColumnType, Table
from simulator.sources import oracle
from simulator.sources.mysql.geometry import to_text
from simulator.sources.sqlserver import clr as sqlserver_clr
from simulator.sources.sqlserver import shapes as sqlserver_shapes
from simulator.sources.sqlserver import type_table as sqlserver_table
from simulator.text import decimals as decimal_text
from simulator.text import mysql as binlog_text
from simulator.text.json_style import FASTJSON2, Style
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field

# Family of types to the text of its values, where a system has no way of its own.
TEXT: Final[Mapping[str, Any]] = {
    "integer": binlog_text.integer,
    "decimal": decimal_text.decimal_plain,
    "bit": binlog_text.bit_hex,
    "time": binlog_text.time_fixed,
    "year": binlog_text.year,
    "text": binlog_text.text,
    "binary": binlog_text.hex_bytes,
    "json": binlog_text.text,
    "enum": binlog_text.enum_label,
    "set": binlog_text.set_labels,
    "xml": binlog_text.text,
    "interval": binlog_text.text,
    "zoned": binlog_text.text,
    "array": binlog_text.text,
    "range": binlog_text.text,
    "document": binlog_text.text,
    "uuid": binlog_text.text,
}
ESCAPED: Final = frozenset(
    "text json enum set xml interval zoned array range document uuid other geometry decimal timestamp".split()  # noqa: SIM905
)
ZERO_DAY: Final = "0000-00-00"


def _sqlserver_other(array: pa.Array, type: ColumnType) -> pa.Array:
    """A hierarchyid as the path that it prints, a sql_variant as its value's text."""
    return each_value(array, sqlserver_clr.node) if type.name == "hierarchyid" else binlog_text.text(array, type)


def _oracle_number(array: pa.Array, type: ColumnType) -> pa.Array:
    """A NUMBER as Oracle keeps it, without zeros at its end: the redo log knows no scale."""
    if pa.types.is_int64(array.type):
        return binlog_text.integer(array, type)
    return oracle.number_text(array)


def _with_digits(render: Callable[..., pa.Array]) -> Callable[[pa.Array, ColumnType], pa.Array]:
    """A renderer of times that has as many digits as SQL Server stores; what does not fit a number comes as text."""

    def text(array: pa.Array, type: ColumnType) -> pa.Array:
        if pa.types.is_string(decoded_type(array)):
            return array
        return render(array, replace(type, length=sqlserver_table.digits(type)))

    return text


# Library of types, family: how its values are written where that is not as above.
OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "mongodb": {
        "boolean": cloudcanal_postgresql.boolean,
        "decimal": cloudcanal_postgresql.numeric,
        "document": cloudcanal_mongodb.document,
        "objectid": binlog_text.text,
        "other": cloudcanal_mongodb.document,
        "timestamp": cloudcanal_mongodb.document,
    },
    "oracle": {"decimal": _oracle_number, "other": binlog_text.text},
    "postgresql": {
        "bit": binlog_text.text,
        "boolean": cloudcanal_postgresql.boolean,
        "decimal": cloudcanal_postgresql.numeric,
        "geometry": binlog_text.text,
        "other": binlog_text.text,
        "time": binlog_text.time_trimmed,
    },
    "sqlserver": {
        "bit": binlog_text.integer,
        "time": _with_digits(binlog_text.time_fixed),
        "uuid": lambda array, type: pc.utf8_upper(decoded(array)),
        "other": _sqlserver_other,
    },
}


def decoded_type(array: pa.Array) -> pa.DataType:
    return array.type.value_type if pa.types.is_dictionary(array.type) else array.type


def text_of(column: Column, settings: Settings[CommonOptions]) -> Any:
    """The renderer of a column's family; None where nothing is known."""
    family = family_of(column, settings)
    own = OWN.get(library(settings), {})
    return own.get(family, TEXT.get(family))


def family_of(column: Column, settings: Settings[CommonOptions]) -> str:
    return settings.source.types.family(column.type)


def cell(column: Column, settings: Settings[CommonOptions], *, scanned: bool = False) -> Cell:
    """How a column's values are written; `scanned`: by the full load."""
    type, family = column.type, family_of(column, settings)
    if family in ("datetime", "timestamptz"):
        return moments(column, settings, scanned)
    if type.name == "blob" and source_id(settings) == "oracle" and not (scanned or settings.options.oracle_lob):
        # what LogMiner does not show: release 5.5.0.0, oraLmLobEnable
        return Cell(lambda array: pa.nulls(len(array), pa.string()))
    if family == "date":
        of_library = cloudcanal_postgresql.date if library(settings) == "postgresql" else binlog_text.date
        return Cell(zero_days(of_library, column, settings))
    if family == "geometry" and library(settings) in WELL_KNOWN:
        shown, keep = WELL_KNOWN[library(settings)], settings.options.geometry_srid == "keep"
        return Cell(lambda array: each_value(array, lambda stored: with_srid(shown(stored, type), keep)))
    if family == "float":
        plain = settings.options.float_text == "plain"
        text = plain_float if plain else binlog_text.float_
        native = settings.options.value_types == "native" and library(settings) in ("mysql", "sqlserver")
        return Cell(lambda array: text(array, type), quoted=not native)
    render = text_of(column, settings)
    bare = family == "integer" and settings.options.value_types == "native"
    return Cell(lambda array: render(array, type), quoted=not bare, escaped=family in ESCAPED)


def supported(column: Column, settings: Settings[CommonOptions]) -> bool:
    """Whether something is known of how values of this type look."""
    family = family_of(column, settings)
    if family == "geometry" and library(settings) in WELL_KNOWN:
        return True
    return family in ("datetime", "timestamptz", "date", "float") or text_of(column, settings) is not None


def moments(column: Column, settings: Settings[CommonOptions], scanned: bool) -> Cell:
    """Dates with a time: as many digits as the column has; three where the full load read them (4.7.1.0)."""
    type = column.type
    if library(settings) == "sqlserver":
        type = replace(type, length=sqlserver_table.digits(type))
    millis = scanned and settings.options.full_datetime == "millis"
    if millis:
        type = replace(type, length=3)
    local = family_of(column, settings) == "timestamptz" or (type.name == "timestamp" and is_mysql(settings))
    zone = settings.options.timestamp_zone if local else None
    if library(settings) == "mongodb":
        return Cell(lambda array: cloudcanal_postgresql.millis(array, type, zone=zone))
    if library(settings) == "postgresql":
        shown = cloudcanal_postgresql.millis if millis else cloudcanal_postgresql.moment
        return Cell(lambda array: shown(array, column.type, zone=zone))

    def render(array: pa.Array, _: Any) -> pa.Array:
        if pa.types.is_string(decoded_type(array)):
            array = array if zone is None else each_value(array, lambda text: moved(text, zone))
            return pc.utf8_slice_codeunits(decoded(array), 0, len("2024-05-01 10:11:12.123")) if millis else array
        return binlog_text.datetime_fixed(array, type, zone=zone)

    return Cell(zero_days(render, column, settings))


def moved(text: str, zone: str) -> str:
    """A moment with more digits than a microsecond in another zone: `2024-05-01 18:00:00.123456789`."""
    whole, _, fraction = text.partition(".")
    seconds = pa.array([whole]).cast(pa.timestamp("us"))
    shown: str = binlog_text.datetime_fixed(seconds, ColumnType("datetime"), zone=zone)[0].as_py()
    return f"{shown}.{fraction}"


def zero_days(
    render: Callable[..., pa.Array], column: Column, settings: Settings[CommonOptions]
) -> Callable[[pa.Array], pa.Array]:
    """The renderer with what `defaultZeroDate` says in the place of zero dates, cut to the column's form."""
    instead: str = settings.options.zero_date
    if not instead:
        return lambda array: render(array, column.type)

    def text(array: pa.Array) -> pa.Array:
        texts = render(array, column.type)
        zero = pc.starts_with(texts, ZERO_DAY)
        return pc.if_else(zero, instead[:10] if column.type.name == "date" else instead, texts)

    return text


def mysql_shape(stored: bytes, type: ColumnType) -> tuple[int, str]:
    """(SRID, text) of a stored geometry of MySQL."""
    text = to_text(stored)
    return int.from_bytes(stored[:4], "little"), text[text.find(";") + 1 :]


# Library of types to what reads its stored geometries.
WELL_KNOWN: Final[Mapping[str, Callable[[bytes, ColumnType], tuple[int, str]]]] = {
    "mysql": mysql_shape,
    "sqlserver": lambda stored, type: sqlserver_shapes.well_known(stored, type.name),
}


def with_srid(shape: tuple[int, str], keep: bool) -> str:
    """`POINT(1 2)`; with its reference system `SRID=4326;POINT(1 2)`."""
    srid, text = shape
    return f"SRID={srid};{text}" if keep and srid else text


def plain_float(array: pa.Array, type: Any) -> pa.Array:
    """Java's digits without an exponent: `10000000000`, `0.0001`; a whole number below ten million keeps its `.0`."""
    return each_value(binlog_text.float_(array, type), lambda text: format(Decimal(text), "f"))


def each_value(array: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    """Texts made one by one, of each distinct value; nulls stay."""
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = [None if value is None else text(value) for value in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


def writer(fields: tuple[Field, ...], settings: Settings[CommonOptions], style: Style = FASTJSON2) -> ByKind:
    """An encoder, and one of its own for rows of the full load, whose moments look otherwise; what is hashed looks the
    same in both phases (release 3.4.1.0)."""

    def check(table: Table) -> None:
        for column in table.columns:
            if not supported(column, settings):
                raise UnsupportedType(
                    f"CloudCanal has no known text for {column.type.name} ({table.id}.{column.name}). "
                    "Drop the column or use another format."
                )

    scanned = Encoder(fields, lambda column: cell(column, settings, scanned=True), style)
    return ByKind(Encoder(fields, lambda column: cell(column, settings), style), {READ: scanned}, check)
