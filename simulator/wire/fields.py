"""What a field of a message can hold, and the encoder that compiles declared fields into joined columns.

A field is a row of the format's spec: its name, and what stands there for each kind of event: a JSON constant (None is
`null`), ABSENT, or one of the holes below. For kinds that change rows a hole is filled by columns; the rare kinds (DDL,
heartbeat) are built one by one in plain Python from the same declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Delta, PackedBatch
from simulator.model import ABSENT, Column, Event, Kind, Table
from simulator.wire.json_style import Style, escape, quote
from simulator.wire.template import Piece, constant, join, join_runs, object_pieces, repeat, spread

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """How a column's values look: `text` makes a column of text of a column of carriers, nulls stay null.

    `quoted`: a JSON string, otherwise the text stands bare (a number). `escaped`: the text may hold characters that
    JSON escapes. `null` is what stands for a null. `parts`, of columns without nulls, gives the text in pieces side by
    side, which saves joining them before they are joined to the message.
    """

    text: Callable[[pa.Array], pa.Array]
    quoted: bool = True
    escaped: bool = False
    null: str = "null"
    constant: str | None = None  # all values, nulls too, have this text
    parts: Callable[[pa.Array], list[pa.Array]] | None = None


# Dictionaries that an encoder keeps in finished form.
KEPT_DICTIONARIES = 512

# The cell of a column: chosen once per column of a table version.
Cells = Callable[[Column], Cell]

# Places of a map's names in the order in which they are written: `order(names, entries)`, where `entries` of the names
# are there, which is what a hash map's order depends on.
Order = Callable[[Sequence[str], int], Sequence[int]]


def table_order(names: Sequence[str], entries: int) -> Sequence[int]:
    """Columns stand as in the table."""
    return range(len(names))


@dataclass(frozen=True)
class PerTable:
    """JSON text that is the same for all changes of a table version: `of(table, style)`."""

    of: Callable[[Table, Style], str]


@dataclass(frozen=True)
class PerChange:
    """A column with one value per change; a message shows its first row's. `event` gives the value for single events.

    `of(batch)` gives whole numbers, or finished JSON text.
    """

    of: Callable[[ChangeBatch], Ints | pa.Array]
    event: Callable[[Event], Any] | None = None


@dataclass(frozen=True)
class PerEvent:
    """A value of a single event (DDL, heartbeat): anything that JSON can say, or ABSENT."""

    of: Callable[[Any], Any]


@dataclass(frozen=True)
class Rows:
    """A JSON array with one object per row of the message; the object alone unless `array`.

    `after` and `before` are whole images; `changed` and `changed after` the before and after values of the columns that
    count as changed. With `drop_empty` a row in which none does is left out, and the array is null if nothing is left.
    Columns at the places that `kept` gives are there, changed or not.
    `columns` gives the places of the columns that are there, in their order (all, in the encoder's order, if None);
    `skip_nulls` leaves out null members; `tail` is JSON text of members behind the columns. `shown` says for each
    column in which rows of a batch (ascending; None: in none) a whole image has it, or None if all have all.
    """

    image: Literal["after", "before", "changed", "changed after"]
    drop_empty: bool = False
    array: bool = True
    columns: Callable[[Table], Sequence[int]] | None = None
    skip_nulls: bool = False
    tail: PerTable | None = None
    shown: Callable[[ChangeBatch], Sequence[Ints | None] | None] | None = None
    kept: Callable[[Table], Sequence[int]] | None = None


@dataclass(frozen=True)
class Codes:
    """A JSON object with a number per column, which may depend on the value: that of the event's last row counts."""

    cells: Cells


@dataclass(frozen=True)
class Members:
    """A JSON object with fields of its own."""

    fields: tuple[Field, ...]


Hole = PerTable | PerChange | PerEvent | Rows | Codes | Members
Value = Hole | str | int | bool | None | Any  # Any: ABSENT


@dataclass(frozen=True)
class Field:
    """One member of a message: the same value for every kind, or a mapping from each kind to its value."""

    name: str
    value: Value | Mapping[Kind, Value]

    def on(self, kind: Kind) -> Value:
        """What stands there for a kind; ABSENT where a mapping says nothing of it."""
        return self.value.get(kind, ABSENT) if isinstance(self.value, Mapping) else self.value


class Encoder:
    """Fields compiled for the tables that come along. Holds no state but caches; encodes any event first or twice."""

    def __init__(
        self,
        fields: Sequence[Field],
        cells: Cells,
        style: Style,
        order: Order = table_order,
        member: Callable[[str], str] = str,
    ) -> None:
        self.fields, self.style, self.order, self.member = tuple(fields), style, order, member
        self._cells = cells
        self._cell_cache: dict[tuple[int, int], tuple[Column, Cell]] = {}
        self._tables: dict[tuple[int, int], tuple[Table, str]] = {}
        self._surrounded: dict[tuple[str, int, int, int], tuple[pa.Array, pa.Array]] = {}

    def cell(self, column: Column, cells: Cells | None = None) -> Cell:
        """The cell of a column, chosen once."""
        cells = cells or self._cells
        key = (id(column), id(cells))
        if key not in self._cell_cache:
            self._cell_cache[key] = (column, cells(column))  # keeps the column alive, so that its id stays its own
        return self._cell_cache[key][1]

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """A column's plain text, as products hash it: not escaped, nulls kept."""
        return plain(self.cell(column).text(array))

    def surrounded(self, before: str, values: pa.Array, after: str) -> pa.Array:
        """Values of a dictionary with text before and after each. Pools come again with every batch and are kept."""
        data = values.buffers()[2]
        key = (before, data.address if data is not None else 0, values.offset, len(values))
        if key not in self._surrounded:
            if len(self._surrounded) >= KEPT_DICTIONARIES:
                self._surrounded.clear()
            # the values are kept, too, so that their address stays their own
            self._surrounded[key] = (values, join([before, values, after], len(values)))
        return self._surrounded[key][1]

    # ----------------------------------------------------------------------------------------------------- columnar

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        """One JSON text per message, and `end` behind it."""
        return join([*self._object(self.fields, packed, _Images(self, packed)), end], len(packed))

    def _object(self, fields: Sequence[Field], packed: PackedBatch, images: _Images) -> list[Piece]:
        pieces: list[Piece] = []
        for field in fields:
            value = field.on(packed.changes.kind)
            if value is not ABSENT:
                lead = f"{',' if pieces else '{'}{quote(field.name, self.style)}:"
                if isinstance(value, PerChange):
                    pieces += self._per_change(lead, value, packed)
                else:
                    pieces += [lead, *self._hole(value, packed, images)]
        return [*pieces, "}"] if pieces else ["{}"]

    def _hole(self, value: Value, packed: PackedBatch, images: _Images) -> list[Piece]:
        match value:
            case PerTable():
                return [self.per_table(value, packed.changes.table)]
            case Members():
                return self._object(value.fields, packed, images)
            case Rows():
                return images.rows(value)
            case Codes():
                return images.codes(value.cells)
            case PerEvent():
                raise TypeError("a PerEvent value cannot stand in a message about rows")
            case _:
                return [json_text(value, self.style)]

    def _per_change(self, lead: str, hole: PerChange, packed: PackedBatch) -> list[Piece]:
        made = hole.of(packed.changes)
        if not packed.single:
            at = packed.starts[:-1]
            made = made.take(pa.array(at)) if isinstance(made, pa.Array) else made[at]
        return [lead, made] if isinstance(made, pa.Array) else number_pieces(lead, made)

    def per_table(self, hole: PerTable, table: Table) -> str:
        """The text of a hole for a table version, made once."""
        key = (id(table), id(hole))
        if key not in self._tables:
            self._tables[key] = (
                table,
                hole.of(table, self.style),
            )  # keeps the table alive, so that its id stays its own
        return self._tables[key][1]

    # ------------------------------------------------------------------------------------------------- single events

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The JSON text of a DDL statement or heartbeat."""
        return self._event_object(self.fields, event, kind).encode()

    def _event_object(self, fields: Sequence[Field], event: Event, kind: Kind) -> str:
        members = []
        for field in fields:
            value = field.on(kind)
            if isinstance(value, PerEvent):
                value = value.of(event)
            elif isinstance(value, PerChange):
                assert value.event is not None
                value = value.event(event)
            if value is not ABSENT:
                if isinstance(value, Members):
                    text = self._event_object(value.fields, event, kind)
                else:
                    text = json_text(value, self.style)
                members.append(f"{quote(field.name, self.style)}:{text}")
        return "{" + ",".join(members) + "}"


def json_text(value: Any, style: Style) -> str:
    """A value as compact JSON in the style's escapes."""
    if isinstance(value, str):
        return quote(value, style)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{quote(k, style)}:{json_text(v, style)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(json_text(v, style) for v in value) + "]"
    return orjson.dumps(value).decode()


_COMMAS = pa.array(["", ","], pa.string())

# A column of text, or the pieces of one.
Text: TypeAlias = pa.Array | list[pa.Array]


class _Images:
    """The row images of one batch as pieces; texts that several fields need are made once."""

    def __init__(self, encoder: Encoder, packed: PackedBatch) -> None:
        self.encoder, self.packed, self.batch = encoder, packed, packed.changes
        self._after: dict[int, Text] = {}

    def rows(self, hole: Rows) -> list[Piece]:
        """The array of each message's rows, or the one object."""
        starts = self.packed.starts
        tail = "" if hole.tail is None else self.encoder.per_table(hole.tail, self.batch.table)
        shown = None if hole.shown is None else hole.shown(self.batch)
        if hole.image.startswith("changed") or hole.skip_nulls or shown is not None:
            if shown is not None:
                members, some = self._logged(hole, shown)
            else:
                members, some = self._changed(hole) if hole.image.startswith("changed") else self._present(hole)
            comma = "," if tail and some.all() else ""
            rows: list[Piece] = ["{", members, comma, tail, "}"]
            if tail and not some.all():
                rows[2] = _COMMAS.take(pa.array(some.astype(np.int8)))
            if hole.drop_empty and not some.all():
                kept = np.concatenate([[0], np.cumsum(some)])[starts]
                objects = join(rows, len(self.batch)).filter(pa.array(some))
                arrays = join(["[", join_runs(objects, kept, ","), "]"], len(self.packed))
                return [pc.if_else(pa.array(np.diff(kept) > 0), arrays, constant("null"))]
        else:
            rows = ["{"]
            for place, i in enumerate(self._places(hole)):
                rows += self._member(f"{',' if place else ''}{self._names[i]}:", i, self._text(hole.image, i))
            rows += ["," if tail and len(rows) > 1 else "", tail, "}"]
        if not hole.array:
            if not self.packed.single:
                raise TypeError("a format with one object a message must not pack rows")
            return rows
        if not self.packed.single:
            rows = [join_runs(join(rows, len(self.batch)), starts, ",")]
        return ["[", *rows, "]"]

    def _places(self, hole: Rows) -> Sequence[int]:
        """The columns of a whole image in the order in which they are written."""
        if hole.columns is not None:
            return hole.columns(self.batch.table)
        return self.encoder.order([column.name for column in self.batch.table.columns], len(self.batch.table.columns))

    def codes(self, cells: Cells) -> list[Piece]:
        image = self.batch.image()
        at = None if self.packed.single else pa.array(self.packed.settled)
        columns = self.batch.table.columns
        names, values = self._names, list[list[Piece]]()
        order = self.encoder.order([column.name for column in columns], len(columns))
        for i in order:
            cell = self.encoder.cell(columns[i], cells)
            values.append(
                [cell.constant]
                if cell.constant is not None
                else [plain(cell.text(image[i] if at is None else image[i].take(at)))]
            )
        return object_pieces([names[i] for i in order], values)

    @cached_property
    def _names(self) -> list[str]:
        return [quote(self.encoder.member(column.name), self.encoder.style) for column in self.batch.table.columns]

    def _text(self, image: str, column: int) -> Text:
        """A column of an image as text, escaped; nulls kept, and dictionaries where values come from one."""
        after, before = self.batch.after, self.batch.before
        if before is not None and image == "before":
            old = before[column]
            if isinstance(old, pa.Array):
                return self._escaped(column, old)
            if isinstance(old, Delta):
                return self._escaped(column, self.batch.full_before(column))
        assert after is not None
        if column not in self._after:
            self._after[column] = self._escaped(column, after[column])
        return self._after[column]

    def _escaped(self, column: int, array: pa.Array) -> Text:
        cell = self.encoder.cell(self.batch.table.columns[column])
        if cell.parts is not None and array.null_count == 0 and not pa.types.is_dictionary(array.type):
            return cell.parts(array)
        text = cell.text(array)
        return escape(text, self.encoder.style) if cell.escaped else text

    def _member(self, lead: str, column: int, text: Text) -> list[Piece]:
        """`"name":"value"` of each row: the lead (the quoted name and what stands before it), then the JSON value."""
        cell = self.encoder.cell(self.batch.table.columns[column])
        mark = '"' if cell.quoted else ""
        if isinstance(text, list):
            return [lead + mark, *text, mark]
        if pa.types.is_dictionary(text.type):
            # what surrounds a value is put round the different values once, not round each row's
            whole = self.encoder.surrounded(lead + mark, text.dictionary, mark).take(text.indices)
            return [whole.fill_null(constant(lead + cell.null)) if whole.null_count else whole]
        if text.null_count == 0:
            return [lead + mark, text, mark]
        return [lead, join([mark, text, mark], len(text)).fill_null(constant(cell.null))]

    def _changed(self, hole: Rows) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """`"qty":"1","note":null`: the values of the columns that count as changed, per row; and in which rows there
        are any."""
        shown, before, after = self.packed.shown, self.batch.before, self.batch.after
        assert shown is not None
        assert before is not None
        assert after is not None

        def values(i: int, rows: Ints) -> pa.Array:
            old = before[i]
            if hole.image == "changed after" or old is None:
                return after[i].take(pa.array(rows))
            if isinstance(old, Delta) and np.array_equal(old.rows, rows):
                return old.values
            return self.batch.full_before(i).take(pa.array(rows))

        if hole.kept is not None:
            kept = set(hole.kept(self.batch.table))
            every = np.arange(len(self.batch), dtype=np.int64)
            shown = tuple(every if i in kept else rows for i, rows in enumerate(shown))
        return self._sparse(shown, values)

    def _present(self, hole: Rows) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """The members of an image that are not null, per row; and in which rows there are any."""
        image = self.batch.after if hole.image == "after" else None
        columns = range(len(self.batch.table.columns))
        arrays = [image[i] if image is not None else self.batch.full_before(i) for i in columns]
        wanted = set(columns if hole.columns is None else hole.columns(self.batch.table))
        shown = [np.flatnonzero(arrays[i].is_valid()) if i in wanted else None for i in columns]
        return self._sparse(shown, lambda i, rows: arrays[i].take(pa.array(rows)))

    def _logged(self, hole: Rows, shown: Sequence[Ints | None]) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """The members of an image that are there as `shown` says."""
        image = self.batch.after if hole.image == "after" else None

        def values(i: int, rows: Ints) -> pa.Array:
            array = image[i] if image is not None else self.batch.full_before(i)
            return array if len(rows) == len(array) else array.take(pa.array(rows))

        return self._sparse(shown, values)

    def _sparse(
        self, shown: Sequence[Ints | None], values: Callable[[int, Ints], pa.Array]
    ) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """Members that only some rows have: `shown` says for each column which rows, `values` gives theirs."""
        count = len(self.batch)
        names = [column.name for column in self.batch.table.columns]
        entries = np.zeros(count, dtype=np.int64)
        for rows in shown:
            if rows is not None:
                entries[rows] += 1
        # rows whose maps are ordered alike, since that may depend on the number of entries
        orders: dict[tuple[int, ...], list[int]] = {}
        for number in np.unique(entries).tolist():
            orders.setdefault(tuple(self.encoder.order(names, number)), []).append(number)
        texts = []
        for order, numbers in orders.items():
            mask = None if len(orders) == 1 else np.isin(entries, numbers)
            texts += self._segments(order, mask, shown, values)
        return join(texts, count) if texts else repeat("", count), entries > 0

    def _segments(
        self,
        order: Sequence[int],
        mask: npt.NDArray[np.bool_] | None,
        shown: Sequence[Ints | None],
        values: Callable[[int, Ints], pa.Array],
    ) -> list[Piece]:
        """A column of text for each member, empty in rows that lack it; only rows under the mask."""
        count = len(self.batch)
        begun = np.zeros(count, dtype=bool)
        segments: list[Piece] = []
        for i in order:
            rows = shown[i]
            if rows is not None and mask is not None:
                rows = rows[mask[rows]]
            if rows is None or not len(rows):
                continue
            comma = begun[rows]
            if comma.all():
                lead: list[Piece] = [","]
            elif not comma.any():
                lead = []
            else:
                lead = [_COMMAS.take(pa.array(comma.astype(np.int8)))]
            member = self._member(f"{self._names[i]}:", i, self._escaped(i, values(i, rows)))
            segment = join([*lead, *member], len(rows))
            begun[rows] = True
            segments.append(segment if len(rows) == count else spread(segment, rows, count))
        return segments


def number_text(numbers: Ints) -> pa.Array:
    """Whole numbers as text."""
    return join(number_pieces("", numbers), len(numbers))


def number_pieces(lead: str, numbers: Ints) -> list[Piece]:
    """Whole numbers behind a constant. Times come in runs of equal ones, which are written once, constant and all."""
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    if len(begins) > len(numbers) // 4:
        return [lead, pa.array(numbers).cast(pa.string())]
    distinct = join([lead, pa.array(numbers[begins]).cast(pa.string())], len(begins))
    return [distinct.take(pa.array(np.repeat(np.arange(len(begins)), np.diff(begins, append=len(numbers)))))]


def plain(array: pa.Array) -> pa.Array:
    """The plain texts behind a dictionary array."""
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array
