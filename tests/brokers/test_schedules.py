"""The model of delivery on real brokers: no schedule of kills, breaks and other runs loses a message.

Two schedules in which everything happens once, and CDCSIM_KILLS random ones with each broker.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from delivery_brokers import KINDS, Brokers, Kind, prepare
from delivery_model import LAST, LIVES, PARTITIONS, Answer, Life
from forks import Forks
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from test_kafka import read
from test_rabbitmq import bodies as queue_bodies
from test_rocketmq import bodies as topic_bodies

KILLS: Final = int(os.environ.get("CDCSIM_KILLS", "0"))

LATE: Final = Answer("late")
IN_A_BATCH: Final = [
    Life((LATE, LATE, Answer("killed", stored=3))),
    Life((LATE, Answer("broken", stored=2), LATE, Answer("killed", stored=8)), before="another run"),
    Life((LATE, Answer("broken and killed", stored=1, again=4)), before="another command", paced=True),
    Life((Answer("refused", stored=4),), before="a second process"),
    Life((LATE, LATE, LATE, Answer("refused", stored=5)), before="a shorter limit"),
]
AT_A_WRITE: Final = [
    Life((), at_write=(0, "killed after")),
    Life((LATE,), at_write=(2, "killed before"), before="another run", paced=True),
    Life((LATE, LATE, Answer("broken", stored=0)), at_write=(7, "killed after"), before="a shorter limit"),
    Life((LATE,), at_write=(5, "disk full")),
]
THE_LAST: Final = Life((Answer("broken"), LATE), before="another run")


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(prepare) as forks:
        yield forks


def reader(kind: Kind, address: str, request: pytest.FixtureRequest) -> Callable[[str], dict[int, list[bytes]]]:
    """The values of a topic by partition, as another client reads them."""
    match kind:
        case "rabbitmq":
            return lambda topic: {n: queue_bodies(address, f"{topic}.{n}") for n in range(PARTITIONS)}
        case "rocketmq":
            return partial(topic_bodies, request.getfixturevalue("java"), address)
        case _:
            return lambda topic: {n: [m.value() for m in messages] for n, messages in read(address, topic).items()}


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.broker(kind.split()[0])) for kind in KINDS])
def test_no_schedule_loses_a_message(kind: Kind, request: pytest.FixtureRequest, forks: Forks) -> None:
    address = request.getfixturevalue(f"{kind.split()[0]}_broker").address
    values: Any = reader(kind, address, request)

    @example(IN_A_BATCH, THE_LAST, False)
    @example(AT_A_WRITE, THE_LAST, True)
    @given(LIVES, LAST, st.booleans())
    def tried(lives: list[Life], last: Life, by_table: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            machine = Brokers(Path(folder), kind, address, by_table=by_table, forks=forks, read=values)
            machine.schedule(lives, last)

    phases = [Phase.explicit, *([Phase.generate] if KILLS else [])]
    settings(
        max_examples=max(KILLS, 1), phases=phases, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )(tried)()
