"""Columns of a consumer's table, converted to the carriers of the expected columns; tolerances for both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.carriers import as_integers, cut_times, storage
from simulator.errors import OptionError, did_you_mean
from simulator.model import Column
from simulator.sources.source import Source
from simulator.truth.verify.tables.consumed import text_of
from simulator.truth.verify.tables.documents import documents

Hashes: TypeAlias = npt.NDArray[np.uint64]

FORMS: Final = "round:N, ms, s, trim, nocase, zone:+08:00 or ignore"
MIDNIGHT: Final = time(0)
# Digits of the longest whole number.
MOST_DIGITS: Final = 20
_ZONE: Final = re.compile(r"([+-])(\d\d):(\d\d)")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A permitted difference in columns: `*.total=round:2`. `both` converts both sides; `found` converts only the
    consumer's, before that."""

    pattern: str
    both: Callable[[pa.Array], pa.Array] = lambda array: array
    found: Callable[[pa.Array], pa.Array] = lambda array: array
    ignored: bool = False

    def fits(self, table: str, column: str) -> bool:
        name = f"{table}.{column}" if "." in self.pattern else column
        return fnmatchcase(name.lower(), self.pattern.lower())


# Documents are equal whatever their text looks like.
DOCUMENTS: Final = Tolerance("*", lambda array: documents(array) if pa.types.is_string(array.type) else array)
# Tolerances of sinks, by what their documentation says of types that they store.
PRESETS: Final[dict[str, Tolerance]] = {
    # org.apache.kafka.connect.data.Timestamp and Time: milliseconds since 1970, of the day
    "connect-jdbc": Tolerance("*", lambda array: _times(array, 1_000)),
    # "TIME: only supports a precision of 0" (Flink SQL, data types)
    "flink": Tolerance("*", lambda array: _times(array, 1_000_000) if pa.types.is_duration(array.type) else array),
    # DATETIME is DATETIME(0), and rounds what has more digits (Doris, data types)
    "doris": Tolerance("*", lambda array: _nearest_second(array)),
    # DateTime has a resolution of a second (ClickHouse, data types)
    "clickhouse": Tolerance("*", lambda array: _times(array, 1_000_000)),
}


def find_preset(name: str) -> Tolerance:
    """The tolerance of a sink. Raises OptionError."""
    if name not in PRESETS:
        raise OptionError(
            f"--preset {name}: there is no such sink.{did_you_mean(name, PRESETS)} It takes {', '.join(PRESETS)}."
        )
    return PRESETS[name]


def parse_tolerance(text: str) -> Tolerance:
    """Parses `total=round:2`, `orders.note=trim`, `*_at=ms`, `*=nocase`. Raises OptionError."""
    pattern, equals, form = text.partition("=")
    word, _, argument = form.partition(":")
    if equals and pattern:
        match word:
            case "ignore":
                return Tolerance(pattern, ignored=True)
            case "trim":
                return Tolerance(pattern, lambda array: _texts(array, pc.utf8_rtrim_whitespace))
            case "nocase":
                return Tolerance(pattern, lambda array: _texts(array, pc.utf8_lower))
            case "ms":
                return Tolerance(pattern, lambda array: _times(array, 1_000))
            case "s":
                return Tolerance(pattern, lambda array: _times(array, 1_000_000))
            case "round" if argument.isdigit() and len(argument) < 3:
                return Tolerance(pattern, lambda array: _rounded(array, int(argument)))
            case "zone" if match := _ZONE.fullmatch(argument):
                minutes = int(f"{match[1]}1") * (60 * int(match[2]) + int(match[3]))
                return Tolerance(pattern, found=lambda array: _in_utc(array, minutes * 60_000_000))
    raise OptionError(f"--tolerate {text}: expected COLUMN=FORM, the form being {FORMS}.")


def _texts(array: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    return change(array) if pa.types.is_string(array.type) else array


def _times(array: pa.Array, unit_us: int) -> pa.Array:
    is_time = pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type)
    return cut_times(array, unit_us) if is_time else array


def _nearest_second(array: pa.Array) -> pa.Array:
    """Timestamps rounded to seconds, half of one up."""
    if not pa.types.is_timestamp(array.type):
        return array
    return cut_times(pc.add(array, pa.scalar(500_000, pa.duration("us"))), 1_000_000)


def _rounded(array: pa.Array, digits: int) -> pa.Array:
    if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
        return pc.round(array, digits, "half_towards_infinity")
    return array


