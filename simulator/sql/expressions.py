"""Expressions of sqlglot's tree made into Python functions, once per statement.

A compiled expression takes an environment, a list with the row of each source of the statement, and gives a value.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.sources import mysql
from simulator.sql import casts, comparing
from simulator.sql.assign import shown
from simulator.sql.catalog import Compiled, Field
from simulator.sql.errors import SqlError, Unsupported
from simulator.sql.functions import ALIASES, CONTEXT, FUNCTIONS, json_extract, json_unquote, pad
from simulator.sql.moments import Moment, of_us
from simulator.sql.values import NUMBER, Raw, bytes_of, number_of, text_of, truth_of

_INTEGER: Final = re.compile(r"\d+")
_LOW, _SIGNED, _HIGH = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
_INTEGERS: Final = ("tinyint", "smallint", "mediumint", "int", "bigint")


@dataclass(frozen=True)
class Source:
    """Something that has rows in a statement: a table (its rows are as stored) or a derived one (rows of values)."""

    alias: str
    database: str
    names: tuple[str, ...]
    fields: tuple[Field, ...] | None = None


@dataclass(frozen=True)
class Scope:
    """The sources whose columns an expression sees, and what the place is called in errors."""

    session: Any
    sources: tuple[Source, ...] = ()
    place: str = "field list"
    # Extra readings of names: `values(col)`, `new.col`; the row is the environment's last one.
    inserted: Source | None = None
    run_query: Callable[..., Any] | None = None

    def find(self, table: str, name: str) -> tuple[int, int]:
        found = []
        lowered = name.lower()
        for number, source in enumerate(self.sources):
            if table and source.alias.lower() != table.lower():
                continue
            for place, known in enumerate(source.names):
                if known.lower() == lowered:
                    found.append((number, place))
        if not found:
            raise SqlError(1054, f"{table}.{name}" if table else name, self.place)
        if len(found) > 1 and not table:
            raise SqlError(1052, name, self.place)
        return found[0]

    def field(self, node: exp.Expression) -> Field | None:
        """The column of a table that a node names."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        source, place = self.find(node.table, node.name)
        fields = self.sources[source].fields
        return None if fields is None else fields[place]


def collation_of(scope: Scope, *nodes: exp.Expression) -> str:
    """The collation under which operands compare: one that is named, a column's, or the connection's."""
    for node in nodes:
        if isinstance(node, exp.Collate):
            return str(node.expression.name).lower()
        if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.BINARY:
            return "binary"
    for node in nodes:
        for column in [node, *node.find_all(exp.Column)] if isinstance(node, exp.Expression) else ():
            if isinstance(column, exp.Column):
                found = scope.field(column)
                if found is not None and found.collation:
                    return found.collation
    return str(scope.session.collation)


def compiled(node: Any, scope: Scope) -> Compiled:
    """Raises SqlError for unknown columns, Unsupported for what is not known here."""
    make = _MAKERS.get(type(node).__name__)
    if make is not None:
        return make(node, scope)
    return _function(node, scope)


def _constant(value: Any) -> Compiled:
    return lambda env: value


# -------------------------------------------------------------------------------------------------------------- leaves


def literal_value(node: exp.Literal) -> Any:
    text = node.this
    if node.is_string:
        return text
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if number <= _HIGH else Decimal(number)
    return float(text) if "e" in text.lower() else Decimal(text)


def _literal(node: Any, scope: Scope) -> Compiled:
    return _constant(literal_value(node))


def _hex(node: Any, scope: Scope) -> Compiled:
    digits = node.this
    return _constant(Raw(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))))


