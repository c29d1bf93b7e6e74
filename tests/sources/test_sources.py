"""What every source keeps: its table, its types, its values, its pickle."""

from __future__ import annotations

import pickle
from typing import Final

import pyarrow as pa
import pytest
from cases import samples_of

from simulator import sources
from simulator.errors import UnknownName, UsageError
from simulator.sources import SOURCES, portable

EVERY: Final = [f"{id}-{version}" for id, (_, _, versions) in SOURCES.items() for version in versions]
every_source = pytest.mark.parametrize("text", EVERY)


@every_source
def test_a_source_is_found_and_pickled_by_its_name(text: str) -> None:
    source = sources.find(text)
    assert str(source) == text
    assert sources.find(source.id).version == SOURCES[source.id][2][0]
    again = pickle.loads(pickle.dumps(source))
    assert again is source


def test_names_that_are_none() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'mysql'"):
        sources.find("mysq")
    with pytest.raises(UsageError, match=r"the versions of MySQL are 8\.0, 5\.7, not '9'"):
        sources.find("mysql-9")


@every_source
def test_portable_types(text: str) -> None:
    """Every portable type is one of the system's, written back by its DDL and read again."""
    source = sources.find(text)
    assert set(source.portable_types) == set(portable.ARGUMENTS)
    for name, arguments in portable.ARGUMENTS.items():
        for count in arguments.counts:
            given = f"({','.join(('3', '2')[:count])})" if count else ""
            type = source.from_portable(name + given)
            assert not type.spelled
            assert source.family(type) == source.family(source.parse_type(source.ddl.type_name(type)))
    assert source.from_portable("enum('a','bc')").labels == ("a", "bc")


@every_source
def test_values_of_every_type(text: str) -> None:
    """Boundary values are values, and stay what they are when they are formatted, read and stored again. What a column
    holds by default are values, too."""
    source = sources.find(text)
    for typed in samples_of(text).types:
        type = source.parse_type(typed)
        literals = source.boundary_values(type)
        array = source.parse_values(literals, type)
        array.validate(full=True)
        assert array.type == source.arrow_type(type), typed
        assert literals[-1] is None
        shown = source.format_values(array, type)
        again = source.parse_values(shown, type)
        assert source.format_values(again, type) == shown, typed
        assert source.format_values(source.stored(array, type), type) == shown, typed
        name, arguments = source.default_values(type)
        if name in ("range", "choices"):
            assert source.parse_values(list(arguments), type).null_count == 0, typed
        if name in ("text", "bytes"):
            low, high = map(int, arguments["length"].split(".."))
            assert low <= high
            source.parse_values(["x" * high], type)


@every_source
def test_the_corpus_has_every_type(text: str) -> None:
    source = sources.find(text)
    assert {source.parse_type(typed).name for typed in source.corpus_types} == set(source.types)


@every_source
def test_drawn_values_are_stored(text: str) -> None:
    """Times are drawn in microseconds; stored, they are carriers, and stay so."""
    source = sources.find(text)
    for typed in source.corpus_types:
        type = source.parse_type(typed)
        drawn = source.generated(type)
        if pa.types.is_timestamp(drawn) or pa.types.is_duration(drawn):
            us = pa.array([1_714_557_600_123_456, None, 0], pa.int64()).cast(drawn)
            stored = source.stored(us, type)
            assert stored.type == source.arrow_type(type), typed
            assert stored.null_count == 1
            assert source.microseconds(stored.slice(2))[0] == 0, typed
