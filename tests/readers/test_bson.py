"""MongoDB's own Java classes on documents of drs-json: they read what was written, and write it the same way.

The driver writes some values so that it reads them as others, or not at all; those are spelled out here.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
from building import batch_of, block_of, codec_of, encoded, table_of
from cases import cases_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jvm import Reader

from simulator.model import DELETE, INSERT, UPDATE
from simulator.run.job import open_job
from simulator.run.plan import Limits
from simulator.run.session import local_run
from simulator.sinks.memory import MemorySink
from simulator.sources import find
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.shell import shell, shell_string

MONGODB: Final = find("mongodb")

pytestmark = pytest.mark.jvm

SOURCES: Final = ["mongodb-4.4", "mongodb-6.0"]


def told(reader: Reader, texts: list[str]) -> list[list[str]]:
    """For each document its canonical extended JSON and the shell's text; `ERROR` and a reason for what is none."""
    return [[line.decode() for line in answer] for answer in reader.ask([text.encode() for text in texts])]


def inner(message: bytes) -> list[str]:
    """The documents that a message has."""
    members = json.loads(message)
    return [members[name] for name in ("value", "where") if members[name] is not None]


def expected(tree: Any) -> Any:
    """What the driver reads of its own text of a document: references to other documents are documents then, and the
    slashes of a regular expression keep their backslashes."""
    match tree:
        case dict():
            return {name: expected(value) for name, value in tree.items()}
        case list():
            return [expected(value) for value in tree]
        case bson.Regex():
            return bson.Regex(tree.pattern.replace("/", "\\/") or "(?:)", tree.options)
        case bson.DBPointer():
            return {"$ref": tree.namespace, "$id": bson.ObjectId(tree.id)}
        case bson.Code() if tree.scope is not None:
            return bson.Code(tree.text, expected(tree.scope))
    return tree


def same(canonical: str, tree: Any) -> bool:
    """Whether the driver's extended JSON is that of a tree."""
    return bson.same(bson.loads(canonical), bson.loads(bson.dumps(tree)))


def has_julian_dates(text: str) -> bool:
    """Dates before 1582-10-15 are written in the Julian calendar, and read in today's."""
    return any(found < "1582-10-15" for found in re.findall(r'ISODate\("([0-9-]{10})', text))


# --------------------------------------------------------------------------------------------------- random documents

SHORT: Final = st.text(max_size=12)
PATTERNS: Final = st.text(st.characters(exclude_characters="\\", exclude_categories=("Cs", "Cc")), max_size=8)
LEAVES: Final = st.one_of(
    st.none(),
    st.booleans(),
    SHORT,
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1).map(bson.Long),
    st.integers(-(1 << 33), 1 << 33).map(bson.Long),
    st.floats(),
    st.integers(-(1 << 52), 1 << 52).map(bson.Date),
    st.integers(-(62_200 * 10**9), 253_500 * 10**9).map(bson.Date),
    st.builds(bson.Timestamp, st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1)),
    st.builds(bson.Binary, st.integers(0, 255), st.binary(max_size=20)),
    st.binary(min_size=12, max_size=12).map(lambda data: bson.ObjectId(data.hex())),
    st.builds(
        lambda digits, places: bson.decimal128(f"{digits}E{places}"),
        st.integers(-(10**34) + 1, 10**34 - 1),
        st.integers(-6176, 6111),
    ),
    st.builds(bson.Regex, PATTERNS, st.sampled_from(["", "i", "im", "imsx"])),
    st.builds(bson.Code, SHORT),
    SHORT.map(bson.Symbol),
    st.builds(bson.DBPointer, SHORT, st.binary(min_size=12, max_size=12).map(bytes.hex)),
    st.sampled_from(list(bson.Special)),
)
# Names with a dollar in front may be those of extended JSON.
NAMES: Final = SHORT.filter(lambda name: not name.startswith("$"))
TREES: Final = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(NAMES, inner, max_size=4),
        st.builds(bson.Code, SHORT, st.dictionaries(NAMES, inner, max_size=2)),
    ),
    max_leaves=12,
)
many = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(documents=st.lists(st.dictionaries(NAMES, TREES, max_size=5), min_size=1, max_size=20))
def test_random_documents(driver: Reader, later: Reader, documents: list[dict[str, Any]]) -> None:
    ours = [shell(document) for document in documents]
    written = told(driver, [bson.dumps(document) for document in documents])
    assert [text for _, text in written] == ours
    for reader in (driver, later):
        for document, text, answer in zip(documents, ours, told(reader, ours), strict=True):
            assert len(answer) == 2, (text, answer)
            if not has_julian_dates(text):
                assert same(answer[0], expected(document)), (text, answer)


