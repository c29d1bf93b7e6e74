"""Oracle values: literals as a person writes them to carrier arrays, and back to the text that SQL*Plus shows.

Only `stored` is vectorised: literals come from scenarios and scripts, a few at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import cut_times, numbers, text_us
from simulator.errors import short
from simulator.model import ColumnType
from simulator.sources import literals
from simulator.sources.json_tree import write
from simulator.sources.oracle import times as oracle_times
from simulator.sources.oracle.type_table import TYPES, arrow_type, family, most_bytes, number_digits
from simulator.sources.oracle.types import type_text
from simulator.text.template import join
from simulator.text.timestamps import time_text

_HEX: Final = re.compile(r"(?:0x|hextoraw\s*\(\s*'|x')([0-9A-Fa-f]*)(?:'\s*\)|')?", re.IGNORECASE)
_EMPTY_LOB: Final = re.compile(r"empty_[cb]lob\s*\(\s*\)", re.IGNORECASE)
_ROWID: Final = re.compile(r"[A-Za-z0-9+/]{18}")
_UROWID: Final = re.compile(r"[A-Za-z0-9+/]{18}|\*[A-Za-z0-9+/]+={0,2}")
_BFILE: Final = re.compile(r"bfilename\s*\(\s*'([^']*)'\s*,\s*'([^']*)'\s*\)", re.IGNORECASE)
_BOOLS: Final = {"true": "1", "false": "0"}
_SPECIAL: Final = {"nan": "nan", "infinity": "inf", "inf": "inf", "-infinity": "-inf", "-inf": "-inf"}
_LARGE: Final = ("clob", "nclob", "blob")


def parse_values(texts: Sequence[str | None], type: ColumnType) -> pa.Array:
    """Literals of a column's type as its carrier array; None is null, and so is the empty text, as in Oracle.

    | type | literals |
    | --- | --- |
    | NUMBER, FLOAT | `12.345`, `1e3`; rounded half up to the scale; `true`, `false` for NUMBER(1) |
    | BINARY_FLOAT, BINARY_DOUBLE | `1.5`, `1e3`, `NaN`, `Infinity`, `-Infinity`; there is no negative zero |
    | DATE, TIMESTAMP | `2024-02-29 12:34:56.789`, or with `T`, or the date alone; years 1 to 9999 |
    | TIMESTAMP WITH TIME ZONE | the same and a zone: `+08:00`, `Z`, `Asia/Shanghai`; UTC if there is none |
    | TIMESTAMP WITH LOCAL TIME ZONE | the same in UTC, or with an offset |
    | INTERVAL YEAR TO MONTH | `2-3`, `-4-3`, `5` (years) |
    | INTERVAL DAY TO SECOND | `1 02:03:04.5`, `-0 00:00:01`, `12:34:56` |
    | CHAR …, CLOB, LONG | itself; `empty_clob()` is a LOB that is empty and not null |
    | RAW, BLOB, LONG RAW | `0x6a67`, `hextoraw('6a67')`, `x'6a67'`, or text, as UTF-8; `empty_blob()` |
    | ROWID, UROWID | 18 characters `AAAR3sAAEAAAACXAAA`; a logical one begins with a star |
    | BFILE | `bfilename('DIR', 'file.txt')` |
    | XMLTYPE, JSON | a well-formed text |

    Raises ValueError with one sentence.
    """
    parse = _PARSERS.get(type.name) or _PARSERS[family(type)]
    values = [None if text is None or text == "" else parse(text, type) for text in texts]
    carrier = arrow_type(type)
    if pa.types.is_integer(carrier):
        values = [None if value is None else int(value) for value in values]
    return literals.carried(values, carrier)


def format_values(array: pa.Array, type: ColumnType) -> list[str | None]:
    """The inverse of `parse_values`: dates and numbers as SQL*Plus shows them with ISO formats, bytes as `0x…`."""
    return [None if value is None else _show(value, type) for value in literals.raw_values(array)]


def stored(array: pa.Array, type: ColumnType) -> pa.Array:
    """Generated values, or values of a type that this one widens, as Oracle stores them.

    CHAR and NCHAR are filled up with blanks, an empty text or RAW is null (a LOB may be empty), timestamps are cut to
    the column's digits and become text with a zone or more than six digits, a time of day becomes an interval.

    >>> stored(pa.array(["ab", ""]), ColumnType("char", 4)).to_pylist()
    ['ab  ', None]
    """
    if pa.types.is_dictionary(array.type):
        values = stored(array.dictionary, type)
        coded = pa.DictionaryArray.from_arrays(array.indices, values)
        return values.take(array.indices) if values.null_count else coded
    target, family_name = arrow_type(type), family(type)
    if pa.types.is_timestamp(array.type):
        return _stored_moments(array, type)
    if pa.types.is_duration(array.type):
        return pc.binary_join_element_wise(f"+{'0' * max(type.length or 0, 1)}", time_text(array, type.scale or 0), " ")
    if family_name == "decimal" and pa.types.is_string(target):
        return number_text(array)
    if family_name in ("text", "binary") and array.type == target:
        return _stored_text(array, type)
    return array if array.type == target else array.cast(target)


def _stored_moments(array: pa.Array, type: ColumnType) -> pa.Array:
    digits = type.length or 0
    if pa.types.is_string(arrow_type(type)):
        return time_text(array, digits, zone="+00:00" if family(type) == "zoned" else "")
    return cut_times(array, 10 ** (6 - digits))


def _stored_text(array: pa.Array, type: ColumnType) -> pa.Array:
    empty = pc.equal(pc.binary_length(array), pa.scalar(0, pa.int32()))
    if type.name not in _LARGE and pc.any(empty).as_py():
        array = pc.if_else(empty, pa.scalar(None, array.type), array)
    if type.name not in ("char", "nchar"):
        return array
    length = type.length or 1
    # the national character set is UTF-16, where some characters count as two
    twice = pc.count_substring_regex(array, r"[^\x{0}-\x{FFFF}]") if type.name == "nchar" else 0
    sizes = pc.add(pc.utf8_length(array), twice) if type.characters else pc.binary_length(array)
    lengths = np.asarray(pc.fill_null(sizes, length)).astype(np.int64)
    blanks = pa.array([" " * n for n in range(length + 1)], pa.string())
    return join([array, blanks.take(pa.array(length - lengths))], len(array))


def generated(type: ColumnType) -> pa.DataType:
    """The Arrow type in which values are generated: the carrier, except microseconds for timestamps that are texts and
    for intervals of days, and six fraction digits for a NUMBER without precision.
    """
    match family(type):
        case "datetime" | "zoned" | "timestamptz":
            return pa.timestamp("us")
        case "interval" if type.name == "interval day to second":
            return pa.duration("us")
        case "decimal" if type.length is None or (type.name == "float" and type.length >= 60):
            return pa.decimal128(18, 6)
    return arrow_type(type)


def unit_us(type: ColumnType) -> int:
    """The step between values of a date, timestamp or interval, in microseconds; 1 for finer steps."""
    digits = type.scale if type.name == "interval day to second" else type.length
    return int(10 ** (6 - min(digits or 0, 6)))


def microseconds(array: pa.Array) -> list[int]:
    """Timestamps or intervals of days as comparable numbers, whatever their carrier."""
    if pa.types.is_string(array.type):
        return [oracle_times.interval_us(text) if text[0] in "+-" else text_us(text) for text in array.to_pylist()]
    return [int(number) for number in numbers(array)]


def number_text(array: pa.Array) -> pa.Array:
    """NUMBER values of any carrier as plain text without needless zeros, as Oracle keeps them: `12.5`, `100`, `-0.001`.

    >>> from decimal import Decimal
    >>> number_text(pa.array([Decimal("12.50"), Decimal("100.00"), Decimal("-0.10")])).to_pylist()
    ['12.5', '100', '-0.1']
    """
    if pa.types.is_string(array.type) or pa.types.is_dictionary(array.type):
        return array
    if not pa.types.is_decimal(array.type):
        return array.cast(pa.string())
    if array.type.scale > 6:  # Arrow writes small numbers of a large scale with an exponent
        text = pa.array([None if value is None else format(value, "f") for value in array.to_pylist()], pa.string())
    else:
        text = array.cast(pa.string())
    return pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".") if array.type.scale > 0 else text


# ------------------------------------------------------------------------------------------------------ numbers


def _number(text: str, type: ColumnType) -> Decimal | str:
    if type.length == 1 and not type.scale and text.strip().lower() in _BOOLS:
        text = _BOOLS[text.strip().lower()]
    if type.length is None:
        return _in_bounds(_rounded(literals.exact(text), 40), text)
    value = literals.decimal(text, type.length, type.scale or 0, type_text(type))
    value = Decimal(format(value, "f"))  # a negative scale leaves an exponent
    return _in_bounds(value, text) if number_digits(type) is None else value


def _float(text: str, type: ColumnType) -> str:
    """A literal of FLOAT(b), rounded to the decimal digits of b bits: 38 digits for 126 bits."""
    return _in_bounds(_rounded(literals.exact(text), -(-(type.length or 126) * 30_103 // 100_000)), text)


def _rounded(value: Decimal, digits: int) -> Decimal:
    """The number rounded half up to this number of significant digits."""
    over = len(value.as_tuple().digits) - digits
    if over <= 0 or not value:
        return value
    exponent = int(value.as_tuple().exponent) + over
    with localcontext(prec=300):
        return value.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_UP)


def _in_bounds(value: Decimal, text: str) -> str:
    """The number as plain text; NUMBER holds 1e-130 to below 1e126, and smaller values are 0."""
    if value and value.adjusted() > 125:
        raise ValueError(f"{text.strip()} is beyond the range of NUMBER, which ends below 1e126")
    if not value or value.adjusted() < -130:
        return "0"
    return literals.plain(value)


def _binary_float(text: str, type: ColumnType) -> float:
    word = text.strip().lower().removeprefix("+")
    special = word in _SPECIAL
    try:
        value = float(_SPECIAL.get(word, word))
    except ValueError:
        value = float("nan")
    if not special and (value != value or "_" in word):
        raise ValueError(f"{short(text)} is not a number such as 1.5, 1e3, NaN or Infinity")
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value)) if type.name == "binary_float" else value
    if not special and narrow in (float("inf"), float("-inf")):
        raise ValueError(f"{text.strip()} is beyond the range of {type.name.upper()}")
    return narrow if narrow else 0.0  # Oracle has no negative zero


def _show_float(value: float, type: ColumnType) -> str:
    if value != value:
        return "Nan"
    if value in (float("inf"), float("-inf")):
        return "Inf" if value > 0 else "-Inf"
    return str(np.float32(value)) if type.name == "binary_float" else repr(value)


# ---------------------------------------------------------------------------------------------- texts and the rest


def _text(text: str, type: ColumnType) -> str:
    if _EMPTY_LOB.fullmatch(text) and type.name in _LARGE:
        return ""
    if type.labels and text not in type.labels:
        raise ValueError(f"{short(text)} is none of the values {literals.listed(type.labels)}")
    national = type.name in ("nchar", "nvarchar2")
    size = len(text.encode("utf-16-le" if national else "utf-8", "strict"))
    # the national character set is AL16UTF16, in which a character beyond U+FFFF counts as two
    characters = size // 2 if national else len(text)
    if type.length is not None and type.characters and characters > type.length:
        raise ValueError(f"{short(text)} has {characters} characters, and {type_text(type)} holds fewer")
    if size > most_bytes(type):
        raise ValueError(f"{short(text)} has {size} bytes, and {type_text(type)} holds {most_bytes(type)}")
    if type.name in ("char", "nchar"):
        return text + " " * ((type.length or 1) - (characters if type.characters else size))
    return text


def _binary(text: str, type: ColumnType) -> bytes:
    if _EMPTY_LOB.fullmatch(text) and type.name in _LARGE:
        return b""
    value = literals.hexadecimal(match[1]) if (match := _HEX.fullmatch(text)) else text.encode()
    if len(value) > most_bytes(type):
        raise ValueError(f"{short(text)} has {len(value)} bytes, and {type_text(type)} holds {most_bytes(type)}")
    if not value and type.name not in _LARGE:
        raise ValueError(f"{short(text)} has no byte; an empty {type_text(type)} is null")
    return value


def _xml(text: str, type: ColumnType) -> str:
    if "<!ENTITY" in text:
        raise ValueError(f"{short(text)} declares an entity, which is not read here")
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{short(text)} is not well-formed XML: {error}") from None
    return text


def _json(text: str, type: ColumnType) -> str:
    """A document as Oracle prints a JSON column: no blanks between tokens, the last of equal names,
    numbers as NUMBERs.
    """

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not a JSON value")

    try:
        value = json.loads(text, parse_float=_JsonNumber, parse_int=_JsonNumber, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"{short(text)} is not a JSON text: {error.msg} at character {error.pos}") from None
    return write(value, _json_leaf, key=_json_leaf, comma=",", colon=":")


class _JsonNumber(str):
    """A number of a document, as it was written."""


def _json_leaf(value: Any) -> str:
    if not isinstance(value, _JsonNumber):
        return json.dumps(value, ensure_ascii=False)
    with localcontext(prec=300):
        exact = Decimal(value)
        number = format(exact, "f") if -20 < exact.adjusted() < 40 else str(value)
    if not exact:
        return "0"
    return number.rstrip("0").rstrip(".") if "." in number and "e" not in number.lower() else number


def _rowid(text: str, type: ColumnType) -> str:
    word = text.strip()
    if not (_UROWID if type.name == "urowid" else _ROWID).fullmatch(word):
        raise ValueError(f"{short(text)} is not a ROWID such as AAAR3sAAEAAAACXAAA")
    if type.name == "urowid" and len(word) > most_urowid(type):
        raise ValueError(f"{short(text)} is longer than {type_text(type)}")
    return word


def most_urowid(type: ColumnType) -> int:
    """Maximum characters of a UROWID: four for each three bytes, and the star."""
    return (type.length or 4000) * 4 // 3 + 4


def _bfile(text: str, type: ColumnType) -> str:
    match = _BFILE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{short(text)} is not a file such as bfilename('DATA_DIR', 'a.txt')")
    return f"bfilename('{match[1]}', '{match[2]}')"


_PARSERS: Final[Mapping[str, Callable[[str, ColumnType], Any]]] = {
    "number": _number,
    "float": _float,
    "binary_float": _binary_float,
    "binary_double": _binary_float,
    "datetime": oracle_times.parse_datetime,
    "zoned": oracle_times.parse_zoned,
    "timestamptz": oracle_times.parse_moment,
    "interval year to month": oracle_times.parse_months,
    "interval day to second": oracle_times.parse_seconds,
    "text": _text,
    "binary": _binary,
    "xml": _xml,
    "json": _json,
    "bfile": _bfile,
    "rowid": _rowid,
    "urowid": _rowid,
}


def _show(value: Any, type: ColumnType) -> str:
    family_name = family(type)
    if isinstance(value, bytes):
        return "0x" + value.hex() if value else "empty_blob()"
    if value == "" and TYPES[type.name].name in _LARGE:
        return "empty_clob()"
    if isinstance(value, Decimal):
        return literals.plain(value)
    if family_name == "float":
        return _show_float(value, type)
    if family_name in ("datetime", "timestamptz") and isinstance(value, int):
        return oracle_times.show(value, type.length or 0)
    return str(value)
