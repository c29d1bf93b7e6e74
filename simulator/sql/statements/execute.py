"""One statement run in a session: which kind it is, and who knows it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp

from simulator.model import SchemaChangeKind, StatementKind, TableId
from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.catalog.definitions import Trigger
from simulator.sql.ddl import alter_table, tables
from simulator.sql.ddl.create_table import create_table
from simulator.sql.dml import statements
from simulator.sql.dml.literal_inserts import insert_literals
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.server_text import NO_TEXT, by_mode, raw_bytes, with_literal_bytes, with_version_comments
from simulator.sql.parse.trees import statement_tree
from simulator.sql.parse.words import Reader
from simulator.sql.queries import select
from simulator.sql.statements import transactions, variables
from simulator.sql.store.session import Session
from simulator.stream.literal.transactions import Text

SUPPORTED: Final = (
    "CREATE, ALTER and DROP DATABASE; CREATE, ALTER, DROP, RENAME and TRUNCATE TABLE; CREATE and DROP INDEX; INSERT, "
    "REPLACE, UPDATE, DELETE; BEGIN, COMMIT, ROLLBACK, SAVEPOINT, XA; USE, SET, SELECT; triggers of one statement; "
    "views, routines and users as far as they are logged"
)
# What is quoted is passed over.
_QUOTED_BYTES: Final = re.compile(
    r"(?<!\w)x'([0-9a-f]*)'|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`", re.IGNORECASE | re.DOTALL
)
_ROW_WORDS: Final = ("INSERT", "REPLACE", "UPDATE", "DELETE")


def execute(session: Session, text: str) -> None:
    """Run a statement. Raises SqlError, Unsupported."""
    session.target = None
    try:
        _execute(session, text)
    except SqlError as error:
        id = session.target
        database, table = (id.database, id.name) if id else (session.database, "")
        error.complete(text, database, table, mariadb=session.server.mariadb)
        raise
    except ArithmeticError:
        raise Unsupported("a calculation with numbers of this size") from None


def _execute(session: Session, text: str) -> None:
    own_quotes = bool(session.modes & {"NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"})
    if not session.attached and not session.read_only and not own_quotes and insert_literals(session, text):
        return
    text = _decoded(session, text)
    read = with_literal_bytes(with_version_comments(by_mode(text, session.modes), session.server))
    if NO_TEXT.search(read):
        raise Unsupported("a statement with bytes that are not UTF-8")
    words = Reader(read)
    if words.done:
        return
    session.text, session.annotated = text, False
    session.run += 1
    session.unsafe = session.random_used = session.last_insert_id_used = False
    session.used_variables, session.generated_ids = [], 0
    session.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.modes
    verb = words.upper
    session.refuses_texts = session.strict and verb in _ROW_WORDS and not words.peek(verb, "IGNORE")
    session.division_fails = session.division_fails and not words.peek(verb, "IGNORE")
    if session.attached and verb not in ("XA", "SELECT", "SET", "SHOW", "USE"):
        raise SqlError(1399, "PREPARED")
    if verb in _ROW_WORDS:
        if session.read_only:
            raise SqlError(1792)
        _rows(session, text, words, verb)
    elif verb == "SELECT" or words.peek("(", "SELECT"):
        session.division_fails = False
        select.prepare(statement_tree(words.sql), session).run([])
    elif verb in ("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP"):
        return
    elif run := _STATEMENTS.get(verb):
        words.next()
        run(session, words, text)
    else:
        raise Unsupported("this statement")


def _decoded(session: Session, text: str) -> str:
    """The statement's bytes in the client's character set; scripts are read as UTF-8."""
    charset = str(session.variables.get("character_set_client", "utf8mb4"))
    if text.isascii() or charset.startswith("utf8") or charset == "binary":
        return text
    return raw_bytes(text).decode(mysql_table.CHARSETS[charset][1], "replace")


# --------------------------------------------------------------------------------------------------------------- rows


def _tree(words: Reader, verb: str, *, mariadb: bool = False) -> Any:
    """The tree of a statement about rows; REPLACE is parsed as the INSERT that it looks like."""
    text = words.sql
    if mariadb:
        # x'41' is a text there, and 0x41 alone a number; sqlglot's tree does not tell them apart
        text = _QUOTED_BYTES.sub(lambda match: f"unhex('{match[1]}')" if match[1] is not None else match[0], text)
        words = Reader(text)
    places = [
        words.words[i].end
        for i in range(len(words.words) - 1)
        if words.words[i].upper == "DEFAULT" and words.words[i + 1].value == "("
    ]
    for place in reversed(places):  # sqlglot knows no DEFAULT(column)
        text = f"{text[:place]}_of{text[place:]}"
    words = Reader(text) if places else words
    first = words.words[0]
    if verb == "REPLACE":
        text = f"{text[: first.start]}INSERT {'' if words.peek('REPLACE', 'INTO') else 'INTO '}{text[first.end :]}"
    for low in ("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK"):
        if len(words.words) > 1 and words.words[1].upper == low:
            second = words.words[1]
            text = text[: second.start] + " " * len(low) + text[second.end :]
    ignore = False
    if verb in ("UPDATE", "DELETE") and len(words.words) > 1 and words.words[1].upper == "IGNORE":
        second = words.words[1]
        text, ignore = text[: second.start] + "      " + text[second.end :], True
    elif verb == "INSERT" and words.words[1].upper not in ("INTO", "IGNORE"):
        text = f"{text[: first.end]} INTO {text[first.end :]}"
    elif verb == "INSERT" and words.words[1].upper == "IGNORE" and words.words[2].upper != "INTO":
        text = f"{text[: words.words[1].end]} INTO {text[words.words[1].end :]}"
    node = statement_tree(text)
    if ignore:
        node.set("ignore", True)
    return node


def _rows(session: Session, text: str, words: Reader, verb: str) -> None:
    node = _tree(words, verb, mariadb=session.server.mariadb)
    if not isinstance(node, exp.Insert | exp.Update | exp.Delete):
        raise Unsupported("this form of the statement")
    run = _runner(session, node, verb)
    form = session.settings["binlog_format"]
    if form == "row":
        with session.statement():
            run()
        return
    entries = len(session.entries)
    last_insert_id = session.last_insert_id
    with session.statement():
        session.quiet = True
        try:
            run()
        finally:
            session.quiet = False
        if form == "mixed" and session.unsafe:
            # a statement that gives other values elsewhere is logged by its rows
            session.back_to(len(session.undo) - session.statement_undo, entries)
            run()
        else:
            _log_text(session, text, verb, node, last_insert_id)


def _runner(session: Session, node: Any, verb: str) -> Callable[[], None]:
    def run() -> None:
        mark = len(session.undo)
        if isinstance(node, exp.Insert):
            statements.insert(session, node, replace=verb == "REPLACE")
        elif isinstance(node, exp.Update):
            statements.update(session, node)
        else:
            statements.delete(session, node)
        session.statement_undo = len(session.undo) - mark

    return run


def _log_text(session: Session, text: str, verb: str, node: Any, last_insert_id: int) -> None:
    """Statement format: what the statement depends on, then its text, even if no row matched."""
    target = node.this.this if isinstance(node.this, exp.Schema) else node.this
    id = session.named(target.db, target.name)
    values = []
    if session.last_insert_id_used:
        values.append(f"SET INSERT_ID = {last_insert_id}")
    if session.generated_ids:
        values.append(f"SET INSERT_ID = {session.generated_ids}")
    if session.random_used:
        seeds = [int(hashlib.md5(f"seed {session.draw()}".encode()).hexdigest()[:7], 16) for _ in range(2)]
        values.append(f"SET SESSION rand_seed1 = {seeds[0]} , rand_seed2 = {seeds[1]}")
    for name in dict.fromkeys(session.used_variables):
        values.append(f"SET @{name} := {variables.shown(session.user_variables.get(name))}")
    for value in values:
        session.entries.append(Text(StatementKind.VALUE, "", "", value, session.now_ms))
    kind = StatementKind[verb]
    session.entries.append(Text(kind, id.database, id.name, text, session.now_ms))


def call_function(session: Session, routine: Any, arguments: list[Any]) -> Any:
    raise Unsupported(f"a call of the function {routine.name}")


def run_body(session: Session, body: str, literals: Mapping[tuple[str, str], Any]) -> None:
    """A trigger's statement, with OLD and NEW put in."""
    words = Reader(body)
    verb = words.upper
    if verb not in _ROW_WORDS:
        raise Unsupported(f"{verb} in a trigger")
    node = _tree(words, verb, mariadb=session.server.mariadb)

    def put(one: Any) -> Any:
        if isinstance(one, exp.Column) and (one.table.lower(), one.name.lower()) in literals:
            return literals[one.table.lower(), one.name.lower()].copy()
        return one

    _runner(session, node.transform(put), verb)()


