"""MongoDB's own library on what CloudCanal nests: read, and written again as relaxed extended JSON, it is the same."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
import pytest
from building import batch_of, block_of, codec_of, encoded, messages_of, table_of
from cases import cases_of, samples_of
from jvm import Reader

from simulator import sources
from simulator.formats.cloudcanal.values.mongodb import relaxed
from simulator.model import INSERT
from simulator.sources.mongodb import json as bson

pytestmark = pytest.mark.jvm

SOURCE: Final = "mongodb-6.0"
RARE: Final = (
    "regex", "javascript", "javascriptWithScope", "symbol", "dbPointer", "undefined", "minKey", "maxKey", "timestamp",
)  # fmt: skip


def come_back(driver: Reader, texts: list[str]) -> None:
    """Each as the only field of a document."""
    ours = [f'{{"v": {text}}}'.encode() for text in texts]
    answers = driver.ask([b"relaxed " + line for line in ours])
    assert [pair for pair in zip(ours, answers, strict=True) if pair[1] != [pair[0]]][:3] == []


def nested(values: list[bytes]) -> list[str]:
    """The texts of documents, arrays and rare types."""
    found: list[str] = []
    for value in values:
        message: dict[str, Any] = json.loads(value)
        for row in (*message["data"], *message["before"]):
            types = message["dbValType"]
            found += [text for name, text in row.items() if types[name] in ("Object", "Array") and text is not None]
    return found


def test_documents_of_all_cases(driver: Reader) -> None:
    texts = nested(
        [m.value or b"" for c in cases_of(SOURCE) for m in messages_of("cloudcanal-json", SOURCE, block_of(c))]
    )
    assert len(texts) > 30
    come_back(driver, texts)


@pytest.mark.parametrize("text", [*samples_of(SOURCE).large, *RARE])
def test_boundary_values(driver: Reader, text: str) -> None:
    """The whole corpus of each type, but for texts and bytes, which are not nested."""
    table = table_of("t", {"_id": "int", "c": text}, ["_id"], source=SOURCE)
    literals = sources.find(SOURCE).boundary_values(table.columns[1].type)
    rows = [[str(number), literal] for number, literal in enumerate(literals)]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=SOURCE)
    texts = nested(encoded(codec_of("cloudcanal-json", SOURCE), batch))
    assert texts or text in ("string", "binData")
    come_back(driver, texts)


def test_random_leaves(driver: Reader) -> None:
    rng = np.random.default_rng(20_261_121)
    doubles = [
        *rng.integers(0, 2**64, 2_000, dtype=np.uint64).view(np.float64).tolist(),
        *(10 ** rng.uniform(-6, 24, 2_000)).tolist(),
        *np.round(rng.uniform(-1e7, 1e7, 2_000), 2).tolist(),
        *(0.001, 0.0009, 1e7, 9_999_999.0, 2e23, -0.0),
    ]
    last = bson.LAST_ISO_MS
    dates = [0, 1, 10, 100, -1, last, last + 1, *rng.integers(-last, last, 500).tolist()]
    characters = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x110000, 97))]
    come_back(driver, [relaxed(value) for value in (*doubles, *map(bson.Date, dates), *characters)])


def test_doubles_and_texts_inside_of_documents(driver: Reader) -> None:
    """The documents that travel are changed where the driver writes otherwise, and nowhere else."""
    rng = np.random.default_rng(20_261_122)
    table = table_of("t", {"_id": "int", "c": "object"}, ["_id"], source=SOURCE)
    numbers = [*rng.uniform(-1e8, 1e8, 300), *(10 ** rng.uniform(-8, 20, 300)), *np.round(rng.uniform(0, 9, 300), 2)]
    texts = ["plain", "é", "a\\b", '"', "\x7f", "$", "1e5", "0.001", "\U0001f600"]
    documents = [
        bson.dumps({"a": [float(number), {"b": texts[place % len(texts)]}], "n": bson.Long(place)})
        for place, number in enumerate(numbers)
    ]
    rows = [[str(place), document] for place, document in enumerate(documents)]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=SOURCE)
    come_back(driver, nested(encoded(codec_of("cloudcanal-json", SOURCE), batch)))
