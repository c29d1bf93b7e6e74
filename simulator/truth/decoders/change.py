"""Contents of messages, independent of the format: row changes, statements, marks; and the decoder of a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from simulator.model import DELETE, INSERT, READ, UPDATE, Kind
from simulator.truth.decoders.values import Reading

Image: TypeAlias = "Mapping[str, Any] | None"
Side: TypeAlias = Literal["before", "after"]
UNSET: Final = object()  # replaces the value of a field that an update removes


@dataclass(frozen=True, slots=True)
class Change:
    """A row change as a message reports it; a fact that the format does not carry is None.

    Values of images are as the message has them: texts, numbers in their spelling (`Number`), and members of Avro's
    unions. `table` is the name without its database or schema. `event_ms` is the commit time in milliseconds (a
    multiple of 1000 in formats that have seconds); `position` the place in the source's log or the product's number,
    as text; `transaction` a value that all changes of a transaction share. `lost` names the facts that no message of
    the format carries.
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
    """A DDL statement, or a statement's text from the log."""

    sql: str
    event_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A heartbeat, or the begin or end of a transaction, by the format's word for it."""

    word: str


Item: TypeAlias = Change | Statement | Mark


class _Operations(dict[str, Kind]):
    """Operations by words; another word is a ValueError, as in all that is no message."""

    def __missing__(self, word: object) -> Kind:
        raise ValueError(f"its operation is {word!r}")


# Operations by the words that the products use.
OPERATIONS: Final[Mapping[str, Kind]] = _Operations(
    {
        **{"INSERT": INSERT, "ins": INSERT, "c": INSERT, "i": INSERT},
        **{"UPDATE": UPDATE, "upd": UPDATE, "u": UPDATE},
        **{"DELETE": DELETE, "del": DELETE, "d": DELETE},
        **{"INIT": READ, "ROW": READ, "r": READ},
    }
)

# Part of a row that an image has, if not all of it.
CHANGED: Final = "changed columns"
KEY: Final = "key"
NOTHING: Final = "nothing"  # the message has no such image

# Members that a change may have besides its operation, table and images.
MEMBERS: Final[Mapping[str, str]] = {
    "key": "names of the key's columns",
    "event_ms": "commit time",
    "position": "position",
    "transaction": "transaction",
}


@dataclass(frozen=True, slots=True)
class Decoder:
    """Reader of a format's messages.

    * `parse`: bytes → the message as Python values, by the format's options. Raises ValueError if it is no message.
    * `items`: a parsed message → its changes, statement or mark.
    * `carries`: those of `MEMBERS` that its changes have; `by_source`: those that they have for some source systems.
    * `images`: the part of a row that an image has, if not all of it, by operation and side; `images_of`: the same for
      single source systems, by id.
    * `readings`: readers of values, by "SYSTEM TYPE" or "SYSTEM FAMILY" of a type (see `values.Reading`).
    * `not_deleted`: by source system, types whose values are missing in the image of a delete.
    * `renewed`: members of a message, or of its payload, that the product writes anew when it sends the message again
      after a restart.
    * `shown`: (parsed message, value) → the value for people, if a message has values that are no texts.
    """

    parse: Callable[[bytes, Mapping[str, str]], Any]
    items: Callable[[Any], Iterator[Item]]
    carries: frozenset[str]
    readings: Mapping[str, Reading]
    images: Mapping[tuple[Kind, Side], str] = field(default_factory=dict)
    images_of: Mapping[str, Mapping[tuple[Kind, Side], str]] = field(default_factory=dict)
    not_deleted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_source: frozenset[str] = frozenset()
    renewed: frozenset[str] = frozenset()
    shown: Callable[[Any, Any], Any] = lambda message, value: value

    @property
    def lost(self) -> tuple[str, ...]:
        """Names, in words, of the members that no change of the format has."""
        return tuple(words for name, words in MEMBERS.items() if name not in self.carries | self.by_source)

    def image(self, source: str, op: Kind, side: Side) -> str | None:
        """Part of a row in the image before or after, for the id of a source system; None: all of it."""
        return self.images_of.get(source, self.images).get((op, side))


def milliseconds(value: Any) -> int | None:
    """A member as a number; None if it is missing."""
    return None if value is None else int(value)


def text(value: Any) -> str | None:
    """A member as text; None if it is null or empty."""
    return str(value) if value not in (None, "") else None
