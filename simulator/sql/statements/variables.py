"""SET: variables of the session, user variables, NAMES, PASSWORD."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from simulator.model import SchemaChangeKind
from simulator.sources.mysql import types as mysql_types
from simulator.sql.catalog.servers import MODES, default_collation
from simulator.sql.catalog.system_variables import system_variables
from simulator.sql.ddl.objects import native_password, user_and_host
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.column_types import check_charset, check_collation
from simulator.sql.parse.words import Reader
from simulator.sql.statements.prepared import value_of
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import number_of, text_of
from simulator.sql.values.temporal import Zone
from simulator.stream.literal.transactions import Ddl

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+", re.IGNORECASE)
_COMBINED: Final = {
    "TRADITIONAL": ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE",
                    "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"),
}  # fmt: skip
_UNKNOWN_MODES: Final = frozenset((
    "ALLOW_INVALID_DATES", "DB2", "EMPTY_STRING_IS_NULL", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_DIR_IN_CREATE",
    "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "ORACLE", "PAD_CHAR_TO_FULL_LENGTH", "PIPES_AS_CONCAT",
    "POSTGRESQL", "SIMULTANEOUS_ASSIGNMENT", "TIME_ROUND_FRACTIONAL",
))  # fmt: skip
# Variables whose other values change statements in ways that the embedded engine does not support.
_DEFAULT_ONLY: Final = frozenset((
    "binlog_row_value_options", "check_constraint_checks", "completion_type", "default_collation_for_utf8mb4",
    "default_week_format", "enforce_storage_engine", "gtid_domain_id", "lc_time_names", "sql_auto_is_null",
    "sql_generate_invisible_primary_key", "sql_if_exists", "sql_require_primary_key", "sql_safe_updates",
    "transaction_read_only", "tx_read_only",
))  # fmt: skip
_NAME: Final = re.compile(
    r"\s*(?:(?P<user>@(?:`[^`]+`|'[^']+'|\"[^\"]+\"|[\w.$]+))|(?:@@)?(?P<scope>(?:session|local|global|persist|persist_only)\b"
    r"(?:\s*\.|\s+))?\s*(?P<name>`?\w+`?(?:\.\w+)?))\s*:?=\s*",
    re.IGNORECASE,
)


def set_statement(session: Session, words: Reader, text: str) -> None:
    """SET a = 1, @b := 2, SESSION c = 3 …; all expressions are evaluated before the first assignment."""
    if words.take("NAMES"):
        _names(session, words)
        return
    if words.one_of("CHARACTER SET", "CHARSET"):
        charset = _charset(session, words.next().value)
        session.connection.variables |= {"character_set_client": charset, "character_set_results": charset}
        return
    if words.take("PASSWORD"):
        _password(session, words, text)
        return
    if words.one_of("DEFAULT ROLE", "ROLE", "RESOURCE GROUP"):
        words.skip_all()
        return
    changes: list[Callable[[], None]] = []
    scope = ""
    while True:
        if words.one_of("SESSION TRANSACTION", "GLOBAL TRANSACTION", "TRANSACTION"):
            read_only = words.words[-2:] and [word.upper for word in words.words[-2:]] == ["READ", "ONLY"]
            if read_only:
                raise Unsupported("SET TRANSACTION READ ONLY")
            words.skip_all()  # isolation has no effect in a single session
            return
        match = _NAME.match(words.sql, words.words[words.position].start) if not words.done else None
        if match is None:
            raise words.problem()
        scope = _scope(match["scope"]) or scope
        while not words.done and words.words[words.position].start < match.end():
            words.next()
        node_text, keyword = _right_side(words)
        if match["user"]:
            changes.append(_user_variable(session, match["user"][1:].strip("`'\"").lower(), node_text))
        else:
            changes.append(_assignment(session, scope, match["name"].strip("`").lower(), node_text, keyword))
        if words.done:
            break
        words.need(",")
    for change in changes:
        change()


def _scope(typed: str | None) -> str:
    word = (typed or "").strip(" .\t\n").lower()
    return {"local": "session", "persist": "global", "persist_only": "global"}.get(word, word)


def _names(session: Session, words: Reader) -> None:
    """SET NAMES: the character set of the script's bytes, and the collation of its literals."""
    word = words.next().value
    charset = session.server.charset if word.lower() == "default" else _charset(session, word)
    collation = words.next().value.lower() if words.take("COLLATE") else default_collation(charset, session.server)
    check_collation(collation, charset, session.server)
    names = ("character_set_client", "character_set_connection", "character_set_results")
    session.connection.variables |= dict.fromkeys(names, charset)
    session.connection.collation = collation


