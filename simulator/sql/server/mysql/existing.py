"""The existing log of a running server, from one position to another."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from simulator.errors import UsageError
from simulator.sources import find
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.parse.words import quoted
from simulator.sql.server.mysql import binlog
from simulator.sql.server.mysql.connection import SYSTEM, Connection
from simulator.sql.server.mysql.history import Follower, server_of
from simulator.sql.server.url import Engine
from simulator.sql.statements.execute import call_function, execute, run_body
from simulator.sql.store.log import SessionFacts
from simulator.sql.store.rows import Data
from simulator.sql.store.session import Session
from simulator.stream.literal.transactions import Entry, RowChange, Transaction


def position_of(text: str) -> tuple[str, int]:
    """`mysql-bin.000003:4` as file and offset in bytes. Raises UsageError."""
    match = re.fullmatch(r"(.+\.\d+):(\d+)", text)
    if match is None:
        raise UsageError(f"{text!r} is not a position in a binlog: write FILE:OFFSET, such as mysql-bin.000003:4.")
    return match[1], int(match[2])


class ExistingLog(Follower):
    """Reads the log into `session`. Tables created before the first position have the current column names of the
    server. Raises UsageError."""

    def __init__(self, engine: Engine, databases: Collection[str]) -> None:
        self.connection, self._databases = Connection(engine), frozenset(databases)
        self.source = find(self.connection.source)
        server = server_of(self.source, SERVERS[str(self.source)], self.connection)
        self.session = Session(server, 0, run_body, call_function)
        self.session.settings["foreign_key_checks"] = False
        self.session.logged_facts = SessionFacts()

    def read(self, start: tuple[str, int], end: tuple[str, int] | None) -> None:
        """Read from one position to another; None: to the end. Raises UsageError."""
        import pymysql

        until = self.connection.position() if end is None else end
        try:
            for event in binlog.events(self.connection.packets(start, until)):
                if not isinstance(event, binlog.Rows) or self._is_chosen(event.table.database):
                    self.follow(event)
                else:
                    self._note = None
        except pymysql.MySQLError as error:
            message = str(error.args[-1]).rstrip(".")
            raise UsageError(f"--from {start[0]}:{start[1]}: the server does not send its log: {message}.") from None

    @property
    def transactions(self) -> list[Transaction]:
        """Transactions with changes in the chosen databases, without changes in other databases."""
        chosen = []
        for transaction in self.session.log.transactions:
            entries = tuple(entry for entry in transaction.entries if self._is_chosen(_database(entry)))
            if entries:
                chosen.append(replace(transaction, entries=entries))
        return chosen

    def _is_chosen(self, database: str) -> bool:
        return database not in SYSTEM and (not self._databases or database in self._databases)

    def table(self, id: binlog.TableMap) -> Data:
        session = self.session
        database = session.databases.get(id.database)
        if database is None or id.table not in database.tables:
            self._define(id)
        return session.table(id.database, id.table)

    def _define(self, id: binlog.TableMap) -> None:
        """Create the table in the session as the server has it now, without a log entry."""
        import pymysql

        session = self.session
        log_bin, clock, entries = session.settings["log_bin"], session.now_us, session.entries
        session.settings["log_bin"], session.entries = False, []
        try:
            (_, text), *_ = self.connection.rows(f"SHOW CREATE TABLE {quoted(id.database)}.{quoted(id.table)}")
            execute(session, f"CREATE DATABASE IF NOT EXISTS {quoted(id.database)}")
            session.database, session.modes = id.database, set()
            execute(session, text)
        except pymysql.MySQLError:
            raise UsageError(
                f"the log has rows of {id.database}.{id.table}, which the server no longer has, so its columns are "
                "unknown: begin before its CREATE TABLE, or leave its database out of --databases."
            ) from None
        finally:
            session.settings["log_bin"], session.now_us, session.entries = log_bin, clock, entries


def _database(entry: Entry) -> str:
    return entry.table.id.database if isinstance(entry, RowChange) else entry.database
