"""Arguments of functions that were compared with those of servers; others are refused.

Source: 4,358 calls of all functions with values and columns of all types, in strict statements of MySQL 8.0.31.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from simulator.sql.errors import Unsupported
from simulator.sql.values import temporal
from simulator.sql.values.documents import Document
from simulator.sql.values.kinds import JsonText, Label, Raw, is_number, number_of
from simulator.sql.values.temporal import Temporal

# The fewest and most arguments of functions that take any number here.
COUNTS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("concat_ws", "elt", "field", "greatest", "json_extract", "json_merge", "least"), (2, 999)),
    **dict.fromkeys(("json_merge_patch", "json_merge_preserve", "json_remove"), (2, 999)),
    **dict.fromkeys(("json_array_append", "json_array_insert", "json_insert", "json_replace", "json_set"), (3, 999)),
    **dict.fromkeys(("coalesce", "concat"), (1, 999)), **dict.fromkeys(("lpad", "rpad"), (3, 3)),
    **dict.fromkeys(("ln", "trim"), (1, 1)),
}  # fmt: skip
# Functions that read arguments as numbers: at these positions, or all.
_NUMERIC: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys((
        "abs", "acos", "asin", "atan", "bin", "bit_count", "ceil", "cos", "cot", "degrees", "exp", "floor",
        "inet_ntoa", "interval", "ln", "log", "log10", "log2", "makedate", "maketime", "mod", "oct", "period_add",
        "period_diff", "point", "pow", "radians", "round", "sec_to_time", "sign", "sin", "space", "sqrt", "tan",
        "truncate",
    ), tuple(range(9))),
    **dict.fromkeys(("left", "lpad", "repeat", "right", "rpad", "sha2", "week", "yearweek"), (1,)), "elt": (0,),
    "format": (0, 1), "from_days": (0,), "from_unixtime": (0,), "insert": (1, 2), "substring": (1, 2),
    "substring_index": (2,), "locate": (2,), "conv": (1, 2),
}  # fmt: skip
# Functions that read a time, a date, or two of them.
_TIMES: Final = frozenset((
    "addtime", "hour", "microsecond", "minute", "second", "subtime", "time", "time_format", "time_to_sec", "timediff",
))  # fmt: skip
_DATES: Final = frozenset((
    "adddate", "convert_tz", "date", "date_add", "date_format", "date_sub", "datediff", "day", "dayname", "dayofweek",
    "dayofyear", "last_day", "month", "monthname", "quarter", "subdate", "timestampadd", "timestampdiff", "to_days",
    "to_seconds", "unix_timestamp", "week", "weekday", "weekofyear", "year", "yearweek",
))  # fmt: skip
_PAIRS: Final = frozenset(("addtime", "datediff", "subtime", "timediff"))
# Functions that read texts alone, and those for which NULL is no sign of an argument that a server refuses.
_TEXTS: Final = frozenset(("instr", "locate", "ord", "soundex", "strcmp"))
_NULLABLE: Final = frozenset((
    "acos", "any_value", "asin", "coalesce", "database", "elt", "greatest", "if", "least", "lpad", "nullif", "quote",
    "regexp_substr", "rpad", "sqrt", "str_to_date",
))  # fmt: skip
_ALIKE: Final = frozenset(("coalesce", "field", "greatest", "least", "nullif"))
_SETTERS: Final = frozenset(("json_array_append", "json_array_insert", "json_insert", "json_replace", "json_set"))
_DOCUMENTS: Final = _SETTERS | {
    "json_contains", "json_contains_path", "json_extract", "json_keys", "json_length", "json_merge", "json_merge_patch",
    "json_merge_preserve", "json_remove", "json_unquote",
}  # fmt: skip
_PRINTED: Final = frozenset(("json_array", "json_object", "json_quote"))
# Functions that read an argument as a text of UTF-8.
_TEXTUAL: Final = frozenset((
    "lpad", "ltrim", "quote", "replace", "rpad", "rtrim", "substring_index", "time_format",
))  # fmt: skip
_FIRST_DATE: Final = 10_101
_FIRST_DAY: Final = 366


def check_arguments(session: Any, name: str, values: Sequence[Any]) -> None:
    """Raises Unsupported for arguments that servers read in ways that are not simulated."""
    # whether the statement changes rows: servers then refuse texts that are no number or date
    strict = session.statement.refuses_texts
    numeric = _NUMERIC.get(name, ())
    if session.server.mariadb:
        _check_mariadb(name, values)
    if name in _ALIKE:
        _check_alike(name, values, strict)
    elif name.startswith("json_"):
        _check_json(name, values)
    elif name.startswith("period_") and any(type(value) is not int or value < 1 for value in values):
        raise Unsupported(f"{name}() of these arguments")
    elif name == "interval" and None in values:
        raise Unsupported("INTERVAL() with NULL")
    elif name == "timediff" and len({value.kind for value in values if isinstance(value, Temporal)}) > 1:
        raise Unsupported("TIMEDIFF() of a date and a time")
    for position, value in enumerate(values):
        if value is None:
            continue
        if position in numeric:
            _check_number(name, value, strict)
        elif (name in _TIMES or name in _DATES) and (position == 0 or name in _PAIRS):
            _check_date(name, value, strict)
        elif (name in _TEXTUAL and isinstance(value, bytes)) or (
            name in _TEXTS and not isinstance(value, str | int | Decimal)
        ):
            _refuse(name, value)
        elif name.startswith("regexp_"):
            is_text = position < 2 or name == "regexp_like" or (name == "regexp_replace" and position == 2)
            if not isinstance(value, str if is_text else int):
                _refuse(name, value)
            if not is_text and position == 2 and isinstance(values[0], str) and value > len(values[0]):
                raise Unsupported(f"{name}() from behind the text")


def check_result(name: str, values: Sequence[Any], result: Any, *, strict: bool) -> None:
    """Raises Unsupported for NULL of arguments that are not: servers refuse most of them in strict statements."""
    nullable = name in _NULLABLE or name.startswith("json_")
    if result is None and strict and values and not nullable and all(value is not None for value in values):
        raise Unsupported(f"{name}() that is NULL, in a strict statement,")


def _check_mariadb(name: str, values: Sequence[Any]) -> None:
    """Arguments that MariaDB alone reads in another way."""
    if name in _PRINTED and any(isinstance(value, bytes) for value in values):
        raise Unsupported(f"{name}() of bytes")
    if name == "from_unixtime" and isinstance(values[0], str):
        raise Unsupported("from_unixtime() of a text")
    if name == "sha2" and values[1] is None:
        raise Unsupported("sha2() with NULL")
    if name in ("regexp_instr", "regexp_substr") and len(values) > 2:
        raise Unsupported(f"{name}() with {len(values)} arguments")


def _check_number(name: str, value: Any, strict: bool) -> None:
    if isinstance(value, Document | bytes | Temporal) or (name == "maketime" and isinstance(value, float)):
        _refuse(name, value)
    if isinstance(value, Label) or (name == "from_days" and number_of(value) < _FIRST_DAY):
        raise Unsupported(f"{name}() of this value")
    if isinstance(value, str) and (strict or name in ("from_unixtime", "inet_ntoa")) and not is_number(value):
        raise Unsupported(f"{name}() of the text {value[:20]!r} in a strict statement")


def _check_date(name: str, value: Any, strict: bool) -> None:
    if isinstance(value, Temporal):
        if name in ("time", "time_to_sec") and value.digits:
            _refuse(name, value)
        if name in ("addtime", "subtime") and (value.digits or value.kind == "date"):
            _refuse(name, value)
        return
    if isinstance(value, str):
        if name in _TIMES:
            readable = ":" in value and temporal.parse_time(value) is not None
        else:
            readable = temporal.parse_datetime(value) is not None
        if not readable and (strict or name in _TIMES):
            where = " in a strict statement" if strict else ""
            raise Unsupported(f"{name}() of the text {value[:20]!r}{where}")
        return
    is_date = type(value) is int and value >= _FIRST_DATE and temporal.number_datetime(value) is not None
    if name in _TIMES or not is_date:
        _refuse(name, value)


def _check_alike(name: str, values: Sequence[Any], strict: bool) -> None:
    """Functions that compare their arguments: only of one kind, or numbers of texts."""
    kinds = {value.kind if isinstance(value, Temporal) else "" for value in values if value is not None}
    texts = [value for value in values if isinstance(value, str)]
    numbers = any(isinstance(value, int | float | Decimal) for value in values)
    odd = numbers and (strict or name in ("greatest", "least")) and not all(map(is_number, texts))
    if not numbers and name in ("greatest", "least") and not kinds & {"time", "datetime"}:
        kinds.discard("")  # dates and texts of dates
    if name != "coalesce" and any(isinstance(value, Document | bytes) for value in values):
        raise Unsupported(f"{name}() of bytes or JSON documents")
    if len(kinds) > 1 or (odd and name != "coalesce"):
        raise Unsupported(f"{name}() of values of several kinds")


def _check_json(name: str, values: Sequence[Any]) -> None:
    if any(isinstance(value, JsonText | bytes if name == "json_quote" else JsonText) for value in values) and (
        name in _PRINTED
    ):
        raise Unsupported(f"{name}() of a JSON column or of bytes")
    if name in ("json_array", "json_object") and any(isinstance(value, Raw) for value in values):
        raise Unsupported(f"{name}() of hexadecimal digits")
    if name in ("json_merge", "json_quote") and any(isinstance(value, Temporal) for value in values):
        raise Unsupported(f"{name}() of a date or time")
    if name == "json_object":
        for key in values[::2]:
            if not isinstance(key, str | int):
                _refuse(name, key)
    elif name in _DOCUMENTS and (
        not isinstance(values[0], str | Document | None) or (None in values[1:] and name not in _SETTERS)
    ):
        raise Unsupported(f"{name}() of these arguments")


def _refuse(name: str, value: Any) -> None:
    kinds = {Document: "a JSON document", bytes: "bytes", Temporal: "a date or time", float: "a floating-point number"}
    kind = next((text for type, text in kinds.items() if isinstance(value, type)), "a number")
    raise Unsupported(f"{name}() of {kind}")
