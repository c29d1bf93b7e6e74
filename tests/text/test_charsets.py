"""Columns in other character sets are what Python encodes value by value."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pytest

from simulator.sources.mysql.type_table import CHARSETS
from simulator.text.charsets import encoded

CONTROLS: Final = "".join(map(chr, range(0x20)))
COLUMNS: Final = (
    ["plain", None, "", "~\\|"],
    ["aé中\\", "", None, "\x01ÿш€\x1f", "😀\x00", *map(chr, range(0x80, 0x3000, 7))],
    [f"{CONTROLS}é", "ü"],  # no control is left to stand between texts
    [],
)


@pytest.mark.parametrize("texts", COLUMNS)
def test_encoded(texts: list[str | None]) -> None:
    column = pa.array(texts, pa.string())
    for codec in sorted({codec for _, codec in CHARSETS.values()}):
        expected = [None if text is None else text.encode(codec, "replace") for text in texts]
        assert encoded(column, codec).to_pylist() == expected, codec
        assert encoded(column.dictionary_encode(), codec).to_pylist() == expected, codec