def test_all_characters(driver: Reader) -> None:
    """Of Unicode's first plane all, beyond it some. Surrogates stand in no text."""
    codes = [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 997)]
    texts = ["".join(map(chr, codes[start : start + 64])) for start in range(0, len(codes), 64)]
    ours = [f'{{"s": {shell_string(text)}}}' for text in texts]
    answers = told(driver, [json.dumps({"s": text}, ensure_ascii=True) for text in texts])
    assert [text for _, text in answers] == ours
    assert [text for _, text in told(driver, ours)] == ours


# ------------------------------------------------------------------------------------------------------------ messages


@pytest.mark.parametrize("source", SOURCES)
def test_all_cases(driver: Reader, source: str) -> None:
    """Every row of every case, whole and as a key: the driver writes the same text of the same document."""
    codec = codec_of("drs-json", source)
    for case in cases_of(source, "drs-json"):
        for batch in filter(lambda batch: codec.sends(batch.kind), block_of(case).batches):
            values = [json.loads(value) for value in encoded(codec, batch)]
            keys = told(driver, mongodb_documents.keys(batch.table, batch.image()).to_pylist())
            member = {DELETE: "value", UPDATE: "where"}.get(batch.kind)
            if member:
                assert [text for _, text in keys] == [value[member] for value in values]
            if batch.kind is not DELETE:
                whole = told(driver, mongodb_documents.documents(batch.table, batch.image()).to_pylist())
                replaced = [value["recordType"] != "update" for value in values]
                assert [text for (_, text), shown in zip(whole, replaced, strict=True) if shown] == [
                    value["value"] for value, shown in zip(values, replaced, strict=True) if shown
                ]


@pytest.mark.parametrize("typed", [*MONGODB.types, "decimal(10,2)", "decimal(34,10)", "uuid", "binData(2)"])
def test_boundary_values(driver: Reader, typed: str) -> None:
    table = table_of("t", {"_id": "int", "c": typed}, ["_id"], source="mongodb")
    literals = MONGODB.boundary_values(table.columns[1].type)
    batch = batch_of(
        table, INSERT, [[str(number), literal] for number, literal in enumerate(literals)], source="mongodb"
    )
    found = [json.loads(value)["value"] for value in encoded(codec_of("drs-json", "mongodb-6.0"), batch)]
    assert [text for _, text in told(driver, mongodb_documents.documents(table, batch.image()).to_pylist())] == found


@pytest.mark.parametrize("scenario", ["documents", "orders"])
def test_documents_of_runs(driver: Reader, later: Reader, scenario: str) -> None:
    """Both drivers read the same, and the older one writes it as it was."""
    with MemorySink() as sink:
        job = open_job(scenario, "drs-json", source="mongodb-6.0")
        local_run(job, sink, limits=Limits(0, 8_000))()
        texts = list(dict.fromkeys(text for value in sink.values() for text in inner(value)))
    assert len(texts) > 5_000
    first, second = told(driver, texts), told(later, texts)
    assert [answer[-1] for answer in first] == texts
    assert all(same(other, bson.loads(one)) for (one, _), (other, _) in zip(first, second, strict=True))
