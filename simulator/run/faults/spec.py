"""Faults of a run: their names and rates, from `--faults` or the `faults:` section of a scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from simulator.errors import UsageError, did_you_mean, short
from simulator.model import OrderKey

Unit = Literal[
    "restarts",
    "share of messages",
    "share of turns",
    "share of windows",
    "share of periods",
    "share of statements",
    "milliseconds",
    "turns",
    "places",
]
# Kinds of restart: killed; stopped; taken over by another host; killed, then a new snapshot; killed, then failing for
# good at a DDL statement that comes again.
Restart = Literal["crash", "stop", "failover", "second-snapshot", "task-failure"]
RESTARTS: Final[tuple[Restart, ...]] = ("crash", "stop", "failover", "second-snapshot", "task-failure")
MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault. `default` is its value where none is written; `survivable`: a correct consumer ends with the
    expected rows. `text` describes it; `then` says what stays defined if it is not survivable.
    """

    name: str
    unit: Unit
    default: float
    survivable: bool
    text: str
    then: str = ""


_REST: Final = "all rows but those of the messages concerned, until a later message has the whole row"
_SNAPSHOT: Final = "all rows but those that were deleted, or left their key, while the product was away"
KINDS: Final[tuple[Kind, ...]] = (
    Kind("redelivery", "restarts", 10, True,
         "the product restarts and sends a stretch again: half are crashes, the others clean stops and failovers"),
    Kind("crash", "restarts", 10, True, "the product is killed and started again"),
    Kind("stop", "restarts", 10, True, "the product is stopped cleanly and started again"),
    Kind("failover", "restarts", 10, True, "another host takes over"),
    Kind("flush", "milliseconds", 0, True, "time between two stored positions; default: the product's"),
    Kind("crash-at", "places", 0, True, "a crash before this row"),
    Kind("stop-at", "places", 0, True, "a clean stop before this row"),
    Kind("failover-at", "places", 0, True, "a failover before this row"),
    Kind("second-snapshot", "restarts", 10, False,
         "the product is killed before it stored a position, and begins with a new snapshot", _SNAPSHOT),
    Kind("second-snapshot-at", "places", 0, False,
         "a crash before this row, and a new snapshot; behind the @ the turn that it stands before", _SNAPSHOT),
    Kind("task-failure-at", "places", 0, False,
         "a crash before this row; if rows older than a change of their columns come again, the task fails at them and "
         "sends nothing more", "the rows as they were at the crash"),
    Kind("duplicates", "share of messages", 0.01, True, "a message comes twice in a row"),
    Kind("late", "share of windows", 0.1, True, "one partition's messages come after those of the others"),
    Kind("early", "share of windows", 0.1, True, "one partition's messages come before those of the others"),
    Kind("halves", "share of windows", 1, True,
         "the insert of a split update comes before its delete, where they go to two partitions"),
    Kind("overlap", "turns", 1000, True,
         "the snapshot holds the rows of so many turns later, and their changes follow"),
    Kind("gap", "share of turns", 0.001, False,
         "the transaction of a turn is missing, and the position jumps",
         "all rows but those that the transaction changed"),
    Kind("loss", "share of messages", 0.001, False,
         "a row's message is missing within its transaction, whose number is there",
         "all rows but those of the message"),
    Kind("ddl-late", "share of statements", 1, True, "a DDL message comes up to 8 turns late"),
    Kind("ddl-early", "share of statements", 1, True, "a DDL message comes up to 8 turns early"),
    Kind("ddl-twice", "share of statements", 1, True, "a DDL message comes twice"),
    Kind("ddl-missing", "share of statements", 1, False,
         "a DDL message is missing", "the columns that are there before and after it"),
    Kind("poison", "share of messages", 0.001, True, "a message that cannot be read comes before a good one"),
    Kind("truncated", "share of messages", 0.001, False, "a message ends too early", _REST),
    Kind("malformed", "share of messages", 0.001, False, "a message is damaged", _REST),
    Kind("oversized", "share of messages", 0.0001, True, "blanks make a message of a million bytes"),
    Kind("unknown-column", "share of messages", 0.01, True, "a row has a column that no DDL announced"),
    Kind("unknown-type", "share of messages", 0.01, True,
         "a row has a nested object in a column that no DDL announced"),
    Kind("missing-old", "share of messages", 0.01, False, "what an update changed is null, or the row before it",
         "all rows but those that left their key"),
    Kind("unavailable", "share of messages", 0.01, False,
         "a row's longest text is the placeholder of a value that the log does not hold",
         "all other columns of the row; this one keeps its last value"),
    Kind("heartbeat-silence", "share of windows", 0.5, True, "no heartbeat comes"),
    Kind("clock-skew", "milliseconds", 3_600_000, True, "the product's clock is ahead by so much"),
    Kind("clock-step", "share of windows", 0.1, True, "the product's clock is up to a minute ahead or behind"),
    Kind("stall", "share of periods", 0.2, True,
         "a run with --rate stands still for five of ten seconds, and catches up in a burst"),
    Kind("tombstones", "share of messages", 0.01, True, "a message with the same key and without a value follows"),
    Kind("wrong-schema-id", "share of messages", 0.001, False,
         "the schema id of a framed Avro value is one that nobody registered", _REST),
)  # fmt: skip
BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
# Kinds by the names of occurrences: a restart at a given place is named like a random one.
OCCURRING: Final[Mapping[str, Kind]] = {**BY_NAME, "task-failure": BY_NAME["task-failure-at"]}
# Value edits; they are for messages in JSON but for the first two.
EDITS: Final = ("truncated", "malformed", "oversized", "unknown-column", "unknown-type", "missing-old", "unavailable",
                "wrong-schema-id")  # fmt: skip
