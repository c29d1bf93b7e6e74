"""Conversions that lose a part of a value, named where they make exactly the value that came of the expected one.

Values are texts, as the database's client prints them; None is null.
"""

from __future__ import annotations

import json
import math
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any, Final, TypeAlias

import pyarrow as pa

Conversion: TypeAlias = tuple[str, Callable[[str], str]]

# What is written for null where a value must be text.
NULLS: Final = ("null", "none", "nan", "nat", "\\n")
TEXTS: Final[tuple[Conversion, ...]] = (
    ("blanks at its end are lost", lambda text: text.rstrip()),
    ("blanks at its begin and end are lost", lambda text: text.strip()),
    ("in lower case", lambda text: text.lower()),
    ("in capitals", lambda text: text.upper()),
    ("UTF-8 read as Latin-1", lambda text: text.encode().decode("latin-1")),
    ("UTF-8 read as Windows-1252", lambda text: text.encode().decode("cp1252")),
    ("characters beyond ASCII became ?", lambda text: text.encode("ascii", "replace").decode()),
    ("characters of four bytes in UTF-8 became ?", lambda text: "".join("?" if c > "\uffff" else c for c in text)),
    ("in another Unicode normal form", lambda text: unicodedata.normalize("NFC", text)),
    ("in another Unicode normal form", lambda text: unicodedata.normalize("NFD", text)),
    ("quoted as in JSON", lambda text: json.dumps(text)),
    ("quoted as in JSON", lambda text: json.dumps(text, ensure_ascii=False)),
)
BITS: Final = (8, 16, 24, 32, 64)
ZONES_MINUTES: Final = 15
MOST_MINUTES: Final = 14 * 60


def conversions(came: object, wanted: str | None, carrier: pa.DataType) -> list[str]:
    """The conversions that make the value that came of the expected one, in words; the first holds whichever of them it
    was. What came may be no text, if it could not be read as one."""
    words: list[str] = []
    if came is None or isinstance(came, str):
        with suppress(ValueError, ArithmeticError, struct.error):  # no number, no time
            words.extend(_all(came, wanted, carrier))
    return words


def row_text(printed: Mapping[str, Any]) -> str:
    """A row's values by their columns."""
    return ", ".join(f"{name}={'null' if value is None else value}" for name, value in printed.items())


def difference(name: str, came: object, wanted: str | None, words: Sequence[str]) -> str:
    """A wrong value, and the conversions that it may come from."""
    shown = ["null" if value is None else repr(value) for value in (came, wanted)]
    return f"{name} is {shown[0]}, expected {shown[1]}" + (f" ({words[0]})" if words else "")


