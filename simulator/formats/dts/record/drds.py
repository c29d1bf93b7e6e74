"""Rows of DRDS (PolarDB-X): MySQL's, in physical tables of many databases.

In the one printed message (of 2024) sourceType is MySQL, objectName the physical table
(`test_drds_hzy_pyii_0005.sample_order_real_aeje_11`), and the tags l_db_name and l_tb_name are the logical names.
Decided here: eight databases of two tables each, which agrees with that message; the row's number decides its table, in
which it stays; the four letters are a hash of the name.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import ChangeBatch
from simulator.formats.dts.record.record import Texts, object_name
from simulator.model import Table

DATABASES, TABLES = 8, 16
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"


def names(batch: ChangeBatch) -> pa.Array:
    """The objectName of each row."""
    assert batch.row_numbers is not None
    shards = batch.row_numbers() % TABLES
    physical = [physical_name(batch.table, shard) for shard in range(TABLES)]
    return pa.DictionaryArray.from_arrays(pa.array(shards.astype(np.int32)), pa.array(physical, pa.string()))


def physical_name(table: Table, shard: int) -> str:
    database = f"{table.id.database}_{_letters(table.id.database)}_{shard * DATABASES // TABLES:04}"
    return object_name(database, f"{table.id.name}_{_letters(table.id.name)}_{shard:02}")


def _letters(name: str) -> str:
    number = zlib.crc32(name.encode())
    return "".join(_ALPHABET[number // 26**i % 26] for i in range(4))


def tags(table: Table) -> dict[str, Texts]:
    """The logical names."""
    return {"l_db_name": table.id.database, "l_tb_name": table.id.name}
