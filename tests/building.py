"""Literals to tables, batches and messages, for tests of formats and delivery."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache, partial
from types import MappingProxyType, SimpleNamespace
from typing import Final, cast

import numpy as np
import pyarrow as pa

from simulator import sources
from simulator.batch import ChangeBatch, Envelope, Ints
from simulator.delivery.pack import cut
from simulator.delivery.parts import assembled
from simulator.delivery.router import parse_route
from simulator.errors import OptionError
from simulator.formats import open_codec
from simulator.formats.format import Broker, Codec
from simulator.formats.options import parse_format
from simulator.model import (
    DELETE,
    READ,
    Column,
    ColumnType,
    Event,
    Heartbeat,
    Kind,
    Message,
    OrderKey,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableVersions,
    UniqueKey,
)
from simulator.run.render import Renderer
from simulator.split import split
from simulator.stream.engine.block import Block, Stream

# A row as a scenario would write it: a literal for each column in table order, or for some by name (others are null).
Row = Sequence[str | None] | Mapping[str, str | None]

EVENT_MS: Final = 1_700_000_000_000
WRITE_MS: Final = 1_700_000_000_350
# When the transaction before a case's was committed.
PREVIOUS_MS: Final = 1_699_999_999_650


def new_codec(text: str, source: str = "mysql-8.0") -> Codec:
    """`new_codec("canal-json,version=1.1.5", "mysql-5.7")`, also where the product does not offer that; with the kind
    of broker behind it: `cloudcanal-json to rocketmq`."""
    format, _, broker = text.partition(" to ")
    return open_codec(format, sources.find(source), broker=cast(Broker, broker or "kafka"), allow_undocumented=True)


def with_effect(text: str, source: str) -> str:
    """The format without the options that have no effect on the source, and are refused there."""
    name, given = parse_format(text)
    kept = name
    for option, value in given.items():
        with suppress(OptionError):
            codec_of(f"{kept},{option}={value}", source)
            kept += f",{option}={value}"
    return kept


# One for all tests: a codec holds no state (`formats/test_contract.py`).
codec_of: Final = cache(new_codec)


def table_of(
    name: str,
    columns: Mapping[str, str],
    key: Sequence[str] = (),
    *,
    database: str = "shop",
    schema: str | None = None,
    version: int = 0,
    source: str = "mysql",
    unique: Mapping[str, Sequence[str]] = MappingProxyType({}),
    not_null: Sequence[str] = (),
) -> Table:
    """A table of typed columns: `table_of("t", {"id": "bigint unsigned", "note": "text"}, ["id"])`."""
    types = sources.find(source)
    required = {*key, *not_null}
    made = tuple(Column(c, types.parse_type(type), nullable=c not in required) for c, type in columns.items())
    keys = tuple(UniqueKey(index, tuple(names)) for index, names in unique.items())
    return Table(types.table_id(database, name, schema), made, tuple(key), version, keys)


def image_of(table: Table, rows: Sequence[Row], source: str = "mysql") -> tuple[pa.Array, ...]:
    """Rows of literals as carrier columns."""
    whole = [tuple(row.get(c.name) for c in table.columns) if isinstance(row, Mapping) else tuple(row) for row in rows]
    assert all(len(row) == len(table.columns) for row in whole)
    return tuple(carrier_of(source, c.type, tuple([row[i] for row in whole])) for i, c in enumerate(table.columns))


@lru_cache(maxsize=20_000)
def carrier_of(source: str, type: ColumnType, literals: tuple[str | None, ...]) -> pa.Array:
    """Parsed once: many formats write the same values."""
    return sources.find(source).parse_values(list(literals), type)


def batch_of(
    table: Table,
    kind: Kind,
    rows: Sequence[Row],
    old: Sequence[Row] | None = None,
    *,
    phase: int = 1,
    turn: int = 0,
    ordinal: int = 0,
    statements: Sequence[int] | None = None,
    txn: int = 1,
    offset: int = 101,
    event_ms: int = EVENT_MS,
    write_ms: int = WRITE_MS,
    source: str = "mysql",
) -> ChangeBatch:
    """One kind of change of these rows; `old` are the before images of an update. All in one transaction."""
    count = len(rows)
    steps = np.arange(count, dtype=np.int64)
    every = np.ones(count, dtype=np.int64)
    envelope = Envelope(
        phase=phase,
        turn=every * turn,
        ordinal=ordinal + 2 * steps,
        statement=0 * every if statements is None else np.array(statements, dtype=np.int64),
        txn=every * txn,
        seq=steps + 1,
        size=every * count,
        offset=offset + 2 * steps,
        event_ms=every * event_ms,
        write_ms=every * write_ms,
    )
    image = image_of(table, rows, source)
    numbers = partial(numbers_of, table, rows if old is None else old)
    if kind is DELETE:
        return ChangeBatch(table, kind, envelope, None, image, row_numbers=numbers)
    before = None if old is None else image_of(table, old, source)
    return ChangeBatch(table, kind, envelope, image, before, row_numbers=numbers)


def numbers_of(table: Table, rows: Sequence[Row]) -> Ints:
    """Rows that begin with the same key literals have the same number: the key itself, if it is one whole number."""

    def number(row: Row) -> int:
        cells = [row.get(c.name) if isinstance(row, Mapping) else row[i] for i, c in enumerate(table.columns)]
        key = [cells[i] for i in table.key_positions] or cells
        return int(key[0]) if len(key) == 1 and str(key[0]).isdigit() else zlib.crc32(repr(key).encode())

    return np.array([number(row) for row in rows], dtype=np.int64)


def encoded(codec: Codec, batch: ChangeBatch) -> list[bytes]:
    """The values of the messages that a batch makes, all in one partition: written with their block, as in a run."""
    packed = cut(batch, codec.layout.packing.events(batch), topic="t", partition=None, key=None)
    return assembled(list(codec.messages(packed)))["value"].to_pylist()


# ---------------------------------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Rows:
    """A statement, or several: rows of one table that are changed in one way. `old`: the rows before an update.

    `statements` numbers the statement of each row; left out, all rows are changed by one.
    """

    kind: Kind
    table: Table
    rows: Sequence[Row]
    old: Sequence[Row] | None = None
    statements: Sequence[int] | None = None


@dataclass(frozen=True)
class Ddl:
    """A DDL statement about a table, as it was before and is after; about a database where there is neither."""

    kind: SchemaChangeKind
    sql: str
    before: Table | None = None
    after: Table | None = None
    database: str = "shop"
    more: tuple[TableVersions, ...] = ()


@dataclass(frozen=True)
class Beat:
    """A heartbeat."""


@dataclass(frozen=True)
class Times:
    """What a case's transaction is numbered, and when it was."""

    txn: int = 7
    offset: int = 101
    event_ms: int = 1_700_000_000_789
    write_ms: int = 1_700_000_001_012


