"""Single objects: table, column, kind of event, DDL statement, message. `batch.py` has the columnar forms."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias


class Kind(enum.IntEnum):
    """Kinds of events in the stream. The first four change or show rows and are columnar; the others are marks or rare.

    A format declares fields for each of them, or declares it silent. `READ` is a snapshot row (INIT, ROW, `r` …).
    `STATEMENT` is a statement's text in the source's log, which only products that copy that log send: a format that
    does not name it is silent.
    """

    READ = 0
    INSERT = 1
    UPDATE = 2
    DELETE = 3
    DDL = 4
    BEGIN = 5
    COMMIT = 6
    HEARTBEAT = 7
    STATEMENT = 8


READ, INSERT, UPDATE, DELETE = Kind.READ, Kind.INSERT, Kind.UPDATE, Kind.DELETE
DDL, BEGIN, COMMIT, HEARTBEAT = Kind.DDL, Kind.BEGIN, Kind.COMMIT, Kind.HEARTBEAT
STATEMENT: Final = Kind.STATEMENT
ROW_KINDS: Final = (READ, INSERT, UPDATE, DELETE)
# Transaction marks: columnar like rows, but they belong to no table.
MARKS: Final = (BEGIN, COMMIT)


class Absent(enum.Enum):
    """A field or column that does not exist, as opposed to null (None) and empty."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class TableId:
    """`database.schema.name`; MySQL-like systems have no schema (empty)."""

    database: str
    name: str
    schema: str = ""

    def __str__(self) -> str:
        return ".".join(part for part in (self.database, self.schema, self.name) if part)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """One type of one source's type system.

    `name` is the system's canonical lower-case name (`bigint`, `varchar`, `enum`); `length` and `scale` are its
    arguments (decimal: precision and scale; datetime: fraction digits in `length`); `labels` belong to enum and set.
    """

    name: str
    length: int | None = None
    scale: int | None = None
    unsigned: bool = False
    zerofill: bool = False
    charset: str | None = None
    labels: tuple[str, ...] = ()
    spelled: str = ""  # the type as typed in the DDL, or "": products that copy the text need it
    characters: bool = False  # the length counts characters, in systems where it may also count bytes


