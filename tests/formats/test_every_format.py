"""Every format over random scenarios: the same bytes twice and in pieces, declared members only, and messages that a
consumer replays to the rows in closed form; and the same bytes in a fresh process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from decoding import DECODERS, decode
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from random_scenarios import SMALL, loaded, rendered, scenarios, streamed
from replay import Replay, rows_at

from simulator import formats, registry, sources
from simulator.model import Message
from simulator.native import program
from simulator.run.render import Renderer
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.resolve import resolve

FORMATS: Final = list(registry.names("format", formats.FORMATS))
TURNS: Final = 60


def turns(stream: ChangeStream, renderer: Renderer, first: int, stop: int) -> list[Message]:
    made = renderer.render(stream.read(first, stop)) if first < stop else None
    return [] if made is None else list(made.messages())


def check(messages: list[Message], format: str, declared: set[str]) -> None:
    for message in messages:
        assert message.value is not None
        decoded = decode(format, message.value)
        if format not in DECODERS:
            assert set(decoded) <= declared
        assert message.partition in range(3)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    source=st.sampled_from(sorted(sources.SOURCES)),
    scenario=scenarios(),
    begin=st.integers(0, 300),
    part=st.integers(0, TURNS),
)
def test_random_scenarios(source: str, scenario: dict[str, Any], begin: int, part: int) -> None:
    found = sources.find(source)
    # two streams of one scenario, since a stream may keep what it has read
    stream, other = (ChangeStream(resolve(loaded(scenario), found)) for _ in range(2))
    first, middle, stop = (stream.border(turn) for turn in (begin, begin + part, begin + TURNS))
    for format in FORMATS:
        if source in formats.find(format).sources:
            note(format)
            renderer, again = rendered(stream, format), rendered(other, format)
            whole = turns(stream, renderer, first, stop)
            # without the compiled library the bytes are the same
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(program, "LIBRARY", None)
                second = turns(other, again, middle, stop)
            assert turns(other, again, first, middle) + second == whole
            check(whole, format, {field.name for field in getattr(renderer.codec.layout.writer, "fields", ())})
            replay = Replay(format, str(found), stream.first_tables)
            replay.run(stream, renderer, first, stop)
            assert replay.state() == rows_at(stream, stop, format)


def digest(format: str) -> str:
    """Of a scenario's messages in a format, from its first source."""
    stream, renderer = streamed(SMALL, format, formats.find(format).sources[0])
    blocks = [*stream.snapshot(stream.border(40)), stream.read(stream.border(40), stream.border(180))]
    made = [batch for block in blocks if (batch := renderer.render(block)) is not None]
    return hashlib.sha256(repr([message for batch in made for message in batch.messages()]).encode()).hexdigest()


def test_the_same_bytes_in_a_fresh_process() -> None:
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here, here.parent, here.parents[1])))
    program = "from test_every_format import *\nfor format in FORMATS: print(digest(format))"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [digest(format) for format in FORMATS]
