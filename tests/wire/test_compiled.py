"""The compiled library: the same bytes as Arrow's from all pieces, and no access outside of its buffers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.carriers import FIRST_DAY, US_PER_DAY, decimals
from simulator.formats.dts.record.times import datetimes
from simulator.formats.dts.record.values import whole
from simulator.model import ColumnType
from simulator.native import library, program
from simulator.native.draws import in_turn
from simulator.partial_dates import partial_us
from simulator.stream.generators.index import Index, draws
from simulator.stream.generators.nulls import Nulls
from simulator.stream.generators.shuffle import Shuffle
from simulator.text import mysql
from simulator.text.base64 import Base64, SignedBase64
from simulator.text.bytewise import LATIN1, Mapped
from simulator.text.columns import LAST_US
from simulator.text.decimals import decimal_groups, decimal_plain
from simulator.text.java import numbers as java
from simulator.text.template import Choice, Members, Piece, Run, join
from simulator.values import texts
from simulator.values.draw import Bits, Ints, bits
from simulator.wire.avro import Longs, SignedBytes, Sized, Strings

BUILT: Final = pytest.mark.skipif(not program.compiled(), reason="the library was not built, or is not wanted")
INT64: Final = st.integers(-(2**63), 2**63 - 1)


def by_arrow(pieces: list[Piece], count: int, type: pa.DataType) -> pa.Array:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LIBRARY", None)
        return join(pieces, count, type)


@st.composite
def columns(draw: st.DrawFn, count: int, nulls: bool) -> pa.Array:
    """Texts, a dictionary of them or whole numbers; a slice of more now and then."""
    before = draw(st.integers(0, 2))
    word = st.text(max_size=40) | st.none() if nulls else st.text(max_size=40)
    match draw(st.sampled_from(["text", "dictionary", "int64", "uint64"])):
        case "text":
            return pa.array(draw(st.lists(word, min_size=count + before, max_size=count + before)), pa.string())[
                before:
            ]
        case "dictionary":
            entries = pa.array(draw(st.lists(st.text(max_size=40), min_size=1, max_size=4)), pa.string())
            place = st.integers(0, len(entries) - 1) | st.none() if nulls else st.integers(0, len(entries) - 1)
            places = draw(st.lists(place, min_size=count + before, max_size=count + before))
            return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32())[before:], entries)
        case "uint64":
            return pa.array(draw(st.lists(st.integers(0, 2**64 - 1), min_size=count, max_size=count)), pa.uint64())
    return pa.array(draw(st.lists(INT64, min_size=count + before, max_size=count + before)), pa.int64())[before:]


@st.composite
def lists(draw: st.DrawFn, count: int, binary: bool = False, depth: int = 2) -> list[Piece]:
    """Pieces for so many rows; only those at the top may be null."""
    kinds = ["constant", "column", "mapped", "signed"] + (["run", "choice", "members"] if depth and not binary else [])
    kinds += ["longs", "strings"] if binary else []
    pieces: list[Piece] = []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=5)):
        inner = draw(st.integers(1, 4))
        numbers: Any
        match kind:
            case "constant":
                text = draw(st.text(max_size=70))
                pieces.append(text.encode() if binary else text)
            case "column":
                pieces.append(draw(columns(count, nulls=depth == 2)))
            case "mapped":
                column = draw(columns(count, nulls=depth == 2).filter(lambda column: pa.types.is_string(column.type)))
                pieces.append(
                    draw(st.sampled_from([Mapped(column, LATIN1), java.byte_list_piece(column), Base64(column)]))
                )
            case "longs":
                pieces.append(Longs(np.array(draw(st.lists(INT64, min_size=count, max_size=count)), dtype=np.int64)))
            case "signed":
                numbers = np.array(draw(st.lists(INT64, min_size=count, max_size=count)), dtype=np.int64)
                array = draw(st.sampled_from([pa.array(numbers), decimals(numbers, 18, 2)]))
                pieces.append(SignedBytes(array) if binary else SignedBase64(array))
            case "strings":
                column = draw(columns(count, nulls=True).filter(lambda column: not pa.types.is_integer(column.type)))
                pieces.append(Strings(column))
            case "run":
                steps = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
                starts = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
                rows = int(starts[-1])
                pieces.append(Run(draw(lists(rows, depth=depth - 1)), starts, draw(st.sampled_from(["", ","])), rows))
            case "choice":
                numbers = draw(st.lists(st.integers(-1, inner - 1), min_size=count, max_size=count))
                slots = np.array(numbers, dtype=np.int32)
                pieces.append(Choice(draw(lists(inner, depth=depth - 1)), slots, draw(st.text(max_size=5)), inner))
            case "members":
                each = []
                for _ in range(inner):
                    there = np.flatnonzero(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
                    each.append((there, ["x", *draw(lists(len(there), depth=0))]))
                pieces.append(Members(each, count))
    return pieces


@BUILT
@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 5), st.booleans())
def test_both_write_the_same(data: st.DataObject, count: int, binary: bool) -> None:
    pieces = data.draw(lists(count, binary))
    type = pa.binary() if binary else pa.string()
    written = join(pieces, count, type)
    written.validate(full=True)
    assert written.to_pylist() == by_arrow(pieces, count, type).to_pylist()


RANDOM: Final = np.random.default_rng(1)
ROWS: Final = 2000
NULLS: Final = RANDOM.random(ROWS) < 0.1
US: Final = RANDOM.integers(FIRST_DAY * US_PER_DAY, LAST_US + 1, ROWS) // 10 ** RANDOM.integers(0, 7, ROWS)
TIMES: Final = pa.array(np.append(US, [FIRST_DAY * US_PER_DAY, LAST_US]), mask=np.append(NULLS, [False, False]))


@BUILT
@pytest.mark.parametrize("zone", [None, "+08:00", "America/New_York"])
def test_times(zone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """All fractions, the first and the last of the calendar."""
    array, days = TIMES.cast(pa.timestamp("us")), TIMES.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    types = [ColumnType("datetime", digits) for digits in range(7)]

    def written() -> list[pa.Array]:
        fixed = [mysql.datetime_fixed(array, type, zone=zone) for type in types]
        return [*fixed, mysql.datetime_trimmed(array, types[0], zone=zone), mysql.date(days, ColumnType("date"))]

    texts = written()
    monkeypatch.setattr(program, "LIBRARY", None)
    assert texts == written()


@BUILT
@pytest.mark.parametrize("zone", [None, "Asia/Shanghai"])
def test_partial_dates_among_others(zone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """They keep their text in every zone; the others are written as in a column without them."""
    rare = np.arange(ROWS) % 7 == 0
    us = np.where(rare, partial_us(2020, 0, 31, 3_500_000), US[:ROWS])
    array = pa.array(us, mask=NULLS).cast(pa.timestamp("us"))

    def written() -> list[pa.Array]:
        fixed = mysql.datetime_fixed(array, ColumnType("datetime", 3), zone=zone)
        return [
            fixed,
            mysql.datetime_trimmed(array, ColumnType("datetime"), zone=zone),
            whole(datetimes(array, "YMDhmsf", 1), ROWS),
        ]

    texts = written()
    assert set(texts[0].filter(pa.array(rare & ~NULLS)).to_pylist()) == {"2020-00-31 00:00:03.500"}
    assert set(texts[1].filter(pa.array(rare & ~NULLS)).to_pylist()) == {"2020-00-31 00:00:03.5"}
    monkeypatch.setattr(program, "LIBRARY", None)
    assert texts == written()


@BUILT
@pytest.mark.parametrize(("members", "units"), [("YMDhms", 1), ("YMDhmsf", 1), ("YMDhmsf", 1000)])
def test_members_of_times(members: str, units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    array = TIMES.cast(pa.timestamp("us"))
    written = whole(datetimes(array, members, units), len(array))
    monkeypatch.setattr(program, "LIBRARY", None)
    assert written == whole(datetimes(array, members, units), len(array))


@BUILT
@pytest.mark.parametrize("scale", range(19))
def test_decimals(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all sizes; some of them with zeros in the last group of nine digits."""
    numbers = RANDOM.integers(-(10**18) + 1, 10**18, ROWS) // 10 ** RANDOM.integers(0, 18, ROWS)
    numbers[::7] -= numbers[::7] % 10 ** (scale % 9)
    array = decimals(numbers, 18, scale, NULLS)
    texts = [render(array, ColumnType("decimal")) for render in (decimal_plain, decimal_groups)]
    monkeypatch.setattr(program, "LIBRARY", None)
    assert texts == [render(array, ColumnType("decimal")) for render in (decimal_plain, decimal_groups)]


