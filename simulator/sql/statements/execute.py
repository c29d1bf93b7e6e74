"""Runs one statement in a session: dispatches it by its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from simulator.model import SchemaChangeKind
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Routine
from simulator.sql.ddl import alter_table, objects, tables
from simulator.sql.ddl.create_table import create_table
from simulator.sql.dml.literal_inserts import insert_literals
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.server_text import NO_TEXT, by_mode, raw_bytes, with_literal_bytes, with_version_comments
from simulator.sql.parse.words import Reader
from simulator.sql.programs.run import Programs
from simulator.sql.statements import prepared, transactions, variables
from simulator.sql.statements.changes import ROW_WORDS, run_change
from simulator.sql.store.session import Session, TriggerRows, unknown_database


def execute(session: Session, text: str) -> None:
    """Run a statement. Raises SqlError, Unsupported."""
    session.statement.target = None
    try:
        _execute(session, text)
    except SqlError as error:
        id = session.statement.target
        database, table = (id.database, id.name) if id else (session.connection.database, "")
        error.complete(text, database, table, mariadb=session.server.mariadb)
        raise
    except ArithmeticError:
        raise Unsupported("a calculation with numbers of this size") from None


def _execute(session: Session, text: str) -> None:
    if session.connection.variables.get("character_set_client") in _UTF8MB3 and _BEYOND_UTF8MB3.search(text):
        raise Unsupported("a character of four bytes after SET NAMES utf8, which has three; SET NAMES utf8mb4")
    typed, text = text, _decoded(session, text)
    custom_quotes = bool(session.connection.modes & {"NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"})
    if (
        not session.connection.xa_attached
        and not session.transaction.read_only
        and not custom_quotes
        and insert_literals(session, text, typed)
    ):
        return
    server_text = with_literal_bytes(with_version_comments(by_mode(text, session.connection.modes), session.server))
    if NO_TEXT.search(server_text):
        raise Unsupported("a statement with bytes that are not UTF-8")
    words = Reader(server_text)
    if words.done:
        return
    session.run += 1
    verb = words.upper
    strict = session.strict and not words.peek(verb, "IGNORE")
    session.statement.begin(typed)
    session.statement.division_fails = strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.connection.modes
    session.statement.refuses_texts = strict and verb in ROW_WORDS
    if session.connection.xa_attached and verb not in ("XA", "SELECT", "SET", "SHOW", "USE"):
        raise SqlError(1399, "PREPARED")
    if verb in ROW_WORDS:
        if session.transaction.read_only:
            raise SqlError(1792)
        run_change(session, text, words, verb)
    elif verb == "WITH" and not words.peek("WITH", "SELECT") and (change := _changed_by(words)):
        if session.server.mariadb:
            words.position = next(i for i, word in enumerate(words.words) if word.upper == change)
            raise words.problem()
        run_change(session, text, words, change)
    elif verb in ("SELECT", "WITH", "TABLE", "VALUES") or words.peek("("):
        session.statement.division_fails, session.connection.row_count = False, -1
        prepared.query(session, words)
    elif verb in ("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP", "KILL", "CACHE", "CHECKSUM"):
        return
    elif verb == "EXECUTE":
        words.next()
        _execute(session, prepared.with_arguments(session, words))
    elif run := _STATEMENTS.get(verb):
        words.next()
        run(session, words, text)
    elif verb in _REFUSED:
        raise Unsupported(verb)
    elif verb in ("SOURCE", "\\"):
        raise Unsupported(
            "the mysql client reads other files, which is not done here; put their statements into this one."
        )
    else:
        raise words.problem()  # no server has a statement that begins so


def _changed_by(words: Reader) -> str:
    """The statement after WITH: UPDATE, DELETE, or "" for a query."""
    depth = 0
    for word in words.words:
        depth += word.brackets_opened
        if not depth and word.upper in ("UPDATE", "DELETE", "SELECT"):
            return "" if word.upper == "SELECT" else word.upper
    return ""


def _decoded(session: Session, text: str) -> str:
    """The statement's bytes in the client's character set; scripts are read as UTF-8."""
    charset = str(session.connection.variables.get("character_set_client", "utf8mb4"))
    if text.isascii() or charset.startswith("utf8") or charset == "binary":
        return text
    return raw_bytes(text).decode(mysql_table.CHARSETS[charset][1], "replace")


# ------------------------------------------------------------------------------------------------------------ programs


def _change(session: Session, text: str, put_in: Callable[[Any], Any]) -> None:
    """A statement about rows in a program: a statement of its own in a procedure, part of another in triggers and
    functions."""
    words = Reader(text)
    if not session.statement.is_inside:
        session.statement.text, session.statement.annotated = text, False
        session.run += 1
        session.statement.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.connection.modes
        session.statement.refuses_texts = session.strict and not words.peek(words.upper, "IGNORE")
    run_change(session, text, words, words.upper, put_in)


PROGRAMS: Final = Programs(_execute, _change)


@contextmanager
def _inside_statement(session: Session) -> Iterator[None]:
    outer, session.statement.is_inside = session.statement.is_inside, True
    try:
        yield
    finally:
        session.statement.is_inside = outer


def run_body(session: Session, body: str, rows: TriggerRows) -> None:
    with _inside_statement(session):
        PROGRAMS.trigger(session, body, rows)


def call_function(session: Session, routine: Routine, arguments: list[Any]) -> Any:
    with _inside_statement(session):
        return PROGRAMS.function(session, routine, arguments)


# ---------------------------------------------------------------------------------------------------------------- DDL
# A DDL statement ends the open transaction first.


def _takes_temporary(session: Session, words: Reader) -> bool:
    """Whether TEMPORARY comes next; a statement without it commits."""
    temporary = words.take("TEMPORARY")
    if temporary:
        session.transaction.temporary_touched = session.transaction.temporary_touched or session.transaction.is_open
    else:
        session.commit()
    return temporary


def _create(session: Session, words: Reader, text: str) -> None:
    start = words.position
    words.take("OR", "REPLACE")
    temporary = _takes_temporary(session, words)
    if words.one_of("DATABASE", "SCHEMA"):
        tables.create_database(session, words, text)
    elif words.take("TABLE"):
        create_table(session, words, text, temporary=temporary)
        if session.transaction.entries and not session.transaction.is_open:
            session.commit()
    elif kind := words.one_of("UNIQUE", "FULLTEXT", "SPATIAL", "INDEX", "KEY"):
        if kind not in ("INDEX", "KEY"):
            words.one_of("INDEX", "KEY")
        tables.create_index(session, words, text, {"INDEX": "index", "KEY": "index"}.get(kind, kind.lower()))
    else:
        words.position = start
        objects.change_object(session, words, text, "CREATE")


def _drop(session: Session, words: Reader, text: str) -> None:
    if words.peek("PREPARE"):
        prepared.deallocate(session, words)
        return
    temporary = _takes_temporary(session, words)
    if words.one_of("DATABASE", "SCHEMA"):
        tables.drop_database(session, words, text)
    elif words.one_of("TABLE", "TABLES"):
        tables.drop_table(session, words, temporary=temporary)
    elif words.take("INDEX"):
        tables.drop_index(session, words, text)
    else:
        objects.change_object(session, words, text, "DROP")


def _alter(session: Session, words: Reader, text: str) -> None:
    session.commit()
    if words.one_of("DATABASE", "SCHEMA"):
        tables.alter_database(session, words, text)
        return
    words.take("IGNORE")
    if words.take("TABLE"):
        alter_table.alter_table(session, words, text)
    else:
        objects.change_object(session, words, text, "ALTER")


def _truncate(session: Session, words: Reader, text: str) -> None:
    session.commit()
    tables.truncate(session, words, text)


def _rename(session: Session, words: Reader, text: str) -> None:
    session.commit()
    if words.take("USER"):
        objects.log(session, SchemaChangeKind.ACCOUNT, text)
        return
    words.one_of("TABLES", "TABLE")
    tables.rename(session, words, text)


def _logged_as(kind: SchemaChangeKind) -> Callable[[Session, Reader, str], None]:
    """FLUSH, ANALYZE, GRANT …: the statement is logged and changes nothing else here."""

    def log(session: Session, words: Reader, text: str) -> None:
        if words.done:
            raise words.problem()
        session.commit()
        objects.log(session, kind, text)

    return log


def _flush(session: Session, words: Reader, text: str) -> None:
    """FLUSH LOGS begins a file of the log, which does not have the statement; others are logged."""
    if _FLUSH_LOGS.match(text):
        session.commit()
        session.log.ended_files += 1
    else:
        _logged_as(SchemaChangeKind.OTHER)(session, words, text)


def _call(session: Session, words: Reader, text: str) -> None:
    """A refusal inside a procedure takes back what its statements before it did."""
    if session.statement.depth:
        prepared.call(session, words, PROGRAMS)
        return
    logged, clock = len(session.log.transactions), session.now_us
    numbers, entries = session.log.last, list(session.transaction.entries)
    session.journal = []
    try:
        prepared.call(session, words, PROGRAMS)
    except Unsupported:
        for data, number, row in reversed(session.journal):
            data.put(number, row)
        del session.log.transactions[logged:]
        session.now_us, session.log.last, session.transaction.entries = clock, numbers, entries
        raise
    finally:
        session.journal = None


def _use(session: Session, words: Reader, text: str) -> None:
    name = words.name()
    if name not in session.objects.databases:
        raise unknown_database(name)
    session.connection.database = name


# A client with this character set sends at most three bytes per character; a server refuses others or cuts the text.
_UTF8MB3: Final = ("utf8", "utf8mb3")
_BEYOND_UTF8MB3: Final = re.compile("[\U00010000-\U0010ffff]")
# First words of other statements of servers.
_FLUSH_LOGS: Final = re.compile(r"\s*FLUSH\s+(?:(?:LOCAL|NO_WRITE_TO_BINLOG)\s+)?(?:BINARY\s+)?LOGS\b", re.IGNORECASE)
_REFUSED: Final = frozenset((
    "BACKUP", "BINLOG", "CASE", "CHANGE", "CLONE", "FOR", "GET", "HANDLER", "IF", "IMPORT", "INSTALL", "LOAD", "LOOP",
    "PURGE", "REPAIR", "REPEAT", "RESET", "RESIGNAL", "RESTART", "SHUTDOWN", "SIGNAL", "SLAVE", "STOP", "UNINSTALL",
    "WHILE",
))  # fmt: skip
_STATEMENTS: Final[Mapping[str, Callable[[Session, Reader, str], None]]] = {
    "ALTER": _alter,
    "ANALYZE": _logged_as(SchemaChangeKind.OTHER),
    "BEGIN": transactions.begin,
    "CALL": _call,
    "CHECK": lambda session, words, text: None,
    "COMMIT": transactions.commit,
    "CREATE": _create,
    "DEALLOCATE": lambda session, words, text: prepared.deallocate(session, words),
    "DO": lambda session, words, text: prepared.do(session, words),
    "DROP": _drop,
    "FLUSH": _flush,
    "GRANT": _logged_as(SchemaChangeKind.ACCOUNT),
    "LOCK": transactions.lock,
    "OPTIMIZE": _logged_as(SchemaChangeKind.OTHER),
    "PREPARE": lambda session, words, text: prepared.prepare_statement(session, words),
    "RELEASE": transactions.release,
    "RENAME": _rename,
    "REVOKE": _logged_as(SchemaChangeKind.ACCOUNT),
    "ROLLBACK": transactions.rollback,
    "SAVEPOINT": transactions.savepoint,
    "SET": variables.set_statement,
    "START": transactions.start,
    "TRUNCATE": _truncate,
    "UNLOCK": transactions.lock,
    "USE": _use,
    "XA": transactions.xa,
}
