"""What messages say, whatever their format: changes of rows, statements, marks; and what a format says of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from simulator.model import DELETE, INSERT, READ, UPDATE, Kind
from simulator.truth.decoders.values import Reading

Image: TypeAlias = "Mapping[str, Any] | None"
Side: TypeAlias = Literal["before", "after"]
UNSET: Final = object()  # in place of the value of a field that an update removes


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a row as a message says it; None is what its format does not say.

    Values of images are as the message has them: texts, numbers as they are written (`Number`), and members of Avro's
    unions. `table` is the name without its database or schema. `event_ms` is the commit time in milliseconds (of
    formats that have seconds: a multiple of 1000), `position` the place in the source's log or the product's number,
    as text, `transaction` what all changes of a transaction share. `lost` names what the format does not carry at all.
    """

    op: Kind
    table: str
    before: Image
    after: Image
    key: frozenset[str] | None = None
    event_ms: int | None = None
    database: str | None = None
    position: str | None = None
    transaction: str | None = None
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A DDL statement, or a statement's text in the log."""

    sql: str
    event_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A heartbeat, or the begin or the end of a transaction, by the word that the format has for it."""

    word: str


Item: TypeAlias = Change | Statement | Mark

# Operations by the words of all products.
OPERATIONS: Final[Mapping[str, Kind]] = {
    **{"INSERT": INSERT, "ins": INSERT, "c": INSERT, "i": INSERT},
    **{"UPDATE": UPDATE, "upd": UPDATE, "u": UPDATE},
    **{"DELETE": DELETE, "del": DELETE, "d": DELETE},
    **{"INIT": READ, "ROW": READ, "r": READ},
}

# How much of a row an image has, where that is not all of it.
CHANGED: Final = "changed columns"
KEY: Final = "key"

# What a change may say beside its operation, table and images.
MEMBERS: Final[Mapping[str, str]] = {
    "key": "names of the key's columns",
    "event_ms": "commit time",
    "position": "position",
    "transaction": "transaction",
}


@dataclass(frozen=True, slots=True)
class Decoder:
    """How messages of a format are read.

    * `parse`: bytes → the message as Python values, by the format's options. Raises ValueError for what is no message.
    * `items`: a parsed message → what it says.
    * `carries`: those of `MEMBERS` that its changes have; `by_source`: those that they have of some source systems.
    * `images`: how much of a row an image has, where that is not all of it, by operation and side; `images_of` the same
      for single source systems, by id.
    * `readings`: how values are read, by "SYSTEM TYPE" or "SYSTEM FAMILY" of a type (see `values.Reading`).
    * `not_deleted`: by source system, types whose values the image of a delete lacks.
    * `shown`: (parsed message, value) → the value for people, where a message has values that are no texts.
    """

    parse: Callable[[bytes, Mapping[str, str]], Any]
    items: Callable[[Any], Iterator[Item]]
    carries: frozenset[str]
    readings: Mapping[str, Reading]
    images: Mapping[tuple[Kind, Side], str] = field(default_factory=dict)
    images_of: Mapping[str, Mapping[tuple[Kind, Side], str]] = field(default_factory=dict)
    not_deleted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_source: frozenset[str] = frozenset()
    shown: Callable[[Any, Any], Any] = lambda message, value: value

    @property
    def lost(self) -> tuple[str, ...]:
        """What no change of the format says, in words."""
        return tuple(words for name, words in MEMBERS.items() if name not in self.carries | self.by_source)

    def image(self, source: str, op: Kind, side: Side) -> str | None:
        """How much of a row the image before or after has, for the id of a source system; None: all of it."""
        return self.images_of.get(source, self.images).get((op, side))


def milliseconds(value: Any) -> int | None:
    """A number of a message, None where it has none."""
    return None if value is None else int(value)


def text(value: Any) -> str | None:
    """A member as text; None where it is null or empty."""
    return str(value) if value not in (None, "") else None