@BUILT
def test_equal_numbers_beside_each_other() -> None:
    """The digits of the last number are copied, unless they have moved behind a longer length."""
    numbers = pa.array([0, -1, 7, 7, 1_714_550_400_123, -(2**63), 2**63 - 1])
    words = pa.array(["x" * size for size in (0, 50, 60, 63, 64, 8192, 10)])
    pieces: list[Piece] = [Sized([words, numbers], len(words)), numbers, "b", numbers, "000", numbers]
    assert join(pieces, len(words), pa.binary()).equals(by_arrow(pieces, len(words), pa.binary()))


@BUILT
@pytest.mark.parametrize("digits", range(7))
def test_clocks(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two and of three digits of hours, and below zero."""
    limits = RANDOM.choice([10**6, 10**11, mysql.CLOCK_END_US], ROWS)
    us = RANDOM.integers(1 - limits, limits) // 10 ** RANDOM.integers(0, 7, ROWS)
    array, type = pa.array(us, mask=NULLS).cast(pa.duration("us")), ColumnType("time", digits)
    texts = [mysql.time_fixed(array, type), mysql.time_trimmed(array, type)]
    monkeypatch.setattr(program, "LIBRARY", None)
    assert texts == [mysql.time_fixed(array, type), mysql.time_trimmed(array, type)]


@BUILT
@pytest.mark.parametrize("render", [java.double_text, java.float_text])
def test_java_numbers(render: Callable[[pa.Array], pa.Array], monkeypatch: pytest.MonkeyPatch) -> None:
    """Few digits and many, of all sizes; some have two neighbours that are as near to their shortest text."""
    few = RANDOM.integers(-(10**9), 10**9, 2 * ROWS) / 10.0 ** RANDOM.integers(0, 13, 2 * ROWS)
    many = RANDOM.random(ROWS) * 10.0 ** RANDOM.integers(-5, 10, ROWS)
    odd = [
        0.0,
        -0.0,
        1e-3,
        1e7,
        9999999.0,
        2e23,
        4.9e-324,
        1e-45,
        float("inf"),
        float("-inf"),
        float("nan"),
        16777217.0,
    ]
    values = np.concatenate([few, many, odd])
    array = pa.array(values if render is java.double_text else values.astype(np.float32), mask=values == 7)
    texts = render(array)
    monkeypatch.setattr(program, "LIBRARY", None)
    assert texts == render(array)


@BUILT
@pytest.mark.parametrize("alphabet", ["x", *texts.ALPHABETS])
def test_drawn_texts(alphabet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draws, lengths = RANDOM.integers(0, 2**64, ROWS, dtype=np.uint64), RANDOM.integers(0, 50, ROWS)
    drawn = texts.text(draws, lengths, alphabet), texts.blob(draws, lengths)
    monkeypatch.setattr(program, "LIBRARY", None)
    assert drawn == (texts.text(draws, lengths, alphabet), texts.blob(draws, lengths))


@BUILT
def test_room_is_made_for_more_than_was_thought() -> None:
    numbers = pa.array(np.arange(100_000))
    run = Run(["a constant of some length ", numbers], np.array([0, 50_000, 100_000]), ",", 100_000)
    assert join([run, ";"], 2).equals(by_arrow([run, ";"], 2, pa.string()))


@dataclass
class Settings:
    """Of rows: what `State` is to a generator."""

    identity: Bits
    count: Ints

    def changes(self, history: Any) -> Ints:
        return self.count


@BUILT
@pytest.mark.parametrize("size", [1, 2, 3, 7, 65_535, 65_536, 2**32, 2**62 - 1])
def test_draws(size: int) -> None:
    rows = np.arange(2000)
    state: Any = Settings(bits(np.uint64(1), rows), rows % 5)
    nulls = [Nulls(share, None, np.uint64(7)) for share in (0.1, 0.3, 0.7)]  # type: ignore[arg-type]
    places = in_turn(rows, rows % 5, min(size, 2**31 - 1))
    np.testing.assert_array_equal(places, (rows + rows % 5) % min(size, 2**31 - 1))
    drawn = [Index(size, None, np.uint64(7)), *nulls, lambda state: draws(state, None, np.uint64(7))]  # type: ignore[arg-type]
    compiled = [draw(state) for draw in drawn]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LIBRARY", None)
        for draw, written in zip(drawn, compiled, strict=True):
            np.testing.assert_array_equal(draw(state), written)


@BUILT
@pytest.mark.parametrize("size", [1, 2, 3, 10, 97, 10_000])
def test_shuffles(size: int) -> None:
    """Each place once, back again, and as with NumPy."""
    shuffle, places = Shuffle(size, np.uint64(3)), np.arange(size)
    shuffled = shuffle.forward(places)
    np.testing.assert_array_equal(np.sort(shuffled), places)
    np.testing.assert_array_equal(shuffle.backward(shuffled), places)
    with pytest.raises(AssertionError, match="not among those"):
        shuffle.forward(places + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LIBRARY", None)
        np.testing.assert_array_equal(shuffle.forward(places), shuffled)


@BUILT
def test_a_wrong_index_is_no_access() -> None:
    with pytest.raises(AssertionError, match="what its buffers do not have"):
        join(["x", Choice([pa.array([1])], np.array([7], dtype=np.int32), "", 1)], 1)


def test_where_an_array_begins() -> None:
    numbers = np.arange(10)
    begin = library.memory(numbers)
    assert begin == numbers.ctypes.data
    assert library.memory(numbers[3:]) == begin + 3 * numbers.itemsize
    assert library.memory(numbers[3:3]) == numbers[3:3].ctypes.data
    numbers.flags.writeable = False
    assert library.memory(numbers) == begin
    with pytest.raises(ValueError, match="the elements of the array lie apart"):
        library.memory(numbers[::2])


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert library.load(tmp_path / "none") is None
    (tmp_path / "other").write_bytes(b"no library")
    assert library.load(tmp_path / "other") is None
    monkeypatch.setenv("CDCSIM_PURE", "1")
    assert library.load() is None


@pytest.mark.parametrize("program", ["fuzz_write.c", "fuzz_traffic.c"])
def test_random_programs_under_the_sanitizers(program: str, tmp_path: Path) -> None:
    """A C program of its own: Python under a sanitizer says more of Python."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    options = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    built = subprocess.run(
        [compiler, *options, "-o", str(tmp_path / "fuzz"), str(Path(__file__).with_name(program))],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode and "san" in built.stderr:
        pytest.skip("the C compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "fuzz", "3000"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
