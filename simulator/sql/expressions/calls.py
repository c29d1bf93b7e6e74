"""Calls of functions and subqueries, made into Python functions, whatever sqlglot calls their nodes."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from sqlglot import exp

from simulator.sql.assignment.conversion import from_stored
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.expressions import casts
from simulator.sql.expressions.defaults import default
from simulator.sql.expressions.scope import Scope, Source, compiled, constant
from simulator.sql.functions.json import json_extract, json_unquote
from simulator.sql.functions.table import ALIASES, FUNCTIONS
from simulator.sql.functions.texts import pad
from simulator.sql.values.documents import Document
from simulator.sql.values.temporal import Temporal, of_us


def make_cast(node: Any, scope: Scope) -> Compiled:
    return casts.compiled_cast(node, compiled(node.this, scope), scope.session)


def make_now(kind: str, *, utc: bool = False) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        given = node.this if isinstance(node.this, exp.Expression) else next(iter(node.expressions or ()), None)
        digits = int(given.this) if isinstance(given, exp.Literal) else 0
        session = scope.session

        def read(env: Any) -> Temporal:
            us = session.now_us if utc else session.zone.to_local(session.now_us)
            moment = of_us(us // int(10 ** (6 - digits)) * int(10 ** (6 - digits)), digits)
            if kind == "date":
                return Temporal("date", moment.day)
            return Temporal("time", 0, moment.us, digits) if kind == "time" else moment

        return read

    return make


def rows_of_query(node: Any, scope: Scope) -> Callable[[Any], list[Any]]:
    if scope.run_query is None:
        raise Unsupported("a query inside this expression")
    inner = node.this if isinstance(node, exp.Subquery) else node
    rows: Callable[[Any], list[Any]] = scope.run_query(inner, scope)
    return rows


def make_subquery(node: Any, scope: Scope) -> Compiled:
    rows = rows_of_query(node, scope)

    def only(env: Any) -> Any:
        found = rows(env)
        if len(found) > 1:
            raise SqlError(1242)
        return found[0][0] if found else None

    return only


def make_exists(node: Any, scope: Scope) -> Compiled:
    rows = rows_of_query(node.this, scope)
    return lambda env: int(bool(rows(env)))


def make_json_path(node: Any, scope: Scope) -> Compiled:
    value = compiled(node.this, scope)
    where = node.expression
    text = where.sql("mysql").strip("'") if isinstance(where, exp.JSONPath) else None
    more = [compiled(one, scope) for one in node.expressions or ()]
    given = compiled(where, scope) if text is None else constant(text)
    session, unquotes = scope.session, isinstance(node, exp.JSONExtractScalar)

    def read(env: Any) -> Any:
        found = json_extract(session, value(env), given(env), *(one(env) for one in more))
        return json_unquote(session, found) if unquotes and found is not None else found

    def checked(env: Any) -> Any:
        return None if value(env) is None else read(env)

    return checked


_CLASS_NAMES: Final = {
    "Chr": "char", "Unhex": "unhex", "Substring": "substring", "Repeat": "repeat", "Space": "space", "Ceil": "ceil",
    "Trunc": "truncate", "ConcatWs": "concat_ws", "Coalesce": "coalesce", "Pow": "pow", "Uuid": "uuid", "MD5": "md5",
    "SHA": "sha1", "SHA2": "sha2", "JSONSet": "json_set", "CurrentSchema": "database", "CurrentVersion": "version",
    "CurrentUser": "user", "UnixToTime": "from_unixtime", "UnixSeconds": "unix_timestamp", "Sqrt": "sqrt",
    "DateDiff": "datediff", "Day": "day", "Month": "month", "Hour": "hour", "Minute": "minute", "Second": "second",
    "Date": "date", "TsOrDsToDate": "date", "TsOrDsToTimestamp": "", "Paren": "", "Nullif": "nullif",
    "DayOfMonth": "day", "JSONArray": "json_array",
}  # fmt: skip


_ARGUMENTS: Final = ("this", "expression", "start", "length", "times", "replacement", "decimals")


def make_function(node: Any, scope: Scope) -> Compiled:
    """A call of a function in FUNCTIONS, whatever sqlglot calls it."""
    session = scope.session
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        arguments = list(node.expressions)
        if name == "default_of" and isinstance(arguments[0], exp.Column):
            return _default_of(arguments[0], scope)
        if name == "values" and scope.inserted is not None:
            place = _place(scope.inserted, arguments[0].name)
            return lambda env: env[-1][place]
        if name in ("now", "sysdate", "localtime", "localtimestamp"):
            return make_now("datetime")(node, scope)
    elif isinstance(node, exp.Func | exp.Unary | exp.Binary):
        kind = type(node).__name__
        name = _CLASS_NAMES.get(kind, node.sql_name().lower() if isinstance(node, exp.Func) else kind.lower())
        arguments = [node.args[key] for key in _ARGUMENTS if isinstance(node.args.get(key), exp.Expression)]
        arguments += [one for one in node.expressions or () if one is not None]
        if not name:
            return compiled(arguments[0], scope)
    else:
        raise Unsupported(f"{node.sql('mysql')[:60]!r}")
    name = ALIASES.get(name, name)
    call = FUNCTIONS.get(name)
    if call is None:
        raise Unsupported(f"the function {name}")
    if name in ("uuid", "rand"):
        session.unsafe = session.unsafe or name == "uuid"
        session.random_used = session.random_used or name == "rand"
    if name == "last_insert_id":
        session.last_insert_id_used = True
    parts = [compiled(one, scope) for one in arguments]
    try:
        signature(call).bind(session, *parts)
    except TypeError:
        raise SqlError(1582, name) from None
    if name.startswith("json_"):

        def documented(env: Any) -> Any:
            made = call(session, *[part(env) for part in parts])
            if isinstance(made, Document):
                made.origin = name
            return made

        return documented
    if len(parts) == 1:
        (only,) = parts
        return lambda env: call(session, only(env))
    return lambda env: call(session, *[part(env) for part in parts])


def _place(source: Source, name: str) -> int:
    for i, known in enumerate(source.names):
        if known.lower() == name.lower():
            return i
    raise SqlError(1054, name, "field list")


def _default_of(node: Any, scope: Scope) -> Compiled:
    """DEFAULT(column)."""

    field = scope.field(node)
    if field is None:
        raise SqlError(1054, node.name, scope.place)
    session = scope.session
    if field.default is None:
        if not field.nullable:
            raise SqlError(1364, field.name)
        return constant(None)
    give = default(field, scope)
    return lambda env: from_stored(give(()), field.type, session.zone)


def make_call(name: str, *keys: str) -> Callable[[Any, Scope], Compiled]:
    """A function whose arguments stand in these members of its node."""

    def make(node: Any, scope: Scope) -> Compiled:
        call, session = FUNCTIONS[name], scope.session
        nodes = [node.args[key] for key in keys if node.args.get(key) is not None]
        parts = [compiled(one, scope) for each in nodes for one in (each if isinstance(each, list) else [each])]
        return lambda env: call(session, *[part(env) for part in parts])

    return make


def make_pad(node: Any, scope: Scope) -> Compiled:
    value, length = compiled(node.this, scope), compiled(node.expression, scope)
    fill = compiled(node.args["fill_pattern"], scope) if node.args.get("fill_pattern") else constant(" ")
    left = bool(node.args.get("is_left"))

    def padded(env: Any) -> Any:
        given = value(env), length(env), fill(env)
        return None if None in given else pad(scope.session, *given, left)

    return padded


def make_trim(node: Any, scope: Scope) -> Compiled:
    value = compiled(node.this, scope)
    blank = compiled(node.expression, scope) if node.expression is not None else constant(" ")
    position = str(node.args.get("position") or "BOTH")
    call = FUNCTIONS["trim"]
    return lambda env: call(scope.session, value(env), blank(env), position)


def make_json_object(node: Any, scope: Scope) -> Compiled:
    parts = []
    for pair in node.expressions:
        if isinstance(pair, exp.JSONKeyValue):
            parts += [compiled(pair.this, scope), compiled(pair.expression, scope)]
        else:
            parts.append(compiled(pair, scope))
    call, session = FUNCTIONS["json_object"], scope.session

    def documented(env: Any) -> Any:
        made = call(session, *[part(env) for part in parts])
        if isinstance(made, Document):
            made.origin = "json_object"
        return made

    return documented


def make_locate(node: Any, scope: Scope) -> Compiled:
    text, needle = compiled(node.this, scope), compiled(node.args["substr"], scope)
    start = compiled(node.args["position"], scope) if node.args.get("position") else constant(1)
    call = FUNCTIONS["locate"]
    return lambda env: call(scope.session, needle(env), text(env), start(env))