def _in_utc(array: pa.Array, east_us: int) -> pa.Array:
    if not pa.types.is_timestamp(array.type):
        return array
    return pc.subtract(array, pa.scalar(east_us, pa.duration("us")))


# ------------------------------------------------------------------------------------------------------------- carriers


def as_carrier(array: pa.Array, column: Column, carrier: pa.DataType, source: Source) -> tuple[pa.Array, pa.Array]:
    """A consumer's values converted to the carrier, and a mask of those that cannot be converted (null in the first).

    Arrow casts whatever it can cast without loss; other values are parsed as the database's client prints them.
    """
    array = decoded(array)
    if array.type == carrier:
        return array, None
    try:
        return _cast(array, carrier), None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return _parsed(array, column, carrier, source)


def _cast(array: pa.Array, carrier: pa.DataType) -> pa.Array:
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), carrier)
    if pa.types.is_timestamp(carrier) and pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp(array.type.unit)).cast(carrier)
    if pa.types.is_duration(carrier) and pa.types.is_time(array.type):
        return array.cast(pa.time64("us")).cast(pa.int64()).cast(carrier)
    if pa.types.is_floating(carrier) and pa.types.is_decimal(array.type):
        return array.cast(pa.string()).cast(carrier)  # Arrow's cast is off by some last digits
    if pa.types.is_binary(carrier) and pa.types.is_string(array.type):
        raise pa.ArrowTypeError("text is no bytes")  # it is a literal
    if pa.types.is_string(carrier) and not _is_text(array.type):
        raise pa.ArrowTypeError("not a text")
    if pa.types.is_integer(carrier) and pa.types.is_boolean(array.type):
        return array.cast(pa.int8()).cast(carrier)
    return array.cast(carrier)


def _is_text(type: pa.DataType) -> bool:
    """Tests for texts. Bytes are one, too, if they are UTF-8: some writers of Parquet do not say that they are."""
    return type in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())


def _parsed(array: pa.Array, column: Column, carrier: pa.DataType, source: Source) -> tuple[pa.Array, pa.Array]:
    encoded = array.dictionary_encode() if not pa.types.is_nested(array.type) else None
    values = array.to_pylist() if encoded is None else encoded.dictionary.to_pylist()
    read = [_literal(value, column, carrier, source) for value in values]
    good = [value.cast(carrier) if value is not None else pa.nulls(1, carrier) for value in read]
    parsed = pa.concat_arrays(good) if good else pa.nulls(0, carrier)
    bad = pa.array([value is None for value in read], pa.bool_())
    if encoded is not None:
        parsed, bad = parsed.take(encoded.indices), bad.take(encoded.indices).fill_null(False)
    return parsed, bad


def _literal(value: Any, column: Column, carrier: pa.DataType, source: Source) -> pa.Array | None:
    """One value as an array of length 1; None if it cannot be parsed."""
    if value is None:
        return pa.nulls(1, carrier)
    if isinstance(value, bytes) and pa.types.is_binary(carrier):
        return pa.array([value], carrier)
    if isinstance(value, float):
        value = Decimal(repr(value))
    text = text_of(value)
    for form in (text, _as_client_prints(text, carrier)):
        try:
            return None if form is None else decoded(source.parse_values([form], column.type))
        except (ValueError, ArithmeticError, TypeError, LookupError, pa.ArrowException):
            continue
    return None


def _as_client_prints(text: str, carrier: pa.DataType) -> str | None:
    """A value that a writer of text prints in another way than the database's client: `7.0` of a whole number, a date
    at midnight, an ISO 8601 time with its zone, which is UTC for a column without. None: it is no such value."""
    try:
        if pa.types.is_integer(carrier):
            number = Decimal(text)
            return str(int(number)) if number.adjusted() < MOST_DIGITS and number == int(number) else None
        if pa.types.is_timestamp(carrier) or pa.types.is_date(carrier):
            time = datetime.fromisoformat(text)
            if pa.types.is_date(carrier):
                return time.date().isoformat() if time.timetz() == MIDNIGHT else None
            return None if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    except (ValueError, ArithmeticError):
        pass
    return None


# --------------------------------------------------------------------------------------------------------------- hashes

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_NULL: Final = np.uint64(0x7C0FFEE123456789)
_ALL: Final = 0xFFFFFFFFFFFFFFFF
# Masks of the first n bytes of a word, and the length from which Python hashes a text.
_BYTES: Final = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_LONG: Final = 512
_BAD: Final = np.uint64(0x0BADBADBADBADBAD)


