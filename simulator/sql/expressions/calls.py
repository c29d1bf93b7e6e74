"""Compiles calls of functions and subqueries to Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Final

from sqlglot import exp

from simulator.sql.assignment.conversion import from_stored
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions import casts
from simulator.sql.expressions.branches import UNIFIED, unified_branches
from simulator.sql.expressions.defaults import default
from simulator.sql.expressions.scope import Scope, Source, compiled, constant
from simulator.sql.functions import dates, texts
from simulator.sql.functions.json import as_json, json_extract, json_unquote
from simulator.sql.functions.table import FUNCTIONS, facts_of, known_as
from simulator.sql.functions.verified import COUNTS, check_arguments, check_result
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import Label, Raw, truth_of
from simulator.sql.values.temporal import Temporal, of_us, rounded


def make_cast(node: Any, scope: Scope) -> Compiled:
    return casts.compiled_cast(node, compiled(node.this, scope), scope.session)


_CLOCKS: Final = {
    "now": ("datetime", False), "current_timestamp": ("datetime", False), "localtime": ("datetime", False),
    "localtimestamp": ("datetime", False), "sysdate": ("datetime", False), "curdate": ("date", False),
    "current_date": ("date", False), "curtime": ("time", False), "current_time": ("time", False),
    "utc_timestamp": ("datetime", True), "utc_date": ("date", True), "utc_time": ("time", True),
}  # fmt: skip


def make_clock(name: str, arguments: Sequence[Any], scope: Scope) -> Compiled:
    """NOW(3) and its like."""
    kind, utc = _CLOCKS[name]
    digits = int(arguments[0].this) if arguments and isinstance(arguments[0], exp.Literal) else 0
    if digits > 6:
        raise SqlError(1426, digits, name, 6)
    session = scope.session

    def read(env: Any) -> Temporal:
        us = session.now_us if utc else session.connection.zone.to_local(session.now_us)
        now = of_us(rounded(us, digits, truncate=True), digits)
        if kind == "date":
            return Temporal("date", now.day)
        return Temporal("time", 0, now.us, digits) if kind == "time" else now

    return read


def make_current(name: str) -> Callable[[Any, Scope], Compiled]:
    return lambda node, scope: make_clock(name, (), scope)


def rows_of_query(node: Any, scope: Scope) -> Callable[[Any], list[Any]]:
    if scope.run_query is None:
        raise Unsupported("a query inside this expression")
    inner = node.this if isinstance(node, exp.Subquery) else node
    rows: Callable[[Any], list[Any]] = scope.run_query(inner, scope)
    return rows


def make_subquery(node: Any, scope: Scope) -> Compiled:
    rows = rows_of_query(node, scope)

    def scalar(env: Any) -> Any:
        result_rows = rows(env)
        if len(result_rows) > 1:
            raise SqlError(1242)
        return result_rows[0][0] if result_rows else None

    return scalar


def make_exists(node: Any, scope: Scope) -> Compiled:
    rows = rows_of_query(node.this, scope)
    return lambda env: bool(rows(env))


def make_json_path(node: Any, scope: Scope) -> Compiled:
    if scope.session.server.mariadb:
        raise SqlError(1064, node.sql("mysql")[:80])
    value = compiled(node.this, scope)
    path_node = node.expression
    text = path_node.sql("mysql").strip("'") if isinstance(path_node, exp.JSONPath) else None
    more_paths = [compiled(argument, scope) for argument in node.expressions or ()]
    first_path = compiled(path_node, scope) if text is None else constant(text)
    session, unquotes = scope.session, isinstance(node, exp.JSONExtractScalar)

    def read(env: Any) -> Any:
        result = json_extract(session, value(env), first_path(env), *(argument(env) for argument in more_paths))
        return json_unquote(session, result) if unquotes and result is not None else result

    def checked(env: Any) -> Any:
        return None if value(env) is None else read(env)

    return checked


def make_function(node: Any, scope: Scope) -> Compiled:
    """A call of a function in FUNCTIONS, or of a stored function."""
    session = scope.session
    if not isinstance(node, exp.Anonymous):
        raise Unsupported(f"{node.sql('mysql')[:60]!r}")
    typed = str(node.this.name if isinstance(node.this, exp.Expression) else node.this)
    name, arguments = typed.lower(), list(node.expressions)
    if name == "default_of" and isinstance(arguments[0], exp.Column):
        return _default_of(arguments[0], scope)
    if name == "values" and scope.inserted is not None:
        _require_column(scope.inserted, arguments[0].name)
        alone = replace(scope, sources=(scope.inserted,), inserted=None, base=0)
        read = compiled(exp.column(arguments[0].name), alone)
        return lambda env: read([env[-1]])
    if name in _CLOCKS:
        return make_clock(name, arguments, scope)
    if name == "mod" and len(arguments) == 2:
        return compiled(exp.Mod(this=arguments[0], expression=arguments[1]), scope)
    if name in _WITH_UNIT:
        return _with_unit(name, arguments, scope)
    if name in ("row_", "row"):
        raise Unsupported("a row as a value")
    name = known_as(name)
    if session.server.id in facts_of(name).lacking:
        raise SqlError(13050, f"FUNCTION {session.connection.database}.{typed}")
    call = FUNCTIONS.get(name)
    if call is None:
        return stored_function(typed, arguments, scope)
    if name in ("uuid", "rand"):
        session.statement.unsafe = session.statement.unsafe or name == "uuid"
        session.statement.random_used = session.statement.random_used or name == "rand"
    if name == "last_insert_id":
        session.statement.last_insert_id_used = True
    parts = [compiled(argument, scope) for argument in arguments]
    if name in _OF_BYTES:
        parts = [_encoded_alike(part, argument, name, scope) for part, argument in zip(parts, arguments, strict=True)]
    try:
        signature(call).bind(session, *parts)
    except TypeError:
        if len(parts) > len(facts_of(name).takes) > 0:  # which servers may take
            raise Unsupported(f"{name}() with {len(parts)} arguments") from None
        raise SqlError(1582, typed) from None
    fewest, most = COUNTS.get(name, (0, len(parts)))
    if not fewest <= len(parts) <= most:
        if name in ("lpad", "rpad") and session.server.mariadb:
            raise Unsupported(f"{name.upper()}() without a third argument")
        raise SqlError(1582, typed)
    if name in ("round", "truncate", "format") and not all(
        isinstance(digits.unnest(), exp.Literal | exp.Neg) for digits in arguments[1:]
    ):
        raise Unsupported(f"{name}() with digits that are no literal")
    if name.startswith("json_"):
        refuse_years(arguments, scope)
    if name in ("json_array", "json_object"):
        parts = [_constant_bytes(part, argument, scope) for part, argument in zip(parts, arguments, strict=True)]
    if name in UNIFIED:
        parts = unified_branches(name, arguments, parts, scope)
    if name.startswith("json_"):

        def documented(env: Any) -> Any:
            values = [part(env) for part in parts]
            check_arguments(session, name, values)
            try:
                result = call(session, *values)
            except SqlError:
                if not session.server.mariadb:
                    raise
                raise Unsupported(f"{name}() of a text that is no JSON document") from None
            if isinstance(result, Document):
                result.origin = name
            return result

        return documented
    return _checked(name, call, parts, scope)


def _constant_bytes(part: Compiled, node: Any, scope: Scope) -> Compiled:
    """Hexadecimal and bit literals in a document of MySQL, which may stand there; other results like them may not."""
    session = scope.session
    if session.server.mariadb or not isinstance(node, exp.HexString | exp.BitString):
        return part
    return lambda env: Document(as_json(session, part(env)))


def refuse_years(nodes: Iterable[Any], scope: Scope) -> None:
    """Raises Unsupported for columns of years, which MySQL puts into JSON documents as opaque values."""
    for node in nodes:
        field = scope.field(node) if isinstance(node, exp.Column) else None
        if field is not None and field.type.name == "year":
            raise Unsupported("a YEAR in a JSON document")


def _checked(name: str, call: Callable[..., Any], parts: Sequence[Compiled], scope: Scope) -> Compiled:
    """A call whose arguments and result are compared with what is known of servers."""
    session = scope.session

    def checked(env: Any) -> Any:
        values, strict = [part(env) for part in parts], session.statement.refuses_texts
        check_arguments(session, name, values)
        result = call(session, *values)
        check_result(name, values, result, strict=strict)
        return str(result) if isinstance(result, Label) else bytes(result) if type(result) is Raw else result

    return checked


def _encoded_alike(part: Compiled, node: Any, name: str, scope: Scope) -> Compiled:
    """An argument of a function of bytes. Raises Unsupported for non-ASCII text in a character set other than UTF-8."""
    fields = [scope.field(column) for column in node.find_all(exp.Column)]
    if all(field is None or (field.type.charset or "utf8").startswith("utf8") for field in fields):
        return part

    def checked(env: Any) -> Any:
        value = part(env)
        if isinstance(value, str) and not value.isascii():
            raise Unsupported(f"{name}() of a text in another character set")
        return value

    return checked


def stored_function(name: str, arguments: Sequence[Any], scope: Scope) -> Compiled:
    """A stored function of the script. Raises Unsupported for an unknown function."""
    session = scope.session
    routine = session.objects.routines.get(("function", session.connection.database, name.lower()))
    if routine is None:
        raise Unsupported(f"the function {name.lower()}")
    parts = [compiled(argument, scope) for argument in arguments]
    if len(parts) != len(routine.parameters):
        raise SqlError(1318, "FUNCTION", f"{session.connection.database}.{name}", len(routine.parameters), len(parts))
    return lambda env: session.call_function(session, routine, [part(env) for part in parts])


# Functions that read a text's bytes.
_OF_BYTES: Final = frozenset(
    ("ascii", "bit_length", "crc32", "hex", "length", "md5", "ord", "sha1", "sha2", "to_base64")
)
_WITH_UNIT: Final = frozenset((
    "adddate", "date_add", "date_sub", "subdate", "timestamp", "timestampadd", "timestampdiff",
))  # fmt: skip


def _with_unit(name: str, arguments: Sequence[Any], scope: Scope) -> Compiled:
    """Functions with a unit or an INTERVAL among their arguments."""
    session = scope.session
    if name == "timestamp":
        parts = [compiled(argument, scope) for argument in arguments]

        def stamped(env: Any) -> Any:
            value, *times = values = [part(env) for part in parts]
            check_arguments(session, name, values)
            if isinstance(value, str) and not isinstance(arguments[0], exp.Literal):
                raise Unsupported("timestamp() of a text that is no literal")
            if times:
                return dates.timestamp(session, value, times[0])
            return None if value is None else casts.dated(value)

        return stamped
    if name in ("timestampadd", "timestampdiff"):
        unit = arguments[0].name.lower().removeprefix("sql_tsi_")
        parts = [compiled(argument, scope) for argument in arguments[1:]]
        if name == "timestampadd":
            start = _checked(name, lambda session, value: value, parts[1:], scope)
            return casts.compiled_move(start, parts[0], 1, unit, isinstance(arguments[2], exp.Literal))
        return _checked(
            name,
            lambda session, a, b: None if None in (a, b) else dates.timestampdiff(session, unit, a, b),
            parts,
            scope,
        )
    base, span = arguments
    sign = -1 if name in ("date_sub", "subdate") else 1
    amount, unit = (span.this, span.args["unit"].name.lower()) if isinstance(span, exp.Interval) else (span, "day")
    start = _checked(name, lambda session, value: value, [compiled(base, scope)], scope)
    return casts.compiled_move(start, compiled(amount, scope), sign, unit, isinstance(base, exp.Literal))


def _call(name: str, arguments: Iterable[Any], scope: Scope) -> Compiled:
    """A call of a function whose arguments sqlglot's tree holds by name."""
    return _checked(name, FUNCTIONS[name], [compiled(argument, scope) for argument in arguments], scope)


