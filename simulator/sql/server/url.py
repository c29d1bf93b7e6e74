"""The server that `--sql-engine` names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from simulator.errors import UsageError

# The URL of the PostgreSQL server of the wheel.
WHEEL: Final = "postgresql:"
# The initial database of PostgreSQL scripts, as in YAML scenarios.
DATABASE: Final = "shop"
# Default port and user of the systems.
_SYSTEMS: Final = {"mysql": (3306, "root"), "mariadb": (3306, "root"), "postgresql": (5432, "postgres")}
# Servers of this machine, or fetched ones, by the names that `--sql-engine` takes, with the sources that they can be;
# the first is the default.
LOCAL: Final = {
    "mysql": ("mysql-8.0", "mysql-5.7"),
    "mysql-8.0": ("mysql-8.0",),
    "mysql-5.7": ("mysql-5.7",),
    "mariadb": ("mariadb-10.11",),
    "mariadb-10.11": ("mariadb-10.11",),
}
_EXPECTED: Final = (
    "expected mysql://USER:PASSWORD@HOST:PORT, mariadb://… or postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with "
    "?keep=yes to keep the databases; or mysql, mysql-5.7 or mariadb, which starts a server for the run"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """The parsed value of `--sql-engine`. `host`: "" is the server of the wheel, or a server that is started here for
    one of the sources `local`. `keep`: the databases that the script creates are not dropped."""

    system: str
    host: str
    port: int
    user: str
    password: str
    database: str = ""
    keep: bool = False
    local: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.host.startswith("/"):
            return f"the server at {self.host}"
        return f"{self.system}://{self.host}:{self.port}" if self.host else WHEEL


def engine_of(url: str) -> Engine:
    """Raises UsageError, which never contains a password."""
    if url in LOCAL:
        return Engine(url.partition("-")[0], "", 0, "", "", local=LOCAL[url])
    if url == "postgresql":
        url = WHEEL
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise UsageError(f"the URL of the SQL server is wrong: {_EXPECTED}.") from None
    prefix = f"{parts.scheme}://{host}" if parts.scheme else "--sql-engine"
    system = "postgresql" if parts.scheme == "postgres" else parts.scheme
    database = unquote(parts.path.removeprefix("/"))
    if system not in _SYSTEMS or "/" in database or (database and system != "postgresql"):
        raise UsageError(f"{prefix}: {_EXPECTED}.")
    if not host and url != WHEEL:
        raise UsageError(f"{prefix}: {_EXPECTED}.")
    options = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    keep = options.pop("keep", "no")
    if options or keep not in ("yes", "no"):
        raise UsageError(f"{prefix}: the only option of such a URL is keep=yes or keep=no.")
    default_port, default_user = _SYSTEMS[system]
    try:
        port = parts.port or default_port
    except ValueError:
        raise UsageError(f"{prefix}: the port is no number up to 65535; {_EXPECTED}.") from None
    user, password = unquote(parts.username or default_user), unquote(parts.password or "")
    if system == "postgresql":
        database = database or DATABASE
    # a folder with a socket is written as %2Frun%2Fpostgresql
    return Engine(system, unquote(host), port, user, password, database, keep == "yes")
