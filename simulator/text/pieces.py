"""Pieces that the compiled library writes itself: they are joined with others without a column of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.text import decimals, mysql
from simulator.text.bytewise import HEX, LATIN1, Mapped
from simulator.text.java import numbers as java
from simulator.text.template import Piece


def digits(array: pa.Array, type: ColumnType) -> Piece:
    """Integers as their digits: the column itself is the piece."""
    return array


# Native equivalent of each text function.
PIECES: Final[Mapping[Any, Callable[..., Piece]]] = {
    mysql.integer: digits,
    mysql.number: digits,
    decimals.decimal_plain: lambda array, type: decimals.decimal_piece(array, grouped=False),
    decimals.decimal_groups: lambda array, type: decimals.decimal_piece(array, grouped=True),
    mysql.date: lambda array, type: mysql.date_piece(array),
    mysql.datetime_fixed: lambda array, type, zone=None: mysql.datetime_piece(array, type.length or 0, zone),
    mysql.datetime_trimmed: lambda array, type, zone=None: mysql.trimmed_datetime_piece(array, zone),
    mysql.time_fixed: lambda array, type: mysql.time_piece(array, type.length or 0),
    mysql.latin1_bytes: lambda array, type: Mapped(array, LATIN1),
    mysql.hex_bytes: lambda array, type: Mapped(array, HEX),
    mysql.byte_list: lambda array, type: java.byte_list_piece(array),
    mysql.byte_list_stripped: lambda array, type: java.byte_list_piece(mysql.without_trailing_zeros(array)),
    mysql.time_trimmed: lambda array, type: mysql.trimmed_time_piece(array),
}
