"""Events of a stream in words and as the source's statements: names, steps, kinds and changes, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from simulator.model import DDL, DELETE, HEARTBEAT, READ, ROW_KINDS, Heartbeat, Kind, OrderKey, RowChange, SchemaChange
from simulator.run.plan import Plan
from simulator.stream.engine.block import Block
from simulator.truth.rows import changes

# Phase and turn, and the part of the turn: its row changes (0), or the DDL or the heartbeat that comes before them.
Place: TypeAlias = tuple[int, int, int]
ROWS: Final = 0
BEFORE_ROWS: Final = {HEARTBEAT: -2, DDL: -1}
# Maximum lines of a change, and characters of a value in it.
MOST_LINES: Final = 20
LONGEST: Final = 80
CONTROLS: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(slots=True)
class Happening:
    """An event as the source sees it. `counts`: row counts by verb and table; `lines`: the change in words, a line per
    row; `statements` that make the change: one per row, and DDL as logged; none for snapshot rows and heartbeats.
    """

    step: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    @property
    def changes_rows(self) -> bool:
        return bool(self.kinds & {kind.name.lower() for kind in ROW_KINDS})

    @property
    def name(self) -> str:
        return ", ".join(word if n == 1 else f"{word} ({n} rows)" for word, n in self.counts.items())

    @property
    def change(self) -> str:
        """The change in words, as lines of text."""
        return _text_of(self.lines, "… and {} more")

    @property
    def statement(self) -> str:
        """The statements that make the change, as lines of text; "" if there are none."""
        return _text_of(self.statements, "-- … and {} more")


def _text_of(lines: Sequence[str], more: str) -> str:
    left_out = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([more.format(left_out)] if left_out > 0 else [])])


def happenings(plan: Plan) -> dict[Place, Happening]:
    """The events of a plan by their places."""
    events: dict[Place, Happening] = {}
    for block in (plan.stream.read_block(where) for where in plan.all_blocks()):
        for place, word, kind, line, statement in _happens(block, plan):
            event = events.setdefault(place, Happening())
            event.counts[word] = event.counts.get(word, 0) + 1
            event.kinds.add(kind.name.lower())
            event.lines.append(line)
            if statement:
                event.statements.append(statement)
    steps = plan.stream.steps_of({turn for phase, turn, _ in events if phase})
    for (phase, turn, _), event in events.items():
        event.step = steps.get(turn) if phase else None
    return events


def _happens(block: Block, plan: Plan) -> Iterator[tuple[Place, str, Kind, str, str]]:
    source = plan.stream.source
    rows = sorted(
        ((change, batch.table) for batch in block.batches for change in changes(batch, source)),
        key=lambda row: row[0].order,
    )
    for change, table in rows:
        place = (change.order.phase, change.order.turn, ROWS)
        line = f"{change.kind.name} {change.table}  {_values(change)}"
        if change.kind is READ:
            yield place, f"snapshot row of {change.table}", change.kind, line, ""
        else:
            statement = source.ddl.row_change(table, change.before, change.after)
            yield place, f"{change.kind.name} {change.table}", change.kind, line, f"{statement};"
    with_rows = {(change.order.phase, change.order.turn) for change, _ in rows}
    for event in block.events:
        if isinstance(event, SchemaChange):
            name = event.sql if event.order.phase else "DDL before the snapshot"
            yield place_of(event.order, DDL, with_rows), name, DDL, event.sql, event.sql
        elif isinstance(event, Heartbeat):
            yield place_of(event.order, HEARTBEAT, with_rows), "heartbeat", HEARTBEAT, "heartbeat", ""


def place_of(order: OrderKey, kind: Kind, with_rows: set[tuple[int, int]]) -> Place:
    """The place of an event or a message. `with_rows` are the phases and turns in which rows change."""
    apart = order.ordinal < 0 and (not order.phase or (order.phase, order.turn) in with_rows)
    return (order.phase, order.turn, BEFORE_ROWS.get(kind, ROWS) if apart else ROWS)


def _values(change: RowChange) -> str:
    """The values of a row; for an update, its key and the changed columns: `id=2 paid: 0 → 1`."""
    before, after = change.before, change.after
    if before is None or after is None or change.kind is DELETE:
        return ", ".join(f"{name}={_text(value)}" for name, value in (after or before or {}).items())
    identity = [f"{name}={_text(before[name])}" for name in change.key if name in before]
    changed = [
        f"{name}: {_text(before.get(name))} → {_text(value)}"
        for name, value in after.items()
        if before.get(name) != value
    ]
    return "  ".join([", ".join(identity), ", ".join(changed)]).strip()


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    text = str(value).translate(CONTROLS)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
