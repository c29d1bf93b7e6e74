"""CREATE and DROP of views, triggers, routines, events and users, with the texts that a server logs."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import Final

from simulator.model import SchemaChangeKind
from simulator.sources.mysql import type_table as mysql_table
from simulator.sources.mysql import types as mysql_types
from simulator.sql.catalog.definitions import Routine, Trigger, View
from simulator.sql.ddl import tables
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.column_types import read_type
from simulator.sql.parse.trees import statement_tree
from simulator.sql.parse.words import Reader, quoted
from simulator.sql.queries.select import prepare
from simulator.sql.store.session import Session
from simulator.stream.literal.transactions import Ddl

K = SchemaChangeKind
_OBJECTS: Final = (
    "VIEW", "PROCEDURE", "FUNCTION", "EVENT", "USER", "ROLE", "TRIGGER", "SERVER", "TABLESPACE", "SEQUENCE", "RESOURCE",
    "LOGFILE", "UNDO", "SPATIAL", "PACKAGE", "INSTANCE",
)  # fmt: skip
_CHARACTERISTICS: Final = (
    "LANGUAGE SQL", "NOT DETERMINISTIC", "CONTAINS SQL", "DETERMINISTIC", "NO SQL", "READS SQL DATA",
    "MODIFIES SQL DATA", "SQL SECURITY DEFINER", "SQL SECURITY INVOKER",
)  # fmt: skip


def log(session: Session, kind: K, sql: str, database: str = "") -> None:
    session.log_ddl(Ddl(kind, database or session.connection.database, None, None, sql, session.now_ms))


def change_object(session: Session, words: Reader, text: str, verb: str) -> None:
    """CREATE, ALTER or DROP of objects without rows; objects that are not supported are only logged."""
    head: list[str] = []
    definer, first_word = "", words.position
    while not words.done and words.upper not in _OBJECTS:
        if security := words.one_of("SQL SECURITY DEFINER", "SQL SECURITY INVOKER"):
            head.append(security.split()[-1])
        elif words.take("DEFINER"):
            words.need("=")
            definer = _account(session, words)
        elif words.upper in ("(", "AS", "SELECT"):
            break
        else:
            head.append(words.next().upper)
    if words.upper not in _OBJECTS:
        words.position = first_word
        raise words.problem()
    start = words.words[words.position].start
    object_type = words.next().upper
    definer = definer or _quoted_account(session.connection.account)
    if object_type == "VIEW":
        _view(session, words, verb, head, definer, text)
    elif object_type == "TRIGGER":
        _trigger(session, words, verb)
        or_replace = "OR REPLACE " if "REPLACE" in head else ""
        log(
            session,
            K.STORED_PROGRAM,
            f"CREATE {or_replace}DEFINER={definer} {words.sql[start:]}" if verb == "CREATE" else text,
        )
    elif object_type in ("PROCEDURE", "FUNCTION"):
        _routine(session, words, verb, object_type, definer, text, replaces="REPLACE" in head)
    elif object_type == "EVENT":
        if not words.done and session.server.mariadb and words.upper == "PURGE":
            raise words.problem()
        log(session, K.STORED_PROGRAM, f"{verb} DEFINER={definer} {words.sql[start:]}" if verb == "CREATE" else text)
    elif object_type == "USER":
        log(session, K.ACCOUNT, _user(session, words, verb, text))
    elif object_type == "SEQUENCE":
        raise Unsupported("a sequence")
    else:
        log(session, K.ACCOUNT if object_type == "ROLE" else K.OTHER, text)


def _account(session: Session, words: Reader) -> str:
    """DEFINER = `user`@`host`, or CURRENT_USER."""
    if words.take("CURRENT_USER"):
        if words.peek("("):
            words.brackets()
        return _quoted_account(session.connection.account)
    user, host = user_and_host(words)
    return f"`{user}`@`{host}`"


def user_and_host(words: Reader, host: str = "%") -> tuple[str, str]:
    """`u`@`h`; `host` is the default where none is typed."""
    user = words.next().value
    if "@" in user:
        user, _, host = user.partition("@")
        host = host or words.next().value
    elif not words.done and words.words[words.position].value.startswith("@"):
        host = words.next().value[1:] or words.next().value
    return user, host


def _quoted_account(account: str) -> str:
    user, _, host = account.partition("@")
    return f"`{user}`@`{host}`"


# --------------------------------------------------------------------------------------------------------------- views


def _view(session: Session, words: Reader, verb: str, head: list[str], definer: str, text: str) -> None:
    if verb == "DROP":
        _drop_views(session, words, text)
        return
    exists = verb == "CREATE" and words.take("IF", "NOT", "EXISTS")
    id = session.table_id(*words.qualified())
    database = session.objects.databases.get(id.database)
    if database is None:
        raise SqlError(1049, id.database)
    replaces = "REPLACE" in head
    existing = id.name in database.views
    if verb == "ALTER" and not existing:
        raise SqlError(1146, f"{id.database}.{id.name}")
    if verb == "CREATE" and (id.name in database.tables or (existing and not replaces)):
        if not exists:
            raise SqlError(1050, id.name)
        log(session, K.VIEW, text, id.database)
        return
    columns = tuple(name for name, _ in words.names_in_brackets()) if words.peek("(") else ()
    words.need("AS")
    select = words.remaining(needed=True)
    query_text = re.sub(r"(?is)\s+with\s+(?:cascaded\s+|local\s+)?check\s+option\s*$", "", select)
    view = View(id.database, id.name, columns, query_text, checked=query_text != select)
    _check(session, view)
    database.views[id.name] = view
    algorithm = next((word for word in ("MERGE", "TEMPTABLE") if word in head), "UNDEFINED")
    security = "INVOKER" if "INVOKER" in head else "DEFINER"
    column_list = f"({', '.join(map(quoted, columns))})" if columns else ""
    options = f"{'OR REPLACE ' if replaces else ''}ALGORITHM={algorithm} DEFINER={definer}"
    logged = f"{verb} {options} SQL SECURITY {security} VIEW {tables.logged_name(session, id)}{column_list} AS {select}"
    log(session, K.ALTER_VIEW if verb == "ALTER" else K.VIEW, logged, id.database)


def _check(session: Session, view: View) -> None:
    """Raises the server's error for a view over missing tables or columns."""
    with suppress(Unsupported):  # an unsupported view is refused when its rows are read
        prepare(statement_tree(view.select), session)


