"""A script's run on a MySQL or MariaDB server, which may be started for it."""

from __future__ import annotations

import re
import shutil
import socket
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from simulator.errors import UsageError
from simulator.fetching import kept
from simulator.sources.mysql.log import SERVER_UUID
from simulator.sources.source import Source
from simulator.sql.catalog.servers import Server
from simulator.sql.errors import SqlError
from simulator.sql.parse.client import Statement
from simulator.sql.parse.words import quoted
from simulator.sql.server.kept import KeptProcess
from simulator.sql.server.mysql import binlog
from simulator.sql.server.mysql.catalog import Catalog
from simulator.sql.server.mysql.connection import SYSTEM, Connection
from simulator.sql.server.mysql.history import STEP_US, Follower, Session, is_ddl
from simulator.sql.server.mysql.programs import Program, program_of
from simulator.sql.server.mysql.tables import Tables
from simulator.sql.server.url import Engine, engine_of
from simulator.sql.store.log import SessionFacts

# Small files: the data directory is copied for each run.
_SMALL: Final = {"innodb_log_file_size": "4M"}
_GREETING: Final = b"\x0a"


class LocalServer:
    """A server of a source, started for one run in its own folder and removed at its end.

    The data directory is created once and kept in the cache; each run copies it, so runs are independent and begin at
    the same position of the log. Raises UsageError if the server cannot be had or started.
    """

    def __init__(self, source: str) -> None:
        if sys.platform == "win32":
            raise UsageError("a server of this machine runs on Linux and macOS: name one with mysql://USER@HOST:PORT.")
        program = program_of(source)
        template = kept(f"mysql-data-{program.version}", lambda scratch, folder: _create(program, folder))
        self.folder = Path(tempfile.mkdtemp(prefix="cdcsim-mysql-"))
        try:
            shutil.copytree(template, self.folder / "data")
            settings = {name.replace("_", "-"): value for name, value in _SMALL.items()} | program.settings(self.folder)
            options = ["--no-defaults", *(f"--{name}={value}" for name, value in settings.items())]
            self._process = KeptProcess(
                self.folder,
                [str(program.path), *options, "--skip-networking"],
                signal="KILL",
                environment=program.environment,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        if not self._process.wait(self._is_ready, failure="[ERROR]"):
            line = self._process.last_line
            self.close()
            raise UsageError(f"{program.path} does not start: {line}")

    @property
    def engine(self) -> Engine:
        return Engine("mysql", str(self.folder / "socket"), 0, "root", "", keep=True)

    def _is_ready(self) -> bool:
        """Whether the server greets: with a packet that begins with the version of the protocol."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.folder / "socket"))
                return connection.recv(5)[4:] == _GREETING
            except OSError:
                return False

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self._process.close()


def _create(program: Program, folder: Path) -> None:
    program.initialize(folder, **_SMALL)
    if not program.is_mariadb:
        (folder / "auto.cnf").write_text(f"[auto]\nserver-uuid={SERVER_UUID}\n")


# Errors after which the session is lost.
_LOST: Final = frozenset({0, 2006, 2013, 2055})
# Statements that read the result of the previous one: the clock must not be set between them.
_DIAGNOSTICS: Final = re.compile(
    r"\b(ROW_COUNT|FOUND_ROWS)\s*\(|@@(\w+\.)?(warning|error)_count\b|\bDIAGNOSTICS\b", re.IGNORECASE
)
# Statements that change no definition. The log is read before and after all others, while the catalogue shows what they
# did.
_ROWS_ONLY: Final = re.compile(
    r"\s*(INSERT|REPLACE|UPDATE|DELETE|SELECT|WITH|SET|BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|XA|USE|LOCK|UNLOCK"
    r"|LOAD|DO|SHOW|PREPARE)\b",
    re.IGNORECASE,
)
_IN_TRANSACTION: Final = 1


def server_of(source: Source, server: Server, connection: Connection) -> Server:
    """The facts of this kind of server with the character set of the connected one. Raises UsageError if the server is
    not `source`."""
    if connection.source != str(source):
        raise UsageError(f"the server is {connection.version}, and the source is {source}: change --source.")
    charset, collation = connection.rows("SELECT @@character_set_server, @@collation_server")[0]
    return replace(server, charset=charset, collation=collation)


class ServerRun:
    """A server that runs a script's statements. Raises UsageError if it cannot be used."""

    def __init__(self, url: str, source: Source, server: Server, start_ms: int) -> None:
        engine = engine_of(url)
        self._local: LocalServer | None = None
        if engine.local:
            if str(source) not in engine.local:
                raise UsageError(f"--sql-engine {url}: the source is {source}: change --source.")
            self._local = LocalServer(str(source))
            engine = self._local.engine
        try:
            # A separate session: statements between those of the script would change its ROW_COUNT().
            self.control = Connection(engine)
            self.connection = self.control.another()
        except BaseException:
            self._stop()
            raise
        try:
            self.connection.check()
            self.server = server_of(source, server, self.control)
            self.users = self._users()
            self._at = self._logged = self.control.position()
            tables = Tables(self.server, Catalog(self.control))
        except BaseException:
            self._hang_up()
            self._stop()
            raise
        self.session = Session(tables, start_ms * 1000)
        self.session.facts = SessionFacts(self.connection.client.thread_id())
        self._follower = Follower(self.session)
        for gtids in () if self.server.mariadb else self._executed():
            self.session.log.execute(gtids)

    def close(self) -> None:
        """Drop what the script created, unless `keep` is set; in a new session, since the others may be interrupted."""
        self._hang_up()
        self._stop()
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

    def _stop(self) -> None:
        if self._local is not None:
            self._local.close()

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
        """Raises SqlError with the server's number, SQLSTATE and text."""
        rows_only = _ROWS_ONLY.match(part.text) is not None
        if not rows_only:
            self.read()
        try:
            self._run(part)
        finally:
            if self.connection.client.open:
                self.session.in_transaction = bool(self.connection.client.server_status & _IN_TRANSACTION)
            before, self._logged = self._logged, self.control.position()
            if self._logged != before:
                self.session.now_us += STEP_US
        if not rows_only:
            self._read_ddl()

    def _run(self, part: Statement) -> None:
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
            raise _error(int(number or 0), getattr(error, "sqlstate", ""), text) from None

    def read(self) -> None:
        """Append what the server has logged since the last call to the session's log."""
        if self._logged != self._at:
            start, self._at = self._at, self._logged
            for event in binlog.events(self.control.packets(start, self._logged)):
                self._follower.follow(event)

    def _read_ddl(self) -> None:
        """Read the log of one statement. The catalogue shows the tables as its last DDL left them."""
        if self._logged != self._at:
            start, self._at = self._at, self._logged
            events = list(binlog.events(self.control.packets(start, self._logged)))
            last_ddl = max((i for i, event in enumerate(events) if is_ddl(event)), default=-1)
            for i, event in enumerate(events):
                self._follower.follow(event, is_last_ddl=i == last_ddl)

    def end(self) -> None:
        """Note the database that the script's session is in at its end."""
        self.session.database = str(self.connection.value("SELECT DATABASE()") or "")


def _error(number: int, state: str, text: str) -> SqlError:
    error = SqlError(1064, "")
    error.report(number, state or "HY000", text)
    return error
