"""Converts the events of a MySQL or MariaDB server's log to literal transactions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from simulator.errors import UsageError
from simulator.model import DELETE, INSERT, StatementKind, Table
from simulator.sql.server.mysql import binlog
from simulator.sql.server.mysql.cells import images
from simulator.sql.server.mysql.connection import SYSTEM
from simulator.sql.server.mysql.tables import Tables
from simulator.sql.store.log import Log, SessionFacts
from simulator.stream.literal.transactions import Entry, RowChange, TableRows, Text

# A script's clock advances by this from one transaction to the next.
STEP_US: Final = 1_000_000
# Statements in a transaction that do not affect rows.
_XA_END: Final = re.compile(r"XA (COMMIT|ROLLBACK)\b", re.IGNORECASE)
_XA_BEGIN: Final = re.compile(r"XA (START|END)\b", re.IGNORECASE)
_MARKS: Final = re.compile(r"(BEGIN|SAVEPOINT|ROLLBACK TO|RELEASE SAVEPOINT|XA (START|END|PREPARE))\b", re.IGNORECASE)
_ROW_WORDS: Final = re.compile(r"\s*(INSERT|REPLACE|UPDATE|DELETE|LOAD)\b", re.IGNORECASE)
_READING_MODES: Final = {1: "REAL_AS_FLOAT", 2: "PIPES_AS_CONCAT", 4: "ANSI_QUOTES", 1 << 20: "NO_BACKSLASH_ESCAPES"}


@dataclass
class Session:
    """The state of a run: the log so far, the open transaction, the tables, the clock."""

    tables: Tables
    now_us: int = 0
    account: str = ""
    database: str = ""
    in_transaction: bool = False
    log: Log = field(default_factory=Log)
    warnings: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    facts: SessionFacts = field(default_factory=SessionFacts)
    gtid: str = "automatic"
    run: int = 0

    def heartbeat(self) -> None:
        self.log.heartbeat(self.now_us // 1000)
        self.now_us += STEP_US

    def current_rows(self) -> list[TableRows]:
        return self.tables.current_rows()

    def take_tables(self) -> list[Table]:
        """All tables, without their rows: the log has the ones that are needed."""
        return self.tables.take()

    def forget_spellings(self) -> None:
        """Forget the typed spellings of types: a log does not have them for tables that existed before."""
        self.tables.forget_spellings()


class Follower:
    """Appends the events of a log to a session's."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._note: binlog.Note | None = None

    def follow(self, event: binlog.Event, *, is_last_ddl: bool = False) -> None:
        match event:
            case binlog.Note():
                self._note = event
            case binlog.Rows():
                self._rows(event)
            case binlog.Gtid():
                self.session.gtid = event.text
            case binlog.Commit():
                self._commit(event.at_s)
            case binlog.Query():
                self._query(event, is_last_ddl)
            case binlog.FileEnd():
                self.session.log.ended_files += 1

    def skip(self) -> None:
        """Leave out rows: the statement noted before them does not belong to later rows."""
        self._note = None

    def _commit(self, at_s: int) -> None:
        entries, self.session.entries = self.session.entries, []
        if entries:
            self._write(entries, at_s)

    def _write(self, entries: list[Entry], at_s: int) -> None:
        session = self.session
        session.log.commit(entries, at_s * 1000, session.gtid, session.facts)

    def _query(self, event: binlog.Query, is_last_ddl: bool) -> None:
        session, sql = self.session, event.sql
        is_branch = _XA_BEGIN.match(sql) is not None
        session.facts = SessionFacts(event.thread, event.mode, event.charset, event.database, is_branch)
        if sql.startswith("COMMIT"):
            self._commit(event.at_s)
        elif sql.startswith("ROLLBACK") and not _MARKS.match(sql):
            session.entries = []
        elif match := _XA_END.match(sql):
            kind = StatementKind.XA_COMMIT if match[1].upper() == "COMMIT" else StatementKind.XA_ROLLBACK
            self._write([Text(kind, "", "", sql, event.at_s * 1000)], event.at_s)
        elif _ROW_WORDS.match(sql):
            raise UsageError("the server logged a statement instead of its rows; set binlog_format=ROW.")
        elif is_ddl(event):
            # only modes that change how a text is read matter
            modes = {mode for bit, mode in _READING_MODES.items() if event.mode & bit}
            entry = session.tables.ddl(event, modes, is_last=is_last_ddl)
            if entry is not None:
                self._write([entry], event.at_s)

    def _rows(self, event: binlog.Rows) -> None:
        session, map = self.session, event.table
        if map.database in SYSTEM:
            return
        tracked = session.tables.of(map)
        table, ms = tracked.table, event.at_s * 1000
        if self._note is not None:
            kind = StatementKind.ANNOTATION if self._note.annotation else StatementKind.ROWS_QUERY
            session.entries.append(Text(kind, map.database, map.table, self._note.sql, ms))
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
                    tracked.apply(before, after, logged[-1]),
                    session.run,
                    ms,
                    None if before is None else logged[0],
                    None if after is None else logged[-1],
                )
            )


def is_ddl(event: binlog.Event) -> bool:
    """Whether an event is a statement that changes definitions, accounts or the like."""
    if not isinstance(event, binlog.Query):
        return False
    ends = event.sql.startswith(("COMMIT", "ROLLBACK")) or _XA_END.match(event.sql)
    return not (ends or _MARKS.match(event.sql) or _ROW_WORDS.match(event.sql))
