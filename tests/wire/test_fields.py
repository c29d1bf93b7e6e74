"""Fields and their holes, compiled and joined: what the formats' own goldens do not single out."""

from __future__ import annotations

from typing import Final

import numpy as np
from building import batch_of, table_of
from each import each

from simulator.delivery.pack import Packing, cut
from simulator.model import ABSENT, INSERT, UPDATE, Column
from simulator.text import mysql as binlog_text
from simulator.text.java.hash_map import hash_order
from simulator.text.json_style import FASTJSON2
from simulator.wire.encoder import Encoder
from simulator.wire.fields import Cell, Field, Members, Order, PerTable, Rows, table_order

TABLE: Final = table_of("t", {"id": "int", "name": "varchar(9)", "qty": "int"}, ["id"])
NEW: Final = [["1", "a", "5"], ["2", None, None], ["3", "c", None]]
OLD: Final = [["1", "b", "6"], ["2", "x", None], ["3", "c", None]]


def cell(column: Column) -> Cell:
    if column.name == "name":
        return Cell(lambda array: binlog_text.text(array, column.type), escaped=True)
    return Cell(lambda array: binlog_text.integer(array, column.type), quoted=False)


def encoded(*fields: Field, order: Order = table_order, update: bool = True) -> list[str]:
    batch = batch_of(TABLE, UPDATE, NEW, OLD) if update else batch_of(TABLE, INSERT, NEW)
    packed = cut(batch, Packing().events(batch), topic="t", partition=None, key=None)
    values: list[str] = Encoder(fields, cell, FASTJSON2, order).encode(packed).to_pylist()
    return values


def test_an_object_within_an_object() -> None:
    inner = Members((Field("t", PerTable(lambda table, style: f'"{table.id.name}"')), Field("gone", ABSENT)))
    empty = Members((Field("gone", ABSENT),))
    assert encoded(Field("a", inner), Field("b", empty)) == ['{"a":{"t":"t"},"b":{}}'] * 3


@each(
    [
        (
            Rows("after", array=False),
            ['{"id":1,"name":"a","qty":5}', '{"id":2,"name":null,"qty":null}', '{"id":3,"name":"c","qty":null}'],
        ),
        (
            Rows("before", array=False, columns=lambda table: (2, 0)),
            ['{"qty":6,"id":1}', '{"qty":null,"id":2}', '{"qty":null,"id":3}'],
        ),
        (Rows("changed", array=False), ['{"name":"b","qty":6}', '{"name":"x"}', "{}"]),
        (Rows("changed after"), ['[{"name":"a","qty":5}]', '[{"name":null}]', "[{}]"]),
        (
            Rows("after", array=False, skip_nulls=True),
            ['{"id":1,"name":"a","qty":5}', '{"id":2}', '{"id":3,"name":"c"}'],
        ),
        (
            Rows("changed", array=False, tail=PerTable(lambda table, style: '"more":0')),
            ['{"name":"b","qty":6,"more":0}', '{"name":"x","more":0}', '{"more":0}'],
        ),
        (
            Rows("after", array=False, columns=lambda table: (), tail=PerTable(lambda table, style: '"more":0')),
            ['{"more":0}'] * 3,
        ),
    ]
)
def test_rows(rows: Rows, texts: list[str]) -> None:
    assert encoded(Field("r", rows)) == [f'{{"r":{text}}}' for text in texts]


@each(
    [
        (
            Rows("before", logged=lambda batch: [np.array([0, 2]), None, np.array([0, 1, 2])]),
            ['[{"id":1,"qty":6}]', '[{"qty":null}]', '[{"id":3,"qty":null}]'],
        ),
        (
            Rows("before", True, logged=lambda batch: [np.array([1]), None, None]),
            ["null", '[{"id":2}]', "null"],
        ),
        (
            Rows("after", logged=lambda batch: None),
            ['[{"id":1,"name":"a","qty":5}]', '[{"id":2,"name":null,"qty":null}]', '[{"id":3,"name":"c","qty":null}]'],
        ),
    ]
)
def test_rows_of_which_not_everything_is_logged(rows: Rows, texts: list[str]) -> None:
    assert encoded(Field("r", rows)) == [f'{{"r":{text}}}' for text in texts]


def test_rows_in_the_order_of_a_hash_map() -> None:
    assert encoded(Field("r", Rows("after", array=False)), order=hash_order, update=False) == [
        '{"r":{"qty":5,"name":"a","id":1}}',
        '{"r":{"qty":null,"name":null,"id":2}}',
        '{"r":{"qty":null,"name":"c","id":3}}',
    ]


def test_an_order_may_depend_on_the_number_of_members() -> None:
    def order(names: list[str], entries: int) -> list[int]:
        return [2, 1, 0] if entries == 2 else [0, 1, 2]

    assert encoded(Field("r", Rows("changed")), order=order) == [  # type: ignore[arg-type]
        '{"r":[{"qty":6,"name":"b"}]}',
        '{"r":[{"name":"x"}]}',
        '{"r":[{}]}',
    ]


@each(
    [
        (
            Rows("changed", array=False, kept=lambda table: (0,)),
            ['{"id":1,"name":"b","qty":6}', '{"id":2,"name":"x"}', '{"id":3}'],
        ),
        (
            Rows("changed after", array=False, kept=lambda table: (0,)),
            ['{"id":1,"name":"a","qty":5}', '{"id":2,"name":null}', '{"id":3}'],
        ),
    ]
)
def test_columns_that_are_kept_though_unchanged(rows: Rows, texts: list[str]) -> None:
    assert encoded(Field("r", rows)) == [f'{{"r":{text}}}' for text in texts]
