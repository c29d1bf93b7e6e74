"""Hash functions that choose partitions, against published vectors and plain Python."""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.delivery import hashes
from simulator.delivery.hashes import crc32, java_abs_mod, murmur2, string_hash, to_positive_mod


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, type=pa.string())


def one_by_one(text: str) -> int:
    """String.hashCode as its documentation says it."""
    h = 0
    units = text.encode("utf-16-le")
    for i in range(0, len(units), 2):
        h = (31 * h + units[i] + 256 * units[i + 1]) & 0xFFFFFFFF
    return h - (1 << 32) if h >> 31 else h


# measured with JDK 17
@each(
    [
        ("", 0),
        (None, 0),
        ("1001", 1507424),
        ("orders", -1008770331),
        ("shop", 3529462),
        ("inventory", -2020599460),
        ("中文", 646394),
        ("😀", 1772899),
        ("polygenelubricants", -2147483648),
    ]
)
def test_string_hash(text: str | None, hashed: int) -> None:
    assert string_hash(texts(text)).tolist() == [hashed]


# Partitions of rows of the database `inventory`: n = 3, 6, 12, and 6 by the key alone.
# captured: Canal 1.1.8 on MySQL 8.0.31, column hash
KEYS = [
    ("1", 2, 5, 11, 1),
    ("2", 1, 4, 10, 2),
    ("3", 0, 3, 9, 3),
    ("100", 0, 3, 3, 1),
    ("9223372036854775807", 2, 2, 2, 4),
    (None, 1, 4, 4, 0),
    ("中文", 1, 4, 10, 2),
]


@each(KEYS)
def test_partitions_by_string_hash(key: str | None, of3: int, of6: int, of12: int, alone: int) -> None:
    hashed = string_hash(texts(key))
    mixed = hashed ^ string_hash(texts("inventory"))
    assert [int(java_abs_mod(mixed, n)[0]) for n in (3, 6, 12)] == [of3, of6, of12]
    assert java_abs_mod(hashed, 6).tolist() == [alone]


def test_parts_of_a_key_are_mixed_by_xor() -> None:
    # captured: equal parts cancel, so only the database is left
    first, second = string_hash(texts("1", "2", "7")), string_hash(texts("2", "1", "7"))
    database = string_hash(texts("inventory"))
    assert java_abs_mod(first ^ second ^ database, 6).tolist() == [1, 1, 4]


def test_partitions_by_table() -> None:
    assert java_abs_mod(string_hash(texts("products", "orders")), 6).tolist() == [2, 3]


def test_abs_of_the_least_int_stays_negative() -> None:
    least = np.array([-(2**31)], dtype=np.int32)
    assert [int(java_abs_mod(least, n)[0]) for n in (3, 6, 12, 7)] == [2, 2, 8, 2]


# measured; murmur2 as in the tests of Kafka's Java client
@each(
    [
        (b"21", 1173551340, 0, 0, 0, 4),
        (b"foobar", 1357151166, 2, 6, 1, 5),
        (b"abc", 479470107, 3, 3, 2, 6),
        (b"1001", 1456459188, 0, 0, 1, 5),
        (b"shop.orders", 304818207, 3, 3, 3, 11),
        (b"", 275646681, 1, 9, 0, 0),
        (b'{"id":1001}', 1645685654, 2, 2, 2, 6),
    ]
)
def test_byte_hashes(key: bytes, hashed: int, of4: int, of12: int, crc_of4: int, crc_of12: int) -> None:
    array = pa.array([key])
    h = murmur2(array)
    assert h.dtype == np.int32
    assert (h & 0x7FFFFFFF).tolist() == [hashed]
    assert [int(to_positive_mod(h, n)[0]) for n in (4, 12)] == [of4, of12]
    assert [int(crc32(array)[0]) % n for n in (4, 12)] == [crc_of4, crc_of12]


def test_murmur2_is_signed() -> None:
    # from the tests of Kafka's Java client
    keys = [b"21", b"foobar", b"a-little-bit-long-string", b"a-little-bit-longer-string", b"abc"]
    keys.append(b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")
    hashes = [-973932308, -790332482, -985981536, -1486304829, 479470107, -58897971]
    assert murmur2(pa.array(keys)).tolist() == hashes


TEXT = st.none() | st.text(st.sampled_from("0a中é😀\x00ÿ") | st.characters(codec="utf-8"), max_size=12)


@settings(max_examples=25)
@given(st.lists(TEXT, max_size=8), st.integers(0, 3))
def test_whole_columns(values: list[str | None], start: int) -> None:
    array = texts(*values).slice(start)
    plain = [value or "" for value in values[start:]]
    assert string_hash(array).tolist() == [one_by_one(value) for value in plain]
    binary = array.cast(pa.binary())
    assert crc32(binary).tolist() == [zlib.crc32(value.encode()) for value in plain]
    singles = [int(murmur2(pa.array([value.encode()]))[0]) for value in plain]
    assert murmur2(binary).tolist() == singles
    for hashed, column in ((string_hash, array), (murmur2, binary), (crc32, binary)):
        assert hashed(column.dictionary_encode()).tolist() == hashed(column).tolist()


def test_long_texts_are_hashed_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ["x" * i + "中" for i in range(60)]
    monkeypatch.setattr(hashes, "_RUN", 50)
    assert string_hash(texts(*values)).tolist() == [one_by_one(value) for value in values]


def test_the_same_as_the_client() -> None:
    confluent = pytest.importorskip("confluent_kafka")
    keys = [f"key-{i}"[: i % 9] + "中" * (i % 3) for i in range(500)]
    found = to_positive_mod(murmur2(texts(*keys).cast(pa.binary())), 12)
    assert found.tolist() == [confluent.murmur2(key.encode(), 12) for key in keys]
