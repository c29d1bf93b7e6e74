"""JSON paths: find and change values of documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

_LEG: Final = re.compile(
    r"""\s*(?:(\*\*)|\.\s*(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_$\u0080-\uffff][\w$]*)|(\*))"""
    r"""|\[\s*(?:(\*)|(\d+|last(?:\s*-\s*\d+)?)(?:\s+to\s+(\d+|last(?:\s*-\s*\d+)?))?)\s*\])"""
)


@dataclass(frozen=True, slots=True)
class Cell:
    """`[3]`, `[last-1]`: `index` counts from the end where it is negative."""

    index: int


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*`, `[*]`, `**` and `[1 to 3]`: `kind` is member, cell, below or range."""

    kind: str
    first: int = 0
    last: int = 0


Leg = str | Cell | Wildcard
MISSING: Final = object()


def legs_of(text: str) -> list[Leg]:
    """The legs of `$.a[0]."b c"`. Raises ValueError."""
    path = text.strip()
    if not path.startswith("$"):
        raise ValueError(text)
    legs: list[Leg] = []
    position = 1
    while position < len(path):
        match = _LEG.match(path, position)
        if not match:
            raise ValueError(text)
        below, quoted, name, any_member, any_cell, index, last = match.groups()
        if below:
            legs.append(Wildcard("below"))
        elif any_member:
            legs.append(Wildcard("member"))
        elif any_cell:
            legs.append(Wildcard("cell"))
        elif last is not None:
            legs.append(Wildcard("range", _index(index), _index(last)))
        elif index is not None:
            legs.append(Cell(_index(index)))
        else:
            legs.append(json.loads(f'"{quoted}"') if quoted is not None else name)
        position = match.end()
    if legs and legs[-1] == Wildcard("below"):
        raise ValueError(text)
    return legs


def _index(text: str) -> int:
    if not text.startswith("last"):
        return int(text)
    return -1 - int(text.partition("-")[2] or 0)


def has_wildcard(legs: Sequence[Leg]) -> bool:
    return any(isinstance(leg, Wildcard) for leg in legs)


def text_of_legs(legs: Sequence[Leg]) -> str:
    """`$.a[0]`, as JSON_SEARCH prints it."""
    text = "$"
    for leg in legs:
        if isinstance(leg, Cell):
            text += f"[{leg.index}]"
        elif isinstance(leg, str):
            text += f".{leg}" if re.fullmatch(r"[A-Za-z_$\u0080-\uffff][\w$]*", leg) else f".{json.dumps(leg)}"
    return text


def find_all(value: Any, legs: Sequence[Leg]) -> Iterator[Any]:
    """All values of a path. A value that is no array counts as an array of one element."""
    if not legs:
        yield value
        return
    leg, next_legs = legs[0], legs[1:]
    if isinstance(leg, str):
        if isinstance(value, dict) and leg in value:
            yield from find_all(value[leg], next_legs)
    elif isinstance(leg, Cell):
        items = value if isinstance(value, list) else [value]
        if -len(items) <= leg.index < len(items):
            yield from find_all(items[leg.index], next_legs)
    elif leg.kind == "below":
        yield from find_all(value, next_legs)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from find_all(inner, legs)
    elif leg.kind == "member":
        for inner in value.values() if isinstance(value, dict) else ():
            yield from find_all(inner, next_legs)
    else:
        items = value if isinstance(value, list) else [value] if leg.kind == "range" else []
        if leg.kind == "range":
            first, last = (index if index >= 0 else len(items) + index for index in (leg.first, leg.last))
            items = items[max(0, first) : last + 1]
        for inner in items:
            yield from find_all(inner, next_legs)


def find(value: Any, legs: Sequence[Leg]) -> Any:
    """The value of a path, or MISSING."""
    return next(find_all(value, legs), MISSING)


def changed(value: Any, legs: Sequence[Leg], new: Any, *, insert: bool, replace: bool) -> Any:
    """A document with the value of a path set; only the last leg may be created."""
    if not legs:
        return new if replace else value
    leg, *next_legs = legs
    if isinstance(leg, str):
        if not isinstance(value, dict) or (leg not in value and (next_legs or not insert)):
            return value
        if leg in value:
            return {**value, leg: changed(value[leg], next_legs, new, insert=insert, replace=replace)}
        return {**value, leg: new}
    assert isinstance(leg, Cell)
    items = value if isinstance(value, list) else [value]
    index = leg.index if leg.index >= 0 else len(items) + leg.index
    if 0 <= index < len(items):
        element = changed(items[index], next_legs, new, insert=insert, replace=replace)
        if not isinstance(value, list):
            return element
        return [*items[:index], element, *items[index + 1 :]]
    if not insert or next_legs:
        return value
    return [*items, new] if index >= 0 else [new, *items]


def removed(value: Any, legs: Sequence[Leg]) -> Any:
    leg, *next_legs = legs
    if isinstance(value, dict) and isinstance(leg, str) and leg in value:
        if next_legs:
            return {**value, leg: removed(value[leg], next_legs)}
        return {key: item for key, item in value.items() if key != leg}
    if isinstance(value, list) and isinstance(leg, Cell) and -len(value) <= leg.index < len(value):
        index = leg.index % len(value)
        if next_legs:
            return [removed(item, next_legs) if i == index else item for i, item in enumerate(value)]
        return [item for i, item in enumerate(value) if i != index]
    return value


def put_before(value: Any, legs: Sequence[Leg], new: Any) -> Any:
    """JSON_ARRAY_INSERT: insert an element before that of a path; at the end of a shorter array."""
    *head, cell = legs
    assert isinstance(cell, Cell)
    items = find(value, head)
    if not isinstance(items, list):
        return value
    index = cell.index if cell.index >= 0 else max(0, len(items) + cell.index)
    index = min(index, len(items))
    return changed(value, head, [*items[:index], new, *items[index:]], insert=False, replace=True)