@dataclass(frozen=True, slots=True)
class Column:
    """A column of one table version. `field` is the name that the column keeps through renames.

    `typed_in`: where the column's definition stands in the log itself, as typed, the types of all columns that the same
    statement defined. Products that read DDL texts know the column from there, and older ones from the server.
    `key_retyped`: PRIMARY KEY was typed with the column, and a later statement typed the column without it; it is still
    the key, but not to all who read the texts.
    `default` is the text of its DEFAULT, a SQL expression, None without one; `auto_increment` and `on_update`: the
    server numbers rows, or sets the time of updates; `comment` is the literal of its COMMENT, "" without one.
    """

    name: str
    type: ColumnType
    nullable: bool = True
    field: str = ""
    typed_in: tuple[str, ...] = ()
    key_retyped: bool = False
    default: str | None = None
    auto_increment: bool = False
    on_update: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        if not self.field:
            object.__setattr__(self, "field", self.name)


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """A unique key or index that is not the primary key: its name, and its columns in key order."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One version of a table: columns in table order, primary key in key order. Version 0 is the first. `charset` is
    its default character set, "" if unspecified; `comment` is the literal of its COMMENT, "" without one. `text_key`
    has the columns of the key as readers of the statements' texts take it; None: no texts tell it."""

    id: TableId
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    version: int = 0
    unique_keys: tuple[UniqueKey, ...] = ()
    charset: str = ""
    comment: str = ""
    text_key: tuple[str, ...] | None = None

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Index in `columns` by column name."""
        return {column.name: i for i, column in enumerate(self.columns)}

    @cached_property
    def key_positions(self) -> tuple[int, ...]:
        return tuple(self.positions[name] for name in self.primary_key)

    @cached_property
    def row_key(self) -> tuple[str, ...]:
        """The columns that identify a row: the primary key, else the first unique key that is NOT NULL, else none."""
        if self.primary_key:
            return self.primary_key
        nullable = {column.name for column in self.columns if column.nullable}
        return next((key.columns for key in self.unique_keys if nullable.isdisjoint(key.columns)), ())

    @cached_property
    def row_key_positions(self) -> tuple[int, ...]:
        return tuple(self.positions[name] for name in self.row_key)


# A table before and after a statement; None where there is none.
TableVersions: TypeAlias = tuple[Table | None, Table | None]


class SchemaChangeKind(enum.Enum):
    """Kinds of DDL, by their effect on the table; each product has its own names for them."""

    CREATE_DATABASE = "create database"
    DROP_DATABASE = "drop database"
    CREATE_TABLE = "create table"
    ADD_COLUMN = "add column"
    ALTER_COLUMN_TYPE = "alter column type"
    RENAME_COLUMN = "rename column"
    DROP_COLUMN = "drop column"
    TRUNCATE_TABLE = "truncate table"
    RENAME_TABLE = "rename table"
    DROP_TABLE = "drop table"
    CREATE_INDEX = "create index"
    DROP_INDEX = "drop index"
    ALTER_TABLE = "alter table"  # anything else about columns, indexes and defaults
    TABLE_OPTIONS = "table options"  # an ALTER TABLE of table options only
    DROP_FOREIGN_KEY = "drop foreign key"
    ADD_CONSTRAINT = "add constraint"  # a foreign key or a check: no column, no index
    ALTER_DATABASE = "alter database"
    VIEW = "view"  # created or dropped
    ALTER_VIEW = "alter view"
    STORED_PROGRAM = "stored program"  # triggers, procedures, functions, events
    ALTER_USER = "alter user"
    ACCOUNT = "account"  # users, roles, privileges
    OTHER = "other"  # administration: ANALYZE, OPTIMIZE, FLUSH


# DDL of objects in a database other than tables, and of the database's settings.
IN_DATABASE: Final = frozenset(
    {
        SchemaChangeKind.ALTER_DATABASE,
        SchemaChangeKind.VIEW,
        SchemaChangeKind.ALTER_VIEW,
        SchemaChangeKind.STORED_PROGRAM,
    }
)
# DDL that belongs to no table: streams carry it; few products send it.
WITHOUT_TABLE: Final = IN_DATABASE | {
    SchemaChangeKind.ALTER_USER,
    SchemaChangeKind.ACCOUNT,
    SchemaChangeKind.OTHER,
}
# Texts that begin like an ALTER TABLE.
_ALTER_TABLE: Final = re.compile(
    r"(?:\s|/\*.*?\*/)*ALTER\s+(?:ONLINE\s+)?(?:IGNORE\s+)?TABLE\b", re.IGNORECASE | re.DOTALL
)


class StatementKind(enum.Enum):
    """Logged texts other than DDL: a statement logged instead of its rows or before them, a value that a statement
    depends on, the end of a distributed transaction, and a message that a session put into the log
    (`pg_logical_emit_message()`: the table is its prefix; its transaction has the id 0 if it belongs to none)."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    REPLACE = "replace"
    ROWS_QUERY = "rows query"  # logged at the request of a session
    ANNOTATION = "annotation"  # logged by the server for all sessions
    VALUE = "value"
    XA_COMMIT = "xa commit"
    XA_ROLLBACK = "xa rollback"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, order=True)
class OrderKey:
    """The place of a message in the total order of a run; compares like the tuple. Phase 0 is the snapshot."""

    phase: int
    turn: int
    ordinal: int

    def __str__(self) -> str:
        return f"{'snapshot' if self.phase == 0 else 'turn'} {self.turn}.{self.ordinal}"


# Numbers per second: products number the changes of a second with five digits.
SECOND_NUMBERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class TransactionHeader:
    """Transaction header in a MySQL server's log: its GTID, the executed set once it is committed, and its session.

    The executed set holds 1 to `last` of the server's GTIDs, and `others`, those of other servers as text: `,uuid:1-3`.
    `gtid` is the transaction's GTID where it is another server's (SET GTID_NEXT); "" where it is the server's `last`.
    `thread` is the session's connection id, `sql_mode` and `charset` are codes of its variables, and `database` is its
    current database. `xa`: XA START began it, a branch of a distributed transaction. `ended_files` is the number of the
    log's files that FLUSH LOGS, or their size, has ended before.
    """

    last: int
    others: str = ""
    gtid: str = ""
    thread: int = 0
    sql_mode: int = 0
    charset: int = 0
    database: str = ""
    xa: bool = False
    ended_files: int = 0


