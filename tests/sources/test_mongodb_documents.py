"""What updates set inside of documents: found by shapes, column by column, it is what is found row by row."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pytest

from simulator.batch import ChangeBatch, Envelope
from simulator.model import UPDATE, Column, ColumnType, Table, TableId
from simulator.sources.mongodb import documents
from simulator.sources.mongodb.shell import Shell
from simulator.text.json_style import FASTJSON2

# Objects before and after; the first pair gives the shape.
PAIRS: Final = [
    ('{"n": 1, "x": 0.5, "s": "a", "in": {"t": [1, "b"], "ok": true}}',) * 2,
    ('{"n": 1, "x": 0.5, "s": "a", "in": {"t": [1, "b"]}}', '{"n": 2, "x": 0.25, "s": "é<", "in": {"t": [1, "c"]}}'),
    ('{"n": 1, "x": 0.5, "s": "a"}', '{"n": {"$numberLong": "1"}, "x": 1.0, "s": "a\\"b"}'),
    ('{"n": 1, "x": 0.0001, "s": "a"}', '{"n": 1, "x": 1e-05, "s": "a"}'),
    ('{"n": 1}', '{"n": 2147483648}'),
    ('{"a.b": 1, "c": {"": 1}}', '{"a.b": 2, "c": {"": 1}}'),
    ('{"c": {"$x": 1, "y": 2}, "d": {}}', '{"c": {"$x": 1, "y": 3}, "d": {}}'),
    ('{"(a)": 1, "b|c": [[], {"d": 5}]}', '{"(a)": 2, "b|c": [[], {"d": 6}]}'),
    (None, '{"n": 1}'),
    ('{"n": 1}', None),
    ('{"n": 1, "m": 2}', '{"m": 2, "n": 1}'),
    ('{"n": 1, "m": 2}', '{"n": 1, "k": 3}'),
]
COLUMNS: Final = (Column("_id", ColumnType("int")), Column("f.g", ColumnType("object")))
TABLE: Final = Table(TableId("db", "t"), COLUMNS, ("_id",))


@pytest.mark.parametrize("spelling", [documents.EXTENDED, Shell().spelling, Shell(FASTJSON2).spelling])
@pytest.mark.parametrize("first", range(len(PAIRS)))
def test_shapes(spelling: documents.Spelling, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = zip(*PAIRS[first:], *PAIRS, strict=True)
    numbers = np.arange(len(before))
    ids = pa.array(numbers)
    batch = ChangeBatch(
        TABLE,
        UPDATE,
        Envelope(1, *[numbers] * 9),
        (ids, pa.array(after, pa.string())),
        (None, pa.array(before, pa.string())),
    )
    found = documents.updates(batch, spelling.key, spelling)
    monkeypatch.setattr(documents, "shape_of", lambda text, path: None)
    assert found == documents.updates(batch, spelling.key, spelling)
