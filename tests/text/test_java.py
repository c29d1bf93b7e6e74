"""Our imitation of Java against Java itself: `readers/JavaText.java`, run with the JDK of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from simulator.delivery.hashes import java_abs_mod, string_hash, to_positive_mod
from simulator.text.java import numbers as java
from simulator.text.java.hash_map import hash_order

pytestmark = pytest.mark.jvm

Bits = np.ndarray
PROGRAM = Path(__file__).parents[1] / "readers" / "JavaText.java"
# What is compared is random, but the same in every run.
SEED, COUNT = 20_261_121, 20_000

Asked = tuple[dict[str, list[str]], int]


def doubles() -> Bits:
    rng = np.random.default_rng(SEED)
    return np.concatenate(
        [
            rng.integers(0, 2**64, COUNT, dtype=np.uint64),
            rng.uniform(-1e7, 1e7, COUNT).view(np.uint64),
            np.round(rng.uniform(0, 1e7, COUNT), 2).view(np.uint64),
            (10 ** rng.uniform(-5, 20, COUNT)).view(np.uint64),
            rng.integers(0, 2**63, COUNT).astype(np.float64).view(np.uint64),
            (2.0 ** np.arange(-1074, 1024)).view(np.uint64),
            np.arange(2000, dtype=np.uint64),
            np.array([float(f"{k}e{i}") for k in (1, 2, 5, 9) for i in range(-323, 308)]).view(np.uint64),
            np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 2e23, 9999999.0, 1e7, 1e-3]).view(np.uint64),
        ]
    )


def floats() -> Bits:
    rng = np.random.default_rng(SEED + 1)
    return np.concatenate(
        [
            rng.integers(0, 2**32, COUNT, dtype=np.uint32),
            rng.uniform(-1e7, 1e7, COUNT).astype(np.float32).view(np.uint32),
            np.round(rng.uniform(0, 2e5, COUNT), 2).astype(np.float32).view(np.uint32),
            rng.integers(0, 2**40, COUNT).astype(np.float32).view(np.uint32),
            (2.0 ** np.arange(-149, 128)).astype(np.float32).view(np.uint32),
            np.arange(2000, dtype=np.uint32),
            np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 123456789, 1e7], dtype=np.float32).view(np.uint32),
        ]
    )


def strings() -> list[str]:
    rng = np.random.default_rng(SEED + 2)
    codes = np.concatenate([np.arange(0x20, 0x7F), np.arange(0xD800), np.arange(0xE000, 0x110000, 97)])
    return ["".join(map(chr, rng.choice(codes, rng.integers(0, 12)))) for _ in range(COUNT)]


def blobs() -> list[bytes]:
    rng = np.random.default_rng(SEED + 3)
    return [rng.bytes(int(size)) for size in rng.integers(1, 9, 2000)]


def byte_arrays() -> list[bytes]:
    """None, one, each byte, many."""
    rng = np.random.default_rng(SEED + 4)
    return [b"", *(bytes([byte]) for byte in range(256)), *(rng.bytes(int(size)) for size in rng.integers(0, 60, 500))]


def maps() -> list[list[str]]:
    """Names of columns as people write them and as nobody would: all sizes about which a map grows, equal hashes."""
    rng = np.random.default_rng(SEED + 5)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz_0123456789ABCé列名表😀"))
    sets = [[f"col_{i}" for i in range(count)] for count in (1, 12, 13, 24, 25, 48, 49, 96, 97, 200)]
    for size in rng.integers(1, 110, 300).tolist():
        sets.append(list(dict.fromkeys("".join(rng.choice(letters, rng.integers(1, 12))) for _ in range(size))))
    return [*sets, ["Aa", "BB", "AaAa", "BBBB", "AaBB", "列名", "表", "é"]]


def some_of(names: list[str], seed: int) -> list[int]:
    """Places of some of the names, in their order: the columns that an update changed."""
    rng = np.random.default_rng(seed)
    return np.flatnonzero(rng.random(len(names)) < rng.random()).tolist()


def parts_of_maps() -> list[list[str]]:
    return [[names[place] for place in some_of(names, seed)] or names for seed, names in enumerate(maps())]


def hashes() -> list[tuple[int, int]]:
    """Hashes with their ends, and numbers of partitions."""
    rng = np.random.default_rng(SEED + 6)
    ends = [-(1 << 31), -(1 << 31) + 1, -1, 0, 1, (1 << 31) - 1]
    drawn = [*ends, *rng.integers(-(1 << 31), 1 << 31, 5000).tolist()]
    return [(hash, n) for hash in drawn for n in (1, 3, 12, 1000)]


@pytest.fixture(scope="module")
def asked() -> Asked:
    """The answers of Java by kind of question, and the version of the JDK. One process for all."""
    if shutil.which("java") is None:
        pytest.fail("there is no 'java': install a JDK, version 17 or newer.", pytrace=False)
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    assert found, told
    questions = {
        "d": [f"{bits:x}" for bits in doubles().tolist()],
        "f": [f"{bits:x}" for bits in floats().tolist()],
        "h": [text.encode("utf-16-be").hex() for text in strings()],
        "l": [blob.hex() for blob in blobs()],
        "a": [blob.hex() for blob in byte_arrays()],
        "p": [f"{hash} {n}" for hash, n in hashes()],
        "m": [",".join(name.encode("utf-16-be").hex() for name in names) for names in [*maps(), *parts_of_maps()]],
    }
    lines = "".join(f"{kind} {text}\n" for kind, texts in questions.items() for text in texts)
    run = subprocess.run(["java", str(PROGRAM)], input=lines, capture_output=True, text=True, check=True)
    answers = iter(run.stdout.splitlines())
    return {kind: [next(answers) for _ in texts] for kind, texts in questions.items()}, int(found[1])


def compare(
    render: Callable[[pa.Array], pa.Array], values: Bits, texts: list[str], version: int, parse: Callable[[str], float]
) -> None:
    """All texts on an old JDK. A newer one prints the shortest digits: texts must at least mean the same value."""
    ours = render(pa.array(values)).to_pylist()
    if version <= 18:
        assert [pair for pair in zip(ours, texts, strict=True) if pair[0] != pair[1]] == []
        return
    equal = sum(a == b for a, b in zip(ours, texts, strict=True))
    assert equal > len(ours) * 0.8, f"JDK {version} prints other digits, but not that many"
    odd = [(a, b) for a, b in zip(ours, texts, strict=True) if a != b and parse(a) != parse(b)]
    assert odd == []
    pytest.skip(f"JDK {version} prints the shortest digits; the old ones were compared only where both are equal")


def test_doubles(asked: Asked) -> None:
    answers, version = asked
    compare(java.double_text, doubles().view(np.float64), answers["d"], version, float)


def test_floats(asked: Asked) -> None:
    answers, version = asked
    compare(java.float_text, floats().view(np.float32), answers["f"], version, np.float32)


def test_string_hash(asked: Asked) -> None:
    answers, _ = asked
    assert string_hash(pa.array(strings())).tolist() == [int(text) for text in answers["h"]]


def test_latin1(asked: Asked) -> None:
    answers, _ = asked
    decoded = java.latin1(pa.array(blobs()))
    assert [text.encode().hex() for text in decoded.to_pylist()] == answers["l"]


def test_byte_lists(asked: Asked) -> None:
    answers, _ = asked
    assert java.byte_list(pa.array(byte_arrays())).to_pylist() == answers["a"]


def test_partitions(asked: Asked) -> None:
    answers, _ = asked
    ours = []
    for hash, n in hashes():
        column = np.array([hash], dtype=np.int32)
        ours.append(f"{java_abs_mod(column, n)[0]} {to_positive_mod(column, n)[0]}")
    assert ours == answers["p"]


def test_hash_maps(asked: Asked) -> None:
    answers, _ = asked
    assert [str(list(hash_order(names))) for names in maps()] == answers["m"][: len(maps())]


def test_hash_maps_of_some_columns(asked: Asked) -> None:
    """A map of the changed columns has as many buckets as these need, not as all of the table's would."""
    answers, _ = asked
    ours = []
    for seed, names in enumerate(maps()):
        some = some_of(names, seed) or list(range(len(names)))
        order = [place for place in hash_order(names, len(some)) if place in set(some)]
        ours.append(str([some.index(place) for place in order]))
    assert ours == answers["m"][len(maps()) :]