def make_extract(node: Any, scope: Scope) -> Compiled:
    value, unit, session = compiled(node.expression, scope), node.this.name.lower(), scope.session

    def read(env: Any) -> Any:
        operand = value(env)
        if operand is None:
            return None
        of_time = unit in ("hour", "minute", "second", "microsecond")
        check_arguments(session, "hour" if of_time else "year", [operand])
        return dates.extracted(session, unit, operand)

    return read


def make_interval_function(node: Any, scope: Scope) -> Compiled:
    """INTERVAL(23, 1, 15, 17)."""
    if not isinstance(node.this, exp.Tuple):
        raise Unsupported(f"{node.sql('mysql')[:60]!r}")
    return _call("interval", node.this.expressions, scope)


def make_if(node: Any, scope: Scope) -> Compiled:
    test = compiled(node.this, scope)
    branches = [node.args["true"], node.args["false"]]
    yes, no = unified_branches("if", branches, [compiled(branch, scope) for branch in branches], scope)
    return lambda env: yes(env) if truth_of(test(env)) else no(env)


def make_member_of(node: Any, scope: Scope) -> Compiled:
    return _call("member of", (node.this, node.expression), scope)


def make_char(node: Any, scope: Scope) -> Compiled:
    parts = [compiled(argument, scope) for argument in node.expressions]
    charset = node.args.get("charset")
    checked_call = _checked("char", lambda session, *values: texts.char(*values), parts, scope)
    return checked_call if not charset else lambda env: texts.in_charset(checked_call(env), charset.name.lower())


