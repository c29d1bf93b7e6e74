"""A comparison on one screen: a line per format, a column per kind of event."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Final

import orjson

from simulator.compare.comparison import Comparison, Event, ReadableMessage

NONE: Final = "–"
# Maximum characters of an operation's word.
LONGEST: Final = 9
# Minimum width of the list of differing meanings beside the table.
ROOM: Final = 20


def summary(comparison: Comparison, *, base: str, width: int) -> str:
    """Each format's words for operations, and the meanings whose values differ from the base's in the first update.
    `width` is in columns; a longer list ends with an ellipsis.
    """
    events = _examples(comparison)
    formats = [base, *(format for format in comparison.formats if format != base)]
    head = ["", *(event.kinds[0] for event in events)]
    rows = [[format, *(_word(comparison, format, event) for event in events)] for format in formats]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    update = next((event for event in events if event.kinds == ("update",)), events[-1])
    room = width - sum(widths) - len(widths) - 1
    lines = [_line(head, widths) + (f"  differs in {update.kinds[0]}" if room >= ROOM else "")]
    for row in rows:
        differing = "" if row[0] == base else ", ".join(_differing(comparison, update, base, row[0]))
        if room >= ROOM and differing:
            differing = differing if len(differing) <= room else differing[: room - 1] + "…"
            lines.append(f"{_line(row, widths)}  {differing}")
        else:
            lines.append(_line(row, widths).rstrip())
    title = (
        f"{comparison.scenario} on {comparison.source}: {len(comparison.events)} events, {len(formats)} formats, "
        "an event of each kind:"
    )
    legend = (
        f"The operation as each format has it; ×2: two messages; {NONE}: none; sent: without such a member. "
        "Messages: -f FORMAT, --kind update, --all; in a browser: --html FILE."
    )
    return "\n".join([fill(title, width), "", *lines, "", fill(legend, width)])


def _examples(comparison: Comparison) -> list[Event]:
    """One event of each kind: the first of those that most formats send. Events of several kinds are used only if there
    are no others.
    """
    best: dict[tuple[str, ...], Event] = {}
    for event in comparison.events:
        if event.kinds not in best or _senders(event) > _senders(best[event.kinds]):
            best[event.kinds] = event
    examples = sorted(best.values(), key=comparison.events.index)
    return [event for event in examples if len(event.kinds) == 1] or examples


def _senders(event: Event) -> int:
    return sum(map(bool, event.messages.values()))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))


def _word(comparison: Comparison, format: str, event: Event) -> str:
    """The operations of a format's messages about an event."""
    messages = event.messages[format]
    if not messages:
        return NONE
    words = dict.fromkeys(filter(None, (_operation(comparison, format, message) for message in messages)))
    word = "+".join(words) or "sent"
    word = word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
    return word if len(messages) == 1 else f"{word}×{len(messages)}"


def _operation(comparison: Comparison, format: str, message: ReadableMessage) -> str | None:
    for member, text in message.members:
        if comparison.meaning(format, member) == "operation" and text.startswith('"'):
            return str(orjson.loads(text))
    return None


def _differing(comparison: Comparison, event: Event, base: str, format: str) -> list[str]:
    """The meanings whose values differ from the base's in the first message of an event."""
    messages = event.messages
    if not messages[base] or not messages[format]:
        return ["number of messages"] if messages[base] or messages[format] else []
    base_members, other_members = (
        {meaning: [text for _, text in members] for meaning, members in by_meaning.items()}
        for by_meaning in (
            comparison.by_meaning(format, messages[format][0]),
            comparison.by_meaning(base, messages[base][0]),
        )
    )
    return [
        meaning
        for meaning in {**other_members, **base_members}
        if base_members.get(meaning) != other_members.get(meaning)
    ]