def _drop_views(session: Session, words: Reader, text: str) -> None:
    exists = words.take("IF", "EXISTS")
    ids = [session.table_id(*words.qualified())]
    while words.take(","):
        ids.append(session.table_id(*words.qualified()))
    missing = [id for id in ids if id.name not in session.objects.databases[id.database].views]
    if missing and not exists:
        raise SqlError(4092 if session.server.mariadb else 1051, ",".join(map(str, missing)))
    for id in ids:
        session.objects.databases[id.database].views.pop(id.name, None)
    log(session, K.VIEW, text, ids[0].database)


# ------------------------------------------------------------------------------------------------- triggers, routines


def _trigger(session: Session, words: Reader, verb: str) -> None:
    exists = words.one_of("IF NOT EXISTS", "IF EXISTS")
    typed, name = words.qualified()
    database = typed or session.connection.database
    existing = [
        trigger for trigger in session.objects.triggers if trigger.name == name and trigger.database == database
    ]
    if verb == "DROP":
        if not existing and not exists:
            raise SqlError(1360)
        for trigger in existing:
            session.objects.triggers.remove(trigger)
    elif existing and not exists:
        raise SqlError(1359)
    else:
        before = words.one_of("BEFORE", "AFTER")
        event = words.one_of("INSERT", "UPDATE", "DELETE")
        words.need("ON")
        data = session.table(*words.qualified())
        words.need("FOR", "EACH", "ROW")
        order, other = words.one_of("FOLLOWS", "PRECEDES"), ""
        if order:
            other = words.name()
        body = words.remaining()
        trigger = Trigger(database, name, before == "BEFORE", event.lower(), data.definition.id, body)
        triggers = session.objects.triggers
        if order:
            alike = [
                t for t in triggers if (t.table, t.event, t.before) == (trigger.table, trigger.event, trigger.before)
            ]
            positions = [triggers.index(t) for t in alike if t.name == other]
            if not positions:
                raise Unsupported(f"a trigger that {order.lower()} a missing one")
            triggers.insert(positions[0] + (order == "FOLLOWS"), trigger)
        else:
            triggers.append(trigger)
    for data in session.all_tables():
        data.plan = None


