"""Joins constants and columns of text; all messages are assembled here.

A message is a row of pieces, `'{"id":'`, [7, 8], `',"name":"'`, ['a', 'b'], `'"}'`. A column of texts may be a
dictionary, and a column of integers is written as digits; a run puts several rows into a message, a choice appears
in some rows only, members of an object are separated by commas. The compiled library writes all of it in one pass;
without it Arrow makes a text column of each piece and joins them, to the same bytes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias, Union, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.native.program import Kind, Program, compiled, write

Ints = npt.NDArray[np.int64]
TEXT: Final = pa.string()
# Below this many rows Arrow prints a single column sooner than a program for the library is made.
FEW_ROWS: Final = 1000
# A constant; a column of texts (plain or dictionary) or of integers; or a compound of pieces.
Piece: TypeAlias = Union[str, bytes, pa.Array, "Compound"]


class Compound:
    """A piece that is more than a column: `column` makes it with Arrow, `add_to` adds it to a program of the library.
    (Not an ABC: `isinstance` of one takes half a microsecond.)"""

    __slots__ = ()

    @abstractmethod
    def column(self) -> pa.Array: ...

    @abstractmethod
    def add_to(self, program: Program) -> None: ...

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        """The rows that are null; None where none is."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Run(Compound):
    """Concatenated texts of consecutive rows: message i has the rows `starts[i]` to `starts[i + 1]` of `rows`."""

    pieces: Sequence[Piece]
    starts: Ints
    separator: str
    rows: int

    def column(self) -> pa.Array:
        lists = pa.ListArray.from_arrays(pa.array(self.starts.astype(np.int32)), join(self.pieces, self.rows))
        return pc.binary_join(lists, constant(self.separator))

    def add_to(self, program: Program) -> None:
        opened = program.run(self.starts, self.separator.encode(), self.rows)
        add(program, self.pieces)
        program.close(opened)


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Compound):
    """Message i has the pieces of row `slots[i]` of `rows`, or, where that is negative, another text."""

    pieces: Sequence[Piece]
    slots: npt.NDArray[np.int32]
    otherwise: str | bytes
    rows: int

    def column(self) -> pa.Array:
        type = TEXT if isinstance(self.otherwise, str) else pa.binary()
        chosen = join(self.pieces, self.rows, type).take(pa.array(self.slots, mask=self.slots < 0))
        return chosen.fill_null(pa.scalar(self.otherwise, type)) if chosen.null_count else chosen

    def add_to(self, program: Program) -> None:
        opened = program.choice(self.slots, as_bytes(self.otherwise))
        add(program, self.pieces)
        program.close(opened)


@dataclass(frozen=True, slots=True, eq=False)
class Members(Compound):
    """Members separated by commas. Each has the (ascending) rows of `count` that contain it, and pieces with one
    value for each of these rows."""

    each: Sequence[tuple[Ints, Sequence[Piece]]]
    count: int

    def column(self) -> pa.Array:
        has_members = np.zeros(self.count, dtype=np.int32)
        segments: list[Piece] = []
        for rows, pieces in self.each:
            segment = join([pa.DictionaryArray.from_arrays(pa.array(has_members[rows]), COMMAS), *pieces], len(rows))
            has_members[rows] = 1
            segments.append(segment if len(rows) == self.count else spread(segment, rows, self.count))
        return join(segments, self.count) if segments else repeat("", self.count)

    def add_to(self, program: Program) -> None:
        program.mark()
        for rows, pieces in self.each:
            slots = np.full(self.count, -1, dtype=np.int32)
            slots[rows] = np.arange(len(rows), dtype=np.int32)
            opened = program.choice(slots, member=True)
            add(program, pieces)
            program.close(opened)


@dataclass(frozen=True, slots=True, eq=False)
class Joined(Compound):
    """Pieces of `count` rows, concatenated; null where a piece is."""

    pieces: Sequence[Piece]
    count: int

    def column(self) -> pa.Array:
        return join(self.pieces, self.count)

    def add_to(self, program: Program) -> None:
        add(program, self.pieces)

    @property
    def nulls(self) -> npt.NDArray[np.bool_] | None:
        return nulls_of(self.pieces)


def unless_null(pieces: Sequence[Piece], nulls: npt.NDArray[np.bool_], otherwise: str | bytes) -> Choice:
    """The pieces of each row, or another text where it is null."""
    return Choice(pieces, np.where(nulls, -1, np.arange(len(nulls))).astype(np.int32), otherwise, len(nulls))