def _bits(node: Any, scope: Scope) -> Compiled:
    digits = node.this
    return _constant(Raw(int(digits or "0", 2).to_bytes((len(digits) + 7) // 8, "big")))


def _introducer(node: Any, scope: Scope) -> Compiled:
    charset = node.this.lstrip("_").lower()
    inner = compiled(node.expression, scope)
    if charset == "binary":
        return lambda env: bytes_of(inner(env))
    if charset not in mysql.CHARSETS:
        raise SqlError(1115, charset)
    codec = mysql.CHARSETS[charset][1]

    def read(env: Any) -> Any:
        value = inner(env)
        # a text that was typed is in the connection's character set; only its bytes count
        raw = bytes(value) if isinstance(value, bytes) else value.encode()
        return raw.decode(codec, "replace") if charset != "latin1" else casts.latin1(raw)

    return read


def _column(node: Any, scope: Scope) -> Compiled:
    if isinstance(node.this, exp.Star):
        raise Unsupported("* is known only as a whole column of SELECT")
    return column_reader(scope, *scope.find(node.table, node.name))


def column_reader(scope: Scope, source: int, place: int) -> Compiled:
    fields = scope.sources[source].fields
    if fields is None:
        return lambda env: env[source][place]
    type = fields[place].type
    family = mysql.family(type)
    plain = family in ("integer", "decimal", "float", "text", "binary", "year")
    if plain or (family == "json" and scope.session.server.json_is_text):
        return lambda env: env[source][place]
    session = scope.session
    return lambda env: shown(env[source][place], type, session.zone)


def _variable(node: Any, scope: Scope) -> Compiled:
    session = scope.session
    name = node.name.lower()
    if isinstance(node, exp.SessionParameter):
        return lambda env: session.variable(name)

    def read(env: Any) -> Any:
        session.used_variables.append(name)
        return session.user_variables.get(name)

    return read


# ---------------------------------------------------------------------------------------------------------- operators


def _logic(node: Any, scope: Scope, kind: str) -> Compiled:
    left, right = compiled(node.left, scope), compiled(node.right, scope)

    def both(env: Any) -> Any:
        a = truth_of(left(env))
        if a is False:
            return 0
        b = truth_of(right(env))
        return 0 if b is False else None if a is None or b is None else 1

    def either(env: Any) -> Any:
        a = truth_of(left(env))
        if a:
            return 1
        b = truth_of(right(env))
        return 1 if b else None if a is None or b is None else 0

    def one(env: Any) -> Any:
        a, b = truth_of(left(env)), truth_of(right(env))
        return None if a is None or b is None else int(a != b)

    return {"and": both, "or": either, "xor": one}[kind]


def _not(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)

    def negated(env: Any) -> Any:
        value = truth_of(inner(env))
        return None if value is None else int(not value)

    return negated


def _comparison(test: Callable[[int], bool]) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        if isinstance(node.left, exp.Tuple) and isinstance(node.right, exp.Tuple) and isinstance(node, exp.EQ):
            pairs = zip(node.left.expressions, node.right.expressions, strict=True)
            parts = [make(exp.EQ(this=a, expression=b), scope) for a, b in pairs]

            def all_equal(env: Any) -> Any:
                made = [part(env) for part in parts]
                return 0 if 0 in made else None if None in made else 1

            return all_equal
        left, right = compiled(node.left, scope), compiled(node.right, scope)
        collation = collation_of(scope, node.left, node.right)

        session = scope.session

        def compare(env: Any) -> Any:
            a, b = left(env), right(env)
            if session.refuses_texts and isinstance(a, int | float | Decimal) != isinstance(b, int | float | Decimal):
                a, b = (_number(x, session) if type(x) is str else x for x in (a, b))
            order = comparing.compare(a, b, collation)
            return None if order is None else int(test(order))

        return compare

    return make


def _null_safe(node: Any, scope: Scope) -> Compiled:
    left, right = compiled(node.left, scope), compiled(node.right, scope)
    collation = collation_of(scope, node.left, node.right)

    def compare(env: Any) -> Any:
        a, b = left(env), right(env)
        return int((a is None and b is None) or comparing.compare(a, b, collation) == 0)

    return compare


def _is(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return lambda env: int(inner(env) is None)
    if isinstance(node.expression, exp.Boolean):
        wanted = bool(node.expression.this)
        return lambda env: int(truth_of(inner(env)) is wanted)
    raise Unsupported("IS wants NULL, TRUE or FALSE")


def _between(node: Any, scope: Scope) -> Compiled:
    value, low, high = (compiled(node.args[name], scope) for name in ("this", "low", "high"))
    collation = collation_of(scope, node.this, node.args["low"], node.args["high"])

    def test(env: Any) -> Any:
        it = value(env)
        above, below = comparing.compare(it, low(env), collation), comparing.compare(it, high(env), collation)
        if (above is not None and above < 0) or (below is not None and below > 0):
            return 0
        return None if above is None or below is None else 1

    return test


def _in(node: Any, scope: Scope) -> Compiled:
    query = node.args.get("query")
    collation = collation_of(scope, node.this)
    value = compiled(node.this, scope)
    if query is not None:
        rows = _query(query, scope)
        listed: Callable[[Any], Sequence[Any]] = lambda env: [row[0] for row in rows(env)]  # noqa: E731
    else:
        members = [compiled(one, scope) for one in node.expressions]
        listed = lambda env: [member(env) for member in members]  # noqa: E731

    def test(env: Any) -> Any:
        it, unknown = value(env), False
        for one in listed(env):
            order = comparing.compare(it, one, collation)
            if order == 0:
                return 1
            unknown = unknown or order is None
        return None if unknown else 0

    return test


def _like(node: Any, scope: Scope) -> Compiled:
    escape = "\\"
    if isinstance(node, exp.Escape):
        escape = node.expression.this
        node = node.this
    value, pattern = compiled(node.this, scope), compiled(node.expression, scope)
    collation = collation_of(scope, node.this, node.expression)

    def test(env: Any) -> Any:
        found = comparing.like(value(env), pattern(env), escape, collation)
        return None if found is None else int(found)

    return test


def _regexp(node: Any, scope: Scope) -> Compiled:
    value, pattern = compiled(node.this, scope), compiled(node.expression, scope)
    collation = collation_of(scope, node.this, node.expression)
    flags = 0 if collation.endswith("_bin") else re.IGNORECASE

    def test(env: Any) -> Any:
        text, wanted = value(env), pattern(env)
        if text is None or wanted is None:
            return None
        try:
            return int(re.search(text_of(wanted), text_of(text), flags) is not None)
        except re.error:
            raise Unsupported(f"the regular expression {text_of(wanted)!r}") from None

    return test


def _arithmetic(whole: Callable[[Any, Any], Any], exact: Callable[[Any, Any], Any]) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        if isinstance(node.left, exp.Interval) or isinstance(node.right, exp.Interval):
            return _interval(node, scope)
        left, right = compiled(node.left, scope), compiled(node.right, scope)
        text = node.sql("mysql")
        session = scope.session
        fields = [scope.field(one) for one in (node.left, node.right)]
        unsigned = any(one is not None and one.type.unsigned and one.type.name in _INTEGERS for one in fields)
        keeps_sign = "NO_UNSIGNED_SUBTRACTION" not in session.modes

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            a, b = _number(a, session), _number(b, session)
            if isinstance(a, float) or isinstance(b, float):
                made = whole(float(a), float(b))
                if made in (float("inf"), float("-inf")):
                    raise SqlError(1690, "DOUBLE", text)
                return made
            if isinstance(a, Decimal) or isinstance(b, Decimal):
                return exact(Decimal(a), Decimal(b))
            made = whole(int(a), int(b))
            # the result of signed numbers is signed; with an unsigned one it is unsigned, and never below zero
            large = unsigned or a > _SIGNED or b > _SIGNED
            if not (0 if large and keeps_sign else _LOW) <= made <= (_HIGH if large else _SIGNED):
                raise SqlError(1690, "BIGINT UNSIGNED" if large else "BIGINT", text)
            return made

        return calculate

    return make


def _number(value: Any, session: Any) -> Any:
    """A number to calculate with; in strict mode a statement that changes rows refuses a text that is none."""
    if type(value) is str and session.refuses_texts:
        match = NUMBER.match(value)
        if not match or match.end() < len(value.rstrip(" ")):
            raise SqlError(12920, "DOUBLE", value[:64])
    return number_of(value)


def _division(kind: str) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        left, right = compiled(node.this, scope), compiled(node.expression, scope)
        session = scope.session

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            a, b = _number(a, session), _number(b, session)
            if b == 0:
                if session.division_fails:
                    raise SqlError(1365)
                return None
            if kind == "/":
                if isinstance(a, float) or isinstance(b, float):
                    return float(a) / float(b)
                digits = _quotient_digits(max(0, -_exponent(a)), max(0, -_exponent(b)))
                quotient = CONTEXT.divide(Decimal(a), Decimal(b))
                return quotient.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN, context=CONTEXT)
            if kind == "div":
                if isinstance(a, float) or isinstance(b, float):
                    a, b = Decimal(repr(float(a))), Decimal(repr(float(b)))
                return int(CONTEXT.divide_int(Decimal(a), Decimal(b)))
            if isinstance(a, float) or isinstance(b, float):
                return float(CONTEXT.remainder(Decimal(repr(float(a))), Decimal(repr(float(b)))))
            made = CONTEXT.remainder(Decimal(a), Decimal(b))
            return int(made) if isinstance(a, int) and isinstance(b, int) else made

        return calculate

    return make


def _quotient_digits(first: int, second: int) -> int:
    """Digits after the point of a quotient of decimals before anybody rounds it: whole groups of nine (do_div_mod)."""
    f1, f2 = -(-first // 9) * 9, -(-second // 9) * 9
    more = max(0, 4 - (f1 - first + f2 - second))
    return -(-(f1 + f2 + more) // 9) * 9


def _exponent(value: Any) -> int:
    exponent = Decimal(value).as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _bitwise(operate: Callable[[int, int], int]) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        left, right = compiled(node.left, scope), compiled(node.right, scope)

        def calculate(env: Any) -> Any:
            a, b = left(env), right(env)
            if a is None or b is None:
                return None
            return operate(int(number_of(a)) & _HIGH, int(number_of(b)) & _HIGH) & _HIGH

        return calculate

    return make


def _negative(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)

    def negated(env: Any) -> Any:
        value = inner(env)
        if value is None:
            return None
        number = number_of(value)
        # a decimal has no negative zero, a double has
        return number if isinstance(number, Decimal) and not number else -number

    return negated


def _flipped(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)
    return lambda env: None if (value := inner(env)) is None else ~int(number_of(value)) & _HIGH


def _interval(node: Any, scope: Scope) -> Compiled:
    if isinstance(node, exp.Add | exp.Sub):
        if isinstance(node.left, exp.Interval):
            base, span = node.args["expression"], node.args["this"]
        else:
            base, span = node.args["this"], node.args["expression"]
        sign, amount, unit = -1 if isinstance(node, exp.Sub) else 1, span.this, span.args.get("unit")
    else:
        base, amount, unit = node.this, node.expression, node.args.get("unit")
        sign = -1 if isinstance(node, exp.DateSub) else 1
    word = unit.name.lower() if unit is not None else "day"
    value, count = compiled(base, scope), compiled(amount, scope)

    def moved(env: Any) -> Any:
        start, by = value(env), count(env)
        return None if start is None or by is None else casts.moved(start, by, sign, word)

    return moved


# ------------------------------------------------------------------------------------------------ conditions and calls


def _case(node: Any, scope: Scope) -> Compiled:
    base = compiled(node.this, scope) if node.this is not None else None
    arms = [(compiled(arm.this, scope), compiled(arm.args["true"], scope)) for arm in node.args["ifs"]]
    otherwise = compiled(node.args["default"], scope) if node.args.get("default") is not None else _constant(None)
    collation = collation_of(scope, *([node.this] if base else []), *(arm.this for arm in node.args["ifs"]))

    def chosen(env: Any) -> Any:
        value = base(env) if base else None
        for test, result in arms:
            if comparing.compare(value, test(env), collation) == 0 if base else truth_of(test(env)):
                return result(env)
        return otherwise(env)

    return chosen


def _cast(node: Any, scope: Scope) -> Compiled:
    return casts.compiled_cast(node, compiled(node.this, scope), scope.session)


def _now(kind: str, *, utc: bool = False) -> Callable[[Any, Scope], Compiled]:
    def make(node: Any, scope: Scope) -> Compiled:
        given = node.this if isinstance(node.this, exp.Expression) else next(iter(node.expressions or ()), None)
        digits = int(given.this) if isinstance(given, exp.Literal) else 0
        session = scope.session

        def read(env: Any) -> Moment:
            us = session.now_us if utc else session.zone.to_local(session.now_us)
            moment = of_us(us // int(10 ** (6 - digits)) * int(10 ** (6 - digits)), digits)
            if kind == "date":
                return Moment("date", moment.day)
            return Moment("time", 0, moment.us, digits) if kind == "time" else moment

        session.clock_used = True
        return read

    return make


def _query(node: Any, scope: Scope) -> Callable[[Any], list[Any]]:
    if scope.run_query is None:
        raise Unsupported("a query inside this expression")
    inner = node.this if isinstance(node, exp.Subquery) else node
    rows: Callable[[Any], list[Any]] = scope.run_query(inner, scope)
    return rows


def _subquery(node: Any, scope: Scope) -> Compiled:
    rows = _query(node, scope)

    def only(env: Any) -> Any:
        found = rows(env)
        if len(found) > 1:
            raise SqlError(1242)
        return found[0][0] if found else None

    return only


def _exists(node: Any, scope: Scope) -> Compiled:
    rows = _query(node.this, scope)
    return lambda env: int(bool(rows(env)))


def _json_path(node: Any, scope: Scope) -> Compiled:
    value = compiled(node.this, scope)
    where = node.expression
    text = where.sql("mysql").strip("'") if isinstance(where, exp.JSONPath) else None
    more = [compiled(one, scope) for one in node.expressions or ()]
    given = compiled(where, scope) if text is None else _constant(text)
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


def _function(node: Any, scope: Scope) -> Compiled:
    """A call of a function in FUNCTIONS, whatever sqlglot calls it."""
    session = scope.session
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        arguments = list(node.expressions)
        if name == "values" and scope.inserted is not None:
            place = _place(scope.inserted, arguments[0].name)
            return lambda env: env[-1][place]
        if name in ("now", "sysdate", "localtime", "localtimestamp"):
            return _now("datetime")(node, scope)
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
    if len(parts) == 1:
        (only,) = parts
        return lambda env: call(session, only(env))
    return lambda env: call(session, *[part(env) for part in parts])


def _place(source: Source, name: str) -> int:
    for i, known in enumerate(source.names):
        if known.lower() == name.lower():
            return i
    raise SqlError(1054, name, "field list")


def _call(name: str, *keys: str) -> Callable[[Any, Scope], Compiled]:
    """A function whose arguments stand in these members of its node."""

    def make(node: Any, scope: Scope) -> Compiled:
        call, session = FUNCTIONS[name], scope.session
        nodes = [node.args[key] for key in keys if node.args.get(key) is not None]
        parts = [compiled(one, scope) for each in nodes for one in (each if isinstance(each, list) else [each])]
        return lambda env: call(session, *[part(env) for part in parts])

    return make


def _pad(node: Any, scope: Scope) -> Compiled:
    value, length = compiled(node.this, scope), compiled(node.expression, scope)
    fill = compiled(node.args["fill_pattern"], scope) if node.args.get("fill_pattern") else _constant(" ")
    left = bool(node.args.get("is_left"))

    def padded(env: Any) -> Any:
        given = value(env), length(env), fill(env)
        return None if None in given else pad(scope.session, *given, left)

    return padded


def _trim(node: Any, scope: Scope) -> Compiled:
    value = compiled(node.this, scope)
    blank = compiled(node.expression, scope) if node.expression is not None else _constant(" ")
    position = str(node.args.get("position") or "BOTH")
    call = FUNCTIONS["trim"]
    return lambda env: call(scope.session, value(env), blank(env), position)


def _json_object(node: Any, scope: Scope) -> Compiled:
    parts = []
    for pair in node.expressions:
        if isinstance(pair, exp.JSONKeyValue):
            parts += [compiled(pair.this, scope), compiled(pair.expression, scope)]
        else:
            parts.append(compiled(pair, scope))
    call, session = FUNCTIONS["json_object"], scope.session
    return lambda env: call(session, *[part(env) for part in parts])


def _locate(node: Any, scope: Scope) -> Compiled:
    text, needle = compiled(node.this, scope), compiled(node.args["substr"], scope)
    start = compiled(node.args["position"], scope) if node.args.get("position") else _constant(1)
    call = FUNCTIONS["locate"]
    return lambda env: call(scope.session, needle(env), text(env), start(env))


def _inner(node: Any, scope: Scope) -> Compiled:
    return compiled(node.this, scope)


_MAKERS: Final[dict[str, Callable[[Any, Scope], Compiled]]] = {
    "Literal": _literal,
    "National": lambda node, scope: _constant(node.this),
    "HexString": _hex,
    "BitString": _bits,
    "Introducer": _introducer,
    "Null": lambda node, scope: _constant(None),
    "Boolean": lambda node, scope: _constant(bool(node.this)),
    "Column": _column,
    "Parameter": _variable,
    "SessionParameter": _variable,
    "Paren": _inner,
    "Alias": _inner,
    "Collate": _inner,
    "And": lambda node, scope: _logic(node, scope, "and"),
    "Or": lambda node, scope: _logic(node, scope, "or"),
    "DPipe": lambda node, scope: _logic(node, scope, "or"),
    "Xor": lambda node, scope: _logic(node, scope, "xor"),
    "Not": _not,
    "EQ": _comparison(lambda order: order == 0),
    "NEQ": _comparison(lambda order: order != 0),
    "LT": _comparison(lambda order: order < 0),
    "LTE": _comparison(lambda order: order <= 0),
    "GT": _comparison(lambda order: order > 0),
    "GTE": _comparison(lambda order: order >= 0),
    "NullSafeEQ": _null_safe,
    "Is": _is,
    "Between": _between,
    "In": _in,
    "Like": _like,
    "Escape": _like,
    "RegexpLike": _regexp,
    "Add": _arithmetic(operator.add, CONTEXT.add),
    "Sub": _arithmetic(operator.sub, CONTEXT.subtract),
    "Mul": _arithmetic(operator.mul, CONTEXT.multiply),
    "Div": _division("/"),
    "IntDiv": _division("div"),
    "Mod": _division("mod"),
    "BitwiseAnd": _bitwise(operator.and_),
    "BitwiseOr": _bitwise(operator.or_),
    "BitwiseXor": _bitwise(operator.xor),
    "BitwiseLeftShift": _bitwise(lambda a, b: a << b if b < 64 else 0),
    "BitwiseRightShift": _bitwise(lambda a, b: a >> b if b < 64 else 0),
    "BitwiseNot": _flipped,
    "Neg": _negative,
    "DateAdd": _interval,
    "DateSub": _interval,
    "Case": _case,
    "If": _call("if", "this", "true", "false"),
    "Cast": _cast,
    "CurrentTimestamp": _now("datetime"),
    "Localtime": _now("datetime"),
    "Localtimestamp": _now("datetime"),
    "CurrentDate": _now("date"),
    "CurrentTime": _now("time"),
    "UtcTimestamp": _now("datetime", utc=True),
    "UtcDate": _now("date", utc=True),
    "UtcTime": _now("time", utc=True),
    "Subquery": _subquery,
    "Exists": _exists,
    "JSONExtract": _json_path,
    "JSONExtractScalar": _json_path,
    "JSONObject": _json_object,
    "Pad": _pad,
    "Trim": _trim,
    "StrPosition": _locate,
    "Replace": _call("replace", "this", "expression", "replacement"),
    "Length": lambda node, scope: _call("length" if node.args.get("binary") else "char_length", "this")(node, scope),
    "Left": _call("left", "this", "expression"),
    "Right": _call("right", "this", "expression"),
    "Year": _call("year", "this"),
    "Elt": _call("elt", "this", "expressions"),
    "Greatest": _call("greatest", "this", "expressions"),
    "Least": _call("least", "this", "expressions"),
    "Coalesce": _call("coalesce", "this", "expressions"),
    "Chr": _call("char", "expressions"),
}
