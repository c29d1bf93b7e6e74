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
from simulator.sql.catalog.definitions import Definition, Field, Routine, View
from simulator.sql.catalog.servers import MODES, Server
from simulator.sql.catalog.system_variables import system_variables
from simulator.sql.errors import ManyPartitions, SqlError, Unsupported
from simulator.sql.parse.show_create import as_printed, show_create
from simulator.sql.store.log import Log, SessionFacts
from simulator.sql.store.rows import Data
from simulator.sql.store.state import Objects, Statement, Transaction, Undo, connection_of
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
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
class Session:
    """The only connection to a server, and what the server holds.

    `run_body` runs the body of a trigger, `call_function` a stored function: they are in `programs`, which this module
    must not import. `run` is the number of the last run of rows that a rows event may hold.
    """

    server: Server
    now_us: int
    run_body: Callable[[Session, str, TriggerRows], None]
    call_function: Callable[[Session, Routine, list[Any]], Any]
    log: Log = field(default_factory=Log)
    run: int = 0
    journal: list[Undo] | None = None  # all changes of the CALL that runs

    def __post_init__(self) -> None:
        self.objects, self.connection = Objects(), connection_of(self.server)
        self.transaction, self.statement = Transaction(), Statement()

    @property
    def in_transaction(self) -> bool:
        return self.transaction.is_open

    @property
    def warnings(self) -> list[str]:
        return self.statement.warnings

    @property
    def database(self) -> str:
        return self.connection.database

    @property
    def account(self) -> str:
        return self.connection.account

    @account.setter
    def account(self, account: str) -> None:
        self.connection.account = account

    # -------------------------------------------------------------------------------------------------------------
    # lookup

    @property
    def strict(self) -> bool:
        return bool(self.connection.modes & {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"})

    def rules(self, *, ignore: bool = False) -> Rules:
        """The current rules for storing values; the same object until a setting changes."""
        modes, zone, rules = self.connection.cached_rules.get(ignore, (None, None, None))
        if rules is None or modes is not self.connection.modes or zone is not self.connection.zone:
            rules = self._rules(ignore)
            self.connection.cached_rules[ignore] = (self.connection.modes, self.connection.zone, rules)
        assert isinstance(rules, Rules)
        return rules

    def _rules(self, ignore: bool) -> Rules:
        return Rules(
            self.strict and not ignore,
            "NO_ZERO_DATE" in self.connection.modes,
            "NO_ZERO_IN_DATE" in self.connection.modes,
            self.connection.zone,
            self.server.json_duplicates,
            self.server.json_is_text,
            truncates_fractions=self.server.mariadb,
            mariadb=self.server.mariadb,
            server=self.server.id,
            swaps_axes=self.server.swaps_axes,
            today=lambda: self.connection.zone.to_local(self.now_us) // temporal.DAY_US,
        )

    def as_document(self, value: Any) -> Any:
        return Document(value, way=self.server.json_way)

    def draw(self) -> int:
        """A new number for each call."""
        self.connection.drawn += 1
        return self.connection.drawn

    def variable(self, name: str) -> Any:
        """The value of a system variable. Raises SqlError 1193, Unsupported if its value is not simulated."""
        scope, _, bare_name = name.partition(".")
        if scope in ("session", "local", "global"):
            name = bare_name
        if scope == "global" and name in self.objects.global_variables:
            return self.objects.global_variables[name]
        variable = system_variables(self.server).get(name)
        if variable is None:
            raise SqlError(1193, name)
        if scope != "global":
            values = {
                "sql_mode": ",".join(mode for mode in MODES if mode in self.connection.modes),
                "time_zone": self.connection.zone.text,
                "autocommit": int(self.connection.autocommit),
                "last_insert_id": self.connection.last_insert_id,
                "identity": self.connection.last_insert_id,
                "timestamp": Decimal(self.now_us) / 1_000_000,
                "collation_connection": self.connection.collation,
                "explicit_defaults_for_timestamp": int(not self.connection.settings["old_timestamps"]),
                **{
                    name: int(value) if isinstance(value, bool) else value
                    for name, value in self.connection.settings.items()
                },
                **self.connection.variables,
            }
            if name in values:
                return values[name]
        if variable.value is None:
            raise Unsupported(f"the value of @@{name}")
        return variable.value

    def table_id(self, database: str, name: str) -> TableId:
        """The id of a table in a statement. Raises SqlError 1046 without a database."""
        if not (database or self.connection.database):
            raise SqlError(1046)
        return TableId(database or self.connection.database, name)

    def find_table(self, id: TableId) -> Data | None:
        if id in self.connection.temporary:
            return self.connection.temporary[id]
        database = self.objects.databases.get(id.database)
        return None if database is None else database.tables.get(id.name)

    def table(self, database: str, name: str) -> Data:
        id = self.table_id(database, name)
        data = self.find_table(id)
        if data is None:
            if self.view(database, name) is not None:
                raise Unsupported("this change of a view's rows")
            if id.database not in self.objects.databases:
                raise unknown_database(id.database)
            raise SqlError(1146, f"{id.database}.{name}")
        return data

    def view(self, database: str, name: str) -> View | None:
        """The view of this name, unless a temporary table hides it."""
        owner = self.objects.databases.get(database or self.connection.database)
        if owner is None or TableId(owner.name, name) in self.connection.temporary:
            return None
        return owner.views.get(name)

    def all_tables(self) -> Iterator[Data]:
        for database in self.objects.databases.values():
            yield from database.tables.values()

    def current_rows(self) -> list[TableRows]:
        """Each table's rows by number, and its CREATE TABLE text; tables as a server lists them, by name."""
        return [
            TableRows(data.table, dict(data.scan()), show_create(data.definition, self.server, data.next_auto))
            for data in sorted(self.all_tables(), key=lambda data: (data.table.id.database, data.table.id.name))
        ]

    def take_tables(self) -> list[Table]:
        """All tables; their rows are dropped: the log has those that are needed."""
        for data in self.all_tables():
            data.clear()
        return [data.table for data in self.all_tables()]

    def forget_spellings(self) -> None:
        """Forget how types were typed: no log has that of tables that existed before."""
        for data in self.all_tables():
            data.define(as_printed(data.definition))

    def with_next_version(self, definition: Definition) -> Definition:
        """The definition with a version that no table of this name had before."""
        version = self.objects.versions.get(definition.id, -1) + 1
        self.objects.versions[definition.id] = version
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
        if self.journal is not None:
            self.journal.append((data, number, old))
        if data.definition.transactional:
            self.transaction.undo.append((data, number, old))

    def undo_to(self, undo: int, entries: int) -> None:
        while len(self.transaction.undo) > undo:
            data, number, old = self.transaction.undo.pop()
            data.put(number, old)
        del self.transaction.entries[entries:]

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Run a statement atomically; outside a transaction it is its own transaction."""
        mark = len(self.transaction.undo), len(self.transaction.entries)
        try:
            yield
        except Exception:
            self.undo_to(*mark)
            self._log_plain()
            if not self.transaction.is_open and not self.transaction.xa:
                self.transaction.undo.clear()
            raise
        self._log_plain()
        if not self.transaction.is_open and not self.transaction.xa and self.connection.autocommit:
            self.commit()
        elif not self.connection.autocommit:
            self.transaction.is_open = True

    def _log_plain(self) -> None:
        """Log the changes of tables without transactions as a transaction of their own."""
        if self.transaction.plain_entries:
            self.write(self.transaction.plain_entries)
            self.transaction.plain_entries = []

    def commit(self) -> None:
        """End the transaction; an empty one is not logged."""
        if self.transaction.entries:
            self.write(self.transaction.entries)
        self.end_transaction()

    def rollback(self) -> None:
        entries = list(self.transaction.entries)
        self.undo_to(0, 0)
        if self.transaction.temporary_touched and self.server.drops_existing and entries:
            # changes that cannot be rolled back are logged, followed by ROLLBACK, which readers of rows ignore
            self.transaction.entries = entries
            self.write(self.transaction.entries)
        self.end_transaction()

    def end_transaction(self) -> None:
        self.transaction = Transaction(plain_entries=self.transaction.plain_entries, xa=self.transaction.xa)

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
        if self.statement.quiet or data.definition.temporary or not self.connection.settings["log_bin"]:
            return
        if not self.statement.annotated:
            self.statement.annotated = True
            self._annotate(data)
        logged_before, logged_after = self._images(data, kind, touched)
        entries = self.transaction.entries if data.definition.transactional else self.transaction.plain_entries
        last = entries[-1] if entries else None
        if (
            isinstance(last, RowChange)
            and last.table is data.table
            and last.kind is kind
            and last.logged_before == logged_before
            and last.logged_after == logged_after
            and last.run == self.run
        ):
            if data.definition.partitioned and self.server.event_per_partition:
                raise ManyPartitions(data.definition.id)
            # shares objects with the previous change: a dump has many rows
            shared = (last.run, last.ms, last.logged_before, last.logged_after)
        else:
            self.run += 1
            shared = (self.run, self.now_ms, logged_before, logged_after)
        entries.append(RowChange(data.table, kind, before, after, number, *shared))

    def _annotate(self, data: Data) -> None:
        id = data.definition.id
        entries = self.transaction.entries if data.definition.transactional else self.transaction.plain_entries
        if self.connection.settings["annotate"]:
            entries.append(Text(StatementKind.ANNOTATION, id.database, id.name, self.statement.text, self.now_ms))
        elif self.connection.settings["rows_query"]:
            entries.append(Text(StatementKind.ROWS_QUERY, id.database, id.name, self.statement.text, self.now_ms))

    def _images(self, data: Data, kind: Kind, touched: frozenset[int]) -> tuple[Positions, Positions]:
        """The columns of the images under binlog_row_image."""
        image = self.connection.settings["binlog_row_image"]
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
        if not self.connection.settings["log_bin"]:
            return
        if entry.before and entry.after and entry.before.columns != entry.after.columns:
            data = self.find_table(entry.after.id)
            if data is not None and data.rows:
                entry = replace(entry, rows=(TableRows(entry.after, dict(data.rows)),))
        self.write([entry])

    def write(self, entries: list[Entry]) -> None:
        """Log a transaction of this session."""
        self.log.commit(entries, self.now_ms, self.connection.gtid_next, self.facts)
        self.now_us += STEP_US

    @property
    def facts(self) -> SessionFacts:
        """The facts of the session that the server logs."""
        mode = sql_mode_code(self.connection.modes)
        return SessionFacts(
            sql_mode=mode,
            charset=self.charset_code,
            database=self.connection.database,
            xa=bool(self.transaction.xa),
        )

    @property
    def charset_code(self) -> int:
        """The number of the character set of SET NAMES."""
        charset = self.connection.variables.get("character_set_client")
        if charset == "utf8mb4" and self.server.modern and not self.server.mariadb:
            return UTF8MB4_80
        return CHARSETS.get(charset, CHARSET) if charset else CHARSET
