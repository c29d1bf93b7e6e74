"""Common layout of the five formats: order of maps, encoder, topics, tags, kinds of event.

Decisions: messages are compact JSON with Jackson's escapes; a map's members and columns stand in the order of a Java
HashMap of as many keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from simulator.batch import PackedBatch
from simulator.delivery.steps.halves import counted_halves
from simulator.formats.format import Layout, Settings
from simulator.formats.oms.logged import visible, without_lobs
from simulator.formats.oms.names import STATEMENTS
from simulator.formats.oms.options import OmsOptions, OrderedOptions
from simulator.formats.oms.routing import routing
from simulator.formats.oms.systems import types_of
from simulator.formats.oms.types.classes import ValueStyle
from simulator.formats.oms.types.columns import Columns
from simulator.formats.redelivery import OMS
from simulator.formats.remarks import full_seconds
from simulator.formats.writing import OneMessage
from simulator.model import ABSENT, DELETE, INSERT, READ, UPDATE, Event, Kind
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import JACKSON
from simulator.text.template import repeat
from simulator.wire.by_kind import ByKind
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Field, Members, Order, Rows, table_order


def columns_of(settings: Settings[OmsOptions], *, plain: bool = False, bigint: str = "BIGINT") -> Columns:
    """The columns of the source's tables; `plain`: decimals have no exponent."""
    options = settings.options
    style = ValueStyle(plain=plain, legacy=options.legacy_types, zone=options.server_timezone)
    return Columns(types_of(settings), style, bigint)


def map_order(settings: Settings[OrderedOptions]) -> Order:
    """The order of a map's columns; each map by its own number of keys."""
    return hash_order if settings.options.map_order == "java_hash" else table_order


def hash_map(fields: Sequence[Field], kind: Kind) -> Members:
    """The members of a kind in the order of a HashMap, into which they were put in the order of the fields."""
    present = [field for field in fields if field.on(kind) is not ABSENT]
    return Members(tuple(present[i] for i in hash_order([field.name for field in present])))


def sent(*optional: tuple[Kind, bool]) -> frozenset[Kind]:
    """The kinds that change rows, and those of the others that are on."""
    return frozenset({READ, INSERT, UPDATE, DELETE, *(kind for kind, on in optional if on)})


@dataclass(frozen=True)
class Tag:
    """The task's tag, the same for all messages."""

    tag: str

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        return {"tag": repeat(self.tag, len(packed))}

    def event(self, event: Event) -> Mapping[str, Any]:
        return {"tag": self.tag}


def layout(
    settings: Settings[OmsOptions],
    columns: Columns,
    fields: Sequence[Field],
    *,
    sends: frozenset[Kind],
    order: Order = table_order,
    sequence: str = "",
) -> Layout:
    """The layout of all five formats around a format's members; `sequence`: the member with the number of a change."""
    updated = [field.on(UPDATE) for field in fields]
    shows_changed = any(isinstance(value, Rows) and value.image.startswith("changed") for value in updated)
    lob_nulls = settings.options.ob_lob_nulls

    def prepare(packed: PackedBatch) -> PackedBatch:
        if shows_changed:
            packed = visible(packed, columns)
        if lob_nulls and packed.changes.kind in (UPDATE, DELETE):
            packed = replace(packed, changes=without_lobs(packed.changes, columns))
        return packed

    def encoder(*, full: bool) -> Encoder:
        return Encoder(fields, lambda column: columns.cell(column, full=full), JACKSON, order)

    return Layout(
        OneMessage(
            ByKind(encoder(full=False), {READ: encoder(full=True)}, columns.check, prepare),
            Tag(settings.options.tag) if settings.broker == "rocketmq" else None,
        ),
        routing(settings),
        steps=(counted_halves,),
        known=columns.known,
        sends=sends,
        statements=frozenset(STATEMENTS),
        remarks=(full_seconds(sequence),) if sequence else (),
        heartbeat_ms=1000,
        redelivery=OMS,
    )