# A comma in some rows: a dictionary's entries.
COMMAS: Final = pa.array(["", ","], pa.string())


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, with neighbouring constants merged and empty ones left out."""
    merged_pieces: list[Piece] = []
    for piece in pieces:
        if not isinstance(piece, str | bytes):
            merged_pieces.append(piece)
        elif merged_pieces and isinstance(merged_pieces[-1], type(piece)):
            merged_pieces[-1] = cast(Any, merged_pieces[-1]) + piece
        elif piece:
            merged_pieces.append(piece)
    return merged_pieces


def join(pieces: Iterable[Piece], count: int, type: pa.DataType = TEXT) -> pa.Array:
    """`count` texts or bytes, each the concatenated pieces of its row; null where a column is."""
    parts = merged(pieces)
    if not parts:
        return repeat("", count).cast(type)
    simple = len(parts) == 1 and (is_text(parts[0]) or (count < FEW_ROWS and isinstance(parts[0], pa.Array)))
    if compiled() and not simple:
        return write([program_of(parts)], count, nulls=nulls_of(parts), type=type)
    if len(parts) == 1:
        column = column_of(parts[0], count)
        return column if column.type == type else column.cast(type)
    columns = [_column_or_scalar(part, count, type) for part in parts]
    return pc.binary_join_element_wise(*columns, pa.scalar("", type))


def _column_or_scalar(piece: Piece, count: int, type: pa.DataType) -> pa.Array | pa.Scalar:
    if isinstance(piece, str) and type == TEXT:
        return constant(piece)
    if isinstance(piece, str | bytes):
        return pa.scalar(piece, type)
    column = column_of(piece, count)
    return column if column.type == type else column.cast(type)


def program_of(pieces: Iterable[Piece]) -> Program:
    """The pieces as a program of the library."""
    program = Program()
    add(program, pieces)
    return program.finished()


def add(program: Program, pieces: Iterable[Piece]) -> None:
    """Add pieces to a program."""
    for piece in pieces:
        if isinstance(piece, str):
            program.constant(piece.encode())
        elif isinstance(piece, bytes):
            program.constant(piece)
        elif isinstance(piece, Compound):
            piece.add_to(program)
        elif pa.types.is_integer(piece.type):
            program.numbers(piece, Kind.UDIGITS if pa.types.is_uint64(piece.type) else Kind.DIGITS)
        else:
            program.texts(piece)


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def column_of(piece: Piece, count: int) -> pa.Array:
    """A piece as plain texts, made by Arrow."""
    if isinstance(piece, str | bytes):
        return repeat(piece, count)
    if isinstance(piece, Compound):
        return piece.column()
    if pa.types.is_dictionary(piece.type):
        return piece.dictionary.take(piece.indices)
    return _digits(piece) if pa.types.is_integer(piece.type) else piece


def _digits(numbers: pa.Array) -> pa.Array:
    """Integers as text. Runs of equal numbers, as times have, are printed once."""
    if not numbers.null_count and len(numbers):
        values = np.asarray(numbers)
        begins = np.flatnonzero(np.diff(values, prepend=~values[:1]))
        if len(begins) <= len(values) // 4:
            runs = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(values)))
            return pa.array(values[begins]).cast(TEXT).take(pa.array(runs))
    return numbers.cast(TEXT)


def is_text(piece: Piece) -> bool:
    """Whether it is a constant or a column of texts or bytes already."""
    if isinstance(piece, pa.Array):
        return bool(pa.types.is_string(piece.type) or pa.types.is_binary(piece.type))
    return isinstance(piece, str | bytes)


def nulls_of(pieces: Iterable[Piece]) -> npt.NDArray[np.bool_] | None:
    """The rows in which a column is null; None where none is."""
    nulls: npt.NDArray[np.bool_] | None = None
    for piece in pieces:
        null_mask = None
        if isinstance(piece, Compound):
            null_mask = piece.nulls
        elif not isinstance(piece, str | bytes) and piece.null_count:
            null_mask = np.asarray(piece.is_null())
        nulls = null_mask if nulls is None else nulls if null_mask is None else nulls | null_mask
    return nulls


@lru_cache(maxsize=4096)
def constant(text: str) -> pa.Scalar:
    """A text scalar. Given a plain str, Arrow looks for the optional package dateutil on disk, every time."""
    return pa.scalar(text, pa.string())


def repeat(text: str | bytes, count: int) -> pa.Array:
    """The same text, or the same bytes, `count` times."""
    return pa.array([text]).take(pa.array(np.zeros(count, dtype=np.int64)))


def spread(texts: pa.Array, rows: Ints, count: int) -> pa.Array:
    """`count` texts: the given ones at the given (ascending) rows, empty ones elsewhere.

    Only the offsets are new: an empty text takes no place in the bytes.
    """
    lengths = np.zeros(count + 1, dtype=np.int32)
    if texts.offset:
        texts = pa.concat_arrays([texts])
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32, count=len(texts) + 1)
    lengths[rows + 1] = np.diff(offsets)
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(np.cumsum(lengths, dtype=np.int32)), texts.buffers()[2]], 0
    )


def object_pieces(names: Sequence[str], values: Sequence[Sequence[Piece]]) -> list[Piece]:
    """`{"a":…,"b":…}`: names are quoted JSON, each value is a list of pieces."""
    pieces: list[Piece] = ["{"]
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        pieces += ["," if i else "", name, ":", *value]
    pieces.append("}")
    return pieces
