"""From changes to addressed packs: split, pack, cut, route."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from building import Case, Ddl, Rows, batch_of, block_of, codec_of, encoded, messages_of, table_of
from each import each

from simulator.batch import ChangeBatch
from simulator.delivery.marks import marks
from simulator.delivery.pack import ONE_ROW, Packing, cut
from simulator.delivery.router import Router, parse_route
from simulator.delivery.routing import Address, Route
from simulator.errors import UsageError
from simulator.formats.canal.packing import RowsEvents
from simulator.formats.cloudcanal.packing import Batches
from simulator.model import (
    BEGIN,
    COMMIT,
    DELETE,
    INSERT,
    READ,
    UPDATE,
    Kind,
    Message,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableId,
)
from simulator.sources import find
from simulator.sources.mysql import row_bytes as mysql_row_bytes
from simulator.split import split

MYSQL: Final = find("mysql")

ITEMS: Final = table_of("items", {"id": "bigint", "name": "varchar(50)", "qty": "int"}, ["id"], database="inventory")
PAIRS: Final = table_of("pairs", {"a": "int", "b": "varchar(20)", "v": "int"}, ["b", "a"], database="inventory")
LOOSE: Final = table_of("loose", {"id": "int", "v": "int"}, database="inventory")
MANY: Final = table_of("many", {"id": "int", "s": "varchar(100)"}, ["id"])
BIG: Final = table_of("big", {"id": "int", "l": "longtext"}, ["id"])


def router_of(format: str, n: int, route: str | None = None, topic: str | None = None) -> Router:
    codec = codec_of(format)
    routing = codec.layout.routing
    parsed, texts = parse_route(route, routing), codec.layout.writer.text
    return Router(routing, parsed, topic, lambda topic: n, texts, database="inventory")


def partitions(router: Router, batch: ChangeBatch) -> list[int]:
    return router.changes(batch).partitions.tolist()


def column(batch: ChangeBatch, number: int) -> list[Any]:
    return batch.image()[number].to_pylist()


# --------------------------------------------------------------------------------------------------------------- split


def moved_batch() -> ChangeBatch:
    """Three updates of one statement; the second changes the key."""
    return batch_of(
        ITEMS,
        UPDATE,
        [["1", "a2", "5"], ["20", "b", "6"], ["3", "c", "7"]],
        [["1", "a", "5"], ["2", "b", "5"], ["3", "c", "6"]],
        ordinal=10,
    )


def test_split_makes_a_delete_and_an_insert_of_a_moved_row() -> None:
    rest, deleted, inserted = split(moved_batch(), ITEMS.key_positions)
    assert (rest.kind, column(rest, 0), rest.moved) == (UPDATE, [1, 3], False)
    assert (deleted.kind, column(deleted, 0), deleted.moved) == (DELETE, [2], True)
    assert (inserted.kind, column(inserted, 0), inserted.moved) == (INSERT, [20], True)
    # whole rows on both sides
    assert [column(deleted, i) for i in range(3)] == [[2], ["b"], [5]]
    assert [column(inserted, i) for i in range(3)] == [[20], ["b"], [6]]


def test_the_insert_stands_right_behind_its_delete() -> None:
    rest, deleted, inserted = split(moved_batch(), ITEMS.key_positions)
    assert rest.envelope.ordinal.tolist() == [10, 14]
    assert (deleted.envelope.ordinal.tolist(), inserted.envelope.ordinal.tolist()) == ([12], [13])
    # products number messages by the offset
    assert (inserted.envelope.offset - deleted.envelope.offset).tolist() == [1]
    for name in ("turn", "statement", "txn", "seq", "size", "event_ms", "write_ms"):
        assert getattr(deleted.envelope, name).tolist() == getattr(inserted.envelope, name).tolist()


@each(
    [
        ((0,), ["1", "a", "5"], ["1", "z", "6"]),  # another column
        ((0,), ["1", "a", "5"], ["1", "a", "5"]),  # nothing
        ((), ["1", "a", "5"], ["2", "z", "6"]),  # no routing column
        ((2,), ["1", "a", None], ["2", "z", None]),  # null stays null
    ]
)
def test_no_split_where_the_routing_columns_are_equal(
    columns: tuple[int, ...], old: list[str | None], new: list[str | None]
) -> None:
    batch = batch_of(ITEMS, UPDATE, [new], [old])
    assert split(batch, columns) == [batch]


def test_split_where_a_routing_column_becomes_null() -> None:
    batch = batch_of(ITEMS, UPDATE, [["1", None, "5"]], [["1", "", "5"]])
    deleted, inserted = split(batch, (1,))
    assert (column(deleted, 1), column(inserted, 1)) == ([""], [None])


@each([READ, INSERT, DELETE])
def test_only_updates_are_split(kind: Kind) -> None:
    batch = batch_of(ITEMS, kind, [["1", "a", "5"]])
    assert split(batch, (0,)) == [batch]


def test_split_messages_go_to_the_partitions_of_their_keys_and_count_once() -> None:
    """The page's example: UPDATE SET id = 2 WHERE id = 1."""
    block = block_of(Case("", (Rows(UPDATE, ITEMS, [["2", "a", "5"]], [["1", "a", "5"]]),)))

    def shown(format: str, route: str | None = None) -> list[tuple[Kind, int | None, int]]:
        return [
            (m.kind, m.partition, m.changes) for m in messages_of(format, "mysql-8.0", block, route=route, partitions=3)
        ]

    split_on = "dts-canal-json,split_on_key_update=on"
    assert shown("dts-canal-json") == [(UPDATE, 1, 1)]
    assert shown(split_on) == [(DELETE, 1, 1), (INSERT, 2, 0)]
    # it never triggers where the key does not choose the partition
    assert [kind for kind, _, _ in shown(split_on, "single")] == [UPDATE]
    assert [kind for kind, _, _ in shown(split_on, "table")] == [UPDATE]
    assert [kind for kind, _, _ in shown(split_on, "columns:qty")] == [UPDATE]
    assert [kind for kind, _, _ in shown(split_on, "columns:id")] == [DELETE, INSERT]


