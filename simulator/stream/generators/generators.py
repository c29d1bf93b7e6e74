"""Where values come from: one class per kind of values. A generator maps states of rows to a column of carriers.

A value is a function of the row's identity and of how often the column was set before, so that before and after images,
snapshots and final states agree wherever they are computed. `always` promises that setting the column again changes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import US_PER_DAY, decimals, primitive, validity
from simulator.stream.engine.history import History, State
from simulator.stream.engine.timeline import Timeline
from simulator.values import texts
from simulator.values.draw import GOLDEN, Bits, Ints, below, key, mix, unit

Mask = npt.NDArray[np.bool_]


class Generator(Protocol):
    """States in, one value per state out (no nulls of its own, but where a literal is null)."""

    always: bool

    def array(self, state: State) -> pa.Array: ...


def draws(state: State, history: History, salt: np.uint64) -> Bits:
    """64 fresh bits for each setting of the column."""
    return mix(state.identity + salt + state.changes(history).view(np.uint64) * GOLDEN)


class Index:
    """Numbers in [0, size), even; two settings in a row never give the same one (if there are two).

    The first is drawn, each further one is a fixed odd step on, drawn once per row.
    """

    def __init__(self, size: int, history: History, salt: np.uint64) -> None:
        self.size, self.history, self.salt = size, history, salt

    def __call__(self, state: State) -> Ints:
        first = below(mix(state.identity + self.salt), self.size)
        changes = state.changes(self.history)
        if self.size < 2 or not changes.any():
            return first
        step = 1 + below(mix(state.identity ^ self.salt), min(self.size - 1, 1 << 31))
        moved = first.view(np.uint64) + (changes % self.size * step).view(np.uint64)
        return (moved % np.uint64(self.size)).view(np.int64)


class Range:
    """Every `unit`-th number from low to high, both included, as the column's carrier (see `numeric`)."""

    def __init__(self, low: int, high: int, unit: int, type: pa.DataType, history: History, salt: np.uint64) -> None:
        self.low, self.unit, self.type = low, unit, type
        self.index = Index((high - low) // unit + 1, history, salt)
        self.always = self.index.size > 1

    def array(self, state: State) -> pa.Array:
        return numeric(self.low + self.index(state) * self.unit, self.type)


class FloatRange:
    """Numbers with two decimals from low to high: short texts, on which all algorithms for printing floats agree."""

    def __init__(self, low: float, high: float, type: pa.DataType, history: History, salt: np.uint64) -> None:
        self.low, self.type = round(low * 100), type
        self.index = Index(max(round(high * 100) - self.low + 1, 1), history, salt)
        self.always = self.index.size > 1

    def array(self, state: State) -> pa.Array:
        hundredths = (self.low + self.index(state)).astype(np.float64) / 100
        return pa.array(hundredths.astype(self.type.to_pandas_dtype()), self.type)


class Choices:
    """One of some values: evenly, or by weights."""

    def __init__(
        self, values: pa.Array, weights: Sequence[float] | None, history: History, salt: np.uint64, *, turned: bool
    ) -> None:
        self.values, self.history, self.salt = values, history, salt
        self.index = Index(len(values), history, salt)
        self.turned = turned
        self.steps = None if weights is None else np.cumsum(np.array(weights, dtype=np.float64)) / sum(weights)
        self.always = weights is None and len(values) > 1 and len(values.unique()) == len(values)

    def array(self, state: State) -> pa.Array:
        if self.steps is not None:
            place = np.searchsorted(self.steps, unit(draws(state, self.history, self.salt)), side="right")
            place = np.minimum(place, len(self.values) - 1)
        elif self.turned:
            # one after the other over neighbouring rows and over the settings of each
            place = (state.slot + state.row + state.life + 1 + state.changes(self.history)) % len(self.values)
        else:
            place = self.index(state)
        return pick(self.values, place)


def pick(values: pa.Array, place: npt.NDArray[np.intp]) -> pa.Array:
    """`values[place]`; texts and bytes stay a dictionary, so that work on them is done once per different value."""
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        if values.null_count:
            return values.take(pa.array(place))
        return pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), values)
    return values.take(pa.array(place))


class Constant:
    """Always the same value."""

    always = False

    def __init__(self, value: pa.Array) -> None:
        self.value = value

    def array(self, state: State) -> pa.Array:
        return pick(self.value, np.zeros(len(state), dtype=np.int64))


