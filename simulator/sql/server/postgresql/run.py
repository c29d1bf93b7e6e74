"""A script's run on a PostgreSQL server."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from simulator.errors import UsageError
from simulator.sources.source import Source
from simulator.sql.errors import ServerError, UnreadLog
from simulator.sql.parse.client import Statement
from simulator.sql.server.postgresql import pgoutput
from simulator.sql.server.postgresql.client import Copy, MetaCommand
from simulator.sql.server.postgresql.cluster import VERSION, Cluster
from simulator.sql.server.postgresql.connection import Connection, quoted, text_of
from simulator.sql.server.postgresql.decoding import Decoding
from simulator.sql.server.postgresql.history import Session
from simulator.sql.server.url import engine_of

if TYPE_CHECKING:
    import psycopg

# The SQLSTATE of what a server lacks.
_NOT_SUPPORTED: Final = "0A000"
_CONNECT: Final = re.compile(
    r"""\\c(?:onnect)?\s+(?:-reuse-previous=on\s+)?(?:"dbname='([^']+)'"|"([^"]+)"|([^\s"]+))"""
)
# Statements of dumps that change no row, and the SQLSTATEs of a role or extension that the server does not have.
_OF_ROLES: Final = re.compile(
    r"GRANT\b|REVOKE\b|ALTER\s+DEFAULT\s+PRIVILEGES\b|ALTER\s.*\sOWNER\s+TO\s", re.IGNORECASE | re.DOTALL
)
_OF_EXTENSIONS: Final = re.compile(
    r"CREATE\s+EXTENSION\s+IF\s+NOT\s+EXISTS\b|COMMENT\s+ON\s+EXTENSION\b", re.IGNORECASE
)
_UNDEFINED: Final = "42704"
_NO_FILE: Final = "58P01"
_NAMED: Final = re.compile(r'"([^"]+)"')
# Meta-commands that change no data.
_IGNORED: Final = re.compile(r"\\(set|unset|echo|timing|encoding|pset)\b")


class PostgresRun:
    """A server that runs a script in a new database. Raises UsageError if the server cannot be used."""

    def __init__(self, url: str, source: Source, start_ms: int, *, leaves_out: bool = False) -> None:
        self.engine = engine_of(url)
        database = self.engine.database
        self.session = Session(source, start_ms, leaves_out=leaves_out)
        # ends of statements in the log, and their lines
        self._ends, self._lines = list[int](), list[int]()
        # lines of skipped statements, and the roles and extensions that the server does not have
        self._skipped: dict[str, list[tuple[int, str]]] = {"role": [], "extension": []}
        self._cluster: Cluster | None = None
        self._open: list[Connection | Decoding] = []
        self._before: tuple[set[str], set[str]] | None = None
        try:
            if not self.engine.host:
                self._cluster = _wheel(source)
                self.engine = self._cluster.engine
            main = Connection(self.engine)
            self._open.append(main)
            if main.source != str(source):
                raise UsageError(
                    f"the server is PostgreSQL {main.major}, which is run as {main.source}, and the source is "
                    f"{source}: leave --source out, or write --source {main.source}."
                )
            main.check(database)
            self._before = main.databases(), main.roles()
            main.run(f"CREATE DATABASE {quoted(database)}")
            self._enter(database)
        except BaseException:
            self.close()
            raise

    def _enter(self, database: str) -> None:
        """Continue in another database."""
        import psycopg

        script = Connection(self.engine, database)
        self._open.append(script)
        log = Connection(self.engine, database)
        self._open.append(log)
        try:
            self.decoding = Decoding(log)
        except psycopg.Error as error:
            raise UsageError(f"the log cannot be read: {text_of(error)}.") from None
        self._open[-1] = self.decoding
        self.script = script
        self.session.enter(database)

    def statement(self, part: Statement) -> None:
        """Raises SqlError with the server's SQLSTATE and text."""
        import psycopg

        try:
            if isinstance(part, MetaCommand):
                self._meta(part.text)
            elif isinstance(part, Copy):
                self.script.copy(part.text, part.data)
            else:
                self.script.run(part.text)
        except psycopg.Error as error:
            if self.script.client.broken:
                raise UsageError(f"the server ended the session: {text_of(error)}.") from None
            if not self.script.in_transaction and (kind := _missing(part.text, error.sqlstate)):
                name = _NAMED.search(text_of(error))
                self._skipped[kind].append((part.line, name[1] if name else ""))
                return
            raise ServerError(error.sqlstate or "", text_of(error) + self._advice(error)) from None
        finally:
            self.session.in_transaction = self.script.in_transaction
            self._ends.append(self.decoding.end())
            self._lines.append(part.line)

    def _advice(self, error: psycopg.Error) -> str:
        """The way out where the server of the wheel lacks an extension."""
        missing = self._cluster is not None and error.sqlstate == _NOT_SUPPORTED and "extension" in text_of(error)
        return " on the server of the wheel; --sql-engine postgresql://USER:PASSWORD@HOST:PORT names one" * missing

    def _meta(self, text: str) -> None:
        if _IGNORED.match(text):
            return
        match = _CONNECT.fullmatch(text)
        if match is None:
            raise ServerError("", f"{text.split()[0]} of psql is not supported; leave it out")
        self.read()
        while len(self._open) > 1:
            self._open.pop().close()
        self._enter(match[1] or match[2] or match[3])

    def read(self) -> None:
        """Append what the server has logged since the last call to the session's log. Raises UnreadLog."""
        try:
            self.session.read([(position, pgoutput.event(raw)) for position, raw in self.decoding.changes()])
        except UsageError as error:
            raise UnreadLog(self._line(self.session.position), str(error)) from None

    def _line(self, position: int) -> int:
        """The line of the statement that logged this position."""
        return self._lines[min(bisect_right(self._ends, position), len(self._lines) - 1)]

    @property
    def skipped(self) -> list[tuple[int, str]]:
        """A warning for each kind of skipped statement, with the line of the first."""
        texts = {
            "role": "about owners and privileges of roles that the server does not have",
            "extension": "about extensions that the server does not have",
        }
        warnings = []
        for kind, skipped in self._skipped.items():
            if skipped:
                count = f"{len(skipped)} statement{'s' * (len(skipped) > 1)}"
                names = ", ".join(dict.fromkeys(name for _, name in skipped))
                verb = "are" if len(skipped) > 1 else "is"
                warnings.append((skipped[0][0], f"{count} {texts[kind]} ({names}) {verb} skipped"))
        return warnings

    @property
    def left_out(self) -> list[UnreadLog]:
        """Tables that were left out."""
        return [UnreadLog(self._line(position), text) for position, text in self.session.left_out]

    def close(self) -> None:
        """Drop what the script created, unless `keep` is set."""
        try:
            while self._open:
                self._open.pop().close()
            if self._before is not None and not self.engine.keep:
                self._drop(*self._before)
        finally:
            if self._cluster is not None:
                self._cluster.close()

    def _drop(self, databases: set[str], roles: set[str]) -> None:
        """Drop databases and roles in a new session, since the script's may be interrupted."""
        connection = Connection(self.engine)
        try:
            for name in connection.databases() - databases:
                connection.run(f"DROP DATABASE {quoted(name)}")
            for name in connection.roles() - roles:
                connection.run(f"DROP ROLE {quoted(name)}")
        finally:
            connection.close()


def _missing(statement: str, state: str | None) -> str:
    """ "role" or "extension" if a statement of a dump failed only because the server does not have it, else ""."""
    if state == _UNDEFINED and _OF_ROLES.match(statement):
        return "role"
    return "extension" * (state in (_UNDEFINED, _NOT_SUPPORTED, _NO_FILE) and bool(_OF_EXTENSIONS.match(statement)))


def _wheel(source: Source) -> Cluster:
    if source.version != VERSION:
        raise UsageError(
            f"the PostgreSQL of the wheel is version {VERSION}, and the source is {source}: name a server with "
            f"--sql-engine, or use --source postgresql-{VERSION}."
        )
    cluster = Cluster()
    try:
        cluster.wait()
    except BaseException:
        cluster.close()
        raise
    return cluster
