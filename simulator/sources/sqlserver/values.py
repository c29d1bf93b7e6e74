"""SQL Server's values: literals as a person writes them to carrier arrays, and back.

Only `stored` is vectorised: literals come from scenarios and scripts, a few at a time.
"""

from __future__ import annotations

import re
import xml.parsers.expat
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.errors import short
from simulator.model import ColumnType
from simulator.sources import literals
from simulator.sources.sqlserver import clr as sqlserver_clr
from simulator.sources.sqlserver import times as sqlserver_times
from simulator.sources.sqlserver.type_table import (
    FILLED,
    NATIONAL,
    TYPES,
    arrow_type,
    bounds,
    codec,
    digits,
    family,
    precision_scale,
)
from simulator.sources.sqlserver.types import type_text

_INTEGER: Final = re.compile(r"[+-]?\d+")
_HEX: Final = re.compile(r"0[xX]([0-9A-Fa-f]*)")
_UUID: Final = re.compile(r"\{?([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\}?")
# maximum in ten-thousandths: money has 64 bits, smallmoney 32
MONEY: Final = {"money": (1 << 63) - 1, "smallmoney": (1 << 31) - 1}
# Least positive numbers: SQL Server has denormal reals and floats as IEEE does; infinity and NaN it refuses.
_MOST_REAL: Final = float(np.finfo(np.float32).max)


