"""Rows as documents: a collection is a table whose columns are the documents' fields, `_id` first.

A null column is a missing field. This module makes, column by column: whole documents, their keys, and the fields that
updates set and unset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import ChangeBatch, Delta, changed_rows
from simulator.model import Absent, Column, Table
from simulator.sources.json_tree import quoted, write
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.shapes import can_be_named, shape_of
from simulator.sources.mongodb.values import extended_text
from simulator.text.template import Choice, Piece, constant, join

ID: Final = "_id"
# A field's values as finished text in the format's own spelling; nulls stay null.
Text: TypeAlias = Callable[[Column, pa.Array], pa.Array]
Ints: TypeAlias = npt.NDArray[np.int64]


def extended(column: Column, array: pa.Array) -> pa.Array:
    """The text of values in extended JSON v2, as in carriers."""
    return extended_text(array, column.type)


@dataclass(frozen=True)
class Spelling:
    """Spelling of documents in a format: values of fields, values inside objects and arrays, names and separators."""

    text: Text = extended
    leaf: bson.Leaf = bson.extended
    comma: str = ", "
    colon: str = ": "
    key: Callable[[str], str] = quoted


EXTENDED: Final = Spelling()


def documents(table: Table, image: Sequence[pa.Array], spelling: Spelling = EXTENDED) -> pa.Array:
    """Each row's document, in the order of the columns: `{"_id": 1, "name": "x"}`."""
    if not image or image[0].null_count:
        members = [
            _member(column.name, spelling.text(column, array), spelling)
            for column, array in zip(table.columns, image, strict=True)
        ]
        return _braces(_joined(members, spelling.comma, len(image[0])))
    # the first member always exists, so all others begin with a comma
    pieces: list[Piece] = []
    count = len(image[0])
    for column, array in zip(table.columns, image, strict=True):
        if array.null_count == len(array) and len(array):
            continue
        lead = f"{spelling.comma if pieces else '{'}{spelling.key(column.name)}{spelling.colon}"
        text = _plain(spelling.text(column, array))
        if text.null_count:
            slots = np.where(np.asarray(text.is_valid()), np.arange(count), -1).astype(np.int32)
            pieces.append(Choice([lead, text], slots, "", count))
        else:
            pieces += [lead, text]
    return join([*pieces, "}"], count)


def keys(table: Table, image: Sequence[pa.Array], spelling: Spelling = EXTENDED) -> pa.Array:
    """Each row's document key: `{"_id": 1}`."""
    positions = table.key_positions
    return documents(
        Table(table.id, tuple(table.columns[i] for i in positions)), [image[i] for i in positions], spelling
    )


def updates(
    batch: ChangeBatch, removed: Callable[[str], str], spelling: Spelling = EXTENDED
) -> tuple[pa.Array, pa.Array]:
    """Set and unset fields of each update, both as members joined by commas without brackets; "" for none.

    Inside objects the paths are dotted (`"address.city": "Oslo"`). If that cannot make the new object (fields in
    another order, names with dots or dollars), the object is set as a whole, as are arrays. `removed` writes a path
    that is unset: `"name"`, or `"name": true`. Set fields stand in the order of the columns.

    The order of fields in a document is the columns'; a field that comes back stands at its column's place again.
    """
    assert batch.after is not None
    set_members: list[pa.Array] = []
    unset_members: list[pa.Array] = []
    for position, column in enumerate(batch.table.columns):
        rows = changed_rows(batch, position)
        if rows is None:
            continue
        new = _plain(batch.after[position].take(pa.array(rows)))
        gone = np.asarray(new.is_null())
        if gone.any():
            word = pa.array([removed(column.name)], pa.string())
            unset_members.append(
                _spread(word.take(pa.array(np.zeros(int(gone.sum()), np.int64))), rows[gone], len(batch))
            )
        if column.type.name == "object":
            old = _plain(batch.full_before(position).take(pa.array(rows)))
            sets, unsets = _nested(column.name, new, old, removed, spelling)
            set_members.append(_spread(sets, rows, len(batch)))
            unset_members.append(_spread(unsets, rows, len(batch)))
        elif not gone.all():
            present_rows = np.flatnonzero(~gone)
            text = _member(column.name, spelling.text(column, new.take(pa.array(present_rows))), spelling)
            set_members.append(_spread(text, rows[present_rows], len(batch)))
    return _joined(set_members, spelling.comma, len(batch)), _joined(unset_members, spelling.comma, len(batch))


