"""A session: databases and tables, variables, the clock, and transactions with their undo and log entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from simulator.model import DELETE, INSERT, Kind, StatementKind, Table, TableId
from simulator.sources.mysql.log import CHARSET, CHARSETS, UTF8MB4_80, sql_mode_code
from simulator.sources.mysql.row_image import LARGE
from simulator.sql.assignment.rules import Rules
from simulator.sql.catalog.definitions import Database, Definition, Field, Routine, Trigger, View
from simulator.sql.catalog.servers import MODES, Server
from simulator.sql.catalog.system_variables import system_variables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.show_create import show_create
from simulator.sql.store.log import Log, SessionFacts
from simulator.sql.store.rows import Data
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.temporal import Zone
from simulator.stream.literal.transactions import Ddl, Entry, Positions, Row, RowChange, TableRows, Text

# The script's clock advances by this from one transaction to the next.
STEP_US: Final = 1_000_000


# System databases; the comparison ignores case.
_OF_THE_SERVER: Final = ("information_schema", "mysql", "performance_schema", "sys")


def unknown_database(name: str) -> SqlError | Unsupported:
    """The error for a database that the script has not created."""
    return Unsupported(f"the database {name}") if name.lower() in _OF_THE_SERVER else SqlError(1049, name)


@dataclass
class TriggerRows:
    """The rows of a trigger: OLD and NEW as stored; the trigger may change NEW."""

    fields: tuple[Field, ...]
    old: Row | None
    new: list[Any] | None
    rules: Rules
    row_number: int


@dataclass
class Savepoint:
    name: str
    undo: int
    entries: int


@dataclass
class Session:
    """The only connection to a server."""

    server: Server
    now_us: int
    # Callbacks into `programs`, which this module must not import: run a body, call a stored function.
    run_body: Callable[[Session, str, TriggerRows], None]
    call_function: Callable[[Session, Routine, list[Any]], Any]
    account: str = "root@localhost"
    log: Log = field(default_factory=Log)
    databases: dict[str, Database] = field(default_factory=dict)
    temporary: dict[TableId, Data] = field(default_factory=dict)
    triggers: list[Trigger] = field(default_factory=list)
    database: str = ""
    zone: Zone = field(default_factory=lambda: Zone("SYSTEM"))
    user_variables: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    # Other system variables, and their global values for later sessions.
    variables: dict[str, Any] = field(default_factory=dict)
    global_variables: dict[str, Any] = field(default_factory=dict)
    last_insert_id: int = 0
    undo: list[tuple[Data, int, Row | None]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    plain_entries: list[Entry] = field(default_factory=list)  # of tables without transactions, logged by statement
    savepoints: list[Savepoint] = field(default_factory=list)
    in_transaction: bool = False
    autocommit: bool = True
    xa: str = ""
    prepared: dict[str, list[tuple[Data, int, Row | None]]] = field(default_factory=dict)
    attached: str = ""  # a prepared XA transaction that must end before anything else begins
    gtid_next: str = "automatic"
    versions: dict[TableId, int] = field(default_factory=dict)
    # Of the statement that runs.
    run: int = 0
    text: str = ""
    target: TableId | None = None  # the table that the statement changes
    annotated: bool = False
    quiet: bool = False  # rows are changed without a log entry (statement format)
    unsafe: bool = False
    random_used: bool = False
    last_insert_id_used: bool = False
    division_fails: bool = False
    refuses_texts: bool = False
    used_variables: list[str] = field(default_factory=list)
    drawn: int = 0
    cached_rules: dict[bool, Any] = field(default_factory=dict)
    statement_undo: int = 0  # rows that the last statement changed
    generated_ids: int = 0  # the first AUTO_INCREMENT value of the statement
    depth: int = 0
    inside_statement: bool = False  # a trigger or a function of a statement runs
    statements: dict[str, str] = field(default_factory=dict)  # PREPARE
    found_rows: int | None = 0  # of the last SELECT; None: it was skipped
    row_count: int = -1  # rows that the last statement changed
    routines: dict[tuple[str, str, str], Routine] = field(default_factory=dict)  # by kind, database and name
    order_unsure: bool = False  # rows of the statement may come in another order on a server
    warnings: list[str] = field(default_factory=list)  # of the statement
    forced_id: int = 0  # SET insert_id, for the next row
    read_only: bool = False  # of the transaction
    temporary_touched: bool = False  # the transaction made or dropped a temporary table

    def __post_init__(self) -> None:
        self.modes = set(self.server.modes)
        self.collation = self.server.collation
        self.settings = {
            "binlog_format": "row",
            "binlog_row_image": "full",
            "rows_query": False,
            "annotate": self.server.annotates,
            "foreign_key_checks": True,
            "log_bin": True,
            "old_timestamps": self.server.old_timestamps,
            "auto_increment_increment": 1,
            "auto_increment_offset": 1,
        }

    # -------------------------------------------------------------------------------------------------------------
    # lookup

    @property
    def strict(self) -> bool:
        return bool(self.modes & {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"})

    def rules(self, *, ignore: bool = False) -> Rules:
        """The current rules for storing values; the same object until a setting changes."""
        modes, zone, rules = self.cached_rules.get(ignore, (None, None, None))
        if rules is None or modes is not self.modes or zone is not self.zone:
            rules = self._rules(ignore)
            self.cached_rules[ignore] = (self.modes, self.zone, rules)
        assert isinstance(rules, Rules)
        return rules

    def _rules(self, ignore: bool) -> Rules:
        return Rules(
            self.strict and not ignore,
            "NO_ZERO_DATE" in self.modes,
            "NO_ZERO_IN_DATE" in self.modes,
            self.zone,
            self.server.json_duplicates,
            self.server.json_is_text,
            truncates_fractions=self.server.mariadb,
            mariadb=self.server.mariadb,
            server=self.server.id,
            swaps_axes=self.server.swaps_axes,
            today=lambda: self.zone.to_local(self.now_us) // temporal.DAY_US,
        )

    def as_document(self, value: Any) -> Any:
        return Document(value, way=self.server.json_way)

    def draw(self) -> int:
        """A new number for each call."""
        self.drawn += 1
        return self.drawn

    def variable(self, name: str) -> Any:
        """The value of a system variable. Raises SqlError 1193, Unsupported if its value is not simulated."""
        scope, _, bare_name = name.partition(".")
        if scope in ("session", "local", "global"):
            name = bare_name
        if scope == "global" and name in self.global_variables:
            return self.global_variables[name]
        variable = system_variables(self.server).get(name)
        if variable is None:
            raise SqlError(1193, name)
        if scope != "global":
            values = {
                "sql_mode": ",".join(mode for mode in MODES if mode in self.modes),
                "time_zone": self.zone.text,
                "autocommit": int(self.autocommit),
                "last_insert_id": self.last_insert_id,
                "identity": self.last_insert_id,
                "timestamp": Decimal(self.now_us) / 1_000_000,
                "collation_connection": self.collation,
                "explicit_defaults_for_timestamp": int(not self.settings["old_timestamps"]),
                **{name: int(value) if isinstance(value, bool) else value for name, value in self.settings.items()},
                **self.variables,
            }
            if name in values:
                return values[name]
        if variable.value is None:
            raise Unsupported(f"the value of @@{name}")
        return variable.value

    def table_id(self, database: str, name: str) -> TableId:
        """The id of a table in a statement. Raises SqlError 1046 without a database."""
        if not (database or self.database):
            raise SqlError(1046)
        return TableId(database or self.database, name)

    def find_table(self, id: TableId) -> Data | None:
        if id in self.temporary:
            return self.temporary[id]
        database = self.databases.get(id.database)
        return None if database is None else database.tables.get(id.name)

    def table(self, database: str, name: str) -> Data:
        id = self.table_id(database, name)
        data = self.find_table(id)
        if data is None:
            if self.view(database, name) is not None:
                raise Unsupported("this change of a view's rows")
            if id.database not in self.databases:
                raise unknown_database(id.database)
            raise SqlError(1146, f"{id.database}.{name}")
        return data

    def view(self, database: str, name: str) -> View | None:
        """The view of this name, unless a temporary table hides it."""
        owner = self.databases.get(database or self.database)
        if owner is None or TableId(owner.name, name) in self.temporary:
            return None
        return owner.views.get(name)

    def all_tables(self) -> Iterator[Data]:
        for database in self.databases.values():
            yield from database.tables.values()

    def current_rows(self) -> list[TableRows]:
        """Each table's rows by number, and its CREATE TABLE text."""
        return [
            TableRows(data.table, dict(data.scan()), show_create(data.definition, self.server, data.next_auto))
            for data in self.all_tables()
        ]

    def take_tables(self) -> list[Table]:
        """All tables; their rows are dropped: the log has those that are needed."""
        for data in self.all_tables():
            data.clear()
        return [data.table for data in self.all_tables()]

    def forget_spellings(self) -> None:
        """Forget how types were typed: no log has that of tables that existed before."""
        for data in self.all_tables():
            data.define(data.definition.without_spellings())

    def with_next_version(self, definition: Definition) -> Definition:
        """The definition with a version that no table of this name had before."""
        version = self.versions.get(definition.id, -1) + 1
        self.versions[definition.id] = version
        return replace(definition, version=version)

    @property
    def now_ms(self) -> int:
        return self.now_us // 1000

    def heartbeat(self) -> None:
        self.log.heartbeat(self.now_ms)
        self.now_us += STEP_US

    # ---------------------------------------------------------------------------------------------------- transactions

    def record_undo(self, data: Data, number: int, old: Row | None) -> None:
        """Record the previous row for a rollback."""
        if data.definition.transactional:
            self.undo.append((data, number, old))

    def undo_to(self, undo: int, entries: int) -> None:
        while len(self.undo) > undo:
            data, number, old = self.undo.pop()
            data.put(number, old)
        del self.entries[entries:]

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Run a statement atomically; outside a transaction it is its own transaction."""
        mark = len(self.undo), len(self.entries)
        try:
            yield
        except Exception:
            self.undo_to(*mark)
            self._log_plain()
            if not self.in_transaction and not self.xa:
                self.undo.clear()
            raise
        self._log_plain()
        if not self.in_transaction and not self.xa and self.autocommit:
            self.commit()
        elif not self.autocommit:
            self.in_transaction = True

    def _log_plain(self) -> None:
        """Log the changes of tables without transactions as a transaction of their own."""
        if self.plain_entries:
            self.write(self.plain_entries)
            self.plain_entries = []

    def commit(self) -> None:
        """End the transaction; an empty one is not logged."""
        if self.entries:
            self.write(self.entries)
        self.end_transaction()

    def rollback(self) -> None:
        entries = list(self.entries)
        self.undo_to(0, 0)
        if self.temporary_touched and self.server.drops_existing and entries:
            # changes that cannot be rolled back are logged, followed by ROLLBACK, which readers of rows ignore
            self.entries = entries
            self.write(self.entries)
        self.end_transaction()

    def end_transaction(self) -> None:
        self.entries = []
        self.undo.clear()
        self.savepoints.clear()
        self.in_transaction = self.read_only = self.temporary_touched = False

    # --------------------------------------------------------------------------------------------------------- logging

    def log_row(
        self,
        data: Data,
        number: int,
        kind: Kind,
        before: Row | None,
        after: Row | None,
        touched: frozenset[int] = frozenset(),
    ) -> None:
        """Log the change of a row; `touched` are the columns that the statement names."""
        if self.quiet or data.definition.temporary or not self.settings["log_bin"]:
            return
        if not self.annotated:
            self.annotated = True
            self._annotate(data)
        logged_before, logged_after = self._images(data, kind, touched)
        entries = self.entries if data.definition.transactional else self.plain_entries
        last = entries[-1] if entries else None
        if (
            isinstance(last, RowChange)
            and last.table is data.table
            and last.kind is kind
            and last.logged_before == logged_before
            and last.logged_after == logged_after
            and last.run == self.run
        ):
            # shares objects with the previous change: a dump has many rows
            shared = (last.run, last.ms, last.logged_before, last.logged_after)
        else:
            self.run += 1
            shared = (self.run, self.now_ms, logged_before, logged_after)
        entries.append(RowChange(data.table, kind, before, after, number, *shared))

    def _annotate(self, data: Data) -> None:
        id = data.definition.id
        entries = self.entries if data.definition.transactional else self.plain_entries
        if self.settings["annotate"]:
            entries.append(Text(StatementKind.ANNOTATION, id.database, id.name, self.text, self.now_ms))
        elif self.settings["rows_query"]:
            entries.append(Text(StatementKind.ROWS_QUERY, id.database, id.name, self.text, self.now_ms))

    def _images(self, data: Data, kind: Kind, touched: frozenset[int]) -> tuple[Positions, Positions]:
        """The columns of the images under binlog_row_image."""
        image = self.settings["binlog_row_image"]
        if image == "full":
            return None, None
        fields = data.definition.fields
        every = tuple(range(len(fields)))
        primary = data.definition.primary
        keys = {data.definition.position(name) for name in primary.names} if primary else set()
        if not keys and data.clustered is not None:
            keys = set(data.clustered.positions)
        if not keys and self.server.mariadb:
            return None, None
        if image == "minimal":
            before = tuple(i for i in every if i in keys) if keys else every
            after = tuple(i for i in every if i in touched)
        else:
            large = {i for i in every if fields[i].type.name in LARGE}
            before = tuple(i for i in every if i not in large or i in keys or not keys)
            after = tuple(i for i in every if i not in large or i in touched)
        return (None if kind is INSERT else before), (None if kind is DELETE else after)

    def log_ddl(self, entry: Ddl) -> None:
        """Log a DDL statement as a transaction."""
        if not self.settings["log_bin"]:
            return
        if entry.before and entry.after and entry.before.columns != entry.after.columns:
            data = self.find_table(entry.after.id)
            if data is not None and data.rows:
                entry = replace(entry, rows=(TableRows(entry.after, dict(data.rows)),))
        self.write([entry])

    def write(self, entries: list[Entry]) -> None:
        """Log a transaction of this session."""
        self.log.commit(entries, self.now_ms, self.gtid_next, self.facts)
        self.now_us += STEP_US

    @property
    def facts(self) -> SessionFacts:
        """The facts of the session that the server logs."""
        mode = sql_mode_code(self.modes)
        return SessionFacts(sql_mode=mode, charset=self.charset_code, database=self.database)

    @property
    def charset_code(self) -> int:
        """The number of the character set of SET NAMES."""
        charset = self.variables.get("character_set_client")
        if charset == "utf8mb4" and self.server.modern and not self.server.mariadb:
            return UTF8MB4_80
        return CHARSETS.get(charset, CHARSET) if charset else CHARSET