# ---------------------------------------------------------------------------------------------------------------- DDL


def _implicit_commit(session: Session) -> None:
    session.commit()


def _create(session: Session, words: Reader, text: str) -> None:
    start = words.at
    words.take("OR", "REPLACE")
    temporary = words.take("TEMPORARY")
    if temporary:
        session.temporary_touched = session.temporary_touched or session.in_transaction
    else:
        _implicit_commit(session)
    if words.one_of("DATABASE", "SCHEMA"):
        tables.create_database(session, words, text)
    elif words.take("TABLE"):
        create_table(session, words, text, temporary=temporary)
        if session.entries and not session.in_transaction:
            session.commit()
    elif kind := words.one_of("UNIQUE", "FULLTEXT", "SPATIAL", "INDEX", "KEY"):
        if kind not in ("INDEX", "KEY"):
            words.one_of("INDEX", "KEY")
        tables.create_index(session, words, text, {"INDEX": "index", "KEY": "index"}.get(kind, kind.lower()))
    else:
        words.at = start
        _other(session, words, text, "CREATE")


def _drop(session: Session, words: Reader, text: str) -> None:
    temporary = words.take("TEMPORARY")
    if temporary:
        session.temporary_touched = session.temporary_touched or session.in_transaction
    else:
        _implicit_commit(session)
    if words.one_of("DATABASE", "SCHEMA"):
        tables.drop_database(session, words, text)
    elif words.one_of("TABLE", "TABLES"):
        tables.drop_table(session, words, temporary=temporary)
    elif words.take("INDEX"):
        tables.drop_index(session, words, text)
    else:
        _other(session, words, text, "DROP")


