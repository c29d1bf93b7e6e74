"""Applies faults to the messages of a block, in a fixed order: missing, moved, damaged, repeated, late messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from simulator.batch import Ints
from simulator.delivery.policies.client import ByClient
from simulator.formats.format import Codec, Layout
from simulator.model import DDL, DELETE, HEARTBEAT, INSERT, ROW_KINDS
from simulator.run.faults.edits import edits, truncated
from simulator.run.faults.flow import SPREAD, Flow
from simulator.run.faults.spec import EDITS, Faults
from simulator.stream.engine.block import Stream
from simulator.values.draw import bits, chance, key

# Turns in a window, a power of two: messages are delayed within a window, and blocks begin at its borders.
WINDOW: Final = 64
WINDOWED: Final = frozenset({"late", "early", "halves", "ddl-late", "ddl-early", "heartbeat-silence"})
# Bytes of the frame of a value with a schema id.
ID_BYTES: Final = 5
# Turns by which a DDL message moves.
DDL_TURNS: Final = 8
# Below all ordinals of a turn, except those of messages that come again before it.
_FIRST: Final = -(1 << 57)


@dataclass(frozen=True)
class Application:
    """Applies a run's faults to the messages of a stream; `span` returns the turns of a turn's transaction."""

    faults: Faults
    stream: Stream
    seed: int
    binary: bool
    span: Callable[[int], tuple[int, int]]

    def __call__(self, flow: Flow, stop: int) -> None:
        """Applies all faults to the messages of a block that ends before turn `stop`."""
        if not len(flow):
            return
        rates = self.faults.rates
        if "gap" in rates:
            self._gaps(flow, rates["gap"])
        if "loss" in rates:
            self._drop(flow, "loss", flow.struck("loss", rates["loss"], np.isin(flow.column("kind"), ROW_KINDS)))
        if "heartbeat-silence" in rates:
            rows = self._in_windows(flow, "heartbeat-silence", rates["heartbeat-silence"])
            self._drop(flow, "heartbeat-silence", rows[flow.column("kind")[rows] == HEARTBEAT])
        if any(name.startswith("ddl-") for name in rates):
            self._ddl(flow, stop)
        for name, edit in edits(binary=self.binary).items():
            if name in rates:
                flow.note(name, flow.edit(flow.struck(name, rates[name]), edit, name))
        for name in ("duplicates", "ddl-twice"):
            if name in rates:
                among = flow.column("kind") == DDL if name == "ddl-twice" else None
                rows = flow.struck(name, rates[name], among)
                flow.note(name, rows)
                flow.insert(rows)
        if "tombstones" in rates:
            keyed = ~np.asarray(flow.batch["key"].is_null())
            rows = flow.struck("tombstones", rates["tombstones"], keyed)
            flow.note("tombstones", rows)
            flow.insert(rows, number=2, value=pa.nulls(len(rows), pa.binary()))
        if "poison" in rates:
            rows = flow.struck("poison", rates["poison"], ~np.asarray(flow.batch["value"].is_null()))
            flow.note("poison", rows)
            draws = flow.draws("poison")
            broken = [truncated(flow.batch["value"][row].as_py(), int(draws[row])) or b"{" for row in rows.tolist()]
            flow.insert(rows, before=True, value=pa.array(broken, pa.binary()))
        for name in ("halves", "late", "early"):
            if name in rates:
                self._permute(flow, name, rates[name])

    def _drop(self, flow: Flow, fault: str, rows: Ints) -> None:
        flow.note(fault, rows)
        is_kept = np.ones(len(flow), dtype=bool)
        is_kept[rows] = False
        flow.keep(is_kept)

    def _gaps(self, flow: Flow, share: float) -> None:
        turns = np.unique(flow.column("turn"))
        struck = turns[chance(bits(key(self.seed, "gap"), turns), share)]
        missing = np.zeros(len(flow), dtype=bool)
        turn, kind = flow.column("turn"), flow.column("kind")
        single = np.isin(kind, (DDL, HEARTBEAT))
        for first, after in sorted(set(map(self.span, struck.tolist()))):
            rows = (turn >= first) & (turn < after) & ~single & ~missing
            if count := int(rows.sum()):
                flow.note("gap", np.flatnonzero(rows)[:1], messages=count)
                missing |= rows
        flow.keep(~missing)

    def _ddl(self, flow: Flow, stop: int) -> None:
        rates = self.faults.rates
        if "ddl-missing" in rates:
            self._drop(
                flow, "ddl-missing", flow.struck("ddl-missing", rates["ddl-missing"], flow.column("kind") == DDL)
            )
        for name, turns in (("ddl-late", DDL_TURNS), ("ddl-early", -DDL_TURNS)):
            if name not in rates or not len(flow):
                continue
            rows = flow.struck(name, rates[name], flow.column("kind") == DDL)
            turn = flow.column("turn")[rows]
            starts = self._starts(flow)
            window = np.searchsorted(starts, turn, side="right") - 1
            low, high = starts[window], np.append(starts[1:], stop)[window] - 1
            target = np.clip(turn + turns, low, high)
            moves = target != turn
            rows, target = rows[moves], target[moves]
            flow.note(name, rows, detail=f"{abs(turns)} turns {'later' if turns > 0 else 'earlier'} at the most")
            flow.rekey(rows, target, _FIRST + rows.astype(np.int64))

    # --------------------------------------------------------------------------------------------------------- windows

    def _starts(self, flow: Flow) -> Ints:
        """First turns of the windows of a block."""
        turn = flow.column("turn")
        numbers = range(int(turn[0]) // WINDOW, int(turn[-1]) // WINDOW + 1)
        starts = np.unique([self.stream.border(number * WINDOW) for number in numbers])
        starts = starts[starts <= turn[-1]]
        if not len(starts) or starts[0] > turn[0]:
            starts = np.insert(starts, 0, turn[0])
        return starts.astype(np.int64)

    def _in_windows(self, flow: Flow, fault: str, share: float) -> Ints:
        """Rows of the messages in windows that a fault strikes."""
        starts = self._starts(flow)
        struck = chance(bits(key(self.seed, fault), starts), share)
        return np.flatnonzero(struck[np.searchsorted(starts, flow.column("turn"), side="right") - 1])

    def _permute(self, flow: Flow, fault: str, share: float) -> None:
        """Delays or advances a lane within windows. The last message of a window stays the last, so that a run's
        position is still that of its last message.
        """
        starts, turn, lanes = self._starts(flow), flow.column("turn"), flow.lanes
        draws = bits(key(self.seed, fault), starts)
        struck = chance(draws, share)
        borders = np.append(np.searchsorted(turn, starts), len(turn))
        order = np.arange(len(turn))
        pairs = self._pairs(flow) if fault == "halves" else {}
        for number in np.flatnonzero(struck).tolist():
            first, last = int(borders[number]), int(borders[number + 1])
            window = lanes[first:last]
            windows = np.unique(window)
            if len(windows) < 2:
                continue
            lane = int(windows[int(draws[number]) % len(windows)])
            if fault == "halves":
                lanes_of_deletes = [pairs[row] for row in range(first, last) if row in pairs]
                if not lanes_of_deletes:
                    continue
                lane = lanes_of_deletes[0]
            rows_before_last = np.arange(first, last - 1)
            own = window[:-1] == lane
            parts = (
                (rows_before_last[own], rows_before_last[~own])
                if fault == "early"
                else (rows_before_last[~own], rows_before_last[own])
            )
            moved = np.concatenate(parts)
            if np.array_equal(moved, rows_before_last):
                continue
            flow.note(fault, rows_before_last[own][:1], messages=int(own.sum()))
            order[first : last - 1] = moved
        flow.permute(order)

    def _pairs(self, flow: Flow) -> dict[int, int]:
        """Rows of the insert halves of updates whose delete goes to another lane, and that lane."""
        kind, turn, ordinal, lanes = (
            flow.column("kind"),
            flow.column("turn"),
            flow.column("ordinal") // SPREAD,
            flow.lanes,
        )
        deletes = {
            (int(turn[row]), int(ordinal[row])): int(lanes[row]) for row in np.flatnonzero(kind == DELETE).tolist()
        }
        pairs = dict[int, int]()
        for row in np.flatnonzero((kind == INSERT) & (ordinal % 2 == 1)).tolist():
            lane = deletes.get((int(turn[row]), int(ordinal[row]) - 1))
            if lane is not None and lane != int(lanes[row]):
                pairs[row] = lane
        return pairs


def unfit(faults: Faults, codec: Codec) -> Iterator[tuple[str, str]]:
    """The requested faults that no message of a format can have, each with the reason."""
    for kind in faults.kinds:
        if reason := _reason(kind.name, codec):
            yield kind.name, reason


def _reason(fault: str, codec: Codec) -> str:
    """The reason why a format cannot have a fault; "" if it can."""
    format, rule, routing = codec.format, codec.layout.redelivery, codec.layout.routing
    format_option = f"-f {format.id}"
    if fault in EDITS and fault not in edits(binary=format.binary):
        return f"{format_option} is {'binary' if format.binary else 'text'}, which cannot have it"
    match fault:
        case "wrong-schema-id" if not _has_schema_ids(codec.layout):
            return f"values of {format_option} have no schema id with these options"
        case "heartbeat-silence" if not codec.sends(HEARTBEAT):
            return f"{format_option} has no heartbeats with these options"
        case "ddl-late" | "ddl-early" | "ddl-twice" | "ddl-missing" if not codec.sends(DDL):
            return f"{format_option} has no DDL messages with these options"
        case "halves" if routing.split == "never":
            return f"{format_option} splits no update with these options"
        case "halves" if all(isinstance(policy, ByClient) for policy in routing.policies.values()):
            return f"the client decides the partitions of {format_option}"
        case "second-snapshot" | "second-snapshot-at" if not rule.snapshots_again:
            return f"nobody saw that {format.product} takes a second snapshot"
        case "task-failure-at" if not rule.fails_at_ddl:
            return f"no task of {format.product} fails at DDL with these options"
    return ""


def _has_schema_ids(layout: Layout) -> bool:
    """Whether values begin with a magic byte and the id of their schema."""
    return layout.subjects is not None or (layout.container is not None and layout.container.framing == ID_BYTES)
