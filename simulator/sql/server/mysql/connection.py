"""A connection to MySQL or MariaDB: a session, checks of the server, and the packets of its binlog."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import MissingPackage, UsageError
from simulator.sql.server.mysql.binlog import rotated
from simulator.sql.server.url import Engine

if TYPE_CHECKING:
    import pymysql

SYSTEM: Final = frozenset(("mysql", "information_schema", "performance_schema", "sys"))
_DUMP: Final = 0x12
_NON_BLOCKING, _ANNOTATIONS = 1, 2
_LOAD_LOCAL: Final = re.compile(r"\s*LOAD\s+(DATA|XML)\b.*?\bLOCAL\b", re.IGNORECASE | re.DOTALL)


class Connection:
    """A session on the server. Raises UsageError if the server cannot be reached, MissingPackage."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._options: dict[str, Any] = {}
        if engine.host.startswith("/"):
            self._options = {"ssl_disabled": True, "unix_socket": engine.host}
        self.client = self._open()
        if not self._options:
            self._options = {"ssl": self.client.ctx} if self.client._secure else {"ssl_disabled": True}
        self.version = str(self.value("SELECT VERSION()"))

    def another(self) -> Connection:
        """A further session; TLS certificates are loaded only once."""
        other = copy(self)
        other.client = self._open()
        return other

    def _open(self) -> pymysql.connections.Connection[Any]:
        try:
            import pymysql
        except ImportError:
            raise MissingPackage(f"{self.engine} needs PyMySQL: pip install 'cdc-simulator[mysql]'.") from None
        engine = self.engine
        try:
            client: pymysql.connections.Connection[Any] = _client()(
                host=engine.host,
                port=engine.port,
                user=engine.user,
                password=engine.password,
                charset="utf8mb4",
                collation="utf8mb4_general_ci",  # all servers have it
                autocommit=True,
                connect_timeout=10,
                local_infile=True,
                **self._options,
            )
            return client
        except (pymysql.MySQLError, RuntimeError) as error:
            raise UsageError(f"{engine} cannot be used: {_text(error)}.") from None

    def close(self) -> None:
        self.client._force_close()

    @property
    def source(self) -> str:
        """The source system of the server. Raises UsageError for an unsupported version."""
        if "mariadb" in self.version.lower():
            return "mariadb-10.11"
        match = re.match(r"(5\.7|8)\.", self.version)
        if match is None:
            raise UsageError(f"{self.engine}: the server is MySQL {self.version}; use MySQL 5.7 or 8, or MariaDB.")
        return "mysql-5.7" if match[1] == "5.7" else "mysql-8.0"

    def check(self) -> None:
        """Raises UsageError for a server that does not log rows, or with databases that a script might change."""
        if not self.value("SELECT @@log_bin"):
            raise UsageError(f"{self.engine}: the server has no binary log: start it with --log-bin --server-id=1.")
        self.client.query("SET SESSION binlog_format = 'ROW'")
        others = sorted(self.databases() - SYSTEM)
        if others:
            raise UsageError(
                f"{self.engine}: the server holds databases that a script might change, such as {others[0]!r}; use an "
                "empty server."
            )

    def value(self, sql: str) -> Any:
        rows = self.rows(sql)
        return rows[0][0] if rows else None

    def rows(self, sql: str) -> Any:
        with self.client.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def databases(self) -> set[str]:
        return {name for (name,) in self.rows("SHOW DATABASES")}

    def run(self, sql: str) -> None:
        """Run a statement as a client does; results are discarded."""
        # A server may ask for any file in response to any statement.
        self.client._local_infile = _LOAD_LOCAL.match(sql) is not None
        with self.client.cursor() as cursor:
            cursor.execute(sql)
            while cursor.nextset():
                pass

    def position(self) -> tuple[str, int]:
        """The end of the log."""
        name, offset, *_ = self.rows("SHOW MASTER STATUS")[0]
        return str(name), int(offset)

    def packets(self, start: tuple[str, int], end: tuple[str, int]) -> Iterator[bytes]:
        """The events of the log from one position to another."""
        client = self._open()
        checksum = 0 if str(self.value("SELECT @@GLOBAL.binlog_checksum")).upper() == "NONE" else 4
        try:
            client.query("SET @master_binlog_checksum = @@GLOBAL.binlog_checksum")
            client.query("SET @mariadb_slave_capability = 4")
            name, offset = start
            flags = _NON_BLOCKING | _ANNOTATIONS
            client._execute_command(_DUMP, struct.pack("<IHI", offset, flags, 0x7FFFFFF0) + name.encode())
            while True:
                packet = client._read_packet().get_all_data()
                if packet[0] == 0xFE:
                    return
                event = packet[1 : len(packet) - checksum]
                next_name = rotated(event)
                name = next_name or name
                (end_offset,) = struct.unpack_from("<I", event, 13)
                if next_name is None and (name, end_offset) > end:
                    return
                yield event
        finally:
            client._force_close()


@cache
def _client() -> Any:
    """PyMySQL's connection, whose errors have the server's SQLSTATE as `sqlstate`."""
    import pymysql
    from pymysql.connections import Connection as Client
    from pymysql.protocol import MysqlPacket

    class Packet(MysqlPacket):  # type: ignore[misc]
        def raise_for_error(self) -> None:
            try:
                super().raise_for_error()
            except pymysql.MySQLError as error:
                raw = self.get_all_data()
                error.sqlstate = raw[4:9].decode("ascii", "replace") if raw[3:4] == b"#" else ""
                raise

    class StateClient(Client):  # type: ignore[misc]
        def _read_packet(self, packet_type: Any = Packet) -> Any:
            return super()._read_packet(packet_type)

    return StateClient


def _text(error: Exception) -> str:
    return str(error.args[-1] if error.args else error).rstrip(".")
