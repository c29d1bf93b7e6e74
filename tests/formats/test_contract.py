"""What every registered format keeps to, whatever its product: its kinds of events, no clock, no state, its options.

Golden files show that the bytes are the same in another process, `test_decoded.py` that they say the change.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import Final, NoReturn

import numpy as np
import pyarrow as pa
import pytest
from building import batch_of, block_of, codec_of, encoded, new_codec, with_effect
from cases import cases_of, samples_of

from simulator import formats, registry, sources
from simulator.batch import ChangeBatch, Delta, changed_rows
from simulator.errors import NotOffered, OptionError, UnknownName, UsageError
from simulator.formats.format import Format
from simulator.model import DELETE, HEARTBEAT, INSERT, UPDATE, Kind
from simulator.truth.decoders import parse

FORMATS: Final = list(registry.names("format", formats.FORMATS))
# Messages have one structure for all tables, and perhaps another for documents.
STRUCTURES: Final = [
    (format, str(sources.find(id)))
    for format in FORMATS
    for id in formats.find(format).sources
    if id in (formats.find(format).sources[0], "mongodb")
]
# Options differ by the types of a system.
PAIRS: Final = [
    (format, str(sources.find(id)))
    for format in FORMATS
    for id in formats.find(format).sources
    if id not in ("mariadb", "oceanbase-mysql", "oceanbase-oracle", "gaussdb") or id == formats.find(format).sources[0]
]


@pytest.mark.parametrize("format", FORMATS)
def test_each_kind_of_event_is_sent_or_silent(format: str) -> None:
    declared = formats.find(format)
    assert declared.id == format
    # texts of the source's log are silent where nobody names them
    assert declared.sends | declared.silent | {Kind.STATEMENT} == set(Kind)
    assert not declared.sends & declared.silent
    with pytest.raises(ValueError, match="either sent or declared silent"):
        replace(declared, silent=declared.silent - {HEARTBEAT}, sends=declared.sends - {HEARTBEAT})


# --------------------------------------------------------------------------------------------------------- same bytes


def batches_of_several_forms(source: str, format: str) -> list[ChangeBatch]:
    """Of several rows, or with rows before."""
    batches = [batch for case in cases_of(source, format) for batch in block_of(case).batches]
    return [batch for batch in batches if len(batch) > 1 or batch.before is not None]


def pieces(batch: ChangeBatch) -> list[ChangeBatch]:
    """Cut where statements begin: no event is longer than its statement."""
    borders = [0, *(np.flatnonzero(np.diff(batch.envelope.statement)) + 1).tolist(), len(batch)]
    return [batch.take(np.arange(start, stop)) for start, stop in pairwise(borders)]


def with_deltas(batch: ChangeBatch, first: int) -> ChangeBatch:
    """A before column may be whole, the rows that differ (none where nothing does), or more rows than that: of the
    columns of a batch each in turn, from the `first` one on."""
    if batch.before is None or batch.kind is not UPDATE:
        return batch
    columns: list[pa.Array | Delta | None] = []
    for number, old in enumerate(batch.before):
        assert isinstance(old, pa.Array)
        rows = changed_rows(batch, number)
        exact = None if rows is None else Delta(rows, old.take(pa.array(rows)))
        columns.append((exact, Delta(np.arange(len(batch), dtype=np.int64), old), old)[(first + number) % 3])
    return replace(batch, before=tuple(columns))


@pytest.mark.parametrize(("format", "source"), STRUCTURES)
def test_same_bytes_of_every_form_of_a_batch(format: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, in pieces, with before images as deltas; from a new codec and from one that wrote other changes before."""

    def refuse() -> NoReturn:
        raise AssertionError("the clock was read")

    for name in ("time", "time_ns", "monotonic", "monotonic_ns"):
        monkeypatch.setattr(time, name, refuse)
    codec, batches = new_codec(format, source), batches_of_several_forms(source, format)
    expected = [encoded(codec, batch) for batch in batches]
    for number, (batch, values) in enumerate(zip(reversed(batches), reversed(expected), strict=True)):
        forms = [with_deltas(piece, number) for piece in pieces(batch)]
        assert [value for form in forms for value in encoded(codec_of(format, source), form)] == values
    monkeypatch.undo()


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
    with pytest.raises(UsageError, match="is no option: write OPTION=VALUE"):
        codec_of(f"{format},version")


@pytest.mark.parametrize(("format", "source"), PAIRS)
def test_every_value_of_every_option_writes_rows(format: str, source: str) -> None:
    table, row, old = samples_of(source).options
    # an update has both images; what differs by the kind of change is no matter of the system
    first = sources.find(source).id == formats.find(format).sources[0]
    batches = [
        batch_of(table, kind, [row], [old] if kind is UPDATE else None, source=source)
        for kind in ((INSERT, UPDATE, DELETE) if first else (UPDATE,))
    ]
    given = [
        [f"{option.name}={value}" for value in option.choices or ("on", "off") if value != option.default]
        for option in formats.find(format).options
        if option.choices or option.default in ("on", "off")
    ]
    texts, refused = [], dict[str, str]()
    for text in (f"{format},{one}" for values in given for one in values):
        try:
            codec_of(text, source)
            texts.append(text)
        except OptionError as error:
            refused[f"-f {text}: "] = str(error)  # for this source
    assert all(sentence.startswith(text) for text, sentence in refused.items())
    if not first:  # options of which each is read by itself: several at once
        texts = [with_effect(",".join([format, *filter(None, some)]), source) for some in zip_longest(*given)]
    for text in texts:
        for batch in batches:
            for message in encoded(codec_of(text, source), batch):
                if message is not None:  # else a tombstone
                    parse(text, message)
