"""Real servers that run scripts: those named in CDCSIM_MYSQL, CDCSIM_MYSQL57, CDCSIM_MARIADB and CDCSIM_POSTGRESQL,
else started here.

Without what they need (Maven, Debian) this fails with the sentence that says so; it never skips.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from native import native

# By source: the variable that names a server, the module of docker/native, its class, its options.
_SERVERS: Final = {
    "mysql-8.0": ("CDCSIM_MYSQL", "mysql", "Mysql", {"version": "8.0"}),
    "mysql-5.7": ("CDCSIM_MYSQL57", "mysql", "Mysql", {"version": "5.7"}),
    "mariadb-10.11": ("CDCSIM_MARIADB", "mariadb", "Mariadb", {}),
}
Servers = Callable[[str], str]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """`servers("mysql-5.7")` is the URL of an empty server of a source; it starts when it is first asked for."""
    urls: dict[str, str] = {}
    with ExitStack() as running:

        def url(source: str) -> str:
            if source not in urls:
                variable, module, kind, options = _SERVERS[source]
                if not (named := os.environ.get(variable)):
                    folder = tmp_path_factory.mktemp(source.replace(".", ""))
                    server = running.enter_context(getattr(native(module), kind)(folder, with_parent=True, **options))
                    named = f"{module}://root@{server.address}"
                urls[source] = named
            return urls[source]

        yield url


@pytest.fixture(scope="session")
def mariadb(servers: Servers) -> str:
    return servers("mariadb-10.11")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server with PostgreSQL's extensions. Its folder is one that every user can reach."""
    if named := os.environ.get("CDCSIM_POSTGRESQL"):
        yield named
        return
    with (
        tempfile.TemporaryDirectory(prefix="cdcsim-postgresql-", ignore_cleanup_errors=True) as folder,
        native("postgresql").Postgresql(folder, with_parent=True) as server,
    ):
        yield f"postgresql://postgres@{server.address}"
