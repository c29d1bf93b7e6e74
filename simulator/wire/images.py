"""Row images of a batch as pieces of JSON: arrays of rows, single rows, changed columns, codes of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Delta, Ints, PackedBatch, decoded
from simulator.text.json_style import escaped, escaped_piece
from simulator.text.template import COMMAS, Choice, Members, Piece, Run, is_text, nulls_of, object_pieces, unless_null
from simulator.wire.columns import WrittenColumns
from simulator.wire.fields import Cells, Rows

# A column of text, or the pieces of one.
Text: TypeAlias = pa.Array | list[Piece]


def is_costly(type: pa.DataType) -> bool:
    """Whether writing values of a type costs more than selecting them; then an update's old values are written
    separately.
    """
    return bool(pa.types.is_string(type) or pa.types.is_decimal(type))


class Images:
    """The row images of a batch as pieces; texts that several fields need are cached."""

    def __init__(self, written: WrittenColumns, packed: PackedBatch) -> None:
        self.written, self.packed, self.batch = written, packed, packed.changes
        self.table = written.table(packed.changes.table)
        self._after: dict[int, Text] = {}

    def rows(self, declared: Rows) -> list[Piece]:
        """The array of each message's rows, or the one object."""
        starts = self.packed.starts
        tail = "" if declared.tail is None else self.table.text(declared.tail)
        present = None if declared.logged is None else declared.logged(self.batch)
        if declared.image.startswith("changed") or declared.skip_nulls or present is not None:
            if present is not None:
                members, has_members = self._logged(declared, present)
            else:
                members, has_members = (
                    self._changed(declared) if declared.image.startswith("changed") else self._present(declared)
                )
            comma = "," if tail and has_members.all() else ""
            rows: list[Piece] = ["{", members, comma, tail, "}"]
            if tail and not has_members.all():
                rows[2] = pa.DictionaryArray.from_arrays(pa.array(has_members.astype(np.int32)), COMMAS)
            if declared.drop_empty and not has_members.all():
                objects_before = np.concatenate([[0], np.cumsum(has_members)])[starts]
                rows_with_some = np.flatnonzero(has_members).astype(np.int32)
                objects = Choice(rows, rows_with_some, "", len(self.batch))
                arrays = ["[", Run([objects], objects_before, ",", len(rows_with_some)), "]"]
                slots = np.where(np.diff(objects_before) > 0, np.arange(len(self.packed)), -1).astype(np.int32)
                return [Choice(arrays, slots, "null", len(self.packed))]
        else:
            rows = ["{"]
            for number, i in enumerate(self._positions(declared)):
                lead = f"{',' if number else ''}{self.table.quoted[i]}:"
                old = None if self.batch.before is None or declared.image != "before" else self.batch.before[i]
                if isinstance(old, Delta) and is_costly(old.values.type):
                    rows += self._two_states(lead, i, old)
                else:
                    rows += self._member(lead, i, self._text(declared.image, i))
            rows += ["," if tail and len(rows) > 1 else "", tail, "}"]
        if not declared.array:
            if not self.packed.single:
                raise TypeError("a format with one object a message must not pack rows")
            return rows
        if not self.packed.single:
            rows = [Run(rows, starts, ",", len(self.batch))]
        return ["[", *rows, "]"]

    def unless_empty(self, lead: str, declared: Rows) -> list[Piece]:
        """The member with the object of changed columns, only in messages whose row has some."""
        if not self.packed.single:
            raise TypeError("a format with one object a message must not pack rows")
        members, has_members = self._changed(declared)
        member: list[Piece] = [lead, "{", members, "}"]
        if has_members.all():
            return member
        slots = np.where(has_members, np.arange(len(has_members)), -1).astype(np.int32)
        return [Choice(member, slots, "", len(has_members))]

    def _two_states(self, lead: str, column: int, old: Delta) -> list[Piece]:
        """The members of a before image's column that differs from the after image in some rows; long texts are not
        copied to a column first.
        """
        count = len(self.batch)
        same, changed = old.slots(count)
        return [
            Choice(self._member(lead, column, self._text("after", column)), same, "", count),
            Choice(self._member(lead, column, self._escaped(column, old.values)), changed, "", len(old.rows)),
        ]

    def _positions(self, declared: Rows) -> Sequence[int]:
        """Indexes of a whole image's columns in output order."""
        if declared.columns is not None:
            return declared.columns(self.batch.table)
        return self.written.order(self.table.names, len(self.table.names))

    def codes(self, cells: Cells) -> list[Piece]:
        image = self.batch.image()
        code_rows = None if self.packed.single else pa.array(self.packed.code_rows)
        names, values = self.table.quoted, list[list[Piece]]()
        order = self.written.order(self.table.names, len(self.table.names))
        for i in order:
            cell = self.table.cell(i, cells)
            values.append(
                [cell.constant]
                if cell.constant is not None
                else [(cell.piece or cell.text)(decoded(image[i] if code_rows is None else image[i].take(code_rows)))]
            )
        return object_pieces([names[i] for i in order], values)

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
        cell, array = self.table.cell(column), array
        if pa.types.is_dictionary(array.type):
            return self.table.texts(column, array)
        if cell.piece is not None:
            piece = cell.piece(array)
            if cell.escaped:
                piece = escaped_piece(piece, self.written.style)
            return piece if isinstance(piece, pa.Array) and is_text(piece) else [piece]
        text = cell.text(array)
        return escaped(text, self.written.style) if cell.escaped else text

    def _member(self, lead: str, column: int, text: Text) -> list[Piece]:
        """`"name":"value"` of each row: the lead (the quoted name and what stands before it), then the JSON value."""
        cell = self.table.cell(column)
        mark = '"' if cell.quoted else ""
        if isinstance(text, list):
            nulls = nulls_of(text)
            if nulls is None:
                return [lead + mark, *text, mark]
            return [lead, unless_null([mark, *text, mark], nulls, cell.null)]
        if pa.types.is_dictionary(text.type):
            # add the surrounding text once per distinct value, not once per row
            entries = self.written.surrounded(lead + mark, text.dictionary, mark, lead + cell.null)
            indices = text.indices
            if indices.null_count:
                indices = pc.coalesce(indices, pa.scalar(len(entries) - 1, indices.type))  # twice as quick as fill_null
            return [pa.DictionaryArray.from_arrays(indices, entries, safe=False)]
        if text.null_count == 0:
            return [lead + mark, text, mark]
        return [lead, unless_null([mark, text, mark], np.asarray(text.is_null()), cell.null)]

    def _changed(self, declared: Rows) -> tuple[Members, npt.NDArray[np.bool_]]:
        """`"qty":"1","note":null`: the values of the changed columns of each row, and a mask of the rows
        that have any.
        """
        present, before, after = self.packed.changed, self.batch.before, self.batch.after
        assert present is not None
        assert before is not None
        assert after is not None

        def values(i: int, rows: Ints) -> pa.Array:
            old = before[i]
            if declared.image == "changed after" or old is None:
                return after[i].take(pa.array(rows))
            if isinstance(old, Delta) and (old.rows is rows or np.array_equal(old.rows, rows)):
                return old.values
            return self.batch.full_before(i).take(pa.array(rows))

        if declared.kept is not None:
            always_written = set(declared.kept(self.batch.table))
            all_rows = np.arange(len(self.batch), dtype=np.int64)
            present = tuple(all_rows if i in always_written else rows for i, rows in enumerate(present))
        if declared.skip_nulls:
            present = tuple(
                None if rows is None else rows[np.asarray(values(i, rows).is_valid())] for i, rows in enumerate(present)
            )
        return self._sparse(present, values)

    def _present(self, declared: Rows) -> tuple[Members, npt.NDArray[np.bool_]]:
        """The members of an image that are not null, of each row, and a mask of the rows that have any."""
        image = self.batch.after if declared.image == "after" else None
        columns = range(len(self.batch.table.columns))
        arrays = [image[i] if image is not None else self.batch.full_before(i) for i in columns]
        declared_columns = set(columns if declared.columns is None else declared.columns(self.batch.table))
        present = [np.flatnonzero(arrays[i].is_valid()) if i in declared_columns else None for i in columns]
        return self._sparse(present, lambda i, rows: arrays[i].take(pa.array(rows)))

    def _logged(self, declared: Rows, present: Sequence[Ints | None]) -> tuple[Members, npt.NDArray[np.bool_]]:
        """The members of an image in the rows that `present` lists for each column."""
        image = self.batch.after if declared.image == "after" else None

        def values(i: int, rows: Ints) -> pa.Array:
            array = image[i] if image is not None else self.batch.full_before(i)
            return array if len(rows) == len(array) else array.take(pa.array(rows))

        return self._sparse(present, values)

    def _sparse(
        self, present: Sequence[Ints | None], values: Callable[[int, Ints], pa.Array]
    ) -> tuple[Members, npt.NDArray[np.bool_]]:
        """Members that only some rows have: for each column, `present` lists the rows and `values` has their values."""
        count = len(self.batch)
        entries = np.zeros(count, dtype=np.int64)
        for rows in present:
            if rows is not None:
                entries[rows] += 1
        # rows by the order of their map, which may depend on its number of entries
        orders: dict[tuple[int, ...], list[int]] = {}
        for number in np.flatnonzero(np.bincount(entries)).tolist():
            orders.setdefault(tuple(self.written.order(self.table.names, number)), []).append(number)
        members: list[tuple[Ints, list[Piece]]] = []
        for order, numbers in orders.items():
            mask = None if len(orders) == 1 else np.isin(entries, numbers)
            for i in order:
                rows = present[i]
                if rows is not None and mask is not None:
                    rows = rows[mask[rows]]
                if rows is not None and len(rows):
                    members.append(
                        (rows, self._member(f"{self.table.quoted[i]}:", i, self._escaped(i, values(i, rows))))
                    )
        return Members(members, count), entries > 0
