"""Rejects syntax that sqlglot accepts and an older server, or MariaDB, does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from simulator.sql.catalog.servers import Server
from simulator.sql.errors import SqlError


def _is_row(node: Any) -> bool:
    """`VALUES ROW(1, 2)`."""
    inner = node.expressions
    return len(inner) == 1 and isinstance(inner[0], exp.Anonymous) and str(inner[0].this).lower() == "row"


def _is_lateral(node: Any) -> bool:
    return isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery)


def _is_of_80(node: Any) -> bool:
    """Whether MySQL 8.0 introduced the syntax and MariaDB lacks it."""
    if isinstance(node, exp.Values):
        return bool(isinstance(node.parent, exp.Insert) and node.args.get("alias")) or any(
            map(_is_row, node.expressions)
        )
    return _is_lateral(node)


_UNKNOWN: Final[dict[str, Callable[[Any], bool]]] = {
    "mysql-5.7": lambda node: isinstance(node, exp.With | exp.Window | exp.JSONTable) or _is_of_80(node),
    "mariadb-10.11": _is_of_80,
}


def check_syntax(tree: Any, server: Server) -> None:
    """Raises SqlError 1064."""
    unknown = _UNKNOWN.get(server.id)
    for node in tree.walk() if unknown is not None else ():
        if unknown is not None and unknown(node):
            raise SqlError(1064, node.sql("mysql")[:80])
