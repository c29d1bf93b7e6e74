"""Every format over random scenarios: the same bytes twice and in pieces, declared members only, and messages that a
consumer replays to the rows in closed form. (In other processes: golden files, and `test_plan.py`.)"""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from random_scenarios import loaded, rendered, scenarios
from replay import Replay, messages_of, rows_at

from simulator import formats, registry, sources
from simulator.formats.documents import members_of
from simulator.model import Message
from simulator.native import program
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.resolve import resolve
from simulator.truth.decoders import parse

FORMATS: Final = list(registry.names("format", formats.FORMATS))
TURNS: Final = 60


def check(messages: list[Message], format: str, declared: set[str]) -> None:
    for message in messages:
        assert message.partition in (None, *range(3))
        if message.value is not None:  # else it is a tombstone
            decoded = parse(format, message.value)
            if not formats.find(format).binary:
                assert set(decoded) <= declared


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    source=st.sampled_from(sorted(sources.SOURCES)),
    scenario=scenarios(),
    begin=st.integers(0, 300),
    part=st.integers(0, TURNS),
    third=st.integers(0, 2),
)
def test_random_scenarios(source: str, scenario: dict[str, Any], begin: int, part: int, third: int) -> None:
    """Of the formats, each scenario is written in a third."""
    found = sources.find(source)
    # two streams of one scenario, since a stream may keep what it has read
    stream, other = (ChangeStream(resolve(loaded(scenario), found)) for _ in range(2))
    first, middle, stop = (stream.border(turn) for turn in (begin, begin + part, begin + TURNS))
    block, snapshot = stream.read(first, stop), list(stream.snapshot(first))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LIBRARY", None)
        pieces = [other.read(*piece) for piece in ((middle, stop), (first, middle)) if piece[0] < piece[1]]
    for format in FORMATS[third::3]:
        if source in formats.find(format).sources:
            note(format)
            renderer, again = rendered(stream, format), rendered(other, format)
            whole = messages_of(renderer, block)
            # without the compiled library the bytes are the same
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(program, "LIBRARY", None)
                parts = [messages_of(again, piece) for piece in pieces]
            assert [message for part in reversed(parts) for message in part] == whole
            check(whole, format, {member.partition(".")[0] for member in members_of(formats.find(format))})
            replay = Replay(format, str(found), stream.first_tables)
            replay.begin(stream, renderer, first, snapshot)
            replay.follow(block, whole)
            assert replay.state() == rows_at(stream, stop, format)
