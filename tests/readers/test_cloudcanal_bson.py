"""MongoDB's own library on the documents that CloudCanal nests: read and written again, they are the same texts."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of, samples_of
from jvm import Reader

from simulator import sources
from simulator.model import INSERT

pytestmark = pytest.mark.jvm

SOURCE: Final = "mongodb-6.0"
RARE: Final = (
    "regex", "javascript", "javascriptWithScope", "symbol", "dbPointer", "undefined", "minKey", "maxKey", "timestamp",
)  # fmt: skip


def nested(values: list[bytes]) -> list[bytes]:
    """The texts of documents, arrays and rare types, each as the only field of a document."""
    found: list[bytes] = []
    for value in values:
        message: dict[str, Any] = json.loads(value)
        for row in (*message["data"], *message["before"]):
            for name, text in row.items():
                if message["dbValType"].get(name) in ("Object", "Array") and text is not None:
                    found.append(f'{{"v": {text}}}'.encode())
    return found


def test_documents_of_all_cases_come_back(bson: Reader) -> None:
    values = [m.value or b"" for c in cases_of(SOURCE) for m in messages_of("cloudcanal-json", SOURCE, block_of(c))]
    ours = nested(values)
    assert len(ours) > 30
    assert bson.ask(ours) == [[line] for line in ours]


@pytest.mark.parametrize("text", [*samples_of(SOURCE).large, *RARE])
def test_boundary_values_come_back(bson: Reader, text: str) -> None:
    """The whole corpus of each type, but for texts and bytes, which are not nested."""
    table = table_of("t", {"_id": "int", "c": text}, ["_id"], source=SOURCE)
    literals = sources.find(SOURCE).types.boundary_values(table.columns[1].type)
    rows = [[str(number), literal] for number, literal in enumerate(literals)]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=SOURCE)
    ours = nested(encoded(codec_of("cloudcanal-json", SOURCE), batch))
    assert ours or text in ("string", "binData")
    assert bson.ask(ours) == [[line] for line in ours]
