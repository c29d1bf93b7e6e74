"""What a format can ask of the seam beyond one message for each change: a toy product with tombstones, messages whose
partition the client chooses, headers that name the other half of a split update, and messages that it drops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from building import Case, Rows, block_of, stream_of_no_scenario, table_of

from simulator import sources
from simulator.batch import HEADERS, MESSAGE_SCHEMA, MessageBatch, PackedBatch
from simulator.delivery.policies.client import ByClient
from simulator.delivery.policies.single import Single
from simulator.delivery.router import parse_route
from simulator.delivery.routing import Routing, Topics
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.options import option
from simulator.model import DELETE, INSERT, ROW_KINDS, UPDATE, Column, Event, Kind, Message, Table
from simulator.run.render import Renderer
from simulator.text.json_style import FASTJSON2, Style, quote
from simulator.text.template import join
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, PerTable
from simulator.wire.fields import Rows as RowImages

TABLE: Final = table_of("t", {"id": "int", "v": "int"}, ["id"])


@dataclass(frozen=True, kw_only=True)
class Options:
    keep_inserts: bool = option(True, "off: inserts are dropped.")


def number(column: Column) -> Cell:
    return Cell(lambda array: array.cast(pa.string()), quoted=False)


class OtherKey:
    """A header with the key of the other half of a split update."""

    def columns(self, packed: PackedBatch) -> dict[str, pa.Array]:
        other = packed.changes.counterpart
        if other is None:
            return {}
        name = "newkey" if packed.changes.kind is DELETE else "oldkey"
        keys = other[0].cast(pa.string()).cast(pa.binary())
        return {"headers": pa.array([[{"name": name, "value": key}] for key in keys.to_pylist()], HEADERS)}

    def event(self, event: Event) -> Mapping[str, Any]:
        return {}


def completed(settings: Settings[Options]) -> Any:
    def complete(packed: PackedBatch, messages: MessageBatch) -> MessageBatch:
        if packed.changes.kind is INSERT and not settings.options.keep_inserts:
            return messages.slice(0, 0)
        if packed.changes.kind is not DELETE:
            return messages
        tombstones = messages.columns.set_column(
            MESSAGE_SCHEMA.get_field_index("value"), MESSAGE_SCHEMA.field("value"), pa.nulls(len(messages), pa.binary())
        )
        both = pa.concat_batches([messages.columns, tombstones])
        return MessageBatch(both.take(pa.array(np.arange(2 * len(messages)).reshape(2, -1).T.ravel())))

    return complete


def layout(settings: Settings[Options]) -> Layout:
    def name(table: Table, style: Style) -> str:
        return quote(f"{settings.broker}:{table.id.name}", style)

    row = {kind: RowImages("before" if kind is DELETE else "after", array=False) for kind in ROW_KINDS}
    fields = (Field("table", PerTable(name)), Field("row", row))
    return Layout(
        Encoder(fields, number, FASTJSON2),
        Routing(
            Topics("{table}"),
            {"client": ByClient(), "single": Single()},
            lambda batch, spread, texts: join([texts(batch.table.columns[0], batch.image()[0])], len(batch)),
            "routing columns",
        ),
        metadata=OtherKey(),
        complete=completed(settings),
    )


TOY: Final = Format(
    id="toy",
    title="Toy",
    product="Toy",
    spec="none",
    sources=("mysql",),
    brokers=("kafka", "rocketmq"),
    sends=frozenset(ROW_KINDS),
    silent=frozenset(set(Kind) - set(ROW_KINDS) - {Kind.STATEMENT}),
    settings=Options,
    layout=layout,
)
CASE: Final = Case(
    "a life",
    (
        Rows(INSERT, TABLE, [["1", "10"], ["2", "20"]], statements=[0, 1]),
        Rows(UPDATE, TABLE, [["1", "11"], ["3", "20"]], [["1", "10"], ["2", "20"]], statements=[0, 1]),
        Rows(DELETE, TABLE, [["3", "20"]]),
    ),
)


def written(route: str | None = None, broker: Any = "kafka", **options: str) -> list[Message]:
    codec = TOY.codec(sources.find("mysql"), options, broker)
    renderer = Renderer(stream_of_no_scenario(), codec, parse_route(route, codec.layout.routing), None, lambda topic: 4)
    rendered = renderer.render(block_of(CASE))
    assert rendered is not None
    return list(rendered.messages())


def test_none_one_or_two_messages_a_change_in_stream_order() -> None:
    shown = [(m.kind.name, m.key, None if m.value is None else m.value.decode(), m.headers) for m in written()]
    assert shown == [
        ("INSERT", b"1", '{"table":"kafka:t","row":{"id":1,"v":10}}', ()),
        ("INSERT", b"2", '{"table":"kafka:t","row":{"id":2,"v":20}}', ()),
        ("UPDATE", b"1", '{"table":"kafka:t","row":{"id":1,"v":11}}', ()),
        ("DELETE", b"2", '{"table":"kafka:t","row":{"id":2,"v":20}}', (("newkey", b"3"),)),
        ("DELETE", b"2", None, (("newkey", b"3"),)),
        ("INSERT", b"3", '{"table":"kafka:t","row":{"id":3,"v":20}}', (("oldkey", b"2"),)),
        ("DELETE", b"3", '{"table":"kafka:t","row":{"id":3,"v":20}}', ()),
        ("DELETE", b"3", None, ()),
    ]
    assert [m.kind.name for m in written(keep_inserts="off")] == ["UPDATE", "DELETE", "DELETE", "DELETE", "DELETE"]


@pytest.mark.parametrize(("route", "partition"), [(None, None), ("client", None), ("single", 0)])
def test_the_client_may_choose_the_partition(route: str | None, partition: int | None) -> None:
    assert {message.partition for message in written(route)} == {partition}


def test_the_kind_of_broker_is_known() -> None:
    assert b"rocketmq:t" in (written(broker="rocketmq")[0].value or b"")