# ---------------------------------------------------------------------------------------------------------------- pack


def sizes(batch: ChangeBatch, packing: Packing) -> list[int]:
    return np.diff(packing.events(batch).starts).tolist()


def canal_packing(rows: int = 0, source: str = "mysql-8.0") -> Packing:
    return codec_of(f"canal-json,rows_per_message={rows}", source).layout.packing


def ten_bytes(columns: Any, arrays: Any) -> Any:
    """Each row image has ten."""
    return np.full(len(arrays[0]), 10, dtype=np.int64)


LONG: Final = "x" * 100


# captured: Canal 1.1.8 on MySQL 8.0.31, the operations run, lines 49 to 76; the same on 5.7 and MariaDB
def test_rows_share_a_message_up_to_8192_bytes() -> None:
    inserted = batch_of(MANY, INSERT, [[str(i), LONG] for i in range(1000)])
    assert sizes(inserted, canal_packing()) == [76] * 13 + [12]
    updated = batch_of(MANY, UPDATE, [[str(i), "y"] for i in range(200)], [[str(i), LONG] for i in range(200)])
    assert sizes(updated, canal_packing()) == [71, 71, 58]
    rows = [[str(i), "y" if i < 200 else LONG] for i in range(100, 1000)]
    assert sizes(batch_of(MANY, DELETE, rows), canal_packing()) == [168] + [76] * 9 + [48]


def test_the_recorded_messages_have_these_sizes() -> None:
    lines = captured("1.1.8-mysql8.0.31-operations.jsonl")[48:76]
    recorded = [(document["type"], len(document["data"])) for document in map(json.loads, lines)]
    assert recorded[:14] == [("INSERT", count) for count in [76] * 13 + [12]]
    assert recorded[14:17] == [("UPDATE", count) for count in [71, 71, 58]]
    assert recorded[17:] == [("DELETE", count) for count in [168] + [76] * 9 + [48]]


