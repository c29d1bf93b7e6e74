"""INSERT … VALUES of plain literals, parsed with a regular expression: the bulk of long scripts.

Only rows of numbers, strings, bytes, NULL and DEFAULT are read here; sqlglot parses other statements. Both ways give
the same rows.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from simulator.sources.mysql.types import unquote
from simulator.sql.catalog.definitions import Definition
from simulator.sql.dml.row_inserts import DEFAULT, Inserter
from simulator.sql.errors import SqlError
from simulator.sql.expressions.table_plans import plan_of
from simulator.sql.parse.server_text import NO_TEXT, raw_bytes
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import Raw

_NAME: Final = r"(?:`((?:[^`]|``)+)`|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*))"
_COLUMN_NAME: Final = r"(?:`[^`]+`|[A-Za-z_]\w*)"
# Only the keywords ignore case: compiling a case-insensitive range of all letters takes long.
_HEAD: Final = re.compile(
    rf"(?i:INSERT\s+INTO)\s+(?:{_NAME}\s*\.\s*)?{_NAME}\s*"
    rf"(\(\s*{_COLUMN_NAME}(?:\s*,\s*{_COLUMN_NAME})*\s*\)\s*)?(?i:VALUES)\s*"
)
_COLUMN: Final = re.compile(r"`([^`]+)`|([A-Za-z_]\w*)")
_VALUE: Final = re.compile(
    r"\s*(?:(-?\d+)(?![\w.])|'([^'\\]*)'(?!\s*['\"])|(NULL)\b|(-?\d+\.\d+)(?![\w.])|('(?:[^'\\]|''|\\.)*')(?!\s*['\"])"
    r"|(DEFAULT)\b(?!\s*\()|0x([0-9a-f]+)|_binary\s*('(?:[^'\\]|''|\\.)*')(?!\s*['\"]))\s*([,)])",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN: Final = re.compile(r"\s*(?:(,)\s*\(|$)")
# Keywords that may follow INSERT INTO instead of a table's name.
_NOT_NAMES: Final = frozenset(("select", "values", "value", "set", "table"))
_HIGH: Final = (1 << 64) - 1


def insert_literals(session: Session, text: str, typed: str) -> bool:
    """Run the statement if it is such an INSERT; returns whether it was. `typed`: as the log has it."""
    head = _HEAD.match(text)
    if head is None or session.connection.settings["binlog_format"] != "row":
        return False
    rows = _rows(text, head.end())
    if rows is None:
        return False
    database = (head[1] or "").replace("``", "`") or head[2] or ""
    name = (head[3] or "").replace("``", "`") or head[4]
    if not head[3] and name.lower() in _NOT_NAMES:
        return False
    if session.view(database, name) is not None:
        return False
    session.statement.text, session.statement.annotated, session.statement.generated_ids = typed, False, 0
    session.run += 1
    # of defaults, generated columns and triggers
    session.statement.refuses_texts = session.strict
    session.statement.division_fails = session.strict and "ERROR_FOR_DIVISION_BY_ZERO" in session.connection.modes
    data = session.table(database, name)
    definition = data.definition
    column_lists = plan_of(data, session).column_lists
    positions = column_lists.get(head[5] or "")
    if positions is None:
        positions = column_lists[head[5] or ""] = _positions(definition, head[5])
    for number, values in enumerate(rows, 1):
        if len(values) != len(positions):
            raise SqlError(1136, number)
    with session.atomic():
        inserter = Inserter(session, data, positions, "", len(rows))
        for number, values in enumerate(rows, 1):
            inserter.insert(values, number)
        inserter.done()
        session.connection.row_count = len(rows)
    return True


def _typed(text: str) -> str | bytes:
    """A string of the file, or its bytes if they are not text."""
    return text if NO_TEXT.search(text) is None else Raw(raw_bytes(text))


def _large(digits: str) -> int | Decimal:
    number = Decimal(digits)
    return int(number) if -_HIGH <= number <= _HIGH else number


def _positions(definition: Definition, columns: str | None) -> list[int]:
    """The positions of the columns in `(a, `b`)`; without a list those of all visible columns. Raises SqlError 1054,
    1110."""
    if columns is None:
        return [i for i, field in enumerate(definition.fields) if not field.invisible]
    positions: list[int] = []
    for match in _COLUMN.finditer(columns):
        column = match[1] or match[2]
        position = definition.position(column)
        if position is None:
            raise SqlError(1054, column, "columns")
        if position in positions:
            raise SqlError(1110, column)
        positions.append(position)
    return positions


def _rows(text: str, position: int) -> list[list[Any]] | None:
    """The rows of literals from offset `at` to the end of the statement; None if anything else occurs."""
    if not text.startswith("(", position):
        return None
    position += 1
    rows: list[list[Any]] = []
    row: list[Any] = []
    match_value, match_between = _VALUE.match, _BETWEEN.match
    while True:
        match = match_value(text, position)
        if match is None:
            return None
        integer, text_value, null, decimal, quoted, default, digits, raw, mark = match.groups()
        if integer is not None:
            row.append(int(integer) if len(integer) < 20 else _large(integer))
        elif text_value is not None:
            row.append(text_value if text_value.isascii() else _typed(text_value))
        elif null is not None:
            row.append(None)
        elif decimal is not None:
            number = Decimal(decimal)
            row.append(number if number else abs(number))
        elif quoted is not None:
            row.append(_typed(unquote(quoted)))
        elif default is not None:
            row.append(DEFAULT)
        elif digits is not None:
            row.append(Raw(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))))
        elif raw is not None:
            row.append(raw_bytes(unquote(raw)))
        position = match.end()
        if mark == ",":
            continue
        rows.append(row)
        row = []
        between = match_between(text, position)
        if between is None:
            return None
        if between[1] is None:
            return rows
        position = between.end()
