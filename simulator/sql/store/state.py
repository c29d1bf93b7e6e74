"""The state of a session of the embedded engine: objects of the server, connection, transaction, statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.model import TableId
from simulator.sql.catalog.definitions import Database, Routine, Trigger
from simulator.sql.catalog.servers import Server
from simulator.sql.store.rows import Data, Row
from simulator.sql.values.temporal import Zone
from simulator.stream.literal.transactions import Entry

# A row before a change: of a table, by its number.
Undo = tuple[Data, int, Row | None]


@dataclass
class Objects:
    """The server's databases with their tables and views, and its stored programs. `routines` are by kind, database and
    name; `versions` are the last ones of tables."""

    databases: dict[str, Database] = field(default_factory=dict)
    triggers: list[Trigger] = field(default_factory=list)
    routines: dict[tuple[str, str, str], Routine] = field(default_factory=dict)
    versions: dict[TableId, int] = field(default_factory=dict)
    global_variables: dict[str, Any] = field(default_factory=dict)  # for later connections


@dataclass
class Connection:
    """State that lasts from statement to statement."""

    modes: set[str]
    collation: str
    settings: dict[str, Any]
    account: str = "root@localhost"
    database: str = ""
    zone: Zone = field(default_factory=lambda: Zone("SYSTEM"))
    autocommit: bool = True
    user_variables: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)  # system variables that are not among the settings
    temporary: dict[TableId, Data] = field(default_factory=dict)
    prepared: dict[str, str] = field(default_factory=dict)  # PREPARE: statements by name
    gtid_next: str = "automatic"
    last_insert_id: int = 0
    found_rows: int | None = 0  # of the last SELECT; None: it was skipped
    row_count: int | None = -1  # rows that the last statement changed; None: unknown
    forced_id: int = 0  # SET insert_id, for the next row
    drawn: int = 0
    xa_prepared: dict[str, list[Undo]] = field(default_factory=dict)
    xa_attached: str = ""  # a prepared XA transaction that must end before anything else begins
    cached_rules: dict[bool, Any] = field(default_factory=dict)


@dataclass
class Transaction:
    """The open transaction: rows before its changes, and entries of the log. `plain_entries` are of tables without
    transactions, logged with their statement."""

    undo: list[Undo] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    plain_entries: list[Entry] = field(default_factory=list)
    savepoints: list[Savepoint] = field(default_factory=list)
    is_open: bool = False
    xa: str = ""
    read_only: bool = False
    temporary_touched: bool = False  # it made or dropped a temporary table


@dataclass
class Savepoint:
    name: str
    undo: int
    entries: int


@dataclass
class Statement:
    """The statement that runs. `depth` counts the programs around it; `is_inside`: it belongs to a trigger or function
    of another statement."""

    text: str = ""
    target: TableId | None = None  # the table that it changes
    annotated: bool = False
    quiet: bool = False  # rows are changed without a log entry (statement format)
    unsafe: bool = False
    random_used: bool = False
    last_insert_id_used: bool = False
    division_fails: bool = False
    refuses_texts: bool = False
    used_variables: list[str] = field(default_factory=list)
    changes: int = 0  # rows that the last statement changed
    generated_ids: int = 0  # its first AUTO_INCREMENT value
    depth: int = 0
    is_inside: bool = False
    order_unsure: bool = False  # its rows may come in another order on a server
    warnings: list[str] = field(default_factory=list)

    def begin(self, text: str) -> None:
        """Forget the facts of the statement before."""
        self.text, self.annotated = text, False
        self.unsafe = self.random_used = self.last_insert_id_used = False
        self.used_variables, self.generated_ids = [], 0


def connection_of(server: Server) -> Connection:
    """A new connection with the server's defaults."""
    return Connection(
        set(server.modes),
        server.collation,
        {
            "binlog_format": "row",
            "binlog_row_image": "full",
            "rows_query": False,
            "annotate": server.annotates,
            "foreign_key_checks": True,
            "log_bin": True,
            "old_timestamps": server.old_timestamps,
            "auto_increment_increment": 1,
            "auto_increment_offset": 1,
        },
    )