# captured: the same run, lines 167 to 169
def test_a_row_larger_than_a_message_has_its_own() -> None:
    rows = [["1", "z" * 20_000], ["2", "w" * 20_000], ["3", "small"], ["4", "small"]]
    assert sizes(batch_of(BIG, INSERT, rows), canal_packing()) == [1, 1, 2]
    assert sizes(batch_of(BIG, INSERT, rows[2:] + rows[:2]), canal_packing()) == [2, 1, 1]
    assert sizes(batch_of(BIG, INSERT, rows[:1]), canal_packing()) == [1]


@each([(1, [1] * 7), (2, [2, 2, 2, 1]), (7, [7]), (8, [7]), (0, [7])])
def test_rows_per_message(most: int, expected: list[int]) -> None:
    batch = batch_of(MANY, INSERT, [[str(i), "y"] for i in range(7)])
    assert sizes(batch, canal_packing(most)) == expected


def test_both_limits_hold() -> None:
    batch = batch_of(MANY, INSERT, [[str(i), LONG] for i in range(200)])
    assert sizes(batch, canal_packing(50)) == [50] * 4
    assert sizes(batch, canal_packing(100)) == [76, 76, 48]


@each([(29, [2, 2, 2]), (30, [3, 3]), (9, [1] * 6), (10, [1] * 6), (60, [6])])
def test_a_row_joins_while_it_fits_exactly(room: int, expected: list[int]) -> None:
    packing = RowsEvents(room + 5, None, ten_bytes, lambda columns, images: 5)
    assert sizes(batch_of(MANY, INSERT, [[str(i), "y"] for i in range(6)]), packing) == expected


def test_updates_count_both_images_and_two_bitmaps() -> None:
    asked: list[tuple[int, int]] = []

    def header(columns: int, images: int) -> int:
        asked.append((columns, images))
        return 0

    packing = RowsEvents(40, None, ten_bytes, header)
    rows = [[str(i), "y"] for i in range(6)]
    assert sizes(batch_of(MANY, UPDATE, rows, rows), packing) == [2, 2, 2]
    assert sizes(batch_of(MANY, INSERT, rows), packing) == [4, 2]
    assert asked == [(2, 2), (2, 1)]


def test_statements_and_turns_share_no_message() -> None:
    rows = [[str(i), "y"] for i in range(5)]
    batch = batch_of(MANY, INSERT, rows, statements=[0, 0, 1, 1, 1])
    assert sizes(batch, canal_packing()) == [2, 3]
    turns = replace(
        batch, envelope=replace(batch.envelope, turn=np.array([0, 0, 0, 0, 1]), statement=np.zeros(5, dtype=np.int64))
    )
    assert sizes(turns, canal_packing()) == [4, 1]


def test_snapshot_rows_and_moved_rows_stand_alone() -> None:
    rows = [[str(i), "y"] for i in range(5)]
    assert sizes(batch_of(MANY, READ, rows, phase=0), canal_packing()) == [1] * 5
    assert sizes(replace(batch_of(MANY, INSERT, rows), counterpart=()), canal_packing()) == [1] * 5


def test_rows_of_a_transaction_share_a_message_while_nothing_else_comes_between() -> None:
    rows = [[str(i), "y"] for i in range(7)]
    batch = batch_of(MANY, INSERT, rows, statements=range(7))
    # the fourth row is not the one behind the third, and the last is of another transaction
    seq, txn = np.array([1, 2, 3, 5, 6, 7, 8]), np.array([1, 1, 1, 1, 1, 1, 2])
    batch = replace(batch, envelope=replace(batch.envelope, seq=seq, txn=txn))
    assert sizes(batch, Batches(9, "transaction")) == [3, 3, 1]
    assert sizes(batch, Batches(9)) == [1] * 7


@each(["statement", "transaction"])
def test_rows_of_a_snapshot_share_messages_where_the_product_says_so(scope: Any) -> None:
    batch = batch_of(MANY, READ, [[str(i), "y"] for i in range(7)])
    # the fourth row is not the one behind the third
    batch = replace(batch, envelope=replace(batch.envelope, phase=0, turn=np.array([0, 1, 2, 7, 8, 9, 10])))
    assert sizes(batch, Batches(9, scope)) == [3, 4]
    assert sizes(batch, RowsEvents(8192)) == [1] * 7


