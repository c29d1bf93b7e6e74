"""Programs of pieces, and the C call that writes their messages."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.carriers import validity
from simulator.native.library import LIBRARY, memory

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
# A table of short texts: cells of eight bytes, the last of which is the length of the text in the others.
Cells = npt.NDArray[np.uint8]
# Allocates a buffer of n bytes: from Arrow, or memory shared with another process.
RoomOf: TypeAlias = Callable[[int], pa.Buffer]
ARROW: Final[RoomOf] = partial(pa.allocate_buffer, resizable=True)

# Padding after constants and after the buffer, in bytes: the library copies in blocks of this size.
BLOCK: Final = 32
MOST_BYTES: Final = 2**31 - 1
BROKEN: Final = -2
# Approximate bytes of a number and of a time.
DIGITS_BYTES: Final = 14
TIME_BYTES: Final = 26


def compiled() -> bool:
    """Whether the library was built and CDCSIM_PURE does not switch it off."""
    return LIBRARY is not None


class Kind(IntEnum):
    """The kinds of pieces, as `write.c` numbers them."""

    CONSTANT = 0
    TEXT = 1
    ENTRY = 2
    DIGITS = 3
    UDIGITS = 4
    LONG = 5
    SIZED = 6
    SIZED_ENTRY = 7
    RUN = 8
    CHOICE = 9
    MARK = 10
    MEMBER = 11
    DECIMAL = 12
    GROUPED = 13
    TIME = 14
    TRIMMED = 15
    DAY = 16
    LENGTH = 17
    MAPPED = 18
    CLOCK = 19
    TRIMMED_CLOCK = 20
    SCALED = 21
    DRAWN = 22
    MEMBERS = 23
    BASE64 = 24
    SIGNED = 25
    SIGNED_BASE64 = 26


class Piece(NamedTuple):
    """A piece as `write.c` reads it (`struct piece`): addresses, sizes in bytes, counts of elements.

    `lead` is the constant before it. `span`: the pieces behind it that are inside of it. `option`: how a number is
    written.
    """

    kind: int
    lead: int
    lead_size: int
    data: int = 0
    data_size: int = 0
    offsets: int = 0
    elements: int = 0
    indices: int = 0
    index_count: int = 0
    span: int = 0
    option: int = 0


# Rows of a compiled program.
PIECES: Final = np.dtype([(name, np.int64) for name in Piece._fields])


def cells(texts: Iterable[str | bytes]) -> Cells:
    """A table of texts of up to seven bytes."""
    encoded = [text.encode() if isinstance(text, str) else text for text in texts]
    data = b"".join(text.ljust(7, b"\0") + bytes([len(text)]) for text in encoded)
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 8)


class Program:
    """Pieces in the library's form, with the memory that they point to. A constant waits for the piece behind it."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.bytes_each = 0.0  # of a message, about
        self._shares = [1.0]  # how often, on average, a message has what is added now
        self._kept: list[Any] = []
        self._lead = b""

    def constant(self, data: bytes) -> None:
        self._lead += data

    def texts(self, array: pa.Array, *, sized: bool = False) -> None:
        """Texts or bytes, or a dictionary of them; with `sized` each behind its length, as Avro has it."""
        if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
            array = array.dictionary.take(array.indices)
        if pa.types.is_dictionary(array.type):
            kind, entries = Kind.SIZED_ENTRY if sized else Kind.ENTRY, array.dictionary
            indices = array.indices.fill_null(0) if array.indices.null_count else array.indices
            indices = indices if indices.type == pa.int32() else indices.cast(pa.int32())
            index = (_address(indices, 4), len(indices))
        else:
            kind, entries, indices, index = Kind.SIZED if sized else Kind.TEXT, array, None, (0, 0)
        self._texts(kind, entries, *index, more=2 if sized else 0)
        self._kept.append(indices)

    def mapped(self, array: pa.Array, table: Cells, skip: int = 0) -> None:
        """Texts or bytes with a text of the table for each of their bytes; the first without `skip` bytes."""
        self._texts(Kind.MAPPED, array, _memory(table), len(table), option=skip)
        self._kept.append(table)

    def base64(self, array: pa.Array) -> None:
        """Bytes as Base64."""
        self._texts(Kind.BASE64, array)

    def drawn(self, draws: npt.NDArray[np.uint64], lengths: Int64s, table: Cells) -> None:
        """`lengths` texts of the table for each draw."""
        draws, sizes = np.ascontiguousarray(draws), lengths.astype(np.int32)
        self._count(float(sizes.mean()) * float(table[:, -1].mean()) if len(sizes) else 0)
        self._add(Kind.DRAWN, _memory(draws), draws.nbytes, _memory(table), len(table), _memory(sizes), len(sizes))
        self._kept += [draws, sizes, table]

    def signed(self, array: pa.Array, *, base64: bool = False) -> None:
        """Numbers of 64 bits, or decimals with such unscaled numbers, in the fewest bytes of two's complement: behind
        their number as Avro has it, or as Base64."""
        words = 2 if pa.types.is_decimal(array.type) else 1
        self._count(DIGITS_BYTES)
        kind, size = Kind.SIGNED_BASE64 if base64 else Kind.SIGNED, 8 * words
        self._add(kind, _address(array, size), size * len(array), 0, len(array), option=words, kept=array)

    def numbers(self, array: pa.Array | Int64s, kind: Kind, option: int = 0) -> None:
        """Numbers of 64 bits; decimals and pairs of 128, in Arrow arrays. `option`: a decimal's scale, a time's
        fraction digits, or how many of its units are a microsecond."""
        self._count(TIME_BYTES if kind in (Kind.TIME, Kind.TRIMMED, Kind.MEMBERS) else DIGITS_BYTES)
        width = 16 if kind in (Kind.DECIMAL, Kind.GROUPED, Kind.SCALED) else 8
        address = memory(array) if isinstance(array, np.ndarray) else _address(array, width)
        self._add(kind, address, width * len(array), 0, len(array), option=option, kept=array)

    def run(self, starts: Int64s, separator: bytes, rows: int) -> int:
        """Opens runs over `rows` rows; pieces added until `close` are written for each row."""
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        count, constant = len(starts) - 1, self._constant(separator)
        opened = self._add(Kind.RUN, constant, len(separator), _memory(starts), count, 0, rows, kept=starts)
        self._shares.append(self._shares[-1] * rows / max(count, 1))
        self._count(len(separator))
        return opened

    def choice(self, slots: Int32s, otherwise: bytes = b"", *, member: bool = False) -> int:
        """Opens pieces for messages with a slot (not negative); until `close` rows are those of the slots."""
        kind = Kind.MEMBER if member else Kind.CHOICE
        constant = self._constant(otherwise)
        opened = self._add(kind, constant, len(otherwise), 0, 0, _memory(slots), len(slots), kept=slots)
        self._count(len(otherwise))
        self._shares.append(self._shares[-1] * np.count_nonzero(slots >= 0) / max(len(slots), 1))
        return opened

    def length(self) -> int:
        """Opens pieces that are preceded by their length, as Avro texts are, until `close`."""
        opened = self._add(Kind.LENGTH)
        self._shares.append(self._shares[-1])
        return opened

    def mark(self) -> None:
        """Separates the following members by commas."""
        self._add(Kind.MARK)

    def close(self, opened: int) -> None:
        self._flush()
        self._shares.pop()
        self.pieces[opened] = self.pieces[opened]._replace(span=len(self.pieces) - opened - 1)

    def finished(self) -> Program:
        self._flush()
        return self

    def _texts(
        self, kind: Kind, array: pa.Array, indices: int = 0, index_count: int = 0, *, more: int = 0, option: int = 0
    ) -> None:
        """`more` is the number of bytes written beyond the texts' own."""
        if not pa.types.is_string(array.type) and not pa.types.is_binary(array.type):
            array = array.cast(pa.binary())
        _, offsets, data = array.buffers()
        size = 0 if data is None else data.size
        address = 0 if data is None else data.address
        begins = 0 if offsets is None else offsets.address + 4 * array.offset
        # slices, too: an estimate
        self._count(min(size / max(len(array), 1), 1 << 16) + more)
        self._add(kind, address, size, begins, len(array) if begins else 0, indices, index_count, option=option)
        self._kept.append(array)

    def _count(self, size: float) -> None:
        self.bytes_each += size * self._shares[-1]

    def _flush(self) -> None:
        if self._lead:
            self._add(Kind.CONSTANT)

    def _add(
        self, kind: Kind, data: int = 0, size: int = 0, offsets: int = 0, count: int = 0, indices: int = 0,
        index_count: int = 0, *, option: int = 0, kept: Any = None,
    ) -> int:  # fmt: skip
        lead, self._lead = self._lead, b""
        self._count(len(lead))
        constant = self._constant(lead)
        self.pieces.append(
            Piece(kind, constant, len(lead), data, size, offsets, count, indices, index_count, option=option)
        )
        if kept is not None:
            self._kept.append(kept)
        return len(self.pieces) - 1

    def _constant(self, data: bytes) -> int:
        """The address of a constant, padded."""
        if not data:
            return 0
        padded = ctypes.create_string_buffer(data, len(data) + BLOCK)
        self._kept.append(padded)
        return ctypes.addressof(padded)


