"""The tables that a dump or a DDL script leaves, and about how many rows it puts into each.

MySQL's and MariaDB's statements that define tables run in the SQL engine, those of other systems are read by
`definitions`; all others are passed over. A dump's rows stand in lines of
their own, which are counted while the file is read and not kept.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from simulator import sources
from simulator.drafts.data_schemas import is_data_schema, read_data_schema
from simulator.drafts.definitions import read_definitions
from simulator.drafts.servers import ColumnFacts, Live, is_url, open_live
from simulator.drafts.words import ORACLE, POSTGRESQL, SQLSERVER
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
_NAME: Final = r"(?:`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|\[[^\]]+\]|[\w$]+)"
_INSERT: Final = re.compile(
    rf"\s*(?:INSERT|REPLACE)\s(?:[^`(\"\[]*?INTO\s)?\s*((?:{_NAME}\s*\.\s*)?{_NAME})", re.IGNORECASE
)
_COPY: Final = re.compile(rf"COPY\s+((?:{_NAME}\s*\.\s*)?{_NAME})[^;]*\bFROM stdin;", re.IGNORECASE)
# Texts and comments, whose words say nothing of the system.
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'|--[^\n]*|/\*(?!M?!).*?\*/", re.DOTALL)
_NEXT_ROW: Final = re.compile(r"\)\s*,\s*\(")
# Words that MySQL and MariaDB do not have, and whose they are. Names in brackets may be words of others, and Oracle has
# some of PostgreSQL's.
_DIALECTS: Final = (
    (
        re.compile(
            r"(?<!\w)\[\w*[A-Z_]\w*\]|\bN?VARCHAR\s*\(\s*MAX\s*\)|\bIDENTITY\s*\(|\b(?:DATETIME2|UNIQUEIDENTIFIER)\b",
            re.IGNORECASE,
        ),
        "sqlserver",
    ),
    (re.compile(r"\b(?:N?VARCHAR2|NUMBER\s*\(\s*[\d*]|N?CLOB\b|WITH\s+LOCAL\s+TIME\s+ZONE)", re.IGNORECASE), "oracle"),
    (
        re.compile(
            r"::|\bWITH(?:OUT)?\s+TIME\s+ZONE\b|\bALTER\s+TABLE\s+ONLY\b|\bAS\s+ENUM\b|\w\s*\[\d*\]"
            r"|\b(?:BYTEA|JSONB|CHARACTER\s+VARYING|TIMESTAMPTZ|BIGSERIAL|nextval|INET|UUID|CITEXT|INT[248])\b",
            re.IGNORECASE,
        ),
        "postgresql",
    ),
)
# Dumps that say what they are, in their first lines.
_HEADS: Final = {"mariadb": "-- MariaDB dump", "postgresql": "-- PostgreSQL database dump"}
# By the source's id.
_SPEAKS: Final = {
    "postgresql": POSTGRESQL, "gaussdb": POSTGRESQL, "oracle": ORACLE, "oceanbase-oracle": ORACLE,
    "sqlserver": SQLSERVER,
}  # fmt: skip

# Of errors of the engine.
SYNTAX_ERROR: Final = 1064
NO_DATABASE: Final = 1049
# Errors for a database, table or index that exists already, or that a DROP does not find.
HARMLESS: Final = (1007, 1008, NO_DATABASE, 1051, 1091)


@dataclass(frozen=True)
class Schema:
    """Tables in the order in which they were created; `rows` of those that the file has rows of, about; `database` and
    `schema` ("": the source has none, or its default one) are those of most tables. `said` is of the file, `notes` of
    tables; `choices` are the labels that a column may have, `columns` what a server says of its columns. `portable`:
    types are for any source, `spelled` so."""

    file: str
    source: Source
    database: str
    tables: tuple[Definition, ...]
    rows: Mapping[TableId, int]
    schema: str = ""
    said: tuple[str, ...] = ()
    notes: Mapping[TableId, tuple[str, ...]] = field(default_factory=dict)
    choices: Mapping[tuple[TableId, str], tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[tuple[TableId, str], ColumnFacts] = field(default_factory=dict)
    portable: bool = False


def read_schema(path: str, source: str | None = None) -> Schema:
    """Reads the schema in a file, or in standard input (`-`). `source` is what `--source` says; None: the system of
    which the file says that it is a dump, else MySQL 8.0, else the one whose words it has.

    Raises UsageError for a file that cannot be read, ScenarioError for a statement that cannot be.
    """
    if is_url(path):
        if source is not None:
            raise UsageError("--source is about a file: a server says itself what it is.")
        live = open_live(path)
        with closing(live.session):
            try:
                return of_server(live)
            except live.session.client.Error as error:
                raise UsageError(f"{live.name}: {' '.join(str(error).split())}.") from None
    reading = _Lines("" if path == STANDARD_INPUT else path)
    try:
        with nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else Path(path).open("rb") as file:
            lines = reading.kept(line.decode("utf-8", "surrogateescape") for line in file)
            text = "\n".join(lines).removeprefix("\ufeff")
    except OSError as error:
        raise UsageError(f"the file {path!r} cannot be read: {error.strerror}.") from None
    path = "standard input" if path == STANDARD_INPUT else path
    if is_data_schema(text):
        return _of_data(path, text, source, reading)
    system = sources.find(source or _system(text, reading))
    if source is None and system.id == sources.DEFAULT:
        try:
            return _of_mysql(path, text, system, reading)
        except ScenarioError:
            if (dialect := _dialect(text)) is None:
                raise
            system = sources.find(dialect)
    if system.id in _SPEAKS:
        return _of_dialect(path, text, system, reading)
    if str(system) not in SERVERS:
        raise UsageError(f"--source {source}: tables are read as those of {', '.join((*SERVERS, *_SPEAKS))}.")
    return _of_mysql(path, text, system, reading)


def of_server(live: Live) -> Schema:
    """Tables of a running server, with facts about their rows."""
    text, reading, system = live.statements(), _Lines(live.database), sources.find(live.session.source)
    read = _of_dialect if system.id in _SPEAKS else _of_mysql
    schema = read(live.name, text, system, reading)
    facts = {table.id: live.facts(table) for table in schema.tables}
    rows = {id: count for id, (count, _) in facts.items() if count}
    columns = {(id, name): column for id, (_, named) in facts.items() for name, column in named.items()}
    return replace(schema, rows=rows, columns=columns)


def _of_mysql(path: str, text: str, system: Source, reading: _Lines) -> Schema:
    """Tables of MySQL or MariaDB."""
    session = _run(path, text, system, reading)
    held = [data for data in session.all_tables() if not data.definition.temporary]
    if not held:
        raise ScenarioError(path, None, "", "there is no CREATE TABLE; write the tables with `mysqldump --no-data`.")
    rows = {data.definition.id: data.next_auto - 1 for data in held if data.next_auto > 2}
    for id, count in reading.rows.items():
        rows[id] = count
    databases = Counter(data.definition.id.database for data in held)
    return Schema(path, system, _most(databases), tuple(data.definition for data in held), rows)


def _of_data(path: str, text: str, source: str | None, reading: _Lines) -> Schema:
    """Tables of an Avro or JSON schema: of portable types where no source is said. PostgreSQL is the strictest of those
    that take them: it has UUIDs and booleans of their own."""
    system = sources.find(source or "postgresql")
    read = read_data_schema(path, text, system, reading.database, portable=source is None)
    schema = _most(Counter(table.id.schema for table in read.tables))
    return Schema(
        path, system, reading.database, read.tables, {}, schema,
        notes=read.notes, choices=read.choices, portable=source is None,
    )  # fmt: skip


def _most(names: Counter[str]) -> str:
    ((name, _),) = names.most_common(1)
    return name


def _system(text: str, reading: _Lines) -> str:
    """The system that a dump says that it is of."""
    if reading.mariadb:
        return "mariadb"
    return next((id for id, line in _HEADS.items() if line in text[:2000]), sources.DEFAULT)


def _dialect(text: str) -> str | None:
    """The system whose words a file has that MySQL cannot read."""
    bare = _QUOTED.sub("''", text)
    return next((id for pattern, id in _DIALECTS if pattern.search(bare)), None)


def _of_dialect(path: str, text: str, system: Source, reading: _Lines) -> Schema:
    """Tables of PostgreSQL, Oracle or SQL Server."""
    read = read_definitions(path, text, system, _SPEAKS[system.id], reading.database)
    tables = tuple(table for table in read.tables if table.fields)
    if not tables:
        raise ScenarioError(path, None, "", "there is no CREATE TABLE; write the tables with `pg_dump --schema-only`.")
    counted = {(id.database.lower(), id.name.lower()): count for id, count in reading.rows.items()}
    rows = {}
    for table in tables:
        id = table.id
        for home in (id.schema or id.database, reading.database):
            if count := counted.get((home.lower(), id.name.lower())):
                rows[id] = count
                break
    schema = _most(Counter(table.id.schema for table in tables))
    remarks = list(read.said)
    remarks += [f"{table.id} is left out: it has no columns." for table in read.tables if not table.fields]
    database = _most(Counter(table.id.database for table in tables))
    return Schema(path, system, database, tables, rows, schema, tuple(remarks), read.notes, read.choices)


class _Lines:
    """The lines of a file without those that are rows of a dump: an INSERT from its first word to `);`."""

    def __init__(self, path: str) -> None:
        self.mariadb = False
        self.database = re.sub(r"[.`\s]+", "_", Path(path).stem).strip("_")[:64] or "shop"
        self.rows: Counter[TableId] = Counter()

    def kept(self, lines: Iterable[str]) -> Iterator[str]:
        database, copying, into = self.database, False, TableId("", "")
        for number, line in enumerate(lines):
            line = line.rstrip("\r\n")
            if line[:6].upper() == "INSERT" and line.endswith(");"):
                self.count(line, database)
                yield ""  # lines keep their numbers
                continue
            if copying:
                copying = line != r"\."
                self.rows[into] += copying
                yield ""
                continue
            if copy := _COPY.match(line):
                copying, into = True, self.table(copy[1], database)
            if number < 50 and ("MariaDB" in line or line.startswith("/*M!")):
                self.mariadb = True
            if used := re.match(rf"USE\s+({_NAME})", line, re.IGNORECASE):
                database = _bare(used[1])
            yield line

    def count(self, insert: str, database: str) -> None:
        """Rows between brackets; a text that looks like their border counts as one, too."""
        if (into := _INSERT.match(insert)) is None:
            return
        self.rows[self.table(into[1], database)] += len(_NEXT_ROW.findall(insert)) + 1

    def table(self, text: str, database: str) -> TableId:
        names = [_bare(name) for name in re.findall(_NAME, text)]
        return TableId(names[0] if len(names) > 1 else database, names[-1])


def _bare(name: str) -> str:
    return name[1:-1].replace(name[-1] * 2, name[-1]) if name[0] in '`"[' else name


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
    position = statement.rfind(near) if near else len(statement)
    return f"the syntax near {_quoted(near) if near else 'its end'}", statement.count("\n", 0, max(position, 0))


def _quoted(text: str) -> str:
    return short(" ".join(text.split()))


def _problem(path: str, part: Statement, session: Session, problem: str, line: int = 0) -> ScenarioError:
    advice = "change or remove the statement, or name the server that it was written for with --source"
    if re.search(r"\bAUTOINCREMENT\b", part.text, re.IGNORECASE):
        advice = "it looks like SQLite's: rewrite it as another system's CREATE TABLE"
    problem_text = f"{_quoted(part.text)} cannot be read as {session.server.id}'s"
    return ScenarioError(path, part.line + line, "", f"{problem_text} ({problem}); {advice}.")
