"""PostgreSQL's DDL as a DBA types it: quotes only where a name needs them, the database and schema chosen before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from simulator.model import ColumnType
from simulator.sources.ddl import Rule, SqlDdl, more_labels, widens, wider_bounds, wider_decimal
from simulator.sources.postgresql.type_table import arrow_type, bounds, element, family, fraction_digits
from simulator.sources.postgresql.types import enum_name, type_text
from simulator.tables import words

_PLAIN_NAME: Final = re.compile(r"[a-z_\u0080-\uffff][0-9a-z_$\u0080-\uffff]*")
_BARE_LITERAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Common spellings of types; other types are typed by their names.
_TYPED: Final = {
    "character varying": "varchar",
    "character": "char",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "time without time zone": "time",
    "time with time zone": "timetz",
    "bit varying": "varbit",
}


def quote(text: str) -> str:
    """A string literal: `'it''s'`; backslashes are literal."""
    return "'" + text.replace("'", "''") + "'"


def _decimal(old: ColumnType, new: ColumnType) -> bool:
    """Whether a numeric is widened. The old type must have a scale: without one, each value keeps its own."""
    if not pa.types.is_decimal(arrow_type(old)):
        return False
    if new.length is None:
        return True
    if not pa.types.is_decimal(arrow_type(new)):
        return False
    return wider_decimal((old.length or 0, old.scale or 0), (new.length or 0, new.scale or 0))


def _fraction(old: ColumnType, new: ColumnType) -> bool:
    return old.name == new.name and fraction_digits(new) > fraction_digits(old)


# Types of text in which trailing blanks count.
_PLAIN_TEXTS: Final = ("character varying", "text", "nvarchar2", "clob")
_UNBOUND: Final = 1 << 62


def _texts(old: ColumnType, new: ColumnType) -> bool:
    if old.name == new.name == "character":
        return (old.length or 1) < (new.length or 1)
    if old.name not in _PLAIN_TEXTS or new.name not in _PLAIN_TEXTS:
        return False
    return (old.length or _UNBOUND) < (new.length or _UNBOUND)


def _bits(old: ColumnType, new: ColumnType) -> bool:
    if old.name != "bit varying" or new.name != "bit varying":
        return False
    return (old.length or _UNBOUND) < (new.length or _UNBOUND)


_WIDENS: Final[Mapping[str, Rule]] = {
    "integer": lambda old, new: wider_bounds(bounds(old), bounds(new)),
    "decimal": _decimal,
    "float": lambda old, new: (old.name, new.name) == ("real", "double precision"),
    "datetime": _fraction,
    "timestamptz": _fraction,
    "time": _fraction,
    "text": _texts,
    "enum": more_labels,
    "bit": _bits,
}


class PostgresqlDdl(SqlDdl):
    """PostgreSQL's DDL. A new column is always the last one."""

    schema = "public"

    def name(self, text: str) -> str:
        """An identifier, in quotes where it needs them.

        >>> ddl.name("orders"), ddl.name("order"), ddl.name("Order id"), ddl.name("订单")
        ('orders', '"order"', '"Order id"', '订单')
        """
        if _PLAIN_NAME.fullmatch(text) and text not in words(__file__, "reserved.txt"):
            return text
        return '"' + text.replace('"', '""') + '"'

    def type_definition(self, type: ColumnType) -> str:
        """A column's type as typed, or as one would type it: `varchar(40)`, `timestamp(3)`, `numeric(10,2)[]`."""
        if type.name == "enum":
            return self.name(enum_name(type))
        if type.spelled:
            return type.spelled
        if type.name.endswith("[]"):
            return self.type_definition(element(type)) + "[]"
        text = type_text(type, style="format_type")
        typed = _TYPED.get(type.name)
        return text if typed is None else typed + (f"({type.length})" if type.length is not None else "")

    def type_name(self, type: ColumnType) -> str:
        """A type for messages and comparisons: `numeric(10,2)`, however it was typed; of an enum its labels."""
        if type.name == "enum":
            return f"enum({','.join(map(quote, type.labels))})"
        return type_text(type, style="format_type")

    def literal(self, text: str, type: ColumnType) -> str:
        """A literal of a column's type: `12.50`, `'it''s'`, `true`.

        >>> ddl.literal("12.50", ColumnType("numeric", 10, 2)), ddl.literal("it's", ColumnType("text"))
        ('12.50', "'it''s'")
        """
        family_name = family(type)
        # integers cannot be cast to xid, and lose the sign of zero
        bare = family_name in ("integer", "decimal", "float") and type.name != "xid" and text != "-0"
        if bare and _BARE_LITERAL.fullmatch(text):
            return text
        if family_name == "boolean" and text.lower() in ("true", "false"):
            return text.lower()
        return quote(text)

    def widens(self, old: ColumnType, new: ColumnType) -> bool:
        """Whether every value of the old type is a value of the new one, which has more, and both are of one family.

        >>> ddl.widens(ColumnType("integer"), ColumnType("bigint")), ddl.widens(ColumnType("text"), ColumnType("name"))
        (True, False)
        >>> ddl.widens(ColumnType("timestamp without time zone", 3), ColumnType("timestamp without time zone"))
        True
        """
        return widens(_WIDENS, family, old, new)


ddl: Final = PostgresqlDdl()
