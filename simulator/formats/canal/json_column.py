"""Text of MySQL JSON columns in Canal, whose own writer prints the binary document (`JsonConversion.java`).

The carrier is MySQL's own text of the document. Canal's differs in doubles (Java's text) and in string escapes: besides
`"`, `\\`, `\\n`, `\\r`, `\\t` all other controls and U+007F to U+00A0 become lower-case `\\u00xx`. Up to 1.1.7 object
keys are not escaped at all; 1.1.4 escapes only `"` and `\\` in strings. Each distinct document of a column is
converted once.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.batch import Delta, scatter
from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import typed_json
from simulator.sources.mysql.typed_json import OPAQUE, Number, Pairs
from simulator.text.decimals import grouped_text
from simulator.text.java import numbers as java

_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROLS = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA1))}
_ESCAPES = {ord(k): v for k, v in (_CONTROLS | _NAMED).items()}
# Documents without escapes, controls and doubles look the same in both (the pattern may match a number in a string).
# Typed scalars (`typed_json`) have a backslash, too.
_SUSPECT = r"[\\\x00-\x1f\x7f-\x{a0}]|[0-9][.eE]|base64:type"
_ESCAPES_114 = {ord(k): _NAMED[k] for k in '"\\'}


def json_column(array: pa.Array, version: str) -> pa.Array:
    """The column as Canal of this version prints it; a dictionary array stays one."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, json_column(array.dictionary, version))
    rows = np.flatnonzero(pc.match_substring_regex(array, _SUSPECT).fill_null(False))
    if not len(rows):
        return array
    texts = [canal_text(text, version) for text in array.take(pa.array(rows)).to_pylist()]
    return scatter(array, Delta(rows, pa.array(texts, pa.string())))


def canal_text(text: str, version: str) -> str:
    r"""One document: `{"a": 1e20}` is `{"a": 1.0E20}` to Canal.

    >>> canal_text('{"a": 1e20, "b\\"c": "x\\u0001"}', "1.1.8")
    '{"a": 1.0E20, "b\\"c": "x\\u0001"}'
    """
    if text == typed_json.EMPTY:
        return ""
    texts: list[str] = []
    _write(typed_json.parsed(text), version, texts)
    return "".join(texts)


def _write(value: Any, version: str, texts: list[str]) -> None:
    if isinstance(value, Pairs) and value and value[0][0] == typed_json.DECIMAL:
        texts.append(grouped_text(value[0][1]))
    elif isinstance(value, Pairs) and value and value[0][0] == typed_json.DATE:
        texts.append(f'"{value[0][1]} 00:00:00.000000"')  # a date is a datetime to Canal
    elif isinstance(value, Pairs):
        texts.append("{")
        for i, (key, member) in enumerate(value):
            name = key.translate(_ESCAPES) if version >= "1.1.8" else key
            texts.append(f'{", " if i else ""}"{name}": ')
            _write(member, version, texts)
        texts.append("}")
    elif isinstance(value, list):
        texts.append("[")
        for i, member in enumerate(value):
            texts.append(", " if i else "")
            _write(member, version, texts)
        texts.append("]")
    elif isinstance(value, Number):
        if mysql_json.double_text(float(value)) == value:
            texts.append(java.double_string(float(value)))
        else:
            texts.append(grouped_text(value))
    elif isinstance(value, str):
        if opaque := OPAQUE.fullmatch(value):
            # other types' bytes, as text up to the first zero byte
            value = base64.b64decode(opaque[1]).partition(b"\0")[0].decode(errors="replace")
        texts.append('"' + value.translate(_ESCAPES_114 if version == "1.1.4" else _ESCAPES) + '"')
    else:
        texts.append("null" if value is None else str(value).lower() if isinstance(value, bool) else str(value))
