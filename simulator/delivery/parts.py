"""Parts of a block's messages, and their merge into one batch in stream order.

A part holds the messages of one table and kind. Its values are written straight into the batch, in stream order:
writing each part separately first takes 10 % more processor time and up to 200 MB more memory (values of 7 KB).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import MESSAGE_SCHEMA, Ints, MessageBatch
from simulator.errors import DeliveryFailed
from simulator.native.program import ARROW, Program, RoomOf, compiled, write
from simulator.text.template import Piece, join, nulls_of, program_of

# A part with about this many bytes or more is written separately, so that an error names the part that is too large.
MOST_UNWRITTEN: Final = 1 << 28
# The columns that order messages, most significant first.
ORDER: Final = ("phase", "turn", "ordinal")


@dataclass(frozen=True, slots=True)
class Limit:
    """The longest value that a product delivers, and the names that the error message uses."""

    most_bytes: int
    format: str
    product: str
    subject: str

    def check(self, longest: int) -> None:
        """Raises DeliveryFailed if the longest value exceeds the limit."""
        if longest > self.most_bytes:
            raise DeliveryFailed(
                f"-f {self.format}: a message about {self.subject} has {longest:,} bytes, and {self.product} delivers "
                f"up to {self.most_bytes:,}. Write smaller values, or drop the column."
            )


@dataclass(frozen=True, slots=True)
class Part:
    """`count` messages in stream order: columns by name; values separately, as an array or as the program that writes
    them."""

    count: int
    columns: Mapping[str, pa.Array]
    values: pa.Array | Program
    limit: Limit | None = None

    def __len__(self) -> int:
        return self.count


def values_of(pieces: Sequence[Piece] | None, count: int) -> pa.Array | Program:
    """Values made of these pieces (None: null values): a program for the compiled library if it can write them, else
    the written array.
    """
    if pieces is None:
        return pa.nulls(count, pa.binary())
    if compiled() and nulls_of(pieces) is None:
        program = program_of(pieces)
        if program.bytes_each * count < MOST_UNWRITTEN:
            return program
    return join(pieces, count, pa.binary())


def part_of(messages: MessageBatch) -> Part:
    """Messages in stream order as one part."""
    columns = {field.name: messages[field.name] for field in MESSAGE_SCHEMA}
    return Part(len(messages), columns, columns.pop("value"))


def assembled(parts: Sequence[Part], room_of: RoomOf = ARROW) -> MessageBatch:
    """The messages of all parts in stream order: by order key; equal keys keep their order. Where the compiled library
    writes the values, `room_of` gives it memory for them.

    Raises OverflowError where the values have more than 2 GiB together, and DeliveryFailed for one above its limit.
    """
    order = _stream_order(parts)
    columns = {"value": _values(parts, order, room_of)}
    for name in {name: None for part in parts for name in part.columns}:
        type = MESSAGE_SCHEMA.field(name).type
        arrays = [part.columns[name] if name in part.columns else pa.nulls(len(part), type) for part in parts]
        columns[name] = arrays[0] if len(parts) == 1 else _sorted(arrays, order, type)
    return MessageBatch.of(len(order), **columns)


def _stream_order(parts: Sequence[Part]) -> Ints:
    """Indexes of the messages in stream order, counted through all parts."""
    keys = [np.concatenate([np.asarray(part.columns[name]) for part in parts]) for name in ORDER]
    if not len(keys[0]):
        return np.zeros(0, dtype=np.int64)
    ranges = [(int(key.min()), int(key.max()) + 1) for key in keys]
    if math.prod(stop - low for low, stop in ranges) >= 1 << 63:
        return np.lexsort(keys[::-1])
    # one number per key: sorting then merges the parts, which are sorted, two to three times as fast
    numbers = np.zeros(len(keys[0]), dtype=np.int64)
    for key, (low, stop) in zip(keys, ranges, strict=True):
        if stop - low > 1:
            numbers *= stop - low
            numbers += key
            numbers -= low
    return np.argsort(numbers, kind="stable")


def _sorted(arrays: Sequence[pa.Array], order: Ints, type: pa.DataType) -> pa.Array:
    """A column of all parts in stream order."""
    if all(array.null_count == len(array) for array in arrays):
        return pa.nulls(len(order), type)  # nothing to sort: most products have no keys or headers
    if pa.types.is_dictionary(type):
        return pa.chunked_array(arrays).unify_dictionaries().combine_chunks().take(pa.array(order))
    if pa.types.is_integer(type) and not any(array.null_count for array in arrays):
        return pa.array(np.concatenate([np.asarray(array) for array in arrays])[order])
    return pa.concat_arrays(arrays).take(pa.array(order))


def _values(parts: Sequence[Part], order: Ints, room_of: RoomOf) -> pa.Array:
    """The values of all parts in stream order. Raises DeliveryFailed."""
    arrays = [part.values for part in parts if isinstance(part.values, pa.Array)]
    if len(arrays) == len(parts) and (len(parts) == 1 or not compiled()):
        values = arrays[0] if len(parts) == 1 else pa.concat_arrays(arrays).take(pa.array(order))
    else:
        values = _written(parts, order, room_of)
    if any(part.limit is not None for part in parts):
        longest = np.zeros(len(parts), dtype=np.int32)
        np.maximum.at(longest, _parts_of(parts)[order], np.asarray(pc.binary_length(values).fill_null(0)))
        for part, size in zip(parts, longest.tolist(), strict=True):
            if part.limit is not None:
                part.limit.check(size)
    return values


def _parts_of(parts: Sequence[Part]) -> npt.NDArray[np.int32]:
    """The part of each message."""
    return np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])


def _written(parts: Sequence[Part], order: Ints, room_of: RoomOf) -> pa.Array:
    programs, nulls = list[Program](), list[npt.NDArray[np.bool_]]()
    for part in parts:
        if isinstance(part.values, Program):
            programs.append(part.values)
            nulls.append(np.zeros(len(part), dtype=bool))
        else:
            programs.append(Program())
            programs[-1].texts(part.values)
            nulls.append(np.asarray(part.values.is_null()))
    rows = np.concatenate([np.arange(len(part), dtype=np.int32) for part in parts])[order]
    missing = np.concatenate(nulls)[order]
    part_of_message = _parts_of(parts)[order]
    return write(programs, len(order), part_of_message, rows, nulls=missing, type=pa.binary(), room_of=room_of)
