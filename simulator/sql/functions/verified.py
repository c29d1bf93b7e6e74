"""Arguments of functions that were compared with those of servers: `takes` of `functions.csv`. All others are refused.

Source: 5,000 calls of all functions with values and columns of all types on each of MySQL 8.0.31, MySQL 5.7.22 and
MariaDB 10.11.19, several times with other calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from simulator.sql.errors import Unsupported
from simulator.sql.functions.table import facts_of
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import Bits, JsonText, Label, Raw
from simulator.sql.values.temporal import Temporal

# The fewest and most arguments of functions that take any number here.
COUNTS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("concat_ws", "elt", "field", "greatest", "json_extract", "least"), (2, 999)),
    **dict.fromkeys(("json_merge_patch", "json_merge_preserve", "json_remove"), (2, 999)),
    **dict.fromkeys(("json_array_append", "json_array_insert", "json_contains_path", "json_insert"), (3, 999)),
    **dict.fromkeys(("json_replace", "json_set"), (3, 999)),
    **dict.fromkeys(("coalesce", "concat"), (1, 999)), **dict.fromkeys(("lpad", "rpad"), (3, 3)),
    **dict.fromkeys(("ln", "trim"), (1, 1)),
}  # fmt: skip
# Functions that return NULL for arguments without one.
_NULLABLE: Final = frozenset((
    "any_value", "coalesce", "database", "elt", "greatest", "if", "least", "lpad", "nullif", "rpad", "sqrt",
    "str_to_date",
))  # fmt: skip
_FIRST_DAY: Final = 366
# A text with a time and no date.
_CLOCK: Final = re.compile(r"-?\d{1,3}:\d\d(:\d\d(\.\d{1,6})?)?")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, JsonText)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, Bits)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | Decimal) or _is_int(value)


def _is_printable(value: Any) -> bool:
    return _is_text(value) or isinstance(value, Decimal | Temporal) or _is_int(value)


def _is_date(value: Any) -> bool:
    if isinstance(value, Temporal):
        return value.kind != "time"
    return _is_text(value) and temporal.parse_datetime(value) is not None


def _is_time(value: Any) -> bool:
    if isinstance(value, Temporal):
        return value.kind != "date"
    return _is_text(value) and ":" in value and temporal.parse_time(value) is not None


def _is_whole(value: Any) -> bool:
    return _is_time(value) and not (isinstance(value, Temporal) and value.digits)


# Kinds of arguments.
KINDS: Final[Mapping[str, Callable[[Any], object]]] = {
    "any": lambda value: not isinstance(value, Bits),
    "base": lambda value: _is_int(value) and 2 <= value <= 36,
    "bytes": lambda value: isinstance(value, bytes),
    "clock": lambda value: _CLOCK.fullmatch(value) if _is_text(value) else _is_whole(value) and value.kind == "time",
    "date": _is_date,
    "days": lambda value: _is_int(value) and value >= _FIRST_DAY,
    "document": lambda value: isinstance(value, str | Document),
    "exact": lambda value: isinstance(value, Decimal) or _is_int(value),
    "int": _is_int,
    "key": lambda value: _is_text(value) or _is_int(value),
    "member": lambda value: not isinstance(value, JsonText | Raw | Bits),
    "number": _is_number,
    "period": lambda value: _is_int(value) and value > 0 and 1 <= value % 100 <= 12,
    "place": lambda value: _is_int(value) and 0 <= value <= 30,
    "positive": lambda value: _is_int(value) and value > 0,
    "printable": _is_printable,
    "same": lambda value: not isinstance(value, Document | JsonText | bytes | Bits),
    "stamp": lambda value: isinstance(value, Temporal) and _is_whole(value),
    "string": lambda value: _is_printable(value) or isinstance(value, bytes),
    "text": _is_text,
    "time": _is_time,
    "whole": _is_whole,
}
_NAMES: Final = {
    Document: "a JSON document", bytes: "bytes", Temporal: "a date or time", float: "a floating-point number",
    Label: "a label", JsonText: "a JSON column",
}  # fmt: skip
# Functions of values of one kind.
_ALIKE: Final = frozenset(("field", "greatest", "least", "nullif", "timediff"))


@lru_cache
def _words(name: str, count: int) -> tuple[str, ...]:
    """The kind of each of `count` arguments. Raises Unsupported for more arguments than were compared."""
    takes = facts_of(name).takes
    cycle = [word.removesuffix("*") for word in takes if word.endswith("*")]
    words = [word.removesuffix("*") for word in takes]
    while cycle and len(words) < count:
        words += cycle
    if count > len(words):
        raise Unsupported(f"{name}() with {count} arguments" if words else f"{name}() of any value")
    return tuple(words[:count])


def check_arguments(session: Any, name: str, values: Sequence[Any]) -> None:
    """Raises Unsupported for arguments that were not compared with those of servers."""
    for value, word in zip(values, _words(name, len(values)), strict=True):
        if value is None:
            if word.endswith("!"):
                raise Unsupported(f"{name}() with NULL")
        elif not KINDS[word.removesuffix("!")](value):
            raise Unsupported(f"{name}() of {_named(value)}")
    if name in _ALIKE and len({_comparison_kind(value) for value in values if value is not None}) > 1:
        raise Unsupported(f"{name}() of values of several kinds")
    if session.server.mariadb and name.startswith("json_") and any(isinstance(value, bytes) for value in values):
        raise Unsupported(f"{name}() of bytes")


def check_result(name: str, values: Sequence[Any], result: Any, *, strict: bool) -> None:
    """Raises Unsupported for NULL of arguments that are not: servers refuse most of them in strict statements."""
    nullable = name in _NULLABLE or name.startswith("json_")
    if result is None and strict and values and not nullable and all(value is not None for value in values):
        raise Unsupported(f"{name}() that is NULL, in a strict statement,")


def _comparison_kind(value: Any) -> str:
    """The kind as which functions such as GREATEST compare a value."""
    if isinstance(value, Temporal):
        return value.kind
    return "text" if isinstance(value, str) else "number"


def _named(value: Any) -> str:
    if type(value) is str:
        return f"the text {value[:20]!r}"
    return next((text for kind, text in _NAMES.items() if isinstance(value, kind)), "this number")