@each([(1, [1] * 5), (2, [2, 2, 1]), (9, [3, 2])])
def test_rows_of_a_message_are_counted_in_its_partition(most: int, expected: list[int]) -> None:
    batch = batch_of(MANY, INSERT, [[str(i), "y"] for i in range(5)])
    to = np.array([1, 0, 1, 0, 1])
    packed = cut(batch, Batches(most).events(batch), topic="t", partition=to, key=None)
    assert np.diff(packed.starts).tolist() == expected
    alone = cut(batch, Batches(most).events(batch), topic="t", partition=None, key=None)
    assert np.diff(alone.starts).tolist() == ([5] if most == 9 else [2, 2, 1] if most == 2 else [1] * 5)
    assert alone.partition is None


def test_updates_that_leave_the_same_row_share_no_message() -> None:
    rows = [["1", "y"], ["1", "y"], ["2", None], ["2", None], ["3", "y"]]
    batch = batch_of(MANY, UPDATE, rows, [["1", "x"]] * 5)
    assert sizes(batch, Batches(9)) == [1, 2, 2]
    assert sizes(batch, canal_packing()) == [5]
    assert sizes(batch_of(MANY, INSERT, rows), Batches(9)) == [5]


def test_columns_that_changed_are_those_of_the_row_where_rows_of_messages_are_counted() -> None:
    batch = batch_of(MANY, UPDATE, [["1", "y"], ["2", "x"]], [["1", "x"], ["2", "x"]])
    for packing, rows in ((canal_packing(), [0, 1]), (Batches(9), [0])):
        events = packing.events(batch)
        assert events.changed is not None
        assert events.changed[1] is not None
        assert events.changed[1].tolist() == rows


def test_without_packing_each_row_is_a_message() -> None:
    assert sizes(batch_of(MANY, INSERT, [[str(i), "y"] for i in range(5)]), ONE_ROW) == [1] * 5


# ----------------------------------------------------------------------------------------------------------------- cut


def test_cut_by_partition_keeps_the_order_inside_one() -> None:
    batch = batch_of(ITEMS, INSERT, [[str(i), "a", "1"] for i in range(8)], statements=[0, 0, 0, 0, 0, 1, 1, 1])
    partition = np.array([2, 0, 2, 1, 0, 1, 1, 0])
    packed = cut(batch, canal_packing().events(batch), topic="t", partition=partition, key=None)
    assert packed.partition is not None
    starts = packed.starts.tolist()
    ids = column(packed.changes, 0)
    made = [(int(p), ids[a:b]) for p, a, b in zip(packed.partition, starts, starts[1:], strict=False)]
    assert made == [(2, [0, 2]), (0, [1, 4]), (1, [3]), (1, [5, 6]), (0, [7])]
    # the row that settles type codes is the event's last, wherever it went
    assert [ids[row] for row in packed.code_rows] == [4, 4, 4, 7, 7]


def test_cut_leaves_what_is_in_one_partition() -> None:
    batch = batch_of(ITEMS, INSERT, [[str(i), "a", "1"] for i in range(4)])
    packed = cut(batch, canal_packing().events(batch), topic="t", partition=np.zeros(4, dtype=np.int64), key=None)
    assert packed.changes is batch
    assert packed.starts.tolist() == [0, 4]
    assert packed.code_rows.tolist() == [3]


def canal_messages(*rows: Rows, n: int = 3) -> list[Message]:
    block = block_of(Case("", rows))
    return messages_of("canal-json,database_hash=off", "mysql-8.0", block, partitions=n)


def test_type_codes_of_a_cut_message_are_those_of_the_events_last_row() -> None:
    table = table_of("t", {"id": "int", "n": "tinyint unsigned"}, ["id"])
    messages = canal_messages(Rows(INSERT, table, [["1", "255"], ["2", "200"], ["4", "1"]]))
    # "1" is 49, "2" 50, "4" 52
    assert [message.partition for message in messages] == [1, 2]
    documents = [json.loads(message.value or b"") for message in messages]
    assert [[row["id"] for row in document["data"]] for document in documents] == [["1", "4"], ["2"]]
    assert [document["sqlType"] for document in documents] == [{"id": 4, "n": -6}] * 2
    assert [message.changes for message in messages] == [2, 1]