def _charset(session: Session, word: str) -> str:
    charset = word.lower()
    if charset == "default":
        return session.server.charset
    check_charset(charset)
    return charset


def _right_side(words: Reader) -> tuple[str, str]:
    """The text of a value up to the next comma, and the value itself if it is a single word."""
    start, depth = words.position, 0
    while not words.done:
        word = words.words[words.position]
        if word.value == "," and not depth:
            break
        depth += word.brackets_opened
        words.next()
    if start == words.position:
        raise words.problem()
    single = words.words[start] if words.position == start + 1 else None
    return words.between(start, words.position), single.value if single is not None and single.kind == "word" else ""


def _user_variable(session: Session, name: str, text: str) -> Callable[[], None]:
    value = value_of(session, text)
    return lambda: session.connection.user_variables.__setitem__(name, value)


def _assignment(session: Session, scope: str, name: str, text: str, keyword: str) -> Callable[[], None]:
    variable = system_variables(session.server).get(name)
    if variable is None:
        raise SqlError(1193, name)
    if variable.scope == "readonly":
        raise SqlError(1238, name, "read only")
    if variable.scope == "global" and scope != "global":
        raise SqlError(1229, name)
    word = keyword and not keyword.startswith("@")
    value: Any = keyword if word else value_of(session, text)
    if scope == "global":
        return lambda: session.objects.global_variables.__setitem__(name, value)  # for later sessions
    if change := _VARIABLES.get(name):
        return lambda: change(session, value)
    default = variable.value if word and keyword.lower() == "default" else value
    if isinstance(default, str) and default.upper() in ("ON", "OFF", "TRUE", "FALSE"):
        default = int(default.upper() in ("ON", "TRUE"))
    if name in _DEFAULT_ONLY and text_of(default).lower() not in (text_of(variable.value).lower(), ""):
        raise Unsupported(f"SET {name} = {text}")
    return lambda: session.connection.variables.__setitem__(name, default)


def _word(value: Any) -> str:
    return text_of(value).lower()


def _number(name: str, value: Any) -> int | float | Decimal:
    if not isinstance(value, int | float | Decimal):
        raise SqlError(1232, name)
    return value


def _integer(name: str, value: Any) -> int:
    number = _number(name, value)
    if not isinstance(number, int):
        raise SqlError(1232, name)
    return number


def _on(value: Any) -> bool:
    word = _word(value)
    return word in ("on", "true") or (word not in ("off", "false", "default") and bool(number_of(value)))


def _sql_mode(session: Session, value: Any) -> None:
    if value is None:
        raise SqlError(1231, "sql_mode", "NULL")
    text = text_of(value)
    if text.upper() == "DEFAULT":
        session.connection.modes = set(session.server.modes)
        return
    modes: set[str] = set()
    for typed in filter(None, (part.strip() for part in text.split(","))):
        word = typed.upper()
        if word == "ANSI" or word in _UNKNOWN_MODES:
            raise Unsupported(f"sql_mode {word}")
        if word in _COMBINED:
            modes.update(_COMBINED[word])
        elif word not in MODES or (word == "NO_AUTO_CREATE_USER" and word not in session.server.modes):
            raise SqlError(1231, "sql_mode", typed)
        else:
            modes.add(word)
    session.connection.modes = modes


def _time_zone(session: Session, value: Any) -> None:
    text = text_of(value)
    try:
        session.connection.zone = Zone("SYSTEM" if text.upper() == "DEFAULT" else text, session.server.offsets)
    except ValueError:
        raise SqlError(1298, text) from None


def _autocommit(session: Session, value: Any) -> None:
    on = _on(value)
    if on and not session.connection.autocommit:
        session.commit()
    session.connection.autocommit = on