def in_common(rows: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> str:
    """The differing columns that all rows have in common, each with the conversion that all have; empty if the columns
    differ. A row is its differing columns, and their conversions if they are known."""
    (columns, *others) = {row[0] for row in rows}
    if others or not columns:
        return ""
    named = list(columns)
    for number, column in enumerate(columns):
        made = [row[1][number] if row[1] else () for row in rows]
        words = (word for word in min(made, key=len) if all(word in all_words for all_words in made))
        if common := next(words, ""):
            named[number] = f"{column} ({common})"
    return f"all of these rows differ in {' and '.join(named)} alone"


def _all(came: str | None, wanted: str | None, carrier: pa.DataType) -> Iterator[str]:
    if came is None or wanted is None:
        if wanted == "":
            yield "the empty text as null"
        if wanted is None and came is not None and (not came or came.lower() in NULLS):
            yield "a null as text"
    elif pa.types.is_integer(carrier):
        yield from _of_integers(int(came), int(wanted))
    elif pa.types.is_decimal(carrier):
        yield from _of_decimals(Decimal(came), Decimal(wanted))
    elif pa.types.is_floating(carrier):
        yield from _of_floats(float(came), float(wanted))
    elif pa.types.is_timestamp(carrier) or pa.types.is_duration(carrier):
        yield from _of_times(came, wanted)
    elif pa.types.is_string(carrier):
        yield from _of_texts(came, wanted)


def _of_integers(came: int, wanted: int) -> Iterator[str]:
    for bits in BITS:
        size = 1 << bits
        if size // 2 <= wanted < size and came == wanted - size:
            yield f"taken for a signed number of {bits} bits"
    for bits in BITS:
        size = 1 << bits
        if wanted > came == size // 2 - 1 or wanted < came == -size // 2:
            yield f"cut to the range of {bits} bits"
        if not -size // 2 <= wanted < size and came in (wanted % size, wanted % size - size):
            yield f"only its last {bits} bits are left"
    if wanted and came == int(float(wanted)):
        yield "as a double, which has 53 bits"


def _of_decimals(came: Decimal, wanted: Decimal) -> Iterator[str]:
    places = -int(wanted.as_tuple().exponent)
    unit = Decimal(1).scaleb(-places)
    for bits, number in ((32, _single(float(wanted))), (64, float(wanted))):
        if came == Decimal(number).quantize(unit) or came == Decimal(repr(number)).quantize(unit):
            yield f"as a floating-point number of {bits} bits"
    yield from _of_digits(came, wanted, places)
    if wanted and came == wanted.scaleb(places):
        yield "its point is lost"


def _of_digits(came: Decimal, wanted: Decimal, places: int) -> Iterator[str]:
    for digits in range(places):
        unit = Decimal(1).scaleb(-digits)
        is_rounded, is_cut = (came == wanted.quantize(unit, rounding) for rounding in (ROUND_HALF_UP, ROUND_DOWN))
        behind = f"{digits} {'digit' if digits == 1 else 'digits'} behind the point"
        if is_rounded and is_cut:
            yield f"{behind} left"
        if is_rounded:
            yield f"rounded to {behind}"
        if is_cut:
            yield f"cut to {behind}"


def _of_floats(came: float, wanted: float) -> Iterator[str]:
    if came == _single(wanted):
        yield "as a floating-point number of 32 bits"
    if math.isfinite(came) and math.isfinite(wanted):
        exact = Decimal(repr(wanted))
        yield from _of_digits(Decimal(repr(came)), exact, min(16, max(0, -int(exact.as_tuple().exponent))))


def _single(number: float) -> float:
    """A number as a float of 32 bits holds it."""
    single: float = struct.unpack("f", struct.pack("f", number))[0]
    return single


def _of_times(came: str, wanted: str) -> Iterator[str]:
    if "." in wanted and came and wanted.startswith(came.rstrip("0").rstrip(".")) and ":" in came:
        yield "digits of the second are lost"
    times = datetime.fromisoformat(came), datetime.fromisoformat(wanted)
    later = times[0] - times[1]
    if times[0] == datetime.combine(times[1], datetime.min.time(), times[1].tzinfo):
        yield "the time of day is lost"
    for digits in range(5, -1, -1):
        unit = timedelta(microseconds=10 ** (6 - digits))
        if times[0] == _rounded(times[1], unit):
            yield "rounded to seconds" if not digits else f"rounded to {digits} of the second's digits"
    minutes, rest = divmod(abs(later), timedelta(minutes=1))
    if not rest and minutes and minutes % ZONES_MINUTES == 0 and minutes <= MOST_MINUTES:
        hours, word = f"{minutes // 60}:{minutes % 60:02}", "later" if later > timedelta(0) else "earlier"
        yield f"exactly {hours} h {word}, as in another time zone"


def _rounded(time: datetime, unit: timedelta) -> datetime:
    over = (time - datetime.min.replace(tzinfo=time.tzinfo)) % unit
    return time - over + (unit if 2 * over >= unit else timedelta(0))


def _of_texts(came: str, wanted: str) -> Iterator[str]:
    for words, convert in TEXTS:
        try:
            if convert(wanted) == came:
                yield words
        except UnicodeError:
            continue
    if came and wanted.startswith(came):
        yield f"cut to {len(came)} characters"
    if came.startswith(wanted) and came[len(wanted) :].isspace():
        yield "blanks were added at its end"