def test_cut_messages_stand_in_stream_order_whatever_else_a_block_holds() -> None:
    table = table_of("t", {"id": "int"}, ["id"])
    first = Rows(INSERT, table, [["2"], ["1"], ["5"], ["4"]])
    alone = [(message.order, message.partition) for message in canal_messages(first)]
    assert [(order.ordinal, partition) for order, partition in alone] == [(0, 2), (2, 1)]
    among = canal_messages(first, Rows(DELETE, table, [["9"]]))
    assert [(message.order, message.partition) for message in among[:-1]] == alone


def test_changed_columns_are_gathered_before_an_event_is_cut() -> None:
    table = table_of("t", {"id": "int", "a": "int", "b": "int"}, ["id"])
    old = [["1", "0", "0"], ["2", "0", "0"], ["4", "0", "0"]]
    messages = canal_messages(Rows(UPDATE, table, [["1", "9", "0"], ["2", "0", "9"], ["4", "0", "0"]], old))
    documents = [json.loads(message.value or b"") for message in messages]
    assert [document["old"] for document in documents] == [[{"a": "0"}, {"a": "0", "b": "0"}], [{"a": "0", "b": "0"}]]


def test_changed_columns_of_one_event_do_not_reach_the_next() -> None:
    table = table_of("t", {"id": "int", "a": "int", "b": "int"}, ["id"])
    new = [["1", "9", "0"], ["2", "0", "9"]]
    batch = batch_of(table, UPDATE, new, [["1", "0", "0"], ["2", "0", "0"]], statements=[0, 1])
    assert [json.loads(value)["old"] for value in encoded(codec_of("canal-json"), batch)] == [
        [{"a": "0"}],
        [{"b": "0"}],
    ]


# --------------------------------------------------------------------------------------------------------------- route


@each(
    [
        ("1", 2, 5, 11, 1),
        ("2", 1, 4, 10, 2),
        ("3", 0, 3, 9, 3),
        ("100", 0, 3, 3, 1),
        ("9223372036854775807", 2, 2, 2, 4),
    ]
)
def test_canal_partitions_by_key(key: str, of3: int, of6: int, of12: int, alone: int) -> None:
    batch = batch_of(ITEMS, INSERT, [[key, "a", "1"]])
    assert [partitions(router_of("canal-json", n), batch) for n in (3, 6, 12)] == [[of3], [of6], [of12]]
    assert partitions(router_of("canal-json,database_hash=off", 6), batch) == [alone]


@each([(None, 4, 0), ("", 4, 0), ("中文", 4, 2), ("1", 5, 1)])
def test_canal_partitions_by_columns(value: str | None, of6: int, alone: int) -> None:
    batch = batch_of(ITEMS, INSERT, [["77", value, "1"]])
    assert partitions(router_of("canal-json", 6, "columns:name"), batch) == [of6]
    assert partitions(router_of("canal-json,database_hash=off", 6, "columns:name"), batch) == [alone]


def test_canal_mixes_the_parts_of_a_key() -> None:
    rows = [["1", "2", "0"], ["2", "1", "0"], ["7", "7", "0"]]
    assert partitions(router_of("canal-json", 6), batch_of(PAIRS, INSERT, rows)) == [1, 1, 4]
    assert partitions(router_of("canal-json", 6, "columns:a,b"), batch_of(PAIRS, INSERT, rows)) == [1, 1, 4]


@each([("products", 2), ("orders", 3)])
def test_canal_partitions_by_table(name: str, of6: int) -> None:
    table = table_of(name, {"id": "int"}, ["id"], database="inventory")
    assert partitions(router_of("canal-json", 6, "table"), batch_of(table, INSERT, [["1"], ["2"]])) == [of6, of6]