def parse_values(texts: Sequence[str | None], type: ColumnType) -> pa.Array:
    """Literals of a column's type as its carrier array; None is null. Raises ValueError with one sentence.

    | family | literals |
    | --- | --- |
    | bit | `0`, `1`, `true`, `false`; any other whole number is 1 |
    | integer, decimal, float | `-5`, `12.345` (rounded half up to the scale), `1.5e3` |
    | date, time, datetime | `2024-02-29`, `12:34:56.1234567`, both with a blank or `T` between |
    | zoned | the same with an offset: `2024-02-29 12:34:56 +08:00`; none is UTC |
    | text | itself; char and nchar are filled up with blanks |
    | binary | `0x6a67`, or text, as UTF-8; binary is filled up with zero bytes |
    | uuid | with or without braces; kept in capitals |
    | xml | a document or a fragment, kept without its declaration and without blanks between tags |
    | other | sql_variant: its text; hierarchyid: `/1/3/` or `0x5bc0` |
    | geometry | well-known text, `SRID=4326;` before it if wanted, or `0x…` |
    """
    parse = _PARSERS[family(type)]
    values = [None if text is None else parse(text, type) for text in texts]
    return literals.carried(values, arrow_type(type))


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`, in texts that it reads as the same values.

    Bytes and shapes are `0x…`, floats have the digits that bring back the same value.
    """
    show = _FORMATTERS.get(family(type))
    return [
        None if value is None else show(value, type) if show else str(value) for value in literals.raw_values(array)
    ]


def _bit(text: str, type: ColumnType) -> int:
    word = text.strip().lower()
    if word in ("true", "false"):
        return int(word == "true")
    if not _INTEGER.fullmatch(word):
        raise ValueError(f"{short(text)} is not a bit: 0, 1, true or false")
    return int(int(word) != 0)


def _decimal(text: str, type: ColumnType) -> Decimal:
    precision, scale = precision_scale(type)
    value = literals.decimal(text, precision, scale, type_text(type))
    most = MONEY.get(type.name)
    if most is not None and not -most - 1 <= value.scaleb(scale) <= most:
        raise ValueError(f"{text.strip()} does not fit {type_text(type)}")
    return value


def _float(text: str, type: ColumnType) -> float:
    value = literals.finite_float(text)
    most = _MOST_REAL if type.name == "real" else float(np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        stored = float(np.float32(value)) if type.name == "real" else value
    if abs(stored) > most:
        raise ValueError(f"{text.strip()} is beyond the range of {type.name}")
    return stored


def _time(text: str, type: ColumnType) -> int | str:
    steps = sqlserver_times.clock(text.strip(), type)
    return sqlserver_times.clock_text(steps, 7) if digits(type) > 6 else steps // 10


def _datetime(text: str, type: ColumnType) -> int | str:
    steps = sqlserver_times.parse_datetime(text.strip(), type)
    return sqlserver_times.datetime_text(steps, 7) if digits(type) > 6 else steps // 10


def _text(text: str, type: ColumnType) -> str:
    if type.labels and text not in type.labels:
        raise ValueError(f"{short(text)} is none of {literals.listed(type.labels)}")
    try:
        encoded = text.encode(codec(type), "surrogatepass")
    except UnicodeEncodeError as error:
        page = type.charset or "cp1252"
        raise ValueError(f"{short(text)} has a character that {page} lacks: {text[error.start]!r}") from None
    row = TYPES[type.name]
    length = len(encoded) // 2 if type.name in NATIONAL else len(encoded)
    most = type.length if type.length is not None else row.most if not row.arguments else (1 << 31) - 1
    if length > most:
        unit = "pairs of bytes" if type.name in NATIONAL else "bytes"
        raise ValueError(f"{short(text)} has {length} {unit}, and {type_text(type)} holds {most}")
    return text + " " * (most - length) if type.name in FILLED else text


def _binary(text: str, type: ColumnType) -> bytes:
    match = _HEX.fullmatch(text)
    value = literals.hexadecimal(match[1]) if match else text.encode()
    if type.name == "timestamp":
        if len(value) > 8:
            raise ValueError(f"{short(text)} has {len(value)} bytes, and a rowversion has 8")
        return value.rjust(8, b"\0")
    most = type.length if type.length is not None else (1 << 31) - 1
    if len(value) > most:
        raise ValueError(f"{short(text)} has {len(value)} bytes, and {type_text(type)} holds {most}")
    return value.ljust(most, b"\0") if type.name == "binary" else value


def _uuid(text: str, type: ColumnType) -> str:
    match = _UUID.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a uniqueidentifier such as 6F9619FF-8B86-D011-B42D-00C04FC964FF")
    return match[1].upper()


class _Xml:
    """A document or fragment written again as SQL Server keeps it."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.depth = 0
        self.text = ""
        self.parser = xml.parsers.expat.ParserCreate()
        self.parser.ordered_attributes = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.CommentHandler = lambda text: self.other(f"<!--{text}-->")
        self.parser.ProcessingInstructionHandler = lambda name, text: self.other(f"<?{name} {text}?>")

    def flush(self) -> None:
        if self.text.strip(" \t\r\n"):
            self.out.append(escape(self.text))
        self.text = ""

    def start(self, name: str, attributes: list[str]) -> None:
        self.flush()
        self.depth += 1
        if self.depth > 1:  # the outermost element is added here, so that fragments can be parsed
            pairs = zip(attributes[::2], attributes[1::2], strict=True)
            self.out.append(f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in pairs) + ">")

    def end(self, name: str) -> None:
        self.flush()
        self.depth -= 1
        if not self.depth:
            return
        last = self.out[-1]
        if last.startswith(f"<{name}") and last.endswith(">") and not last.endswith("/>"):
            self.out[-1] = last[:-1] + "/>"
        else:
            self.out.append(f"</{name}>")

    def characters(self, text: str) -> None:
        self.text += text

    def other(self, text: str) -> None:
        self.flush()
        self.out.append(text)


def _xml(text: str, type: ColumnType) -> str:
    body = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    writer = _Xml()
    try:
        writer.parser.Parse(f"<x>{body}</x>", True)
    except xml.parsers.expat.ExpatError as error:
        raise ValueError(f"{short(text)} is not well-formed XML: {error}") from None
    return "".join(writer.out)


def _other(text: str, type: ColumnType) -> str | bytes:
    if type.name == "hierarchyid":
        match = _HEX.fullmatch(text)
        return bytes.fromhex(match[1]) if match else sqlserver_clr.hierarchyid(text.strip())
    if len(text.encode("utf-16-le", "surrogatepass")) > TYPES[type.name].most:
        raise ValueError(f"{short(text)} is longer than the 8000 bytes of a sql_variant")
    return text


def _geometry(text: str, type: ColumnType) -> bytes:
    match = _HEX.fullmatch(text)
    return bytes.fromhex(match[1]) if match else sqlserver_clr.shape(text, type.name)


_PARSERS: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "bit": _bit,
    "integer": lambda text, type: literals.integer(text, bounds(type), type.name),
    "decimal": _decimal,
    "float": _float,
    "date": lambda text, type: sqlserver_times.day(text.strip()),
    "time": _time,
    "datetime": _datetime,
    "zoned": lambda text, type: sqlserver_times.offset_text(text.strip(), type),
    "text": _text,
    "binary": _binary,
    "uuid": _uuid,
    "xml": _xml,
    "other": _other,
    "geometry": _geometry,
}


def _show_moment(value: int | str, type: ColumnType) -> str:
    return value if isinstance(value, str) else sqlserver_times.datetime_text(value * 10, digits(type))


def _show_clock(value: int | str, type: ColumnType) -> str:
    return value if isinstance(value, str) else sqlserver_times.clock_text(value * 10, digits(type))


def _show_bytes(value: bytes, type: ColumnType) -> str:
    return "0x" + value.hex().upper()


_FORMATTERS: Final[Mapping[str, Callable[[Any, ColumnType], str]]] = {
    "decimal": lambda value, type: format(value, "f"),
    "float": lambda value, type: str(np.float32(value)) if type.name == "real" else repr(value),
    "date": lambda value, type: sqlserver_times.datetime_text(value * sqlserver_times.DAY, 0)[:10],
    "time": _show_clock,
    "datetime": _show_moment,
    "binary": _show_bytes,
    "other": lambda value, type: sqlserver_clr.node(value) if isinstance(value, bytes) else value,
    "geometry": _show_bytes,
}


# ------------------------------------------------------------------------------------------------------ whole columns


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values, or values of a type that this one widens, as the server stores them.

    char, nchar and binary are filled up, texts of nchar and nvarchar end at their number of UTF-16 units, a
    uniqueidentifier has capitals, a datetime is in steps of 1/300 s, and times finer than microseconds become texts.
    """
    if pa.types.is_dictionary(array.type):
        values = stored(array.dictionary, type)
        if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
            return pa.DictionaryArray.from_arrays(array.indices, values)
        return values.take(array.indices)
    family_name = family(type)
    if family_name in ("time", "datetime", "zoned"):
        return sqlserver_times.stored(array, type)
    if family_name == "uuid":
        return pc.ascii_upper(array)
    if family_name == "text":
        return _fitting(array, type)
    if type.name == "binary":
        most = type.length or 1
        if (np.asarray(pc.fill_null(pc.binary_length(array), most)) == most).all():
            return array
        return pa.array([None if v is None else v[:most].ljust(most, b"\0") for v in array.to_pylist()], pa.binary())
    target = arrow_type(type)
    return array if array.type == target else array.cast(target)


def _fitting(array: pa.Array, type: ColumnType) -> pa.Array:
    """Texts cut to the column's length, and padded if the length is fixed."""
    if type.length is None:
        return array
    size = np.asarray(pc.fill_null(pc.binary_length(array), 0))
    filled = type.name in FILLED
    if not filled and (size <= type.length).all():
        return array
    units = np.asarray(pc.fill_null(pc.utf8_length(array), 0))
    if type.name in NATIONAL or codec(type) != "utf-8":
        odd = size > units  # not only ASCII: count in the server's units
        if not odd.any() and not filled:
            return array
        if not odd.any():
            return pc.utf8_rpad(array, type.length, " ")
    fit = _cut_national if type.name in NATIONAL else _cut_bytes
    return pa.array([None if text is None else fit(text, type) for text in array.to_pylist()], pa.string())


def _cut_national(text: str, type: ColumnType) -> str:
    most = type.length or 0
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * most].decode("utf-16-le", "ignore")
    return units + " " * (most - len(units.encode("utf-16-le")) // 2) if type.name in FILLED else units


def _cut_bytes(text: str, type: ColumnType) -> str:
    most = type.length or 0
    cut = text.encode(codec(type), "replace")[:most].decode(codec(type), "ignore")
    return cut + " " * (most - len(cut.encode(codec(type)))) if type.name in FILLED else cut
