"""The tables that a dump or a DDL script leaves, and about how many rows it puts into each.

The statements that define tables run in the SQL engine; all others are passed over. A dump's rows stand in lines of
their own, which are counted while the file is read and not kept.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simulator import sources
from simulator.errors import ScenarioError, UsageError, short
from simulator.model import TableId
from simulator.sources.source import Source
from simulator.sql.catalog.definitions import Database, Definition
from simulator.sql.catalog.servers import SERVERS, default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.client import Statement, split
from simulator.sql.parse.server_text import with_version_comments
from simulator.sql.script import Embedded
from simulator.sql.store.session import Session

STANDARD_INPUT: Final = "-"
_COMMENTS: Final = r"(?:\s|/\*(?!M?!).*?\*/|--[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z))*"
_DEFINES: Final = re.compile(
    _COMMENTS + r"(?:(?:CREATE|ALTER|DROP)\s+(?:OR\s+REPLACE\s+|IGNORE\s+|UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?"
    r"(?:TABLE|INDEX|DATABASE|SCHEMA)|RENAME\s+TABLES?|USE)\b",
    re.IGNORECASE | re.DOTALL,
)
_DROPS: Final = re.compile(_COMMENTS + r"DROP\b", re.IGNORECASE | re.DOTALL)
_NAME: Final = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_INSERT: Final = re.compile(rf"\s*(?:INSERT|REPLACE)\s[^`(]*?INTO\s+((?:{_NAME}\s*\.\s*)?{_NAME})", re.IGNORECASE)
_NEXT_ROW: Final = re.compile(r"\)\s*,\s*\(")
# Words that MySQL and MariaDB do not have, and whose they are.
_DIALECTS: Final = (
    (re.compile(r"\b(?:VARCHAR2|NUMBER\s*\(|CLOB\b)", re.IGNORECASE), "Oracle"),
    (re.compile(r"\[\w+\]|\bN?VARCHAR\s*\(\s*MAX\s*\)|\bIDENTITY\s*\(", re.IGNORECASE), "SQL Server"),
    (re.compile(r"\bAUTOINCREMENT\b", re.IGNORECASE), "SQLite"),
    (
        re.compile(
            r"::|\b(?:BYTEA|JSONB|CHARACTER\s+VARYING|TIMESTAMPTZ|BIGSERIAL|WITH(?:OUT)?\s+TIME\s+ZONE|nextval)\b"
            r"|^\s*ALTER\s+TABLE\s+ONLY\b",
            re.IGNORECASE,
        ),
        "PostgreSQL",
    ),
)

# Of errors of the engine.
SYNTAX_ERROR: Final = 1064
NO_DATABASE: Final = 1049
# A database, table or index is there already, or is not there to be dropped.
HARMLESS: Final = (1007, 1008, NO_DATABASE, 1051, 1091)


@dataclass(frozen=True)
class Schema:
    """Tables in the order in which they were created; `rows` of those that the file has rows of, about; `database` is
    that of most tables."""

    file: str
    source: Source
    database: str
    tables: tuple[Definition, ...]
    rows: Mapping[TableId, int]


def read_schema(path: str, source: str | None = None) -> Schema:
    """Of a file, or of standard input (`-`). `source` is what `--source` says; None: MariaDB where the file says that
    it is one's dump, else MySQL 8.0.

    Raises UsageError for a file that cannot be read, ScenarioError for a statement that cannot be.
    """
    reading = _Lines("" if path == STANDARD_INPUT else path)
    try:
        with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as file:
            text = "\n".join(reading.kept(line.decode("utf-8", "surrogateescape") for line in file))
    except OSError as error:
        raise UsageError(f"the SQL file {path!r} cannot be read: {error.strerror}.") from None
    path = "standard input" if path == STANDARD_INPUT else path
    system = sources.find(source or ("mariadb" if reading.mariadb else sources.DEFAULT))
    if str(system) not in SERVERS:
        raise UsageError(f"--source {source}: tables are read as those of {', '.join(SERVERS)}.")
    session = _run(path, text.removeprefix("\ufeff"), system, reading)
    held = [data for data in session.all_tables() if not data.definition.temporary]
    if not held:
        raise ScenarioError(path, None, "", "there is no CREATE TABLE; write the tables with `mysqldump --no-data`.")
    databases = Counter(data.definition.id.database for data in held)
    rows = {data.definition.id: data.next_auto - 1 for data in held if data.next_auto > 2}
    for id, count in reading.rows.items():
        rows[id] = count
    ((database, _),) = databases.most_common(1)
    return Schema(path, system, database, tuple(data.definition for data in held), rows)


class _Lines:
    """The lines of a file without those that are rows of a dump: an INSERT from its first word to `);`."""

    def __init__(self, path: str) -> None:
        self.mariadb = False
        self.database = re.sub(r"[.`\s]+", "_", Path(path).stem).strip("_")[:64] or "shop"
        self.rows: Counter[TableId] = Counter()

    def kept(self, lines: Iterable[str]) -> Iterator[str]:
        database = self.database
        for number, line in enumerate(lines):
            line = line.rstrip("\r\n")
            if line[:6].upper() == "INSERT" and line.endswith(");"):
                self.count(line, database)
                yield ""  # lines keep their numbers
                continue
            if number < 50 and ("MariaDB" in line or line.startswith("/*M!")):
                self.mariadb = True
            if used := re.match(rf"USE\s+({_NAME})", line, re.IGNORECASE):
                database = _bare(used[1])
            yield line

    def count(self, insert: str, database: str) -> None:
        """Rows between brackets; a text that looks like their border counts as one, too."""
        if (into := _INSERT.match(insert)) is None:
            return
        names = [_bare(name) for name in re.findall(_NAME, into[1])]
        self.rows[TableId(names[0] if len(names) > 1 else database, names[-1])] += len(_NEXT_ROW.findall(insert)) + 1


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _run(path: str, text: str, source: Source, reading: _Lines) -> Session:
    """The session after the statements that define tables."""
    engine = Embedded(source)
    session = engine.session
    engine.statement(Statement.of("SET sql_mode = '', foreign_key_checks = 0", 1))
    _database(session, reading.database)
    session.connection.database = reading.database
    for part in split(text):
        if not isinstance(part, Statement):
            continue
        if _INSERT.match(part.text):
            reading.count(part.text, session.database)
        elif _DEFINES.match(with_version_comments(part.text, session.server)):
            _define(path, engine, part)
    return session


def _define(path: str, engine: Embedded, part: Statement) -> None:
    for _ in range(3):
        try:
            engine.statement(part)
        except SqlError as error:
            if error.number == NO_DATABASE and not _DROPS.match(part.text):  # a database that the file does not create
                _database(engine.session, str(error.facts[0]))
                continue
            if error.number in HARMLESS:
                return
            raise _problem(path, part, engine.session, *_what(error, part.text)) from None
        except (Unsupported, RecursionError) as error:
            raise _problem(path, part, engine.session, f"{error} is not supported") from None
        engine.session.warnings.clear()
        return


def _database(session: Session, name: str) -> None:
    charset = session.server.charset
    session.objects.databases.setdefault(name, Database(name, charset, default_collation(charset, session.server)))


def _what(error: SqlError, statement: str) -> tuple[str, int]:
    """Description of an error in one line, and the line of the statement where it is, from 0."""
    if error.key != SYNTAX_ERROR:
        return str(error).rstrip("."), 0
    near = str(error.facts[0])
    at = statement.rfind(near) if near else len(statement)
    return f"the syntax near {_quoted(near) if near else 'its end'}", statement.count("\n", 0, max(at, 0))


def _quoted(text: str) -> str:
    return short(" ".join(text.split()))


def _problem(path: str, part: Statement, session: Session, problem: str, line: int = 0) -> ScenarioError:
    dialect = next((name for pattern, name in _DIALECTS if pattern.search(part.text)), None)
    advice = "change or remove the statement, or name the server that it was written for with --source"
    if dialect is not None:
        advice = f"it looks like {dialect}'s: rewrite it as MySQL's or MariaDB's CREATE TABLE"
    which = f"{_quoted(part.text)} cannot be read as {session.server.id}'s"
    return ScenarioError(path, part.line + line, "", f"{which} ({problem}); {advice}.")
