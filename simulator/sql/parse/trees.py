"""sqlglot's trees of statements and expressions."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot.errors import ParseError, TokenError

from simulator.sql.errors import SqlError

# sqlglot warns of statements that it does not parse; the script's user gets our sentence about them.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def statement_tree(text: str) -> Any:
    """The tree of a statement. Raises SqlError 1064."""
    try:
        return sqlglot.parse_one(text, dialect="mysql")
    except TokenError:
        raise SqlError(1064, text[:80]) from None
    except ParseError as error:
        near = str((error.errors or [{}])[0].get("highlight") or text)
        raise SqlError(1064, near[:80]) from None


@lru_cache(maxsize=4096)
def expression_tree(text: str) -> Any:
    """The tree of an expression. Raises SqlError 1064."""
    try:
        tree = sqlglot.parse_one(f"SELECT {text}", dialect="mysql")
    except (ParseError, TokenError):
        raise SqlError(1064, text[:80]) from None
    if len(tree.expressions) != 1:
        raise SqlError(1064, text[:80])
    return tree.expressions[0]
