"""Compiles comparisons, logic, LIKE and CASE to Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import to_stored
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions.arithmetic import checked_number, is_unsigned
from simulator.sql.expressions.branches import unified_branches
from simulator.sql.expressions.calls import rows_of_query
from simulator.sql.expressions.scope import Scope, collation_of, compiled, constant, literal_value
from simulator.sql.functions.texts import pattern_of
from simulator.sql.values import comparison
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import NUMBER, Bits, JsonText, Label, Raw, is_number, number_of, text_of, truth_of
from simulator.sql.values.temporal import Temporal


def make_logic(node: Any, scope: Scope, kind: str) -> Compiled:
    left, right = compiled(node.left, scope), compiled(node.right, scope)
    texts = [operand for operand in (node.left, node.right) if isinstance(operand, exp.Literal) and operand.is_string]
    if len(texts) == 2 and scope.run_query is not None and not scope.sources:
        left, right = (constant(number_of(text.this)) for text in texts)  # SELECT 'a' || 'b'
    elif texts:
        raise Unsupported("a text as a condition")  # which servers read even where it does not matter

    def conjunction(env: Any) -> Any:
        a = truth_of(left(env))
        if a is False:
            return False
        b = truth_of(right(env))
        return False if b is False else None if a is None or b is None else True

    def disjunction(env: Any) -> Any:
        a = truth_of(left(env))
        if a:
            return True
        b = truth_of(right(env))
        return True if b else None if a is None or b is None else False

    def exclusive_or(env: Any) -> Any:
        values = left(env), right(env)
        if any(isinstance(value, Temporal | Label) for value in values):
            raise Unsupported("XOR of a date, a time or a label")
        a, b = map(truth_of, values)
        return None if a is None or b is None else a != b

    return {"and": conjunction, "or": disjunction, "xor": exclusive_or}[kind]


def make_not(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)

    def negated(env: Any) -> Any:
        value = truth_of(inner(env))
        return None if value is None else not value

    return negated


def make_comparison(test: Callable[[int], bool]) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        if isinstance(node.left, exp.Tuple) and isinstance(node.right, exp.Tuple) and isinstance(node, exp.EQ):
            pairs = zip(node.left.expressions, node.right.expressions, strict=True)
            parts = [make(exp.EQ(this=a, expression=b), scope) for a, b in pairs]

            def all_equal(env: Any) -> Any:
                results = [part(env) for part in parts]
                return False if False in results else None if None in results else True

            return all_equal
        left, right = (_operand(node.left, node.right, scope), _operand(node.right, node.left, scope))
        collation = collation_of(scope, node.left, node.right)
        _check_constants(scope, node.left, node.right)
        session = scope.session
        refuses = not session.server.mariadb
        sides = node.left, node.right

        def compare(env: Any) -> Any:
            a, b = left(env), right(env)
            if type(a) is str or type(b) is str:
                _check_text((a, b), sides, session)
            if (
                refuses
                and session.statement.refuses_texts
                and isinstance(a, int | float | Decimal) != isinstance(b, int | float | Decimal)
            ):
                a, b = (checked_number(x, session) if type(x) is str else x for x in (a, b))
            order = _compare(a, b, collation, session)
            return None if order is None else test(order)

        return compare

    return make


def _check_text(values: Sequence[Any], nodes: Sequence[Any], session: Any) -> None:
    """Raises Unsupported for a text whose comparison depends on where the values come from."""
    for value, node in zip(values, nodes, strict=True):
        if isinstance(value, bytes) and node.find(exp.Column, exp.Cast) is None:
            raise Unsupported("comparing hexadecimal digits with a text")  # as bytes, or by a column's collation
    if session.server.id == "mysql-5.7" and _is_time(*values) and not any(node.find(exp.Column) for node in nodes):
        raise Unsupported("comparing a time with a text")


# A text with a time.
_TIME: Final = re.compile(r"-?(\d+ )?[\d:]+(\.\d*)?")


def _operand(node: Any, other: Any, scope: Scope) -> Compiled:
    """An operand of a comparison: a number of two digits is a year if the other operand is a YEAR column."""
    field = scope.field(other) if isinstance(node, exp.Literal) and not node.is_string else None
    if field is not None and field.type.name == "year" and node.this.isdecimal() and 0 < int(node.this) < 100:
        return compiled(exp.Literal.number(int(node.this) + (1900 if int(node.this) > 69 else 2000)), scope)
    return compiled(node, scope)


def _check_constants(scope: Scope, *nodes: Any, like: bool = False) -> None:
    """In strict mode MySQL checks the constants of a statement that changes rows before it reads a row: each must fit
    the type of the column that it is compared with. Raises SqlError 1292."""
    session = scope.session
    if any((field := scope.field(node)) is not None and field.type.name == "time" for node in nodes):
        for node in nodes:
            if isinstance(node, exp.Literal) and node.is_string and not _TIME.fullmatch(node.this):
                raise Unsupported(f"comparing a TIME with {node.this!r}")
    if not session.statement.refuses_texts or session.server.mariadb:
        return
    modern = session.server.id == "mysql-8.0"
    fields = [operand_field for operand_field in map(scope.field, nodes) if operand_field is not None]
    for field in fields[:1]:
        family = mysql_table.family(field.type)
        if any(mysql_table.family(other.type) != family for other in fields) and len(fields) < len(nodes):
            raise Unsupported("comparing a constant with columns of several types")
        for node in nodes:
            if not isinstance(node, exp.Literal):
                continue
            value = literal_value(node)
            if family in ("date", "datetime") or (family == "time" and isinstance(value, str)):
                if not like or not modern:
                    rules = replace(session.rules(), strict=True, no_zero_date=False, no_zero_in_date=False)
                    to_stored(value, field, 1, rules)
            elif modern and not like and isinstance(value, str) and family in ("integer", "decimal", "float", "year"):
                match = NUMBER.match(value)
                if not match or match.end() < len(value.rstrip(" ")):
                    if family == "year":
                        raise Unsupported("comparing a YEAR with a text that is no number")
                    raise SqlError(12920, "DECIMAL" if family == "decimal" else "DOUBLE", value[:64])


_KINDS: Final = {
    "b": "bytes", "d": "a date", "e": "a label", "j": "a JSON document", "n": "a number", "s": "a text", "t": "a time",
    "x": "hexadecimal digits", "y": "a JSON column",
}  # fmt: skip
# Kinds and pairs of kinds whose comparison was found equal to that of servers.
_COMPARED: Final = frozenset(("n", "ns", "en", "e", "es", "s", "d", "ds", "t", "st", "b", "bs", "bx", "j", "jn", "js"))


def _kind_letter(value: Any) -> str:
    """The letter of a value's kind in `_KINDS`."""
    if isinstance(value, Temporal):
        return "t" if value.kind == "time" else "d"
    if isinstance(value, JsonText):
        return "y"
    if isinstance(value, str):
        return "e" if isinstance(value, Label) else "s"
    if isinstance(value, bytes):
        return "x" if isinstance(value, Raw) else "b"
    return "j" if isinstance(value, Document) else "n"


