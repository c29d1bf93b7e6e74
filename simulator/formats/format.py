"""A format as a value: fields, cells, style, routing, options. Dialects derive from a parent and say what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import PackedBatch
from simulator.errors import DeliveryFailed, OptionError, UsageError, closest
from simulator.model import (
    DDL,
    HEARTBEAT,
    STATEMENT,
    UNTOLD,
    Column,
    Event,
    Heartbeat,
    Kind,
    LoggedStatement,
    SchemaChange,
    SchemaChangeKind,
)
from simulator.routing import Packing, Routing
from simulator.text.json_style import Style
from simulator.wire.avro import Container
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, Order, table_order


@dataclass(frozen=True)
class Option:
    """An option of a format, chosen as `-f dts-canal-json,images=before-2022-03-20`.

    With `choices` the value is one of them; otherwise `parse` makes it of the text and raises ValueError with a
    sentence. A default of None is settled by the source.
    """

    name: str
    default: str | None
    doc: str
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] = str

    def value(self, format: str, text: str | None) -> Any:
        """The option's value for a text; for None its default. Raises OptionError."""
        if text is None:
            return None if self.default is None else self.parse(self.default)
        if self.choices and text not in self.choices:
            guess = closest(text, self.choices)
            hint = f" Did you mean {guess!r}?" if guess else ""
            raise OptionError(f"-f {format},{self.name}={text}: it is one of {', '.join(self.choices)}.{hint}")
        try:
            return self.parse(text)
        except ValueError as error:
            raise OptionError(f"-f {format},{self.name}={text}: {error}.") from None


@dataclass(frozen=True)
class Settings:
    """The values of a format's options, defaults filled in, and the source system that the run has."""

    values: Mapping[str, Any]
    source: str  # id and version: mysql-8.0

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


class Writer(Protocol):
    """What makes the bytes of messages: the encoder of JSON fields, or one of a format's own."""

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array: ...
    def encode_event(self, event: Event, kind: Kind) -> bytes: ...
    def text(self, column: Column, array: pa.Array) -> pa.Array: ...


class Beside(Protocol):
    """What a product puts beside the value: columns of `MESSAGE_SCHEMA` by name (key, headers, tag, timestamp_ms).

    `columns` has one entry per message, `event` the same for a single event, as Python values.
    """

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]: ...
    def event(self, event: Event) -> Mapping[str, Any]: ...


def untold(event: Event) -> bool:
    """Statements about no table, which few products show."""
    return isinstance(event, SchemaChange) and event.kind in UNTOLD


def kind_of(event: Event) -> Kind:
    if isinstance(event, LoggedStatement):
        return STATEMENT
    return HEARTBEAT if isinstance(event, Heartbeat) else DDL


@dataclass(frozen=True)
class Layout:
    """How a format writes with certain settings: members in wire order, how values look, how messages are routed.

    `order` is the order of columns in row maps, `member` the name of a column's member there. A format that is not
    JSON has a `writer` instead of fields; then `cell` says how values look where they are hashed, and `container`
    what a file of its values is. `snapshot_ddl`: rows of a snapshot come after the CREATE TABLE of their table.
    `previous_commit`: what changes carry as their event time is the commit time of the transaction before theirs.
    `typed_json`: the product prints binary JSON documents itself, dates and decimals in its own way.
    `sources`: of the format's sources, those that the product offers with these settings; None: all.
    """

    fields: tuple[Field, ...]
    cell: Callable[[Column], Cell]
    style: Style
    routing: Routing
    packing: Packing | None = None
    order: Order = table_order
    member: Callable[[str], str] = str
    beside: Beside | None = None
    writer: Writer | None = None
    container: Container | None = None
    snapshot_ddl: bool = False
    previous_commit: bool = False
    typed_json: bool = False
    most_bytes: int | None = None  # of a value; the product refuses a larger one
    sends: frozenset[Kind] | None = None  # of the format's kinds, those that the settings let through; None: all
    statements: frozenset[SchemaChangeKind] | None = None  # of the DDL statements, those that it writes; None: all
    omits: Callable[[Event], bool] = untold  # single events that it leaves out although it sends their kind
    sources: tuple[str, ...] | None = None

    def derive(
        self, *, fields: Sequence[Field] = (), drop: Sequence[str] = (), order: Sequence[str] = (), **changes: Any
    ) -> Layout:
        """A copy with some fields replaced, dropped or put into another order, and other members changed.

        Raises ValueError for a field that is not there: the dialect that names it is out of date.
        """
        known = {f.name: f for f in self.fields}
        for name in (*drop, *(f.name for f in fields), *order):
            if name not in known:
                raise ValueError(f"the parent has no field {name!r}")
        if order and set(order) != set(known):
            raise ValueError("the order must name every field")
        known.update({f.name: f for f in fields})
        return replace(self, fields=tuple(known[n] for n in order or known if n not in drop), **changes)


