"""A session on a PostgreSQL server, and checks of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator import sources
from simulator.errors import MissingPackage, UsageError
from simulator.sql.server.url import Engine

if TYPE_CHECKING:
    import psycopg

_MAINTENANCE = "postgres"


class Connection:
    """A session on the server. Raises UsageError if the server cannot be reached, MissingPackage."""

    def __init__(self, engine: Engine, database: str = _MAINTENANCE) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingPackage(f"{engine} needs psycopg: pip install 'cdc-simulator[postgresql]'.") from None
        try:
            self.client: psycopg.Connection[Any] = psycopg.connect(
                host=engine.host,
                port=engine.port,
                user=engine.user,
                password=engine.password or None,
                dbname=database,
                client_encoding="utf8",
                autocommit=True,
                connect_timeout=10,
            )
        except psycopg.Error as error:
            raise UsageError(f"{engine} cannot be used: {text_of(error)}.") from None

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """The rows of a query, in the protocol's binary form."""
        with self.client.cursor(binary=True) as cursor:
            return cursor.execute(sql.encode(), values or None).fetchall()

    def value(self, sql: str, *values: Any) -> Any:
        return self.rows(sql, *values)[0][0]

    def names(self, sql: str) -> set[str]:
        return {name for (name,) in self.rows(sql)}

    def run(self, sql: str) -> None:
        """Run statements as a client does; results are discarded."""
        self.client.execute(sql.encode(errors="surrogateescape"))

    def copy(self, sql: str, data: str) -> None:
        """Run COPY … FROM stdin with these lines."""
        with self.client.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            copy.write(data.encode(errors="surrogateescape"))

    @property
    def in_transaction(self) -> bool:
        import psycopg

        return self.client.info.transaction_status is not psycopg.pq.TransactionStatus.IDLE

    @property
    def major(self) -> int:
        return self.client.info.server_version // 10_000

    @property
    def source(self) -> str:
        """The source system of the server: its version, or the next older supported one. Raises UsageError."""
        versions = [int(version) for version in sources.SOURCES["postgresql"][2]]
        if self.major < min(versions):
            raise UsageError(f"the server is PostgreSQL {self.major}; use {min(versions)} or newer.")
        return f"postgresql-{max(version for version in versions if version <= self.major)}"

    def check(self, database: str) -> None:
        """Raises UsageError for a server that does not log changes, or that already has the script's database."""
        if self.value("SELECT current_setting('wal_level')") != "logical":
            raise UsageError(
                "the server does not log changes: run ALTER SYSTEM SET wal_level = 'logical' and restart the server."
            )
        if database in self.databases():
            raise UsageError(
                f"the server has a database {database!r}, which the script might change; write a new "
                "name behind the port: a database is created for the script."
            )

    def databases(self) -> set[str]:
        return self.names("SELECT datname::text FROM pg_database")

    def roles(self) -> set[str]:
        return self.names("SELECT rolname::text FROM pg_roles")

    def close(self) -> None:
        self.client.close()


def text_of(error: psycopg.Error) -> str:
    """The error of the server or client in one line."""
    text = error.diag.message_primary or str(error)
    return " ".join(text.split()).rstrip(".?")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