def test_canal_routes_an_update_by_the_new_key_and_a_delete_by_the_old() -> None:
    router = router_of("canal-json", 6)
    assert partitions(router, batch_of(ITEMS, UPDATE, [["2", "a", "1"]], [["1", "a", "1"]])) == [4]
    assert partitions(router, batch_of(ITEMS, DELETE, [["1", "a", "1"]])) == [5]
    assert partitions(router, batch_of(ITEMS, READ, [["3", "a", "1"]])) == [3]


def test_canal_rows_without_a_key_go_by_the_database() -> None:
    rows = [["1", "1"], [None, None]]
    assert partitions(router_of("canal-json", 6), batch_of(LOOSE, INSERT, rows)) == [4, 4]
    assert partitions(router_of("canal-json,database_hash=off", 6), batch_of(LOOSE, INSERT, rows)) == [0, 0]


@each([3, 4, 6, 8, 12, 16, 24, 48])
def test_dts_partitions_by_key(n: int) -> None:
    router = router_of("dts-canal-json", n)
    # "1" is 49 and "2" is 50: partitions 1 and 2 for each of these n
    assert partitions(router, batch_of(ITEMS, INSERT, [["1", "a", "1"], ["2", "a", "1"]])) == [1, 2]


def test_dts_puts_the_parts_of_a_key_together_in_key_order() -> None:
    router = router_of("dts-canal-json", 1000)
    # the key is (b, a): "x1" is 120·31 + 49
    rows = [["1", "x", "0"], ["12", "x", "0"], ["2", "x1", "0"], [None, "x", "0"]]
    expected = [(120 * 31 + 49), ((120 * 31 + 49) * 31 + 50), ((120 * 31 + 49) * 31 + 50), 120]
    assert partitions(router, batch_of(PAIRS, INSERT, rows)) == [code % 1000 for code in expected]


def test_dts_masks_the_sign() -> None:
    # "polygenelubricants" hashes to the least int, and the mask leaves 0; "orders" to -1008770331
    rows = [["1", "polygenelubricants", "1"], ["2", "orders", "1"]]
    router = router_of("dts-canal-json", 1000, "columns:name")
    assert partitions(router, batch_of(ITEMS, INSERT, rows)) == [0, (-1008770331 & 0x7FFFFFFF) % 1000]
    # where Canal takes the magnitude
    router = router_of("canal-json,database_hash=off", 1000, "columns:name")
    assert partitions(router, batch_of(ITEMS, INSERT, rows)) == [648, 331]


def test_dts_routes_an_update_by_the_old_key() -> None:
    router = router_of("dts-canal-json", 3)
    assert partitions(router, batch_of(ITEMS, UPDATE, [["2", "a", "1"]], [["1", "a", "1"]])) == [1]
    assert partitions(router, batch_of(ITEMS, DELETE, [["2", "a", "1"]])) == [2]
    # a column that the update does not touch is its own old value
    batch = batch_of(ITEMS, UPDATE, [["2", "b", "1"]], [["2", "a", "1"]])
    assert batch.before is not None
    assert partitions(router, replace(batch, before=(None, *batch.before[1:]))) == [2]


def test_dts_rows_without_a_key_go_to_partition_0() -> None:
    assert partitions(router_of("dts-canal-json", 6), batch_of(LOOSE, INSERT, [["1", "1"], ["2", "2"]])) == [0, 0]


def java_hash(text: str) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code


def test_dts_partitions_by_database_and_table() -> None:
    router = router_of("dts-canal-json", 97, "table")
    expected = (java_hash("inventory.items") & 0x7FFFFFFF) % 97
    assert partitions(router, batch_of(ITEMS, INSERT, [["1", "a", "1"], ["2", "a", "1"]])) == [expected, expected]


@each(["canal-json", "dts-canal-json"])
def test_single_and_one_partition(format: str) -> None:
    batch = batch_of(ITEMS, INSERT, [["1", "a", "1"], ["2", "a", "1"]])
    assert partitions(router_of(format, 6, "single"), batch) == [0, 0]
    for route in ("key", "table", "columns:name"):
        assert partitions(router_of(format, 1, route), batch) == [0, 0]


