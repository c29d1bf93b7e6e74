"""INSERT, REPLACE, UPDATE and DELETE: parses them, runs them, and logs their rows or their text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from simulator.model import StatementKind
from simulator.sql.dml import statements
from simulator.sql.errors import Unsupported
from simulator.sql.parse.newer_syntax import check_syntax
from simulator.sql.parse.trees import statement_tree
from simulator.sql.parse.words import Reader
from simulator.sql.statements import variables
from simulator.sql.store.session import Session
from simulator.stream.literal.transactions import Text

# Matches quoted text to skip it.
_QUOTED_BYTES: Final = re.compile(
    r"(?<!\w)x'([0-9a-f]*)'|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`", re.IGNORECASE | re.DOTALL
)
_PRIORITY: Final = re.compile(r"(\s*\w+\s+)((?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|QUICK)\s+)+)", re.IGNORECASE)
OTHER_ORDER: Final = (
    "a server may read rows by another index or by partition here, and so change these rows in another order"
)
# Words of which a statement about rows has at least one.
_ROWS: Final = frozenset(("VALUES", "VALUE", "SELECT", "SET", "TABLE", "WITH"))
_NEEDED: Final = {
    "INSERT": _ROWS, "REPLACE": _ROWS, "UPDATE": frozenset(("SET",)), "DELETE": frozenset(("FROM",)),
}  # fmt: skip
ROW_WORDS: Final = tuple(_NEEDED)


def _tree(words: Reader, verb: str, *, mariadb: bool = False) -> Any:
    """The tree of a statement about rows; REPLACE is parsed as an INSERT."""
    text = words.sql
    if mariadb:
        # there x'41' is a text, and only 0x41 a number; sqlglot's tree does not distinguish them
        text = _QUOTED_BYTES.sub(lambda match: f"unhex('{match[1]}')" if match[1] is not None else match[0], text)
        words = Reader(text)
    offsets = [
        words.words[i].end
        for i in range(len(words.words) - 1)
        if words.words[i].upper == "DEFAULT" and words.words[i + 1].value == "("
    ]
    for offset in reversed(offsets):  # sqlglot does not parse DEFAULT(column)
        text = f"{text[:offset]}_of{text[offset:]}"
    if match := _PRIORITY.match(text):
        text = match[1] + " " * len(match[2]) + text[match.end() :]
    words = Reader(text) if offsets or match else words
    if not _NEEDED[verb].intersection(word.upper for word in words.words):  # certainly an error
        words.position = min(len(words.words), 2 if verb == "DELETE" else 3)
        raise words.problem()
    first, second, third = words.words[:3]
    if verb == "REPLACE":
        text = f"{text[: first.start]}INSERT {text[first.end :]}"
    ignore = second.upper == "IGNORE"
    if verb in ("UPDATE", "DELETE") and ignore:
        text = f"{text[: second.start]}      {text[second.end :]}"
    elif verb in ("INSERT", "REPLACE") and (third if ignore else second).upper != "INTO":
        end = (second if ignore else first).end
        text = f"{text[:end]} INTO {text[end:]}"
    node = statement_tree(text)
    if ignore:
        node.set("ignore", True)
    return node


def run_change(
    session: Session, text: str, words: Reader, verb: str, put_in: Callable[[Any], Any] | None = None
) -> None:
    """Run a statement about rows. `put_in` replaces the variables of a program in the tree."""
    node = _tree(words, verb, mariadb=session.server.mariadb)
    check_syntax(node, session.server)
    node = node if put_in is None else put_in(node)
    if not isinstance(node, exp.Insert | exp.Update | exp.Delete):
        raise Unsupported("this form of the statement")
    run = _runner(session, node, verb)
    form = session.connection.settings["binlog_format"]
    if session.statement.is_inside:
        run()
        return
    if form == "row":
        with session.atomic():
            run()
        return
    entries = len(session.transaction.entries)
    last_insert_id = session.connection.last_insert_id
    with session.atomic():
        session.statement.quiet = True
        try:
            run()
        finally:
            session.statement.quiet = False
        if form == "mixed" and session.statement.unsafe:
            # a nondeterministic statement is logged by its rows
            session.undo_to(len(session.transaction.undo) - session.statement.changes, entries)
            run()
        else:
            _log_text(session, text, verb, node, last_insert_id)


def _runner(session: Session, node: Any, verb: str) -> Callable[[], None]:
    def run() -> None:
        mark = len(session.transaction.undo)
        if isinstance(node, exp.Insert):
            statements.insert(session, node, replace=verb == "REPLACE")
        elif isinstance(node, exp.Update):
            statements.update(session, node)
        else:
            statements.delete(session, node)
        changed = session.transaction.undo[mark:]
        session.statement.changes = len(changed)
        # rows of triggers and cascades do not count; changed duplicates count twice, and joins change several tables
        joined = any(node.args.get(part) for part in ("conflict", "tables", "using")) or node.this.args.get("joins")
        target = session.statement.target
        session.connection.row_count = None if joined else sum(data.definition.id == target for data, _, _ in changed)
        if session.statement.order_unsure and len(changed) > 1:
            session.statement.warnings.append(OTHER_ORDER)
        session.statement.order_unsure = False

    return run


def _log_text(session: Session, text: str, verb: str, node: Any, last_insert_id: int) -> None:
    """Statement format: log the values that the statement depends on, then its text, even if no row matched."""
    target = node.this.this if isinstance(node.this, exp.Schema) else node.this
    id = session.table_id(target.db, target.name)
    values = []
    if session.statement.last_insert_id_used:
        values.append(f"SET INSERT_ID = {last_insert_id}")
    if session.statement.generated_ids:
        values.append(f"SET INSERT_ID = {session.statement.generated_ids}")
    if session.statement.random_used:
        seeds = [int(hashlib.md5(f"seed {session.draw()}".encode()).hexdigest()[:7], 16) for _ in range(2)]
        values.append(f"SET SESSION rand_seed1 = {seeds[0]} , rand_seed2 = {seeds[1]}")
    for name in dict.fromkeys(session.statement.used_variables):
        values.append(f"SET @{name} := {variables.logged_literal(session.connection.user_variables.get(name))}")
    for value in values:
        session.transaction.entries.append(Text(StatementKind.VALUE, "", "", value, session.now_ms))
    kind = StatementKind[verb]
    session.transaction.entries.append(Text(kind, id.database, id.name, text, session.now_ms))