def _choice(key: str, name: str, choices: tuple[str, ...]) -> Callable[[Session, Any], None]:
    def change(session: Session, value: Any) -> None:
        word = _word(value)
        if word == "default":
            word = "row" if key == "binlog_format" else "full"
        if word not in choices:
            raise SqlError(1231, name, text_of(value))
        session.connection.settings[key] = word

    return change


def _switch(key: str) -> Callable[[Session, Any], None]:
    return lambda session, value: session.connection.settings.__setitem__(key, _on(value))


def _timestamp(session: Session, value: Any) -> None:
    if _word(value) not in ("default", "0"):
        us = int(Decimal(_number("timestamp", value)) * 1_000_000)
        if not 0 <= us < 1 << 63:
            raise SqlError(1231, "timestamp", text_of(value))
        session.now_us = us


def _gtid_next(session: Session, value: Any) -> None:
    text = text_of(value).lower()
    if text != "automatic" and not _UUID.fullmatch(text):
        raise SqlError(1231, "gtid_next", text_of(value))
    session.connection.gtid_next = text


def _step(key: str) -> Callable[[Session, Any], None]:
    """auto_increment_increment and _offset: values outside 1 to 65535 become the nearest limit."""

    def change(session: Session, value: Any) -> None:
        session.connection.settings[key] = 1 if _word(value) == "default" else max(1, min(65_535, _integer(key, value)))

    return change


def _collation(session: Session, value: Any) -> None:
    collation = session.server.collation if _word(value) == "default" else _word(value)
    check_collation(collation, None, session.server)
    session.connection.collation = collation
    session.connection.variables["character_set_connection"] = collation.partition("_")[0]


def _client_charset(session: Session, value: Any) -> None:
    session.connection.variables["character_set_client"] = _charset(session, _word(value))


def _old_timestamps(session: Session, value: Any) -> None:
    on = not session.server.old_timestamps if _word(value) == "default" else _on(value)
    session.connection.settings["old_timestamps"] = not on


_VARIABLES: Final[Mapping[str, Callable[[Session, Any], None]]] = {
    "character_set_client": _client_charset,
    "explicit_defaults_for_timestamp": _old_timestamps,
    "auto_increment_increment": _step("auto_increment_increment"),
    "auto_increment_offset": _step("auto_increment_offset"),
    "autocommit": _autocommit,
    "binlog_annotate_row_events": _switch("annotate"),
    "binlog_format": _choice("binlog_format", "binlog_format", ("row", "statement", "mixed")),
    "binlog_row_image": _choice("binlog_row_image", "binlog_row_image", ("full", "minimal", "noblob")),
    "binlog_rows_query_log_events": _switch("rows_query"),
    "collation_connection": _collation,
    "foreign_key_checks": _switch("foreign_key_checks"),
    "gtid_next": _gtid_next,
    "insert_id": lambda session, value: setattr(session.connection, "forced_id", _integer("insert_id", value)),
    "last_insert_id": lambda session, value: setattr(
        session.connection, "last_insert_id", _integer("last_insert_id", value)
    ),
    "sql_log_bin": _switch("log_bin"),
    "sql_mode": _sql_mode,
    "time_zone": _time_zone,
    "timestamp": _timestamp,
}


def logged_literal(value: Any) -> str:
    """A user variable's value as the log prints it."""
    if value is None:
        return "NULL"
    return mysql_types.quote(text_of(value)) if isinstance(value, str | bytes) else text_of(value)


def _password(session: Session, words: Reader, text: str) -> None:
    """SET PASSWORD FOR 'u'@'h' = 'x'; 5.7 logs it as ALTER USER with the hash."""
    name, host = session.connection.account.partition("@")[::2]
    if words.take("FOR"):
        name, host = user_and_host(words, host)
    words.need("=")
    password = words.text() if not words.peek("PASSWORD") else ""
    session.commit()
    logged = text
    kind = SchemaChangeKind.ACCOUNT
    if session.server.password_as_alter_user:
        stored = native_password(password)
        logged = f"ALTER USER '{name}'@'{host}' IDENTIFIED WITH 'mysql_native_password' AS '{stored}'"
        kind = SchemaChangeKind.ALTER_USER
    session.log_ddl(Ddl(kind, session.connection.database, None, None, logged, session.now_ms))