def replaced(batch: ChangeBatch) -> npt.NDArray[np.bool_]:
    """Mask of the updates that replaced the document: all fields but `_id` that existed or are changed, two or more,
    and at least one of them has another value (otherwise the fields have only other names).

    MongoDB's change stream knows how the update was written; rows do not, so this is the rule here.
    """
    assert batch.after is not None
    changed = np.zeros(len(batch), dtype=np.int64)
    present_count = np.zeros(len(batch), dtype=np.int64)
    has_equal_field = np.zeros(len(batch), dtype=np.bool_)
    for position, column in enumerate(batch.table.columns):
        if column.name == ID:
            continue
        is_present = np.asarray(batch.after[position].is_valid())
        before = _was(batch, position, is_present)
        present_count += is_present | before
        has_equal_field |= is_present & before
        rows = changed_rows(batch, position)
        if rows is not None:
            changed[rows] += 1
    replacements: npt.NDArray[np.bool_] = (changed == present_count) & (changed > 1) & has_equal_field
    return replacements


def _was(batch: ChangeBatch, position: int, is_present: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The rows whose documents had a field before the update; `now`: the rows that have it after."""
    old = None if batch.before is None else batch.before[position]
    if old is None or isinstance(old, Absent):
        return is_present
    if not isinstance(old, Delta):
        return np.asarray(old.is_valid())
    before = is_present.copy()
    before[old.rows] = np.asarray(old.values.is_valid())
    return before


def _plain(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _member(name: str, text: pa.Array, spelling: Spelling) -> pa.Array:
    return join([spelling.key(name) + spelling.colon, text], len(text))


def _joined(members: list[pa.Array], comma: str, count: int) -> pa.Array:
    """Rows of texts joined by `comma`, nulls left out."""
    if not members:
        return pa.array([""] * count, pa.string())
    parts: list[Piece] = []
    for text in members:
        parts += [join([comma, text], count).fill_null(constant(""))] if text.null_count else [comma, text]
    if not members[0].null_count:
        return join(parts[1:], count)
    return pc.binary_replace_slice(join(parts, count), 0, len(comma.encode()), "")


def _braces(text: pa.Array) -> pa.Array:
    return join(["{", text, "}"], len(text))


def _spread(text: pa.Array, rows: Ints, count: int) -> pa.Array:
    """Texts of some of `count` rows as a column of all, null elsewhere."""
    if len(rows) == count:
        return text
    indexes = np.full(count, -1, dtype=np.int64)
    indexes[rows] = np.arange(len(rows))
    return text.take(pa.array(indexes, mask=indexes < 0))


# ---------------------------------------------------------------------------------------------- inside of documents


def _nested(
    name: str, new: pa.Array, old: pa.Array, removed: Callable[[str], str], spelling: Spelling
) -> tuple[pa.Array, pa.Array]:
    """Members of set and unset for the changes of an object field; null for unchanged rows."""
    alike, sets_of_alike = _alike(name, new, old, spelling)
    if not alike.any():
        return _differing(name, new, old, removed, spelling)
    nothing = pa.nulls(len(new), pa.string())
    if alike.all():
        return sets_of_alike, nothing
    irregular = pa.array(~alike)
    sets, unsets = _differing(name, new.filter(irregular), old.filter(irregular), removed, spelling)
    return pc.replace_with_mask(sets_of_alike, irregular, sets), pc.replace_with_mask(nothing, irregular, unsets)


def _alike(name: str, new: pa.Array, old: pa.Array, spelling: Spelling) -> tuple[npt.NDArray[np.bool_], pa.Array]:
    """Mask of the rows in which both objects have the shape of the first one, and the members that set the differing
    parts.
    """
    present = new.drop_null()
    shape = shape_of(present[0].as_py(), name) if len(present) else None
    if shape is None:
        return np.zeros(len(new), dtype=np.bool_), new
    new_parts, old_parts = shape.texts(new), shape.texts(old)
    alike = np.asarray(new_parts.is_valid()) & np.asarray(old_parts.is_valid())
    members: list[pa.Array] = []
    for i, part in enumerate(shape.parts):
        text = new_parts.field(i)
        rows = np.flatnonzero(alike & np.asarray(pc.not_equal(text, old_parts.field(i)).fill_null(False)))
        if len(rows):
            values = part.values(text.take(pa.array(rows)))
            member = _member(part.path, spelling.text(part.column, values), spelling)
            members.append(_spread(member, rows, len(new)))
    sets = _joined(members, spelling.comma, len(new))
    return alike, pc.if_else(pc.equal(sets, constant("")), pa.scalar(None, pa.string()), sets)


def _differing(
    name: str, new: pa.Array, old: pa.Array, removed: Callable[[str], str], spelling: Spelling
) -> tuple[pa.Array, pa.Array]:
    """Members of set and unset, computed row by row."""
    sets: list[str | None] = []
    unsets: list[str | None] = []
    for after, before in zip(new.to_pylist(), old.to_pylist(), strict=True):
        if after is None:  # the caller unsets the whole field
            sets.append(None)
            unsets.append(None)
            continue
        changed, gone = difference(after, before, name)
        members = [
            spelling.key(path)
            + spelling.colon
            + (
                write(value, spelling.leaf, comma=spelling.comma, colon=spelling.colon, key=spelling.key)
                if isinstance(value, dict | list)
                else spelling.leaf(value)
            )
            for path, value in changed
        ]
        sets.append(spelling.comma.join(members) or None)
        unsets.append(spelling.comma.join(map(removed, gone)) or None)
    return pa.array(sets, pa.string()), pa.array(unsets, pa.string())


@lru_cache(maxsize=8192)
def difference(after: str, before: str | None, path: str) -> tuple[tuple[tuple[str, Any], ...], tuple[str, ...]]:
    """(paths and new values to set, paths to unset) that make one object (extended JSON) of the other.

    >>> difference('{"a": {"x": 1, "y": 2}, "b": 3}', '{"a": {"x": 0, "z": 1, "y": 2}, "b": 3}', "doc")
    ((('doc.a.x', 1),), ('doc.a.z',))
    """
    new = bson.stored_tree(after)
    if before is None:
        return ((path, new),), ()
    changed: list[tuple[str, Any]] = []
    gone: list[str] = []
    _compare(new, bson.stored_tree(before), path, changed, gone)
    return tuple(changed), tuple(gone)


def _compare(new: Any, old: Any, path: str, changed: list[tuple[str, Any]], gone: list[str]) -> None:
    if bson.same(new, old):
        return
    if not (isinstance(new, dict) and isinstance(old, dict) and _expressible(new, old)):
        changed.append((path, new))
        return
    for name, value in new.items():
        if name in old:
            _compare(value, old[name], f"{path}.{name}", changed, gone)
        else:
            changed.append((f"{path}.{name}", value))
    gone += [f"{path}.{name}" for name in old if name not in new]


def _expressible(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether setting and unsetting fields can make the new document: MongoDB appends added fields."""
    if not can_be_named(new) or not can_be_named(old):
        return False
    resulting_order = [name for name in old if name in new] + [name for name in new if name not in old]
    return resulting_order == list(new)


def set_ids(parts: Sequence[tuple[Column, pa.Array]]) -> pa.Array:
    """An `_id` that is an object of several fields: `{"order_id": 7, "line": 1}`."""
    members = [_member(column.name, extended(column, array), EXTENDED) for column, array in parts]
    return _braces(_joined(members, ", ", len(parts[0][1])))