class Texts:
    """Random text over an alphabet."""

    def __init__(self, low: int, high: int, alphabet: str, history: History, salt: np.uint64) -> None:
        self.low, self.high, self.alphabet, self.history, self.salt = low, high, alphabet, history, salt
        size = len(set(texts.ALPHABETS.get(alphabet, alphabet)))
        # 64 bits of difference are as good as a promise
        self.always = low * math.log2(max(size, 1)) >= 64

    def array(self, state: State) -> pa.Array:
        drawn = draws(state, self.history, self.salt)
        return texts.text(drawn, self.low + below(mix(drawn), self.high - self.low + 1), self.alphabet)


class Blobs:
    """Random bytes."""

    def __init__(self, low: int, high: int, history: History, salt: np.uint64) -> None:
        self.low, self.high, self.history, self.salt = low, high, history, salt
        self.always = low >= 8

    def array(self, state: State) -> pa.Array:
        drawn = draws(state, self.history, self.salt)
        return texts.blob(drawn, self.low + below(mix(drawn), self.high - self.low + 1))


class Pattern:
    """Codes such as `SKU-4711-QX`."""

    def __init__(self, shape: str, history: History, salt: np.uint64) -> None:
        self.shape, self.history, self.salt = shape, history, salt
        self.always = 3.3 * sum(shape.count(c) for c in "#?*") >= 64

    def array(self, state: State) -> pa.Array:
        return texts.pattern(draws(state, self.history, self.salt), self.shape)


class Uuid:
    """Random UUIDs as text."""

    always = True

    def __init__(self, history: History, salt: np.uint64) -> None:
        self.history, self.salt = history, salt

    def array(self, state: State) -> pa.Array:
        return texts.uuid(draws(state, self.history, self.salt))


class Version:
    """1 for the value that the row was born with, one more for every setting."""

    always = True

    def __init__(self, type: pa.DataType, history: History) -> None:
        self.type, self.history = type, history

    def array(self, state: State) -> pa.Array:
        return numeric(state.changes(self.history) + 1, self.type)


class RowNumber:
    """The row's number in its entity, from 1."""

    always = False

    def __init__(self, type: pa.DataType) -> None:
        self.type = type

    def array(self, state: State) -> pa.Array:
        return numeric(state.row + 1, self.type)