def write(
    programs: Sequence[Program],
    count: int,
    of: Int32s | None = None,
    rows: Int32s | None = None,
    *,
    nulls: npt.NDArray[np.bool_] | None = None,
    type: pa.DataType,
    room_of: RoomOf = ARROW,
) -> pa.Array:
    """`count` messages: message i is row `rows[i]` of program `of[i]`; without these, row i of the only one. `room_of`
    gives memory for them.

    Raises OverflowError where they have more than 2 GiB together.
    """
    assert LIBRARY is not None
    pieces = np.array([piece for program in programs for piece in program.pieces], dtype=PIECES)
    begins = np.zeros(len(programs) + 1, dtype=np.int64)
    np.cumsum([len(program.pieces) for program in programs], out=begins[1:])
    offsets = np.zeros(count + 1, dtype=np.int32)
    counts = np.bincount(of, minlength=len(programs)) if of is not None else np.full(len(programs), count)
    # a little more than the estimate: allocating again is slower than any work on the buffer
    room = int(1.03 * (counts @ np.array([program.bytes_each for program in programs]))) + 4096
    buffer = room_of(min(room, MOST_BYTES) + BLOCK)
    done = 0
    while True:
        done = LIBRARY.cdcsim_write(
            _memory(pieces), _memory(begins), len(programs), _memory(of), _memory(rows), done, count, buffer.address,
            buffer.size, _memory(offsets),
        )  # fmt: skip
        if done == BROKEN:
            raise AssertionError("a piece names what its buffers do not have")
        if done == count:
            break
        if buffer.size >= MOST_BYTES + BLOCK:
            raise OverflowError("the messages have more than 2 GiB together")
        smaller, buffer = buffer, room_of(min(2 * buffer.size, MOST_BYTES + BLOCK))
        ctypes.memmove(buffer.address, smaller.address, int(offsets[done]))
    used = int(offsets[-1])
    if isinstance(buffer, pa.ResizableBuffer):
        buffer.resize(used, shrink_to_fit=used < buffer.size * 3 // 4)
    data = buffer.slice(0, used)
    return pa.Array.from_buffers(type, count, [validity(nulls), pa.py_buffer(offsets), data], -1)


def _address(array: pa.Array, width: int) -> int:
    """Address of a primitive array's values."""
    data = array.buffers()[1]
    return 0 if data is None else int(data.address) + width * array.offset


def _memory(array: npt.NDArray[Any] | None) -> int:
    return 0 if array is None else memory(array)
