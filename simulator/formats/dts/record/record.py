"""The DTS Avro record: its schema's versions, and the bytes of its fields in their order.

Schema: LioRoger/subscribe_example, `avro/Record.avsc` (namespace com.alibaba.dts.formats.avro), which the vendor's page
"Data storage formats in message queues" names. Version A has 14 fields; B appends bornTimestamp.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column
from simulator.wire import avro
from simulator.wire.avro import Bytes

Ints = npt.NDArray[np.int64]
# The same for all rows, or a column.
Numbers: TypeAlias = int | Ints
Texts: TypeAlias = str | pa.Array | avro.Sized

SOURCE_TYPES: Final = (
    "MySQL", "Oracle", "SQLServer", "PostgreSQL", "MongoDB", "Redis", "DB2", "PPAS", "DRDS", "HBASE", "HDFS", "FILE",
    "OTHER",
)  # fmt: skip
OPERATIONS: Final = (
    "INSERT", "UPDATE", "DELETE", "DDL", "BEGIN", "COMMIT", "ROLLBACK", "ABORT", "HEARTBEAT", "CHECKPOINT", "COMMAND",
    "FILL", "FINISH", "CONTROL", "RDB", "NOOP", "INIT",
)  # fmt: skip
BRANCHES: Final[Mapping[str, bytes]] = {
    name: avro.long(branch)
    for branch, name in enumerate(
        (
            "null", "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone",
            "BinaryGeometry", "TextGeometry", "BinaryObject", "TextObject", "EmptyObject",
        )
    )
}  # fmt: skip
# A value that the log does not hold: EmptyObject NONE.
NONE: Final = BRANCHES["EmptyObject"] + avro.long(1)
# Branches: null, a text; of fields and images an array.
NOTHING, TEXT, ARRAY = avro.long(0), avro.long(1), avro.long(2)
NO_IMAGE: Final[Sequence[Bytes]] = (NOTHING,)


@lru_cache(maxsize=2)
def schema(variant: str) -> str:
    """The schema of version A or B, as JSON text."""
    schema = json.loads(Path(__file__).with_name("record.avsc").read_text(encoding="utf-8"))
    if variant == "A":
        schema["fields"] = [field for field in schema["fields"] if field["name"] != "bornTimestamp"]
    return json.dumps(schema, separators=(",", ":"))


def records(
    *,
    operation: str,
    id: Numbers,
    source_timestamp: Numbers,
    source_position: Texts,
    safe_source_position: Texts,
    source_txid: Texts,
    source_type: str,
    source_version: str,
    object_name: Texts | None,
    tags: Mapping[str, Texts],
    fields: bytes = NOTHING,
    before: Sequence[Bytes] = NO_IMAGE,
    after: Sequence[Bytes] = NO_IMAGE,
    born_timestamp: Numbers | None,
    version: int = 0,
) -> list[Bytes]:
    """The pieces of records; the arguments are the schema's fields, times in their units.

    `fields`, `before` and `after` come with their branch (`fields_of`, `image`, `statement`). A `born_timestamp` of
    None leaves it out, as version A of the schema does.
    """
    source = avro.long(SOURCE_TYPES.index(source_type)) + avro.string(source_version)
    name = [NOTHING] if object_name is None else [TEXT, *text(object_name)]
    return [
        avro.long(version),
        number(id),
        number(source_timestamp),
        *text(source_position),
        *text(safe_source_position),
        *text(source_txid),
        source + avro.long(OPERATIONS.index(operation)),
        *name,
        NOTHING,  # processTimestamps
        *tag_map(tags),
        fields,
        *before,
        *after,
        b"" if born_timestamp is None else number(born_timestamp),
    ]


def number(value: Numbers) -> Bytes:
    """An int or long; what all rows share is made once."""
    if isinstance(value, int):
        return avro.long(value)
    if len(value) and value[0] == value[-1] and (value == value[0]).all():
        return avro.long(int(value[0]))
    return avro.Longs(value)


def text(value: Texts) -> list[Bytes]:
    """A string; whole numbers as their digits."""
    if isinstance(value, str):
        return [avro.string(value)]
    if isinstance(value, avro.Sized):
        return [value]
    return [avro.Sized([value], len(value)) if pa.types.is_integer(value.type) else avro.Strings(value)]


def tag_map(tags: Mapping[str, Texts]) -> list[Bytes]:
    """A map in the order of `tags`."""
    if not tags:
        return [b"\x00"]
    pairs = [piece for name, value in tags.items() for piece in (avro.string(name), *text(value))]
    return [avro.long(len(tags)), *pairs, b"\x00"]


def digits(numbers: Numbers) -> Texts:
    """Integers as the text of a tag."""
    return str(numbers) if isinstance(numbers, int) else pa.array(numbers)


def image(values: Iterable[Sequence[Bytes]], count: int) -> list[Bytes]:
    """A row image: an array of values, each with its branch."""
    pieces = [piece for value in values for piece in value]
    return [ARRAY + avro.long(count), *pieces, b"\x00"] if count else [ARRAY + b"\x00"]


def statement(sql: str) -> list[Bytes]:
    """The text of a DDL statement, instead of an after image."""
    return [TEXT + avro.string(sql)]


def fields_of(
    columns: Sequence[Column], number_of: Callable[[Column], int], tail: Callable[[Column], bytes] | None = None
) -> bytes:
    """Names and numbers of columns; `tail` is what a wider Field record has after them."""
    fields = (
        avro.string(column.name) + avro.long(number_of(column)) + (b"" if tail is None else tail(column))
        for column in columns
    )
    return ARRAY + (avro.long(len(columns)) + b"".join(fields) if columns else b"") + b"\x00"


def object_name(*names: str) -> str:
    r"""Names joined with dots; a dot in a name is written as its code.

    >>> print(object_name("my.db", "t"))
    my\u002Edb.t
    """
    return ".".join(name.replace(".", "\\u002E") for name in names if name)


# ------------------------------------------------------------------------------------------------- columns of carriers


def decoded_type(array: pa.Array) -> pa.DataType:
    """The type of a column's values, or of those in its dictionary."""
    return array.type.value_type if pa.types.is_dictionary(array.type) else array.type


def of_distinct(array: pa.Array, bytes_of: Callable[[Any], bytes]) -> pa.Array:
    """The bytes of each distinct value, as a dictionary array."""
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    distinct = [None if value is None else bytes_of(value) for value in coded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(distinct, pa.binary()))


def with_nulls_of(column: Bytes, array: pa.Array) -> Bytes:
    """The column with null where the carriers are null."""
    if not array.null_count:
        return column
    if isinstance(column, avro.Longs):
        return avro.Longs(column.numbers, np.asarray(array.is_null()))
    assert isinstance(column, pa.Array)
    return pc.if_else(array.is_valid(), column, pa.scalar(None, column.type))
