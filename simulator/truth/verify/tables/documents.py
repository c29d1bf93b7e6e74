"""JSON documents in one form, since a database's column of JSON has no blanks, no order of members, no `1.50`."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa

from simulator.batch import decoded


def documents(array: pa.Array) -> pa.Array:
    """Texts of JSON in one form: members in the order of their names, numbers by their value. Other texts stay."""
    encoded = decoded(array).dictionary_encode()
    texts = [None if text is None else document(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def document(text: str) -> str:
    """`{"a": 1.5, "b": [true, null]}` for `{"b":[true,null],"a":1.50}`."""
    try:
        return _text(json.loads(text, parse_float=Decimal))
    except (ValueError, ArithmeticError, RecursionError):
        return text


def _text(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{_text(name)}: {_text(value[name])}" for name in sorted(value)) + "}"
        case list():
            return "[" + ", ".join(map(_text, value)) + "]"
        case Decimal():
            is_whole = value == value.to_integral_value() and abs(value) < 10**15
            return str(int(value)) if is_whole else str(value.normalize())
    return json.dumps(value, ensure_ascii=False)