def _check_kinds(*values: Any) -> str:
    """The kinds of values. Raises Unsupported for values that were not compared together on servers."""
    present = "".join(sorted({_kind_letter(value) for value in values if value is not None}))
    if present and present not in _COMPARED:
        raise Unsupported(f"comparing {' with '.join(_KINDS[kind] for kind in present)}")
    return present


def _compare(a: Any, b: Any, collation: str, session: Any) -> int | None:
    """A comparison. Raises Unsupported where a strict statement may refuse a text."""
    if type(a) is int and type(b) is int:
        return (a > b) - (a < b)
    if _check_kinds(a, b) == "ns" and session.statement.refuses_texts:
        for text in (a, b):
            if isinstance(text, str) and not is_number(text):
                raise Unsupported("comparing a number with a text that is none, in a strict statement,")
    return comparison.compare(a, b, collation)


def _is_time(*values: Any) -> bool:
    """Whether one of the values is a time of day."""
    return any(isinstance(value, Temporal) and value.kind == "time" for value in values)


def make_null_safe(node: Any, scope: Scope) -> Compiled:
    left, right = compiled(node.left, scope), compiled(node.right, scope)
    collation = collation_of(scope, node.left, node.right)

    def compare(env: Any) -> Any:
        a, b = left(env), right(env)
        _check_text((a, b), (node.left, node.right), scope.session)
        return (a is None and b is None) or _compare(a, b, collation, scope.session) == 0

    return compare


