"""PostgreSQL's arrays, ranges and multiranges: literals to the text that the server prints of them.

The caller passes the functions that parse and print elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from simulator.errors import short

# ------------------------------------------------------------------------------------------------------------- arrays

_BOUNDS: Final = re.compile(r"\s*((?:\[[+-]?\d+:[+-]?\d+\])+)\s*=\s*")


def array(text: str, element: Callable[[str], str], delimiter: str = ",") -> str:
    r"""`{1,NULL,"a b"}`: each element as `element` prints it, in quotes where it needs them. Raises ValueError.

    >>> array('{ 1, null , "a\\"b" ,{}}', str)
    Traceback (most recent call last):
    ValueError: '{ 1, null , "a\\"b" ,{}}' is not an array such as {1,NULL,3}
    >>> array('{ {1, null} , {"a\\"b", "null"} }', str), array("[0:1]={1,2}", str), array("[1:2]={1,2}", str)
    ('{{1,NULL},{"a\\"b","null"}}', '[0:1]={1,2}', '{1,2}')
    """
    prefix = ""
    body = text.strip()
    if match := _BOUNDS.match(body):
        body = body[match.end() :]
        lows = re.findall(r"\[([+-]?\d+):([+-]?\d+)\]", match[1])
        if any(int(low) != 1 for low, _ in lows):
            prefix = "".join(f"[{int(low)}:{int(high)}]" for low, high in lows) + "="
    reader = _Reader(text, body, delimiter)
    items = reader.items()
    if reader.offset != len(body):
        raise reader.problem()
    shape = _shape(items, reader)
    if match and [int(high) - int(low) + 1 for low, high in lows] != shape:
        raise ValueError(f"{short(text)} has other bounds than elements")
    return prefix + _array_text(items, element, delimiter)


class _Reader:
    """A recursive parser of an array's text; elements are returned as written, without quotes."""

    def __init__(self, text: str, body: str, delimiter: str) -> None:
        self.text, self.body, self.delimiter, self.offset = text, body, delimiter, 0

    def problem(self) -> ValueError:
        return ValueError(f"{short(self.text)} is not an array such as {{1,NULL,3}}")

    def skip(self) -> str:
        """Skips blanks; returns the next character."""
        while self.body[self.offset : self.offset + 1].isspace():
            self.offset += 1
        return self.body[self.offset : self.offset + 1]

    def items(self) -> list[Any]:
        if self.skip() != "{":
            raise self.problem()
        self.offset += 1
        if self.skip() == "}":
            self.offset += 1
            return []
        items: list[Any] = []
        while True:
            items.append(self.items() if self.skip() == "{" else self.item())
            mark = self.skip()
            self.offset += 1
            if mark == "}":
                return items
            if mark != self.delimiter:
                raise self.problem()

    def item(self) -> str | None:
        if self.skip() == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL).match(self.body, self.offset)
            if not match:
                raise self.problem()
            self.offset = match.end()
            return re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
        match = re.compile(rf'(?:[^"\\{{}}{self.delimiter}]|\\.)+', re.DOTALL).match(self.body, self.offset)
        if not match:
            raise self.problem()
        self.offset = match.end()
        if match[0].strip().upper() == "NULL":
            return None
        return re.sub(r"\\(.)", r"\1", match[0].rstrip(), flags=re.DOTALL)


def _shape(items: list[Any], reader: _Reader) -> list[int]:
    shapes = [_shape(item, reader) if isinstance(item, list) else [] for item in items]
    if any(shape != shapes[0] for shape in shapes) or any(isinstance(item, list) and not item for item in items):
        raise reader.problem()
    return [len(items), *(shapes[0] if shapes else [])]


def _array_text(items: list[Any], element: Callable[[str], str], delimiter: str) -> str:
    parts = []
    for item in items:
        if item is None:
            parts.append("NULL")
        elif isinstance(item, list):
            parts.append(_array_text(item, element, delimiter))
        else:
            parts.append(_quoted(element(item), delimiter))
    return "{" + delimiter.join(parts) + "}"


def _quoted(text: str, delimiter: str) -> str:
    unquoted = text and text.upper() != "NULL" and not re.search(rf'["\\{{}}{delimiter}\s]', text)
    return text if unquoted else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# ------------------------------------------------------------------------------------------------------------- ranges