def hashes(arrays: Sequence[pa.Array], bad: Sequence[pa.Array | None] = ()) -> Hashes:
    """One hash per row; equal rows have equal hashes within this process."""
    count = len(arrays[0]) if arrays else 0
    total: Hashes = np.zeros(count, dtype=np.uint64)
    for number, array in enumerate(arrays):
        hashed = _hashes(array)
        if array.null_count:
            hashed = np.where(np.asarray(array.is_null()), _NULL, hashed)
        if number < len(bad) and (wrong := bad[number]) is not None:
            hashed = np.where(np.asarray(wrong), _BAD, hashed)
        total = _mixed(total * _FACTOR + hashed + np.uint64(number + 1))
    return total


def _mixed(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def _hashes(array: pa.Array) -> Hashes:
    array = storage(array)
    type = array.type
    if pa.types.is_dictionary(type):
        own = _hashes(array.dictionary)
        indices = np.asarray(array.indices.fill_null(0)).astype(np.int64)
        return own[indices] if len(own) else np.zeros(len(array), dtype=np.uint64)
    if pa.types.is_string(type) or pa.types.is_binary(type):
        return _hashes_of_bytes(array)
    if pa.types.is_decimal(type):
        return _hashes_of_words(array, type.byte_width // 8)
    if pa.types.is_boolean(type):
        array = array.cast(pa.int8())
    elif pa.types.is_temporal(type):
        array = as_integers(array)
    elif not pa.types.is_integer(type) and not pa.types.is_floating(type):
        own = np.array([hash(value) & _ALL for value in map(repr, array.to_pylist())], dtype=np.uint64)
        return _mixed(own)
    values = np.asarray(array.fill_null(0) if array.null_count else array)
    if pa.types.is_floating(array.type):
        wide = values.astype(np.float64)
        # all NaNs are equal, and zero has no sign
        values = np.where(np.isnan(wide), np.float64("nan"), wide + 0.0).view(np.int64)
    converted: Hashes = values.astype(np.int64).view(np.uint64) if values.dtype != np.uint64 else values
    return _mixed(converted + _FACTOR)


def _hashes_of_words(array: pa.Array, count: int) -> Hashes:
    """Hashes of values of some 64-bit words each."""
    if not len(array):
        return np.zeros(0, dtype=np.uint64)
    words = np.frombuffer(array.buffers()[1], dtype=np.uint64)
    words = words[array.offset * count : (array.offset + len(array)) * count]
    total: Hashes = np.zeros(len(array), dtype=np.uint64)
    for number in range(count):
        total = _mixed(total * _FACTOR + words[number::count] + _FACTOR)
    return total


def _hashes_of_bytes(array: pa.Array) -> Hashes:
    """Hashes of texts or bytes, eight bytes of all of them at a time; long ones are hashed by Python."""
    count = len(array)
    if not count:
        return np.zeros(0, dtype=np.uint64)
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + count + 1]
    first, stop = int(offsets[0]), int(offsets[-1])
    data = np.zeros(stop - first + 8, dtype=np.uint8)
    if stop > first:
        data[: stop - first] = np.frombuffer(array.buffers()[2], dtype=np.uint8)[first:stop]
    words = np.ndarray(len(data) - 7, dtype="<u8", buffer=data, strides=(1,))  # one begins at each byte
    starts = offsets[:-1].astype(np.int64) - first
    bytes_left = np.diff(offsets).astype(np.int64)
    total: Hashes = _mixed(bytes_left.view(np.uint64) + _FACTOR)
    for row in np.flatnonzero(bytes_left > _LONG).tolist():
        total[row] = hash(data[starts[row] : starts[row] + bytes_left[row]].tobytes()) & _ALL
    rows = np.flatnonzero((bytes_left > 0) & (bytes_left <= _LONG))
    starts, bytes_left = starts[rows], bytes_left[rows]
    while len(rows):
        word = words[starts] & _BYTES[np.minimum(bytes_left, 8)]
        total[rows] = _mixed(total[rows] * _FACTOR + word)
        is_longer = bytes_left > 8
        rows, starts, bytes_left = rows[is_longer], starts[is_longer] + 8, bytes_left[is_longer] - 8
    return total
