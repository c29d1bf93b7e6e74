"""Values that a message's fields can hold; `encoder` compiles declared fields into joined columns.

A field is a row of the format's spec: its name, and its value for each kind of event: a JSON constant (None is `null`),
ABSENT, or one of the placeholders below. Columns fill a placeholder for kinds that change rows; the rare kinds (DDL,
heartbeat) are built one by one in plain Python from the same declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.model import ABSENT, Column, ColumnType, Event, Kind, Table
from simulator.text.json_style import Style, escape, quote
from simulator.text.pieces import PIECES
from simulator.text.template import Piece, join

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """Rendering of a column's values: `text` turns a column of carriers into a column of text; nulls stay null.

    `quoted`: a JSON string, otherwise bare text (a number). `escaped`: the text may hold characters that
    JSON escapes. `null` is the text for a null. `piece` gives the text without a column: the compiled library
    writes it directly into the message.
    """

    text: Callable[[pa.Array], pa.Array]
    quoted: bool = True
    escaped: bool = False
    null: str = "null"
    constant: str | None = None  # all values, nulls too, have this text
    piece: Callable[[pa.Array], Piece] | None = None


def rendered(
    render: Callable[..., pa.Array], type: ColumnType, *, escaped: bool = False, quoted: bool = True, **options: Any
) -> Cell:
    """The cell of values whose text is `render(array, type, **options)`."""
    piece = PIECES.get(render)
    return Cell(
        lambda array: render(array, type, **options),
        quoted=quoted,
        escaped=escaped,
        piece=None if piece is None else lambda array: piece(array, type, **options),
    )


# The cell of a column: chosen once per column of a table version.
Cells = Callable[[Column], Cell]

# Column indexes in output order: `order(names, entries)`; `entries` is how many of the names are present, since the
# order of a hash map depends on it.
Order = Callable[[Sequence[str], int], Sequence[int]]


def table_order(names: Sequence[str], entries: int) -> Sequence[int]:
    """Columns in table order."""
    return range(len(names))


@dataclass(frozen=True)
class PerTable:
    """JSON text that is the same for all changes of a table version: `of(table, style)`."""

    of: Callable[[Table, Style], str]


@dataclass(frozen=True)
class PerChange:
    """A column with one value per change; a message shows its first row's. `event` gives the value for single events.

    `of(batch)` returns integers, or finished JSON text: a column, or the pieces of one. `zeros`: number of zeros
    appended to each integer, such as those of milliseconds in nanoseconds.
    """

    of: Callable[[ChangeBatch], Ints | pa.Array | list[Piece]]
    event: Callable[[Event], Any] | None = None
    zeros: int = 0


@dataclass(frozen=True)
class PerEvent:
    """A value of a single event (DDL, heartbeat): anything that JSON can say, or ABSENT."""

    of: Callable[[Any], Any]


@dataclass(frozen=True)
class Rows:
    """A JSON array with one object per row of the message; the object alone unless `array`.

    `after` and `before` are whole images; `changed` and `changed after` the before and after values of the columns that
    count as changed. With `drop_empty`, rows without changed columns are left out, and the array is null if no row
    remains; a message with one object lacks the member. Columns at the indexes that `kept` returns are always written.
    `columns` returns the indexes of the columns to write, in output order (None: all, in the encoder's order);
    `skip_nulls` leaves out null members; `tail` is JSON text of members behind the columns. `logged` says for each
    column in which rows of a batch (ascending; None: in none) the log held it, or None if all have all.
    """

    image: Literal["after", "before", "changed", "changed after"]
    drop_empty: bool = False
    array: bool = True
    columns: Callable[[Table], Sequence[int]] | None = None
    skip_nulls: bool = False
    tail: PerTable | None = None
    logged: Callable[[ChangeBatch], Sequence[Ints | None] | None] | None = None
    kept: Callable[[Table], Sequence[int]] | None = None


@dataclass(frozen=True)
class Codes:
    """A JSON object with a number per column; if it depends on the value, the event's last row decides."""

    cells: Cells


@dataclass(frozen=True)
class Members:
    """A JSON object with fields of its own."""

    fields: tuple[Field, ...]


@dataclass(frozen=True)
class InRows:
    """A value that only some changes have; messages of others lack the member. `rows(batch)` is the mask of rows with
    the value; a message shows its first row's. It cannot be the first member of an object.
    """

    rows: Callable[[ChangeBatch], npt.NDArray[np.bool_]]
    value: Value


Placeholder = PerTable | PerChange | PerEvent | Rows | Codes | Members | InRows
Value = Placeholder | str | int | bool | None | Any  # Any: ABSENT


@dataclass(frozen=True)
class Field:
    """One member of a message: the same value for every kind, or a mapping from each kind to its value."""

    name: str
    value: Value | Mapping[Kind, Value]

    def on(self, kind: Kind) -> Value:
        """The value for a kind; ABSENT if the mapping lacks the kind."""
        return self.value.get(kind, ABSENT) if isinstance(self.value, Mapping) else self.value


def derived(parent: Sequence[Field], fields: Sequence[Field]) -> tuple[Field, ...]:
    """A parent's fields with some replaced. Raises ValueError for a field that the parent does not have."""
    by_name = {field.name: field for field in parent}
    for field in fields:
        if field.name not in by_name:
            raise ValueError(f"the parent has no field {field.name!r}")
        by_name[field.name] = field
    return tuple(by_name.values())


def json_text(value: Any, style: Style) -> str:
    """A value as compact JSON in the style's escapes."""
    if isinstance(value, str):
        return quote(value, style)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{quote(k, style)}:{json_text(v, style)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(json_text(v, style) for v in value) + "]"
    return orjson.dumps(value).decode()


def number_text(numbers: Ints) -> pa.Array:
    """Integers as text."""
    return join(number_pieces("", numbers), len(numbers))


def inner_text(cell: Cell, array: pa.Array, style: Style) -> Piece:
    """Values to insert into a JSON string: escaped, without quotes; empty for null."""
    if cell.piece is not None and not array.null_count and not pa.types.is_dictionary(array.type):
        return cell.piece(array)
    return escape(plain_text(cell, array), style).fill_null("")


def number_pieces(lead: str, numbers: Ints, zeros: int = 0) -> list[Piece]:
    """Integers after a constant, each followed by this number of zeros."""
    if not zeros:
        return [lead, pa.array(numbers)]
    if len(numbers) and not numbers.all():
        return [lead, pa.array(numbers * 10**zeros)]
    return [lead, pa.array(numbers), "0" * zeros]


def plain_text(cell: Cell, array: pa.Array) -> pa.Array:
    """A column's values as plain text, not escaped, nulls kept; a dictionary's entries are rendered once."""
    if pa.types.is_dictionary(array.type):
        return plain(cell.text(array.dictionary)).take(array.indices)
    return plain(cell.text(array))


def plain(array: pa.Array) -> pa.Array:
    """The array without its dictionary."""
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array