def _alter(session: Session, words: Reader, text: str) -> None:
    _implicit_commit(session)
    if words.one_of("DATABASE", "SCHEMA"):
        tables.alter_database(session, words, text)
        return
    words.take("IGNORE")
    if words.take("TABLE"):
        alter_table.alter_table(session, words, text)
    else:
        _other(session, words, text, "ALTER")


# Objects that hold no rows: what makes and drops them is logged, and that is all.
_OBJECTS: Final = ("VIEW", "PROCEDURE", "FUNCTION", "EVENT", "USER", "ROLE", "TRIGGER", "SERVER", "TABLESPACE")


def _other(session: Session, words: Reader, text: str, verb: str) -> None:
    """Views, routines, events, users and triggers."""
    while not words.done and words.upper not in _OBJECTS:
        if words.upper in ("(", "AS", "SELECT"):
            raise words.problem()
        words.next()
    if words.done:
        raise Unsupported("this statement")
    what = words.next().upper
    kind, logged, id = SchemaChangeKind.OTHER, text, ""
    if what == "VIEW":
        words.take("IF", "EXISTS")
        view = session.named(*words.qualified())
        kind, logged = _view(session, words, verb, view, text)
        id = view.database
    elif what == "TRIGGER":
        _trigger(session, words, verb)
    session.log_ddl(_entry(session, kind, id or session.database, logged))


def _entry(session: Session, kind: SchemaChangeKind, database: str, sql: str) -> Any:
    from simulator.stream.literal.transactions import Ddl

    return Ddl(kind, database, None, None, sql, session.now_ms)


