"""Findings in words: the expected message, the one that came, and the turn. Messages are decoded for this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from simulator.errors import short
from simulator.formats.options import parse_format
from simulator.model import OrderKey
from simulator.sinks.reading import Place
from simulator.truth.decoders import find, items_of
from simulator.truth.decoders.change import Change, Decoder, Item, Mark, Statement
from simulator.truth.verify.findings import Finding, Wrong
from simulator.truth.verify.tape import MORE
from simulator.truth.verify.tape import Item as TapeItem

RowKey: TypeAlias = tuple[str, ...]

# Number of differences that a sentence names.
MOST_DIFFERENCES: Final = 3
# A message counts as an altered expected one if this share of it is equal at its begin and end.
LIKE: Final = 0.5
# Messages between the expected and the actual place of a message that are searched for its rows.
MOST_CROSSED: Final = 4096


class Namer:
    """Describes findings of one format. `keys`: the primary key's columns by table, for formats without them; `spread`:
    by how much the run multiplies ordinals, as one with faults does."""

    def __init__(self, format: str, keys: Mapping[str, Sequence[str]], spread: int = 1) -> None:
        self.format, self._keys, self._spread = format, keys, spread
        self._decoder: Decoder = find(format)
        self._options = parse_format(format)[1]

    # -------------------------------------------------------------------------------------------------------- decoding

    def parse(self, value: bytes) -> Any:
        """Parses a message. Raises ValueError if it is none of the format."""
        return self._decoder.parse(value, self._options)

    def problem(self, item: TapeItem) -> str | None:
        """The reason why a message is none of the format; None if it is one."""
        if item.value is None:
            return None
        try:
            items_of(self._decoder, self.parse(item.value))
        except (ValueError, ArithmeticError) as error:
            return str(error)
        return None

    def lasting(self, value: bytes) -> bytes | None:
        """A message without the members that are renewed when it is sent again; None if it has none or cannot be
        parsed."""
        if not (renewed := self._decoder.renewed):
            return None
        try:
            message = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
        owner = message.get("payload", message) if isinstance(message, dict) else None
        if not isinstance(owner, dict) or not renewed & owner.keys():
            return None
        for name in renewed:
            owner.pop(name, None)
        return orjson.dumps(message)

    def contents(self, item: TapeItem) -> Sequence[Item]:
        """Contents of a message; empty if it has none."""
        if item.value is None:
            return ()
        try:
            return items_of(self._decoder, self.parse(item.value))
        except (ValueError, ArithmeticError):
            return ()

    def row_keys(self, item: TapeItem) -> set[RowKey]:
        """The rows of a message: table and key, and the old key if it changed."""
        return {key for change in self.contents(item) if isinstance(change, Change) for key in self._row_keys(change)}

    def _row_keys(self, change: Change) -> Iterator[RowKey]:
        for image in (change.before, change.after):
            if names := self._key(change):
                row = {**(change.after or {}), **(image or {})}
                if image is not None and all(name in row for name in names):
                    yield (change.table, *(repr(row[name]) for name in names))

    def _key(self, change: Change) -> Sequence[str]:
        return sorted(change.key) if change.key else self._keys.get(change.table, ())

    # ------------------------------------------------------------------------------------------------------------ words

    def subject(self, item: TapeItem) -> str:
        """A message by its contents: `UPDATE customers id=3 (turn 4.0)`."""
        order = self.order_of(item)
        where = ""
        if order is not None:
            where = f" (sent again before turn {order.turn})" if order.phase and order.ordinal < 0 else f" ({order})"
        contents = self.contents(item)
        if not contents:
            return f"{_size(item)}{where}"
        first, more = contents[0], len(contents) - 1
        match first:
            case Change():
                words = self._change(item, first) + (f" and {more} more rows" if more else "")
            case Statement():
                words = f"statement {short(first.sql)}"
            case Mark():
                words = first.word
        return words + where

    def _change(self, item: TapeItem, change: Change) -> str:
        row = {**(change.after or {}), **(change.before or {})}
        key = ", ".join(
            f"{name}={_text(self._printable(item, row[name]))}" for name in self._key(change) if name in row
        )
        return f"{change.op.name} {change.table}{f' {key}' if key else ''}"

    def _printable(self, item: TapeItem, value: Any) -> Any:
        return self._decoder.shown(self.parse(item.value), value) if item.value is not None else value

    def order_of(self, item: TapeItem | None) -> OrderKey | None:
        """The place of an expected message in the stream; None for a message that was read, whose place is unknown."""
        if item is None or "turn" not in item.records.schema.names:
            return None
        phase, turn, ordinal = (int(item.get(name)) for name in ("phase", "turn", "ordinal"))  # type: ignore[call-overload]
        return OrderKey(phase, turn, ordinal // self._spread)

    def finding(self, place: Place, wrong: Wrong, expected: TapeItem | None, text: str, count: int = 1) -> Finding:
        return Finding(wrong, *place, self.order_of(expected), text, count)

    def difference(self, expected: TapeItem, read: TapeItem) -> str:
        """Differences of two messages, members by their paths: `data[0].balance is "1", expected "2"`."""
        sentences: list[str] = []
        ops = [[each.op.name for each in self.contents(item) if isinstance(each, Change)] for item in (expected, read)]
        if len(ops[0]) != len(ops[1]):
            sentences.append(f"it has {len(ops[1])} rows, expected {len(ops[0])}")
        elif ops[0] != ops[1]:
            sentences.append(f"the operation is {ops[1][0]}, expected {ops[0][0]}")
        if expected.identity != read.identity and expected.value is not None and read.value is not None:
            sentences += _differences(self.parse(expected.value), self.parse(read.value), "")
            if not sentences:
                sentences.append(_bytes_differ(expected.value, read.value))
        elif expected.identity != read.identity:
            sentences.append(f"its value is {_size(read)}, expected {_size(expected)}")
        for name in MORE:
            if name in read.records.schema.names and (came := read.get(name)) != (wanted := expected.get(name)):
                sentences.append(f"its {name.removesuffix('_ms')} is {_text(came)}, expected {_text(wanted)}")
        shown = sentences[:MOST_DIFFERENCES]
        return "; ".join(shown) + (f"; and {len(sentences) - len(shown)} more" if len(sentences) > len(shown) else "")


def alike(expected: TapeItem, read: TapeItem) -> bool:
    """Tests whether one message may be the altered other: most of it is equal at its begin and end."""
    left, right = expected.value, read.value
    if left is None or right is None:
        return False
    begin = _common_prefix(left, right)
    shorter = min(len(left), len(right))
    end = min(_common_prefix(left[::-1], right[::-1]), shorter - begin)
    return begin + end >= LIKE * max(len(left), len(right)) or begin >= LIKE * len(right) > 0


def _common_prefix(left: bytes, right: bytes) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _differences(expected: Any, read: Any, path: str) -> Iterator[str]:
    """Members of parsed messages that differ."""
    if type(expected) is type(read) and isinstance(expected, dict):
        for name in {**expected, **read}:
            inner = f"{path}.{name}" if path else str(name)
            if name not in read:
                yield f"{inner} is not there, expected {_text(expected[name])}"
            elif name not in expected:
                yield f"{inner} is {_text(read[name])}, expected no such member"
            else:
                yield from _differences(expected[name], read[name], inner)
    elif type(expected) is type(read) and isinstance(expected, list | tuple) and len(expected) == len(read):
        for index, (left, right) in enumerate(zip(expected, read, strict=True)):
            yield from _differences(left, right, f"{path}[{index}]")
    elif type(expected) is not type(read) or expected != read:
        yield f"{path or 'the message'} is {_text(read)}, expected {_text(expected)}"


def _bytes_differ(expected: bytes, read: bytes) -> str:
    begin = _common_prefix(expected, read)
    return f"byte {begin} is {read[begin : begin + 8]!r}, expected {expected[begin : begin + 8]!r}"


def _size(item: TapeItem) -> str:
    return "a tombstone" if item.value is None else f"a message of {len(item.value):,} bytes"


def _text(value: object) -> str:
    return short(value) if isinstance(value, str) else short(str(value)).strip("'") if value is not None else "null"
