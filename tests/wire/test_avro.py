"""Avro's binary encoding against fastavro: whole columns, and the values one by one."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

import fastavro
import numpy as np
import pyarrow as pa
from each import each
from hypothesis import given
from hypothesis import strategies as st

from simulator.wire import avro

INT64: Final = st.integers(-(1 << 63), (1 << 63) - 1)
# The bounds at which a number takes one byte more.
BOUNDS: Final = [
    number
    for bits in range(6, 64, 7)
    for bound in (1 << bits, -(1 << bits))
    for number in (bound - 1, bound, bound + 1)
    if -(1 << 63) <= number < 1 << 63
]


def theirs(schema: Any, value: Any) -> bytes:
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def column(values: list[Any], type: pa.DataType) -> pa.Array:
    return pa.array(values, type)


def longs(numbers: list[int]) -> list[bytes]:
    """A column of them, made by Arrow, and by the library where it is there."""
    column = avro.Longs(np.array(numbers, dtype=np.int64))
    values: list[bytes] = column.column().to_pylist()
    assert avro.join([column], len(numbers)).to_pylist() == values
    return values


@given(st.lists(INT64 | st.sampled_from(BOUNDS)))
def test_longs(numbers: list[int]) -> None:
    expected = [theirs("long", number) for number in numbers]
    assert longs(numbers) == expected
    assert [avro.long(number) for number in numbers] == expected


@each(range(1, 11))
def test_longs_of_one_size(width: int) -> None:
    """The least and the greatest number that takes so many bytes, and with one that takes another number of them."""
    least, greatest = (1 << 7 * (width - 1)) if width > 1 else 0, min((1 << 7 * width) - 1, (1 << 64) - 1)
    numbers = [(zigzag >> 1) ^ -(zigzag & 1) for zigzag in (least, least + 1, greatest)]
    for others in ([], [0], [-(1 << 63)]):
        values = longs([*numbers, *others])
        assert values == [avro.long(number) for number in [*numbers, *others]]
        assert {len(value) for value in values[:3]} == {width}


def test_longs_at_their_bounds() -> None:
    numbers = [*BOUNDS, 0, -1, 1, (1 << 63) - 1, -(1 << 63)]
    assert longs(numbers) == [theirs("long", number) for number in numbers]


@given(st.lists(st.none() | st.text() | st.text(min_size=60, max_size=70)))
def test_strings(texts: list[str | None]) -> None:
    expected = [None if text is None else theirs("string", text) for text in texts]
    array = column(texts, pa.string())
    for given_ in (array, array.dictionary_encode(), pa.concat_arrays([column(["x"], pa.string()), array])[1:]):
        assert avro.strings(given_).to_pylist() == expected
        assert avro.Strings(given_).column().to_pylist() == expected
    assert [avro.string(text) for text in texts if text is not None] == [text for text in expected if text is not None]


@given(st.lists(st.none() | st.binary()))
def test_bytes(values: list[bytes | None]) -> None:
    expected = [None if value is None else theirs("bytes", value) for value in values]
    assert avro.strings(column(values, pa.binary())).to_pylist() == expected


@given(st.lists(st.floats()))
def test_doubles(numbers: list[float]) -> None:
    assert avro.doubles(np.array(numbers, dtype=np.float64)).to_pylist() == [theirs("double", n) for n in numbers]
    assert [avro.double(number) for number in numbers] == [theirs("double", number) for number in numbers]


UNION: Final = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "n", "type": "long"},
        {"name": "t", "type": ["null", "string"]},
        {"name": "a", "type": {"type": "array", "items": "long"}},
        {"name": "m", "type": {"type": "map", "values": "string"}},
    ],
}


@given(st.lists(st.tuples(INT64, st.none() | st.text()), min_size=1))
def test_records_of_pieces(rows: list[tuple[int, str | None]]) -> None:
    """Constants and columns side by side; a null takes the branch of null."""
    count = len(rows)
    numbers = np.array([number for number, _ in rows], dtype=np.int64)
    texts = avro.join([avro.long(1), avro.Strings(column([text for _, text in rows], pa.string()))], count)
    made = avro.join(
        [
            avro.Longs(numbers),
            avro.present(texts, avro.long(0)),
            avro.long(2),
            avro.Longs(numbers),
            avro.long(7) + avro.long(0),
            *(avro.long(1), avro.string("k"), avro.string("v"), avro.long(0)),
        ],
        count,
    )
    expected = [theirs(UNION, {"n": n, "t": text, "a": [n, 7], "m": {"k": "v"}}) for n, text in rows]
    assert made.to_pylist() == expected


def test_looked_up_values() -> None:
    assert avro.looked_up([b"a", b"bc"], np.array([1, 0, 1])).to_pylist() == [b"bc", b"a", b"bc"]


@each([0, 3])
def test_constants_alone(count: int) -> None:
    assert avro.join([b"a", b"", b"b"], count).to_pylist() == [b"ab"] * count
