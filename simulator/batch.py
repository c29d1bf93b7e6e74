"""Columnar forms: changes from the stream (`ChangeBatch`) and messages for sinks (`MessageBatch`)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from simulator.carriers import storage
from simulator.model import ABSENT, FIRST_LIFE, SECOND_NUMBERS, Absent, Kind, Life, Message, OrderKey, Table, TableId

Ints = npt.NDArray[np.int64]


class Border(enum.IntFlag):
    """Borders of a snapshot: the first and last row of all, and of each table."""

    FIRST = 1
    TABLE_FIRST = 2
    TABLE_LAST = 4
    LAST = 8


@dataclass(frozen=True, slots=True)
class Envelope:
    """Metadata of changes besides their images: one NumPy int64 array per field, all of the same length.

    `ordinal` numbers the row changes inside a turn in steps of two (a split puts its insert on the odd number);
    `statement` numbers the statements inside a turn: rows with equal (turn, statement) were changed by one statement.
    `txn` is the dense number of the transaction; `seq` the change's place in it, from 1, and `size` the changes in it;
    a transaction's BEGIN has the place 0, its COMMIT size + 1.
    `offset` is a number of the change that rises strictly along the stream, with gaps: what products make ids, log
    offsets and sequence numbers of. `event_ms` is the commit time of the transaction at the source, `write_ms` when the
    product wrote it (epoch ms, UTC).

    `in_second` numbers the changes that commit in one second, with gaps: what products put behind a timestamp to sort
    by. A second with more than `SECOND_NUMBERS` of them runs over into the next, so that seconds · SECOND_NUMBERS +
    in_second rises strictly along the stream. Left out, it follows `offset`.

    `txn_in_second`, where the log has one position for all changes of a transaction (`Log.one_a_transaction`), is
    `in_second` of the first of them. `header`, where the stream knows it, is what the server logs of the change's
    transaction: an array of `simulator.model.TransactionHeader`. `counted` are `place` and `places` where a product
    counts otherwise than the stream, and `place_in_table` the change's place among those of its table in its
    transaction, from 1, where it counts these (`simulator.delivery.counts`).

    `row`, where a product asks for it, is the number of the row in its event of the log, from 0; None: all are 0.

    `query`, where a product asks for it, is the text of the statement that made the change, None if it is unknown.

    `borders` are those of its snapshot at which a row stands, bits of `Border`; None of all that is no snapshot.

    `statement_ms` is when the change's statement began, where the source's log has that (`Source.logs_statement_times`)
    and it is not the time of the commit.

    `life` is that of the product's process which writes the changes.
    """

    phase: int
    turn: Ints
    ordinal: Ints
    statement: Ints
    txn: Ints
    seq: Ints
    size: Ints
    offset: Ints
    event_ms: Ints
    write_ms: Ints
    in_second: Ints = None  # type: ignore[assignment]
    txn_in_second: Ints | None = None
    header: npt.NDArray[Any] | None = None
    counted: Ints | None = None
    place_in_table: Ints | None = None
    statement_ms: Ints | None = None
    row: Ints | None = None
    query: npt.NDArray[Any] | None = None
    borders: Ints | None = None
    life: Life = FIRST_LIFE

    ARRAYS = ("turn", "ordinal", "statement", "txn", "seq", "size", "offset", "event_ms", "write_ms", "in_second")
    SOME = ("txn_in_second", "header", "place_in_table", "statement_ms", "row", "query", "borders")

    def __post_init__(self) -> None:
        if self.in_second is None:
            object.__setattr__(self, "in_second", self.offset % SECOND_NUMBERS)

    def take(self, rows: Ints) -> Envelope:
        arrays = {name: getattr(self, name)[rows] for name in Envelope.ARRAYS}
        arrays |= {name: array[rows] for name in Envelope.SOME if (array := getattr(self, name)) is not None}
        return replace(self, counted=None if self.counted is None else self.counted[:, rows], **arrays)

    @property
    def logged_ms(self) -> Ints:
        """The time of the change in the source's log: of its statement where the log has that, else of the commit."""
        return self.event_ms if self.statement_ms is None else self.statement_ms

    @property
    def place(self) -> Ints:
        """The change's place in its transaction, from 1, as the product counts."""
        return self.seq if self.counted is None else self.counted[0]

    @property
    def places(self) -> Ints:
        """The changes in its transaction, as the product counts."""
        return self.size if self.counted is None else self.counted[1]


