"""SET: variables of the session, user variables, NAMES, PASSWORD."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from simulator.model import SchemaChangeKind
from simulator.sources import mysql
from simulator.sql.catalog.servers import default_collation
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.compiler import scope_of
from simulator.sql.expressions.scope import compiled
from simulator.sql.parse.trees import expression_tree
from simulator.sql.parse.words import Reader
from simulator.sql.queries.select import query_scope
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import text_of, truth_of
from simulator.sql.values.temporal import Zone
from simulator.stream.literal.transactions import Ddl

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+", re.IGNORECASE)
_MODES: Final = frozenset((
    "ALLOW_INVALID_DATES", "ERROR_FOR_DIVISION_BY_ZERO", "HIGH_NOT_PRECEDENCE", "IGNORE_SPACE",
    "NO_AUTO_CREATE_USER", "NO_AUTO_VALUE_ON_ZERO", "NO_ENGINE_SUBSTITUTION", "NO_UNSIGNED_SUBTRACTION", "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE", "ONLY_FULL_GROUP_BY", "REAL_AS_FLOAT", "STRICT_ALL_TABLES", "STRICT_TRANS_TABLES",
))  # fmt: skip
_TRADITIONAL: Final = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE",
                       "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION")  # fmt: skip
# Variables that change nothing that a script or its log shows.
_WITHOUT_EFFECT: Final = frozenset((
    "unique_checks", "character_set_client", "character_set_connection", "character_set_results",
    "character_set_server", "character_set_database", "collation_server", "collation_database", "sql_safe_updates",
    "sql_notes", "sql_warnings", "innodb_lock_wait_timeout", "lock_wait_timeout", "wait_timeout",
    "interactive_timeout", "max_allowed_packet", "net_read_timeout", "net_write_timeout", "tx_isolation",
    "transaction_isolation", "sql_quote_show_create", "group_concat_max_len", "sql_log_off", "default_storage_engine",
    "max_execution_time", "optimizer_switch", "net_buffer_length", "sql_select_limit", "sql_big_selects",
))  # fmt: skip


def set_statement(session: Session, words: Reader, text: str) -> None:
    """SET a = 1, @b := 2, SESSION c = 3 …; all expressions are read before anything is set."""
    if words.take("NAMES"):
        charset = words.next().value.lower()
        if charset == "default":
            charset = session.server.charset
        if charset not in mysql.CHARSETS:
            raise SqlError(1115, charset)
        session.collation = (
            words.next().value.lower() if words.take("COLLATE") else default_collation(charset, session.server)
        )
        return
    if words.one_of("CHARACTER SET", "CHARSET"):
        words.next()
        return
    if words.take("PASSWORD"):
        _password(session, words, text)
        return
    work: list[Callable[[], None]] = []
    while True:
        words.one_of("SESSION", "LOCAL")
        words.one_of("GLOBAL", "PERSIST", "PERSIST_ONLY")
        if words.take("TRANSACTION"):
            words.at = len(words.words)  # the isolation of one session alone shows nowhere
            return
        word = words.next()
        name = word.value.lower()
        if word.value == "@":  # @`name`
            name = "@" + words.next().value.lower()
        if name in ("@@session", "@@local", "@@global"):
            words.need(".")
            name = words.next().value.lower()
        words.one_of(":=") or words.one_of(":", "=")
        words.take("=")
        node_text, bare = _right_side(words)
        work.append(_assignment(session, name, node_text, bare))
        if words.done:
            break
        words.need(",")
    for one in work:
        one()


def _right_side(words: Reader) -> tuple[str, str]:
    """The text of a value up to the next comma, and the word that it is, if it is one."""
    first, depth = words.at, 0
    while not words.done:
        word = words.words[words.at]
        if word.value == "," and not depth:
            break
        if word.kind == "mark":
            depth += word.value.count("(") - word.value.count(")")
        words.next()
    if first == words.at:
        raise words.problem()
    alone = words.words[first] if words.at == first + 1 else None
    return words.between(first, words.at), alone.value if alone is not None and alone.kind == "word" else ""


def _assignment(session: Session, name: str, text: str, bare: str) -> Callable[[], None]:
    if (bare and not name.startswith("@")) or bare.lower() in ("on", "off", "default"):
        value: Any = bare
    elif name.startswith("@@"):
        value = compiled(expression_tree(text), scope_of(session))([])
    else:
        value = compiled(expression_tree(text), query_scope(session))([])
    if name.startswith("@") and not name.startswith("@@"):
        return lambda: session.user_variables.__setitem__(name[1:].strip("`"), value)
    known = name.removeprefix("@@")
    if known in _WITHOUT_EFFECT:
        return lambda: None
    change = _VARIABLES.get(known)
    mariadb_only = known == "binlog_annotate_row_events"
    mysql_only = known in ("binlog_rows_query_log_events", "gtid_next")
    wrong = (mariadb_only and not session.server.mariadb) or (mysql_only and session.server.mariadb)
    if change is None or wrong:
        if change is None and known in ("binlog_row_value_options", "explicit_defaults_for_timestamp"):
            raise Unsupported(f"SET {known}")
        raise SqlError(1193, known)
    return lambda: change(session, value)


def _word(value: Any) -> str:
    return text_of(value).lower()


def _number(name: str, value: Any) -> int | float | Decimal:
    if not isinstance(value, int | float | Decimal):
        raise SqlError(1232, name)
    return value


def _whole(name: str, value: Any) -> int:
    number = _number(name, value)
    if not isinstance(number, int):
        raise SqlError(1232, name)
    return number


def _on(value: Any) -> bool:
    word = _word(value)
    return word in ("on", "true") or (word not in ("off", "false", "default") and bool(truth_of(value)))


def _sql_mode(session: Session, value: Any) -> None:
    text = text_of(value)
    if text.upper() == "DEFAULT":
        session.modes = set(session.server.modes)
        return
    modes: set[str] = set()
    for typed in filter(None, (part.strip() for part in text.split(","))):
        word = typed.upper()
        if word == "TRADITIONAL":
            modes.update(_TRADITIONAL)
        elif word in ("ANSI", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "PAD_CHAR_TO_FULL_LENGTH",
                      "TIME_TRUNCATE_FRACTIONAL", "ORACLE", "MSSQL"):  # fmt: skip
            raise Unsupported(f"sql_mode {word}")
        elif word not in _MODES:
            raise SqlError(1231, "sql_mode", typed)
        else:
            modes.add(word)
    session.modes = modes


def _time_zone(session: Session, value: Any) -> None:
    text = text_of(value)
    try:
        session.zone = Zone("SYSTEM" if text.upper() == "DEFAULT" else text, session.server.offsets)
    except ValueError:
        raise SqlError(1298, text) from None


def _autocommit(session: Session, value: Any) -> None:
    on = _on(value)
    if on and not session.autocommit:
        session.commit()
    session.autocommit = on


def _choice(key: str, name: str, choices: tuple[str, ...]) -> Callable[[Session, Any], None]:
    def change(session: Session, value: Any) -> None:
        word = _word(value)
        if word == "default":
            word = "row" if key == "binlog_format" else "full"
        if word not in choices:
            raise SqlError(1231, name, text_of(value))
        session.settings[key] = word

    return change


def _switch(key: str) -> Callable[[Session, Any], None]:
    return lambda session, value: session.settings.__setitem__(key, _on(value))


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
    session.gtid_next = text


def _insert_id(session: Session, value: Any) -> None:
    session.forced_id = _whole("insert_id", value)


def _step(key: str) -> Callable[[Session, Any], None]:
    """auto_increment_increment and _offset: 1 to 65535, and what lies outside becomes the next that does not."""

    def change(session: Session, value: Any) -> None:
        session.settings[key] = 1 if _word(value) == "default" else max(1, min(65_535, _whole(key, value)))

    return change


def _last_insert_id(session: Session, value: Any) -> None:
    session.last_insert_id = _whole("last_insert_id", value)


def _collation(session: Session, value: Any) -> None:
    session.collation = _word(value)


_VARIABLES: Final[Mapping[str, Callable[[Session, Any], None]]] = {
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
    "insert_id": _insert_id,
    "last_insert_id": _last_insert_id,
    "sql_log_bin": _switch("log_bin"),
    "sql_mode": _sql_mode,
    "time_zone": _time_zone,
    "timestamp": _timestamp,
}


def shown(value: Any) -> str:
    """A user variable's value as a log prints it."""
    if value is None:
        return "NULL"
    return mysql.quote(text_of(value)) if isinstance(value, str | bytes) else text_of(value)


def _password(session: Session, words: Reader, text: str) -> None:
    """SET PASSWORD FOR 'u'@'h' = 'x'; 5.7 logs it as ALTER USER with the hash."""
    name, host = session.account.partition("@")[::2]
    if words.take("FOR"):
        name = words.next().value
        if "@" in name:
            name, _, host = name.partition("@")
            host = host or words.next().value
        elif words.take("@"):
            host = words.next().value
        else:
            following = words.words[words.at].value if not words.done else ""
            if following.startswith("@"):
                words.next()
                host = following[1:] or words.next().value
    words.need("=")
    password = words.text() if not words.peek("PASSWORD") else ""
    session.commit()
    logged = text
    kind = SchemaChangeKind.OTHER
    if session.server.password_as_alter_user:
        # mysql_native_password: SHA1(SHA1(password)), an empty password stays empty
        once = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
        digest = hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()
        stored = f"*{digest}" if password else ""
        logged = f"ALTER USER '{name}'@'{host}' IDENTIFIED WITH 'mysql_native_password' AS '{stored}'"
        kind = SchemaChangeKind.ALTER_USER
    session.log_ddl(Ddl(kind, session.database, None, None, logged, session.now_ms))
