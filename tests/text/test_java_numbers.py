"""BigDecimal, HashMap, java.time and Base64 against Java itself: `readers/JavaNumbers.java`, run with the JDK here."""

from __future__ import annotations

import shutil
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from simulator.carriers import decimals
from simulator.text.base64 import base64
from simulator.text.java import decimal as java_decimal
from simulator.text.java.hash_map import hash_order
from simulator.text.timestamps import local_datetime, local_time

pytestmark = pytest.mark.jvm

PROGRAM: Final = Path(__file__).parents[1] / "readers" / "JavaNumbers.java"
SEED, COUNT = 20_261_122, 3000
SCALES: Final = [(18, scale) for scale in (0, 2, 6, 7, 9, 10, 17, 18)] + [(38, 0), (38, 12), (65, 30), (76, 40)]


def columns() -> list[pa.Array]:
    """Decimals of many widths; small ones, zeros and round ones too."""
    rng = np.random.default_rng(SEED)
    made = []
    for precision, scale in SCALES:
        if precision == 18:
            numbers = rng.integers(-(10**18) + 1, 10**18, 400) // 10 ** rng.integers(0, 19, 400)
            made.append(decimals(numbers, precision, scale))
            made.append(made[-1].cast(pa.decimal128(38, scale)))  # wide columns of narrow numbers are worked on alike
        else:
            type = pa.decimal256(precision, scale) if precision > 38 else pa.decimal128(precision, scale)
            digits = ["".join(map(str, rng.integers(0, 10, rng.integers(1, precision + 1)))) for _ in range(200)]
            made.append(pa.array([Decimal(f"{'-' * (i % 2)}{d}E-{scale}") for i, d in enumerate(digits)], type))
    return made


def numbers() -> list[str]:
    """Texts of numbers with exponents."""
    rng = np.random.default_rng(SEED + 1)
    exponents = rng.integers(-140, 140, COUNT)
    return [f"{rng.integers(-(10**12), 10**12)}e{e}" for e in exponents] + [
        "0",
        "0.000",
        "-0.00",
        "-0e5",
        "1e-7",
        "0e-6",
    ]


def floats(dtype: Any) -> Any:
    rng = np.random.default_rng(SEED + 2)
    bits = (
        rng.integers(0, 2**32, COUNT, dtype=np.uint32)
        if dtype is np.float32
        else rng.integers(0, 2**64, COUNT, np.uint64)
    )
    drawn = bits.view(dtype)
    near = [rng.uniform(-1e7, 1e7, COUNT), np.round(rng.uniform(0, 1e5, COUNT), 2), 10 ** rng.uniform(-9, 20, COUNT)]
    edges = [0.0, -0.0, 1e-6, 9.99e-7, 1e9, 1e10, 1e14, 999999999999999.9, 1e15, 1e16, 123456789012345.67, 5e-324 * 1]
    return np.concatenate([drawn[np.isfinite(drawn)], *near, edges]).astype(dtype)


def shortest(value: Any) -> str:
    """The text that MySQL prints: as few digits as bring the value back, without exponent below 1e15."""
    text = repr(value.item()) if value.dtype == np.float64 else str(value)
    if abs(value) >= 1e15:
        return f"{Decimal(text).normalize():e}"
    return f"{int(Decimal(text))}" if value == np.floor(value) else text


def names() -> list[list[str]]:
    rng = np.random.default_rng(SEED + 3)
    letters = np.array([*"abcdefghijklmnopqrstuvwxyz_0123456789éü中"])
    lists = []
    for _ in range(400):
        made = {"".join(rng.choice(letters, rng.integers(1, 12))) for _ in range(rng.integers(1, 60))}
        lists.append(sorted(made, key=lambda name: hash_order([name, *sorted(made)])[0]))
    return lists


def moments() -> pa.Array:
    rng = np.random.default_rng(SEED + 4)
    us = rng.integers(-(10**15), 4 * 10**15, COUNT)
    whole = us // 10 ** rng.integers(0, 10, COUNT)
    return pa.array(np.concatenate([us, whole * 60_000_000 % 4 * 10**15, us // 10**6 * 10**6])).cast(pa.timestamp("us"))


def blobs() -> list[bytes]:
    rng = np.random.default_rng(SEED + 5)
    return [rng.bytes(int(size)) for size in rng.integers(0, 40, COUNT)]


@pytest.fixture(scope="module")
def asked() -> dict[str, list[str]]:
    """The answers of Java by kind of question. One process for all."""
    if shutil.which("java") is None:
        pytest.fail("there is no 'java': install a JDK, version 17 or newer.", pytrace=False)
    exact = [str(value) for column in columns() for value in column.to_pylist()] + numbers()
    clocks = [value.isoformat() for value in moments().to_pylist()]
    questions = {
        "s": exact,
        "p": exact,
        "7": [shortest(value) for value in floats(np.float32)],
        "6": [shortest(value) for value in floats(np.float64)],
        "8": [shortest(value) for value in floats(np.float32)],
        "9": [shortest(value) for value in floats(np.float64)],
        "o": [f"{start} {' '.join(some)}" for some in names() for start in (16, 4) for start in (str(start)[0],)],
        "d": clocks,
        "t": [clock.split("T")[1] for clock in clocks],
        "b": [blob.hex() for blob in blobs()],
    }
    lines = "".join(f"{kind} {text}\n" for kind, texts in questions.items() for text in texts)
    run = subprocess.run(["java", str(PROGRAM)], input=lines, capture_output=True, text=True, check=True)
    answers = iter(run.stdout.splitlines())
    return {kind: [next(answers) for _ in texts] for kind, texts in questions.items()}


def test_decimals(asked: dict[str, list[str]]) -> None:
    ours = [text for column in columns() for text in java_decimal.decimal_text(column).to_pylist()]
    assert ours + java_decimal.number_text(pa.array(numbers())).to_pylist() == asked["s"]


def test_plain_decimals(asked: dict[str, list[str]]) -> None:
    texts = pa.array([str(value) for column in columns() for value in column.to_pylist()] + numbers())
    assert java_decimal.number_text(texts, plain=True).to_pylist() == asked["p"]


@pytest.mark.parametrize(
    ("dtype", "digits", "kind"),
    [(np.float32, 7, "7"), (np.float64, 16, "6"), (np.float32, 7, "8"), (np.float64, 16, "9")],
)
def test_rounded_floats(asked: dict[str, list[str]], dtype: Any, digits: int, kind: str) -> None:
    ours = java_decimal.float_text(pa.array(floats(dtype)), digits, plain=kind in "89").to_pylist()
    assert [pair for pair in zip(ours, asked[kind], strict=True) if pair[0] != pair[1]] == []


def test_hash_maps(asked: dict[str, list[str]]) -> None:
    ours = []
    for some in names():
        for initial in (16, 4):
            ours.append(" ".join(some[place] for place in hash_order(some, initial=initial)))
    assert ours == asked["o"]


def test_java_time(asked: dict[str, list[str]]) -> None:
    assert local_datetime(moments()).to_pylist() == asked["d"]
    clocks = moments().cast(pa.int64()).to_numpy() % 86_400_000_000
    assert local_time(pa.array(clocks).cast(pa.duration("us"))).to_pylist() == asked["t"]


def test_base64(asked: dict[str, list[str]]) -> None:
    assert base64(pa.array(blobs())).to_pylist() == asked["b"]
