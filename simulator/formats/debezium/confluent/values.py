"""Values in Avro: columns of carriers, and single values as their JSON has them.

A column's writer (`simulator.wire.fields.Cell`) makes JSON; here its numbers, texts and bytes are taken before they
become JSON. What has parts (structs, arrays, maps) is read back from its JSON once per distinct value.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.errors import UsageError
from simulator.formats.debezium.schema import Schema
from simulator.formats.debezium.values import cells
from simulator.text.base64 import Base64, SignedBase64
from simulator.text.columns import nulls_of, whole_numbers
from simulator.text.java.hash_map import hash_order
from simulator.text.template import Piece, unless_null
from simulator.text.template import nulls_of as nulls_in
from simulator.wire import avro
from simulator.wire.fields import Cell, plain

Nulls = npt.NDArray[np.bool_] | None
WHOLE: Final = frozenset(("int8", "int16", "int32", "int64"))
_BOOLEANS: Final = (b"\x00", b"\x01")


# ------------------------------------------------------------------------------------------------------ single values


def datum(schema: Schema, value: Any) -> bytes:
    """A value as JSON has it, in Avro; null is the default of a schema that has one. Raises UsageError for null
    without one in a required schema.

    >>> datum(Schema("int64", optional=True), 1).hex(), datum(Schema("int64", optional=True), None).hex()
    ('0202', '00')
    """
    if value is None and schema.default:
        value = json.loads(schema.default)
    if value is None:
        if not schema.optional:
            raise UsageError(
                f"-f debezium-avro: a required {schema.name or schema.type} is null, which the converter refuses, such"
                " as a member of transaction (transforms.unwrap.add.fields) in a snapshot."
            )
        return branch(schema, null=True)
    return branch(schema) + _present(schema, value)


def branch(schema: Schema, *, null: bool = False) -> bytes:
    """The number of a union's branch; empty for a required schema. Null is the first branch, unless
    there is a default.
    """
    if not schema.optional:
        return b""
    return b"\x00" if null is not bool(schema.default) else b"\x02"


def _present(schema: Schema, value: Any) -> bytes:
    if schema.type in WHOLE:
        return avro.long(int(value))
    match schema.type:
        case "string":
            return avro.string(value)
        case "bytes":
            return avro.string(base64.b64decode(value))
        case "boolean":
            return _BOOLEANS[bool(value)]
        case "float":
            return struct.pack("<f", float(value))
        case "double":
            return avro.double(float(value))
        case "struct":
            return b"".join(datum(field, value.get(name)) for name, field in schema.fields)
        case "array":
            assert schema.items is not None
            return _block([datum(schema.items, item) for item in value])
        case "map":
            assert schema.values is not None
            names = list(value)
            ordered = [names[i] for i in hash_order(names)]  # the converter makes a HashMap
            return _block([avro.string(name) + datum(schema.values, value[name]) for name in ordered])
    raise TypeError(schema.type)


def _block(items: Sequence[bytes]) -> bytes:
    return (avro.long(len(items)) + b"".join(items) if items else b"") + b"\x00"


# ------------------------------------------------------------------------------------------------------------ columns


def column(schema: Schema, cell: Cell, array: pa.Array) -> list[Piece]:
    """A column's values, none of which is null any more: null has its branch, or what replaces it."""
    values, nulls = _values(schema, cell, array)
    values = [branch(schema), *values]
    return values if nulls is None else [unless_null(values, nulls, null(schema, cell))]


def null(schema: Schema, cell: Cell) -> bytes:
    """Null in a column."""
    return datum(schema, json.loads(cell.null))


def texts(schema: Schema, array: pa.Array) -> pa.Array:
    """Finished JSON texts in Avro, each distinct one once; a dictionary stays one."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = [datum(schema, json.loads(text)) for text in array.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(array.indices, pa.array(values, pa.binary()))


def _values(schema: Schema, cell: Cell, array: pa.Array) -> tuple[list[Piece], Nulls]:
    """Values without their branches, and which are null."""
    if schema.type in WHOLE:
        piece = cell.piece(decoded(array)) if cell.piece is not None else None
        integers, nulls = whole_numbers(
            piece if isinstance(piece, pa.Array) else plain(cell.text(array)).cast(pa.int64())
        )
        return [avro.Longs(integers)], nulls
    if schema.type in ("string", "bytes") and not cell.quoted:  # finished JSON, such as a placeholder
        return [texts(replace(schema, optional=False, default=""), plain(cell.text(array)))], None
    match schema.type:
        case "string":
            if cell.piece is not None:
                piece = cell.piece(decoded(array))
                return [avro.Sized([piece], len(array))], nulls_in([piece])
            strings = avro.Strings(cell.text(array))
            return [strings], strings.nulls
        case "bytes":
            data = _bytes(cell, array)
            return [data], data.nulls
        case "float" | "double":
            return _floats(schema, cell, array)
        case "boolean":
            flags = pc.equal(plain(cell.text(array)), "true")
            return [avro.looked_up(_BOOLEANS, np.asarray(flags.fill_null(False)).astype(np.int8))], nulls_of(flags)
    finished = plain(cell.text(array))
    # required schema: the value already includes its branch
    return [texts(replace(schema, optional=False, default=""), finished)], nulls_of(finished)


def _bytes(cell: Cell, array: pa.Array) -> avro.Strings | avro.SignedBytes:
    if cell.piece is not None:
        piece = cell.piece(decoded(array))
        if isinstance(piece, SignedBase64):
            return avro.SignedBytes(piece.numbers)
        if isinstance(piece, Base64):
            return avro.Strings(piece.values)
    encoded = plain(cell.text(array)).dictionary_encode()
    values = [None if text is None else base64.b64decode(text) for text in encoded.dictionary.to_pylist()]
    return avro.Strings(pa.array(values, pa.binary()).take(encoded.indices))


_FLOATS: Final[dict[Callable[[pa.Array], pa.Array], pa.DataType]] = {
    cells.FLOAT.text: pa.float32(),
    cells.DOUBLE.text: pa.float64(),
}


def _floats(schema: Schema, cell: Cell, array: pa.Array) -> tuple[list[Piece], Nulls]:
    type = pa.float32() if schema.type == "float" else pa.float64()
    if cell.text in _FLOATS:
        values = decoded(array).cast(_FLOATS[cell.text]).cast(type)
    else:
        values = pc.utf8_trim(plain(cell.text(array)), '"').cast(type)
    width = type.bit_width // 8
    data = np.ascontiguousarray(values.fill_null(0), dtype=f"<f{width}")
    column = pa.Array.from_buffers(pa.binary(width), len(data), [None, pa.py_buffer(data)], 0).cast(pa.binary())
    return [column], nulls_of(values)