def make_substring(node: Any, scope: Scope) -> Compiled:
    arguments = [node.args.get(key) for key in ("this", "start", "length")]
    return _call("substring", [argument for argument in arguments if argument is not None], scope)


def _require_column(source: Source, name: str) -> None:
    if name.lower() not in map(str.lower, source.names):
        raise SqlError(1054, name, "field list")


def _default_of(node: Any, scope: Scope) -> Compiled:
    """DEFAULT(column)."""

    field = scope.field(node)
    if field is None:
        raise SqlError(1054, node.name, scope.clause)
    session = scope.session
    if field.default is None:
        if not field.nullable:
            raise SqlError(1364, field.name)
        return constant(None)
    default_value = default(field, scope)
    return lambda env: from_stored(default_value(()), field.type, session.connection.zone, session.server.json_way)


# TRIM(a FROM b), which the parser takes for TRIM(b, a).
_TRIM_FROM: Final = re.compile(r"\btrim\s*\((?:'[^']*'|\([^()]*\)|[^(),'])*\bfrom\b", re.IGNORECASE)


def make_trim(node: Any, scope: Scope) -> Compiled:
    value = compiled(node.this, scope)
    blank = compiled(node.expression, scope) if node.expression is not None else constant(" ")
    if node.expression is not None and not _TRIM_FROM.search(scope.session.statement.text):
        raise SqlError(1064, ",")
    position = str(node.args.get("position") or "BOTH")
    call = FUNCTIONS["trim"]

    def trimmed(env: Any) -> Any:
        text, removed = value(env), blank(env)
        if isinstance(text, bytes) or isinstance(removed, bytes):
            raise Unsupported("TRIM of bytes")
        return call(scope.session, text, removed, position)

    return trimmed


def make_position(node: Any, scope: Scope) -> Compiled:
    return _call("locate", (node.args["substr"], node.this), scope)