@dataclass(frozen=True)
class Case:
    """A named change, or several of one transaction."""

    name: str
    steps: tuple[Rows | Ddl | Beat, ...]
    times: Times = Times()
    source: str = "mysql"


def block_of(case: Case, log: str = "") -> Block:
    """A case as a stream hands it on: one turn, one transaction; `log`: what the source's log holds of rows."""
    batches: list[ChangeBatch] = []
    events: list[Event] = []
    times = asdict(case.times)
    ordinal, statement, seq = 0, 0, 0
    size = sum(len(step.rows) for step in case.steps if isinstance(step, Rows))
    for step in case.steps:
        if isinstance(step, Rows):
            numbers = [statement + n for n in step.statements or [0] * len(step.rows)]
            batch = batch_of(
                step.table,
                step.kind,
                step.rows,
                step.old,
                phase=0 if step.kind is READ else 1,
                ordinal=ordinal,
                statements=numbers,
                source=case.source,
                **{**times, "offset": case.times.offset + ordinal},
            )
            envelope = replace(batch.envelope, seq=batch.envelope.seq + seq, size=0 * batch.envelope.size + size)
            batches.append(replace(batch, envelope=envelope))
            seq += len(step.rows)
            ordinal += 2 * len(step.rows)
            statement = max(numbers) + 1
        else:
            at = {"order": OrderKey(1, 0, ordinal), **times, "offset": case.times.offset + ordinal}
            if isinstance(step, Ddl):
                events.append(SchemaChange(**at, **{f.name: getattr(step, f.name) for f in fields(step)}))
            else:
                events.append(Heartbeat(**at))
            ordinal += 2
    if log:
        batches = [part for batch in batches for part in sources.find(case.source).logged(batch, log)]
    return Block(0, 1, tuple(batches), tuple(events), sum(len(batch) for batch in batches))


def stream_of_no_scenario(previous_ms: int = PREVIOUS_MS) -> Stream:
    """What a renderer asks of a stream, for blocks that are made by hand."""
    stream = SimpleNamespace(database="shop", names_at_start=(), delay=None, border=lambda turn: turn, block_turns=256)
    stream.previous_ms = lambda turns: np.full(len(turns), previous_ms)
    return cast(Stream, stream)


def messages_of(
    format: str,
    source: str,
    block: Block,
    *,
    route: str | None = None,
    partitions: int = 1,
    previous_ms: int = PREVIOUS_MS,
) -> list[Message]:
    """The messages of a block, as the pipeline makes them; the transaction before was committed at `previous_ms`."""
    codec = codec_of(format, source)
    if sources.find(source).key_is_fixed:  # as streams of the source have it
        halves = [half for batch in block.batches for half in split(batch, batch.table.key_positions)]
        block = replace(block, batches=tuple(halves))
    parsed = parse_route(route, codec.layout.routing)
    made = Renderer(stream_of_no_scenario(previous_ms), codec, parsed, None, lambda topic: partitions).render(block)
    return [] if made is None else list(made.messages())