def test_values_are_hashed_as_the_product_prints_them() -> None:
    table = table_of("t", {"d": "decimal(10,2)", "e": "enum('a','b')"}, ["d"])
    batch = batch_of(table, INSERT, [["5", "b"]])
    assert partitions(router_of("dts-canal-json", 1000), batch) == [java_hash("5.00") % 1000]
    assert partitions(router_of("canal-json,database_hash=off", 1000), batch) == [java_hash("5.0") % 1000]
    assert partitions(router_of("dts-canal-json", 1000, "columns:e"), batch) == [java_hash("b") % 1000]
    assert partitions(router_of("canal-json,database_hash=off", 1000, "columns:e"), batch) == [java_hash("2") % 1000]


def test_a_table_that_lacks_the_columns_is_keyless() -> None:
    batch = batch_of(LOOSE, INSERT, [["1", "1"]])
    assert partitions(router_of("dts-canal-json", 6, "columns:nope"), batch) == [0]
    assert partitions(router_of("canal-json", 6, "columns:nope"), batch) == [4]
    assert router_of("dts-canal-json", 6, "columns:nope,v").columns(LOOSE) == (1,)


def statement(before: Table | None, after: Table | None, kind: SchemaChangeKind) -> SchemaChange:
    (event,) = block_of(Case("", (Ddl(kind, "…", before, after, "inventory"),))).events
    assert isinstance(event, SchemaChange)
    return event


CREATED: Final = statement(None, None, SchemaChangeKind.CREATE_DATABASE)
ALTERED: Final = statement(ITEMS, ITEMS, SchemaChangeKind.ADD_COLUMN)
DROPPED: Final = statement(ITEMS, None, SchemaChangeKind.DROP_TABLE)


@pytest.mark.parametrize("route", ["single", "table", "key", "columns:name"])
@pytest.mark.parametrize("change", [CREATED, ALTERED, DROPPED])
def test_canal_statements_go_to_partition_0(change: SchemaChange, route: str) -> None:
    assert router_of("canal-json", 97, route).event(change) == [(change, Address("example", (0,)))]


@each([ALTERED, DROPPED])
def test_dts_statements_go_with_their_table_under_the_table_policy(change: SchemaChange) -> None:
    rows = partitions(router_of("dts-canal-json", 97, "table"), batch_of(ITEMS, INSERT, [["1", "a", "1"]]))
    assert rows != [0]
    for route, goes_to in (("table", tuple(rows)), ("single", (0,)), ("key", (0,)), ("columns:name", (0,))):
        assert router_of("dts-canal-json", 97, route).event(change) == [(change, Address("dts", goes_to))]


def test_dts_statements_about_no_table_go_to_partition_0() -> None:
    assert router_of("dts-canal-json", 97, "table").event(CREATED) == [(CREATED, Address("dts", (0,)))]


def test_topics() -> None:
    assert router_of("canal-json", 3).topics.of(TableId("shop", "items", "")) == "example"
    assert router_of("dts-canal-json", 3).topics.of(TableId("shop", "items", "")) == "dts"
    router = router_of("canal-json", 3, topic="cdc.{database}.{table}")
    assert router.changes(batch_of(ITEMS, INSERT, [["1", "a", "1"]])).topic == "cdc.inventory.items"
    for event, topic in ((ALTERED, "cdc.inventory.items"), (CREATED, "cdc.inventory.ddl")):
        assert [address.topic for _, address in router.event(event)] == [topic]


def test_partitions_of_a_topic_are_asked_once() -> None:
    asked: list[str] = []

    def count(topic: str) -> int:
        asked.append(topic)
        return {"inventory.items": 3, "inventory.loose": 6}[topic]

    codec = codec_of("canal-json")
    router = Router(codec.layout.routing, Route("key"), "{database}.{table}", count, codec.layout.writer.text)
    for _ in range(2):
        assert partitions(router, batch_of(ITEMS, INSERT, [["1", "a", "1"]])) == [2]
        assert partitions(router, batch_of(LOOSE, INSERT, [["1", "1"]])) == [4]
    assert asked == ["inventory.items", "inventory.loose"]