def _routine(
    session: Session, words: Reader, verb: str, object_type: str, definer: str, text: str, *, replaces: bool
) -> None:
    exists = words.one_of("IF NOT EXISTS", "IF EXISTS")
    typed, name = words.qualified()
    database, kind = typed or session.connection.database, object_type.lower()
    if not database:
        raise SqlError(1046)
    key = (kind, database, name.lower())
    if verb == "DROP":
        if key not in session.objects.routines and not exists:
            raise SqlError(13050, f"{object_type} {database}.{name}")
        session.objects.routines.pop(key, None)
    elif verb == "CREATE":
        if key in session.objects.routines and not replaces:
            if exists:
                return
            raise SqlError(1304, object_type, name)
        routine, tail = _parsed(session, words, object_type, database, name)
        session.objects.routines[key] = routine
        qualified_name = quoted(name) if not typed else f"{quoted(database)}.{quoted(name)}"
        text = f"CREATE {'OR REPLACE ' if replaces else ''}DEFINER={definer} {object_type} {qualified_name}{tail}"
    log(session, K.STORED_PROGRAM, text, database)


def _parsed(session: Session, words: Reader, object_type: str, database: str, name: str) -> tuple[Routine, str]:
    """The routine, and its definition from the parameter list on as a server logs it."""
    parameter_text = words.brackets()
    parameters = tuple(_parameter(part) for part in _parts(parameter_text)) if parameter_text.strip() else ()
    returns, returns_clause = "", ""
    if object_type == "FUNCTION":
        words.need("RETURNS")
        start = words.position
        type, collation, _ = read_type(name, words, tables.context_of(session, database))
        returns = words.between(start, words.position)
        returns_clause = " RETURNS " + mysql_types.type_text(type, style=session.server.type_style)
        if mysql_table.family(type) in ("text", "enum", "set"):
            returns_clause += f" CHARSET {type.charset}" + (f" COLLATE {collation}" if session.server.mariadb else "")
        elif type.name == "json" and session.server.mariadb:
            returns_clause = " RETURNS longtext CHARSET utf8mb4 COLLATE utf8mb4_bin"
    characteristics, comment = set(), ""
    while True:
        if words.take("COMMENT"):
            comment = words.text()
            continue
        characteristic = words.one_of(*_CHARACTERISTICS)
        if not characteristic:
            break
        characteristics.add(characteristic)
    logged = ("NO SQL", "READS SQL DATA", "MODIFIES SQL DATA", "DETERMINISTIC", "SQL SECURITY INVOKER")
    lines: list[str] = [phrase for phrase in logged if phrase in characteristics]
    lines += [f"COMMENT {mysql_types.quote(comment)}"] if comment else []
    body = words.remaining()
    tail = f"({parameter_text}){returns_clause}\n" + "".join(f"    {line}\n" for line in lines) + body
    routine = Routine(
        object_type.lower(), database, name, parameters, returns, body, frozenset(session.connection.modes)
    )
    return routine, tail


def _parts(text: str) -> list[str]:
    """The items of a comma-separated list."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _parameter(text: str) -> tuple[str, str, str]:
    words = Reader(text)
    direction = words.one_of("INOUT", "IN", "OUT").lower() or "in"
    name = words.name()
    return direction, name, words.remaining(needed=True)


# --------------------------------------------------------------------------------------------------------------- users


def _user(session: Session, words: Reader, verb: str, text: str) -> str:
    """MySQL logs CREATE and ALTER USER with the password's hash."""
    if verb == "DROP" or session.server.mariadb:
        return text
    exists = words.one_of("IF NOT EXISTS", "IF EXISTS")
    user, host = user_and_host(words)
    if not words.take("IDENTIFIED", "BY") or words.done or words.words[words.position].kind != "text":
        return text
    password = words.text()
    if not words.done:
        return text
    return (
        f"{verb} USER {exists + ' ' if exists else ''}'{user}'@'{host}' IDENTIFIED WITH 'mysql_native_password' AS "
        f"'{native_password(password)}'"
    )


def native_password(password: str) -> str:
    """mysql_native_password: SHA1(SHA1(password)), an empty password stays empty."""
    once = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    digest = hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()
    return f"*{digest}" if password else ""
