"""The scope in which an expression is compiled: visible sources, session, collation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.sql.catalog.definitions import Compiled, Field
from simulator.sql.errors import SqlError
from simulator.sql.store.session import Session

_INTEGER: Final = re.compile(r"\d+")
_HIGH: Final = (1 << 64) - 1


@dataclass(frozen=True)
class Source:
    """A source of rows in a statement: a table (rows as stored) or a derived table (rows of values)."""

    alias: str
    database: str
    names: tuple[str, ...]
    fields: tuple[Field, ...] | None = None


@dataclass(frozen=True)
class Scope:
    """The sources whose columns an expression sees, and the clause that errors name."""

    session: Session
    compile: Callable[[Any, Scope], Compiled]
    sources: tuple[Source, ...] = ()
    clause: str = "field list"
    # Resolves `values(col)` and `new.col`; the row is the environment's last one.
    inserted: Source | None = None
    run_query: Callable[..., Any] | None = None
    base: int = 0  # sources before this one belong to the outer query of a subquery
    commons: Mapping[str, Any] = field(default_factory=dict)  # common table expressions by name
    shared: frozenset[str] = frozenset()  # columns of USING, which several sources share

    def in_clause(self, clause: str) -> Scope:
        """The same sources in another clause of the statement."""
        return replace(self, clause=clause)

    def find(self, table: str, name: str) -> tuple[int, int]:
        lowered = name.lower()

        def among(numbers: range) -> list[tuple[int, int]]:
            return [
                (number, position)
                for number in numbers
                if not table or self.sources[number].alias.lower() == table.lower()
                for position, column_name in enumerate(self.sources[number].names)
                if column_name.lower() == lowered
            ]

        # a query's own sources hide those of the outer query
        matches = among(range(self.base, len(self.sources))) or among(range(self.base))
        if not matches:
            raise SqlError(1054, f"{table}.{name}" if table else name, self.clause)
        if len(matches) > 1 and not table and lowered not in self.shared:
            raise SqlError(1052, name, self.clause)
        return matches[0]

    def field(self, node: exp.Expression) -> Field | None:
        """The definition of the table column that a node names; None for other nodes."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        source, position = self.find(node.table, node.name)
        fields = self.sources[source].fields
        return None if fields is None else fields[position]


def collation_of(scope: Scope, *nodes: exp.Expression) -> str:
    """The collation of a comparison: an explicit one, a column's, or the connection's."""
    for node in nodes:
        if isinstance(node, exp.Collate):
            return str(node.expression.name).lower()
        if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.BINARY:
            return "binary"
    for node in nodes:
        # columns of a subquery do not count
        walked = node.walk(prune=lambda child: isinstance(child, exp.Query)) if isinstance(node, exp.Expression) else ()
        for column in walked:
            if isinstance(column, exp.Column):
                column_field = scope.field(column)
                if column_field is not None and column_field.collation:
                    return column_field.collation
    return str(scope.session.connection.collation)


def compiled(node: Any, scope: Scope) -> Compiled:
    """Compile an expression. Raises SqlError for unknown columns, Unsupported for unsupported expressions."""
    return scope.compile(node, scope)


def constant(value: Any) -> Compiled:
    return lambda env: value


def literal_value(node: exp.Literal) -> Any:
    text = node.this
    if node.is_string:
        return text
    if _INTEGER.fullmatch(text):
        exact = Decimal(text)
        return int(exact) if exact <= _HIGH else exact
    if "e" not in text.lower():
        return Decimal(text)
    number = float(text)
    if math.isinf(number):
        raise SqlError(1367, "double", text)
    return number
