"""ROWIDs: addresses derived from row numbers, so a row keeps its ROWID."""

from __future__ import annotations

import zlib
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Ints
from simulator.model import TableId

_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PAIRS: Final = pa.array([high + low for high in _DIGITS for low in _DIGITS])
ROWS_PER_BLOCK: Final = 128
_BLOCKS: Final = 1 << 22
_FILES: Final = 1000


def rowid(table: TableId, numbers: Ints) -> pa.Array:
    """A ROWID for each row number: object, file, block and row in base 64, `AAATGpAAIAAItcIAAA`.

    The same number gives the same ROWID, so updating the key does not move a row.
    """
    number = zlib.crc32(str(table).encode()) % 100_000 + 70_000
    data_object = "AAA" + _DIGITS[number >> 12] + _PAIRS[number % 4096].as_py()
    row = numbers % ROWS_PER_BLOCK
    block = numbers // ROWS_PER_BLOCK % _BLOCKS
    file = 4 + numbers // (ROWS_PER_BLOCK * _BLOCKS) % _FILES
    indexes = [file, block >> 12, block & 4095, row]
    parts = [_PAIRS.take(pa.array(index)) for index in indexes]
    return pc.binary_join_element_wise(data_object + "A", parts[0], "AA", parts[1], parts[2], "A", parts[3], "")
