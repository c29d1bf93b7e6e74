"""Runs a script on a real server and converts the server's log to the session's log.

The server runs the statements. A shadow session runs the DDL that the server logged, which gives the kinds of
statements, the tables before and after them, and the spelling of column types. Rows come from the server alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from simulator.errors import UsageError
from simulator.model import DELETE, INSERT, SchemaChangeKind, StatementKind
from simulator.sources.source import Source
from simulator.sql.catalog.servers import Server
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.client import Statement
from simulator.sql.parse.words import quoted
from simulator.sql.server.mysql import binlog
from simulator.sql.server.mysql.cells import images
from simulator.sql.server.mysql.connection import SYSTEM, Connection
from simulator.sql.server.url import engine_of
from simulator.sql.statements.execute import call_function, execute, run_body
from simulator.sql.store.log import SessionFacts
from simulator.sql.store.rows import Data, Row
from simulator.sql.store.session import STEP_US, Session
from simulator.stream.literal.transactions import Ddl, RowChange, Text

# Statements in a transaction that do not affect rows.
_XA_END: Final = re.compile(r"XA (COMMIT|ROLLBACK)\b", re.IGNORECASE)
_MARKS: Final = re.compile(r"(BEGIN|SAVEPOINT|ROLLBACK TO|RELEASE SAVEPOINT|XA (START|END|PREPARE))\b", re.IGNORECASE)
_ROW_WORDS: Final = re.compile(r"\s*(INSERT|REPLACE|UPDATE|DELETE|LOAD)\b", re.IGNORECASE)
_READING_MODES: Final = {1: "REAL_AS_FLOAT", 2: "PIPES_AS_CONCAT", 4: "ANSI_QUOTES", 1 << 20: "NO_BACKSLASH_ESCAPES"}
# Errors after which the session is lost.
_LOST: Final = frozenset({0, 2006, 2013, 2055})
# Statements that read the result of the previous one: the clock must not be set between them.
_DIAGNOSTICS: Final = re.compile(
    r"\b(ROW_COUNT|FOUND_ROWS)\s*\(|@@(\w+\.)?(warning|error)_count\b|\bDIAGNOSTICS\b", re.IGNORECASE
)
_AS_SELECT: Final = " START TRANSACTION"


def server_of(source: Source, server: Server, connection: Connection) -> Server:
    """The facts of this kind of server with the character set of the connected one. Raises UsageError if the server is
    not `source`."""
    if connection.source != str(source):
        raise UsageError(f"the server is {connection.version}, and the source is {source}: change --source.")
    charset, collation = connection.rows("SELECT @@character_set_server, @@collation_server")[0]
    return replace(server, charset=charset, collation=collation)


class Follower:
    """Applies the events of a server's log to a session."""

    session: Session

    _note: binlog.Note | None = None

    def follow(self, event: binlog.Event) -> None:
        match event:
            case binlog.Note():
                self._note = event
            case binlog.Rows():
                self._rows(event)
            case binlog.Gtid():
                self.session.gtid_next = event.text
            case binlog.Commit():
                self._commit(event.at_s)
            case binlog.Query():
                self._query(event)

    def _commit(self, at_s: int) -> None:
        session = self.session
        if session.entries:
            session.log.commit(session.entries, at_s * 1000, session.gtid_next, session.facts)
        session.entries = []

    def _query(self, event: binlog.Query) -> None:
        session, sql = self.session, event.sql
        session.now_us = event.at_s * 1_000_000
        session.logged_facts = SessionFacts(event.thread, event.mode, event.charset, event.database)
        if sql.startswith("COMMIT"):
            self._commit(event.at_s)
        elif sql.startswith("ROLLBACK") and not _MARKS.match(sql):
            session.entries = []
        elif match := _XA_END.match(sql):
            kind = StatementKind.XA_COMMIT if match[1].upper() == "COMMIT" else StatementKind.XA_ROLLBACK
            session.write([Text(kind, "", "", sql, session.now_ms)])
        elif _ROW_WORDS.match(sql):
            raise UsageError("the server logged a statement instead of its rows; set binlog_format=ROW.")
        elif not _MARKS.match(sql):
            self._ddl(event)

    def _ddl(self, event: binlog.Query) -> None:
        """Run a DDL statement in the shadow session, and log it with the server's text. Raises UsageError if that fails
        for a CREATE TABLE."""
        session, log = self.session, self.session.log
        logged, open_entries, session.entries = len(log.transactions), session.entries, []
        session.database = event.database
        # the server has validated all values; only modes that change parsing matter
        session.modes = {mode for bit, mode in _READING_MODES.items() if event.mode & bit}
        try:
            execute(session, event.sql.removesuffix(_AS_SELECT))
        except (SqlError, Unsupported) as error:
            if re.match(r"\s*CREATE\s+(OR\s+REPLACE\s+)?TABLE\b", event.sql, re.IGNORECASE):
                raise UsageError(
                    f"a statement that the server ran is not supported here ({error}), so its table is "
                    f"unknown: {event.sql[:80]!r}; leave it out."
                ) from None
            session.entries = []
            session.log_ddl(Ddl(SchemaChangeKind.OTHER, event.database, None, None, event.sql, session.now_ms))
        session.entries = open_entries
        new = log.transactions[logged:]
        if len(new) == 1 and isinstance(new[0].entries[0], Ddl):
            entry = replace(new[0].entries[0], sql=event.sql)
            log.transactions[-1] = replace(new[0], entries=(entry,))

    def table(self, id: binlog.TableMap) -> Data:
        return self.session.table(id.database, id.table)

    def _rows(self, event: binlog.Rows) -> None:
        session, id = self.session, event.table
        if id.database in SYSTEM:
            return
        data = self.table(id)
        table, ms = data.table, event.at_s * 1000
        if len(table.columns) != len(id.types):
            raise UsageError(
                f"{table.id} has {len(table.columns)} columns, and its rows in the log have {len(id.types)}: begin "
                "after the statement that changed the table."
            )
        if self._note is not None:
            kind = StatementKind.ANNOTATION if self._note.annotation else StatementKind.ROWS_QUERY
            session.entries.append(Text(kind, id.database, id.table, self._note.sql, ms))
            self._note = None
        session.run += 1
        every = tuple(range(len(table.columns)))
        logged = [None if positions == every else positions for positions in event.logged]
        for image in images(event, table):
            before = None if event.kind is INSERT else image[0]
            after = None if event.kind is DELETE else image[-1]
            session.entries.append(
                RowChange(
                    table,
                    event.kind,
                    before,
                    after,
                    _apply_change(data, before, after),
                    session.run,
                    ms,
                    None if before is None else logged[0],
                    None if after is None else logged[-1],
                )
            )


