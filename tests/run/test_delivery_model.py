"""The model of delivery: no schedule of answers, kills and other runs loses a message or makes a count false.

CDCSIM_SCHEDULES says how many schedules are tried with each kind of destination. Programs that are broken on purpose
show that the model finds what it is for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from delivery_fakes import KINDS, Fakes, Kind
from delivery_model import LAST, LIVES, Life
from hypothesis import HealthCheck, Phase, given, settings

from simulator.errors import SimulatorError
from simulator.model import OrderKey
from simulator.run import bookmark, resume
from simulator.run.bookmark import Lock
from simulator.run.resume import Resumed
from simulator.sinks import files, ledger
from simulator.sinks.ledger import Ledger
from simulator.sinks.target import Target

SCHEDULES: Final = int(os.environ.get("CDCSIM_SCHEDULES", "60"))
# Most schedules in which a broken program is found.
MOST: Final = 400


def schedules(kind: Kind) -> Callable[[], None]:
    @given(LIVES, LAST)
    def tried(lives: list[Life], last: Life) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Fakes(Path(folder), kind).schedule(lives, last)

    return tried


@pytest.mark.parametrize("kind", KINDS)
def test_no_schedule_loses_a_message(kind: Kind) -> None:
    settings(max_examples=SCHEDULES, deadline=None, suppress_health_check=list(HealthCheck))(schedules(kind))()


# ------------------------------------------------------------------------------------------------- broken on purpose

Patch = pytest.MonkeyPatch


class Without:
    """The module os, of which one function does nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return (lambda *arguments: None) if name == self._name else getattr(os, name)


def no_options(patch: Patch) -> None:
    patch.setattr(Target, "deciding", lambda target: {"destination": str(target).partition("?")[0]})


def no_lock(patch: Patch) -> None:
    patch.setattr(Lock, "_try_lock", lambda lock: os.open(lock._path, os.O_CREAT | os.O_RDWR))


def one_position_for_all_runs(patch: Patch) -> None:
    patch.setattr(bookmark, "uuid4", lambda: SimpleNamespace(hex="the same"))


def files_are_not_looked_at(patch: Patch) -> None:
    patch.setattr(files, "_check_state", lambda path, state: None)


def files_are_not_cut(patch: Patch) -> None:
    patch.setattr(files, "os", Without("truncate"))


def what_others_added_is_cut(patch: Patch) -> None:
    patch.setattr(
        resume,
        "replace",
        lambda mark, **members: (
            replace(mark, **{**members, "may_grow": True}) if "may_grow" in members else replace(mark, **members)
        ),
    )


def files_are_not_synced(patch: Patch) -> None:
    patch.setattr(files, "os", Without("fsync"))


def what_was_sent_again_is_not_counted(patch: Patch) -> None:
    patch.setattr(Ledger, "repeat", lambda ledger, counts: None)


def what_was_sent_again_is_counted_at_the_end(patch: Patch) -> None:
    patch.setattr(Ledger, "keep_repeated", property(lambda ledger: None, lambda ledger, keep: None), raising=False)


def only_the_last_life_is_counted(patch: Patch) -> None:
    read = bookmark.read
    patch.setattr(bookmark, "read", lambda file: (mark := read(file)) and resume.replace(mark, repeated={}))


def a_position_behind_the_end_is_taken(patch: Patch) -> None:
    patch.setattr(Resumed, "check_end", lambda resumed, plan: None)


def what_arrived_is_not_looked_for(patch: Patch) -> None:
    patch.setattr(Resumed, "_check_arrived", lambda resumed, sink: None)


def what_is_sent_is_noted_afterwards(patch: Patch) -> None:
    sending, save = Resumed.sending, Resumed.save

    def noting(resumed: Resumed, *arguments: Any) -> None:
        resumed.save = lambda *others, **named: None  # type: ignore[method-assign]
        sending(resumed, *arguments)
        resumed.save = save.__get__(resumed)  # type: ignore[method-assign]

    patch.setattr(Resumed, "sending", noting)


def what_was_sent_counts_as_arrived(patch: Patch) -> None:
    patch.setattr(ledger._Account, "acknowledged", property(lambda account: account.last))


def what_follows_a_failure_counts_as_complete(patch: Patch) -> None:
    patch.setattr(
        ledger._Account, "first_open", property(lambda a: a.parcels[0].order_key(a.done) if a.parcels else None)
    )
    patch.setattr(
        ledger._Account, "acknowledged", property(lambda a: a.parcels[0].before(a.done) if a.parcels else a.last)
    )


def a_turn_is_skipped(patch: Patch) -> None:
    patch.setattr(resume, "following", lambda key: OrderKey(key.phase, key.turn + 2, 0))


BROKEN: Final[list[tuple[Callable[[Patch], None], Kind]]] = [
    (no_options, "acknowledged"),
    (no_lock, "acknowledged"),
    (one_position_for_all_runs, "transactions"),
    (files_are_not_looked_at, "files"),
    (files_are_not_cut, "files"),
    (what_others_added_is_cut, "files"),
    (files_are_not_synced, "files"),
    (what_was_sent_again_is_not_counted, "acknowledged"),
    (what_was_sent_again_is_counted_at_the_end, "acknowledged"),
    (only_the_last_life_is_counted, "acknowledged"),
    (a_position_behind_the_end_is_taken, "acknowledged"),
    (what_arrived_is_not_looked_for, "acknowledged"),
    (what_is_sent_is_noted_afterwards, "acknowledged"),
    (what_was_sent_counts_as_arrived, "acknowledged"),
    (what_follows_a_failure_counts_as_complete, "acknowledged"),
    (a_turn_is_skipped, "transactions"),
]


@pytest.mark.parametrize(("broken", "kind"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_program_that_is_broken_on_purpose_is_found(
    broken: Callable[[Patch], None], kind: Kind, monkeypatch: Patch
) -> None:
    broken(monkeypatch)
    only = settings(
        max_examples=MOST, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True,
        phases=[Phase.generate], report_multiple_bugs=False,
    )  # fmt: skip
    with pytest.raises((AssertionError, SimulatorError, pytest.fail.Exception)):
        only(schedules(kind))()
