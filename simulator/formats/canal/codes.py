"""sqlType: the java.sql.Types code of each column, which depends on the value for unsigned columns and nulls."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import decoded
from simulator.carriers import numbers
from simulator.formats.canal.definitions import checked_text, misread, read_as_text
from simulator.formats.canal.options import CanalOptions
from simulator.formats.format import Settings
from simulator.model import Column
from simulator.sources.mysql.type_table import TYPES
from simulator.text.template import Piece, column_of
from simulator.wire.fields import Cell

# The code of nulls, if it is not the type's: since 1.1.7, and up to 1.1.6.
NULL_CODES: Final = {"json": 1111, "set": 2004}
OLD_NULL_CODES: Final = {
    "json": 1111, "set": -2, "tinytext": -3, "text": -4, "mediumtext": -4, "longtext": -4, "binary": -2, "geometry": -2,
    "varbinary": -3, "tinyblob": -3, "blob": -4, "mediumblob": -4, "longblob": -4,
}  # fmt: skip

# Unsigned values above the signed type's maximum have the code of a larger type: LogEventConvert, "处理unsigned类型".
PROMOTED: Final = {"tinyint": (127, 5), "smallint": (32767, 4), "int": (2**31 - 1, -5), "bigint": (2**63 - 1, 3)}


def code_cell(column: Column, settings: Settings[CanalOptions]) -> Cell:
    """The codes of a column's values."""
    type, version = column.type, settings.options.version
    code = TYPES[read_as_text(column, settings) or type.name].jdbc
    # codes of nulls follow the column's type in the binary log
    stored = "longblob" if checked_text(column, settings) else type.name
    if stored != type.name or misread(column, settings):
        code = 2004
    nulls = NULL_CODES if version >= "1.1.7" else OLD_NULL_CODES
    null = nulls.get("geometry" if TYPES[stored].family == "geometry" else stored, code)
    if (
        version == "1.1.4"
        and (type.name, type.length) == ("tinyint", 1)
        and not type.spelled.lower().startswith("bool")
    ):
        code = -7
    high, promoted = PROMOTED.get(type.name, (0, 0)) if type.unsigned else (0, 0)
    if null == code and not promoted:
        return Cell(decoded, quoted=False, constant=str(code))

    codes = pa.array([str(code), str(promoted), str(null)], pa.string())

    def piece(array: pa.Array) -> Piece:
        if array.null_count == 0 and not promoted:
            return str(code)
        indices = np.zeros(len(array), dtype=np.int32)
        if promoted:
            indices[numbers(array) > high] = 1
        if array.null_count:
            indices[np.asarray(array.is_null())] = 2
        return pa.DictionaryArray.from_arrays(pa.array(indices), codes)

    return Cell(lambda array: column_of(piece(array), len(array)), quoted=False, piece=piece)