def make_is(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return lambda env: inner(env) is None
    if isinstance(node.expression, exp.Boolean):
        expected = bool(node.expression.this)
        return lambda env: truth_of(inner(env)) is expected
    raise Unsupported("IS wants NULL, TRUE or FALSE")


def make_between(node: Any, scope: Scope) -> Compiled:
    value, low, high = (compiled(node.args[name], scope) for name in ("this", "low", "high"))
    if isinstance(node.args["low"], exp.Null) or isinstance(node.args["high"], exp.Null):
        raise Unsupported("BETWEEN NULL")
    unsigned = any(is_unsigned(node.args[name], scope) for name in ("this", "low", "high"))
    collation = collation_of(scope, node.this, node.args["low"], node.args["high"])
    _check_constants(scope, node.this, node.args["low"], node.args["high"])
    session = scope.session

    def test(env: Any) -> Any:
        tested = value(env)
        values = tested, low(env), high(env)
        if _check_kinds(*values) in ("ns", "st"):
            raise Unsupported("BETWEEN of texts and numbers or times")
        if unsigned and any(isinstance(value, int | float | Decimal) and value < 0 for value in values):
            raise Unsupported("BETWEEN of a number without a sign and negative ones")
        above = _compare(tested, low(env), collation, session)
        below = _compare(tested, high(env), collation, session)
        if (above is not None and above < 0) or (below is not None and below > 0):
            return False
        return None if above is None or below is None else True

    return test


def make_in(node: Any, scope: Scope) -> Compiled:
    query = node.args.get("query")
    collation = collation_of(scope, node.this)
    value = compiled(node.this, scope)
    if query is not None:
        rows = rows_of_query(query, scope)
        listed: Callable[[Any], Sequence[Any]] = lambda env: [row[0] for row in rows(env)]  # noqa: E731
    else:
        typed = _operand if scope.session.server.mariadb else lambda item, other, scope: compiled(item, scope)
        members = [typed(item, node.this, scope) for item in node.expressions]
        if scope.field(node.this) is not None:
            _check_constants(scope, node.this, *node.expressions)
        elif scope.session.statement.refuses_texts and any(map(scope.field, node.expressions)):
            raise Unsupported("a constant IN columns, in a strict statement,")
        listed = lambda env: [member(env) for member in members]  # noqa: E731

    def test(env: Any) -> Any:
        tested, unknown, items = value(env), False, listed(env)
        if _check_kinds(tested, *items) in ("ds", "st") and isinstance(tested, str):
            raise Unsupported("a text IN dates or times")
        for item in items:
            order = _compare(tested, item, collation, scope.session)
            if order == 0:
                return True
            unknown = unknown or order is None
        return None if unknown else False

    return test


def make_like(node: Any, scope: Scope) -> Compiled:
    escape = "\\"
    if isinstance(node, exp.Escape):
        escape = node.expression.this
        node = node.this
    value, pattern = compiled(node.this, scope), compiled(node.expression, scope)
    collation = collation_of(scope, node.this, node.expression)
    _check_constants(scope, node.this, node.expression, like=True)

    dated = scope.field(node.this) is not None and isinstance(node.expression, exp.Literal)
    negated = bool(node.args.get("negate"))

    def test(env: Any) -> Any:
        text, wanted = value(env), pattern(env)
        if isinstance(wanted, Temporal) or (isinstance(text, Temporal) and not dated):
            raise Unsupported("this date or time in LIKE")
        if isinstance(text, Bits) or isinstance(wanted, Bits):
            raise Unsupported("LIKE of a BIT value")
        matches = comparison.like(text, wanted, escape, collation)
        return None if matches is None else matches is not negated

    return test


def make_regexp(node: Any, scope: Scope) -> Compiled:
    value, pattern, session = compiled(node.this, scope), compiled(node.expression, scope), scope.session
    negated = bool(node.args.get("negate"))
    ignores_case = not collation_of(scope, node.this, node.expression).endswith("_bin")

    def test(env: Any) -> Any:
        text, expression = value(env), pattern(env)
        if text is None or expression is None:
            return None
        if not isinstance(text, str) or not isinstance(expression, str):
            raise Unsupported("REGEXP of a value that is no text")
        return (pattern_of(session, expression, ignores_case).search(text_of(text)) is None) is negated

    return test


def make_case(node: Any, scope: Scope) -> Compiled:
    base = compiled(node.this, scope) if node.this is not None else None
    branches = [arm.args["true"] for arm in node.args["ifs"]]
    branches.append(node.args.get("default") or exp.Null())
    *results, otherwise = unified_branches("case", branches, [compiled(branch, scope) for branch in branches], scope)
    arms = [(compiled(arm.this, scope), result) for arm, result in zip(node.args["ifs"], results, strict=True)]
    collation = collation_of(scope, *([node.this] if base else []), *(arm.this for arm in node.args["ifs"]))

    def chosen(env: Any) -> Any:
        value = base(env) if base else None
        for test, result in arms:
            if _compare(value, test(env), collation, scope.session) == 0 if base else truth_of(test(env)):
                return result(env)
        return otherwise(env)

    return chosen
