"""Documents as extended JSON of MongoDB's Java driver 5.9, which Debezium's connector has, inside JSON strings.

| BSON | strict (`before`, `after`) | relaxed (keys, `updatedFields`) |
| --- | --- | --- |
| int, bool, null | `1`, `true`, `null` | the same |
| long | `{"$numberLong": "7"}` | `7` |
| double | `3.0`, `1.0E+21`; bare `NaN`, `Infinity` | the same; `{"$numberDouble": "NaN"}` |
| decimal | `{"$numberDecimal": "1E+3"}` | the same |
| string | as the shell writes it | the same |
| objectId | `{"$oid": "596e275826f08b2730779e1f"}` | the same |
| date | `{"$date": 1522154096700}` | `{"$date": "2018-03-27T12:34:56.7Z"}` |
| date before 1970 or after 9999 | `{"$date": -1}` | `{"$date": {"$numberLong": "-1"}}` |
| timestamp | `{"$timestamp": {"t": 1558965508,"i": 31}}` | the same |
| binData | `{"$binary": "a2Fma2E=","$type": "00"}` | `{"$binary": {"base64": "a2Fma2E=","subType": "00"}}` |
| regex | `{"$regex": "^a","$options": "i"}` | `{"$regularExpression": {"pattern": "^a","options": "i"}}` |
| javascript | `{"$code": "f()","$scope": {}}` | the same |
| dbPointer | `{"$ref": "shop.users","$id": {"$oid": "…"}}` | the same |
| others | `{"$symbol": "s"}`, `{"$minKey": 1}`, `{"$maxKey": 1}`, `{"$undefined": true}` | the same |

A colon is followed by a blank; a comma is in `updatedFields`, and is not in the connector's own settings.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.model import Column
from simulator.sources.json_tree import write as write_tree
from simulator.sources.mongodb import documents as mongodb_documents
from simulator.sources.mongodb import json as bson
from simulator.sources.mongodb import type_table as mongodb_table
from simulator.sources.mongodb.shell import Shell, shell_string
from simulator.text.base64 import base64
from simulator.text.java import numbers as java
from simulator.text.json_style import JACKSON_BYTES, escape
from simulator.text.template import join


@dataclass(frozen=True)
class ExtendedJson(Shell):
    """A mode of the driver's writer. With `style` the text has the escapes of a JSON string that holds it."""

    strict: bool = False
    comma: str = ","

    @property
    def spelling(self) -> mongodb_documents.Spelling:
        return mongodb_documents.Spelling(text=self.text, leaf=self.leaf, comma=self.comma, key=self.key)

    def leaf(self, value: Any) -> str:
        return self.escaped(self.plain(value))

    def plain(self, value: Any) -> str:
        """A document, an array or a scalar, without the escapes of a JSON string around it."""
        return write_tree(value, lambda leaf: _LEAVES[type(leaf)](self, leaf), comma=self.comma, key=shell_string)

    def text(self, column: Column, array: pa.Array) -> pa.Array:
        type, count = column.type, len(array)
        if pa.types.is_dictionary(array.type) or type.name in ("string", "int", "bool"):
            return super().text(column, array)
        match type.name:
            case "long":
                text = array.cast(pa.string())
                return self._wrapped("$numberLong", text) if self.strict else text
            case "double":
                return self._doubles(array)
            case "objectId":
                return self._wrapped("$oid", array)
            case "decimal":
                return self._wrapped("$numberDecimal", array.cast(pa.string()))
            case "binData":
                lead, middle = ('{"$binary": "', '","$type": "') if self.strict else (
                    '{"$binary": {"base64": "', f'"{self.comma}"subType": "')  # fmt: skip
                end = f'{mongodb_table.subtype(type):02x}"' + ("}" if self.strict else "}}")
                text = base64(array) if self.style is None else escape(base64(array), self.style)
                return join([self.escaped(lead), text, self.escaped(middle + end)], count)
            case "date" if self.strict:
                ms = pc.divide(array.view(pa.int64()), pa.scalar(1000, pa.int64()))
                return join([self.escaped('{"$date": '), ms.cast(pa.string()), "}"], count)
            case "date":
                return self._one_by_one(array.view(pa.int64()), lambda us: self.plain(bson.Date(us // 1000)))
            case "timestamp":
                return self._one_by_one(array, lambda at: self.plain(bson.Timestamp(at >> 32, at & 0xFFFFFFFF)))
        return self._one_by_one(array, lambda text: self.plain(bson.stored_tree(text)))

    def _wrapped(self, name: str, text: pa.Array) -> pa.Array:
        return join([self.escaped(f'{{"{name}": "'), text, self.escaped('"}')], len(text))

    def _doubles(self, array: pa.Array) -> pa.Array:
        if not self.strict and not np.isfinite(np.asarray(array.fill_null(0.0))).all():
            return self._one_by_one(array, self.plain)
        return pc.replace_substring_regex(java.double_text(array), r"E(\d)", r"E+\1")


def _double(mode: ExtendedJson, value: float) -> str:
    if not math.isfinite(value) and not mode.strict:
        return bson.double_text(value)
    return re.sub(r"E(?=\d)", "E+", java.double_string(value))


def _date(mode: ExtendedJson, value: bson.Date) -> str:
    if mode.strict:
        return f'{{"$date": {value.ms}}}'
    text = bson.date_text(value.ms)
    return text if "numberLong" in text else re.sub(r"\.?0*Z", "Z", text) if "." in text else text


def _binary(mode: ExtendedJson, value: bson.Binary) -> str:
    data, subtype = b64encode(value.data).decode(), f"{value.subtype:02x}"
    if mode.strict:
        return f'{{"$binary": "{data}"{mode.comma}"$type": "{subtype}"}}'
    return f'{{"$binary": {{"base64": "{data}"{mode.comma}"subType": "{subtype}"}}}}'


def _regex(mode: ExtendedJson, value: bson.Regex) -> str:
    pattern, options = shell_string(value.pattern), shell_string(value.options)
    if mode.strict:
        return f'{{"$regex": {pattern}{mode.comma}"$options": {options}}}'
    return f'{{"$regularExpression": {{"pattern": {pattern}{mode.comma}"options": {options}}}}}'


def _code(mode: ExtendedJson, value: bson.Code) -> str:
    scope = "" if value.scope is None else f'{mode.comma}"$scope": {mode.plain(value.scope)}'
    return f'{{"$code": {shell_string(value.text)}{scope}}}'


_LEAVES: Final[Mapping[type, Callable[[ExtendedJson, Any], str]]] = {
    str: lambda mode, value: shell_string(value),
    type(None): lambda mode, value: "null",
    bool: lambda mode, value: "true" if value else "false",
    int: lambda mode, value: str(value),
    bson.Long: lambda mode, value: f'{{"$numberLong": "{int(value)}"}}' if mode.strict else str(int(value)),
    float: _double,
    bson.ObjectId: lambda mode, value: bson.extended(value),
    bson.Decimal128: lambda mode, value: bson.extended(value),
    bson.Date: _date,
    bson.Timestamp: lambda mode, value: f'{{"$timestamp": {{"t": {value.seconds}{mode.comma}"i": {value.ordinal}}}}}',
    bson.Binary: _binary,
    bson.Regex: _regex,
    bson.Code: _code,
    bson.Symbol: lambda mode, value: f'{{"$symbol": {shell_string(value.text)}}}',
    bson.DBPointer: lambda mode, value: (
        f'{{"$ref": {shell_string(value.namespace)}{mode.comma}"$id": {{"$oid": "{value.id}"}}}}'
    ),
    bson.Special: lambda mode, value: bson.extended(value),
}

# Of documents, of keys, and of what an update sets.
STRICT: Final = ExtendedJson(JACKSON_BYTES, strict=True)
KEY: Final = ExtendedJson(JACKSON_BYTES)
UPDATED: Final = ExtendedJson(JACKSON_BYTES, comma=", ")