@each(
    [
        (None, Route("key")),
        ("single", Route("single")),
        ("table", Route("table")),
        ("columns:customer_id,region", Route("columns", ("customer_id", "region"))),
        ("columns: a , b", Route("columns", ("a", "b"))),
    ]
)
def test_routes(text: str | None, route: Route) -> None:
    assert parse_route(text, codec_of("canal-json").layout.routing) == route


@each(
    [
        ("tables", "--route tables: the product's policies are key, single, table, columns. Did you mean 'table'?"),
        ("columns", "--route columns: write the columns after a colon: --route columns:customer_id,region."),
        ("columns:,", "--route columns:,: write the columns after a colon: --route columns:customer_id,region."),
        ("key:id", "--route key:id: only the policy 'columns' takes columns: --route columns:customer_id,region."),
    ]
)
def test_routes_that_cannot_be(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_route(text, codec_of("canal-json").layout.routing)
    assert str(raised.value) == sentence


# ------------------------------------------------------------------------------------------------------------ recorded


def captured(name: str) -> list[bytes]:
    path = Path(__file__).parents[1] / "captures" / "canal" / f"{name}.gz"
    return gzip.decompress(path.read_bytes()).removesuffix(b"\n").split(b"\n")


def test_recorded_partitions() -> None:
    """Canal 1.1.8 with `partitionHash=.*\\..*:$pk$` and three partitions: each row where it was recorded."""
    run = "1.1.8-mysql8.0.31-partition-regex"
    router = router_of("canal-json", 3)
    rows = 0
    for line, meta in zip(captured(f"{run}.jsonl"), captured(f"{run}.meta.jsonl"), strict=True):
        document, partition = json.loads(line), json.loads(meta)["partition"]
        if document["isDdl"]:
            assert partition == 0
            continue
        name, database = document["table"], document["database"]
        table = table_of(name, document["mysqlType"], document["pkNames"] or (), database=database)
        kind = {"INSERT": INSERT, "UPDATE": UPDATE, "DELETE": DELETE}[document["type"]]
        before = None
        if kind is UPDATE:
            before = [{**new, **old} for new, old in zip(document["data"], document["old"], strict=True)]
        batch = batch_of(table, kind, document["data"], before)
        assert set(partitions(router, batch)) == {partition}, line
        rows += len(batch)
    assert rows > 150


def test_packed_bytes_are_those_of_the_type_system() -> None:
    packing = canal_packing()
    assert isinstance(packing, RowsEvents)
    batch = batch_of(MANY, INSERT, [["1", LONG], ["2", None]])
    measure: Callable[..., Any] = packing.row_bytes
    assert measure(MANY.columns, batch.image()).tolist() == [107, 5]
    assert measure is mysql_row_bytes.packed_row_bytes
    assert [packing.header(2, 1), packing.header(9, 2)] == [12, 15]


# ------------------------------------------------------------------------------------------------- transaction marks


def test_marks_stand_before_and_behind_the_changes_of_each_transaction() -> None:
    batches = [
        batch_of(ITEMS, INSERT, [["1", "a", "1"], ["2", "b", "2"]], turn=4, txn=9, offset=1001),
        batch_of(ITEMS, INSERT, [["3", "c", "3"]], turn=5, txn=9, offset=1011),
        batch_of(ITEMS, INSERT, [["4", "d", "4"]], turn=6, txn=10, offset=1021),
        batch_of(ITEMS, READ, [["5", "e", "5"]], phase=0, turn=0, txn=-1, offset=7),
    ]
    begin, commit = (marks(batches, kind, "inventory") for kind in (BEGIN, COMMIT))
    assert begin is not None
    assert commit is not None
    for marked, places in ((begin, [(4, -1), (6, -1)]), (commit, [(5, 2), (6, 2)])):
        assert list(zip(marked.envelope.turn.tolist(), marked.envelope.ordinal.tolist(), strict=True)) == places
        assert marked.envelope.txn.tolist() == [9, 10]
        assert (str(marked.table.id), marked.image()) == ("inventory", ())
    assert begin.envelope.offset.tolist() == [1000, 1020]
    assert commit.envelope.offset.tolist() == [1013, 1023]
    assert marks(batches[3:], BEGIN, "inventory") is None
