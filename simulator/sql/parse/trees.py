"""sqlglot's trees of statements and expressions. Functions keep their names and arguments, whatever they are."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Any, ClassVar, Final

import sqlglot
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.mysql import MySQLParser

from simulator.sql.errors import SqlError, Unsupported

# sqlglot warns of statements that it does not parse; the script's user gets our sentence about them.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_AGGREGATES: Final = (
    "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "COUNT", "JSON_ARRAYAGG", "MAX", "MIN", "STD", "STDDEV", "STDDEV_POP",
    "STDDEV_SAMP", "SUM", "VARIANCE", "VAR_POP", "VAR_SAMP",
)  # fmt: skip
# What is written otherwise than `name(a, b)`.
_SYNTAX: Final = (
    "CAST", "CHAR", "CONVERT", "EXTRACT", "GROUP_CONCAT", "JSON_OBJECTAGG", "JSON_TABLE", "MATCH", "POSITION", "SUBSTR",
    "SUBSTRING", "TRIM", "VALUES",
)  # fmt: skip


class _Parser(MySQLParser):
    FUNCTIONS: ClassVar = {name: MySQLParser.FUNCTIONS[name] for name in _AGGREGATES if name in MySQLParser.FUNCTIONS}
    LAMBDAS: ClassVar = {}  # `j->'$.a'` is no function of j
    FUNCTION_PARSERS: ClassVar = {name: MySQLParser.FUNCTION_PARSERS[name] for name in _SYNTAX}


class ServerSql(MySQL):
    """MySQL as sqlglot knows it, but for functions: sqlglot puts other databases' in their place."""

    Parser = _Parser


# sqlglot takes `1e0+2` for one word.
_EXPONENT: Final = re.compile(
    r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`|((?<![\w.])[\d.]+[eE]\d+)(?=[-+])", re.DOTALL
)


def _apart(text: str) -> str:
    return _EXPONENT.sub(lambda match: f"{match[0]} " if match[1] else match[0], text)


def statement_tree(text: str) -> Any:
    """The tree of a statement. Raises SqlError 1064, Unsupported."""
    text = _apart(text)
    try:
        return sqlglot.parse_one(text, dialect=ServerSql)
    except TokenError:
        raise SqlError(1064, text[:80]) from None
    except ParseError as error:
        if ":=" in text:  # sqlglot knows it in some places only
            raise Unsupported("this assignment with :=") from None
        near = str((error.errors or [{}])[0].get("highlight") or text)
        raise SqlError(1064, near[:80]) from None


@lru_cache(maxsize=4096)
def expression_tree(text: str) -> Any:
    """The tree of an expression. Raises SqlError 1064."""
    text = _apart(text)
    try:
        tree = sqlglot.parse_one(f"SELECT {text}", dialect=ServerSql)
    except (ParseError, TokenError):
        raise SqlError(1064, text[:80]) from None
    if len(tree.expressions) != 1:
        raise SqlError(1064, text[:80])
    return tree.expressions[0]
