"""sqlglot's trees of statements and expressions. Functions keep their names and arguments as typed."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Any, ClassVar, Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.mysql import MySQLParser

from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.parse.words import words_of

# sqlglot warns of statements that it cannot parse; users get our error instead.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_AGGREGATES: Final = (
    "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "COUNT", "JSON_ARRAYAGG", "MAX", "MIN", "STD", "STDDEV", "STDDEV_POP",
    "STDDEV_SAMP", "SUM", "VARIANCE", "VAR_POP", "VAR_SAMP",
)  # fmt: skip
# Functions with other syntax than `name(a, b)`.
_SYNTAX: Final = (
    "CAST", "CHAR", "CONVERT", "EXTRACT", "GROUP_CONCAT", "JSON_OBJECTAGG", "JSON_TABLE", "MATCH", "POSITION", "SUBSTR",
    "SUBSTRING", "TRIM", "VALUES",
)  # fmt: skip


class _Parser(MySQLParser):
    FUNCTIONS: ClassVar = {name: MySQLParser.FUNCTIONS[name] for name in _AGGREGATES if name in MySQLParser.FUNCTIONS}
    LAMBDAS: ClassVar = {}  # `j->'$.a'` is not a function of j
    FUNCTION_PARSERS: ClassVar = {name: MySQLParser.FUNCTION_PARSERS[name] for name in _SYNTAX}


class ServerSql(MySQL):
    """sqlglot's MySQL dialect without its functions, which sqlglot maps to those of other databases."""

    Parser = _Parser


# sqlglot reads `1e0+2` as one word, and `TIME'1:2:3.4'` and `TIMESTAMP'…'` as a CAST without fraction digits.
_REWRITTEN: Final = re.compile(
    r"\bTIME(?P<stamp>STAMP)?\s*(?P<time>'[^'\\]*\.(?P<digits>\d+)')|'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|`(?:[^`]|``)*`"
    r"|(?P<exponent>(?<![\w.])[\d.]+[eE]\d+)(?=[-+])",
    re.DOTALL | re.IGNORECASE,
)


_WITH_UNIT: Final = re.compile(r"\btimestamp(add|diff)\b", re.IGNORECASE)


def _apart(text: str) -> str:
    return _REWRITTEN.sub(_rewritten, text)


def _rewritten(match: re.Match[str]) -> str:
    if match["time"]:
        type = "DATETIME" if match["stamp"] else "TIME"
        return f"CAST({match['time']} AS {type}({min(6, len(match['digits']))}))"
    return f"{match[0]} " if match["exponent"] else match[0]


def statement_tree(text: str) -> Any:
    """The tree of a statement. Raises SqlError 1064, Unsupported."""
    return _parsed(_apart(text), text)


def _parsed(text: str, typed: str) -> Any:
    try:
        tree = sqlglot.parse_one(text, dialect=ServerSql)
    except TokenError:
        raise SqlError(1064, typed[:80]) from None
    except ParseError as error:
        if ":=" in typed:  # sqlglot supports it in some clauses only
            raise Unsupported("this assignment with :=") from None
        near = _unbalanced(typed)
        if near is not None:
            raise SqlError(1064, near[:80]) from None
        # a server may know syntax that sqlglot does not
        near = str((error.errors or [{}])[0].get("highlight") or typed)
        raise Unsupported(f"the syntax near {near[:40]!r}, if it is no mistake,") from None
    if _WITH_UNIT.search(text):
        for call in tree.find_all(exp.Anonymous):
            if str(call.this).lower() in ("timestampadd", "timestampdiff"):
                unit = call.expressions[0]
                unit.replace(exp.var(unit.name))  # sqlglot takes it for a column
    return tree


def _unbalanced(text: str) -> str | None:
    """The text from the first surplus closing bracket; "" if a closing bracket is missing; None if brackets are
    balanced."""
    depth = 0
    for word in words_of(text):
        depth += word.brackets_opened
        if depth < 0:
            return text[word.start :]
    return "" if depth else None


@lru_cache(maxsize=4096)
def expression_tree(text: str) -> Any:
    """The tree of an expression. Raises SqlError 1064, Unsupported."""
    tree = _parsed(f"SELECT {_apart(text)}", text)
    if len(tree.expressions) != 1:
        raise SqlError(1064, text[:80])
    return tree.expressions[0]
