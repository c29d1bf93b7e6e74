"""Compiles expressions of sqlglot's tree to Python functions, once per statement.

A compiled expression takes an environment, a list with the row of each source of the statement, and returns a value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from simulator.sources.mysql import type_table as mysql_table
from simulator.sql.assignment.conversion import from_stored
from simulator.sql.catalog.definitions import Compiled
from simulator.sql.errors import Unsupported
from simulator.sql.expressions.arithmetic import (
    make_arithmetic,
    make_bitwise,
    make_bitwise_not,
    make_division,
    make_negative,
)
from simulator.sql.expressions.calls import (
    make_cast,
    make_char,
    make_current,
    make_exists,
    make_extract,
    make_function,
    make_if,
    make_interval_function,
    make_json_path,
    make_member_of,
    make_position,
    make_subquery,
    make_substring,
    make_trim,
)
from simulator.sql.expressions.conditions import (
    make_between,
    make_case,
    make_comparison,
    make_in,
    make_is,
    make_like,
    make_logic,
    make_not,
    make_null_safe,
    make_regexp,
)
from simulator.sql.expressions.scope import Scope, Source, compiled, constant, literal_value
from simulator.sql.parse.column_types import check_charset
from simulator.sql.store.session import Session
from simulator.sql.values.kinds import (
    CONTEXT,
    Bits,
    Blob,
    FixedDouble,
    JsonText,
    Raw,
    Single,
    bytes_of,
    latin1,
    text_of,
)

# A decimal has at most 65 digits.
_MAX_DECIMAL: Final = Decimal(10**65 - 1)


def _literal(node: Any, scope: Scope) -> Compiled:
    value = literal_value(node)
    if isinstance(value, Decimal) and not scope.session.server.mariadb:
        value = min(value, _MAX_DECIMAL)
    return constant(value)


def _literals(node: Any, scope: Scope) -> Compiled:
    """'a' 'b'."""
    return constant("".join(str(literal_value(literal)) for literal in node.expressions))


def _hex(node: Any, scope: Scope) -> Compiled:
    digits = node.this
    return constant(Raw(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))))


def _bits(node: Any, scope: Scope) -> Compiled:
    digits = node.this
    return constant(Raw(int(digits or "0", 2).to_bytes((len(digits) + 7) // 8, "big")))


def _introducer(node: Any, scope: Scope) -> Compiled:
    charset = node.this.lstrip("_").lower()
    inner = compiled(node.expression, scope)
    if charset == "binary":
        return lambda env: bytes_of(inner(env))
    check_charset(charset)
    codec = mysql_table.CHARSETS[charset][1]

    def read(env: Any) -> Any:
        value = inner(env)
        # a text literal is in the connection's character set; only its bytes count
        raw = bytes(value) if isinstance(value, bytes) else value.encode()
        return raw.decode(codec, "replace") if charset != "latin1" else latin1(raw)

    return read


def _column(node: Any, scope: Scope) -> Compiled:
    if isinstance(node.this, exp.Star):
        raise Unsupported("* inside an expression")
    name = node.name.lower()
    if name in ("utc_timestamp", "utc_date", "utc_time") and not node.table and not node.this.quoted:
        return make_current(name)(node, scope)
    return column_reader(scope, *scope.find(node.table, node.name))


def column_reader(scope: Scope, source: int, position: int) -> Compiled:
    fields = scope.sources[source].fields
    if fields is None:
        return lambda env: env[source][position]
    type = fields[position].type
    family = mysql_table.family(type)
    if type.name.endswith("blob"):
        return lambda env: None if (value := env[source][position]) is None else Blob(value)
    if type.zerofill and family == "integer":
        return lambda env: from_stored(env[source][position], type, scope.session.connection.zone)
    if family in ("integer", "decimal", "text", "binary", "year") or (type.name == "double" and type.scale is None):
        return lambda env: env[source][position]
    session = scope.session
    if family == "json" and session.server.json_is_text:
        return lambda env: None if (value := env[source][position]) is None else JsonText(value)
    if family == "float":
        scale = type.scale
        as_double = Single if scale is None else lambda value: FixedDouble(value, scale)
        return lambda env: None if (value := env[source][position]) is None else as_double(value)
    if family == "json":
        name = fields[position].name

        def read(env: Any) -> Any:
            document = from_stored(env[source][position], type, session.connection.zone, session.server.json_way)
            if document is not None:
                document.origin = name
            return document

        return read
    return lambda env: from_stored(env[source][position], type, session.connection.zone, session.server.json_way)


def _variable(node: Any, scope: Scope) -> Compiled:
    session = scope.session
    name = node.name.lower()
    if isinstance(node, exp.SessionParameter):
        kind = node.args.get("kind")
        full = f"{kind.lower()}.{name}" if isinstance(kind, str) else name
        return lambda env: session.variable(full)

    def read(env: Any) -> Any:
        session.statement.used_variables.append(name)
        return session.connection.user_variables.get(name)

    return read


def _user_variable_set(node: Any, scope: Scope) -> Compiled:
    """`@n := expression`."""
    if not isinstance(node.this, exp.Parameter):
        raise Unsupported("this assignment")
    name, value, session = node.this.name.lower(), compiled(node.expression, scope), scope.session

    def change(env: Any) -> Any:
        new_value = session.connection.user_variables[name] = value(env)
        return new_value

    return change


def _inner(node: Any, scope: Scope) -> Compiled:
    return compiled(node.this, scope)


def _collate(node: Any, scope: Scope) -> Compiled:
    inner = compiled(node.this, scope)

    def read(env: Any) -> Any:
        value = inner(env)
        if isinstance(value, bytes | Bits):
            raise Unsupported("COLLATE of bytes")
        return value if value is None or type(value) is str else text_of(value)

    return read


MAKERS: Final[dict[str, Callable[[Any, Scope], Compiled]]] = {
    "Literal": _literal,
    "National": lambda node, scope: constant(node.this),
    "HexString": _hex,
    "BitString": _bits,
    "Introducer": _introducer,
    "Null": lambda node, scope: constant(None),
    "Boolean": lambda node, scope: constant(bool(node.this)),
    "Column": _column,
    "Parameter": _variable,
    "PropertyEQ": _user_variable_set,
    "SessionParameter": _variable,
    "Paren": _inner,
    "Alias": _inner,
    "Collate": _collate,
    "And": lambda node, scope: make_logic(node, scope, "and"),
    "Or": lambda node, scope: make_logic(node, scope, "or"),
    "DPipe": lambda node, scope: make_logic(node, scope, "or"),
    "Xor": lambda node, scope: make_logic(node, scope, "xor"),
    "Not": make_not,
    "EQ": make_comparison(lambda order: order == 0),
    "NEQ": make_comparison(lambda order: order != 0),
    "LT": make_comparison(lambda order: order < 0),
    "LTE": make_comparison(lambda order: order <= 0),
    "GT": make_comparison(lambda order: order > 0),
    "GTE": make_comparison(lambda order: order >= 0),
    "NullSafeEQ": make_null_safe,
    "Is": make_is,
    "Between": make_between,
    "In": make_in,
    "Like": make_like,
    "Escape": make_like,
    "RegexpLike": make_regexp,
    "Add": make_arithmetic(operator.add, CONTEXT.add),
    "Sub": make_arithmetic(operator.sub, CONTEXT.subtract),
    "Mul": make_arithmetic(operator.mul, CONTEXT.multiply, operator.add),
    "Div": make_division("/"),
    "IntDiv": make_division("div"),
    "Mod": make_division("mod"),
    "BitwiseAnd": make_bitwise(operator.and_),
    "BitwiseOr": make_bitwise(operator.or_),
    "BitwiseXor": make_bitwise(operator.xor),
    "BitwiseLeftShift": make_bitwise(lambda a, b: a << b if b < 64 else 0),
    "BitwiseRightShift": make_bitwise(lambda a, b: a >> b if b < 64 else 0),
    "BitwiseNot": make_bitwise_not,
    "Neg": make_negative,
    "Case": make_case,
    "Concat": _literals,
    "If": make_if,
    "Cast": make_cast,
    "CurrentTimestamp": make_current("now"),
    "Localtime": make_current("now"),
    "Localtimestamp": make_current("now"),
    "CurrentDate": make_current("curdate"),
    "CurrentTime": make_current("curtime"),
    "CurrentUser": lambda node, scope: lambda env: scope.session.connection.account,
    "Subquery": make_subquery,
    "Exists": make_exists,
    "Extract": make_extract,
    "Interval": make_interval_function,
    "JSONExtract": make_json_path,
    "JSONExtractScalar": make_json_path,
    "JSONArrayContains": make_member_of,
    "Trim": make_trim,
    "StrPosition": make_position,
    "Substring": make_substring,
    "Chr": make_char,
}


def compile_node(node: Any, scope: Scope) -> Compiled:
    """Compile an expression. Raises SqlError for unknown columns, Unsupported for unsupported expressions."""
    make = MAKERS.get(type(node).__name__)
    return make_function(node, scope) if make is None else make(node, scope)


def scope_of(session: Session, sources: tuple[Source, ...] = (), clause: str = "field list") -> Scope:
    """A scope for expressions without queries: of definitions, triggers and SET."""
    return Scope(session, compile_node, sources, clause)
