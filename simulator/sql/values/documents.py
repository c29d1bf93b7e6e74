"""JSON documents in expressions: JSON's types and MySQL's typed scalars (decimals, dates, bytes).

Their text is what MySQL prints; the stored text has typed dates and decimals (`sources.mysql.typed_json`).
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import typed_json
from simulator.sql.values.temporal import Temporal, date_of


@dataclass(slots=True, eq=False)
class Document:
    """A JSON value: None, bool, int, float, Decimal, str, list, dict, Temporal or bytes. `origin` is its column or
    function, for errors; `way` as in `text_of`."""

    value: Any
    origin: str = "json"
    way: str = "printed"

    def stored(self) -> str:
        """The text that a column stores, with the types that JSON cannot distinguish."""
        return text_of(self.value)

    def text(self) -> str:
        """As the server prints it."""
        return text_of(self.value, self.way)


class Opaque(bytes):
    """Bytes in a document, with MySQL's type code."""

    code: int

    def __new__(cls, value: bytes, code: int) -> Opaque:
        opaque = super().__new__(cls, value)
        opaque.code = code
        return opaque


class JsonNumber(str):
    """A number, or the result of MariaDB's aggregates, as it is written."""

    __slots__ = ()


def parse(text: str, *, duplicates: str, spelled: bool = False) -> Any:
    """Raises ValueError with a sentence. `spelled`: numbers stay as they are written, as in MariaDB."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if duplicates == "last":
            return dict(members)
        unique: dict[str, Any] = {}
        for key, value in members:
            unique.setdefault(key, value)
        return unique

    if not spelled or "NaN" in text or "Infinity" in text:
        mysql_json.normalise(text)  # refuses what MySQL refuses
    number = JsonNumber if spelled else mysql_json.number
    return json.loads(text, parse_int=number, parse_float=number, object_pairs_hook=pairs)


def read(stored: str) -> Any:
    """The value of a stored text."""
    if stored == typed_json.EMPTY:
        return None
    return _typed(json.loads(stored, parse_float=JsonNumber, parse_int=JsonNumber))


def _typed(value: Any) -> Any:
    if isinstance(value, JsonNumber):
        if re.fullmatch(r"-?\d+", value):
            return int(value)
        real = float(value)
        return real if mysql_json.double_text(real) == value else Decimal(value)
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        if typed_json.DATE in value:
            return Temporal("date", date_of(value[typed_json.DATE]))
        if typed_json.DECIMAL in value:
            return Decimal(value[typed_json.DECIMAL])
        return {key: _typed(item) for key, item in value.items()}
    return value


def key_order(key: str) -> tuple[int, bytes]:
    """MySQL's order of an object's members: by length, then by bytes."""
    raw = key.encode("utf-8", "surrogatepass")
    return len(raw), raw


def text_of(value: Any, way: str = "stored") -> str:
    """`way`: `stored` (typed, see above), `printed` (as MySQL prints), `mysql-5.7` (whole doubles without `.0`),
    `mariadb` (members as they came)."""
    texts: list[str] = []
    _write(value, texts, way)
    return "".join(texts)


def _write(value: Any, texts: list[str], way: str) -> None:
    if isinstance(value, JsonNumber):
        texts.append(value)
    elif isinstance(value, Decimal):
        text = format(value, "f")
        like_double = "." in text and mysql_json.double_text(float(text)) == text
        texts.append(typed_json.decimal(text) if way == "stored" and like_double else text)
    elif isinstance(value, Temporal):
        exact = value.kind == "date" or way == "mariadb"
        temporal = value if exact else Temporal(value.kind, value.day, value.us, 6)
        is_date = way == "stored" and value.kind == "date"
        texts.append(typed_json.date(temporal.text()) if is_date else f'"{temporal.text()}"')
    elif isinstance(value, bytes) and way == "mariadb":
        _write(value.decode("latin-1"), texts, way)
    elif isinstance(value, bytes):
        code = value.code if isinstance(value, Opaque) else 15
        texts.append(f'"base64:type{code}:{base64.b64encode(value).decode()}"')
    elif isinstance(value, list):
        texts.append("[")
        for i, item in enumerate(value):
            texts.append(", " if i else "")
            _write(item, texts, way)
        texts.append("]")
    elif isinstance(value, dict):
        texts.append("{")
        keys: list[str] = list(value)
        if way != "mariadb":
            keys.sort(key=key_order)
        for i, key in enumerate(keys):
            texts.append(", " if i else "")
            _write(key, texts, way)
            texts.append(": ")
            _write(value[key], texts, way)
        texts.append("}")
    elif isinstance(value, float) and way == "mysql-5.7":
        texts.append(mysql_json.plain_double(value))
    else:
        texts.append(mysql_json.write(value))
