"""Every format over random scenarios: values can be read, hold declared members only, and are the same bytes twice, in
pieces, and in a fresh process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from decoding import DECODERS, decode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_scenarios import loaded, scenarios

from simulator import formats, registry, sources
from simulator.delivery.router import parse_route
from simulator.model import Message
from simulator.run.render import Renderer
from simulator.stream.engine.stream import ChangeStream
from simulator.stream.scenario.resolve import resolve

FORMATS: Final = list(registry.names("format", formats.FORMATS))
TURNS: Final = 80
few = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


class Made:
    """A scenario's messages in a format, any turns of it."""

    def __init__(self, scenario: dict[str, Any], format: str, source: str) -> None:
        found = sources.find(source)
        self.stream = ChangeStream(resolve(loaded(scenario), found))
        self.codec = formats.open_codec(format, found)
        route = parse_route(None, self.codec.layout.routing)
        self.renderer = Renderer(self.stream, self.codec, route, None, lambda topic: 3)

    def turns(self, first: int, stop: int) -> list[Message]:
        first, stop = self.stream.border(first), self.stream.border(stop)
        made = self.renderer.render(self.stream.read(first, stop)) if first < stop else None
        return [] if made is None else list(made.messages())

    def snapshot(self, turn: int) -> Iterator[Message]:
        for block in self.stream.snapshot(self.stream.border(turn)):
            made = self.renderer.render(block)
            yield from [] if made is None else made.messages()


def check(made: Made, messages: list[Message], format: str) -> None:
    declared = {field.name for field in getattr(made.codec.layout.writer, "fields", ())}
    for message in messages:
        assert message.value is not None
        decoded = decode(format, message.value)
        assert isinstance(decoded, dict)
        if format not in DECODERS:
            assert set(decoded) <= declared
        assert message.partition is not None
        assert 0 <= message.partition < 3


@pytest.mark.parametrize("format", FORMATS)
@few
@given(data=st.data())
def test_random_scenarios(format: str, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(formats.find(format).sources), label="source")
    scenario = data.draw(scenarios(), label="scenario")
    first = data.draw(st.integers(0, 300), label="first")
    made = Made(scenario, format, source)
    whole = made.turns(first, first + TURNS)
    check(made, [*whole, *made.snapshot(first)], format)
    assert Made(scenario, format, source).turns(first, first + TURNS) == whole
    middle = data.draw(st.integers(first, first + TURNS), label="middle")
    other = Made(scenario, format, source)
    second = other.turns(middle, first + TURNS)
    assert other.turns(first, middle) + second == whole


SCENARIO: Final = {
    "rate": 7,
    "heartbeat": "1s",
    "transactions": {1: 3, "2..4": 1},
    "tables": {
        "t": {
            "columns": {
                "id": {"type": "int64", "values": "sequence"},
                "name": {"type": "string(30)", "nulls": 0.3, "values": {"text": {"length": "0..12"}}},
                "price": {"type": "decimal(8,2)", "values": {"range": ["0.00", "99.99"]}},
                "seen": {"type": "timestamp(3)", "values": "commit_time"},
                "share": {"type": "float64"},
            },
            "key": "id",
            "rows": 40,
            "mix": {"insert": 1, "update": 5, "delete": 1},
            "key_updates": 0.2,
        }
    },
}


def digest(format: str) -> str:
    """Of a scenario's messages in a format, from its first source."""
    made = Made(SCENARIO, format, formats.find(format).sources[0])
    return hashlib.sha256(repr([*made.snapshot(50), *made.turns(50, 350)]).encode()).hexdigest()


def test_the_same_bytes_in_a_fresh_process() -> None:
    here = Path(__file__).parent
    program = "from test_every_format import *\nfor format in FORMATS: print(digest(format))"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [digest(format) for format in FORMATS]
