"""What a format can ask of the seam beyond one message for each change: a toy product with tombstones, messages whose
partition the client chooses, headers that name the other half of a split update, members that only some rows have,
transactions counted by table in a topic of their own, a statement that goes to two topics, and messages that it drops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from building import Case, Ddl, Rows, batch_of, block_of, stream_of_no_scenario, table_of

from simulator import sources
from simulator.batch import HEADERS, ChangeBatch, PackedBatch
from simulator.delivery.pack import Packing, cut
from simulator.delivery.policies.client import ByClient
from simulator.delivery.policies.single import Single
from simulator.delivery.router import parse_route
from simulator.delivery.routing import Address, Destination, Routing, Spread, Statements, Texts, Topics
from simulator.delivery.steps.counts import counted_by_table
from simulator.formats.format import Format, Layout, Settings
from simulator.formats.options import option
from simulator.formats.writing import OneMessage, Written, WrittenEvent
from simulator.model import (
    BEGIN,
    COMMIT,
    DDL,
    DELETE,
    HEARTBEAT,
    INSERT,
    ROW_KINDS,
    UPDATE,
    Column,
    Event,
    Message,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableId,
)
from simulator.run.render import Renderer
from simulator.text.json_style import FASTJSON2, Style, quote
from simulator.text.template import Piece, Run
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, InRows, PerChange, PerEvent, PerTable
from simulator.wire.fields import Rows as RowImages

TABLE: Final = table_of("t", {"id": "int", "v": "int"}, ["id"])
OTHER: Final = table_of("u", {"id": "int", "v": "int"}, ["id"])


@dataclass(frozen=True, kw_only=True)
class Options:
    keep_inserts: bool = option(True, "off: inserts are dropped.")
    marks: bool = option(False, "on: transactions are counted.")


def number(column: Column) -> Cell:
    return Cell(lambda array: array.cast(pa.string()), quoted=False)


@dataclass(frozen=True, kw_only=True)
class Toy(OneMessage):
    """Deletes have tombstones, halves of updates a header with the key of the other, marks a topic of their own; a
    TRUNCATE is reported in its table's topic, too."""

    options: Options

    def messages(self, packed: PackedBatch) -> Iterable[Written]:
        batch = packed.changes
        if batch.kind in (BEGIN, COMMIT):
            yield Written(self.mark(packed), topic="transactions")
            return
        if batch.kind is INSERT and not self.options.keep_inserts:
            return
        columns: dict[str, pa.Array] = {}
        if (other := batch.counterpart) is not None:
            name = "newkey" if batch.kind is DELETE else "oldkey"
            keys = other[0].cast(pa.string()).cast(pa.binary())
            columns["headers"] = pa.array([[{"name": name, "value": key}] for key in keys.to_pylist()], HEADERS)
        yield Written(self.values.pieces(packed), columns)
        if batch.kind is DELETE:
            yield Written(None, columns)

    def mark(self, packed: PackedBatch) -> list[Piece]:
        """`END 3: t 2, u 1`."""
        batch = packed.changes
        if batch.kind is BEGIN:
            return ["BEGIN"]
        counts = batch.counts
        assert counts is not None
        names = pa.DictionaryArray.from_arrays(pa.array(counts.table), pa.array([id.name for id in counts.tables]))
        tables = Run([names, " ", pa.array(counts.changes)], counts.starts, ", ", len(counts.table))
        return ["END ", pa.array(batch.envelope.places), ": ", tables]

    def event(self, event: Event, to: Destination) -> Iterable[WrittenEvent]:
        yield WrittenEvent(Address("ddl", (0,), "shop"), self.values.encode_event(event, DDL))
        if isinstance(event, SchemaChange) and event.kind is SchemaChangeKind.TRUNCATE_TABLE:
            for part, address in to.event(event):
                assert isinstance(part, SchemaChange)
                assert part.after is not None
                yield WrittenEvent(Address(address.topic, (None,)), b"truncated " + part.after.id.name.encode())


class NoMarks(Statements):
    """Nobody asks how many partitions the topic of marks would have had."""

    def marks(self, names: TableId, to: Destination) -> Address:
        return Address("transactions", (None,))


def first_column(batch: ChangeBatch, spread: Spread, texts: Texts) -> pa.Array | None:
    """A key; marks, which have no columns, have none."""
    return texts(batch.table.columns[0], batch.image()[0]) if batch.image() else None