@dataclass(frozen=True, slots=True)
class Delta:
    """The old values of a column in some rows of an update: `rows` (ascending places in the batch) and their `values`.

    In all other rows the old value is the new one. The values at `rows` need not differ from the new ones.
    """

    rows: Ints
    values: pa.Array

    def slots(self, count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Two numbers for each of `count` rows of the batch: its own, -1 where it is one of `rows`; and its number
        among `rows`, -1 where it is none."""
        same, changed = np.arange(count, dtype=np.int32), np.full(count, -1, dtype=np.int32)
        same[self.rows] = -1
        changed[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return same, changed


# A column of an update's before image: the whole column; the rows that may differ; None if equal to the after image;
# ABSENT if the log did not hold it.
Before: TypeAlias = pa.Array | Delta | Absent | None


@dataclass(frozen=True, slots=True)
class LoggedColumns:
    """Indexes of the columns that images in the source's log hold, ascending; None: all of them."""

    before: tuple[int, ...] | None
    after: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class TableCounts:
    """The changes of transactions by table: transaction i has the entries `starts[i]` to `starts[i + 1]`, in the order
    of the tables' first changes. Entry e: `changes[e]` changes of `tables[table[e]]`."""

    tables: tuple[TableId, ...]
    table: Ints
    changes: Ints
    starts: Ints

    def take(self, rows: Ints) -> TableCounts:
        """The counts of some transactions."""
        starts, entries = ranges(self.starts[rows], np.diff(self.starts)[rows])
        return replace(self, table=self.table[entries], changes=self.changes[entries], starts=starts)


def ranges(first: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """The indexes at which ranges of these sizes begin, with their end, and the numbers in the ranges, each of which
    counts from its `first`.

    >>> [numbers.tolist() for numbers in ranges(np.array([7, 3]), np.array([2, 1]))]
    [[0, 2, 3], [7, 8, 3]]
    """
    starts: Ints = np.concatenate([[0], np.cumsum(sizes)])
    return starts, np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes of one table version and one kind, in stream order. Images are Arrow columns in table order.

    READ and INSERT have `after`, DELETE has `before` (whole arrays), UPDATE has `after` and `before`, the latter
    per column as `Before` says. `counterpart`, in the halves of a split update, is the image of the other half:
    the row after it for a DELETE, the row before it for an INSERT.

    `row_numbers` gives the number of each change's row, which a row keeps as long as it lives; computed on demand,
    not for marks. `logged`: the columns that the images in the log hold, if they lack some; images here are complete.

    `counts`: of COMMIT marks, where the product counts them, the changes of their transactions by table.

    `typed_json` is the same batch with JSON documents that distinguish dates and decimals from strings and doubles (see
    `sources.mysql.typed_json`), where that differs from their text.
    """

    table: Table
    kind: Kind
    envelope: Envelope
    after: tuple[pa.Array, ...] | None
    before: tuple[Before, ...] | None
    counterpart: tuple[pa.Array, ...] | None = None
    typed_json: ChangeBatch | None = None
    logged: LoggedColumns | None = None
    row_numbers: Callable[[], Ints] | None = None
    counts: TableCounts | None = None

    def __len__(self) -> int:
        return len(self.envelope.turn)

    def image(self) -> tuple[pa.Array, ...]:
        """The changed row: the after image, or the before image of a delete."""
        columns = self.after if self.after is not None else self.before
        assert columns is not None
        return columns

    def full_before(self, column: int) -> pa.Array:
        """A column of the before image as a whole array."""
        assert self.before is not None
        old = self.before[column]
        if isinstance(old, pa.Array):
            return old
        assert self.after is not None
        new = self.after[column]
        if isinstance(old, Absent):
            return pa.nulls(len(new), new.type)
        return new if old is None else scatter(new, old)

    def take(self, rows: Ints) -> ChangeBatch:
        """The given rows in the given order: distinct, not necessarily ascending."""
        index = pa.array(rows)
        after = None if self.after is None else tuple(column.take(index) for column in self.after)
        before: tuple[Before, ...] | None = None
        if self.before is not None:
            before = tuple(
                old if old is None or old is ABSENT else self.full_before(i).take(index)
                for i, old in enumerate(self.before)
            )
        counterpart = None if self.counterpart is None else tuple(column.take(index) for column in self.counterpart)
        return replace(
            self,
            envelope=self.envelope.take(rows),
            after=after,
            before=before,
            counterpart=counterpart,
            typed_json=None,
            counts=None if self.counts is None else self.counts.take(rows),
            row_numbers=None if self.row_numbers is None else partial(_numbers_of_rows, self.row_numbers, rows),
        )

    @property
    def moved(self) -> bool:
        """Whether these are halves of split updates."""
        return self.counterpart is not None


def _numbers_of_rows(row_numbers: Callable[[], Ints], rows: Ints) -> Ints:
    return row_numbers()[rows]


def scatter(base: pa.Array, delta: Delta) -> pa.Array:
    """`base` with `delta.values` at `delta.rows`."""
    values = delta.values
    if pa.types.is_dictionary(base.type) and base.type == values.type:
        dictionary = base.dictionary
        if _same_memory(dictionary, values.dictionary):
            indices = scatter(base.indices, Delta(delta.rows, values.indices))
            return pa.DictionaryArray.from_arrays(indices, dictionary, safe=False)
    base, values = decoded(base), decoded(values)
    plain = pa.types.is_primitive(base.type) and base.type == values.type and base.type.bit_width >= 8
    if plain and not base.null_count + values.null_count:
        raw = _raw(base).copy()
        raw[delta.rows] = _raw(values)
        return pa.Array.from_buffers(base.type, len(base), [None, pa.py_buffer(raw)], 0)
    index = np.arange(len(base), dtype=np.int64)
    index[delta.rows] = np.arange(len(base), len(base) + len(values))
    return pa.concat_arrays([base, values]).take(pa.array(index))


def _raw(array: pa.Array) -> npt.NDArray[np.signedinteger[Any]]:
    """The memory of a primitive array, as integers of its width."""
    dtype = np.dtype(f"i{array.type.bit_width // 8}")
    return np.frombuffer(array.buffers()[1], dtype, len(array) + array.offset)[array.offset :]


def _same_memory(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays share their memory; equal contents do not count."""
    return _place(one) == _place(other)


def _place(array: pa.Array) -> tuple[int, int, list[int | None]]:
    addresses = [None if buffer is None else buffer.address for buffer in array.buffers()]
    return len(array), array.offset, addresses


def decoded(array: pa.Array) -> pa.Array:
    """The plain array behind a dictionary array; any other array as it is."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


HEADERS: Final = pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())]))

MESSAGE_SCHEMA: Final = pa.schema(
    [
        pa.field("phase", pa.int8(), nullable=False),
        pa.field("turn", pa.int64(), nullable=False),
        pa.field("ordinal", pa.int64(), nullable=False),
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("changes", pa.int32(), nullable=False),  # row changes in the message, counted before splitting
        pa.field("topic", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("partition", pa.int32()),  # null: the client decides by the key
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),  # null: a tombstone
        pa.field("headers", HEADERS),
        pa.field("tag", pa.string()),  # RocketMQ tag or RabbitMQ routing key
        pa.field("timestamp_ms", pa.int64()),
    ]
)


_KINDS: Final = tuple(Kind)  # by number, without the enum's call


@dataclass(frozen=True, slots=True)
class MessageBatch:
    """Messages in stream order: an Arrow record batch with `MESSAGE_SCHEMA`. Sinks and files exchange these."""

    columns: pa.RecordBatch

    @classmethod
    def of(cls, count: int, **columns: Any) -> MessageBatch:
        """A batch from some of the schema's columns; the rest is null."""
        arrays = [
            columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in MESSAGE_SCHEMA
        ]
        return cls(pa.RecordBatch.from_arrays(arrays, schema=MESSAGE_SCHEMA))

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def __getitem__(self, name: str) -> pa.Array:
        return self.columns.column(name)

    @property
    def changes(self) -> int:
        """Row changes in all messages."""
        return int(pc.sum(self["changes"]).as_py() or 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return int(pc.sum(pc.binary_length(self["value"])).as_py() or 0)

    def order_key(self, row: int) -> OrderKey:
        return OrderKey(*(self[name][row].as_py() for name in ("phase", "turn", "ordinal")))

    def messages(
        self, steps: Mapping[int, str] = MappingProxyType({}), reader: Callable[[bytes], Any] | None = None
    ) -> Iterator[Message]:
        """One `Message` per row, for people and tests. `steps` gives the step of each turn that has one, `reader` reads
        values that are not text."""
        # column by column, five times as fast as Arrow's rows as dicts
        names = (
            "phase", "turn", "ordinal", "kind", "changes", "topic", "partition", "key", "value", "headers", "tag",
            "timestamp_ms",
        )  # fmt: skip
        for phase, turn, ordinal, kind, changes, topic, partition, key, value, headers, tag, timestamp_ms in zip(
            *(_objects(self[name]) for name in names), strict=True
        ):
            yield Message(
                order=OrderKey(phase, turn, ordinal),
                kind=_KINDS[kind],
                changes=changes,
                topic=topic,
                partition=partition,
                key=key,
                value=value,
                headers=tuple((header["name"], header["value"]) for header in headers or ()),
                tag=tag,
                timestamp_ms=timestamp_ms,
                # events before a turn's changes do not belong to its step
                step=steps.get(turn) if phase == 1 and ordinal >= 0 else None,
                reader=reader,
            )

    def slice(self, offset: int, length: int | None = None) -> MessageBatch:
        return MessageBatch(self.columns.slice(offset, length))


def _objects(column: pa.Array) -> list[Any]:
    """The values of a column as Python's, equal to those of `to_pylist`, which calls Arrow for each."""
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_dictionary(column.type):
        values = column.dictionary.to_pylist()
        return [None if index is None else values[index] for index in _objects(column.indices)]
    whole_numbers = pa.types.is_integer(column.type)  # with nulls NumPy would convert them to floats
    if pa.types.is_nested(column.type) or (whole_numbers and column.null_count):
        return list(column.to_pylist())
    return list(column.to_numpy(zero_copy_only=False).tolist())


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Changes of one kind and table cut into messages: message i has the rows `starts[i]` to `starts[i + 1]`.

    Facts that a product decides per rows event, before it cuts the event by partition: `code_rows[i]` is the
    row whose type codes message i has (the last of its event), and `changed` says for each column of an update in which
    rows it counts as changed (ascending; None: in none). `partition` is per message, None where the client decides.
    """

    changes: ChangeBatch
    starts: Ints
    code_rows: Ints
    changed: tuple[Ints | None, ...] | None
    topic: str
    partition: Ints | None
    key: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def single(self) -> bool:
        """One row in each message."""
        return len(self) == len(self.changes)


def differing(new: pa.Array, old: pa.Array) -> npt.NDArray[np.bool_]:
    """Mask of the rows in which two columns of carriers differ; null differs from everything but null.

    Floats are compared by their bits: -0.0 and 0.0 print differently.
    """
    new, old = storage(decoded(new)), storage(decoded(old))
    if pa.types.is_floating(new.type):
        same = np.dtype(f"i{new.type.bit_width // 8}")
        unequal: npt.NDArray[np.bool_] = np.asarray(new.fill_null(0)).view(same) != np.asarray(old.fill_null(0)).view(
            same
        )
    else:
        unequal = np.asarray(pc.not_equal(new, old).fill_null(False))
    if new.null_count or old.null_count:
        unequal = unequal | (np.asarray(new.is_null()) != np.asarray(old.is_null()))
    return unequal


def changed_rows(batch: ChangeBatch, column: int) -> Ints | None:
    """The rows of an update in which a column's values differ, ascending; None if there are none."""
    assert batch.before is not None
    assert batch.after is not None
    old, new = batch.before[column], batch.after[column]
    if old is None or old is ABSENT:
        return None
    if isinstance(old, Delta):
        rows = old.rows[differing(new.take(pa.array(old.rows)), old.values)]
    else:
        rows = np.flatnonzero(differing(new, old))
    return rows if len(rows) else None
