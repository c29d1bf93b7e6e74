"""A comparison as text: a column per format, members aligned by meaning, differences from the base marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

import click

from simulator.compare.comparison import Comparison, Event, Pairs, ReadableMessage
from simulator.formats.documents import MEANINGS

# Minimum width of a column; below it, formats are printed one below the other.
NARROWEST: Final = 32
MARK: Final = "≠ "
LABEL: Final = 21
# The end of a member: the comma before a name, a value or a bracket, or the blanks before another member.
_BORDER: Final = re.compile(r',(?=["\[{])|(?<=\S)  (?=\S)')


def text(comparison: Comparison, *, base: str, width: int) -> str:
    """All events as text; `base` is the format to compare others with."""
    formats = [base, *(format for format in comparison.formats if format != base)]
    return "\n\n".join(_event(comparison, event, formats, width) for event in comparison.events)


def _event(comparison: Comparison, event: Event, formats: Sequence[str], width: int) -> str:
    lines = [click.style(f"── {event.title} ".ljust(width, "─")[:width], bold=True)]
    for number, messages in enumerate(event.side_by_side(formats)):
        if number:
            lines.append("")
        lines += _messages(comparison, messages, width)
    silent = [format for format in formats if not event.messages[format]]
    if silent:
        lines.append(click.style(f"no message: {', '.join(silent)}", dim=True))
    return "\n".join(lines)


def _messages(comparison: Comparison, messages: dict[str, ReadableMessage], width: int) -> list[str]:
    """Messages side by side, or the texts of each member one below the other if the terminal is too narrow."""
    rows, formats = _rows(comparison, messages), list(messages)
    column = (width - LABEL) // len(formats) - 2
    if column >= NARROWEST:
        lines = [" " * LABEL + "  ".join(click.style(_padded(format, column), bold=True) for format in formats)]
        for label, cells in rows:
            lines += _side_by_side(label, [cells[format] for format in formats], column)
        return lines
    names = max(map(len, formats))
    lines = []
    for label, cells in rows:
        lines.append(click.style(label, bold=True))
        for format in formats:
            cell, differs = cells[format]
            lead = f"  {format.ljust(names)}  "
            wrapped = _wrapped((MARK if differs else "  ") + cell, width - len(lead))
            for i, line in enumerate(wrapped):
                lines.append((lead if not i else " " * len(lead)) + _coloured(line, differs))
    return lines


Cells = dict[str, tuple[str, bool]]


def _rows(comparison: Comparison, messages: dict[str, ReadableMessage]) -> list[tuple[str, Cells]]:
    """Row of a table: a label, and for each format its text and whether it differs from the base's."""
    parts: dict[str, dict[str, Pairs]] = {}
    for format, message in messages.items():
        parts[format] = {name: ((name, value),) for name, value in message.address}
        parts[format] |= comparison.by_meaning(format, message)
        if message.value is None:
            parts[format]["value"] = (("value", "none: a tombstone"),)
    labels = list(dict.fromkeys(label for members in parts.values() for label in members))
    rows = []
    for label in _ordered(labels):
        values = {format: [text for _, text in members.get(label, ())] for format, members in parts.items()}
        base = next(iter(values.values()), [])
        cells = {
            format: "  ".join(_member(label, *pair) for pair in members.get(label, ()))
            for format, members in parts.items()
        }
        rows.append((label, {format: (cell or "—", values[format] != base) for format, cell in cells.items()}))
    return rows


def _ordered(labels: Sequence[str]) -> list[str]:
    """Labels in output order: the address first, then members by meaning."""
    return sorted(labels, key=lambda label: MEANINGS.index(label) if label in MEANINGS else -1)


def _member(label: str, name: str, value: str) -> str:
    return value if name == label and label not in MEANINGS else f"{name} {value}"


def _side_by_side(label: str, cells: Sequence[tuple[str, bool]], width: int) -> list[str]:
    wrapped = [_wrapped((MARK if differs else "  ") + cell, width) for cell, differs in cells]
    lines = []
    if len(label) >= LABEL:  # a long label, such as a header's name, gets its own line
        lines, label = [click.style(label, dim=True)], ""
    for number, parts in enumerate(zip_longest(*wrapped, fillvalue="")):
        lead = click.style(_padded("" if number else label, LABEL - 1), dim=True) + " "
        last = max((i for i, part in enumerate(parts) if part), default=0)
        columns = [
            _coloured(part if i == last else _padded(part, width), differs)
            for i, (part, (_, differs)) in enumerate(zip(parts[: last + 1], cells, strict=False))
        ]
        lines.append((lead + "  ".join(columns)).rstrip())
    return lines


def _coloured(line: str, differs: bool) -> str:
    return click.style(line, fg="yellow") if differs else line


def _wrapped(line: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken between members if possible; wide characters take two columns."""
    lines, current, used = list[str](), "", 0
    for character in line:
        if used + _columns(character) > width:
            border = max((match.end() for match in _BORDER.finditer(current)), default=0)
            if border < width // 3:
                border = len(current)
            lines.append(current[:border].rstrip())
            current = "  " + current[border:]
            used = sum(map(_columns, current))
        current += character
        used += _columns(character)
    return [*lines, current]


def _padded(line: str, width: int) -> str:
    return line + " " * (width - sum(map(_columns, line)))


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
