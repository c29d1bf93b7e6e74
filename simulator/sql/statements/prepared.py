"""CALL, DO, SELECT … INTO, and PREPARE, EXECUTE, DEALLOCATE."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import types as mysql_types
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.scope import compiled
from simulator.sql.parse.newer_syntax import check_syntax
from simulator.sql.parse.trees import expression_tree, statement_tree
from simulator.sql.parse.words import Reader
from simulator.sql.programs.run import Programs, without_into
from simulator.sql.queries.select import prepare, query_scope
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import text_of

_CHANGED: Final = re.compile(
    r"\s*(?:INSERT\s+INTO|REPLACE\s+INTO|UPDATE|DELETE\s+FROM)\s+((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))?)(?=[\s(]|$)(?!\s*,)",
    re.IGNORECASE,
)


def query(session: Session, words: Reader) -> None:
    """SELECT, and the assignments of INTO. The result is not shown, so an unsupported query without effects is
    skipped."""
    text, targets = without_into(words)
    tree = statement_tree(text)
    check_syntax(tree, session.server)
    if isinstance(tree, exp.Select) and not tree.expressions:
        words.skip_all()
        raise words.problem()
    try:
        rows = prepare(tree, session).run([])
    except Unsupported as error:
        functions = {name.upper() for kind, _, name in session.objects.routines if kind == "function"}
        changing = {":=", "LAST_INSERT_ID", *functions}
        if targets or any(word.value.upper() in changing for word in words.words):
            raise
        session.connection.found_rows = None
        session.statement.warnings.append(
            f"the query is passed over, since it changes nothing and {error} is not supported here"
        )
        return
    if not targets:
        if not any(word.upper == "SQL_CALC_FOUND_ROWS" for word in words.words[:4]):
            session.connection.found_rows = len(rows)
        return
    if len(rows) > 1:
        raise SqlError(1172)
    if rows and len(rows[0]) != len(targets):
        raise SqlError(1222)
    for target, value in zip(targets, rows[0] if rows else (), strict=False):
        if not target.startswith("@"):
            raise SqlError(1327, target)
        session.connection.user_variables[target[1:].strip("`").lower()] = value


def value_of(session: Session, text: str) -> Any:
    return compiled(expression_tree(text), query_scope(session))([])


def do(session: Session, words: Reader) -> None:
    for text in arguments(words.remaining(needed=True)):
        value_of(session, text)


def arguments(text: str) -> list[str]:
    """The expressions of a comma-separated list."""
    words, parts, start, depth = Reader(text), [], 0, 0
    for number, word in enumerate(words.words):
        depth += word.brackets_opened
        if word.value == "," and not depth:
            parts.append(words.between(start, number))
            start = number + 1
    return [*parts, words.between(start, len(words.words))] if words.words else []


def call(session: Session, words: Reader, programs: Programs) -> None:
    typed, name = words.qualified()
    database = typed or session.connection.database
    routine = session.objects.routines.get(("procedure", database, name.lower()))
    if routine is None:
        raise SqlError(13050, f"PROCEDURE {database}.{name}")
    texts = arguments(words.brackets()) if words.peek("(") else []
    if len(texts) != len(routine.parameters):
        raise SqlError(1318, "PROCEDURE", f"{database}.{name}", len(routine.parameters), len(texts))
    if session.connection.settings["binlog_format"] != "row":
        raise Unsupported("CALL with a log of statements")
    values = [
        None if direction == "out" else value_of(session, text)
        for text, (direction, _, _) in zip(texts, routine.parameters, strict=True)
    ]
    for position, value in programs.call(session, routine, values):
        if not texts[position].strip().startswith("@"):
            raise Unsupported(f"the OUT argument {texts[position]!r}")
        session.connection.user_variables[texts[position].strip()[1:].strip("`").lower()] = value


def prepare_statement(session: Session, words: Reader) -> None:
    name = words.name().lower()
    words.need("FROM")
    if words.words[words.position].kind == "text":
        session.connection.prepared[name] = _checked(session, words.text())
        return
    value = value_of(session, words.remaining(needed=True))
    if value is None:
        raise SqlError(1064, "NULL")
    session.connection.prepared[name] = _checked(session, text_of(value))


def _checked(session: Session, text: str) -> str:
    """The text of a statement to prepare. Raises SqlError if the table that it changes does not exist."""
    match = _CHANGED.match(text)
    if match is not None:
        session.table(*Reader(match[1]).qualified())
    return text


def with_arguments(session: Session, words: Reader) -> str:
    """The text of EXECUTE name USING @a, @b with the values inserted."""
    if session.server.mariadb and words.peek("IMMEDIATE"):
        raise Unsupported("EXECUTE IMMEDIATE")
    name = words.name().lower()
    text = session.connection.prepared.get(name)
    if text is None:
        raise SqlError(1243, name, "EXECUTE")
    texts = arguments(words.remaining(needed=True)) if words.take("USING") else []
    values = [value_of(session, expression) for expression in texts]
    written_text, position, used = "", 0, 0
    for word in Reader(text).words:
        if word.value == "?" and word.kind == "mark":
            if used >= len(values):
                raise SqlError(1210, "EXECUTE")
            written_text += text[position : word.start] + typed_literal(values[used])
            position, used = word.end, used + 1
    if used != len(values):
        raise SqlError(1210, "EXECUTE")
    return written_text + text[position:]


def typed_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return mysql_types.quote(text_of(value)) if isinstance(value, str) else text_of(value)


def deallocate(session: Session, words: Reader) -> None:
    words.need("PREPARE")
    name = words.name().lower()
    if session.connection.prepared.pop(name, None) is None:
        raise SqlError(1243, name, "DEALLOCATE PREPARE")