def layout(settings: Settings[Options]) -> Layout:
    def name(table: Table, style: Style) -> str:
        return quote(f"{settings.broker}:{table.id.name}", style)

    row = {kind: RowImages("before" if kind is DELETE else "after", array=False) for kind in ROW_KINDS}
    last = InRows(lambda batch: batch.envelope.place == batch.envelope.places, True)
    place = InRows(
        lambda batch: batch.envelope.place != batch.envelope.places, PerChange(lambda batch: batch.envelope.place)
    )
    in_table = PerChange(lambda batch: batch.envelope.place_in_table)  # type: ignore[arg-type, return-value]
    counted = (
        Field("last", dict.fromkeys(ROW_KINDS, last)),
        Field("place", dict.fromkeys(ROW_KINDS, place)),
        Field("in_table", dict.fromkeys(ROW_KINDS, in_table)),
    )
    fields = (
        Field("table", dict.fromkeys(ROW_KINDS, PerTable(name))),
        *(counted if settings.options.marks else ()),
        Field("row", row),
        Field("sql", {DDL: PerEvent(lambda event: event.sql)}),
    )
    return Layout(
        Toy(Encoder(fields, number, FASTJSON2), options=settings.options),
        Routing(
            Topics("{table}"),
            {"client": ByClient(), "single": Single()},
            first_column,
            "routing columns",
            NoMarks(),
        ),
        steps=(counted_by_table,) if settings.options.marks else (),
        sends=None if settings.options.marks else TOY.sends - {BEGIN, COMMIT},
    )


TOY: Final = Format(
    id="toy",
    title="Toy",
    product="Toy",
    spec="none",
    sources=("mysql",),
    brokers=("kafka", "rocketmq"),
    sends=frozenset({*ROW_KINDS, BEGIN, COMMIT, DDL}),
    silent=frozenset({HEARTBEAT}),
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


def written(route: str | None = None, broker: Any = "kafka", case: Case = CASE, **options: str) -> list[Message]:
    codec = TOY.codec(sources.find("mysql"), options, broker)
    renderer = Renderer(stream_of_no_scenario(), codec, parse_route(route, codec.layout.routing), None, lambda topic: 4)
    rendered = renderer.render(block_of(case))
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
    assert [m.changes for m in written()] == [1, 1, 1, 1, 0, 0, 1, 0]  # an update that was split counts with its delete


def test_changes_are_counted_by_table_and_members_stand_in_some_rows() -> None:
    """Halves of an update count as two; the marks have a topic of their own."""
    steps = (*CASE.steps[:2], Rows(INSERT, OTHER, [["7", "70"]]), CASE.steps[2])
    shown = [(m.topic, m.partition, m.value and m.value.decode()) for m in written(marks="on", case=Case("c", steps))]
    assert shown == [
        ("transactions", None, "BEGIN"),
        ("t", None, '{"table":"kafka:t","place":1,"in_table":1,"row":{"id":1,"v":10}}'),
        ("t", None, '{"table":"kafka:t","place":2,"in_table":2,"row":{"id":2,"v":20}}'),
        ("t", None, '{"table":"kafka:t","place":3,"in_table":3,"row":{"id":1,"v":11}}'),
        ("t", None, '{"table":"kafka:t","place":4,"in_table":4,"row":{"id":2,"v":20}}'),
        ("t", None, None),
        ("t", None, '{"table":"kafka:t","place":5,"in_table":5,"row":{"id":3,"v":20}}'),
        ("u", None, '{"table":"kafka:u","place":6,"in_table":1,"row":{"id":7,"v":70}}'),
        ("t", None, '{"table":"kafka:t","last":true,"in_table":6,"row":{"id":3,"v":20}}'),
        ("t", None, None),
        ("transactions", None, "END 7: t 6, u 1"),
    ]


def test_a_statement_goes_to_two_topics() -> None:
    truncate = Ddl(SchemaChangeKind.TRUNCATE_TABLE, "TRUNCATE t", TABLE, TABLE)
    shown = [(m.topic, m.partition, m.key, m.value) for m in written(case=Case("truncated", (truncate,)))]
    assert shown == [
        ("ddl", 0, b"shop", b'{"sql":"TRUNCATE t"}'),
        ("t", None, None, b"truncated t"),
    ]


def test_a_member_of_some_rows_begins_no_object() -> None:
    fields = (Field("some", InRows(lambda batch: np.ones(len(batch), dtype=bool), 1)),)
    batch = batch_of(TABLE, INSERT, [["1", "10"]])
    packed = cut(batch, Packing().events(batch), topic="t", partition=None, key=None)
    with pytest.raises(ValueError, match="the member 'some' begins an object"):
        Encoder(fields, number, FASTJSON2).encode(packed)


@pytest.mark.parametrize(("route", "partition"), [(None, None), ("client", None), ("single", 0)])
def test_the_client_may_choose_the_partition(route: str | None, partition: int | None) -> None:
    assert {message.partition for message in written(route)} == {partition}


def test_the_kind_of_broker_is_known() -> None:
    assert b"rocketmq:t" in (written(broker="rocketmq")[0].value or b"")