@dataclass(frozen=True, slots=True)
class LogPositions:
    """Transaction facts in a PostgreSQL server's log: its id, and the positions of its begin, changes and commit."""

    xid: int
    lsns: tuple[int, ...]


# Facts of a transaction from a server's own log.
Header: TypeAlias = TransactionHeader | LogPositions


@dataclass(frozen=True, slots=True)
class Life:
    """Life of a product's process, from a start to the next: the restarts before it, the number of the transaction at
    which it began, and the first order key that no earlier life wrote."""

    number: int = 0
    first_txn: int = 1
    first_new: OrderKey | None = None

    def count(self, txn: Any) -> Any:
        """The number of a transaction (or of each of an array), counted from 1 in each life after the first."""
        return txn - self.first_txn + 1 if self.number else txn

    @property
    def base_txn(self) -> int:
        """The number of the transaction at whose begin a snapshot of this life stands: 0 of the stream's own."""
        return self.first_txn if self.number else 0


FIRST_LIFE: Final = Life()


@dataclass(frozen=True, slots=True)
class Event:
    """Common fields of single (not columnar) events. Times are epoch milliseconds, UTC.

    `in_second`, `header` and `life` are as in `simulator.batch.Envelope`.
    """

    order: OrderKey
    txn: int
    offset: int
    event_ms: int
    write_ms: int
    in_second: int = field(default=None, kw_only=True)  # type: ignore[assignment]
    header: Header | None = field(default=None, kw_only=True)
    life: Life = field(default=FIRST_LIFE, kw_only=True)

    def __post_init__(self) -> None:
        if self.in_second is None:
            object.__setattr__(self, "in_second", self.offset % SECOND_NUMBERS)


@dataclass(frozen=True, slots=True)
class SchemaChange(Event):
    """A DDL statement: the table as it was (None for CREATE) and as it is after (None for DROP).

    `kind` is that of its first item. An ALTER TABLE may have several, all of them in `kinds`; `more` are the tables of
    a statement after its first one, as they were and as they are.
    """

    kind: SchemaChangeKind
    database: str
    before: Table | None
    after: Table | None
    sql: str
    kinds: tuple[SchemaChangeKind, ...] = field(default=(), kw_only=True)
    more: tuple[TableVersions, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if not self.kinds:
            object.__setattr__(self, "kinds", (self.kind,))

    @property
    def statement(self) -> SchemaChangeKind:
        """The kind of the whole statement: ALTER_TABLE whatever its items are, unless all it does is rename."""
        alters = _ALTER_TABLE.match(self.sql) and set(self.kinds) != {SchemaChangeKind.RENAME_TABLE}
        return SchemaChangeKind.ALTER_TABLE if alters else self.kind

    @property
    def tables(self) -> tuple[TableVersions, ...]:
        """The affected tables. Missing ones (DROP TABLE IF EXISTS) are left out; if all are, the first remains."""
        every = ((self.before, self.after), *self.more)
        return tuple(pair for pair in every if any(table and table.columns for table in pair)) or every[:1]


@dataclass(frozen=True, slots=True)
class LoggedStatement(Event):
    """A text in the source's log other than DDL: the affected table ("" for none), and the text."""

    kind: StatementKind
    database: str
    table: str
    sql: str


@dataclass(frozen=True, slots=True)
class Heartbeat(Event):
    """Sign of life of the source at a simulated time, between transactions. `last_ms`: the previous commit time."""

    last_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RowChange:
    """One change of a row: its images by column name, None where the kind has none. A thin view of one row of a
    `ChangeBatch`; columns that the source's log does not hold are not in the image. `key` names the key's columns."""

    order: OrderKey
    kind: Kind
    table: TableId
    key: tuple[str, ...]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a broker client gets it: a thin view of one row of a `MessageBatch`, for people and tests."""

    order: OrderKey
    kind: Kind
    changes: int
    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    tag: str | None = None
    timestamp_ms: int | None = None
    step: str | None = None  # step of the lifecycle or script, such as `pay`; None without the stream
    reader: Callable[[bytes], Any] | None = field(default=None, repr=False, compare=False)  # of Avro's schema

    @property
    def decoded(self) -> Any:
        """Value as Python data: Avro's record and JSON's objects as dicts, other text as str; None of a tombstone."""
        if self.value is None:
            return None
        if self.reader is not None:
            return self.reader(self.value)
        text = self.value.decode()
        try:
            return json.loads(text)
        except ValueError:
            return text
