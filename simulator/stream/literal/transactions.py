"""Literal transactions, which a YAML script or the SQL engine passes to a stream, turn by turn.

A row is a tuple of cells, one for each column of its table. The front end defines the cells: the stream only
compares them and asks for them as columns (`LiteralStream.column`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.model import Header, Kind, SchemaChangeKind, StatementKind, Table, TableVersions

Row = tuple[Any, ...]
# Positions of the columns that an image holds; None: all of them.
Positions = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row before and after a change. `number` is its permanent number (`ChangeBatch.row_numbers`); adjacent changes
    with equal `run` may share a rows event; `logged_before` and `logged_after` are the columns in the log's images.
    """

    table: Table
    kind: Kind
    before: Row | None
    after: Row | None
    number: int
    run: int
    ms: int
    logged_before: Positions = None
    logged_after: Positions = None


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table version and its rows by number. `text`: its CREATE TABLE as the server prints it, if known."""

    table: Table
    rows: dict[int, Row]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ddl:
    """A DDL statement as logged; the first table that it is about, as it was and is; `kinds` of all its items, () for
    the one; `more` tables; `rows` are all rows of the tables whose rows it changed, as they are after it."""

    kind: SchemaChangeKind
    database: str
    before: Table | None
    after: Table | None
    sql: str
    ms: int
    kinds: tuple[SchemaChangeKind, ...] = ()
    more: tuple[TableVersions, ...] = ()
    rows: tuple[TableRows, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A statement, or an entry before one, that is logged as text."""

    kind: StatementKind
    database: str
    table: str
    sql: str
    ms: int


Entry = RowChange | Ddl | Text


@dataclass(frozen=True, slots=True)
class Transaction:
    """A turn of a script: entries that were committed together, or a heartbeat. Neither has a number: it is no
    transaction of the log (a DDL statement that the system does not log, say).

    `header` is what the server logs of it, where the front end knows that.
    """

    entries: tuple[Entry, ...]
    ms: int
    heartbeat: bool = False
    header: Header | None = None
