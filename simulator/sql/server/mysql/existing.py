"""The existing log of a running server, from one position to another."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from simulator.errors import UsageError
from simulator.sources import find
from simulator.sql.catalog.servers import SERVERS
from simulator.sql.server.mysql import binlog
from simulator.sql.server.mysql.catalog import Catalog
from simulator.sql.server.mysql.connection import SYSTEM, Connection
from simulator.sql.server.mysql.history import Follower, Session
from simulator.sql.server.mysql.run import server_of
from simulator.sql.server.mysql.tables import Tables
from simulator.sql.server.url import Engine
from simulator.stream.literal.transactions import Entry, RowChange, Transaction


def position_of(text: str) -> tuple[str, int]:
    """`mysql-bin.000003:4` as file and offset in bytes. Raises UsageError."""
    match = re.fullmatch(r"(.+\.\d+):(\d+)", text)
    if match is None:
        raise UsageError(f"{text!r} is not a position in a binlog: write FILE:OFFSET, such as mysql-bin.000003:4.")
    return match[1], int(match[2])


class ExistingLog:
    """Reads the log into `session`. Columns come from the log itself (binlog_row_metadata=FULL); in other logs from the
    texts of DDL statements, and for tables from before the first position from the server's catalogue of now."""

    def __init__(self, engine: Engine, databases: Collection[str]) -> None:
        self.connection, self._databases = Connection(engine), frozenset(databases)
        self.source = find(self.connection.source)
        server = server_of(self.source, SERVERS[str(self.source)], self.connection)
        self.session = Session(Tables(server, Catalog(self.connection)))
        self._follower = Follower(self.session)

    def read(self, start: tuple[str, int], end: tuple[str, int] | None) -> None:
        """Read from one position to another; None: to the end. Raises UsageError."""
        import pymysql

        until = self.connection.position() if end is None else end
        try:
            for event in binlog.events(self.connection.packets(start, until)):
                if not isinstance(event, binlog.Rows) or self._is_chosen(event.table.database):
                    self._follower.follow(event)
                else:
                    self._follower.skip()
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


def _database(entry: Entry) -> str:
    return entry.table.id.database if isinstance(entry, RowChange) else entry.database