_PLACE: Final = re.compile(r"(\d{1,15})(?:\.(-?\d{1,12}))?(?:@(\d{1,15})(?:\.(-?\d{1,12}))?)?")
MOST_RESTARTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """A restart of a given kind before a row; the next life resumes at `stored` (None: by the product's rule), and a
    new snapshot is taken before the turn of `stored`.
    """

    kind: Restart
    key: OrderKey
    stored: OrderKey | None = None

    @property
    def fault(self) -> str:
        return f"{self.kind}-at"


@dataclass(frozen=True)
class Faults:
    """Faults by name with their values, in the order of `KINDS`; `places` are the restarts at given rows. `first`: the
    run's first turn; earlier messages do not come again.
    """

    rates: Mapping[str, float]
    places: tuple[Place, ...] = ()
    first: int = 0

    def __bool__(self) -> bool:
        return bool(self.rates or self.places)

    def __str__(self) -> str:
        texts = [name if value == BY_NAME[name].default else f"{name}={value:g}" for name, value in self.rates.items()]
        for place in self.places:
            stored = "" if place.stored is None else f"@{_text(place.stored)}"
            texts.append(f"{place.fault}={_text(place.key)}{stored}")
        return ",".join(texts)

    @cached_property
    def restarts(self) -> Mapping[Restart, float]:
        """Restarts of each kind per million turns."""
        mixed = self.rates.get("redelivery", 0.0)
        shares = {"crash": mixed / 2, "stop": mixed / 4, "failover": mixed / 4}
        return {kind: shares.get(kind, 0.0) + self.rates.get(kind, 0.0) for kind in RESTARTS}

    @property
    def restarting(self) -> bool:
        return bool(self.places) or any(self.restarts.values())

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of fault that occur."""
        occurring = {*self.rates, *(place.fault for place in self.places)}
        return [kind for kind in KINDS if kind.name in occurring]

    def starting(self, turn: int) -> Faults:
        return replace(self, first=turn)

    def without(self, fault: str) -> Faults:
        rates = {name: rate for name, rate in self.rates.items() if name != fault}
        return replace(self, rates=rates, places=tuple(place for place in self.places if place.fault != fault))


NONE: Final = Faults({})


def parse(text: str) -> Faults:
    """The faults of `--faults redelivery,poison=0.001,crash-at=30.12`; `none` are none. Raises UsageError."""
    values: dict[str, list[str | None]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        values.setdefault(name.strip(), []).append(value.strip() if equals else None)
    if list(values) == ["none"]:
        return NONE
    if not values:
        raise UsageError("--faults: name faults, such as redelivery or poison=0.001, or write none.")
    return _faults(values, "--faults ")


def of_section(section: Mapping[str, Any], file: str) -> Faults:
    """The faults of a scenario's section. Raises UsageError."""
    values: dict[str, list[str | None]] = {}
    for name, value in section.items():
        text = str(value).strip()
        if text.lower() not in ("no", "false", "off"):
            values[name] = [None] if text.lower() in ("", "yes", "true", "on", "none") else [*text.split("+")]
    return _faults(values, f"{file}: faults.")


def _faults(values: Mapping[str, list[str | None]], where: str) -> Faults:
    rates, places = dict[str, float](), list[Place]()
    for name, texts in values.items():
        if name not in BY_NAME:
            raise UsageError(f"{where}{short(name)}: there is no such fault.{did_you_mean(name, BY_NAME)}")
        kind = BY_NAME[name]
        if kind.unit == "places":
            places += [_place(name, part, where) for text in texts for part in (text or "").split("+")]
            continue
        if len(texts) > 1:
            raise UsageError(f"{where}{name}: write it once.")
        rates[name] = kind.default if texts[0] is None else _number(kind, texts[0], where)
    if rates.get("flush") and not (places or any(rates.get(name) for name in ("redelivery", *RESTARTS))):
        raise UsageError(f"{where}flush: it is about restarts; add redelivery, or leave it out.")
    faults = Faults(
        {kind.name: rates[kind.name] for kind in KINDS if rates.get(kind.name)},
        tuple(sorted(places, key=lambda place: place.key)),
    )
    if sum(faults.restarts.values()) > MOST_RESTARTS:
        raise UsageError(f"{where}redelivery: there are {MOST_RESTARTS:,} restarts in a million turns at the most.")
    if faults.places and any(faults.restarts.values()):
        raise UsageError(f"{where}{faults.places[0].kind}-at: name places of restarts or their number, not both.")
    return faults


def _number(kind: Kind, text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    share = kind.unit.startswith("share")
    if not 0 <= value <= (1 if share else 1e9):
        form = "a share from 0 to 1" if share else f"a number of {kind.unit}, from 0 on"
        raise UsageError(f"{where}{kind.name}={short(text)}: it is {form}, such as {kind.default:g}.")
    return value


def _place(name: str, text: str, where: str) -> Place:
    match = _PLACE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{where}{name}={short(text)}: write an order key such as 30.12; the stored position may follow, as in"
            " 30.12@29.0."
        )
    key = OrderKey(1, int(match[1]), int(match[2] or 0))
    stored = None if match[3] is None else OrderKey(1, int(match[3]), int(match[4] or 0))
    kind: Restart = next(kind for kind in RESTARTS if name == f"{kind}-at")
    if stored is not None and kind == "second-snapshot":
        if stored.turn < key.turn:
            raise UsageError(f"{where}{name}={short(text)}: the new snapshot is not of a turn before the row.")
    elif stored is not None and stored > key:
        raise UsageError(f"{where}{name}={short(text)}: the stored position is not after the row.")
    return Place(kind, key, stored)


def _text(key: OrderKey) -> str:
    return f"{key.turn}.{key.ordinal}"
