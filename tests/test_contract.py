"""What every registered format keeps to, whatever its product: the same bytes always, JSON, all types, no clock."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NoReturn

import numpy as np
import pyarrow as pa
import pytest
from building import Ddl, Rows, batch_of, block_of, codec_of, encoded, messages_of, new_codec, table_of
from cases import cases_of, samples_of
from decoding import decode

from simulator import formats, registry, sources
from simulator.batch import ChangeBatch, Delta, changed_rows
from simulator.errors import NotOffered, OptionError, UnknownName, UnsupportedType, UsageError
from simulator.formats.format import Format
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, MARKS, READ, UPDATE, Kind

FORMATS: Final = list(registry.names("format", formats.FORMATS))


def sources_of(format: str) -> list[str]:
    """All versions of all sources that a format says it reads."""
    return [f"{id}-{version}" for id in formats.find(format).sources for version in sources.SOURCES[id][2]]


EVERY_VERSION: Final = [(format, source) for format in FORMATS for source in sources_of(format)]
# What holds for one version of a system holds for the others: their differences are in the types, which all are tried.
PAIRS: Final = [(format, str(sources.find(id))) for format in FORMATS for id in formats.find(format).sources]


def digest(format: str, source: str) -> str:
    """Of all messages of all cases."""
    found = hashlib.sha256()
    for case in cases_of(source, format):
        for message in messages_of(format, source, block_of(case), partitions=5):
            found.update(repr(message).encode())
    return found.hexdigest()


known_digest = cache(digest)


@pytest.mark.parametrize("format", FORMATS)
def test_each_kind_of_event_is_sent_or_silent(format: str) -> None:
    declared = formats.find(format)
    assert declared.id == format
    # texts of the source's log are silent where nobody names them
    assert declared.sends | declared.silent | {Kind.STATEMENT} == set(Kind)
    assert not declared.sends & declared.silent
    with pytest.raises(ValueError, match="either sent or declared silent"):
        replace(declared, silent=declared.silent - {HEARTBEAT}, sends=declared.sends - {HEARTBEAT})


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_cases_of_each_kind_make_messages_or_none(format: str, source: str) -> None:
    codec = codec_of(format, source)
    sends, statements = {kind for kind in Kind if codec.sends(kind)}, codec.layout.statements
    for case in cases_of(source, format):
        kinds = {step.kind if isinstance(step, Rows) else DDL for step in case.steps}
        if case.name == "heartbeat":
            kinds = {HEARTBEAT}
        elif statements is not None and not any(
            isinstance(step, Ddl) and step.kind in statements for step in case.steps
        ):
            kinds -= {DDL}
        if kinds - {READ, DDL, HEARTBEAT}:
            kinds |= set(MARKS)
        made = {message.kind for message in messages_of(format, source, block_of(case))}
        if codec.layout.routing.split == "key" and UPDATE in kinds - made and {DELETE, INSERT} <= made:
            kinds = kinds - {UPDATE} | {DELETE, INSERT}  # all of them were split
        assert made == kinds & sends


def test_same_bytes_in_a_fresh_process() -> None:
    here = Path(__file__).parent
    program = "from test_contract import *\nfor pair in PAIRS: print(digest(*pair))"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [known_digest(*pair) for pair in PAIRS]


@pytest.mark.parametrize(("format", "source"), EVERY_VERSION)
def test_values_can_be_read(format: str, source: str) -> None:
    for case in cases_of(source, format):
        for message in messages_of(format, source, block_of(case)):
            assert message.value is not None
            assert isinstance(decode(format, message.value), dict)


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_same_bytes_twice_and_the_clock_is_never_read(
    format: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = known_digest(format, source)

    def refuse() -> NoReturn:
        raise AssertionError("the clock was read")

    for name in ("time", "time_ns", "monotonic", "monotonic_ns"):
        monkeypatch.setattr(time, name, refuse)
    made = digest(format, source)
    monkeypatch.undo()
    assert made == expected


# --------------------------------------------------------------------------------------------------------------- types


def types_of(format: str, source: str) -> list[str]:
    """Samples of all types of a source; of a version that is not the default one, those that the default has not."""
    default = str(sources.find(sources.find(source).id))
    known = set() if source == default else set(samples_of(default).types)
    return [text for text in samples_of(source).types if text not in known]


TYPES: Final = [(format, source, text) for format, source in EVERY_VERSION for text in types_of(format, source)]
LARGE: Final = [(format, source, text) for format, source in PAIRS for text in samples_of(source).large]


@pytest.mark.parametrize("source", sorted({source for _, source in EVERY_VERSION}))
def test_types_are_all_there(source: str) -> None:
    types = sources.find(source).types
    assert {types.parse_type(text).name for text in samples_of(source).types} == set(types.TYPES)


@pytest.mark.parametrize(("format", "source", "text"), TYPES)
def test_every_type_is_rendered_or_refused_by_name(format: str, source: str, text: str) -> None:
    table = table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
    literals = sources.find(source).types.boundary_values(table.columns[1].type)
    rows = [[str(number), literal] for number, literal in enumerate(literals, 1)]
    batch = batch_of(table, INSERT, rows, statements=range(len(rows)), source=source)
    try:
        values = encoded(codec_of(format, source), batch)
    except UnsupportedType:
        with pytest.raises(
            UnsupportedType, match=f"{re.escape(table.columns[1].type.name)}.*{re.escape(table.id.name)}[.]c"
        ):
            encoded(codec_of(format, source), batch)
        return
    assert len(values) == len(rows)
    for value in values:
        decode(format, value)


@pytest.mark.parametrize(("format", "source", "text"), LARGE)
def test_large_values(format: str, source: str, text: str) -> None:
    table = table_of("t", {"id": samples_of(source).plain, "c": text}, ["id"], source=source)
    large = sources.find(source).types.boundary_values(table.columns[1].type, large=True)[-2]
    rows = [["1", large], ["2", large], ["3", None]]
    try:
        values = encoded(codec_of(format, source), batch_of(table, INSERT, rows, source=source))
    except UnsupportedType:
        return
    for value in values:
        decode(format, value)
    empty = all(b'"c":null' in value for value in values)
    assert sum(len(value) for value in values) > 140_000 or empty or not mentions(values, "c")


def mentions(values: list[bytes], column: str) -> bool:
    """Whether any message has a value of the column: some products leave large objects out."""
    return any(f'"{column}"'.encode() in value for value in values)


# -------------------------------------------------------------------------------------------------------------- pieces


def every_batch(source: str, format: str) -> list[ChangeBatch]:
    return [batch for case in cases_of(source, format) for batch in block_of(case).batches]


def statements(batch: ChangeBatch) -> list[int]:
    """Where the statements of a batch begin, and its end."""
    begins = np.flatnonzero(np.diff(batch.envelope.statement)) + 1
    return [0, *begins.tolist(), len(batch)]


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_pieces_make_the_same_bytes_as_the_whole(format: str, source: str) -> None:
    """Cut where statements begin: no event is longer than its statement."""
    codec = codec_of(format, source)
    for batch in every_batch(source, format):
        pieces = [batch.take(np.arange(start, stop)) for start, stop in pairwise(statements(batch))]
        assert [value for piece in pieces for value in encoded(codec, piece)] == encoded(codec, batch)


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_an_encoder_holds_no_state(format: str, source: str) -> None:
    """The same bytes from a codec that has written other changes before, in the other order."""
    used = new_codec(format, source)
    batches = every_batch(source, format)
    backwards = [encoded(used, batch) for batch in reversed(batches)]
    assert backwards[::-1] == [encoded(new_codec(format, source), batch) for batch in batches]


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_before_images_in_all_their_forms(format: str, source: str) -> None:
    """A before column may be whole, the rows that differ, more rows than that, or none where nothing does."""
    codec = codec_of(format, source)
    for batch in every_batch(source, format):
        if batch.kind is not UPDATE:
            continue
        assert batch.before is not None
        expected = encoded(codec, batch)
        exact, wide = [], []
        for number, old in enumerate(batch.before):
            rows = changed_rows(batch, number)
            exact.append(None if rows is None else Delta(rows, old.take(pa.array(rows))))
            every = np.arange(len(batch), dtype=np.int64)
            wide.append(Delta(every, old))
        assert encoded(codec, replace(batch, before=tuple(exact))) == expected
        assert encoded(codec, replace(batch, before=tuple(wide))) == expected


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_dictionary_columns_are_the_same(format: str, source: str) -> None:
    """Texts and bytes drawn from a pool travel as dictionaries."""
    codec = codec_of(format, source)

    def coded(array: pa.Array) -> pa.Array:
        pooled = pa.types.is_string(array.type) or pa.types.is_binary(array.type)
        return array.dictionary_encode() if pooled else array

    for batch in every_batch(source, format):
        after = None if batch.after is None else tuple(map(coded, batch.after))
        before = None if batch.before is None else tuple(map(coded, batch.before))
        assert encoded(codec, replace(batch, after=after, before=before)) == encoded(codec, batch)


# ------------------------------------------------------------------------------------------------------------- options


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"^no format 'canal_json'\. Did you mean 'canal-json'\?"):
        codec_of("canal_json")


@pytest.mark.parametrize("format", FORMATS)
def test_a_source_that_the_product_does_not_read_is_refused(format: str) -> None:
    other = replace(sources.find("mysql"), id="dbase")
    with pytest.raises(NotOffered, match=f"^-f {format}: .* reads .*, not dbase; --allow-undocumented .*"):
        formats.open_codec(format, other)


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_options_and_values_are_refused_in_a_sentence(format: str) -> None:
    found: Format = formats.find(format)
    with pytest.raises(OptionError, match=f"^-f {format}: there is no option 'zzz'. It has .+[.]$"):
        codec_of(f"{format},zzz=1")
    nearly = found.options[0].name + "s"
    with pytest.raises(OptionError, match=f"there is no option '{nearly}'. Did you mean '{found.options[0].name}'[?]$"):
        codec_of(f"{format},{nearly}=1")
    for option in found.options:
        if option.choices:
            with pytest.raises(OptionError, match=f"^-f {format},{option.name}=zzz: it is one of .+[.]$"):
                codec_of(f"{format},{option.name}=zzz")
        elif option.parse is not str:
            with pytest.raises(OptionError, match=f"^-f {format},{option.name}=z z: it is .+[.]$"):
                codec_of(f"{format},{option.name}=z z")
    with pytest.raises(UsageError, match="is not an option such as"):
        codec_of(f"{format},version")


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_every_value_of_every_option_writes_rows(format: str, source: str) -> None:
    table, row, old = samples_of(source).options
    batches = [
        batch_of(table, kind, [row], [old] if kind is UPDATE else None, source=source)
        for kind in (INSERT, UPDATE, DELETE)
    ]
    for option in formats.find(format).options:
        values = option.choices or {"on": ("on", "off")}.get(option.default or "", ()) or ("on", "off")
        for value in values if option.choices or option.default in ("on", "off") else ():
            text = f"{format},{option.name}={value}"
            codec = codec_of(text, source)
            for batch in batches:
                for message in encoded(codec, batch):
                    decode(text, message)