@dataclass(frozen=True)
class Format:
    """One vendor message format: what it is, and `layout(settings)`, how it writes.

    Every kind of event is in `sends` or in `silent`, so that silence is a decision; only texts of the source's log
    (STATEMENT) need not be named to be silent.
    """

    id: str
    title: str
    product: str
    spec: str
    sources: tuple[str, ...]
    brokers: tuple[str, ...]
    sends: frozenset[Kind]
    silent: frozenset[Kind]
    options: tuple[Option, ...]
    layout: Callable[[Settings], Layout]
    binary: bool = False  # values are bytes, not text

    def __post_init__(self) -> None:
        if (self.sends | self.silent | {STATEMENT}) != set(Kind) or self.sends & self.silent:
            raise ValueError(f"{self.id}: each kind of event is either sent or declared silent")

    def codec(self, source: str, given: Mapping[str, str] | None = None) -> Codec:
        """The format made ready for a source (`mysql-8.0`). Raises OptionError for an unknown option or value."""
        given = given or {}
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                guess = closest(name, known)
                hint = f" Did you mean {guess!r}?" if guess else f" It has {', '.join(known) or 'none'}."
                raise OptionError(f"-f {self.id}: there is no option {name!r}.{hint}")
        values = {name: option.value(self.id, given.get(name)) for name, option in known.items()}
        settings = Settings(values, source)
        return Codec(self, settings, self.layout(settings))


class Codec:
    """A configured format, as the pipeline uses it."""

    def __init__(self, format: Format, settings: Settings, layout: Layout) -> None:
        self.format, self.settings, self.layout = format, settings, layout
        self._encoder: Writer = layout.writer or Encoder(
            layout.fields, layout.cell, layout.style, layout.order, layout.member
        )
        self._sends = self.format.sends if layout.sends is None else self.format.sends & layout.sends

    def sends(self, kind: Kind) -> bool:
        """Whether the product, set up like this, sends events of this kind."""
        return kind in self._sends

    def sends_event(self, event: Event) -> bool:
        """Whether it sends this statement or heartbeat."""
        if not self.sends(kind_of(event)) or self.layout.omits(event):
            return False
        statements = self.layout.statements
        return not isinstance(event, SchemaChange) or statements is None or event.kind in statements

    def encode(self, packed: PackedBatch, end: str = "") -> pa.Array:
        """One value per message, with `end` behind it. Raises DeliveryFailed for one that the product refuses."""
        values = self._encoder.encode(packed, end)
        most = self.layout.most_bytes
        if most is not None and values.nbytes > most:
            longest = pc.max(pc.binary_length(values)).as_py() - len(end.encode())
            if longest > most:
                raise DeliveryFailed(
                    f"-f {self.format.id}: a message about {packed.changes.table.id} has {longest:,} bytes, and "
                    f"{self.format.product} delivers up to {most:,}. Write smaller values, or drop the column."
                )
        return values

    def encode_event(self, event: Event, kind: Kind) -> bytes:
        """The value of a DDL statement or heartbeat."""
        return self._encoder.encode_event(event, kind)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        """A column's values as the product hashes them: plain text, nulls kept."""
        return self._encoder.text(column, array)


def parse_format(text: str) -> tuple[str, dict[str, str]]:
    """`canal-json,version=1.1.5` is ("canal-json", {"version": "1.1.5"})."""
    name, *parts = text.split(",")
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UsageError(f"-f {text}: {part!r} is not an option such as 'version=1.1.8'.")
        if key.strip() in options:
            raise UsageError(f"-f {text}: the option {key.strip()!r} is there twice: leave one out.")
        options[key.strip()] = value.strip()
    return name.strip(), options
