"""Arrow columns of integers and nulls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simulator.batch import Delta, decoded, scatter
from simulator.carriers import decimals, primitive, validity
from simulator.values.draw import Ints


def numeric(numbers: Ints, type: pa.DataType) -> pa.Array:
    """Integers as a carrier: integers as they are, decimals as unscaled, dates as days, times as microseconds."""
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


def without_pool(array: pa.Array) -> pa.Array:
    """Numbers and times of a dictionary array as a plain one; texts and bytes stay a dictionary."""
    if not pa.types.is_dictionary(array.type) or pa.types.is_string(array.type.value_type):
        return array
    return array if pa.types.is_binary(array.type.value_type) else array.dictionary.take(array.indices)


def with_nulls(array: pa.Array, nulls: npt.NDArray[np.bool_]) -> pa.Array:
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


def overlaid(values: pa.Array, rows: Ints, value: pa.Array) -> pa.Array:
    """`values` with `value`, an array of length 1, at some rows."""
    return scatter(decoded(values), Delta(rows, value.take(pa.array(np.zeros(len(rows), dtype=np.int64)))))