def _view(session: Session, words: Reader, verb: str, id: TableId, text: str) -> tuple[SchemaChangeKind, str]:
    database = session.databases.get(id.database)
    if database is None:
        raise SqlError(1049, id.database)
    if verb == "CREATE":
        if id.name in database.views or id.name in database.tables:
            raise SqlError(1050, id.name)
        database.views.add(id.name)
        return SchemaChangeKind.OTHER, text
    if id.name not in database.views:
        raise SqlError(1051 if verb == "DROP" else 1146, f"{id.database}.{id.name}")
    if verb == "DROP":
        database.views.discard(id.name)
        return SchemaChangeKind.OTHER, text
    name, _, host = session.account.partition("@")
    words.need("AS")
    select = words.sql[words.words[words.at].start :]
    return SchemaChangeKind.ALTER_VIEW, (
        f"ALTER ALGORITHM=UNDEFINED DEFINER=`{name}`@`{host}` SQL SECURITY DEFINER VIEW "
        f"{tables.logged_name(session, id)} AS {select}"
    )


def _trigger(session: Session, words: Reader, verb: str) -> None:
    exists = words.one_of("IF NOT EXISTS", "IF EXISTS")
    typed, name = words.qualified()
    database = typed or session.database
    known = [one for one in session.triggers if one.name == name and one.database == database]
    if verb == "DROP":
        if not known and not exists:
            raise SqlError(1360)
        for one in known:
            session.triggers.remove(one)
    elif known:
        raise SqlError(1359)
    else:
        before = words.one_of("BEFORE", "AFTER")
        event = words.one_of("INSERT", "UPDATE", "DELETE")
        words.need("ON")
        data = session.table(*words.qualified())
        words.need("FOR", "EACH", "ROW")
        if words.take("FOLLOWS") or words.take("PRECEDES"):
            words.name()
        body = words.sql[words.words[words.at].start :] if not words.done else ""
        if words.upper not in (*_ROW_WORDS, "SET"):
            raise Unsupported("a trigger of several statements")
        session.triggers.append(Trigger(database, name, before == "BEFORE", event.lower(), data.definition.id, body))
    for data in session.all_tables():
        data.plan = None


def _truncate(session: Session, words: Reader, text: str) -> None:
    _implicit_commit(session)
    tables.truncate(session, words, text)


def _rename(session: Session, words: Reader, text: str) -> None:
    _implicit_commit(session)
    if words.take("USER"):
        session.log_ddl(_entry(session, SchemaChangeKind.OTHER, session.database, text))
        return
    words.one_of("TABLES", "TABLE")
    tables.rename(session, words, text)


def _logged(session: Session, words: Reader, text: str) -> None:
    """GRANT, FLUSH, ANALYZE …: logged, and of no consequence here."""
    _implicit_commit(session)
    session.log_ddl(_entry(session, SchemaChangeKind.OTHER, session.database, text))


def _use(session: Session, words: Reader, text: str) -> None:
    name = words.name()
    if name not in session.databases:
        raise SqlError(1049, name)
    session.database = name


_STATEMENTS: Final[Mapping[str, Callable[[Session, Reader, str], None]]] = {
    "ALTER": _alter,
    "ANALYZE": _logged,
    "BEGIN": transactions.begin,
    "CHECK": lambda session, words, text: None,
    "COMMIT": transactions.commit,
    "CREATE": _create,
    "DROP": _drop,
    "FLUSH": _logged,
    "GRANT": _logged,
    "LOCK": transactions.lock,
    "OPTIMIZE": _logged,
    "RELEASE": transactions.release,
    "RENAME": _rename,
    "REVOKE": _logged,
    "ROLLBACK": transactions.rollback,
    "SAVEPOINT": transactions.savepoint,
    "SET": variables.set_statement,
    "START": transactions.start,
    "TRUNCATE": _truncate,
    "UNLOCK": transactions.lock,
    "USE": _use,
    "XA": transactions.xa,
}