class CommitTime:
    """Commit time of the transaction that set the value, in UTC, cut to the column's fraction digits (`unit_us`)."""

    always = False

    def __init__(self, timeline: Timeline, type: pa.DataType, unit_us: int, history: History) -> None:
        self.timeline, self.type, self.unit_us, self.history = timeline, type, unit_us, history

    def array(self, state: State) -> pa.Array:
        us = self.timeline.commit_us(state.turns(self.history))
        if pa.types.is_date32(self.type):
            return primitive(np.floor_divide(us, US_PER_DAY).astype(np.int32), self.type)
        if pa.types.is_duration(self.type):
            us = us % US_PER_DAY
        elif not pa.types.is_timestamp(self.type):
            return numeric(us // 1000, self.type)  # epoch milliseconds
        return primitive(us - us % self.unit_us, self.type)


class Sequence_:
    """Numbers that rise with the turn that wrote them. Rows born before the stream come first, without gaps.

    `(turn + before) · most + place`: `most` rows of the table are numbered in one turn at most, `places[tick]` is the
    place of the tick's first row among them, `before` turns lie between the oldest living row and turn 0.
    """

    always = True

    def __init__(
        self,
        start: int,
        *,
        places: Ints,
        most: int,
        before: int,
        eternal: Eternal,
        type: pa.DataType,
        history: History,
    ) -> None:
        self.start, self.places, self.most, self.before = start, places, most, before
        self.eternal, self.type, self.history = eternal, type, history

    def last_turn(self, highest: int) -> int:
        """The last turn whose numbers still fit below or at `highest`."""
        return (highest - self.start - self.eternal.rows - self.most) // self.most - self.before

    def array(self, state: State) -> pa.Array:
        _, tick = state.written(self.history)
        born = np.flatnonzero(tick == state.ticks.birth[state.program]) if self.eternal.rows else ()
        if len(born) == len(state):
            return numeric(self.start + self.eternal.number(state.cohort, state.slot, state.row), self.type)
        numbers = (state.turns(self.history) + self.before) * self.most + self.places[tick] + state.row
        numbers += self.start + self.eternal.rows
        if len(born):
            numbers[born] = self.start + self.eternal.number(state.cohort[born], state.slot[born], state.row[born])
        return numeric(numbers, self.type)


class Eternal:
    """The rows of a table that live for the whole stream, numbered from 0 without gaps."""

    def __init__(self, ticks_of: Sequence[tuple[int, int, int, int]]) -> None:
        """Of (cohort, first slot, slots, rows of each)."""
        self.parts = list(ticks_of)
        sizes = [slots * each for _, _, slots, each in self.parts]
        self.starts: Ints = np.cumsum([0, *sizes]).astype(np.int64)
        self.rows = int(self.starts[-1])
        top = max((cohort for cohort, *_ in self.parts), default=-1) + 1
        self._part = np.full(top, -1, dtype=np.int64)
        for i, (cohort, *_) in enumerate(self.parts):
            self._part[cohort] = i
        self._cohort = np.array([cohort for cohort, *_ in self.parts], dtype=np.int64)
        self._first = np.array([first for _, first, _, _ in self.parts], dtype=np.int64)
        self._each = np.array([each for *_, each in self.parts], dtype=np.int64)

    def number(self, cohort: Ints, slot: Ints, row: Ints) -> Ints:
        part = self._part[cohort]
        return self.starts[part] + (slot - self._first[part]) * self._each[part] + row

    def rows_at(self, numbers: Ints) -> tuple[Ints, Ints, Ints]:
        """(cohort, slot, row) of these numbers."""
        part = np.searchsorted(self.starts, numbers, side="right") - 1
        slot, row = np.divmod(numbers - self.starts[part], self._each[part])
        return self._cohort[part], slot + self._first[part], row


class Referenced(Protocol):
    """A column of another table."""

    def array(self, state: State) -> pa.Array: ...


class Reference:
    """The key of an eternal row of another table. `skew` above 1 picks low numbers more often."""

    always = False

    def __init__(
        self, table: str, column: Referenced, eternal: Eternal, skew: float, history: History, salt: np.uint64
    ) -> None:
        self.table, self.column, self.eternal, self.skew = table, column, eternal, skew
        self.history, self.salt = history, salt

    def array(self, state: State) -> pa.Array:
        drawn = draws(state, self.history, self.salt)
        if self.skew == 1:
            number = below(drawn, self.eternal.rows)
        else:
            number = np.minimum((unit(drawn) ** self.skew * self.eternal.rows).astype(np.int64), self.eternal.rows - 1)
        cohort, slot, row = self.eternal.rows_at(number)
        ticks = state.ticks
        return self.column.array(
            State(
                ticks,
                self.table,
                cohort=cohort,
                slot=slot,
                cycle=np.full(len(slot), -1, dtype=np.int64),
                tick=ticks.birth[ticks.cohort_program[cohort]],
                row=row,
            )
        )


class Of:
    """A column of the same entity's row in another table, as it was when this column was set."""

    always = False

    def __init__(self, table: str, column: Referenced, single: bool, history: History) -> None:
        self.table, self.column, self.single, self.history = table, column, single, history

    def array(self, state: State) -> pa.Array:
        row = np.zeros(len(state), dtype=np.int64) if self.single else state.row
        return self.column.array(state.at(self.table, state.written(self.history), row))


class States:
    """The literal of the step that last set the column. `place[tick]` is its number among `values`."""

    def __init__(self, values: pa.Array, place: Ints, history: History) -> None:
        self.values, self.place, self.history = values, place, history
        self.always = len(values.unique()) == len(values)

    def array(self, state: State) -> pa.Array:
        return pick(self.values, self.place[state.written(self.history).tick])


def salt(seed: int, table: str, field: str, what: str = "") -> np.uint64:
    """The key that makes a column's draws its own: adding a column changes no other's values."""
    return key(seed, table, field, what)


def numeric(numbers: Ints, type: pa.DataType) -> pa.Array:
    """Whole numbers as a carrier: integers as they are, decimals as unscaled, dates as days, times as microseconds."""
    if pa.types.is_decimal128(type):
        return decimals(numbers, type.precision, type.scale)
    if pa.types.is_decimal256(type):
        words = np.repeat(numbers >> 63, 4).reshape(-1, 4)
        words[:, 0] = numbers
        return pa.Array.from_buffers(type, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(words))], 0)
    if pa.types.is_date32(type):
        return primitive(numbers.astype(np.int32), type)
    if pa.types.is_floating(type):
        return pa.array(numbers.astype(type.to_pandas_dtype()), type)
    if pa.types.is_string(type):
        return pa.array(numbers).cast(pa.string())
    return primitive(numbers, type)


def with_nulls(array: pa.Array, nulls: Mask) -> pa.Array:
    """The array with nulls where the mask is true."""
    if not nulls.any():
        return array
    if array.null_count:
        nulls = nulls | np.asarray(array.is_null())
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(with_nulls(array.indices, nulls), array.dictionary)
    if array.offset:
        array = pa.concat_arrays([array])  # a bitmap counts from the buffers' start
    return pa.Array.from_buffers(array.type, len(array), [validity(nulls), *array.buffers()[1:]], -1)