@dataclass(frozen=True)
class Bounds:
    """Bounds of a range: `read` parses one to a value that Python can order, `show` formats it. `step` gives the next
    value of a discrete type, None after the last one; it is None itself for a continuous type."""

    read: Callable[[str], Any]
    show: Callable[[Any], str]
    step: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class _Range:
    low: Any
    high: Any
    low_in: bool
    high_in: bool


_EDGE: Final = r'((?:[^"\\(),\[\]]|\\.|"(?:[^"\\]|\\.|"")*")*)'
_RANGE: Final = re.compile(rf"\s*([\[(]){_EDGE},{_EDGE}([\])])\s*", re.DOTALL)


def range_(text: str, bounds: Bounds) -> str:
    """`[1,6)` of `[1,5]` where the bounds are whole numbers; `empty`, `(,)`. Raises ValueError."""
    return _show_range(_read_range(text, bounds, text), bounds)


def multirange(text: str, bounds: Bounds) -> str:
    """`{[1,6),[10,11)}`: sorted, adjacent ranges merged, empty ones left out. Raises ValueError."""
    word = text.strip()
    if word[:1] != "{" or word[-1:] != "}":
        raise ValueError(f"{short(text)} is not a multirange such as {{[1,3),[5,7)}}")
    ranges: list[_Range] = []
    remaining = word[1:-1].strip()
    while remaining:
        match = _RANGE.match(remaining) or re.compile(r"\s*empty\s*", re.IGNORECASE).match(remaining)
        if not match or not re.fullmatch(r",.*|", remaining[match.end() :], re.DOTALL):
            raise ValueError(f"{short(text)} is not a multirange such as {{[1,3),[5,7)}}")
        range_ = _read_range(match[0], bounds, text)
        if range_ is not None:
            ranges.append(range_)
        remaining = remaining[match.end() + 1 :]
    ranges.sort(key=lambda range_: (0, 0, False) if range_.low is None else (1, range_.low, not range_.low_in))
    merged: list[_Range] = []
    for range_ in ranges:
        last = merged[-1] if merged else None
        if last is None or not _touch(last, range_):
            merged.append(range_)
        else:
            merged[-1] = _joined(last, range_)
    return "{" + ",".join(_show_range(range_, bounds) for range_ in merged) + "}"


def _touch(left: _Range, right: _Range) -> bool:
    if left.high is None or right.low is None or left.high > right.low:
        return True
    return bool(left.high == right.low) and (left.high_in or right.low_in)


def _joined(left: _Range, right: _Range) -> _Range:
    if left.high is None or (right.high is not None and (right.high, right.high_in) <= (left.high, left.high_in)):
        return left
    return _Range(left.low, right.high, left.low_in, right.high_in)


def _read_range(text: str, bounds: Bounds, literal: str) -> _Range | None:
    """Parses a range; None is the empty range."""
    if text.strip().lower() == "empty":
        return None
    match = _RANGE.fullmatch(text)
    if not match:
        raise ValueError(f"{short(literal)} is not a range such as [1,5)")
    low, high = (bounds.read(_unquoted(match[i])) if match[i] else None for i in (2, 3))
    low_in = match[1] == "[" and low is not None
    high_in = match[4] == "]" and high is not None
    if low is not None and high is not None:
        if low > high:
            raise ValueError(f"{short(literal)} begins above its end")
        if low == high and not (low_in and high_in):
            return None
    if bounds.step is not None:
        if low is not None and not low_in and (after := bounds.step(low)) is not None:
            low, low_in = after, True
        if high is not None and high_in and (after := bounds.step(high)) is not None:
            high, high_in = after, False
        if low is not None and low == high and not (low_in and high_in):
            return None
    return _Range(low, high, low_in, high_in)


def _unquoted(text: str) -> str:
    parts = re.findall(r'"((?:[^"\\]|\\.|"")*)"|((?:[^"\\]|\\.)+)', text, re.DOTALL)
    return re.sub(r"\\(.)", r"\1", "".join(a.replace('""', '"') + b for a, b in parts), flags=re.DOTALL)


def _show_range(value: _Range | None, bounds: Bounds) -> str:
    if value is None:
        return "empty"
    low, high = ("" if edge is None else _edge(bounds.show(edge)) for edge in (value.low, value.high))
    return f"{'[' if value.low_in else '('}{low},{high}{']' if value.high_in else ')'}"


def _edge(text: str) -> str:
    if text and not re.search(r'["\\(),\[\]\s]', text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'
