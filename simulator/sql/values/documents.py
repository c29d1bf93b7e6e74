"""JSON documents in expressions: MySQL's typed scalars (decimals, dates, bytes) beside those that JSON has.

As text they are what MySQL prints; the text that a row stores marks dates and decimals (`sources.mysql.typed_json`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from simulator.sources.mysql import json as mysql_json
from simulator.sources.mysql import typed_json
from simulator.sql.values.temporal import Temporal, date_of

_LEG: Final = re.compile(r'\s*(?:\.\s*(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_$\u0080-\uffff][\w$]*))|\[\s*(\d+|last)\s*\])')


@dataclass(slots=True, eq=False)
class Document:
    """A JSON value: None, bool, int, float, Decimal, str, list, dict, Temporal or bytes. `origin` is the column or the
    function that gave it, for errors."""

    value: Any
    origin: str = "json"

    def stored(self) -> str:
        """As a column stores it: what a text cannot tell apart is marked."""
        return text_of(self.value)

    def text(self) -> str:
        """As the server prints it."""
        return text_of(self.value, "printed")


def parse(text: str, *, duplicates: str) -> Any:
    """Raises ValueError with a sentence."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(members if duplicates == "last" else members[::-1])

    mysql_json.normalise(text)  # refuses what MySQL refuses
    return json.loads(text, parse_int=mysql_json.number, parse_float=mysql_json.number, object_pairs_hook=pairs)


def read(stored: str) -> Any:
    """The value behind the text that a row stores."""
    if typed_json.is_typed(stored):
        stored = typed_json.marks_as_objects(stored)
    return _typed(json.loads(stored, parse_float=_Number, parse_int=_Number))


class _Number(str):
    """A number as written."""

    __slots__ = ()


def _typed(value: Any) -> Any:
    if isinstance(value, _Number):
        if re.fullmatch(r"-?\d+", value):
            return int(value)
        real = float(value)
        return real if mysql_json.double_text(real) == value else Decimal(value)
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        if typed_json.MARK in value:
            scalar = value[typed_json.MARK]
            return Decimal(scalar) if isinstance(scalar, _Number) else Temporal("date", date_of(scalar))
        return {key: _typed(item) for key, item in value.items()}
    return value


def text_of(value: Any, way: str = "stored") -> str:
    """`way`: `stored` (marked, see above), `printed` (as MySQL prints), `mariadb` (members as they came)."""
    out: list[str] = []
    _write(value, out, way)
    return "".join(out)


def _write(value: Any, out: list[str], way: str) -> None:
    if isinstance(value, Decimal):
        text = format(value, "f")
        marked = way == "stored" and "." in text and mysql_json.double_text(float(text)) == text
        out.append(text + (" " if marked else ""))
    elif isinstance(value, Temporal):
        exact = value.kind == "date" or way == "mariadb"
        moment = value if exact else Temporal(value.kind, value.day, value.us, 6)
        out.append(f'"{moment.text()}"' + (" " if way == "stored" and value.kind == "date" else ""))
    elif isinstance(value, bytes) and way == "mariadb":
        _write(value.decode("latin-1"), out, way)
    elif isinstance(value, bytes):
        out.append(f'"base64:type15:{base64.b64encode(value).decode()}"')
    elif isinstance(value, list):
        out.append("[")
        for i, item in enumerate(value):
            out.append(", " if i else "")
            _write(item, out, way)
        out.append("]")
    elif isinstance(value, dict):
        out.append("{")
        keys: list[str] = list(value)
        if way != "mariadb":
            keys.sort(key=lambda key: (len(raw := key.encode("utf-8", "surrogatepass")), raw))
        for i, key in enumerate(keys):
            out.append(", " if i else "")
            _write(key, out, way)
            out.append(": ")
            _write(value[key], out, way)
        out.append("}")
    else:
        written: list[str] = []
        mysql_json.write(value, written)
        out += written


def path(text: str) -> list[str | int]:
    """The legs of `$.a[0]."b c"`. Raises ValueError for others, wildcards too."""
    rest = text.strip()
    if not rest.startswith("$"):
        raise ValueError(text)
    legs: list[str | int] = []
    at = 1
    while at < len(rest.rstrip()):
        match = _LEG.match(rest, at)
        if not match:
            raise ValueError(text)
        if match[3] is not None:
            legs.append(-1 if match[3] == "last" else int(match[3]))
        else:
            legs.append(json.loads(f'"{match[1]}"') if match[1] is not None else match[2])
        at = match.end()
    return legs


MISSING: Final = object()


def find(value: Any, legs: Sequence[str | int]) -> Any:
    """What a path leads to, or MISSING. A value that is no array is an array of itself."""
    for leg in legs:
        if isinstance(leg, str):
            if not isinstance(value, dict) or leg not in value:
                return MISSING
            value = value[leg]
        elif isinstance(value, list):
            if not -len(value) <= leg < len(value):
                return MISSING
            value = value[leg]
        elif leg not in (0, -1):
            return MISSING
    return value


def changed(value: Any, legs: Sequence[str | int], new: Any, *, insert: bool, replace: bool) -> Any:
    """A document with the value at a path set; what is not there is made only at the end of the path."""
    if not legs:
        return new if replace else value
    leg, *rest = legs
    if isinstance(leg, str):
        if not isinstance(value, dict) or (leg not in value and (rest or not insert)):
            return value
        if leg in value:
            return {**value, leg: changed(value[leg], rest, new, insert=insert, replace=replace)}
        return {**value, leg: new}
    items = value if isinstance(value, list) else [value]
    place = leg if leg >= 0 else len(items) + leg
    if place < len(items):
        made = changed(items[place], rest, new, insert=insert, replace=replace)
        if not isinstance(value, list):
            return made
        return [*items[:place], made, *items[place + 1 :]]
    return [*items, new] if insert and not rest else value


def removed(value: Any, legs: Sequence[str | int]) -> Any:
    if not legs:
        return value
    leg, *rest = legs
    if isinstance(value, dict) and isinstance(leg, str) and leg in value:
        if rest:
            return {**value, leg: removed(value[leg], rest)}
        return {key: item for key, item in value.items() if key != leg}
    if isinstance(value, list) and isinstance(leg, int) and -len(value) <= leg < len(value):
        if rest:
            return [removed(item, rest) if i == leg % len(value) else item for i, item in enumerate(value)]
        return [item for i, item in enumerate(value) if i != leg % len(value)]
    return value
