"""The table of source systems, sorted, one line each; imported when first asked for.

A source is written `mysql`, `mysql-5.7`, `oceanbase-mysql-4.3`: the id, and the version if it is not the default one.
Read `source.py` first, the contract, and `log.py`; README.md describes how to add a source: one package, and one line
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from simulator import registry
from simulator.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from simulator.sources.source import Source

# id: where its class lives, title, versions with the default first
SOURCES: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "gaussdb": ("simulator.sources.postgresql.gaussdb:GaussdbSource", "GaussDB", ("505",)),
    "mariadb": ("simulator.sources.mysql.source:MariadbSource", "MariaDB", ("10.11",)),
    "mongodb": ("simulator.sources.mongodb.source:MongodbSource", "MongoDB", ("6.0", "4.4")),
    "mysql": ("simulator.sources.mysql.source:MysqlSource", "MySQL", ("8.0", "5.7")),
    "oceanbase-mysql": (
        "simulator.sources.oceanbase.source:OceanbaseMysqlSource",
        "OceanBase in MySQL mode",
        ("4.3",),
    ),
    "oceanbase-oracle": (
        "simulator.sources.oceanbase.source:OceanbaseOracleSource",
        "OceanBase in Oracle mode",
        ("4.3",),
    ),
    "oracle": ("simulator.sources.oracle.source:OracleSource", "Oracle", ("19c", "21c", "11g")),
    "postgresql": ("simulator.sources.postgresql.source:PostgresqlSource", "PostgreSQL", ("16", "14", "12")),
    "sqlserver": ("simulator.sources.sqlserver.source:SqlserverSource", "SQL Server", ("2022", "2019", "2016")),
}
# Systems that accept the types and the SQL of another.
SPEAKS: Final[Mapping[str, str]] = {"oceanbase-mysql": "mysql"}
# Huawei Cloud's names of products whose log is that of another system.
VENDORS: Final[Mapping[str, str]] = {"dds": "mongodb", "gaussdb-mysql": "mysql", "taurusdb": "mysql"}
# The source of a scenario or SQL script that names none.
DEFAULT: Final = "mysql"
_CLASSES: Final = {id: where for id, (where, _, _) in SOURCES.items()}


def listed() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Title and versions of every source, sorted; only plug-in sources are imported."""
    facts = {id: (title, versions) for id, (_, title, versions) in SOURCES.items()}
    for id in registry.names("source", _CLASSES).keys() - facts.keys():
        cls: type[Source] = registry.load("source", _CLASSES, id)
        facts[id] = (cls.TITLE or id, cls.VERSIONS or ("1",))
    return dict(sorted(facts.items()))


@cache
def find(text: str) -> Source:
    """`find("mysql")`, `find("mysql-5.7")`, `find("taurusdb")`. Raises UnknownName, or UsageError for an unknown
    version.
    """
    text = VENDORS.get(text, text)
    names = SOURCES if _id(text, SOURCES) else registry.names("source", _CLASSES)
    id = _id(text, names)
    if not id:
        raise UnknownName("source", text, names, "`cdcsim sources` lists them all.")
    cls: type[Source] = registry.load("source", _CLASSES, id)
    title, versions = SOURCES[id][1:] if id in SOURCES else (cls.TITLE or id, cls.VERSIONS or ("1",))
    version = versions[0] if text == id else text[len(id) + 1 :]
    if version not in versions:
        raise UsageError(f"--source {text}: the versions of {title} are {', '.join(versions)}, not {version!r}.")
    return cls(id, version, title)


def _id(text: str, ids: Mapping[str, object]) -> str:
    """The longest id that a text begins with; ids may contain a dash."""
    return max((id for id in ids if text == id or text.startswith(f"{id}-")), key=len, default="")
