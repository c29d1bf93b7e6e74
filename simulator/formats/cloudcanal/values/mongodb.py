"""MongoDB's values: texts, dates in a zone (release notes; default UTC), and extended JSON for nested values.

All but the zone is a decision. Documents, arrays and types that only MongoDB has are the default text of MongoDB's
Java driver (JsonMode.RELAXED): numbers plain, dates from 1970 to 9999 as ISO 8601, a blank after colons and commas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import decoded
from simulator.formats.cloudcanal.values.families import TEXT, Values
from simulator.formats.cloudcanal.values.postgresql import boolean, millis, numeric
from simulator.model import ColumnType
from simulator.sources.json_tree import write as write_tree
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb.shell import shell_string
from simulator.sources.mongodb.values import extended_text
from simulator.text import mysql as binlog_text
from simulator.text.java import numbers as java

# Matches texts that the driver may write differently: escapes, wrappers, numbers that Java prints with an exponent or
# with more digits.
_SUSPECT: Final = r'[^ -~]|\\|"\$|[0-9]{7}\.|\.[0-9]{7}|[ \[]-?0\.00|[0-9]e'


def document(array: pa.Array, type: ColumnType) -> pa.Array:
    """Documents, arrays and rare types as extended JSON; a BSON null is null.

    >>> texts = ['{"n": {"$numberLong": "7"}, "d": 10000000.0, "t": {"$date": "1970-01-01T00:00:00.000Z"}}']
    >>> print(document(pa.array(texts), ColumnType("object"))[0])
    {"n": 7, "d": 1.0E7, "t": {"$date": "1970-01-01T00:00:00Z"}}
    """
    if type.name == "null":
        return pa.nulls(len(array), pa.string())
    if pa.types.is_dictionary(array.type):
        return document(array.dictionary, type).take(array.indices)
    texts = decoded(extended_text(array, type))
    suspect = pc.fill_null(pc.match_substring_regex(texts, _SUSPECT), False)
    if not pc.any(suspect).as_py():
        return texts
    written = [write_tree(bson.loads(text), relaxed) for text in texts.filter(suspect).to_pylist()]
    return pc.replace_with_mask(texts, suspect, pa.array(written, pa.string()))


def relaxed(value: Any) -> str:
    """A scalar inside a document or array, as the driver writes it.

    >>> relaxed("é\\x7f"), relaxed(bson.Long(7)), relaxed(float("nan")), relaxed(bson.Date(-1))
    ('"é\\\\u007f"', '7', '{"$numberDouble": "NaN"}', '{"$date": {"$numberLong": "-1"}}')
    """
    write = _LEAVES.get(type(value))
    return bson.extended(value) if write is None else write(value)


def _double(value: float) -> str:
    if not math.isfinite(value):
        return bson.double_text(value)
    return java.double_string(value)


def _date(value: bson.Date) -> str:
    text = bson.date_text(value.ms)
    if "numberLong" in text:
        return text
    whole, _, fraction = bson.iso_text(value.ms).removesuffix("Z").partition(".")
    digits = fraction.rstrip("0")
    return f'{{"$date": "{whole}{"." + digits if digits else ""}Z"}}'


def _regex(value: bson.Regex) -> str:
    pattern, options = shell_string(value.pattern), shell_string(value.options)
    return f'{{"$regularExpression": {{"pattern": {pattern}, "options": {options}}}}}'


def _pointer(value: bson.DBPointer) -> str:
    """The driver leaves out `$dbPointer`."""
    return f'{{"$ref": {shell_string(value.namespace)}, "$id": {{"$oid": "{value.id}"}}}}'


def _code(value: bson.Code) -> str:
    scope = "" if value.scope is None else f', "$scope": {write_tree(value.scope, relaxed)}'
    return f'{{"$code": {shell_string(value.text)}{scope}}}'


_LEAVES: Final[dict[type, Callable[[Any], str]]] = {
    str: shell_string,
    bson.Long: lambda value: str(int(value)),
    float: _double,
    bson.DBPointer: _pointer,
    bson.Date: _date,
    bson.Regex: _regex,
    bson.Code: _code,
    bson.Symbol: lambda value: f'{{"$symbol": {shell_string(value.text)}}}',
}

VALUES: Final = Values(
    {
        **TEXT,
        **dict.fromkeys(("document", "other", "timestamp"), document),
        "boolean": boolean,
        "decimal": numeric,
        "objectid": binlog_text.text,
    },
    timestamp=millis,
    scanned=millis,
)