class ServerRun(Follower):
    """A script's run on a server."""

    def __init__(self, url: str, source: Source, server: Server, start_ms: int) -> None:
        # A separate session: statements between those of the script would change its ROW_COUNT().
        self.control = Connection(engine_of(url))
        self.connection = self.control.another()
        try:
            self.connection.check()
            self.server = server_of(source, server, self.control)
            self.users = self._users()
            self._at = self._logged = self.control.position()
        except BaseException:
            self._hang_up()
            raise
        self.session = Session(self.server, start_ms * 1000, run_body, call_function)
        self.session.settings["foreign_key_checks"] = False
        self.session.logged_facts = SessionFacts(self.connection.client.thread_id())
        for gtids in () if self.server.mariadb else self._executed():
            self.session.log.execute(gtids)

    def close(self) -> None:
        """Drop what the script created, unless `keep` is set; in a new session, since the others may be interrupted."""
        self._hang_up()
        if self.control.engine.keep:
            return
        self.control = self.control.another()
        try:
            self.control.run("SET FOREIGN_KEY_CHECKS = 0")
            for name in self.control.databases() - SYSTEM:
                self.control.run(f"DROP DATABASE {quoted(name)}")
            for user, host in self._users() - self.users:
                self.control.run(f"DROP USER '{user}'@'{host}'")
        finally:
            self.control.close()

    def _hang_up(self) -> None:
        self.connection.close()
        self.control.close()

    def _users(self) -> set[tuple[str, str]]:
        import pymysql

        try:
            return set(self.control.rows("SELECT user, host FROM mysql.user"))
        except pymysql.MySQLError:
            return set()

    def _executed(self) -> list[str]:
        """The GTIDs that the server had executed before, one set per server."""
        return [gtids for gtids in str(self.control.value("SELECT @@GLOBAL.gtid_executed")).split(",\n") if gtids]

    def statement(self, part: Statement) -> None:
        """Raises SqlError with the server's number and text."""
        import pymysql

        try:
            if not _DIAGNOSTICS.search(part.text):
                self.connection.run(f"SET TIMESTAMP = {self.session.now_us / 1_000_000:.6f}")
            self.connection.run(part.text)
        except pymysql.MySQLError as error:
            number, *message = error.args if error.args else (0,)
            text = str(message[0] if message else error)
            if number in _LOST:
                raise UsageError(f"the server ended the session: {text}.") from None
            raise _error(int(number or 0), text) from None
        finally:
            before, self._logged = self._logged, self.control.position()
            if self._logged != before:
                self.session.now_us += STEP_US

    def read(self) -> None:
        """Append what the server has logged since the last call to the session's log."""
        if self._logged == self._at:
            return
        now_us = self.session.now_us
        for event in binlog.events(self.control.packets(self._at, self._logged)):
            self.follow(event)
        self._at, self.session.now_us = self._logged, now_us

    def end(self) -> None:
        """Note the database that the script's session is in at its end."""
        self.session.database = str(self.connection.value("SELECT DATABASE()") or "")


def _apply_change(data: Data, before: Row | None, after: Row | None) -> int:
    """Apply a change to the shadow's rows; returns the row's number, 0 if it is unknown.

    A row that the shadow does not know is added: a cascade changed it, or an image lacks columns.
    """
    number = None
    if before is not None:
        indexed = data.clustered.rows.get(data.clustered.key_of(before)) if data.clustered is not None else None
        number = indexed if indexed is not None else next((n for n, row in data.rows.items() if row == before), None)
    if number is not None:
        data.put(number, after)
    elif after is not None:
        conflict = data.conflict(after)
        number = conflict[0] if conflict is not None else data.add(after)
    return number or 0


def _error(number: int, text: str) -> SqlError:
    error = SqlError(1064, "")
    error.report(number, "HY000", text)
    return error
